/* peers.c: the table of peers. A peer that was not there at configure time stays in the table
 * without an opener, so that --list-peers can name it. */
#include "peers.h"

#include <string.h>

struct peer_row {
    const char *key, *title, *about;
    bool (*open)(struct peer *peer, const struct peer_setup *setup);
};

static const struct peer_row peer_rows[PEERS_MAX] = {
    {"kiln", "Kiln", "the library as it comes: its choice of bundle and kernel", peer_kiln_open},
#ifdef HAVE_GENERIC
    {"kiln-generic", "generic", "Kiln held to its generic bundle", peer_kiln_generic_open},
#else
    {"kiln-generic", "generic", "Kiln held to its generic bundle", NULL},
#endif
#ifdef HAVE_OPENBLAS
    {"openblas", "OpenBLAS", "OpenBLAS with its own choice of core type", peer_openblas_open},
    {"openblas-best", "OB best", "OpenBLAS with the core type that a trial finds fastest",
        peer_openblas_best_open},
#else
    {"openblas", "OpenBLAS", "OpenBLAS with its own choice of core type", NULL},
    {"openblas-best", "OB best", "OpenBLAS with the core type that a trial finds fastest", NULL},
#endif
#ifdef HAVE_CLBLAST
    {"clblast", "CLBlast", "CLBlast on the same device and queue", peer_clblast_open},
#else
    {"clblast", "CLBlast", "CLBlast on the same device and queue", NULL},
#endif
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

/* Every word of the list must be the key of a peer that was built in. */
static bool peers_check_wanted(const char *wanted)
{
    while (*wanted != '\0') {
        size_t item = strcspn(wanted, ",");
        bool there = false;

        for (size_t i = 0; i < PEERS_MAX; i++) {
            there |= peer_rows[i].open != NULL && strlen(peer_rows[i].key) == item
                    && strncmp(peer_rows[i].key, wanted, item) == 0;
        }
        if (!there) {
            fprintf(stderr, "kiln-bench: no peer '%.*s' is built in (see --list-peers)\n",
                    (int)item, wanted);
            return false;
        }
        wanted += item;
        wanted += *wanted == ',';
    }
    return true;
}

bool peers_open(struct peer *peers, size_t *count, const char *wanted,
        const struct peer_setup *setup)
{
    *count = 0;
    if (wanted != NULL && !peers_check_wanted(wanted)) {
        return false;
    }
    for (size_t i = 0; i < PEERS_MAX; i++) {
        const struct peer_row *row = &peer_rows[i];
        struct peer *peer = &peers[*count];

        if (row->open == NULL || (wanted != NULL && !peers_list_has(wanted, row->key))) {
            continue;
        }
        *peer = (struct peer){.key = row->key, .title = row->title};
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
        fprintf(out, "%-14s %-10s %s\n", peer_rows[i].key,
                peer_rows[i].open != NULL ? "there" : "not built", peer_rows[i].about);
    }
}
