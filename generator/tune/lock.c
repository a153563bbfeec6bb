/* lock.c: see lock.h. */
#include "lock.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

static const double patience = 10; /* seconds between two messages of one that waits */
static const long poll_nanoseconds = 2000000;

struct lock {
    int next, device;                  /* -1: nothing is locked */
    double last_message;
};

/* "prefix-name-of-the-device": letters and digits, the rest as single dashes. */
static void add_words(const char *words, char path[PATH_BYTES], size_t *at)
{
    if (*words && *at + 1 < PATH_BYTES)
        path[(*at)++] = '-';
    for (; *words && *at + 1 < PATH_BYTES; words++) {
        const char c = *words;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9');
        if (plain || path[*at - 1] != '-')
            path[(*at)++] = plain ? c : '-';
    }
    path[*at] = '\0';
}

/* Reading is enough to lock. A file that another user made is opened without O_CREAT, which some
 * systems refuse in a folder that all may write to. */
static int open_file(const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(path, flags);
    if (fd < 0 && errno == ENOENT)
        fd = open(path, flags | O_CREAT | O_EXCL, 0644);
    if (fd < 0 && errno == EEXIST) /* another tuner was quicker */
        fd = open(path, flags);
    return fd;
}

static bool is_file(int fd)
{
    struct stat status;
    return fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode);
}

static void close_both(struct lock *lock)
{
    if (lock->next >= 0)
        close(lock->next);
    if (lock->device >= 0)
        close(lock->device);
    lock->next = lock->device = -1;
}

struct lock *lock_open(const char *folder, const struct device_facts *facts)
{
    char path[PATH_BYTES], next[PATH_BYTES + 8];
    struct lock *lock = calloc(1, sizeof *lock);
    if (!lock)
        return NULL;
    size_t at = (size_t) snprintf(path, sizeof path, "%.200s/kiln-device", folder);
    add_words(facts->platform, path, &at);
    add_words(facts->device, path, &at);
    add_words(facts->unit, path, &at);
    snprintf(next, sizeof next, "%s.next", path);
    lock->device = open_file(path);
    lock->next = open_file(next);
    lock->last_message = -patience;
    if (is_file(lock->device) && is_file(lock->next))
        return lock;
    fprintf(stderr,
            "kiln-tune: %s cannot be locked: if another tuner measures on this device, "
            "both measure wrong times\n",
            path);
    close_both(lock);
    return lock;
}

void lock_close(struct lock **lock)
{
    if (*lock)
        close_both(*lock);
    free(*lock);
    *lock = NULL;
}

static void say_waiting(struct lock *lock, double now)
{
    if (now - lock->last_message < patience)
        return;
    lock->last_message = now;
    fprintf(stderr, "%skiln-tune: another tuner measures on this device: waiting for a turn\n",
            isatty(STDERR_FILENO) ? "\r\033[K" : "");
}

/* False when *stop became non-zero before the lock was taken, or when it cannot be taken at all. */
static bool take(struct lock *lock, int fd, const volatile int *stop)
{
    const struct timespec pause = { 0, poll_nanoseconds };
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || (stop && *stop))
            return false;
        say_waiting(lock, clock_now());
        nanosleep(&pause, NULL);
    }
    return true;
}

bool lock_take(struct lock *lock, const volatile int *stop, double *waited)
{
    const double start = clock_now();
    *waited = 0;
    if (stop && *stop)
        return false;
    if (lock->device < 0)
        return true;
    const bool is_next = take(lock, lock->next, stop);
    const bool is_taken = is_next && take(lock, lock->device, stop);
    if (is_next)
        flock(lock->next, LOCK_UN);
    *waited = clock_now() - start;
    return is_taken || !(stop && *stop);
}

void lock_release(struct lock *lock)
{
    if (lock->device >= 0)
        flock(lock->device, LOCK_UN);
}
