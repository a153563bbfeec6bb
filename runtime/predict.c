/* predict.c: how long a recipe takes for a product; see predict.h. */
#include "predict.h"

/* Counts of so many bits, times a float's 24, are exact in a double. */
enum { EXACT_BITS = 29 };

/* What all units share is counted in these parts of what one unit has. */
enum { EVEN_PARTS = 256 };

/* Of a line of memory. */
enum { LINE_BYTES = 64 };

/* Rows that begin at multiples of so many bytes share the lines of a CPU's first cache, where no
 * more than so many find room. */
enum { MEETING_BYTES = 4096, MEETING_ROWS = 16 };

/* An operand of more bytes, of which a piece of every row is read for each column of tiles, has
 * left the caches when the next pieces are. */
enum { FAR_BYTES = 4 << 20 };

/* An operand of more bytes is in no cache when it is read again, in this call or the next. Devices
 * do not tell how large the last of their caches is; an H200's has 50 MB. */
enum { UNCACHED_BYTES = 32 << 20 };

/* By how many eighths a time is longer on a CPU, as measured on one (tests/bench/RESULTS.md,
 * generator/tune/MEASUREMENTS.md): for each operand whose rows meet; where one is far. */
enum { MEETING_EIGHTHS = 1, FAR_EIGHTHS = 8 };

/* What a host takes to enqueue a kernel, picoseconds, as measured with one NVIDIA H200
 * (generator/tune/MEASUREMENTS.md); other devices that are no CPU were not asked. Of times that are
 * shorter, a part still counts. */
enum { ENQUEUE_PICOSECONDS = 6000000, HIDDEN_PARTS = 64 };

static uint64_t at_most(uint64_t value)
{
    return value < KILN_TIME_MAX ? value : KILN_TIME_MAX;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? KILN_TIME_MAX : at_most(product);
}

static bool is_ragged(const struct kiln_matrix *matrix, size_t element_bytes)
{
    return (matrix->ld | matrix->offset | matrix->stride) * element_bytes % LINE_BYTES != 0;
}

unsigned kiln_time_ragged(const struct kiln_product *product)
{
    const size_t bytes = product->element_bytes;
    return (is_ragged(&product->a, bytes) ? (unsigned) KILN_RAGGED_A : 0u) |
           (is_ragged(&product->b, bytes) ? (unsigned) KILN_RAGGED_B : 0u) |
           (is_ragged(&product->c, bytes) ? (unsigned) KILN_RAGGED_C : 0u);
}

/* Work-groups that take tiles in turn: whole tiles first, then steps of the tiles that they share.
 * Where a unit's work-groups do not fit at once, they come one after the other. */
static void count_turns(const struct kiln_recipe *recipe, uint64_t tiles, uint64_t whole,
        uint64_t steps, uint32_t units, uint64_t terms[KILN_NUM_TERMS])
{
    const uint64_t turn = (uint64_t) recipe->unit_turns * units, shared = tiles - whole;
    const uint64_t of_whole = times(kiln_ceil_div(whole, turn), steps);
    const uint64_t of_shared = kiln_ceil_div(times(shared, steps), turn);
    terms[KILN_TERM_STEPS] = at_most(of_whole + of_shared);
    terms[KILN_TERM_ROUNDS] = kiln_ceil_div(tiles, turn);
    terms[KILN_TERM_PAIRED_STEPS] = at_most(
            times(kiln_ceil_div(whole, units), steps) + kiln_ceil_div(times(shared, steps), units));
    terms[KILN_TERM_PAIRED_ROUNDS] = kiln_ceil_div(tiles, units);
    /* At most: each work-group keeps a part of a tile, and another one where a tile ends. Where it
     * has steps for a whole tile, it keeps none. */
    const uint64_t all = times(shared, steps), parts = shared + (all < turn ? all : turn);
    const uint64_t kept = of_shared < steps ? at_most(parts) : 0;
    const uint64_t tile = times(recipe->tile[0], recipe->tile[1]);
    terms[KILN_TERM_SHARED] = times(shared, tile);
    terms[KILN_TERM_KEPT] = times(kept, tile);
}

