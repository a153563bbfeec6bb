/* peer_openblas.c: OpenBLAS as a peer, twice: with its own choice of core type, and with the one
 * that a short trial finds fastest, as its own choice can be off by a factor of two. The
 * multiplications are done by children (openblas_child.c). Compiled only with OpenBLAS. */
#include "peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "openblas_child.h"
#include "process.h"
#include "stats.h"

/* Core types beside the own choice; a library built without one falls back, which its reported name
 * shows, and a processor without the instructions kills the child: neither becomes a candidate. */
static const char *const openblas_core_types[] = { "SkylakeX", "Haswell", "Zen", "SapphireRapids" };

enum {
    OPENBLAS_MAX_CANDIDATES = 1 + sizeof(openblas_core_types) / sizeof(openblas_core_types[0]),
    OPENBLAS_TRIAL_EXTENT = 512,
    OPENBLAS_TRIAL_ROUNDS = 5
};

struct peer_openblas {
    struct process process;
    const struct problem *problem;
    const char *asked;                 /* OPENBLAS_CORETYPE of the child; NULL: not set */
    char core[64];                     /* as OpenBLAS reports it */
    char config[160];
    int threads;
    double log_time;                   /* of the trial; less is better */
};

/* Sends one request and reads the line in answer. */
static enum peer_answer openblas_ask(struct peer_openblas *openblas, const char *request,
        char *answer, size_t size)
{
    if (fputs(request, openblas->process.to) == EOF || fflush(openblas->process.to) == EOF ||
            fgets(answer, (int) size, openblas->process.from) == NULL) {
        return PEER_FAILED;
    }
    if (strncmp(answer, "ok", 2) == 0) {
        return PEER_OK;
    }
    return strncmp(answer, "refused", 7) == 0 ? PEER_REFUSED : PEER_FAILED;
}

static enum peer_answer openblas_send_problem(struct peer_openblas *openblas,
        const struct problem *problem)
{
    char request[160];
    char answer[64];

    snprintf(request, sizeof(request), "problem %d %d %d %zu %zu %zu %zu\n",
            (int) problem->precision, problem->transa, problem->transb, problem->m, problem->n,
            problem->k, problem->batch);
    return openblas_ask(openblas, request, answer, sizeof(answer));
}

static enum peer_answer openblas_sample(struct peer_openblas *openblas, double min_seconds,
        double *seconds)
{
    char request[64];
    char answer[64];
    enum peer_answer result;

    snprintf(request, sizeof(request), "sample %.6f\n", min_seconds);
    result = openblas_ask(openblas, request, answer, sizeof(answer));
    if (result == PEER_OK && (sscanf(answer, "ok %lf", seconds) != 1 || *seconds <= 0)) {
        return PEER_FAILED;
    }
    return result;
}

/* Starts a child; `core_type` of NULL leaves the choice to OpenBLAS. */
static bool openblas_start(struct peer_openblas *openblas, const char *core_type, int threads)
{
    char number[16];
    char variable[96];
    char answer[512];
    const char *const arguments[] = { OPENBLAS_CHILD_OPTION, number, NULL };
    const char *const environment[] = { variable, "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
        "OMP_NUM_THREADS", NULL };

    openblas->asked = core_type;
    snprintf(number, sizeof(number), "%d", threads);
    snprintf(variable, sizeof(variable), "OPENBLAS_CORETYPE%s%s", core_type != NULL ? "=" : "",
            core_type != NULL ? core_type : "");
    if (!process_start(&openblas->process, arguments, environment, true)) {
        return false;
    }
    if (openblas_ask(openblas, "core\n", answer, sizeof(answer)) != PEER_OK ||
            sscanf(answer, "ok %63s %d %159[^\n]", openblas->core, &openblas->threads,
                    openblas->config) != 3) {
        process_stop(&openblas->process);
        return false;
    }
    return true;
}

/* ---- The trial ---- */

static bool openblas_is_new(const struct peer_openblas *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(candidates[i].core, candidates[count].core) == 0) {
            return false;
        }
    }
    return true;
}

/* Starts a child for every core type that is really another one, the own choice first. */
static size_t openblas_start_candidates(struct peer_openblas *candidates, int threads)
{
    size_t count = 0;

    for (size_t i = 0; i < OPENBLAS_MAX_CANDIDATES; i++) {
        const char *core_type = i == 0 ? NULL : openblas_core_types[i - 1];

        candidates[count] = (struct peer_openblas){ 0 };
        if (!openblas_start(&candidates[count], core_type, threads)) {
            continue;
        }
        if (openblas_is_new(candidates, count)) {
            count++;
        } else {
            process_stop(&candidates[count].process);
        }
    }
    return count;
}

/* Adds the logarithm of each candidate's median time at one precision; a candidate that fails is
 * out for good. Interleaved, as all measurements are. */
