/* assemble.c: walks a family's tables and fills the structs of bundle.h. */
#include "assemble.h"
#include "expr.h"
#include "fields.h"
#include "fnv.h"
#include "signature.h"
#include "text.h"
#include "tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one recipe is made from. */
struct source {
    const struct config *config;
    const struct problem *problem;
    struct scope scope;
    uint32_t units;                    /* compute units of the device */
    char *error;                       /* FAMILY_ERROR_BYTES */
};

static bool source_open(struct source *source, const struct config *config,
        const struct problem *problem, const struct device_facts *facts, char *error)
{
    const char *reason;
    source->config = config;
    source->problem = problem;
    source->units = (uint32_t) facts->value[FACT_UNITS];
    source->error = error;
    if (!config_legal(config, problem, facts, &reason)) {
        snprintf(error, FAMILY_ERROR_BYTES, "illegal configuration: %s", reason);
        return false;
    }
    return config_scope(config, problem, facts, &source->scope, error);
}

/* Do the kernels store all of C? Recipes that leave a real product, and those that mirror, are told
 * of triangles when they are launched. */
static bool is_whole(const struct source *source)
{
    return !source->problem->triangle && source->config->family->routine == KILN_ROUTINE_MULTIPLY;
}

static bool evaluate(struct source *source, const char *text, size_t len, int64_t *value)
{
    struct expr_error e;
    if (expr_eval(text, len, &source->scope, value, &e))
        return true;
    snprintf(source->error, FAMILY_ERROR_BYTES, "%s: '%.*s': %s", source->config->family->name,
            (int) len, text, e.what);
    return false;
}

/* Whether a stage or region with this condition belongs to the configuration. */
static bool applies(struct source *source, const char *when, bool *yes)
{
    int64_t value = 1;
    const bool ok = !when || evaluate(source, when, strlen(when), &value);
    *yes = ok && value;
    return ok;
}

/* The i-th part of a list separated by semicolons. */
static bool list_part(const char *list, unsigned i, const char **part, size_t *len)
{
    while (i-- && list)
        list = strchr(list, ';') ? strchr(list, ';') + 1 : NULL;
    if (!list)
        return false;
    *part = list + strspn(list, " ");
    *len = strcspn(*part, ";");
    return *len > 0;
}

static bool evaluate_part(struct source *source, const char *list, unsigned i, uint32_t *value)
{
    const char *part;
    size_t len;
    int64_t v = 0;
    if (!list_part(list, i, &part, &len) || !evaluate(source, part, len, &v))
        return false;
    *value = (uint32_t) v;
    return v >= 1 && v <= INT32_MAX;
}

/* The i-th word of a list separated by spaces. */
static bool word(const char *list, unsigned i, const char **at, size_t *len)
{
    for (*at = list + strspn(list, " "); i--; *at += strspn(*at, " "))
        *at += strcspn(*at, " ");
    *len = strcspn(*at, " ");
    return *len > 0;
}

const char *const assemble_dim_names[KILN_NUM_DIMS] = { "ONE", "M", "N", "K", "UNITS", "PARTS" };

const char *const assemble_prepared_names[KILN_PREPARED_BOTH + 1] = {
    "NONE", "A", "B", "BOTH"
};

const char *const assemble_role_names[KILN_NUM_ROLES] = {
    "NONE", "ADD", "ROTATE", "SCALE", "DIAGONAL"
};

static int dim_code(const char *at, size_t len)
{
    return word_find(assemble_dim_names, KILN_NUM_DIMS, at, len);
}

/* The place of `name` among `names`; NULL is the first. */
static bool find_code(const char *name, const char *const *names, size_t num, uint8_t *code)
{
    const int found = !name ? 0 : word_find(names, num, name, strlen(name));
    *code = (uint8_t) found;
    return found >= 0;
}

static bool prepared_code(const char *name, uint8_t *code)
{
    return find_code(name, assemble_prepared_names, KILN_PREPARED_BOTH + 1, code);
}

