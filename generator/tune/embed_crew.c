/* embed_crew.c: see embed_crew.h. */
#include "embed_crew.h"
#include "child.h"
#include "clock.h"
#include "crew.h"
#include "fnv.h"
#include "interrupt.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 28, REQUEST_BYTES = 64, REQUEST_NUMBERS = 3, ANSWER_NUMBERS = 4 };

static const double program_seconds = 600; /* more than ptxas gets */
static const double farewell_seconds = 2;  /* to remove temporary files */

struct work {
    const struct embed_crew *crew;
    const char *device;
    const struct kiln_bundle *bundle;
    enum cubin_tool tool;
    struct embed_made *made;           /* each is one member's alone */
    pthread_mutex_t mutex;
    uint32_t next;                     /* the first program that no member took; the mutex's */
};

/* A thread with a process. */
struct member {
    struct work *work;
    pthread_t thread;
    struct child child;
    char cause[CHILD_CAUSE_BYTES];     /* why the process failed; empty: it did not */
};

void embed_made_free(struct embed_made *made)
{
    free(made->data);
    free(made->cubin);
    *made = (struct embed_made){ .data = NULL };
}

static uint64_t hash_of(const struct embed_made *made)
{
    const uint64_t hash = kiln_hash(KILN_HASH_BEGIN, made->data, made->size);
    return kiln_hash(hash, made->cubin, made->cubin_size);
}

/* A word and as many numbers, and nothing else. */
static bool read_line(const char *line, const char *word, uint64_t *numbers, unsigned num)
{
    static const char digits[] = "0123456789abcdef";
    const size_t length = strlen(word);
    if (strncmp(line, word, length))
        return false;
    line += length;
    for (unsigned i = 0; i < num; i++) {
        const size_t count = *line == ' ' ? strspn(line + 1, digits) : 0;
        if (!count || count > 16)
            return false;
        numbers[i] = strtoull(line + 1, NULL, 16);
        line += 1 + count;
    }
    return !*line;
}

/* ---- In a process of the crew ---- */

bool embed_crew_hear(struct embed_request *request)
{
    char line[REQUEST_BYTES];
    uint64_t numbers[REQUEST_NUMBERS];
    if (!fgets(line, sizeof line, stdin))
        return false;
    line[strcspn(line, "\n")] = '\0';
    if (!read_line(line, "program", numbers, REQUEST_NUMBERS) || numbers[0] > UINT32_MAX ||
            numbers[2] >= NUM_CUBIN_TOOLS)
        return false;
    *request = (struct embed_request){ (uint32_t) numbers[0], numbers[1],
        (enum cubin_tool) numbers[2] };
    return true;
}

bool embed_crew_answer(FILE *out, uint32_t program, const struct embed_made *made)
{
    fprintf(out, "made %" PRIx32 " %zx %zx %" PRIx64 "\n", program, made->size, made->cubin_size,
            hash_of(made));
    if (made->size)
        fwrite(made->data, 1, made->size, out);
    if (made->cubin_size)
        fwrite(made->cubin, 1, made->cubin_size, out);
    return !fflush(out) && !ferror(out);
}

/* ---- A member ---- */

static bool take(struct work *work, uint32_t *program)
{
    pthread_mutex_lock(&work->mutex);
    const bool is_there = !interrupt_caught && work->next < work->bundle->num_programs;
    *program = work->next;
    work->next += is_there;
    pthread_mutex_unlock(&work->mutex);
    return is_there;
}

static enum heard take_bytes(struct child *child, double deadline, size_t size,
        unsigned char **bytes)
{
    if (!size)
        return HEARD_LINE;
    *bytes = malloc(size);
    return *bytes ? child_read(child, deadline, &interrupt_caught, *bytes, size) : HEARD_GARBAGE;
}

