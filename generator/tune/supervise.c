/* supervise.c: the parent's side of the protocol that protocol.h describes.
 *
 * The child may do anything: die, hang, write nonsense, write without end. If it does anything
 * other than answer, it is killed with its whole process group, and the config that it had begun
 * has failed. The others are sent to a new child. Where somebody else killed the child (one who
 * looks after memory, an administrator), the config is tried once more.
 */
#include "supervise.h"
#include "clock.h"
#include "child.h"
#include "lock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int) TRIAL_MESSAGE_BYTES >= (int) CHILD_CAUSE_BYTES, "causes are passed on");

static const double greeting_seconds = 60; /* a driver may take long to come up */
static const double canary_seconds = 30;

struct supervisor {
    char *program, *device;
    struct child child;
    struct lock *lock;                 /* NULL: a member, which works in another one's turns */
    double waited;
    bool is_member;
    bool is_absent;                    /* the child says that there is no such device */
};

/* ---- Greeting and canary ---- */

static bool hear_greeting(struct supervisor *supervisor, struct device_facts *facts,
        const volatile int *stop, char error[TRIAL_MESSAGE_BYTES])
{
    char line[CHILD_LINE_BYTES] = "";
    const double deadline = clock_now() + greeting_seconds;
    *facts = (struct device_facts){ .value = { 0 } };
    for (unsigned number = 0; number < PROTOCOL_GREETING_LINES; number++) {
        const enum heard heard = child_hear(&supervisor->child, deadline, stop, line);
        if (heard == HEARD_LINE && protocol_read_greeting(line, number, facts))
            continue;
        child_dismiss(&supervisor->child, heard, greeting_seconds, line, error);
        const bool absent = heard == HEARD_LINE && !strncmp(line, "absent ", 7);
        if (absent || (heard == HEARD_LINE && !strncmp(line, "error ", 6)))
            snprintf(error, TRIAL_MESSAGE_BYTES, "%.*s", TRIAL_MESSAGE_BYTES - 1,
                    strchr(line, ' ') + 1);
        supervisor->is_absent = absent;
        return false;
    }
    return true;
}

static bool hear_canary(struct supervisor *supervisor, const volatile int *stop,
        char error[TRIAL_MESSAGE_BYTES])
{
    char line[CHILD_LINE_BYTES] = "", cause[TRIAL_MESSAGE_BYTES];
    enum heard heard = HEARD_END;
    if (child_tell(&supervisor->child, "canary\n"))
        heard = child_hear(&supervisor->child, clock_now() + canary_seconds, stop, line);
    if (heard == HEARD_LINE && !strcmp(line, "canary ok"))
        return true;
    child_dismiss(&supervisor->child, heard, canary_seconds, line, cause);
    snprintf(error, TRIAL_MESSAGE_BYTES, "the canary failed: %.200s",
            heard == HEARD_LINE && !strncmp(line, "canary ", 7) ? line + 7 : cause);
    return false;
}

static const char *lesser_facts;

void supervise_lessen(const char *facts)
{
    lesser_facts = facts;
}

/* Starts a child and hears what device it has. */
static bool start(struct supervisor *supervisor, struct device_facts *facts,
        const volatile int *stop, char error[TRIAL_MESSAGE_BYTES])
{
    char *args[8] = { supervisor->program, "trial", "--device", supervisor->device };
    size_t num = 4;
    if (supervisor->is_member)
        args[num++] = "--member";
    if (lesser_facts) {
        args[num++] = "--facts";
        args[num++] = (char *) lesser_facts;
    }
    if (!child_start(&supervisor->child, args)) {
        snprintf(error, TRIAL_MESSAGE_BYTES, "cannot start a trial process: %s", strerror(errno));
        return false;
    }
    return hear_greeting(supervisor, facts, stop, error);
}

bool supervise_hold(struct supervisor *supervisor, const volatile int *stop)
{
    supervisor->waited = 0;
    if (!supervisor->lock)
        return !(stop && *stop);
    return lock_take(supervisor->lock, stop, &supervisor->waited);
}

void supervise_release(struct supervisor *supervisor)
{
    if (supervisor->lock)
        lock_release(supervisor->lock);
}

