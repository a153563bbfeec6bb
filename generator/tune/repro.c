/* repro.c: see repro.h.
 *
 * The program written is repro_program.c.in with data of this candidate (print_data) in the place
 * of the line "@data": the arguments and sizes that the library would launch its stages with.
 */
#include "repro.h"
#include "../core/assemble.h"
#include "../core/files.h"
#include "../core/signature.h"
#include "../core/text.h"
#include "internal.h"
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As many as struct stage of repro_program.c.in has. */
_Static_assert(KILN_MAX_ARGS == 28, "the program has no room for all arguments");

/* A stage's sizes as the library launches it; false when it has nothing to do. */
static bool print_stage(struct text *out, const struct kiln_plan *plan, unsigned index)
{
    const struct kiln_stage *stage = &plan->recipe->stages[index];
    size_t global[3] = { 1, 1, 1 };
    if (kiln_stage_is_empty(plan, index))
        return false;
    for (unsigned d = 0; d < stage->work_dim; d++)
        global[d] = plan->global[index][d];
    text_add(out, "    { \"%s\", %u, %u,\n      { %zu, %zu, %zu }, { %u, %u, %u },\n      {",
            stage->entry, stage->work_dim, stage->num_args, global[0], global[1], global[2],
            stage->local[0], stage->local[1], stage->local[2]);
    for (unsigned i = 0; i < stage->num_args; i++)
        text_add(out, "%s ARG_%s", i ? "," : "", signature_arg_names[stage->args[i]]);
    text_add(out, " } },\n");
    return true;
}

/* Where a prepared operand lies: number of its memory, start and leading dimension. */
static void print_prepared(struct text *out, const struct kiln_plan *plan,
        const struct kiln_product *shape)
{
    const bool a = plan->ready & KILN_PREPARED_A, b = plan->ready & KILN_PREPARED_B;
    text_add(out, "static const enum memory packed_memory[2] = { %s, %s };\n",
            a ? "MEMORY_A" : "WORKSPACE", b ? "MEMORY_B" : "WORKSPACE");
    text_add(out, "static const cl_long packed_start[2] = { %zu, %zu };\n",
            plan->packed_start[KILN_PREPARED_A], plan->packed_start[KILN_PREPARED_B]);
    text_add(out, "static const cl_long packed_ld[2] = { %zu, %zu };\n",
            a ? shape->a.ld : plan->packed_ld[KILN_PREPARED_A],
            b ? shape->b.ld : plan->packed_ld[KILN_PREPARED_B]);
}

/* The type of OpenCL's headers for numbers that lie so; NULL: the program does not know them. */
static const char *const stored_types[KILN_NUM_STORAGES] = {
    [KILN_STORED_HALF] = "half", [KILN_STORED_FLOAT] = "float", [KILN_STORED_DOUBLE] = "double"
};

/* Elements and real numbers as the program sees them, by the precision's row. */
static void print_precision(struct text *out, const struct precision *precision)
{
    text_add(out, "static const char precision[] = \"%s\";\n", precision->name);
    text_add(out, "typedef cl_%s stored; /* an element in memory, or a part of one */\n",
            stored_types[precision->storage]);
    text_add(out, "typedef cl_%s real; /* alpha and beta */\n", precision->real);
    text_add(out, "enum { PARTS = %zu, IS_HALF = %d, SIGNIFICAND_BITS = %d };\n", precision->parts,
            precision->storage == KILN_STORED_HALF, precision->significand_bits);
}

static bool print_data(struct text *out, const struct assembly *assembly,
        const struct problem *problem, const struct kiln_product *shape, const char *source_file,
        char *error)
{
    const struct kiln_recipe *recipe = &assembly->bundle.recipes[0];
    const struct kiln_places places = { .packed = KILN_PREPARED_NONE };
    struct kiln_plan plan;
    unsigned num_stages = 0;
    if (!kiln_plan_make(recipe, shape, &places, (uint32_t) assembly->facts.value[FACT_UNITS],
                &plan)) {
        snprintf(error, FAMILY_ERROR_BYTES, "the workspace or the launch is too large");
        return false;
    }
    text_add(out, "enum arg {\n");
    for (int i = 0; i < KILN_NUM_ARG_CODES; i++)
        text_add(out, "    ARG_%s,\n", signature_arg_names[i]);
    text_add(out, "    NUM_ARGS\n};\n\nstatic const char config[] = \"%s\";\n", recipe->name);
    text_add(out, "static const char source_file[] = ");
    text_quote(out, source_file);
    text_add(out, ";\n");
    print_precision(out, problem->precision);
    text_add(out,
            "enum { M = %zu, N = %zu, K = %zu, TRANSA = %u, TRANSB = %u, INDEX_BITS = %u };\n",
            shape->m, shape->n, shape->k, shape->transa, shape->transb, recipe->index_bits);
    text_add(out, "enum { PTX = %u }; /* compute capability of masked PTX; 0: none is masked */\n",
            assembly->bundle.programs[recipe->program].ptx);
    text_add(out, "static const size_t workspace_bytes = %zu, image_pixels = %zu;\n",
            plan.workspace_bytes ? plan.workspace_bytes : 1, plan.pixels);
    text_add(out, "static const cl_long region_start[4] = { %zu, %zu, %zu, %zu };\n",
            plan.region_start[0], plan.region_start[1], plan.region_start[2], plan.region_start[3]);
    text_add(out, "static const cl_int num_parts = %u;\n", plan.parts);
    print_prepared(out, &plan, shape);
    text_add(out, "static const struct stage stages[] = {\n");
    for (unsigned i = 0; i < recipe->num_stages; i++)
        num_stages += kiln_stage_is_needed(recipe, i, plan.ready) && print_stage(out, &plan, i);
    text_add(out, "};\nenum { NUM_STAGES = %u };\n", num_stages);
    return true;
}

