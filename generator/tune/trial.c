/* trial.c: the child process in which candidates are built, verified and timed.
 *
 * It answers the requests of protocol.h. Ctrl-C is the parent's to handle.
 */
#include "candidate.h"
#include "child.h"
#include "device.h"
#include "protocol.h"
#include "processors.h"
#include "timing.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    char line[PROTOCOL_LINE_BYTES];
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
    char line[PROTOCOL_LINE_BYTES];
    protocol_write_result(config, result, line);
    say(trial, "%s", line);
}

static void say_begin(struct trial *trial, unsigned config)
{
    char line[PROTOCOL_LINE_BYTES];
    protocol_write_begin(config, line);
    say(trial, "%s", line);
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
            candidate_build(
                    candidate_get(&trial->candidates, &request->configs[i], &request->problem));
}

/* The next line of the parent, without its newline. */
static bool hear(char line[PROTOCOL_LINE_BYTES])
{
    if (!fgets(line, PROTOCOL_LINE_BYTES, stdin))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* Reads the configs of a request. One that does not parse is answered here and gets no family. */
static bool read_configs(struct trial *trial, struct trial_request *request)
{
    char line[PROTOCOL_LINE_BYTES];
    for (unsigned i = 0; i < request->num_configs; i++) {
        struct trial_result result = { .outcome = TRIAL_ILLEGAL };
        if (!hear(line) || !protocol_read_config(line, &request->configs[i], result.message))
            return false;
        if (!request->configs[i].family && request->kind != TRIAL_BUILD_ONLY)
            say_result(trial, i, &result);
    }
    return true;
}

static void timing_begins(void *user, unsigned entry)
{
    const struct timed *timed = user;
    say_begin(timed->trial, timed->config[entry]);
}

static struct kiln_gemm timed_gemm(const struct trial *trial, const struct trial_request *request)
{
    struct kiln_gemm gemm = launcher_gemm(&request->problem, request->shape);
    gemm.a = trial->data.buffers[0].memory;
    gemm.b = trial->data.buffers[1].memory;
    gemm.c = trial->data.buffers[2].memory;
    return gemm;
}

/* Adds a verified candidate to those that are timed. */
static enum kiln_status add_timed(struct timed *timed, const struct trial_request *request,
        struct candidate *candidate, unsigned config)
{
    struct timing_entry *entry = &timed->entries[timed->num];
    timed->config[timed->num] = config;
    *entry = (struct timing_entry){ .context = candidate->context,
        .gemm = timed_gemm(timed->trial, request),
        .result = &timed->results[timed->num] };
    const enum kiln_status status = launcher_prepare(&timed->trial->launcher, candidate->context,
            &entry->gemm);
    if (status == KILN_SUCCESS)
        timed->num++;
    return status;
}

static enum kiln_status reserve_data(struct trial *trial, const struct trial_request *request)
{
    const struct shape s = request->shape;
    const size_t sides[3][2] = { { s.m, s.k }, { s.k, s.n }, { s.m, s.n } };
    size_t elements[3];
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(sides[i][0], sides[i][1], &elements[i]) ||
                __builtin_mul_overflow(elements[i], shape_members(s), &elements[i]))
            return KILN_SIZE_OVERFLOW;
    return timing_data_reserve(&trial->data, &trial->launcher, request->problem.precision,
            elements);
}

/* After a failure this process may have lost the device, and every later candidate would be blamed
 * for it. Then the process ends, and the parent starts another. */
static void leave_if_lost(struct trial *trial, const struct trial_result *result)
{
    char error[LAUNCHER_MESSAGE_BYTES];
    if ((result->outcome == TRIAL_LAUNCH || result->outcome == TRIAL_WRONG) &&
            !launcher_canary(&trial->launcher, error))
        _exit(EXIT_FAILURE);
}

/* Begins to answer for a configuration. NULL where a request has none. */
static struct candidate *begin_answer(struct trial *trial, const struct trial_request *request,
        unsigned i)
{
    if (!request->configs[i].family)
        return NULL;
    say_begin(trial, i);
    return candidate_get(&trial->candidates, &request->configs[i], &request->problem);
}

/* Verifies a candidate and adds it to those that are timed; false with a result. There is no room
 * for its operands if `room` is a failure: then it is not verified, as the host would need as much
 * memory. */
static bool verify_and_add(struct timed *timed, const struct trial_request *request,
        enum kiln_status room, struct candidate *candidate, unsigned config,
        struct trial_result *result)
{
    if (room == KILN_SUCCESS && !candidate_verify(&timed->trial->candidates, candidate,
                                        request->shape, request->incumbent, result))
        return false;
    const enum kiln_status status = room == KILN_SUCCESS
                                          ? add_timed(timed, request, candidate, config)
                                          : room;
    if (status == KILN_SUCCESS)
        return true;
    result->outcome = TRIAL_LAUNCH;
    snprintf(result->message, sizeof result->message, "%s", kiln_status_string(status));
    return false;
}

