/* device.h: finds the device to tune for and asks for its facts. */
#ifndef KILN_TUNE_DEVICE_H
#define KILN_TUNE_DEVICE_H

#include "../core/family.h"
#include <CL/cl.h>

/* The first device whose name contains `substring` ("" is any), GPUs and accelerators before CPUs.
 * False with a message naming what there is when none matches. */
bool device_find(const char *substring, cl_device_id *device, char error[FAMILY_ERROR_BYTES]);
bool device_facts(cl_device_id device, struct device_facts *facts, char error[FAMILY_ERROR_BYTES]);

#endif
