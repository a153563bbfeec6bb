/* plan.h: the planning core, which the library and the generator share.
 *
 * What a recipe would do for a product: whether it takes it, which of its stages are launched with
 * how many work-groups, and where its regions lie. All of it is computed from the shape alone, in
 * integers: without OpenCL, memory, locks or a device.
 */
#ifndef KILN_PLAN_H
#define KILN_PLAN_H

#include "bundle.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Checked arithmetic: true when the result fits ---- */

static inline bool kiln_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool kiln_multiply(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* The smallest multiple of `unit` that is not below `value`. */
static inline bool kiln_round_up(size_t value, size_t unit, size_t *rounded)
{
    size_t rest = value % unit;
    return kiln_add(value, rest ? unit - rest : 0, rounded);
}

/* extent / size, rounded up; size is not 0. */
static inline uint64_t kiln_ceil_div(uint64_t extent, uint64_t size)
{
    return extent / size + (extent % size != 0);
}

/* ---- What is multiplied ---- */

/* The values of enum kiln_precision, for code that sees no OpenCL: KILN_ID_HALF and so on. */
enum {
#define PRECISION(constant, value, ...) KILN_ID_##constant = value,
#include "precisions.inc"
#undef PRECISION
};

/* How many there are. */
enum {
    KILN_NUM_PRECISIONS = 0
#define PRECISION(...) +1
#include "precisions.inc"
#undef PRECISION
};

/* How a real number lies in a matrix: KILN_STORED_HALF and so on. */
enum kiln_storage {
#define STORAGE(constant, ...) KILN_STORED_##constant,
#include "precisions.inc"
#undef STORAGE
};

enum {
    KILN_NUM_STORAGES = 0
#define STORAGE(...) +1
#include "precisions.inc"
#undef STORAGE
};

/* Its bytes there: KILN_HALF_BYTES and so on. */
enum {
#define STORAGE(constant, bytes, ...) KILN_##constant##_BYTES = bytes,
#include "precisions.inc"
#undef STORAGE
};

static inline size_t kiln_storage_bytes(enum kiln_storage storage)
{
    switch (storage) {
#define STORAGE(constant, ...) \
    case KILN_STORED_##constant: \
        return KILN_##constant##_BYTES;
#include "precisions.inc"
#undef STORAGE
    }
    return 0;
}

/* How the real numbers of an element lie, of a precision that there is. */
static inline enum kiln_storage kiln_precision_storage(unsigned precision)
{
    switch (precision) {
#define PRECISION(constant, value, name, letter, element, storage, ...) \
    case value: \
        return KILN_STORED_##storage;
#include "precisions.inc"
#undef PRECISION
    default: return KILN_STORED_FLOAT;
    }
}

/* The real numbers of an element; 0: there is no such precision. */
static inline size_t kiln_precision_parts(unsigned precision)
{
    switch (precision) {
#define PRECISION(constant, value, name, letter, element, storage, parts, ...) \
    case value: \
        return parts;
#include "precisions.inc"
#undef PRECISION
    default: return 0;
    }
}

/* Are elements complex? */
static inline bool kiln_precision_is_complex(unsigned precision)
{
    return kiln_precision_parts(precision) == 2;
}

/* The precision of an element's real and imaginary part; of a real one itself. 0: there is none. */
KILN_INTERNAL unsigned kiln_precision_of_parts(unsigned precision);

/* The bytes of an element; 0: there is no such precision. */
static inline size_t kiln_element_bytes(unsigned precision)
{
    switch (precision) {
#define PRECISION(constant, value, name, letter, element, storage, parts, ...) \
    case value: \
        return (parts) * (size_t) KILN_##storage##_BYTES;
#include "precisions.inc"
#undef PRECISION
    default: return 0;
    }
}

/* Do recipes for one precision serve products of another? */
static inline bool kiln_precision_serves(unsigned recipe, unsigned product)
{
    return recipe == product || (product == KILN_ID_EMULATED && recipe == KILN_ID_SINGLE);
}

/* How a matrix lies in memory: `rows` rows of `row_length` elements, `ld` elements apart. */
struct kiln_matrix {
    size_t offset, ld, stride;         /* elements; stride is 0 unless there is a batch */
    size_t rows, row_length;
};

/* Row-major C (m x n) = op(A) op(B), without the memory it is done in. When nothing of A and B is
 * read, k is 0, and they have no elements. */
struct kiln_product {
    unsigned precision;                /* enum kiln_precision */
    size_t element_bytes;
    unsigned routine;                  /* KILN_ROUTINE_MULTIPLY or KILN_ROUTINE_MIRROR */
    unsigned real_precision;           /* of complex products: that of real ones in their place */
    int triangle;                      /* enum kiln_triangle: what of C is stored; of A where that
                                          is mirrored */
    unsigned transa, transb;           /* 0 or 1 */
    unsigned conja, conjb;             /* 1: and conjugated, of complex elements */
    size_t m, n, k;
    size_t batch_count;                /* >= 1 */
    bool one_by_one;                   /* no launch takes several members of the batch */
    struct kiln_matrix a, b, c;
};

/* One product of matrices without gaps between their rows, at the start of their buffers. */
KILN_INTERNAL struct kiln_product kiln_product_dense(unsigned precision, size_t element_bytes,
        unsigned transa, unsigned transb, size_t m, size_t n, size_t k);

/* The real product that a recipe leaves of a complex one (KILN_ROUTINE_TO_REAL): twice the columns
 * and twice as deep. What the recipe wrote of the operands begins at 0. */
KILN_INTERNAL struct kiln_product kiln_product_real(const struct kiln_product *product);

/* Is anything of A and B read? */
static inline bool kiln_reads_operands(const struct kiln_product *product)
{
    return product->m > 0 && product->n > 0 && product->k > 0;
}

/* By enum kiln_dim, on a device with so many compute units (0 is taken as 1). */
KILN_INTERNAL size_t kiln_extent(const struct kiln_product *product, uint32_t units, unsigned dim);

/* The operand of one code of enum kiln_prepared. */
KILN_INTERNAL const struct kiln_matrix *kiln_operand(const struct kiln_product *product,
        unsigned prepared);

/* From the first element of a matrix to behind its last; it has at least one. False on overflow. */
KILN_INTERNAL bool kiln_matrix_span(const struct kiln_matrix *matrix, size_t *span);

/* The place behind a matrix's last element in the last batch member, counted from the start of the
 * buffer; it has at least one element. False on overflow. */
KILN_INTERNAL bool kiln_matrix_end(const struct kiln_matrix *matrix, size_t batch_count,
        size_t *end);

/* ---- Which recipe takes it ---- */

/* What a guard asks of one extent: no more than the most (0: any), and a multiple of the unit but
 * for a small rest. */
KILN_INTERNAL bool kiln_extent_is_at_most(uint32_t most, size_t extent);
KILN_INTERNAL bool kiln_extent_is_whole(uint32_t unit, uint32_t rest, size_t extent);

/* Does the guard let the extents pass, whatever the leading dimensions and offsets? */
KILN_INTERNAL bool kiln_guard_takes_extents(const struct kiln_guard *guard, size_t m, size_t n,
        size_t k);
KILN_INTERNAL bool kiln_guard_takes(const struct kiln_guard *guard,
        const struct kiln_product *product);

/* Do the indices that the recipe's kernels compute fit their type? */
KILN_INTERNAL bool kiln_indices_fit(const struct kiln_recipe *recipe,
        const struct kiln_product *product);

/* Is the recipe for such products, whatever their shape? */
static inline bool kiln_recipe_is_for(const struct kiln_recipe *recipe,
        const struct kiln_product *product)
{
    return kiln_precision_serves(recipe->precision, product->precision) &&
           recipe->transa == product->transa && recipe->transb == product->transb &&
           (recipe->routine == product->routine ||
                   (recipe->routine == KILN_ROUTINE_TO_REAL &&
                           product->routine == KILN_ROUTINE_MULTIPLY)) &&
           (recipe->triangles == KILN_TRIANGLES_ALSO ||
                   (recipe->triangles == KILN_TRIANGLES_ALWAYS) ==
                           (product->triangle != KILN_TRIANGLE_NONE));
}

/* And takes its shape? */
KILN_INTERNAL bool kiln_recipe_takes(const struct kiln_recipe *recipe,
        const struct kiln_product *product);

/* Does the recipe serve every shape of its precision and transposes? */
KILN_INTERNAL bool kiln_recipe_takes_all(const struct kiln_recipe *recipe);

/* Do all rows of an operand, of each batch member, begin at multiples of KILN_ALIGNED_BYTES? */
KILN_INTERNAL bool kiln_is_aligned(const struct kiln_product *product, unsigned prepared);

/* ---- Which stages are launched ---- */

/* How many of the tiles work-groups do not share: all; or, where they share the tiles that make no
 * whole turn (stream-K, Osama et al. 2023), those of whole turns. A last turn that is three
 * quarters full counts as whole. Kernels that share count in the same way. */
KILN_INTERNAL uint64_t kiln_whole_tiles(const struct kiln_recipe *recipe, uint64_t tiles,
        uint32_t units);

/* The tiles of C of which something is stored, UINT64_MAX at most. */
KILN_INTERNAL uint64_t kiln_stored_tiles(const struct kiln_recipe *recipe,
        const struct kiln_product *product);

/* K of fewer steps is not shared: the launch that adds up would take longer than the steps, as
 * measured on one device (generator/kernels/MEASUREMENTS.md). */
enum { KILN_SHARED_STEPS = 24 };

/* How many parts of K have work-groups of their own: as many as `unit_parts` work-groups for each
 * compute unit allow, while each part keeps some steps; at least one. */
KILN_INTERNAL uint32_t kiln_num_parts(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units);

/* Is any tile shared, by parts of K or in turns? Then a stage adds up; so it does where there are
 * too many tiles to count. */
KILN_INTERNAL bool kiln_shares_tiles(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units);

/* The members of a batch that launches may have in common. */
static inline size_t kiln_joint_members(const struct kiln_product *product)
{
    return product->one_by_one ? 1 : product->batch_count;
}

/* The members of a batch that a launch takes at most: NVIDIA's devices take no more work-groups
 * along axis 2. */
enum { KILN_MOST_MEMBERS = 65535 };

/* How many members of a batch one launch takes, where these operands are ready (enum
 * kiln_prepared). 1: each has a launch of its own. That is so
 * - where an operand must be prepared for each;
 * - where a recipe with `shares` finds a tile for each work-group in a single member: the kernel
 *   would share the rest of the tiles, and nothing adds up in a launch of several members;
 * - where a recipe with `shares` or `unit_parts` finds too few tiles in all members, no more than
 *   half of its work-groups (which was not measured), and a K that is deep enough to be shared. */
KILN_INTERNAL size_t kiln_num_members(const struct kiln_recipe *recipe,
        const struct kiln_product *product, unsigned ready, uint32_t units);

/* The operands that a recipe takes as they are (enum kiln_prepared). */
KILN_INTERNAL unsigned kiln_taken_as_is(const struct kiln_recipe *recipe,
        const struct kiln_product *product);

/* The region of a recipe that holds a prepared operand; NULL: there is none. */
KILN_INTERNAL const struct kiln_region *kiln_prepared_region(const struct kiln_recipe *recipe,
        unsigned prepared);

/* Does a stage take the workspace as an image? */
KILN_INTERNAL bool kiln_recipe_reads_image(const struct kiln_recipe *recipe);

/* Does a multiplication enqueue the stage, as far as that depends on `ready`, the set of operands
 * that are packed or taken as they are (enum kiln_prepared)? Not if what it prepares is ready, nor
 * if a stage that prepares both operands does its work. */
KILN_INTERNAL bool kiln_stage_is_needed(const struct kiln_recipe *recipe, unsigned index,
        unsigned ready);

/* ---- How it is done ---- */

/* Where regions lie: from an offset of the workspace on, or, if they hold operands that a pack
 * stands for, in the pack. */
struct kiln_places {
    size_t workspace_offset;                       /* bytes; a multiple of KILN_REGION_ALIGN */
    unsigned packed;                               /* a set of operands (enum kiln_prepared) */
    size_t packed_offset[KILN_NUM_PREPARED];       /* likewise bytes, by enum kiln_prepared; the
                                                      first is unused */
};

/* A recipe with everything that a launch needs to know about the shape. */
struct kiln_plan {
    const struct kiln_recipe *recipe;
    unsigned ready;                                /* operands that no stage need prepare: packed
                                                      ones, and those that are taken as they are */
    uint32_t parts;                                /* of K, >= 1 */
    size_t members;                                /* of a batch in one launch, >= 1 */
    size_t groups[KILN_MAX_STAGES][3];             /* of one member; any 0: the stage has nothing
                                                      to do */
    size_t global[KILN_MAX_STAGES][3];             /* work-items, likewise */
    size_t region_start[KILN_MAX_REGIONS];         /* elements of the region */
    size_t packed_start[KILN_NUM_PREPARED];        /* likewise, by enum kiln_prepared */
    size_t packed_ld[KILN_NUM_PREPARED];           /* of operands that may be taken as they are */
    size_t workspace_bytes;                        /* from the offset on */
    size_t pixels;                                 /* of the workspace as an image, from the start
                                                      of its buffer; 0: no stage reads one */
};

/* Plans the launches and regions of a recipe on a device with so many compute units (0 is taken as
 * 1), whether it takes the product or not; false on overflow. A stage that adds up what is shared
 * has no work-groups where nothing is; any other last stage writes C even when k is 0 and its
 * work-groups divide k among themselves. */
KILN_INTERNAL bool kiln_plan_make(const struct kiln_recipe *recipe,
        const struct kiln_product *product, const struct kiln_places *places, uint32_t units,
        struct kiln_plan *plan);

/* A stage without work-groups (k is 0, and it packs A or B; or nothing is shared, and it adds up)
 * must not be enqueued. */
KILN_INTERNAL bool kiln_stage_is_empty(const struct kiln_plan *plan, unsigned index);

/* Where an operand lies in a pack: in the recipe's own form, or as a plain copy of the matrix. */
struct kiln_pack_layout {
    bool is_plain;
    size_t start, ld;                  /* elements of the region or of the matrix; ld if plain */
    size_t end;                        /* bytes from the start of the buffer */
    size_t slack;                      /* bytes more that another offset may take */
};

/* The layout of an operand in a pack that starts at `offset` bytes. False on overflow. */
KILN_INTERNAL bool kiln_pack_layout(const struct kiln_recipe *recipe,
        const struct kiln_product *product, unsigned prepared, size_t offset,
        struct kiln_pack_layout *layout);

#endif