static void openblas_try_precision(struct peer_openblas *candidates, size_t count,
        const struct problem *problem, double min_seconds)
{
    double times[OPENBLAS_MAX_CANDIDATES][OPENBLAS_TRIAL_ROUNDS];

    for (size_t i = 0; i < count; i++) {
        if (openblas_send_problem(&candidates[i], problem) != PEER_OK) {
            candidates[i].log_time = 1e300;
        }
    }
    for (int round = 0; round < OPENBLAS_TRIAL_ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            if (openblas_sample(&candidates[i], min_seconds, &times[i][round]) != PEER_OK) {
                times[i][round] = 1;
                candidates[i].log_time = 1e300;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        candidates[i].log_time += log(stats_median(times[i], OPENBLAS_TRIAL_ROUNDS));
    }
}

static bool openblas_try(struct peer_openblas *candidates, size_t count,
        const struct peer_setup *setup)
{
    const struct bench_shape shape = { OPENBLAS_TRIAL_EXTENT, OPENBLAS_TRIAL_EXTENT,
        OPENBLAS_TRIAL_EXTENT };
    struct problem problem;

    for (size_t i = 0; i < setup->num_precisions; i++) {
        if (setup->precisions[i] == KILN_HALF) {
            continue;
        }
        if (!problem_create(&problem, setup->precisions[i], false, false, &shape)) {
            return false;
        }
        openblas_try_precision(candidates, count, &problem, setup->min_seconds);
        problem_destroy(&problem);
    }
    return true;
}

/* Leaves the fastest candidate's child in `best` and stops the others. */
static bool openblas_find_best(struct peer_openblas *best, const struct peer_setup *setup)
{
    struct peer_openblas candidates[OPENBLAS_MAX_CANDIDATES];
    size_t count = openblas_start_candidates(candidates, setup->device->host_threads);
    size_t chosen = 0;
    bool good = count > 0 && openblas_try(candidates, count, setup);

    for (size_t i = 1; i < count; i++) {
        if (candidates[i].log_time < candidates[chosen].log_time) {
            chosen = i;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!good || i != chosen) {
            process_stop(&candidates[i].process);
        }
    }
    if (good) {
        *best = candidates[chosen];
    }
    return good;
}

/* ---- The peers ---- */

static enum peer_answer peer_openblas_prepare(struct peer *peer, const struct problem *problem,
        const struct operands *operands)
{
    struct peer_openblas *openblas = peer->state;

    (void) operands;
    openblas->problem = problem;
    return openblas_send_problem(openblas, problem);
}

static enum peer_answer peer_openblas_result(struct peer *peer, void *c)
{
    struct peer_openblas *openblas = peer->state;
    size_t bytes = openblas->problem->c_bytes;
    size_t promised;
    char answer[64];
    enum peer_answer result = openblas_ask(openblas, "result\n", answer, sizeof(answer));

    if (result != PEER_OK) {
        return result;
    }
    if (sscanf(answer, "ok %zu", &promised) != 1 || promised != bytes ||
            fread(c, 1, bytes, openblas->process.from) != bytes) {
        return PEER_FAILED;
    }
    return PEER_OK;
}

static enum peer_answer peer_openblas_sample(struct peer *peer, double min_seconds,
        struct sample *sample)
{
    *sample = (struct sample){ { 0 } };
    return openblas_sample(peer->state, min_seconds, &sample->seconds[CLOCK_WALL]);
}

static void peer_openblas_close(struct peer *peer)
{
    struct peer_openblas *openblas = peer->state;

    process_stop(&openblas->process);
    free(openblas);
    peer->state = NULL;
}

static const struct peer_class peer_openblas_class = {
    .prepare = peer_openblas_prepare,
    .result = peer_openblas_result,
    .sample = peer_openblas_sample,
    .explain = NULL,
    .close = peer_openblas_close,
};

static bool peer_openblas_open_with(struct peer *peer, const struct peer_setup *setup, bool best)
{
    struct peer_openblas *openblas = calloc(1, sizeof(*openblas));
    bool open;

    if (openblas == NULL) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        return false;
    }
    open = best ? openblas_find_best(openblas, setup)
                : openblas_start(openblas, NULL, setup->device->host_threads);
    if (!open) {
        fprintf(stderr, "kiln-bench: %s: no child of OpenBLAS runs\n", peer->key);
        free(openblas);
        return false;
    }
    snprintf(peer->detail, sizeof(peer->detail),
            "core type %s (OPENBLAS_CORETYPE%s%s), %d threads; %s", openblas->core,
            openblas->asked != NULL ? "=" : " not set",
            openblas->asked != NULL ? openblas->asked : "", openblas->threads, openblas->config);
    peer->class = &peer_openblas_class;
    peer->state = openblas;
    return true;
}

bool peer_openblas_open(struct peer *peer, const struct peer_setup *setup)
{
    return peer_openblas_open_with(peer, setup, false);
}

bool peer_openblas_best_open(struct peer *peer, const struct peer_setup *setup)
{
    return peer_openblas_open_with(peer, setup, true);
}
