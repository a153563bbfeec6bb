/* emit.c: struct by struct, in the order that C needs. Names begin with that of the bundle (id), so
 * that one source can hold several. */
#include "emit.h"
#include "assemble.h"
#include "lz4_pack.h"
#include "share.h"
#include "signature.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void quote_or_null(struct text *text, const char *string)
{
    if (string)
        text_quote(text, string);
    else
        text_add(text, "NULL");
}

/* The lines of all programs, packed, and where each begins in the text that it unpacks to. */
static void emit_lines(const struct kiln_pool *pool, const char *id, struct text *text)
{
    size_t bytes;
    unsigned char *packed = lz4_pack(pool->text, pool->text_bytes, &bytes);
    text_add(text, "static const unsigned char %s_packed[] = {", id);
    for (size_t i = 0; packed && i < bytes; i++)
        text_add(text, "%s%u,", i % 24 ? "" : "\n    ", packed[i]);
    text_add(text, "\n};\n\nstatic const uint32_t %s_lines[] = {", id);
    for (uint32_t i = 0; i < pool->num_lines; i++)
        text_add(text, "%s%u,", i % 12 ? " " : "\n    ", pool->lines[i]);
    text_add(text, "\n};\n\n");
    text->failed = text->failed || !packed;
    free(packed);
}

static void emit_symbols(const struct kiln_pool *pool, const char *id, struct text *text)
{
    if (pool->num_pairs)
        text_add(text, "static const struct kiln_pair %s_pairs[] = {", id);
    for (uint32_t i = 0; i < pool->num_pairs; i++)
        text_add(text, "%s{ %u, %u },", i % 6 ? " " : "\n    ", pool->pairs[i].first,
                pool->pairs[i].second);
    text_add(text, "%sstatic const uint16_t %s_symbols[] = {", pool->num_pairs ? "\n};\n\n" : "",
            id);
    for (uint32_t i = 0; i < pool->num_symbols; i++)
        text_add(text, "%s%u,", i % 14 ? " " : "\n    ", pool->symbols[i]);
    text_add(text, "\n};\n\n");
}

static void emit_binary(const struct kiln_binary *binary, unsigned program, unsigned number,
        const char *id, struct text *text)
{
    text_add(text, "static const unsigned char %s_binary_%u_%u[] = {", id, program, number);
    for (size_t i = 0; i < binary->size; i++)
        text_add(text, "%s%u,", i % 24 ? "" : "\n    ", binary->data[i]);
    text_add(text, "\n};\n\n");
}

static void emit_binaries(const struct kiln_bundle *bundle, const char *id, struct text *text)
{
    for (uint32_t p = 0; p < bundle->num_programs; p++) {
        const struct kiln_program *program = &bundle->programs[p];
        for (uint32_t i = 0; i < program->num_binaries; i++)
            emit_binary(&program->binaries[i], p, i, id, text);
        if (program->num_binaries)
            text_add(text, "static const struct kiln_binary %s_binaries_%u[] = {\n", id, p);
        for (uint32_t i = 0; i < program->num_binaries; i++) {
            const struct kiln_binary *b = &program->binaries[i];
            text_add(text, "    { ");
            quote_or_null(text, b->platform);
            text_add(text, ",\n      ");
            quote_or_null(text, b->device);
            text_add(text, ",\n      ");
            quote_or_null(text, b->driver);
            text_add(text,
                    ",\n      %u, UINT64_C(0x%016" PRIx64 "), UINT64_C(0x%016" PRIx64 "),\n"
                    "      %s_binary_%u_%u, %zu },\n",
                    b->compute_capability, b->source_hash, b->data_hash, id, p, i, b->size);
        }
        if (program->num_binaries)
            text_add(text, "};\n\n");
    }
}

static void emit_programs(const struct shared *shared, uint32_t num, const char *id,
        struct text *text)
{
    text_add(text, "static const struct kiln_program %s_programs[] = {\n", id);
    for (uint32_t p = 0; p < num; p++) {
        const struct kiln_program *program = &shared->programs[p];
        text_add(text, "    { UINT64_C(0x%016" PRIx64 "), %u, %u, %u, %u, ", program->hash,
                program->ptx, program->first_symbol, program->num_symbols, program->text_bytes);
        if (program->num_binaries)
            text_add(text, "%u, %s_binaries_%u },\n", program->num_binaries, id, p);
        else
            text_add(text, "0, NULL },\n");
    }
    text_add(text, "};\n\n");
}

