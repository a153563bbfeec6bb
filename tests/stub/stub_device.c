/* stub_device.c: the fake driver's platforms, devices and contexts. Each device has a platform of
 * its own, whose facts are part of the device's. */
#include "stub_internal.h"

#include <string.h>

struct stub_facts stub_default_facts(void)
{
    return (struct stub_facts){
        .platform_name = "Stub Platform",
        .platform_version = "OpenCL 1.2 Stub",
        .name = "Stub Device",
        .vendor = "Stub",
        .driver = "1.0",
        .version = "OpenCL 1.2 Stub",
        .c_version = "OpenCL C 1.2 Stub",
        .profile = "FULL_PROFILE",
        .extensions = "cl_khr_fp64 cl_khr_byte_addressable_store",
        .type = CL_DEVICE_TYPE_GPU,
        .compute_units = 4,
        .address_bits = 64,
        .base_align_bits = 1024,
        .vector_half = 0,
        .vector_float = 8,
        .vector_double = 4,
        .max_work_group = 256,
        .max_work_items = { 256, 256, 64 },
        .local_bytes = 32768,
        .global_bytes = (cl_ulong) 1 << 40,
        .max_alloc_bytes = (cl_ulong) 1 << 40,
        .max_pixels = 1 << 27,
        .double_config = CL_FP_FMA | CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_DENORM,
        .available = CL_TRUE,
        .compiler_available = CL_TRUE,
        .linker_available = CL_TRUE,
    };
}

cl_device_id stub_make_device(const struct stub_facts *facts)
{
    cl_platform_id platform = stub_new(STUB_PLATFORM, sizeof *platform);
    platform->facts = *facts;
    cl_device_id device = stub_new(STUB_DEVICE, sizeof *device);
    device->platform = platform;
    device->facts = *facts;
    return device;
}

/* Lists the objects of a kind, oldest first, as clGetPlatformIDs and clGetDeviceIDs do. */
static cl_uint list_objects(enum stub_kind kind, cl_platform_id platform, cl_uint capacity,
        void **out)
{
    cl_uint total = 0;
    cl_uint index = 0;
    pthread_mutex_lock(&stub_mutex);
    for (int pass = 0; pass < 2; pass++) {
        index = total;
        for (struct stub_object *o = stub_objects(); o != NULL; o = o->next) {
            if (o->kind != kind ||
                    (kind == STUB_DEVICE && ((cl_device_id) (void *) o)->platform != platform)) {
                continue;
            }
            if (pass == 0) {
                total++;
            } else if (--index < capacity && out != NULL) {
                out[index] = o;
            }
        }
    }
    pthread_mutex_unlock(&stub_mutex);
    return total;
}

cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms,
        cl_uint *num_platforms)
{
    cl_int error = stub_enter(STUB_clGetPlatformIDs);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_uint total = list_objects(STUB_PLATFORM, NULL, num_entries, (void **) platforms);
    if (num_platforms != NULL) {
        *num_platforms = total;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint num_entries,
        cl_device_id *devices, cl_uint *num_devices)
{
    (void) type;
    cl_int error = stub_enter(STUB_clGetDeviceIDs);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_uint total = list_objects(STUB_DEVICE, platform, num_entries, (void **) devices);
    if (num_devices != NULL) {
        *num_devices = total;
    }
    return total > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name,
        size_t capacity, void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetPlatformInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(platform, STUB_PLATFORM)) {
        return CL_INVALID_PLATFORM;
    }
    switch (name) {
    case CL_PLATFORM_NAME:
        return stub_put_text(platform->facts.platform_name, capacity, out, bytes);
    case CL_PLATFORM_VERSION:
        return stub_put_text(platform->facts.platform_version, capacity, out, bytes);
    case CL_PLATFORM_VENDOR: return stub_put_text(platform->facts.vendor, capacity, out, bytes);
    case CL_PLATFORM_PROFILE: return stub_put_text(platform->facts.profile, capacity, out, bytes);
    case CL_PLATFORM_EXTENSIONS:
        return stub_put_text(platform->facts.extensions, capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

/* The text of a device fact, or NULL where the name asks for a number. */
static const char *device_text(const struct stub_facts *facts, cl_device_info name)
{
    switch (name) {
    case CL_DEVICE_NAME: return facts->name;
    case CL_DEVICE_VENDOR: return facts->vendor;
    case CL_DRIVER_VERSION: return facts->driver;
    case CL_DEVICE_VERSION: return facts->version;
    case CL_DEVICE_OPENCL_C_VERSION: return facts->c_version;
    case CL_DEVICE_PROFILE: return facts->profile;
    case CL_DEVICE_EXTENSIONS: return facts->extensions;
    default: return NULL;
    }
}

static bool device_uint(const struct stub_facts *facts, cl_device_info name, cl_uint *value)
{
    switch (name) {
    case CL_DEVICE_MAX_COMPUTE_UNITS: *value = facts->compute_units; return true;
    case CL_DEVICE_ADDRESS_BITS: *value = facts->address_bits; return true;
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: *value = facts->base_align_bits; return true;
    case CL_DEVICE_MAX_CLOCK_FREQUENCY: *value = 1000; return true;
    case CL_DEVICE_LOCAL_MEM_TYPE: *value = CL_LOCAL; return true;
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: *value = 3; return true;
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF: *value = facts->vector_half; return true;
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT: *value = facts->vector_float; return true;
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE: *value = facts->vector_double; return true;
    case CL_DEVICE_AVAILABLE: *value = facts->available; return true;
    case CL_DEVICE_COMPILER_AVAILABLE: *value = facts->compiler_available; return true;
    case CL_DEVICE_LINKER_AVAILABLE: *value = facts->linker_available; return true;
    case CL_DEVICE_IMAGE_SUPPORT: *value = facts->max_pixels > 0; return true;
    case CL_DEVICE_ENDIAN_LITTLE: *value = CL_TRUE; return true;
    default: return false;
    }
}

/* The attributes of cl_nv_device_attribute_query, with the extension's own values. */
static bool nv_attribute(const struct stub_facts *facts, cl_device_info name, cl_uint *value)
{
    *value = name == 0x4000 ? facts->nv_major : facts->nv_minor;
    return (name == 0x4000 || name == 0x4001) &&
           strstr(facts->extensions, "cl_nv_device_attribute_query") != NULL;
}

static bool device_ulong(const struct stub_facts *facts, cl_device_info name, cl_ulong *value)
{
    switch (name) {
    case CL_DEVICE_LOCAL_MEM_SIZE: *value = facts->local_bytes; return true;
    case CL_DEVICE_GLOBAL_MEM_SIZE: *value = facts->global_bytes; return true;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: *value = facts->max_alloc_bytes; return true;
    case CL_DEVICE_DOUBLE_FP_CONFIG: *value = facts->double_config; return true;
    case CL_DEVICE_TYPE: *value = facts->type; return true;
    default: return false;
    }
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t capacity,
        void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetDeviceInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(device, STUB_DEVICE)) {
        return CL_INVALID_DEVICE;
    }
    const struct stub_facts *facts = &device->facts;
    const char *text = device_text(facts, name);
    cl_uint small;
    cl_ulong large;
    if (text != NULL) {
        return stub_put_text(text, capacity, out, bytes);
    }
    if (device_uint(facts, name, &small) || nv_attribute(facts, name, &small)) {
        return stub_put(&small, sizeof small, capacity, out, bytes);
    }
    if (device_ulong(facts, name, &large)) {
        return stub_put(&large, sizeof large, capacity, out, bytes);
    }
    switch (name) {
    case CL_DEVICE_PLATFORM:
        return stub_put(&device->platform, sizeof device->platform, capacity, out, bytes);
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
        return stub_put(&facts->max_pixels, sizeof facts->max_pixels, capacity, out, bytes);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return stub_put(&facts->max_work_group, sizeof facts->max_work_group, capacity, out, bytes);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return stub_put(facts->max_work_items, sizeof facts->max_work_items, capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clRetainDevice(cl_device_id device)
{
    return stub_retain(STUB_clRetainDevice, device, STUB_DEVICE, CL_INVALID_DEVICE);
}

cl_int CL_API_CALL clReleaseDevice(cl_device_id device)
{
    return stub_release(STUB_clReleaseDevice, device, STUB_DEVICE, CL_INVALID_DEVICE);
}

cl_context stub_make_context(cl_uint num_devices, const cl_device_id *devices)
{
    pthread_mutex_lock(&stub_mutex);
    cl_context context = stub_new_locked(STUB_CONTEXT, sizeof *context);
    context->num_devices = num_devices;
    context->devices = stub_alloc(num_devices * sizeof *devices);
    memcpy(context->devices, devices, num_devices * sizeof *devices);
    pthread_mutex_unlock(&stub_mutex);
    return context;
}

cl_context CL_API_CALL clCreateContext(const cl_context_properties *properties, cl_uint num_devices,
        const cl_device_id *devices,
        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
        cl_int *error_ret)
{
    (void) properties;
    (void) notify;
    (void) user;
    cl_int error = stub_enter(STUB_clCreateContext);
    if (error == CL_SUCCESS && (num_devices == 0 || devices == NULL)) {
        error = CL_INVALID_VALUE;
    }
    stub_set_error(error_ret, error);
    return error == CL_SUCCESS ? stub_make_context(num_devices, devices) : NULL;
}

cl_int CL_API_CALL clRetainContext(cl_context context)
{
    return stub_retain(STUB_clRetainContext, context, STUB_CONTEXT, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clReleaseContext(cl_context context)
{
    return stub_release(STUB_clReleaseContext, context, STUB_CONTEXT, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name, size_t capacity,
        void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetContextInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(context, STUB_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    cl_uint refs = (cl_uint) stub_refs(context);
    switch (name) {
    case CL_CONTEXT_REFERENCE_COUNT: return stub_put(&refs, sizeof refs, capacity, out, bytes);
    case CL_CONTEXT_NUM_DEVICES:
        return stub_put(&context->num_devices, sizeof context->num_devices, capacity, out, bytes);
    case CL_CONTEXT_DEVICES:
        return stub_put(context->devices, context->num_devices * sizeof *context->devices, capacity,
                out, bytes);
    default: return CL_INVALID_VALUE;
    }
}
