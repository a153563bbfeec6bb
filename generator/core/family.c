/* family.c: registers of families and precisions; configurations to and from text and scope. */
#include "family.h"
#include "expr.h"
#include "fields.h"
#include "files.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAMILY(name) extern const struct family family_##name;
#include "../kernels/families.inc"
#undef FAMILY

const struct family *const families[] = {
#define FAMILY(name) &family_##name,
#include "../kernels/families.inc"
#undef FAMILY
};
const size_t num_families = sizeof families / sizeof families[0];

const char *const fact_names[NUM_FACTS] = {
#define FACT(name, meaning) #name,
#include "facts.inc"
#undef FACT
};
const char *const fact_meanings[NUM_FACTS] = {
#define FACT(name, meaning) meaning,
#include "facts.inc"
#undef FACT
};

void facts_minimal(struct device_facts *facts)
{
    *facts = (struct device_facts){ .platform = "any", .device = "any", .driver = "any" };
    facts->value[FACT_MAX_ITEMS] = 64;
    facts->value[FACT_MAX_ITEMS_X] = 64;
    facts->value[FACT_MAX_ITEMS_Y] = 64;
    facts->value[FACT_LOCAL_BYTES] = 32768;
    facts->value[FACT_UNITS] = 1;
    facts->value[FACT_VECTOR_BYTES] = 16;
    facts->value[FACT_REGISTER_BYTES] = 512;
    facts->value[FACT_HAS_DOUBLE] = 1;
}

void facts_ample(struct device_facts *facts)
{
    facts_minimal(facts);
    facts->value[FACT_MAX_ITEMS] = 1024;
    facts->value[FACT_MAX_ITEMS_X] = 1024;
    facts->value[FACT_MAX_ITEMS_Y] = 1024;
    facts->value[FACT_LOCAL_BYTES] = 2 << 20; /* a CPU's second cache */
    facts->value[FACT_VECTOR_BYTES] = 64;
    facts->value[FACT_REGISTER_BYTES] = 2048;
    facts->value[FACT_COMPUTE_CAPABILITY] = 90;
    facts->value[FACT_SHUFFLES] = 2;
    facts->value[FACT_IMAGE_PIXELS] = 1 << 27;
}

_Static_assert((int) FILES_ERROR_BYTES == (int) FAMILY_ERROR_BYTES, "one message");

/* A whole number; behind it the field or the line must end. */
static bool parse_fact(const char *field, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(field, &end, 10);
    return isdigit((unsigned char) *field) && !errno &&
           strchr("\t\r\n", *end); /* or the text's end */
}

/* Whether a word could only be the name of a fact. */
static bool is_fact_name(const char *name, size_t len)
{
    size_t same = 0;
    while (same < len &&
            ((name[same] >= 'A' && name[same] <= 'Z') ||
                    (same && (name[same] == '_' || isdigit((unsigned char) name[same])))))
        same++;
    return len > 0 && same == len;
}

