/* repro.c: see repro.h.
 *
 * The program written has two parts: data of this candidate (print_data), which are the arguments
 * and sizes that the library would launch its stages with, and a body that is always the same.
 */
#include "repro.h"
#include "../core/assemble.h"
#include "../core/files.h"
#include "../core/signature.h"
#include "../core/text.h"
#include "internal.h"
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char includes[] =
"#define CL_TARGET_OPENCL_VERSION 120\n"
"#include <CL/cl.h>\n"
"#include <math.h>\n"
"#include <stdint.h>\n"
"#include <stdio.h>\n"
"#include <stdlib.h>\n"
"#include <string.h>\n";

static const char head[] =
"\n"
"struct stage {\n"
"    const char *entry;\n"
"    cl_uint work_dim, num_args;\n"
"    size_t global[3], local[3];\n"
"    enum arg args[24];\n"
"};\n"
"\n";

static const char body[] =
"enum { GUARD = 64 };                   /* elements behind C that must stay as they are */\n"
"\n"
"static void check(cl_int error, const char *what)\n"
"{\n"
"    if (error == CL_SUCCESS)\n"
"        return;\n"
"    fprintf(stderr, \"%s: OpenCL error %d\\n\", what, (int) error);\n"
"    exit(2);\n"
"}\n"
"\n"
"static void *allocate(size_t bytes)\n"
"{\n"
"    void *memory = malloc(bytes ? bytes : 1);\n"
"    if (!memory) {\n"
"        fprintf(stderr, \"out of memory\\n\");\n"
"        exit(2);\n"
"    }\n"
"    return memory;\n"
"}\n"
"\n"
"/* The first device whose name contains the text. */\n"
"static cl_device_id find_device(const char *text)\n"
"{\n"
"    cl_platform_id platforms[16];\n"
"    cl_uint num_platforms = 0;\n"
"    clGetPlatformIDs(16, platforms, &num_platforms);\n"
"    for (cl_uint p = 0; p < num_platforms && p < 16; p++) {\n"
"        cl_device_id devices[16];\n"
"        cl_uint num = 0;\n"
"        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &num) != CL_SUCCESS)\n"
"            continue;\n"
"        for (cl_uint d = 0; d < num && d < 16; d++) {\n"
"            char name[256] = \"\";\n"
"            clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);\n"
"            if (strstr(name, text)) {\n"
"                printf(\"device %s\\n\", name);\n"
"                return devices[d];\n"
"            }\n"
"        }\n"
"    }\n"
"    fprintf(stderr, \"no device called '%s'\\n\", text);\n"
"    exit(2);\n"
"}\n"
"\n"
"static char *read_source(void)\n"
"{\n"
"    static char text[1 << 20];\n"
"    FILE *file = fopen(source_file, \"rb\");\n"
"    if (!file || !fread(text, 1, sizeof text - 1, file)) {\n"
"        fprintf(stderr, \"cannot read %s\\n\", source_file);\n"
"        exit(2);\n"
"    }\n"
"    fclose(file);\n"
"    return text;\n"
"}\n"
"\n"
"static cl_program build(cl_context context, cl_device_id device)\n"
"{\n"
"    static char log[1 << 16];\n"
"    const char *text = read_source();\n"
"    cl_int error;\n"
"    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);\n"
"    check(error, \"clCreateProgramWithSource\");\n"
"    error = clBuildProgram(program, 1, &device, NULL, NULL, NULL);\n"
"    if (error != CL_SUCCESS && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG,\n"
"            sizeof log - 1, log, NULL) == CL_SUCCESS)\n"
"        fprintf(stderr, \"%s\\n\", log);\n"
"    check(error, \"clBuildProgram\");\n"
"    return program;\n"
"}\n"
"\n"
"/* Small integers, as an element of the matrix. Half knows them exactly, too. */\n"
"static void set(void *matrix, size_t at, int value)\n"
"{\n"
"    if (BITS == 64)\n"
"        ((double *) matrix)[at] = value;\n"
"    else if (BITS == 32)\n"
"        ((float *) matrix)[at] = (float) value;\n"
"    else\n"
"        ((uint16_t *) matrix)[at] = (uint16_t) ((value < 0 ? 0x8000 : 0) |\n"
"                (abs(value) == 3 ? 0x4200 : abs(value) == 9 ? 0x4880 : 0x3c00));\n"
"}\n"
"\n"
"static double get(const void *matrix, size_t at)\n"
"{\n"
"    if (BITS == 64)\n"
"        return ((const double *) matrix)[at];\n"
"    if (BITS == 32)\n"
"        return ((const float *) matrix)[at];\n"
"    const uint16_t bits = ((const uint16_t *) matrix)[at];\n"
"    const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;\n"
"    const double value = exponent == 31 ? fraction ? NAN : INFINITY\n"
"            : exponent ? ldexp(fraction | 0x400, exponent - 25) : ldexp(fraction, -24);\n"
"    return bits & 0x8000 ? -value : value;\n"
"}\n"
"\n"
"/* 1, -1, 3 or -3. */\n"
"static int odd(size_t i)\n"
"{\n"
"    const uint32_t x = (uint32_t) i * 2654435761u + 12345;\n"
"    return (x >> 20 & 1 ? 3 : 1) * (x >> 25 & 1 ? -1 : 1);\n"
"}\n"
"\n"
"/* op(A)(i, p) = odd(i) odd(p + 7) and op(B)(p, j) = odd(p + 7) odd(j + 3), so that\n"
" * C(i, j) = odd(i) odd(j + 3) times the sum of odd(p + 7)^2 with alternating signs. */\n"
"static int sign(size_t p)\n"
"{\n"
"    return p & 1 ? 1 : -1;\n"
"}\n"
"\n"
"static void fill(void *a, void *b)\n"
"{\n"
"    for (size_t p = 0; p < K; p++) {\n"
"        for (size_t i = 0; i < M; i++)\n"
"            set(a, TRANSA ? p * M + i : i * K + p, odd(i) * odd(p + 7) * sign(p));\n"
"        for (size_t j = 0; j < N; j++)\n"
"            set(b, TRANSB ? j * K + p : p * N + j, odd(p + 7) * odd(j + 3));\n"
"    }\n"
"}\n"
"\n"
"static int judge(const void *c)\n"
"{\n"
"    double sum = 0;\n"
"    for (size_t p = 0; p < K; p++)\n"
"        sum += sign(p) * odd(p + 7) * odd(p + 7);\n"
"    for (size_t i = 0; i < M; i++)\n"
"        for (size_t j = 0; j < N; j++) {\n"
"            const double want = sum * odd(i) * odd(j + 3), got = get(c, i * N + j);\n"
"            if (!(fabs(got - want) <= (BITS == 16 ? fabs(want) / 2048 : 0))) {\n"
"                printf(\"wrong: C[%zu][%zu] is %.17g, not %.17g\\n\", i, j, got, want);\n"
"                return 1;\n"
"            }\n"
"        }\n"
"    for (size_t i = 0; i < GUARD * BITS / 8; i++)\n"
"        if (((const unsigned char *) c)[(size_t) M * N * BITS / 8 + i] != 0xff) {\n"
"            printf(\"wrong: wrote behind C\\n\");\n"
"            return 1;\n"
"        }\n"
"    printf(\"ok\\n\");\n"
"    return 0;\n"
"}\n"
"\n"
"static void set_number(cl_kernel kernel, cl_uint at, cl_long value)\n"
"{\n"
"    const cl_int narrow = (cl_int) value;\n"
"    check(INDEX_BITS == 32 ? clSetKernelArg(kernel, at, sizeof narrow, &narrow)\n"
"                           : clSetKernelArg(kernel, at, sizeof value, &value),\n"
"            \"clSetKernelArg\");\n"
"}\n"
"\n"
"static void set_real(cl_kernel kernel, cl_uint at, double value)\n"
"{\n"
"    const float narrow = (float) value;\n"
"    check(BITS == 64 ? clSetKernelArg(kernel, at, sizeof value, &value)\n"
"                     : clSetKernelArg(kernel, at, sizeof narrow, &narrow), \"clSetKernelArg\");\n"
"}\n"
"\n"
"static void set_arg(cl_kernel kernel, cl_uint at, enum arg arg, const cl_mem memory[4])\n"
"{\n"
"    const cl_long numbers[] = { [ARG_M] = M, [ARG_N] = N, [ARG_K] = K, [ARG_A_OFFSET] = 0,\n"
"            [ARG_LDA] = TRANSA ? M : K, [ARG_B_OFFSET] = 0, [ARG_LDB] = TRANSB ? K : N,\n"
"            [ARG_C_OFFSET] = 0, [ARG_LDC] = N, [ARG_RSA] = TRANSA ? 1 : K,\n"
"            [ARG_CSA] = TRANSA ? M : 1, [ARG_RSB] = TRANSB ? 1 : N, [ARG_CSB] = TRANSB ? K : 1 };\n"
"    if (arg >= ARG_REGION_0 && arg <= ARG_REGION_3)\n"
"        check(clSetKernelArg(kernel, at, sizeof(cl_long), &region_start[arg - ARG_REGION_0]),\n"
"                \"clSetKernelArg\");\n"
"    else if (arg == ARG_PACKED_A_AT || arg == ARG_PACKED_B_AT)\n"
"        check(clSetKernelArg(kernel, at, sizeof(cl_long),\n"
"                &packed_start[arg == ARG_PACKED_B_AT]), \"clSetKernelArg\");\n"
"    else if (arg == ARG_PACKED_LDA || arg == ARG_PACKED_LDB)\n"
"        set_number(kernel, at, packed_ld[arg == ARG_PACKED_LDB]);\n"
"    else if (arg == ARG_PACKED_A || arg == ARG_PACKED_B)\n"
"        check(clSetKernelArg(kernel, at, sizeof(cl_mem),\n"
"                &memory[packed_memory[arg == ARG_PACKED_B]]), \"clSetKernelArg\");\n"
"    else if (arg == ARG_A || arg == ARG_B || arg == ARG_C || arg == ARG_WORKSPACE)\n"
"        check(clSetKernelArg(kernel, at, sizeof(cl_mem),\n"
"                &memory[arg == ARG_A ? 0 : arg == ARG_B ? 1 : arg == ARG_C ? 2 : 3]),\n"
"                \"clSetKernelArg\");\n"
"    else if (arg == ARG_PARTS)\n"
"        check(clSetKernelArg(kernel, at, sizeof num_parts, &num_parts), \"clSetKernelArg\");\n"
"    else if (arg == ARG_ALPHA || arg == ARG_BETA)\n"
"        set_real(kernel, at, arg == ARG_ALPHA ? 1 : 0);\n"
"    else\n"
"        set_number(kernel, at, numbers[arg]);\n"
"}\n"
"\n"
"static void launch(cl_command_queue queue, cl_program program, const struct stage *stage,\n"
"        const cl_mem memory[4])\n"
"{\n"
"    cl_int error;\n"
"    cl_kernel kernel = clCreateKernel(program, stage->entry, &error);\n"
"    check(error, stage->entry);\n"
"    for (cl_uint i = 0; i < stage->num_args; i++)\n"
"        set_arg(kernel, i, stage->args[i], memory);\n"
"    check(clEnqueueNDRangeKernel(queue, kernel, stage->work_dim, NULL, stage->global,\n"
"            stage->local, 0, NULL, NULL), stage->entry);\n"
"    check(clFinish(queue), stage->entry);\n"
"    clReleaseKernel(kernel);\n"
"}\n"
"\n"
"int main(int argc, char **argv)\n"
"{\n"
"    const size_t bytes[3] = { (size_t) M * K * BITS / 8, (size_t) K * N * BITS / 8,\n"
"            ((size_t) M * N + GUARD) * BITS / 8 };\n"
"    void *data[3];\n"
"    cl_mem memory[4];\n"
"    cl_int error;\n"
"    printf(\"%s, %d x %d x %d\\n\", config, M, N, K);\n"
"    cl_device_id device = find_device(argc > 1 ? argv[1] : \"\");\n"
"    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);\n"
"    check(error, \"clCreateContext\");\n"
"    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);\n"
"    check(error, \"clCreateCommandQueue\");\n"
"    cl_program program = build(context, device);\n"
"    for (int i = 0; i < 3; i++)\n"
"        data[i] = memset(allocate(bytes[i]), 0xff, bytes[i]);\n"
"    fill(data[0], data[1]);\n"
"    for (int i = 0; i < 4; i++) {\n"
"        memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE |\n"
"                (i < 3 ? CL_MEM_COPY_HOST_PTR : 0), i < 3 ? bytes[i] : workspace_bytes,\n"
"                i < 3 ? data[i] : NULL, &error);\n"
"        check(error, \"clCreateBuffer\");\n"
"    }\n"
"    for (int i = 0; i < NUM_STAGES; i++)\n"
"        launch(queue, program, &stages[i], memory);\n"
"    check(clEnqueueReadBuffer(queue, memory[2], CL_TRUE, 0, bytes[2], data[2], 0, NULL, NULL),\n"
"            \"clEnqueueReadBuffer\");\n"
"    return judge(data[2]);\n"
"}\n";

