/* ptx_check.c: the kernels of the linked bundles, launched through CUDA instead of OpenCL, so that
 * CUDA's tools can watch: compute-sanitizer for stray accesses and races, a profiler for the rest.
 *
 * A first run saves what NVIDIA's OpenCL compiles, which is PTX; the run that is watched knows no
 * OpenCL:
 *
 *     build/tests/kernels/ptx_check --save DIR
 *     compute-sanitizer --tool memcheck build/tests/kernels/ptx_check --load DIR
 *
 * Each stage of a recipe is launched with the library's own launch data, on buffers that end with
 * their last element. The operands are small integers, whose product is compared exactly.
 */
#include "internal.h"
#include "core/family.h"
#include "core/files.h"
#include "core/pool.h"
#include "tune/device.h"
#include "tune/matrix.h"
#include "tune/verify.h"

#include <cuda.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_USAGE = 2, EXIT_SKIPPED = 77, MAX_EXTENT = 2048, NUM_BUFFERS = 4, PATH_BYTES = 1024
};

struct options {
    const char *save, *load;           /* folders; one of them is given */
    const char *device;                /* to save: a part of its name */
    const char *recipe;                /* part of the recipe's name */
    size_t m, n, k;
};

struct check {
    const struct options *options;
    unsigned num_checked, num_failures;
};

/* One recipe at the shape: A, B, C and the workspace. */
struct work {
    struct kiln_product product;
    struct kiln_plan plan;
    struct matrix matrices[3];
    CUdeviceptr memory[NUM_BUFFERS];
};

static const char help[] =
    "usage: ptx_check [OPTION]...\n"
    "\n"
    "  --save DIR       compile with OpenCL and keep the PTX\n"
    "  --device NAME    for this: substring of the device's name (default NVIDIA)\n"
    "  --load DIR       run the PTX that is kept there\n"
    "  --recipe TEXT    only recipes whose name contains TEXT (see kiln_gemm_explain)\n"
    "  --shape MxNxK    default 200x152x96; extents that a recipe wants to be multiples are\n"
    "                   rounded up\n"
    "\n"
    "Exit status: 0 all right, 1 a failure, 2 wrong usage, 77 no device, or nothing kept.\n";

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "ptx_check: %s '%s'\n%s", what, value, help);
    return EXIT_USAGE;
}

static bool good(CUresult result, const char *what)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS)
        return true;
    cuGetErrorString(result, &text);
    fprintf(stderr, "ptx_check: %s: %s\n", what, text ? text : "an unknown error");
    return false;
}

/* ---- The text ---- */

/* What NVIDIA's OpenCL finds in %envreg registers, which CUDA does not fill: offsets of work-groups
 * and work-items, which the library never has, and the number of work-groups. */
static const char *meaning_of(int number)
{
    static const char *const names[] = { "0", "0", "0", "0", "0", "0", "%nctaid.x", "%nctaid.y",
        "%nctaid.z" };
    return number < (int) (sizeof names / sizeof names[0]) ? names[number] : "?";
}

/* PTX for CUDA, to be freed; NULL when out of memory. */
static char *text_for_cuda(const char *from)
{
    static const char mark[] = "%envreg";
    char *text = calloc(strlen(from) + 1, 2), *to = text;
    for (const char *at = from; text && *at;) {
        if (strncmp(at, mark, sizeof mark - 1)) {
            *to++ = *at++;
            continue;
        }
        char *end;
        const char *meaning = meaning_of((int) strtol(at + sizeof mark - 1, &end, 10));
        memcpy(to, meaning, strlen(meaning));
        to += strlen(meaning);
        at = end;
    }
    return text;
}

static void path_of(const char *folder, const struct kiln_program *program, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%016" PRIx64 ".ptx", folder, program->hash);
}

/* What was kept of a program, for CUDA; NULL when nothing was. */
static char *find_text(const struct check *check, const struct kiln_program *program)
{
    char path[PATH_BYTES], error[FILES_ERROR_BYTES];
    path_of(check->options->load, program, path);
    char *kept = files_read(path, error);
    char *text = kept ? text_for_cuda(kept) : NULL;
    free(kept);
    return text;
}

