/* emit.c: struct by struct, in the order that C needs. */
#include "emit.h"
#include "assemble.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A second question mark is escaped, so that no trigraph comes about. */
static void quote_or_null(struct text *text, const char *string)
{
    if (string)
        text_quote(text, string);
    else
        text_add(text, "NULL");
}

/* A piece of kernel text, one literal per line. */
static void emit_lines(struct text *text, const char *piece)
{
    char line[ASSEMBLY_PIECE_BYTES + 1];
    while (*piece) {
        const size_t len = strcspn(piece, "\n") + (piece[strcspn(piece, "\n")] == '\n');
        memcpy(line, piece, len);
        line[len] = '\0';
        piece += len;
        text_add(text, "    ");
        text_quote(text, line);
        text_add(text, *piece ? "\n" : ";\n");
    }
}

/* The distinct pieces of all programs, in the order of their first use. */
struct pieces {
    const char **at;
    unsigned num;
};

static unsigned piece_number(const struct pieces *pieces, const char *piece)
{
    unsigned i = 0;
    while (i < pieces->num && strcmp(pieces->at[i], piece))
        i++;
    return i;
}

static bool collect_pieces(const struct kiln_bundle *bundle, struct pieces *pieces)
{
    size_t total = 1;
    for (uint32_t p = 0; p < bundle->num_programs; p++)
        total += bundle->programs[p].num_pieces;
    pieces->num = 0;
    pieces->at = calloc(total, sizeof *pieces->at);
    for (uint32_t p = 0; p < bundle->num_programs && pieces->at; p++)
        for (uint32_t i = 0; i < bundle->programs[p].num_pieces; i++) {
            const char *piece = bundle->programs[p].pieces[i];
            if (piece_number(pieces, piece) == pieces->num)
                pieces->at[pieces->num++] = piece;
        }
    return pieces->at != NULL;
}

static void emit_pieces(const struct pieces *pieces, struct text *text)
{
    for (unsigned i = 0; i < pieces->num; i++) {
        text_add(text, "static const char piece_%u[] =\n", i);
        emit_lines(text, pieces->at[i]);
        text_add(text, "\n");
    }
}

static void emit_binary(const struct kiln_binary *binary, unsigned program, unsigned number,
        struct text *text)
{
    text_add(text, "static const unsigned char binary_%u_%u[] = {", program, number);
    for (size_t i = 0; i < binary->size; i++)
        text_add(text, "%s%u,", i % 24 ? "" : "\n    ", binary->data[i]);
    text_add(text, "\n};\n\n");
}

static void emit_binaries(const struct kiln_bundle *bundle, struct text *text)
{
    for (uint32_t p = 0; p < bundle->num_programs; p++) {
        const struct kiln_program *program = &bundle->programs[p];
        for (uint32_t i = 0; i < program->num_binaries; i++)
            emit_binary(&program->binaries[i], p, i, text);
        if (program->num_binaries)
            text_add(text, "static const struct kiln_binary binaries_%u[] = {\n", p);
        for (uint32_t i = 0; i < program->num_binaries; i++) {
            const struct kiln_binary *b = &program->binaries[i];
            text_add(text, "    { ");
            quote_or_null(text, b->platform);
            text_add(text, ",\n      ");
            quote_or_null(text, b->device);
            text_add(text, ",\n      ");
            quote_or_null(text, b->driver);
            text_add(text, ",\n      %u, UINT64_C(0x%016" PRIx64 "), UINT64_C(0x%016" PRIx64 "),\n"
                    "      binary_%u_%u, %zu },\n",
                    b->compute_capability, b->source_hash, b->data_hash, p, i, b->size);
        }
        if (program->num_binaries)
            text_add(text, "};\n\n");
    }
}