/* Other work-groups come to the compute units in whole rounds, one or two to a unit at a time. */
static void count_rounds(uint64_t groups, uint64_t steps, uint32_t units,
        uint64_t terms[KILN_NUM_TERMS])
{
    const uint64_t single = kiln_ceil_div(groups, units);
    const uint64_t paired = 2 * kiln_ceil_div(groups, 2 * (uint64_t) units);
    terms[KILN_TERM_STEPS] = times(single, steps);
    terms[KILN_TERM_ROUNDS] = single;
    terms[KILN_TERM_PAIRED_STEPS] = times(paired, steps);
    terms[KILN_TERM_PAIRED_ROUNDS] = paired;
}

/* Of several members of a batch in one launch, work-groups share no tile. */
static void count_work(const struct kiln_recipe *recipe, const struct kiln_product *product,
        size_t members, uint32_t units, uint64_t terms[KILN_NUM_TERMS])
{
    const uint64_t tiles = times(kiln_stored_tiles(recipe, product), members);
    const uint64_t whole = members > 1 ? tiles : kiln_whole_tiles(recipe, tiles, units);
    const uint64_t steps = at_most(kiln_ceil_div(product->k, recipe->tile[2]));
    const uint64_t parts = members > 1 ? 1 : kiln_num_parts(recipe, product, units);
    const uint64_t groups = times(tiles, parts);
    const uint64_t depth = kiln_ceil_div(steps, parts);
    if (recipe->unit_turns != 0) {
        count_turns(recipe, tiles, whole, steps, units, terms);
    } else {
        count_rounds(groups, depth, units, terms);
    }
    if (parts > 1) {
        const uint64_t tile = times(recipe->tile[0], recipe->tile[1]);
        terms[KILN_TERM_COPIES] = 1;
        terms[KILN_TERM_SHARED] = times(tiles, tile);
        terms[KILN_TERM_KEPT] = times(groups, tile);
    }
    terms[KILN_TERM_DEPTH] = depth;
    terms[KILN_TERM_EVEN] = times(groups, depth);
}

/* The part of a count for all tiles that the stored tiles have, to 1/256. */
static uint64_t stored(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint64_t count)
{
    if (product->triangle == KILN_TRIANGLE_NONE) {
        return count;
    }
    const uint64_t tiles = times(kiln_ceil_div(product->m, recipe->tile[0]),
            kiln_ceil_div(product->n, recipe->tile[1]));
    const uint64_t some = at_most(kiln_stored_tiles(recipe, product));
    return tiles > 0 ? times(count, times(some, 256) / tiles) / 256 : 0;
}

/* `fetched` of an operand with so many elements; 0 if a cache may hold it. */
static uint64_t if_uncached(const struct kiln_product *product, uint64_t elements, uint64_t fetched)
{
    return times(elements, product->element_bytes) > UNCACHED_BYTES ? fetched : 0;
}

