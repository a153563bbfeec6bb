/* winners.c: winners.tsv to and from memory, and on into a bundle. */
#include "winners.h"
#include "fields.h"
#include "platform.h"
#include "tokens.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 4 + KILN_NUM_TERMS, LINE_BYTES = 1024 };

_Static_assert((int) WINNERS_MAX_RECIPES *(int) NUM_PAIRS <= (int) ASSEMBLY_MAX_RECIPES,
        "a bundle has one recipe for each pair of one of winners.tsv");

static bool out_of_memory(char error[FAMILY_ERROR_BYTES])
{
    snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    return false;
}

struct line {
    char bytes[LINE_BYTES];
    char *field[MAX_FIELDS];
    unsigned num;
};

static bool parse_count(const char *field, long max, long *value)
{
    return field_long(field, value) && *value >= 0 && *value <= max;
}

static const char *parse_recipe(const struct line *line, struct winners *winners,
        char error[FAMILY_ERROR_BYTES])
{
    struct winner *winner = &winners->recipes[winners->num_recipes];
    if (line->num != 3 + NUM_PAIRS)
        return "a recipe has a precision, a configuration and four hashes";
    winner->triangle = !strcmp(line->field[0], "triangle");
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

/* A number that is there, whole, and not negative. */
static bool parse_real(const char *field, double *value)
{
    return field_real(field, value) && isfinite(*value) && *value >= 0;
}

static struct winner *find_recipe(struct winners *winners, const struct precision *precision,
        long number)
{
    return (struct winner *) winners_recipe(winners, precision, (int) number);
}

/* Older files have no coefficients for the last terms. */
static bool is_time(unsigned coefficients)
{
    return coefficients == KILN_NUM_TERMS || coefficients == KILN_TERM_FETCHED_UNCACHED ||
           coefficients == KILN_TERM_PRODUCTS || coefficients == KILN_TERM_FETCHED_PLAIN_A ||
           coefficients == KILN_TERM_KEPT;
}

static const char *parse_time(const struct line *line, struct winners *winners)
{
    long number;
    if (line->num < 3 || !is_time((unsigned) line->num - 3))
        return "a time has a precision, a recipe and a coefficient for each term";
    const struct precision *precision = precision_find(line->field[1]);
    if (!precision)
        return "unknown precision";
    struct winner *winner = parse_count(line->field[2], WINNERS_MAX_RECIPES, &number)
                                  ? find_recipe(winners, precision, number)
                                  : NULL;
    if (!winner)
        return "a time is of a recipe above it";
    if (winner->config.family->routine == KILN_ROUTINE_MIRROR)
        return "a recipe that mirrors has no time";
    if (winner->is_timed)
        return "a recipe has one time";
    for (unsigned t = 0; t + 3 < line->num; t++) {
        double value;
        if (!parse_real(line->field[3 + t], &value) || value > 1e18)
            return "a coefficient is a number, not negative and at most 1e18";
        winner->time.coefficient[t] = strtof(line->field[3 + t], NULL);
    }
    winner->is_timed = true;
    return NULL;
}

static const char *parse_kind(const struct line *line, struct winners *winners)
{
    static const char what[] = "a kind has a precision, a recipe above it, cpu or other, and the "
                               "least floats of a vector";
    const struct precision *precision = line->num == 5 ? precision_find(line->field[1]) : NULL;
    long number, floats;
    struct winner *winner = precision && parse_count(line->field[2], WINNERS_MAX_RECIPES, &number)
                                  ? find_recipe(winners, precision, number)
                                  : NULL;
    if (!winner || !parse_count(line->field[4], UINT8_MAX, &floats))
        return what;
    winner->kinds = !strcmp(line->field[3], "cpu")   ? KILN_KIND_CPU
                  : !strcmp(line->field[3], "other") ? KILN_KIND_OTHER
                                                     : 0;
    winner->vector_floats = (uint8_t) floats;
    return winner->kinds ? NULL : what;
}

static const char *parse_pin(const struct line *line, struct winners *winners)
{
    struct winner_pin *pin = &winners->pins[winners->num_pins];
    long size[3];
    const bool has_batch = line->num == 6 + NUM_PAIRS &&
                           shape_parse_batch(line->field[5], &pin->batch);
    char *const *const recipes = &line->field[has_batch ? 6 : 5];
    if (line->num != 5 + NUM_PAIRS && !has_batch)
        return "a pin has a precision, three extents and four recipes";
    if (winners->num_pins == WINNERS_MAX_PINS)
        return "too many pins";
    pin->precision = precision_find(line->field[1]);
    if (!pin->precision)
        return "unknown precision";
    for (int i = 0; i < 3; i++)
        if (!parse_count(line->field[2 + i], INT32_MAX, &size[i]) || !size[i])
            return "an extent is a positive number";
    pin->shape = (struct shape){ (size_t) size[0], (size_t) size[1], (size_t) size[2],
        has_batch ? pin->batch : 0 };
    for (int i = 0; i < NUM_PAIRS; i++) {
        long number = -1;
        if (strcmp(recipes[i], "-") && (!parse_count(recipes[i], WINNERS_MAX_RECIPES, &number) ||
                                               !find_recipe(winners, pin->precision, number)))
            return "a pin names a recipe above it, or -";
        pin->recipe[i] = (int) number;
    }
    winners->num_pins++;
    return NULL;
}

static const char *parse_loss(const struct line *line, struct winners *winners)
{
    static const char what[] = "a loss has a precision, a kind, a number of shapes and three "
                               "factors";
    struct winner_loss *loss = &winners->losses[winners->num_losses];
    long shapes;
    if (line->num != 7 || winners->num_losses == WINNERS_MAX_LOSSES)
        return what;
    loss->precision = precision_find(line->field[1]);
    if (!loss->precision || !field_copy(loss->kind, sizeof loss->kind, line->field[2]) ||
            !parse_count(line->field[3], 100000, &shapes) ||
            !parse_real(line->field[4], &loss->mean) || !parse_real(line->field[5], &loss->p95) ||
            !parse_real(line->field[6], &loss->worst))
        return what;
    loss->shapes = (unsigned) shapes;
    winners->num_losses++;
    return NULL;
}

static const char *parse_fact(const struct line *line, struct winners *winners)
{
    long value;
    if (line->num != 3 || !parse_count(line->field[2], LONG_MAX, &value))
        return "a fact has a name and a number";
    const int fact = word_find(fact_names, NUM_FACTS, line->field[1], strlen(line->field[1]));
    if (fact < 0)
        return "unknown fact";
    winners->facts.value[fact] = value;
    winners->has_facts = true;
    return NULL;
}

bool winners_is_name(const char *name)
{
    static const char allowed[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return *name && strlen(name) < 64 && !name[strspn(name, allowed)];
}

/* Between |, of a text that is not empty. */
static bool has_empty_pattern(const char *patterns)
{
    const size_t length = strlen(patterns);
    return length > 0 &&
           (patterns[0] == '|' || patterns[length - 1] == '|' || strstr(patterns, "||"));
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
        { "verified", winners->verified, sizeof winners->verified },
        { "provenance", winners->provenance, sizeof winners->provenance },
    };
    long value;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(line->field[0], rows[i].word))
            return rows[i].to[0] ? "a row that is there already"
                 : line->num != 2 || !field_copy(rows[i].to, rows[i].bytes, line->field[1])
                         ? "expected one text, not too long"
                 : has_empty_pattern(winners->driver) || has_empty_pattern(winners->verified)
                         ? "a pattern of a driver is empty"
                 : rows[i].to == winners->name && !winners_is_name(winners->name)
                         ? "a bundle's name is made of letters, digits, . _ -"
                         : NULL;
    const bool is_vector = !strcmp(line->field[0], "vector");
    if (!is_vector && strcmp(line->field[0], "capability"))
        return "unknown row";
    uint32_t *to = is_vector ? &winners->vector : &winners->capability;
    if (*to)
        return "a row that is there already";
    if (line->num != 2 || !parse_count(line->field[1], 1024, &value))
        return is_vector ? "vector is a number" : "capability is a number";
    *to = (uint32_t) value;
    return NULL;
}

