/* ptx.h: programs that NVIDIA's OpenCL compiler cannot build from source.
 *
 * Some instructions (wgmma, tensormap.replace) exist for one compute capability alone, sm_90a, and
 * the compiler targets sm_90. A family of such kernels masks them as PTX comments that begin with
 * "//@". The driver compiles the text to PTX; with the masks taken away and the target named, this
 * PTX is a device binary for every device of that compute capability.
 */
#ifndef KILN_TUNE_PTX_H
#define KILN_TUNE_PTX_H

#include "../core/assemble.h"

#include <CL/cl.h>

/* Gives each masked program of the assembly its PTX (assembly_set_ptx). False with a message in error: a program does not build, or the driver's
 * binaries are not PTX. */
bool ptx_attach(struct assembly *assembly, cl_context context, cl_device_id device,
        char error[FAMILY_ERROR_BYTES]);

/* Takes the masks from `text`, in place, and targets sm_NNa for a capability of NN. `size` has room
 * for one byte more than the text and its NUL. False: it is not PTX for that capability. */
bool ptx_unmask(char *text, size_t size, long capability);

#endif
