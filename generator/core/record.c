/* record.c: journals to and from text. */
#include "record.h"
#include "assemble.h"
#include "fields.h"
#include "hash.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const record_kind_words[NUM_RECORD_KINDS] = {
#define RECORD_KIND(name, word) word,
    RECORD_KINDS
#undef RECORD_KIND
};

enum {
    NUM_FIELDS = 13, BATCH_FIELD = 6, HEAD_FIELDS = 4, FORMAT_VERSION = 1,
    METHOD_VERSION = 10                /* counts up when verification or timing changes */
};

/* What a table of x-macros says, as one text. */
static const char language[] =
#define STORAGE(...) #__VA_ARGS__ "\n"
#define PRECISION(...) #__VA_ARGS__ "\n"
#include "precisions.inc"
#undef STORAGE
#undef PRECISION
#define FACT(...) #__VA_ARGS__ "\n"
#include "facts.inc"
#undef FACT
    ;

/* The first preset of a family that is legal for a problem, assembled for a device that has
 * everything. */
static uint64_t hash_sample(uint64_t hash, const struct family *family,
        const struct problem *problem)
{
    struct assembly assembly;
    struct device_facts facts;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    const char *reason;
    unsigned index;
    facts_ample(&facts);
    for (unsigned i = 0; i < family->num_presets; i++) {
        if (!config_parse(family->presets[i].config, &config, error) ||
                !config_legal(&config, problem, &facts, &reason))
            continue;
        if (assembly_init(&assembly, family->name, &facts) &&
                assembly_add(&assembly, &config, problem, &index, error)) {
            assembly.bundle.format = 0; /* it says how times are kept, not what is timed */
            hash = hash_bundle(hash, &assembly.bundle);
        }
        assembly_free(&assembly);
        return hash;
    }
    return hash;
}

/* All that measurements depend on: tables, templates, and, for the code between them, what is
 * assembled of each family for each problem. */
static uint64_t hash_generator(void)
{
    const unsigned char versions[] = { FORMAT_VERSION, METHOD_VERSION };
    uint64_t hash = hash_text(kiln_hash(KILN_HASH_BEGIN, versions, sizeof versions), language);
    for (size_t i = 0; i < num_template_files; i++)
        hash = hash_text(hash_text(hash, template_files[i].name), template_files[i].text);
    for (size_t i = 0; i < num_families; i++) {
        hash = hash_family(hash, families[i]);
        for (size_t p = 0; p < KILN_NUM_PRECISIONS * NUM_PAIRS; p++) {
            const struct problem problem = problem_of_pair(&precisions[p / NUM_PAIRS],
                    (int) (p % NUM_PAIRS));
            hash = hash_sample(hash, families[i], &problem);
        }
    }
    return hash;
}

uint64_t record_generator_hash(void)
{
    static uint64_t hash;
    if (!hash)
        hash = hash_generator();
    return hash;
}

uint32_t record_checksum(const char *bytes, size_t len)
{
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char) bytes[i]) * 0x01000193u;
    return hash;
}

void record_format_head(const struct journal_head *head, struct text *text)
{
    text_add(text, "kiln-journal\t%d\n", FORMAT_VERSION);
    text_add(text, "device\t%s\t%s\t%s\n", head->facts.platform, head->facts.device,
            head->facts.driver);
    text_add(text, "generator\t%016" PRIx64 "\n", head->generator);
    for (int i = 0; i < NUM_FACTS; i++)
        text_add(text, "fact\t%s\t%ld\n", fact_names[i], head->facts.value[i]);
    if (head->shard.num)
        text_add(text, "shard\t%u/%u\n", head->shard.index, head->shard.num);
    if (head->merged)
        text_add(text, "merged\t%u\n", head->merged);
    text_add(text, "begin\n");
}

bool record_format(const struct record *r, char line[RECORD_LINE_BYTES])
{
    char config[CONFIG_TEXT_BYTES], batch[SHAPE_BATCH_BYTES];
    config_format(&r->config, config);
    shape_format_batch(r->shape, '\t', batch);
    int len = snprintf(line, RECORD_LINE_BYTES,
            "%s\t%s\t%s\t%zu\t%zu\t%zu%s\t%s\t%s\t%.9g\t%.3g\t%.6f\t%s\t",
            record_kind_words[r->kind], r->precision->name, pair_names[r->pair], r->m, r->n, r->k,
            batch, config, r->outcome, r->seconds, r->spread, r->cost, r->message);
    if (len < 0 || len >= RECORD_LINE_BYTES - 10)
        return false;
    snprintf(line + len, (size_t) (RECORD_LINE_BYTES - len), "%08" PRIx32 "\n",
            record_checksum(line, (size_t) len));
    return true;
}

