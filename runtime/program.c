/* program.c: builds the programs of a bundle, each once, at first use.
 *
 * An embedded binary made for this device and this very source comes first. Drivers accept binaries
 * that they can not run, so one counts only if every kernel that the bundle wants can be created
 * from it. Otherwise the source is compiled; a driver of a device that has no compiler gets no
 * source. A damaged binary may crash a driver, so the driver gets none whose data do not have the
 * hash in the bundle. In the same way the compiler gets no damaged text. Only what is used is
 * hashed.
 *
 * What is refused, by the compiler or the device, is KILN_NO_KERNEL and stays refused. A passing
 * failure leaves the program untried.
 */
#include "internal.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

static bool is_equal_or_any(const char *wanted, const char *text)
{
    return wanted == NULL || strcmp(wanted, text) == 0;
}

static bool binary_matches(const struct kiln_binary *binary, uint64_t hash,
        const struct kiln_device_facts *facts)
{
    return binary->source_hash == hash && is_equal_or_any(binary->platform, facts->platform) &&
           is_equal_or_any(binary->device, facts->device) &&
           is_equal_or_any(binary->driver, facts->driver) &&
           (binary->compute_capability == 0 ||
                   binary->compute_capability == facts->compute_capability);
}

/* Why no source is compiled for the device; NULL: it is. */
static const char *sourceless(const struct kiln_device_facts *facts)
{
    return facts->lacks_compiler ? "no embedded binary fits, and the device has no compiler"
         : facts->lacks_long     ? "no embedded binary fits, and the device has no 64-bit integers"
                                 : NULL;
}

const char *kiln_program_misfit(const struct kiln_program *program,
        const struct kiln_device_facts *facts)
{
    const char *why = sourceless(facts);
    for (uint32_t i = 0; i < program->num_binaries && why != NULL; i++) {
        why = binary_matches(&program->binaries[i], program->hash, facts) ? NULL : why;
    }
    return why;
}

static enum kiln_status check_entry(const struct kiln_context *context, cl_program program,
        const char *entry)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, entry, &error);
    if (kernel == NULL) {
        kiln_log(context, "no kernel ", entry, ": ", kiln_status_string((enum kiln_status) error),
                NULL);
        return kiln_conclude(error, KILN_NO_KERNEL);
    }
    clReleaseKernel(kernel);
    return KILN_SUCCESS;
}

static enum kiln_status check_entries(const struct kiln_context *context,
        const struct kiln_bundle *bundle, uint32_t index, cl_program program)
{
    enum kiln_status status = KILN_SUCCESS;
    for (uint32_t r = 0; r < bundle->num_recipes; r++) {
        const struct kiln_recipe *recipe = &bundle->recipes[r];
        unsigned num = recipe->program == index ? recipe->num_stages : 0;
        for (unsigned i = 0; i < num && status == KILN_SUCCESS; i++) {
            status = check_entry(context, program, recipe->stages[i].entry);
        }
    }
    return status;
}

static enum kiln_status program_from_binary(const struct kiln_context *context,
        const struct kiln_bundle *bundle, uint32_t index, const struct kiln_binary *binary,
        cl_program *program)
{
    if (kiln_hash(KILN_HASH_BEGIN, binary->data, binary->size) != binary->data_hash) {
        kiln_log(context, "an embedded binary is damaged", NULL);
        return KILN_NO_KERNEL;
    }
    const unsigned char *data = binary->data;
    cl_int binary_error = CL_SUCCESS, error = CL_SUCCESS;
    *program = clCreateProgramWithBinary(context->context, 1, &context->device, &binary->size,
            &data, &binary_error, &error);
    error = error != CL_SUCCESS ? error : binary_error;
    if (*program == NULL || error != CL_SUCCESS) {
        kiln_log(context, "the driver refuses an embedded binary: ",
                kiln_status_string((enum kiln_status) error), NULL);
        if (*program != NULL) {
            clReleaseProgram(*program);
        }
        return kiln_is_passing((enum kiln_status) error) ? (enum kiln_status) error
                                                         : KILN_NO_KERNEL;
    }
    enum kiln_status status = kiln_program_build(context, *program);
    if (status != KILN_SUCCESS) {
        return status;
    }
    status = check_entries(context, bundle, index, *program);
    if (status != KILN_SUCCESS) {
        clReleaseProgram(*program);
    }
    return status;
}

static enum kiln_status program_from_binaries(const struct kiln_context *context,
        const struct kiln_bundle *bundle, uint32_t index, cl_program *program)
{
    const struct kiln_program *source = &bundle->programs[index];
    enum kiln_status status = KILN_NO_KERNEL;
    for (uint32_t i = 0; i < source->num_binaries && status == KILN_NO_KERNEL; i++) {
        const struct kiln_binary *binary = &source->binaries[i];
        if (binary_matches(binary, source->hash, &context->facts)) {
            status = program_from_binary(context, bundle, index, binary, program);
        }
    }
    return status;
}

/* The text of a program from a pool whose lines are unpacked, freed by the caller. The lines are
 * joined: every driver takes one string, and a build takes far longer than a copy. */