/* What a line announces. */
static enum heard take_made(struct child *child, double deadline, uint32_t program,
        const char *line, struct embed_made *made)
{
    uint64_t numbers[ANSWER_NUMBERS];
    if (!read_line(line, "made", numbers, ANSWER_NUMBERS) || numbers[0] != program ||
            numbers[1] > MOST_BYTES || numbers[2] > MOST_BYTES)
        return HEARD_GARBAGE;
    struct embed_made got = { .size = (size_t) numbers[1], .cubin_size = (size_t) numbers[2] };
    enum heard heard = take_bytes(child, deadline, got.size, &got.data);
    if (heard == HEARD_LINE)
        heard = take_bytes(child, deadline, got.cubin_size, &got.cubin);
    if (heard == HEARD_LINE && hash_of(&got) != numbers[3])
        heard = HEARD_GARBAGE;
    if (heard == HEARD_LINE)
        *made = got;
    else
        embed_made_free(&got);
    return heard;
}

/* One that has temporary files removes them when it is told to end (cubin.c). */
static void interrupt(struct member *member)
{
    char line[CHILD_LINE_BYTES];
    const double deadline = clock_now() + farewell_seconds;
    kill(member->child.pid, SIGTERM);
    while (child_hear(&member->child, deadline, NULL, line) == HEARD_LINE)
        ;
}

/* False when the process is of no more use. */
static bool ask(struct member *member, uint32_t program)
{
    const struct work *work = member->work;
    const double deadline = clock_now() + program_seconds;
    char request[REQUEST_BYTES], line[CHILD_LINE_BYTES] = "";
    enum heard heard = HEARD_END;
    snprintf(request, sizeof request, "program %" PRIx32 " %" PRIx64 " %x\n", program,
            work->bundle->programs[program].hash, (unsigned) work->tool);
    if (child_tell(&member->child, request))
        heard = child_hear(&member->child, deadline, &interrupt_caught, line);
    if (heard == HEARD_LINE)
        heard = take_made(&member->child, deadline, program, line, &work->made[program]);
    if (heard != HEARD_LINE && heard != HEARD_STOP)
        child_dismiss(&member->child, heard, program_seconds, line, member->cause);
    return heard == HEARD_LINE;
}

static void *serve(void *user)
{
    struct member *member = user;
    struct work *work = member->work;
    char *const args[] = { (char *) work->crew->program, "binaries", "--device",
        (char *) work->device, "--output", (char *) work->crew->output, NULL };
    char cause[CHILD_CAUSE_BYTES];
    uint32_t program;
    if (!child_start(&member->child, args)) {
        snprintf(member->cause, sizeof member->cause, "cannot start: %s", strerror(errno));
        return NULL;
    }
    while (take(work, &program) && ask(member, program))
        ;
    if (interrupt_caught && member->child.pid)
        interrupt(member);
    child_end(&member->child, cause);
    return NULL;
}

/* ---- Who has the crew ---- */

static void report(const struct member *members, unsigned num)
{
    const char *cause = NULL;
    unsigned num_failed = 0;
    for (unsigned i = 0; i < num; i++)
        if (members[i].cause[0]) {
            cause = members[i].cause;
            num_failed++;
        }
    if (num_failed && !interrupt_caught)
        fprintf(stderr,
                "kiln-tune: warning: %u of %u processes that make binaries failed, so that "
                "it takes longer: %s\n",
                num_failed, num, cause);
}

void embed_crew_make(const struct embed_crew *crew, const char *device,
        const struct kiln_bundle *bundle, enum cubin_tool tool, struct embed_made *made)
{
    struct work work = { .crew = crew,
        .device = device,
        .bundle = bundle,
        .tool = tool,
        .made = made,
        .mutex = PTHREAD_MUTEX_INITIALIZER };
    const uint32_t most = crew->size < CREW_MOST ? crew->size : CREW_MOST;
    const unsigned size = bundle->num_programs < most ? bundle->num_programs : most;
    struct member *members = calloc((size_t) size + 1, sizeof *members);
    struct interrupt deferred;
    unsigned num = 0;
    if (!members)
        return;
    signal(SIGPIPE, SIG_IGN); /* a child that died is noticed by write's error */
    interrupt_defer(&deferred);
    while (num < size) {
        members[num].work = &work;
        if (pthread_create(&members[num].thread, NULL, serve, &members[num]))
            break;
        num++;
    }
    for (unsigned i = 0; i < num; i++)
        pthread_join(members[i].thread, NULL);
    report(members, num);
    free(members);
    pthread_mutex_destroy(&work.mutex);
    interrupt_end(&deferred);
}
