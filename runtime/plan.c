/* plan.c: what a recipe would do for a product; see plan.h. */
#include "plan.h"

#include <string.h>

/* A triangle with more rows of tiles counts as a whole matrix: no memory holds one. */
enum { MAX_ROWS_OF_TILES = 1 << 20 };

/* A part of K has at least so many steps, and there are at most so many parts. */
enum { PART_STEPS = 4, MOST_PARTS = 4096 };

/* ---- What is multiplied ---- */

/* Gives the matrices the rows that follow from m, n and k. */
static void set_rows(struct kiln_product *product)
{
    const size_t m = product->m, n = product->n, k = product->k;
    product->a.rows = product->transa ? k : m;
    product->a.row_length = product->transa ? m : k;
    product->b.rows = product->transb ? n : k;
    product->b.row_length = product->transb ? k : n;
    product->c.rows = m;
    product->c.row_length = n;
}

unsigned kiln_precision_of_parts(unsigned precision)
{
    static const unsigned values[] = {
#define PRECISION(constant, value, ...) value,
#include "precisions.inc"
#undef PRECISION
    };
    if (!kiln_precision_is_complex(precision)) {
        return precision;
    }
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        if (kiln_precision_parts(values[i]) == 1 &&
                kiln_precision_storage(values[i]) == kiln_precision_storage(precision)) {
            return values[i];
        }
    }
    return 0;
}

struct kiln_product kiln_product_dense(unsigned precision, size_t element_bytes, unsigned transa,
        unsigned transb, size_t m, size_t n, size_t k)
{
    struct kiln_product product = {
        .precision = precision,
        .element_bytes = element_bytes,
        .transa = transa,
        .transb = transb,
        .m = m,
        .n = n,
        .k = k,
        .batch_count = 1,
    };
    set_rows(&product);
    product.a.ld = product.a.row_length;
    product.b.ld = product.b.row_length;
    product.c.ld = product.c.row_length;
    return product;
}

size_t kiln_extent(const struct kiln_product *product, uint32_t units, unsigned dim)
{
    const size_t extents[KILN_NUM_DIMS] = {
        1, product->m, product->n, product->k, units > 0 ? units : 1, /* by enum kiln_dim */
    };
    return extents[dim];
}

const struct kiln_matrix *kiln_operand(const struct kiln_product *product, unsigned prepared)
{
    return prepared == KILN_PREPARED_A ? &product->a : &product->b;
}

bool kiln_is_aligned(const struct kiln_product *product, unsigned prepared)
{
    const struct kiln_matrix *matrix = kiln_operand(product, prepared);
    const size_t places = matrix->ld | matrix->offset | matrix->stride;
    return places * product->element_bytes % KILN_ALIGNED_BYTES == 0;
}

bool kiln_matrix_span(const struct kiln_matrix *matrix, size_t *span)
{
    return kiln_multiply(matrix->rows - 1, matrix->ld, span) &&
           kiln_add(*span, matrix->row_length, span);
}

bool kiln_matrix_end(const struct kiln_matrix *matrix, size_t batch_count, size_t *end)
{
    size_t span = 0, strides = 0;
    return kiln_matrix_span(matrix, &span) &&
           kiln_multiply(batch_count - 1, matrix->stride, &strides) &&
           kiln_add(matrix->offset, strides, end) && kiln_add(*end, span, end);
}

/* ---- Guards ---- */

static bool divides(uint32_t divisor, size_t value)
{
    return divisor <= 1 || value % divisor == 0;
}

static bool matrix_is_aligned(uint32_t divisor, const struct kiln_matrix *matrix)
{
    return divides(divisor, matrix->ld) && divides(divisor, matrix->offset) &&
           divides(divisor, matrix->stride);
}

bool kiln_extent_is_at_most(uint32_t most, size_t extent)
{
    return most == 0 || extent <= most;
}

bool kiln_extent_is_whole(uint32_t unit, uint32_t rest, size_t extent)
{
    return unit <= 1 || extent % unit <= rest;
}

bool kiln_guard_takes_extents(const struct kiln_guard *guard, size_t m, size_t n, size_t k)
{
    return kiln_extent_is_at_most(guard->most[0], m) && kiln_extent_is_at_most(guard->most[1], n) &&
           kiln_extent_is_at_most(guard->most[2], k) &&
           kiln_extent_is_whole(guard->m, guard->rest[0], m) &&
           kiln_extent_is_whole(guard->n, guard->rest[1], n) &&
           kiln_extent_is_whole(guard->k, guard->rest[2], k);
}