static enum kiln_status join_lines(const struct kiln_pool *pool, const struct kiln_program *source,
        char **text)
{
    if (!kiln_pool_is_whole(pool, source)) {
        return KILN_NO_KERNEL;
    }
    *text = (char *) malloc((size_t) source->text_bytes + 1);
    if (*text == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    kiln_pool_copy(pool, source, *text);
    return KILN_SUCCESS;
}

/* The same from any pool. To unpack one takes a millisecond, to compile a program hundreds. */
static enum kiln_status read_text(const struct kiln_pool *pool, const struct kiln_program *source,
        char **text)
{
    struct kiln_pool unpacked = *pool;
    char *lines = NULL;
    bool is_whole = true;
    if (pool->text == NULL) {
        lines = (char *) malloc(pool->text_bytes);
        if (lines == NULL) {
            return KILN_OUT_OF_MEMORY;
        }
        is_whole = kiln_pool_unpack(pool, lines);
        unpacked.text = lines;
    }
    enum kiln_status status = is_whole ? join_lines(&unpacked, source, text) : KILN_NO_KERNEL;
    free(lines);
    return status;
}

static enum kiln_status program_from_source(const struct kiln_context *context,
        const struct kiln_bundle *bundle, uint32_t index, cl_program *program)
{
    const struct kiln_program *source = &bundle->programs[index];
    const char *why = source->num_symbols == 0 ? "no embedded binary fits, and there is no source"
                                               : sourceless(&context->facts);
    if (why != NULL) {
        kiln_log(context, why, NULL);
        return KILN_NO_KERNEL;
    }
    char *text = NULL;
    enum kiln_status status = read_text(&bundle->pool, source, &text);
    if (status == KILN_NO_KERNEL) {
        kiln_log(context, "the text of a program is damaged", NULL);
    }
    if (status != KILN_SUCCESS) {
        return status;
    }
    cl_int error = CL_SUCCESS;
    const char *strings = text;
    *program = clCreateProgramWithSource(context->context, 1, &strings, NULL, &error);
    free(text);
    if (*program == NULL) {
        kiln_log(context,
                "the driver refuses a source: ", kiln_status_string((enum kiln_status) error),
                NULL);
        return kiln_conclude(error, KILN_NO_KERNEL);
    }
    return source->ptx != 0 ? kiln_ptx_build(context, *program, source->ptx, program)
                            : kiln_program_build(context, *program);
}

static enum kiln_status build(const struct kiln_context *context, const struct kiln_bundle *bundle,
        uint32_t index, struct kiln_program_state *state)
{
    cl_program program = NULL;
    enum kiln_status status = program_from_binaries(context, bundle, index, &program);
    state->from_binary = status == KILN_SUCCESS;
    if (status == KILN_NO_KERNEL) {
        status = program_from_source(context, bundle, index, &program);
    }
    state->program = status == KILN_SUCCESS ? program : NULL;
    state->state = kiln_state_after(status);
    return status;
}

static bool is_doubtful(const struct kiln_program_state *state)
{
    enum { PATIENCE = 16 };
    return state->state == KILN_UNTRIED && state->num_passing >= PATIENCE;
}

bool kiln_program_is_doubtful(struct kiln_link *link, uint32_t program)
{
    struct kiln_program_state *state = &link->programs[program];
    pthread_mutex_lock(&state->lock);
    bool doubtful = is_doubtful(state);
    pthread_mutex_unlock(&state->lock);
    return doubtful;
}

bool kiln_program_is_put_off(struct kiln_link *link, uint32_t program)
{
    enum { WHILE = 64 };
    struct kiln_program_state *state = &link->programs[program];
    pthread_mutex_lock(&state->lock);
    bool put_off = is_doubtful(state) && ++state->num_put_off % WHILE != 0;
    pthread_mutex_unlock(&state->lock);
    return put_off;
}

enum kiln_status kiln_program_prepare(struct kiln_context *context, struct kiln_link *link,
        uint32_t program)
{
    struct kiln_program_state *state = &link->programs[program];
    pthread_mutex_lock(&state->lock);
    enum kiln_status status = state->state == KILN_READY ? KILN_SUCCESS : KILN_NO_KERNEL;
    if (state->state == KILN_UNTRIED) {
        status = build(context, link->bundle, program, state);
        state->num_passing += kiln_is_passing(status);
    }
    pthread_mutex_unlock(&state->lock);
    return status;
}

enum kiln_status kiln_context_binary(struct kiln_context *context, uint32_t program,
        unsigned char **data, size_t *size)
{
    if (context == NULL || data == NULL || size == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    *data = NULL;
    *size = 0;
    struct kiln_link *link = &context->links[0];
    if (program >= link->num_programs) {
        return KILN_INVALID_ARGUMENT;
    }
    enum kiln_status status = kiln_program_prepare(context, link, program);
    return status == KILN_SUCCESS
                 ? kiln_program_binary(context, link->programs[program].program, 0, data, size)
                 : status;
}
