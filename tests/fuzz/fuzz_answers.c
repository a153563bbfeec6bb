/* fuzz_answers.c: any lines of a trial process are refused, or mean what a trial process says with
 * that line; a device that was heard of can be written to a journal and is found there again. */
#include "fuzz.h"
#include "record.h"
#include "tune/protocol.h"

#include <stdio.h>

const char *const fuzz_seeds[] = {
    "kiln-trial 2\nplatform Portable Computing Language\ndevice pthread\ndriver 3.1\nunit \n"
    "facts 4096 4096 4096 2097152 1 1 2 64 2048 1 2600 0 268435456 0\ncanary ok\n",
    "begin 0\nresult 0 ok 0.00123456789 0.01234 \nbegin 1\nresult 1 wrong 0 0 C[1][2] is 3, not 4\n"
    "done\n",
    "result 31 timing -1 inf a time of zero or less\nresult 1 late 0 0\n",
    "begin 32\n", "begin -1\n", "begin +0\n", "result 0 good 1 1 \n", "result 0 ok 1\n",
    "absent no OpenCL device was found\n", "", NULL,
};
const char *const fuzz_words[] = {
    "begin ", "result ", " ok ", " slow ", " illegal ", " crash ", "platform ", "device ",
    "driver ", "unit ", "facts ", "kiln-trial ", "done", "\n", " ", "\t", "\r", "0x1p3", "-nan",
    "+1", NULL,
};

/* Numbers lose digits when they are written, and no more after that. */
static void check_result(const char *line)
{
    char first[PROTOCOL_LINE_BYTES], second[PROTOCOL_LINE_BYTES];
    struct trial_result result, again;
    unsigned config, same;
    if (!protocol_read_result(line, TRIAL_MAX_CONFIGS, &config, &result))
        return;
    abort_unless(config < TRIAL_MAX_CONFIGS && result.outcome < NUM_TRIAL_OUTCOMES);
    abort_unless(memchr(result.message, '\0', sizeof result.message) != NULL);
    protocol_write_result(config, &result, first);
    abort_unless(protocol_read_result(first, config + 1, &same, &again) && same == config);
    abort_unless(!protocol_read_result(first, config, &same, &again));
    abort_unless(again.outcome == result.outcome && !strcmp(again.message, result.message));
    protocol_write_result(same, &again, second);
    abort_unless(!strcmp(first, second));
}

static void check_begin(const char *line)
{
    char again[PROTOCOL_LINE_BYTES];
    unsigned config;
    if (!protocol_read_begin(line, TRIAL_MAX_CONFIGS, &config))
        return;
    protocol_write_begin(config, again);
    abort_unless(config < TRIAL_MAX_CONFIGS && !strcmp(line, again));
}

static void check_facts(const struct device_facts *facts)
{
    struct journal_head head = { .facts = *facts }, again;
    struct device_facts heard = { .value = { 0 } };
    struct text text = { 0 };
    char line[PROTOCOL_LINE_BYTES], error[FAMILY_ERROR_BYTES];
    size_t bytes;
    unsigned lines = 0;
    for (unsigned i = 0; i < PROTOCOL_GREETING_LINES; i++) {
        protocol_write_greeting(facts, i, line);
        abort_unless(protocol_read_greeting(line, i, &heard));
    }
    abort_unless(!memcmp(heard.value, facts->value, sizeof heard.value));
    abort_unless(!strcmp(heard.unit, facts->unit));
    record_format_head(&head, &text);
    abort_unless(!text.failed);
    abort_unless(journal_head_parse(text.bytes, &again, &bytes, &lines, error) == JOURNAL_BEGUN);
    abort_unless(!journal_difference(&head, &again) && bytes == text.len);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct device_facts facts = { .value = { 0 } };
    unsigned greeted = 0;
    char *text = fuzz_text(data, size), *next;
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        check_begin(line);
        check_result(line);
        if (greeted < PROTOCOL_GREETING_LINES && protocol_read_greeting(line, greeted, &facts))
            greeted++;
    }
    if (greeted == PROTOCOL_GREETING_LINES)
        check_facts(&facts);
    free(text);
    return 0;
}