/* ---- What recipes share ---- */

static bool same_stage(const struct kiln_stage *a, const struct kiln_stage *b)
{
    return !strcmp(a->entry, b->entry) && a->work_dim == b->work_dim &&
           !memcmp(a->dim, b->dim, sizeof a->dim) && !memcmp(a->tile, b->tile, sizeof a->tile) &&
           !memcmp(a->local, b->local, sizeof a->local) && a->local_bytes == b->local_bytes &&
           a->num_args == b->num_args && !memcmp(a->args, b->args, a->num_args) &&
           a->prepares == b->prepares && a->role == b->role;
}

static bool same_stages(const struct kiln_recipe *a, const struct kiln_recipe *b)
{
    bool same = a->num_stages == b->num_stages;
    for (unsigned i = 0; same && i < a->num_stages; i++)
        same = same_stage(&a->stages[i], &b->stages[i]);
    return same;
}

static bool same_region(const struct kiln_region *a, const struct kiln_region *b)
{
    return a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1] && a->round[0] == b->round[0] &&
           a->round[1] == b->round[1] && a->more == b->more &&
           a->element_bytes == b->element_bytes && a->holds == b->holds &&
           a->each_part == b->each_part && a->each_member == b->each_member;
}

static bool same_regions(const struct kiln_recipe *a, const struct kiln_recipe *b)
{
    bool same = a->num_regions == b->num_regions;
    for (unsigned i = 0; same && i < a->num_regions; i++)
        same = same_region(&a->regions[i], &b->regions[i]);
    return same;
}

/* Where each recipe's stages (regions) stand among the `num` that are emitted: in the place of the
 * first recipe with the same ones, or else in a new place. */
struct places {
    unsigned *of;
    unsigned num;
};

/* places->of is freed by the caller. False when out of memory. */
static bool find_places(const struct kiln_bundle *bundle,
        bool same(const struct kiln_recipe *, const struct kiln_recipe *), bool of_stages,
        struct places *places)
{
    places->num = 0;
    places->of = calloc((size_t) bundle->num_recipes + 1, sizeof *places->of);
    for (uint32_t r = 0; places->of && r < bundle->num_recipes; r++) {
        const struct kiln_recipe *recipe = &bundle->recipes[r];
        uint32_t first = 0;
        while (first < r && !same(recipe, &bundle->recipes[first]))
            first++;
        places->of[r] = first < r ? places->of[first] : places->num;
        if (first == r)
            places->num += of_stages ? recipe->num_stages : recipe->num_regions;
    }
    return places->of != NULL;
}

/* The times of a bundle, each once: recipes share them. */
struct emitted_times {
    const struct kiln_time **at;
    unsigned num;
};

static unsigned time_number(const struct emitted_times *times, const struct kiln_time *time)
{
    unsigned i = 0;
    while (i < times->num && times->at[i] != time)
        i++;
    return i;
}

static bool collect_times(const struct kiln_bundle *bundle, struct emitted_times *times)
{
    times->num = 0;
    times->at = calloc((size_t) bundle->num_recipes + 1, sizeof *times->at);
    for (uint32_t r = 0; r < bundle->num_recipes && times->at; r++) {
        const struct kiln_time *time = bundle->recipes[r].time;
        if (time && time_number(times, time) == times->num)
            times->at[times->num++] = time;
    }
    return times->at != NULL;
}

/* What is emitted once for several recipes. */
struct common {
    struct places stages, regions;
    struct emitted_times times;
};

static bool find_common(const struct kiln_bundle *bundle, struct common *common)
{
    const bool stages = find_places(bundle, same_stages, true, &common->stages);
    const bool regions = find_places(bundle, same_regions, false, &common->regions);
    return collect_times(bundle, &common->times) && stages && regions;
}

static void free_common(struct common *common)
{
    free(common->stages.of);
    free(common->regions.of);
    free(common->times.at);
}

/* ---- The bundle ---- */

