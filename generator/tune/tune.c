/* tune.c: the command that turns a device into a bundle. */
#include "options.h"
#include "clock.h"
#include "device.h"
#include "embed.h"
#include "known.h"
#include "tuner.h"
#include "../core/emit.h"
#include "../core/files.h"
#include "../core/select.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the budget, for questions; the rest is for what comes after the last one. */
static const double usable = 0.95;

enum { MAX_SHAPES = 64, PATH_BYTES = 4096 };

/* The first Ctrl-C ends the measuring, the second one the verifying of the best so far. */
static volatile int stop_requested, abort_requested;

static void request_stop(int signal_number)
{
    (void) signal_number;
    abort_requested = stop_requested;
    stop_requested = 1;
}

static int fail(const char *what)
{
    fprintf(stderr, "kiln-tune: %s\n", what);
    return EXIT_FAILURE;
}

/* Whether the shape behind the num first ones is among them. */
static bool is_listed(const struct shape *shapes, size_t num)
{
    for (size_t i = 0; i < num; i++)
        if (!memcmp(&shapes[i], &shapes[num], sizeof *shapes))
            return true;
    return false;
}

/* One "M N K" a line; # starts a comment. */
static bool parse_shapes(char *text, const char *path, struct shape shapes[MAX_SHAPES + 1],
        size_t *num)
{
    unsigned number = 0;
    *num = 0;
    for (char *line = text, *next; line; line = next) {
        struct shape *s = &shapes[*num];
        char rest;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "#")] = '\0';
        number++;
        if (!line[strspn(line, " \t\r")])
            continue;
        if (*num == MAX_SHAPES || strchr(line, '-') ||
            sscanf(line, "%zu %zu %zu %c", &s->m, &s->n, &s->k, &rest) != 3 ||
            !s->m || !s->n || !s->k || s->m > 1 << 24 || s->n > 1 << 24 || s->k > 1 << 24) {
            fprintf(stderr, "kiln-tune: %s: line %u: %s\n", path, number, *num == MAX_SHAPES
                    ? "more than 64 shapes" : "expected M N K, each from 1 to 16777216");
            return false;
        }
        if (!is_listed(shapes, *num))
            ++*num;
    }
    return true;
}

static bool read_shapes(const char *path, struct shape shapes[MAX_SHAPES + 1], size_t *num)
{
    char error[FILES_ERROR_BYTES];
    *num = 0;
    if (!path || !*path)
        return true;
    char *text = files_read(path, error);
    const bool ok = text && parse_shapes(text, path, shapes, num);
    if (!text)
        fail(error);
    free(text);
    return ok;
}

static bool write_file(const struct options *options, const char *name, struct text *text)
{
    char path[PATH_BYTES], error[FILES_ERROR_BYTES] = "out of memory";
    snprintf(path, sizeof path, "%s/%s", options->output, name);
    const bool ok = !text->failed && files_write(path, text->bytes, text->len, error);
    if (!ok)
        fail(error);
    text_free(text);
    return ok;
}

static bool write_device(const struct options *options, const struct device_facts *facts)
{
    struct text text = { 0 };
    text_add(&text, "platform\t%s\ndevice\t%s\ndriver\t%s\n", facts->platform, facts->device,
            facts->driver);
    for (int i = 0; i < NUM_FACTS; i++)
        text_add(&text, "%s\t%ld\t%s\n", fact_names[i], facts->value[i], fact_meanings[i]);
    return write_file(options, "device.tsv", &text);
}

static bool write_emitted(const struct options *options, const struct winners *winners,
        const struct assembly *assembly)
{
    struct text comment = { 0 }, bundle = { 0 };
    winners_comment(winners, &comment);
    emit_bundle(&assembly->bundle, comment.bytes, &bundle);
    text_free(&comment);
    return write_file(options, "bundle.c", &bundle);
}

/* bundle.c from source, then with device binaries when they were asked for: what the driver does
 * then costs no more than the binaries. */
static bool write_bundle(const struct options *options, const struct winners *winners)
{
    struct assembly assembly;
    struct text rows = { 0 };
    char error[FAMILY_ERROR_BYTES];
    bool ok = winners_assemble(winners, &assembly, error);
    if (!ok)
        fail(error);
    winners_format(winners, &rows);
    ok = ok && write_emitted(options, winners, &assembly) &&
         write_file(options, "winners.tsv", &rows);
    text_free(&rows);
    if (ok && options->embed != EMBED_SOURCE) {
        ok = embed_binaries(&assembly, options->device, options->embed == EMBED_BOTH, error);
        if (!ok)
            fail(error);
        ok = ok && write_emitted(options, winners, &assembly);
    }
    assembly_free(&assembly);
    return ok;
}