/* ---- The operands ---- */

static double a_value(size_t i, size_t p)
{
    return (double) ((i * 7 + p * 3) % 5) - 2;
}

static double b_value(size_t p, size_t j)
{
    return (double) ((p * 11 + j * 13) % 7) - 3;
}

static void fill(struct matrix *matrix, bool trans, double (*value)(size_t, size_t))
{
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->cols; j++)
            matrix_set(matrix, i, j, trans ? value(j, i) : value(i, j));
}

static size_t round_up(size_t value, uint32_t multiple)
{
    return multiple > 1 ? (value + multiple - 1) / multiple * multiple : value;
}

/* What lies between the rows is NaN; nothing lies behind the last element. */
static bool make_matrix(struct work *work, int which, size_t rows, size_t cols, uint32_t align,
        struct kiln_matrix *operand)
{
    struct matrix *matrix = &work->matrices[which];
    if (!matrix_init(matrix, kiln_precision_storage(work->product.precision), rows, cols,
                round_up(cols, align) - cols, 0))
        return good(CUDA_ERROR_OUT_OF_MEMORY, "a matrix");
    operand->ld = matrix->ld;
    return good(cuMemAlloc(&work->memory[which], matrix->bytes - 2 * MATRIX_ZONE_BYTES),
            "cuMemAlloc");
}

static bool upload(struct work *work, int which)
{
    const struct matrix *matrix = &work->matrices[which];
    return good(cuMemcpyHtoD(work->memory[which], matrix->image + MATRIX_ZONE_BYTES,
                        matrix->bytes - 2 * MATRIX_ZONE_BYTES),
            "cuMemcpyHtoD");
}

static bool make_operands(struct work *work)
{
    struct kiln_product *p = &work->product;
    const struct kiln_guard *guard = &work->plan.recipe->guard;
    if (!make_matrix(work, 0, p->transa ? p->k : p->m, p->transa ? p->m : p->k, guard->a, &p->a) ||
            !make_matrix(work, 1, p->transb ? p->n : p->k, p->transb ? p->k : p->n, guard->b,
                    &p->b) ||
            !make_matrix(work, 2, p->m, p->n, guard->c, &p->c))
        return false;
    fill(&work->matrices[0], p->transa, a_value);
    fill(&work->matrices[1], p->transb, b_value);
    const size_t bytes = work->plan.workspace_bytes ? work->plan.workspace_bytes : 1;
    return upload(work, 0) && upload(work, 1) && upload(work, 2) &&
           good(cuMemAlloc(&work->memory[3], bytes), "cuMemAlloc") &&
           good(cuMemsetD8(work->memory[3], 0xff, bytes), "cuMemsetD8");
}

static void free_operands(struct work *work)
{
    for (int i = 0; i < NUM_BUFFERS; i++)
        if (work->memory[i])
            cuMemFree(work->memory[i]);
    for (int i = 0; i < 3; i++)
        matrix_free(&work->matrices[i]);
}

/* ---- Launching ---- */

/* An argument as CUDA takes it: the address of a value of the parameter's own type. */
union argument {
    int32_t index32;
    int64_t index64;
    float real32;
    double real64;
    CUdeviceptr memory;
};

static union argument index_argument(const struct work *work, size_t value)
{
    if (work->plan.recipe->index_bits == 32)
        return (union argument){ .index32 = (int32_t) value };
    return (union argument){ .index64 = (int64_t) value };
}

static union argument real_argument(const struct work *work, double value)
{
    if (work->product.precision == KILN_DOUBLE)
        return (union argument){ .real64 = value };
    return (union argument){ .real32 = (float) value };
}

/* Which of buffer, place and leading dimension of a prepared operand; its own where it is as is. */
static union argument packed_argument(const struct work *work, unsigned prepared, unsigned which)
{
    const struct kiln_matrix *matrix = kiln_operand(&work->product, prepared);
    const bool is_as_is = work->plan.ready & prepared;
    if (which == 0)
        return (union argument){ .memory = work->memory[is_as_is ? prepared - 1 : 3] };
    if (which == 1)
        return (union argument){
            .index64 = is_as_is ? 0 : (int64_t) work->plan.packed_start[prepared]
        };
    if (which == 2)
        return index_argument(work, 0); /* no batch */
    return index_argument(work, is_as_is ? matrix->ld : work->plan.packed_ld[prepared]);
}

