/* soak_call.h: the calls of a session, and what they must give.
 *
 * All matrices of a session lie in one buffer, its arena, or in parts of it, between NaNs. The host
 * keeps an image of it as it is at the beginning and one as it must be at the end, so that every
 * stray write is seen. Values are small integers, and every sum is exact.
 */
#ifndef KILN_TESTS_SOAK_CALL_H
#define KILN_TESTS_SOAK_CALL_H

#include "soak.h"

enum {
    ARENA_BYTES = 2 << 20, ARENA_MAX_PARTS = 512, ARENA_MAX_IGNORED = 128,
    CALL_A = 0, CALL_B, CALL_C, CALL_OPERANDS
};

struct soak_arena {
    cl_mem whole;
    bool by_parts;                     /* calls are given parts of it, which do not overlap */
    size_t base_bytes, used;
    cl_mem parts[ARENA_MAX_PARTS];
    unsigned num_parts;
    struct { size_t at, bytes; } ignored[ARENA_MAX_IGNORED];   /* packs, whose form is not ours */
    unsigned num_ignored;
    unsigned char *begin, *wanted, *found;
};

/* A matrix as it lies in the arena; the members of a batch lie `stride` elements apart. */
struct matrix_place {
    cl_mem buffer;
    size_t offset;                     /* elements, in the buffer */
    size_t base;                       /* bytes, in the arena */
    size_t bytes;                      /* all members */
    size_t rows, length, ld, stride;
};

struct soak_call {
    struct kiln_gemm gemm;             /* without packs and workspace */
    struct matrix_place places[CALL_OPERANDS];
    bool is_typed;
    bool is_late;                      /* A is there only when the gate is open */
    unsigned times;                    /* done so often, one after the other, on the same C */
    unsigned packed;                   /* bit 0: A, bit 1: B */
};

bool soak_arena_open(struct soak_arena *arena, cl_context context, size_t base_bytes);
void soak_arena_close(struct soak_arena *arena);
/* Nothing but NaNs again. */
void soak_arena_clear(struct soak_arena *arena, bool by_parts);
/* Room for so many bytes, which the end may leave as it likes; false: the arena is full. */
bool soak_arena_place_pack(struct soak_arena *arena, size_t bytes, cl_mem *buffer, size_t *offset);

/* Makes a call up and fills its matrices in. False: the arena is full. */
bool soak_call_make(const struct soak *soak, struct soak_arena *arena, uint64_t *state,
        struct soak_call *call);
/* What the call does, to `wanted`. */
void soak_call_apply(const struct soak_call *call, struct soak_arena *arena);
/* Whether its C is right in `found`, which becomes as it is wanted there; zeros of either sign are
 * the same. */
bool soak_call_judge(const struct soak_call *call, struct soak_arena *arena);
/* In words, for a message. */
void soak_call_print(const struct soak_call *call, char text[VERIFY_MESSAGE_BYTES]);
/* Whether all of `found` is as it is wanted, apart from what is ignored. */
bool soak_arena_is_intact(struct soak_arena *arena, size_t *at);

#endif