static void count_memory(const struct kiln_recipe *recipe, const struct kiln_product *product,
        size_t members, uint64_t terms[KILN_NUM_TERMS])
{
    const uint64_t a = times(members, times(product->m, product->k));
    const uint64_t b = times(members, times(product->k, product->n));
    const uint64_t c = times(members, stored(recipe, product, times(product->m, product->n)));
    const uint64_t fetched_a = stored(recipe, product,
            times(kiln_ceil_div(product->n, recipe->tile[1]), a));
    const uint64_t fetched_b = stored(recipe, product,
            times(kiln_ceil_div(product->m, recipe->tile[0]), b));
    const unsigned ragged = kiln_time_ragged(product);
    terms[KILN_TERM_PRODUCTS] = times(c, product->k);
    terms[KILN_TERM_FETCHED_UNCACHED] = at_most(
            if_uncached(product, a, fetched_a) + if_uncached(product, b, fetched_b));
    terms[KILN_TERM_A] = a;
    terms[KILN_TERM_B] = b;
    terms[KILN_TERM_C] = c;
    terms[KILN_TERM_RAGGED_C] = ragged & KILN_RAGGED_C ? c : 0;
    terms[KILN_TERM_TRANSPOSED_A] = product->transa ? a : 0;
    terms[KILN_TERM_TRANSPOSED_B] = product->transb ? b : 0;
    terms[KILN_TERM_FETCHED_A] = fetched_a;
    terms[KILN_TERM_FETCHED_B] = fetched_b;
    terms[KILN_TERM_FETCHED_TRANSPOSED_A] = product->transa ? fetched_a : 0;
    terms[KILN_TERM_FETCHED_TRANSPOSED_B] = product->transb ? fetched_b : 0;
    terms[KILN_TERM_FETCHED_PLAIN_A] = product->transa ? 0 : fetched_a;
    terms[KILN_TERM_FETCHED_PLAIN_B] = product->transb ? 0 : fetched_b;
    terms[KILN_TERM_FETCHED_RAGGED_A] = ragged & KILN_RAGGED_A ? fetched_a : 0;
    terms[KILN_TERM_FETCHED_RAGGED_B] = ragged & KILN_RAGGED_B ? fetched_b : 0;
}

/* Is the operand copied because its rows are not aligned? */
static bool copies(const struct kiln_recipe *recipe, const struct kiln_product *product,
        enum kiln_prepared operand)
{
    return (recipe->as_is & operand) != 0 && !kiln_is_aligned(product, operand);
}

static void count_copies(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint64_t terms[KILN_NUM_TERMS])
{
    const bool a = copies(recipe, product, KILN_PREPARED_A);
    const bool b = copies(recipe, product, KILN_PREPARED_B);
    terms[KILN_TERM_COPIES] |= a || b;
    terms[KILN_TERM_COPIED_A] = a ? terms[KILN_TERM_A] : 0;
    terms[KILN_TERM_COPIED_B] = b ? terms[KILN_TERM_B] : 0;
}

static bool rows_meet(const struct kiln_matrix *matrix, size_t element_bytes)
{
    return matrix->rows > MEETING_ROWS && matrix->ld * element_bytes % MEETING_BYTES == 0;
}

unsigned kiln_time_meeting(const struct kiln_product *product)
{
    const size_t bytes = product->element_bytes;
    return (rows_meet(&product->a, bytes) ? (unsigned) KILN_PREPARED_A : 0u) |
           (rows_meet(&product->b, bytes) ? (unsigned) KILN_PREPARED_B : 0u);
}

/* All units move data together, and a device with more units has more bandwidth for them. */
static bool is_shared_evenly(unsigned term)
{
    return term == KILN_TERM_EVEN || (term >= KILN_TERM_A && term != KILN_TERM_COPIES);
}

/* How many members of a batch a launch takes, without packs. */
static size_t members_of_launch(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units)
{
    return kiln_num_members(recipe, product, kiln_taken_as_is(recipe, product), units);
}

size_t kiln_time_repeats(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units)
{
    return members_of_launch(recipe, product, units) > 1 ? 1 : product->batch_count;
}

void kiln_time_terms(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units, uint64_t terms[KILN_NUM_TERMS])
{
    const uint32_t some = units > 0 ? units : 1;
    const size_t members = product->batch_count / kiln_time_repeats(recipe, product, units);
    for (unsigned i = 0; i < KILN_NUM_TERMS; i++) {
        terms[i] = 0;
    }
    terms[KILN_TERM_CALL] = 1;
    count_work(recipe, product, members, some, terms);
    count_memory(recipe, product, members, terms);
    count_copies(recipe, product, terms);
    for (unsigned i = 0; i < KILN_NUM_TERMS; i++) {
        terms[i] = is_shared_evenly(i) ? times(terms[i], EVEN_PARTS) / some : terms[i];
    }
}

