/* launcher.h: a device opened for measuring, and calls into the library on it.
 *
 * Many candidates are kept built at a time. They share one workspace, handed in with each call, as
 * each holding its own would exhaust the device.
 */
#ifndef KILN_TUNE_LAUNCHER_H
#define KILN_TUNE_LAUNCHER_H

#include "../core/family.h"
#include "internal.h"

enum { LAUNCHER_MESSAGE_BYTES = 160 };

struct launcher {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;            /* in order, profiling */
    cl_mem workspace;
    size_t workspace_bytes;
    bool by_wall;                      /* the device's own clock was found to be wrong */
    bool is_plain;                     /* call as an application does: the public call, and the
                                          workspace that the library keeps */
};

bool launcher_open(struct launcher *launcher, cl_device_id device,
        char error[LAUNCHER_MESSAGE_BYTES]);
void launcher_close(struct launcher *launcher);

/* The call of a problem of a shape, row-major and with alpha 1, without operands. The members of a
 * batch lie one behind the other. */
struct kiln_gemm launcher_gemm(const struct problem *problem, struct shape shape);

/* Whether the device still works: a kernel with a known answer. */
bool launcher_canary(struct launcher *launcher, char error[LAUNCHER_MESSAGE_BYTES]);

/* Gives a call the shared workspace, grown where need be. Builds the kernels if need be. */
enum kiln_status launcher_prepare(struct launcher *launcher, struct kiln_context *context,
        struct kiln_gemm *gemm);

/* Operands packed for a call, in buffers of their own. */
struct launcher_packs {
    struct kiln_pack pack[2];          /* of A and of B */
    cl_mem buffer[2];
};

/* Packs A, B or both and names the packs in the call; `which` has bit 0 for A, bit 1 for B. To be
 * freed in any case, when the device has done with them. */
enum kiln_status launcher_pack(struct launcher *launcher, struct kiln_context *context,
        struct kiln_gemm *gemm, unsigned which, struct launcher_packs *packs);
void launcher_packs_free(struct launcher_packs *packs);

/* Enqueues a prepared call, waits, and checks how each stage ended. *seconds is the time on the
 * device by its own clock, or by the wall's; 0 when there was nothing to do. */
enum kiln_status launcher_run(struct launcher *launcher, struct kiln_context *context,
        const struct kiln_gemm *gemm, double *seconds);

#endif