bool facts_parse(const char *text, struct device_facts *facts, char error[FAMILY_ERROR_BYTES])
{
    unsigned num = 0;
    facts_minimal(facts);
    for (unsigned number = 1; *text; number++) {
        const char *name = text + (strncmp(text, "fact\t", 5) ? 0 : 5);
        const size_t len = strcspn(name, "\t\n");
        const int fact = name[len] == '\t' ? word_find(fact_names, NUM_FACTS, name, len) : -1;
        if (fact < 0 && name[len] == '\t' && is_fact_name(name, len)) {
            snprintf(error, FAMILY_ERROR_BYTES, "line %u: no fact '%.*s'", number,
                    (int) (len < 64 ? len : 64), name);
            return false;
        }
        if (fact >= 0 && !parse_fact(name + len + 1, &facts->value[fact])) {
            snprintf(error, FAMILY_ERROR_BYTES, "line %u: %s is not a whole number, 0 or more",
                    number, fact_names[fact]);
            return false;
        }
        num += fact >= 0;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (!num)
        snprintf(error, FAMILY_ERROR_BYTES, "no facts of a device in it");
    return num > 0;
}

bool facts_read(const char *path, struct device_facts *facts, char error[FAMILY_ERROR_BYTES])
{
    char cause[FAMILY_ERROR_BYTES];
    char *text = files_read(path, error);
    const bool ok = text && facts_parse(text, facts, cause);
    if (text && !ok)
        snprintf(error, FAMILY_ERROR_BYTES, "%.120s: %.120s", path, cause);
    free(text);
    return ok;
}

void facts_lessen(struct device_facts *facts, const struct device_facts *least)
{
    static const enum fact abilities[] = {
        FACT_MAX_ITEMS,
        FACT_MAX_ITEMS_X,
        FACT_MAX_ITEMS_Y,
        FACT_LOCAL_BYTES,
        FACT_VECTOR_BYTES,
        FACT_REGISTER_BYTES,
        FACT_HAS_DOUBLE,
        FACT_COMPUTE_CAPABILITY,
        FACT_IMAGE_PIXELS,
    };
    for (size_t i = 0; i < sizeof abilities / sizeof abilities[0]; i++)
        if (facts->value[abilities[i]] > least->value[abilities[i]])
            facts->value[abilities[i]] = least->value[abilities[i]];
    /* These are of one kind or another. */
    if (facts->value[FACT_SHUFFLES] != least->value[FACT_SHUFFLES])
        facts->value[FACT_SHUFFLES] = 0;
}

const struct family *family_find(const char *name)
{
    for (size_t i = 0; i < num_families; i++)
        if (!strcmp(families[i]->name, name))
            return families[i];
    return NULL;
}

const char *const pair_names[NUM_PAIRS] = { "nn", "nt", "tn", "tt" };

int pair_find(const char *name)
{
    for (int i = 0; i < NUM_PAIRS; i++)
        if (!strcmp(pair_names[i], name))
            return i;
    return -1;
}

struct problem problem_of_pair(const struct precision *precision, int pair)
{
    return (struct problem){ precision, pair / 2, pair % 2 };
}

int pair_of_problem(const struct problem *problem)
{
    return (int) kiln_pair(problem->transa, problem->transb);
}

struct kiln_product product_dense(const struct problem *problem, struct shape shape)
{
    struct kiln_product product = kiln_product_dense(problem->precision->id,
            (size_t) problem->precision->element_bytes, problem->transa, problem->transb, shape.m,
            shape.n, shape.k);
    if (shape.batch > 0) {
        product.batch_count = shape.batch;
        product.a.stride = shape.m * shape.k;
        product.b.stride = shape.k * shape.n;
        product.c.stride = shape.m * shape.n;
    }
    return product;
}

unsigned param_values(const struct family_param *param, long values[FAMILY_MAX_VALUES])
{
    unsigned num = 0;
    char *end;
    for (const char *p = param->values; num < FAMILY_MAX_VALUES; p = end) {
        const long value = strtol(p, &end, 10);
        if (end == p)
            break;
        values[num++] = value;
    }
    return num;
}

static bool param_allows(const struct family_param *param, long value)
{
    long values[FAMILY_MAX_VALUES];
    const unsigned num = param_values(param, values);
    for (unsigned i = 0; i < num; i++)
        if (values[i] == value)
            return true;
    return false;
}

void config_default(const struct family *family, struct config *config)
{
    *config = (struct config){ .family = family };
    for (unsigned i = 0; i < family->num_params; i++)
        config->value[i] = family->params[i].default_value;
}

static int param_index(const struct family *family, const char *name, size_t len)
{
    for (unsigned i = 0; i < family->num_params; i++)
        if (strlen(family->params[i].name) == len && !memcmp(family->params[i].name, name, len))
            return (int) i;
    return -1;
}

/* One "NAME=VALUE" of a configuration's text. */
static bool parse_assignment(const char *word, size_t len, struct config *config,
        char error[FAMILY_ERROR_BYTES])
{
    const char *equals = memchr(word, '=', len);
    if (!equals) {
        snprintf(error, FAMILY_ERROR_BYTES, "'%.*s' is not NAME=VALUE", (int) len, word);
        return false;
    }
    const int at = param_index(config->family, word, (size_t) (equals - word));
    if (at < 0) {
        snprintf(error, FAMILY_ERROR_BYTES, "family '%s' has no parameter '%.*s'",
                config->family->name, (int) (equals - word), word);
        return false;
    }
    char *end;
    errno = 0;
    const long value = strtol(equals + 1, &end, 10);
    const struct family_param *param = &config->family->params[at];
    if (errno || end == equals + 1 || end != word + len || !param_allows(param, value)) {
        snprintf(error, FAMILY_ERROR_BYTES, "'%.*s': %s is one of: %s", (int) len, word,
                param->name, param->values);
        return false;
    }
    config->value[at] = value;
    return true;
}

bool config_parse(const char *text, struct config *config, char error[FAMILY_ERROR_BYTES])
{
    const char *p = text + strspn(text, " ");
    size_t len = strcspn(p, " ");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int) (len < 63 ? len : 63), p);
    const struct family *family = family_find(name);
    if (!family) {
        snprintf(error, FAMILY_ERROR_BYTES, "no family '%s'", name);
        return false;
    }
    config_default(family, config);
    for (p += len; *(p += strspn(p, " ")); p += len) {
        len = strcspn(p, " ");
        if (!parse_assignment(p, len, config, error))
            return false;
    }
    return true;
}

