/* device.c: asks the driver, once per context, for the facts that bundles are matched with and that
 * launches must respect.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static cl_int device_get(cl_device_id device, cl_device_info what, void *value, size_t size)
{
    return clGetDeviceInfo(device, what, size, value, NULL);
}

/* What clGetDeviceInfo or, where there is a platform, clGetPlatformInfo says. */
static cl_int get_text(cl_device_id device, cl_platform_id platform, cl_uint what, size_t size,
        char *text, size_t *needed)
{
    return platform != NULL ? clGetPlatformInfo(platform, what, size, text, needed)
                            : clGetDeviceInfo(device, what, size, text, needed);
}

static enum kiln_status copy_text(cl_device_id device, cl_platform_id platform, cl_uint what,
        char **string)
{
    size_t size = 0;
    cl_int error = get_text(device, platform, what, 0, NULL, &size);
    if (error != CL_SUCCESS) {
        return (enum kiln_status) error;
    }
    *string = (char *) calloc(size + 1, 1);
    if (*string == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    return (enum kiln_status) get_text(device, platform, what, size, *string, NULL);
}

static enum kiln_status device_strings(cl_device_id device, struct kiln_device_facts *facts)
{
    cl_platform_id platform = NULL;
    enum kiln_status status = (enum kiln_status) device_get(device, CL_DEVICE_PLATFORM, &platform,
            sizeof platform);
    if (status == KILN_SUCCESS) {
        status = copy_text(device, platform, CL_PLATFORM_NAME, &facts->platform);
    }
    if (status == KILN_SUCCESS) {
        status = copy_text(device, NULL, CL_DEVICE_NAME, &facts->device);
    }
    if (status == KILN_SUCCESS) {
        status = copy_text(device, NULL, CL_DRIVER_VERSION, &facts->driver);
    }
    return status;
}

/* A device may have more than three dimensions; only three are ever used. */
static cl_int device_item_sizes(cl_device_id device, size_t sizes[3])
{
    size_t all[16] = { 0 };
    cl_int error = device_get(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, all, sizeof all);
    memcpy(sizes, all, 3 * sizeof *sizes);
    return error;
}

static cl_int device_limits(cl_device_id device, struct kiln_device_facts *facts)
{
    cl_device_type type = 0;
    const struct {
        cl_device_info what;
        void *value;
        size_t size;
    } queries[] = {
        { CL_DEVICE_TYPE, &type, sizeof type },
        { CL_DEVICE_MAX_COMPUTE_UNITS, &facts->compute_units, sizeof(cl_uint) },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, &facts->native_vector_float, sizeof(cl_uint) },
        { CL_DEVICE_MAX_WORK_GROUP_SIZE, &facts->max_group_items, sizeof(size_t) },
        { CL_DEVICE_LOCAL_MEM_SIZE, &facts->local_bytes, sizeof(cl_ulong) },
        { CL_DEVICE_MAX_MEM_ALLOC_SIZE, &facts->max_alloc_bytes, sizeof(cl_ulong) },
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        cl_int error = device_get(device, queries[i].what, queries[i].value, queries[i].size);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    facts->is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    return device_item_sizes(device, facts->max_items);
}

/* Drivers older than OpenCL 1.2 know the query only with the extension: an error means no. */
static enum kiln_status device_has_double(cl_device_id device, bool *has)
{
    cl_device_fp_config config = 0;
    cl_int error = device_get(device, CL_DEVICE_DOUBLE_FP_CONFIG, &config, sizeof config);
    *has = error == CL_SUCCESS && config != 0;
    return kiln_conclude(error, KILN_SUCCESS);
}

/* Drivers older than OpenCL 1.2 do not know the query: an error means no. */
static enum kiln_status device_max_pixels(cl_device_id device, size_t *pixels)
{
    cl_bool has_images = CL_FALSE;
    size_t most = 0;
    cl_int error = device_get(device, CL_DEVICE_IMAGE_SUPPORT, &has_images, sizeof has_images);
    if (error == CL_SUCCESS) {
        error = device_get(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, &most, sizeof most);
    }
    *pixels = error == CL_SUCCESS && has_images ? most : 0;
    return kiln_conclude(error, KILN_SUCCESS);
}

static enum kiln_status device_has_word(cl_device_id device, cl_device_info what, const char *word,
        bool *has)
{
    char *text = NULL;
    enum kiln_status status = copy_text(device, NULL, what, &text);
    *has = status == KILN_SUCCESS && strstr(text, word) != NULL;
    free(text);
    return kiln_conclude((cl_int) status, KILN_SUCCESS);
}

/* What the embedded profile may lack; the full one has both. An error means that it is there. */
static enum kiln_status device_lacks(cl_device_id device, struct kiln_device_facts *facts)
{
    cl_bool compiles = CL_TRUE;
    bool is_embedded = false, has_long = true;
    cl_int error = device_get(device, CL_DEVICE_COMPILER_AVAILABLE, &compiles, sizeof compiles);
    facts->lacks_compiler = error == CL_SUCCESS && !compiles;
    enum kiln_status status = kiln_conclude(error, KILN_SUCCESS);
    if (status == KILN_SUCCESS) {
        status = device_has_word(device, CL_DEVICE_PROFILE, "EMBEDDED", &is_embedded);
    }
    if (status == KILN_SUCCESS && is_embedded) {
        status = device_has_word(device, CL_DEVICE_EXTENSIONS, "cles_khr_int64", &has_long);
    }
    facts->lacks_long = !has_long;
    return status;
}

/* cl_nv_device_attribute_query; the values are pinned by the extension. */
enum { NV_COMPUTE_CAPABILITY_MAJOR = 0x4000, NV_COMPUTE_CAPABILITY_MINOR = 0x4001 };

enum kiln_status kiln_device_compute_capability(cl_device_id device, cl_uint *capability)
{
    cl_uint major = 0, minor = 0;
    bool has = false;
    *capability = 0;
    cl_int error = (cl_int) device_has_word(device, CL_DEVICE_EXTENSIONS,
            "cl_nv_device_attribute_query", &has);
    if (has) {
        error = device_get(device, NV_COMPUTE_CAPABILITY_MAJOR, &major, sizeof major);
    }
    if (has && error == CL_SUCCESS) {
        error = device_get(device, NV_COMPUTE_CAPABILITY_MINOR, &minor, sizeof minor);
    }
    if (has && error == CL_SUCCESS && minor < 10) {
        *capability = 10 * major + minor;
    }
    return kiln_conclude(error, KILN_SUCCESS);
}

/* NVIDIA's driver tells what arguments may take; arrays that a kernel declares may take as much as
 * a work-group can have (CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability"). Seen on 9.0; a driver that takes less refuses the kernel when it is built, and
 * another recipe serves. */
cl_ulong kiln_device_local_bytes(cl_uint capability, cl_ulong told)
{
    static const struct {
        cl_uint first, last;
        cl_ulong kib;
    } kinds[] = { { 80, 80, 163 }, { 86, 86, 99 }, { 87, 87, 163 }, { 89, 89, 99 },
        { 90, 110, 227 }, { 120, 121, 99 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (capability >= kinds[i].first && capability <= kinds[i].last &&
                told < kinds[i].kib * 1024) {
            return kinds[i].kib * 1024;
        }
    }
    return told;
}

enum kiln_status kiln_device_facts_query(cl_device_id device, struct kiln_device_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    enum kiln_status status = device_strings(device, facts);
    if (status == KILN_SUCCESS) {
        status = (enum kiln_status) device_limits(device, facts);
    }
    if (status == KILN_SUCCESS) {
        status = device_has_double(device, &facts->has_double);
    }
    if (status == KILN_SUCCESS) {
        status = device_max_pixels(device, &facts->max_pixels);
    }
    if (status == KILN_SUCCESS) {
        status = device_lacks(device, facts);
    }
    if (status == KILN_SUCCESS) {
        status = kiln_device_compute_capability(device, &facts->compute_capability);
    }
    facts->local_bytes = kiln_device_local_bytes(facts->compute_capability, facts->local_bytes);
    return status;
}

void kiln_device_facts_free(struct kiln_device_facts *facts)
{
    free(facts->platform);
    free(facts->device);
    free(facts->driver);
    memset(facts, 0, sizeof *facts);
}
