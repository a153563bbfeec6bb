/* winners.c: winners.tsv to and from memory, and on into a bundle. */
#include "winners.h"
#include "platform.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 16, LINE_BYTES = 1024 };

struct line {
    char bytes[LINE_BYTES];
    char *field[MAX_FIELDS];
    unsigned num;
};

static bool split(const char *start, size_t len, struct line *line)
{
    if (len >= LINE_BYTES)
        return false;
    memcpy(line->bytes, start, len);
    line->bytes[len] = '\0';
    line->num = 0;
    for (char *p = line->bytes; p; ) {
        if (line->num == MAX_FIELDS)
            return false;
        line->field[line->num++] = p;
        p = strchr(p, '\t');
        if (p)
            *p++ = '\0';
    }
    return true;
}

static bool parse_count(const char *field, long max, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(field, &end, 10);
    return end != field && !*end && !errno && *value >= 0 && *value <= max;
}

static bool copy_field(char *to, size_t bytes, const char *field)
{
    return snprintf(to, bytes, "%s", field) < (int) bytes;
}

static const char *parse_recipe(const struct line *line, struct winners *winners,
        char error[FAMILY_ERROR_BYTES])
{
    struct winner *winner = &winners->recipes[winners->num_recipes];
    if (line->num != 3 + NUM_PAIRS)
        return "a recipe has a precision, a configuration and four hashes";
    if (winners->num_recipes == WINNERS_MAX_RECIPES)
        return "too many recipes";
    winner->precision = precision_find(line->field[1]);
    if (!winner->precision)
        return "unknown precision";
    if (!config_parse(line->field[2], &winner->config, error))
        return error;
    for (int i = 0; i < NUM_PAIRS; i++) {
        char *end;
        winner->hash[i] = strtoull(line->field[3 + i], &end, 16);
        if (*end || end == line->field[3 + i])
            return "a hash is hexadecimal";
    }
    winners->num_recipes++;
    return NULL;
}

static const char *parse_anchor(const struct line *line, struct winners *winners)
{
    struct winner_anchor *anchor = &winners->anchors[winners->num_anchors];
    long size[3];
    if (line->num != 5 + 2 * NUM_PAIRS)
        return "an anchor has a precision, three extents and four pairs of recipe and seconds";
    if (winners->num_anchors == WINNERS_MAX_ANCHORS)
        return "too many anchors";
    anchor->precision = precision_find(line->field[1]);
    if (!anchor->precision)
        return "unknown precision";
    for (int i = 0; i < 3; i++)
        if (!parse_count(line->field[2 + i], INT32_MAX, &size[i]) || !size[i])
            return "an extent is a positive number";
    anchor->m = (uint32_t) size[0];
    anchor->n = (uint32_t) size[1];
    anchor->k = (uint32_t) size[2];
    for (int i = 0; i < NUM_PAIRS; i++) {
        const char *recipe = line->field[5 + 2 * i];
        long number = -1;
        char *end;
        if (strcmp(recipe, "-") && !parse_count(recipe, WINNERS_MAX_RECIPES, &number))
            return "a recipe is a number or -";
        anchor->recipe[i] = (int) number;
        anchor->seconds[i] = strtod(line->field[6 + 2 * i], &end);
        if (*end || end == line->field[6 + 2 * i] || !isfinite(anchor->seconds[i]))
            return "seconds are a number";
    }
    winners->num_anchors++;
    return NULL;
}

static const char *parse_regret(const struct line *line, struct winners *winners)
{
    struct winner_regret *regret = &winners->regrets[winners->num_regrets];
    long shapes;
    char *end;
    if (line->num != 4 || winners->num_regrets == 8)
        return "a regret has a precision, a factor and a number of shapes";
    regret->precision = precision_find(line->field[1]);
    regret->factor = strtod(line->field[2], &end);
    if (!regret->precision || *end || !isfinite(regret->factor) ||
        !parse_count(line->field[3], 100000, &shapes))
        return "a regret has a precision, a factor and a number of shapes";
    regret->shapes = (unsigned) shapes;
    winners->num_regrets++;
    return NULL;
}

static const char *parse_fact(const struct line *line, struct winners *winners)
{
    long value;
    if (line->num != 3 || !parse_count(line->field[2], LONG_MAX, &value))
        return "a fact has a name and a number";
    for (int i = 0; i < NUM_FACTS; i++)
        if (!strcmp(fact_names[i], line->field[1])) {
            winners->facts.value[i] = value;
            winners->has_facts = true;
            return NULL;
        }
    return "unknown fact";
}

