/* tune.c: the command that turns a device into a bundle. */
#include "options.h"
#include "clock.h"
#include "embed.h"
#include "linked.h"
#include "ninja.h"
#include "own_shapes.h"
#include "result.h"
#include "tuner.h"
#include "../core/files.h"
#include "../core/forms.h"
#include "../core/select.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The part of the budget for evaluations; the rest is for what comes after the last one. */
static const double usable = 0.95;

_Static_assert((int) EXTENTS_ERROR_BYTES >= (int) FAMILY_ERROR_BYTES, "room for either");

enum { PATH_BYTES = 4096 };

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

/* Keeps the best so far of the precisions that the interruption left without a verified one. */
static void finish_all(const struct options *options, struct tuner *tuner)
{
    progress_end(tuner);
    fprintf(stderr, "kiln-tune: interrupted: keeping the best so far; run again to go on\n");
    tuner->stop = &abort_requested;
    for (size_t i = 0; i < options->num_precisions; i++)
        phases_finish(tuner, options->precisions[i]);
}

/* Each precision gets an equal part of what is left. */
static void tune_all(const struct options *options, struct tuner *tuner)
{
    tuner->facts = tuner->records.head.facts;
    tuner->records.prior = linked_time;
    tuner->records.prior_user = kiln_tuner_bundles;
    tuner->seconds = phases_share(tuner) * options->seconds;
    tuner->budget = usable * tuner->seconds;
    tuner->slack = (tuner->seconds - tuner->budget) / 2;
    for (size_t i = 0; i < options->num_precisions; i++) {
        const double left = tuner->budget - tuner->spent;
        if (!precision_is_there(options->precisions[i], &tuner->facts))
            continue;
        if (left <= 0 || !phases_run(tuner, options->precisions[i],
                                 left / (double) (options->num_precisions - i)))
            break;
    }
    tuner->is_interrupted = stop_requested;
    if (stop_requested && !tuner->failed && !tuner->records.head.shard.num)
        finish_all(options, tuner);
}

/* A shard chooses nothing: what is best shows when all are merged. */
static int conclude_shard(const struct options *options, const struct tuner *tuner)
{
    const struct shard *shard = &tuner->records.head.shard;
    if (!tuner->quiet) {
        result_report_counts(tuner);
        fprintf(stderr,
                "kiln-tune: shard %u/%u ends; merge the journals of all shards and tune "
                "over the merged one\n",
                shard->index, shard->num);
    }
    return result_write_device(options, &tuner->facts) && !tuner->failed
                 ? EXIT_SUCCESS
                 : EXIT_FAILURE;
}

/* Nothing may ship. In a build generic serves. */
static int conclude_empty(const struct options *options, const struct tuner *tuner)
{
    char why[KILN_NUM_PRECISIONS * FAMILY_ERROR_BYTES] = "", one[FAMILY_ERROR_BYTES];
    for (size_t i = 0, at = 0; i < options->num_precisions && at < sizeof why; i++) {
        result_why(tuner, options->precisions[i], one);
        at += (size_t) snprintf(why + at, sizeof why - at, "%s%s: %s", i ? "; " : "",
                options->precisions[i]->name, one);
    }
    if (tuner->is_interrupted && !options->replay && !tuner->failed)
        strncat(why, "; the journal is kept, run again to go on", sizeof why - strlen(why) - 1);
    if (!tuner->quiet)
        result_report_counts(tuner);
    if (options->or_generic)
        return result_write_empty(options, why, true);
    fprintf(stderr, "kiln-tune: nothing may ship: %s\n", why);
    return EXIT_FAILURE;
}

static const char *journal_path(const struct options *options, char path[PATH_BYTES])
{
    if (options->journal)
        return options->journal;
    snprintf(path, PATH_BYTES, "%s/journal.tsv", options->output);
    return path;
}

/* A journal that cannot be written is an error. A device that is lost in a build is not: what was
 * measured before serves. */