void config_format(const struct config *config, char text[CONFIG_TEXT_BYTES])
{
    int at = snprintf(text, CONFIG_TEXT_BYTES, "%s", config->family->name);
    for (unsigned i = 0; i < config->family->num_params && at < CONFIG_TEXT_BYTES; i++)
        at += snprintf(text + at, (size_t) (CONFIG_TEXT_BYTES - at), " %s=%ld",
                config->family->params[i].name, config->value[i]);
}

bool config_equal(const struct config *a, const struct config *b)
{
    return a->family == b->family &&
           !memcmp(a->value, b->value, a->family->num_params * sizeof a->value[0]);
}

/* ---- Presets ---- */

/* The edit distance of two names (Wagner and Fischer 1974). */
static unsigned name_distance(const char *a, const char *b)
{
    enum { MOST = 63 };
    unsigned row[MOST + 1];
    const size_t len = strlen(b) < MOST ? strlen(b) : MOST;
    for (unsigned j = 0; j <= len; j++)
        row[j] = j;
    for (unsigned i = 1; *a; a++, i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= len; j++) {
            const unsigned replaced = diagonal + (*a != b[j - 1]);
            const unsigned moved = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = replaced < moved ? replaced : moved;
        }
    }
    return row[len];
}

const struct family_preset *preset_find(const char *name, struct config *config,
        char error[FAMILY_ERROR_BYTES])
{
    const struct family_preset *nearest = NULL;
    unsigned least = UINT_MAX;
    for (size_t f = 0; f < num_families && least; f++)
        for (unsigned i = 0; i < families[f]->num_presets && least; i++) {
            const unsigned distance = name_distance(name, families[f]->presets[i].name);
            if (distance < least) {
                least = distance;
                nearest = &families[f]->presets[i];
            }
        }
    if (least == 0)
        return config_parse(nearest->config, config, error) ? nearest : NULL;
    if (nearest && least <= 1 + strlen(nearest->name) / 4)
        snprintf(error, FAMILY_ERROR_BYTES, "no preset '%.64s'; is '%s' meant?", name,
                nearest->name);
    else
        snprintf(error, FAMILY_ERROR_BYTES, "no preset '%.64s'; 'kiln-gen presets' lists them",
                name);
    return NULL;
}

bool preset_is_meant(const struct family_preset *preset, const struct precision *precision)
{
    return !preset->figure.device && preset->precision == precision->letter;
}

struct problem preset_problem(const struct family_preset *preset, const struct config *config,
        const struct device_facts *facts)
{
    static const char *const letters[] = { "s", "d", "h" };
    const struct family_figure *figure = &preset->figure;
    const char letter[] = { (char) preset->precision, '\0' };
    const int pair = figure->pair ? pair_find(figure->pair) : 0;
    const char *reason;
    for (int i = 0; !*letter && i < 3; i++) {
        const struct problem problem = problem_of_pair(precision_find(letters[i]), pair);
        if (config_legal(config, &problem, facts, &reason))
            return problem;
    }
    return problem_of_pair(precision_find(*letter ? letter : "s"), pair);
}

