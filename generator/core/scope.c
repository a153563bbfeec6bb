/* scope.c: the table of names behind expressions and templates.
 *
 * A plain array searched from its end: the newest entry of a name hides the older ones, and a block
 * ends by restoring the count. Names are compared only where their keys are equal.
 */
#include "scope.h"

#include <string.h>

/* Differs for most names that differ: length, first, middle and last character. */
static uint32_t key_of(const char *name, size_t len)
{
    if (len == 0)
        return 0;
    return (uint32_t) (len & 255) << 24 | (uint32_t) (unsigned char) name[0] << 16 |
           (uint32_t) (unsigned char) name[len / 2] << 8 | (unsigned char) name[len - 1];
}

/* The next free entry with its name filled in, or NULL. The entry is not counted yet. */
static struct scope_entry *new_entry(struct scope *scope, const char *name)
{
    size_t len = strlen(name);
    if (scope->num >= SCOPE_MAX_NAMES || len >= SCOPE_NAME_BYTES)
        return NULL;
    struct scope_entry *entry = &scope->entries[scope->num];
    memcpy(entry->name, name, len + 1);
    entry->name_len = len;
    entry->key = key_of(name, len);
    return entry;
}

bool scope_set(struct scope *scope, const char *name, int64_t value)
{
    struct scope_entry *entry = new_entry(scope, name);
    if (!entry)
        return false;
    entry->is_text = false;
    entry->value = value;
    entry->text[0] = '\0';
    scope->num++;
    return true;
}

bool scope_set_text(struct scope *scope, const char *name, const char *text)
{
    size_t len = strlen(text);
    struct scope_entry *entry = len < SCOPE_TEXT_BYTES ? new_entry(scope, name) : NULL;
    if (!entry)
        return false;
    entry->is_text = true;
    entry->value = 0;
    memcpy(entry->text, text, len + 1);
    scope->num++;
    return true;
}

/* Among the entries [from, to), the newest first. */
static const struct scope_entry *find_among(const struct scope *scope, size_t from, size_t to,
        const char *name, size_t len)
{
    const uint32_t key = key_of(name, len);
    for (size_t i = to; i-- > from;) {
        const struct scope_entry *entry = &scope->entries[i];
        if (entry->key == key && entry->name_len == len && memcmp(entry->name, name, len) == 0)
            return entry;
    }
    return NULL;
}

const struct scope_entry *scope_find(const struct scope *scope, const char *name, size_t len)
{
    const struct scope_entry *entry = find_among(scope, scope->floor, scope->num, name, len);
    return entry ? entry : find_among(scope, 0, scope->globals, name, len);
}
