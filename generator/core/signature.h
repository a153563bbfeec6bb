/* signature.h: what a kernel's arguments are, from the list in a family's table (family.h, `args`).
 *
 * A list is codes of runtime/bundle.h without prefix, in the order of the arguments. Each has a
 * declaration by which the kernel's text sees it: `A` is "__global const ${T} *restrict A". Another
 * declaration may stand behind the code, up to a semicolon: "M N K WORKSPACE as __global uchar
 * *work; REGION_0 as long maps_at; ALPHA BETA".
 */
#ifndef KILN_CORE_SIGNATURE_H
#define KILN_CORE_SIGNATURE_H

#include "bundle.h"
#include "text.h"
#include "tmpl.h"

struct signature {
    unsigned num;
    struct {
        uint8_t code;                  /* enum kiln_arg */
        const char *declaration;       /* a template's text of so many bytes; static, or the
                                          list's */
        size_t len;
    } args[KILN_MAX_ARGS];
};

/* False when a code is unknown, a declaration is empty, or there are too many. is_whole: all of C
 * is stored, so that TRIANGLE and HERMITIAN are left out. */
bool signature_parse(const char *args, bool is_whole, struct signature *signature);

/* Adds what stands before a kernel's body, as a template: its work-group, by a list of at most
 * three expressions ("WGN; WGM"), its name and its declarations, of which what lies in memory
 * begins a line. False when the list of arguments is malformed or memory is out. */
bool signature_head(const char *name, const char *locals, const char *args, bool is_whole,
        struct text *head);

/* The template that a kernel's head is while it is rendered: templates say "@include kernel". */
#define SIGNATURE_FILE "kernel" TMPL_ENDING

/* The codes by their names in bundle.h, without prefix. */
extern const char *const signature_arg_names[KILN_NUM_ARG_CODES];

#endif