static int conclude(const struct options *options, struct tuner *tuner)
{
    static struct winners winners;
    static struct select_budget budget;
    char path[PATH_BYTES], error[FAMILY_ERROR_BYTES];
    const bool failed = tuner->failed && !(tuner->is_lost && options->or_generic);
    progress_end(tuner);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (tuner->failed)
        fail(tuner->error);
    if (tuner->records.head.shard.num)
        return conclude_shard(options, tuner);
    budget.most_bytes = 1024 * options->bundle_kib;
    budget.is_alone = options->embed == EMBED_BINARY; /* generic has none */
    if (!select_within(&tuner->records, options->name, &budget, &winners, error))
        return winners.num_recipes ? fail(error)
             : conclude_empty(options, tuner) == EXIT_SUCCESS && !failed
                     ? EXIT_SUCCESS
                     : EXIT_FAILURE;
    result_report_dropped(&budget);
    result_report(options, tuner, &winners);
    if (!forms_add(&winners, error))
        return fail(error);
    if (!result_write(options, &winners) || !result_write_device(options, &tuner->facts))
        return EXIT_FAILURE;
    if (!tuner->quiet)
        result_report_files(options, journal_path(options, path));
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A run over what a journal holds, without a device but for binaries. */
static int replay(const struct options *options, struct tuner *tuner)
{
    char path[PATH_BYTES], error[FAMILY_ERROR_BYTES];
    char *text = files_read(journal_path(options, path), error);
    if (!text)
        return fail(error);
    const bool ok = records_parse(text, &tuner->records, error);
    free(text);
    if (!ok) {
        fprintf(stderr, "kiln-tune: %s: %s\n", journal_path(options, path), error);
        return EXIT_FAILURE;
    }
    if (!tuner->records.whole_bytes) {
        fprintf(stderr, "kiln-tune: %s: an empty journal\n", journal_path(options, path));
        return EXIT_FAILURE;
    }
    if (tuner->records.head.generator != record_generator_hash())
        return fail("the journal was made by another version of the kernels");
    if (options->shard.num || tuner->records.head.shard.num)
        return fail("a replay needs a whole journal, not one shard of a search");
    if (options->embed != EMBED_SOURCE &&
            !embed_is_for(options->device, &tuner->records.head.facts, error))
        return fail(error);
    tune_all(options, tuner);
    return conclude(options, tuner);
}

static int measure(const struct options *options, struct tuner *tuner)
{
    char path[PATH_BYTES], error[FAMILY_ERROR_BYTES];
    struct journal_head head = { .generator = record_generator_hash(), .shard = options->shard };
    ninja_wait(&stop_requested, options->quiet);
    if (stop_requested)
        return fail("stopped before it began");
    tuner->last_event = clock_now();
    tuner->supervisor = supervise_open(options->program, options->device, &stop_requested,
            &tuner->facts, error);
    if (!tuner->supervisor)
        return options->or_generic && !stop_requested ? result_write_empty(options, error, true)
                                                      : fail(error);
    tuner->last_event += supervise_waited(tuner->supervisor);
    head.facts = tuner->facts;
    const double opening = clock_now();
    tuner->journal = journal_open(journal_path(options, path), &head, options->set_aside,
            &tuner->records, error);
    tuner->last_event += clock_now() - opening; /* another tuner may have held the device */
    int status = EXIT_FAILURE;
    if (tuner->journal) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        const bool is_cpu = tuner->facts.value[FACT_IS_CPU];
        const unsigned size = crew_size_here(is_cpu ? 0 : 1); /* one core serves the device */
        tuner->ahead = is_cpu ? NULL : ahead_open(options->program, options->device, cores);
        tuner->crew = size ? crew_open(options->program, options->device, size) : NULL;
        tune_all(options, tuner);
        crew_close(&tuner->crew);
        ahead_close(&tuner->ahead);
        supervise_close(&tuner->supervisor);
        status = conclude(options, tuner);
    } else
        fail(error);
    supervise_close(&tuner->supervisor);
    journal_close(tuner->journal);
    return status;
}

/* What a build does before it tunes. Whether there is nothing to do; then *status is the run's.
 * A device that was asked for by its name must be there. */
static bool is_settled(const struct options *options, int *status)
{
    struct device_facts facts;
    char error[FAMILY_ERROR_BYTES];
    if (options->replay || !(options->unless_matched || options->or_generic))
        return false;
    const enum supervise_probe found = supervise_probe(options->program, options->device, &facts,
            error);
    if (found == SUPERVISE_ABSENT && options->device[0])
        *status = fail(error);
    else if (found == SUPERVISE_FOUND && options->unless_matched && linked_match(&facts))
        *status = result_write_empty(options, "a linked bundle matches the device", false);
    else if (found == SUPERVISE_ABSENT && options->unless_matched)
        *status = result_write_empty(options, error, false);
    else if (found != SUPERVISE_FOUND && options->or_generic)
        *status = result_write_empty(options, error, true);
    else
        return false;
    return true;
}

/* Whether the folder is there and can be written to: checked before the tuning, not after. */
static bool make_output(const char *path)
{
    char inside[PATH_BYTES];
    snprintf(inside, sizeof inside, "%s/.", path);
    if ((!mkdir(path, 0777) || errno == EEXIST) && !access(inside, W_OK | X_OK))
        return true;
    fprintf(stderr, "kiln-tune: %s: %s\n", path, strerror(errno));
    return false;
}

/* A build without shapes of its own goes on. */
static bool read_own(const struct options *options, struct own_shapes *own)
{
    char error[EXTENTS_ERROR_BYTES];
    const bool is_read = own_shapes_read(options->shapes_file, own, error);
    if (is_read && own->num)
        return true;
    fprintf(stderr, "kiln-tune: %s%s\n", is_read && options->or_generic ? "warning: " : "", error);
    return is_read && options->or_generic;
}

int tune_main(const struct options *options)
{
    static struct own_shapes own;
    char error[EXTENTS_ERROR_BYTES];
    struct device_facts least;
    int status;
    struct tuner tuner = {
        .strategy = options->strategy,
        .seed = options->seed,
        .own = own.at,
        .json = options->json,
        .quiet = options->quiet,
        .stop = &stop_requested,
        .kin = linked_kin,
        .generic = linked_generic,
        .of_kind = linked_of_kind,
        .known = kiln_tuner_bundles,
        .is_strict = options->or_generic,
    };
    if (!make_output(options->output))
        return EXIT_FAILURE;
    if (options->shapes_file && options->shapes_file[0] && !read_own(options, &own))
        return EXIT_FAILURE;
    tuner.num_own = own.num;
    if (options->facts && !facts_read(options->facts, &least, error))
        return fail(error);
    supervise_lessen(options->facts);
    if (is_settled(options, &status))
        return status;
    const struct sigaction action = { .sa_handler = request_stop };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    status = options->replay ? replay(options, &tuner) : measure(options, &tuner);
    records_free(&tuner.records);
    return status;
}