/* A bundle that matches no device, for builds that need the files. */
static int write_empty(const struct options *options, const char *why)
{
    static struct winners winners;
    facts_minimal(&winners.facts);
    snprintf(winners.name, sizeof winners.name, "%s", options->name ? options->name : "none");
    snprintf(winners.provenance, sizeof winners.provenance, "nothing was tuned");
    snprintf(winners.platform, sizeof winners.platform, "(none)");
    snprintf(winners.device, sizeof winners.device, "(none)");
    fprintf(stderr, "kiln-tune: %s: nothing to tune\n", why);
    return write_bundle(options, &winners) && write_device(options, &winners.facts)
         ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool has_anchor(const struct winners *winners, struct shape s)
{
    for (unsigned i = 0; i < winners->num_anchors; i++)
        if (winners->anchors[i].m == s.m && winners->anchors[i].n == s.n &&
            winners->anchors[i].k == s.k)
            return true;
    return false;
}

/* What was asked for and is not in the bundle. */
static void report_missing(const struct options *options, const struct tuner *tuner,
        const struct winners *winners)
{
    for (size_t i = 0; i < options->num_precisions; i++) {
        const struct precision *precision = options->precisions[i];
        const bool absent = precision->bits == 64 && !tuner->facts.value[FACT_HAS_DOUBLE];
        if (!winners_recipe(winners, precision, 0))
            fprintf(stderr, "kiln-tune: nothing for %s precision: %s\n", precision->name,
                    absent ? "the device does not have it" : "the budget ended before");
    }
    for (size_t i = 0; i < tuner->num_shapes; i++)
        if (!has_anchor(winners, tuner->shapes[i]))
            fprintf(stderr, "kiln-tune: %zu x %zu x %zu was not measured: the budget ended before, "
                    "or no candidate served it\n", tuner->shapes[i].m, tuner->shapes[i].n,
                    tuner->shapes[i].k);
}

static void report_counts(const struct tuner *tuner)
{
    size_t failures = 0;
    for (size_t i = 0; i < tuner->records.num; i++)
        failures += strcmp(tuner->records.rows[i].outcome, "ok") &&
                    strcmp(tuner->records.rows[i].outcome, "slow");
    fprintf(stderr,
            "kiln-tune: %zu measured, %zu found in the journal, %zu failed; %.0f of %.0f s\n",
            tuner->num_asked, tuner->num_answered, failures, tuner->spent, tuner->budget / usable);
}

static void report(const struct tuner *tuner, const struct winners *winners)
{
    char config[CONFIG_TEXT_BYTES];
    report_counts(tuner);
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        config_format(&winners->recipes[i].config, config);
        fprintf(stderr, "kiln-tune: %s: %s\n", winners->recipes[i].precision->name, config);
    }
    for (unsigned i = 0; i < winners->num_regrets; i++)
        fprintf(stderr, "kiln-tune: %s: regret %.1f %% on %u held-out shapes\n",
                winners->regrets[i].precision->name, 100 * (winners->regrets[i].factor - 1),
                winners->regrets[i].shapes);
}

/* Keeps the best so far of the precisions that the interruption left without a verified one. */
static void finish_all(const struct options *options, struct tuner *tuner)
{
    progress_end(tuner);
    fprintf(stderr, "kiln-tune: interrupted: keeping the best so far; run again to go on\n");
    tuner->stop = &abort_requested;
    for (size_t i = 0; i < options->num_precisions; i++)
        plan_finish(tuner, options->precisions[i]);
}

/* Each precision gets an equal part of what is left. */
static void tune_all(const struct options *options, struct tuner *tuner)
{
    tuner->facts = tuner->records.head.facts;
    tuner->budget = usable * plan_share(tuner) * options->seconds;
    for (size_t i = 0; i < options->num_precisions; i++) {
        const double left = tuner->budget - tuner->spent;
        if (options->precisions[i]->bits == 64 && !tuner->facts.value[FACT_HAS_DOUBLE])
            continue;
        if (left <= 0 || !plan_precision(tuner, options->precisions[i],
                    left / (double) (options->num_precisions - i)))
            break;
    }
    if (stop_requested && !tuner->failed && !tuner->records.head.shard.num)
        finish_all(options, tuner);
}

