/* copy_test.c: the copies of A and B whose rows start at multiples of 16 bytes
 * (copies/copies.cl.in). The families that use them run on NVIDIA's devices only; the copies
 * run on any.
 *
 * Elements have 2, 4 and 8 bytes. Two matrices are copied at once, on buffers that end with their
 * last element, so that a simulator sees stray accesses.
 */
#include "core/family.h"
#include "core/signature.h"
#include "core/text.h"
#include "core/tidy.h"
#include "tune/device.h"
#include "tune/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

enum { EXIT_SKIPPED = 77, MOST = 41, ITEMS = 256, GROUPS = 2 };

static const size_t extents[] = { 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 40 };

/* A matrix as it lies in its buffer, and where its copy starts. */
struct matrix {
    cl_long rows, cols, offset, ld, at;
    size_t element_bytes;
    cl_mem buffer;
    unsigned char *bytes;
};

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "copy_test: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* The stage of a family that copies both, which has the arguments of all of them. */
static const struct family_stage *find_stage(void)
{
    const struct family *family = family_find("async");
    for (unsigned i = 0; i < family->num_stages; i++)
        if (!strcmp(family->stages[i].template, "copies/copies:both"))
            return &family->stages[i];
    need(false, "the stage is missing");
    return NULL;
}

/* The text of the kernel for elements of so many bytes. */
static char *render(size_t element_bytes)
{
    static const char *const files[] = { "nv/functions", "copies/copies:both" };
    struct text all = { NULL };
    struct scope scope = { .num = 0 };
    struct tmpl_error error;
    struct text head = { NULL };
    const struct family_stage *stage = find_stage();
    struct tmpl_file *with_head = malloc((num_template_files + 1) * sizeof *with_head);
    need(with_head && signature_head("copy", stage->locals, stage->args, true, &head),
            "out of memory");
    memcpy(with_head, template_files, num_template_files * sizeof *with_head);
    with_head[num_template_files] = (struct tmpl_file){ SIGNATURE_FILE, head.bytes };
    need(scope_set(&scope, "ELEM_BYTES", (long) element_bytes) &&
                    scope_set(&scope, "WHOLE", 16 / (long) element_bytes) &&
                    scope_set(&scope, "COPYA", 1) && scope_set(&scope, "COPYB", 1) &&
                    scope_set(&scope, "PARTS", 0),
            "the names are too many");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *text = tmpl_render(with_head, num_template_files + 1, files[i], &scope, &error);
        need(text != NULL, text ? "" : error.what);
        text_add(&all, "%s\n", text);
        free(text);
    }
    text_free(&head);
    free(with_head);
    return tidy(all.bytes);
}

static cl_kernel build(struct launcher *launcher, size_t element_bytes, cl_program *program)
{
    char *text = render(element_bytes), log[4096] = "";
    cl_int error;
    *program = clCreateProgramWithSource(launcher->context, 1, (const char **) &text, NULL, &error);
    if (error == CL_SUCCESS)
        error = clBuildProgram(*program, 1, &launcher->device, "", NULL, NULL);
    if (error != CL_SUCCESS)
        clGetProgramBuildInfo(*program, launcher->device, CL_PROGRAM_BUILD_LOG, sizeof log, log,
                NULL);
    need(error == CL_SUCCESS, log);
    free(text);
    cl_kernel kernel = clCreateKernel(*program, "copy", &error);
    need(error == CL_SUCCESS, "clCreateKernel");
    return kernel;
}

/* One of many matrices, its elements all different. */
static struct matrix make(struct launcher *launcher, size_t element_bytes, unsigned draw)
{
    enum { NUM = sizeof extents / sizeof extents[0] };
    struct matrix m = { .rows = (cl_long) extents[draw % NUM],
        .cols = (cl_long) extents[draw / NUM % NUM],
        .offset = draw % 16,
        .at = draw % 3 * 16,
        .element_bytes = element_bytes };
    m.ld = m.cols + draw % 4;
    const size_t num = (size_t) (m.offset + (m.rows - 1) * m.ld + m.cols);
    m.bytes = malloc(num * element_bytes);
    need(m.bytes != NULL, "out of memory");
    for (size_t i = 0; i < num * element_bytes; i++)
        m.bytes[i] = (unsigned char) (i * 37 + i / 256 + draw);
    cl_int error;
    m.buffer = clCreateBuffer(launcher->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
            num * element_bytes, m.bytes, &error);
    need(error == CL_SUCCESS, "clCreateBuffer");
    return m;
}

