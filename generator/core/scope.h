/* scope.h: the names that expressions and templates may use.
 *
 * One flat table serves constraints, derived values, launch data and kernel text, so that a
 * parameter's meaning is written in one language.
 */
#ifndef KILN_CORE_SCOPE_H
#define KILN_CORE_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCOPE_MAX_NAMES = 320, SCOPE_NAME_BYTES = 32, SCOPE_TEXT_BYTES = 192 };

struct scope_entry {
    uint32_t key;                      /* of the name: names whose keys differ are different */
    char name[SCOPE_NAME_BYTES];
    size_t name_len;
    bool is_text;                      /* a text may be substituted, not computed with */
    int64_t value;
    char text[SCOPE_TEXT_BYTES];
};

struct scope {
    size_t num;
    /* The entries from `globals` up to `floor` are hidden: they were set by the templates that
     * include the present one. */
    size_t globals, floor;
    struct scope_entry entries[SCOPE_MAX_NAMES];
};

/* Adds a name; a later one hides an earlier one of the same name. False when the table is full or
 * the name or text is too long. Drop names again by restoring `num`. */
bool scope_set(struct scope *scope, const char *name, int64_t value);
bool scope_set_text(struct scope *scope, const char *name, const char *text);

/* The innermost entry in sight called name[0..len), or NULL. */
const struct scope_entry *scope_find(const struct scope *scope, const char *name, size_t len);

#endif
