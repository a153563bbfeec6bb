/* embed.h: device binaries for a bundle. */
#ifndef KILN_TUNE_EMBED_H
#define KILN_TUNE_EMBED_H

#include "../core/assemble.h"

/* Builds every program of the assembly on the device and adds its binary, keyed by platform,
 * device, driver and source hash. Without keep_source the text is dropped where there is a binary.
 * False with a message when the device is gone or a program gives no binary. */
bool embed_binaries(struct assembly *assembly, const char *device, bool keep_source,
        char error[FAMILY_ERROR_BYTES]);

#endif
