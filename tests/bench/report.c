/* report.c: the table on standard output. Rows are printed as they are finished. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "loss.h"

enum { REPORT_WORST = 8 };

const char *const report_ratio_keys[REPORT_NUM_RATIOS] = {
    "openblas-best", "cublas", "clblast", "kiln-generic"
};

bool report_ratio(const struct comparison *comparison, size_t index, struct versus *versus)
{
    const struct peer *peers = comparison->peers;
    const struct peer *first = peers_find(peers, comparison->num_peers, "kiln");
    const struct peer *second = peers_find(peers, comparison->num_peers, report_ratio_keys[index]);

    if (first == NULL || second == NULL) {
        return false;
    }
    /* OpenBLAS is as fast as the faster of its own choice and the best that was tried before. */
    const struct peer *rival = strcmp(second->key, "openblas-best") == 0
                                     ? peers_find(peers, comparison->num_peers, "openblas")
                                     : NULL;
    *versus = (struct versus){
        .peer = (size_t) (first - peers),
        .other = (size_t) (second - peers),
        .rival = (size_t) ((rival != NULL ? rival : second) - peers),
        .clock = comparison->clock,
    };
    return true;
}

void report_device(const struct device *device)
{
    printf("device: %s\n", device->name);
    const char *affinity = device_affinity(device);

    printf("driver: %s, %s\n", device->platform, device->driver);
    if (affinity != NULL) {
        printf("environment: POCL_AFFINITY=%s\n", affinity);
    }
}

void report_peers(const struct peer *peers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("peer %s: %s\n", peers[i].key, peers[i].detail);
    }
    files_flush_output();
}

/* ---- The kernels, by numbers ---- */

/* The first row whose explanation is the same: it gives both of them their number. */
static size_t report_first_alike(const struct comparison *comparison, size_t index)
{
    size_t first = 0;

    while (strcmp(comparison->rows[first].explain, comparison->rows[index].explain) != 0) {
        first++;
    }
    return first;
}

/* The number of different explanations before that of the row; rows without one do not count. */
static size_t report_kernel_number(const struct comparison *comparison, size_t index)
{
    size_t first = report_first_alike(comparison, index);
    size_t number = 0;

    for (size_t i = 0; i < first; i++) {
        number += comparison->rows[i].explain[0] != '\0' && report_first_alike(comparison, i) == i;
    }
    return number;
}

/* Prints an explanation with its lines joined. */
static void report_explain(const char *explain)
{
    for (const char *at = explain; *at != '\0'; at++) {
        if (*at == '\n') {
            printf("; ");
        } else {
            putchar(*at);
        }
    }
    putchar('\n');
}

static void report_kernels(const struct comparison *comparison)
{
    printf("\n");
    for (size_t i = 0; i < comparison->num_rows; i++) {
        if (comparison->rows[i].explain[0] != '\0' && report_first_alike(comparison, i) == i) {
            printf("kernel %zu: ", report_kernel_number(comparison, i) + 1);
            report_explain(comparison->rows[i].explain);
        }
    }
}

/* ---- The table ---- */

/* Losses are by the clock that counts. */
static bool report_has_losses(const struct comparison *comparison, enum timer_clock clock)
{
    return comparison->recipes != NULL && clock == comparison->clock;
}

static void report_head(const struct comparison *comparison, enum timer_clock clock)
{
    static const char *const names[NUM_CLOCKS] = { "the wall clock", "the device's clock" };
    struct versus versus;

    printf("\nGFLOP/s by %s, medians of %zu rounds; ratios of medians\n\n%-5s %5s %5s %5s",
            names[clock], comparison->rounds, "", "m", "n", "k");
    for (size_t i = 0; i < comparison->num_peers; i++) {
        printf(" %9s", comparison->peers[i].title);
    }
    for (size_t i = 0; i < REPORT_NUM_RATIOS; i++) {
        if (report_ratio(comparison, i, &versus)) {
            printf("  Kiln/%-8s", comparison->peers[versus.other].title);
        }
    }
    printf("  kernel%s\n", report_has_losses(comparison, clock) ? "  lost %" : "");
}

