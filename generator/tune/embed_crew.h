/* embed_crew.h: processes that make device binaries side by side.
 *
 * The parent sends a request, a line, for one program at a time. The answer is a line with the
 * sizes of what was made and a hash of it, and behind it the bytes: first what the driver gives
 * out, then the cubin. Numbers are hexadecimal.
 *
 *   program PROGRAM SOURCE-HASH TOOL
 *   made PROGRAM SIZE CUBIN-SIZE HASH         sizes of 0: it could not be made
 *
 * A process that dies, hangs or answers something else is killed and not replaced. What no process
 * made is missing: the parent makes it.
 */
#ifndef KILN_TUNE_EMBED_CREW_H
#define KILN_TUNE_EMBED_CREW_H

#include "../core/assemble.h"
#include "cubin.h"

#include <stdio.h>

struct embed_crew {
    const char *program;               /* kiln-tune, as a path that can be executed */
    const char *output;                /* folder of the winners.tsv that the bundle was made of */
    unsigned size;                     /* processes at most; 0: none */
};

/* Of a program. */
struct embed_made {
    unsigned char *data, *cubin;       /* NULL: not made */
    size_t size, cubin_size;
};

struct embed_request {
    uint32_t program;
    uint64_t hash;                     /* of its source */
    enum cubin_tool tool;              /* what makes the cubin, if it can; NONE: no cubin */
};

void embed_made_free(struct embed_made *made);

/* Fills made[i], of each program, where a process can. SIGINT and SIGTERM end the processes, and
 * then do what they did before. */
void embed_crew_make(const struct embed_crew *crew, const char *device,
        const struct kiln_bundle *bundle, enum cubin_tool tool, struct embed_made *made);

/* In a process of the crew: the next request of standard input; false at its end, or when it is
 * none. */
bool embed_crew_hear(struct embed_request *request);
bool embed_crew_answer(FILE *out, uint32_t program, const struct embed_made *made);

#endif
