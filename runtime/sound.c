/* sound.c: whether a bundle can be trusted as data.
 *
 * A bundle may come from the caller or from an older generator, so everything that the runtime uses
 * as an index or a divisor later is checked here once. Nothing in this file needs OpenCL.
 */
#include "internal.h"

#include <string.h>

static bool binary_is_sound(const struct kiln_binary *binary)
{
    return binary->data != NULL && binary->size > 0;
}

/* Lines lie within the text, and pairs are of what comes before them. */
static bool pool_is_sound(const struct kiln_pool *pool)
{
    const bool has_text = pool->text != NULL
                                ? pool->text_bytes > 0 && pool->text[pool->text_bytes - 1] == 0
                                : pool->packed_bytes > 0 && pool->packed != NULL;
    if ((pool->text_bytes > 0 && !has_text) || (pool->num_lines > 0 && pool->lines == NULL) ||
            (pool->num_pairs > 0 && pool->pairs == NULL) ||
            (pool->num_symbols > 0 && pool->symbols == NULL)) {
        return false;
    }
    for (uint32_t i = 0; i < pool->num_lines; i++) {
        if (pool->lines[i] >= pool->text_bytes) {
            return false;
        }
    }
    for (uint32_t i = 0; i < pool->num_pairs; i++) {
        if (pool->pairs[i].first >= pool->num_lines + i ||
                pool->pairs[i].second >= pool->num_lines + i) {
            return false;
        }
    }
    for (uint32_t i = 0; i < pool->num_symbols; i++) {
        if (pool->symbols[i] >= pool->num_lines + pool->num_pairs) {
            return false;
        }
    }
    return true;
}

/* A text is compared with its hash before it is compiled (program.c): most programs of a bundle are
 * never used, and their texts take milliseconds to hash. */
static bool source_is_sound(const struct kiln_pool *pool, const struct kiln_program *program)
{
    return program->first_symbol <= pool->num_symbols &&
           program->num_symbols <= pool->num_symbols - program->first_symbol;
}

static bool program_is_sound(const struct kiln_pool *pool, const struct kiln_program *program)
{
    bool has_source = program->num_symbols > 0;
    if (has_source ? !source_is_sound(pool, program) : program->num_binaries == 0) {
        return false;
    }
    if (program->num_binaries > 0 && program->binaries == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < program->num_binaries; i++) {
        if (!binary_is_sound(&program->binaries[i])) {
            return false;
        }
    }
    return true;
}

/* May the preparation of an operand, or of none, depend on the extent? */
static bool extent_is_of(unsigned prepared, unsigned dim)
{
    return prepared == KILN_PREPARED_A ? dim != KILN_DIM_N
         : prepared == KILN_PREPARED_B ? dim != KILN_DIM_M
                                       : true;
}

static bool code_is_in(unsigned code, unsigned first, unsigned last)
{
    return code >= first && code <= last;
}

/* The operand that an argument code tells where to find, as it is (buffer, offset, leading
 * dimension) or prepared; KILN_PREPARED_NONE for other codes. */
static unsigned source_of(unsigned code)
{
    return code_is_in(code, KILN_ARG_A, KILN_ARG_LDA) ? KILN_PREPARED_A
         : code_is_in(code, KILN_ARG_B, KILN_ARG_LDB)
                 ? KILN_PREPARED_B
                 : KILN_PREPARED_NONE;
}

static unsigned place_of(unsigned code)
{
    return code_is_in(code, KILN_ARG_PACKED_A, KILN_ARG_PACKED_LDA) ? KILN_PREPARED_A
         : code_is_in(code, KILN_ARG_PACKED_B, KILN_ARG_PACKED_LDB)
                 ? KILN_PREPARED_B
                 : KILN_PREPARED_NONE;
}

bool kiln_arg_is_memory(unsigned code)
{
    switch (code) {
    case KILN_ARG_A:
    case KILN_ARG_B:
    case KILN_ARG_C:
    case KILN_ARG_WORKSPACE:
    case KILN_ARG_WORKSPACE_IMAGE:
    case KILN_ARG_PACKED_A:
    case KILN_ARG_PACKED_B: return true;
    default: return false;
    }
}