static void set(cl_kernel kernel, cl_uint *index, const struct matrix *m, const cl_mem *work)
{
    const size_t word = sizeof(cl_long);
    need(!clSetKernelArg(kernel, (*index)++, word, &m->rows) &&
                    !clSetKernelArg(kernel, (*index)++, word, &m->cols) &&
                    !clSetKernelArg(kernel, (*index)++, sizeof m->buffer, &m->buffer) &&
                    !clSetKernelArg(kernel, (*index)++, word, &m->offset) &&
                    !clSetKernelArg(kernel, (*index)++, word, &m->ld) &&
                    !clSetKernelArg(kernel, (*index)++, sizeof *work, work) &&
                    !clSetKernelArg(kernel, (*index)++, word, &m->at),
            "clSetKernelArg");
}

static bool is_copied(struct launcher *launcher, const struct matrix *m, cl_mem work)
{
    const size_t whole = 16 / m->element_bytes, each = ((size_t) m->cols + whole - 1) / whole * 16;
    const size_t row = (size_t) m->cols * m->element_bytes;
    unsigned char copied[MOST * 8 + 16];
    for (size_t i = 0; i < (size_t) m->rows; i++) {
        const size_t from = ((size_t) m->offset + i * (size_t) m->ld) * m->element_bytes;
        need(!clEnqueueReadBuffer(launcher->queue, work, CL_TRUE,
                     (size_t) m->at * m->element_bytes + i * each, row, copied, 0, NULL, NULL),
                "clEnqueueReadBuffer");
        if (memcmp(copied, m->bytes + from, row)) {
            printf("FAILED: %zu-byte elements, %ld x %ld, ld %ld, offset %ld: row %zu\n",
                    m->element_bytes, (long) m->rows, (long) m->cols, (long) m->ld,
                    (long) m->offset, i);
            return false;
        }
    }
    return true;
}

static bool run_case(struct launcher *launcher, cl_kernel kernel, size_t element_bytes,
        unsigned draw)
{
    struct matrix matrices[2] = { make(launcher, element_bytes, draw),
        make(launcher, element_bytes, draw * 7 + 3) };
    const size_t items = ITEMS, all = ITEMS * GROUPS;
    cl_mem work[2];
    cl_uint index = 0;
    bool good = true;
    for (int i = 0; i < 2; i++) {
        const struct matrix *m = &matrices[i];
        const size_t whole = 16 / element_bytes, each = ((size_t) m->cols + whole - 1) / whole * 16;
        cl_int error;
        work[i] = clCreateBuffer(launcher->context, CL_MEM_READ_WRITE,
                (size_t) m->at * element_bytes + (size_t) m->rows * each, NULL, &error);
        need(error == CL_SUCCESS, "clCreateBuffer");
        set(kernel, &index, m, &work[i]);
    }
    need(!clEnqueueNDRangeKernel(launcher->queue, kernel, 1, NULL, &all, &items, 0, NULL, NULL),
            "clEnqueueNDRangeKernel");
    for (int i = 0; i < 2; i++) {
        good = is_copied(launcher, &matrices[i], work[i]) && good;
        clReleaseMemObject(work[i]);
        clReleaseMemObject(matrices[i].buffer);
        free(matrices[i].bytes);
    }
    return good;
}

int main(int argc, char **argv)
{
    char error[FAMILY_ERROR_BYTES] = "";
    cl_device_id device;
    struct launcher launcher;
    unsigned num = 0, num_failures = 0;
    const char *name = argc > 1 ? argv[1] : "";
    if (!device_find(name, &device, error) || !launcher_open(&launcher, device, error)) {
        fprintf(stderr, "copy_test: %s\n", error);
        return EXIT_SKIPPED;
    }
    for (size_t element_bytes = 2; element_bytes <= 8; element_bytes *= 2) {
        cl_program program;
        cl_kernel kernel = build(&launcher, element_bytes, &program);
        for (unsigned draw = 0; draw < 242; draw++, num++)
            num_failures += !run_case(&launcher, kernel, element_bytes, draw);
        clReleaseKernel(kernel);
        clReleaseProgram(program);
    }
    launcher_close(&launcher);
    printf("%u cases, %u failures\n", num, num_failures);
    return num_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
