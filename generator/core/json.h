/* json.h: reads JSON from front to back, without a tree. Pure.
 *
 *     for (bool first = json_open(json, '{'); json_member(json, &first, name, sizeof name);)
 *         if (!strcmp(name, "size")) size = json_number(json);
 *         else json_skip(json);
 *
 * After the first fault `wrong` says what it is, and every function does nothing. Of what is
 * skipped only the end is searched for.
 */
#ifndef KILN_CORE_JSON_H
#define KILN_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct json {
    const char *at;
    const char *wrong;                 /* NULL: nothing so far */
};

/* Enters an object '{' or a list '['. True when it was there. */
bool json_open(struct json *json, char bracket);
/* Goes to the next member, whose value must be read or skipped, or behind the end. */
bool json_member(struct json *json, bool *first, char *name, size_t bytes);
bool json_item(struct json *json, bool *first);

/* A string of one line; longer ones are cut, what is no ASCII becomes "?". */
void json_string(struct json *json, char *text, size_t bytes);
double json_number(struct json *json);
void json_skip(struct json *json);
/* Nothing follows but white space. */
void json_end(struct json *json);

#endif