static bool parse_size(const char *field, size_t *value)
{
    char *end;
    errno = 0;
    const unsigned long long v = strtoull(field, &end, 10);
    *value = (size_t) v;
    return end != field && !*end && !errno && *field != '-';
}

/* Takes the field of a batch out, if the row has one. */
static bool take_batch(char *field[NUM_FIELDS + 1], unsigned *num, size_t *batch)
{
    *batch = 0;
    if (*num != NUM_FIELDS + 1 || !shape_parse_batch(field[BATCH_FIELD], batch))
        return *num == NUM_FIELDS;
    --*num;
    memmove(&field[BATCH_FIELD], &field[BATCH_FIELD + 1], (*num - BATCH_FIELD) * sizeof field[0]);
    return true;
}

/* A row of results; the checksum covers everything up to and with the last tab. */
static const char *parse_row(char *line, struct record *r, char error[FAMILY_ERROR_BYTES])
{
    char *field[NUM_FIELDS + 1];
    const char *last = strrchr(line, '\t');
    char *end;
    if (!last)
        return "not a row";
    const size_t len = (size_t) (last + 1 - line);
    const unsigned long sum = strtoul(last + 1, &end, 16);
    if (*end || strlen(last + 1) != 8 || sum != record_checksum(line, len))
        return "wrong checksum";
    unsigned num = line_split(line, field, NUM_FIELDS + 1);
    if (!take_batch(field, &num, &r->batch))
        return "wrong number of fields";
    const int kind = word_find(record_kind_words, NUM_RECORD_KINDS, field[0], strlen(field[0]));
    r->precision = precision_find(field[1]);
    r->pair = pair_find(field[2]);
    if (kind < 0 || !r->precision || r->pair < 0)
        return "unknown kind, precision or transposes";
    r->kind = (enum record_kind) kind;
    if (!parse_size(field[3], &r->m) || !parse_size(field[4], &r->n) ||
            !parse_size(field[5], &r->k))
        return "a bad extent";
    if (!config_parse(field[6], &r->config, error))
        return error;
    if (!field_copy(r->outcome, sizeof r->outcome, field[7]) ||
            !field_real(field[8], &r->seconds) || !field_real(field[9], &r->spread) ||
            !field_real(field[10], &r->cost) ||
            !field_copy(r->message, sizeof r->message, field[11]))
        return "a bad result";
    return NULL;
}

static bool parse_count(const char *text, unsigned *count)
{
    size_t value;
    const bool ok = parse_size(text, &value) && value >= 1 && value <= UINT_MAX;
    *count = ok ? (unsigned) value : 0;
    return ok;
}

static const char *parse_fact(char *const *field, struct journal_head *head)
{
    const int fact = word_find(fact_names, NUM_FACTS, field[1], strlen(field[1]));
    if (fact < 0)
        return "unknown fact";
    return field_long(field[2], &head->facts.value[fact]) ? NULL : "a fact is no whole number";
}

static const char *parse_generator(const char *field, uint64_t *hash)
{
    const bool ok = strlen(field) == 16 && !field[strspn(field, "0123456789abcdef")];
    *hash = ok ? strtoull(field, NULL, 16) : 0;
    return ok ? NULL : "the generator's hash has not 16 digits";
}

static const char *parse_head(char *line, unsigned number, struct journal_head *head)
{
    char *field[HEAD_FIELDS];
    const unsigned num = line_split(line, field, HEAD_FIELDS);
    if (number == 1)
        return num == 2 && !strcmp(field[0], "kiln-journal") && atoi(field[1]) == FORMAT_VERSION
                     ? NULL
                     : "not a kiln-journal, version 1";
    if (num == 4 && !strcmp(field[0], "device"))
        return field_copy(head->facts.platform, sizeof head->facts.platform, field[1]) &&
                               field_copy(head->facts.device, sizeof head->facts.device,
                                       field[2]) &&
                               field_copy(head->facts.driver, sizeof head->facts.driver, field[3])
                     ? NULL
                     : "a device's name is too long";
    if (num == 2 && !strcmp(field[0], "generator"))
        return parse_generator(field[1], &head->generator);
    if (num == 3 && !strcmp(field[0], "fact"))
        return parse_fact(field, head);
    if (num == 2 && !strcmp(field[0], "shard"))
        return shard_parse(field[1], &head->shard) ? NULL : "not a shard";
    if (num == 2 && !strcmp(field[0], "merged"))
        return parse_count(field[1], &head->merged) ? NULL : "not a number of journals";
    return "unknown row in the head";
}

