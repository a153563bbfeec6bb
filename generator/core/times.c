/* times.c: see times.h. */
#include "times.h"
#include "assemble.h"
#include "draw.h"
#include "fit.h"
#include "sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer that were timed in turn, it can not be told whether the machine or one of them was
 * slow. */
enum { MOMENT_LEAST = 3, FIT_PASSES = 3 };

/* Fewer samples than these say too little of a candidate that takes at least four times as many of
 * the timed shapes. */
enum { SEVERAL_SAMPLES = 10 };

/* A bundle's own coefficients become guesses at so many drawn shapes. */
enum { PRIOR_SHAPES = 200 };

int times_find(const struct times *times, const struct config *config)
{
    for (unsigned i = 0; i < times->num_candidates; i++)
        if (config_equal(&times->candidates[i].config, config))
            return (int) i;
    return -1;
}

/* ---- candidates ---- */

/* Whether a row of the table's precision counts. */
static bool counts(const struct times *times, const struct record *r)
{
    return r->precision == times->precision && (r->used || !times->only_used);
}

static bool may_ship(const struct records *records, const struct times *times,
        const struct config *config)
{
    bool ok[NUM_PAIRS] = { false };
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (!counts(times, r) || !config_equal(&r->config, config))
            continue;
        if (!strcmp(r->outcome, "wrong") || !strcmp(r->outcome, "crash") ||
                !strcmp(r->outcome, "timeout"))
            return false;
        if (r->kind == RECORD_EDGES)
            ok[r->pair] = !strcmp(r->outcome, "ok");
    }
    return ok[0] && ok[1] && ok[2] && ok[3];
}

static bool add_candidate(struct times *times, const struct config *config)
{
    struct times_candidate *candidate = &times->candidates[times->num_candidates];
    char error[FAMILY_ERROR_BYTES];
    *candidate = (struct times_candidate){ .config = *config };
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const struct problem problem = problem_of_pair(times->precision, pair);
        if (!assemble_traits(config, &problem, times->facts, &candidate->recipe[pair], error))
            return false;
    }
    times->num_candidates++;
    return true;
}

static void find_candidates(const struct records *records, struct times *times)
{
    for (size_t i = 0; i < records->num && times->num_candidates < TIMES_MAX_CANDIDATES; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind == RECORD_EDGES && counts(times, r) && times_find(times, &r->config) < 0 &&
                may_ship(records, times, &r->config))
            /* One that the device's facts do not allow is left out. */
            (void) add_candidate(times, &r->config);
    }
}

static struct kiln_product product_of(const struct times *times, const struct record *r)
{
    const struct problem problem = problem_of_pair(times->precision, r->pair);
    return product_dense(&problem, r->shape);
}

static uint32_t units_of(const struct times *times, const struct record *r)
{
    return r->units > 0 ? r->units : (uint32_t) times->facts->value[FACT_UNITS];
}

/* As the library predicts it, without what it adds on a CPU. */
static uint64_t predicted_by(const struct times *times, const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units)
{
    const uint64_t time = kiln_time_predict(recipe, product, units);
    return times->facts->value[FACT_IS_CPU] ? time
                                            : kiln_time_with_host(recipe, product, units, time);
}

/* The time predicted for a row's pair, shape and device. */
static uint64_t predict(const struct times *times, unsigned number, const struct record *r)
{
    const struct times_candidate *candidate = &times->candidates[number];
    const struct kiln_product product = product_of(times, r);
    struct kiln_recipe recipe = candidate->recipe[r->pair];
    recipe.time = &candidate->time;
    return !kiln_guard_takes(&recipe.guard, &product) ? UINT64_MAX
         : candidate->is_fitted ? predicted_by(times, &recipe, &product, units_of(times, r))
                                : TIMES_UNTIMED;
}

uint64_t times_predict(const struct times *times, int number, int pair, struct shape shape)
{
    const struct record row = { .pair = pair, .shape = shape };
    return predict(times, (unsigned) number, &row);
}

/* ---- shapes like those that were measured ---- */

/* Whether shapes are drawn like that of a row. */
static bool is_like(const struct times *times, const struct record *r)
{
    return counts(times, r) && record_is_timed(r) && r->kind != RECORD_HELD &&
           r->kind != RECORD_AGAIN && r->batch == 0;
}

