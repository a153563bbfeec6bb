/* internal.h: what the files of the runtime share.
 *
 * A call goes through these in order: validate.c turns struct kiln_gemm into a struct kiln_problem
 * in canonical form; pack.c puts packed operands in their places; dispatch.c lists the recipes that
 * can serve it, best first; program.c builds a recipe's kernels once; workspace.c finds memory for
 * its regions; launch.c enqueues its stages.
 *
 * Locks, always taken in this order and each held by one function alone unless said otherwise:
 * the turn of a queue (held while a call's stages are enqueued), a recipe, a program. The locks on
 * the lists of turns and of workspaces are held for moments, and nothing is called under them.
 */
#ifndef KILN_INTERNAL_H
#define KILN_INTERNAL_H

#include "bundle.h"
#include "fnv.h"
#include "kiln/kiln.h"
#include "shape.h"

#include <pthread.h>
#include <stdbool.h>

/* ---- For the tuner and the benchmark, which link the static library ---- */

/* As kiln_gemm_enqueue, through the same code, but hands out the event of each stage that was
 * enqueued, in order; the caller releases them. The queue should have profiling enabled. On failure
 * *num_events is 0. KILN_INVALID_ARGUMENT: a batch of more than one. */
enum kiln_status kiln_gemm_enqueue_profiled(struct kiln_context *context,
        const struct kiln_gemm *gemm, cl_command_queue queue,
        cl_event stage_events[KILN_MAX_STAGES], unsigned *num_events);

/* The device binary of a program (an index into the first bundle of the context), built first if it
 * was not yet. The caller frees *data. KILN_INVALID_ARGUMENT: no such program. KILN_NO_KERNEL: it
 * does not build, or the driver gives out no binary. */
enum kiln_status kiln_context_binary(struct kiln_context *context, uint32_t program,
        unsigned char **data, size_t *size);

/* ---- Checked arithmetic: true when the result fits ---- */

