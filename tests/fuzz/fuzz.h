/* fuzz.h: what each fuzz_NAME.c gives to its driver, be that libFuzzer or driver.c. */
#ifndef KILN_TESTS_FUZZ_H
#define KILN_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Feeds data to the code under test; aborts where a promise is broken. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Input to start from beside the corpus, and words that mean something to the reader; NULL at the
 * end of each. driver.c reads both; libFuzzer has its own options for them. */
extern const char *const fuzz_seeds[];
extern const char *const fuzz_words[];

static inline void abort_unless(bool condition)
{
    if (!condition)
        abort();
}

/* The input as a text, freed by the caller. A NUL byte in it ends the text early. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    abort_unless(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Whether a message was left where one fits. */
static inline bool fuzz_is_message(const char *message, size_t bytes)
{
    return message[0] && memchr(message, '\0', bytes);
}

#endif
