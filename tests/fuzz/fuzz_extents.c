/* fuzz_extents.c: any bytes as a file of shapes are refused with a message that names the file and
 * the line, or give shapes within their limits, which a file written from them gives again. */
#include "extents.h"
#include "fuzz.h"
#include "text.h"

#include <stdio.h>

const char *const fuzz_seeds[] = {
    "64 64 64\n", "64x64x64", "1 X 2\tx 3 # a comment\r\n\n#\n", "\xef\xbb\xbf 1 1 16777216\r\n",
    "0 1 1\n", "16777217 1 1\n", "1 2\n", "1 2 3 4\n", "", "1 2 3 half nt batch=7 weight=.5\n",
    "1x2x3 weight=1e9 tt d batch=1\n", "1 2 3 s h\n", "1 2 3 batch=0\n", NULL,
};
const char *const fuzz_words[] = {
    " ", "\t", "\r\n", "\n", "x", "X", " x ", "#", "\xef\xbb\xbf", "1 2 3\n", "16777216",
    " half", " s", " nt", " batch=", " weight=", "1e9", "-", ".", NULL,
};

static const char path[] = "shapes.txt";
static const char veto[] = "no more of these";

struct taken {
    struct text text;                  /* the shapes, a line each */
    size_t num, most;                  /* with `most` of them, no more are taken */
};

static const char *take(void *user, const struct extents_line *line)
{
    struct taken *taken = user;
    if (taken->num == taken->most)
        return veto;
    taken->num++;
    abort_unless(line->m >= 1 && line->n >= 1 && line->k >= 1);
    abort_unless(line->m <= EXTENTS_MOST && line->n <= EXTENTS_MOST && line->k <= EXTENTS_MOST);
    abort_unless(line->pair >= -1 && line->pair < NUM_PAIRS);
    abort_unless(line->batch != 1 && line->batch <= SHAPE_MOST_BATCH);
    abort_unless(line->weight > 0 && line->weight <= 1e9);
    text_add(&taken->text, "%zux%zux%zu", line->m, line->n, line->k);
    if (line->precision)
        text_add(&taken->text, " %s", line->precision->name);
    if (line->pair >= 0)
        text_add(&taken->text, " %s", pair_names[line->pair]);
    text_add(&taken->text, " batch=%zu weight=%.17g\n", shape_members(line->shape), line->weight);
    return NULL;
}

static void check_again(const struct taken *first)
{
    struct taken again = { .most = first->num };
    char error[EXTENTS_ERROR_BYTES];
    abort_unless(extents_parse_file(first->text.bytes, path, take, &again, error));
    abort_unless(again.num == first->num && !strcmp(again.text.bytes, first->text.bytes));
    text_free(&again.text);
}

/* What one option takes is what a file of one line takes. */
static void check_option(const char *text)
{
    struct shape shape;
    struct taken taken = { .most = 1 };
    char error[EXTENTS_ERROR_BYTES];
    const bool is_line = !text[strcspn(text, "#\n")] && strlen(text) < 200 && *text;
    const bool ok = extents_parse(text, &shape);
    if (is_line && ok)
        abort_unless(extents_parse_file(text, path, take, &taken, error) && taken.num == 1);
    text_free(&taken.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct taken taken = { .most = size % 8 ? SIZE_MAX : 1 };
    char error[EXTENTS_ERROR_BYTES] = "";
    char *text = fuzz_text(data, size);
    if (extents_parse_file(text, path, take, &taken, error)) {
        if (taken.num)
            check_again(&taken);
    } else
        abort_unless(
                fuzz_is_message(error, sizeof error) && !strncmp(error, "shapes.txt: line ", 17));
    check_option(text);
    text_free(&taken.text);
    free(text);
    return 0;
}