bool kiln_guard_takes(const struct kiln_guard *guard, const struct kiln_product *product)
{
    return kiln_guard_takes_extents(guard, product->m, product->n, product->k) &&
           matrix_is_aligned(guard->a, &product->a) && matrix_is_aligned(guard->b, &product->b) &&
           matrix_is_aligned(guard->c, &product->c);
}

bool kiln_recipe_takes_all(const struct kiln_recipe *recipe)
{
    const struct kiln_guard *guard = &recipe->guard;
    const uint32_t units[] = { guard->m, guard->n, guard->k, guard->a, guard->b, guard->c };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i] > 1) {
            return false;
        }
    }
    return guard->most[0] == 0 && guard->most[1] == 0 && guard->most[2] == 0 &&
           recipe->index_bits == 64;
}

/* ---- Indices ---- */

/* The extents, and as far beyond them as kernels may go. */
static bool padded_product(const struct kiln_recipe *recipe, const struct kiln_product *product,
        struct kiln_product *padded)
{
    *padded = *product;
    size_t *extents[3] = { &padded->m, &padded->n, &padded->k };
    for (unsigned i = 0; i < 3; i++) {
        size_t beyond = 0;
        if (!kiln_multiply(2, recipe->reach[i], &beyond) ||
                !kiln_add(*extents[i], beyond, extents[i])) {
            return false;
        }
    }
    set_rows(padded);
    return true;
}

/* The offset of the last batch member counts: the host or a kernel adds the strides to it. */
static bool last_index_fits(const struct kiln_matrix *matrix, size_t batch_count)
{
    size_t end = 0;
    return kiln_matrix_end(matrix, batch_count, &end) && end - 1 <= INT32_MAX;
}

/* The elements of a region, padding included; false on overflow. */
static bool region_elements(const struct kiln_product *product, uint32_t units,
        const struct kiln_region *region, size_t *elements)
{
    size_t rows = 0, columns = 0;
    return kiln_round_up(kiln_extent(product, units, region->dim[0]), region->round[0], &rows) &&
           kiln_round_up(kiln_extent(product, units, region->dim[1]), region->round[1], &columns) &&
           kiln_add(rows, region->more, &rows) && kiln_multiply(rows, columns, elements);
}

static bool regions_fit(const struct kiln_recipe *recipe, const struct kiln_product *padded)
{
    for (unsigned i = 0; i < recipe->num_regions; i++) {
        size_t elements = 0;
        if (!region_elements(padded, 1, &recipe->regions[i], &elements) || elements > INT32_MAX) {
            return false;
        }
    }
    return true;
}

/* May a recipe with 32-bit indices serve the call?
 *
 * Every value that such a kernel computes must fit a signed 32-bit integer, those that it computes
 * and then does not use included, since overflow is undefined in OpenCL C. Kernels go through M, N
 * and K by parts: tiles, slices, vectors, unrolled steps. The last part may end beyond the extent,
 * and the place of the next one may be computed before it is found that there is none; so a row, a
 * column or a k goes less than twice the largest part, the recipe's reach, beyond the extent. What
 * counts is the last element of matrices of such extents:
 *     offset + (padded rows - 1) * ld + padded row length - 1.
 * This bounds M, N, K and ld as well. Within the workspace a kernel counts from the start of a
 * region, or of its part of one, which is as large as such extents would make it; it finds its part
 * in 64 bits. */
bool kiln_indices_fit(const struct kiln_recipe *recipe, const struct kiln_product *product)
{
    struct kiln_product padded;
    if (recipe->index_bits == 64) {
        return true;
    }
    return padded_product(recipe, product, &padded) &&
           last_index_fits(&padded.a, padded.batch_count) &&
           last_index_fits(&padded.b, padded.batch_count) &&
           last_index_fits(&padded.c, padded.batch_count) && regions_fit(recipe, &padded);
}

bool kiln_recipe_takes(const struct kiln_recipe *recipe, const struct kiln_product *product)
{
    return kiln_recipe_is_for(recipe, product) && kiln_guard_takes(&recipe->guard, product) &&
           kiln_indices_fit(recipe, product);
}