/* A stage that prepares operands is told of nothing but their extents, them and their places. */
static bool preparation_may_take(unsigned prepared, unsigned code)
{
    return (prepared & (source_of(code) | place_of(code))) != 0 || code == KILN_ARG_K ||
           ((prepared & KILN_PREPARED_A) != 0 && (code == KILN_ARG_M || code == KILN_ARG_CONJ_A)) ||
           ((prepared & KILN_PREPARED_B) != 0 && (code == KILN_ARG_N || code == KILN_ARG_CONJ_B));
}

/* An operand with a region of its own is read by the stages that prepare it alone; its region is
 * found by its own codes, others by their number. */
static bool argument_is_sound(const struct kiln_recipe *recipe, const struct kiln_stage *stage,
        unsigned code)
{
    unsigned region = code - KILN_ARG_REGION_0, source = source_of(code), place = place_of(code);
    if (code >= KILN_NUM_ARG_CODES) {
        return false;
    }
    if (code == KILN_ARG_WORKSPACE_IMAGE && recipe->num_regions == 0) {
        return false;
    }
    if ((code == KILN_ARG_PACKED_LDA || code == KILN_ARG_PACKED_LDB) &&
            (recipe->as_is & place) == 0) {
        return false;
    }
    if (stage->prepares != KILN_PREPARED_NONE) {
        return preparation_may_take(stage->prepares, code);
    }
    if (code_is_in(code, KILN_ARG_REGION_0, KILN_ARG_REGION_3)) {
        return region < recipe->num_regions && recipe->regions[region].holds == KILN_PREPARED_NONE;
    }
    return (source == KILN_PREPARED_NONE || kiln_prepared_region(recipe, source) == NULL) &&
           (place == KILN_PREPARED_NONE || kiln_prepared_region(recipe, place) != NULL);
}

/* A stage that takes an operand prepared or as it is must be told its leading dimension, and finds
 * it in no image. */
static bool as_is_is_told(const struct kiln_recipe *recipe, const struct kiln_stage *stage)
{
    unsigned places = 0, leads = 0;
    bool has_image = false;
    for (unsigned i = 0; i < stage->num_args; i++) {
        const unsigned code = stage->args[i];
        const bool is_lead = code == KILN_ARG_PACKED_LDA || code == KILN_ARG_PACKED_LDB;
        places |= place_of(code);
        leads |= is_lead ? place_of(code) : 0u;
        has_image = has_image || code == KILN_ARG_WORKSPACE_IMAGE;
    }
    return stage->prepares != KILN_PREPARED_NONE || recipe->as_is == KILN_PREPARED_NONE ||
           ((places & recipe->as_is & ~leads) == 0 && !has_image);
}

/* Tiles along M, N and K count towards the reach of indices; others are work-groups, one for each
 * part of K. */
static bool tile_is_sound(const struct kiln_recipe *recipe, unsigned dim, uint32_t tile)
{
    return dim == KILN_DIM_PARTS ? tile == 1
                                 : tile >= 1 && (dim == KILN_DIM_ONE || dim == KILN_DIM_UNITS ||
                                                        tile <= recipe->reach[dim - KILN_DIM_M]);
}

static bool shares(const struct kiln_recipe *recipe)
{
    return recipe->shares || recipe->unit_parts > 0;
}

/* Parts of K are known to what multiplies alone. */
static bool dim_is_sound(const struct kiln_recipe *recipe, const struct kiln_stage *stage,
        unsigned dim)
{
    return dim < KILN_NUM_DIMS && extent_is_of(stage->prepares, dim) &&
           (dim != KILN_DIM_PARTS ||
                   (stage->prepares == KILN_PREPARED_NONE && recipe->unit_parts > 0));
}

static bool role_is_sound(const struct kiln_recipe *recipe, const struct kiln_stage *stage)
{
    return stage->role == KILN_ROLE_NONE ||
           (stage->prepares == KILN_PREPARED_NONE &&
                   (stage->role == KILN_ROLE_ADD ? shares(recipe)
                                                 : recipe->routine == KILN_ROUTINE_TO_REAL));
}

