/* copies.h: the stages of families that copy A, B or both first, to where rows start at multiples
 * of 16 bytes (copies.md), unless they do already. Such a family says
 * by its values COPYA and COPYB what it copies so, and repeats them as `as_is`. Its derived value
 * WHOLE is how many elements have 16 bytes. */
#ifndef KILN_KERNELS_COPIES_H
#define KILN_KERNELS_COPIES_H

/* Operand X and its copy. The text calls them by these names, and extents and copy with the prefix:
 * `a_rows`, `a_work`. */
#define COPY_ARGS(X, rows, cols, name, offset, ld, prefix) \
    rows " as long " prefix "rows; " cols " as long " prefix "cols; " \
    #X " as __global const element_bits *restrict " name "; " \
    #X "_OFFSET as long " offset "; LD" #X " as long " ld "; " \
    "PACKED_" #X " as __global uchar *restrict " prefix "work; " \
    "PACKED_" #X "_AT as long " prefix "at; "
#define COPY_ONE(X, rows, cols) COPY_ARGS(X, rows, cols, "X", "x_offset", "ldx", "")
/* Eight work-groups for each compute unit; the text depends on no parameter. */
#define COPY_STAGE(name, when, template, args, prepares) \
    { name, when, template, NULL, "UNITS", "8", "256", NULL, args, prepares, NULL }
#define COPY_BOTH(when, a_rows, a_cols, b_rows, b_cols) \
    COPY_STAGE("copy", "COPYA && COPYB && " when, "copies/copies:both", \
            COPY_ARGS(A, a_rows, a_cols, "A", "a_offset", "lda", "a_") \
            COPY_ARGS(B, b_rows, b_cols, "B", "b_offset", "ldb", "b_"), "BOTH")

/* Both at once, in one launch, and each alone where the other one is packed or taken as it is. */
#define COPY_STAGES \
    COPY_BOTH("!TA && !TB", "M", "K", "K", "N"), \
    COPY_BOTH("!TA && TB", "M", "K", "N", "K"), \
    COPY_BOTH("TA && !TB", "K", "M", "K", "N"), \
    COPY_BOTH("TA && TB", "K", "M", "N", "K"), \
    COPY_STAGE("copya", "COPYA && !TA", "copies/copies:one", COPY_ONE(A, "M", "K"), "A"), \
    COPY_STAGE("copya", "COPYA && TA", "copies/copies:one", COPY_ONE(A, "K", "M"), "A"), \
    COPY_STAGE("copyb", "COPYB && !TB", "copies/copies:one", COPY_ONE(B, "K", "N"), "B"), \
    COPY_STAGE("copyb", "COPYB && TB", "copies/copies:one", COPY_ONE(B, "N", "K"), "B")

#define COPY_REGIONS \
    { "COPYA", "M K", "TA ? WHOLE : 1; TA ? 1 : WHOLE", "ELEM_BYTES", "A" }, \
    { "COPYB", "N K", "TB ? 1 : WHOLE; TB ? WHOLE : 1", "ELEM_BYTES", "B" }

/* The arguments by which a stage finds an operand that is never copied, and one that may be. */
#define AS_IT_IS(X) #X " " #X "_OFFSET " #X "_STRIDE LD" #X " "
#define COPIED(X, x) \
    "PACKED_" #X " as __global const ${T} *restrict " #X "; " \
    "PACKED_" #X "_AT as long " #x "_offset; " \
    "PACKED_" #X "_STRIDE PACKED_LD" #X " as long ld" #x "; "

#endif
