/* absent.h: why there is no OpenCL device, for those who look for one. */
#ifndef KILN_TUNE_ABSENT_H
#define KILN_TUNE_ABSENT_H

#include <stddef.h>

/* Where no platform has a device: that none was found, and what OpenCL answered. One line, cut to
 * size. */
void absent_explain(char *text, size_t size);

#endif
