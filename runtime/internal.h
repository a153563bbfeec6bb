/* internal.h: what the files of the runtime share.
 *
 * The steps of a call, and which files do them: README.md. No file calls one that calls it,
 * directly or through others (tests/package/test_order.sh).
 *
 * Locks, always taken in this order and each held by one function alone unless said otherwise:
 * the hold on a queue (kept while a call's stages are enqueued), a recipe, a program. The locks on
 * the lists of held queues and of workspaces are taken for moments, and nothing is called under
 * them.
 */
#ifndef KILN_INTERNAL_H
#define KILN_INTERNAL_H

#include "bundle.h"
#include "fnv.h"
#include "kiln/kiln.h"
#include "rank.h"

#include <pthread.h>
#include <stdbool.h>

/* ---- For the tuner and the benchmark, which link the static library ---- */

/* As kiln_gemm_enqueue, through the same code, but hands out the event of each stage that was
 * enqueued, in order; of a batch those of the first stage and of the last, which may be one. The
 * caller releases them. The queue should have profiling enabled. On failure *num_events is 0.
 * KILN_INVALID_ARGUMENT: a complex product that a real one serves, or an operand of which one
 * triangle is stored. */
KILN_INTERNAL enum kiln_status kiln_gemm_enqueue_profiled(struct kiln_context *context,
        const struct kiln_gemm *gemm, cl_command_queue queue,
        cl_event stage_events[KILN_MAX_STAGES], unsigned *num_events);

/* The device binary of a program (an index into the first bundle of the context), built first if it
 * was not yet. The caller frees *data. KILN_INVALID_ARGUMENT: no such program. KILN_NO_KERNEL: it
 * does not build, or the driver gives out no binary. */
KILN_INTERNAL enum kiln_status kiln_context_binary(struct kiln_context *context, uint32_t program,
        unsigned char **data, size_t *size);

/* ---- Failures ---- */

/* Memory or resources were lacking, which may be over by the next call: nothing follows from it
 * about the kernel, object or device in question. */
