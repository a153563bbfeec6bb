/* device.c: the devices of all platforms, and the facts that rules and ranks name. */
#include "device.h"
#include "absent.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLATFORMS = 32, MAX_DEVICES = 128 };

struct devices {
    cl_device_id at[MAX_DEVICES];
    cl_uint num;
};

static void add_devices(cl_platform_id platform, cl_device_type type, struct devices *devices)
{
    cl_uint num = 0;
    const cl_uint room = MAX_DEVICES - devices->num;
    if (room &&
            clGetDeviceIDs(platform, type, room, devices->at + devices->num, &num) == CL_SUCCESS)
        devices->num += num < room ? num : room;
}

/* CPUs last; otherwise in the order of the platforms. */
static void list_devices(struct devices *devices)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint num = 0;
    devices->num = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &num) != CL_SUCCESS)
        return;
    if (num > MAX_PLATFORMS)
        num = MAX_PLATFORMS;
    for (cl_uint i = 0; i < num; i++)
        add_devices(platforms[i], CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR, devices);
    for (cl_uint i = 0; i < num; i++)
        add_devices(platforms[i], CL_DEVICE_TYPE_CPU, devices);
}

/* One line of text, cut to size; what would break a table's row becomes a space. */
static void one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char) *text < ' ')
            *text = ' ';
}

/* Asks for a string of any length and keeps what fits. */
static bool device_text(cl_device_id device, cl_device_info what, char *text, size_t size)
{
    size_t bytes = 0;
    if (clGetDeviceInfo(device, what, 0, NULL, &bytes) != CL_SUCCESS)
        return false;
    char *whole = calloc(1, bytes + 1);
    const bool ok = whole && clGetDeviceInfo(device, what, bytes, whole, NULL) == CL_SUCCESS;
    if (ok) {
        snprintf(text, size, "%s", whole);
        one_line(text);
    }
    free(whole);
    return ok;
}

static bool platform_text(cl_device_id device, char *text, size_t size)
{
    cl_platform_id platform;
    if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) !=
                    CL_SUCCESS ||
            clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text, NULL) != CL_SUCCESS)
        return false;
    text[size - 1] = '\0';
    one_line(text);
    return true;
}

static void name_all(const struct devices *devices, const char *substring, char *error)
{
    int at = snprintf(error, FAMILY_ERROR_BYTES,
            "no device's name contains '%s'; there is:", substring);
    for (cl_uint i = 0; i < devices->num && at < FAMILY_ERROR_BYTES; i++) {
        char name[192];
        if (device_text(devices->at[i], CL_DEVICE_NAME, name, sizeof name))
            at += snprintf(error + at, (size_t) (FAMILY_ERROR_BYTES - at), "%s '%s'", i ? "," : "",
                    name);
    }
}

bool device_find(const char *substring, cl_device_id *device, char error[FAMILY_ERROR_BYTES])
{
    struct devices devices;
    list_devices(&devices);
    for (cl_uint i = 0; i < devices.num; i++) {
        char name[192];
        if (device_text(devices.at[i], CL_DEVICE_NAME, name, sizeof name) &&
                strstr(name, substring)) {
            *device = devices.at[i];
            return true;
        }
    }
    if (devices.num)
        name_all(&devices, substring, error);
    else
        absent_explain(error, FAMILY_ERROR_BYTES);
    return false;
}

static bool has_extension(cl_device_id device, const char *name)
{
    char extensions[16384];
    return device_text(device, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions) &&
           strstr(extensions, name);
}

static bool has_double(cl_device_id device)
{
    cl_device_fp_config config = 0;
    if (clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL) ==
                    CL_SUCCESS &&
            config)
        return true;
    return has_extension(device, "cl_khr_fp64");
}

static long image_pixels(cl_device_id device)
{
    cl_bool images = CL_FALSE;
    size_t pixels = 0;
    if (clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL) !=
                    CL_SUCCESS ||
            !images ||
            clGetDeviceInfo(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, sizeof pixels, &pixels,
                    NULL) != CL_SUCCESS)
        return 0;
    return (long) pixels;
}

/* Those of OpenCL C 1.2, which is what kernels are compiled as: cl_khr_subgroups wants 2.0. */
static long shuffles_of(cl_device_id device, cl_uint capability)
{
    return has_extension(device, "cl_intel_subgroups") ? 1 : capability >= 30 ? 2 : 0;
}

/* What one work-item may keep in registers. OpenCL does not tell; on CPUs it follows from the width
 * of a vector, on GPUs 255 registers of 4 bytes are the most that any current one gives. A CPU
 * whose driver tells of no vectors counts as a GPU, as was measured on llvmpipe: work-items are
 * lanes there, operands are read lane by lane, and what is spilled is read as whole vectors. */
static long register_bytes(bool is_cpu, cl_uint vector_floats)
{
    if (!is_cpu || vector_floats == 1)
        return 255 * 4;
    if (vector_floats >= 16)
        return 32 * 64;
    if (vector_floats >= 8)
        return 16 * 32;
#ifdef __aarch64__
    return 32 * 16;
#else
    return 16 * 16;
#endif
}

