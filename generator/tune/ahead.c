/* ahead.c: see ahead.h. */
#include "ahead.h"

#include <stdlib.h>

struct builder {
    struct supervisor *supervisor;     /* NULL until it is needed */
    bool busy;
    struct problem problem;
    struct config config;
};

struct ahead {
    const char *program, *device;
    unsigned num;                      /* builders that the machine has cores for */
    struct builder builders[AHEAD + 1];
};

struct ahead *ahead_open(const char *program, const char *device, long cores)
{
    struct ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return NULL;
    ahead->program = program;
    ahead->device = device;
    ahead->num = cores <= 2 ? 0 : cores - 1 < AHEAD + 1 ? (unsigned) cores - 1 : AHEAD + 1;
    return ahead;
}

void ahead_close(struct ahead **ahead)
{
    for (unsigned i = 0; *ahead && i < AHEAD + 1; i++)
        supervise_close(&(*ahead)->builders[i].supervisor);
    free(*ahead);
    *ahead = NULL;
}

/* An idle builder; its process is started. If a process cannot be started nothing is lost: what it
 * was to build is built when it is measured. */
static struct builder *free_builder(struct ahead *ahead, const volatile int *stop)
{
    struct device_facts facts;
    char error[TRIAL_MESSAGE_BYTES];
    for (unsigned i = 0; i < ahead->num; i++) {
        struct builder *builder = &ahead->builders[i];
        if (builder->busy)
            continue;
        if (!builder->supervisor)
            builder->supervisor = supervise_open(ahead->program, ahead->device, stop, &facts,
                    error);
        if (!builder->supervisor)
            ahead->num = i;
        return builder->supervisor ? builder : NULL;
    }
    return NULL;
}

void ahead_build(struct ahead *ahead, const struct trial_request *request, const volatile int *stop)
{
    struct builder *builder = free_builder(ahead, stop);
    if (!builder)
        return;
    builder->busy = supervise_build(builder->supervisor, request);
    builder->problem = request->problem;
    builder->config = request->configs[0];
}

struct supervisor *ahead_take(struct ahead *ahead, const struct trial_request *request)
{
    const int pair = pair_of_problem(&request->problem);
    for (unsigned i = 0; i < ahead->num; i++) {
        struct builder *builder = &ahead->builders[i];
        if (builder->busy && builder->problem.precision == request->problem.precision &&
                pair_of_problem(&builder->problem) == pair &&
                config_equal(&builder->config, &request->configs[0])) {
            builder->busy = false;
            return builder->supervisor;
        }
    }
    return NULL;
}