static const char *parse_text(const struct line *line, struct winners *winners)
{
    const struct {
        const char *word;
        char *to;
        size_t bytes;
    } rows[] = {
        { "bundle", winners->name, sizeof winners->name },
        { "platform", winners->platform, sizeof winners->platform },
        { "device", winners->device, sizeof winners->device },
        { "driver", winners->driver, sizeof winners->driver },
        { "provenance", winners->provenance, sizeof winners->provenance },
    };
    long value;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(line->field[0], rows[i].word))
            return line->num == 2 && copy_field(rows[i].to, rows[i].bytes, line->field[1])
                 ? NULL : "expected one text, not too long";
    const bool is_vector = !strcmp(line->field[0], "vector");
    if (!is_vector && strcmp(line->field[0], "capability"))
        return "unknown row";
    if (line->num != 2 || !parse_count(line->field[1], 1024, &value))
        return is_vector ? "vector is a number" : "capability is a number";
    *(is_vector ? &winners->vector : &winners->capability) = (uint32_t) value;
    return NULL;
}

static const char *parse_line(const struct line *line, struct winners *winners,
        char error[FAMILY_ERROR_BYTES])
{
    if (!strcmp(line->field[0], "recipe"))
        return parse_recipe(line, winners, error);
    if (!strcmp(line->field[0], "anchor"))
        return parse_anchor(line, winners);
    if (!strcmp(line->field[0], "regret"))
        return parse_regret(line, winners);
    if (!strcmp(line->field[0], "fact"))
        return parse_fact(line, winners);
    return parse_text(line, winners);
}

/* Anchors may name only recipes that there are. */
static bool check_anchors(const struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    for (unsigned i = 0; i < winners->num_anchors; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            const struct winner_anchor *a = &winners->anchors[i];
            if (a->recipe[pair] >= 0 && !winners_recipe(winners, a->precision, a->recipe[pair])) {
                snprintf(error, FAMILY_ERROR_BYTES, "anchor %u names recipe %d, which is not there",
                        i, a->recipe[pair]);
                return false;
            }
        }
    return true;
}

bool winners_parse(const char *text, struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    struct line line;
    unsigned number = 0;
    *winners = (struct winners) { .num_recipes = 0 };
    facts_minimal(&winners->facts);
    for (const char *p = text, *next; *p; p = next) {
        const size_t len = strcspn(p, "\n");
        char cause[FAMILY_ERROR_BYTES];
        const char *what = NULL;
        next = p + len + (p[len] == '\n');
        number++;
        if (!split(p, len, &line))
            what = "too long";
        else if (number == 1)
            what = line.num == 2 && !strcmp(line.field[0], "kiln-winners") &&
                   !strcmp(line.field[1], "1") ? NULL : "not a kiln-winners file, version 1";
        else if (len && *p != '#')
            what = parse_line(&line, winners, cause);
        if (what) {
            snprintf(error, FAMILY_ERROR_BYTES, "line %u: %.200s", number, what);
            return false;
        }
    }
    if (!winners->name[0]) {
        snprintf(error, FAMILY_ERROR_BYTES, number ? "no bundle row" : "empty");
        return false;
    }
    return check_anchors(winners, error);
}

static void format_head(const struct winners *w, struct text *text)
{
    text_add(text, "kiln-winners\t1\nbundle\t%s\n", w->name);
    if (w->platform[0])
        text_add(text, "platform\t%s\n", w->platform);
    if (w->device[0])
        text_add(text, "device\t%s\n", w->device);
    if (w->driver[0])
        text_add(text, "driver\t%s\n", w->driver);
    if (w->vector)
        text_add(text, "vector\t%" PRIu32 "\n", w->vector);
    if (w->capability)
        text_add(text, "capability\t%" PRIu32 "\n", w->capability);
    if (w->provenance[0])
        text_add(text, "provenance\t%s\n", w->provenance);
    for (int i = 0; i < NUM_FACTS; i++)
        text_add(text, "fact\t%s\t%ld\n", fact_names[i], w->facts.value[i]);
}

void winners_format(const struct winners *w, struct text *text)
{
    char config[CONFIG_TEXT_BYTES];
    format_head(w, text);
    for (unsigned i = 0; i < w->num_recipes; i++) {
        config_format(&w->recipes[i].config, config);
        text_add(text, "recipe\t%s\t%s", w->recipes[i].precision->name, config);
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            text_add(text, "\t%016" PRIx64, w->recipes[i].hash[pair]);
        text_add(text, "\n");
    }
    for (unsigned i = 0; i < w->num_anchors; i++) {
        const struct winner_anchor *a = &w->anchors[i];
        text_add(text, "anchor\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32, a->precision->name, a->m,
                a->n, a->k);
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            if (a->recipe[pair] < 0)
                text_add(text, "\t-\t0");
            else
                text_add(text, "\t%d\t%.6g", a->recipe[pair], a->seconds[pair]);
        text_add(text, "\n");
    }
    for (unsigned i = 0; i < w->num_regrets; i++)
        text_add(text, "regret\t%s\t%.4f\t%u\n", w->regrets[i].precision->name,
                w->regrets[i].factor, w->regrets[i].shapes);
}

bool winners_want_driver(const char *platform)
{
    return kiln_compiles_in_process(platform);
}