/* ---- Complex products ---- */

/* A matrix of complex elements as one of their parts. */
static struct kiln_matrix parts_of(const struct kiln_matrix *matrix)
{
    const struct kiln_matrix parts = {
        .offset = 2 * matrix->offset,
        .ld = 2 * matrix->ld,
        .stride = 2 * matrix->stride,
        .rows = matrix->rows,
        .row_length = 2 * matrix->row_length,
    };
    return parts;
}

/* What a stage wrote: rows of `columns` elements; in memory a row is a whole number of pairs. */
static struct kiln_matrix written(size_t rows, size_t columns)
{
    const struct kiln_matrix matrix = {
        .ld = 2 * (columns + columns % 2),
        .rows = rows,
        .row_length = 2 * columns,
    };
    return matrix;
}

struct kiln_product kiln_product_real(const struct kiln_product *product)
{
    struct kiln_product real = {
        .precision = product->real_precision,
        .element_bytes = product->element_bytes / 2,
        .triangle = 2 * product->triangle,
        .m = product->m,
        .n = 2 * product->n,
        .k = 2 * product->k,
        .batch_count = product->batch_count,
        .one_by_one = true,
        .c = parts_of(&product->c),
    };
    if (kiln_reads_operands(product)) {
        real.a = product->transa ? written(product->m, product->k) : parts_of(&product->a);
        real.b = written(2 * product->k, product->n);
    }
    return real;
}

/* ---- Stages ---- */

const struct kiln_region *kiln_prepared_region(const struct kiln_recipe *recipe, unsigned prepared)
{
    for (unsigned i = 0; i < recipe->num_regions; i++) {
        if (recipe->regions[i].holds == prepared) {
            return &recipe->regions[i];
        }
    }
    return NULL;
}

bool kiln_recipe_reads_image(const struct kiln_recipe *recipe)
{
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        const struct kiln_stage *stage = &recipe->stages[i];
        if (memchr(stage->args, KILN_ARG_WORKSPACE_IMAGE, stage->num_args) != NULL) {
            return true;
        }
    }
    return false;
}

bool kiln_stage_is_needed(const struct kiln_recipe *recipe, unsigned index, unsigned ready)
{
    unsigned prepares = recipe->stages[index].prepares;
    bool is_alone = prepares == KILN_PREPARED_A || prepares == KILN_PREPARED_B;
    bool both_at_once = false;
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        both_at_once |= recipe->stages[i].prepares == KILN_PREPARED_BOTH;
    }
    if (is_alone && both_at_once && ready == KILN_PREPARED_NONE) {
        return false;
    }
    return (prepares & ready) == 0;
}

uint64_t kiln_whole_tiles(const struct kiln_recipe *recipe, uint64_t tiles, uint32_t units)
{
    const uint64_t turn = (uint64_t) recipe->unit_turns * (units > 0 ? units : 1);
    const uint64_t rest = recipe->shares ? tiles % turn : 0;
    return rest < turn * 3 / 4 ? tiles - rest : tiles;
}

/* Counts in each row of tiles those up to the diagonal, or from there on, as kernels do
 * (generator/kernels/nv/triangle.cl.in). Where all of C is stored, counts all. */
uint64_t kiln_stored_tiles(const struct kiln_recipe *recipe, const struct kiln_product *product)
{
    const uint64_t rows = kiln_ceil_div(product->m, recipe->tile[0]);
    const uint64_t columns = kiln_ceil_div(product->n, recipe->tile[1]);
    const uint64_t pair = product->triangle < 0 ? (uint64_t) -product->triangle
                                                : (uint64_t) product->triangle;
    uint64_t tiles = 0;
    if (product->triangle == KILN_TRIANGLE_NONE || rows > MAX_ROWS_OF_TILES) {
        return __builtin_mul_overflow(rows, columns, &tiles) ? UINT64_MAX : tiles;
    }
    for (uint64_t row = 0; row < rows; row++) {
        const uint64_t first = row * recipe->tile[0] * pair / recipe->tile[1];
        const uint64_t end = kiln_ceil_div((row + 1) * recipe->tile[0] * pair, recipe->tile[1]);
        tiles += product->triangle < 0 ? columns - first : end < columns ? end : columns;
    }
    return tiles;
}

