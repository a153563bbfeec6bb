/* setup.c: see setup.h. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "setup.h"

#include "element.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64, NAME_BYTES = 256, SHORT_STRIDE = 5 };

static const char usage[] = "usage: [--device SUBSTRING] [--whole] [--only ITEM]\n";

static void end_for_usage(void)
{
    fputs(usage, stderr);
    exit(EXIT_USAGE);
}

struct options options_of(int argc, char **argv)
{
    struct options options = { .device = "" };
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--whole") == 0) {
            options.whole = true;
        } else if (strcmp(argv[i], "--device") == 0 && value != NULL) {
            options.device = argv[++i];
        } else if (strcmp(argv[i], "--only") == 0 && value != NULL && atol(value) > 0) {
            options.only = strtoul(argv[++i], NULL, 10);
        } else {
            end_for_usage();
        }
    }
    return options;
}

void need(bool good, const char *what)
{
    if (!good) {
        printf("the test itself lacks: %s\n", what);
        fflush(stdout);
        _Exit(EXIT_FAILURE);
    }
}

static cl_device_id find_device(const char *part)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id devices[MAX_DEVICES];
    cl_uint num = 0, num_devices = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &num) != CL_SUCCESS) {
        num = 0;
    }
    for (cl_uint i = 0; i < num && i < MAX_PLATFORMS; i++) {
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &num_devices) !=
                CL_SUCCESS) {
            continue;
        }
        for (cl_uint j = 0; j < num_devices && j < MAX_DEVICES; j++) {
            char name[NAME_BYTES] = "";
            clGetDeviceInfo(devices[j], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
            if (strstr(name, part) != NULL) {
                return devices[j];
            }
        }
    }
    printf("no OpenCL device is called '%s'\n", part);
    fflush(stdout);
    _Exit(EXIT_NO_DEVICE);
}

void setup_open(const struct options *options, struct setup *setup)
{
    cl_command_queue_properties orders = 0;
    setup->device = find_device(options->device);
    setup->cl = clCreateContext(NULL, 1, &setup->device, NULL, NULL, NULL);
    clGetDeviceInfo(setup->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof orders, &orders, NULL);
    setup->queue = clCreateCommandQueue(setup->cl, setup->device, 0, NULL);
    setup->loose = clCreateCommandQueue(setup->cl, setup->device,
            orders & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    need(setup->cl != NULL && setup->queue != NULL && setup->loose != NULL, "a queue");
}

void setup_close(struct setup *setup)
{
    clReleaseCommandQueue(setup->loose);
    clReleaseCommandQueue(setup->queue);
    clReleaseContext(setup->cl);
}

cl_mem setup_buffer(const struct setup *setup, size_t bytes, const void *values)
{
    cl_mem buffer = clCreateBuffer(setup->cl, CL_MEM_READ_WRITE, bytes > 0 ? bytes : 1, NULL, NULL);
    need(buffer != NULL, "a buffer");
    if (values != NULL) {
        need(clEnqueueWriteBuffer(setup->queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL) ==
                        CL_SUCCESS,
                "a write");
    }
    return buffer;
}

void setup_read(const struct setup *setup, cl_mem buffer, size_t bytes, void *values)
{
    need(clEnqueueReadBuffer(setup->queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL) ==
                    CL_SUCCESS,
            "a read");
}

struct kiln_context *setup_kiln(const struct setup *setup, const struct kiln_bundle *bundle)
{
    const struct kiln_context_params params = { .bundle = bundle };
    struct kiln_context *kiln = NULL;
    need(kiln_context_create(setup->cl, setup->device, &params, &kiln) == KILN_SUCCESS,
            "a kiln_context");
    return kiln;
}

void solo_make(struct solo *solo, const struct kiln_bundle *of, uint32_t recipe)
{
    solo->bundle = *of;
    solo->recipe = of->recipes[recipe];
    solo->recipe.kinds = solo->recipe.vector_floats = 0;
    solo->bundle.recipes = &solo->recipe;
    solo->bundle.num_recipes = 1;
    solo->bundle.pins = NULL;
    solo->bundle.num_pins = 0;
}

const struct kiln_bundle *linked_bundle(const char *name)
{
    size_t i = 0;
    while (kiln_linked_bundles[i] != NULL && strcmp(kiln_linked_bundles[i]->name, name) != 0) {
        i++;
    }
    need(kiln_linked_bundles[i] != NULL, name);
    return kiln_linked_bundles[i];
}

bool linked_recipe(unsigned long number, const struct kiln_bundle **bundle, uint32_t *recipe)
{
    for (size_t i = 0; kiln_linked_bundles[i] != NULL; i++) {
        *bundle = kiln_linked_bundles[i];
        if (number < (*bundle)->num_recipes) {
            *recipe = (uint32_t) number;
            return true;
        }
        number -= (*bundle)->num_recipes;
    }
    return false;
}

unsigned long num_linked_recipes(void)
{
    unsigned long num = 0;
    for (size_t i = 0; kiln_linked_bundles[i] != NULL; i++) {
        num += kiln_linked_bundles[i]->num_recipes;
    }
    return num;
}

bool is_taken(const struct options *options, unsigned long number)
{
    return options->whole || options->only > 0 || number % SHORT_STRIDE == 0;
}

/* A multiple of the unit, and no more than the most. */
static size_t fit(size_t extent, uint32_t unit, uint32_t most)
{
    const size_t whole = unit > 1 ? (extent + unit - 1) / unit * unit : extent;
    return most > 0 && whole > most ? most : whole;
}

struct kiln_gemm recipe_call(const struct kiln_recipe *recipe, const size_t extents[3], size_t pad)
{
    const struct kiln_guard *guard = &recipe->guard;
    const size_t m = fit(extents[0], guard->m, guard->most[0]);
    const size_t n = fit(extents[1], guard->n, guard->most[1]);
    const size_t k = fit(extents[2], guard->k, guard->most[2]);
    return (struct kiln_gemm){
        .precision = kiln_precision_of_call(recipe->precision),
        .arithmetic = kiln_arithmetic_of_call(recipe->precision),
        .transa = recipe->transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = recipe->transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = m,
        .n = n,
        .k = k,
        .alpha = 1,
        .lda = fit((recipe->transa ? m : k) + pad, guard->a, 0),
        .ldb = fit((recipe->transb ? k : n) + pad, guard->b, 0),
        .ldc = fit(n + pad, guard->c, 0),
    };
}

bool recipe_serves(const struct kiln_recipe *recipe, struct kiln_context *kiln,
        const struct kiln_gemm *gemm)
{
    char text[4096];
    const size_t length = strlen(recipe->name);
    const char *kernel = NULL;
    if (kiln_gemm_explain(kiln, gemm, text, sizeof text) == KILN_SUCCESS) {
        kernel = strstr(text, "kernel: ");
    }
    return kernel != NULL && strncmp(kernel + 8, recipe->name, length) == 0 &&
           kernel[8 + length] == '\n';
}

void element_set(enum kiln_precision precision, void *matrix, size_t index, double value)
{
    kiln_real_put(kiln_precision_storage(precision),
            (unsigned char *) matrix + index * kiln_element_bytes(precision), value);
}

double element_get(enum kiln_precision precision, const void *matrix, size_t index)
{
    return kiln_real_get(kiln_precision_storage(precision),
            (const unsigned char *) matrix + index * kiln_element_bytes(precision));
}