/* Where the shapes of these rows lie. */
static struct draw_limits limits_of(const struct records *records, const struct times *times)
{
    struct draw_limits limits = { .least_ops = UINT64_MAX };
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (!is_like(times, r))
            continue;
        const uint64_t m = r->m, n = r->n, k = r->k;
        const uint64_t ops = 2 * m * n * k, elements = m * k + k * n + m * n;
        const size_t k_of_even = draw_kind_of(r->shape) == DRAW_DEEP ? 0 : k;
        limits.least_ops = ops < limits.least_ops ? ops : limits.least_ops;
        limits.most_ops = ops > limits.most_ops ? ops : limits.most_ops;
        limits.most_elements = elements > limits.most_elements ? elements : limits.most_elements;
        for (unsigned e = 0; e < 3; e++) {
            const size_t extent = e == 0 ? m : e == 1 ? n : k_of_even;
            limits.largest = extent > limits.largest ? extent : limits.largest;
        }
    }
    limits.least_ops = limits.least_ops < DRAW_LEAST_OPS ? DRAW_LEAST_OPS : limits.least_ops;
    limits.most_ops = limits.most_ops > DRAW_MOST_OPS ? DRAW_MOST_OPS : limits.most_ops;
    limits.largest = limits.largest > DRAW_LARGEST_MOST ? DRAW_LARGEST_MOST : limits.largest;
    return limits;
}

/* Draws up to `most` shapes from the region of the journal's shapes that are not held out; none if
 * that is too small. */
static size_t draw_like(const struct records *records, const struct times *times, size_t most,
        struct record *shapes)
{
    const struct draw_limits limits = limits_of(records, times);
    struct draw draw;
    size_t num = 0;
    if (draw_limits_error(&limits))
        return 0;
    draw_begin(&draw, "guess", 0, &limits);
    for (size_t i = 0; i < most; i++) {
        struct drawn drawn;
        if (draw_shape(&draw, &drawn))
            shapes[num++] = (struct record){ .pair = (int) kiln_pair(drawn.transa, drawn.transb),
                .m = drawn.m,
                .n = drawn.n,
                .k = drawn.k };
    }
    return num;
}

/* ---- fits ---- */

/* A row by whose time a candidate is fitted. */
struct timing {
    const struct record *row;
    struct fit_timing fit;             /* its seconds without the slowness of the moment */
};

struct timings {
    struct timing *list;
    size_t num;
    const struct record **shapes;      /* one row of each shape at which some were timed in turn */
    size_t num_shapes;
    struct record *drawn;              /* up to PRIOR_SHAPES shapes from where these lie */
    size_t num_drawn;
    const struct fit_timing **of_family;         /* room for every row of the journal */
    struct fit_sample *samples, *guesses;        /* likewise; in guesses also for those drawn */
    bool has_bundle;                   /* one for the device is known: */
    unsigned bundle;                   /* which, */
    double common;                     /* and by what factor all its recipes took longer */
    bool knows_caches;                 /* some coefficients for the device are not 0 for
                                          KILN_TERM_FETCHED_UNCACHED: there was that term */
};

/* For records or times_tasks of one precision: are pair, shape and units the same? */
#define SAME_TASK(a, b) \
    ((a)->pair == (b)->pair && shape_equal((a)->shape, (b)->shape) && (a)->units == (b)->units)

/* Were both timed in turn with each other? A search asks one by one, and generic is timed alone. */
static bool same_moment(const struct record *a, const struct record *b)
{
    return a->kind == b->kind && a->kind != RECORD_SEARCH && a->kind != RECORD_GENERIC &&
           SAME_TASK(a, b);
}

/* What is counted, and the time of that: of a batch all members, or each of them. */
static void find_terms(const struct times *times, unsigned number, const struct record *r,
        struct fit_sample *sample)
{
    const struct kiln_recipe *recipe = &times->candidates[number].recipe[r->pair];
    const struct kiln_product product = product_of(times, r);
    kiln_time_terms(recipe, &product, units_of(times, r), sample->terms);
    sample->seconds = r->seconds / (double) kiln_time_repeats(recipe, &product, units_of(times, r));
}

