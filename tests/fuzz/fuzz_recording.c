/* fuzz_recording.c: any bytes as a recording are refused with a message, or give rows in order,
 * none twice, each of which is found again. */
#include "fuzz.h"
#include "literature/replay/recording.h"

#include <stdlib.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "MWG\tNWG\tSA\tsamples\tfirst_ms\tmin_ms\tmedian_ms\n"
    "16\t16\t0\t32\t59.9\t58.1\t60.8\n"
    "16\t32\t0\t32\t53.8\t53.8\t57.6\n-16\t32\t1\t32\t1e3\t2\tinf\n",
    "A\tmin_ms\r\n1\t2\r\n2\tnan\r\n",
    "kiln-journal\t1\nbegin\nsearch\tsingle\tnn\t96\t96\t96\t"
    "packed TM=8 NV=2\tok\t0.001\t0.01\t0.5\t\t00000000\n",
    "A\tmin_ms\n9223372036854775808\t1\n", "min_ms\n1\n", "", NULL,
};
const char *const fuzz_words[] = {
    "\t", "\n", "\r\n", "min_ms", "median_ms", "samples", "first_ms", "A", "B", "nan", "inf", "-",
    "kiln-journal\t1\nbegin\n", NULL,
};

static void check(const struct recording *recording)
{
    abort_unless(recording->num_rows > 0 && recording->best_cost > 0);
    for (size_t i = 0; i < recording->num_rows; i++) {
        const struct recording_row *row = &recording->rows[i];
        abort_unless(row->cost >= recording->best_cost);
        abort_unless(i == 0 || row->index > row[-1].index);
        abort_unless(recording_find(recording, &row->point) == row);
        abort_unless(recording_translate(recording, recording, row) == row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct recording recording;
    char error[RECORDING_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size);
    if (recording_parse(text, &recording, error))
        check(&recording);
    else
        abort_unless(fuzz_is_message(error, sizeof error) && !recording.rows);
    recording_free(&recording);
    free(text);
    return 0;
}
