/* launch.c: the last step of a call: enqueues what is planned and prepared.
 *
 * Recipes are tried in the order of prepare.c. Once a stage that writes C is enqueued, the next one
 * is tried only if beta is 0, as C is not what it was. One exception: if all that was done to the C
 * of a complex product is to scale it by beta, other recipes for its real product are tried, and
 * the scaling is not repeated. The members of a batch are done in this way one after the other, or
 * as many at a time as the plan says; one that is enqueued stays so, whatever becomes of the next.
 */
#include "launch.h"

static enum kiln_status launch_pack(struct launch *launch, const struct kiln_choice *choice)
{
    const struct kiln_request *request = launch->request;
    const struct kiln_problem *problem = launch->problem;
    const size_t offset = problem->places.packed_offset[request->prepared];
    struct kiln_pack_layout layout;
    if (!kiln_pack_layout(choice->plan.recipe, &problem->product, request->prepared, offset,
                &layout)) {
        return KILN_SIZE_OVERFLOW;
    }
    if (layout.end > request->pack_end) {
        /* kiln_pack_bytes did not tell of a pack that no buffer may hold. */
        const size_t bytes = layout.end - offset + layout.slack;
        return bytes > launch->context->facts.max_alloc_bytes
                     ? KILN_NO_KERNEL
                     : KILN_PACK_BUFFER_TOO_SMALL;
    }
    return layout.is_plain ? kiln_copy_operand(launch, &layout)
                           : kiln_stages_enqueue(launch, choice, NULL);
}

static enum kiln_status launch_choice(struct launch *launch, const struct kiln_choice *choice)
{
    cl_mem workspace = NULL;
    if (launch->request->prepared != KILN_PREPARED_NONE) {
        return launch_pack(launch, choice);
    }
    enum kiln_status status = kiln_claim_workspace(launch, &choice->plan, &workspace);
    return status == KILN_SUCCESS ? kiln_stages_enqueue(launch, choice, workspace) : status;
}

/* Is the failure one of this recipe, so that the next one may serve? Another may need less memory;
 * sizes and kernels are the recipe's own, and so are arguments that the driver refuses. */
static bool is_about_recipe(enum kiln_status status)
{
    switch ((int) status) {
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
    case CL_INVALID_BUFFER_SIZE:
    case CL_INVALID_IMAGE_SIZE:
    case CL_IMAGE_FORMAT_NOT_SUPPORTED:
    case CL_INVALID_KERNEL: /* the driver made it, and then refuses it */
    case CL_INVALID_ARG_INDEX:
    case CL_INVALID_ARG_VALUE:
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_KERNEL_ARGS: return true;
    default: return kiln_is_passing(status);
    }
}

static void report_choice(const struct kiln_request *request, const struct kiln_choice *choice)
{
    if (request->served != NULL) {
        *request->served = *choice;
    }
}

/* A complex product under way. Each member takes up to three calls of kiln_stages_enqueue: what
 * prepares it, the real product, what comes behind. Each call counts `launch->member` up, so the
 * first and the last take that back. */
struct complex {
    const struct kiln_problem *whole;
    struct kiln_choice own;            /* the recipe that brings it into the form of a real one */
    struct kiln_problem real;
    bool is_prepared;                  /* it did so for the present member, in the workspace */
    bool scaling_is_done;              /* for that member; a real beta has none to do */
};

/* Enqueues what comes before the real product of the present member. It overwrites what was
 * prepared for the member before. */
static enum kiln_status prepare_member(struct launch *launch, struct complex *complex,
        cl_mem workspace, bool is_last)
{
    struct kiln_choice own = complex->own;
    kiln_complex_take_begin(&own.plan);
    if (complex->scaling_is_done) {
        kiln_complex_leave_scale_out(&own.plan);
    }
    launch->problem = complex->whole;
    launch->goes_on = !complex->real.is_nothing || !is_last || kiln_complex_has_end(complex->whole);
    enum kiln_status status = kiln_stages_enqueue(launch, &own, workspace);
    if (status == KILN_SUCCESS) {
        complex->is_prepared = complex->scaling_is_done = true;
        launch->member--;
    }
    return status;
}

/* Enqueues what comes after it. If that fails, C is not complete: another recipe may do it again if
 * C was not read. */
static enum kiln_status end_member(struct launch *launch, const struct complex *complex,
        cl_mem workspace, bool is_last)
{
    struct kiln_choice own = complex->own;
    if (!kiln_complex_has_end(complex->whole)) {
        return KILN_SUCCESS;
    }
    kiln_complex_take_end(&own.plan);
    launch->member--;
    launch->problem = complex->whole;
    launch->goes_on = !is_last;
    enum kiln_status status = kiln_stages_enqueue(launch, &own, workspace);
    launch->touched = status != KILN_SUCCESS;
    return status;
}

/* choice: of the real product; NULL if nothing is multiplied. After a failure the next choice may
 * get another workspace, so all is prepared anew, except C. */
