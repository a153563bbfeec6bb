/* progress.c: what the user sees while tuning. */
#include "tuner.h"
#include "clock.h"
#include "../core/files.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Between two lines when standard error is not a terminal, seconds. */
static const double quiet_time = 5;

static double gflops(const struct record *r)
{
    const double operations = precision_operations(r->precision, r->shape);
    return record_is_timed(r) ? 1e-9 * operations / r->seconds : 0;
}

static void put_json(const struct tuner *tuner, const struct record *r, bool measured)
{
    char config[CONFIG_TEXT_BYTES];
    struct text text = { 0 };
    config_format(&r->config, config);
    text_add(&text,
            "{\"kind\": \"%s\", \"precision\": \"%s\", \"transposes\": \"%s\", \"m\": %zu, "
            "\"n\": %zu, \"k\": %zu, \"batch\": %zu, \"config\": ",
            record_kind_words[r->kind], r->precision->name, pair_names[r->pair], r->m, r->n, r->k,
            shape_members(r->shape));
    text_quote_json(&text, config);
    text_add(&text,
            ", \"outcome\": \"%s\", \"seconds\": %.9g, \"gflops\": %.4g, "
            "\"measured\": %s, \"spent\": %.3f, \"budget\": %.3f, \"message\": ",
            r->outcome, r->seconds, gflops(r), measured ? "true" : "false", tuner->spent,
            tuner->budget);
    text_quote_json(&text, r->message);
    printf("%s}\n", text.failed ? "{" : text.bytes);
    files_flush_output();
    text_free(&text);
}

static void put_line(struct tuner *tuner, bool terminal)
{
    const double left = tuner->budget > tuner->spent ? tuner->budget - tuner->spent : 0;
    char best[32] = "";
    if (tuner->best_gflops > 0)
        snprintf(best, sizeof best, "best %.3g GFLOP/s, ", tuner->best_gflops);
    fprintf(stderr, "%s%s: %zu measured, %s%d:%02d left%s",
            terminal ? "\r\033[K" : "kiln-tune: ", tuner->phase, tuner->num_measured, best,
            (int) left / 60, (int) left % 60, terminal ? "" : "\n");
    fflush(stderr);
}

void progress_row(struct tuner *tuner, const struct record *record, bool measured)
{
    if (record->kind != RECORD_EDGES && gflops(record) > tuner->best_gflops &&
            !strcmp(record->outcome, "ok"))
        tuner->best_gflops = gflops(record);
    if (tuner->json)
        put_json(tuner, record, measured);
    const bool terminal = isatty(STDERR_FILENO);
    const double now = clock_now();
    if (tuner->quiet || (!terminal && now - tuner->last_line < quiet_time))
        return;
    tuner->last_line = now;
    put_line(tuner, terminal);
}

void progress_phase(struct tuner *tuner, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(tuner->phase, sizeof tuner->phase, format, args);
    va_end(args);
    tuner->best_gflops = 0;
}

void progress_end(struct tuner *tuner)
{
    if (tuner->json) {
        printf("{\"kind\": \"end\", \"measured\": %zu, \"recalled\": %zu, \"spent\": %.3f, "
               "\"budget\": %.3f}\n",
                tuner->num_measured, tuner->num_recalled, tuner->spent, tuner->budget);
        files_flush_output();
    }
    if (!tuner->quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}
