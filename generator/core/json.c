/* json.c: see json.h. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fail(struct json *json, const char *wrong)
{
    if (!json->wrong)
        json->wrong = wrong;
}

static void skip_white(struct json *json)
{
    json->at += strspn(json->at, " \t\r\n");
}

/* Takes a character when it is next. */
static bool take(struct json *json, char c)
{
    if (json->wrong)
        return false;
    skip_white(json);
    if (*json->at != c)
        return false;
    json->at++;
    return true;
}

bool json_open(struct json *json, char bracket)
{
    const bool is_there = take(json, bracket);
    if (!is_there)
        fail(json, bracket == '{' ? "an object is missing" : "a list is missing");
    return is_there;
}

static bool next(struct json *json, bool *first, char close)
{
    if (json->wrong || take(json, close))
        return false;
    if (!*first && !take(json, ','))
        fail(json, "a comma or a closing bracket is missing");
    *first = false;
    return !json->wrong;
}

bool json_member(struct json *json, bool *first, char *name, size_t bytes)
{
    if (!next(json, first, '}'))
        return false;
    json_string(json, name, bytes);
    if (!take(json, ':'))
        fail(json, "a colon is missing");
    return !json->wrong;
}

bool json_item(struct json *json, bool *first)
{
    return next(json, first, ']');
}

void json_string(struct json *json, char *text, size_t bytes)
{
    size_t len = 0;
    text[0] = '\0';
    if (!take(json, '"')) {
        fail(json, "a string is missing");
        return;
    }
    while (*json->at && *json->at != '"') {
        char c = *json->at++;
        if (c == '\\' && *json->at) {
            c = *json->at++;
            c = c == '"' || c == '\\' || c == '/' ? c : '?';
        }
        if (len + 1 < bytes)
            text[len++] = c >= ' ' && c <= '~' ? c : '?';
    }
    text[len] = '\0';
    if (*json->at == '"')
        json->at++;
    else
        fail(json, "a string has no end");
}

double json_number(struct json *json)
{
    char *end = NULL;
    if (json->wrong)
        return 0;
    skip_white(json);
    const size_t len = strspn(json->at, "+-.0123456789eE");
    const double value = len ? strtod(json->at, &end) : 0;
    if (!len || end != json->at + len || !isfinite(value)) {
        fail(json, "a number is missing");
        return 0;
    }
    json->at = end;
    return value;
}

void json_skip(struct json *json)
{
    char none[2];
    size_t depth = 0;
    do {
        skip_white(json);
        if (json->wrong)
            return;
        if (*json->at == '"') {
            json_string(json, none, sizeof none);
        } else if (strchr("{[", *json->at) && *json->at) {
            depth++;
            json->at++;
        } else if (strchr("}],:", *json->at) && *json->at && depth) {
            depth -= *json->at == '}' || *json->at == ']';
            json->at++;
        } else {
            const size_t len = strcspn(json->at, " \t\r\n\"{}[],:");
            if (!len)
                fail(json, "a value is missing");
            json->at += len;
        }
    } while (depth);
}

void json_end(struct json *json)
{
    if (!json->wrong)
        skip_white(json);
    if (!json->wrong && *json->at)
        fail(json, "something follows its end");
}