/* A shard chooses nothing: what is best shows when all are merged. */
static int conclude_shard(const struct options *options, const struct tuner *tuner)
{
    const struct shard *shard = &tuner->records.head.shard;
    if (!tuner->quiet) {
        report_counts(tuner);
        fprintf(stderr, "kiln-tune: shard %u/%u ends; merge the journals of all shards and tune "
                "over the merged one\n", shard->index, shard->num);
    }
    return write_device(options, &tuner->facts) && !tuner->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int conclude(const struct options *options, struct tuner *tuner)
{
    static struct winners winners;
    char error[FAMILY_ERROR_BYTES];
    progress_end(tuner);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (tuner->failed)
        fail(tuner->error);
    if (tuner->records.head.shard.num)
        return conclude_shard(options, tuner);
    if (!select_from_records(&tuner->records, options->name, &winners, error))
        return fail(error);
    if (!tuner->quiet)
        report(tuner, &winners);
    report_missing(options, tuner, &winners);
    return write_bundle(options, &winners) && write_device(options, &tuner->facts) &&
           !tuner->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const char *journal_path(const struct options *options, char path[PATH_BYTES])
{
    if (options->journal)
        return options->journal;
    snprintf(path, PATH_BYTES, "%s/journal.tsv", options->output);
    return path;
}

/* A run over what a journal holds, without a device. */
static int replay(const struct options *options, struct tuner *tuner)
{
    char path[PATH_BYTES], error[FAMILY_ERROR_BYTES];
    char *text = files_read(journal_path(options, path), error);
    if (!text)
        return fail(error);
    const bool ok = records_parse(text, &tuner->records, error);
    free(text);
    if (!ok)
        return fail(error);
    if (tuner->records.head.generator != record_generator_hash())
        return fail("the journal was made by another version of the kernels");
    if (options->shard.num || tuner->records.head.shard.num)
        return fail("a replay needs a whole journal, not one shard of a search");
    tune_all(options, tuner);
    return conclude(options, tuner);
}

static int measure(const struct options *options, struct tuner *tuner)
{
    char path[PATH_BYTES], error[FAMILY_ERROR_BYTES];
    struct journal_head head = { .generator = record_generator_hash(), .shard = options->shard };
    tuner->last_event = clock_now();
    tuner->supervisor = supervise_open(options->program, options->device, &stop_requested,
            &tuner->facts, error);
    if (!tuner->supervisor)
        return fail(error);
    tuner->last_event += supervise_waited(tuner->supervisor);
    head.facts = tuner->facts;
    tuner->journal = journal_open(journal_path(options, path), &head, options->set_aside,
            &tuner->records, error);
    int status = EXIT_FAILURE;
    if (tuner->journal) {
        if (!tuner->facts.value[FACT_IS_CPU])
            tuner->ahead = ahead_open(options->program, options->device,
                    sysconf(_SC_NPROCESSORS_ONLN));
        tune_all(options, tuner);
        ahead_close(&tuner->ahead);
        supervise_close(&tuner->supervisor);
        status = conclude(options, tuner);
    } else
        fail(error);
    supervise_close(&tuner->supervisor);
    journal_close(tuner->journal);
    return status;
}

int tune_main(const struct options *options)
{
    struct shape shapes[MAX_SHAPES + 1];
    char error[FAMILY_ERROR_BYTES];
    struct tuner tuner = {
        .strategy = options->strategy, .seed = options->seed,
        .slack = (1 - usable) / 2 * options->seconds,
        .shapes = shapes, .json = options->json, .quiet = options->quiet,
        .stop = &stop_requested,
    };
    if (mkdir(options->output, 0777) && errno != EEXIST) {
        fprintf(stderr, "kiln-tune: %s: %s\n", options->output, strerror(errno));
        return EXIT_FAILURE;
    }
    if (!read_shapes(options->shapes_file, shapes, &tuner.num_shapes))
        return EXIT_FAILURE;
    if (options->unless_matched) {
        cl_device_id device;
        if (!device_find(options->device, &device, error))
            return write_empty(options, error);
        if (known_match(device))
            return write_empty(options, "a linked bundle matches the device");
    }
    const struct sigaction action = { .sa_handler = request_stop };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    const int status = options->replay ? replay(options, &tuner) : measure(options, &tuner);
    records_free(&tuner.records);
    return status;
}