static void emit_programs(const struct kiln_bundle *bundle, const struct pieces *pieces,
        struct text *text)
{
    for (uint32_t p = 0; p < bundle->num_programs; p++) {
        const struct kiln_program *program = &bundle->programs[p];
        if (!program->num_pieces)
            continue;
        text_add(text, "static const char *const source_%u[] = {", p);
        for (uint32_t i = 0; i < program->num_pieces; i++)
            text_add(text, "%s piece_%u", i ? "," : "", piece_number(pieces, program->pieces[i]));
        text_add(text, " };\n");
    }
    text_add(text, "\nstatic const struct kiln_program programs[] = {\n");
    for (uint32_t p = 0; p < bundle->num_programs; p++) {
        const struct kiln_program *program = &bundle->programs[p];
        text_add(text, "    { UINT64_C(0x%016" PRIx64 "), %u, ", program->hash, program->ptx);
        if (program->num_pieces)
            text_add(text, "source_%u, %u, ", p, program->num_pieces);
        else
            text_add(text, "NULL, 0, ");
        if (program->num_binaries)
            text_add(text, "%u, binaries_%u },\n", program->num_binaries, p);
        else
            text_add(text, "0, NULL },\n");
    }
    text_add(text, "};\n\n");
}

static void emit_stage(const struct kiln_stage *s, struct text *text)
{
    text_add(text, "    { ");
    text_quote(text, s->entry);
    text_add(text, ",\n      %u, { KILN_DIM_%s, KILN_DIM_%s, KILN_DIM_%s }, { %u, %u, %u }, "
            "{ %u, %u, %u }, %u,\n      %u, {", s->work_dim, assemble_dim_names[s->dim[0]],
            assemble_dim_names[s->dim[1]], assemble_dim_names[s->dim[2]], s->tile[0], s->tile[1],
            s->tile[2],
            s->local[0], s->local[1], s->local[2], s->local_bytes, s->num_args);
    for (unsigned i = 0; i < s->num_args; i++)
        text_add(text, "%sKILN_ARG_%s", i % 4 ? ", " : i ? ",\n        " : "\n        ",
                assemble_arg_names[s->args[i]]);
    text_add(text, " },\n      KILN_PREPARED_%s },\n", assemble_prepared_names[s->prepares]);
}

static void emit_parts(const struct kiln_bundle *bundle, struct text *text)
{
    for (uint32_t r = 0; r < bundle->num_recipes; r++) {
        const struct kiln_recipe *recipe = &bundle->recipes[r];
        text_add(text, "static const struct kiln_stage stages_%u[] = {\n", r);
        for (unsigned i = 0; i < recipe->num_stages; i++)
            emit_stage(&recipe->stages[i], text);
        text_add(text, "};\n");
        if (recipe->num_regions)
            text_add(text, "static const struct kiln_region regions_%u[] = {\n", r);
        for (unsigned i = 0; i < recipe->num_regions; i++) {
            const struct kiln_region *g = &recipe->regions[i];
            text_add(text, "    { { KILN_DIM_%s, KILN_DIM_%s }, { %u, %u }, %u, "
                    "KILN_PREPARED_%s },\n",
                    assemble_dim_names[g->dim[0]], assemble_dim_names[g->dim[1]], g->round[0],
                    g->round[1], g->element_bytes, assemble_prepared_names[g->holds]);
        }
        if (recipe->num_regions)
            text_add(text, "};\n");
    }
}

static void emit_recipes(const struct kiln_bundle *bundle, struct text *text)
{
    text_add(text, "\nstatic const struct kiln_recipe recipes[] = {\n");
    for (uint32_t r = 0; r < bundle->num_recipes; r++) {
        const struct kiln_recipe *p = &bundle->recipes[r];
        const struct kiln_guard *g = &p->guard;
        text_add(text, "    { ");
        text_quote(text, p->name);
        text_add(text, ",\n      %u, %u, %u, %u, { %u, %u, %u, %u, %u, %u, { %u, %u, %u }, "
                "{ %u, %u, %u } },\n      { %u, %u, %u }, { %u, %u, %u }, %u, %u, %u, "
                "stages_%u, ",
                p->precision, p->transa, p->transb, p->index_bits, g->m, g->n, g->k, g->a, g->b,
                g->c, g->most[0], g->most[1], g->most[2], g->rest[0], g->rest[1], g->rest[2],
                p->tile[0], p->tile[1], p->tile[2], p->reach[0], p->reach[1], p->reach[2],
                p->program, p->num_stages, p->num_regions, r);
        if (p->num_regions)
            text_add(text, "regions_%u },\n", r);
        else
            text_add(text, "NULL },\n");
    }
    text_add(text, "};\n\n");
}