static void emit_stage(const struct kiln_stage *s, struct text *text)
{
    text_add(text, "    { ");
    text_quote(text, s->entry);
    text_add(text,
            ",\n      %u, { KILN_DIM_%s, KILN_DIM_%s, KILN_DIM_%s }, { %u, %u, %u }, "
            "{ %u, %u, %u }, %u,\n      %u, {",
            s->work_dim, assemble_dim_names[s->dim[0]], assemble_dim_names[s->dim[1]],
            assemble_dim_names[s->dim[2]], s->tile[0], s->tile[1], s->tile[2], s->local[0],
            s->local[1], s->local[2], s->local_bytes, s->num_args);
    for (unsigned i = 0; i < s->num_args; i++)
        text_add(text, "%sKILN_ARG_%s",
                i % 4 ? ", "
                : i   ? ",\n        "
                      : "\n        ",
                signature_arg_names[s->args[i]]);
    text_add(text, " },\n      KILN_PREPARED_%s, KILN_ROLE_%s },\n",
            assemble_prepared_names[s->prepares], assemble_role_names[s->role]);
}

static void emit_stages(const struct kiln_bundle *bundle, const struct places *places,
        const char *id, struct text *text)
{
    unsigned at = 0;
    text_add(text, "static const struct kiln_stage %s_stages[] = {\n", id);
    for (uint32_t r = 0; r < bundle->num_recipes; r++)
        for (unsigned i = 0; places->of[r] + i == at && i < bundle->recipes[r].num_stages;
                i++, at++)
            emit_stage(&bundle->recipes[r].stages[i], text);
    text_add(text, "};\n\n");
}

static void emit_times(const struct emitted_times *times, const char *id, struct text *text)
{
    if (times->num)
        text_add(text, "static const struct kiln_time %s_times[] = {\n", id);
    for (unsigned i = 0; i < times->num; i++) {
        text_add(text, "    { {");
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            text_add(text, "%s%.5ef%s", t % 6 ? " " : "\n        ",
                    (double) times->at[i]->coefficient[t], t + 1 < KILN_NUM_TERMS ? "," : "");
        text_add(text, "\n    } },\n");
    }
    if (times->num)
        text_add(text, "};\n\n");
}

static void emit_region(const struct kiln_region *g, struct text *text)
{
    text_add(text,
            "    { { KILN_DIM_%s, KILN_DIM_%s }, { %u, %u }, %u, %u, KILN_PREPARED_%s, %u, "
            "%u },\n",
            assemble_dim_names[g->dim[0]], assemble_dim_names[g->dim[1]], g->round[0], g->round[1],
            g->more, g->element_bytes, assemble_prepared_names[g->holds], g->each_part,
            g->each_member);
}

static void emit_regions(const struct kiln_bundle *bundle, const struct places *places,
        const char *id, struct text *text)
{
    unsigned at = 0;
    if (places->num)
        text_add(text, "static const struct kiln_region %s_regions[] = {\n", id);
    for (uint32_t r = 0; r < bundle->num_recipes; r++)
        for (unsigned i = 0; places->of[r] + i == at && i < bundle->recipes[r].num_regions;
                i++, at++)
            emit_region(&bundle->recipes[r].regions[i], text);
    if (places->num)
        text_add(text, "};\n\n");
}

static const char *const emit_kinds[] = {
    "0", "KILN_KIND_CPU", "KILN_KIND_OTHER", "KILN_KIND_BOTH"
};

static void emit_recipes(const struct kiln_bundle *bundle, const struct common *common,
        const char *id, struct text *text)
{
    text_add(text, "static const struct kiln_recipe %s_recipes[] = {\n", id);
    for (uint32_t r = 0; r < bundle->num_recipes; r++) {
        const struct kiln_recipe *p = &bundle->recipes[r];
        const struct kiln_guard *g = &p->guard;
        text_add(text, "    { ");
        text_quote(text, p->name);
        text_add(text,
                ",\n      %u, %u, %u, %u, %u, %u, { %u, %u, %u, %u, %u, %u, { %u, %u, %u }, "
                "{ %u, %u, %u } },\n      { %u, %u, %u }, { %u, %u, %u }, %u, %u, %u, %u, %u, %s, "
                "%u,\n      ",
                p->precision, p->transa, p->transb, p->routine, p->triangles, p->index_bits, g->m,
                g->n, g->k, g->a, g->b, g->c, g->most[0], g->most[1], g->most[2], g->rest[0],
                g->rest[1], g->rest[2], p->tile[0], p->tile[1], p->tile[2], p->reach[0],
                p->reach[1], p->reach[2], p->unit_parts, p->unit_turns, p->shares, p->as_is,
                p->batches, emit_kinds[p->kinds], p->vector_floats);
        if (p->time)
            text_add(text, "&%s_times[%u], ", id, time_number(&common->times, p->time));
        else
            text_add(text, "NULL, ");
        text_add(text, "%u, %u, %u, %s_stages + %u, ", p->program, p->num_stages, p->num_regions,
                id, common->stages.of[r]);
        if (p->num_regions)
            text_add(text, "%s_regions + %u", id, common->regions.of[r]);
        else
            text_add(text, "NULL");
        text_add(text, " },\n");
    }
    text_add(text, "};\n\n");
}

