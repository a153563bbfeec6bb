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

#include "../core/family.h"

enum { TRIAL_MAX_CONFIGS = 32, TRIAL_MESSAGE_BYTES = 256 };

/* TRIAL(NAME, word in the journal, meaning) */
#define TRIAL_OUTCOMES \
    TRIAL(OK, "ok", "verified and timed") \
    TRIAL(SLOW, "slow", "verified; one launch took more than 1.5 times the incumbent") \
    TRIAL(ILLEGAL, "illegal", "a rule of the family forbids it") \
    TRIAL(BUILD, "build", "the driver's compiler refused it") \
    TRIAL(LAUNCH, "launch", "the driver refused to launch it") \
    TRIAL(WRONG, "wrong", "a wrong result") \
    TRIAL(CRASH, "crash", "the trial process died") \
    TRIAL(TIMEOUT, "timeout", "the deadline passed") \
    TRIAL(TIMING, "timing", "a time of zero or less, or beyond the device's peak") \
    TRIAL(DEVICE, "device", "the canary failed: the device does not work any more") \
    TRIAL(LATE, "late", "the budget ended before it was done")

enum trial_outcome {
#define TRIAL(name, word, meaning) TRIAL_##name,
    TRIAL_OUTCOMES
#undef TRIAL
    NUM_TRIAL_OUTCOMES
};
extern const char *const trial_outcome_words[NUM_TRIAL_OUTCOMES];
extern const char *const trial_outcome_meanings[NUM_TRIAL_OUTCOMES];

enum trial_kind {
    TRIAL_MEASURE,                     /* verify at the shape, then time; several: interleaved */
    TRIAL_EDGES,                       /* verify on every edge class of the problem; no time */
    TRIAL_BUILD_ONLY                   /* build, for a request to come; no answer */
};

struct trial_request {
    enum trial_kind kind;
    struct problem problem;
    size_t m, n, k;                    /* ignored for TRIAL_EDGES */
    unsigned num_configs;              /* 1 to TRIAL_MAX_CONFIGS */
    struct config configs[TRIAL_MAX_CONFIGS];
    double incumbent;                  /* seconds of the best so far at this shape; 0: none */
    double deadline;                   /* seconds allowed per config */
    double total;                      /* seconds allowed for all; 0: no limit */
};

struct trial_result {
    enum trial_outcome outcome;
    double seconds;                    /* OK, SLOW: time of one whole operation; else 0 */
    double spread;                     /* (third quartile - first) / fastest of the samples */
    double cost;                       /* wall-clock seconds that this config took */
    char message[TRIAL_MESSAGE_BYTES]; /* the cause, one line, no tab; "" when OK */
};

struct supervisor;

/* What a child says of the device, without a turn on it and without the canary. A driver that takes
 * its process down takes the child alone. */
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
struct supervisor *supervise_open(const char *program, const char *device,
        const volatile int *stop, struct device_facts *facts, char error[TRIAL_MESSAGE_BYTES]);
void supervise_close(struct supervisor **supervisor);

/* Fills results[0..num_configs); LATE where the total had passed before. False only when the child
 * cannot be started again or the canary fails twice (message in results[0]). A signal (Ctrl-C)
 * makes it return false with outcome TRIAL_TIMEOUT when *stop becomes non-zero. */
bool supervise_run(struct supervisor *supervisor, const struct trial_request *request,
        struct trial_result *results, const volatile int *stop);

/* Has the child build the request's first config, and does not wait for it: the next request that
 * measures this config finds it built. False when no child listens. */
bool supervise_build(struct supervisor *supervisor, const struct trial_request *request);

/* How many seconds of the last supervise_run went by before its turn. */
double supervise_waited(const struct supervisor *supervisor);

/* The body of the child: reads requests from standard input until it ends. Returns the exit
 * code. */
int trial_main(const char *device);

#endif
