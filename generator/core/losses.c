/* losses.c: see losses.h. */
#include "losses.h"
#include "draw.h"
#include "sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* As winners.tsv holds it. */
static double as_written(double factor)
{
    return round(1e4 * factor) / 1e4;
}

static void add_loss(const char *kind, double *losses, unsigned num, struct winners *winners,
        const struct precision *precision)
{
    double sum = 0;
    if (!num || winners->num_losses == WINNERS_MAX_LOSSES)
        return;
    qsort(losses, num, sizeof *losses, compare_doubles);
    for (unsigned i = 0; i < num; i++)
        sum += losses[i];
    struct winner_loss *loss = &winners->losses[winners->num_losses++];
    *loss = (struct winner_loss){ .precision = precision,
        .shapes = num,
        .mean = as_written(exp(sum / num)),
        .p95 = as_written(exp(losses[(19 * num + 19) / 20 - 1])),
        .worst = as_written(exp(losses[num - 1])) };
    snprintf(loss->kind, sizeof loss->kind, "%s", kind);
}

bool losses_add(const struct times *times, const bool chosen[TIMES_MAX_CANDIDATES],
        struct winners *winners)
{
    double *losses = calloc(times->num_tasks + 1, sizeof *losses);
    for (unsigned kind = 0; kind <= DRAW_NUM_KINDS && losses; kind++) {
        unsigned num = 0;
        for (unsigned i = 0; i < times->num_tasks; i++) {
            const struct times_task *task = &times->tasks[i];
            const int c = times_dispatched(task, chosen);
            if (c >= 0 && task->seconds[c] < HUGE_VAL &&
                    (kind == DRAW_NUM_KINDS || draw_kind_of(task->shape) == kind))
                losses[num++] = log(fmax(1, task->seconds[c] / task->best));
        }
        add_loss(kind < DRAW_NUM_KINDS ? draw_kind_names[kind] : "all", losses, num, winners,
                times->precision);
    }
    free(losses);
    return losses;
}

void losses_copy(const struct winners *from, const struct precision *precision,
        struct winners *winners)
{
    for (unsigned i = 0; i < from->num_losses; i++)
        if (from->losses[i].precision == precision && winners->num_losses < WINNERS_MAX_LOSSES)
            winners->losses[winners->num_losses++] = from->losses[i];
}
