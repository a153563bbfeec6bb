/* merge.c: see merge.h. */
#include "merge.h"
#include "record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3)))
static bool refuse(char error[MERGE_ERROR_BYTES], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, MERGE_ERROR_BYTES, format, args);
    va_end(args);
    return false;
}

/* ---- Heads ---- */

/* The value of a head that journal_difference names. */
static void describe(const struct journal_head *head, const char *what, char value[200])
{
    snprintf(value, 200, "'%s'",
            !strcmp(what, "platform") ? head->facts.platform
            : !strcmp(what, "device") ? head->facts.device
                                      : head->facts.driver);
    for (int i = 0; i < NUM_FACTS; i++)
        if (!strcmp(what, fact_names[i]))
            snprintf(value, 200, "%ld", head->facts.value[i]);
}

/* Whether a head goes with the first one. */
static bool check_head(const struct merge_part *parts, unsigned i, const struct journal_head *heads,
        char error[MERGE_ERROR_BYTES])
{
    const char *what = journal_difference(&heads[0], &heads[i]);
    char here[200], there[200];
    if (heads[i].generator != record_generator_hash())
        return refuse(error, "%s: made by another version of the kernels", parts[i].path);
    if (!what)
        return true;
    describe(&heads[i], what, here);
    describe(&heads[0], what, there);
    return refuse(error, "%s: made with another %s than %s: %s, not %s", parts[i].path, what,
            parts[0].path, here, there);
}

static bool check_shards(const struct merge_part *parts, unsigned num,
        const struct journal_head *heads, char error[MERGE_ERROR_BYTES])
{
    for (unsigned i = 1; i < num; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct shard *a = &heads[j].shard, *b = &heads[i].shard;
            if (a->num && b->num && a->num != b->num)
                return refuse(error, "%s is shard %u/%u and %s shard %u/%u: they overlap",
                        parts[j].path, a->index, a->num, parts[i].path, b->index, b->num);
            if (a->num && a->index == b->index)
                return refuse(error, "%s and %s are both shard %u/%u", parts[j].path, parts[i].path,
                        a->index, a->num);
        }
    return true;
}

static bool read_head(const struct merge_part *part, struct journal_head *head,
        char error[MERGE_ERROR_BYTES])
{
    char cause[FAMILY_ERROR_BYTES];
    size_t bytes;
    unsigned lines = 0;
    const enum journal_state state = journal_head_parse(part->text, head, &bytes, &lines, cause);
    if (state == JOURNAL_BEGUN)
        return true;
    return refuse(error, "%s: %s", part->path,
            state == JOURNAL_EMPTY ? "empty, or torn within its head" : cause);
}

/* The shards that no journal holds. */
static void note_missing(const struct journal_head *heads, unsigned num, struct text *notes)
{
    unsigned shards = 0, missing = 0;
    for (unsigned i = 0; i < num; i++)
        shards = heads[i].shard.num ? heads[i].shard.num : shards;
    for (unsigned s = 1; s <= shards; s++) {
        bool found = false;
        for (unsigned i = 0; i < num; i++)
            found = found || heads[i].shard.index == s;
        if (!found)
            text_add(notes, "%s %u", missing++ ? "," : "missing of the shards:", s);
    }
    if (missing)
        text_add(notes, " of %u; what they would have searched was not\n", shards);
}

/* ---- Rows ---- */

/* A failure of a finalist is worth knowing, wherever it was found. */
static bool is_kept(const struct record *row)
{
    return row->kind == RECORD_SEARCH || row->kind == RECORD_EDGES || !record_is_timed(row);
}

static bool add_rows(const struct merge_part *part, struct text *merged, struct text *notes,
        char error[MERGE_ERROR_BYTES])
{
    struct records records;
    char line[RECORD_LINE_BYTES], cause[FAMILY_ERROR_BYTES];
    size_t searched = 0;
    if (!records_parse(part->text, &records, cause))
        return refuse(error, "%s: %s", part->path, cause);
    for (size_t i = 0; i < records.num; i++) {
        const struct record *row = &records.rows[i];
        searched += row->kind == RECORD_SEARCH;
        if (is_kept(row) && record_format(row, line))
            text_add(merged, "%s", line);
    }
    if (!searched)
        text_add(notes, "%s: nothing was searched\n", part->path);
    if (part->text[records.whole_bytes])
        text_add(notes, "%s: its last row was torn and is left out\n", part->path);
    records_free(&records);
    return true;
}

bool merge_journals(const struct merge_part *parts, unsigned num, struct text *merged,
        struct text *notes, char error[MERGE_ERROR_BYTES])
{
    struct journal_head *heads = calloc(num, sizeof *heads);
    bool ok = heads || refuse(error, "out of memory");
    for (unsigned i = 0; ok && i < num; i++)
        ok = read_head(&parts[i], &heads[i], error) && check_head(parts, i, heads, error);
    ok = ok && check_shards(parts, num, heads, error);
    if (ok) {
        struct journal_head head = heads[0];
        head.shard = (struct shard){ .num = 0 };
        head.merged = num;
        record_format_head(&head, merged);
        note_missing(heads, num, notes);
    }
    for (unsigned i = 0; ok && i < num; i++)
        ok = add_rows(&parts[i], merged, notes, error);
    if (ok && (merged->failed || notes->failed))
        ok = refuse(error, "out of memory");
    free(heads);
    return ok;
}
