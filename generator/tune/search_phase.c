/* search_phase.c: see search_phase.h. */
#include "search_phase.h"
#include "baseline.h"
#include "finalists.h"
#include "finals.h"
#include "own_shapes.h"
#include "task_search.h"
#include "../core/times.h"

#include <math.h>

enum {
    MAX_PROMISING = 4, MOST_KNOWN = 20, MOST_NEAR = 44, PER_SEARCH = 2, MAX_OWN = 8,
    MAX_SEARCHES = 26, MAX_REEVALUATED = 64, TOGETHER = 10, MERGED_REEVALUATED = 30
};

/* A search does not begin at what is predicted to be slower than the best by more than this. */
static const double promising_factor = 1.6;

/* The least time for the search at one shape, seconds. */
static const double least_search = 5;

/* The re-evaluation takes the last part of the search's time: so much of a precision's budget. */
static const double reevaluation_share = 0.1;

/* ---- searches ---- */

/* The application's shapes that weigh most, with time in proportion to their weights; where no pair
 * is named, NN. */
static size_t list_own(const struct phases *phases, struct task tasks[MAX_OWN])
{
    size_t num = 0;
    for (size_t i = 0; i < phases->tuner->num_own && num < MAX_OWN; i++) {
        const struct own_shape *own = &phases->tuner->own[i];
        if (own_shape_is_for(own, phases->precision))
            tasks[num++] = (struct task){ own->shape, own->pair < 0 ? 0 : own->pair, own->weight };
    }
    return num;
}

/* What the shards of a merged journal have searched for. */
static size_t list_searched(const struct phases *phases, struct task tasks[MAX_SEARCHES])
{
    const struct records *records = &phases->tuner->records;
    size_t num = 0;
    for (size_t i = 0; i < records->num && num < MAX_SEARCHES; i++) {
        const struct record *r = &records->rows[i];
        bool is_new = r->kind == RECORD_SEARCH && r->precision == phases->precision;
        for (size_t t = 0; t < num && is_new; t++)
            is_new = !finalists_is_row_of(r, RECORD_SEARCH, phases, &tasks[t]);
        if (is_new)
            tasks[num++] = (struct task){ r->shape, r->pair, 1 };
    }
    return num;
}

/* What is searched for: the application's own shapes, then drawn ones, some of each class. The
 * large ones get more time than the rest. */
static size_t list_tasks(const struct phases *phases, struct task tasks[MAX_SEARCHES], size_t *own)
{
    static const unsigned cpu_shapes = 8, gpu_shapes = 18, parts[] = { 6, 3, 4, 3, 3, 3 };
    const struct journal_head *head = &phases->tuner->records.head;
    const unsigned most = phases->tuner->facts.value[FACT_IS_CPU] ? cpu_shapes : gpu_shapes;
    const double fit = (phases->search_end - phases_used(phases)) * phases->seconds / least_search;
    const unsigned num_drawn = head->shard.num || head->merged || fit >= most ? most
                             : fit > 2                                        ? (unsigned) fit
                                                                              : 2;
    struct draw draw = finals_draw(phases, "search");
    struct drawn drawn;
    size_t num = *own = list_own(phases, tasks);
    for (unsigned i = 0; i < num_drawn; i++)
        if (draw_shape(&draw, &drawn))
            tasks[num++] = (struct task){ drawn.shape, (int) kiln_pair(drawn.transa, drawn.transb),
                parts[i % DRAW_NUM_CLASSES] };
    return num;
}

static double sum_parts(const struct task *tasks, size_t num)
{
    double sum = 0;
    for (size_t i = 0; i < num; i++)
        sum += tasks[i].parts;
    return sum;
}

/* How much of the search is over after the i-th task. The application's own shapes get most. */
static double search_share(const struct task *tasks, size_t i, size_t own, size_t num)
{
    const double for_own = own ? 0.7 : 0;
    if (i < own)
        return for_own * sum_parts(tasks, i + 1) / sum_parts(tasks, own);
    return for_own +
           (1 - for_own) * sum_parts(tasks + own, i + 1 - own) / sum_parts(tasks + own, num - own);
}