static void add_timing(const struct times *times, const struct record *r, unsigned number,
        struct timings *timings)
{
    const struct record *last = timings->num ? timings->list[timings->num - 1].row : NULL;
    struct timing *timing = &timings->list[timings->num++];
    *timing = (struct timing){
        .row = r,
        .fit = { .tile = times->candidates[number].recipe[r->pair].tile, .candidate = number },
    };
    find_terms(times, number, r, &timing->fit.sample);
    if (r->kind != RECORD_SEARCH && r->kind != RECORD_GENERIC && (!last || !same_moment(last, r)))
        timings->shapes[timings->num_shapes++] = r;
}

/* Whether a row says something about other shapes too. An application's own batches are few and
 * much alike: recipes that were searched for there would be believed to be as fast everywhere. */
static bool is_to_learn_from(const struct record *r)
{
    return r->kind != RECORD_HELD && r->kind != RECORD_AGAIN &&
           (r->batch == 0 || r->kind == RECORD_MATRIX);
}

static bool list_timings(const struct records *records, const struct times *times,
        struct timings *timings)
{
    const size_t most = records->num + 1;
    *timings = (struct timings){
        .list = calloc(most, sizeof *timings->list),
        .shapes = calloc(most, sizeof *timings->shapes),
        .of_family = calloc(most, sizeof *timings->of_family),
        .samples = calloc(most, sizeof *timings->samples),
        .guesses = calloc(most + PRIOR_SHAPES, sizeof *timings->guesses),
        .drawn = calloc(PRIOR_SHAPES, sizeof *timings->drawn),
    };
    if (!timings->list || !timings->shapes || !timings->of_family || !timings->samples ||
            !timings->guesses || !timings->drawn)
        return false;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        const int candidate = is_to_learn_from(r) && counts(times, r) && record_is_timed(r) &&
                                              r->seconds > 0
                                    ? times_find(times, &r->config)
                                    : -1;
        if (candidate >= 0)
            add_timing(times, r, (unsigned) candidate, timings);
    }
    timings->num_drawn = draw_like(records, times, PRIOR_SHAPES, timings->drawn);
    return true;
}

static void free_timings(struct timings *timings)
{
    free(timings->list);
    free(timings->shapes);
    free(timings->of_family);
    free(timings->samples);
    free(timings->guesses);
    free(timings->drawn);
}

/* The fewest samples that are enough for a candidate without its family, given the shapes of the
 * list that it takes. */
static size_t least_samples(const struct times *times, unsigned number,
        const struct timings *timings)
{
    size_t taken = 0;
    for (size_t i = 0; i < timings->num; i++) {
        const struct record *r = timings->list[i].row;
        taken += (i == 0 || !same_moment(timings->list[i - 1].row, r)) &&
                 predict(times, number, r) < UINT64_MAX;
    }
    return taken / 4 < SEVERAL_SAMPLES ? taken / 4 : SEVERAL_SAMPLES;
}

static size_t limited(size_t extent, uint32_t most)
{
    return most == 0 || extent < most ? extent : most;
}

/* Guesses from what is known of a candidate's configuration, at the drawn shapes, each extent cut
 * down to the most that it takes: a recipe for one row is asked about shapes of one row. All are
 * longer by what all recipes took longer. */
static size_t list_prior(const struct times *times, unsigned number, const struct kiln_time *prior,
        struct timings *timings)
{
    size_t num = 0;
    for (size_t i = 0; i < timings->num_drawn; i++) {
        struct record r = timings->drawn[i];
        struct fit_sample *guess = &timings->guesses[num];
        const uint32_t *most = times->candidates[number].recipe[r.pair].guard.most;
        r.m = limited(r.m, most[0]);
        r.n = limited(r.n, most[1]);
        r.k = limited(r.k, most[2]);
        if (predict(times, number, &r) == UINT64_MAX)
            continue;
        find_terms(times, number, &r, guess);
        guess->seconds = timings->common * (double) kiln_time_sum(prior, guess->terms) * 1e-12;
        num += guess->seconds > 0 &&
               (timings->knows_caches || guess->terms[KILN_TERM_FETCHED_UNCACHED] == 0);
    }
    return num;
}

/* Guesses from what a family tells of a candidate, at the shapes that it takes; none if the
 * candidate has no factor.
 */
static size_t list_guesses(const struct times *times, unsigned number,
        const struct fit_family *family, const struct fit_factor *factor, struct timings *timings)
{
    size_t num = 0;
    for (size_t i = 0; i < timings->num_shapes && family->is_known && factor->num > 0; i++) {
        const struct record *r = timings->shapes[i];
        struct fit_sample *guess = &timings->guesses[num];
        if (predict(times, number, r) == UINT64_MAX)
            continue;
        find_terms(times, number, r, guess);
        guess->seconds = factor->times *
                         fit_guess(family, times->candidates[number].recipe[r->pair].tile,
                                 guess->terms);
        num += guess->seconds > 0;
    }
    return num;
}