static inline bool kiln_is_passing(enum kiln_status status)
{
    return status == KILN_OUT_OF_MEMORY || status == (enum kiln_status) CL_OUT_OF_HOST_MEMORY ||
           status == (enum kiln_status) CL_OUT_OF_RESOURCES ||
           status == (enum kiln_status) CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

/* The status for an error of OpenCL: `invalid`, unless the failure is passing. */
static inline enum kiln_status kiln_conclude(cl_int error, enum kiln_status invalid)
{
    enum kiln_status status = (enum kiln_status) error;
    return status == KILN_SUCCESS || kiln_is_passing(status) ? status : invalid;
}

/* Of two failures the one that counts: that with the lower number. */
static inline enum kiln_status kiln_lower(enum kiln_status a, enum kiln_status b)
{
    return b == KILN_SUCCESS || (a != KILN_SUCCESS && a < b) ? a : b;
}

/* ---- text.c: bounded text, because the library uses no stdio ---- */

struct kiln_text {
    char *data;                        /* always ended by NUL */
    size_t size, length;
    bool truncated;
};

KILN_INTERNAL void kiln_text_begin(struct kiln_text *text, char *data, size_t size);
KILN_INTERNAL void kiln_text_add(struct kiln_text *text, const char *string);
KILN_INTERNAL void kiln_text_add_number(struct kiln_text *text, uint64_t number);

/* ---- device.c: what the runtime must know about a device ---- */

struct kiln_device_facts {
    char *platform, *device, *driver;  /* owned */
    bool is_cpu;
    cl_uint compute_units;
    cl_uint native_vector_float;
    cl_uint compute_capability;        /* NVIDIA's, 90 for 9.0; 0: another vendor's device */
    size_t max_group_items;
    size_t max_items[3];
    cl_ulong local_bytes, max_alloc_bytes;
    size_t max_pixels;                 /* of an image over a buffer; 0: no images */
    bool has_double;
    bool lacks_compiler;               /* source is of no use, binaries are */
    bool lacks_long;                   /* kernels need it: only a binary shows that they do */
};

KILN_INTERNAL enum kiln_status kiln_device_facts_query(cl_device_id device,
        struct kiln_device_facts *facts);
KILN_INTERNAL void kiln_device_facts_free(struct kiln_device_facts *facts);

/* NVIDIA's, 90 for 9.0. 0: the device has none, or one too large to be told in this way. Errors are
 * passing ones alone. */
KILN_INTERNAL enum kiln_status kiln_device_compute_capability(cl_device_id device,
        cl_uint *capability);
/* The local memory that arrays of a kernel may take, where the driver told what its arguments may
 * take. */
KILN_INTERNAL cl_ulong kiln_device_local_bytes(cl_uint capability, cl_ulong told);

/* ---- precision.c ---- */

/* No call names this precision. Products have it where emulation is allowed and available, and
 * recipes that emulate. */
enum { KILN_EMULATED = KILN_ID_EMULATED };

/* How a call names a precision of precisions.inc. */
static inline enum kiln_precision kiln_precision_of_call(unsigned precision)
{
    return precision == KILN_EMULATED ? KILN_SINGLE : (enum kiln_precision) precision;
}
/* 0 is the default. */
static inline bool kiln_arithmetic_is_known(unsigned arithmetic)
{
    return arithmetic == 0 || arithmetic == KILN_NATIVE || arithmetic == KILN_ALLOW_EMULATION;
}
static inline enum kiln_arithmetic kiln_arithmetic_of_call(unsigned precision)
{
    return precision == KILN_EMULATED ? KILN_ALLOW_EMULATION : KILN_NATIVE;
}

struct kiln_precision_facts {
    unsigned precision;                /* enum kiln_precision, or KILN_EMULATED */
    const char *name;
    size_t real_bytes;                 /* of alpha, beta and the sums: cl_float or cl_double */
};

/* The row at a place, below KILN_NUM_PRECISIONS. */
KILN_INTERNAL const struct kiln_precision_facts *kiln_precision_at(size_t place);
/* The row of a precision; NULL: there is no such precision. */
KILN_INTERNAL const struct kiln_precision_facts *kiln_precision_find(unsigned precision);

/* Does the device have what the precision's kernels compute with? */
KILN_INTERNAL bool kiln_precision_runs(unsigned precision, const struct kiln_device_facts *facts);

/* ---- sound.c: whether a bundle can be trusted as data ---- */

KILN_INTERNAL bool kiln_bundle_is_sound(const struct kiln_bundle *bundle);
/* Is the argument a cl_mem? */
KILN_INTERNAL bool kiln_arg_is_memory(unsigned code);

/* ---- select.c: which bundles serve a device ---- */

/* A bundle in the order of distance, and of linking where that is the same. */
struct kiln_kin {
    const struct kiln_bundle *bundle;
    int64_t distance;
    size_t place;
};

/* The bundle that comes after `kin`; NULL: there is none. `kin` is all zero at first, and moves on
 * to that bundle. Bundles of another format are left out. */
KILN_INTERNAL const struct kiln_bundle *kiln_kin_next(const struct kiln_bundle *const *linked,
        const struct kiln_device_facts *facts, struct kiln_kin *kin);

enum { KILN_MAX_LINKS = 4 }; /* of the device and its relatives, and the generic one */

/* Fills the chain of bundles to try, best first: the wanted one; or else those for the device and
 * then, unless only exact matches may serve, those of its relatives, the nearest first. The last
 * linked bundle ends the chain. */
KILN_INTERNAL enum kiln_status kiln_select_bundles(const struct kiln_bundle *wanted,
        const struct kiln_bundle *const *linked, bool exact_only,
        const struct kiln_device_facts *facts, const struct kiln_bundle *chain[KILN_MAX_LINKS],
        unsigned *num);

/* ---- kinship.c: which devices a bundle is for, and how near it is to others ---- */

KILN_INTERNAL bool kiln_glob_match(const char *pattern, const char *text);
/* Do the globs name the device and its driver? */
KILN_INTERNAL bool kiln_bundle_matches(const struct kiln_bundle *bundle,
        const struct kiln_device_facts *facts);

/* Is the bundle for every device? */
KILN_INTERNAL bool kiln_bundle_is_generic(const struct kiln_bundle *bundle);

/* 0: the bundle is for the device. INT64_MAX: it is not even for a relative. Between them, the less
 * the nearer. */
KILN_INTERNAL int64_t kiln_bundle_distance(const struct kiln_bundle *bundle,
        const struct kiln_device_facts *facts);

/* ---- context.c ---- */

enum kiln_state { KILN_UNTRIED, KILN_READY, KILN_REFUSED };

/* The state of a program or recipe after its preparation ended with a status. */
static inline enum kiln_state kiln_state_after(enum kiln_status status)
{
    return status == KILN_SUCCESS  ? KILN_READY
         : kiln_is_passing(status) ? KILN_UNTRIED
                                   : KILN_REFUSED;
}

struct kiln_program_state {
    pthread_mutex_t lock;              /* guards the rest; held while the program is built */
    enum kiln_state state;
    unsigned num_passing;              /* tries that ended in a passing failure */
    unsigned num_put_off;              /* calls that did not try because of these */
    bool from_binary;
    cl_program program;
};

/* One cl_kernel per stage. A set belongs to one call at a time, because setting arguments is not
 * thread-safe in OpenCL. It remembers the scalar arguments that its kernels hold. */
struct kiln_kernel_set {
    struct kiln_kernel_set *next;
    cl_kernel kernels[KILN_MAX_STAGES];
    uint64_t scalars[KILN_MAX_STAGES][KILN_MAX_ARGS];
    bool known[KILN_MAX_STAGES][KILN_MAX_ARGS];
};

struct kiln_recipe_state {
    pthread_mutex_t lock;              /* guards the rest; held while the recipe is prepared */
    enum kiln_state state;
    struct kiln_kernel_set *idle;
};

/* One bundle of a context and what became of it. */
struct kiln_link {
    const struct kiln_bundle *bundle;
    bool is_relative;                        /* found for the device, but tuned on a relative */
    uint32_t num_programs, num_recipes;      /* states whose lock exists */
    struct kiln_program_state *programs;
    struct kiln_recipe_state *recipes;
    bool *left_out;                          /* recipes that are not for the device; known when the
                                                context is made */
};

/* More workspaces are kept only while that many calls are under way, each on its own queue. */
enum { KILN_MAX_WORKSPACES = 8 };

/* The right of one call to enqueue stages that share a workspace on a queue. The call holds it. */
struct kiln_held_queue {
    struct kiln_held_queue *next;
    cl_command_queue queue;
};

/* The workspace that a context holds for one queue. */
struct kiln_queue_workspace {
    struct kiln_queue_workspace *next; /* used longer ago; guarded by workspaces_lock */
    size_t num_users;                  /* calls that hold it; by workspaces_lock */
    cl_command_queue queue;            /* retained */
    cl_mem buffer;                     /* this and the rest: by who holds the queue */
    size_t bytes;
    cl_event last;                     /* out-of-order queues: the last stage that may use it */
};

/* An image of a workspace, of one call. */
struct kiln_image {
    struct kiln_image *next;
    cl_mem image;
};

/* The order of recipes for one shape, in a place guarded by its version (recent.c). */
enum { KILN_RECENT_KEYS = 5, KILN_NUM_RECENT = 128 };

struct kiln_recent {
    size_t version;
    size_t key[KILN_RECENT_KEYS];
    unsigned num;
    uint16_t recipes[KILN_RANKED];
};

struct kiln_context {
    cl_context context;
    cl_device_id device;
    struct kiln_device_facts facts;
    void (*log)(void *user, const char *message);
    void *log_user;
    enum kiln_arithmetic arithmetic;   /* of calls that name none */
    bool has_emulation;                /* a link has recipes of it that are for the device: */
    unsigned emulating_link;           /* the first such */
    bool emulates_only;                /* all that may be emulated is: for the self-test */
    bool logs_calls;                   /* tells of shapes, from the end of creation on */
    unsigned num_links;
    struct kiln_link links[KILN_MAX_LINKS];
    struct kiln_recent *recent;        /* KILN_NUM_RECENT places */
    bool has_queues_lock, has_queues_change;
    pthread_mutex_t queues_lock;
    pthread_cond_t queues_change;      /* a queue is free */
    struct kiln_held_queue *held_queues; /* those that calls have, one a queue */
    bool has_workspaces_lock;
    pthread_mutex_t workspaces_lock;
    struct kiln_queue_workspace *workspaces; /* the one used last comes first */
    struct kiln_image *images;         /* whose last use no event tells; by workspaces_lock */
    size_t num_workspaces;
};

/* What to say when no recipe is left. */
static inline enum kiln_status kiln_nothing_serves(const struct kiln_context *context)
{
    return context->facts.lacks_compiler ? KILN_NO_COMPILER : KILN_NO_KERNEL;
}

/* ---- log.c ---- */

/* Hands the strings, up to a NULL, to the log callback as one message of at most 511 bytes. */
KILN_INTERNAL void kiln_log(const struct kiln_context *context, ...) __attribute__((sentinel));

/* ---- buffer.c ---- */

/* A buffer as the driver knows it. */
struct kiln_buffer_facts {
    cl_context owner;
    size_t bytes;
};

/* Sub-buffers begin at a multiple of these bytes in their parents; kernels count on it. OpenCL asks
 * for no less of any device (CL_DEVICE_MEM_BASE_ADDR_ALIGN is at least the bits of a long16, or of
 * an int16 in the embedded profile). */
enum { KILN_ORIGIN_ALIGN = 16 };

/* Gives `invalid` for NULL, for what the driver does not know as a buffer, and for a sub-buffer
 * that begins elsewhere. */
KILN_INTERNAL enum kiln_status kiln_buffer_query(cl_mem buffer, enum kiln_status invalid,
        struct kiln_buffer_facts *facts);

/* ---- validate.c: calls in canonical form ---- */

/* A call in canonical form: row-major C = alpha op(A) op(B) + beta C. When nothing of A and B is
 * read, alpha is 0, and the buffers of A and B are that of C, as some drivers refuse a NULL
 * argument. */
struct kiln_problem {
    struct kiln_product product;
    size_t real_bytes;
    bool wants_emulation;              /* the call allows it, if there is any */
    double alpha, beta;                /* of complex ones the real parts */
    double alpha_imag, beta_imag;
    cl_mem a, b, c;
    int triangle_a, triangle_b;        /* enum kiln_triangle: what of A and B is stored */
    bool is_hermitian;                 /* those of which one triangle is stored are */
    struct kiln_places places;         /* the context's workspace begins at 0 */
    cl_mem workspace;                  /* NULL: held by the context, or not asked for yet */
    size_t workspace_bytes;            /* from the offset on */
    size_t beside;                     /* bytes of the same workspace that hold what another recipe
                                          makes for this one to read */
    cl_mem packs[KILN_NUM_PREPARED];   /* by enum kiln_prepared, of places.packed */
    unsigned bound;                    /* the set of operands (enum kiln_prepared) that packs
                                          stand for; if any, this recipe alone reads them: */
    unsigned bound_link;
    uint32_t bound_recipe;
    bool is_nothing;                   /* C stays as it is */
};

struct kiln_queue_facts {
    bool out_of_order;
};

/* How a call, or a packing, is to be enqueued. */
struct kiln_request {
    cl_command_queue queue;
    struct kiln_queue_facts queue_facts;
    cl_uint num_wait;
    const cl_event *wait;
    cl_event *event;                   /* NULL: not wanted */
    cl_event *stage_events;            /* NULL: not wanted; room for KILN_MAX_STAGES */
    unsigned *num_stage_events;
    unsigned prepared;                 /* not 0: this operand is packed, nothing is multiplied */
    size_t pack_end;                   /* the bytes of the buffer that it is packed into */
    struct kiln_choice *served;        /* NULL: not wanted; on success, what serves it */
};

/* Checks queue and wait list; sets queue_facts. */
KILN_INTERNAL enum kiln_status kiln_check_request(const struct kiln_context *context,
        struct kiln_request *request);

enum kiln_checks {
    KILN_CHECK_ALL,                    /* a call by struct, where 0 means the default */
    KILN_CHECK_ALL_STRICT,             /* a typed call, where 0 means 0 */
    KILN_CHECK_SHAPE,                  /* a question: A, B and C are not looked at, may be NULL */
    KILN_CHECK_A, KILN_CHECK_B         /* a question that looks at this one */
};

/* The problem of a call, but for the packs that it brings. */
KILN_INTERNAL enum kiln_status kiln_problem_check(const struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_checks checks, struct kiln_problem *problem);

/* What is looked at last: the arithmetic, and triangles. */
KILN_INTERNAL enum kiln_status kiln_check_forms(const struct kiln_gemm *gemm);

/* ---- bind.c: calls with packs ---- */

/* What a pack says of a product's operand, without where it lies. */
KILN_INTERNAL struct kiln_pack kiln_pack_of(const struct kiln_product *product, unsigned prepared);

/* Where the operand lies that is packed, or to be packed. */
KILN_INTERNAL void kiln_problem_place(struct kiln_problem *problem, unsigned prepared,
        cl_mem buffer, size_t offset);

/* Puts the packs that a call brings in the place of its operands, if they fit and are read. */
KILN_INTERNAL enum kiln_status kiln_problem_bind(const struct kiln_context *context,
        const struct kiln_gemm *gemm, struct kiln_problem *problem);

/* ---- dispatch.c: which recipes can serve a call ---- */

/* A recipe that can serve a call, and how. */
struct kiln_choice {
    unsigned link;
    uint32_t recipe;                   /* an index into the link's bundle */
    struct kiln_plan plan;
};

/* Where a walk through the recipes stands; all zero at its beginning. */
struct kiln_walk {
    unsigned place;                    /* in the order of links (dispatch.c) */
    unsigned link;
    bool has_begun;                    /* the first recipes of the link's bundle are ranked: */
    unsigned num, at;
    uint16_t order[KILN_RANKED];
};

/* Can a recipe that is for a problem's extents serve it, and if not, why? */
enum kiln_fit {
    KILN_FITS,
    KILN_FIT_NOT_FOR_DEVICE, KILN_FIT_GUARD, KILN_FIT_INDICES, KILN_FIT_WORKSPACE
};
KILN_INTERNAL enum kiln_fit kiln_fit_of(const struct kiln_context *context,
        const struct kiln_problem *problem, unsigned link, uint32_t recipe, struct kiln_plan *plan);

/* The next recipe that takes the problem, best first; false when there is none. A problem that is
 * bound has one at most. */
KILN_INTERNAL bool kiln_walk_next(const struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_walk *walk, struct kiln_choice *choice);

/* ---- recent.c: shapes that were seen lately ---- */

/* What the order of a bundle's recipes depends on. */
struct kiln_recent_key {
    size_t part[KILN_RECENT_KEYS];
};
KILN_INTERNAL struct kiln_recent_key kiln_recent_key(unsigned link,
        const struct kiln_product *product);

/* Gives the first recipes in order, as they were noted, and returns how many; 0: the shape is not
 * remembered. */
KILN_INTERNAL unsigned kiln_recent_recall(struct kiln_recent recent[KILN_NUM_RECENT],
        const struct kiln_recent_key *key, uint16_t recipes[KILN_RANKED]);
KILN_INTERNAL void kiln_recent_note(struct kiln_recent recent[KILN_NUM_RECENT],
        const struct kiln_recent_key *key, const struct kiln_rank *ranks, unsigned num);

/* ---- Kernels ---- */

/* These functions give KILN_NO_KERNEL for what the driver or the device refuses; it stays refused.
 * After a passing failure the next call tries again. */

/* ---- build.c ---- */

/* Builds the program, or frees it and says why in the log. */
KILN_INTERNAL enum kiln_status kiln_program_build(const struct kiln_context *context,
        cl_program program);
/* Copies the binary for the context's device. (A program made from source belongs to all devices of
 * its cl_context.) *data is to be freed, and has `spare` zeros behind *size bytes. On failure both
 * stay as they are. */
KILN_INTERNAL enum kiln_status kiln_program_binary(const struct kiln_context *context,
        cl_program program, size_t spare, unsigned char **data, size_t *size);

/* ---- ptx.c: kernels that NVIDIA's OpenCL compiler does not build in one step ---- */

/* Builds a masked text for the context's device; takes `source` over. Failures are logged. */
KILN_INTERNAL enum kiln_status kiln_ptx_build(const struct kiln_context *context, cl_program source,
        uint32_t capability, cl_program *program);

/* What unmasking may add to a text: 16 bytes for each kernel, and one for the target.
 * A program has a few kernels; this is for 31. */
#define KILN_PTX_ROOM 512

/* Takes the masks from `text`, in place, targets sm_NNa for a capability of NN, and makes
 * setmaxnreg hold. `size` is that of the text, its NUL and KILN_PTX_ROOM. False: it is not PTX for
 * that capability. */
KILN_INTERNAL bool kiln_ptx_unmask(char *text, size_t size, uint32_t capability);

/* ---- program.c: the programs of a bundle ---- */

/* Why the device can not take the program, as far as its facts tell; NULL: it may take it. */
KILN_INTERNAL const char *kiln_program_misfit(const struct kiln_program *program,
        const struct kiln_device_facts *facts);

/* Has the program had several passing failures? They may be the driver's last word. Then not every
 * call tries to compile it: only one from time to time, and one that nothing else serves. */
KILN_INTERNAL bool kiln_program_is_doubtful(struct kiln_link *link, uint32_t program);
KILN_INTERNAL bool kiln_program_is_put_off(struct kiln_link *link, uint32_t program);

/* Builds what is not built yet; may block for as long as the driver's compiler takes. */
KILN_INTERNAL enum kiln_status kiln_program_prepare(struct kiln_context *context,
        struct kiln_link *link, uint32_t program);

/* ---- recipe.c: sets of kernels ---- */

/* Why a recipe is not meant for the device's kind; NULL: it is. */
KILN_INTERNAL const char *kiln_recipe_kind_misfit(const struct kiln_recipe *recipe,
        const struct kiln_device_facts *facts);

/* Why the device can not run a recipe, as far as its data tells; NULL: it may. */
KILN_INTERNAL const char *kiln_recipe_misfit(const struct kiln_bundle *bundle,
        const struct kiln_recipe *recipe, const struct kiln_device_facts *facts);

KILN_INTERNAL enum kiln_status kiln_recipe_prepare(struct kiln_context *context,
        struct kiln_link *link, uint32_t recipe);
KILN_INTERNAL bool kiln_recipe_is_refused(struct kiln_link *link, uint32_t recipe);
KILN_INTERNAL enum kiln_status kiln_recipe_take(struct kiln_link *link, uint32_t recipe,
        struct kiln_kernel_set **set);
KILN_INTERNAL void kiln_recipe_give(struct kiln_link *link, uint32_t recipe,
        struct kiln_kernel_set *set);
KILN_INTERNAL void kiln_kernel_set_free(struct kiln_kernel_set *set);

/* ---- prepare.c: which recipe serves a call ---- */

/* Which recipes were tried for a problem; all zero at its beginning. */
struct kiln_attempts {
    struct kiln_walk walk;
    enum kiln_status failure;          /* the first of the recipes so far; KILN_SUCCESS: none */
    bool has_put_off;                  /* recipes that were left out, because they are doubtful */
    bool insists;                      /* goes through these */
    bool counts_put_off;               /* they are given too, unbuilt, as KILN_NO_KERNEL: for the
                                          size of what a later call may need */
};

/* Finds the next recipe that can serve the problem; false when there is none. *status is first the
 * result of the recipe before (KILN_SUCCESS if there is none; KILN_NO_KERNEL is no failure to be
 * told), and afterwards that of building the kernels of this one: after a passing failure others
 * may be tried. */
KILN_INTERNAL bool kiln_attempt_next(struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_attempts *attempts,
        struct kiln_choice *choice, enum kiln_status *status);
/* The status of attempts that found nothing that serves. */
KILN_INTERNAL enum kiln_status kiln_attempts_failure(const struct kiln_context *context,
        const struct kiln_problem *problem, const struct kiln_attempts *attempts);
/* The recipe that serves the problem as things stand. */
KILN_INTERNAL enum kiln_status kiln_attempt_first(struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_choice *choice);

/* ---- workspace.c ---- */

/* Waits until no other call holds the queue, and holds it. Calls with a workspace, whoever
 * owns it, need it while they enqueue, so that their stages do not mix with another call's. */
KILN_INTERNAL void kiln_queue_lock(struct kiln_context *context, cl_command_queue queue,
        struct kiln_held_queue *held);
KILN_INTERNAL void kiln_queue_unlock(struct kiln_context *context, struct kiln_held_queue *held);

/* The workspace of a queue, kept until kiln_queue_workspace_release; the caller holds the queue.
 * Workspaces that give way to it are added to `evicted`, to be freed when it holds it no longer: a
 * driver may wait when a queue is released. */
KILN_INTERNAL enum kiln_status kiln_queue_workspace_acquire(struct kiln_context *context,
        cl_command_queue queue, struct kiln_queue_workspace **kept,
        struct kiln_queue_workspace **evicted);
KILN_INTERNAL enum kiln_status kiln_queue_workspace_reserve(const struct kiln_context *context,
        struct kiln_queue_workspace *kept, size_t bytes);
/* Lets go of the memory: what is enqueued keeps it, the next call gets new. */
KILN_INTERNAL void kiln_queue_workspace_empty(struct kiln_queue_workspace *kept);
KILN_INTERNAL void kiln_queue_workspace_release(struct kiln_context *context,
        struct kiln_queue_workspace *kept);
/* Frees a list of them. What is enqueued keeps their buffers, as OpenCL has it. */
KILN_INTERNAL void kiln_workspaces_free(struct kiln_queue_workspace *spaces);

/* ---- image.c ---- */

KILN_INTERNAL void kiln_images_free(struct kiln_image *images);

/* ---- complex.c: complex products as real ones ---- */

/* Removes from the plan of a recipe the stages and the memory that the problem does not need. */
KILN_INTERNAL void kiln_complex_trim(const struct kiln_problem *problem, struct kiln_plan *plan);
KILN_INTERNAL void kiln_complex_leave_scale_out(struct kiln_plan *plan);

/* The product of real matrices that is left when the stages of a recipe for a complex problem are
 * done. The plan's workspace is rounded up to where that of the real one begins. kiln_complex_place
 * says which of its operands lie in the workspace, once there is one. */
KILN_INTERNAL enum kiln_status kiln_complex_split(const struct kiln_problem *problem,
        struct kiln_plan *plan, struct kiln_problem *real);
KILN_INTERNAL void kiln_complex_place(const struct kiln_problem *problem, cl_mem workspace,
        struct kiln_problem *real);

/* Does a stage come after the real product? A plan has all stages. Of the next two functions the
 * first leaves out those that come after it, the second all others. */
KILN_INTERNAL bool kiln_complex_has_end(const struct kiln_problem *problem);
KILN_INTERNAL void kiln_complex_take_begin(struct kiln_plan *plan);
KILN_INTERNAL void kiln_complex_take_end(struct kiln_plan *plan);

/* ---- triangle.c: operands of which one triangle is stored ---- */

/* A problem with such operands in parts: those that mirror them, and the rest. */
struct kiln_mirroring {
    unsigned num;                      /* 0 to 2 */
    struct kiln_problem mirror[2];     /* these write to the workspace, */
    size_t bytes;                      /* so many bytes of it, from its offset on */
    struct kiln_problem rest;
};

/* False on overflow. kiln_mirroring_place says what lies in the workspace, once there is one. */
KILN_INTERNAL bool kiln_mirroring_make(const struct kiln_problem *problem,
        struct kiln_mirroring *mirroring);
KILN_INTERNAL void kiln_mirroring_place(struct kiln_mirroring *mirroring, cl_mem workspace,
        size_t bytes);

/* ---- need.c: what a call takes before it is launched ---- */

/* The workspace that a problem asks for from its offset on, whichever recipe serves it in the
 * end. */
KILN_INTERNAL enum kiln_status kiln_workspace_needed(struct kiln_context *context,
        const struct kiln_problem *problem, size_t *bytes);

/* ---- launch.c: enqueues a call, or a packing ---- */

KILN_INTERNAL enum kiln_status kiln_launch(struct kiln_context *context,
        const struct kiln_problem *problem, const struct kiln_request *request);

/* ---- gemm.c ---- */

/* A typed call, as it is checked. found: what else is wrong with it, KILN_SUCCESS if nothing. */
KILN_INTERNAL enum kiln_status kiln_gemm_request(struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_status found, struct kiln_request *request);

/* The problem of a call: checked, and the packs that it brings in the place of its operands. */
KILN_INTERNAL enum kiln_status kiln_problem_make(const struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_checks checks, struct kiln_problem *problem);

/* ---- selftest.c ---- */

KILN_INTERNAL enum kiln_status kiln_self_test(struct kiln_context *context);

#endif
