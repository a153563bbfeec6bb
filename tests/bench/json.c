/* json.c: a small writer. Values are only ever added at the end, so a comma is due before each but
 * the first of its list; the callers know which one that is. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/files.h"
#include "loss.h"
#include "report.h"

static void json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char) *text;

        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20 || c >= 0x7f) {
            fprintf(out, "\\u%04x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

/* A name with a string for its value, and the comma behind. */
static void json_member(FILE *out, const char *name, const char *value)
{
    json_string(out, name);
    fputs(": ", out);
    json_string(out, value);
    fputs(", ", out);
}

static void json_numbers(FILE *out, const double *values, size_t count)
{
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%.9g", i > 0 ? ", " : "", values[i]);
    }
    fputc(']', out);
}

/* When it was measured, by what version, and how it was asked for. */
static void json_run(FILE *out, const struct options *options)
{
    const time_t now = time(NULL);
    char date[32] = "";
    struct tm utc;

    if (gmtime_r(&now, &utc) != NULL) {
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    fputs("  ", out);
    json_member(out, "version", KILN_VERSION);
    json_member(out, "date", date);
    fputs("\n  \"arguments\": [", out);
    for (size_t i = 0; i < options->num_arguments; i++) {
        fputs(i > 0 ? ", " : "", out);
        json_string(out, options->arguments[i]);
    }
    fputs("],\n", out);
}

static void json_device(FILE *out, const struct device *device)
{
    const char *affinity = device_affinity(device);
    char bundle[128];

    peer_kiln_bundle(device, bundle, sizeof(bundle));
    fputs("  \"device\": {", out);
    json_member(out, "name", device->name);
    json_member(out, "platform", device->platform);
    json_member(out, "driver", device->driver);
    if (affinity != NULL) {
        json_member(out, "pocl_affinity", affinity);
    }
    json_member(out, "bundle", bundle);
    fprintf(out, "\"compute_units\": %u, \"host_threads\": %d, \"is_cpu\": %s}",
            device->compute_units, device->host_threads, device->is_cpu ? "true" : "false");
}

/* ---- The comparison ---- */

static void json_peers(FILE *out, const struct peer *peers, size_t num_peers)
{
    fputs("    \"peers\": [", out);
    for (size_t i = 0; i < num_peers; i++) {
        const struct peer *peer = &peers[i];

        fputs(i > 0 ? ",\n      {" : "\n      {", out);
        json_member(out, "key", peer->key);
        json_member(out, "title", peer->title);
        fputs("\"detail\": ", out);
        json_string(out, peer->detail);
        fputc('}', out);
    }
    fputs("\n    ],\n", out);
}

static const char *const json_clocks[NUM_CLOCKS] = { "wall_", "device_" };

static const char *json_outcome(enum outcome outcome)
{
    static const char *const names[] = {
        [OUTCOME_TIMED] = "timed",
        [OUTCOME_REFUSED] = "refused",
        [OUTCOME_FAILED] = "failed",
        [OUTCOME_WRONG] = "wrong",
        [OUTCOME_SLOW] = "slow",
    };

    return names[outcome];
}

/* What a clock showed. The names of the one that counts are bare. */
static void json_clock(FILE *out, const struct comparison *comparison, const struct row *row,
        const struct entry *entry, enum timer_clock clock)
{
    const char *prefix = clock == comparison->clock ? "" : json_clocks[clock];

    if (entry->medians[clock] > 0) {
        fprintf(out, ", \"%sgflops\": %.6g, \"%smedian_seconds\": %.9g, \"%sseconds\": ", prefix,
                1e-9 * row->flops / entry->medians[clock], prefix, entry->medians[clock], prefix);
        json_numbers(out, entry->samples[clock],
                entry->outcome == OUTCOME_TIMED ? comparison->rounds : 1);
    }
}

/* What is known of an entry, and the end of its object. */
static void json_entry(FILE *out, const struct comparison *comparison, const struct row *row,
        const struct entry *entry)
{
    fprintf(out, "\"outcome\": \"%s\"", json_outcome(entry->outcome));
    if (entry->outcome == OUTCOME_TIMED || entry->outcome == OUTCOME_SLOW) {
        fprintf(out, ", \"error\": %.4g", entry->error);
        json_clock(out, comparison, row, entry, CLOCK_WALL);
        json_clock(out, comparison, row, entry, CLOCK_DEVICE);
    }
    fputc('}', out);
}

/* Every recipe that took part in the row, and what choosing among them lost. */
static void json_recipes(FILE *out, const struct comparison *comparison, const struct row *row)
{
    struct loss loss;

    if (loss_of_row(comparison, row, &loss)) {
        fprintf(out, ",\n       \"loss\": %.6g, ", loss.times - 1);
        json_member(out, "chosen", loss_chosen(row));
        fputs("\"best\": ", out);
        json_string(out, row->recipes[loss.best].name);
    }
    fputs(",\n       \"recipes\": [", out);
    for (size_t i = 0; i < row->num_recipes; i++) {
        fputs(i > 0 ? ",\n        {" : "\n        {", out);
        json_member(out, "name", row->recipes[i].name);
        json_entry(out, comparison, row, &row->recipes[i].entry);
    }
    fputc(']', out);
}

/* The ratios of a row, or the geometric means of a selection when `row` is NULL. */
static void json_ratios(FILE *out, const struct comparison *comparison, const struct row *row,
        const struct selection *selection)
{
    const char *separator = "";

    fputs("{", out);
    for (size_t i = 0; i < REPORT_NUM_RATIOS; i++) {
        struct versus versus;
        double speedup = 0;

        if (!report_ratio(comparison, i, &versus) ||
                !(row != NULL ? compare_speedup(row, &versus, &speedup)
                              : compare_mean_speedup(comparison, selection, &versus, &speedup))) {
            continue;
        }
        fprintf(out, "%s\"kiln/%s\": %.6g", separator, report_ratio_keys[i], speedup);
        separator = ", ";
    }
    fputs("}", out);
}

/* The geometric means of a precision: of each group of shapes, or of all when `groups` is NULL. */
static void json_means(FILE *out, const struct comparison *comparison,
        enum kiln_precision precision, const char *const *groups, size_t num_groups)
{
    struct selection selection = { .precision = precision };

    if (groups == NULL) {
        json_ratios(out, comparison, NULL, &selection);
        return;
    }
    fputc('{', out);
    for (size_t i = 0; i < num_groups; i++) {
        selection.group = groups[i];
        fprintf(out, "%s\"%s\": ", i > 0 ? ", " : "", groups[i]);
        json_ratios(out, comparison, NULL, &selection);
    }
    fputc('}', out);
}

/* The members that say what is multiplied. */
static void json_problem(FILE *out, enum kiln_precision precision, bool transa, bool transb,
        const struct bench_shape *shape)
{
    fprintf(out, "\"precision\": \"%c\", \"transpose\": \"%c%c\", ",
            compare_precision_letter(precision), transa ? 't' : 'n', transb ? 't' : 'n');
    fprintf(out, "\"m\": %zu, \"n\": %zu, \"k\": %zu,\n       ", shape->m, shape->n, shape->k);
    if (shape->batch > 1) {
        fprintf(out, "\"batch\": %zu, ", shape->batch);
    }
}

static void json_row(FILE *out, const struct comparison *comparison, const struct row *row)
{
    fputs("      {", out);
    json_problem(out, row->precision, row->transa, row->transb, &row->shape);
    if (row->shape.group != NULL) {
        json_member(out, "group", row->shape.group);
    }
    json_member(out, "kernel", row->explain);
    fputs("\"ratios\": ", out);
    json_ratios(out, comparison, row, NULL);
    fputs(",\n       \"results\": {", out);
    for (size_t i = 0; i < comparison->num_peers; i++) {
        fputs(i > 0 ? ",\n        " : "\n        ", out);
        json_string(out, comparison->peers[i].key);
        fputs(": {", out);
        json_entry(out, comparison, row, &row->entries[i]);
    }
    fputc('}', out);
    if (comparison->recipes != NULL) {
        json_recipes(out, comparison, row);
    }
    fputc('}', out);
}

static void json_all_means(FILE *out, const struct comparison *comparison,
        const struct options *options, const char *name, const char *const *groups,
        size_t num_groups)
{
    fprintf(out, ",\n    \"%s\": {", name);
    for (size_t i = 0; i < options->num_precisions; i++) {
        fprintf(out, "%s\"%c\": ", i > 0 ? ", " : "",
                compare_precision_letter(options->precisions[i]));
        json_means(out, comparison, options->precisions[i], groups, num_groups);
    }
    fputc('}', out);
}

/* All that decides on the shapes that were drawn. */
static void json_random(FILE *out, const struct options_random *random)
{
    const struct draw_limits *limits = &random->limits;

    fprintf(out,
            "    \"random\": {\"seed\": %zu, \"count\": %zu, \"least_ops\": %" PRIu64
            ", \"most_ops\": %" PRIu64 ",\n      \"most_elements\": %" PRIu64
            ", \"largest\": %zu},\n",
            random->seed, random->count, limits->least_ops, limits->most_ops, limits->most_elements,
            limits->largest);
}

static void json_loss(FILE *out, const struct comparison *comparison,
        const struct selection *selection, const char *name, const char **separator)
{
    struct losses losses;

    if (loss_of_rows(comparison, selection, &losses)) {
        fputs(*separator, out);
        json_string(out, name);
        fprintf(out,
                ": {\"shapes\": %zu, \"mean\": %.6g, \"percentile_95\": %.6g, "
                "\"worst\": %.6g}",
                losses.count, losses.mean - 1, losses.percentile_95 - 1, losses.worst - 1);
        *separator = ", ";
    }
}

/* Of each precision: of each group of shapes, and of all of them. */
static void json_losses(FILE *out, const struct comparison *comparison,
        const struct options *options, const char *const *groups, size_t num_groups)
{
    fputs(",\n    \"losses\": {", out);
    for (size_t i = 0; i < options->num_precisions; i++) {
        struct selection selection = { .precision = options->precisions[i] };
        const char *separator = "";

        fprintf(out, "%s\"%c\": {", i > 0 ? ", " : "",
                compare_precision_letter(selection.precision));
        for (size_t j = 0; j < num_groups; j++) {
            selection.group = groups[j];
            json_loss(out, comparison, &selection, groups[j], &separator);
        }
        selection.group = NULL;
        json_loss(out, comparison, &selection, "all", &separator);
        fputc('}', out);
    }
    fputc('}', out);
}

static void json_comparison(FILE *out, const struct comparison *comparison,
        const struct options *options)
{
    const char *groups[SHAPES_MAX_GROUPS];
    size_t num_groups = compare_groups(comparison, groups, SHAPES_MAX_GROUPS);

    fprintf(out, ",\n  \"comparison\": {\n    \"rounds\": %zu, \"sample_seconds\": %g, ",
            comparison->rounds, comparison->min_seconds);
    fprintf(out, "\"clock\": \"%s\",\n", comparison->clock == CLOCK_DEVICE ? "device" : "wall");
    if (comparison->is_interrupted) {
        fputs("    \"interrupted\": true,\n", out);
    }
    if (options->data != NULL) {
        fputs("    ", out);
        json_member(out, "data", options->data->name);
        fputc('\n', out);
    }
    if (options->random.wanted) {
        json_random(out, &options->random);
    }
    json_peers(out, comparison->peers, comparison->num_peers);
    fputs("    \"rows\": [\n", out);
    for (size_t i = 0; i < comparison->num_rows; i++) {
        fputs(i > 0 ? ",\n" : "", out);
        json_row(out, comparison, &comparison->rows[i]);
    }
    fputs("\n    ]", out);
    json_all_means(out, comparison, options, "geometric_means", NULL, 0);
    json_all_means(out, comparison, options, "group_means", groups, num_groups);
    if (comparison->recipes != NULL) {
        json_losses(out, comparison, options, groups, num_groups);
    }
    fputs("\n  }", out);
}

/* ---- The other modes ---- */

static void json_overhead(FILE *out, const struct overhead *overhead)
{
    static const char *const names[OVERHEAD_SERIES] = { "call", "launches", "wide_launches" };

    fprintf(out, ",\n  \"host_overhead\": {\n    \"stages\": %u, \"calls_per_batch\": %zu,\n",
            overhead->stages, overhead->calls);
    fprintf(out, "    \"call_us\": %.4f, \"launch_us\": %.4f, \"wide_launch_us\": %.4f,\n",
            overhead->call_us, overhead->launch_us, overhead->launch_wide_us);
    fprintf(out, "    \"beyond_us\": %.4f, \"beyond_wide_us\": %.4f,\n    \"samples_us\": {",
            overhead->beyond_us, overhead->beyond_wide_us);
    for (size_t i = 0; i < OVERHEAD_SERIES; i++) {
        fprintf(out, "%s\n      \"%s\": ", i > 0 ? "," : "", names[i]);
        json_numbers(out, overhead->samples[i], OVERHEAD_BATCHES);
    }
    fputs("}\n  }", out);
}

static void json_first_result(FILE *out, const struct first_result *result)
{
    fprintf(out, ",\n  \"first_result\": {\n    \"size\": %zu, ", result->size);
    json_member(out, "kiln_kernels", result->kernels);
    fputs("\n    \"seconds\": {", out);
    for (size_t i = 0; i < FIRST_RESULT_PEERS; i++) {
        if (result->has[i]) {
            fprintf(out, "%s\"%s\": ", i > 0 ? ",\n      " : "", first_result_keys[i]);
            json_numbers(out, result->samples[i], result->rounds);
        }
    }
    fputs("},\n    \"kiln_until_context\": ", out);
    json_numbers(out, result->ready, result->rounds);
    if (result->has[1]) {
        fprintf(out, ",\n    \"clblast/kiln\": %.6g", result->median[1] / result->median[0]);
    }
    fputs("\n  }", out);
}

static void json_errors_of(FILE *out, const char *separator, const char *name,
        const struct errors *errors)
{
    fputs(separator, out);
    json_string(out, name);
    fputs(": {", out);
    if (isfinite(errors->most)) { /* JSON knows no infinity */
        fprintf(out, "\"most\": %.4g, \"mean\": %.4g, ", errors->most, errors->mean);
    }
    fprintf(out, "\"wrong\": %zu, \"beyond\": %zu}", errors->wrong, errors->beyond);
}

/* Errors are in units of 2^-24 sum |a||b|. */
static void json_errors(FILE *out, const struct json_document *document)
{
    fputs(",\n  \"errors\": {\n", out);
    json_peers(out, document->peers, document->num_peers);
    fputs("    \"rows\": [", out);
    for (size_t i = 0; i < document->errors->num_rows; i++) {
        const struct errors_row *row = &document->errors->rows[i];

        fputs(i > 0 ? ",\n      {" : "\n      {", out);
        json_problem(out, KILN_SINGLE, row->transa, row->transb, &row->shape);
        json_member(out, "data", row->kind->name);
        json_member(out, "about", row->kind->about);
        fputs("\"results\": {", out);
        json_errors_of(out, "", "chain", &row->chain);
        for (size_t j = 0; j < document->num_peers; j++) {
            if (row->has[j]) {
                json_errors_of(out, ", ", document->peers[j].key, &row->peers[j]);
            }
        }
        fputs("}}", out);
    }
    fputs("\n    ]\n  }", out);
}

static void json_triangles(FILE *out, const struct json_document *document)
{
    static const char *const names[NUM_TRIANGLES] = {
        [TRIANGLES_PRODUCT] = "product",
        [TRIANGLES_SYRK] = "syrk",
        [TRIANGLES_SYMM] = "symm",
    };

    fprintf(out, ",\n  \"triangles\": {\n    \"rounds\": %zu, \"clock\": \"%s\",\n",
            document->options->rounds, document->device->has_clock ? "device" : "wall");
    fputs("    \"rows\": [", out);
    for (size_t i = 0; i < document->triangles->num_rows; i++) {
        const struct triangles_row *row = &document->triangles->rows[i];

        fprintf(out, "%s\n      {\"precision\": \"%c\", \"n\": %zu, \"results\": {",
                i > 0 ? "," : "", compare_precision_letter(row->precision), row->n);
        for (size_t j = 0; j < NUM_TRIANGLES; j++) {
            const double seconds[] = { row->least[j], row->most[j] };

            fprintf(out, "%s\n        \"%s\": {\"gflops\": %.6g, \"median_seconds\": %.9g, ",
                    j > 0 ? "," : "", names[j], row->gflops[j], row->seconds[j]);
            fputs("\"range_seconds\": ", out);
            json_numbers(out, seconds, 2);
            fputc('}', out);
        }
        fputs("}}", out);
    }
    fputs("\n    ]\n  }", out);
}

bool json_write(const char *path, const struct json_document *document)
{
    char *text = NULL, error[FILES_ERROR_BYTES];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool good = out != NULL;

    if (!good) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        return false;
    }
    fputs("{\n  \"format\": \"kiln-bench 2\",\n", out);
    json_run(out, document->options);
    json_device(out, document->device);
    if (document->comparison != NULL) {
        json_comparison(out, document->comparison, document->options);
    }
    if (document->overhead != NULL) {
        json_overhead(out, document->overhead);
    }
    if (document->first_result != NULL) {
        json_first_result(out, document->first_result);
    }
    if (document->errors != NULL) {
        json_errors(out, document);
    }
    if (document->triangles != NULL) {
        json_triangles(out, document);
    }
    fputs("\n}\n", out);
    good = !ferror(out);
    good = fclose(out) == 0 && good;
    if (!good) {
        fprintf(stderr, "kiln-bench: out of memory\n");
    } else if (!files_write(path, text, size, error)) {
        fprintf(stderr, "kiln-bench: %s\n", error);
        good = false;
    }
    free(text);
    return good;
}