/* The canary, in a turn of its own. */
static bool first_canary(struct supervisor *supervisor, const volatile int *stop,
        char error[TRIAL_MESSAGE_BYTES])
{
    snprintf(error, TRIAL_MESSAGE_BYTES, "stopped");
    if (!supervise_hold(supervisor, stop))
        return false;
    const bool ok = hear_canary(supervisor, stop, error);
    supervise_release(supervisor);
    return ok;
}

/* ---- Requests ---- */

/* A request under way. Results come by the numbers that the configs have in what was sent. */
struct round {
    const struct trial_request *request;
    struct trial_result *results;
    bool answered[TRIAL_MAX_CONFIGS];
    unsigned sent[TRIAL_MAX_CONFIGS], num_sent;  /* the request's numbers of the configs sent */
    bool has_begun;                    /* the present child began a config */
    int current;                       /* the request's number of the config begun; -1: none */
    double since;                      /* when that was */
    double spent[TRIAL_MAX_CONFIGS];   /* seconds that each was worked on, of the present child */
    double until;                      /* when the total has passed */
    bool lost_idle;                    /* a child was lost before it had begun anything */
    bool was_killed[TRIAL_MAX_CONFIGS]; /* somebody killed the child while it worked on each */
};

/* Adds a line and its newline. */
static bool append(char *text, size_t size, size_t *at, const char *line)
{
    const int length = snprintf(text + *at, size - *at, "%s\n", line);
    const bool fits = (size_t) length < size - *at;
    *at += fits ? (size_t) length : 0;
    return fits;
}

/* Sends a request for some of its configs, by their numbers. */
static bool send_configs(struct supervisor *supervisor, const struct trial_request *request,
        const unsigned *numbers, unsigned num)
{
    char text[(1 + TRIAL_MAX_CONFIGS) * (CONFIG_TEXT_BYTES + 16)], line[PROTOCOL_LINE_BYTES];
    size_t at = 0;
    protocol_write_request(request, num, line);
    bool fits = append(text, sizeof text, &at, line);
    for (unsigned i = 0; i < num; i++) {
        protocol_write_config(&request->configs[numbers[i]], line);
        fits = fits && append(text, sizeof text, &at, line);
    }
    return fits && child_tell(&supervisor->child, text);
}

/* Sends the configs that have no result yet. */
static bool send_request(struct supervisor *supervisor, struct round *round)
{
    round->num_sent = 0;
    for (unsigned i = 0; i < round->request->num_configs; i++)
        if (!round->answered[i])
            round->sent[round->num_sent++] = i;
    return send_configs(supervisor, round->request, round->sent, round->num_sent);
}

bool supervise_build(struct supervisor *supervisor, const struct trial_request *request)
{
    struct trial_request build = *request;
    const unsigned first = 0;
    build.kind = TRIAL_BUILD_ONLY;
    return supervisor->child.pid && send_configs(supervisor, &build, &first, 1);
}

/* Adds the time since the last change to the config that was worked on. */
static void book_time(struct round *round, int next)
{
    const double time = clock_now();
    if (round->current >= 0) {
        const double seconds = time - round->since;
        round->spent[round->current] += seconds;
        round->results[round->current].cost += seconds;
    }
    round->current = next;
    round->since = time;
}

static bool take_begin(const char *line, struct round *round)
{
    unsigned i;
    if (!protocol_read_begin(line, round->num_sent, &i) || round->answered[round->sent[i]])
        return false;
    book_time(round, (int) round->sent[i]);
    round->has_begun = true;
    return true;
}

static bool take_result(const char *line, struct round *round)
{
    unsigned i;
    struct trial_result answer;
    if (!protocol_read_result(line, round->num_sent, &i, &answer) ||
            round->answered[round->sent[i]])
        return false;
    struct trial_result *result = &round->results[round->sent[i]];
    book_time(round, -1);
    round->answered[round->sent[i]] = true;
    answer.cost = result->cost;
    *result = answer;
    return true;
}

static bool all_answered(const struct round *round)
{
    for (unsigned i = 0; i < round->request->num_configs; i++)
        if (!round->answered[i])
            return false;
    return true;
}

