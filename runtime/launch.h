/* launch.h: what the files share that enqueue a call.
 *
 * launch.c drives the others: stages.c enqueues the kernels of a recipe, with their arguments
 * (arguments.c) and the image of a workspace (image.c); copy.c makes a pack that is a plain copy.
 * Both enqueue commands one after another (command.c), in a workspace that the call holds
 * (claim.c). None of them calls launch.c.
 */
#ifndef KILN_LAUNCH_H
#define KILN_LAUNCH_H

#include "internal.h"

/* A call under way. */
struct launch {
    struct kiln_context *context;
    const struct kiln_problem *problem;
    const struct kiln_request *request;
    bool holds_queue;                  /* since a recipe needed a workspace: */
    struct kiln_held_queue queue;
    struct kiln_queue_workspace *kept; /* the context's; NULL until a recipe needs it */
    bool follows;                      /* the last user of the workspace has been waited for */
    struct kiln_queue_workspace *evicted;    /* by that one; to be freed in the end */
    struct kiln_image *image;          /* of the workspace; NULL unless the recipe reads one */
    cl_event last;                     /* of the stage before; NULL where the queue keeps order */
    bool started;                      /* a stage is enqueued: the wait list has been waited for */
    bool touched;                      /* so is one that writes the C of members under way */
    unsigned num_stage_events;
    bool shares_room;                  /* the workspace holds mirrored operands too: the rest of it
                                          is enough for some recipe, but not for each */
    enum kiln_status lacks;            /* why the context could get no more than these; or 0 */
    bool goes_on;                      /* stages follow that belong to another recipe */
    size_t num_members;                /* of the batch; 1 to pack an operand */
    size_t member;                     /* those before it are enqueued */
};

/* ---- command.c: the events of commands ---- */

/* What a command waits for: the wait list, the one before, the last user of the workspace. */
enum { KILN_OWN_WAITS = 16 };

struct kiln_waits {
    cl_uint num;
    const cl_event *events;
    cl_event own[KILN_OWN_WAITS];
    cl_event *allocated;               /* for a longer list; NULL or to be freed */
};

/* Before a command: what it waits for. */
KILN_INTERNAL cl_int kiln_command_begin(const struct launch *launch, struct kiln_waits *waits);
KILN_INTERNAL bool kiln_command_wants_event(const struct launch *launch, bool is_final);
/* After it, whether it was enqueued or not; takes the event over. */
KILN_INTERNAL cl_int kiln_command_end(struct launch *launch, const struct kiln_waits *waits,
        cl_int error, cl_event event);
/* Releases the events of stages that the caller is not to get. */
KILN_INTERNAL void kiln_command_drop_events(struct launch *launch);
/* In the place of the commands of a call that has none. */
KILN_INTERNAL enum kiln_status kiln_command_none(const struct kiln_context *context,
        const struct kiln_request *request);

/* ---- claim.c: the queue and the workspace that a call holds ---- */

/* The workspace that the context holds for the queue. */
KILN_INTERNAL enum kiln_status kiln_claim_own(struct launch *launch, size_t bytes,
        cl_mem *workspace);
/* The workspace for a plan, the caller's or the context's. */
KILN_INTERNAL enum kiln_status kiln_claim_workspace(struct launch *launch,
        const struct kiln_plan *plan, cl_mem *workspace);
/* After a failure to enqueue. */
KILN_INTERNAL void kiln_claim_give_up(struct launch *launch, enum kiln_status status);
/* At the end of the call. */
KILN_INTERNAL void kiln_claim_leave(struct launch *launch);

/* ---- arguments.c ---- */

/* An argument as clSetKernelArg takes it. */
struct kiln_argument {
    size_t size;
    cl_mem buffer;                     /* not NULL: this one */
    uint64_t scalar;                   /* else the first `size` bytes of this one */
};

/* All arguments that a kernel of the plan may take for the next members of the batch. */
KILN_INTERNAL void kiln_arguments_fill(const struct launch *launch, const struct kiln_plan *plan,
        cl_mem workspace, struct kiln_argument arguments[KILN_NUM_ARG_CODES]);
/* Sets those of a stage. */
KILN_INTERNAL cl_int kiln_arguments_set(const struct kiln_stage *stage, unsigned index,
        struct kiln_kernel_set *set, const struct kiln_argument arguments[KILN_NUM_ARG_CODES]);

/* ---- image.c ---- */

/* Lays an image over the workspace, if the plan reads one. */
KILN_INTERNAL enum kiln_status kiln_image_make(struct launch *launch, const struct kiln_plan *plan,
        cl_mem workspace);
KILN_INTERNAL void kiln_image_drop(struct launch *launch);

/* ---- stages.c ---- */

/* The kernels of each member of the batch that is not enqueued yet. */
KILN_INTERNAL enum kiln_status kiln_stages_enqueue(struct launch *launch,
        const struct kiln_choice *choice, cl_mem workspace);

/* ---- copy.c ---- */

/* Packs an operand that the recipe takes as it is. */
KILN_INTERNAL enum kiln_status kiln_copy_operand(struct launch *launch,
        const struct kiln_pack_layout *layout);

#endif
