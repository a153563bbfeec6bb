/* known.h: the bundles that the build links, as the tuner sees them. */
#ifndef KILN_TUNE_KNOWN_H
#define KILN_TUNE_KNOWN_H

#include "../core/family.h"
#include <CL/cl.h>

/* Whether a linked bundle other than the last, the generic one, is for the device. */
bool known_match(cl_device_id device);

/* The configurations of those bundles' recipes of a precision, each once. Returns how many. */
size_t known_configs(const struct precision *precision, struct config *configs, size_t max);

#endif
