/* lz4_pack.h: packs the text of a bundle as an LZ4 block, which runtime/lz4.h unpacks. Pure. */
#ifndef KILN_CORE_LZ4_PACK_H
#define KILN_CORE_LZ4_PACK_H

#include <stddef.h>

/* Freed by the caller; *packed_bytes are its bytes. The same text gives the same block. NULL when
 * out of memory, or for 4 GiB and more. */
unsigned char *lz4_pack(const char *text, size_t bytes, size_t *packed_bytes);

#endif