void assemble_entry_name(const struct config *config, const struct problem *problem,
        const struct family_stage *stage, char name[ENTRY_NAME_BYTES])
{
    snprintf(name, ENTRY_NAME_BYTES, "kiln_%cgemm%s_%s_%s", problem->precision->letter,
            problem->triangle ? "t" : "", config->family->name, stage->name);
}

/* With a kernel's head, templates may include it. */
static char *render(struct source *source, const char *template, const char *head)
{
    struct tmpl_error e;
    struct tmpl_file *files = malloc((num_template_files + 1) * sizeof *files);
    if (!files)
        return NULL;
    memcpy(files, template_files, num_template_files * sizeof *files);
    files[num_template_files] = (struct tmpl_file){ SIGNATURE_FILE, head };
    char *text = tmpl_render(files, num_template_files + (head != NULL), template, &source->scope,
            &e);
    if (!text)
        snprintf(source->error, FAMILY_ERROR_BYTES, "%s:%d: %s", e.file, e.line, e.what);
    free(files);
    return text;
}

/* Adds a stage's "NAME = EXPR; ..." to the scope. */
static bool bind_all(struct source *source, const char *bind)
{
    const char *part;
    size_t len;
    for (unsigned i = 0; bind && list_part(bind, i, &part, &len); i++) {
        const char *equals = memchr(part, '=', len);
        const size_t name_len = strcspn(part, " =");
        char name[SCOPE_NAME_BYTES];
        int64_t value;
        if (!equals || name_len >= sizeof name)
            return false;
        snprintf(name, sizeof name, "%.*s", (int) name_len, part);
        if (!evaluate(source, equals + 1, len - (size_t) (equals + 1 - part), &value) ||
                !scope_set(&source->scope, name, value))
            return false;
    }
    return true;
}

/* The text of one stage; the scope is left as it was. */
static char *stage_text(struct source *source, const struct family_stage *stage)
{
    const size_t mark = source->scope.num;
    struct text head = { 0 };
    char name[ENTRY_NAME_BYTES], *text = NULL;
    assemble_entry_name(source->config, source->problem, stage, name);
    if (bind_all(source, stage->bind) &&
            signature_head(name, stage->locals, stage->args, is_whole(source), &head))
        text = render(source, stage->template, head.bytes);
    source->scope.num = mark;
    text_free(&head);
    return text;
}

static bool add_rendered(struct text *text, char *rendered)
{
    if (rendered)
        text_add(text, "%s", rendered);
    free(rendered);
    return rendered && !text->failed;
}

static bool tidy_text(struct text *text)
{
    text->bytes = tidy(text->bytes);
    text->len = text->bytes ? strlen(text->bytes) : 0;
    text->capacity = text->len + 1;
    return text->bytes != NULL;
}

/* The prelude and the stages. */
static bool render_all(struct source *source, struct text *text)
{
    const struct family *family = source->config->family;
    if (!add_rendered(text, render(source, family->prelude, NULL)))
        return false;
    for (unsigned i = 0; i < family->num_stages; i++) {
        bool yes;
        if (!applies(source, family->stages[i].when, &yes))
            return false;
        if (yes && !add_rendered(text, stage_text(source, &family->stages[i])))
            return false;
    }
    if (!text->len || text->bytes[text->len - 1] != '\n')
        text_add(text, "\n");
    return !text->failed && tidy_text(text);
}

char *assemble_text(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, char error[FAMILY_ERROR_BYTES])
{
    struct assembly assembly;
    unsigned index;
    char *text = NULL;
    const bool is_open = assembly_init(&assembly, "text", facts);
    assembly.keeps_comments = true;
    if (!is_open)
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    else if (assembly_add(&assembly, config, problem, &index, error) &&
             !(text = pool_text(&assembly.bundle.pool,
                       &assembly.programs[assembly.recipes[index].program])))
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    assembly_free(&assembly);
    return text;
}