static void emit_pins(const struct kiln_bundle *bundle, const char *id, struct text *text)
{
    if (bundle->num_pins)
        text_add(text, "static const struct kiln_pin %s_pins[] = {\n", id);
    for (uint32_t i = 0; i < bundle->num_pins; i++) {
        const struct kiln_pin *p = &bundle->pins[i];
        text_add(text, "    { %u, %u, %u, %u, %u, { %u, %u, %u, %u } },\n", p->precision, p->m,
                p->n, p->k, p->batch, p->recipe[0], p->recipe[1], p->recipe[2], p->recipe[3]);
    }
    if (bundle->num_pins)
        text_add(text, "};\n\n");
}

static void emit_id(const char *name, struct text *text)
{
    for (; *name; name++)
        text_add(text, "%c", isalnum((unsigned char) *name) ? *name : '_');
}

void emit_symbol(const char *name, struct text *text)
{
    text_add(text, "kiln_bundle_");
    emit_id(name, text);
}

static void emit_pool(const struct kiln_pool *pool, const char *id, struct text *text)
{
    if (pool->num_lines)
        text_add(text,
                "    .pool = { %u, %u, %u, %u, NULL, %s_lines,\n"
                "              %s%s, %s_symbols,\n"
                "              sizeof %s_packed, %s_packed },\n",
                pool->text_bytes, pool->num_lines, pool->num_pairs, pool->num_symbols, id,
                pool->num_pairs ? id : "NULL", pool->num_pairs ? "_pairs" : "", id, id, id);
}

static void emit_definition(const struct kiln_bundle *bundle, const struct kiln_pool *pool,
        const char *id, struct text *text)
{
    text_add(text, "KILN_INTERNAL const struct kiln_bundle ");
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
    text_add(text, ", %u, %u", bundle->match.native_vector_float, bundle->match.compute_capability);
    if (bundle->match.verified) {
        text_add(text, ",\n        ");
        text_quote(text, bundle->match.verified);
    }
    text_add(text, " },\n");
    if (bundle->traits.compute_units)
        text_add(text, "    .traits = { %u, %u, %u, %u, %u },\n", bundle->traits.is_cpu,
                bundle->traits.compute_units, bundle->traits.native_vector_float,
                bundle->traits.local_bytes, bundle->traits.compute_capability);
    emit_pool(pool, id, text);
    if (bundle->num_recipes)
        text_add(text,
                "    .num_programs = %u, .num_recipes = %u, .num_pins = %u,\n"
                "    .programs = %s_programs, .recipes = %s_recipes,\n"
                "    .pins = %s%s,\n",
                bundle->num_programs, bundle->num_recipes, bundle->num_pins, id, id,
                bundle->num_pins ? id : "NULL", bundle->num_pins ? "_pins" : "");
    text_add(text, "};\n");
}

/* Within a comment of C. */
static void emit_comment(const char *comment, struct text *text)
{
    for (char before = '\0'; *comment; before = *comment++) {
        const bool is_mark = (before == '*' && *comment == '/') ||
                             (before == '/' && *comment == '*');
        text_add(text, is_mark ? " %c" : "%c", *comment);
    }
}

static void emit_all(const struct kiln_bundle *bundle, const char *comment,
        const struct shared *shared, const char *id, struct text *text)
{
    struct common common;
    const bool ok = find_common(bundle, &common);
    text_add(text, "/* Generated by kiln-gen. Do not edit.\n");
    if (comment)
        emit_comment(comment, text);
    text_add(text, " */\n#include \"bundle.h\"\n\n");
    if (shared->pool.data.num_lines) {
        emit_lines(&shared->pool.data, id, text);
        emit_symbols(&shared->pool.data, id, text);
    }
    if (bundle->num_recipes && ok) {
        emit_binaries(bundle, id, text);
        emit_programs(shared, bundle->num_programs, id, text);
        emit_stages(bundle, &common.stages, id, text);
        emit_regions(bundle, &common.regions, id, text);
        emit_times(&common.times, id, text);
        emit_recipes(bundle, &common, id, text);
        emit_pins(bundle, id, text);
    }
    emit_definition(bundle, &shared->pool.data, id, text);
    text->failed = text->failed || !ok;
    free_common(&common);
}

