/* tmpl.h: renders kernel text from a template.
 *
 *   ${EXPR}                 the value of an expression, or a text name's text
 *   $list(NAME in A..B; SEP; TEXT)   TEXT once per value, SEP between; may nest
 *   @if EXPR / @elif EXPR / @else / @end
 *   @for NAME in A..B / @end         B is excluded
 *   @let NAME = EXPR                 until the end of the enclosing block
 *   @include FILE                    another template, with the names in force, indented as the
 *                                    directive is
 *
 * A directive stands alone on its line; its line leaves nothing behind. An undefined name, an
 * unknown directive, an unclosed block: each is an error with file and line. The list is closed.
 */
#ifndef KILN_CORE_TMPL_H
#define KILN_CORE_TMPL_H

#include "scope.h"

/* A template file: its name, as @include and messages give it, and its NUL-terminated text. */
struct tmpl_file {
    const char *name, *text;
};

struct tmpl_error {
    char file[48];
    int line;                          /* from 1 */
    char what[160];
};

/* Renders files[...] called `name`. Returns text to be freed by the caller, or NULL with *err
 * filled. Pure: the same input gives the same bytes. `scope` is left as it was. */
char *tmpl_render(const struct tmpl_file *files, size_t num_files, const char *name,
        struct scope *scope, struct tmpl_error *err);

#endif
