/* child.h: a child process that exchanges lines with this one, and may misbehave in any way. */
#ifndef KILN_TUNE_CHILD_H
#define KILN_TUNE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum { CHILD_LINE_BYTES = 4096, CHILD_TAIL_BYTES = 96, CHILD_CAUSE_BYTES = 256 };

struct child {
    pid_t pid;                         /* 0: none runs; of the fields below only was_killed means
                                          something then */
    int to, from, errors;              /* its standard input, output and error; -1: closed */
    char buffer[CHILD_LINE_BYTES];     /* what came from it and was not yet taken as lines */
    size_t filled;
    char tail[CHILD_TAIL_BYTES];       /* the last line it wrote to standard error */
    size_t tail_length;
    bool tail_ended;
    bool was_killed;                   /* somebody else sent SIGKILL or SIGTERM to the child that
                                          ended last */
};

/* How waiting for a line, or for bytes, ended. */
enum heard {
    HEARD_LINE,                        /* it came */
    HEARD_END,                         /* it closed its output */
    HEARD_GARBAGE,                     /* a line longer than CHILD_LINE_BYTES */
    HEARD_NOTHING,                     /* the deadline passed */
    HEARD_STOP                         /* *stop became non-zero */
};

/* Runs args[0] with args, ended by NULL, in a process group of its own. The caller ignores SIGPIPE.
 * Threads may start children at once; a child ends with the thread that started it. False with
 * errno set. */
bool child_start(struct child *child, char *const *args);

/* Kills the child, group and all, and says how it ended: "signal 11: what it said last". Harmless
 * when there is none. */
void child_end(struct child *child, char cause[CHILD_CAUSE_BYTES]);

/* Ends a child that did not answer as it should within `seconds`. Gives the cause in words: what
 * was heard (`line`), or how the child ended. It has no control characters. */
void child_dismiss(struct child *child, enum heard heard, double seconds, const char *line,
        char cause[CHILD_CAUSE_BYTES]);

/* Waits for a line until `deadline`, by clock_now(). stop may be NULL. */
enum heard child_hear(struct child *child, double deadline, const volatile int *stop,
        char line[CHILD_LINE_BYTES]);

/* The same for `size` bytes, what was written behind the last line that was heard. */
enum heard child_read(struct child *child, double deadline, const volatile int *stop, void *bytes,
        size_t size);

/* Writes text to its standard input; false when it no longer reads. The text must be shorter than
 * what a pipe holds, as a child that hangs does not read. */
bool child_tell(struct child *child, const char *text);

/* In a child: its standard output for its answers alone, as what drivers print goes to standard
 * error from here on. NULL with errno set. */
FILE *child_output(void);

#endif