/* The verified configurations that are predicted to be best for a task, best first; how many. */
static unsigned list_promising(const struct times *fitted, const struct task *task,
        struct config promising[MAX_PROMISING])
{
    uint64_t time[MAX_PROMISING];
    unsigned num = 0;
    for (int c = 0; c < (int) fitted->num_candidates; c++) {
        const uint64_t here = times_predict(fitted, c, task->pair, task->shape);
        unsigned at = num;
        for (; at > 0 && here < time[at - 1]; at--)
            if (at < MAX_PROMISING) {
                time[at] = time[at - 1];
                promising[at] = promising[at - 1];
            }
        if (here >= TIMES_UNTIMED || at == MAX_PROMISING)
            continue;
        time[at] = here;
        promising[at] = fitted->candidates[c].config;
        num += num < MAX_PROMISING;
    }
    while (num && (double) time[num - 1] > promising_factor * (double) time[0])
        num--;
    return num;
}

/* A search that runs out of time does not take that of the others. */
static void search_one(struct phases *phases, const struct times *fitted, const struct task *task,
        double end)
{
    struct config promising[MAX_PROMISING];
    char shape[SHAPE_TEXT_BYTES];
    const struct problem problem = problem_of_pair(phases->precision, task->pair);
    const unsigned num = list_promising(fitted, task, promising);
    const struct initial_configs initial = {
        .configs = num ? promising : phases->finalists,
        .num = num ? num : phases->num_finalists,
        .is_informed = num > 0,
    };
    shape_format(task->shape, shape);
    progress_phase(phases->tuner, "%s search %s %s", phases->precision->name, shape,
            pair_names[task->pair]);
    phases_limit_beyond(phases, end, !phases->num_finalists);
    task_search(phases->tuner, phases->precision, task, &initial,
            phases->start + end * phases->seconds);
    const struct record *best = finalists_best(phases, RECORD_SEARCH, task, NULL, 0, 0);
    if (!phases_is_part(phases->tuner) && !phases_must_stop(phases))
        baseline_evaluate(phases->tuner, &problem, task->shape, best ? best->seconds : 0);
}

/* Adds some of what was known before the search: all of it, or relatives' recipes alone. */
static void add_known(struct phases *phases, unsigned from, unsigned to, bool is_all)
{
    for (unsigned i = from; i < phases->num_known && i < to; i++)
        if (is_all || phases->is_kin[i])
            finalists_add(phases, &phases->known[i]);
}

/* What was known before the search and is not among the first `from`: in its order, in which those
 * near the best at some shape come early (first_phase.h), up to MOST_NEAR, whether they are
 * relatives' or not; then what else relatives have, as their shapes may not have been drawn; then
 * the siblings of all finalists; then the rest. */
static void add_rest_of_known(struct phases *phases, unsigned from)
{
    add_known(phases, from, MOST_NEAR, true);
    add_known(phases, MOST_NEAR, MAX_FINALISTS, false);
    finalists_add_siblings(phases);
    add_known(phases, MOST_NEAR, MAX_FINALISTS, true);
}

/* The search begins where the phase before it ended. The finalists: first most of what was known
 * before, then the best of each task, then the next best, then what else was known. */
static bool search_each(struct phases *phases, const struct task *tasks, size_t num, size_t own,
        double end)
{
    const double begin = fmin(phases_used(phases), end);
    struct times fitted;
    const bool ok = times_open(&phases->tuner->records, phases->precision, true, &fitted);
    for (size_t i = 0; i < num && ok && !phases_must_stop(phases); i++) {
        search_one(phases, &fitted, &tasks[i],
                begin + (end - begin) * search_share(tasks, i, own, num));
        finalists_add_best(phases, &tasks[i], 0, PER_SEARCH);
    }
    if (!ok)
        phases_out_of_memory(phases);
    times_free(&fitted);
    phases->num_finalists = 0;
    add_known(phases, 0, MOST_KNOWN, true);
    for (unsigned rank = 0; rank < PER_SEARCH; rank++)
        for (size_t i = 0; i < num; i++)
            finalists_add_best(phases, &tasks[i], rank, rank + 1);
    add_rest_of_known(phases, MOST_KNOWN);
    return !phases_must_stop(phases);
}

/* ---- re-evaluation ---- */