static inline bool kiln_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool kiln_multiply(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* The smallest multiple of `unit` that is not below `value`. */
static inline bool kiln_round_up(size_t value, size_t unit, size_t *rounded)
{
    size_t rest = value % unit;
    return kiln_add(value, rest ? unit - rest : 0, rounded);
}

/* ---- Failures ---- */

/* Memory or resources were lacking, which may be over by the next call: nothing follows from it
 * about the kernel, object or device in question. */
static inline bool kiln_is_passing(enum kiln_status status)
{
    return status == KILN_OUT_OF_MEMORY || status == (enum kiln_status)CL_OUT_OF_HOST_MEMORY ||
           status == (enum kiln_status)CL_OUT_OF_RESOURCES ||
           status == (enum kiln_status)CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

/* What an error of OpenCL means for that which was asked for: `invalid`, unless it is passing. */
static inline enum kiln_status kiln_conclude(cl_int error, enum kiln_status invalid)
{
    enum kiln_status status = (enum kiln_status)error;
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

void kiln_text_begin(struct kiln_text *text, char *data, size_t size);
void kiln_text_add(struct kiln_text *text, const char *string);
void kiln_text_add_number(struct kiln_text *text, size_t number);

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
};

enum kiln_status kiln_device_facts_query(cl_device_id device, struct kiln_device_facts *facts);
void kiln_device_facts_free(struct kiln_device_facts *facts);

/* NVIDIA's, 90 for 9.0. 0: the device has none, or one too large to be told in this way. Errors are
 * passing ones alone. */
enum kiln_status kiln_device_compute_capability(cl_device_id device, cl_uint *capability);
/* What arrays of a kernel may take, where the driver has told what its arguments may take. */
cl_ulong kiln_device_local_bytes(cl_uint capability, cl_ulong told);

/* ---- precision.c ---- */

enum { KILN_NUM_PRECISIONS = 3 };

struct kiln_precision_facts {
    enum kiln_precision precision;
    const char *name;
    size_t element_bytes;              /* of A, B and C */
    size_t real_bytes;                 /* of alpha, beta and the sums: cl_float or cl_double */
};

extern const struct kiln_precision_facts kiln_precisions[];

/* The row of a precision; KILN_NUM_PRECISIONS: there is no such precision. */
size_t kiln_precision_slot(unsigned precision);

/* Does the device have what the precision's kernels compute with? */
bool kiln_precision_runs(unsigned precision, const struct kiln_device_facts *facts);

/* ---- select.c: which bundles serve a device ---- */

bool kiln_glob_match(const char *pattern, const char *text);
bool kiln_bundle_matches(const struct kiln_bundle *bundle, const struct kiln_device_facts *facts);
bool kiln_bundle_is_sound(const struct kiln_bundle *bundle);
/* Is the argument a cl_mem? */
bool kiln_arg_is_memory(unsigned code);
/* Does a stage take the workspace as an image? */
bool kiln_recipe_reads_image(const struct kiln_recipe *recipe);

/* The region of a recipe that holds a prepared operand; NULL: there is none. */
const struct kiln_region *kiln_prepared_region(const struct kiln_recipe *recipe,
        unsigned prepared);

/* A bundle in the order of distance, and of linking where that is the same. */
struct kiln_kin {
    const struct kiln_bundle *bundle;
    int64_t distance;
    size_t place;
};

/* The bundle that comes after `kin`, which is all zero at the beginning and goes on to it. NULL:
 * there is none. Bundles of another format are left out. */
const struct kiln_bundle *kiln_kin_next(const struct kiln_bundle *const *linked,
        const struct kiln_device_facts *facts, struct kiln_kin *kin);

enum { KILN_MAX_LINKS = 4 };           /* of the device and its relatives, and the generic one */

/* Fills the chain of bundles to try, best first: the one that is wanted, or those that are for the
 * device, then, unless only exact matches may serve, those of its relatives, the nearest first; at
 * the end the last one that is linked. */
enum kiln_status kiln_select_bundles(const struct kiln_bundle *wanted,
        const struct kiln_bundle *const *linked, bool exact_only,
        const struct kiln_device_facts *facts, const struct kiln_bundle *chain[KILN_MAX_LINKS],
        unsigned *num);

/* ---- kinship.c: how near a bundle's device is to another one ---- */

/* Is the bundle for every device? */
bool kiln_bundle_is_generic(const struct kiln_bundle *bundle);

/* 0: the bundle is for the device. INT64_MAX: it is not even for a relative. Between them, the less
 * the nearer. */
int64_t kiln_bundle_distance(const struct kiln_bundle *bundle,
        const struct kiln_device_facts *facts);

/* ---- context.c ---- */

enum kiln_state { KILN_UNTRIED, KILN_READY, KILN_REFUSED };

/* What becomes of a program or recipe whose preparation ended so. */
static inline enum kiln_state kiln_state_after(enum kiln_status status)
{
    return status == KILN_SUCCESS ? KILN_READY
            : kiln_is_passing(status) ? KILN_UNTRIED : KILN_REFUSED;
}

struct kiln_program_state {
    pthread_mutex_t lock;              /* guards the rest; held while the program is built */
    enum kiln_state state;
    unsigned num_passing;              /* tries that failed in passing */
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
    bool is_left_out;                  /* not for the device; known when the context is made */
    pthread_mutex_t lock;              /* guards the rest; held while the recipe is prepared */
    enum kiln_state state;
    struct kiln_kernel_set *idle;
};

/* The dispatch table of one precision, with its anchors as points, one for each transpose pair. */
struct kiln_grid {
    const struct kiln_dispatch *dispatch;    /* NULL: the bundle has none for the precision */
    struct kiln_point (*points)[4];
};

/* One bundle of a context and what became of it. */
struct kiln_link {
    const struct kiln_bundle *bundle;
    bool is_relative;                        /* found for the device, but tuned on a relative */
    uint32_t num_programs, num_recipes;      /* states whose lock exists */
    struct kiln_program_state *programs;
    struct kiln_recipe_state *recipes;
    struct kiln_grid grids[KILN_NUM_PRECISIONS];
};

/* More than these are kept only while as many calls are under way, each on its own queue. */
enum { KILN_MAX_SPACES = 8 };

/* The right of one call to enqueue what shares a workspace on a queue; it lives in the call. */
struct kiln_turn {
    struct kiln_turn *next;
    cl_command_queue queue;
};

/* The workspace that a context holds for one queue. */
struct kiln_space {
    struct kiln_space *next;           /* used longer ago; guarded by spaces_lock */
    size_t num_users;                  /* calls that hold it; by spaces_lock */
    cl_command_queue queue;            /* retained */
    cl_mem buffer;                     /* this and the rest: by the queue's turn */
    size_t bytes;
    cl_event last;                     /* out-of-order queues: the last stage that may use it */
};

/* An image of a workspace, of one call. */
struct kiln_image {
    struct kiln_image *next;
    cl_mem image;
};

struct kiln_context {
    cl_context context;
    cl_device_id device;
    struct kiln_device_facts facts;
    void (*log)(void *user, const char *message);
    void *log_user;
    unsigned num_links;
    struct kiln_link links[KILN_MAX_LINKS];
    bool has_turns_lock, has_turns_change;
    pthread_mutex_t turns_lock;
    pthread_cond_t turns_change;       /* a turn is over */
    struct kiln_turn *turns;           /* those that calls have, one a queue */
    bool has_spaces_lock;
    pthread_mutex_t spaces_lock;
    struct kiln_space *spaces;         /* the one used last comes first */
    struct kiln_image *images;         /* whose end nobody tells; by spaces_lock */
    size_t num_spaces;
};

/* ---- log.c ---- */

/* Hands the strings, up to a NULL, to the log callback as one message of at most 511 bytes. */
void kiln_log(const struct kiln_context *context, ...) __attribute__((sentinel));

/* ---- validate.c: calls in canonical form ---- */

/* A matrix as it lies in memory: `rows` rows of `row_length` elements, `ld` elements apart. */
struct kiln_operand {
    cl_mem buffer;
    size_t offset, ld, stride;         /* elements; stride is 0 unless there is a batch */
    size_t rows, row_length;
};

/* Where a prepared operand lies that does not lie in the workspace. */
struct kiln_packed {
    cl_mem buffer;                     /* NULL: it is not packed */
    size_t offset;                     /* bytes; a multiple of KILN_REGION_ALIGN */
};

/* Row-major C (m x n) = alpha op(A) op(B) + beta C. When nothing of A and B is read, alpha and k
 * are 0, A and B have no elements, and their buffers are that of C, as some drivers refuse a NULL
 * argument. */
struct kiln_problem {
    enum kiln_precision precision;
    size_t element_bytes, real_bytes;
    unsigned transa, transb;           /* 0 or 1 */
    size_t m, n, k;
    double alpha, beta;
    struct kiln_operand a, b, c;
    size_t batch_count;                /* >= 1 */
    cl_mem workspace;                  /* NULL: held by the context, or not asked for yet */
    size_t workspace_offset, workspace_bytes;     /* bytes, the latter from the offset on; the
                                                     context's begins at 0 */
    struct kiln_packed packed[KILN_NUM_PREPARED];  /* by enum kiln_prepared; the first is unused */
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
    struct kiln_pack *pack;            /* to be filled */
};

/* Checks queue and wait list; sets queue_facts. */
enum kiln_status kiln_check_request(const struct kiln_context *context,
        struct kiln_request *request);

enum kiln_checks {
    KILN_CHECK_ALL,                    /* a call by struct, where 0 means the default */
    KILN_CHECK_ALL_STRICT,             /* a typed call, where 0 means 0 */
    KILN_CHECK_SHAPE,                  /* a question: A, B and C are not looked at, may be NULL */
    KILN_CHECK_A, KILN_CHECK_B         /* as a question, but for this one */
};

/* The problem of a call, but for the packs that it brings. */
enum kiln_status kiln_problem_check(const struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_checks checks, struct kiln_problem *problem);

/* The place behind a matrix's last element in the last batch member, counted from the start of the
 * buffer; it has at least one element. False on overflow. */
bool kiln_operand_end(const struct kiln_operand *operand, size_t batch_count, size_t *end);
size_t kiln_extent(const struct kiln_problem *problem, unsigned dim);

/* A buffer as the driver knows it. */
struct kiln_buffer_facts {
    cl_context owner;
    size_t bytes;
};

/* Sub-buffers begin at a multiple of these bytes in their parents; kernels count on it. OpenCL asks
 * for no less of any device (CL_DEVICE_MEM_BASE_ADDR_ALIGN is at least the bits of a long16). */
enum { KILN_ORIGIN_ALIGN = 16 };

/* `invalid` for NULL, for what the driver knows as something else, and for a sub-buffer that begins
 * elsewhere. */
enum kiln_status kiln_buffer_query(cl_mem buffer, enum kiln_status invalid,
        struct kiln_buffer_facts *facts);

/* ---- program.c: kernels of a recipe ---- */

/* These give KILN_NO_KERNEL for what the driver or the device refuses, which stays refused, and
 * passing failures, after which the next call tries again. */

/* Builds the program, or frees it and says why in the log. */
enum kiln_status kiln_program_build(const struct kiln_context *context, cl_program program);

/* What fails in passing again and again may be the driver's last word: then not every call tries to
 * compile it, but one in a while, and one that nothing else serves. */
bool kiln_program_is_doubtful(struct kiln_link *link, uint32_t program);
bool kiln_program_is_put_off(struct kiln_link *link, uint32_t program);

/* Builds what is not built yet; may block for as long as the driver's compiler takes. */
enum kiln_status kiln_program_prepare(struct kiln_context *context, struct kiln_link *link,
        uint32_t program);

/* ---- ptx.c: kernels that NVIDIA's OpenCL compiler does not build in one step ---- */

/* Builds a masked text for the context's device; takes `source` over. Failures are logged; as in
 * program.c. */
enum kiln_status kiln_ptx_build(const struct kiln_context *context, cl_program source,
        uint32_t capability, cl_program *program);

/* Takes the masks from `text`, in place, and targets sm_NNa for a capability of NN. `size` has room
 * for one byte more than the text and its NUL. False: it is not PTX for that capability. */
bool kiln_ptx_unmask(char *text, size_t size, uint32_t capability);

/* ---- recipe.c: sets of kernels ---- */

/* Why the device can not run a recipe, as far as its data tells; NULL: it may. */
const char *kiln_recipe_misfit(const struct kiln_bundle *bundle, const struct kiln_recipe *recipe,
        const struct kiln_device_facts *facts);

/* As in program.c. */
enum kiln_status kiln_recipe_prepare(struct kiln_context *context, struct kiln_link *link,
        uint32_t recipe);
enum kiln_status kiln_recipe_take(struct kiln_link *link, uint32_t recipe,
        struct kiln_kernel_set **set);
void kiln_recipe_give(struct kiln_link *link, uint32_t recipe, struct kiln_kernel_set *set);
void kiln_kernel_set_free(struct kiln_kernel_set *set);

/* ---- dispatch.c: which recipe serves a call ---- */

/* A recipe with everything that a launch needs to know about the shape. */
struct kiln_plan {
    struct kiln_link *link;
    uint32_t recipe_index;
    const struct kiln_recipe *recipe;
    const struct kiln_anchor *anchor;              /* NULL: found by the scan */
    size_t groups[KILN_MAX_STAGES][3];             /* any 0: the stage has nothing to do */
    size_t global[KILN_MAX_STAGES][3];             /* work-items */
    size_t region_start[KILN_MAX_REGIONS];         /* elements of the region */
    size_t packed_start[KILN_NUM_PREPARED];        /* likewise, by enum kiln_prepared */
    size_t workspace_bytes;
};

/* Where the search for a recipe stands; all zero at its beginning. */
struct kiln_search {
    unsigned link;
    bool has_put_off;                  /* recipes that were left out, because they are doubtful */
    bool insists;                      /* goes through these */
    bool in_scan;
    uint32_t next;
    const struct kiln_anchor *anchor;
    uint32_t dispatched;
};

bool kiln_grid_make(const struct kiln_dispatch *dispatch, struct kiln_grid *grid);

/* The work-groups and work-items of a recipe's stages; false on overflow. The last stage writes C
 * even when k is 0 and its work-groups divide k among themselves. */
bool kiln_plan_groups(const struct kiln_problem *problem, struct kiln_plan *plan);

/* A stage without work-groups (k is 0, and it packs A or B) must not be enqueued. */
bool kiln_stage_is_empty(const struct kiln_plan *plan, unsigned index);

/* Does the recipe serve every shape of its precision and transposes? */
bool kiln_recipe_takes_all(const struct kiln_recipe *recipe);

/* The next recipe that can serve the problem; false when there is none. A problem that is bound has
 * one at most. The kernels are built, unless *status is a passing failure: then the search may go
 * on. */
bool kiln_search_next(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_plan *plan, enum kiln_status *status);
/* What it means that the search found nothing. */
enum kiln_status kiln_search_failure(const struct kiln_problem *problem);
/* The recipe that serves the problem as things stand. */
enum kiln_status kiln_search_first(struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_plan *plan);

/* ---- pack.c: packed operands ---- */

/* Whether a multiplication enqueues the stage: no pack that it brings takes the stage's place, nor
 * does a stage that prepares both operands. */
bool kiln_stage_is_needed(const struct kiln_problem *problem, const struct kiln_recipe *recipe,
        unsigned index);

/* Where an operand lies in a pack: in the recipe's own form, or as a plain copy of the matrix. */
struct kiln_pack_layout {
    bool is_plain;
    size_t start, ld;                  /* elements of the region or of the matrix; ld if plain */
    size_t end;                        /* bytes from the start of the buffer */
    size_t slack;                      /* bytes more that another offset may take */
};

/* The layout of an operand in a pack that starts at `offset` bytes. False on overflow. */
bool kiln_pack_layout(const struct kiln_problem *problem, const struct kiln_recipe *recipe,
        unsigned prepared, size_t offset, struct kiln_pack_layout *layout);

/* What a pack is, once it is enqueued: the operand of the problem, in the form of the plan. */
void kiln_pack_fill(const struct kiln_problem *problem, const struct kiln_plan *plan,
        unsigned prepared, const struct kiln_pack_layout *layout, struct kiln_pack *pack);

/* The problem of a call: checked, and the packs that it brings in the place of its operands. */
enum kiln_status kiln_problem_make(const struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_checks checks, struct kiln_problem *problem);

/* ---- workspace.c ---- */

/* The elements of a region, padding included; false on overflow. */
bool kiln_region_elements(const struct kiln_problem *problem, const struct kiln_region *region,
        size_t *elements);
/* The distance in bytes of places where elements of this size may start: those of KILN_REGION_ALIGN
 * that are multiples of the element. False on overflow. */
bool kiln_place_unit(size_t element_bytes, size_t *unit);
/* Places a recipe's regions, in the workspace or in packs; false on overflow. */
bool kiln_plan_regions(const struct kiln_problem *problem, struct kiln_plan *plan);
/* The extent of the workspace as an image, from the start of its buffer; 0: no stage reads one. */
size_t kiln_plan_pixels(const struct kiln_problem *problem, const struct kiln_plan *plan);

/* Waits until no other call has the queue's turn, and takes it. Calls with a workspace, whoever
 * owns it, need it while they enqueue, lest their stages mix with another call's. */
void kiln_turn_take(struct kiln_context *context, cl_command_queue queue, struct kiln_turn *turn);
void kiln_turn_give(struct kiln_context *context, struct kiln_turn *turn);

/* The workspace of a queue, kept until kiln_space_release; the caller has the queue's turn. Others
 * that give way to it are added to `evicted`, to be freed when the turn is over: a driver may wait
 * when a queue goes. */
enum kiln_status kiln_space_acquire(struct kiln_context *context, cl_command_queue queue,
        struct kiln_space **space, struct kiln_space **evicted);
enum kiln_status kiln_space_reserve(const struct kiln_context *context, struct kiln_space *space,
        size_t bytes);
/* Lets go of the memory: what is enqueued keeps it, the next call gets new. */
void kiln_space_empty(struct kiln_space *space);
void kiln_space_release(struct kiln_context *context, struct kiln_space *space);
/* Frees a list of them. What is enqueued keeps their buffers, as OpenCL has it. */
void kiln_spaces_free(struct kiln_space *spaces);

/* ---- launch.c ---- */

void kiln_images_free(struct kiln_image *images);

enum kiln_status kiln_launch(struct kiln_context *context, const struct kiln_problem *problem,
        const struct kiln_request *request);

/* ---- selftest.c ---- */

enum kiln_status kiln_self_test(struct kiln_context *context);

#endif
