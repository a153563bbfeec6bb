/* recipe.c: the kernels of a recipe.
 *
 * Calls on one context may run at once, and a cl_kernel can hold the arguments of one call only. So
 * each call takes a whole set of kernels out of the recipe's pool and gives it back when its stages
 * are enqueued; the pool grows to the largest number of calls that were ever under way together.
 */
#include "internal.h"

#include <stdlib.h>

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
    struct kiln_kernel_set *set = calloc(1, sizeof *set);
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

/* The compiler may use more local memory than the stage declares, or report none at all. */
static bool local_memory_fits(const struct kiln_context *context, const struct kiln_stage *stage,
        cl_kernel kernel)
{
    cl_ulong bytes = 0;
    if (clGetKernelWorkGroupInfo(kernel, context->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes,
            &bytes, NULL) != CL_SUCCESS || bytes < stage->local_bytes) {
        bytes = stage->local_bytes;
    }
    return bytes <= context->facts.local_bytes;
}

static bool work_group_fits(const struct kiln_context *context, const struct kiln_stage *stage,
        cl_kernel kernel)
{
    size_t most = 0, items = 1;
    cl_int error = clGetKernelWorkGroupInfo(kernel, context->device, CL_KERNEL_WORK_GROUP_SIZE,
            sizeof most, &most, NULL);
    /* NVIDIA rounds its answer down to a power of two, below what a kernel requires and gets. */
    if (error != CL_SUCCESS || most > context->facts.max_group_items ||
        context->facts.compute_capability != 0) {
        most = context->facts.max_group_items;
    }
    for (unsigned d = 0; d < stage->work_dim; d++) {
        if (stage->local[d] > context->facts.max_items[d] ||
            !kiln_multiply(items, stage->local[d], &items)) {
            return false;
        }
    }
    return items <= most;
}

static bool kernels_fit(const struct kiln_context *context, const struct kiln_recipe *recipe,
        const struct kiln_kernel_set *set)
{
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        const struct kiln_stage *stage = &recipe->stages[i];
        if (!work_group_fits(context, stage, set->kernels[i])) {
            kiln_log(context, recipe->name, " refused: its work-groups are too large", NULL);
            return false;
        }
        if (!local_memory_fits(context, stage, set->kernels[i])) {
            kiln_log(context, recipe->name, " refused: too little local memory", NULL);
            return false;
        }
    }
    return true;
}

static struct kiln_kernel_set *first_set(struct kiln_context *context, struct kiln_link *link,
        const struct kiln_recipe *recipe)
{
    if (!kiln_program_prepare(context, link, recipe->program)) {
        kiln_log(context, recipe->name, " refused: its program does not build", NULL);
        return NULL;
    }
    struct kiln_kernel_set *set = NULL;
    enum kiln_status status = kernel_set_make(recipe, link->programs[recipe->program].program,
            &set);
    if (status != KILN_SUCCESS) {
        kiln_log(context, recipe->name, " refused: ", kiln_status_string(status), NULL);
        return NULL;
    }
    if (!kernels_fit(context, recipe, set)) {
        kiln_kernel_set_free(set);
        return NULL;
    }
    return set;
}

bool kiln_recipe_prepare(struct kiln_context *context, struct kiln_link *link, uint32_t recipe)
{
    struct kiln_recipe_state *state = &link->recipes[recipe];
    pthread_mutex_lock(&state->lock);
    if (state->state == KILN_UNTRIED) {
        state->idle = first_set(context, link, &link->bundle->recipes[recipe]);
        state->state = state->idle != NULL ? KILN_READY : KILN_REFUSED;
    }
    bool ready = state->state == KILN_READY;
    pthread_mutex_unlock(&state->lock);
    return ready;
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