/* The count without the bits below its first EXACT_BITS. */
static double rounded(uint64_t count)
{
    const unsigned bits = count > 0 ? 64 - (unsigned) __builtin_clzll(count) : 0;
    const unsigned below = bits > EXACT_BITS ? bits - EXACT_BITS : 0;
    return (double) (count >> below << below);
}

uint64_t kiln_time_sum(const struct kiln_time *time, const uint64_t terms[KILN_NUM_TERMS])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < KILN_NUM_TERMS; i++) {
        const double term = (double) time->coefficient[i] * rounded(terms[i]);
        sum = at_most(sum + (term < (double) KILN_TIME_MAX ? (uint64_t) term : KILN_TIME_MAX));
    }
    return sum;
}

uint64_t kiln_time_predict(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units)
{
    uint64_t terms[KILN_NUM_TERMS];
    kiln_time_terms(recipe, product, units, terms);
    return times(kiln_time_sum(recipe->time, terms), kiln_time_repeats(recipe, product, units));
}

/* Are operands read in place, neither brought into another form nor into local memory? */
static bool is_in_place(const struct kiln_recipe *recipe)
{
    bool is = recipe->num_regions == 0;
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        is = is && recipe->stages[i].local_bytes == 0;
    }
    return is;
}

static bool is_far(const struct kiln_matrix *matrix, size_t element_bytes)
{
    return times(times(matrix->rows, matrix->row_length), element_bytes) > FAR_BYTES;
}

/* Rows that lie along K are read from end to end, whatever their number. For complex elements,
 * whose pieces of rows are longer, no such factor gained anything. */
static bool reads_from_afar(const struct kiln_recipe *recipe, const struct kiln_product *product)
{
    if (kiln_precision_is_complex(product->precision)) {
        return false;
    }
    const bool a = product->transa && is_far(&product->a, product->element_bytes);
    const bool b = !product->transb && is_far(&product->b, product->element_bytes);
    return (a || b) && product->m > recipe->tile[0] && product->n > recipe->tile[1];
}

uint64_t kiln_time_on_cpu(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint64_t time)
{
    const unsigned meeting = kiln_time_meeting(product);
    unsigned eighths = reads_from_afar(recipe, product) ? FAR_EIGHTHS : 0;
    if ((meeting & KILN_PREPARED_A) != 0 && product->n > recipe->tile[1]) {
        eighths += MEETING_EIGHTHS;
    }
    if ((meeting & KILN_PREPARED_B) != 0 && product->m > recipe->tile[0]) {
        eighths += MEETING_EIGHTHS;
    }
    return eighths > 0 && is_in_place(recipe) ? at_most(time + time / 8 * eighths) : time;
}

/* Kernels that the recipe enqueues, without those that prepare operands in any case: the tuner
 * predicts by traits alone, which do not tell of these. */
static unsigned num_enqueued(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units)
{
    return 1 + kiln_shares_tiles(recipe, product, units) +
           (copies(recipe, product, KILN_PREPARED_A) || copies(recipe, product, KILN_PREPARED_B));
}

uint64_t kiln_time_with_host(const struct kiln_recipe *recipe, const struct kiln_product *product,
        uint32_t units, uint64_t time)
{
    const size_t members = members_of_launch(recipe, product, units);
    const uint64_t launches = kiln_ceil_div(product->batch_count, members);
    const unsigned kernels = members > 1 ? 1 : num_enqueued(recipe, product, units);
    const uint64_t enqueued = times(launches, kernels * (uint64_t) ENQUEUE_PICOSECONDS);
    return time < enqueued ? enqueued - (enqueued - time) / HIDDEN_PARTS : time;
}

bool kiln_time_is_sound(const struct kiln_time *time)
{
    for (unsigned i = 0; i < KILN_NUM_TERMS; i++) {
        /* Also false for what is no number. */
        if (!(time->coefficient[i] >= 0 && time->coefficient[i] < (float) KILN_TIME_MAX)) {
            return false;
        }
    }
    return true;
}
