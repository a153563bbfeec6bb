/* ninja.c: see ninja.h. */
#include "ninja.h"
#include "clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double longest_wait = 600; /* seconds */

/* Ninja pauses between two jobs: none is left when so many looks in a row, so long apart, find
 * none. */
enum { LOOKS = 5, BETWEEN_MS = 100 };

/* No more ninjas above one another are looked for. */
enum { MOST_NINJAS = 4 };

struct process {
    char name[32];
    char state;                        /* Z: it has ended */
    long parent, session;
};

/* A ninja above this process, and the child of it that is, or has, this process. */
struct ninja {
    long pid, session, child;
};

/* Of /proc/PID/stat: "PID (NAME) STATE PARENT GROUP SESSION ..."; the name may hold anything. */
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
    return sscanf(close + 1, " %c %ld %*d %ld", &process->state, &process->parent,
                   &process->session) == 3;
}

static bool is_ninja(const char *name)
{
    return !strcmp(name, "ninja") || !strcmp(name, "ninja-build") || !strcmp(name, "samu");
}

static unsigned find_ninjas(struct ninja ninjas[MOST_NINJAS])
{
    struct process process;
    unsigned num = 0;
    long child = 0;
    for (long pid = getpid(); num < MOST_NINJAS && process_read(pid, &process);
            child = pid, pid = process.parent)
        if (is_ninja(process.name))
            ninjas[num++] = (struct ninja){ pid, process.session, child };
    return num;
}

/* Other tuners take turns with this one; a process that has left ninja's session is not one of its
 * jobs. */
static bool is_job(const struct process *process, long pid, const struct ninja *ninja)
{
    return process->parent == ninja->pid && pid != ninja->child && process->state != 'Z' &&
           process->session == ninja->session && strcmp(process->name, "kiln-tune") != 0;
}

static bool has_other_jobs(const struct ninja *ninjas, unsigned num)
{
    bool found = false;
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    for (struct dirent *entry = readdir(processes); entry && !found; entry = readdir(processes)) {
        struct process process;
        const long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && process_read(pid, &process))
            for (unsigned i = 0; i < num; i++)
                found = found || is_job(&process, pid, &ninjas[i]);
    }
    closedir(processes);
    return found;
}

void ninja_wait(const volatile int *stop, bool is_quiet)
{
    const struct timespec pause = { .tv_nsec = BETWEEN_MS * 1000000L };
    const double begin = clock_now();
    struct ninja ninjas[MOST_NINJAS];
    const unsigned num = find_ninjas(ninjas);
    bool is_told = is_quiet;
    for (int looks = 0; num && looks < LOOKS && !*stop && clock_now() - begin < longest_wait;) {
        looks = has_other_jobs(ninjas, num) ? 0 : looks + 1;
        if (!looks && !is_told) {
            fprintf(stderr, "kiln-tune: waiting for the build's other jobs\n");
            is_told = true;
        }
        nanosleep(&pause, NULL);
    }
}