const struct winner *winners_recipe(const struct winners *winners,
        const struct precision *precision, int i)
{
    for (unsigned r = 0; r < winners->num_recipes; r++)
        if (winners->recipes[r].precision == precision && i-- == 0)
            return &winners->recipes[r];
    return NULL;
}

/* Adds the four recipes of each of a precision's winners, in order. */
static bool add_recipes(const struct winners *winners, const struct precision *precision,
        struct assembly *assembly, unsigned index[WINNERS_MAX_RECIPES][NUM_PAIRS],
        char error[FAMILY_ERROR_BYTES])
{
    const struct winner *winner;
    for (int i = 0; (winner = winners_recipe(winners, precision, i)); i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            const struct problem problem = problem_of_pair(precision, pair);
            if (!assembly_add(assembly, &winner->config, &problem, &index[i][pair], error))
                return false;
        }
    return true;
}

static bool add_dispatch(const struct winners *winners, const struct precision *precision,
        struct assembly *assembly, unsigned index[WINNERS_MAX_RECIPES][NUM_PAIRS])
{
    struct kiln_anchor anchors[WINNERS_MAX_ANCHORS];
    unsigned num = 0;
    for (unsigned i = 0; i < winners->num_anchors; i++) {
        const struct winner_anchor *from = &winners->anchors[i];
        if (from->precision != precision)
            continue;
        anchors[num] = (struct kiln_anchor) { .m = from->m, .n = from->n, .k = from->k };
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            anchors[num].recipe[pair] = (uint16_t) (from->recipe[pair] < 0 ? KILN_NO_RECIPE
                    : index[from->recipe[pair]][pair]);
        num++;
    }
    return !num || assembly_dispatch(assembly, precision->bits, anchors, num);
}

static const char *optional(struct arena *arena, const char *text)
{
    return text[0] ? arena_string(arena, text) : NULL;
}

/* A fact as a trait, which has 32 bits. */
static uint32_t trait_of(const struct device_facts *facts, enum fact fact)
{
    const long value = facts->value[fact];
    return value < 0 ? 0 : (unsigned long) value > UINT32_MAX ? UINT32_MAX : (uint32_t) value;
}

static struct kiln_device_traits traits_of(const struct device_facts *facts)
{
    return (struct kiln_device_traits) {
        .is_cpu = facts->value[FACT_IS_CPU] != 0,
        .compute_units = trait_of(facts, FACT_UNITS),
        .native_vector_float = trait_of(facts, FACT_VECTOR_BYTES) / 4,
        .local_bytes = trait_of(facts, FACT_LOCAL_BYTES),
        .compute_capability = trait_of(facts, FACT_COMPUTE_CAPABILITY),
    };
}

bool winners_assemble(const struct winners *winners, struct assembly *assembly,
        char error[FAMILY_ERROR_BYTES])
{
    unsigned index[WINNERS_MAX_RECIPES][NUM_PAIRS];
    if (!assembly_init(assembly, winners->name, &winners->facts)) {
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
        return false;
    }
    assembly->bundle.provenance = arena_string(&assembly->arena, winners->provenance);
    assembly->bundle.match = (struct kiln_match) {
        .platform = optional(&assembly->arena, winners->platform),
        .device = optional(&assembly->arena, winners->device),
        .driver = optional(&assembly->arena, winners->driver),
        .native_vector_float = winners->vector,
        .compute_capability = winners->capability,
    };
    if (winners->has_facts)
        assembly->bundle.traits = traits_of(&winners->facts);
    for (size_t i = 0; i < num_precisions; i++)
        if (!add_recipes(winners, &precisions[i], assembly, index, error))
            return false;
        else if (!add_dispatch(winners, &precisions[i], assembly, index)) {
            snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
            return false;
        }
    return true;
}

bool winners_rehash(struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    struct assembly assembly;
    bool ok = assembly_init(&assembly, winners->name, &winners->facts);
    for (unsigned i = 0; i < winners->num_recipes && ok; i++)
        for (int pair = 0; pair < NUM_PAIRS && ok; pair++) {
            struct winner *winner = &winners->recipes[i];
            const struct problem problem = problem_of_pair(winner->precision, pair);
            unsigned at;
            ok = assembly_add(&assembly, &winner->config, &problem, &at, error);
            if (ok)
                winner->hash[pair] = assembly.programs[assembly.recipes[at].program].hash;
        }
    assembly_free(&assembly);
    return ok;
}

void winners_comment(const struct winners *winners, struct text *text)
{
    text_add(text, " *\n * Bundle %s%s%s\n", winners->name, winners->provenance[0] ? ": " : "",
            winners->provenance);
    for (unsigned i = 0; i < winners->num_regrets; i++)
        text_add(text, " * %s: %.1f %% slower than the best recipe of the search, in the geometric"
                "\n *     mean of %u measured shapes that were not used for choosing.\n",
                winners->regrets[i].precision->name, 100 * (winners->regrets[i].factor - 1),
                winners->regrets[i].shapes);
}