static union argument argument_of(const struct work *work, enum kiln_arg code)
{
    const struct kiln_product *p = &work->product;
    switch (code) {
    case KILN_ARG_M: return index_argument(work, p->m);
    case KILN_ARG_N: return index_argument(work, p->n);
    case KILN_ARG_K: return index_argument(work, p->k);
    case KILN_ARG_ALPHA: return real_argument(work, 1);
    case KILN_ARG_BETA: return real_argument(work, 0);
    case KILN_ARG_A: return (union argument){ .memory = work->memory[0] };
    case KILN_ARG_B: return (union argument){ .memory = work->memory[1] };
    case KILN_ARG_C: return (union argument){ .memory = work->memory[2] };
    case KILN_ARG_LDA: return index_argument(work, p->a.ld);
    case KILN_ARG_LDB: return index_argument(work, p->b.ld);
    case KILN_ARG_LDC: return index_argument(work, p->c.ld);
    case KILN_ARG_RSA: return index_argument(work, p->transa ? 1 : p->a.ld);
    case KILN_ARG_CSA: return index_argument(work, p->transa ? p->a.ld : 1);
    case KILN_ARG_RSB: return index_argument(work, p->transb ? 1 : p->b.ld);
    case KILN_ARG_CSB: return index_argument(work, p->transb ? p->b.ld : 1);
    case KILN_ARG_PARTS: return index_argument(work, work->plan.parts);
    case KILN_ARG_WORKSPACE: return (union argument){ .memory = work->memory[3] };
    case KILN_ARG_PACKED_A:
    case KILN_ARG_PACKED_A_AT:
    case KILN_ARG_PACKED_A_STRIDE:
    case KILN_ARG_PACKED_LDA:
        return packed_argument(work, KILN_PREPARED_A, code - KILN_ARG_PACKED_A);
    case KILN_ARG_PACKED_B:
    case KILN_ARG_PACKED_B_AT:
    case KILN_ARG_PACKED_B_STRIDE:
    case KILN_ARG_PACKED_LDB:
        return packed_argument(work, KILN_PREPARED_B, code - KILN_ARG_PACKED_B);
    case KILN_ARG_REGION_0:
    case KILN_ARG_REGION_1:
    case KILN_ARG_REGION_2:
    case KILN_ARG_REGION_3:
        return (union argument){
            .index64 = (int64_t) work->plan.region_start[code - KILN_ARG_REGION_0]
        };
    default: return index_argument(work, 0); /* offsets and strides */
    }
}

static bool launch(const struct work *work, CUmodule module, unsigned index)
{
    const struct kiln_stage *stage = &work->plan.recipe->stages[index];
    unsigned groups[3] = { 1, 1, 1 }, local[3] = { 1, 1, 1 };
    union argument arguments[KILN_MAX_ARGS];
    void *addresses[KILN_MAX_ARGS];
    CUfunction function;
    for (unsigned d = 0; d < stage->work_dim; d++) {
        groups[d] = (unsigned) work->plan.groups[index][d];
        local[d] = stage->local[d];
        if (!groups[d])
            return true;
    }
    for (unsigned i = 0; i < stage->num_args; i++) {
        arguments[i] = argument_of(work, stage->args[i]);
        addresses[i] = &arguments[i];
    }
    return good(cuModuleGetFunction(&function, module, stage->entry), stage->entry) &&
           good(cuLaunchKernel(function, groups[0], groups[1], groups[2], local[0], local[1],
                        local[2], 0, NULL, addresses, NULL),
                   stage->entry) &&
           good(cuCtxSynchronize(), stage->entry);
}

