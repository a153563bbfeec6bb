/* context.c: the one object with state: a device, the bundles that serve it, and what became of
 * each of their programs and recipes. All of it is allocated here, at creation.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Is the device one of the context's? */
static enum kiln_status check_handles(cl_context context, cl_device_id device)
{
    size_t bytes = 0;
    if (context == NULL ||
        clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes) != CL_SUCCESS) {
        return KILN_INVALID_CONTEXT;
    }
    cl_device_id *devices = malloc(bytes > 0 ? bytes : 1);
    if (devices == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    bool found = false;
    cl_int error = clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices, NULL);
    for (size_t i = 0; error == CL_SUCCESS && i < bytes / sizeof *devices; i++) {
        found = found || (device != NULL && devices[i] == device);
    }
    free(devices);
    if (error != CL_SUCCESS) {
        return (enum kiln_status)error;
    }
    return found ? KILN_SUCCESS : KILN_INVALID_DEVICE;
}

static bool link_make_states(struct kiln_link *link)
{
    const struct kiln_bundle *bundle = link->bundle;
    link->programs = calloc(bundle->num_programs + 1u, sizeof *link->programs);
    link->recipes = calloc(bundle->num_recipes + 1u, sizeof *link->recipes);
    if (link->programs == NULL || link->recipes == NULL) {
        return false;
    }
    for (; link->num_programs < bundle->num_programs; link->num_programs++) {
        if (pthread_mutex_init(&link->programs[link->num_programs].lock, NULL) != 0) {
            return false;
        }
    }
    for (; link->num_recipes < bundle->num_recipes; link->num_recipes++) {
        if (pthread_mutex_init(&link->recipes[link->num_recipes].lock, NULL) != 0) {
            return false;
        }
    }
    return true;
}

/* Of two tables for one precision, the first counts. */
static bool link_make_grids(struct kiln_link *link)
{
    for (uint32_t i = 0; i < link->bundle->num_dispatches; i++) {
        const struct kiln_dispatch *dispatch = &link->bundle->dispatches[i];
        size_t slot = kiln_precision_slot(dispatch->precision);    /* known: checked by select.c */
        if (link->grids[slot].dispatch == NULL &&
            !kiln_grid_make(dispatch, &link->grids[slot])) {
            return false;
        }
    }
    return true;
}

static void link_free(struct kiln_link *link)
{
    for (uint32_t i = 0; i < link->num_recipes; i++) {
        struct kiln_recipe_state *recipe = &link->recipes[i];
        while (recipe->idle != NULL) {
            struct kiln_kernel_set *set = recipe->idle;
            recipe->idle = set->next;
            kiln_kernel_set_free(set);
        }
        pthread_mutex_destroy(&recipe->lock);
    }
    for (uint32_t i = 0; i < link->num_programs; i++) {
        if (link->programs[i].program != NULL) {
            clReleaseProgram(link->programs[i].program);
        }
        pthread_mutex_destroy(&link->programs[i].lock);
    }
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        free(link->grids[i].points);
    }
    free(link->recipes);
    free(link->programs);
}

static enum kiln_status make_links(struct kiln_context *context,
        const struct kiln_context_params *params)
{
    const struct kiln_bundle *chain[KILN_MAX_LINKS];
    unsigned num = 0;
    enum kiln_status status = kiln_select_bundles(params->bundle, kiln_linked_bundles,
            &context->facts, chain, &num);
    if (status != KILN_SUCCESS) {
        return status;
    }
    for (; context->num_links < num; context->num_links++) {
        struct kiln_link *link = &context->links[context->num_links];
        link->bundle = chain[context->num_links];
        if (!link_make_states(link) || !link_make_grids(link)) {
            link_free(link);
            return KILN_OUT_OF_MEMORY;
        }
        kiln_log(context, "bundle ", link->bundle->name, NULL);
    }
    return KILN_SUCCESS;
}

/* The recipes that a dispatch table names; true when at least one can be used. */
static bool build_dispatched(struct kiln_context *context, struct kiln_link *link,
        const struct kiln_dispatch *dispatch)
{
    bool any = false;
    for (uint32_t i = 0; i < dispatch->num_anchors; i++) {
        for (unsigned trans = 0; trans < 4; trans++) {
            uint16_t recipe = dispatch->anchors[i].recipe[trans];
            if (recipe != KILN_NO_RECIPE && kiln_recipe_prepare(context, link, recipe)) {
                any = true;
            }
        }
    }
    return any;
}

