/* candidate.c: see candidate.h. */
#include "candidate.h"
#include "phase.h"

#include <stdio.h>
#include <string.h>

/* PoCL 3.1: 6 to 8 MB, of three kernels each (2026-11-30). */
enum { CPU_PROGRAM_BYTES = 8 << 20, KEPT_BY_MEMBER = 4 };
_Static_assert((int) CANDIDATES_KEPT >= (int) TRIAL_MAX_CONFIGS, "all of a request are kept");
_Static_assert((int) MAX_FINALISTS *(int) NUM_PAIRS <= (int) CANDIDATES_KEPT,
        "all finalists are kept, for all pairs");

/* Collects messages, a line each; the first ones are the most telling. */
static void collect(void *user, const char *message)
{
    struct candidate_log *log = user;
    const size_t room = sizeof log->text - log->length;
    const int wrote = snprintf(log->text + log->length, room, "%s\n", message);
    if (wrote > 0)
        log->length += (size_t) wrote < room ? (size_t) wrote : room - 1;
}

/* The first line with an error of the compiler, or else the last line of all. */
static void cause_of(const struct candidate_log *log, char *message, size_t size)
{
    const char *at = log->text, *line = "";
    size_t len = 0;
    while (*at) {
        const size_t here = strcspn(at, "\n");
        if (here) {
            line = at;
            len = here;
        }
        const char *error = strstr(at, "error:");
        if (error && error < at + here) {
            line = error;
            len = here - (size_t) (error - at);
            break;
        }
        at += here + (at[here] == '\n');
    }
    snprintf(message, size, "%.*s", (int) (len < size ? len : size - 1), line);
}

static void spoil(struct candidate *candidate, enum trial_outcome outcome, const char *message)
{
    candidate->outcome = outcome;
    snprintf(candidate->message, sizeof candidate->message, "%s", message);
}

static void candidate_free(struct candidate *candidate)
{
    kiln_context_destroy(&candidate->context);
    assembly_free(&candidate->assembly);
    *candidate = (struct candidate){ .used = 0 };
}

static void candidate_make(struct candidates *candidates, struct candidate *candidate,
        const struct config *config, const struct problem *problem)
{
    char error[FAMILY_ERROR_BYTES];
    const char *reason;
    unsigned index;
    candidate->config = *config;
    candidate->problem = *problem;
    candidate->outcome = TRIAL_OK;
    if (!config_legal(config, problem, candidates->facts, &reason)) {
        spoil(candidate, TRIAL_ILLEGAL, reason);
        return;
    }
    if (!assembly_init(&candidate->assembly, "trial", candidates->facts)) {
        spoil(candidate, TRIAL_BUILD, "out of memory");
        return;
    }
    if (!assembly_add(&candidate->assembly, config, problem, &index, error)) {
        spoil(candidate, TRIAL_BUILD, error);
        return;
    }
    const struct kiln_context_params params = { .bundle = &candidate->assembly.bundle,
        .log = collect,
        .log_user = &candidate->log };
    const enum kiln_status status = kiln_context_create(candidates->launcher->context,
            candidates->launcher->device, &params, &candidate->context);
    candidate->log = (struct candidate_log){ .length = 0 };
    if (status != KILN_SUCCESS) {
        spoil(candidate, TRIAL_BUILD, kiln_status_string(status));
        return;
    }
    reason = kiln_recipe_misfit(params.bundle, &params.bundle->recipes[0],
            &candidate->context->facts);
    if (reason)
        spoil(candidate, TRIAL_BUILD, reason);
}

/* How many are kept: all finalists for all pairs. But drivers of CPUs keep all that the compiler
 * made of a program: so no more than fit into an eighth of the memory, but at least those of a
 * request. */
static unsigned num_kept(const struct launcher *launcher, const struct device_facts *facts,
        bool is_member)
{
    cl_ulong bytes = 0;
    if (is_member)
        return KEPT_BY_MEMBER;
    if (!facts->value[FACT_IS_CPU] || clGetDeviceInfo(launcher->device, CL_DEVICE_GLOBAL_MEM_SIZE,
                                              sizeof bytes, &bytes, NULL) != CL_SUCCESS)
        return CANDIDATES_KEPT;
    const cl_ulong room = bytes / 8 / CPU_PROGRAM_BYTES;
    return room < TRIAL_MAX_CONFIGS ? TRIAL_MAX_CONFIGS
         : room < CANDIDATES_KEPT   ? (unsigned) room
                                    : CANDIDATES_KEPT;
}

struct candidate *candidate_get(struct candidates *candidates, const struct config *config,
        const struct problem *problem)
{
    struct candidate *oldest = &candidates->places[0];
    for (unsigned i = 0; i < candidates->num_kept; i++) {
        struct candidate *place = &candidates->places[i];
        if (place->used && config_equal(&place->config, config) &&
                place->problem.precision == problem->precision &&
                place->problem.transa == problem->transa &&
                place->problem.transb == problem->transb) {
            place->used = ++candidates->clock;
            return place;
        }
        if (place->used < oldest->used)
            oldest = place;
    }
    candidate_free(oldest);
    oldest->used = ++candidates->clock;
    candidate_make(candidates, oldest, config, problem);
    return oldest;
}

void candidate_build(struct candidate *candidate)
{
    if (candidate->outcome == TRIAL_OK)
        kiln_recipe_prepare(candidate->context, &candidate->context->links[0], 0);
}