static bool stage_is_sound(const struct kiln_recipe *recipe, const struct kiln_stage *stage)
{
    if (stage->entry == NULL || stage->work_dim < 1 || stage->work_dim > 3 ||
            stage->num_args > KILN_MAX_ARGS || stage->prepares > KILN_PREPARED_BOTH ||
            stage->role >= KILN_NUM_ROLES || !role_is_sound(recipe, stage)) {
        return false;
    }
    for (unsigned d = 0; d < stage->work_dim; d++) {
        if (!dim_is_sound(recipe, stage, stage->dim[d]) || stage->local[d] < 1 ||
                !tile_is_sound(recipe, stage->dim[d], stage->tile[d])) {
            return false;
        }
    }
    for (unsigned i = 0; i < stage->num_args; i++) {
        if (!argument_is_sound(recipe, stage, stage->args[i])) {
            return false;
        }
    }
    return as_is_is_told(recipe, stage);
}

/* Something is launched where nothing is shared and all operands are ready. */
static bool has_multiplying_stage(const struct kiln_recipe *recipe)
{
    bool found = false;
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        const struct kiln_stage *stage = &recipe->stages[i];
        found = found || (stage->prepares == KILN_PREPARED_NONE && stage->role != KILN_ROLE_ADD);
    }
    return found;
}

/* What is prepared has one region and a stage for it alone, and the last stage multiplies. */
static bool preparation_is_sound(const struct kiln_recipe *recipe, unsigned prepared)
{
    unsigned num_regions = 0, num_stages = 0, num_with_other = 0;
    for (unsigned i = 0; i < recipe->num_regions; i++) {
        num_regions += recipe->regions[i].holds == prepared;
    }
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        num_stages += recipe->stages[i].prepares == prepared;
        num_with_other += recipe->stages[i].prepares == KILN_PREPARED_BOTH;
    }
    return num_regions <= 1 && (num_regions == 1) == (num_stages > 0) &&
           ((recipe->as_is & prepared) == 0 || num_regions == 1) &&
           (num_with_other == 0 || num_stages > 0) &&
           (recipe->stages[recipe->num_stages - 1].prepares & prepared) == 0;
}

/* What may be taken as it is lies in its region as a matrix of its own elements. */
static bool region_is_sound(const struct kiln_recipe *recipe, const struct kiln_region *region)
{
    const unsigned num_dims = recipe->index_bits == 64 && region->holds == KILN_PREPARED_NONE
                                    ? KILN_DIM_PARTS
                                    : KILN_DIM_UNITS;
    const unsigned long_dim = region->holds == KILN_PREPARED_A ? KILN_DIM_M : KILN_DIM_N;
    bool is_rows = (recipe->as_is & region->holds) == 0 ||
                   (region->dim[0] == long_dim && region->dim[1] == KILN_DIM_K &&
                           region->more == 0 &&
                           region->element_bytes == kiln_element_bytes(recipe->precision));
    return region->dim[0] < num_dims && region->dim[1] < num_dims && is_rows &&
           region->round[0] >= 1 && region->round[1] >= 1 && region->element_bytes >= 1 &&
           region->each_part <= (region->holds == KILN_PREPARED_NONE && recipe->unit_parts > 0) &&
           region->each_member <=
                   (recipe->batches && region->holds == KILN_PREPARED_NONE && !region->each_part) &&
           region->holds < KILN_NUM_PREPARED && extent_is_of(region->holds, region->dim[0]) &&
           extent_is_of(region->holds, region->dim[1]);
}

static bool is_form(const struct kiln_region *region, unsigned holds, unsigned rows,
        unsigned columns, size_t element_bytes)
{
    return region->holds == holds && region->dim[0] == rows && region->dim[1] == columns &&
           region->round[0] == 1 && region->round[1] == 2 && region->more == 0 &&
           region->element_bytes == element_bytes;
}

/* What complex.c counts on: where op(A) and op(B) lie, and B times alpha; behind the stages that
 * prepare them one for this, one for beta, and one for the diagonal. */
