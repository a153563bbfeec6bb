/* loss.c: the loss of a row, and its mean, 95th percentile and worst over rows. */
#include "loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

const char *loss_chosen(const struct row *row)
{
    return row->dispatched < row->num_recipes ? row->recipes[row->dispatched].name
                                              : "none of the bundle's recipes";
}

/* The median over every `step`-th round from `first` on; 0 when memory is short. */
static double median_of_rounds(const struct entry *entry, enum timer_clock clock, size_t rounds,
        size_t first, size_t step)
{
    double *some = calloc(rounds, sizeof(*some));
    size_t count = 0;
    double median;

    if (some == NULL) {
        return 0;
    }
    for (size_t i = first; i < rounds; i += step) {
        some[count++] = entry->samples[clock][i];
    }
    median = count > 0 ? stats_median(some, count) : 0;
    free(some);
    return median;
}

/* The fastest recipe by these rounds; num_recipes: none was timed. */
static size_t fastest(const struct comparison *comparison, const struct row *row, size_t first,
        size_t step)
{
    enum timer_clock clock = comparison->clock;
    size_t best = row->num_recipes;
    double least = 0;

    for (size_t i = 0; i < row->num_recipes; i++) {
        const struct entry *entry = &row->recipes[i].entry;

        if (entry->outcome == OUTCOME_TIMED && entry->medians[clock] > 0) {
            double median = median_of_rounds(entry, clock, comparison->rounds, first, step);

            if (best == row->num_recipes || median < least) {
                best = i;
                least = median;
            }
        }
    }
    return best;
}

/* The fastest of many measured times is fast by luck too. So the recipe that is fastest in one half
 * of the rounds is judged by the other half. */
static double times_of_halves(const struct comparison *comparison, const struct row *row)
{
    enum timer_clock clock = comparison->clock;
    const struct entry *ours = &row->entries[comparison->kiln];
    double times = 1;

    for (size_t half = 0; half < 2; half++) {
        const struct recipe_entry *recipe = &row->recipes[fastest(comparison, row, half, 2)];

        if (strcmp(recipe->name, loss_chosen(row)) != 0) {
            double theirs = median_of_rounds(&recipe->entry, clock, comparison->rounds, 1 - half,
                    2);

            times *= theirs > 0
                           ? median_of_rounds(ours, clock, comparison->rounds, 1 - half, 2) / theirs
                           : 1;
        }
    }
    return sqrt(times);
}

bool loss_of_row(const struct comparison *comparison, const struct row *row, struct loss *loss)
{
    enum timer_clock clock = comparison->clock;
    size_t best = fastest(comparison, row, 0, 1);
    double times = 1;

    if (best == row->num_recipes || !compare_is_timed(row, comparison->kiln, clock)) {
        return false;
    }
    if (strcmp(row->recipes[best].name, loss_chosen(row)) != 0) {
        times = comparison->rounds > 1 ? times_of_halves(comparison, row)
                                       : row->entries[comparison->kiln].medians[clock] /
                                                 row->recipes[best].entry.medians[clock];
    }
    *loss = (struct loss){ .times = times > 1 ? times : 1, .best = best };
    return true;
}

bool loss_of_rows(const struct comparison *comparison, const struct selection *selection,
        struct losses *losses)
{
    double *times = calloc(comparison->num_rows + 1, sizeof(*times));
    size_t count = 0;

    if (times == NULL) {
        return false;
    }
    for (size_t i = 0; i < comparison->num_rows; i++) {
        const struct row *row = &comparison->rows[i];
        struct loss loss;

        if (compare_is_selected(row, selection) && loss_of_row(comparison, row, &loss)) {
            times[count++] = loss.times;
        }
    }
    if (count > 0) {
        *losses = (struct losses){
            .count = count,
            .mean = stats_geometric_mean(times, count),
            .percentile_95 = stats_percentile(times, count, 95),
            .worst = stats_percentile(times, count, 100),
        };
    }
    free(times);
    return count > 0;
}

size_t loss_worst_rows(const struct comparison *comparison, const struct row **rows, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->num_rows; i++) {
        const struct row *row = &comparison->rows[i];
        struct loss loss;
        struct loss other;
        size_t at;

        if (!loss_of_row(comparison, row, &loss) || loss.times <= 1) {
            continue;
        }
        for (at = count;
                at > 0 && loss_of_row(comparison, rows[at - 1], &other) && other.times < loss.times;
                at--) {
            if (at < max) {
                rows[at] = rows[at - 1];
            }
        }
        if (at < max) {
            rows[at] = row;
            count += count < max;
        }
    }
    return count;
}