static enum kiln_status launch_member(struct launch *launch, struct complex *complex,
        const struct kiln_choice *choice, cl_mem workspace, bool is_last)
{
    enum kiln_status status = KILN_SUCCESS;
    if (!complex->is_prepared) {
        status = prepare_member(launch, complex, workspace, is_last);
    }
    if (status == KILN_SUCCESS && choice != NULL) {
        launch->problem = &complex->real;
        launch->goes_on = !is_last || kiln_complex_has_end(complex->whole);
        status = kiln_stages_enqueue(launch, choice, workspace);
    } else if (status == KILN_SUCCESS) {
        launch->member++;
    }
    if (status == KILN_SUCCESS) {
        status = end_member(launch, complex, workspace, is_last);
    }
    complex->is_prepared = false;
    complex->scaling_is_done = complex->scaling_is_done && status != KILN_SUCCESS;
    return status;
}

static enum kiln_status launch_members(struct launch *launch, struct complex *complex,
        const struct kiln_choice *choice, cl_mem workspace)
{
    const size_t num = launch->num_members;
    enum kiln_status status = KILN_SUCCESS;
    kiln_complex_place(complex->whole, workspace, &complex->real);
    while (status == KILN_SUCCESS && launch->member < num) {
        launch->num_members = launch->member + 1;
        status = launch_member(launch, complex, choice, workspace, launch->member + 1 == num);
    }
    launch->num_members = num;
    launch->problem = complex->whole;
    return status;
}

static enum kiln_status launch_real(struct launch *launch, struct complex *complex,
        const struct kiln_choice *choice)
{
    struct kiln_plan plan = complex->own.plan;
    cl_mem workspace = NULL;
    if (choice != NULL &&
            !kiln_add(plan.workspace_bytes, choice->plan.workspace_bytes, &plan.workspace_bytes)) {
        return KILN_SIZE_OVERFLOW;
    }
    enum kiln_status status = kiln_claim_workspace(launch, &plan, &workspace);
    return status == KILN_SUCCESS ? launch_members(launch, complex, choice, workspace) : status;
}

static enum kiln_status launch_first_that_works(struct launch *launch,
        const struct kiln_problem *problem, struct complex *complex);

/* own: the recipe that leaves a real product. If everything fails, another recipe may follow, and
 * finds the launch as this one did. But a C that was multiplied by beta is spoilt for it. */
static enum kiln_status launch_complex(struct launch *launch, const struct kiln_choice *own)
{
    const bool goes_on = launch->goes_on;
    struct complex complex = { .whole = launch->problem, .own = *own };
    enum kiln_status status = kiln_complex_split(launch->problem, &complex.own.plan, &complex.real);
    if (status == KILN_SUCCESS) {
        status = complex.real.is_nothing ? launch_real(launch, &complex, NULL)
                                         : launch_first_that_works(launch, &complex.real, &complex);
    }
    if (status != KILN_SUCCESS) {
        launch->goes_on = goes_on;
        launch->touched = launch->touched ||
                          (complex.scaling_is_done && complex.whole->beta_imag != 0);
    }
    return status;
}

static enum kiln_status launch_one(struct launch *launch, const struct kiln_choice *choice,
        struct complex *complex)
{
    const bool packs = launch->request->prepared != KILN_PREPARED_NONE;
    const bool leaves_real = choice->plan.recipe->routine == KILN_ROUTINE_TO_REAL && !packs;
    if (leaves_real) {
        return launch->request->stage_events != NULL ? KILN_INVALID_ARGUMENT
                                                     : launch_complex(launch, choice);
    }
    enum kiln_status status = complex != NULL ? launch_real(launch, complex, choice)
                                              : launch_choice(launch, choice);
    if (status == KILN_SUCCESS) {
        report_choice(launch->request, choice);
    }
    return status;
}

/* A caller's workspace, or buffer for a pack, must be large enough for the recipe that serves the
 * call, as kiln_gemm_workspace_bytes or kiln_pack_bytes said. A later recipe that needs more is
 * passed over, and the first failure counts. complex: the complex product whose real product the
 * problem is; NULL for other problems. */
