/* settings.c: the environment variables, which README.md lists, and messages. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "blas.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kiln_blas_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void kiln_blas_say(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "kiln-blas: %s\n", line); /* one call, so that lines of threads do not mix */
}

/* NULL where it is unset or empty. */
static const char *text_of(const char *variable)
{
    const char *text = secure_getenv(variable);
    return text != NULL && *text != '\0' ? text : NULL;
}

/* A copy, which stays when the environment changes. */
static const char *copy_of(const char *variable)
{
    const char *text = text_of(variable);
    return text != NULL ? strdup(text) : NULL;
}

/* `otherwise` where it is unset, or no number from 0 to `most`. Where `most` is 1, it is a switch:
 * 0 or 1. */
static double number_of(const char *variable, double most, double otherwise)
{
    const char *text = text_of(variable);
    if (text == NULL) {
        return otherwise;
    }
    char *end;
    const double number = strtod(text, &end);
    if (*end == '\0' && number >= 0 && number <= most && (most > 1 || number == 0 || number == 1)) {
        return number;
    }
    kiln_blas_say("%s=%s is ignored: it is no number from 0 to %g", variable, text, most);
    return otherwise;
}

static void read_environment(void)
{
    settings.device = copy_of("KILN_BLAS_DEVICE");
    settings.fallback = copy_of("KILN_BLAS_FALLBACK");
    settings.least_ops = number_of("KILN_BLAS_LEAST_OPS", 1e18, -1);
    settings.zero_copy = (int) number_of("KILN_BLAS_ZERO_COPY", 1, -1);
    settings.verbose = number_of("KILN_BLAS_VERBOSE", 1, 0) > 0;
}

const struct kiln_blas_settings *kiln_blas_settings(void)
{
    pthread_once(&once, read_environment);
    return &settings;
}
