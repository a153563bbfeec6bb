/* test_guard.c: every recipe of the linked bundles on operands that lie anywhere in the memory of
 * the host, as far as the type of the element lets them, and between fences. A kernel that reads or
 * writes beyond an operand, the workspace or a pack, writes to A or B, or counts on more alignment
 * than an element has, dies.
 */
#include "fence.h"
#include "element.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_WORK, OPERAND_PACK_A, OPERAND_PACK_B, NUM_FENCES };

/* As far as the recipe takes them. */
static const size_t shapes[][3] = {
    { 1, 1, 1 }, { 64, 64, 64 }, { 37, 41, 43 }, { 128, 96, 32 }
};

/* Bytes from an address that is aligned in every way; what is no multiple of the element is left
 * out. */
static const long places[] = { FENCE_AT_END, 0, 2, 4, 8, 12, 16, 24, 32 };

struct test {
    struct setup setup;
    const struct kiln_recipe *recipe;
    struct kiln_context *kiln;
    size_t element_bytes;
    struct kiln_gemm gemm;
    long place;
    unsigned num_served;               /* calls that the recipe served */
    struct fence fences[NUM_FENCES];
};

static struct test test;
static bool is_open;

/* ---- Operands ---- */

static double value_a(size_t i, size_t p)
{
    return (double) ((i * 7 + p * 3) % 5) - 2;
}

static double value_b(size_t p, size_t j)
{
    return (double) ((p * 5 + j * 2) % 7) - 3;
}

/* Rows of `rows` x `columns` values, which `transposed` says are those of the other. */
static void fill(const struct fence *fence, size_t rows, size_t columns, size_t ld, bool transposed,
        double (*value)(size_t i, size_t j))
{
    const enum kiln_precision precision = test.gemm.precision;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            element_set(precision, fence->at, i * ld + j, transposed ? value(j, i) : value(i, j));
        }
    }
}

static size_t bytes_of(size_t rows, size_t columns, size_t ld)
{
    return ((rows - 1) * ld + columns) * test.element_bytes;
}

static void make_matrix(unsigned which, size_t rows, size_t columns, size_t ld, bool transposed,
        double (*value)(size_t i, size_t j))
{
    struct fence *fence = &test.fences[which];
    fence_make(fence, bytes_of(rows, columns, ld), test.place);
    if (value != NULL) {
        fill(fence, rows, columns, ld, transposed, value);
    } else {
        memset(fence->at, 0xff, fence->bytes);
    }
    fence_close(&test.setup, fence, which == OPERAND_C);
}

static cl_mem make_room(unsigned which, size_t bytes)
{
    fence_make(&test.fences[which], bytes, FENCE_AT_END);
    fence_close(&test.setup, &test.fences[which], true);
    return test.fences[which].buffer;
}

static void make_call(const size_t shape[3])
{
    struct kiln_gemm *gemm = &test.gemm;
    *gemm = recipe_call(test.recipe, shape, 0);
    const bool ta = test.recipe->transa, tb = test.recipe->transb;
    const size_t m = gemm->m, n = gemm->n, k = gemm->k;
    make_matrix(OPERAND_A, ta ? k : m, ta ? m : k, gemm->lda, ta, value_a);
    make_matrix(OPERAND_B, tb ? n : k, tb ? k : n, gemm->ldb, tb, value_b);
    make_matrix(OPERAND_C, m, n, gemm->ldc, false, NULL);
    gemm->a = test.fences[OPERAND_A].buffer;
    gemm->b = test.fences[OPERAND_B].buffer;
    gemm->c = test.fences[OPERAND_C].buffer;
}

/* ---- Calls ---- */

static unsigned fail(const char *what)
{
    printf("FAILED: %s: %s\n", children_noted(), what);
    return 1;
}

static unsigned judge(void)
{
    const struct kiln_gemm *g = &test.gemm;
    const size_t bytes = test.fences[OPERAND_C].bytes;
    unsigned char *found = malloc(bytes);
    need(found != NULL, "memory");
    setup_read(&test.setup, g->c, bytes, found);
    bool is_right = true;
    for (size_t i = 0; i < g->m && is_right; i++) {
        for (size_t j = 0; j < g->n && is_right; j++) {
            double sum = 0;
            for (size_t p = 0; p < g->k; p++) {
                sum += value_a(i, p) * value_b(p, j);
            }
            is_right = element_get(g->precision, found, i * g->ldc + j) == sum;
        }
    }
    free(found);
    return is_right ? 0 : fail("a wrong product");
}

static unsigned multiply(void)
{
    const enum kiln_status status = kiln_gemm_enqueue(test.kiln, &test.gemm, test.setup.queue, 0,
            NULL, NULL);
    clFinish(test.setup.queue);
    return status == KILN_SUCCESS ? judge() : fail(kiln_status_string(status));
}

