/* fuzz_winners.c: any bytes as winners.tsv are refused with a message, or give winners that print
 * the same when they are printed and read again. */
#include "fuzz.h"
#include "winners.h"

#include <stdlib.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "kiln-winners\t4\nbundle\tname\nplatform\tP*\ndevice\t*\ndriver\t1\n"
    "verified\t2|3*\nvector\t16\nprovenance\ttext\n"
    "fact\tMAX_ITEMS\t64\nrecipe\tsingle\tdirect TM=4 VEC=4\t0\t1\tff\tffffffffffffffff\n"
    "recipe\tsingle\tpacked\t0\t0\t0\t0\n"
    "time\tsingle\t1\t5e6\t0.5\t1e-3\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1e18\n"
    "pin\tsingle\t64\t64\t64\t0\t1\t-\t1\nloss\tsingle\tall\t9\t1.0123\t1.05\t1.5\n",
    "kiln-winners\t4\n# a comment\n\nbundle\tname\nrecipe\thalf\ttiled\t0\t0\t0\t0",
    "kiln-winners\t4\nbundle\tname\npin\tsingle\t1\t1\t1\t-\t-\t-\t-\n",
    "kiln-winners\t1\n", "", NULL,
};
const char *const fuzz_words[] = {
    "\t", "\n", "kiln-winners\t4\n", "bundle\t", "platform\t", "device\t", "driver\t",
    "verified\t", "|", "vector\t", "provenance\t", "fact\t", "recipe\t", "time\t", "pin\t",
    "loss\t",
    "single", "packed ", "*", "-", "#", "nan", "inf", NULL,
};

/* Numbers lose digits once when they are printed, and no more after that. */
static void check(const struct winners *winners)
{
    static struct winners again;
    struct text first = { 0 }, second = { 0 };
    char error[FAMILY_ERROR_BYTES];
    winners_format(winners, &first);
    abort_unless(!first.failed && winners_parse(first.bytes, &again, error));
    winners_format(&again, &second);
    abort_unless(!second.failed && !strcmp(first.bytes, second.bytes));
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct winners winners;
    char error[FAMILY_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size);
    if (winners_parse(text, &winners, error))
        check(&winners);
    else
        abort_unless(fuzz_is_message(error, sizeof error));
    free(text);
    return 0;
}
