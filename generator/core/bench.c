/* bench.c: see bench.h. tests/bench/json.c writes what is read here. */
#include "bench.h"
#include "json.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "kiln-bench 2", over[] = "kiln/";

/* The peer's number; one that is new is added. -1: there are too many. */
static int peer_of(struct bench *bench, const char *key)
{
    unsigned i = 0;
    while (i < bench->num_peers && strcmp(bench->peers[i].key, key))
        i++;
    if (i == BENCH_MAX_PEERS)
        return -1;
    if (i == bench->num_peers) {
        snprintf(bench->peers[i].key, BENCH_NAME_BYTES, "%s", key);
        snprintf(bench->peers[i].title, BENCH_NAME_BYTES, "%s", key);
        bench->num_peers++;
    }
    return (int) i;
}

static void read_ratios(struct json *json, struct bench *bench, struct bench_row *row)
{
    char name[BENCH_NAME_BYTES];
    for (bool first = json_open(json, '{'); json_member(json, &first, name, sizeof name);) {
        const double ratio = json_number(json);
        const bool is_kilns = !strncmp(name, over, sizeof over - 1);
        const int peer = is_kilns ? peer_of(bench, name + sizeof over - 1) : -1;
        if (peer >= 0 && ratio > 0)
            row->ratio[peer] = fmin(fmax(ratio, 1e-6), 1e6);
    }
}

/* Reads one recipe's time. A recipe that was neither timed nor wrong, or is of a family that this
 * version does not know, is left out. */
static void read_time(struct json *json, struct bench_row *row)
{
    char name[BENCH_NAME_BYTES], word[BENCH_NAME_BYTES], text[CONFIG_TEXT_BYTES] = "";
    char error[FAMILY_ERROR_BYTES];
    struct bench_time time = { .seconds = 0 };
    bool is_timed = false;
    for (bool first = json_open(json, '{'); json_member(json, &first, name, sizeof name);) {
        if (!strcmp(name, "name"))
            json_string(json, text, sizeof text);
        else if (!strcmp(name, "outcome")) {
            json_string(json, word, sizeof word);
            is_timed = !strcmp(word, "timed") || !strcmp(word, "slow");
            time.is_wrong = !strcmp(word, "wrong");
        } else if (!strcmp(name, "median_seconds"))
            time.seconds = json_number(json);
        else
            json_skip(json);
    }
    is_timed = is_timed && time.seconds > 0 && time.seconds < 1e9;
    if (json->wrong || !(is_timed || time.is_wrong) || !config_parse(text, &time.config, error))
        return;
    time.seconds = time.is_wrong ? 0 : time.seconds;
    if (row->num_times == row->capacity) {
        const size_t capacity = row->capacity ? 2 * row->capacity : 16;
        struct bench_time *times = realloc(row->times, capacity * sizeof *times);
        if (!times) {
            json->wrong = "out of memory";
            return;
        }
        row->times = times;
        row->capacity = capacity;
    }
    row->times[row->num_times++] = time;
}

static void read_times(struct json *json, struct bench_row *row)
{
    for (bool first = json_open(json, '['); json_item(json, &first);)
        read_time(json, row);
}

static size_t read_extent(struct json *json)
{
    const double value = json_number(json);
    return value >= 0 && value <= 1e12 ? (size_t) value : 0;
}

/* One member is no batch. */
static size_t read_batch(struct json *json)
{
    const size_t members = read_extent(json);
    return members > 1 ? members : 0;
}

static void read_row(struct json *json, struct bench *bench, struct bench_row *row)
{
    char name[BENCH_NAME_BYTES], word[BENCH_NAME_BYTES];
    *row = (struct bench_row){ .precision = NULL };
    for (bool first = json_open(json, '{'); json_member(json, &first, name, sizeof name);) {
        if (!strcmp(name, "precision")) {
            json_string(json, word, sizeof word);
            word[0] = (char) tolower((unsigned char) word[0]);
            row->precision = precision_find(word);
        } else if (!strcmp(name, "transpose")) {
            json_string(json, word, sizeof word);
            row->pair = pair_find(word);
        } else if (!strcmp(name, "m"))
            row->m = read_extent(json);
        else if (!strcmp(name, "n"))
            row->n = read_extent(json);
        else if (!strcmp(name, "k"))
            row->k = read_extent(json);
        else if (!strcmp(name, "batch"))
            row->batch = read_batch(json);
        else if (!strcmp(name, "ratios"))
            read_ratios(json, bench, row);
        else if (!strcmp(name, "recipes"))
            read_times(json, row);
        else
            json_skip(json);
    }
    if (!json->wrong && (!row->precision || row->pair < 0 || !row->m || !row->n || !row->k))
        json->wrong = "a row has no precision, transposes or shape";
}

