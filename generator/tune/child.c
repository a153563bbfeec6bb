/* child.c: see child.h. */
#include "child.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { POLL_MILLISECONDS = 100 };

/* Seconds that a child has to end by itself, so that the cause becomes known: any, and one that has
 * closed its output. A driver may take long to let its device go. */
static const double moment = 0.1, dying = 5;

/* Held while pipes are made and a child starts. An end of a pipe becomes close-on-exec in two
 * steps; a child that is forked between them would keep it open. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

/* In the child, between fork and exec: only what is safe there. */
static void child_exec(char *const *args, int input, int output, int errors, pid_t parent)
{
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a child that hangs must not outlive a killed parent */
    if (getppid() != parent)
        _exit(127);
#else
    (void) parent;
#endif
    signal(SIGPIPE, SIG_DFL);
    if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
            dup2(errors, STDERR_FILENO) >= 0)
        execv(args[0], args);
    _exit(127);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool make_pipe(int ends[2])
{
    ends[0] = ends[1] = -1;
    if (pipe(ends))
        return false;
    /* Ends at or below 2 would be closed by the child's own redirections. */
    for (int i = 0; i < 2; i++) {
        const int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
        close_fd(&ends[i]);
        ends[i] = moved;
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static bool start_alone(struct child *child, char *const *args)
{
    int input[2], output[2], errors[2];
    const pid_t parent = getpid();
    const bool i = make_pipe(input), o = make_pipe(output), e = make_pipe(errors);
    const pid_t pid = i && o && e ? fork() : -1;
    if (pid == 0)
        child_exec(args, input[0], output[1], errors[1], parent);
    close_fd(&input[0]);
    close_fd(&output[1]);
    close_fd(&errors[1]);
    if (pid < 0) {
        close_fd(&input[1]);
        close_fd(&output[0]);
        close_fd(&errors[0]);
        return false;
    }
    setpgid(pid, pid); /* parent and child both do so: one of them is first */
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    *child = (struct child){ .pid = pid, .to = input[1], .from = output[0], .errors = errors[0] };
    return true;
}

bool child_start(struct child *child, char *const *args)
{
    pthread_mutex_lock(&starting);
    const bool is_started = start_alone(child, args);
    const int cause = errno;
    pthread_mutex_unlock(&starting);
    errno = cause;
    return is_started;
}

/* Takes what is on the child's standard error and keeps the last line of it. */
static void read_errors(struct child *child)
{
    char bytes[512];
    ssize_t got = -1;
    for (int reads = 0; reads < 64 && child->errors >= 0; reads++) {
        got = read(child->errors, bytes, sizeof bytes);
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got; i++) {
            if (bytes[i] == '\n') {
                child->tail_ended = true;
                continue;
            }
            if (child->tail_ended)
                child->tail_length = 0;
            child->tail_ended = false;
            if (child->tail_length + 1 < CHILD_TAIL_BYTES)
                child->tail[child->tail_length++] = (unsigned char) bytes[i] < ' ' ? ' ' : bytes[i];
            child->tail[child->tail_length] = '\0';
        }
    }
    if (got == 0)
        close_fd(&child->errors);
}

static void end_within(struct child *child, double seconds, char cause[CHILD_CAUSE_BYTES])
{
    int status = 0;
    cause[0] = '\0';
    if (!child->pid)
        return;
    close_fd(&child->to);
    close_fd(&child->from);
    pid_t reaped = waitpid(child->pid, &status, WNOHANG);
    for (const double end = clock_now() + seconds; reaped == 0 && clock_now() < end;) {
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
        reaped = waitpid(child->pid, &status, WNOHANG);
    }
    child->was_killed = reaped == child->pid && WIFSIGNALED(status) &&
                        (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
    kill(-child->pid, SIGKILL);
    while (reaped == 0 || (reaped < 0 && errno == EINTR))
        reaped = waitpid(child->pid, &status, 0);
    read_errors(child);
    close_fd(&child->errors);
    const char *colon = child->tail[0] ? ": " : "";
    if (WIFSIGNALED(status))
        snprintf(cause, CHILD_CAUSE_BYTES, "signal %d%s%s", WTERMSIG(status), colon, child->tail);
    else
        snprintf(cause, CHILD_CAUSE_BYTES, "exit %d%s%s", WEXITSTATUS(status), colon, child->tail);
    child->pid = 0;
    child->filled = 0;
}

/* ---- Lines and bytes ---- */

/* Waits until it wrote something to its standard output, and takes up to `size` bytes of that.
 * HEARD_LINE when *got bytes came. */
static enum heard take_some(struct child *child, double deadline, const volatile int *stop,
        void *bytes, size_t size, size_t *got)
{
    for (;;) {
        if (stop && *stop)
            return HEARD_STOP;
        const double left = deadline - clock_now();
        if (left <= 0)
            return HEARD_NOTHING;
        struct pollfd fds[2] = { { .fd = child->from, .events = POLLIN },
            { .fd = child->errors, .events = POLLIN } };
        const int milliseconds = left < 0.1 ? (int) (left * 1000) + 1 : POLL_MILLISECONDS;
        if (poll(fds, 2, milliseconds) <= 0)
            continue;
        if (fds[1].revents)
            read_errors(child);
        if (!fds[0].revents)
            continue;
        const ssize_t length = read(child->from, bytes, size);
        if (length == 0 || (length < 0 && errno != EINTR && errno != EAGAIN))
            return HEARD_END;
        if (length > 0) {
            *got = (size_t) length;
            return HEARD_LINE;
        }
    }
}

/* Moves the first complete line out of the buffer. */
static bool take_line(struct child *child, char line[CHILD_LINE_BYTES])
{
    const char *end = memchr(child->buffer, '\n', child->filled);
    if (!end)
        return false;
    const size_t length = (size_t) (end - child->buffer);
    memcpy(line, child->buffer, length);
    line[length] = '\0';
    child->filled -= length + 1;
    memmove(child->buffer, end + 1, child->filled);
    return true;
}

enum heard child_hear(struct child *child, double deadline, const volatile int *stop,
        char line[CHILD_LINE_BYTES])
{
    while (!take_line(child, line)) {
        size_t got;
        if (child->filled == CHILD_LINE_BYTES)
            return HEARD_GARBAGE;
        const enum heard heard = take_some(child, deadline, stop, child->buffer + child->filled,
                CHILD_LINE_BYTES - child->filled, &got);
        if (heard != HEARD_LINE)
            return heard;
        child->filled += got;
    }
    return HEARD_LINE;
}

enum heard child_read(struct child *child, double deadline, const volatile int *stop, void *bytes,
        size_t size)
{
    unsigned char *to = bytes;
    size_t got = child->filled < size ? child->filled : size;
    memcpy(to, child->buffer, got);
    child->filled -= got;
    memmove(child->buffer, child->buffer + got, child->filled);
    for (size_t at = got; at < size; at += got) {
        const enum heard heard = take_some(child, deadline, stop, to + at, size - at, &got);
        if (heard != HEARD_LINE)
            return heard;
    }
    return HEARD_LINE;
}

bool child_tell(struct child *child, const char *text)
{
    for (size_t left = strlen(text); left;) {
        const ssize_t wrote = write(child->to, text, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        text += wrote;
        left -= (size_t) wrote;
    }
    return true;
}

/* ---- The child's side ---- */

FILE *child_output(void)
{
    fflush(stdout);
    const int own = dup(STDOUT_FILENO);
    if (own < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return NULL;
    return fdopen(own, "w");
}

void child_end(struct child *child, char cause[CHILD_CAUSE_BYTES])
{
    end_within(child, moment, cause);
}

void child_dismiss(struct child *child, enum heard heard, double seconds, const char *line,
        char cause[CHILD_CAUSE_BYTES])
{
    end_within(child, heard == HEARD_END ? dying : moment, cause);
    if (heard == HEARD_NOTHING)
        snprintf(cause, CHILD_CAUSE_BYTES, "no answer within %.3g s", seconds);
    else if (heard == HEARD_GARBAGE || heard == HEARD_LINE)
        snprintf(cause, CHILD_CAUSE_BYTES, "not an answer: '%.100s'", line);
    else if (heard == HEARD_STOP)
        snprintf(cause, CHILD_CAUSE_BYTES, "stopped");
    for (char *p = cause; *p; p++)
        if ((unsigned char) *p < ' ')
            *p = ' ';
}