static void emit_dispatches(const struct kiln_bundle *bundle, struct text *text)
{
    for (uint32_t d = 0; d < bundle->num_dispatches; d++) {
        const struct kiln_dispatch *dispatch = &bundle->dispatches[d];
        text_add(text, "static const struct kiln_anchor anchors_%u[] = {\n", d);
        for (uint32_t i = 0; i < dispatch->num_anchors; i++) {
            const struct kiln_anchor *a = &dispatch->anchors[i];
            text_add(text, "    { %u, %u, %u, { %u, %u, %u, %u } },\n", a->m, a->n, a->k,
                    a->recipe[0], a->recipe[1], a->recipe[2], a->recipe[3]);
        }
        text_add(text, "};\n");
    }
    text_add(text, "\nstatic const struct kiln_dispatch dispatches[] = {\n");
    for (uint32_t d = 0; d < bundle->num_dispatches; d++)
        text_add(text, "    { %u, %u, anchors_%u },\n", bundle->dispatches[d].precision,
                bundle->dispatches[d].num_anchors, d);
    text_add(text, "};\n\n");
}

void emit_symbol(const char *name, struct text *text)
{
    text_add(text, "kiln_bundle_");
    for (; *name; name++)
        text_add(text, "%c", isalnum((unsigned char) *name) ? *name : '_');
}

static void emit_definition(const struct kiln_bundle *bundle, struct text *text)
{
    text_add(text, "extern const struct kiln_bundle ");
    emit_symbol(bundle->name, text);
    text_add(text, ";\nconst struct kiln_bundle ");
    emit_symbol(bundle->name, text);
    text_add(text, " = {\n    .format = %u,\n    .name = ", bundle->format);
    text_quote(text, bundle->name);
    text_add(text, ",\n    .provenance = ");
    text_quote(text, bundle->provenance);
    text_add(text, ",\n    .match = { ");
    quote_or_null(text, bundle->match.platform);
    text_add(text, ", ");
    quote_or_null(text, bundle->match.device);
    text_add(text, ", ");
    quote_or_null(text, bundle->match.driver);
    text_add(text, ", %u, %u },\n", bundle->match.native_vector_float,
            bundle->match.compute_capability);
    if (bundle->traits.compute_units)
        text_add(text, "    .traits = { %u, %u, %u, %u, %u },\n", bundle->traits.is_cpu,
                bundle->traits.compute_units, bundle->traits.native_vector_float,
                bundle->traits.local_bytes, bundle->traits.compute_capability);
    if (bundle->num_recipes)
        text_add(text, "    .num_programs = %u, .num_recipes = %u, .num_dispatches = %u,\n"
                "    .programs = programs, .recipes = recipes, .dispatches = %s,\n",
                bundle->num_programs, bundle->num_recipes, bundle->num_dispatches,
                bundle->num_dispatches ? "dispatches" : "NULL");
    text_add(text, "};\n");
}

void emit_bundle(const struct kiln_bundle *bundle, const char *comment, struct text *text)
{
    struct pieces pieces;
    if (!collect_pieces(bundle, &pieces)) {
        text->failed = true;
        return;
    }
    text_add(text, "/* Generated by kiln-gen. Do not edit.\n");
    if (comment)
        text_add(text, "%s", comment);
    text_add(text, " */\n#include \"bundle.h\"\n\n");
    if (bundle->num_recipes) {
        emit_pieces(&pieces, text);
        emit_binaries(bundle, text);
        emit_programs(bundle, &pieces, text);
        emit_parts(bundle, text);
        emit_recipes(bundle, text);
    }
    if (bundle->num_dispatches)
        emit_dispatches(bundle, text);
    emit_definition(bundle, text);
    free(pieces.at);
}