static enum kiln_status launch_first_that_works(struct launch *launch,
        const struct kiln_problem *problem, struct complex *complex)
{
    struct kiln_attempts attempts = { .insists = false };
    struct kiln_choice choice;
    enum kiln_status status = KILN_SUCCESS;
    while (kiln_attempt_next(launch->context, problem, &attempts, &choice, &status)) {
        if (status == KILN_SUCCESS) {
            status = launch_one(launch, &choice, complex);
        }
        if (status == KILN_SUCCESS) {
            return KILN_SUCCESS;
        }
        bool is_too_small = status == KILN_WORKSPACE_TOO_SMALL ||
                            status == KILN_PACK_BUFFER_TOO_SMALL;
        bool leaves_nobody = status == KILN_NO_KERNEL ||
                             (status == kiln_nothing_serves(launch->context) &&
                                     problem->bound == 0);
        bool go_on = is_about_recipe(status) || leaves_nobody ||
                     (is_too_small && (attempts.failure != KILN_SUCCESS || launch->shares_room));
        /* Those of the members before are gone, so the rest alone would be timed. */
        bool lost_events = launch->request->stage_events != NULL && launch->member > 0;
        bool is_spoilt = launch->touched && (problem->beta != 0 || problem->beta_imag != 0);
        if (!go_on || is_spoilt || lost_events) {
            return attempts.failure != KILN_SUCCESS ? attempts.failure : status;
        }
        kiln_log(launch->context, choice.plan.recipe->name,
                " passed over: ", kiln_status_string(status), NULL);
        /* The caller brought no workspace that could be too small. */
        status = status == KILN_WORKSPACE_TOO_SMALL && launch->lacks != KILN_SUCCESS
                       ? launch->lacks
                       : status;
    }
    return kiln_attempts_failure(launch->context, problem, &attempts);
}

static enum kiln_status launch_problem(struct launch *launch, const struct kiln_problem *problem)
{
    const bool packs = launch->request->prepared != KILN_PREPARED_NONE;
    launch->problem = problem;
    launch->member = 0;
    launch->num_members = packs ? 1 : problem->product.batch_count;
    return launch_first_that_works(launch, problem, NULL);
}

/* Claims the workspace of a call whose operands are mirrored into it. *bytes: those from the offset
 * on. It is large enough for the recipe that serves the rest (kiln_gemm_workspace_bytes). Where the
 * context can not have that much, it holds the mirrored operands alone, for recipes that need no
 * workspace. */
static enum kiln_status claim_mirrors(struct launch *launch, const struct kiln_problem *problem,
        const struct kiln_mirroring *mirroring, cl_mem *workspace, size_t *bytes)
{
    struct kiln_plan plan = { .recipe = NULL };
    enum kiln_status status = kiln_workspace_needed(launch->context, problem,
            &plan.workspace_bytes);
    launch->problem = problem;
    if (status == KILN_SUCCESS) {
        status = kiln_claim_workspace(launch, &plan, workspace);
    }
    if (status != KILN_SUCCESS && problem->workspace == NULL && is_about_recipe(status) &&
            plan.workspace_bytes > mirroring->bytes) {
        plan.workspace_bytes = mirroring->bytes;
        launch->lacks = status;
        status = kiln_claim_workspace(launch, &plan, workspace);
    }
    *bytes = problem->workspace != NULL ? problem->workspace_bytes : plan.workspace_bytes;
    return status;
}

/* Mirrors operands of which one triangle is stored. What is left is a call like any other, whose
 * workspace lies behind them. */
static enum kiln_status launch_mirrored(struct launch *launch, const struct kiln_problem *problem)
{
    struct kiln_mirroring mirroring;
    cl_mem workspace = NULL;
    size_t bytes = 0;
    if (!kiln_mirroring_make(problem, &mirroring)) {
        return KILN_SIZE_OVERFLOW;
    }
    enum kiln_status status = claim_mirrors(launch, problem, &mirroring, &workspace, &bytes);
    /* If a recipe fails, the context releases its workspace, which the next one still reads. */
    if (status == KILN_SUCCESS) {
        status = (enum kiln_status) clRetainMemObject(workspace);
    }
    if (status != KILN_SUCCESS) {
        return status;
    }
    kiln_mirroring_place(&mirroring, workspace, bytes);
    for (unsigned i = 0; i < mirroring.num && status == KILN_SUCCESS; i++) {
        launch->goes_on = true;
        status = launch_problem(launch, &mirroring.mirror[i]);
    }
    launch->goes_on = false;
    launch->shares_room = true;
    if (status == KILN_SUCCESS) {
        status = launch_problem(launch, &mirroring.rest);
    }
    clReleaseMemObject(workspace);
    return status;
}

enum kiln_status kiln_launch(struct kiln_context *context, const struct kiln_problem *problem,
        const struct kiln_request *request)
{
    if (problem->is_nothing) {
        return kiln_command_none(context, request);
    }
    struct launch launch = {
        .context = context,
        .problem = problem,
        .request = request,
    };
    const bool has_triangle = request->prepared == KILN_PREPARED_NONE &&
                              (problem->triangle_a != KILN_TRIANGLE_NONE ||
                                      problem->triangle_b != KILN_TRIANGLE_NONE);
    enum kiln_status status = has_triangle ? launch_mirrored(&launch, problem)
                                           : launch_problem(&launch, problem);
    kiln_claim_leave(&launch);
    if (status == KILN_SUCCESS && request->event != NULL) {
        *request->event = launch.last;
    } else if (launch.last != NULL) {
        clReleaseEvent(launch.last);
    }
    if (request->num_stage_events != NULL) {
        *request->num_stage_events = launch.num_stage_events;
    }
    return status;
}
