/* supervise.h: measures candidates in a child process that may crash, hang or compute nonsense.
 *
 * The child (`kiln-tune trial`) lives as long as it behaves. It builds a candidate through the
 * library, verifies it, times it through the library's own launch code, and answers a line per
 * candidate. While it works, no other supervisor on this machine has the device (lock.h). Every
 * request has a wall-clock deadline; a child that misses it is killed, one that dies is reaped, and
 * before the next request a new one runs a canary kernel with a known answer.
 */
#ifndef KILN_TUNE_SUPERVISE_H
#define KILN_TUNE_SUPERVISE_H

#include "protocol.h"

struct supervisor;

/* All trial processes that start from now on treat the device as a lesser one (facts_lessen), whose
 * facts are in a file; NULL: as it is. Called before there are threads. */
void supervise_lessen(const char *facts);

/* Asks a child for the device's facts, without a turn on the device and without the canary. A
 * driver that ends its process ends only the child. */
enum supervise_probe {
    SUPERVISE_FOUND,
    SUPERVISE_ABSENT,                  /* there is no such device */
    SUPERVISE_BROKEN                   /* the child did not greet as it should */
};
enum supervise_probe supervise_probe(const char *program, const char *device,
        struct device_facts *facts, char error[TRIAL_MESSAGE_BYTES]);

/* program: path of kiln-tune itself; device: substring of a device name, "" for the first.
 * Starts the child and reads the device's facts from it. NULL with a message on failure, and when
 * *stop becomes non-zero (stop may be NULL). */
struct supervisor *supervise_open(const char *program, const char *device, const volatile int *stop,
        struct device_facts *facts, char error[TRIAL_MESSAGE_BYTES]);
void supervise_close(struct supervisor **supervisor);

/* The same for one that takes no turns of its own and times nothing: it works while another
 * supervisor of this process holds the device. It is opened, used and closed by one thread, which
 * may be any. */
struct supervisor *supervise_open_member(const char *program, const char *device,
        const volatile int *stop, char error[TRIAL_MESSAGE_BYTES]);

/* Waits for a turn and keeps it until it is released. False when *stop becomes non-zero before. */
bool supervise_hold(struct supervisor *supervisor, const volatile int *stop);
void supervise_release(struct supervisor *supervisor);

/* Fills results[0..num_configs); LATE where the total had passed before. False only when the child
 * cannot be started again or the canary fails twice (message in results[0]). A signal (Ctrl-C)
 * makes it return false with outcome TRIAL_TIMEOUT when *stop becomes non-zero. */
bool supervise_run(struct supervisor *supervisor, const struct trial_request *request,
        struct trial_result *results, const volatile int *stop);

/* Has the child build the request's first config, and does not wait for it: the next request that
 * measures this config finds it built. False when no child listens. */
bool supervise_build(struct supervisor *supervisor, const struct trial_request *request);

/* How many seconds of the last supervise_run or supervise_hold went by before the turn. */
double supervise_waited(const struct supervisor *supervisor);

/* The body of the child: reads requests from standard input until it ends. Returns the exit code.
 * facts: see supervise_lessen. A member's child keeps little of what it has built, and its threads
 * are not bound to processors. */
int trial_main(const char *device, const char *facts, bool is_member);

#endif
