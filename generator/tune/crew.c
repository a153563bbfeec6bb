/* crew.c: see crew.h. */
#include "crew.h"
#include "clock.h"
#include "processors.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A job that was begun gets at least so many seconds: 0 would mean no limit. */
static const double least_total = 1e-3;

/* What the machine must have for each member: PoCL's take 0.2 to 0.25 GB (2026-11-30). */
static const double member_bytes = 512e6;

struct member {
    struct crew *crew;
    pthread_t thread;
    struct supervisor *supervisor;     /* its thread's alone; NULL until it is needed */
};

struct crew {
    const char *program, *device;
    unsigned size;
    struct member members[CREW_MOST];
    unsigned num_started;              /* threads, those that have left among them */
    pthread_mutex_t mutex;             /* of all below */
    pthread_cond_t given, changed;     /* for the members; for those who wait for them */
    struct crew_work work;
    unsigned num_present, num_busy;    /* members */
    bool is_closing;
};

unsigned crew_size(long cores, double memory)
{
    const double most = fmin(fmin((double) cores, floor(memory / member_bytes)), CREW_MOST);
    return most < 2 ? 0 : (unsigned) most;
}

unsigned crew_size_here(long left_alone)
{
    return crew_size(processors_usable() - left_alone,
            (double) sysconf(_SC_PHYS_PAGES) * (double) sysconf(_SC_PAGESIZE));
}

struct crew *crew_open(const char *program, const char *device, unsigned size)
{
    struct crew *crew = calloc(1, sizeof *crew);
    if (!crew)
        return NULL;
    crew->program = program;
    crew->device = device;
    crew->size = size < CREW_MOST ? size : CREW_MOST;
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->given, NULL);
    pthread_cond_init(&crew->changed, NULL);
    return crew;
}

void crew_close(struct crew **crew)
{
    if (!*crew)
        return;
    pthread_mutex_lock(&(*crew)->mutex);
    (*crew)->is_closing = true;
    pthread_cond_broadcast(&(*crew)->given);
    pthread_mutex_unlock(&(*crew)->mutex);
    for (unsigned i = 0; i < (*crew)->num_started; i++)
        pthread_join((*crew)->members[i].thread, NULL);
    pthread_cond_destroy(&(*crew)->changed);
    pthread_cond_destroy(&(*crew)->given);
    pthread_mutex_destroy(&(*crew)->mutex);
    free(*crew);
    *crew = NULL;
}

/* ---- A member; the crew's mutex is held but while it works ---- */

/* The first job that may be begun; NULL when there is none. */
static struct job *next_job(const struct crew *crew)
{
    const struct crew_work *work = &crew->work;
    if (!work->num || *work->stop || clock_now() >= work->until)
        return NULL;
    for (unsigned i = 0; i < work->num; i++)
        if (work->jobs[i].state == JOB_FREE)
            return &work->jobs[i];
    return NULL;
}

/* Without the mutex. False when the member can do no job any more. */
static bool work_on(struct member *member, const struct crew_work *work, struct job *job,
        bool *is_done)
{
    struct trial_request request = { .kind = work->kind,
        .problem = job->problem,
        .num_configs = 1,
        .deadline = work->deadline };
    char error[TRIAL_MESSAGE_BYTES];
    *is_done = false;
    if (!member->supervisor)
        member->supervisor = supervise_open_member(member->crew->program, member->crew->device,
                work->stop, error);
    if (!member->supervisor)
        return *work->stop;
    request.configs[0] = job->config;
    request.total = fmax(work->until - clock_now(), least_total);
    *is_done = supervise_run(member->supervisor, &request, &job->result, work->stop);
    return *is_done || *work->stop;
}

static void *serve(void *user)
{
    struct member *member = user;
    struct crew *crew = member->crew;
    bool is_fit = true;
    pthread_mutex_lock(&crew->mutex);
    while (is_fit && !crew->is_closing) {
        struct job *job = next_job(crew);
        if (!job) {
            pthread_cond_broadcast(&crew->changed);
            pthread_cond_wait(&crew->given, &crew->mutex);
            continue;
        }
        const struct crew_work work = crew->work;
        bool is_done;
        job->state = JOB_TAKEN;
        crew->num_busy++;
        pthread_mutex_unlock(&crew->mutex);
        is_fit = work_on(member, &work, job, &is_done);
        pthread_mutex_lock(&crew->mutex);
        crew->num_busy--;
        job->state = is_done ? JOB_DONE : JOB_FREE;
        if (!is_done)
            pthread_cond_broadcast(&crew->given);
        pthread_cond_broadcast(&crew->changed);
    }
    crew->num_present--;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->mutex);
    supervise_close(&member->supervisor);
    return NULL;
}

/* ---- Who has the crew ---- */

void crew_begin(struct crew *crew, const struct crew_work *work)
{
    pthread_mutex_lock(&crew->mutex);
    crew->work = *work;
    while (crew->num_started < crew->size && crew->num_started < work->num) {
        struct member *member = &crew->members[crew->num_started];
        member->crew = crew;
        if (pthread_create(&member->thread, NULL, serve, member)) {
            crew->size = crew->num_started;
            break;
        }
        crew->num_started++;
        crew->num_present++;
    }
    pthread_cond_broadcast(&crew->given);
    pthread_mutex_unlock(&crew->mutex);
}

bool crew_await(struct crew *crew, unsigned job)
{
    const struct job *awaited = &crew->work.jobs[job];
    pthread_mutex_lock(&crew->mutex);
    while (awaited->state != JOB_DONE && (crew->num_busy || (crew->num_present && next_job(crew))))
        pthread_cond_wait(&crew->changed, &crew->mutex);
    const bool is_done = awaited->state == JOB_DONE;
    pthread_mutex_unlock(&crew->mutex);
    return is_done;
}

void crew_end(struct crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->work.num = 0;
    while (crew->num_busy)
        pthread_cond_wait(&crew->changed, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
}
