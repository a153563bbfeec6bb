/* trial.c: the child process in which candidates are built, verified and timed.
 *
 * The protocol is text, a line at a time; fields are separated by one space, and the last field of
 * a line may contain spaces. The child speaks first:
 *
 *     kiln-trial 2                         or, when it cannot work:  error MESSAGE
 *                                          or, when there is no such device:  absent MESSAGE
 *     platform NAME
 *     device NAME
 *     driver VERSION
 *     unit ADDRESS                         which of several alike; may be empty
 *     facts V0 V1 ...                      in the order of facts.inc
 *
 * Then requests come on standard input, one after the other, each when the last is answered:
 *
 *     canary                               a kernel with a known answer
 *         -> canary ok                     or:  canary MESSAGE
 *     measure P TA TB M N K INCUMBENT NUM  P: BLAS letter; TA, TB: 0 or 1; seconds, 0 for none
 *     edges P TA TB NUM
 *         followed by NUM lines:           config TEXT
 *         -> begin I                       before work on config I (from 0), any number of times
 *         -> result I WORD SECONDS SPREAD MESSAGE    WORD: see TRIAL_OUTCOMES; MESSAGE may be empty
 *         -> done                          after NUM results, which come in any order
 *     build P TA TB NUM                    and NUM lines as above; no answer: what they name is
 *                                          built, so that a request to come finds it so
 *
 * The child ends when standard input does. Whatever a driver prints goes to standard error, never
 * between these lines. Ctrl-C is the parent's to handle.
 */
#include "candidate.h"
#include "device.h"
#include "timing.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 512, PROTOCOL = 2 };
_Static_assert((int) TRIAL_MESSAGE_BYTES >= (int) FAMILY_ERROR_BYTES, "messages are passed on");

struct trial {
    FILE *out;
    struct device_facts facts;
    struct launcher launcher;
    struct verifier verifier;
    struct candidates candidates;
    struct timing_data data;
};

/* A measure request under way: which configs are timed. */
struct timed {
    struct trial *trial;
    unsigned num;
    unsigned config[TRIAL_MAX_CONFIGS];
    struct timing_entry entries[TRIAL_MAX_CONFIGS];
    struct trial_result results[TRIAL_MAX_CONFIGS];
};

static void say(struct trial *trial, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *p = line; *p; p++)
        if ((unsigned char) *p < ' ')
            *p = ' ';
    fprintf(trial->out, "%s\n", line);
    fflush(trial->out);
}

static void say_result(struct trial *trial, unsigned config, const struct trial_result *result)
{
    say(trial, "result %u %s %.9g %.4g %s", config, trial_outcome_words[result->outcome],
            result->seconds, result->spread, result->message);
}

/* ---- Requests ---- */

static void answer_canary(struct trial *trial)
{
    char error[LAUNCHER_MESSAGE_BYTES];
    say(trial, "canary %s", launcher_canary(&trial->launcher, error) ? "ok" : error);
}

static void build_all(struct trial *trial, const struct trial_request *request)
{
    for (unsigned i = 0; i < request->num_configs; i++)
        if (request->configs[i].family)
            candidate_build(candidate_get(&trial->candidates, &request->configs[i],
                        &request->problem));
}

/* Reads the configs of a request. One that does not parse is answered here and gets no family. */
static bool read_configs(struct trial *trial, struct trial_request *request)
{
    char line[LINE_BYTES];
    for (unsigned i = 0; i < request->num_configs; i++) {
        if (!fgets(line, sizeof line, stdin) || strncmp(line, "config ", 7))
            return false;
        line[strcspn(line, "\n")] = '\0';
        struct trial_result result = { .outcome = TRIAL_ILLEGAL };
        if (!config_parse(line + 7, &request->configs[i], result.message)) {
            request->configs[i].family = NULL;
            if (request->kind != TRIAL_BUILD_ONLY)
                say_result(trial, i, &result);
        }
    }
    return true;
}

static void say_begin(void *user, unsigned entry)
{
    const struct timed *timed = user;
    say(timed->trial, "begin %u", timed->config[entry]);
}