static void report_entry(const struct row *row, size_t peer, enum timer_clock clock)
{
    if (compare_is_timed(row, peer, clock)) {
        printf(" %9.2f", compare_gflops(row, peer, clock));
        return;
    }
    switch (row->entries[peer].outcome) {
    case OUTCOME_TIMED: /* by the other clock alone */
    case OUTCOME_SLOW:  /* recipes alone, which have no column */
    case OUTCOME_REFUSED: printf(" %9s", "-"); break;
    case OUTCOME_FAILED: printf(" %9s", "failed"); break;
    case OUTCOME_WRONG: printf(" %9s", "WRONG"); break;
    }
}

static void report_speedup(bool known, double speedup)
{
    if (known) {
        printf("  %13.2f", speedup);
    } else {
        printf("  %13s", "-");
    }
}

static void report_row_by(const struct comparison *comparison, const struct row *row,
        enum timer_clock clock)
{
    size_t index = (size_t) (row - comparison->rows);
    struct versus versus;
    struct loss loss;

    printf("%c %c%c  %5zu %5zu %5zu", compare_precision_letter(row->precision),
            row->transa ? 't' : 'n', row->transb ? 't' : 'n', row->shape.m, row->shape.n,
            row->shape.k);
    if (row->shape.batch > 1) {
        printf(" batch=%zu", row->shape.batch);
    }
    for (size_t i = 0; i < comparison->num_peers; i++) {
        report_entry(row, i, clock);
    }
    for (size_t i = 0; i < REPORT_NUM_RATIOS; i++) {
        if (report_ratio(comparison, i, &versus)) {
            double speedup = 0;
            bool known;

            versus.clock = clock;
            known = compare_speedup(row, &versus, &speedup);
            report_speedup(known, speedup);
        }
    }
    if (row->explain[0] != '\0') {
        printf("  %6zu", report_kernel_number(comparison, index) + 1);
    }
    if (report_has_losses(comparison, clock) && loss_of_row(comparison, row, &loss)) {
        printf("  %6.1f", 100 * (loss.times - 1));
    }
    printf("\n");
    files_flush_output();
}

void report_row(const struct comparison *comparison, const struct row *row)
{
    if (row == comparison->rows) {
        if (row->explain[0] != '\0') {
            printf("kiln: ");
            report_explain(row->explain);
        }
        report_head(comparison, comparison->clock);
    }
    report_row_by(comparison, row, comparison->clock);
}

static void report_mean(const struct comparison *comparison, const struct selection *selection,
        enum timer_clock clock)
{
    struct versus versus;

    printf("%c mean %-17s", compare_precision_letter(selection->precision),
            selection->group != NULL ? selection->group : "of all");
    printf("%*s", (int) (10 * comparison->num_peers), "");
    for (size_t i = 0; i < REPORT_NUM_RATIOS; i++) {
        if (report_ratio(comparison, i, &versus)) {
            double speedup = 0;
            bool known;

            versus.clock = clock;
            known = compare_mean_speedup(comparison, selection, &versus, &speedup);
            report_speedup(known, speedup);
        }
    }
    printf("\n");
}

/* Of each group of shapes where there are several, and of all. */
static void report_means(const struct comparison *comparison, const struct options *options,
        enum timer_clock clock)
{
    const char *groups[SHAPES_MAX_GROUPS];
    size_t num_groups = compare_groups(comparison, groups, SHAPES_MAX_GROUPS);

    if (peers_find(comparison->peers, comparison->num_peers, "kiln") == NULL) {
        return;
    }
    printf("\ngeometric means\n");
    for (size_t i = 0; i < options->num_precisions; i++) {
        struct selection selection = { .precision = options->precisions[i] };

        for (size_t j = 0; num_groups > 1 && j < num_groups; j++) {
            selection.group = groups[j];
            report_mean(comparison, &selection, clock);
        }
        selection.group = NULL;
        report_mean(comparison, &selection, clock);
    }
}

