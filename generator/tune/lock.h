/* lock.h: tuners that share a device take turns to measure on it.
 *
 * Two files stand for a device: the tuner that measures holds one, the one that is next holds the
 * other. So a tuner that has just measured cannot be first again while another one waits. The locks
 * are flock's: they end with the process that holds them, however it ends. What is in the files
 * means nothing.
 */
#ifndef KILN_TUNE_LOCK_H
#define KILN_TUNE_LOCK_H

#include "../core/family.h"

/* Where tuners of all users and jobs of a machine meet. */
#define LOCK_FOLDER "/tmp"

struct lock;

/* The lock of the device with these facts. Where the files cannot be opened it says so on standard
 * error, and the lock locks nothing. NULL when out of memory. */
struct lock *lock_open(const char *folder, const struct device_facts *facts);
void lock_close(struct lock **lock);

/* Waits for a turn, and says so on standard error when it takes long; *waited is how long, seconds.
 * False when *stop became non-zero before (stop may be NULL). */
bool lock_take(struct lock *lock, const volatile int *stop, double *waited);
void lock_release(struct lock *lock);

#endif