/* A stage's sizes as the library launches it; false when it has nothing to do. */
static bool print_stage(struct text *out, const struct kiln_plan *plan, unsigned index)
{
    const struct kiln_stage *stage = &plan->recipe->stages[index];
    size_t global[3] = { 1, 1, 1 };
    if (kiln_stage_is_empty(plan, index))
        return false;
    for (unsigned d = 0; d < stage->work_dim; d++)
        global[d] = plan->global[index][d];
    text_add(out, "    { \"%s\", %u, %u,\n      { %zu, %zu, %zu }, { %u, %u, %u },\n      {",
            stage->entry, stage->work_dim, stage->num_args, global[0], global[1], global[2],
            stage->local[0], stage->local[1], stage->local[2]);
    for (unsigned i = 0; i < stage->num_args; i++)
        text_add(out, "%s ARG_%s", i ? "," : "", signature_arg_names[stage->args[i]]);
    text_add(out, " } },\n");
    return true;
}

/* Where a prepared operand lies: number of its memory, start and leading dimension. */
static void print_prepared(struct text *out, const struct kiln_plan *plan,
        const struct kiln_product *shape)
{
    const bool a = plan->ready & KILN_PREPARED_A, b = plan->ready & KILN_PREPARED_B;
    text_add(out, "static const int packed_memory[2] = { %d, %d };\n", a ? 0 : 3, b ? 1 : 3);
    text_add(out, "static const cl_long packed_start[2] = { %zu, %zu };\n",
            plan->packed_start[KILN_PREPARED_A], plan->packed_start[KILN_PREPARED_B]);
    text_add(out, "static const cl_long packed_ld[2] = { %zu, %zu };\n",
            a ? shape->a.ld : plan->packed_ld[KILN_PREPARED_A],
            b ? shape->b.ld : plan->packed_ld[KILN_PREPARED_B]);
}

