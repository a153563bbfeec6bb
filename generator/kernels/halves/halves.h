/* halves.h: what the families that multiply halves have in common: how operands are cut. */
#ifndef KILN_KERNELS_HALVES_H
#define KILN_KERNELS_HALVES_H

#include "../nv/nv.h"

/* Derived values that they share. */
#define HALVES_VALUES \
    { "VEC", "1" }, \
    { "INDEX", "64" }, \
    { "COPYA", "0" }, \
    { "COPYB", "0" }, \
    { "EDGES", "0" }, \
    { "PARTS", "STREAM && SHARED" }, \
    /* The bytes of eight lines of a tile: both pieces of BK elements each. */ \
    { "LINES", "BK * 32" }, \
    /* Rows of a region before the pieces: exponents, and what was found in each part of K. */ \
    { "HEADS", "SHARES > 1 ? 1 + 3 * SHARES : 1" }, \
    /* The exponent of a line that is not cut. */ \
    { "PLAIN", "1000" }, \
    /* Of lines that are not cut, products that are added one after the other before their sum is \
     * added to those before: a multiple of BK. Of skinny it is BK. */ \
    { "CHAIN", "128" }
/* What the fragments of nv/ ask of those that multiply by wgmma. */
#define HALVES_WGMMA \
    { "MMA", "0" }, \
    { "WGMMA", "1" }, \
    { "BATCHES", "0" }, \
    { "ASYNC", "0" }, \
    { "FETCHING", "1" }, \
    { "THROUGH", "0" }

/* The parameters of what cuts. */
#define HALVES_CUTTING \
    { "CUTTERS", "256 512 1024", 512, "work-items of a work-group that cuts eight rows (columns)", \
      NULL }, \
    { "SHARES", "1 16", 1, "parts of K that are cut one by one, in two launches if several", NULL }

/* As many work-items as a compute unit has room for; a prefix as of copies.h. */
#define CUT_ARGS(X, rows, name, offset, ld, prefix) \
    rows " as long " prefix "lines; K as long " prefix "depth; " \
    #X " as __global const float *restrict " name "; " \
    #X "_OFFSET as long " offset "; LD" #X " as long " ld "; " \
    "PACKED_" #X " as __global uchar *restrict " prefix "work; " \
    "PACKED_" #X "_AT as long " prefix "at; "
/* A launch that looks at the lines of one operand, or cuts them, as `bind` says. */
#define CUT_ONE(name, when, bind, X, rows, letter) \
    { name, when, "halves/cut:one", bind, "UNITS", \
      "2048 / CUTTERS", "CUTTERS", NULL, CUT_ARGS(X, rows, "X", "x_offset", "ldx", ""), \
      letter, NULL }

/* A launch that does so with both. */
#define CUT_BOTH(name, when, bind) \
    { name, when, "halves/cut:both", bind, "UNITS", \
      "2048 / CUTTERS", "CUTTERS", NULL, \
      CUT_ARGS(A, "M", "A", "a_offset", "lda", "a_") \
      CUT_ARGS(B, "N", "B", "b_offset", "ldb", "b_"), "BOTH", NULL }
/* Both at once, and each alone. */
#define CUT_EACH(name, when, bind) \
    CUT_BOTH(name, when, bind), \
    CUT_ONE(name "a", when, bind "; LONG = BM; ACROSS = TA", A, "M", "A"), \
    CUT_ONE(name "b", when, bind "; LONG = BN; ACROSS = !TB", B, "N", "B")
#define CUT_STAGES \
    CUT_EACH("look", "SHARES > 1", "LOOKS = 1; CUTS = 0"), \
    CUT_EACH("cut", NULL, "LOOKS = SHARES == 1; CUTS = 1")
/* A line of exponents, then blocks of BK of k; of each, eight rows (columns) after the other. */
#define CUT_REGIONS \
    { NULL, "K M", "BK; BM", "4", "A", "HEADS" }, \
    { NULL, "K N", "BK; BN", "4", "B", "HEADS" }
/* What K is gone through by, beside tiles. */
#define CUT_EDGES "8; 16; CUTTERS; 2 * CUTTERS; ST * BK; SHARES * BK"
/* The largest extents: the exponents of a line are added up in 32 bits. */
#define CUT_MOST { "2147483136", "2147483136", "16777216" }

/* An operand that has been cut. */
#define PIECES(X, x) \
    "PACKED_" #X " as __global const uchar *restrict packed_" #x "; " \
    "PACKED_" #X "_AT as long packed_" #x "_at; "

#endif
