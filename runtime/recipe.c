/* recipe.c: the kernels of a recipe.
 *
 * Calls on one context may run at once, and a cl_kernel can hold the arguments of one call only. So
 * each call takes a whole set of kernels out of the recipe's pool and gives it back when its stages
 * are enqueued; the pool grows to the largest number of calls that were ever under way together.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

void kiln_kernel_set_free(struct kiln_kernel_set *set)
{
    for (unsigned i = 0; i < KILN_MAX_STAGES; i++) {
        if (set->kernels[i] != NULL) {
            clReleaseKernel(set->kernels[i]);
        }
    }
    free(set);
}

static enum kiln_status kernel_set_make(const struct kiln_recipe *recipe, cl_program program,
        struct kiln_kernel_set **out)
{
    struct kiln_kernel_set *set = (struct kiln_kernel_set *) calloc(1, sizeof *set);
    if (set == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        cl_int error = CL_SUCCESS;
        set->kernels[i] = clCreateKernel(program, recipe->stages[i].entry, &error);
        if (set->kernels[i] == NULL) {
            kiln_kernel_set_free(set);
            return (enum kiln_status)(error != CL_SUCCESS ? error : CL_INVALID_KERNEL);
        }
    }
    *out = set;
    return KILN_SUCCESS;
}

/* What the driver knows of a kernel; if it does not know, *value stays. Errors are passing ones. */
static enum kiln_status ask(const struct kiln_context *context, cl_kernel kernel,
        cl_kernel_work_group_info what, void *value, size_t size)
{
    return kiln_conclude(clGetKernelWorkGroupInfo(kernel, context->device, what, size, value, NULL),
            KILN_SUCCESS);
}

/* Two drivers' answers lie below what a kernel requires and gets: NVIDIA rounds down to a power of
 * two, and rusticl gives the size of a subgroup. */
static bool is_answer_low(const struct kiln_device_facts *facts)
{
    return facts->compute_capability != 0 ||
           (facts->platform != NULL && strcmp(facts->platform, "rusticl") == 0);
}

static bool work_group_fits(const struct kiln_device_facts *facts, const struct kiln_stage *stage,
        size_t most)
{
    size_t items = 1;
    if (most > facts->max_group_items || is_answer_low(facts)) {
        most = facts->max_group_items;
    }
    for (unsigned d = 0; d < stage->work_dim; d++) {
        if (stage->local[d] > facts->max_items[d] ||
                !kiln_multiply(items, stage->local[d], &items)) {
            return false;
        }
    }
    return items <= most;
}

/* Why the device can not give a stage what it takes; NULL: it can. */
static const char *stage_misfit(const struct kiln_device_facts *facts,
        const struct kiln_stage *stage, size_t most_items, cl_ulong local_bytes)
{
    return !work_group_fits(facts, stage, most_items) ? "its work-groups are too large"
         : local_bytes > facts->local_bytes           ? "too little local memory"
                                                      : NULL;
}

/* As a set. */
static unsigned kind_of(const struct kiln_device_facts *facts)
{
    return !facts->is_cpu ? KILN_KIND_OTHER : facts->native_vector_float > 1 ? KILN_KIND_CPU : 0;
}

const char *kiln_recipe_kind_misfit(const struct kiln_recipe *recipe,
        const struct kiln_device_facts *facts)
{
    return recipe->kinds != 0 && (recipe->kinds & kind_of(facts)) == 0
                 ? "it is for another kind of device"
         : recipe->vector_floats > facts->native_vector_float
                 ? "the device's vectors are too short"
                 : NULL;
}

const char *kiln_recipe_misfit(const struct kiln_bundle *bundle, const struct kiln_recipe *recipe,
        const struct kiln_device_facts *facts)
{
    const uint32_t ptx = bundle->programs[recipe->program].ptx;
    const char *why = ptx != 0 && ptx != facts->compute_capability
                            ? "it is for another compute capability"
                    : !kiln_precision_runs(recipe->precision, facts)
                            ? "no double precision"
                            : kiln_recipe_kind_misfit(recipe, facts);
    why = why != NULL ? why : kiln_program_misfit(&bundle->programs[recipe->program], facts);
    for (unsigned i = 0; i < recipe->num_stages && why == NULL; i++) {
        why = stage_misfit(facts, &recipe->stages[i], SIZE_MAX, recipe->stages[i].local_bytes);
    }
    return why;
}

/* Is the argument of the kind that the code stands for? A handle in place of a number, or an image
 * in place of a buffer, has the right size, so that sizes do not show it. Drivers need not tell. */
static cl_int check_kind(cl_kernel kernel, cl_uint index, unsigned code, bool *fits)
{
    cl_kernel_arg_address_qualifier space = 0;
    cl_kernel_arg_access_qualifier access = 0;
    cl_int error = clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space,
            &space, NULL);
    if (error == CL_SUCCESS) {
        error = clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access,
                &access, NULL);
    }
    *fits = error != CL_SUCCESS ||
            ((space != CL_KERNEL_ARG_ADDRESS_PRIVATE) == kiln_arg_is_memory(code) &&
                    (access != CL_KERNEL_ARG_ACCESS_NONE) == (code == KILN_ARG_WORKSPACE_IMAGE));
    return error;
}

