/* cubin.h: machine code for NVIDIA's devices from PTX, so that none has to be made at run time.
 *
 * The driver's own linker makes it (libcuda, which is there where the OpenCL driver is), or else
 * ptxas of the CUDA toolkit. The result, a cubin, is for one compute capability. */
#ifndef KILN_TUNE_CUBIN_H
#define KILN_TUNE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

enum { CUBIN_ERROR_BYTES = 256 };

/* Where the two are. */
struct cubin_tools {
    const char *libcuda;               /* NULL: libcuda.so.1, as the dynamic linker finds it */
    const char *ptxas;                 /* a path; NULL: that of PATH, of CUDA_PATH/bin or of
                                          /usr/local/cuda/bin */
};

enum cubin_tool { CUBIN_BY_NONE, CUBIN_BY_DRIVER, CUBIN_BY_PTXAS, NUM_CUBIN_TOOLS };

struct cubin_maker;

/* For devices of a compute capability (90 for 9.0); `unit` is the bus address of the one that is
 * preferred, as in struct device_facts, or empty. NULL with the cause in error when there is
 * neither driver nor ptxas. */
struct cubin_maker *cubin_open(const struct cubin_tools *tools, unsigned capability,
        const char *unit, char error[CUBIN_ERROR_BYTES]);
void cubin_close(struct cubin_maker *maker);

/* The tool that is tried first; NONE if maker is NULL. The two make different cubins of the same
 * PTX. */
enum cubin_tool cubin_first(const struct cubin_maker *maker);

/* Makes a cubin of PTX by one of the two; freed by the caller. NULL with what was said in error. */
unsigned char *cubin_make_by(struct cubin_maker *maker, enum cubin_tool tool, const char *ptx,
        size_t *size, char error[CUBIN_ERROR_BYTES]);

/* The same by the driver, and by ptxas where that fails or is not there. */
unsigned char *cubin_make(struct cubin_maker *maker, const char *ptx, size_t *size,
        char error[CUBIN_ERROR_BYTES]);

/* A driver's program binary as text, if it is PTX; freed by the caller. NULL: it is something else,
 * or memory is lacking. */
char *cubin_ptx_of(const void *data, size_t size);

/* Does PTX read what a driver tells its own kernels, such as global offsets? Where that lies is
 * known to the driver that the cubin was made for. */
bool cubin_needs_its_driver(const char *ptx);

#endif
