/* embed.c: takes binaries from the library that built them.
 *
 * Processes make them side by side where there is a crew (embed_crew.h); what these do not make is
 * made here, and what they do make is the same bytes.
 *
 * NVIDIA's driver gives out PTX, from which machine code would be made each time that it is loaded.
 * Here it is made once (cubin.h). The cubin comes first among a program's binaries, and is kept
 * only when the driver takes it and the library's self-test passes with it.
 */
#include "embed.h"
#include "child.h"
#include "device.h"
#include "../core/files.h"
#include "../core/winners.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

struct embedding {
    struct assembly *assembly;
    cl_context cl;
    cl_device_id device;
    struct device_facts facts;
    bool keep_source;
    struct cubin_maker *maker;         /* NULL: no cubins */
    struct embed_made *made;           /* of each program, by the crew */
    bool *has_cubin;                   /* of each program */
    unsigned num_cubins, num_missed;
    char missed[CUBIN_ERROR_BYTES];    /* why the last one is not there */
};

static bool out_of_memory(char error[FAMILY_ERROR_BYTES])
{
    snprintf(error, FAMILY_ERROR_BYTES, "embedding binaries: out of memory");
    return false;
}

/* ---- Binaries ---- */

/* For which devices and drivers a binary is: for NVIDIA's, all of its capability, as their drivers
 * refuse what they can not load; for others, this very device and driver. */
static bool fill_match(struct embedding *e, struct kiln_binary *binary, bool is_ptx,
        bool any_driver)
{
    struct arena *arena = &e->assembly->arena;
    binary->platform = arena_string(arena, e->facts.platform);
    if (is_ptx)
        binary->compute_capability = (uint32_t) e->facts.value[FACT_COMPUTE_CAPABILITY];
    else
        binary->device = arena_string(arena, e->facts.device);
    if (!any_driver)
        binary->driver = arena_string(arena, e->facts.driver);
    return binary->platform && (is_ptx || binary->device) && (any_driver || binary->driver);
}

static bool fill_data(struct embedding *e, struct kiln_binary *binary, uint32_t program,
        const unsigned char *data, size_t size)
{
    binary->source_hash = e->assembly->programs[program].hash;
    binary->data_hash = kiln_hash(KILN_HASH_BEGIN, data, size);
    binary->data = arena_copy(&e->assembly->arena, data, size);
    binary->size = size;
    return binary->data;
}

static void miss(struct embedding *e, const char *why)
{
    e->num_missed++;
    snprintf(e->missed, sizeof e->missed, "%s", why);
}

/* The cubin of PTX, if one can be made: *has. False when out of memory. */
static bool add_cubin(struct embedding *e, uint32_t program, const char *ptx,
        struct embed_made *made, struct kiln_binary *binary, bool *has)
{
    char error[CUBIN_ERROR_BYTES];
    *has = false;
    if (!e->maker)
        return true;
    if (!made->cubin)
        made->cubin = cubin_make(e->maker, ptx, &made->cubin_size, error);
    if (!made->cubin) {
        miss(e, error);
        return true;
    }
    *has = true;
    return fill_data(e, binary, program, made->cubin, made->cubin_size) &&
           fill_match(e, binary, true, !cubin_needs_its_driver(ptx));
}

/* A cubin, and what the driver gave out. The latter is not embedded beside a cubin with source
 * behind it, but kept in case the cubin proves to be of no use. */
static bool add_data(struct embedding *e, uint32_t program, struct embed_made *made,
        const char *ptx)
{
    struct kiln_binary binaries[2] = { { .data = NULL } };
    bool has_cubin = false;
    if (ptx && !add_cubin(e, program, ptx, made, binaries, &has_cubin))
        return false;
    const unsigned num = has_cubin ? 2 : 1;
    if (!fill_data(e, &binaries[num - 1], program, made->data, made->size) ||
            !fill_match(e, &binaries[num - 1], ptx, ptx))
        return false;
    struct kiln_program *to = &e->assembly->programs[program];
    to->binaries = arena_copy(&e->assembly->arena, binaries, num * sizeof *binaries);
    to->num_binaries = has_cubin && e->keep_source ? 1 : num;
    e->has_cubin[program] = has_cubin;
    e->num_cubins += has_cubin;
    return to->binaries;
}

