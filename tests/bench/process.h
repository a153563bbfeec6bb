/* process.h: child processes that are this program again, spoken to through two pipes. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    FILE *to, *from;                   /* the child's standard input and output */
};

/* Starts this program with `arguments` (NULL-ended, without the program's name). Each entry of
 * `environment` (NULL-ended) is NAME=VALUE to set or NAME to remove; all else is inherited. The
 * child's standard error is discarded when `quiet`. False when the child cannot be started. */
bool process_start(struct process *process, const char *const *arguments,
        const char *const *environment, bool quiet);

/* Closes the pipes, waits for the child, and says whether it ended with status 0. */
bool process_stop(struct process *process);

/* Where this program lies, for children; call once from main. */
void process_set_program(const char *path);

#endif