/* A config has its deadline's seconds in all, however often work on it is resumed. */
static double deadline_of(const struct round *round)
{
    const double spent = round->current >= 0 ? round->spent[round->current] : 0;
    return fmin(round->since + round->request->deadline - spent, round->until);
}

static bool is_late(const struct round *round)
{
    return clock_now() >= round->until;
}

/* Reads the answers of one child. HEARD_LINE when it answered to the end; else why it did not. */
static enum heard hear_answers(struct supervisor *supervisor, struct round *round,
        const volatile int *stop, char line[CHILD_LINE_BYTES])
{
    for (;;) {
        const enum heard heard = child_hear(&supervisor->child, deadline_of(round), stop, line);
        if (heard != HEARD_LINE)
            return heard;
        if (!strcmp(line, "done"))
            return all_answered(round) ? HEARD_LINE : HEARD_GARBAGE;
        if (!take_begin(line, round) && !take_result(line, round))
            return HEARD_GARBAGE;
    }
}

/* The config that was worked on when the child was lost; the first unanswered if none was begun. */
static unsigned guilty(const struct round *round)
{
    unsigned i = 0;
    if (round->current >= 0)
        return (unsigned) round->current;
    while (i + 1 < round->request->num_configs && round->answered[i])
        i++;
    return i;
}

static void charge(struct round *round, enum trial_outcome outcome, const char *cause)
{
    const unsigned i = guilty(round);
    book_time(round, -1);
    if (round->answered[i])
        return;
    round->answered[i] = true;
    round->results[i].outcome = outcome;
    snprintf(round->results[i].message, TRIAL_MESSAGE_BYTES, "%s", cause);
}

/* Whether somebody else killed the child, for the first time with this config: no verdict on it. */
static bool is_forgiven(const struct supervisor *supervisor, struct round *round, enum heard heard)
{
    bool *const before = &round->was_killed[guilty(round)];
    const bool forgiven = heard == HEARD_END && supervisor->child.was_killed && !*before;
    *before = *before || forgiven;
    return forgiven;
}

/* Sends what has no result and takes the answers; a child that fails costs one config. False when
 * *stop was set. */
static bool ask(struct supervisor *supervisor, struct round *round, const volatile int *stop)
{
    char line[CHILD_LINE_BYTES] = "", cause[TRIAL_MESSAGE_BYTES];
    enum heard heard = HEARD_END;
    memset(round->spent, 0, sizeof round->spent);
    round->has_begun = false;
    round->current = -1;
    round->since = clock_now();
    if (send_request(supervisor, round))
        heard = hear_answers(supervisor, round, stop, line);
    if (heard == HEARD_LINE)
        return true;
    child_dismiss(&supervisor->child, heard, round->request->deadline, line, cause);
    if (heard == HEARD_STOP || is_late(round)) {
        book_time(round, -1);
        return heard != HEARD_STOP;
    }
    /* A child that ended before it began anything may have been dead for long: no config is at
     * fault. */
    if (heard == HEARD_END && !round->has_begun && !round->lost_idle)
        round->lost_idle = true;
    else if (is_forgiven(supervisor, round, heard))
        book_time(round, -1);
    else
        charge(round, heard == HEARD_NOTHING ? TRIAL_TIMEOUT : TRIAL_CRASH, cause);
    return true;
}

/* Gives a child that works: the present one, or a new one, with a second attempt. */
static bool ready(struct supervisor *supervisor, const volatile int *stop,
        char error[TRIAL_MESSAGE_BYTES])
{
    struct device_facts facts;
    for (int attempt = 0; attempt < 2 && !(stop && *stop); attempt++)
        if (supervisor->child.pid ||
                (start(supervisor, &facts, stop, error) && hear_canary(supervisor, stop, error)))
            return true;
    return false;
}

/* Marks what was not answered as stopped. */
static bool give_up(struct round *round, enum trial_outcome outcome, const char *message)
{
    for (unsigned i = 0; i < round->request->num_configs; i++)
        if (!round->answered[i]) {
            round->results[i].outcome = outcome;
            snprintf(round->results[i].message, TRIAL_MESSAGE_BYTES, "%s", message);
        }
    return false;
}

