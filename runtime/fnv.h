/* fnv.h: the hash of kernel text and device binaries, shared with the generator: FNV-1a of 64 bits
 * (Fowler, Noll, Vo; RFC 9923). It finds damage and difference, not forgery. */
#ifndef KILN_FNV_H
#define KILN_FNV_H

#include <stddef.h>
#include <stdint.h>

#define KILN_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Goes on with a hash, begun with KILN_HASH_BEGIN, over `size` bytes more. */
static inline uint64_t kiln_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = (const unsigned char *) data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

#endif
