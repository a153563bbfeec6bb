/* alone.c: see alone.h. */
#include "alone.h"
#include "clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double longest_wait = 600; /* seconds */

/* Ninja pauses between two jobs: it has none when so many looks in a row, so long apart, find none. */
enum { LOOKS = 5, BETWEEN_MS = 100 };

struct process {
    char name[32];
    char state;                        /* Z: it has ended */
    long parent;
};

/* Of /proc/PID/stat: "PID (NAME) STATE PARENT ..."; the name may hold anything. */
static bool process_read(long pid, struct process *process)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    const size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[length] = '\0';
    const char *open = strchr(line, '('), *close = strrchr(line, ')');
    if (!open || !close || close < open)
        return false;
    snprintf(process->name, sizeof process->name, "%.*s", (int) (close - open - 1), open + 1);
    return sscanf(close + 1, " %c %ld", &process->state, &process->parent) == 2;
}

/* The nearest ninja above this process, and the child of it that is, or has, this process. 0: none. */
static long find_ninja(long *child)
{
    struct process process;
    for (long pid = getpid(); process_read(pid, &process); pid = process.parent) {
        if (!strcmp(process.name, "ninja") || !strcmp(process.name, "samu"))
            return pid;
        *child = pid;
    }
    return 0;
}

static bool has_other_child(long parent, long child)
{
    bool found = false;
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    for (struct dirent *entry = readdir(processes); entry && !found; entry = readdir(processes)) {
        struct process process;
        const long pid = strtol(entry->d_name, NULL, 10);
        found = pid > 0 && pid != child && process_read(pid, &process) &&
                process.parent == parent && process.state != 'Z';
    }
    closedir(processes);
    return found;
}

void alone_wait(const volatile int *stop, bool is_quiet)
{
    const struct timespec pause = { .tv_nsec = BETWEEN_MS * 1000000L };
    const double begin = clock_now();
    long child = 0;
    const long ninja = find_ninja(&child);
    bool is_told = is_quiet;
    for (int looks = 0; ninja && looks < LOOKS && !*stop && clock_now() - begin < longest_wait;) {
        looks = has_other_child(ninja, child) ? 0 : looks + 1;
        if (!looks && !is_told) {
            fprintf(stderr, "kiln-tune: waiting for the build's other jobs\n");
            is_told = true;
        }
        nanosleep(&pause, NULL);
    }
}
