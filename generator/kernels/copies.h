/* copies.h: the stages of families that copy A, B or both first, to where rows start at multiples
 * of 16 bytes (copy.cl.in, copy_both.cl.in; copies.md). Such a family has the parameters COPYA and
 * COPYB. Its derived value WHOLE is how many elements have 16 bytes, ADDERS how many work-groups
 * the device runs at once. */
#ifndef KILN_KERNELS_COPIES_H
#define KILN_KERNELS_COPIES_H

#define COPY_ARGS(X, rows, cols) \
    rows " " cols " " #X " " #X "_OFFSET LD" #X " PACKED_" #X " PACKED_" #X "_AT "
#define COPY_STAGE(name, when, template, keys, transposes, args, prepares) \
    { name, when, template, NULL, keys, transposes, "ONE", "ADDERS", "256", NULL, args, prepares }
#define COPY_BOTH(when, a_rows, a_cols, b_rows, b_cols) \
    COPY_STAGE("copy", "COPYA && COPYB && " when, "copy_both.cl.in", "COPYA COPYB", "A B", \
            COPY_ARGS(A, a_rows, a_cols) COPY_ARGS(B, b_rows, b_cols), "BOTH")

/* Both at once, in one launch, and each alone for calls that bring the other one packed. */
#define COPY_STAGES \
    COPY_BOTH("!TA && !TB", "M", "K", "K", "N"), \
    COPY_BOTH("!TA && TB", "M", "K", "N", "K"), \
    COPY_BOTH("TA && !TB", "K", "M", "K", "N"), \
    COPY_BOTH("TA && TB", "K", "M", "N", "K"), \
    COPY_STAGE("copya", "COPYA && !TA", "copy.cl.in", "COPYA", "A", COPY_ARGS(A, "M", "K"), "A"), \
    COPY_STAGE("copya", "COPYA && TA", "copy.cl.in", "COPYA", "A", COPY_ARGS(A, "K", "M"), "A"), \
    COPY_STAGE("copyb", "COPYB && !TB", "copy.cl.in", "COPYB", "B", COPY_ARGS(B, "K", "N"), "B"), \
    COPY_STAGE("copyb", "COPYB && TB", "copy.cl.in", "COPYB", "B", COPY_ARGS(B, "N", "K"), "B")

#define COPY_REGIONS \
    { "COPYA", "M K", "TA ? WHOLE : 1; TA ? 1 : WHOLE", "ELEM_BYTES", "A" }, \
    { "COPYB", "N K", "TB ? 1 : WHOLE; TB ? WHOLE : 1", "ELEM_BYTES", "B" }

/* The arguments by which a stage finds an operand that is not copied, and one that was. */
#define AS_IT_IS(X) #X " " #X "_OFFSET LD" #X " "
#define COPIED(X) "PACKED_" #X " PACKED_" #X "_AT "

#endif
