/* exact.c: see exact.h. */
#include "exact.h"
#include "../core/random.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 2, NUM_KINDS = EXACT_PATTERNS * MOST_PARTS * EXACT_PERIOD };
_Static_assert(NUM_KINDS <= 256, "a kind has a byte");

/* ---- Factors ---- */

static void fill_factor(unsigned char *factor, size_t rows, int rank, uint64_t seed)
{
    for (size_t i = 0; i < rows; i++)
        factor[i] = (unsigned char) (random_next(&seed) >> 20 & ((1u << rank) - 1));
}

static int sign_of(const struct exact_factors *factors, unsigned pattern, int r)
{
    return r >= factors->rank ? 0 : pattern >> r & 1 ? 1 : -1;
}

/* The pattern of one part of a factor's row. */
static unsigned part_of(unsigned pattern, unsigned part)
{
    return part ? (pattern << 1 | pattern >> (EXACT_RANK - 1)) % EXACT_PATTERNS ^ 1 : pattern;
}

/* A kind of column, and what it says. */
static unsigned char kind_of(unsigned pattern, unsigned part, size_t place)
{
    return (unsigned char) (pattern + EXACT_PATTERNS * (part + MOST_PARTS * place));
}

static unsigned pattern_in(size_t kind)
{
    return kind % EXACT_PATTERNS;
}

static unsigned part_in(size_t kind)
{
    return kind / EXACT_PATTERNS % MOST_PARTS;
}

static size_t place_in(size_t kind)
{
    return kind / EXACT_PATTERNS / MOST_PARTS;
}

/* C before the multiplication. A quarter of an element is an integer. */
static double before_at(size_t place)
{
    return 4.0 * ((double) (place % EXACT_PERIOD) - EXACT_PERIOD / 2);
}

static size_t row_place(size_t row)
{
    return row % EXACT_PERIOD * 5 % EXACT_PERIOD;
}

static size_t col_place(size_t col)
{
    return col % EXACT_PERIOD * 3 % EXACT_PERIOD;
}

/* The dot products of the factors V of A and B. */
static void fill_core(struct exact_factors *factors)
{
    for (size_t p = 0; p < factors->k; p++)
        for (unsigned h = 0; h < factors->parts * factors->parts; h++) {
            const unsigned of_a = h / 2, of_b = h % 2;
            const unsigned a = part_of(factors->v_a[p], of_a), b = part_of(factors->v_b[p], of_b);
            for (int r = 0; r < factors->rank; r++)
                for (int s = 0; s < factors->rank; s++)
                    factors->core[of_a ^ of_b][r][s] += (of_a && of_b ? -1 : 1) *
                                                        sign_of(factors, a, r) *
                                                        sign_of(factors, b, s);
        }
}

bool exact_init(struct exact_factors *factors, size_t m, size_t n, size_t k, int rank,
        unsigned parts)
{
    *factors = (struct exact_factors){
        .m = m,
        .n = n,
        .k = k,
        .rank = rank,
        .parts = parts,
        .u = malloc(m + 1),
        .v_a = malloc(k + 1),
        .v_b = malloc(k + 1),
        .x = malloc(n + 1),
        .kind = malloc(parts * n + 1),
    };
    if (!factors->u || !factors->v_a || !factors->v_b || !factors->x || !factors->kind)
        return false;
    fill_factor(factors->u, m, rank, 1);
    fill_factor(factors->v_a, k, rank, 2);
    fill_factor(factors->v_b, k, rank, 3);
    fill_factor(factors->x, n, rank, 4);
    for (size_t j = 0; j < parts * n; j++)
        factors->kind[j] = kind_of(factors->x[j / parts], j % parts, col_place(j));
    fill_core(factors);
    return true;
}

void exact_free(struct exact_factors *factors)
{
    free(factors->u);
    free(factors->v_a);
    free(factors->v_b);
    free(factors->x);
    free(factors->kind);
    *factors = (struct exact_factors){ .rank = 0 };
}

/* ---- Rows ---- */

/* A row whose elements are those of the table, of bits of the element type, for its kinds: so many
 * elements for each kind, one for each part. */