/* What the driver gave out, as text if it is PTX; NULL otherwise. */
static char *ptx_of(const struct embedding *e, const struct embed_made *made)
{
    return e->facts.value[FACT_COMPUTE_CAPABILITY] ? cubin_ptx_of(made->data, made->size) : NULL;
}

static bool add_binary(struct embedding *e, struct kiln_context *context, uint32_t program,
        char error[FAMILY_ERROR_BYTES])
{
    struct embed_made *made = &e->made[program];
    const enum kiln_status status = made->data ? KILN_SUCCESS
                                               : kiln_context_binary(context, program, &made->data,
                                                         &made->size);
    if (status != KILN_SUCCESS) {
        snprintf(error, FAMILY_ERROR_BYTES, "the driver gives no binary of a program: %s",
                kiln_status_string(status));
        return false;
    }
    char *ptx = ptx_of(e, made);
    const bool ok = add_data(e, program, made, ptx) || out_of_memory(error);
    free(ptx);
    embed_made_free(made);
    return ok;
}

static enum kiln_status open_context(const struct embedding *e, const struct kiln_bundle *bundle,
        bool self_test, struct kiln_context **context)
{
    const struct kiln_context_params params = { .bundle = bundle, .self_test = self_test };
    return kiln_context_create(e->cl, e->device, &params, context);
}

static bool add_all(struct embedding *e, char error[FAMILY_ERROR_BYTES])
{
    struct kiln_context *context;
    const enum kiln_status status = open_context(e, &e->assembly->bundle, false, &context);
    if (status != KILN_SUCCESS) {
        snprintf(error, FAMILY_ERROR_BYTES, "embedding binaries: %s", kiln_status_string(status));
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; i < e->assembly->bundle.num_programs && ok; i++)
        ok = add_binary(e, context, i, error);
    kiln_context_destroy(&context);
    return ok;
}

/* ---- Are the cubins of use? ---- */

/* Replaces the cubin by what the driver gave out. */
static void drop_cubin(struct embedding *e, uint32_t program, const char *why)
{
    struct kiln_program *to = &e->assembly->programs[program];
    to->binaries++;
    to->num_binaries = 1;
    e->has_cubin[program] = false;
    e->num_cubins--;
    miss(e, why);
}

/* The programs with nothing but cubins, where there are cubins. */
static struct kiln_program *bare_programs(const struct embedding *e)
{
    const uint32_t num = e->assembly->bundle.num_programs;
    struct kiln_program *bare = calloc((size_t) num + 1, sizeof *bare);
    for (uint32_t i = 0; bare && i < num; i++) {
        bare[i] = e->assembly->programs[i];
        if (e->has_cubin[i]) {
            bare[i].num_symbols = 0;
            bare[i].num_binaries = 1;
        }
    }
    return bare;
}

/* Drops those that the driver does not take. */
static enum kiln_status try_each(struct embedding *e, const struct kiln_bundle *bundle)
{
    struct kiln_context *context;
    const enum kiln_status status = open_context(e, bundle, false, &context);
    for (uint32_t i = 0; i < bundle->num_programs && status == KILN_SUCCESS; i++) {
        if (!e->has_cubin[i])
            continue;
        const enum kiln_status taken = kiln_program_prepare(context, &context->links[0], i);
        if (taken != KILN_SUCCESS)
            drop_cubin(e, i, "the driver refuses what was made");
    }
    kiln_context_destroy(&context);
    return status;
}