static bool print_data(struct text *out, const struct kiln_recipe *recipe,
        const struct kiln_product *shape, uint32_t units, const char *source_file, char *error)
{
    const struct kiln_places places = { .packed = KILN_PREPARED_NONE };
    struct kiln_plan plan;
    unsigned num_stages = 0;
    if (!kiln_plan_make(recipe, shape, &places, units, &plan)) {
        snprintf(error, FAMILY_ERROR_BYTES, "the workspace or the launch is too large");
        return false;
    }
    text_add(out, "static const char config[] = \"%s\";\n", recipe->name);
    text_add(out, "static const char source_file[] = ");
    text_quote(out, source_file);
    text_add(out,
            ";\nenum { M = %zu, N = %zu, K = %zu, TRANSA = %u, TRANSB = %u, BITS = %d, "
            "INDEX_BITS = %u };\n",
            shape->m, shape->n, shape->k, shape->transa, shape->transb,
            8 * (int) shape->element_bytes, recipe->index_bits);
    text_add(out, "static const size_t workspace_bytes = %zu;\n",
            plan.workspace_bytes ? plan.workspace_bytes : 1);
    text_add(out, "static const cl_long region_start[4] = { %zu, %zu, %zu, %zu };\n",
            plan.region_start[0], plan.region_start[1], plan.region_start[2], plan.region_start[3]);
    text_add(out, "static const cl_int num_parts = %u;\n", plan.parts);
    print_prepared(out, &plan, shape);
    text_add(out, "static const struct stage stages[] = {\n");
    for (unsigned i = 0; i < recipe->num_stages; i++)
        num_stages += kiln_stage_is_needed(recipe, i, plan.ready) && print_stage(out, &plan, i);
    text_add(out, "};\nenum { NUM_STAGES = %u };\n\n", num_stages);
    return true;
}

