/* share.c: rounds over one sequence, the symbols of all programs with a gap after each. */
#include "share.h"
#include "reader.h"

#include <stdlib.h>

/* A pair costs two symbols and saves one wherever it stands. */
enum { GAP = POOL_MAX_SYMBOLS, LEAST = 3 };

/* How often two symbols are neighbours. */
struct count {
    struct kiln_pair pair;
    uint32_t times;                    /* 0 is a free slot */
};

struct state {
    struct pool *pool;
    uint16_t *sequence;
    size_t len;
    struct count *counts;              /* by hash; in a round, the candidates first */
    size_t num_counts;                 /* a power of 2 */
    uint16_t *after, *made;            /* by a pair's first symbol, in a round: its second, and the
                                          symbol of the pair */
    bool *taken;                       /* a pair of the round has the symbol */
    uint8_t *depth;                    /* of each symbol */
};

static struct count *count_of(struct state *s, struct kiln_pair pair)
{
    const size_t mask = s->num_counts - 1;
    size_t at = (((size_t) pair.first << 16 | pair.second) * 2654435761u >> 7) & mask;
    while (s->counts[at].times &&
            (s->counts[at].pair.first != pair.first || s->counts[at].pair.second != pair.second))
        at = (at + 1) & mask;
    s->counts[at].pair = pair;
    return &s->counts[at];
}

/* In a run of equal symbols, pairs do not overlap. */
static void count_pairs(struct state *s)
{
    memset(s->counts, 0, s->num_counts * sizeof *s->counts);
    bool half = false;
    for (size_t i = 0; i + 1 < s->len; i++) {
        const struct kiln_pair pair = { s->sequence[i], s->sequence[i + 1] };
        half = !half && i && pair.first == pair.second && s->sequence[i - 1] == pair.first;
        if (pair.first != GAP && pair.second != GAP && !half)
            count_of(s, pair)->times++;
    }
}

/* The most frequent first; those alike in the order of their symbols. */
static int compare(const void *left, const void *right)
{
    const struct count *a = left, *b = right;
    if (a->times != b->times)
        return a->times > b->times ? -1 : 1;
    if (a->pair.first != b->pair.first)
        return a->pair.first < b->pair.first ? -1 : 1;
    return a->pair.second < b->pair.second ? -1 : a->pair.second > b->pair.second;
}

static size_t sort_candidates(struct state *s)
{
    size_t num = 0;
    for (size_t i = 0; i < s->num_counts; i++)
        if (s->counts[i].times >= LEAST)
            s->counts[num++] = s->counts[i];
    qsort(s->counts, num, sizeof *s->counts, compare);
    return num;
}

/* Makes symbols of pairs that have no symbol in common, down to half as frequent as the first.
 * False where none may be made. */
static bool make_pairs(struct state *s, size_t num)
{
    const struct kiln_pool *pool = &s->pool->data;
    bool any = false;
    memset(s->taken, 0, POOL_MAX_SYMBOLS * sizeof *s->taken);
    for (size_t i = 0; i < POOL_MAX_SYMBOLS; i++)
        s->after[i] = GAP;
    for (size_t i = 0, top = 0; i < num && 2 * s->counts[i].times >= top; i++) {
        const struct kiln_pair pair = s->counts[i].pair;
        const unsigned a = s->depth[pair.first], b = s->depth[pair.second];
        const uint32_t symbol = pool->num_lines + pool->num_pairs;
        if (s->taken[pair.first] || s->taken[pair.second] || (a > b ? a : b) == KILN_MAX_DEPTH)
            continue;
        if (!pool_add_pair(s->pool, pair))
            return any;
        s->taken[pair.first] = s->taken[pair.second] = true;
        s->after[pair.first] = pair.second;
        s->made[pair.first] = (uint16_t) symbol;
        s->depth[symbol] = (uint8_t) ((a > b ? a : b) + 1);
        top = top ? top : s->counts[i].times;
        any = true;
    }
    return any;
}