static bool complex_is_sound(const struct kiln_recipe *recipe)
{
    const struct kiln_region *a = kiln_prepared_region(recipe, KILN_PREPARED_A);
    const size_t bytes = kiln_element_bytes(recipe->precision);
    const unsigned first = recipe->transa ? 2 : 1;
    return recipe->routine != KILN_ROUTINE_TO_REAL ||
           (kiln_precision_is_complex(recipe->precision) && recipe->as_is == KILN_PREPARED_NONE &&
                   recipe->num_regions == 3 && recipe->num_stages == first + 3 &&
                   recipe->stages[0].prepares ==
                           (recipe->transa ? KILN_PREPARED_A : KILN_PREPARED_B) &&
                   recipe->stages[first - 1].prepares == KILN_PREPARED_B &&
                   recipe->stages[first].role == KILN_ROLE_ROTATE &&
                   recipe->stages[first + 1].role == KILN_ROLE_SCALE &&
                   recipe->stages[first + 2].role == KILN_ROLE_DIAGONAL &&
                   (recipe->transa ? is_form(&recipe->regions[0], KILN_PREPARED_A, KILN_DIM_M,
                                             KILN_DIM_K, bytes)
                                   : a == NULL) &&
                   is_form(&recipe->regions[1], KILN_PREPARED_B, KILN_DIM_K, KILN_DIM_N,
                           2 * bytes) &&
                   is_form(&recipe->regions[2], KILN_PREPARED_NONE, KILN_DIM_K, KILN_DIM_N,
                           2 * bytes));
}

static bool takes(const struct kiln_stage *stage, unsigned code)
{
    return memchr(stage->args, code, stage->num_args) != NULL;
}

/* Work-group i along axis 2 can be of member i: but for parts of K, of which a batch has one, there
 * is nothing along it. */
static bool has_room_for_members(const struct kiln_stage *stage)
{
    return stage->work_dim < 3 ||
           (stage->local[2] == 1 &&
                   (stage->dim[2] == KILN_DIM_PARTS || stage->dim[2] == KILN_DIM_ONE));
}

/* Where a launch may take several members of a batch, what multiplies is told of the strides of all
 * operands that it takes; elsewhere of none. */
static bool strides_are_sound(const struct kiln_recipe *recipe)
{
    static const uint8_t codes[][2] = {
        { KILN_ARG_A, KILN_ARG_A_STRIDE },
        { KILN_ARG_B, KILN_ARG_B_STRIDE },
        { KILN_ARG_C, KILN_ARG_C_STRIDE },
        { KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_STRIDE },
        { KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_STRIDE },
    };
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        const struct kiln_stage *stage = &recipe->stages[i];
        const bool is_to_be_told = recipe->batches && stage->prepares == KILN_PREPARED_NONE &&
                                   stage->role == KILN_ROLE_NONE;
        for (size_t j = 0; j < sizeof codes / sizeof *codes; j++) {
            if (takes(stage, codes[j][1]) != (is_to_be_told && takes(stage, codes[j][0]))) {
                return false;
            }
        }
        if (is_to_be_told && !has_room_for_members(stage)) {
            return false;
        }
    }
    return recipe->batches <=
           (recipe->routine == KILN_ROUTINE_MULTIPLY && !kiln_recipe_reads_image(recipe));
}

/* A recipe for triangles alone is told of them wherever C is written. One that multiplies complex
 * numbers and is told of triangles is for triangles alone, and is told of Hermitian ones too. One
 * that mirrors is a single stage, without a workspace. */
static bool triangles_are_sound(const struct kiln_recipe *recipe)
{
    const struct kiln_stage *first = &recipe->stages[0];
    const bool is_complex = recipe->routine == KILN_ROUTINE_MULTIPLY &&
                            kiln_precision_is_complex(recipe->precision);
    bool any = false, all = true;
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        const bool is_told = takes(&recipe->stages[i], KILN_ARG_TRIANGLE);
        const bool knows = is_told &&
                           (!is_complex || takes(&recipe->stages[i], KILN_ARG_HERMITIAN));
        any = any || is_told;
        all = all && (knows || !takes(&recipe->stages[i], KILN_ARG_C));
    }
    const bool is_mirror = recipe->num_stages == 1 && recipe->num_regions == 0 &&
                           recipe->transa == 0 && recipe->transb == 0 && any &&
                           takes(first, KILN_ARG_A) && takes(first, KILN_ARG_C);
    return recipe->triangles <= KILN_TRIANGLES_ALSO &&
           (recipe->triangles != KILN_TRIANGLES_NEVER) == any &&
           (!any || (recipe->triangles == KILN_TRIANGLES_ALSO ? !is_complex : all)) &&
           recipe->routine <= KILN_ROUTINE_TO_REAL &&
           (recipe->routine != KILN_ROUTINE_MIRROR || is_mirror);
}

