/* complex.c: complex products as real ones.
 *
 * A recipe of KILN_ROUTINE_TO_REAL multiplies nothing. It brings op(A) into rows, and each element
 * of op(B) into two rows of two columns (generator/kernels/complex); what is left is a product of
 * real matrices, 2 N columns and 2 K deep, stored to C. A recipe for the real precision computes
 * it, possibly one that emulates. The regions of the first recipe lie at the start of the
 * workspace, those of the second behind them.
 */
#include "internal.h"

#include <string.h>

/* The region of rotated B, which is the last one. */
enum { ROTATED = 2 };

/* Is alpha, or beta, more than a real factor? */
static bool rotates(const struct kiln_problem *problem)
{
    return kiln_reads_operands(&problem->product) && problem->alpha_imag != 0;
}

static bool scales(const struct kiln_problem *problem)
{
    return problem->beta_imag != 0;
}

/* Where C is Hermitian, recipes of KILN_ROUTINE_TO_REAL make its diagonal real at the end. */
bool kiln_complex_has_end(const struct kiln_problem *problem)
{
    return problem->is_hermitian && problem->product.triangle != KILN_TRIANGLE_NONE;
}

/* Leaves out the stages of some roles; bit i stands for role i. */
static void leave_out(struct kiln_plan *plan, unsigned roles)
{
    for (unsigned i = 0; i < plan->recipe->num_stages; i++) {
        if ((roles >> plan->recipe->stages[i].role & 1) != 0) {
            memset(plan->groups[i], 0, sizeof plan->groups[i]);
        }
    }
}

/* Does a region lie in the workspace? */
static bool uses_workspace(const struct kiln_problem *problem)
{
    const unsigned packed = problem->places.packed;
    return kiln_reads_operands(&problem->product) &&
           ((packed & KILN_PREPARED_B) == 0 || rotates(problem) ||
                   (problem->product.transa && (packed & KILN_PREPARED_A) == 0));
}

void kiln_complex_trim(const struct kiln_problem *problem, struct kiln_plan *plan)
{
    const struct kiln_recipe *recipe = plan->recipe;
    leave_out(plan, (unsigned) !rotates(problem) << KILN_ROLE_ROTATE |
                            (unsigned) !scales(problem) << KILN_ROLE_SCALE |
                            (unsigned) !kiln_complex_has_end(problem) << KILN_ROLE_DIAGONAL);
    if (!uses_workspace(problem)) {
        plan->workspace_bytes = 0;
    } else if (!rotates(problem)) {
        const size_t start = plan->region_start[ROTATED] * recipe->regions[ROTATED].element_bytes;
        plan->workspace_bytes = start - problem->places.workspace_offset;
    }
}

void kiln_complex_leave_scale_out(struct kiln_plan *plan)
{
    leave_out(plan, 1u << KILN_ROLE_SCALE);
}

void kiln_complex_take_begin(struct kiln_plan *plan)
{
    leave_out(plan, 1u << KILN_ROLE_DIAGONAL);
}

void kiln_complex_take_end(struct kiln_plan *plan)
{
    leave_out(plan, ~(1u << KILN_ROLE_DIAGONAL));
}

static void place_operands(const struct kiln_problem *problem, const struct kiln_plan *plan,
        struct kiln_product *real)
{
    const struct kiln_product *product = &problem->product;
    const size_t b_start = rotates(problem) ? plan->region_start[ROTATED]
                                            : plan->packed_start[KILN_PREPARED_B];
    if (product->transa) {
        real->a.offset = 2 * plan->packed_start[KILN_PREPARED_A];
    }
    real->b.offset = 4 * b_start;
}

/* The bytes of all complex elements fit a size_t, so twice their number does too. */
enum kiln_status kiln_complex_split(const struct kiln_problem *problem, struct kiln_plan *plan,
        struct kiln_problem *real)
{
    const struct kiln_product *product = &problem->product;
    size_t offset = 0;
    if (!kiln_add(problem->places.workspace_offset, plan->workspace_bytes, &offset) ||
            !kiln_round_up(offset, KILN_REGION_ALIGN, &offset)) {
        return KILN_SIZE_OVERFLOW;
    }
    const size_t own = offset - problem->places.workspace_offset;
    plan->workspace_bytes = own;
    const struct kiln_problem half = {
        .product = kiln_product_real(product),
        .real_bytes = problem->real_bytes,
        .wants_emulation = problem->wants_emulation,
        .alpha = rotates(problem) ? 1 : problem->alpha,
        .beta = scales(problem) ? 1 : problem->beta,
        .a = problem->a,
        .b = problem->b,
        .c = problem->c,
        .places = { .workspace_offset = offset },
        .beside = problem->beside + own,
    };
    *real = half;
    if (kiln_reads_operands(product)) {
        place_operands(problem, plan, &real->product);
    }
    real->is_nothing = !kiln_reads_operands(product) && real->beta == 1;
    return KILN_SUCCESS;
}

void kiln_complex_place(const struct kiln_problem *problem, cl_mem workspace,
        struct kiln_problem *real)
{
    if (!kiln_reads_operands(&problem->product)) {
        return;
    }
    const cl_mem pack_a = problem->packs[KILN_PREPARED_A], pack_b = problem->packs[KILN_PREPARED_B];
    if (problem->product.transa) {
        real->a = pack_a != NULL ? pack_a : workspace;
    }
    real->b = pack_b != NULL && !rotates(problem) ? pack_b : workspace;
}
