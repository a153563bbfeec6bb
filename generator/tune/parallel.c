/* parallel.c: see parallel.h. */
#include "parallel.h"

#include <pthread.h>
#include <stdbool.h>

struct part {
    void (*function)(void *user, unsigned part, size_t first, size_t end);
    void *user;
    unsigned number;
    size_t first, end;
    pthread_t thread;
    bool is_started;
};

unsigned parallel_parts(long cores, size_t rows, size_t cols)
{
    size_t elements;
    if (cores <= 2 || rows == 0)
        return 1;
    if (!__builtin_mul_overflow(rows, cols, &elements) && elements < PARALLEL_ELEMENTS)
        return 1;
    const size_t most = cores < PARALLEL_MOST ? (size_t) cores : PARALLEL_MOST;
    return (unsigned) (rows < most ? rows : most);
}

static void *part_main(void *user)
{
    const struct part *part = user;
    part->function(part->user, part->number, part->first, part->end);
    return NULL;
}

void parallel_rows(size_t rows, unsigned parts,
        void (*function)(void *user, unsigned part, size_t first, size_t end), void *user)
{
    struct part all[PARALLEL_MOST];
    const size_t share = rows / parts, more = rows % parts;
    size_t first = 0;
    for (unsigned i = 0; i < parts; i++) {
        const size_t end = first + share + (i < more);
        all[i] = (struct part){ .function = function,
            .user = user,
            .number = i,
            .first = first,
            .end = end };
        first = end;
    }
    for (unsigned i = 1; i < parts; i++)
        all[i].is_started = !pthread_create(&all[i].thread, NULL, part_main, &all[i]);
    for (unsigned i = 0; i < parts; i++)
        if (!all[i].is_started)
            part_main(&all[i]);
    for (unsigned i = 1; i < parts; i++)
        if (all[i].is_started)
            pthread_join(all[i].thread, NULL);
}
