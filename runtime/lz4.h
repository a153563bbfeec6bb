/* lz4.h: unpacks the text of a bundle, an LZ4 block (Collet, LZ4 Block Format Description).
 *
 * A block is sequences: a token, literals, and a match, which is bytes that were written before.
 * The token's high half says how many literals there are, its low half how many bytes more than 4
 * the match has; 15 means that bytes follow which are added, up to the first that is not 255. How
 * far back the match begins stands before those of the match, in two bytes, the low one first. The
 * last sequence has no match.
 */
#ifndef KILN_LZ4_H
#define KILN_LZ4_H

#include <stdbool.h>
#include <stddef.h>

enum { KILN_LZ4_LEAST_MATCH = 4, KILN_LZ4_HALF = 15 };

struct kiln_lz4 {
    const unsigned char *next, *end;
};

/* A length, of which the token has a part. SIZE_MAX: the block ends within it. */
static inline size_t kiln_lz4_length(struct kiln_lz4 *in, unsigned half)
{
    size_t length = half;
    for (unsigned byte = 255; half == KILN_LZ4_HALF && byte == 255;) {
        if (in->next == in->end) {
            return (size_t) -1;
        }
        byte = *in->next++;
        length += byte;
    }
    return length;
}

/* Unpacks a block into just so many bytes. False when it is damaged: whatever it holds, nothing
 * beyond it is read and nothing beyond the bytes is written. */
static inline bool kiln_lz4_unpack(const unsigned char *block, size_t block_bytes, char *text,
        size_t text_bytes)
{
    struct kiln_lz4 in = { block, block + block_bytes };
    size_t at = 0;
    while (in.next != in.end) {
        const unsigned token = *in.next++;
        size_t length = kiln_lz4_length(&in, token >> 4);
        if (length > (size_t) (in.end - in.next) || length > text_bytes - at) {
            return false;
        }
        for (; length > 0; length--) {
            text[at++] = (char) *in.next++;
        }
        if (in.next == in.end) {
            break;
        }
        if (in.end - in.next < 2) {
            return false;
        }
        const size_t back = in.next[0] | (size_t) in.next[1] << 8;
        in.next += 2;
        length = kiln_lz4_length(&in, token & KILN_LZ4_HALF);
        if (back == 0 || back > at || length > text_bytes ||
                length + KILN_LZ4_LEAST_MATCH > text_bytes - at) {
            return false;
        }
        for (length += KILN_LZ4_LEAST_MATCH; length > 0; length--, at++) {
            text[at] = text[at - back];
        }
    }
    return at == text_bytes;
}

#endif
