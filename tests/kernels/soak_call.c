/* soak_call.c: see soak_call.h. */
#include "soak_call.h"
#include "element.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EXTENT = 130, MOST_WORK = 300000, MOST_MEMBERS = 4 };

/* ---- The arena ---- */

bool soak_arena_open(struct soak_arena *arena, cl_context context, size_t base_bytes)
{
    *arena = (struct soak_arena){
        .base_bytes = base_bytes,
        .whole = clCreateBuffer(context, CL_MEM_READ_WRITE, ARENA_BYTES, NULL, NULL),
        .begin = malloc(ARENA_BYTES),
        .wanted = malloc(ARENA_BYTES),
        .found = malloc(ARENA_BYTES),
    };
    return arena->whole && arena->begin && arena->wanted && arena->found;
}

static void release_parts(struct soak_arena *arena)
{
    while (arena->num_parts)
        clReleaseMemObject(arena->parts[--arena->num_parts]);
}

void soak_arena_close(struct soak_arena *arena)
{
    release_parts(arena);
    if (arena->whole)
        clReleaseMemObject(arena->whole);
    free(arena->begin);
    free(arena->wanted);
    free(arena->found);
    *arena = (struct soak_arena){ .whole = NULL };
}

void soak_arena_clear(struct soak_arena *arena, bool by_parts)
{
    release_parts(arena);
    arena->by_parts = by_parts;
    arena->used = 0;
    arena->num_ignored = 0;
    memset(arena->begin, 0xff, ARENA_BYTES);
    memset(arena->wanted, 0xff, ARENA_BYTES);
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* `bytes` bytes at a multiple of `unit`, in the whole or in a part that begins `lead` before. */
static bool soak_arena_take(struct soak_arena *arena, size_t bytes, size_t unit, size_t lead,
        size_t *at, cl_mem *buffer, size_t *offset)
{
    const size_t origin = round_up(arena->used, arena->by_parts ? arena->base_bytes : unit);
    const size_t end = origin + lead + bytes;
    if (end > ARENA_BYTES || arena->num_parts == ARENA_MAX_PARTS)
        return false;
    const cl_buffer_region region = { origin, lead + bytes };
    *at = origin + lead;
    *offset = arena->by_parts ? lead : *at;
    *buffer = arena->whole;
    if (arena->by_parts) {
        *buffer = clCreateSubBuffer(arena->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                &region, NULL);
        if (!*buffer)
            return false;
        arena->parts[arena->num_parts++] = *buffer;
    }
    arena->used = end;
    return true;
}

bool soak_arena_place_pack(struct soak_arena *arena, size_t bytes, cl_mem *buffer, size_t *offset)
{
    size_t at = 0;
    if (arena->num_ignored == ARENA_MAX_IGNORED ||
            !soak_arena_take(arena, bytes, 256, 0, &at, buffer, offset))
        return false;
    arena->ignored[arena->num_ignored].at = at;
    arena->ignored[arena->num_ignored++].bytes = bytes;
    return true;
}

bool soak_arena_is_intact(struct soak_arena *arena, size_t *at)
{
    for (unsigned i = 0; i < arena->num_ignored; i++)
        memcpy(arena->found + arena->ignored[i].at, arena->wanted + arena->ignored[i].at,
                arena->ignored[i].bytes);
    for (*at = 0; *at < ARENA_BYTES; ++*at)
        if (arena->found[*at] != arena->wanted[*at])
            return false;
    return true;
}

/* ---- Elements ---- */

static size_t element_bytes(const struct soak_call *call)
{
    return kiln_element_bytes(call->gemm.precision);
}

static double element_get(const struct soak_call *call, const unsigned char *at)
{
    return kiln_real_get(kiln_precision_storage(call->gemm.precision), at);
}

static void element_set(const struct soak_call *call, unsigned char *at, double value)
{
    kiln_real_put(kiln_precision_storage(call->gemm.precision), at, value);
}

/* Where an element of a member lies in the arena, by row and column as stored. */
static size_t element_at(const struct soak_call *call, unsigned which, size_t member, size_t row,
        size_t column)
{
    const struct matrix_place *place = &call->places[which];
    return place->base + (member * place->stride + row * place->ld + column) * element_bytes(call);
}

/* By its place in op(X), or C, whatever the layout. */
static size_t op_at(const struct soak_call *call, unsigned which, size_t member, size_t i, size_t j)
{
    const bool trans = which == CALL_A ? call->gemm.transa == KILN_TRANS
                                       : which == CALL_B && call->gemm.transb == KILN_TRANS;
    const bool by_columns = call->gemm.layout == KILN_COL_MAJOR;
    return trans != by_columns ? element_at(call, which, member, j, i)
                               : element_at(call, which, member, i, j);
}

/* ---- Making up ---- */

static size_t random_extent(uint64_t *state)
{
    switch (soak_below(state, 16)) {
    case 0: return soak_below(state, 8) ? 1 : 0;
    case 1:
    case 2: return 1;
    case 3:
    case 4: return 32 * (1 + soak_below(state, 4));
    default: return soak_log_random(state, MOST_EXTENT);
    }
}

/* One row alone may claim any distance to the next. */
static size_t random_ld(uint64_t *state, size_t rows, size_t length)
{
    const size_t least = length ? length : 1;
    if (rows <= 1 && !soak_below(state, 3))
        return ((size_t) 1 << (20 + soak_below(state, 43))) + soak_below(state, 2) * 17;
    switch (soak_below(state, 3)) {
    case 0: return least + soak_below(state, 40);
    case 1: return round_up(least, 16);
    default: return least;
    }
}

static bool place_matrix(const struct soak_call *call, struct soak_arena *arena, uint64_t *state,
        size_t rows, size_t length, bool may_share, struct matrix_place *place)
{
    const size_t bytes = element_bytes(call), members = call->gemm.batch_count;
    const bool is_empty = !rows || !length;
    *place = (struct matrix_place){ .rows = rows,
        .length = length,
        .ld = random_ld(state, rows, length) };
    const size_t span = is_empty ? 1 : (rows - 1) * place->ld + length;
    if (members > 1 && !(may_share && soak_below(state, 2)))
        place->stride = span + soak_below(state, 20);
    const size_t all = span + (members > 1 ? members - 1 : 0) * place->stride;
    place->bytes = all * bytes;
    arena->used += soak_below(state, 20) * bytes;
    if (!soak_arena_take(arena, place->bytes, bytes, soak_below(state, 9) * bytes, &place->base,
                &place->buffer, &place->offset))
        return false;
    place->offset /= bytes;
    return true;
}

static bool place_all(struct soak_call *call, struct soak_arena *arena, uint64_t *state)
{
    struct kiln_gemm *g = &call->gemm;
    const bool swap = g->layout == KILN_COL_MAJOR;
    const bool ta = (g->transa == KILN_TRANS) != swap, tb = (g->transb == KILN_TRANS) != swap;
    struct matrix_place *a = &call->places[CALL_A], *b = &call->places[CALL_B];
    struct matrix_place *c = &call->places[CALL_C];
    if (!place_matrix(call, arena, state, ta ? g->k : g->m, ta ? g->m : g->k, true, a) ||
            !place_matrix(call, arena, state, tb ? g->n : g->k, tb ? g->k : g->n, true, b) ||
            !place_matrix(call, arena, state, swap ? g->n : g->m, swap ? g->m : g->n, false, c))
        return false;
    g->a = a->buffer, g->a_offset = a->offset, g->lda = a->ld, g->a_stride = a->stride;
    g->b = b->buffer, g->b_offset = b->offset, g->ldb = b->ld, g->b_stride = b->stride;
    g->c = c->buffer, g->c_offset = c->offset, g->ldc = c->ld, g->c_stride = c->stride;
    return true;
}

/* All members; of those that share one matrix it is filled again. */
static void fill(const struct soak_call *call, struct soak_arena *arena, unsigned which,
        bool at_begin, uint64_t *state)
{
    const struct matrix_place *place = &call->places[which];
    const size_t members = place->stride ? call->gemm.batch_count : 1;
    for (size_t member = 0; member < (members ? members : 1); member++)
        for (size_t i = 0; i < place->rows; i++)
            for (size_t j = 0; j < place->length; j++) {
                const size_t at = element_at(call, which, member, i, j);
                element_set(call, arena->wanted + at, (double) soak_below(state, 5) - 2);
                if (at_begin)
                    memcpy(arena->begin + at, arena->wanted + at, element_bytes(call));
            }
}

static void choose(const struct soak *soak, uint64_t *state, struct soak_call *call)
{
    static const double alphas[] = { 1, 1, 1, -1, 2, 0.5, 0 }, betas[] = { 0, 0, 1, -1, 0.5 };
    static const enum kiln_transpose modes[] = { KILN_NO_TRANS, KILN_TRANS };
    struct kiln_gemm *g = &call->gemm;
    *call = (struct soak_call){ .times = soak_below(state, 5) ? 1 : 2 };
    const unsigned precision = soak_random_precision(state, &soak->facts)->id;
    g->precision = kiln_precision_of_call(precision);
    g->arithmetic = kiln_arithmetic_of_call(precision);
    g->layout = soak_below(state, 2) ? KILN_ROW_MAJOR : KILN_COL_MAJOR;
    g->transa = modes[soak_below(state, 2)];
    g->transb = modes[soak_below(state, 2)];
    do {
        g->m = random_extent(state);
        g->n = random_extent(state);
        g->k = random_extent(state);
    } while (g->m * g->n * g->k > MOST_WORK);
    g->alpha = alphas[soak_below(state, sizeof alphas / sizeof *alphas)];
    g->beta = betas[soak_below(state, sizeof betas / sizeof *betas)];
    g->batch_count = soak_below(state, 4) ? 0 : 1 + soak_below(state, MOST_MEMBERS);
    call->is_typed = !g->batch_count && soak_below(state, 2);
    call->is_late = !soak_below(state, 4);
    call->packed = call->is_typed || soak_below(state, 2) ? 0 : (unsigned) soak_below(state, 4);
}

bool soak_call_make(const struct soak *soak, struct soak_arena *arena, uint64_t *state,
        struct soak_call *call)
{
    choose(soak, state, call);
    if (!place_all(call, arena, state))
        return false;
    if ((call->packed & 1 && call->gemm.a_stride) || (call->packed & 2 && call->gemm.b_stride))
        call->packed = 0;
    if (call->gemm.alpha != 0) {
        fill(call, arena, CALL_A, !call->is_late, state);
        fill(call, arena, CALL_B, true, state);
    }
    if (call->gemm.beta != 0)
        fill(call, arena, CALL_C, true, state);
    return true;
}

/* ---- What must come of it ---- */

static void apply_element(const struct soak_call *call, struct soak_arena *arena, size_t member,
        size_t i, size_t j)
{
    const struct kiln_gemm *g = &call->gemm;
    const size_t at = op_at(call, CALL_C, member, i, j);
    double sum = 0;
    for (size_t p = 0; g->alpha != 0 && p < g->k; p++)
        sum += element_get(call, arena->wanted + op_at(call, CALL_A, member, i, p)) *
               element_get(call, arena->wanted + op_at(call, CALL_B, member, p, j));
    double value = g->alpha * sum;
    if (g->beta != 0)
        value += g->beta * element_get(call, arena->wanted + at);
    element_set(call, arena->wanted + at, value);
}

void soak_call_apply(const struct soak_call *call, struct soak_arena *arena)
{
    const struct kiln_gemm *g = &call->gemm;
    const size_t members = g->batch_count ? g->batch_count : 1;
    for (unsigned n = 0; n < call->times; n++)
        for (size_t member = 0; member < members; member++)
            for (size_t i = 0; i < g->m; i++)
                for (size_t j = 0; j < g->n; j++)
                    if (g->beta != 1 || (g->alpha != 0 && g->k))
                        apply_element(call, arena, member, i, j);
}

bool soak_call_judge(const struct soak_call *call, struct soak_arena *arena)
{
    const struct kiln_gemm *g = &call->gemm;
    const size_t members = g->batch_count ? g->batch_count : 1, bytes = element_bytes(call);
    bool is_right = true;
    for (size_t member = 0; member < members; member++)
        for (size_t i = 0; i < g->m; i++)
            for (size_t j = 0; j < g->n; j++) {
                const size_t at = op_at(call, CALL_C, member, i, j);
                unsigned char *found = arena->found + at;
                const unsigned char *wanted = arena->wanted + at;
                is_right = is_right && (!memcmp(found, wanted, bytes) ||
                                               (element_get(call, found) == 0 &&
                                                       element_get(call, wanted) == 0));
                memcpy(found, wanted, bytes);
            }
    return is_right;
}

void soak_call_print(const struct soak_call *call, char text[VERIFY_MESSAGE_BYTES])
{
    const struct kiln_gemm *g = &call->gemm;
    snprintf(text, VERIFY_MESSAGE_BYTES,
            "%d bits, %s, %c%c, %zu x %zu x %zu, alpha %g, beta %g, "
            "ld %zu %zu %zu, batch of %zu, packed %u%s%s, %u times",
            g->precision, g->layout == KILN_COL_MAJOR ? "by columns" : "by rows",
            g->transa == KILN_TRANS ? 't' : 'n', g->transb == KILN_TRANS ? 't' : 'n', g->m, g->n,
            g->k, g->alpha, g->beta, g->lda, g->ldb, g->ldc, g->batch_count, call->packed,
            call->is_typed ? ", typed" : "", call->is_late ? ", A late" : "", call->times);
}