/* Asks until all is answered. */
static bool run(struct supervisor *supervisor, struct round *round, const volatile int *stop)
{
    char error[TRIAL_MESSAGE_BYTES];
    while (!all_answered(round)) {
        if (stop && *stop)
            return give_up(round, TRIAL_TIMEOUT, "stopped");
        if (is_late(round)) {
            give_up(round, TRIAL_LATE, "the budget ended before it was done");
            return true;
        }
        if (!ready(supervisor, stop, error)) {
            if (stop && *stop)
                return give_up(round, TRIAL_TIMEOUT, "stopped");
            give_up(round, TRIAL_DEVICE, error);
            snprintf(round->results[0].message, TRIAL_MESSAGE_BYTES, "%s", error);
            return false;
        }
        if (!ask(supervisor, round, stop))
            return give_up(round, TRIAL_TIMEOUT, "stopped");
    }
    return true;
}

bool supervise_run(struct supervisor *supervisor, const struct trial_request *request,
        struct trial_result *results, const volatile int *stop)
{
    struct round round = { .request = request, .results = results, .current = -1 };
    for (unsigned i = 0; i < request->num_configs; i++)
        results[i] = (struct trial_result){ .outcome = TRIAL_CRASH };
    if (!supervise_hold(supervisor, stop))
        return give_up(&round, TRIAL_TIMEOUT, "stopped");
    round.until = request->total > 0 ? clock_now() + request->total : HUGE_VAL;
    const bool whole = run(supervisor, &round, stop);
    supervise_release(supervisor);
    return whole;
}

double supervise_waited(const struct supervisor *supervisor)
{
    return supervisor->waited;
}

/* A supervisor without a child. */
static struct supervisor *make(const char *program, const char *device,
        char error[TRIAL_MESSAGE_BYTES])
{
    struct supervisor *supervisor = calloc(1, sizeof *supervisor);
    if (supervisor) {
        supervisor->program = strdup(program);
        supervisor->device = strdup(device);
    }
    if (!supervisor || !supervisor->program || !supervisor->device) {
        snprintf(error, TRIAL_MESSAGE_BYTES, "out of memory");
        supervise_close(&supervisor);
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN); /* a child that died is noticed by write's error */
    return supervisor;
}

enum supervise_probe supervise_probe(const char *program, const char *device,
        struct device_facts *facts, char error[TRIAL_MESSAGE_BYTES])
{
    struct supervisor *supervisor = make(program, device, error);
    const bool found = supervisor && start(supervisor, facts, NULL, error);
    const bool absent = supervisor && supervisor->is_absent;
    supervise_close(&supervisor);
    return found ? SUPERVISE_FOUND : absent ? SUPERVISE_ABSENT : SUPERVISE_BROKEN;
}

struct supervisor *supervise_open(const char *program, const char *device, const volatile int *stop,
        struct device_facts *facts, char error[TRIAL_MESSAGE_BYTES])
{
    struct supervisor *supervisor = make(program, device, error);
    bool ok = supervisor && start(supervisor, facts, stop, error);
    if (ok) {
        supervisor->lock = lock_open(LOCK_FOLDER, facts);
        snprintf(error, TRIAL_MESSAGE_BYTES, "out of memory");
        ok = supervisor->lock && first_canary(supervisor, stop, error);
    }
    if (supervisor && !ok)
        supervise_close(&supervisor);
    return supervisor;
}

struct supervisor *supervise_open_member(const char *program, const char *device,
        const volatile int *stop, char error[TRIAL_MESSAGE_BYTES])
{
    struct device_facts facts;
    struct supervisor *supervisor = make(program, device, error);
    if (!supervisor)
        return NULL;
    supervisor->is_member = true;
    if (!start(supervisor, &facts, stop, error) || !first_canary(supervisor, stop, error))
        supervise_close(&supervisor);
    return supervisor;
}

void supervise_close(struct supervisor **supervisor)
{
    char cause[TRIAL_MESSAGE_BYTES];
    if (!*supervisor)
        return;
    child_end(&(*supervisor)->child, cause);
    lock_close(&(*supervisor)->lock);
    free((*supervisor)->program);
    free((*supervisor)->device);
    free(*supervisor);
    *supervisor = NULL;
}
