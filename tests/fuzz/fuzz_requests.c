/* fuzz_requests.c: any lines on a trial process's standard input are no request, or one within its
 * limits that is the same when it is written and read again. */
#include "fuzz.h"
#include "tune/protocol.h"

#include <stdio.h>

const char *const fuzz_seeds[] = {
    "measure s 0 1 96 96 96 0 0.00125 2\nconfig packed TM=8 NV=2\nconfig direct\n",
    "edges d 1 1 1\nconfig tiled\n", "build h 0 0 1\nconfig nothing XY=1\n", "canary\n",
    "measure s 0 0 18446744073709551615 1 1 5 0 32\n", "measure s 2 0 1 1 1 0 0 1\n",
    "edges s 0 0 33\n", "measure s 0 0 1 1 1 0 -1 1\n", "edges s 0 0 0\n", "", NULL,
};
const char *const fuzz_words[] = {
    "measure ", "edges ", "build ", "config ", "s ", "d ", "h ", " 0", " 1", " 32", " nan", " inf",
    "packed", " TM=4", "\n", " ", "\t", "+", NULL,
};

static void check_request(const char *line)
{
    char first[PROTOCOL_LINE_BYTES], second[PROTOCOL_LINE_BYTES];
    static struct trial_request request, again;
    if (!protocol_read_request(line, &request))
        return;
    abort_unless(request.num_configs >= 1 && request.num_configs <= TRIAL_MAX_CONFIGS);
    abort_unless(request.problem.precision && request.incumbent >= 0);
    protocol_write_request(&request, request.num_configs, first);
    abort_unless(protocol_read_request(first, &again) && again.kind == request.kind);
    abort_unless(again.m == request.m && again.n == request.n && again.k == request.k);
    abort_unless(again.num_configs == request.num_configs);
    protocol_write_request(&again, again.num_configs, second);
    abort_unless(!strcmp(first, second));
}

static void check_config(const char *line)
{
    char again[PROTOCOL_LINE_BYTES], error[FAMILY_ERROR_BYTES] = "";
    struct config config, same;
    if (!protocol_read_config(line, &config, error))
        return;
    if (!config.family) {
        abort_unless(fuzz_is_message(error, sizeof error));
        return;
    }
    protocol_write_config(&config, again);
    abort_unless(protocol_read_config(again, &same, error) && same.family);
    abort_unless(config_equal(&config, &same));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *next;
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        check_request(line);
        check_config(line);
    }
    free(text);
    return 0;
}