static void replace_pairs(struct state *s)
{
    size_t len = 0;
    for (size_t i = 0; i < s->len; i++) {
        const uint16_t symbol = s->sequence[i];
        const bool is_pair = symbol != GAP && i + 1 < s->len && s->after[symbol] != GAP &&
                             s->after[symbol] == s->sequence[i + 1];
        s->sequence[len++] = is_pair ? s->made[symbol] : symbol;
        i += is_pair;
    }
    s->len = len;
}

/* Takes the programs' lines as symbols out of the pool. */
static bool open_state(struct state *s, const struct shared *shared, uint32_t num_programs)
{
    const struct kiln_pool *pool = &s->pool->data;
    const size_t room = (size_t) pool->num_symbols + num_programs;
    for (s->num_counts = 256; s->num_counts < 2 * room; s->num_counts *= 2)
        continue;
    s->sequence = calloc(room + 1, sizeof *s->sequence);
    s->counts = calloc(s->num_counts, sizeof *s->counts);
    s->after = calloc(POOL_MAX_SYMBOLS, sizeof *s->after);
    s->made = calloc(POOL_MAX_SYMBOLS, sizeof *s->made);
    s->taken = calloc(POOL_MAX_SYMBOLS, sizeof *s->taken);
    s->depth = calloc(POOL_MAX_SYMBOLS, sizeof *s->depth);
    if (!s->sequence || !s->counts || !s->after || !s->made || !s->taken || !s->depth)
        return false;
    for (uint32_t p = 0; p < num_programs; p++) {
        const struct kiln_program *program = &shared->programs[p];
        for (uint32_t i = 0; i < program->num_symbols; i++)
            s->sequence[s->len++] = pool->symbols[program->first_symbol + i];
        s->sequence[s->len++] = GAP;
    }
    return true;
}

static void close_state(struct state *s)
{
    free(s->sequence);
    free(s->counts);
    free(s->after);
    free(s->made);
    free(s->taken);
    free(s->depth);
}

/* The sequence is never longer than the symbols that it replaces. */
static void take_sequence(const struct state *s, struct shared *shared)
{
    struct pool *pool = &shared->pool;
    struct kiln_program *program = shared->programs;
    pool->data.num_symbols = 0;
    for (size_t i = 0, first = 0; i < s->len; i++) {
        if (s->sequence[i] != GAP) {
            pool->symbols[pool->data.num_symbols++] = s->sequence[i];
            continue;
        }
        program->num_symbols = (uint32_t) (pool->data.num_symbols - first);
        program->first_symbol = program->num_symbols ? (uint32_t) first : 0;
        program++;
        first = pool->data.num_symbols;
    }
}

static bool share_lines(struct shared *shared, uint32_t num_programs)
{
    struct state s = { .pool = &shared->pool };
    const bool ok = open_state(&s, shared, num_programs);
    while (ok) {
        count_pairs(&s);
        if (!make_pairs(&s, sort_candidates(&s)))
            break;
        replace_pairs(&s);
    }
    if (ok)
        take_sequence(&s, shared);
    close_state(&s);
    return ok;
}

bool share_text(const struct kiln_bundle *bundle, struct shared *shared)
{
    *shared = (struct shared){ .programs = NULL };
    shared->programs = calloc((size_t) bundle->num_programs + 1, sizeof *shared->programs);
    if (!shared->programs)
        return false;
    for (uint32_t p = 0; p < bundle->num_programs; p++) {
        shared->programs[p] = bundle->programs[p];
        if (!bundle->programs[p].num_symbols)
            continue;
        char *text = pool_text(&bundle->pool, &bundle->programs[p]);
        const bool ok = text && pool_add(&shared->pool, text, &shared->programs[p]);
        free(text);
        if (!ok)
            return false;
    }
    return share_lines(shared, bundle->num_programs);
}

void share_free(struct shared *shared)
{
    pool_free(&shared->pool);
    free(shared->programs);
    shared->programs = NULL;
}