/* Values that clGetDeviceInfo gives, by their type. */
struct answers {
    size_t group_items, items[3];
    cl_ulong local_bytes;
    cl_device_local_mem_type local_type;
    cl_device_type type;
    cl_uint units, vector_floats, clock_mhz, num_axes;
};

static bool ask(cl_device_id device, struct answers *answers)
{
    size_t items[16] = { 0 };
    const struct {
        cl_device_info what;
        size_t size;
        void *to;
    } questions[] = {
        { CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof answers->group_items, &answers->group_items },
        { CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof answers->num_axes, &answers->num_axes },
        { CL_DEVICE_LOCAL_MEM_SIZE, sizeof answers->local_bytes, &answers->local_bytes },
        { CL_DEVICE_LOCAL_MEM_TYPE, sizeof answers->local_type, &answers->local_type },
        { CL_DEVICE_TYPE, sizeof answers->type, &answers->type },
        { CL_DEVICE_MAX_COMPUTE_UNITS, sizeof answers->units, &answers->units },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof answers->vector_floats,
                &answers->vector_floats },
        { CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof answers->clock_mhz, &answers->clock_mhz },
    };
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        if (clGetDeviceInfo(device, questions[i].what, questions[i].size, questions[i].to, NULL) !=
                CL_SUCCESS)
            return false;
    if (answers->num_axes > 16 ||
            clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                    answers->num_axes * sizeof items[0], items, NULL) != CL_SUCCESS)
        return false;
    memcpy(answers->items, items, sizeof answers->items);
    return true;
}

/* The bus address, which tells a device from others of the same name: cl_khr_pci_bus_info's domain,
 * bus, device and function, or cl_nv_device_attribute_query's bus and slot. Empty when the driver
 * tells neither. */
static void find_unit(cl_device_id device, char *unit, size_t size)
{
    enum { PCI_BUS_INFO_KHR = 0x410f, PCI_BUS_ID_NV = 0x4008, PCI_SLOT_ID_NV = 0x4009 };
    cl_uint at[4] = { 0 };
    if (clGetDeviceInfo(device, PCI_BUS_INFO_KHR, sizeof at, at, NULL) == CL_SUCCESS)
        snprintf(unit, size, "%x:%x:%x.%x", at[0], at[1], at[2], at[3]);
    else if (clGetDeviceInfo(device, PCI_BUS_ID_NV, sizeof at[1], &at[1], NULL) == CL_SUCCESS &&
             clGetDeviceInfo(device, PCI_SLOT_ID_NV, sizeof at[2], &at[2], NULL) == CL_SUCCESS)
        snprintf(unit, size, "%x:%x", at[1], at[2]);
}

bool device_facts(cl_device_id device, struct device_facts *facts, char error[FAMILY_ERROR_BYTES])
{
    struct answers answers;
    cl_uint capability = 0;
    *facts = (struct device_facts){ .value = { 0 } };
    if (!ask(device, &answers) ||
            kiln_device_compute_capability(device, &capability) != KILN_SUCCESS ||
            !platform_text(device, facts->platform, sizeof facts->platform) ||
            !device_text(device, CL_DEVICE_NAME, facts->device, sizeof facts->device) ||
            !device_text(device, CL_DRIVER_VERSION, facts->driver, sizeof facts->driver)) {
        snprintf(error, FAMILY_ERROR_BYTES, "the device does not answer clGetDeviceInfo");
        return false;
    }
    find_unit(device, facts->unit, sizeof facts->unit);
    const bool is_cpu = (answers.type & CL_DEVICE_TYPE_CPU) != 0;
    const cl_uint floats = answers.vector_floats ? answers.vector_floats : 1;
    long *value = facts->value;
    value[FACT_MAX_ITEMS] = (long) answers.group_items;
    value[FACT_MAX_ITEMS_X] = (long) answers.items[0];
    value[FACT_MAX_ITEMS_Y] = (long) answers.items[1];
    value[FACT_LOCAL_IS_GLOBAL] = answers.local_type == CL_GLOBAL;
    value[FACT_IS_CPU] = is_cpu;
    value[FACT_UNITS] = (long) answers.units;
    value[FACT_VECTOR_BYTES] = 4 * (long) floats;
    value[FACT_REGISTER_BYTES] = register_bytes(is_cpu, floats);
    value[FACT_HAS_DOUBLE] = has_double(device);
    value[FACT_CLOCK_MHZ] = (long) answers.clock_mhz;
    value[FACT_IMAGE_PIXELS] = image_pixels(device);
    value[FACT_SHUFFLES] = shuffles_of(device, capability);
    value[FACT_COMPUTE_CAPABILITY] = (long) capability;
    value[FACT_LOCAL_BYTES] = (long) kiln_device_local_bytes(capability, answers.local_bytes);
    return true;
}
