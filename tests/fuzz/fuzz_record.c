/* fuzz_record.c: any bytes as a journal are refused with a message, or give rows that say the same
 * when they are written and read again. */
#include "fuzz.h"
#include "journal_text.h"
#include "record.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "kiln-journal\t1\ndevice\tplatform\tdevice\tdriver\ngenerator\t0123456789abcdef\n"
    "fact\tMAX_ITEMS\t64\nfact\tHAS_DOUBLE\t1\nbegin\n",
    "kiln-journal\t1\nbegin\n"
    "search\tsingle\tnn\t96\t96\t96\tpacked TM=8 NV=2\tok\t0.001\t0.01\t0.5\t\t00000000\n"
    "edges\thalf\ttt\t0\t0\t0\tdirect\twrong\t0\t0\t1.5\tone: C[0][0] is nan\t00000000\n"
    "matrix\tdouble\ttn\t1024\t16\t512\ttiled INDEX=64\tok\t1e-3\t0\t0\t\t00000000\n"
    "held\tsingle\tnt\t18446744073709551615\t1\t1\tpacked\tok\tinf\tnan\t-1\t\t00000000\n",
    "kiln-journal\t1\nbegin\nsearch\tsingle\tnn\t96\t96\t96\tpac",
    "kiln-journal\t2\n", "begin\n", "", NULL,
};
const char *const fuzz_words[] = {
    "\t", "\n", "begin\n", "kiln-journal\t1\n", "search\t", "look\t", "edges\t", "matrix\t",
    "held\t", "generic\t", "fact\t", "shard\t1/2\n", "merged\t2\n", "generator\t", "device\t",
    "single", "nan", "inf", "-0", "<", "&amp;", NULL,
};

static void check_row(const struct record *row)
{
    char line[RECORD_LINE_BYTES];
    struct text text = { 0 };
    struct records again;
    char error[FAMILY_ERROR_BYTES];
    if (!record_format(row, line))
        return;
    text_add(&text, "kiln-journal\t1\nbegin\n%s", line);
    abort_unless(!text.failed && records_parse(text.bytes, &again, error));
    abort_unless(again.num == 1 && record_same_evaluation(row, &again.rows[0]));
    abort_unless(!strcmp(row->outcome, again.rows[0].outcome));
    records_free(&again);
    text_free(&text);
}

static void check_report(const char *journal)
{
    struct text page = { 0 };
    char error[FAMILY_ERROR_BYTES];
    abort_unless(report_html(journal, NULL, &page, error));
    text_free(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct records records;
    char error[FAMILY_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size);
    journal_text_repair(text);
    if (records_parse(text, &records, error)) {
        abort_unless(records.whole_bytes <= strlen(text));
        for (size_t i = 0; i < records.num; i++)
            check_row(&records.rows[i]);
        if (size % 4 == 0) /* seldom, as it takes long */
            check_report(text);
    } else
        abort_unless(fuzz_is_message(error, sizeof error) && !records.rows);
    records_free(&records);
    free(text);
    return 0;
}