static void write_row(void *row, size_t element_bytes, const uint64_t *table,
        const unsigned char *kinds, unsigned repeats, size_t cols)
{
    uint16_t *halves = row;
    uint32_t *singles = row;
    uint64_t *doubles = row;
    for (unsigned part = 0; part < repeats; part++) {
        const uint64_t *of_part = table + EXACT_PATTERNS * part;
        if (element_bytes == 2)
            for (size_t j = part; j < cols; j += repeats)
                halves[j] = (uint16_t) of_part[kinds[j / repeats]];
        else if (element_bytes == 4)
            for (size_t j = part; j < cols; j += repeats)
                singles[j] = (uint32_t) of_part[kinds[j / repeats]];
        else
            for (size_t j = part; j < cols; j += repeats)
                doubles[j] = of_part[kinds[j / repeats]];
    }
}

/* A matrix that is filled. Rows of the same kind are the same. */
struct filling {
    struct matrix *matrix;
    const unsigned char *row_kinds;    /* NULL: the period of C */
    const unsigned char *col_kinds;
    unsigned repeats;                  /* columns of each of these; a further one has the next
                                          part */
    uint64_t (*table)[NUM_KINDS];      /* by kind of row and of column: bits */
};

/* The first row of a kind is written, the others are copied from it. */
static void fill_rows(void *user, unsigned part, size_t first, size_t end)
{
    const struct filling *filling = user;
    const struct matrix *matrix = filling->matrix;
    const unsigned char *written[EXACT_PERIOD] = { NULL };
    (void) part;
    for (size_t i = first; i < end; i++) {
        const size_t kind = filling->row_kinds ? filling->row_kinds[i] : row_place(i);
        unsigned char *row = matrix_row(matrix, i);
        if (written[kind])
            memcpy(row, written[kind], matrix->cols * matrix->element_bytes);
        else
            write_row(row, matrix->element_bytes, filling->table[kind], filling->col_kinds,
                    filling->repeats, matrix->cols);
        written[kind] = row;
    }
}

static void fill(struct filling *filling, unsigned threads)
{
    struct matrix *matrix = filling->matrix;
    matrix_poison_around(matrix);
    if (matrix->rows && matrix->cols)
        parallel_rows(matrix->rows, threads, fill_rows, filling);
}

/* Element (i, j) is row i of one factor times row j of another; one of them, V, has parts. */
static void fill_product(struct matrix *matrix, const struct exact_factors *factors,
        const unsigned char *by_row, const unsigned char *by_col, bool is_v_by_row,
        unsigned threads)
{
    uint64_t table[EXACT_PATTERNS][NUM_KINDS];
    struct filling filling = { .matrix = matrix,
        .row_kinds = by_row,
        .col_kinds = by_col,
        .repeats = factors->parts,
        .table = table };
    for (unsigned x = 0; x < EXACT_PATTERNS; x++)
        for (unsigned y = 0; y < EXACT_PATTERNS * factors->parts; y++) {
            const unsigned of_row = part_of(x, is_v_by_row ? part_in(y) : 0);
            const unsigned of_col = part_of(pattern_in(y), is_v_by_row ? 0 : part_in(y));
            int sum = 0;
            for (int r = 0; r < factors->rank; r++)
                sum += sign_of(factors, of_row, r) * sign_of(factors, of_col, r);
            table[x][y] = matrix_bits_of(matrix->storage, sum);
        }
    fill(&filling, threads);
}

void exact_fill_a(struct matrix *a, const struct exact_factors *factors, bool trans,
        unsigned threads)
{
    fill_product(a, factors, trans ? factors->v_a : factors->u, trans ? factors->u : factors->v_a,
            trans, threads);
}

void exact_fill_b(struct matrix *b, const struct exact_factors *factors, bool trans,
        unsigned threads)
{
    fill_product(b, factors, trans ? factors->x : factors->v_b, trans ? factors->v_b : factors->x,
            !trans, threads);
}

void exact_fill_c(struct matrix *c, const struct exact_factors *factors, unsigned threads)
{
    uint64_t table[EXACT_PERIOD][NUM_KINDS];
    struct filling filling = { .matrix = c,
        .col_kinds = factors->kind,
        .repeats = 1,
        .table = table };
    for (size_t place = 0; place < EXACT_PERIOD; place++)
        for (size_t kind = 0; kind < NUM_KINDS; kind++)
            table[place][kind] = matrix_bits_of(c->storage, before_at(place + place_in(kind)));
    fill(&filling, threads);
}

/* ---- The product ---- */

/* Row i of U (V' V"), and its imaginary part. */
static void row_of(const struct exact_factors *factors, size_t i,
        double row[MOST_PARTS][EXACT_RANK])
{
    for (unsigned part = 0; part < MOST_PARTS; part++)
        for (int s = 0; s < EXACT_RANK; s++) {
            row[part][s] = 0;
            for (int r = 0; r < EXACT_RANK; r++)
                row[part][s] += sign_of(factors, factors->u[i], r) *
                                (double) factors->core[part][r][s];
        }
}

