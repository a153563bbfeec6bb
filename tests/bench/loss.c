/* loss.c: the loss of a row, and its mean, 95th percentile and worst over rows. */
#include "loss.h"

#include <stdlib.h>
#include <string.h>

#include "stats.h"

const char *loss_chosen(const struct row *row)
{
    return row->dispatched < row->num_recipes ? row->recipes[row->dispatched].name
                                              : "none of the bundle's recipes";
}

bool loss_of_row(const struct comparison *comparison, const struct row *row, struct loss *loss)
{
    enum timer_clock clock = comparison->clock;
    size_t best = row->num_recipes;
    double ours;

    for (size_t i = 0; i < row->num_recipes; i++) {
        const struct entry *entry = &row->recipes[i].entry;

        if (entry->outcome == OUTCOME_TIMED && entry->medians[clock] > 0 &&
                (best == row->num_recipes ||
                        entry->medians[clock] < row->recipes[best].entry.medians[clock])) {
            best = i;
        }
    }
    if (best == row->num_recipes || !compare_is_timed(row, comparison->kiln, clock)) {
        return false;
    }
    ours = row->entries[comparison->kiln].medians[clock];
    *loss = (struct loss){ .times = 1, .best = best };
    if (strcmp(row->recipes[best].name, loss_chosen(row)) != 0 &&
            ours > row->recipes[best].entry.medians[clock]) {
        loss->times = ours / row->recipes[best].entry.medians[clock];
    }
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