static const struct kiln_recipe *recipe_of(const struct candidate *candidate)
{
    return &candidate->assembly.bundle.recipes[0];
}

/* The library gives one answer to "does not build" and "is not for this shape". */
static void spoil_refused(struct candidate *candidate, const char *message)
{
    char cause[TRIAL_MESSAGE_BYTES];
    if (candidate->context->links[0].recipes[0].state != KILN_REFUSED) {
        spoil(candidate, TRIAL_LAUNCH, message);
        return;
    }
    cause_of(&candidate->log, cause, sizeof cause);
    spoil(candidate, TRIAL_BUILD, cause);
}

static bool judge(struct candidate *candidate, enum verify_verdict verdict, const char *message)
{
    if (verdict == VERIFY_REFUSED)
        spoil_refused(candidate, message);
    else if (verdict != VERIFY_OK)
        spoil(candidate, verdict == VERIFY_WRONG ? TRIAL_WRONG : TRIAL_LAUNCH, message);
    return verdict == VERIFY_OK;
}

static bool run_checks(struct candidates *candidates, struct candidate *candidate)
{
    struct verify_case exact, gauge;
    char message[VERIFY_MESSAGE_BYTES];
    verify_check_cases(&candidate->problem, recipe_of(candidate), candidate->assembly.edges, &exact,
            &gauge);
    enum verify_verdict verdict = verify_gauge(candidates->verifier, candidate->context, &gauge,
            message);
    if (verdict == VERIFY_OK)
        verdict = verify_exact(candidates->verifier, candidate->context, &exact, message);
    return judge(candidate, verdict, message);
}

static bool answer(const struct candidate *candidate, struct trial_result *result)
{
    result->outcome = candidate->outcome;
    snprintf(result->message, sizeof result->message, "%s", candidate->message);
    return candidate->outcome == TRIAL_OK;
}

/* A first launch may be slow for reasons of its own, which matter less the longer it takes: only a
 * candidate that takes long and is far behind is judged by it. */
static bool far_behind(double seconds, double incumbent)
{
    return incumbent > 0 && seconds > 20e-3 && seconds > 3 * incumbent;
}

/* What cannot be run or verified at one shape, for example for lack of memory, may work at
 * another. */
static bool fails_here(struct trial_result *result, const char *message)
{
    result->outcome = TRIAL_LAUNCH;
    snprintf(result->message, sizeof result->message, "%s", message);
    return false;
}

bool candidate_verify(struct candidates *candidates, struct candidate *candidate,
        struct shape shape, double incumbent, struct trial_result *result)
{
    char message[VERIFY_MESSAGE_BYTES];
    const struct verify_case timed = verify_case_of(&candidate->problem, shape);
    if (!answer(candidate, result))
        return false;
    if (!kiln_guard_takes_extents(&recipe_of(candidate)->guard, shape.m, shape.n, shape.k)) {
        result->outcome = TRIAL_ILLEGAL;
        snprintf(result->message, sizeof result->message, "does not take the shape");
        return false;
    }
    if (!candidate->is_checked && run_checks(candidates, candidate))
        candidate->is_checked = true;
    if (candidate->outcome == TRIAL_OK) {
        const enum verify_verdict verdict = verify_exact(candidates->verifier, candidate->context,
                &timed, message);
        if (verdict != VERIFY_OK && verdict != VERIFY_WRONG)
            return fails_here(result, message);
        judge(candidate, verdict, message);
    }
    if (!answer(candidate, result) || !far_behind(candidates->verifier->seconds, incumbent))
        return result->outcome == TRIAL_OK;
    result->outcome = TRIAL_SLOW;
    result->seconds = candidates->verifier->seconds;
    return false;
}

static bool verify_edge(struct candidates *candidates, struct candidate *candidate,
        const struct edge_case *edge)
{
    char message[VERIFY_MESSAGE_BYTES], named[VERIFY_EDGE_BYTES + VERIFY_MESSAGE_BYTES + 2];
    enum verify_verdict verdict = verify_exact(candidates->verifier, candidate->context, &edge->of,
            message);
    if (verdict == VERIFY_OK && verify_has_reference(&edge->of))
        verdict = verify_gauge(candidates->verifier, candidate->context, &edge->of, message);
    snprintf(named, sizeof named, "%.*s: %s", VERIFY_EDGE_BYTES - 1, edge->name, message);
    return judge(candidate, verdict, named);
}

bool candidate_verify_edges(struct candidates *candidates, struct candidate *candidate,
        struct trial_result *result)
{
    struct edge_case edges[VERIFY_MAX_EDGES];
    const unsigned num = candidate->outcome != TRIAL_OK
                               ? 0
                               : verify_edges(&candidate->problem, recipe_of(candidate),
                                         candidate->assembly.edges, edges);
    for (unsigned i = 0; i < num && candidate->outcome == TRIAL_OK; i++)
        verify_edge(candidates, candidate, &edges[i]);
    return answer(candidate, result);
}

void candidates_init(struct candidates *candidates, struct launcher *launcher,
        struct verifier *verifier, const struct device_facts *facts, bool is_member)
{
    memset(candidates, 0, sizeof *candidates); /* too large for a temporary on a stack */
    candidates->launcher = launcher;
    candidates->verifier = verifier;
    candidates->facts = facts;
    candidates->num_kept = num_kept(launcher, facts, is_member);
}

void candidates_free(struct candidates *candidates)
{
    for (unsigned i = 0; i < candidates->num_kept; i++)
        candidate_free(&candidates->places[i]);
}