static struct kiln_gemm timed_gemm(const struct trial *trial, const struct trial_request *request)
{
    return (struct kiln_gemm) {
        .precision = (enum kiln_precision) request->problem.precision->bits,
        .layout = KILN_ROW_MAJOR,
        .transa = request->problem.transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = request->problem.transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = request->m, .n = request->n, .k = request->k, .alpha = 1,
        .a = trial->data.buffers[0].memory, .b = trial->data.buffers[1].memory,
        .c = trial->data.buffers[2].memory,
    };
}

/* Adds a verified candidate to those that are timed. */
static enum kiln_status add_timed(struct timed *timed, const struct trial_request *request,
        struct candidate *candidate, unsigned config)
{
    struct timing_entry *entry = &timed->entries[timed->num];
    timed->config[timed->num] = config;
    *entry = (struct timing_entry) { .context = candidate->context,
            .gemm = timed_gemm(timed->trial, request), .result = &timed->results[timed->num] };
    const enum kiln_status status = launcher_prepare(&timed->trial->launcher, candidate->context,
            &entry->gemm);
    if (status == KILN_SUCCESS)
        timed->num++;
    return status;
}

static enum kiln_status reserve_data(struct trial *trial, const struct trial_request *request)
{
    size_t elements[3];
    if (__builtin_mul_overflow(request->m, request->k, &elements[0]) ||
        __builtin_mul_overflow(request->k, request->n, &elements[1]) ||
        __builtin_mul_overflow(request->m, request->n, &elements[2]))
        return KILN_SIZE_OVERFLOW;
    return timing_data_reserve(&trial->data, &trial->launcher, request->problem.precision,
            elements);
}

/* After a failure the device itself may be lost to this process, which would be blamed on every
 * candidate to come: then the process ends, and the parent starts another. */
static void leave_if_lost(struct trial *trial, const struct trial_result *result)
{
    char error[LAUNCHER_MESSAGE_BYTES];
    if ((result->outcome == TRIAL_LAUNCH || result->outcome == TRIAL_WRONG) &&
        !launcher_canary(&trial->launcher, error))
        _exit(EXIT_FAILURE);
}

/* Verifies one config and queues it for timing, or answers it. */
static void measure_begin(struct timed *timed, const struct trial_request *request, unsigned i)
{
    struct trial *trial = timed->trial;
    struct trial_result result = { .outcome = TRIAL_OK };
    say(trial, "begin %u", i);
    struct candidate *candidate = candidate_get(&trial->candidates, &request->configs[i],
            &request->problem);
    if (candidate_verify(&trial->candidates, candidate, request->m, request->n, request->k,
                request->incumbent, &result)) {
        enum kiln_status status = reserve_data(trial, request);
        if (status == KILN_SUCCESS)
            status = add_timed(timed, request, candidate, i);
        if (status == KILN_SUCCESS)
            return;
        result.outcome = TRIAL_LAUNCH;
        snprintf(result.message, sizeof result.message, "%s", kiln_status_string(status));
    }
    say_result(trial, i, &result);
    leave_if_lost(trial, &result);
}

/* The workspace may have moved while later candidates were prepared: all get the last one. */
static void share_workspace(struct timed *timed)
{
    for (unsigned i = 0; i < timed->num; i++)
        if (timed->entries[i].gemm.workspace)
            timed->entries[i].gemm.workspace = timed->trial->launcher.workspace;
}

static void measure(struct trial *trial, const struct trial_request *request)
{
    static struct timed timed;         /* too large for a stack by habit; one request at a time */
    memset(&timed, 0, sizeof timed);
    timed.trial = trial;
    for (unsigned i = 0; i < request->num_configs; i++)
        if (request->configs[i].family)
            measure_begin(&timed, request, i);
    share_workspace(&timed);
    const struct timing_limits limits = { .incumbent = request->incumbent,
            .sample = timing_sample(&trial->facts),
            .sustained = !trial->facts.value[FACT_IS_CPU],
            .least = timing_least(&trial->facts, request->problem.precision, request->m, request->n,
                    request->k) };
    timing_run(&trial->launcher, timed.entries, timed.num, &limits, say_begin, &timed);
    for (unsigned i = 0; i < timed.num; i++)
        say_result(trial, timed.config[i], &timed.results[i]);
    for (unsigned i = 0; i < timed.num; i++)
        leave_if_lost(trial, &timed.results[i]);
}