/* A count up to `most`; an expression that is NULL leaves it 0. */
static bool evaluate_count(struct source *source, const char *expr, uint32_t most, uint32_t *count)
{
    int64_t value = 0;
    if (expr && !evaluate(source, expr, strlen(expr), &value))
        return false;
    *count = (uint32_t) value;
    return value >= 0 && value <= most;
}

/* The program of a source, shared when the bundle already has it. */
static bool add_program(struct assembly *assembly, struct source *source, uint32_t *index)
{
    struct text text = { 0 };
    struct kiln_program program = { 0 };
    bool ok = evaluate_count(source, source->config->family->ptx, UINT8_MAX, &program.ptx) &&
              render_all(source, &text);
    if (ok && !assembly->keeps_comments) {
        tidy_drop_comments(text.bytes);
        text.len = strlen(text.bytes);
    }
    if (ok)
        program.hash = kiln_hash(KILN_HASH_BEGIN, text.bytes, text.len);
    for (*index = 0; ok && *index < assembly->bundle.num_programs; ++*index)
        if (assembly->programs[*index].hash == program.hash)
            break;
    if (ok && *index == assembly->bundle.num_programs) {
        ok = pool_add(&assembly->pool, text.bytes, &program);
        assembly->bundle.pool = assembly->pool.data;
        if (ok)
            assembly->programs[assembly->bundle.num_programs++] = program;
        else
            snprintf(source->error, FAMILY_ERROR_BYTES,
                    "%s: a line of the text has more than %d "
                    "bytes, or the bundle more than %d lines, or memory is out",
                    source->config->family->name, POOL_MAX_LINE, POOL_MAX_SYMBOLS);
    }
    text_free(&text);
    return ok;
}

static bool fill_args(const struct source *source, struct kiln_stage *stage, const char *args)
{
    struct signature signature;
    if (!signature_parse(args, is_whole(source), &signature))
        return false;
    for (unsigned i = 0; i < signature.num; i++)
        stage->args[i] = signature.args[i].code;
    stage->num_args = (uint8_t) signature.num;
    return true;
}

static bool fill_stage(struct assembly *assembly, struct source *source,
        const struct family_stage *from, struct kiln_stage *stage)
{
    char name[ENTRY_NAME_BYTES];
    const char *at;
    size_t len;
    int64_t bytes = 0;
    assemble_entry_name(source->config, source->problem, from, name);
    *stage = (struct kiln_stage){ .entry = arena_string(&assembly->arena, name),
        .tile = { 1, 1, 1 },
        .local = { 1, 1, 1 } };
    for (unsigned i = 0; i < 3 && word(from->dims, i, &at, &len); i++) {
        const int dim = dim_code(at, len);
        uint32_t local = 0;
        if (dim < 0 || !evaluate_part(source, from->tiles, i, &stage->tile[i]) ||
                !evaluate_part(source, from->locals, i, &local) || local > UINT16_MAX)
            return false;
        stage->local[i] = (uint16_t) local;
        stage->dim[i] = (uint8_t) dim;
        stage->work_dim = (uint8_t) (i + 1);
    }
    if (from->local_bytes &&
            !evaluate(source, from->local_bytes, strlen(from->local_bytes), &bytes))
        return false;
    stage->local_bytes = (uint32_t) bytes;
    return stage->entry && stage->work_dim && fill_args(source, stage, from->args) &&
           prepared_code(from->prepares, &stage->prepares) &&
           find_code(from->role, assemble_role_names, KILN_NUM_ROLES, &stage->role);
}