static size_t list_samples(struct timings *timings, unsigned number)
{
    size_t num = 0;
    for (size_t i = 0; i < timings->num; i++)
        if (timings->list[i].fit.candidate == number)
            timings->samples[num++] = timings->list[i].fit.sample;
    return num;
}

static const struct kiln_time *ask_prior(const struct records *records, const struct times *times,
        unsigned number, struct prior_source *source)
{
    *source = (struct prior_source){ .bundle = 0 };
    return records->prior ? records->prior(records->prior_user, times->facts, times->precision,
                                    &times->candidates[number].config, source)
                          : NULL;
}

/* The nearest bundle for the device of which a recipe runs here, and whether one tells of what is
 * in no cache. */
static void find_bundle(const struct records *records, const struct times *times,
        struct timings *timings)
{
    for (unsigned c = 0; c < times->num_candidates; c++) {
        struct prior_source source;
        const struct kiln_time *prior = ask_prior(records, times, c, &source);
        if (!prior || !source.is_for_device)
            continue;
        timings->knows_caches = timings->knows_caches ||
                                prior->coefficient[KILN_TERM_FETCHED_UNCACHED] > 0;
        if (!timings->has_bundle || source.bundle < timings->bundle)
            timings->bundle = source.bundle;
        timings->has_bundle = true;
    }
}

/* Beside a bundle for the device, what other bundles know does not count. */
static const struct kiln_time *prior_of(const struct records *records, const struct times *times,
        unsigned number, const struct timings *timings, struct prior_source *source)
{
    const struct kiln_time *prior = ask_prior(records, times, number, source);
    return timings->has_bundle && source->bundle != timings->bundle ? NULL : prior;
}

/* The coefficients of a bundle for the device say better than times at a few shapes which of its
 * recipes is faster. But the machine may be faster than it was then, for all of them. */
static void find_common(const struct records *records, const struct times *times,
        struct timings *timings)
{
    double factors[TIMES_MAX_CANDIDATES];
    size_t known = 0;
    for (unsigned c = 0; c < times->num_candidates && timings->has_bundle; c++) {
        struct prior_source source;
        const struct kiln_time *prior = prior_of(records, times, c, timings, &source);
        const size_t num = prior ? list_samples(timings, c) : 0;
        if (num > 0)
            factors[known++] = fit_factor_over(prior, timings->samples, num);
    }
    qsort(factors, known, sizeof *factors, compare_doubles);
    timings->common = known ? sqrt(factors[(known - 1) / 2] * factors[known / 2]) : 1;
}

/* The factor by which a recipe takes longer than its prior tells. */
static double factor_of(const struct kiln_time *prior, const struct timings *timings, size_t num)
{
    const double own = fit_factor_over(prior, timings->samples, num);
    const double part = (double) num / (double) (num + FIT_COMMON_COUNTS);
    return timings->has_bundle ? timings->common * pow(own / timings->common, part) : own;
}

/* family: NULL is none. */
static void fit_candidate(const struct records *records, struct times *times, unsigned number,
        const struct fit_family *family, const struct fit_factor *factor, struct timings *timings)
{
    struct times_candidate *candidate = &times->candidates[number];
    struct prior_source source;
    const struct kiln_time *prior = prior_of(records, times, number, timings, &source);
    const size_t num = list_samples(timings, number);
    const bool is_own = prior && records->prior_is_own;
    candidate->has_prior = prior && !is_own;
    candidate->is_for_device = candidate->has_prior && timings->has_bundle;
    candidate->num_samples = num;
    if ((candidate->has_prior && num < FIT_ENOUGH) || (is_own && timings->num_drawn == 0)) {
        candidate->time = *prior;
        fit_lengthen(&candidate->time, factor_of(prior, timings, num));
        candidate->is_fitted = true;
        return;
    }
    const struct fit_guesses guesses = {
        .samples = timings->guesses,
        .num = is_own ? list_prior(times, number, prior, timings)
             : family ? list_guesses(times, number, family, factor, timings)
                      : 0,
        .count = !is_own         ? FIT_FAMILY_COUNTS
               : source.is_older ? FIT_OLDER_COUNTS
                                 : FIT_PRIOR_COUNTS,
    };
    candidate->is_fitted = (prior || guesses.num || num >= least_samples(times, number, timings)) &&
                           fit_time(timings->samples, num, &guesses, &candidate->time);
}

