/* fuzz.h: what each fuzz_NAME.c gives to its driver, be that libFuzzer or driver.c. */
#ifndef KILN_TESTS_FUZZ_H
#define KILN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Feeds data to the code under test; aborts where a promise is broken. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Valid input to start from, NULL at the end. driver.c reads it; libFuzzer has its own corpus. */
extern const char *const fuzz_seeds[];

#endif