void emit_bundle(const struct kiln_bundle *bundle, const char *comment, struct text *text)
{
    struct shared shared;
    struct text id = { 0 };
    text_add(&id, "bundle_");
    emit_id(bundle->name, &id);
    if (share_text(bundle, &shared) && !id.failed)
        emit_all(bundle, comment, &shared, id.bytes, text);
    else
        text->failed = true;
    share_free(&shared);
    text_free(&id);
}

/* ---- How much it is ---- */

/* A pointer to constant data takes a relocation of three words in an archive; a NULL pointer takes
 * none. */
static size_t bytes_of_pointer(const void *pointer)
{
    return pointer ? 3 * sizeof(uint64_t) : 0;
}

static bool is_new(const char *const *strings, size_t num, const char *string)
{
    for (size_t i = 0; i < num; i++)
        if (!strcmp(strings[i], string))
            return false;
    return true;
}

/* Equal strings are one; the compiler aligns them. */
static size_t add_string(const char **strings, size_t *num, const char *string)
{
    if (!is_new(strings, *num, string))
        return 0;
    strings[(*num)++] = string;
    return (strlen(string) / sizeof(uint64_t) + 1) * sizeof(uint64_t);
}

static bool bytes_of_recipes(const struct kiln_bundle *bundle, size_t *bytes)
{
    size_t num_strings = 0, room = 1;
    for (uint32_t r = 0; r < bundle->num_recipes; r++)
        room += 1u + bundle->recipes[r].num_stages;
    const char **strings = calloc(room, sizeof *strings);
    struct common common;
    const bool ok = find_common(bundle, &common) && strings;
    if (ok)
        *bytes += common.stages.num * sizeof(struct kiln_stage) +
                  common.regions.num * sizeof(struct kiln_region) +
                  common.times.num * sizeof(struct kiln_time);
    unsigned stage = 0;
    for (uint32_t r = 0; ok && r < bundle->num_recipes; r++) {
        const struct kiln_recipe *p = &bundle->recipes[r];
        *bytes += sizeof *p + bytes_of_pointer(p->name) + bytes_of_pointer(p->stages) +
                  (p->num_regions ? bytes_of_pointer(p->regions) : 0) + bytes_of_pointer(p->time) +
                  add_string(strings, &num_strings, p->name);
        for (unsigned i = 0; common.stages.of[r] + i == stage && i < p->num_stages; i++, stage++)
            *bytes += bytes_of_pointer(p->stages[i].entry) +
                      add_string(strings, &num_strings, p->stages[i].entry);
    }
    free_common(&common);
    free(strings);
    return ok;
}

static size_t bytes_of_binaries(const struct kiln_program *program)
{
    size_t bytes = program->num_binaries ? bytes_of_pointer(program->binaries) : 0;
    for (uint32_t i = 0; i < program->num_binaries; i++)
        bytes += sizeof program->binaries[i] + program->binaries[i].size;
    return bytes;
}

bool emit_bytes(const struct kiln_bundle *bundle, size_t *bytes)
{
    struct shared shared;
    const struct kiln_pool *pool = &shared.pool.data;
    bool ok = share_text(bundle, &shared);
    size_t packed_bytes = 0;
    unsigned char *packed = ok ? lz4_pack(pool->text, pool->text_bytes, &packed_bytes) : NULL;
    ok = packed != NULL;
    free(packed);
    *bytes = sizeof *bundle;
    if (ok) {
        *bytes += packed_bytes + pool->num_lines * sizeof *pool->lines +
                  pool->num_pairs * sizeof *pool->pairs + pool->num_symbols * sizeof *pool->symbols;
        ok = bytes_of_recipes(bundle, bytes);
    }
    for (uint32_t p = 0; p < bundle->num_programs; p++)
        *bytes += sizeof bundle->programs[p] + bytes_of_binaries(&bundle->programs[p]);
    *bytes += bundle->num_pins * sizeof *bundle->pins;
    share_free(&shared);
    return ok;
}