/* By what factor those that were timed together took longer than predicted: by the mean of the
 * logarithms, as if one more had taken just what was predicted. */
static double slowness_of(const struct times *times, const struct timing *list, size_t num)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < num; i++) {
        const struct record *r = list[i].row;
        const uint64_t predicted = predict(times, list[i].fit.candidate, r);
        if (predicted == 0 || predicted >= TIMES_UNTIMED)
            continue;
        sum += log(r->seconds * 1e12 / (double) predicted);
        known++;
    }
    return exp(sum / (double) (known + 1));
}

static void find_slowness(const struct times *times, struct timings *timings)
{
    for (size_t first = 0, end; first < timings->num; first = end) {
        for (end = first + 1; end < timings->num; end++)
            if (!same_moment(timings->list[first].row, timings->list[end].row))
                break;
        const double slowness = end - first >= MOMENT_LEAST
                                      ? slowness_of(times, &timings->list[first], end - first)
                                      : 1;
        for (size_t i = first; i < end; i++) {
            struct timing *timing = &timings->list[i];
            timing->fit.sample.seconds = timing->row->seconds / slowness;
        }
    }
}

/* Candidates of a family, with what it tells of them. */
static void fit_with_family(const struct records *records, struct times *times,
        const struct family *of, struct timings *timings)
{
    struct fit_factor factors[TIMES_MAX_CANDIDATES];
    struct fit_family family;
    size_t num = 0;
    for (size_t i = 0; i < timings->num; i++) {
        const struct fit_timing *timing = &timings->list[i].fit;
        if (times->candidates[timing->candidate].config.family == of)
            timings->of_family[num++] = timing;
    }
    fit_family(timings->of_family, num, times->num_candidates, factors, &family);
    for (unsigned c = 0; c < times->num_candidates; c++)
        if (times->candidates[c].config.family == of)
            fit_candidate(records, times, c, &family, &factors[c], timings);
}

static bool is_first_of_family(const struct times *times, unsigned number)
{
    for (unsigned c = 0; c < number; c++)
        if (times->candidates[c].config.family == times->candidates[number].config.family)
            return false;
    return true;
}

/* A shared machine is faster at one moment than at another, for all that are timed in turn. So the
 * fits are to what is left when that is taken out, as far as fits of each candidate alone showed
 * it.
 */
static bool fit_all(const struct records *records, struct times *times)
{
    struct timings timings;
    const bool ok = list_timings(records, times, &timings);
    if (ok)
        find_bundle(records, times, &timings);
    for (int pass = 0; ok && pass < FIT_PASSES; pass++) {
        find_common(records, times, &timings);
        for (unsigned i = 0; i < times->num_candidates; i++)
            fit_candidate(records, times, i, NULL, NULL, &timings);
        find_slowness(times, &timings);
    }
    if (ok)
        find_common(records, times, &timings);
    for (unsigned i = 0; ok && i < times->num_candidates; i++)
        if (is_first_of_family(times, i))
            fit_with_family(records, times, times->candidates[i].config.family, &timings);
    free_timings(&timings);
    return ok;
}

bool times_open(const struct records *records, const struct precision *precision, bool only_used,
        struct times *times)
{
    *times = (struct times){ .precision = precision,
        .only_used = only_used,
        .facts = &records->head.facts };
    times->candidates = calloc(TIMES_MAX_CANDIDATES, sizeof *times->candidates);
    if (!times->candidates)
        return false;
    find_candidates(records, times);
    return fit_all(records, times);
}

void times_free(struct times *times)
{
    free(times->candidates);
    free(times->tasks);
    *times = (struct times){ .num_tasks = 0 };
}

/* ---- tasks ---- */

void times_clear(struct times *times)
{
    times->num_tasks = times->num_guesses = 0;
}

static struct times_task *find_task(struct times *times, const struct record *r)
{
    for (unsigned i = 0; i < times->num_tasks; i++)
        if (SAME_TASK(&times->tasks[i], r))
            return &times->tasks[i];
    return NULL;
}