static bool fill_stages(struct assembly *assembly, struct source *source,
        struct kiln_recipe *recipe)
{
    const struct family *family = source->config->family;
    struct kiln_stage stages[KILN_MAX_STAGES];
    for (unsigned i = 0; i < family->num_stages; i++) {
        bool yes;
        if (!applies(source, family->stages[i].when, &yes))
            return false;
        if (!yes)
            continue;
        if (recipe->num_stages == KILN_MAX_STAGES ||
                !fill_stage(assembly, source, &family->stages[i], &stages[recipe->num_stages]))
            return false;
        recipe->num_stages++;
    }
    recipe->stages = arena_copy(&assembly->arena, stages, recipe->num_stages * sizeof stages[0]);
    for (unsigned i = 0; i < recipe->num_stages; i++)
        if (!recipe->triangles && memchr(stages[i].args, KILN_ARG_TRIANGLE, stages[i].num_args))
            recipe->triangles = KILN_TRIANGLES_ALSO;
    return recipe->stages && recipe->num_stages;
}

static bool fill_region(struct source *source, const struct family_region *from,
        struct kiln_region *region)
{
    int64_t bytes;
    *region = (struct kiln_region){ .round = { 1, 1 } };
    for (unsigned i = 0; i < 2; i++) {
        const char *at;
        size_t len;
        if (!word(from->dims, i, &at, &len) || dim_code(at, len) < 0 ||
                !evaluate_part(source, from->rounds, i, &region->round[i]))
            return false;
        region->dim[i] = (uint8_t) dim_code(at, len);
    }
    if (!evaluate(source, from->element_bytes, strlen(from->element_bytes), &bytes))
        return false;
    region->element_bytes = (uint32_t) bytes;
    if (from->more && !evaluate_part(source, from->more, 0, &region->more))
        return false;
    region->each_part = (uint8_t) from->each_part;
    region->each_member = (uint8_t) from->each_member;
    return prepared_code(from->holds, &region->holds);
}

/* A region that the configuration does not use keeps its number and takes one byte. If the
 * configuration uses none, there are none, so that no workspace is asked for. */
static bool fill_regions(struct assembly *assembly, struct source *source,
        struct kiln_recipe *recipe)
{
    const struct family *family = source->config->family;
    struct kiln_region regions[KILN_MAX_REGIONS];
    bool any = false;
    if (family->num_regions > KILN_MAX_REGIONS)
        return false;
    for (unsigned i = 0; i < family->num_regions; i++) {
        bool yes;
        if (!applies(source, family->regions[i].when, &yes))
            return false;
        any = any || yes;
        regions[i] = (struct kiln_region){ .round = { 1, 1 }, .element_bytes = 1 };
        if (yes && !fill_region(source, &family->regions[i], &regions[i]))
            return false;
    }
    recipe->num_regions = any ? (uint8_t) family->num_regions : 0;
    recipe->regions = arena_copy(&assembly->arena, regions,
            recipe->num_regions * sizeof regions[0]);
    return recipe->regions != NULL;
}

/* Keeps units in order. One that is there already, or that divides everything, is not added. */
static bool add_edge(struct assembly_edges *edges, unsigned dim, uint32_t unit)
{
    uint32_t *units = edges->unit[dim];
    unsigned at = 0;
    while (at < edges->num[dim] && units[at] < unit)
        at++;
    if (unit <= 1 || (at < edges->num[dim] && units[at] == unit))
        return true;
    if (edges->num[dim] == ASSEMBLY_MAX_EDGES)
        return false;
    memmove(&units[at + 1], &units[at], (edges->num[dim]++ - at) * sizeof *units);
    units[at] = unit;
    return true;
}

static bool fill_edges(struct source *source, const char *list, unsigned dim, uint32_t tile,
        struct assembly_edges *edges)
{
    const char *part;
    size_t len;
    for (unsigned i = 0; list && list_part(list, i, &part, &len); i++) {
        long unit;
        if (!evaluate(source, part, len, &unit) || unit < 0 || unit > INT32_MAX ||
                (unit != tile && !add_edge(edges, dim, (uint32_t) unit)))
            return false;
    }
    return true;
}

/* Which work-groups take tiles in turn, among which K is shared, what is taken as it is, and
 * whether a launch takes several members of a batch. */
