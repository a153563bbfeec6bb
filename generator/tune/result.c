/* result.c: see result.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "result.h"
#include "crew.h"
#include "embed.h"
#include "own_shapes.h"
#include "../core/emit.h"
#include "../core/files.h"
#include "../core/select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* A mean loss above this is worth a warning. */
static const double much_loss = 1.1;

static bool failed(const char *what)
{
    fprintf(stderr, "kiln-tune: %s\n", what);
    return false;
}

/* ---- Files ---- */

static bool write_file(const struct options *options, const char *name, struct text *text)
{
    char path[PATH_BYTES], error[FILES_ERROR_BYTES] = "out of memory";
    snprintf(path, sizeof path, "%s/%s", options->output, name);
    const bool ok = !text->failed && files_write(path, text->bytes, text->len, error);
    text_free(text);
    return ok || failed(error);
}

bool result_write_device(const struct options *options, const struct device_facts *facts)
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

/* By processes that read winners.tsv. */
static bool embed(const struct options *options, struct assembly *assembly,
        char error[FAMILY_ERROR_BYTES])
{
    const struct embed_crew crew = { .program = options->program,
        .output = options->output,
        .size = crew_size_here(0) };
    return embed_binaries(assembly, options->device, options->embed == EMBED_BOTH, NULL, &crew,
            error);
}

/* Writes bundle.c with source first, then with device binaries if they were asked for: if the
 * driver fails then, only the binaries are lost. */
bool result_write(const struct options *options, const struct winners *winners)
{
    struct assembly assembly;
    struct text rows = { 0 };
    char error[FAMILY_ERROR_BYTES];
    bool ok = winners_assemble(winners, &assembly, error) || failed(error);
    winners_format(winners, &rows);
    ok = ok && write_emitted(options, winners, &assembly) &&
         write_file(options, "winners.tsv", &rows);
    text_free(&rows);
    if (ok && options->embed != EMBED_SOURCE && winners->num_recipes) {
        if (embed(options, &assembly, error))
            ok = write_emitted(options, winners, &assembly);
        else if (options->or_generic)
            fprintf(stderr, "kiln-tune: warning: the bundle holds source, not binaries: %s\n",
                    error);
        else
            ok = failed(error);
    }
    assembly_free(&assembly);
    return ok;
}

int result_write_empty(const struct options *options, const char *why, bool is_warning)
{
    static struct winners winners;
    facts_minimal(&winners.facts);
    snprintf(winners.name, sizeof winners.name, "%s", options->name ? options->name : "none");
    snprintf(winners.provenance, sizeof winners.provenance, "nothing was tuned");
    snprintf(winners.platform, sizeof winners.platform, "(none)");
    snprintf(winners.device, sizeof winners.device, "(none)");
    if (is_warning)
        fprintf(stderr, "kiln-tune: warning: nothing is tuned, the generic bundle serves: %s\n",
                why);
    else
        fprintf(stderr, "kiln-tune: %s: nothing to tune\n", why);
    return result_write(options, &winners) && result_write_device(options, &winners.facts)
                 ? EXIT_SUCCESS
                 : EXIT_FAILURE;
}

/* ---- Why something is missing ---- */

/* What became of the evaluations of some kinds in one precision. */
struct tally {
    size_t asked, worked, late;
    const struct record *bad;          /* the last one that did not work, not for lack of time */
};

static struct tally count(const struct tuner *tuner, const struct precision *precision, bool edges)
{
    struct tally tally = { .asked = 0 };
    for (size_t i = 0; i < tuner->records.num; i++) {
        const struct record *r = &tuner->records.rows[i];
        if (r->precision != precision || (r->kind == RECORD_EDGES) != edges)
            continue;
        const bool worked = edges ? !strcmp(r->outcome, "ok") : record_is_timed(r);
        const bool late = record_is_late(r);
        tally.asked++;
        tally.worked += worked;
        tally.late += late;
        if (!worked && !late)
            tally.bad = r;
    }
    return tally;
}

void result_why(const struct tuner *tuner, const struct precision *precision,
        char why[FAMILY_ERROR_BYTES])
{
    const bool is_cut = tuner->is_interrupted && !tuner->is_done[precision - precisions];
    const char *const ended = is_cut ? "interrupted" : "the budget ended";
    const struct tally tried = count(tuner, precision, false);
    const struct tally edges = count(tuner, precision, true);
    struct select_generic against;
    if (!precision_is_there(precision, &tuner->facts))
        snprintf(why, FAMILY_ERROR_BYTES, "the device does not have it");
    else if (!tried.asked)
        snprintf(why, FAMILY_ERROR_BYTES, "%s before it began", ended);
    else if (!tried.worked && tried.bad)
        snprintf(why, FAMILY_ERROR_BYTES, "none of %zu tries worked; the last one, %s: %.150s",
                tried.asked, tried.bad->outcome, tried.bad->message);
    else if (!tried.worked)
        snprintf(why, FAMILY_ERROR_BYTES, "%s before a configuration was timed", ended);
    else if (select_generic(&tuner->records, precision, &against) && against.is_left)
        snprintf(why, FAMILY_ERROR_BYTES, "nothing that is faster than generic was found");
    else if (edges.bad && !edges.late)
        snprintf(why, FAMILY_ERROR_BYTES, "none passed every edge class; the last one, %s: %.150s",
                edges.bad->outcome, edges.bad->message);
    else
        snprintf(why, FAMILY_ERROR_BYTES,
                "%s before more than generic's own recipes was verified on every edge class and "
                "timed",
                ended);
}