static void report_loss(const struct comparison *comparison, const struct selection *selection)
{
    struct losses losses;

    if (loss_of_rows(comparison, selection, &losses)) {
        printf("%c lost %-17s %6zu %8.1f %8.1f %8.1f\n",
                compare_precision_letter(selection->precision),
                selection->group != NULL ? selection->group : "of all", losses.count,
                100 * (losses.mean - 1), 100 * (losses.percentile_95 - 1),
                100 * (losses.worst - 1));
    }
}

static void report_worst_losses(const struct comparison *comparison)
{
    const struct row *rows[REPORT_WORST];
    size_t count = loss_worst_rows(comparison, rows, REPORT_WORST);

    for (size_t i = 0; i < count; i++) {
        const struct row *row = rows[i];
        struct loss loss;

        if (loss_of_row(comparison, row, &loss)) {
            printf("\n%c %c%c %zu x %zu x %zu: %.1f %% lost\n  chosen  %s\n  best    %s\n",
                    compare_precision_letter(row->precision), row->transa ? 't' : 'n',
                    row->transb ? 't' : 'n', row->shape.m, row->shape.n, row->shape.k,
                    100 * (loss.times - 1), loss_chosen(row), row->recipes[loss.best].name);
        }
    }
}

static void report_losses(const struct comparison *comparison, const struct options *options)
{
    const char *groups[SHAPES_MAX_GROUPS];
    size_t num_groups = compare_groups(comparison, groups, SHAPES_MAX_GROUPS);

    printf("\nlost by choosing: percent of the time of the fastest recipe of the bundle\n"
           "%24s %6s %8s %8s %8s\n",
            "", "shapes", "mean", "95 %", "worst");
    for (size_t i = 0; i < options->num_precisions; i++) {
        struct selection selection = { .precision = options->precisions[i] };

        for (size_t j = 0; num_groups > 1 && j < num_groups; j++) {
            selection.group = groups[j];
            report_loss(comparison, &selection);
        }
        selection.group = NULL;
        report_loss(comparison, &selection);
    }
    report_worst_losses(comparison);
}

static void report_wall_clock(const struct comparison *comparison, const struct options *options)
{
    report_head(comparison, CLOCK_WALL);
    for (size_t i = 0; i < comparison->num_rows; i++) {
        report_row_by(comparison, &comparison->rows[i], CLOCK_WALL);
    }
    report_means(comparison, options, CLOCK_WALL);
}

static void report_errors(const struct comparison *comparison)
{
    printf("\nlargest error, in units of eps |row of A| |column of B| (%g is wrong):",
            PROBLEM_WRONG);
    for (size_t i = 0; i < comparison->num_peers; i++) {
        bool has_run = false;
        double worst = 0;

        for (size_t j = 0; j < comparison->num_rows; j++) {
            const struct entry *entry = &comparison->rows[j].entries[i];

            has_run |= entry->outcome == OUTCOME_TIMED || entry->outcome == OUTCOME_WRONG;
            worst = entry->error > worst ? entry->error : worst;
        }
        if (has_run) {
            printf("  %s %.2g", comparison->peers[i].key, worst);
        }
    }
    printf("\n");
}

void report_end(const struct comparison *comparison, const struct options *options)
{
    if (comparison->is_interrupted) {
        printf("\ninterrupted: %zu problems were compared\n", comparison->num_rows);
    }
    report_means(comparison, options, comparison->clock);
    if (comparison->recipes != NULL) {
        report_losses(comparison, options);
    }
    if (comparison->clock != CLOCK_WALL) {
        report_wall_clock(comparison, options);
    }
    report_kernels(comparison);
    report_errors(comparison);
}