static bool fill_ways(struct source *source, struct kiln_recipe *recipe)
{
    const struct family *family = source->config->family;
    uint32_t turns, parts, shares, a, b, batches;
    if (!evaluate_count(source, family->unit_turns, UINT16_MAX, &turns) ||
            !evaluate_count(source, family->unit_parts, UINT16_MAX, &parts) ||
            !evaluate_count(source, family->shares, 1, &shares) ||
            !evaluate_count(source, family->as_is[0], 1, &a) ||
            !evaluate_count(source, family->as_is[1], 1, &b) ||
            !evaluate_count(source, family->batches, 1, &batches))
        return false;
    recipe->unit_turns = (uint16_t) turns;
    recipe->unit_parts = (uint16_t) parts;
    recipe->shares = (uint8_t) shares;
    recipe->as_is = (uint8_t) (a * KILN_PREPARED_A + b * KILN_PREPARED_B);
    recipe->batches = (uint8_t) batches;
    return true;
}

/* The tile, what else makes an edge, and the largest of both. */
static bool fill_tile(struct source *source, struct kiln_recipe *recipe,
        struct assembly_edges *edges)
{
    const struct family *family = source->config->family;
    *edges = (struct assembly_edges){ .turns = 0 };
    for (unsigned i = 0; i < 3; i++) {
        if (!evaluate_part(source, family->tile[i], 0, &recipe->tile[i]) ||
                !fill_edges(source, family->edges[i], i, recipe->tile[i], edges))
            return false;
        const uint32_t most = edges->num[i] ? edges->unit[i][edges->num[i] - 1] : 1;
        recipe->reach[i] = most > recipe->tile[i] ? most : recipe->tile[i];
    }
    if (!fill_ways(source, recipe))
        return false;
    edges->turns = recipe->unit_turns * source->units;
    edges->room = recipe->unit_parts * source->units;
    for (unsigned i = 0; i < 2; i++) {
        edges->block[i] = recipe->tile[i];
        if (family->block[i] && !evaluate_part(source, family->block[i], 0, &edges->block[i]))
            return false;
    }
    return true;
}

/* What the tables say of a recipe but for its stages and regions. */
static bool fill_traits(struct source *source, struct kiln_recipe *recipe,
        struct assembly_edges *edges)
{
    const struct problem *problem = source->problem;
    const long routine = source->config->family->routine;
    const bool multiplies = routine != KILN_ROUTINE_MIRROR;
    const struct scope_entry *bits = scope_find(&source->scope, "INDEX", 5);
    *recipe = (struct kiln_recipe){
        .precision = (uint8_t) problem->precision->id,
        .transa = multiplies && problem->transa,
        .transb = multiplies && problem->transb,
        .routine = (uint8_t) routine,
        .triangles = problem->triangle ? KILN_TRIANGLES_ALWAYS : KILN_TRIANGLES_NEVER,
        .index_bits = (uint8_t) (bits ? bits->value : 64),
    };
    return family_guard(source->config->family, &source->scope, &recipe->guard, source->error) &&
           fill_tile(source, recipe, edges);
}

static void say_malformed(const struct config *config, char error[FAMILY_ERROR_BYTES])
{
    snprintf(error, FAMILY_ERROR_BYTES, "%s: a table of the family is malformed",
            config->family->name);
}

bool assemble_traits(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, struct kiln_recipe *recipe,
        char error[FAMILY_ERROR_BYTES])
{
    struct source source;
    struct assembly_edges edges;
    say_malformed(config, error);
    return source_open(&source, config, problem, facts, error) &&
           fill_traits(&source, recipe, &edges);
}

static int find_recipe(const struct assembly *assembly, const char *name,
        const struct problem *problem, unsigned kinds, unsigned vector_floats)
{
    for (unsigned i = 0; i < assembly->bundle.num_recipes; i++) {
        const struct kiln_recipe *r = &assembly->recipes[i];
        if (!strcmp(r->name, name) && r->precision == problem->precision->id &&
                r->transa == problem->transa && r->transb == problem->transb &&
                (r->triangles == KILN_TRIANGLES_ALWAYS) == problem->triangle && r->kinds == kinds &&
                r->vector_floats == vector_floats)
            return (int) i;
    }
    return -1;
}

