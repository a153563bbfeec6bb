/* protocol.c: see protocol.h. Nothing here trusts what it reads. */
#include "protocol.h"
#include "../core/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int) PROTOCOL_LINE_BYTES > (int) CONFIG_TEXT_BYTES + 16, "a config fits a line");
_Static_assert((int) TRIAL_MESSAGE_BYTES >= (int) FAMILY_ERROR_BYTES, "messages are passed on");

const char *const trial_outcome_words[NUM_TRIAL_OUTCOMES] = {
#define TRIAL(name, word, meaning) word,
    TRIAL_OUTCOMES
#undef TRIAL
};

/* ---- Fields: each function moves *text behind what it takes ---- */

static bool take_text(const char **text, const char *expected)
{
    const size_t length = strlen(expected);
    if (strncmp(*text, expected, length))
        return false;
    *text += length;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number from 0 to most, as it is printed: neither sign nor leading zeros. */
static bool take_count(const char **text, uint64_t most, uint64_t *count)
{
    char *end;
    if (!is_digit(**text) || (**text == '0' && is_digit((*text)[1])))
        return false;
    errno = 0;
    *count = strtoull(*text, &end, 10);
    *text = end;
    return !errno && *count <= most;
}

static bool take_long(const char **text, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(*text, &end, 10);
    const bool ok = end > *text && (**text == '-' || is_digit(**text)) && !errno;
    *text = end;
    return ok;
}

static bool take_number(const char **text, double *number)
{
    char *end;
    *number = strtod(*text, &end);
    const bool ok = end > *text && **text > ' ';
    *text = end;
    return ok;
}

/* One of some words. */
static bool take_word(const char **text, const char *const *words, int num, int *word)
{
    const size_t length = strcspn(*text, " ");
    *word = word_find(words, num, *text, length);
    if (*word >= 0)
        *text += length;
    return *word >= 0;
}

/* What journals and messages may hold: no tab, no line end, nothing that moves a cursor. */
static bool is_plain(const char *text)
{
    while ((unsigned char) *text >= ' ')
        text++;
    return !*text;
}

/* ---- The greeting ---- */

static const char *const greeting[PROTOCOL_GREETING_LINES] = {
    "kiln-trial 2", "platform ", "device ", "driver ", "unit ", "facts"
};

/* Where a line's name belongs; NULL when it has none. */
static char *name_of(struct device_facts *facts, unsigned number, size_t *bytes)
{
    char *const names[PROTOCOL_GREETING_LINES] = { NULL, facts->platform, facts->device,
        facts->driver, facts->unit };
    const size_t sizes[PROTOCOL_GREETING_LINES] = { 0, sizeof facts->platform, sizeof facts->device,
        sizeof facts->driver, sizeof facts->unit };
    *bytes = sizes[number];
    return names[number];
}

void protocol_write_greeting(const struct device_facts *facts, unsigned number,
        char line[PROTOCOL_LINE_BYTES])
{
    struct device_facts copy = *facts;
    size_t bytes;
    const char *name = name_of(&copy, number, &bytes);
    int at = snprintf(line, PROTOCOL_LINE_BYTES, "%s%s", greeting[number], name ? name : "");
    if (number + 1 == PROTOCOL_GREETING_LINES)
        for (int i = 0; i < NUM_FACTS && at < PROTOCOL_LINE_BYTES; i++)
            at += snprintf(line + at, (size_t) (PROTOCOL_LINE_BYTES - at), " %ld", facts->value[i]);
}

bool protocol_read_greeting(const char *line, unsigned number, struct device_facts *facts)
{
    size_t bytes;
    char *name = name_of(facts, number, &bytes);
    if (!take_text(&line, greeting[number]))
        return false;
    if (name)
        return snprintf(name, bytes, "%s", line) >= 0 && is_plain(name);
    if (number + 1 == PROTOCOL_GREETING_LINES)
        for (int i = 0; i < NUM_FACTS; i++)
            if (!take_text(&line, " ") || !take_long(&line, &facts->value[i]))
                return false;
    return !*line;
}

/* ---- Answers ---- */

void protocol_write_begin(unsigned config, char line[PROTOCOL_LINE_BYTES])
{
    snprintf(line, PROTOCOL_LINE_BYTES, "begin %u", config);
}

bool protocol_read_begin(const char *line, unsigned num, unsigned *config)
{
    uint64_t i;
    if (!take_text(&line, "begin ") || !take_count(&line, UINT64_MAX, &i) || *line || i >= num)
        return false;
    *config = (unsigned) i;
    return true;
}

void protocol_write_result(unsigned config, const struct trial_result *result,
        char line[PROTOCOL_LINE_BYTES])
{
    snprintf(line, PROTOCOL_LINE_BYTES, "result %u %s %.9g %.4g %s", config,
            trial_outcome_words[result->outcome], result->seconds, result->spread, result->message);
}

bool protocol_read_result(const char *line, unsigned num, unsigned *config,
        struct trial_result *result)
{
    uint64_t i;
    int outcome;
    double seconds, spread;
    if (!take_text(&line, "result ") || !take_count(&line, UINT64_MAX, &i) || i >= num ||
            !take_text(&line, " ") ||
            !take_word(&line, trial_outcome_words, NUM_TRIAL_OUTCOMES, &outcome) ||
            !take_text(&line, " ") || !take_number(&line, &seconds) || !take_text(&line, " ") ||
            !take_number(&line, &spread) || (*line && *line != ' ') || !is_plain(line))
        return false;
    *config = (unsigned) i;
    result->outcome = (enum trial_outcome) outcome;
    result->seconds = seconds;
    result->spread = spread;
    snprintf(result->message, sizeof result->message, "%s", line + strspn(line, " "));
    return true;
}

/* ---- Requests ---- */

static const char *const kind_words[] = {
    [TRIAL_MEASURE] = "measure", [TRIAL_EDGES] = "edges", [TRIAL_BUILD_ONLY] = "build",
    [TRIAL_COMPILE] = "compile"
};

void protocol_write_request(const struct trial_request *request, unsigned num,
        char line[PROTOCOL_LINE_BYTES])
{
    const struct problem *problem = &request->problem;
    const int at = snprintf(line, PROTOCOL_LINE_BYTES, "%s %c %d %d", kind_words[request->kind],
            problem->precision->letter, problem->transa, problem->transb);
    char *rest = line + at;
    const size_t room = (size_t) (PROTOCOL_LINE_BYTES - at);
    if (request->kind == TRIAL_MEASURE)
        snprintf(rest, room, " %zu %zu %zu %zu %.9g %u", request->m, request->n, request->k,
                request->batch, request->incumbent, num);
    else
        snprintf(rest, room, " %u", num);
}

static bool take_problem(const char **text, struct problem *problem)
{
    uint64_t transa, transb;
    const char letter[2] = { **text, '\0' };
    problem->precision = precision_find(letter);
    if (!problem->precision)
        return false;
    ++*text;
    if (!take_text(text, " ") || !take_count(text, 1, &transa) || !take_text(text, " ") ||
            !take_count(text, 1, &transb))
        return false;
    problem->transa = transa;
    problem->transb = transb;
    return true;
}

static bool take_shape(const char **text, struct trial_request *request)
{
    size_t *const counts[] = { &request->m, &request->n, &request->k, &request->batch };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint64_t count;
        if (!take_text(text, " ") || !take_count(text, SIZE_MAX, &count))
            return false;
        *counts[i] = (size_t) count;
    }
    return take_text(text, " ") && take_number(text, &request->incumbent) &&
           request->incumbent >= 0;
}

bool protocol_read_request(const char *line, struct trial_request *request)
{
    uint64_t num;
    int kind;
    *request = (struct trial_request){ .kind = TRIAL_MEASURE };
    if (!take_word(&line, kind_words, sizeof kind_words / sizeof kind_words[0], &kind) ||
            !take_text(&line, " ") || !take_problem(&line, &request->problem))
        return false;
    request->kind = (enum trial_kind) kind;
    if (request->kind == TRIAL_MEASURE && !take_shape(&line, request))
        return false;
    if (!take_text(&line, " ") || !take_count(&line, TRIAL_MAX_CONFIGS, &num) || *line)
        return false;
    request->num_configs = (unsigned) num;
    return num >= 1;
}

void protocol_write_config(const struct config *config, char line[PROTOCOL_LINE_BYTES])
{
    char text[CONFIG_TEXT_BYTES];
    config_format(config, text);
    snprintf(line, PROTOCOL_LINE_BYTES, "config %s", text);
}

bool protocol_read_config(const char *line, struct config *config, char error[FAMILY_ERROR_BYTES])
{
    if (!take_text(&line, "config "))
        return false;
    if (!config_parse(line, config, error))
        config->family = NULL;
    return true;
}