static bool judge(struct work *work)
{
    struct matrix *c = &work->matrices[2];
    char where[MATRIX_MESSAGE_BYTES];
    if (!good(cuMemcpyDtoH(c->image + MATRIX_ZONE_BYTES, work->memory[2],
                      c->bytes - 2 * MATRIX_ZONE_BYTES),
                "cuMemcpyDtoH"))
        return false;
    if (!matrix_is_intact(c, where)) {
        fprintf(stderr, "ptx_check: %s\n", where);
        return false;
    }
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < c->cols; j++) {
            double sum = 0;
            for (size_t p = 0; p < work->product.k; p++)
                sum += a_value(i, p) * b_value(p, j);
            if (matrix_get(c, i, j) != sum) {
                fprintf(stderr, "ptx_check: C[%zu][%zu] is %g, not %g\n", i, j, matrix_get(c, i, j),
                        sum);
                return false;
            }
        }
    return true;
}

static bool run(struct work *work, const char *text)
{
    CUmodule module;
    if (!good(cuModuleLoadData(&module, text), "cuModuleLoadData"))
        return false;
    bool ok = make_operands(work);
    // Stages that prepare one operand where another one prepares both come last, to be watched too;
    // what is taken as it is has no room to be prepared in.
    for (unsigned i = 0; ok && i < work->plan.recipe->num_stages; i++)
        if (kiln_stage_is_needed(work->plan.recipe, i, work->plan.ready))
            ok = launch(work, module, i);
    ok = ok && judge(work);
    for (unsigned i = 0; ok && i < work->plan.recipe->num_stages; i++)
        if (!kiln_stage_is_needed(work->plan.recipe, i, work->plan.ready) && !work->plan.ready)
            ok = launch(work, module, i);
    free_operands(work);
    cuModuleUnload(module);
    return ok;
}

/* ---- Saving ---- */

/* The binary of a program that was built for one device, with room for what unmasking adds. */
static char *binary_of(cl_program program, size_t *size)
{
    size_t bytes = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) !=
            CL_SUCCESS)
        return NULL;
    char *text = calloc(bytes + 1 + KILN_PTX_ROOM, 1);
    if (text && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof text, &text, NULL) !=
                        CL_SUCCESS) {
        free(text);
        return NULL;
    }
    *size = bytes + 1 + KILN_PTX_ROOM;
    return text;
}

static char *compile(cl_context context, cl_device_id device, const struct kiln_pool *pool,
        const struct kiln_program *source)
{
    size_t size = 0;
    char *text = NULL, *kernels = pool_text(pool, source);
    const char *pieces[] = { kernels };
    cl_program program = kernels ? clCreateProgramWithSource(context, 1, pieces, NULL, NULL) : NULL;
    if (program && clBuildProgram(program, 1, &device, NULL, NULL, NULL) == CL_SUCCESS)
        text = binary_of(program, &size);
    if (program)
        clReleaseProgram(program);
    free(kernels);
    if (text && (!strstr(text, ".target sm_") ||
                        (source->ptx && !kiln_ptx_unmask(text, size, source->ptx)))) {
        free(text);
        return NULL;
    }
    return text;
}

/* Recipes share programs: each is compiled once. */
static bool save_program(const struct options *options, cl_context context, cl_device_id device,
        const struct kiln_pool *pool, const struct kiln_program *program)
{
    char path[PATH_BYTES], error[FILES_ERROR_BYTES];
    path_of(options->save, program, path);
    char *text = files_read(path, error);
    if (text) {
        free(text);
        return true;
    }
    text = compile(context, device, pool, program);
    const bool ok = text && files_write(path, text, strlen(text), error);
    if (!ok)
        fprintf(stderr, "ptx_check: %s: %s\n", path, text ? error : "does not compile to PTX");
    free(text);
    return ok;
}

