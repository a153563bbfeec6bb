/* process.c: start and end of children. posix_spawn, because a plain fork of a process that holds
 * an OpenCL driver's threads leaves the child in no usable state. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESS_MAX_ARGUMENTS = 16 };

extern char **environ;

static char process_program[4096];

void process_set_program(const char *path)
{
    ssize_t length = readlink("/proc/self/exe", process_program, sizeof(process_program) - 1);

    if (length > 0) {
        process_program[length] = '\0';
    } else {
        snprintf(process_program, sizeof(process_program), "%s", path);
    }
}

/* Whether a variable of the environment is the one that the entry sets or removes. */
static bool process_same_name(const char *variable, const char *entry)
{
    size_t length = strcspn(entry, "=");

    return strncmp(variable, entry, length) == 0 && variable[length] == '=';
}

static bool process_is_changed(const char *variable, const char *const *changes)
{
    for (size_t i = 0; changes[i] != NULL; i++) {
        if (process_same_name(variable, changes[i])) {
            return true;
        }
    }
    return false;
}

/* The environment with the changes made: a new array that points to old strings. */
static char **process_environment(const char *const *changes)
{
    size_t count = 0;
    size_t used = 0;
    char **result;

    for (size_t i = 0; environ[i] != NULL; i++) {
        count++;
    }
    for (size_t i = 0; changes[i] != NULL; i++) {
        count++;
    }
    result = calloc(count + 1, sizeof(*result));
    if (result == NULL) {
        return NULL;
    }
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (!process_is_changed(environ[i], changes)) {
            result[used++] = environ[i];
        }
    }
    for (size_t i = 0; changes[i] != NULL; i++) {
        if (strchr(changes[i], '=') != NULL) {
            result[used++] = (char *) changes[i];
        }
    }
    return result;
}

static bool process_pipe(int ends[2])
{
    if (pipe(ends) != 0) {
        return false;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

static void process_close(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static bool process_spawn(pid_t *pid, int input, int output, bool quiet,
        const char *const *arguments, char **environment)
{
    char *argv[PROCESS_MAX_ARGUMENTS + 2] = { process_program };
    posix_spawn_file_actions_t actions;
    int failed;

    for (size_t i = 0; arguments[i] != NULL; i++) {
        if (i == PROCESS_MAX_ARGUMENTS) {
            return false;
        }
        argv[i + 1] = (char *) arguments[i];
    }
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) ||
             posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) ||
             (quiet && posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                               O_WRONLY, 0)) ||
             posix_spawn(pid, process_program, &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return !failed;
}

/* Starts the child between two open pipes and takes this side's ends of them. */
static bool process_connect(struct process *process, int down[2], int up[2], bool quiet,
        const char *const *arguments, const char *const *changes)
{
    char **environment = process_environment(changes);
    bool started = environment != NULL &&
                   process_spawn(&process->pid, down[0], up[1], quiet, arguments, environment);

    free(environment);
    if (!started) {
        process_close(down);
        process_close(up);
        return false;
    }
    close(down[0]);
    close(up[1]);
    process->to = fdopen(down[1], "w");
    process->from = fdopen(up[0], "r");
    if (process->to == NULL || process->from == NULL) {
        process_stop(process);
        return false;
    }
    return true;
}

bool process_start(struct process *process, const char *const *arguments,
        const char *const *environment, bool quiet)
{
    int down[2];
    int up[2];

    *process = (struct process){ 0 };
    if (!process_pipe(down)) {
        return false;
    }
    if (!process_pipe(up)) {
        process_close(down);
        return false;
    }
    return process_connect(process, down, up, quiet, arguments, environment);
}

bool process_stop(struct process *process)
{
    int status = -1;
    pid_t done;

    if (process->pid <= 0) {
        return false;
    }
    if (process->to != NULL) {
        fclose(process->to);
    }
    if (process->from != NULL) {
        fclose(process->from);
    }
    do {
        done = waitpid(process->pid, &status, 0);
    } while (done < 0 && errno == EINTR);
    *process = (struct process){ 0 };
    return done > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