/* What an element should be, by the place of its row and the kind of its column. */
static double wanted_at(const struct exact_goal *goal, double row[MOST_PARTS][EXACT_RANK],
        size_t place, size_t kind)
{
    double sum = 0;
    for (int s = 0; s < EXACT_RANK; s++)
        sum += row[part_in(kind)][s] * sign_of(goal->factors, pattern_in(kind), s);
    const double wanted = goal->alpha * sum;
    if (goal->beta == 0)
        return wanted;
    return wanted + goal->beta * before_at(place + place_in(kind));
}

/* The first wrong element of a row, or its length. */
static size_t wrong_in_row(const struct exact_goal *goal, const struct matrix *c, size_t i,
        double *wanted)
{
    double row[MOST_PARTS][EXACT_RANK];
    row_of(goal->factors, i, row);
    for (size_t j = 0; j < c->cols; j++) {
        *wanted = wanted_at(goal, row, row_place(i), goal->factors->kind[j]);
        if (matrix_bits(c, i, j) != matrix_bits_of(c->storage, *wanted) &&
                !(*wanted == 0 && matrix_get(c, i, j) == 0))
            return j;
    }
    return c->cols;
}

/* One part's rows of C as they should be. */
struct wanted_rows {
    unsigned char *rows;               /* one for each pattern; NULL when there is no memory */
    size_t row_bytes;
    bool is_there[EXACT_PATTERNS];
    size_t place[EXACT_PATTERNS];      /* that the row is for, where beta is not 0 */
};

/* Row i; without memory NULL. */
static const unsigned char *wanted_row(struct wanted_rows *wanted, const struct exact_goal *goal,
        const struct matrix *c, size_t i)
{
    const unsigned pattern = goal->factors->u[i];
    const size_t place = goal->beta == 0 ? 0 : row_place(i);
    unsigned char *at = wanted->rows + pattern * wanted->row_bytes;
    if (!wanted->rows)
        return NULL;
    if (!wanted->is_there[pattern] || wanted->place[pattern] != place) {
        uint64_t table[NUM_KINDS];
        double row[MOST_PARTS][EXACT_RANK];
        row_of(goal->factors, i, row);
        for (size_t kind = 0; kind < NUM_KINDS; kind++)
            table[kind] = matrix_bits_of(c->storage, wanted_at(goal, row, place, kind));
        write_row(at, c->element_bytes, table, goal->factors->kind, 1, c->cols);
        wanted->is_there[pattern] = true;
        wanted->place[pattern] = place;
    }
    return at;
}

struct judging {
    const struct exact_goal *goal;
    const struct matrix *c;
    struct part_verdict {
        bool is_wrong;
        struct exact_wrong first;
    } verdicts[PARALLEL_MOST];
};

static void judge_rows(void *user, unsigned part, size_t first, size_t end)
{
    struct judging *judging = user;
    const struct matrix *c = judging->c;
    struct part_verdict *verdict = &judging->verdicts[part];
    struct wanted_rows wanted = { .row_bytes = c->cols * c->element_bytes };
    size_t bytes;
    if (!__builtin_mul_overflow(wanted.row_bytes, EXACT_PATTERNS, &bytes))
        wanted.rows = malloc(bytes);
    for (size_t i = first; i < end && !verdict->is_wrong; i++) {
        struct exact_wrong *wrong = &verdict->first;
        const unsigned char *row = wanted_row(&wanted, judging->goal, c, i);
        if (row && !memcmp(row, matrix_row(c, i), wanted.row_bytes))
            continue;
        wrong->row = i;
        wrong->col = wrong_in_row(judging->goal, c, i, &wrong->wanted);
        verdict->is_wrong = wrong->col < c->cols;
    }
    free(wanted.rows);
}

bool exact_judge(const struct exact_goal *goal, const struct matrix *c, unsigned threads,
        struct exact_wrong *wrong)
{
    struct judging judging = { .goal = goal, .c = c };
    if (!c->rows || !c->cols)
        return true;
    parallel_rows(c->rows, threads, judge_rows, &judging);
    for (unsigned i = 0; i < threads; i++)
        if (judging.verdicts[i].is_wrong) {
            *wrong = judging.verdicts[i].first;
            return false;
        }
    return true;
}
