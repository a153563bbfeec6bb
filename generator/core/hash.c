/* hash.c: see hash.h. */
#include "hash.h"
#include "emit.h"

#include <string.h>

uint64_t hash_text(uint64_t hash, const char *text)
{
    const unsigned char end = text ? 0xff : 0xfe;
    return kiln_hash(kiln_hash(hash, text, text ? strlen(text) : 0), &end, 1);
}

static uint64_t hash_long(uint64_t hash, long value)
{
    const int64_t wide = value;
    return kiln_hash(hash, &wide, sizeof wide);
}

static uint64_t hash_double(uint64_t hash, double value)
{
    return kiln_hash(hash, &value, sizeof value);
}

/* ---- Tables: all fields of a row ---- */

#define PARAM_FIELDS(F) F(name) F(values) F(default_value) F(meaning) F(origin) F(sibling)
#define RULE_FIELDS(F) F(expr) F(reason)
#define VALUE_FIELDS(F) F(name) F(expr)
#define STAGE_FIELDS(F) \
    F(name) F(when) F(template) F(bind) F(dims) F(tiles) F(locals) \
    F(local_bytes) F(args) F(prepares) F(role)
#define REGION_FIELDS(F) F(when) F(dims) F(rounds) F(element_bytes) F(holds) F(more) \
    F(each_part) F(each_member)
#define PRESET_FIELDS(F) \
    F(name) F(config) F(origin) F(figure.device) F(precision) F(figure.pair) \
    F(figure.extent) F(figure.gflops)
#define THREE(F, field) F(field[0]) F(field[1]) F(field[2])
#define FAMILY_FIELDS(F) \
    F(name) F(meaning) F(literature) F(triangles) F(routine) F(serves) F(prelude) \
    THREE(F, guard) THREE(F, align) \
    THREE(F, most) THREE(F, rest) THREE(F, tile) THREE(F, edges) F(unit_turns) F(shares) \
    F(as_is[0]) F(as_is[1]) F(batches) F(block[0]) F(block[1]) F(unit_parts) F(capability) F(ptx) \
    F(rank)
#define TABLE_FIELDS(F) F(params) F(rules) F(values) F(stages) F(regions) F(presets)
#define COUNT_FIELDS(F) \
    F(num_params) F(num_rules) F(num_values) F(num_stages) F(num_regions) F(num_presets)

#define SIZE(field) +sizeof row->field
#define HASH(field) \
    hash = _Generic(row->field, long: hash_long, double: hash_double, default: hash_text) \
            (hash, row->field);

/* Where a pointer has 64 bits rows have no padding, so the sizes of their fields add up. */
#define ALL_FIELDS(sizes) \
    _Static_assert(sizeof(void *) != 8 || 0 sizes == sizeof *row, "a field is not hashed")
#define HASHER(name, type, FIELDS) \
    static uint64_t name(uint64_t hash, const struct type *row) \
    { \
        ALL_FIELDS(FIELDS(SIZE)); \
        FIELDS(HASH) \
        return hash; \
    }

HASHER(hash_params, family_param, PARAM_FIELDS)
HASHER(hash_rules, family_rule, RULE_FIELDS)
HASHER(hash_values, family_value, VALUE_FIELDS)
HASHER(hash_stages, family_stage, STAGE_FIELDS)
HASHER(hash_regions, family_region, REGION_FIELDS)
HASHER(hash_presets, family_preset, PRESET_FIELDS)

#define HASH_TABLE(table) \
    for (unsigned i = 0; i < row->num_##table; i++) \
        hash = hash_##table(hash, &row->table[i]); \
    hash = hash_long(hash, row->num_##table);

uint64_t hash_family(uint64_t hash, const struct family *row)
{
    ALL_FIELDS(FAMILY_FIELDS(SIZE) TABLE_FIELDS(SIZE) COUNT_FIELDS(SIZE));
    FAMILY_FIELDS(HASH)
    TABLE_FIELDS(HASH_TABLE)
    return hash;
}

/* ---- Bundles ---- */

uint64_t hash_bundle(uint64_t hash, const struct kiln_bundle *bundle)
{
    struct text text = { 0 };
    emit_bundle(bundle, NULL, &text);
    hash = hash_text(hash, text.failed ? NULL : text.bytes);
    text_free(&text);
    return hash;
}