uint32_t kiln_num_parts(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units)
{
    if (recipe->unit_parts == 0) {
        return 1;
    }
    const uint64_t tiles = kiln_stored_tiles(recipe, product);
    const uint64_t groups = (uint64_t) recipe->unit_parts * (units > 0 ? units : 1);
    const uint64_t steps = kiln_ceil_div(product->k, recipe->tile[2]);
    const uint64_t most = steps >= KILN_SHARED_STEPS ? steps / PART_STEPS : 1;
    uint64_t parts = tiles > 0 ? groups / tiles : 0;
    parts = parts < most ? parts : most;
    return parts > MOST_PARTS ? (uint32_t) MOST_PARTS : parts > 1 ? (uint32_t) parts : 1;
}

bool kiln_shares_tiles(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units)
{
    const uint64_t tiles = kiln_stored_tiles(recipe, product);
    return kiln_num_parts(recipe, product, units) > 1 || tiles == UINT64_MAX ||
           kiln_whole_tiles(recipe, tiles, units) < tiles;
}

/* ---- Members of a batch ---- */

/* Where a launch takes several, there are work-groups for so many turns of those that take tiles in
 * turn, so that all units have about as much to do. Other numbers were not measured. */
enum { MEMBER_TURNS = 4 };

/* Those that are prepared. Of what the tuner predicts by, regions are not known. */
static unsigned operands_in_regions(const struct kiln_recipe *recipe)
{
    unsigned operands = recipe->as_is;
    for (unsigned i = 0; i < recipe->num_regions; i++) {
        operands |= recipe->regions[i].holds;
    }
    return operands;
}

/* Is each member of a batch shared among all work-groups (kiln_num_members)? */
static bool shares_each_member(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units)
{
    const uint64_t some = units > 0 ? units : 1;
    const uint64_t groups = some * (recipe->shares ? recipe->unit_turns : recipe->unit_parts);
    const uint64_t tiles = kiln_stored_tiles(recipe, product);
    uint64_t all = 0;
    if (groups == 0) {
        return false;
    }
    if (tiles >= groups) {
        return recipe->shares;
    }
    return kiln_ceil_div(product->k, recipe->tile[2]) >= KILN_SHARED_STEPS &&
           !__builtin_mul_overflow(tiles, product->batch_count, &all) && all <= groups / 2;
}

unsigned kiln_taken_as_is(const struct kiln_recipe *recipe, const struct kiln_product *product)
{
    unsigned operands = 0;
    for (unsigned operand = KILN_PREPARED_A; operand <= KILN_PREPARED_B; operand++) {
        if ((recipe->as_is & operand) != 0 && kiln_is_aligned(product, operand)) {
            operands |= operand;
        }
    }
    return operands;
}

size_t kiln_num_members(const struct kiln_recipe *recipe, const struct kiln_product *product,
        unsigned ready, uint32_t units)
{
    const bool is_joint = kiln_joint_members(product) > 1 && recipe->batches &&
                          (operands_in_regions(recipe) & ~ready) == 0 &&
                          !shares_each_member(recipe, product, units);
    return !is_joint ? 1
         : product->batch_count < (size_t) KILN_MOST_MEMBERS
                 ? product->batch_count
                 : (size_t) KILN_MOST_MEMBERS;
}

/* The work-groups of one member that take its tiles in turn: one for each tile, where they would
 * share tiles otherwise; else as many as make enough turns of all. */
static size_t groups_in_turn(const struct kiln_plan *plan, const struct kiln_product *product,
        size_t groups)
{
    const uint64_t tiles = kiln_stored_tiles(plan->recipe, product);
    const uint64_t enough = plan->recipe->shares
                                  ? tiles
                                  : kiln_ceil_div(groups * (uint64_t) MEMBER_TURNS, plan->members);
    const uint64_t least = enough < tiles ? enough : tiles;
    return least > groups ? groups : least > 1 ? (size_t) least : 1;
}

/* ---- Work-groups ---- */