/* Queues one config for timing, or answers it. */
static void measure_begin(struct timed *timed, const struct trial_request *request,
        enum kiln_status room, unsigned i)
{
    struct trial *trial = timed->trial;
    struct trial_result result = { .outcome = TRIAL_OK };
    struct candidate *candidate = begin_answer(trial, request, i);
    if (!candidate || verify_and_add(timed, request, room, candidate, i, &result))
        return;
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
    static struct timed timed; /* too large for the stack; one request at a time */
    memset(&timed, 0, sizeof timed);
    timed.trial = trial;
    const enum kiln_status room = reserve_data(trial, request);
    for (unsigned i = 0; i < request->num_configs; i++)
        measure_begin(&timed, request, room, i);
    share_workspace(&timed);
    struct timing_limits limits = { .incumbent = request->incumbent,
        .least = timing_least(&trial->facts, request->problem.precision, request->shape) };
    timing_choose_samples(&trial->facts, timed.num, &limits);
    timing_run(&trial->launcher, timed.entries, timed.num, &limits, timing_begins, &timed);
    for (unsigned i = 0; i < timed.num; i++)
        say_result(trial, timed.config[i], &timed.results[i]);
    for (unsigned i = 0; i < timed.num; i++)
        leave_if_lost(trial, &timed.results[i]);
}

static void verify_all_edges(struct trial *trial, const struct trial_request *request)
{
    for (unsigned i = 0; i < request->num_configs; i++) {
        struct trial_result result = { .outcome = TRIAL_OK };
        struct candidate *candidate = begin_answer(trial, request, i);
        if (!candidate)
            continue;
        candidate_verify_edges(&trial->candidates, candidate, &result);
        say_result(trial, i, &result);
        leave_if_lost(trial, &result);
    }
}

/* Builds each, and answers. What the compiler refuses shows again when it is needed. */
static void compile_all(struct trial *trial, const struct trial_request *request)
{
    for (unsigned i = 0; i < request->num_configs; i++) {
        struct trial_result result = { .outcome = TRIAL_OK };
        struct candidate *candidate = begin_answer(trial, request, i);
        if (!candidate)
            continue;
        candidate_build(candidate);
        result.outcome = candidate->outcome;
        snprintf(result.message, sizeof result.message, "%s", candidate->message);
        say_result(trial, i, &result);
    }
}

/* One request. False when it is none that the child knows. */
static bool serve(struct trial *trial, const char *line)
{
    static struct trial_request request;
    if (!strcmp(line, "canary")) {
        answer_canary(trial);
        return true;
    }
    if (!protocol_read_request(line, &request) || !read_configs(trial, &request)) {
        say(trial, "error not a request: %s", line);
        return false;
    }
    if (request.kind == TRIAL_BUILD_ONLY) {
        build_all(trial, &request);
        return true;
    }
    if (request.kind == TRIAL_MEASURE)
        measure(trial, &request);
    else if (request.kind == TRIAL_EDGES)
        verify_all_edges(trial, &request);
    else
        compile_all(trial, &request);
    say(trial, "done");
    return true;
}

/* ---- The process ---- */

static void greet(struct trial *trial)
{
    char line[PROTOCOL_LINE_BYTES];
    for (unsigned i = 0; i < PROTOCOL_GREETING_LINES; i++) {
        protocol_write_greeting(&trial->facts, i, line);
        say(trial, "%s", line);
    }
}

static bool lessen_facts(struct trial *trial, const char *file, char error[FAMILY_ERROR_BYTES])
{
    struct device_facts least;
    if (!file)
        return true;
    if (!facts_read(file, &least, error))
        return false;
    facts_lessen(&trial->facts, &least);
    return true;
}

static bool open_device(struct trial *trial, const char *name, const char *facts)
{
    char error[FAMILY_ERROR_BYTES];
    cl_device_id device;
    if (!device_find(name, &device, error)) {
        say(trial, "absent %s", error);
        return false;
    }
    if (device_facts(device, &trial->facts, error) && lessen_facts(trial, facts, error) &&
            launcher_open(&trial->launcher, device, error))
        return true;
    say(trial, "error %s", error);
    return false;
}

int trial_main(const char *device, const char *facts, bool is_member)
{
    char line[PROTOCOL_LINE_BYTES];
    struct trial *trial = calloc(1, sizeof *trial);
    signal(SIGINT, SIG_IGN);
    if (!is_member)
        processors_bind_pocl();
    if (!trial || !(trial->out = child_output())) {
        free(trial);
        return EXIT_FAILURE;
    }
    bool ok = open_device(trial, device, facts);
    if (ok) {
        verifier_init(&trial->verifier, &trial->launcher);
        candidates_init(&trial->candidates, &trial->launcher, &trial->verifier, &trial->facts,
                is_member);
        greet(trial);
        while (ok && hear(line))
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