/* Drops all when a product is wrong. */
static void try_products(struct embedding *e, const struct kiln_bundle *bundle)
{
    struct kiln_context *context = NULL;
    const enum kiln_status status = open_context(e, bundle, true, &context);
    kiln_context_destroy(&context);
    for (uint32_t i = 0; i < bundle->num_programs && status == KILN_SELF_TEST_FAILED; i++)
        if (e->has_cubin[i])
            drop_cubin(e, i, "what was made computes wrong products");
}

static bool try_cubins(struct embedding *e, char error[FAMILY_ERROR_BYTES])
{
    struct kiln_bundle bundle = e->assembly->bundle;
    struct kiln_program *bare = bare_programs(e);
    if (!bare)
        return out_of_memory(error);
    bundle.programs = bare;
    enum kiln_status status = try_each(e, &bundle);
    free(bare);
    if (status == KILN_SUCCESS) {
        bare = bare_programs(e);
        bundle.programs = bare;
        if (!bare)
            return out_of_memory(error);
        try_products(e, &bundle);
        free(bare);
    } else
        snprintf(error, FAMILY_ERROR_BYTES, "embedding binaries: %s", kiln_status_string(status));
    return status == KILN_SUCCESS;
}

/* ---- The whole ---- */

/* A context of the device alone; false with a message in error. */
static bool open_device(const char *name, struct embedding *e, char error[FAMILY_ERROR_BYTES])
{
    cl_int status;
    if (!device_find(name, &e->device, error) || !device_facts(e->device, &e->facts, error))
        return false;
    e->cl = clCreateContext(NULL, 1, &e->device, NULL, NULL, &status);
    if (!e->cl)
        snprintf(error, FAMILY_ERROR_BYTES, "clCreateContext: %d", status);
    return e->cl;
}

bool embed_is_for(const char *device, const struct device_facts *tuned,
        char error[FAMILY_ERROR_BYTES])
{
    cl_device_id found;
    struct device_facts here;
    char cause[FAMILY_ERROR_BYTES];
    if (!device_find(device, &found, cause) || !device_facts(found, &here, cause)) {
        snprintf(error, FAMILY_ERROR_BYTES, "binaries need the device of the journal: %.200s",
                cause);
        return false;
    }
    const struct {
        const char *what, *here, *tuned;
    } names[] = { { "platform", here.platform, tuned->platform },
        { "device", here.device, tuned->device }, { "driver", here.driver, tuned->driver } };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].here, names[i].tuned)) {
            snprintf(error, FAMILY_ERROR_BYTES,
                    "binaries need the device of the journal: the %s here is '%.80s', not '%.80s'",
                    names[i].what, names[i].here, names[i].tuned);
            return false;
        }
    return true;
}

static void open_maker(struct embedding *e, const struct cubin_tools *tools)
{
    const long capability = e->facts.value[FACT_COMPUTE_CAPABILITY];
    if (capability)
        e->maker = cubin_open(tools, (unsigned) capability, e->facts.unit, e->missed);
}

static bool embed_all(struct embedding *e, const char *device, const struct cubin_tools *tools,
        const struct embed_crew *crew, char error[FAMILY_ERROR_BYTES])
{
    const struct kiln_bundle *bundle = &e->assembly->bundle;
    e->made = calloc((size_t) bundle->num_programs + 1, sizeof *e->made);
    e->has_cubin = calloc((size_t) bundle->num_programs + 1, sizeof *e->has_cubin);
    bool ok = (e->made && e->has_cubin) || out_of_memory(error);
    if (ok) {
        open_maker(e, tools);
        if (e->facts.value[FACT_COMPUTE_CAPABILITY] && !e->maker)
            e->num_missed = bundle->num_programs;
        if (crew)
            embed_crew_make(crew, device, bundle, cubin_first(e->maker), e->made);
        ok = add_all(e, error) && (!e->num_cubins || try_cubins(e, error));
        cubin_close(e->maker);
    }
    for (uint32_t i = 0; e->made && i < bundle->num_programs; i++)
        embed_made_free(&e->made[i]);
    free(e->made);
    free(e->has_cubin);
    return ok;
}

