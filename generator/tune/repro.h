/* repro.h: one candidate as a program of its own, for a bug report to a driver's vendor. */
#ifndef KILN_TUNE_REPRO_H
#define KILN_TUNE_REPRO_H

#include "../core/family.h"

/* Writes STEM.cl, the kernels, and STEM.c, which needs OpenCL alone: it runs them on integers whose
 * product is known and says "ok" or what is wrong. False with a message, also for a shape or
 * leading dimensions that the configuration does not take, and where its indices do not fit. */
bool repro_write(const struct config *config, const struct problem *problem, struct shape shape,
        const struct device_facts *facts, const char *path_stem, char error[FAMILY_ERROR_BYTES]);

/* The program, repro_program.c.in, but for what it is to run. */
extern const char repro_program[];

#endif
