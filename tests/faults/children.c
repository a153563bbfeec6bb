/* children.c: see setup.h. Drivers end a process that they do not like, by a signal or by exit. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "setup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NOTE_BYTES = 400, ITEM_SECONDS = 300,
    MAX_FAILURES = 40                  /* then the short form gives up */
};

/* Shared between parent and child. */
struct progress {
    unsigned long at;                  /* the item that is being done */
    unsigned failures;
    bool done;
    char note[NOTE_BYTES];
};

static struct progress *progress;

void children_note(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(progress->note, NOTE_BYTES, format, values);
    va_end(values);
}

const char *children_noted(void)
{
    return progress->note;
}

static bool is_hopeless(const struct options *options)
{
    return progress->failures >= MAX_FAILURES && !options->whole;
}

static void work(const struct options *options, unsigned long num,
        unsigned (*item)(const struct options *options, unsigned long number))
{
    for (; progress->at < num && !is_hopeless(options); progress->at++) {
        progress->note[0] = '\0';
        alarm(ITEM_SECONDS);
        progress->failures += item(options, progress->at);
        fflush(stdout);
    }
    progress->done = true;
    exit(EXIT_SUCCESS);
}

/* What is to be said of a child that did not end as it should; counts as a failure. */
static void report(int status)
{
    progress->failures++;
    if (WIFSIGNALED(status)) {
        printf("FAILED: signal %d (%s) at item %lu: %s\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)), progress->at + 1, progress->note);
    } else {
        printf("FAILED: exit with %d at item %lu: %s\n", WEXITSTATUS(status), progress->at + 1,
                progress->note);
    }
    fflush(stdout);
}

int children_run(const struct options *options, unsigned long num,
        unsigned (*item)(const struct options *options, unsigned long number))
{
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
            0);
    need(progress != MAP_FAILED, "shared memory");
    const unsigned long end = options->only > 0 && options->only < num ? options->only : num;
    progress->at = options->only > 0 ? options->only - 1 : 0;
    while (!progress->done && progress->at < end && !is_hopeless(options)) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        need(child >= 0, "fork");
        if (child == 0) {
            work(options, end, item);
        }
        need(waitpid(child, &status, 0) == child, "waitpid");
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_DEVICE) {
            return EXIT_NO_DEVICE;
        }
        if (!progress->done) {
            report(status);
            progress->at++;
        }
    }
    printf("%lu items, %u failures\n", progress->at, progress->failures);
    return progress->failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
