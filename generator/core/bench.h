/* bench.h: what kiln-bench measured (its --json): Kiln over its peers, and with --best the time of
 * every recipe of the bundle. Pure. */
#ifndef KILN_CORE_BENCH_H
#define KILN_CORE_BENCH_H

#include "family.h"

enum { BENCH_MAX_PEERS = 8, BENCH_NAME_BYTES = 64, BENCH_DEVICE_BYTES = 192 };

struct bench_peer {
    char key[BENCH_NAME_BYTES], title[BENCH_NAME_BYTES];
};

/* A recipe alone, with what it prepares. */
struct bench_time {
    struct config config;
    double seconds;
    bool is_wrong;                     /* its result was; seconds is 0 */
};

struct bench_row {
    const struct precision *precision;
    int pair;                          /* kiln_pair() */
    WITH_SHAPE;
    double ratio[BENCH_MAX_PEERS];     /* Kiln's speed over the peer's; 0: not measured */
    size_t num_times, capacity;
    struct bench_time *times;          /* of configurations that this version knows */
};

struct bench {
    char device[BENCH_DEVICE_BYTES];
    uint32_t units;                    /* compute units of the device; 0: it does not say */
    unsigned num_peers;                /* those that Kiln was compared with */
    struct bench_peer peers[BENCH_MAX_PEERS];
    size_t num_rows, capacity;
    struct bench_row *rows;            /* freed by bench_free */
};

/* False with a message. Free it in any case. A file may compare Kiln with no peer. */
bool bench_parse(const char *json, struct bench *bench, char error[FAMILY_ERROR_BYTES]);
void bench_free(struct bench *bench);

#endif