static bool print_program(struct text *out, const struct kiln_recipe *recipe,
        const struct kiln_product *shape, uint32_t units, const char *path_stem, char *error)
{
    char source_file[512];
    snprintf(source_file, sizeof source_file, "%s.cl", path_stem);
    const char *slash = strrchr(source_file, '/');
    const char *name = slash ? slash + 1 : source_file;
    text_add(out,
            "/* Runs one Kiln kernel on integers whose product is known.\n"
            " *\n"
            " *     gcc %.*s.c -lOpenCL -lm && ./a.out [DEVICE]\n"
            " *\n"
            " * in the folder that holds %s. Exit code 0: right, 1: wrong, 2: an error.\n"
            " * Generated by kiln-tune repro. */\n",
            (int) strlen(name) - 3, name, name);
    text_add(out, "%s\nenum arg {\n", includes);
    for (int i = 0; i < KILN_NUM_ARG_CODES; i++)
        text_add(out, "    ARG_%s,\n", signature_arg_names[i]);
    text_add(out, "};\n%s", head);
    if (!print_data(out, recipe, shape, units, name, error))
        return false;
    text_add(out, "%s", body);
    if (out->failed)
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    return !out->failed;
}

static bool write_both(const char *path_stem, const char *kernels, const struct text *program,
        char *error)
{
    char path[512];
    if (snprintf(path, sizeof path, "%s.cl", path_stem) >= (int) sizeof path) {
        snprintf(error, FAMILY_ERROR_BYTES, "the path is too long");
        return false;
    }
    if (!files_write(path, kernels, strlen(kernels), error))
        return false;
    snprintf(path, sizeof path, "%s.c", path_stem);
    return files_write(path, program->bytes, program->len, error);
}

