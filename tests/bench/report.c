/* report.c: the table on standard output. Rows are printed as they are finished. */
#include "report.h"

#include <stdio.h>
#include <string.h>

const char *const report_ratio_keys[REPORT_NUM_RATIOS] = {
    "openblas-best", "clblast", "kiln-generic"
};

bool report_ratio_peers(const struct comparison *comparison, size_t index, size_t *kiln,
        size_t *other)
{
    const struct peer *peers = comparison->peers;
    const struct peer *first = peers_find(peers, comparison->num_peers, "kiln");
    const struct peer *second = peers_find(peers, comparison->num_peers,
            report_ratio_keys[index]);

    if (first == NULL || second == NULL) {
        return false;
    }
    *kiln = (size_t)(first - peers);
    *other = (size_t)(second - peers);
    return true;
}

void report_device(const struct device *device)
{
    printf("device: %s\n", device->name);
    printf("driver: %s, %s\n", device->platform, device->driver);
}

void report_peers(const struct peer *peers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("peer %s: %s\n", peers[i].key, peers[i].detail);
    }
    fflush(stdout);
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

static void report_head(const struct comparison *comparison, const struct row *row)
{
    size_t kiln, other;

    if (row->explain[0] != '\0') {
        printf("kiln: ");
        report_explain(row->explain);
    }
    printf("\nGFLOP/s, medians of %zu rounds; ratios of medians\n\n%-5s %5s %5s %5s",
            comparison->rounds, "", "m", "n", "k");
    for (size_t i = 0; i < comparison->num_peers; i++) {
        printf(" %9s", comparison->peers[i].title);
    }
    for (size_t i = 0; i < REPORT_NUM_RATIOS; i++) {
        if (report_ratio_peers(comparison, i, &kiln, &other)) {
            printf("  Kiln/%-8s", comparison->peers[other].title);
        }
    }
    printf("  kernel\n");
}

static void report_entry(const struct row *row, size_t peer)
{
    switch (row->entries[peer].outcome) {
    case OUTCOME_TIMED:
        printf(" %9.2f", compare_gflops(row, peer));
        break;
    case OUTCOME_REFUSED:
        printf(" %9s", "-");
        break;
    case OUTCOME_FAILED:
        printf(" %9s", "failed");
        break;
    case OUTCOME_WRONG:
        printf(" %9s", "WRONG");
        break;
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

void report_row(const struct comparison *comparison, const struct row *row)
{
    size_t index = (size_t)(row - comparison->rows);
    size_t kiln, other;

    if (index == 0) {
        report_head(comparison, row);
    }
    printf("%c %c%c  %5zu %5zu %5zu", compare_precision_letter(row->precision),
            row->transa ? 't' : 'n', row->transb ? 't' : 'n', row->shape.m, row->shape.n,
            row->shape.k);
    for (size_t i = 0; i < comparison->num_peers; i++) {
        report_entry(row, i);
    }
    for (size_t i = 0; i < REPORT_NUM_RATIOS; i++) {
        if (report_ratio_peers(comparison, i, &kiln, &other)) {
            double speedup = 0;
            bool known = compare_speedup(row, kiln, other, &speedup);

            report_speedup(known, speedup);
        }
    }
    if (row->explain[0] != '\0') {
        printf("  %6zu", report_kernel_number(comparison, index) + 1);
    }
    printf("\n");
    fflush(stdout);
}

static void report_means(const struct comparison *comparison, enum kiln_precision precision)
{
    size_t kiln, other;

    printf("%c %-19s", compare_precision_letter(precision), "geometric mean");
    printf(" %*s", (int)(10 * comparison->num_peers), "");
    for (size_t i = 0; i < REPORT_NUM_RATIOS; i++) {
        if (report_ratio_peers(comparison, i, &kiln, &other)) {
            double speedup = 0;
            bool known = compare_mean_speedup(comparison, precision, kiln, other, &speedup);

            report_speedup(known, speedup);
        }
    }
    printf("\n");
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
    if (peers_find(comparison->peers, comparison->num_peers, "kiln") != NULL) {
        printf("\n");
        for (size_t i = 0; i < options->num_precisions; i++) {
            report_means(comparison, options->precisions[i]);
        }
    }
    report_kernels(comparison);
    report_errors(comparison);
}
