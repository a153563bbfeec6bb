/* tmpl.h: renders kernel text from a template.
 *
 *   ${EXPR}                 the value of an expression, or a text name's text
 *   $list(NAME in A..B; SEP; TEXT)   TEXT once per value, SEP between; may nest
 *   $if(EXPR; TEXT)  $if(EXPR; TEXT; TEXT)    the first text if EXPR is not 0, else the second
 *   @if EXPR / @elif EXPR / @else / @end
 *   @for NAME in A..B / @end         B is excluded
 *   @if EXPR: TEXT                   TEXT is one line, or one @include; there is no @elif, @else
 *   @for NAME in A..B: TEXT          or @end
 *   @let NAME = EXPR                 until the end of the enclosing block
 *   @fragment NAME                   above a part of a file that others include; it goes on to the
 *                                    next one, or to the file's end
 *   @include TEXT                    another text, indented as the directive is: FILE, that file up
 *                                    to its first fragment; FILE:NAME, one of its fragments; :NAME,
 *                                    one of this file's
 *   @include TEXT NAME = EXPR; ...   the same, with these names set for it
 *   @takes NAME NAME ...             at the head of a text: the names that it uses of those that
 *                                    are set where it is included
 *   @wrap TEXT NAME = EXPR; ... / @end    a text around the lines between
 *   @body                            in such a text: these lines, indented as it is
 *   @// TEXT                         a remark about the template
 *
 * Parentheses in a text must balance. Only the last of three parts may have semicolons of its own.
 *
 * A directive stands alone on its line, but for those with a colon: no blank is before that and one
 * behind it, unlike that of `a ? b : c`. Its line leaves nothing behind, nor do empty ones above
 * @fragment. The list is closed. What is between @if, @for or @wrap and its @end is indented
 * by four blanks more than it, which are taken off, or further; @elif, @else and @end are indented
 * as it is.
 *
 * Every template sees the names that rendering began with, what a family's table defines, and can
 * not set them anew. Names that templates set are seen to the end of the block, and by an included
 * text only if it takes them or is given them. An undefined name, a name that is taken but not set
 * or given but not taken, an unknown directive, an unclosed block: each is an error with file and
 * line.
 */
#ifndef KILN_CORE_TMPL_H
#define KILN_CORE_TMPL_H

#include "scope.h"

/* What file names end with; @include and callers leave it out. */
#define TMPL_ENDING ".cl.in"

/* A template file: its name, as messages give it, and its NUL-terminated text. */
struct tmpl_file {
    const char *name, *text;
};

struct tmpl_error {
    char file[48];
    int line;                          /* from 1 */
    char what[160];
};

/* Renders the text called `name`: FILE, or FILE:FRAGMENT. Returns it, to be freed by the caller, or
 * NULL with *err filled. Pure: the same input gives the same bytes. `scope` is left as it was. */
char *tmpl_render(const struct tmpl_file *files, size_t num_files, const char *name,
        struct scope *scope, struct tmpl_error *err);

#endif