/* Renders the kernels and the program around them, and writes both. */
static bool write_all(const struct assembly *assembly, const struct config *config,
        const struct problem *problem, const struct kiln_product *shape, const char *path_stem,
        char *error)
{
    struct text program = { 0 };
    if (!kiln_guard_takes_extents(&assembly->recipes[0].guard, shape->m, shape->n, shape->k)) {
        snprintf(error, FAMILY_ERROR_BYTES, "the configuration does not take the shape");
        return false;
    }
    char *kernels = assemble_text(config, problem, &assembly->facts, error);
    const bool ok = kernels &&
                    print_program(&program, &assembly->bundle.recipes[0], shape,
                            (uint32_t) assembly->facts.value[FACT_UNITS], path_stem, error) &&
                    write_both(path_stem, kernels, &program, error);
    free(kernels);
    text_free(&program);
    return ok;
}

static bool is_extent(size_t extent)
{
    return extent >= 1 && extent <= INT32_MAX;
}

bool repro_write(const struct config *config, const struct problem *problem, size_t m, size_t n,
        size_t k, const struct device_facts *facts, const char *path_stem,
        char error[FAMILY_ERROR_BYTES])
{
    struct assembly assembly;
    unsigned index;
    bool ok = false;
    const struct kiln_product shape = product_dense(problem, m, n, k);
    if (!is_extent(m) || !is_extent(n) || !is_extent(k)) {
        snprintf(error, FAMILY_ERROR_BYTES, "M, N and K must be from 1 to %d", INT32_MAX);
        return false;
    }
    if (!assembly_init(&assembly, "repro", facts))
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    else
        ok = assembly_add(&assembly, config, problem, &index, error) &&
             write_all(&assembly, config, problem, &shape, path_stem, error);
    assembly_free(&assembly);
    return ok;
}
