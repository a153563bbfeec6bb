/* text.c: a bounded text builder, for log messages and kiln_gemm_explain.
 *
 * What does not fit is dropped and remembered in `truncated`; the text stays terminated.
 */
#include "internal.h"

#include <string.h>

void kiln_text_begin(struct kiln_text *text, char *data, size_t size)
{
    text->data = data;
    text->size = size;
    text->length = 0;
    text->truncated = false;
    if (size > 0) {
        data[0] = '\0';
    }
}

void kiln_text_add(struct kiln_text *text, const char *string)
{
    size_t length = strlen(string);
    if (text->length >= text->size) { /* its size is 0 */
        text->truncated = text->truncated || length > 0;
        return;
    }
    size_t room = text->size - text->length - 1;
    if (length > room) {
        length = room;
        text->truncated = true;
    }
    memcpy(text->data + text->length, string, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void kiln_text_add_number(struct kiln_text *text, uint64_t number)
{
    char digits[3 * sizeof number + 1];
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    do {
        *--first = (char) ('0' + number % 10);
        number /= 10;
    } while (number > 0);
    kiln_text_add(text, first);
}
