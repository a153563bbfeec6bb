/* json.h: every mode's result as JSON. One document holds what one run of the program measured. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>

#include "compare.h"
#include "errors.h"
#include "first_result.h"
#include "overhead.h"
#include "triangles.h"

/* What was measured; a NULL part is left out of the document. */
struct json_document {
    const struct device *device;
    const struct options *options;
    const struct peer *peers;          /* of a comparison or of errors */
    size_t num_peers;
    const struct comparison *comparison;
    const struct overhead *overhead;
    const struct first_result *first_result;
    const struct errors_table *errors;
    const struct triangles *triangles;
};

/* Writes the document; false with a message on stderr. */
bool json_write(const char *path, const struct json_document *document);

#endif
