/* nv.h: derived values of the families for NVIDIA's devices, which share the fragments of this
 * folder: tma, async and interleaved; halves, skinny and cuts have some of their own (halves.h).
 * They say how tiles lie in local memory and how warps share them. Such a family has the parameters
 * BM, BN, WM, WN and DEPTH. */
#ifndef KILN_KERNELS_NV_H
#define KILN_KERNELS_NV_H

#include "../copies/copies.h"

#define NV_VALUES \
    { "VEC", "1" }, \
    { "INDEX", "64" }, \
    { "BK", "DEPTH / ELEM_BYTES" }, \
    { "WHOLE", "16 / ELEM_BYTES" }, \
    /* The bytes of a tile of A, and of B. */ \
    { "TILEA", "BM * DEPTH" }, \
    { "TILEB", "BN * DEPTH" }, \
    /* The lines of a tile: rows of A (columns of B) if k lie side by side, else values of k. */ \
    { "LINESA", "TA ? BK : BM" }, \
    { "LINESB", "TB ? BN : BK" }, \
    /* Parts of a tile's k that mma takes one after the other. */ \
    { "KPARTS", "DOUBLE ? 2 : BK / 16" }, \
    /* Rows of A (columns of B) whose tiles are fetched together where they lie side by side. */ \
    { "COLSA", "DOUBLE || COMPLEX ? 128 / ELEM_BYTES : min(64, BM)" }, \
    { "COLSB", "DOUBLE || COMPLEX ? 128 / ELEM_BYTES : min(64, BN)" }, \
    /* The bytes of a line of a tile. */ \
    { "LINEA", "TA ? COLSA * ELEM_BYTES : DEPTH" }, \
    { "LINEB", "TB ? DEPTH : COLSB * ELEM_BYTES" }, \
    { "PAIRS", "DOUBLE && TA && TB" }, \
    /* Columns of C that are stored at once, where rows allow it. */ \
    { "ATONCE", "WHOLE" }, \
    /* Whether two rows (columns) of a work-item's are in another order than mma has them. */ \
    { "SWAPROWS", "DOUBLE && TA" }, \
    { "SWAPCOLS", "DOUBLE && TB" }, \
    /* Warps along M and along N. Of a warp's part of C a work-item has TM rows and TN columns in \
     * S, as many elements in D and H. */ \
    { "WARPM", "BM / WM" }, \
    { "WARPN", "BN / WN" }, \
    { "TM", "WM / 8" }, \
    { "TN", "WN / 4" }, \
    /* Tiles of singles whose k lie side by side are transposed on their way. */ \
    { "TRANSPOSEA", "SINGLE && !TA" }, \
    { "TRANSPOSEB", "SINGLE && TB" }

/* How many lanes it is from a work-item of S or C to the one with the next columns
 * (nv/fma:lanes). At 2, reads of B take two turns of local memory, not four; those of A take
 * two in any case. Blocks of 64 elements and more are bound by their products and have 1; so have
 * smaller ones unless `when`, and other precisions. */
#define NV_NEXTN(when) \
    { "NEXTN", "(SINGLE || COMPLEX_SINGLE) && TM * TN < 64 && " when " ? 2 : 1" }

/* The registers of a work-item where four warps fetch and leave theirs, but for LEAVES, to those
 * that multiply (GIVES): what all begin with, and what these have then. They are given out by
 * eights, as many as there are for the warps on each of four schedulers. */
#define NV_REGISTERS \
    { "SHARE", "512 / ceil_div(ITEMS, 128) / 8 * 8" }, \
    { "KEEPS", "GIVES ? SHARE + (SHARE - LEAVES) * 128 / max(WORKERS, 32) / 8 * 8 : SHARE" }

/* The stages that multiply, for work-groups of `items` work-items. Without STREAM there is a
 * work-group for each tile, and `each` are its arguments beside the operands; with STREAM there are
 * so many for each compute unit, and `turns` are their arguments. `c_stride` is "C_STRIDE " where
 * they take several members of a batch. */
#define NV_MULTIPLY(template, items, each, turns, copies, operands, c_stride) \
    { "multiply", "!STREAM && " copies, template, NULL, "N M", "BN; BM", \
      items "; 1", NULL, "M N K " operands each \
      "ALPHA BETA C C_OFFSET " c_stride "LDC TRIANGLE", NULL, NULL }, \
    { "stream", "STREAM && " copies, template, NULL, "UNITS", "STREAM", \
      items, NULL, "M N K " operands turns \
      "ALPHA BETA C C_OFFSET " c_stride "LDC TRIANGLE", NULL, NULL }

/* The stage that adds up what work-groups have of a tile, and where they leave it: two tiles for
 * each work-group. Along axis 0 there are as many work-groups as multiply. `bind` says whether rows
 * of such a tile are columns of C (SWAPPED). */
#define NV_ADD(when, bind, region) \
    { "add", when, "nv/add", bind, "UNITS ONE", "STREAM; 4 / STREAM", "256; 1", \
      NULL, "M N K WORKSPACE as __global const ${R} *restrict work; " region " as long parts_at; " \
      "ALPHA BETA C C_OFFSET LDC TRIANGLE", NULL, "ADD" }
#define NV_PARTS(when) \
    { when, "UNITS ONE", "1; 2 * BM * BN * STREAM", "REAL_BYTES", NULL }

/* A tile, and what else makes an edge: chunks of 16 bytes that are copied (two where all of A or B
 * is copied first), boxes of tiles that lie side by side, and the tiles under way. `rows`,
 * `columns` and `depth` are lists of the family's own: what a warp computes, and so on. */
#define NV_TILE { "BM", "BN", "BK" }
#define NV_EDGES(rows, columns, depth) \
    { "TA ? WHOLE : 1; COPYA && TA ? 2 * WHOLE : 1; TA ? COLSA : 1; " rows, \
      "TB ? 1 : WHOLE; COPYB && !TB ? 2 * WHOLE : 1; TB ? 1 : COLSB; " columns, \
      "WHOLE; COPYA && !TA || COPYB && TB ? 2 * WHOLE : 1; ST * BK; " depth }

#endif
