/* embed.h: device binaries for a bundle. */
#ifndef KILN_TUNE_EMBED_H
#define KILN_TUNE_EMBED_H

#include "embed_crew.h"

/* Whether what is made on the device that a name finds is of use where it was tuned: platform,
 * device and driver are those of `tuned`. False with a message otherwise. */
bool embed_is_for(const char *device, const struct device_facts *tuned,
        char error[FAMILY_ERROR_BYTES]);

/* Builds every program of the assembly on the device and adds its binary, keyed by platform,
 * device, driver and source hash. On NVIDIA's devices this is a cubin, keyed by platform, compute
 * capability and source hash, and by the driver where it needs that; behind it, or in its place
 * with a warning on standard error where none can be made, the driver's PTX. Without keep_source
 * the text is dropped; with it, the PTX behind a cubin. tools may be NULL,
 * and crew too; what is embedded does not depend on the crew.
 *
 * False with a message when the device is gone or a program gives no binary. */
bool embed_binaries(struct assembly *assembly, const char *device, bool keep_source,
        const struct cubin_tools *tools, const struct embed_crew *crew,
        char error[FAMILY_ERROR_BYTES]);

/* In a process of a crew: makes what standard input asks for, of the same assembly, until it ends.
 * False with a message when it cannot. */
bool embed_serve(struct assembly *assembly, const char *device, const struct cubin_tools *tools,
        char error[FAMILY_ERROR_BYTES]);

/* The command `binaries`: serves with what winners.tsv in a folder makes. Returns an exit
 * status. */
int embed_main(const char *device, const char *output);

#endif
