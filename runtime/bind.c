/* bind.c: puts the packs that a call brings in the place of its operands.
 *
 * A call with packs is bound to their recipe, which alone can read them. Nothing is kept on the
 * host but what struct kiln_pack says, and where the operand lies in the buffer is computed anew
 * from it.
 */
#include "internal.h"

#include <assert.h>

static_assert((int) KILN_PACK_A == (int) KILN_PREPARED_A, "an operand has one code");
static_assert((int) KILN_PACK_B == (int) KILN_PREPARED_B, "an operand has one code");

/* A pack that a call brings, and what it is brought for. */
struct brought {
    const struct kiln_pack *pack;      /* NULL: none */
    unsigned prepared;                 /* the operand's canonical code */
    size_t stride;
    cl_context owner;                  /* of the pack's buffer */
};

/* op(A) is M x K, op(B) is K x N. */
struct kiln_pack kiln_pack_of(const struct kiln_product *product, unsigned prepared)
{
    bool is_a = prepared == KILN_PREPARED_A;
    bool is_conj = (is_a ? product->conja : product->conjb) != 0;
    bool is_trans = (is_a ? product->transa : product->transb) != 0;
    const struct kiln_pack pack = {
        .precision = kiln_precision_of_call(product->precision),
        .operand = (enum kiln_pack_operand) prepared,
        .trans = is_conj  ? KILN_CONJ_TRANS
               : is_trans ? KILN_TRANS
                          : KILN_NO_TRANS,
        .rows = is_a ? product->m : product->k,
        .columns = is_a ? product->k : product->n,
    };
    return pack;
}

/* A pack is invalid that was never made, or whose buffer can not hold it. */
static enum kiln_status look_at_pack(struct brought *brought)
{
    const struct kiln_pack *pack = brought->pack;
    struct kiln_buffer_facts facts = { 0 };
    enum kiln_status status = kiln_buffer_query(pack->buffer, KILN_INVALID_PACK, &facts);
    brought->owner = facts.owner;
    if (status != KILN_SUCCESS) {
        return status;
    }
    return pack->bundle != NULL && pack->offset % KILN_REGION_ALIGN == 0 &&
                           pack->offset <= facts.bytes && pack->bytes <= facts.bytes - pack->offset
                 ? KILN_SUCCESS
                 : KILN_INVALID_PACK;
}

static unsigned link_of(const struct kiln_context *context, const struct kiln_pack *pack)
{
    unsigned i = 0;
    while (i < context->num_links && (context->links[i].bundle != pack->bundle ||
                                             pack->recipe >= pack->bundle->num_recipes)) {
        i++;
    }
    return i;
}

/* What is wrong with one pack of a call. */
static enum kiln_status check_pack(const struct kiln_context *context,
        const struct kiln_problem *problem, struct brought *brought)
{
    const struct kiln_pack *pack = brought->pack;
    const struct kiln_pack wanted = kiln_pack_of(&problem->product, brought->prepared);
    enum kiln_status status = look_at_pack(brought);
    if (status != KILN_SUCCESS) {
        return status;
    }
    const struct {
        bool fits;
        enum kiln_status status;
    } checks[] = {
        { brought->owner == context->context, KILN_PACK_CONTEXT_MISMATCH },
        { pack->operand == wanted.operand, KILN_PACK_OPERAND_MISMATCH },
        { pack->precision == wanted.precision, KILN_PACK_PRECISION_MISMATCH },
        { pack->trans == wanted.trans, KILN_PACK_TRANSPOSE_MISMATCH },
        { pack->rows == wanted.rows && pack->columns == wanted.columns, KILN_PACK_SHAPE_MISMATCH },
        { brought->stride == 0, KILN_PACK_BATCH_MISMATCH },
        { link_of(context, pack) < context->num_links, KILN_PACK_BUNDLE_MISMATCH },
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!checks[i].fits) {
            return checks[i].status;
        }
    }
    return KILN_SUCCESS;
}

void kiln_problem_place(struct kiln_problem *problem, unsigned prepared, cl_mem buffer,
        size_t offset)
{
    problem->packs[prepared] = buffer;
    problem->places.packed |= prepared;
    problem->places.packed_offset[prepared] = offset;
}

/* The leading dimension of a plain copy, by its size: the call's own is not looked at. */
static enum kiln_status ld_of_pack(const struct kiln_pack *pack, const struct kiln_product *product,
        const struct kiln_pack_layout *layout, struct kiln_matrix *matrix)
{
    const size_t front = layout->start * product->element_bytes - pack->offset;
    const size_t row = product->element_bytes * matrix->rows;
    const size_t ld = pack->bytes > front ? (pack->bytes - front) / row : 0;
    if (ld < matrix->row_length) {
        return KILN_INVALID_PACK;
    }
    matrix->ld = ld;
    return KILN_SUCCESS;
}

/* A plain copy is an operand like any other. A prepared operand counts as none: no kernel that is
 * launched takes it, so that it meets any guard. */
static enum kiln_status bind_pack(const struct kiln_context *context, const struct kiln_pack *pack,
        struct kiln_problem *problem)
{
    bool is_a = pack->operand == KILN_PACK_A;
    struct kiln_matrix *matrix = is_a ? &problem->product.a : &problem->product.b;
    struct kiln_pack_layout layout;
    unsigned link = link_of(context, pack);
    if (problem->bound != 0 &&
            (problem->bound_link != link || problem->bound_recipe != pack->recipe)) {
        return KILN_PACK_RECIPE_MISMATCH;
    }
    problem->bound |= pack->operand;
    problem->bound_link = link;
    problem->bound_recipe = pack->recipe;
    if (!kiln_pack_layout(&pack->bundle->recipes[pack->recipe], &problem->product, pack->operand,
                pack->offset, &layout)) {
        return KILN_SIZE_OVERFLOW;
    }
    *(is_a ? &problem->a : &problem->b) = pack->buffer;
    if (layout.is_plain) {
        const enum kiln_status status = ld_of_pack(pack, &problem->product, &layout, matrix);
        matrix->offset = layout.start;
        return status;
    }
    matrix->offset = 0;
    matrix->ld = 0;
    kiln_problem_place(problem, pack->operand, pack->buffer, pack->offset);
    return KILN_SUCCESS;
}

/* Of two packs the one with the lower status counts, as everywhere. */
static enum kiln_status check_packs(const struct kiln_context *context,
        const struct kiln_problem *problem, struct brought brought[2])
{
    enum kiln_status status = KILN_SUCCESS;
    for (unsigned i = 0; i < 2; i++) {
        if (brought[i].pack != NULL) {
            status = kiln_lower(status, check_pack(context, problem, &brought[i]));
        }
    }
    return status;
}

enum kiln_status kiln_problem_bind(const struct kiln_context *context, const struct kiln_gemm *gemm,
        struct kiln_problem *problem)
{
    if (!kiln_reads_operands(&problem->product)) {
        return KILN_SUCCESS;
    }
    bool swap = gemm->layout == KILN_COL_MAJOR;
    struct brought brought[2] = {
        { .pack = swap ? gemm->packed_b : gemm->packed_a,
                .prepared = KILN_PREPARED_A,
                .stride = problem->product.a.stride },
        { .pack = swap ? gemm->packed_a : gemm->packed_b,
                .prepared = KILN_PREPARED_B,
                .stride = problem->product.b.stride },
    };
    enum kiln_status status = check_packs(context, problem, brought);
    for (unsigned i = 0; i < 2 && status == KILN_SUCCESS; i++) {
        if (brought[i].pack != NULL) {
            status = bind_pack(context, brought[i].pack, problem);
        }
    }
    return status;
}