/* ---- Reports ---- */

static void warn_precision(const struct options *options, const struct tuner *tuner,
        const struct winners *winners, const struct precision *precision)
{
    char why[FAMILY_ERROR_BYTES];
    struct select_generic against;
    if (!precision_is_there(precision, &tuner->facts))
        fprintf(stderr, "kiln-tune: %s precision: the device does not have it\n", precision->name);
    else if (!winners_recipe(winners, precision, 0)) {
        result_why(tuner, precision, why);
        fprintf(stderr,
                "kiln-tune: warning: nothing for %s precision, the generic bundle serves "
                "it: %s\n",
                precision->name, why);
    } else if (select_generic(&tuner->records, precision, &against)) {
        if (against.is_left)
            fprintf(stderr,
                    "kiln-tune: warning: %s: nothing is faster than the generic bundle, and it "
                    "ships because generic has no binaries\n",
                    precision->name);
        if (against.unverified)
            fprintf(stderr,
                    "kiln-tune: warning: %s: the generic bundle was faster at %u of %u "
                    "shapes, but there was no time to verify its recipe: raise the budget above "
                    "%.0f s\n",
                    precision->name, against.unverified, against.shapes, options->seconds);
        if (against.slower > against.unverified)
            fprintf(stderr,
                    "kiln-tune: %s: at %u of %u shapes a recipe of the generic bundle was "
                    "faster than the one that is predicted to be\n",
                    precision->name, against.slower - against.unverified, against.shapes);
    }
}

static void warn_loss(const struct options *options, const struct winners *winners)
{
    for (unsigned i = 0; i < winners->num_losses; i++) {
        const struct winner_loss *loss = &winners->losses[i];
        if (loss->mean > much_loss && !strcmp(loss->kind, "all"))
            fprintf(stderr,
                    "kiln-tune: warning: %s: at held-out shapes the recipes "
                    "chosen take %.0f %% longer than the best that was timed: raise the budget "
                    "above %.0f s, or name your shapes (--shapes)\n",
                    loss->precision->name, 100 * (loss->mean - 1), options->seconds);
    }
}

void result_report_counts(const struct tuner *tuner)
{
    size_t failures = 0;
    for (size_t i = 0; i < tuner->records.num; i++)
        failures += record_is_failure(&tuner->records.rows[i]);
    fprintf(stderr,
            "kiln-tune: %zu measured, %zu found in the journal, %zu failed; %.0f of %.0f s\n",
            tuner->num_measured, tuner->num_recalled, failures, tuner->spent, tuner->seconds);
}

void result_report_dropped(const struct select_budget *budget)
{
    struct text text = { 0 };
    select_tell_dropped(budget, "kiln-tune", &text);
    if (text.len && !text.failed)
        fputs(text.bytes, stderr);
    text_free(&text);
}

static void report_chosen(const struct winners *winners)
{
    char config[CONFIG_TEXT_BYTES];
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        config_format(&winners->recipes[i].config, config);
        fprintf(stderr, "kiln-tune: %s: %s\n", winners->recipes[i].precision->name, config);
    }
    for (unsigned i = 0; i < winners->num_losses; i++) {
        const struct winner_loss *loss = &winners->losses[i];
        fprintf(stderr,
                "kiln-tune: %s, %s: choosing costs %.1f %%, at worst %.0f %%, on %u "
                "held-out shapes\n",
                loss->precision->name, loss->kind, 100 * (loss->mean - 1), 100 * (loss->worst - 1),
                loss->shapes);
    }
}

/* The name of a folder that lies in tuned/ of a source tree, which ends at *path; or NULL. */
static const char *bundle_folder(char *path)
{
    static const char beside[] = "/bundle_list.c.in";
    char found[PATH_BYTES];
    char *name = strrchr(path, '/');
    if (!name)
        return NULL;
    *name++ = '\0';
    const char *parent = strrchr(path, '/');
    snprintf(found, sizeof found, "%.*s%s", (int) (sizeof found - sizeof beside), path, beside);
    return parent && !strcmp(parent, "/tuned") && !access(found, F_OK) ? name : NULL;
}

void result_report_files(const struct options *options, const char *journal)
{
    char *path = realpath(options->output, NULL);
    const char *name = path ? bundle_folder(path) : NULL;
    fprintf(stderr, "kiln-tune: left in %s: winners.tsv, device.tsv, bundle.c; the journal is %s\n",
            options->output, journal);
    if (name && strcmp(name, "generic"))
        fprintf(stderr, "kiln-tune: to link it: meson configure BUILD -Dbundles=%s,generic\n",
                name);
    free(path);
}

void result_report(const struct options *options, const struct tuner *tuner,
        const struct winners *winners)
{
    if (!tuner->quiet) {
        result_report_counts(tuner);
        report_chosen(winners);
    }
    for (size_t i = 0; i < options->num_precisions; i++)
        warn_precision(options, tuner, winners, options->precisions[i]);
    own_shapes_report(options, tuner, winners);
    warn_loss(options, winners);
}