bool embed_binaries(struct assembly *assembly, const char *device, bool keep_source,
        const struct cubin_tools *tools, const struct embed_crew *crew,
        char error[FAMILY_ERROR_BYTES])
{
    struct embedding e = { .assembly = assembly, .keep_source = keep_source };
    if (!open_device(device, &e, error))
        return false;
    const bool ok = embed_all(&e, device, tools, crew, error);
    clReleaseContext(e.cl);
    if (ok && e.num_missed)
        fprintf(stderr,
                "kiln-tune: warning: %u of %u programs are embedded as PTX, not as machine "
                "code, and take longer to load: %s\n",
                e.num_missed, assembly->bundle.num_programs, e.missed);
    for (uint32_t i = 0; ok && !keep_source && i < assembly->bundle.num_programs; i++) {
        assembly->programs[i].first_symbol = assembly->programs[i].num_symbols = 0;
        assembly->programs[i].text_bytes = 0;
    }
    return ok;
}

/* ---- A process of the crew ---- */

/* What can be made of one program; no cubin but by the tool that is asked for. */
static void make(struct embedding *e, struct kiln_context *context,
        const struct embed_request *request, struct embed_made *made)
{
    char error[CUBIN_ERROR_BYTES];
    if (request->program >= e->assembly->bundle.num_programs ||
            e->assembly->programs[request->program].hash != request->hash ||
            kiln_context_binary(context, request->program, &made->data, &made->size) !=
                    KILN_SUCCESS)
        return;
    char *ptx = e->maker ? ptx_of(e, made) : NULL;
    if (ptx)
        made->cubin = cubin_make_by(e->maker, request->tool, ptx, &made->cubin_size, error);
    free(ptx);
}

static bool serve(struct embedding *e, FILE *out, char error[FAMILY_ERROR_BYTES])
{
    struct kiln_context *context;
    struct embed_request request;
    const enum kiln_status status = open_context(e, &e->assembly->bundle, false, &context);
    bool ok = status == KILN_SUCCESS;
    snprintf(error, FAMILY_ERROR_BYTES, "%s",
            ok ? "an answer can not be written" : kiln_status_string(status));
    while (ok && embed_crew_hear(&request)) {
        struct embed_made made = { .data = NULL };
        make(e, context, &request, &made);
        ok = embed_crew_answer(out, request.program, &made);
        embed_made_free(&made);
    }
    if (ok && !feof(stdin)) {
        snprintf(error, FAMILY_ERROR_BYTES, "standard input is no request");
        ok = false;
    }
    kiln_context_destroy(&context);
    return ok;
}

bool embed_serve(struct assembly *assembly, const char *device, const struct cubin_tools *tools,
        char error[FAMILY_ERROR_BYTES])
{
    struct embedding e = { .assembly = assembly };
    FILE *out = child_output();
    snprintf(error, FAMILY_ERROR_BYTES, "standard output can not be taken");
    const bool is_open = out && open_device(device, &e, error);
    bool ok = is_open;
    if (is_open) {
        open_maker(&e, tools);
        ok = serve(&e, out, error);
        cubin_close(e.maker);
        clReleaseContext(e.cl);
    }
    if (out)
        fclose(out);
    return ok;
}

int embed_main(const char *device, const char *output)
{
    static struct winners winners;
    struct assembly assembly;
    char path[PATH_BYTES], error[FAMILY_ERROR_BYTES];
    snprintf(path, sizeof path, "%s/winners.tsv", output);
    char *text = files_read(path, error);
    bool ok = text && winners_parse(text, &winners, error);
    free(text);
    if (ok) {
        ok = winners_assemble(&winners, &assembly, error) &&
             embed_serve(&assembly, device, NULL, error);
        assembly_free(&assembly);
    }
    if (!ok)
        fprintf(stderr, "kiln-tune: %s\n", error);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
