/* protocol.h: what a tuner (supervise.c) and its trial process (trial.c) say to each other.
 *
 * The protocol is text, a line at a time; fields are separated by one space, and the last field of
 * a line may contain spaces. The child speaks first:
 *
 *     kiln-trial 3                         or, when it cannot work:  error MESSAGE
 *                                          or, when there is no such device:  absent MESSAGE
 *     platform NAME
 *     device NAME
 *     driver VERSION
 *     unit ADDRESS                         which of several alike; may be empty
 *     facts V0 V1 ...                      in the order of facts.inc
 *
 * Then requests come on standard input, one after the other, each when the last is answered:
 *
 *     canary                               a kernel with a known answer
 *         -> canary ok                     or:  canary MESSAGE
 *     measure P TA TB M N K BATCH INCUMBENT NUM
 *                                          P: BLAS letter; TA, TB: 0 or 1; BATCH: members, 0 for
 *                                          no batch; INCUMBENT: seconds, 0 for none
 *     edges P TA TB NUM
 *         followed by NUM lines:           config TEXT
 *         -> begin I                       before work on config I (from 0), any number of times
 *         -> result I WORD SECONDS SPREAD MESSAGE    WORD: see TRIAL_OUTCOMES; MESSAGE may be empty
 *         -> done                          after NUM results, which come in any order
 *     build P TA TB NUM                    and NUM lines as above; no answer: what they name is
 *                                          built, so that a request to come finds it so
 *     compile P TA TB NUM                  the same, answered as above, when it is built
 *
 * The child ends when standard input does. Whatever a driver prints goes to standard error, never
 * between these lines.
 *
 * The functions here are pure. Lines are without their newline; a line that is written fits into
 * PROTOCOL_LINE_BYTES.
 */
#ifndef KILN_TUNE_PROTOCOL_H
#define KILN_TUNE_PROTOCOL_H

#include "../core/family.h"

enum {
    TRIAL_MAX_CONFIGS = 64, TRIAL_MESSAGE_BYTES = 256, PROTOCOL_LINE_BYTES = 512,
    PROTOCOL_GREETING_LINES = 6
};

/* TRIAL(NAME, word in the journal, meaning) */
#define TRIAL_OUTCOMES \
    TRIAL(OK, "ok", "verified and timed") \
    TRIAL(SLOW, "slow", "verified; far behind the incumbent, or the fastest of the same request") \
    TRIAL(ILLEGAL, "illegal", "a rule of the family or a guard forbids it here") \
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

enum trial_kind {
    TRIAL_MEASURE,                     /* verify at the shape, then time; several: interleaved */
    TRIAL_EDGES,                       /* verify on every edge class of the problem; no time */
    TRIAL_BUILD_ONLY,                  /* build, for a request to come; no answer */
    TRIAL_COMPILE                      /* the same with an answer; no time */
};

struct trial_request {
    enum trial_kind kind;
    struct problem problem;
    WITH_SHAPE;                        /* ignored but for TRIAL_MEASURE */
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

/* ---- What the child says ---- */

/* The lines of the greeting by their number, from 0. Reading takes the line's part of *facts; false
 * when the line is not that one. */
void protocol_write_greeting(const struct device_facts *facts, unsigned number,
        char line[PROTOCOL_LINE_BYTES]);
bool protocol_read_greeting(const char *line, unsigned number, struct device_facts *facts);

/* *config is below num, the number of configs that were asked for. */
void protocol_write_begin(unsigned config, char line[PROTOCOL_LINE_BYTES]);
bool protocol_read_begin(const char *line, unsigned num, unsigned *config);

/* All of the result but its cost. A message that is too long is cut off. */
void protocol_write_result(unsigned config, const struct trial_result *result,
        char line[PROTOCOL_LINE_BYTES]);
bool protocol_read_result(const char *line, unsigned num, unsigned *config,
        struct trial_result *result);

/* ---- What the parent says ---- */

/* The first line of a request for num of its configs. Reading sets no config. */
void protocol_write_request(const struct trial_request *request, unsigned num,
        char line[PROTOCOL_LINE_BYTES]);
bool protocol_read_request(const char *line, struct trial_request *request);

/* One config. When the line is one, but its text is no configuration, the config's family is NULL,
 * and error has a message. */
void protocol_write_config(const struct config *config, char line[PROTOCOL_LINE_BYTES]);
bool protocol_read_config(const char *line, struct config *config, char error[FAMILY_ERROR_BYTES]);

#endif