static void verify_all_edges(struct trial *trial, const struct trial_request *request)
{
    for (unsigned i = 0; i < request->num_configs; i++) {
        if (!request->configs[i].family)
            continue;
        struct trial_result result = { .outcome = TRIAL_OK };
        say(trial, "begin %u", i);
        struct candidate *candidate = candidate_get(&trial->candidates, &request->configs[i],
                &request->problem);
        candidate_verify_edges(&trial->candidates, candidate, &result);
        say_result(trial, i, &result);
        leave_if_lost(trial, &result);
    }
}

/* Reads a request's first line. */
static bool parse_request(const char *line, struct trial_request *request)
{
    char letter[2];
    int transa, transb;
    *request = (struct trial_request) { .kind = TRIAL_MEASURE };
    if (sscanf(line, "measure %1s %d %d %zu %zu %zu %lf %u", letter, &transa, &transb, &request->m,
            &request->n, &request->k, &request->incumbent, &request->num_configs) != 8) {
        char word[8];
        if (sscanf(line, "%7s %1s %d %d %u", word, letter, &transa, &transb,
                &request->num_configs) != 5 || (strcmp(word, "edges") && strcmp(word, "build")))
            return false;
        request->kind = strcmp(word, "edges") ? TRIAL_BUILD_ONLY : TRIAL_EDGES;
    }
    request->problem = (struct problem) { precision_find(letter), transa == 1, transb == 1 };
    return request->problem.precision && request->num_configs >= 1 &&
           request->num_configs <= TRIAL_MAX_CONFIGS;
}

/* One request. False when it is none that the child knows. */
static bool serve(struct trial *trial, const char *line)
{
    static struct trial_request request;
    if (!strcmp(line, "canary\n")) {
        answer_canary(trial);
        return true;
    }
    if (!parse_request(line, &request) || !read_configs(trial, &request)) {
        say(trial, "error not a request: %s", line);
        return false;
    }
    if (request.kind == TRIAL_BUILD_ONLY) {
        build_all(trial, &request);
        return true;
    }
    if (request.kind == TRIAL_MEASURE)
        measure(trial, &request);
    else
        verify_all_edges(trial, &request);
    say(trial, "done");
    return true;
}

/* ---- The process ---- */

static void greet(struct trial *trial)
{
    char values[LINE_BYTES] = "";
    int at = 0;
    for (int i = 0; i < NUM_FACTS && at < LINE_BYTES; i++)
        at += snprintf(values + at, (size_t) (LINE_BYTES - at), " %ld", trial->facts.value[i]);
    say(trial, "kiln-trial %d", PROTOCOL);
    say(trial, "platform %s", trial->facts.platform);
    say(trial, "device %s", trial->facts.device);
    say(trial, "driver %s", trial->facts.driver);
    say(trial, "unit %s", trial->facts.unit);
    say(trial, "facts%s", values);
}

static bool open_device(struct trial *trial, const char *name)
{
    char error[FAMILY_ERROR_BYTES];
    cl_device_id device;
    if (!device_find(name, &device, error)) {
        say(trial, "absent %s", error);
        return false;
    }
    if (device_facts(device, &trial->facts, error) &&
        launcher_open(&trial->launcher, device, error))
        return true;
    say(trial, "error %s", error);
    return false;
}

/* Standard output is the protocol's alone: what drivers print must not come between its lines. */
static FILE *take_output(void)
{
    fflush(stdout);
    const int own = dup(STDOUT_FILENO);
    if (own < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return NULL;
    return fdopen(own, "w");
}

int trial_main(const char *device)
{
    char line[LINE_BYTES];
    struct trial *trial = calloc(1, sizeof *trial);
    signal(SIGINT, SIG_IGN);
    if (!trial || !(trial->out = take_output())) {
        free(trial);
        return EXIT_FAILURE;
    }
    bool ok = open_device(trial, device);
    if (ok) {
        verifier_init(&trial->verifier, &trial->launcher);
        candidates_init(&trial->candidates, &trial->launcher, &trial->verifier, &trial->facts);
        greet(trial);
        while (ok && fgets(line, sizeof line, stdin))
            ok = serve(trial, line);
        timing_data_free(&trial->data);
        candidates_free(&trial->candidates);
        verifier_free(&trial->verifier);
        launcher_close(&trial->launcher);
    }
    fclose(trial->out);
    free(trial);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