/* Lists the candidates that take a task, least predicted time first. */
static void sort_takers(const struct times *times, struct times_task *task)
{
    for (unsigned c = 0; c < times->num_candidates; c++) {
        unsigned at = task->num_takers;
        if (task->predicted[c] == UINT64_MAX)
            continue;
        for (; at && task->predicted[c] < task->predicted[task->order[at - 1]]; at--)
            task->order[at] = task->order[at - 1];
        task->order[at] = (uint8_t) c;
        task->num_takers++;
    }
}

static struct times_task *new_task(struct times *times, const struct record *r)
{
    if (times->num_tasks == times->capacity) {
        const unsigned capacity = times->capacity ? 2 * times->capacity : 64;
        struct times_task *tasks = realloc(times->tasks, capacity * sizeof *tasks);
        if (!tasks)
            return NULL;
        times->tasks = tasks;
        times->capacity = capacity;
    }
    struct times_task *t = &times->tasks[times->num_tasks++];
    *t = (struct times_task){ .shape = r->shape,
        .pair = r->pair,
        .units = r->units,
        .best = HUGE_VAL,
        .generic = HUGE_VAL,
        .by_generic = -1 };
    for (unsigned c = 0; c < TIMES_MAX_CANDIDATES; c++) {
        t->seconds[c] = HUGE_VAL;
        t->predicted[c] = c < times->num_candidates ? predict(times, c, r) : UINT64_MAX;
    }
    sort_takers(times, t);
    return t;
}

static bool add_rows(const struct records *records, enum record_kind kind, struct times *times)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        const int c = r->kind == kind && r->precision == times->precision && record_is_timed(r)
                            ? times_find(times, &r->config)
                            : -1;
        if (c < 0)
            continue;
        struct times_task *t = find_task(times, r);
        if (!t && !(t = new_task(times, r)))
            return false;
        if (kind == RECORD_AGAIN && !t->is_again) {
            t->is_again = true;
            t->best = HUGE_VAL;
        }
        t->seconds[c] = kind == RECORD_AGAIN ? r->seconds : fmin(t->seconds[c], r->seconds);
        t->best = fmin(t->best, r->seconds);
    }
    return true;
}

/* Of many that are timed once, the fastest was also lucky. So where the few fastest were timed
 * again, their second times count, and the best is the best of these, whatever the order of the
 * rows. */
bool times_add(const struct records *records, enum record_kind kind, struct times *times)
{
    return add_rows(records, kind, times) &&
           (kind != RECORD_HELD || add_rows(records, RECORD_AGAIN, times));
}

void times_add_generic(const struct records *records, struct times *times)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind != RECORD_GENERIC || r->precision != times->precision || !record_is_timed(r))
            continue;
        struct times_task *task = find_task(times, r);
        if (!task)
            continue;
        const int c = times_find(times, &r->config);
        task->generic = fmin(task->generic, r->seconds);
        if (c >= 0) {
            task->by_generic = c;
            task->seconds[c] = fmin(task->seconds[c], r->seconds);
            task->best = fmin(task->best, r->seconds);
        }
    }
}

/* A task that was not measured: its times are what is predicted. False when out of memory. */
static bool add_guess(const struct record *shape, struct times *times)
{
    if (find_task(times, shape))
        return true;
    struct times_task *guess = new_task(times, shape);
    if (!guess)
        return false;
    guess->is_guess = true;
    for (unsigned c = 0; c < times->num_candidates; c++)
        if (guess->predicted[c] < TIMES_UNTIMED) {
            guess->seconds[c] = (double) guess->predicted[c] * 1e-12;
            guess->best = fmin(guess->best, guess->seconds[c]);
        }
    if (guess->best < HUGE_VAL)
        times->num_guesses++;
    else
        times->num_tasks--;
    return true;
}

bool times_add_guesses(const struct records *records, unsigned most, struct times *times)
{
    struct record *shapes = calloc(most + 1, sizeof *shapes);
    const size_t num = shapes ? draw_like(records, times, most, shapes) : 0;
    bool ok = shapes != NULL;
    for (size_t i = 0; i < num && ok; i++)
        ok = add_guess(&shapes[i], times);
    free(shapes);
    return ok;
}

int times_dispatched(const struct times_task *task, const bool chosen[TIMES_MAX_CANDIDATES])
{
    for (unsigned i = 0; i < task->num_takers; i++)
        if (chosen[task->order[i]])
            return task->order[i];
    return -1;
}
