/* probe.h: kiln-tune probe, which prints what is known about a device. */
#ifndef KILN_TUNE_PROBE_H
#define KILN_TUNE_PROBE_H

#include <stdbool.h>

/* Prints a row "name value meaning" for each fact, separated by tabs; with json, one object. A
 * bundle's device.tsv is this output. Returns the exit code. */
int probe_main(const char *device, bool json);

#endif