static const char *parse_line(const struct line *line, struct winners *winners,
        char error[FAMILY_ERROR_BYTES])
{
    if (!strcmp(line->field[0], "recipe") || !strcmp(line->field[0], "triangle"))
        return parse_recipe(line, winners, error);
    if (!strcmp(line->field[0], "time"))
        return parse_time(line, winners);
    if (!strcmp(line->field[0], "kind"))
        return parse_kind(line, winners);
    if (!strcmp(line->field[0], "pin"))
        return parse_pin(line, winners);
    if (!strcmp(line->field[0], "loss"))
        return parse_loss(line, winners);
    if (!strcmp(line->field[0], "fact"))
        return parse_fact(line, winners);
    return parse_text(line, winners);
}

/* The first recipe that is there before for the same kind of device, or NULL. */
static const struct winner *find_repeated(const struct winners *winners)
{
    for (unsigned i = 0; i < winners->num_recipes; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct winner *a = &winners->recipes[i], *b = &winners->recipes[j];
            if (a->precision == b->precision && a->triangle == b->triangle &&
                    a->kinds == b->kinds && config_equal(&a->config, &b->config))
                return a;
        }
    return NULL;
}

bool winners_parse(const char *text, struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    struct line line;
    unsigned number = 0;
    *winners = (struct winners){ .num_recipes = 0 };
    facts_minimal(&winners->facts);
    for (const char *p = text; *p;) {
        char cause[FAMILY_ERROR_BYTES];
        const char *what = NULL;
        number++;
        if (!line_cut(&p, line.bytes, sizeof line.bytes) ||
                (line.num = line_split(line.bytes, line.field, MAX_FIELDS)) > MAX_FIELDS)
            what = "too long";
        else if (number == 1)
            what = line.num == 2 && !strcmp(line.field[0], "kiln-winners") &&
                                   !strcmp(line.field[1], "4")
                         ? NULL
                         : "not a kiln-winners file, version 4";
        else if ((line.num > 1 || line.field[0][0]) && line.field[0][0] != '#')
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
    const struct winner *repeated = find_repeated(winners);
    if (repeated) {
        char config[CONFIG_TEXT_BYTES];
        config_format(&repeated->config, config);
        snprintf(error, FAMILY_ERROR_BYTES, "a recipe that is there already: %s %.180s",
                repeated->precision->name, config);
        return false;
    }
    return true;
}

static void format_head(const struct winners *w, struct text *text)
{
    text_add(text, "kiln-winners\t4\nbundle\t%s\n", w->name);
    if (w->platform[0])
        text_add(text, "platform\t%s\n", w->platform);
    if (w->device[0])
        text_add(text, "device\t%s\n", w->device);
    if (w->driver[0])
        text_add(text, "driver\t%s\n", w->driver);
    if (w->verified[0])
        text_add(text, "verified\t%s\n", w->verified);
    if (w->vector)
        text_add(text, "vector\t%" PRIu32 "\n", w->vector);
    if (w->capability)
        text_add(text, "capability\t%" PRIu32 "\n", w->capability);
    if (w->provenance[0])
        text_add(text, "provenance\t%s\n", w->provenance);
    for (int i = 0; i < NUM_FACTS; i++)
        text_add(text, "fact\t%s\t%ld\n", fact_names[i], w->facts.value[i]);
}

static void format_times(const struct winners *w, const struct precision *precision,
        struct text *text)
{
    const struct winner *winner;
    for (int i = 0; (winner = winners_recipe(w, precision, i)); i++) {
        if (!winner->is_timed)
            continue;
        text_add(text, "time\t%s\t%d", precision->name, i);
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            text_add(text, "\t%.5g", (double) winner->time.coefficient[t]);
        text_add(text, "\n");
    }
}

static void format_kinds(const struct winners *w, const struct precision *precision,
        struct text *text)
{
    const struct winner *winner;
    for (int i = 0; (winner = winners_recipe(w, precision, i)); i++)
        if (winner->kinds)
            text_add(text, "kind\t%s\t%d\t%s\t%u\n", precision->name, i,
                    winner->kinds == KILN_KIND_CPU ? "cpu" : "other", winner->vector_floats);
}

static void format_pin(const struct winner_pin *pin, struct text *text)
{
    char batch[SHAPE_BATCH_BYTES];
    shape_format_batch(pin->shape, '\t', batch);
    text_add(text, "pin\t%s\t%zu\t%zu\t%zu%s", pin->precision->name, pin->m, pin->n, pin->k, batch);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        if (pin->recipe[pair] < 0)
            text_add(text, "\t-");
        else
            text_add(text, "\t%d", pin->recipe[pair]);
    text_add(text, "\n");
}

void winners_format(const struct winners *w, struct text *text)
{
    char config[CONFIG_TEXT_BYTES];
    format_head(w, text);
    for (unsigned i = 0; i < w->num_recipes; i++) {
        config_format(&w->recipes[i].config, config);
        text_add(text, "%s\t%s\t%s", w->recipes[i].triangle ? "triangle" : "recipe",
                w->recipes[i].precision->name, config);
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            text_add(text, "\t%016" PRIx64, w->recipes[i].hash[pair]);
        text_add(text, "\n");
    }
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
        format_times(w, &precisions[p], text);
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
        format_kinds(w, &precisions[p], text);
    for (unsigned i = 0; i < w->num_pins; i++)
        format_pin(&w->pins[i], text);
    for (unsigned i = 0; i < w->num_losses; i++) {
        const struct winner_loss *loss = &w->losses[i];
        text_add(text, "loss\t%s\t%s\t%u\t%.4f\t%.4f\t%.4f\n", loss->precision->name, loss->kind,
                loss->shapes, loss->mean, loss->p95, loss->worst);
    }
}

/* Whether any version at all matches one of the patterns between |. */
static bool takes_any(const char *patterns)
{
    for (const char *p = patterns; *p; p += strspn(p, "|")) {
        const size_t length = strcspn(p, "|");
        if (strspn(p, "*") >= length)
            return true;
        p += length;
    }
    return false;
}

const char *winners_wanting(const struct winners *winners)
{
    if (winners->verified[0] && !winners->driver[0])
        return "a row verified needs a row driver, of the versions that the bundle was tuned on";
    if (winners->verified[0] && (!winners->has_facts || !winners->platform[0]))
        return "a row verified needs the rows fact and platform: relatives are told by them";
    if (!kiln_compiles_in_process(winners->platform))
        return NULL;
    if (!winners->driver[0] || takes_any(winners->driver) || takes_any(winners->verified))
        return "the platform's compiler runs in the application's process: a row driver is needed, "
               "and it and the row verified must name the versions that were tried";
    return NULL;
}

const struct winner *winners_recipe(const struct winners *winners,
        const struct precision *precision, int i)
{
    for (unsigned r = 0; r < winners->num_recipes; r++)
        if (winners->recipes[r].precision == precision && i-- == 0)
            return &winners->recipes[r];
    return NULL;
}

struct problem winner_problem(const struct winner *winner, int pair)
{
    struct problem problem = problem_of_pair(winner->precision, pair);
    problem.triangle = winner->triangle;
    return problem;
}

const struct winner_loss *winners_loss(const struct winners *winners,
        const struct precision *precision, const char *kind)
{
    for (unsigned i = 0; i < winners->num_losses; i++)
        if (winners->losses[i].precision == precision && !strcmp(winners->losses[i].kind, kind))
            return &winners->losses[i];
    return NULL;
}

/* What mirrors is the same for all transposes. */
static int winner_pairs(const struct winner *winner)
{
    return winner->config.family->routine == KILN_ROUTINE_MIRROR ? 1 : NUM_PAIRS;
}

/* Adds the four recipes of each of a precision's winners, in order. */
static bool add_recipes(const struct winners *winners, const struct precision *precision,
        struct assembly *assembly, unsigned index[WINNERS_MAX_RECIPES][NUM_PAIRS],
        char error[FAMILY_ERROR_BYTES])
{
    const struct winner *winner;
    for (int i = 0; (winner = winners_recipe(winners, precision, i)); i++)
        for (int pair = 0; pair < winner_pairs(winner); pair++) {
            const struct problem problem = winner_problem(winner, pair);
            if (!assembly_add_for(assembly, &winner->config, &problem, winner->kinds,
                        winner->vector_floats, &index[i][pair], error))
                return false;
            if (winner->is_timed && !assembly_time(assembly, index[i][pair], &winner->time)) {
                snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
                return false;
            }
        }
    return true;
}

/* Adds the pins of a precision to those of all. */
static unsigned add_pins(const struct winners *winners, const struct precision *precision,
        unsigned index[WINNERS_MAX_RECIPES][NUM_PAIRS], struct kiln_pin *pins, unsigned num)
{
    for (unsigned i = 0; i < winners->num_pins; i++) {
        const struct winner_pin *from = &winners->pins[i];
        if (from->precision != precision)
            continue;
        pins[num] = (struct kiln_pin){ .precision = (uint8_t) precision->id,
            .m = (uint32_t) from->m,
            .n = (uint32_t) from->n,
            .k = (uint32_t) from->k,
            .batch = (uint32_t) shape_members(from->shape) };
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            pins[num].recipe[pair] = (uint16_t) (from->recipe[pair] < 0
                                                         ? KILN_NO_RECIPE
                                                         : index[from->recipe[pair]][pair]);
        num++;
    }
    return num;
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
    return (struct kiln_device_traits){
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
    unsigned index[WINNERS_MAX_RECIPES][NUM_PAIRS], num_pins = 0;
    struct kiln_pin pins[WINNERS_MAX_PINS];
    if (!assembly_init(assembly, winners->name, &winners->facts)) {
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
        return false;
    }
    assembly->bundle.provenance = arena_string(&assembly->arena, winners->provenance);
    assembly->bundle.match = (struct kiln_match){
        .platform = optional(&assembly->arena, winners->platform),
        .device = optional(&assembly->arena, winners->device),
        .driver = optional(&assembly->arena, winners->driver),
        .verified = optional(&assembly->arena, winners->verified),
        .native_vector_float = winners->vector,
        .compute_capability = winners->capability,
    };
    if (winners->has_facts && winners->platform[0])
        assembly->bundle.traits = traits_of(&winners->facts);
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        if (!add_recipes(winners, &precisions[i], assembly, index, error))
            return false;
        else
            num_pins = add_pins(winners, &precisions[i], index, pins, num_pins);
    return !num_pins || assembly_pins(assembly, pins, num_pins) || out_of_memory(error);
}

/* The hash of what a program says. False when out of memory. */
static bool hash_program(const struct assembly *assembly, unsigned program, uint64_t *hash)
{
    char *text = pool_text(&assembly->bundle.pool, &assembly->programs[program]);
    const bool ok = text != NULL;
    if (ok)
        *hash = tokens_hash(text);
    free(text);
    return ok;
}

/* What is done with the hash of what a recipe renders to now. */
typedef void with_hash(struct winner *winner, int pair, uint64_t hash);

static bool render_all(struct winners *winners, with_hash *use, char error[FAMILY_ERROR_BYTES])
{
    struct assembly assembly;
    bool ok = assembly_init(&assembly, winners->name, &winners->facts);
    for (unsigned i = 0; i < winners->num_recipes && ok; i++)
        for (int pair = 0; pair < NUM_PAIRS && ok; pair++) {
            struct winner *winner = &winners->recipes[i];
            const struct problem problem = winner_problem(winner, pair);
            unsigned at;
            uint64_t hash;
            ok = assembly_add(&assembly, &winner->config, &problem, &at, error);
            if (ok && !hash_program(&assembly, assembly.recipes[at].program, &hash))
                ok = out_of_memory(error);
            if (ok)
                use(winner, pair, hash);
        }
    assembly_free(&assembly);
    return ok;
}

static void take_hash(struct winner *winner, int pair, uint64_t hash)
{
    winner->hash[pair] = hash;
}

static void compare_hash(struct winner *winner, int pair, uint64_t hash)
{
    winner->is_changed[pair] = winner->hash[pair] && winner->hash[pair] != hash;
}

bool winners_rehash(struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    return render_all(winners, take_hash, error);
}

bool winners_find_changed(struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    return render_all(winners, compare_hash, error);
}

void winners_comment(const struct winners *winners, struct text *text)
{
    text_add(text, " *\n * Bundle %s%s%s\n", winners->name, winners->provenance[0] ? ": " : "",
            winners->provenance);
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        const struct winner_loss *loss = winners_loss(winners, &precisions[i], "all");
        if (loss)
            text_add(text,
                    " * %s: %.1f %% slower than the best recipe known, in the geometric "
                    "mean of %u\n *     measured shapes that were used for nothing else.\n",
                    loss->precision->name, 100 * (loss->mean - 1), loss->shapes);
    }
}