/* With a workspace of the very size that is asked for. */
static unsigned multiply_as_is(void)
{
    size_t bytes = 0;
    need(kiln_gemm_workspace_bytes(test.kiln, &test.gemm, &bytes) == KILN_SUCCESS, "bytes");
    if (bytes == 0) {
        return multiply();
    }
    test.gemm.workspace = make_room(OPERAND_WORK, bytes);
    const unsigned failures = multiply();
    fence_free(&test.fences[OPERAND_WORK]);
    test.gemm.workspace = NULL;
    return failures;
}

static enum kiln_status pack(unsigned fence, enum kiln_pack_operand operand, struct kiln_pack *made)
{
    size_t bytes = 0;
    enum kiln_status status = kiln_pack_bytes(test.kiln, &test.gemm, operand, &bytes);
    cl_mem room = make_room(fence, bytes);
    if (status == KILN_SUCCESS) {
        status = kiln_pack_enqueue(test.kiln, &test.gemm, operand, room, 0, test.setup.queue, 0,
                NULL, NULL, made);
    }
    return status;
}

static unsigned multiply_packed(void)
{
    struct kiln_pack a, b;
    enum kiln_status status = pack(OPERAND_PACK_A, KILN_PACK_A, &a);
    if (status == KILN_SUCCESS) {
        test.gemm.packed_a = &a;
    }
    const enum kiln_status second = pack(OPERAND_PACK_B, KILN_PACK_B, &b);
    test.gemm.packed_b = &b;
    status = status == KILN_SUCCESS ? second : status;
    const unsigned failures = status == KILN_SUCCESS ? multiply()
                                                     : fail(kiln_status_string(status));
    clFinish(test.setup.queue);
    test.gemm.packed_a = test.gemm.packed_b = NULL;
    fence_free(&test.fences[OPERAND_PACK_A]);
    fence_free(&test.fences[OPERAND_PACK_B]);
    return failures;
}

static unsigned do_place(const char *bundle, const size_t shape[3])
{
    unsigned failures = 0;
    make_call(shape);
    children_note("%s, precision %d, %s, %zu x %zu x %zu, %s %ld", bundle, test.gemm.precision,
            test.recipe->name, test.gemm.m, test.gemm.n, test.gemm.k,
            test.place == FENCE_AT_END ? "before the fence" : "bytes of skew", test.place);
    if (recipe_serves(test.recipe, test.kiln, &test.gemm)) {
        test.num_served++;
        failures += multiply_as_is() + multiply_packed();
    }
    for (unsigned i = OPERAND_A; i <= OPERAND_C; i++) {
        fence_free(&test.fences[i]);
    }
    return failures;
}

static unsigned do_places(const char *bundle)
{
    unsigned failures = 0;
    test.num_served = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        test.place = places[i];
        if (test.place > 0 && (size_t) test.place % test.element_bytes != 0) {
            continue;
        }
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            failures += do_place(bundle, shapes[s]);
        }
    }
    return failures + (test.num_served > 0 ? 0 : fail("no call comes to this recipe"));
}

static bool device_is_cpu(void)
{
    cl_device_type type = 0;
    clGetDeviceInfo(test.setup.device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return (type & CL_DEVICE_TYPE_CPU) != 0;
}

static unsigned do_recipe(const struct options *options, unsigned long number)
{
    const struct kiln_bundle *bundle = NULL;
    uint32_t index = 0;
    struct solo solo;
    unsigned failures = 0;
    if (!is_taken(options, number)) {
        return 0;
    }
    if (!is_open) {
        setup_open(options, &test.setup);
        is_open = true;
    }
    if (!device_is_cpu()) {
        puts("the device is no CPU: fences show nothing there");
        fflush(stdout);
        _Exit(EXIT_NO_DEVICE);
    }
    need(linked_recipe(number, &bundle, &index), "a recipe");
    if (kiln_precision_is_complex(bundle->recipes[index].precision) ||
            bundle->recipes[index].routine != KILN_ROUTINE_MULTIPLY ||
            bundle->recipes[index].triangles == KILN_TRIANGLES_ALWAYS) {
        return 0; /* they serve no call of a whole product: runtime-forms */
    }
    solo_make(&solo, bundle, index);
    test.recipe = &solo.recipe;
    test.element_bytes = kiln_element_bytes(solo.recipe.precision);
    test.kiln = setup_kiln(&test.setup, &solo.bundle);
    if (kiln_bundle_distance(bundle, &test.kiln->facts) <= 1) {
        failures = do_places(bundle->name);
    }
    kiln_context_destroy(&test.kiln);
    return failures;
}

int main(int argc, char **argv)
{
    const struct options options = options_of(argc, argv);
    return children_run(&options, num_linked_recipes(), do_recipe);
}