static bool print_program(struct text *out, const struct assembly *assembly,
        const struct problem *problem, const struct kiln_product *shape, const char *path_stem,
        char *error)
{
    static const char mark[] = "@data\n";
    const char *const data = strstr(repro_program, mark);
    char source_file[512];
    snprintf(source_file, sizeof source_file, "%s.cl", path_stem);
    const char *slash = strrchr(source_file, '/');
    const char *name = slash ? slash + 1 : source_file;
    text_add(out,
            "/* Runs one Kiln kernel on integers whose product is known.\n"
            " *\n"
            " *     gcc %.*s.c -lOpenCL -lm && ./a.out [DEVICE]\n"
            " *\n"
            " * in the folder that holds %s. Exit code 0: right, 1: wrong, 2: an error.\n"
            " * Generated by kiln-tune repro. */\n",
            (int) strlen(name) - 3, name, name);
    text_add(out, "%.*s", (int) (data - repro_program), repro_program);
    if (!print_data(out, assembly, problem, shape, name, error))
        return false;
    text_add(out, "%s", data + strlen(mark));
    if (out->failed)
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    return !out->failed;
}

static bool write_both(const char *path_stem, const char *kernels, const struct text *program,
        char *error)
{
    char path[512];
    if (snprintf(path, sizeof path, "%s.cl", path_stem) >= (int) sizeof path) {
        snprintf(error, FAMILY_ERROR_BYTES, "the path is too long");
        return false;
    }
    if (!files_write(path, kernels, strlen(kernels), error))
        return false;
    snprintf(path, sizeof path, "%s.c", path_stem);
    return files_write(path, program->bytes, program->len, error);
}

/* Renders the kernels and the program around them, and writes both. */
static bool write_all(const struct assembly *assembly, const struct config *config,
        const struct problem *problem, const struct kiln_product *shape, const char *path_stem,
        char *error)
{
    struct text program = { 0 };
    if (!kiln_recipe_takes(&assembly->recipes[0], shape)) {
        snprintf(error, FAMILY_ERROR_BYTES,
                "the configuration does not take the shape, or its leading dimensions");
        return false;
    }
    char *kernels = assemble_text(config, problem, &assembly->facts, error);
    const bool ok = kernels &&
                    print_program(&program, assembly, problem, shape, path_stem, error) &&
                    write_both(path_stem, kernels, &program, error);
    free(kernels);
    text_free(&program);
    return ok;
}

static bool is_extent(size_t extent)
{
    return extent >= 1 && extent <= INT32_MAX;
}

bool repro_write(const struct config *config, const struct problem *problem, struct shape shape,
        const struct device_facts *facts, const char *path_stem, char error[FAMILY_ERROR_BYTES])
{
    struct assembly assembly;
    unsigned index;
    bool ok = false;
    const struct kiln_product product = product_dense(problem, shape);
    if (!is_extent(shape.m) || !is_extent(shape.n) || !is_extent(shape.k)) {
        snprintf(error, FAMILY_ERROR_BYTES, "M, N and K must be from 1 to %d", INT32_MAX);
        return false;
    }
    if (config->family->routine != KILN_ROUTINE_MULTIPLY) {
        snprintf(error, FAMILY_ERROR_BYTES, "%s multiplies nothing that a program could check",
                config->family->name);
        return false;
    }
    if (!stored_types[problem->precision->storage]) {
        snprintf(error, FAMILY_ERROR_BYTES, "the program does not know how numbers of %s lie",
                problem->precision->name);
        return false;
    }
    if (!assembly_init(&assembly, "repro", facts))
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    else
        ok = assembly_add(&assembly, config, problem, &index, error) &&
             write_all(&assembly, config, problem, &product, path_stem, error);
    assembly_free(&assembly);
    return ok;
}
