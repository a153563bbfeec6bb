/* fuzz_journal.c: a file of any bytes is refused as a journal and left as it was, or put aside
 * whole where that was asked for, or opened; then a row can be added, and the next run finds the
 * old rows and this one. */
#include "fuzz.h"
#include "journal_text.h"
#include "tune/journal.h"

#include <stdio.h>
#include <stdio_ext.h>
#include <unistd.h>

#define HEAD "kiln-journal\t1\ndevice\tP\tD\t1\ngenerator\t0123456789abcdef\nfact\tUNITS\t8\n"
#define ROW(kind, message) \
    kind "\tsingle\tnn\t96\t96\t96\tpacked TM=8 NV=2\tok\t0.01\t0.1\t1\t" message "\t00000000\n"

const char *const fuzz_seeds[] = {
    HEAD "begin\n" ROW("search", "") ROW("edges", "why") "search\tsing", HEAD "begin\n", HEAD,
    HEAD "shard\t1/2\nbegin\n" ROW("search", ""), HEAD "merged\t2\nbegin\n" ROW("search", ""),
    "kiln-journal\t2\n", "kiln-jour", "\x7f" "ELF\x02\x01\x01", "my notes\n", "", NULL,
};
const char *const fuzz_words[] = {
    "\t", "\n", "begin\n", "shard\t1/3\n", "merged\t3\n", "search\t", "edges\t", "generic\t", "ok",
    "nan", "kiln-journal\t1\n", "generator\t", "device\t", HEAD, NULL,
};

/* ---- Files ---- */

static char folder[128], path[160], old_path[168];

static void remove_folder(void)
{
    remove(path);
    remove(old_path);
    rmdir(folder);
}

/* In memory where that can be had. */
static void make_folder(void)
{
    static char buffer[4096];
    snprintf(folder, sizeof folder, "%s/kiln-fuzz-XXXXXX",
            access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    abort_unless(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/journal", folder);
    snprintf(old_path, sizeof old_path, "%s.old1", path);
    atexit(remove_folder);
    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
}

static void write_file(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    abort_unless(file && fwrite(data, 1, size, file) == size && !fclose(file));
}

/* Whether the file begins with the bytes, or, when it is to be whole, is these bytes. */
static bool file_is(const char *name, const void *data, size_t size, bool whole)
{
    uint8_t *bytes = malloc(size + 1);
    FILE *file = fopen(name, "rb");
    abort_unless(bytes && file);
    const size_t got = fread(bytes, 1, size + 1, file);
    const bool same = got >= size && (got == size || !whole) && !memcmp(bytes, data, size);
    fclose(file);
    free(bytes);
    return same;
}

/* ---- What a tuner does ---- */

/* The head that the tuner would write: now that of the input, now another one. */
static struct journal_head tuner_head(const char *text, bool same)
{
    struct journal_head head;
    char error[FAMILY_ERROR_BYTES];
    size_t bytes;
    unsigned lines = 0;
    if (same && journal_head_parse(text, &head, &bytes, &lines, error) == JOURNAL_BEGUN)
        return head;
    head = (struct journal_head){ .facts = { .platform = "P", .device = "D", .driver = "1" },
        .generator = 0x0123456789abcdef };
    head.facts.value[FACT_UNITS] = 8;
    return head;
}

/* What the tuner says on standard error of a file that it puts aside is dropped. */
static struct journal *open_quietly(const struct journal_head *head, bool set_aside,
        struct records *records, char error[FAMILY_ERROR_BYTES])
{
    struct journal *journal = journal_open(path, head, set_aside, records, error);
    __fpurge(stderr);
    return journal;
}

static void check_opened(struct journal *journal, const struct journal_head *head,
        struct records *records)
{
    struct record row = { .kind = RECORD_HELD,
        .precision = &precisions[0],
        .m = 1,
        .n = 2,
        .k = 3,
        .outcome = "ok",
        .seconds = 0.5 };
    struct records again;
    char error[FAMILY_ERROR_BYTES];
    config_default(families[0], &row.config);
    abort_unless(!journal_difference(&records->head, head));
    abort_unless(journal_append(journal, &row, 1, error));
    journal_close(journal);
    journal = journal_open(path, head, false, &again, error);
    abort_unless(journal && again.num == records->num + 1);
    for (size_t i = 0; i < records->num; i++)
        abort_unless(record_same_evaluation(&records->rows[i], &again.rows[i]));
    abort_unless(record_same_evaluation(&row, &again.rows[records->num]));
    journal_close(journal);
    records_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct records records;
    char error[FAMILY_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size);
    if (!folder[0])
        make_folder();
    journal_text_repair(text);
    write_file((const uint8_t *) text, size);
    const struct journal_head head = tuner_head(text, size % 3);
    const bool set_aside = size % 2;
    struct journal *journal = open_quietly(&head, set_aside, &records, error);
    const bool is_aside = !access(old_path, F_OK);
    if (is_aside)
        abort_unless(set_aside && journal && !records.num && file_is(old_path, text, size, true));
    else if (journal)
        abort_unless(file_is(path, text, records.whole_bytes, records.whole_bytes > 0));
    else
        abort_unless(fuzz_is_message(error, sizeof error) && file_is(path, text, size, true));
    if (journal)
        check_opened(journal, &head, &records);
    records_free(&records);
    remove(old_path);
    free(text);
    return 0;
}