/* The best of all tasks, a task's turn each, best first. */
static unsigned list_best(const struct phases *phases, const struct task *tasks, size_t num_tasks,
        unsigned most, struct config configs[MAX_REEVALUATED])
{
    unsigned num = 0;
    for (size_t idle = 0, t = 0; idle < num_tasks && num < most && num < MAX_REEVALUATED;
            t = (t + 1) % num_tasks) {
        const struct record *best = finalists_best(phases, RECORD_SEARCH, &tasks[t], configs, num,
                1);
        idle = best ? 0 : idle + 1;
        if (best)
            configs[num++] = best->config;
    }
    return num;
}

/* Times a few configurations against each other at every task's shape; at the first one even if the
 * budget is used up. */
static bool reevaluate_some(struct phases *phases, const struct task *tasks, size_t num_tasks,
        const struct config *configs, unsigned num, double end)
{
    struct record results[TOGETHER];
    for (size_t t = 0; t < num_tasks && (t == 0 || phases_used(phases) < end); t++) {
        const struct problem problem = problem_of_pair(phases->precision, tasks[t].pair);
        if (!tuner_evaluate(phases->tuner, RECORD_LOOK, &problem, tasks[t].shape, configs, num, 0,
                    results))
            return false;
    }
    return true;
}

/* The logarithm of a configuration's second time at a task over the best one's there. */
static double reevaluated_loss(const struct phases *phases, const struct task *task,
        const struct config *config)
{
    const struct records *records = &phases->tuner->records;
    const struct record *best = finalists_best(phases, RECORD_LOOK, task, NULL, 0, 0);
    for (size_t i = 0; best && i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (finalists_is_row_of(r, RECORD_LOOK, phases, task) && record_is_timed(r) &&
                config_equal(&r->config, config))
            return log(r->seconds / best->seconds);
    }
    return HUGE_VAL;
}

/* The winner of all shapes together (Matsumoto 2012's third stage). */
static void add_all_round(struct phases *phases, const struct task *tasks, size_t num_tasks,
        const struct config *configs, unsigned num)
{
    const struct config *best = NULL;
    double least = HUGE_VAL;
    for (unsigned i = 0; i < num; i++) {
        double loss = 0;
        for (size_t t = 0; t < num_tasks; t++)
            loss += reevaluated_loss(phases, &tasks[t], &configs[i]);
        if (loss < least) {
            best = &configs[i];
            least = loss;
        }
    }
    if (best)
        finalists_add(phases, best);
}

/* Evaluates the best few again, then the next ones, until `end`. */
static bool reevaluate(struct phases *phases, const struct task *tasks, size_t num_tasks,
        unsigned most, double end)
{
    struct config configs[MAX_REEVALUATED];
    const unsigned num = list_best(phases, tasks, num_tasks, most, configs);
    progress_phase(phases->tuner, "%s re-evaluation", phases->precision->name);
    phases_limit_beyond(phases, end, false);
    for (unsigned i = 0; i < num && (i == 0 || phases_used(phases) < end); i += TOGETHER)
        if (!reevaluate_some(phases, tasks, num_tasks, configs + i,
                    num - i < TOGETHER ? num - i : TOGETHER, end))
            return false;
    phases->num_finalists = 0;
    add_all_round(phases, tasks, num_tasks, configs, num);
    add_known(phases, 0, STARTERS, true);
    for (size_t t = 0; t < num_tasks; t++)
        finalists_add_best(phases, &tasks[t], 0, PER_SEARCH);
    add_rest_of_known(phases, STARTERS);
    return true;
}

bool search_all(struct phases *phases)
{
    struct task tasks[MAX_SEARCHES];
    const struct journal_head *head = &phases->tuner->records.head;
    size_t own = 0;
    const size_t num = head->merged ? list_searched(phases, tasks)
                                    : list_tasks(phases, tasks, &own);
    const unsigned again = phases->tuner->strategy->num_reevaluated;
    const double end = phases->search_end;
    phases_limit_beyond(phases, end, false);
    if (head->merged)
        return reevaluate(phases, tasks, num,
                again > MERGED_REEVALUATED ? again : MERGED_REEVALUATED, end + reevaluation_share);
    return search_each(phases, tasks, num, own, end - (again ? reevaluation_share : 0)) &&
           (!again || head->shard.num || reevaluate(phases, tasks, num, again, end));
}
