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
    if (context == NULL) {
        return KILN_INVALID_CONTEXT;
    }
    enum kiln_status status = kiln_conclude(
            clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes), KILN_INVALID_CONTEXT);
    if (status != KILN_SUCCESS) {
        return status;
    }
    cl_device_id *devices = (cl_device_id *) malloc(bytes > 0 ? bytes : 1);
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
        return (enum kiln_status) error;
    }
    return found ? KILN_SUCCESS : KILN_INVALID_DEVICE;
}

static bool link_make_states(struct kiln_link *link)
{
    const struct kiln_bundle *bundle = link->bundle;
    link->programs = (struct kiln_program_state *) calloc(bundle->num_programs + 1u,
            sizeof *link->programs);
    link->recipes = (struct kiln_recipe_state *) calloc(bundle->num_recipes + 1u,
            sizeof *link->recipes);
    link->left_out = (bool *) calloc(bundle->num_recipes + 1u, sizeof *link->left_out);
    if (link->programs == NULL || link->recipes == NULL || link->left_out == NULL) {
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

/* Recipes that the device can not run are refused before anything is built for them. */
static void leave_recipes_out(const struct kiln_context *context, struct kiln_link *link)
{
    const struct kiln_bundle *bundle = link->bundle;
    const char *first = NULL, *first_why = NULL;
    char number[24];
    size_t num = 0;
    for (uint32_t r = 0; r < bundle->num_recipes; r++) {
        const char *why = kiln_recipe_misfit(bundle, &bundle->recipes[r], &context->facts);
        if (why != NULL) {
            link->left_out[r] = true;
            link->recipes[r].state = KILN_REFUSED;
            first = num == 0 ? bundle->recipes[r].name : first;
            first_why = num == 0 ? why : first_why;
            num++;
        }
    }
    if (num > 0) {
        struct kiln_text text;
        kiln_text_begin(&text, number, sizeof number);
        kiln_text_add_number(&text, num);
        kiln_log(context, "bundle ", bundle->name,
                ": recipes that are not for the device: ", number, "; the first: ", first, ": ",
                first_why, NULL);
    }
}

static void log_link(const struct kiln_context *context, const struct kiln_link *link)
{
    const char *device = link->bundle->match.device;
    if (link->is_relative) {
        kiln_log(context, "bundle ", link->bundle->name, ", tuned on a relative of the device",
                device != NULL ? ": " : "", device != NULL ? device : "", NULL);
    } else {
        kiln_log(context, "bundle ", link->bundle->name, NULL);
    }
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
    free(link->left_out);
    free(link->recipes);
    free(link->programs);
}

/* Where source is of no use: is a recipe left that multiplies? */
static enum kiln_status check_links(const struct kiln_context *context)
{
    const bool compiles = !context->facts.lacks_compiler && !context->facts.lacks_long;
    for (unsigned i = 0; i < context->num_links && !compiles; i++) {
        const struct kiln_link *link = &context->links[i];
        for (uint32_t r = 0; r < link->num_recipes; r++) {
            if (!link->left_out[r] && link->bundle->recipes[r].routine != KILN_ROUTINE_MIRROR) {
                return KILN_SUCCESS;
            }
        }
    }
    if (compiles) {
        return KILN_SUCCESS;
    }
    kiln_log(context, "no bundle has a binary for the device", NULL);
    return kiln_nothing_serves(context);
}

static enum kiln_status make_links(struct kiln_context *context,
        const struct kiln_context_params *params)
{
    const struct kiln_bundle *chain[KILN_MAX_LINKS];
    unsigned num = 0;
    enum kiln_status status = kiln_select_bundles(params->bundle, kiln_linked_bundles,
            params->exact_only != 0, &context->facts, chain, &num);
    if (status != KILN_SUCCESS) {
        return status;
    }
    for (; context->num_links < num; context->num_links++) {
        struct kiln_link *link = &context->links[context->num_links];
        link->bundle = chain[context->num_links];
        int64_t distance = kiln_bundle_distance(link->bundle, &context->facts);
        link->is_relative = link->bundle != params->bundle && distance > 0 && distance < INT64_MAX;
        if (!link_make_states(link)) {
            link_free(link);
            return KILN_OUT_OF_MEMORY;
        }
        log_link(context, link);
        leave_recipes_out(context, link);
    }
    return check_links(context);
}

/* Has the link recipes of emulated single precision that are for the device? */
static bool link_emulates(const struct kiln_link *link)
{
    for (uint32_t r = 0; r < link->num_recipes; r++) {
        if (link->bundle->recipes[r].precision == KILN_EMULATED && !link->left_out[r]) {
            return true;
        }
    }
    return false;
}

static void find_emulation(struct kiln_context *context)
{
    while (context->emulating_link < context->num_links &&
            !link_emulates(&context->links[context->emulating_link])) {
        context->emulating_link++;
    }
    context->has_emulation = context->emulating_link < context->num_links;
}

/* What came of building in advance. */
struct progress {
    bool any;                          /* a recipe can be used */
    enum kiln_status passing;          /* a call that nothing can serve now; KILN_SUCCESS: none */
};

/* Can the recipe be used? One that is refused leaves its calls to others. */
static bool build_recipe(struct kiln_context *context, struct kiln_link *link, uint32_t recipe,
        enum kiln_status *passing)
{
    enum kiln_status status = kiln_recipe_prepare(context, link, recipe);
    *passing = kiln_is_passing(status) ? status : *passing;
    return status == KILN_SUCCESS;
}

/* The recipes that calls may be served by: those with a time, and of the others those up to the
 * first that takes every call. */
static bool build_recipes(struct kiln_context *context, struct kiln_link *link, unsigned precision,
        unsigned pair, enum kiln_status *passing)
{
    const struct kiln_bundle *bundle = link->bundle;
    bool serves = false, serves_all = false;
    for (uint32_t r = 0; r < bundle->num_recipes; r++) {
        const struct kiln_recipe *recipe = &bundle->recipes[r];
        bool is_wanted = recipe->routine != KILN_ROUTINE_MIRROR &&
                         recipe->triangles != KILN_TRIANGLES_ALWAYS &&
                         (recipe->time != NULL || !serves_all);
        if (is_wanted && recipe->precision == precision &&
                kiln_pair(recipe->transa, recipe->transb) == pair &&
                build_recipe(context, link, r, passing)) {
            serves = true;
            serves_all = serves_all || kiln_recipe_takes_all(recipe);
        }
    }
    return serves;
}

/* Builds what serves calls of one precision and transpose pair first: recipes of the first bundle
 * that has any for them. */
static void build_pair(struct kiln_context *context, unsigned precision, unsigned pair,
        struct progress *progress)
{
    bool serves = false;
    enum kiln_status passing = KILN_SUCCESS;
    for (unsigned i = 0; i < context->num_links && !serves; i++) {
        struct kiln_link *link = &context->links[i];
        serves = build_recipes(context, link, precision, pair, &passing);
    }
    progress->any = progress->any || (serves && !kiln_precision_is_complex(precision));
    progress->passing = serves || passing == KILN_SUCCESS ? progress->passing : passing;
}

static enum kiln_status build_now(struct kiln_context *context)
{
    struct progress progress = { .passing = KILN_SUCCESS };
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        const unsigned precision = kiln_precision_at(i)->precision;
        bool runs = kiln_precision_runs(precision, &context->facts) &&
                    (precision != KILN_EMULATED || context->arithmetic == KILN_ALLOW_EMULATION);
        /* Where what emulates can not be built now, native recipes serve. */
        struct progress unneeded = { .passing = KILN_SUCCESS };
        for (unsigned pair = 0; runs && pair < KILN_NUM_PAIRS; pair++) {
            build_pair(context, precision, pair,
                    precision == KILN_EMULATED ? &unneeded : &progress);
        }
    }
    return progress.passing != KILN_SUCCESS ? progress.passing
         : progress.any                     ? KILN_SUCCESS
                                            : kiln_nothing_serves(context);
}

static enum kiln_status retain_handles(struct kiln_context *context, cl_context opencl_context,
        cl_device_id device)
{
    cl_int error = clRetainContext(opencl_context);
    if (error != CL_SUCCESS) {
        return (enum kiln_status) error;
    }
    context->context = opencl_context;
    error = clRetainDevice(device);
    if (error != CL_SUCCESS) {
        return (enum kiln_status) error;
    }
    context->device = device;
    return KILN_SUCCESS;
}

/* Everything after allocation; what was made when it fails is freed by kiln_context_destroy. */
static enum kiln_status context_init(struct kiln_context *context, cl_context opencl_context,
        cl_device_id device, const struct kiln_context_params *params)
{
    context->arithmetic = params->arithmetic == 0 ? KILN_NATIVE : params->arithmetic;
    context->log = params->log;
    context->log_user = params->log_user;
    context->recent = (struct kiln_recent *) calloc(KILN_NUM_RECENT, sizeof *context->recent);
    if (context->recent == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    if (pthread_mutex_init(&context->workspaces_lock, NULL) != 0) {
        return KILN_OUT_OF_MEMORY;
    }
    context->has_workspaces_lock = true;
    context->has_queues_lock = pthread_mutex_init(&context->queues_lock, NULL) == 0;
    context->has_queues_change = pthread_cond_init(&context->queues_change, NULL) == 0;
    if (!context->has_queues_lock || !context->has_queues_change) {
        return KILN_OUT_OF_MEMORY;
    }
    enum kiln_status status = retain_handles(context, opencl_context, device);
    if (status == KILN_SUCCESS) {
        status = kiln_device_facts_query(device, &context->facts);
    }
    if (status == KILN_SUCCESS && context->facts.lacks_compiler) {
        kiln_log(context, "the device has no compiler: embedded binaries alone serve", NULL);
    }
    if (status == KILN_SUCCESS) {
        status = make_links(context, params);
    }
    if (!kiln_arithmetic_is_known(params->arithmetic)) {
        status = kiln_lower(status, KILN_INVALID_ARITHMETIC);
    }
    if (status == KILN_SUCCESS) {
        find_emulation(context);
    }
    if (status == KILN_SUCCESS && params->build == KILN_BUILD_NOW) {
        status = build_now(context);
    }
    if (status == KILN_SUCCESS && params->self_test) {
        status = kiln_self_test(context);
    }
    if (params->log_calls) { /* the self-test's shapes are none of the application's */
        memset(context->recent, 0, KILN_NUM_RECENT * sizeof *context->recent);
        context->logs_calls = true;
    }
    return status;
}

enum kiln_status kiln_context_create(cl_context context, cl_device_id device,
        const struct kiln_context_params *params, struct kiln_context **out)
{
    static const struct kiln_context_params defaults = { .log = NULL };
    if (out == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    *out = NULL;
    enum kiln_status status = check_handles(context, device);
    if (status != KILN_SUCCESS) {
        return status;
    }
    struct kiln_context *made = (struct kiln_context *) calloc(1, sizeof *made);
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
    kiln_images_free(old->images);
    kiln_workspaces_free(old->workspaces);
    for (unsigned i = 0; i < old->num_links; i++) {
        link_free(&old->links[i]);
    }
    free(old->recent);
    kiln_device_facts_free(&old->facts);
    if (old->device != NULL) {
        clReleaseDevice(old->device);
    }
    if (old->context != NULL) {
        clReleaseContext(old->context);
    }
    if (old->has_queues_lock) {
        pthread_mutex_destroy(&old->queues_lock);
    }
    if (old->has_queues_change) {
        pthread_cond_destroy(&old->queues_change);
    }
    if (old->has_workspaces_lock) {
        pthread_mutex_destroy(&old->workspaces_lock);
    }
    free(old);
}
