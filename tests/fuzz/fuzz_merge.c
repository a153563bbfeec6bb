/* fuzz_merge.c: any bytes as journals are not merged, for a reason that is said, or give a journal
 * that can be read, and in which a merge changes no more rows.
 *
 * A form feed ends one journal and starts the next.
 */
#include "fuzz.h"
#include "journal_text.h"
#include "merge.h"
#include "record.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_PARTS = 4 };

#define HEAD "kiln-journal\t1\ndevice\tP\tD\t1\ngenerator\t0123456789abcdef\nfact\tUNITS\t8\n"
#define ROW(kind, outcome) \
    kind "\tsingle\tnn\t96\t96\t96\tpacked TM=8 NV=2\t" outcome "\t0.01\t0.1\t1\twhy\t00000000\n"

const char *const fuzz_seeds[] = {
    HEAD "shard\t1/2\nbegin\n" ROW("search", "ok") "\f" HEAD "shard\t2/2\nbegin\n"
    ROW("search", "slow") ROW("edges", "ok") ROW("matrix", "ok") ROW("matrix", "wrong"),
    HEAD "begin\n" ROW("search", "ok") "search\tsing\f" HEAD "begin\n" ROW("look", "crash"),
    HEAD "shard\t2/3\nbegin\n\f" HEAD "shard\t2/3\nbegin\n", HEAD "merged\t2\nbegin\n", HEAD, "",
    NULL,
};
const char *const fuzz_words[] = {
    "\f", "\t", "\n", "begin\n", "shard\t1/3\n", "merged\t4294967295\n", "search\t", "edges\t",
    "matrix\t", "held\t", "generic\t", "ok", "wrong", "nan", HEAD, NULL,
};

/* Journals of other versions of the kernels are refused: these are of this one. */
static void put_generator(char *text)
{
    static const char start[] = "generator\t";
    char digits[17];
    char *at = strstr(text, start);
    if (!at || strcspn(at, "\n") != strlen(start) + 16)
        return;
    snprintf(digits, sizeof digits, "%016" PRIx64, record_generator_hash());
    memcpy(at + strlen(start), digits, 16);
}

static void check(struct text *merged)
{
    static const char begin[] = "\nbegin\n";
    struct records records;
    struct text again = { 0 }, notes = { 0 };
    char error[MERGE_ERROR_BYTES], cause[FAMILY_ERROR_BYTES];
    const struct merge_part part = { "merged", merged->bytes };
    abort_unless(records_parse(merged->bytes, &records, cause));
    abort_unless(records.whole_bytes == merged->len && records.head.merged > 0);
    abort_unless(!records.head.shard.num);
    abort_unless(merge_journals(&part, 1, &again, &notes, error));
    abort_unless(!strcmp(strstr(merged->bytes, begin), strstr(again.bytes, begin)));
    records_free(&records);
    text_free(&again);
    text_free(&notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct merge_part parts[MAX_PARTS];
    struct text merged = { 0 }, notes = { 0 };
    char error[MERGE_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size), *next = text;
    unsigned num = 0;
    for (; next && num < MAX_PARTS; num++) {
        parts[num] = (struct merge_part){ "part", next };
        next = strchr(next, '\f');
        if (next)
            *next++ = '\0';
        put_generator(parts[num].text);
        journal_text_repair(parts[num].text);
    }
    if (merge_journals(parts, num, &merged, &notes, error))
        check(&merged);
    else
        abort_unless(fuzz_is_message(error, sizeof error));
    text_free(&merged);
    text_free(&notes);
    free(text);
    return 0;
}
