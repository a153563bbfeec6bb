/* peers.h: what is compared. Every peer is one table of functions, the same in each peer_*.c;
 * nothing outside those files knows one peer from another. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "device.h"
#include "problem.h"
#include "timer.h"

enum peer_answer {
    PEER_OK,
    PEER_REFUSED,                      /* the peer has no such multiplication on this device */
    PEER_FAILED                        /* it should have, but something went wrong */
};

struct peer;

struct peer_class {
    /* Takes up a problem; the operands are its matrices on the device. Both outlive its use. */
    enum peer_answer (*prepare)(struct peer *peer, const struct problem *problem,
            const struct operands *operands);
    /* Multiplies once over poisoned memory and copies C to the host: this builds what has to be
     * built, and what it returns is checked before anything is timed. */
    enum peer_answer (*result)(struct peer *peer, void *c);
    /* The mean times of one multiplication, over at least `min_seconds` of them. By the device's
     * clock as well where device.has_clock says so. */
    enum peer_answer (*sample)(struct peer *peer, double min_seconds, struct sample *sample);
    /* What the peer does for the prepared problem, for a reader: two lines at most. May be NULL. */
    void (*explain)(struct peer *peer, char *text, size_t size);
    void (*close)(struct peer *peer);
};

struct peer {
    const char *key;                   /* in JSON, and for --peers */
    const char *title;                 /* of its column */
    const struct peer_class *class;
    void *state;
    char detail[320];                  /* version, core type: what this run really uses */
};

enum { PEERS_MAX = 9 };

/* What the openers of peers may need to know. */
struct peer_setup {
    const struct device *device;
    const enum kiln_precision *precisions;     /* of this run */
    size_t num_precisions;
    double min_seconds;                        /* length of a sample */
};

/* Whether every word of a comma list is the key of a peer that was built in; if not, after a
 * message on stderr. */
bool peers_are_built(const char *wanted);

/* Opens the peers that were built in. `wanted` is such a list; NULL means all that are meant for
 * the device and take part without being named. `peers` has room for PEERS_MAX. False, with a
 * message on stderr, when one that is wanted cannot be opened or is not meant for it. */
bool peers_open(struct peer *peers, size_t *count, const char *wanted,
        const struct peer_setup *setup);
void peers_close(struct peer *peers, size_t count);

/* The peer with that key, or NULL. */
const struct peer *peers_find(const struct peer *peers, size_t count, const char *key);

/* Prints the peers that were built in and those that were not. */
void peers_list(FILE *out);

/* Memory on the device that several peers share, one at a time; it grows as they need. */
struct peer_room {
    cl_mem buffer;                     /* NULL: none yet */
    size_t bytes;
};

/* The openers. Each fills state, class and detail, or returns false with a message on stderr. */
bool peer_kiln_open(struct peer *peer, const struct peer_setup *setup);
bool peer_kiln_packed_open(struct peer *peer, const struct peer_setup *setup);
bool peer_kiln_emulated_open(struct peer *peer, const struct peer_setup *setup);
bool peer_kiln_emulated_packed_open(struct peer *peer, const struct peer_setup *setup);
bool peer_kiln_generic_open(struct peer *peer, const struct peer_setup *setup);
struct kiln_bundle;
/* Kiln held to one recipe of a bundle; where that can not serve, the peer refuses. Its workspace is
 * the room; room and bundle outlive it. */
bool peer_kiln_recipe_open(struct peer *peer, const struct peer_setup *setup,
        const struct kiln_bundle *bundle, uint32_t recipe, struct peer_room *room);
bool peer_openblas_open(struct peer *peer, const struct peer_setup *setup);
bool peer_openblas_best_open(struct peer *peer, const struct peer_setup *setup);
bool peer_clblast_open(struct peer *peer, const struct peer_setup *setup);
bool peer_cublas_load(struct peer *peer, const struct peer_setup *setup);
bool peer_cublas_open(struct peer *peer, const struct peer_setup *setup); /* in its module */

/* The name of the bundle that serves single precision on the device; "" when it cannot be told. */
void peer_kiln_bundle(const struct device *device, char *name, size_t size);

/* One SGEMM by CLBlast, blocking, for --first-result; false when it fails. */
bool peer_clblast_once(const struct device *device, const struct problem *problem,
        const struct operands *operands);

#endif