/* Does the kernel take as many arguments as the stage gives, and of their kinds? Whether sizes fit,
 * drivers tell when an argument is set. */
static enum kiln_status check_arguments(const struct kiln_stage *stage, cl_kernel kernel)
{
    cl_uint num = stage->num_args;
    cl_int error = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof num, &num, NULL);
    bool fit = num == stage->num_args;
    for (cl_uint i = 0; i < stage->num_args && fit && error == CL_SUCCESS; i++) {
        error = check_kind(kernel, i, stage->args[i], &fit);
    }
    return fit ? kiln_conclude(error, KILN_SUCCESS) : KILN_NO_KERNEL;
}

/* Can the stage be launched? If not, *why says so. The compiler may use more local memory than the
 * stage declares, or report none at all. */
static enum kiln_status check_stage(const struct kiln_context *context,
        const struct kiln_stage *stage, cl_kernel kernel, const char **why)
{
    cl_ulong local_bytes = 0;
    size_t most = SIZE_MAX;
    enum kiln_status status = ask(context, kernel, CL_KERNEL_LOCAL_MEM_SIZE, &local_bytes,
            sizeof local_bytes);
    if (status == KILN_SUCCESS) {
        status = ask(context, kernel, CL_KERNEL_WORK_GROUP_SIZE, &most, sizeof most);
    }
    bool arguments_fit = true;
    if (status == KILN_SUCCESS) {
        status = check_arguments(stage, kernel);
        arguments_fit = status != KILN_NO_KERNEL;
    }
    if (kiln_is_passing(status)) {
        *why = kiln_status_string(status);
        return status;
    }
    if (local_bytes < stage->local_bytes) {
        local_bytes = stage->local_bytes;
    }
    *why = stage_misfit(&context->facts, stage, most, local_bytes);
    *why = *why == NULL && !arguments_fit ? "its kernels take other arguments" : *why;
    return *why == NULL ? KILN_SUCCESS : KILN_NO_KERNEL;
}

static enum kiln_status checked_set(const struct kiln_context *context,
        const struct kiln_recipe *recipe, cl_program program, struct kiln_kernel_set **set,
        const char **why)
{
    enum kiln_status status = kernel_set_make(recipe, program, set);
    if (status != KILN_SUCCESS) {
        *why = kiln_status_string(status);
        return kiln_is_passing(status) ? status : KILN_NO_KERNEL;
    }
    for (unsigned i = 0; i < recipe->num_stages && status == KILN_SUCCESS; i++) {
        status = check_stage(context, &recipe->stages[i], (*set)->kernels[i], why);
    }
    if (status != KILN_SUCCESS) {
        kiln_kernel_set_free(*set);
    }
    return status;
}

static enum kiln_status first_set(struct kiln_context *context, struct kiln_link *link,
        const struct kiln_recipe *recipe, struct kiln_kernel_set **set)
{
    const char *why = "its program does not build";
    enum kiln_status status = kiln_program_prepare(context, link, recipe->program);
    if (status == KILN_SUCCESS) {
        status = checked_set(context, recipe, link->programs[recipe->program].program, set, &why);
    }
    if (status != KILN_SUCCESS) {
        kiln_log(context, recipe->name,
                kiln_is_passing(status) ? " not ready yet: " : " refused: ", why, NULL);
    }
    return status;
}

enum kiln_status kiln_recipe_prepare(struct kiln_context *context, struct kiln_link *link,
        uint32_t recipe)
{
    struct kiln_recipe_state *state = &link->recipes[recipe];
    pthread_mutex_lock(&state->lock);
    enum kiln_status status = state->state == KILN_READY ? KILN_SUCCESS : KILN_NO_KERNEL;
    if (state->state == KILN_UNTRIED) {
        struct kiln_kernel_set *set = NULL;
        status = first_set(context, link, &link->bundle->recipes[recipe], &set);
        state->idle = status == KILN_SUCCESS ? set : NULL;
        state->state = kiln_state_after(status);
    }
    pthread_mutex_unlock(&state->lock);
    return status;
}

bool kiln_recipe_is_refused(struct kiln_link *link, uint32_t recipe)
{
    struct kiln_recipe_state *state = &link->recipes[recipe];
    pthread_mutex_lock(&state->lock);
    bool is_refused = state->state == KILN_REFUSED;
    pthread_mutex_unlock(&state->lock);
    return is_refused;
}

/* The recipe must be ready. */
enum kiln_status kiln_recipe_take(struct kiln_link *link, uint32_t recipe,
        struct kiln_kernel_set **set)
{
    struct kiln_recipe_state *state = &link->recipes[recipe];
    pthread_mutex_lock(&state->lock);
    *set = state->idle;
    if (*set != NULL) {
        state->idle = (*set)->next;
    }
    pthread_mutex_unlock(&state->lock);
    if (*set != NULL) {
        return KILN_SUCCESS;
    }
    const struct kiln_recipe *data = &link->bundle->recipes[recipe];
    return kernel_set_make(data, link->programs[data->program].program, set);
}

void kiln_recipe_give(struct kiln_link *link, uint32_t recipe, struct kiln_kernel_set *set)
{
    struct kiln_recipe_state *state = &link->recipes[recipe];
    pthread_mutex_lock(&state->lock);
    set->next = state->idle;
    state->idle = set;
    pthread_mutex_unlock(&state->lock);
}