static bool precision_is_known(unsigned precision)
{
    return kiln_precision_find(precision) != NULL;
}

static bool recipe_is_sound(const struct kiln_recipe *recipe, uint32_t num_programs)
{
    if (recipe->name == NULL || !precision_is_known(recipe->precision) || recipe->transa > 1 ||
            recipe->transb > 1 || recipe->program >= num_programs ||
            (recipe->index_bits != 32 && recipe->index_bits != 64) || recipe->num_stages < 1 ||
            recipe->num_stages > KILN_MAX_STAGES || recipe->num_regions > KILN_MAX_REGIONS ||
            recipe->stages == NULL || (recipe->num_regions > 0 && recipe->regions == NULL)) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (recipe->tile[i] < 1 || recipe->tile[i] > recipe->reach[i]) {
            return false;
        }
    }
    if (recipe->kinds > KILN_KIND_BOTH || (recipe->unit_parts > 0 && recipe->unit_turns > 0) ||
            recipe->shares > (recipe->unit_turns > 0) || recipe->as_is > KILN_PREPARED_BOTH ||
            (recipe->time != NULL && !kiln_time_is_sound(recipe->time))) {
        return false;
    }
    for (unsigned i = 0; i < recipe->num_regions; i++) {
        if (!region_is_sound(recipe, &recipe->regions[i])) {
            return false;
        }
    }
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        if (!stage_is_sound(recipe, &recipe->stages[i])) {
            return false;
        }
    }
    return has_multiplying_stage(recipe) && complex_is_sound(recipe) &&
           triangles_are_sound(recipe) && strides_are_sound(recipe) &&
           preparation_is_sound(recipe, KILN_PREPARED_A) &&
           preparation_is_sound(recipe, KILN_PREPARED_B);
}

static bool pin_is_sound(const struct kiln_bundle *bundle, const struct kiln_pin *pin)
{
    for (unsigned pair = 0; pair < KILN_NUM_PAIRS; pair++) {
        uint16_t index = pin->recipe[pair];
        if (index == KILN_NO_RECIPE) {
            continue;
        }
        if (index >= bundle->num_recipes) {
            return false;
        }
        const struct kiln_recipe *recipe = &bundle->recipes[index];
        if (recipe->precision != pin->precision ||
                kiln_pair(recipe->transa, recipe->transb) != pair) {
            return false;
        }
    }
    return precision_is_known(pin->precision);
}

static bool tables_are_present(const struct kiln_bundle *bundle)
{
    return bundle->format == KILN_BUNDLE_FORMAT && bundle->name != NULL &&
           bundle->num_recipes < KILN_NO_RECIPE &&
           (bundle->num_programs == 0 || bundle->programs != NULL) &&
           (bundle->num_recipes == 0 || bundle->recipes != NULL) &&
           (bundle->num_pins == 0 || bundle->pins != NULL);
}

bool kiln_bundle_is_sound(const struct kiln_bundle *bundle)
{
    if (!tables_are_present(bundle) || !pool_is_sound(&bundle->pool)) {
        return false;
    }
    for (uint32_t i = 0; i < bundle->num_programs; i++) {
        if (!program_is_sound(&bundle->pool, &bundle->programs[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < bundle->num_recipes; i++) {
        if (!recipe_is_sound(&bundle->recipes[i], bundle->num_programs)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < bundle->num_pins; i++) {
        if (!pin_is_sound(bundle, &bundle->pins[i])) {
            return false;
        }
    }
    return true;
}