static void read_rows(struct json *json, struct bench *bench)
{
    struct bench_row row;
    for (bool first = json_open(json, '['); json_item(json, &first);) {
        read_row(json, bench, &row);
        if (json->wrong) {
            free(row.times);
            return;
        }
        if (bench->num_rows == bench->capacity) {
            const size_t capacity = bench->capacity ? 2 * bench->capacity : 64;
            struct bench_row *rows = realloc(bench->rows, capacity * sizeof *rows);
            if (!rows) {
                json->wrong = "out of memory";
                free(row.times);
                return;
            }
            bench->rows = rows;
            bench->capacity = capacity;
        }
        bench->rows[bench->num_rows++] = row;
    }
}

/* Names of the peers, including those without a ratio. */
static unsigned read_peers(struct json *json, struct bench_peer peers[BENCH_MAX_PEERS])
{
    unsigned num = 0;
    char name[BENCH_NAME_BYTES];
    for (bool first = json_open(json, '['); json_item(json, &first);) {
        struct bench_peer peer = { "", "" };
        for (bool begun = json_open(json, '{'); json_member(json, &begun, name, sizeof name);) {
            if (!strcmp(name, "key"))
                json_string(json, peer.key, sizeof peer.key);
            else if (!strcmp(name, "title"))
                json_string(json, peer.title, sizeof peer.title);
            else
                json_skip(json);
        }
        if (num < BENCH_MAX_PEERS)
            peers[num++] = peer;
    }
    return num;
}

static void read_comparison(struct json *json, struct bench *bench)
{
    struct bench_peer named[BENCH_MAX_PEERS];
    unsigned num_named = 0;
    char name[BENCH_NAME_BYTES];
    for (bool first = json_open(json, '{'); json_member(json, &first, name, sizeof name);) {
        if (!strcmp(name, "rows"))
            read_rows(json, bench);
        else if (!strcmp(name, "peers"))
            num_named = read_peers(json, named);
        else
            json_skip(json);
    }
    for (unsigned i = 0; i < bench->num_peers; i++)
        for (unsigned p = 0; p < num_named; p++)
            if (!strcmp(named[p].key, bench->peers[i].key) && named[p].title[0])
                bench->peers[i] = named[p];
}

static uint32_t read_units(struct json *json)
{
    const double value = json_number(json);
    return value >= 0 && value <= UINT32_MAX ? (uint32_t) value : 0;
}

static void read_device(struct json *json, struct bench *bench)
{
    char name[BENCH_NAME_BYTES];
    for (bool first = json_open(json, '{'); json_member(json, &first, name, sizeof name);) {
        if (!strcmp(name, "name"))
            json_string(json, bench->device, sizeof bench->device);
        else if (!strcmp(name, "compute_units"))
            bench->units = read_units(json);
        else
            json_skip(json);
    }
}

bool bench_parse(const char *text, struct bench *bench, char error[FAMILY_ERROR_BYTES])
{
    struct json json = { .at = text };
    char name[BENCH_NAME_BYTES], found[BENCH_NAME_BYTES] = "";
    *bench = (struct bench){ .num_rows = 0 };
    for (bool first = json_open(&json, '{'); json_member(&json, &first, name, sizeof name);) {
        if (!strcmp(name, "format"))
            json_string(&json, found, sizeof found);
        else if (!strcmp(name, "device"))
            read_device(&json, bench);
        else if (!strcmp(name, "comparison"))
            read_comparison(&json, bench);
        else
            json_skip(&json);
    }
    json_end(&json);
    unsigned line = 1;
    for (const char *p = text; p < json.at; p++)
        line += *p == '\n';
    if (json.wrong)
        snprintf(error, FAMILY_ERROR_BYTES, "line %u: %s", line, json.wrong);
    else if (strcmp(found, format))
        snprintf(error, FAMILY_ERROR_BYTES, "not what kiln-bench --json writes, \"%s\"", format);
    else
        return true;
    return false;
}

void bench_free(struct bench *bench)
{
    for (size_t i = 0; i < bench->num_rows; i++)
        free(bench->rows[i].times);
    free(bench->rows);
    *bench = (struct bench){ .num_rows = 0 };
}