/* ---- Scope and rules ---- */

static bool scope_precision(struct scope *scope, const struct precision *precision)
{
    bool room = true;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        room = room && scope_set(scope, precisions[i].constant, &precisions[i] == precision);
    return room && scope_set(scope, "COMPLEX", kiln_precision_is_complex(precision->id));
}

/* Is the family for the precision in the scope? */
static bool serves_scope(const struct family *family, const struct scope *scope)
{
    const char *const serves = family->serves ? family->serves : "HALF || SINGLE || DOUBLE";
    struct expr_error e;
    int64_t value = 0;
    return expr_eval(serves, strlen(serves), scope, &value, &e) && value;
}

bool family_serves(const struct family *family, const struct precision *precision)
{
    struct scope scope;
    scope.num = scope.globals = scope.floor = 0;
    return scope_precision(&scope, precision) && serves_scope(family, &scope);
}

static bool scope_problem(struct scope *scope, const struct problem *problem)
{
    const struct precision *p = problem->precision;
    return scope_precision(scope, p) && scope_set(scope, "ELEM_BYTES", p->element_bytes) &&
           scope_set(scope, "REAL_BYTES", p->real_bytes) &&
           scope_set_text(scope, "T", p->element) && scope_set_text(scope, "R", p->real) &&
           scope_set_text(scope, "TC", kiln_precision_is_complex(p->id) ? p->element : p->real) &&
           scope_set(scope, "TA", problem->transa) && scope_set(scope, "TB", problem->transb) &&
           scope_set(scope, "TRIANGLE", problem->triangle) &&
           scope_set_text(scope, "STORED", problem->triangle ? "stored" : "N") &&
           scope_set_text(scope, "FACTORS",
                   kiln_precision_is_complex(p->id) ? "conj_a, alpha, alpha_imag, beta, beta_imag"
                                                    : "alpha, beta");
}

/* RV, the vector type, and I, the index type, follow from the family's VEC and INDEX. A vector of
 * complex elements holds their parts. */
static bool scope_types(struct scope *scope, const struct precision *precision)
{
    const struct scope_entry *vec = scope_find(scope, "VEC", 3);
    const struct scope_entry *index = scope_find(scope, "INDEX", 5);
    char type[32];
    const bool is_complex = kiln_precision_is_complex(precision->id);
    const int lanes = (vec ? (int) vec->value : 1) * (is_complex ? 2 : 1);
    if (lanes > 1)
        snprintf(type, sizeof type, "%s%d", precision->real, lanes);
    else
        snprintf(type, sizeof type, "%s", precision->real);
    return scope_set_text(scope, "RV", type) &&
           scope_set_text(scope, "I", index && index->value == 32 ? "int" : "long");
}

bool config_scope(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, struct scope *scope, char error[FAMILY_ERROR_BYTES])
{
    const struct family *family = config->family;
    bool room = true;
    scope->num = scope->globals = scope->floor = 0;
    for (int i = 0; i < NUM_FACTS; i++)
        room = room && scope_set(scope, fact_names[i], facts->value[i]);
    room = room && scope_problem(scope, problem);
    for (unsigned i = 0; i < family->num_params; i++)
        room = room && scope_set(scope, family->params[i].name, config->value[i]);
    for (unsigned i = 0; i < family->num_values && room; i++) {
        const struct family_value *v = &family->values[i];
        struct expr_error e;
        int64_t value;
        if (!expr_eval(v->expr, strlen(v->expr), scope, &value, &e)) {
            snprintf(error, FAMILY_ERROR_BYTES, "%s: %s: %s", family->name, v->name, e.what);
            return false;
        }
        room = scope_set(scope, v->name, value);
    }
    if (!room || !scope_types(scope, problem->precision)) {
        snprintf(error, FAMILY_ERROR_BYTES, "%s: too many names", family->name);
        return false;
    }
    return true;
}