static bool count_groups(const struct kiln_plan *plan, const struct kiln_product *product,
        const struct kiln_stage *stage, unsigned d, uint32_t units, size_t *groups)
{
    if (stage->dim[d] == KILN_DIM_PARTS) {
        *groups = plan->parts;
        return true;
    }
    const size_t extent = kiln_extent(product, units, stage->dim[d]);
    if (stage->dim[d] == KILN_DIM_ONE || stage->dim[d] == KILN_DIM_UNITS) {
        if (!kiln_multiply(stage->tile[d], extent, groups)) {
            return false;
        }
        if (plan->members > 1 && stage->dim[d] == KILN_DIM_UNITS) {
            *groups = groups_in_turn(plan, product, *groups);
        }
        return true;
    }
    *groups = (size_t) kiln_ceil_div(extent, stage->tile[d]);
    return true;
}

static bool plan_groups(const struct kiln_product *product, uint32_t units, struct kiln_plan *plan)
{
    for (unsigned i = 0; i < plan->recipe->num_stages; i++) {
        const struct kiln_stage *stage = &plan->recipe->stages[i];
        if (stage->role == KILN_ROLE_ADD &&
                (plan->members > 1 || !kiln_shares_tiles(plan->recipe, product, units))) {
            continue;
        }
        for (unsigned d = 0; d < stage->work_dim; d++) {
            size_t groups = 0;
            if (!count_groups(plan, product, stage, d, units, &groups)) {
                return false;
            }
            groups = groups == 0 && i + 1 == plan->recipe->num_stages ? 1 : groups;
            plan->groups[i][d] = groups;
            if (!kiln_multiply(groups, stage->local[d], &plan->global[i][d])) {
                return false;
            }
        }
    }
    return true;
}