/* Recipes that no table names serve too, where the named ones are refused or there is no table. */
static bool any_recipe_works(struct kiln_context *context)
{
    for (unsigned i = 0; i < context->num_links; i++) {
        struct kiln_link *link = &context->links[i];
        for (uint32_t r = 0; r < link->num_recipes; r++) {
            if (kiln_precision_runs(link->bundle->recipes[r].precision, &context->facts) &&
                kiln_recipe_prepare(context, link, r)) {
                return true;
            }
        }
    }
    return false;
}

/* A recipe that is refused leaves its calls to others; only when none is left is that an error. */
static enum kiln_status build_now(struct kiln_context *context)
{
    bool any = false;
    for (unsigned i = 0; i < context->num_links; i++) {
        for (size_t slot = 0; slot < KILN_NUM_PRECISIONS; slot++) {
            const struct kiln_dispatch *dispatch = context->links[i].grids[slot].dispatch;
            if (dispatch == NULL || !kiln_precision_runs(dispatch->precision, &context->facts)) {
                continue;
            }
            any = build_dispatched(context, &context->links[i], dispatch) || any;
        }
    }
    return any || any_recipe_works(context) ? KILN_SUCCESS : KILN_NO_KERNEL;
}

static enum kiln_status retain_handles(struct kiln_context *context, cl_context opencl_context,
        cl_device_id device)
{
    cl_int error = clRetainContext(opencl_context);
    if (error != CL_SUCCESS) {
        return (enum kiln_status)error;
    }
    context->context = opencl_context;
    error = clRetainDevice(device);
    if (error != CL_SUCCESS) {
        return (enum kiln_status)error;
    }
    context->device = device;
    return KILN_SUCCESS;
}

/* Everything after allocation; what was made when it fails is freed by kiln_context_destroy. */
static enum kiln_status context_init(struct kiln_context *context, cl_context opencl_context,
        cl_device_id device, const struct kiln_context_params *params)
{
    context->log = params->log;
    context->log_user = params->log_user;
    if (pthread_mutex_init(&context->spaces_lock, NULL) != 0) {
        return KILN_OUT_OF_MEMORY;
    }
    context->has_spaces_lock = true;
    enum kiln_status status = retain_handles(context, opencl_context, device);
    if (status == KILN_SUCCESS) {
        status = kiln_device_facts_query(device, &context->facts);
    }
    if (status == KILN_SUCCESS) {
        status = make_links(context, params);
    }
    if (status == KILN_SUCCESS && params->build == KILN_BUILD_NOW) {
        status = build_now(context);
    }
    if (status == KILN_SUCCESS && params->self_test) {
        status = kiln_self_test(context);
    }
    return status;
}

enum kiln_status kiln_context_create(cl_context context, cl_device_id device,
        const struct kiln_context_params *params, struct kiln_context **out)
{
    static const struct kiln_context_params defaults;
    if (out == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    *out = NULL;
    enum kiln_status status = check_handles(context, device);
    if (status != KILN_SUCCESS) {
        return status;
    }
    struct kiln_context *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    status = context_init(made, context, device, params != NULL ? params : &defaults);
    if (status != KILN_SUCCESS) {
        kiln_context_destroy(&made);
    }
    *out = made;
    return status;
}

void kiln_context_destroy(struct kiln_context **context)
{
    if (context == NULL || *context == NULL) {
        return;
    }
    struct kiln_context *old = *context;
    *context = NULL;
    kiln_spaces_free(old);
    for (unsigned i = 0; i < old->num_links; i++) {
        link_free(&old->links[i]);
    }
    kiln_device_facts_free(&old->facts);
    if (old->device != NULL) {
        clReleaseDevice(old->device);
    }
    if (old->context != NULL) {
        clReleaseContext(old->context);
    }
    if (old->has_spaces_lock) {
        pthread_mutex_destroy(&old->spaces_lock);
    }
    free(old);
}