bool config_legal(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, const char **reason)
{
    static const char broken[] = "the family's table is broken";
    struct scope scope;
    char error[FAMILY_ERROR_BYTES];
    *reason = broken;
    if (!config_scope(config, problem, facts, &scope, error))
        return false;
    if (!serves_scope(config->family, &scope)) {
        *reason = "the family is not for this precision";
        return false;
    }
    if (problem->triangle && !config->family->triangles) {
        *reason = "the family stores all of C";
        return false;
    }
    for (unsigned i = 0; i < config->family->num_rules; i++) {
        const struct family_rule *rule = &config->family->rules[i];
        struct expr_error e;
        int64_t holds = 0;
        if (!expr_eval(rule->expr, strlen(rule->expr), &scope, &holds, &e))
            return false;
        if (!holds) {
            *reason = rule->reason;
            return false;
        }
    }
    *reason = NULL;
    return true;
}

bool precision_is_there(const struct precision *precision, const struct device_facts *facts)
{
    const struct problem problem = { precision, false, false };
    if (precision->real_bytes == sizeof(double) && !facts->value[FACT_HAS_DOUBLE])
        return false;
    for (size_t f = 0; f < num_families; f++)
        for (unsigned i = 0; i < families[f]->num_presets && family_is_searched(families[f]); i++) {
            struct config config;
            char error[FAMILY_ERROR_BYTES];
            const char *reason;
            if (config_parse(families[f]->presets[i].config, &config, error) &&
                    config_legal(&config, &problem, facts, &reason))
                return true;
        }
    return false;
}

/* The value of an expression, 0 when it is missing; false when it is more than `most`. */
static bool guard_value(const struct family *family, const char *expr, const struct scope *scope,
        int64_t most, uint32_t *value, char error[FAMILY_ERROR_BYTES])
{
    struct expr_error e = { .what = "out of range" };
    int64_t v = 0;
    const bool ok = (!expr || expr_eval(expr, strlen(expr), scope, &v, &e)) && v >= 0 && v <= most;
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES, "%s: '%s': %s", family->name, expr, e.what);
    *value = (uint32_t) v;
    return ok;
}

bool family_guard(const struct family *family, const struct scope *scope, struct kiln_guard *guard,
        char error[FAMILY_ERROR_BYTES])
{
    uint16_t *const units[3] = { &guard->m, &guard->n, &guard->k };
    uint16_t *const aligns[3] = { &guard->a, &guard->b, &guard->c };
    bool ok = true;
    *guard = (struct kiln_guard){ .m = 0 };
    for (int i = 0; i < 3 && ok; i++) {
        uint32_t unit = 0, align = 0, rest = 0;
        ok = guard_value(family, family->guard[i], scope, UINT16_MAX, &unit, error) &&
             guard_value(family, family->align[i], scope, UINT16_MAX, &align, error) &&
             guard_value(family, family->most[i], scope, INT32_MAX, &guard->most[i], error) &&
             guard_value(family, family->rest[i], scope, UINT16_MAX, &rest, error);
        *units[i] = family->guard[i] ? (uint16_t) unit : 1;
        *aligns[i] = (uint16_t) align;
        guard->rest[i] = (uint16_t) rest;
    }
    return ok;
}

bool config_takes(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, struct shape shape)
{
    const struct kiln_product product = product_dense(problem, shape);
    struct kiln_guard guard;
    struct scope scope;
    char error[FAMILY_ERROR_BYTES];
    return config_scope(config, problem, facts, &scope, error) &&
           family_guard(config->family, &scope, &guard, error) &&
           kiln_guard_takes(&guard, &product);
}

int64_t config_rank(const struct config *config, const struct problem *problem,
        const struct device_facts *facts)
{
    const char *rank = config->family->rank;
    struct scope scope;
    struct expr_error e;
    char error[FAMILY_ERROR_BYTES];
    int64_t value = 0;
    if (rank && config_scope(config, problem, facts, &scope, error) &&
            !expr_eval(rank, strlen(rank), &scope, &value, &e))
        value = 0;
    return value;
}