bool records_add(struct records *records, const struct record *record)
{
    if (records->num == records->capacity) {
        const size_t capacity = records->capacity ? records->capacity * 2 : 64;
        struct record *rows = realloc(records->rows, capacity * sizeof *rows);
        if (!rows)
            return false;
        records->rows = rows;
        records->capacity = capacity;
    }
    records->rows[records->num++] = *record;
    return true;
}

void records_free(struct records *records)
{
    free(records->rows);
    *records = (struct records){ .num = 0 };
}

static bool refuse(unsigned number, const char *what, char error[FAMILY_ERROR_BYTES])
{
    snprintf(error, FAMILY_ERROR_BYTES, "line %u: %.200s", number, what);
    return false;
}

/* Is the line at p torn: was its end not written? */
static bool is_torn(const char *p)
{
    return !strchr(p, '\n');
}

enum journal_state journal_head_parse(const char *text, struct journal_head *head, size_t *bytes,
        unsigned *lines, char error[FAMILY_ERROR_BYTES])
{
    char line[RECORD_LINE_BYTES];
    *head = (struct journal_head){ .generator = 0 };
    *bytes = 0;
    for (const char *p = text; *p;) {
        if (is_torn(p))
            return JOURNAL_EMPTY;
        const char *what = line_cut(&p, line, sizeof line) ? NULL : "too long";
        ++*lines;
        if (!what && !strcmp(line, "begin")) {
            *bytes = (size_t) (p - text);
            return JOURNAL_BEGUN;
        }
        const bool ours = !strncmp(line, "kiln-journal\t", 13) || *lines > 1;
        if (!what)
            what = parse_head(line, *lines, head);
        if (what) {
            refuse(*lines, what, error);
            return ours ? JOURNAL_UNFIT : JOURNAL_FOREIGN;
        }
    }
    return JOURNAL_EMPTY;
}

static bool parse_rows(const char *text, unsigned number, struct records *records,
        char error[FAMILY_ERROR_BYTES])
{
    char line[RECORD_LINE_BYTES], cause[FAMILY_ERROR_BYTES];
    for (const char *p = text + records->whole_bytes; *p;) {
        struct record record = { .kind = RECORD_SEARCH };
        if (is_torn(p))
            return true;
        number++;
        const char *what = line_cut(&p, line, sizeof line) ? parse_row(line, &record, cause)
                                                           : "too long";
        if (!what && !records_add(records, &record))
            what = "out of memory";
        if (what)
            return refuse(number, what, error);
        records->whole_bytes = (size_t) (p - text);
    }
    return true;
}

bool records_parse(const char *text, struct records *records, char error[FAMILY_ERROR_BYTES])
{
    unsigned lines = 0;
    *records = (struct records){ .num = 0 };
    const enum journal_state state = journal_head_parse(text, &records->head, &records->whole_bytes,
            &lines, error);
    if (state == JOURNAL_EMPTY)
        return true;
    if (state == JOURNAL_BEGUN && parse_rows(text, lines, records, error))
        return true;
    records_free(records);
    return false;
}

const char *journal_difference(const struct journal_head *a, const struct journal_head *b)
{
    if (strcmp(a->facts.platform, b->facts.platform))
        return "platform";
    if (strcmp(a->facts.device, b->facts.device))
        return "device";
    if (strcmp(a->facts.driver, b->facts.driver))
        return "driver";
    for (int i = 0; i < NUM_FACTS; i++)
        if (i != FACT_CLOCK_MHZ && a->facts.value[i] != b->facts.value[i])
            return fact_names[i];
    return a->generator != b->generator ? "generator" : NULL;
}

bool record_is_timed(const struct record *r)
{
    return r->seconds > 0 && isfinite(r->seconds) &&
           (!strcmp(r->outcome, "ok") || !strcmp(r->outcome, "slow"));
}

bool record_is_late(const struct record *r)
{
    return !strcmp(r->outcome, "late");
}

bool record_is_failure(const struct record *r)
{
    return strcmp(r->outcome, "ok") && strcmp(r->outcome, "slow") && !record_is_late(r);
}

bool record_same_evaluation(const struct record *a, const struct record *b)
{
    return a->kind == b->kind && a->precision == b->precision && a->pair == b->pair &&
           shape_equal(a->shape, b->shape) && config_equal(&a->config, &b->config);
}