static int save_all(const struct options *options)
{
    cl_device_id device;
    char error[FAMILY_ERROR_BYTES];
    unsigned num_failures = 0;
    if (!device_find(options->device, &device, error)) {
        fprintf(stderr, "ptx_check: %s\n", error);
        return EXIT_SKIPPED;
    }
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    for (size_t b = 0; context && kiln_linked_bundles[b]; b++)
        for (uint32_t i = 0; i < kiln_linked_bundles[b]->num_recipes; i++) {
            const struct kiln_bundle *bundle = kiln_linked_bundles[b];
            if (strstr(bundle->recipes[i].name, options->recipe))
                num_failures += !save_program(options, context, device, &bundle->pool,
                        &bundle->programs[bundle->recipes[i].program]);
        }
    if (context)
        clReleaseContext(context);
    return !context || num_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- What to check ---- */

static struct kiln_product product_for(const struct check *check, const struct kiln_recipe *recipe)
{
    const struct precision *precision = precision_of_id(recipe->precision);
    const struct kiln_guard *guard = &recipe->guard;
    return kiln_product_dense(recipe->precision, (size_t) precision->element_bytes, recipe->transa,
            recipe->transb, round_up(check->options->m, guard->m),
            round_up(check->options->n, guard->n), round_up(check->options->k, guard->k));
}

static void check_recipe(struct check *check, const struct kiln_bundle *bundle,
        const struct kiln_recipe *recipe)
{
    const struct kiln_places places = { .packed = KILN_PREPARED_NONE };
    struct work work = { .product = product_for(check, recipe) };
    char *text = strstr(recipe->name, check->options->recipe)
                       ? find_text(check, &bundle->programs[recipe->program])
                       : NULL;
    if (!text)
        return;
    printf("%s: %u bit %c%c %s, %zu x %zu x %zu: ", bundle->name, recipe->precision,
            recipe->transa ? 't' : 'n', recipe->transb ? 't' : 'n', recipe->name, work.product.m,
            work.product.n, work.product.k);
    fflush(stdout); /* it might crash */
    const bool ok = kiln_plan_make(recipe, &work.product, &places, 1, &work.plan) &&
                    run(&work, text);
    printf("%s\n", ok ? "right" : "FAILED");
    check->num_checked++;
    check->num_failures += !ok;
    free(text);
}

static int check_all(struct check *check)
{
    for (size_t b = 0; kiln_linked_bundles[b]; b++)
        for (uint32_t i = 0; i < kiln_linked_bundles[b]->num_recipes; i++)
            check_recipe(check, kiln_linked_bundles[b], &kiln_linked_bundles[b]->recipes[i]);
    printf("%u recipes, %u failures\n", check->num_checked, check->num_failures);
    if (!check->num_checked)
        return EXIT_SKIPPED;
    return check->num_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool open_device(void)
{
    CUdevice device;
    CUcontext context;
    return good(cuInit(0), "cuInit") && good(cuDeviceGet(&device, 0), "cuDeviceGet") &&
           good(cuDevicePrimaryCtxRetain(&context, device), "a context") &&
           good(cuCtxSetCurrent(context), "a context");
}

static bool read_shape(const char *text, struct options *options)
{
    char end;
    return sscanf(text, "%zux%zux%zu%c", &options->m, &options->n, &options->k, &end) == 3 &&
           options->m && options->n && options->k && options->m <= MAX_EXTENT &&
           options->n <= MAX_EXTENT && options->k <= MAX_EXTENT;
}

int main(int argc, char **argv)
{
    struct options options = { .device = "NVIDIA", .recipe = "", .m = 200, .n = 152, .k = 96 };
    struct check check = { .options = &options };
    for (int i = 1; i < argc; i += 2) {
        if (!strcmp(argv[i], "--help"))
            return fputs(help, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (i + 1 == argc)
            return usage("a value is missing after", argv[i]);
        if (!strcmp(argv[i], "--recipe"))
            options.recipe = argv[i + 1];
        else if (!strcmp(argv[i], "--device"))
            options.device = argv[i + 1];
        else if (!strcmp(argv[i], "--save"))
            options.save = argv[i + 1];
        else if (!strcmp(argv[i], "--load"))
            options.load = argv[i + 1];
        else if (strcmp(argv[i], "--shape"))
            return usage("unknown option", argv[i]);
        else if (!read_shape(argv[i + 1], &options))
            return usage("--shape: not MxNxK with extents from 1 to 2048:", argv[i + 1]);
    }
    if (!options.save == !options.load)
        return usage("one of them, please:", "--save or --load");
    if (options.save)
        return save_all(&options);
    return open_device() ? check_all(&check) : EXIT_SKIPPED;
}
