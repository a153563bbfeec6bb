/* lz4_pack.c: finds matches by chains of places that begin alike; a match is put off where the next
 * byte has a longer one. */
#include "lz4_pack.h"
#include "lz4.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The format asks that a block end with so many literals, and that no match begin within so many
 * bytes of its end. */
enum { LAST_LITERALS = 5, LAST_MATCH = 12 };

enum { HASH_BITS = 15, FARTHEST = 65535, MOST_TRIED = 256 };

struct packer {
    const unsigned char *text;
    size_t bytes;
    uint32_t *first, *before;          /* 1 + a place: the last with a hash; the one before a place
                                          with the same */
    unsigned char *out;
    size_t len;
};

struct match {
    size_t length, back;               /* length 0: none */
};

static uint32_t hash_of(const unsigned char *at)
{
    const uint32_t four = at[0] | (uint32_t) at[1] << 8 | (uint32_t) at[2] << 16 |
                          (uint32_t) at[3] << 24;
    return four * UINT32_C(2654435761) >> (32 - HASH_BITS);
}

static void note(struct packer *p, size_t at)
{
    if (at + LAST_MATCH > p->bytes)
        return;
    uint32_t *first = &p->first[hash_of(p->text + at)];
    p->before[at] = *first;
    *first = (uint32_t) at + 1;
}

/* The longest match at a place, of those the nearest. */
static struct match find(const struct packer *p, size_t at)
{
    struct match best = { 0, 0 };
    if (at + LAST_MATCH > p->bytes)
        return best;
    const size_t most = p->bytes - LAST_LITERALS - at;
    uint32_t place = p->first[hash_of(p->text + at)];
    for (unsigned tried = 0; place && tried < MOST_TRIED; tried++, place = p->before[place - 1]) {
        const size_t from = place - 1;
        size_t length = 0;
        if (at - from > FARTHEST)
            break;
        while (length < most && p->text[from + length] == p->text[at + length])
            length++;
        if (length >= KILN_LZ4_LEAST_MATCH && length > best.length)
            best = (struct match){ length, at - from };
    }
    return best;
}

static void put_rest(struct packer *p, size_t length)
{
    if (length < KILN_LZ4_HALF)
        return;
    for (length -= KILN_LZ4_HALF; length >= 255; length -= 255)
        p->out[p->len++] = 255;
    p->out[p->len++] = (unsigned char) length;
}

static unsigned half_of(size_t length)
{
    return length < KILN_LZ4_HALF ? (unsigned) length : KILN_LZ4_HALF;
}

/* The literals from a place on, and a match behind them, if there is one. */
static void put_sequence(struct packer *p, size_t from, size_t literals, struct match match)
{
    const size_t more = match.length ? match.length - KILN_LZ4_LEAST_MATCH : 0;
    p->out[p->len++] = (unsigned char) (half_of(literals) << 4 | half_of(more));
    put_rest(p, literals);
    if (literals)
        memcpy(p->out + p->len, p->text + from, literals);
    p->len += literals;
    if (!match.length)
        return;
    p->out[p->len++] = (unsigned char) (match.back & 255);
    p->out[p->len++] = (unsigned char) (match.back >> 8);
    put_rest(p, more);
}

static void pack(struct packer *p)
{
    size_t from = 0, at = 0;
    struct match match = find(p, 0);
    while (at < p->bytes) {
        note(p, at);
        const struct match next = at + 1 < p->bytes ? find(p, at + 1) : (struct match){ 0, 0 };
        if (!match.length || next.length > match.length) {
            at++;
            match = next;
            continue;
        }
        put_sequence(p, from, at - from, match);
        for (size_t i = 1; i < match.length; i++)
            note(p, at + i);
        from = at += match.length;
        match = find(p, at);
    }
    put_sequence(p, from, p->bytes - from, (struct match){ 0, 0 });
}

unsigned char *lz4_pack(const char *text, size_t bytes, size_t *packed_bytes)
{
    struct packer p = { .text = (const unsigned char *) text, .bytes = bytes };
    p.first = calloc((size_t) 1 << HASH_BITS, sizeof *p.first);
    p.before = calloc(bytes + 1, sizeof *p.before);
    p.out = malloc(bytes + bytes / 255 + 16);
    if (p.first && p.before && p.out && bytes <= UINT32_MAX - 1)
        pack(&p);
    else {
        free(p.out);
        p.out = NULL;
    }
    free(p.first);
    free(p.before);
    *packed_bytes = p.len;
    return p.out;
}
