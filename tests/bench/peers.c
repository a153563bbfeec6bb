/* peers.c: the table of peers. A peer that was not there at configure time stays in the table
 * without an opener, so that --list-peers can name it. */
#include "peers.h"

#include <string.h>

struct peer_row {
    const char *key, *title, *about;
    bool (*open)(struct peer *peer, const struct peer_setup *setup);
    bool (*is_for)(const struct device *device);   /* NULL: any */
    bool on_request;                   /* takes part when it is named, and not otherwise */
};

static bool peers_is_cpu(const struct device *device)
{
    return device->is_cpu;
}

static bool peers_is_nvidia(const struct device *device)
{
    return device->is_nvidia;
}

/* The opener when the peer was built in. */
#ifdef HAVE_GENERIC
#define OPEN_GENERIC peer_kiln_generic_open
#else
#define OPEN_GENERIC NULL
#endif
#ifdef HAVE_OPENBLAS
#define OPEN_OPENBLAS peer_openblas_open
#define OPEN_OPENBLAS_BEST peer_openblas_best_open
#else
#define OPEN_OPENBLAS NULL
#define OPEN_OPENBLAS_BEST NULL
#endif
#ifdef HAVE_CLBLAST
#define OPEN_CLBLAST peer_clblast_open
#else
#define OPEN_CLBLAST NULL
#endif
#ifdef HAVE_CUBLAS
#define OPEN_CUBLAS peer_cublas_load
#else
#define OPEN_CUBLAS NULL
#endif

static const struct peer_row peer_rows[PEERS_MAX] = {
    {"kiln", "Kiln", "the library as it comes: its choice of bundle and kernel", peer_kiln_open,
        NULL, false},
    {"kiln-packed", "packed", "Kiln with both operands packed before, untimed; if named",
        peer_kiln_packed_open, NULL, true},
    {"kiln-emulated", "emulated", "Kiln where single precision may be emulated; if named",
        peer_kiln_emulated_open, NULL, true},
    {"kiln-emulated-packed", "em packed", "likewise, both operands packed before; if named",
        peer_kiln_emulated_packed_open, NULL, true},
    {"kiln-generic", "generic", "Kiln held to its generic bundle", OPEN_GENERIC, NULL, false},
    {"openblas", "OpenBLAS", "OpenBLAS with its own choice of core type; CPUs", OPEN_OPENBLAS,
        peers_is_cpu, false},
    {"openblas-best", "OB best", "OpenBLAS with the core type that a trial finds fastest; CPUs",
        OPEN_OPENBLAS_BEST, peers_is_cpu, false},
    {"cublas", "cuBLAS", "cuBLAS on the same device; NVIDIA", OPEN_CUBLAS, peers_is_nvidia,
        false},
    {"clblast", "CLBlast", "CLBlast on the same device and queue", OPEN_CLBLAST, NULL, false},
};

/* Whether a comma list holds the word. */
static bool peers_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (*list != '\0') {
        size_t item = strcspn(list, ",");

        if (item == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += item;
        list += *list == ',';
    }
    return false;
}

bool peers_are_built(const char *wanted)
{
    while (*wanted != '\0') {
        size_t item = strcspn(wanted, ",");
        bool there = false;

        for (size_t i = 0; i < PEERS_MAX; i++) {
            there |= peer_rows[i].open != NULL && strlen(peer_rows[i].key) == item &&
                     strncmp(peer_rows[i].key, wanted, item) == 0;
        }
        if (!there) {
            fprintf(stderr, "kiln-bench: no peer '%.*s' is built in (see --list-peers)\n",
                    (int) item, wanted);
            return false;
        }
        wanted += item;
        wanted += *wanted == ',';
    }
    return true;
}

static bool peers_is_for(const struct peer_row *row, const struct device *device)
{
    return row->is_for == NULL || row->is_for(device);
}

bool peers_open(struct peer *peers, size_t *count, const char *wanted,
        const struct peer_setup *setup)
{
    *count = 0;
    for (size_t i = 0; i < PEERS_MAX; i++) {
        const struct peer_row *row = &peer_rows[i];
        struct peer *peer = &peers[*count];

        if (row->open == NULL ||
                (wanted != NULL ? !peers_list_has(wanted, row->key)
                                : row->on_request || !peers_is_for(row, setup->device))) {
            continue;
        }
        *peer = (struct peer){ .key = row->key, .title = row->title };
        if (!peers_is_for(row, setup->device)) {
            fprintf(stderr, "kiln-bench: peer '%s' is not for device '%s'\n", row->key,
                    setup->device->name);
            peers_close(peers, *count);
            return false;
        }
        if (!row->open(peer, setup)) {
            peers_close(peers, *count);
            return false;
        }
        (*count)++;
    }
    return true;
}

void peers_close(struct peer *peers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        peers[i].class->close(&peers[i]);
    }
}

const struct peer *peers_find(const struct peer *peers, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(peers[i].key, key) == 0) {
            return &peers[i];
        }
    }
    return NULL;
}

void peers_list(FILE *out)
{
    for (size_t i = 0; i < PEERS_MAX; i++) {
        fprintf(out, "%-20s %-10s %s\n", peer_rows[i].key,
                peer_rows[i].open != NULL ? "there" : "not built", peer_rows[i].about);
    }
}