bool kiln_stage_is_empty(const struct kiln_plan *plan, unsigned index)
{
    for (unsigned d = 0; d < plan->recipe->stages[index].work_dim; d++) {
        if (plan->groups[index][d] == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Regions ---- */

static size_t greatest_common_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Elements of this size may start at multiples of so many bytes. Kernels address a region in its
 * own elements from the start of the buffer. So its place, counted with the caller's offset, must
 * be a multiple of the element as well as of the alignment. False on overflow. */
static bool place_unit(size_t element_bytes, size_t *unit)
{
    size_t common = greatest_common_divisor(KILN_REGION_ALIGN, element_bytes);
    return kiln_multiply(element_bytes, KILN_REGION_ALIGN / common, unit);
}

/* Places a region, so many times, at *end or behind it, and moves *end to its end; in bytes. */
static bool place_region(const struct kiln_product *product, uint32_t units,
        const struct kiln_region *region, size_t times, size_t *end, size_t *start)
{
    size_t unit = 0, elements = 0, bytes = 0;
    return place_unit(region->element_bytes, &unit) && kiln_round_up(*end, unit, start) &&
           region_elements(product, units, region, &elements) &&
           kiln_multiply(elements, times, &elements) &&
           kiln_multiply(elements, region->element_bytes, &bytes) && kiln_add(*start, bytes, end);
}

/* The leading dimension of an operand in its region, whose second extent is K. */
static bool place_rows(const struct kiln_product *product, const struct kiln_region *region,
        size_t *ld)
{
    bool along_k = region->holds == KILN_PREPARED_A ? !product->transa : product->transb;
    return kiln_round_up(kiln_operand(product, region->holds)->row_length, region->round[along_k],
            ld);
}

static bool plan_regions(const struct kiln_product *product, const struct kiln_places *places,
        uint32_t units, struct kiln_plan *plan)
{
    size_t base = places->workspace_offset, end = base;
    for (unsigned i = 0; i < plan->recipe->num_regions; i++) {
        const struct kiln_region *region = &plan->recipe->regions[i];
        bool is_packed = (places->packed & region->holds) != 0;
        size_t packed_end = places->packed_offset[region->holds], start = 0;
        if ((!is_packed && (plan->ready & region->holds) != 0) ||
                (region->each_part && plan->parts == 1)) {
            continue;
        }
        const size_t times = region->each_part   ? plan->parts
                           : region->each_member ? plan->members
                                                 : 1;
        if (!place_region(product, units, region, times, is_packed ? &packed_end : &end, &start) ||
                ((plan->recipe->as_is & region->holds) != 0 &&
                        !place_rows(product, region, &plan->packed_ld[region->holds]))) {
            return false;
        }
        plan->region_start[i] = start / region->element_bytes;
        plan->packed_start[region->holds] = plan->region_start[i];
    }
    /* An image has a pixel, even where k is 0 and nothing lies in the regions. */
    bool reads_image = kiln_recipe_reads_image(plan->recipe);
    size_t least = reads_image ? KILN_PIXEL_BYTES : 0;
    plan->workspace_bytes = end - base > least ? end - base : least;
    plan->pixels = reads_image ? (base + plan->workspace_bytes) / KILN_PIXEL_BYTES : 0;
    return true;
}

bool kiln_plan_make(const struct kiln_recipe *recipe, const struct kiln_product *product,
        const struct kiln_places *places, uint32_t units, struct kiln_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->recipe = recipe;
    plan->ready = places->packed | kiln_taken_as_is(recipe, product);
    plan->members = kiln_num_members(recipe, product, plan->ready, units);
    plan->parts = plan->members > 1 ? 1 : kiln_num_parts(recipe, product, units);
    return plan_groups(product, units, plan) && plan_regions(product, places, units, plan);
}

/* ---- Packs ---- */

/* What is to be placed: so many elements, starting at a multiple of `step` bytes. */
struct content {
    size_t elements, element_bytes, step;
};

/* The largest power of two, up to the elements of a vector, that divides all places. */
static size_t common_power(size_t places)
{
    enum { VECTOR_ELEMENTS = 16 };
    places |= VECTOR_ELEMENTS;
    return places & (~places + 1);
}

/* Are rows aligned alike? If not, a kernel may load single elements in place of vectors, and then
 * it adds up in another order. So it may if the elements of a column are side by side in one of the
 * two alone (`thin`). */
static bool is_alike(const struct kiln_matrix *matrix, size_t ld)
{
    return common_power(ld) == common_power(matrix->ld | matrix->offset) &&
           (ld == 1) == (matrix->ld == 1);
}

/* The rows of a plain copy start where the recipe can read them, aligned as the operand's are: a
 * product of it is bitwise the same. */
static bool ld_of_copy(const struct kiln_matrix *matrix, size_t unit, size_t *ld)
{
    enum { MOST = 32 }; /* so many multiples of an odd unit have each power of two twice */
    bool ok = kiln_round_up(matrix->row_length, unit, ld);
    size_t alike = *ld;
    for (unsigned i = 0; i < MOST && ok && !is_alike(matrix, alike); i++) {
        ok = kiln_add(alike, unit, &alike);
    }
    *ld = is_alike(matrix, alike) ? alike : *ld;
    return ok;
}

static bool plain_content(const struct kiln_product *product, const struct kiln_matrix *matrix,
        uint32_t divisor, struct content *content, size_t *ld)
{
    size_t unit = divisor > 0 ? divisor : 1;
    content->element_bytes = product->element_bytes;
    return ld_of_copy(matrix, unit, ld) && kiln_multiply(matrix->rows, *ld, &content->elements) &&
           kiln_multiply(product->element_bytes, unit, &content->step);
}

static bool region_content(const struct kiln_product *product, const struct kiln_region *region,
        struct content *content)
{
    content->element_bytes = content->step = region->element_bytes;
    return region_elements(product, 1, region, &content->elements);
}

bool kiln_pack_layout(const struct kiln_recipe *recipe, const struct kiln_product *product,
        unsigned prepared, size_t offset, struct kiln_pack_layout *layout)
{
    const struct kiln_region *region = kiln_prepared_region(recipe, prepared);
    const struct kiln_guard *guard = &recipe->guard;
    struct content content;
    size_t unit = 0, start = 0, bytes = 0;
    memset(layout, 0, sizeof *layout);
    layout->is_plain = region == NULL;
    bool countable = region != NULL ? region_content(product, region, &content)
                                    : plain_content(product, kiln_operand(product, prepared),
                                              prepared == KILN_PREPARED_A ? guard->a : guard->b,
                                              &content, &layout->ld);
    if (!countable || !place_unit(content.step, &unit) || !kiln_round_up(offset, unit, &start) ||
            !kiln_multiply(content.elements, content.element_bytes, &bytes) ||
            !kiln_add(start, bytes, &layout->end)) {
        return false;
    }
    layout->start = start / content.element_bytes;
    layout->slack = unit - KILN_REGION_ALIGN;
    return true;
}