bool assembly_add(struct assembly *assembly, const struct config *config,
        const struct problem *problem, unsigned *index, char error[FAMILY_ERROR_BYTES])
{
    return assembly_add_for(assembly, config, problem, 0, 0, index, error);
}

bool assembly_add_for(struct assembly *assembly, const struct config *config,
        const struct problem *problem, unsigned kinds, unsigned vector_floats, unsigned *index,
        char error[FAMILY_ERROR_BYTES])
{
    struct source source;
    char name[CONFIG_TEXT_BYTES];
    config_format(config, name);
    const int found = find_recipe(assembly, name, problem, kinds, vector_floats);
    if (found >= 0) {
        *index = (unsigned) found;
        return true;
    }
    if (assembly->bundle.num_recipes == ASSEMBLY_MAX_RECIPES) {
        snprintf(error, FAMILY_ERROR_BYTES, "more than %d recipes", ASSEMBLY_MAX_RECIPES);
        return false;
    }
    struct kiln_recipe recipe;
    struct assembly_edges edges;
    say_malformed(config, error);
    if (!source_open(&source, config, problem, &assembly->facts, error) ||
            !fill_traits(&source, &recipe, &edges))
        return false;
    recipe.name = arena_string(&assembly->arena, name);
    if (!recipe.name || !fill_stages(assembly, &source, &recipe) ||
            !fill_regions(assembly, &source, &recipe) ||
            !add_program(assembly, &source, &recipe.program))
        return false;
    recipe.kinds = (uint8_t) kinds;
    recipe.vector_floats = (uint8_t) vector_floats;
    *index = assembly->bundle.num_recipes;
    assembly->edges[*index] = edges;
    assembly->recipes[assembly->bundle.num_recipes++] = recipe;
    return true;
}

bool assembly_time(struct assembly *assembly, unsigned recipe, const struct kiln_time *time)
{
    for (unsigned i = 0; i < assembly->bundle.num_recipes; i++) {
        const struct kiln_time *other = assembly->recipes[i].time;
        if (other && !memcmp(other, time, sizeof *time)) {
            assembly->recipes[recipe].time = other;
            return true;
        }
    }
    assembly->recipes[recipe].time = arena_copy(&assembly->arena, time, sizeof *time);
    return assembly->recipes[recipe].time;
}

bool assembly_pins(struct assembly *assembly, const struct kiln_pin *pins, unsigned num)
{
    assembly->bundle.pins = arena_copy(&assembly->arena, pins, num * sizeof *pins);
    assembly->bundle.num_pins = assembly->bundle.pins ? num : 0;
    return assembly->bundle.pins;
}

bool assembly_init(struct assembly *assembly, const char *name, const struct device_facts *facts)
{
    *assembly = (struct assembly){ .facts = *facts };
    struct arena *arena = &assembly->arena;
    assembly->programs = arena_alloc(arena, ASSEMBLY_MAX_RECIPES * sizeof *assembly->programs);
    assembly->recipes = arena_alloc(arena, ASSEMBLY_MAX_RECIPES * sizeof *assembly->recipes);
    assembly->edges = arena_alloc(arena, ASSEMBLY_MAX_RECIPES * sizeof *assembly->edges);
    assembly->bundle = (struct kiln_bundle){
        .format = KILN_BUNDLE_FORMAT,
        .name = arena_string(arena, name),
        .provenance = "",
        .programs = assembly->programs,
        .recipes = assembly->recipes,
    };
    return assembly->programs && assembly->recipes && assembly->edges && assembly->bundle.name;
}

void assembly_free(struct assembly *assembly)
{
    arena_free(&assembly->arena);
    pool_free(&assembly->pool);
}
