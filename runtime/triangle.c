/* triangle.c: operands of which one triangle is stored.
 *
 * A symmetric or Hermitian operand becomes a whole matrix at the start of the workspace, by a
 * recipe that mirrors (KILN_ROUTINE_MIRROR). What is left is a problem as any other, complex ones
 * included, whose workspace is what lies behind. Such matrices of a batch lie one behind the other.
 */
#include "internal.h"

#include <string.h>

/* Rows of a whole matrix begin at multiples of so many bytes, and not at multiples of a page, where
 * they would meet in a few lines of a cache. */
enum { ROW_ALIGN = 64, PAGE = 4096 };

static bool row_elements(size_t columns, size_t element_bytes, size_t *ld)
{
    size_t bytes = 0;
    if (!kiln_multiply(columns, element_bytes, &bytes) ||
            !kiln_round_up(bytes, ROW_ALIGN, &bytes) ||
            !kiln_add(bytes, bytes % PAGE == 0 ? ROW_ALIGN : 0, &bytes)) {
        return false;
    }
    *ld = bytes / element_bytes;
    return true;
}

/* Where the whole matrix lies in the workspace, from *end bytes on, which becomes its end. */
static bool place(const struct kiln_problem *problem, const struct kiln_matrix *from, size_t *end,
        struct kiln_matrix *whole)
{
    const size_t element_bytes = problem->product.element_bytes;
    const size_t members = from->stride != 0 ? problem->product.batch_count : 1;
    size_t start = 0, elements = 0, bytes = 0;
    memset(whole, 0, sizeof *whole);
    whole->rows = from->rows;
    whole->row_length = from->row_length;
    if (!row_elements(from->row_length, element_bytes, &whole->ld) ||
            !kiln_multiply(from->rows, whole->ld, &elements) ||
            !kiln_multiply(elements, element_bytes, &bytes) ||
            !kiln_multiply(bytes, members, &bytes) ||
            !kiln_round_up(*end, KILN_REGION_ALIGN, &start) || !kiln_add(start, bytes, end)) {
        return false;
    }
    whole->offset = start / element_bytes;
    whole->stride = members > 1 ? elements : 0;
    return true;
}

static void add_mirror(const struct kiln_problem *problem, cl_mem buffer, int triangle,
        const struct kiln_matrix *from, const struct kiln_matrix *whole,
        struct kiln_mirroring *mirroring)
{
    const size_t extent = from->rows;
    const struct kiln_problem mirror = {
        .product = {
            .precision = (unsigned)kiln_precision_of_call(problem->product.precision),
            .element_bytes = problem->product.element_bytes,
            .routine = KILN_ROUTINE_MIRROR,
            .triangle = triangle,
            .conja = problem->is_hermitian,
            .m = extent, .n = extent, .k = extent,
            .batch_count = whole->stride != 0 ? problem->product.batch_count : 1,
            .a = *from, .b = *from, .c = *whole,
        },
        .real_bytes = problem->real_bytes,
        .alpha = 1,
        .a = buffer, .b = buffer,
    };
    mirroring->mirror[mirroring->num++] = mirror;
}

bool kiln_mirroring_make(const struct kiln_problem *problem, struct kiln_mirroring *mirroring)
{
    memset(mirroring, 0, sizeof *mirroring);
    mirroring->rest = *problem;
    struct kiln_problem *rest = &mirroring->rest;
    size_t end = problem->places.workspace_offset;
    struct kiln_matrix whole;
    if (problem->triangle_a != KILN_TRIANGLE_NONE) {
        if (!place(problem, &problem->product.a, &end, &whole)) {
            return false;
        }
        add_mirror(problem, problem->a, problem->triangle_a, &problem->product.a, &whole,
                mirroring);
        rest->product.a = whole;
    }
    if (problem->triangle_b != KILN_TRIANGLE_NONE) {
        if (!place(problem, &problem->product.b, &end, &whole)) {
            return false;
        }
        add_mirror(problem, problem->b, problem->triangle_b, &problem->product.b, &whole,
                mirroring);
        rest->product.b = whole;
    }
    if (!kiln_round_up(end, KILN_REGION_ALIGN, &rest->places.workspace_offset)) {
        return false;
    }
    mirroring->bytes = rest->places.workspace_offset - problem->places.workspace_offset;
    rest->beside = mirroring->bytes;
    return true;
}

/* bytes: of the workspace, from its offset on; what is left of them is for the rest. */
void kiln_mirroring_place(struct kiln_mirroring *mirroring, cl_mem workspace, size_t bytes)
{
    struct kiln_problem *rest = &mirroring->rest;
    for (unsigned i = 0; i < mirroring->num; i++) {
        mirroring->mirror[i].c = workspace;
    }
    if (rest->triangle_a != KILN_TRIANGLE_NONE) {
        rest->a = workspace;
    }
    if (rest->triangle_b != KILN_TRIANGLE_NONE) {
        rest->b = workspace;
    }
    rest->triangle_a = rest->triangle_b = KILN_TRIANGLE_NONE;
    rest->workspace = workspace;
    rest->workspace_bytes = bytes - mirroring->bytes;
}
