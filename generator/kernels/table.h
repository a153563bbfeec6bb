/* table.h: what a family's table needs. */
#ifndef KILN_KERNELS_TABLE_H
#define KILN_KERNELS_TABLE_H

#include "../core/family.h"

/* .params = params, .num_params = its length, and so on for each table of struct family. */
#define TABLE(rows) .rows = rows, .num_##rows = sizeof rows / sizeof rows[0]

/* Alpha, beta and what is conjugated, of complex precisions, up to B. */
#define COMPLEX_FACTORS "ALPHA ALPHA_IMAG BETA BETA_IMAG CONJ_A "

/* Where A, B and C lie, and their members of a batch. */
#define ALL_OPERANDS "A A_OFFSET A_STRIDE LDA B B_OFFSET B_STRIDE LDB C C_OFFSET C_STRIDE LDC "

/* Squares of elements that are transposed in registers (common/vectors:square): the side of those
 * that TM rows are made of, 1 for none, and how often a square is halved. */
#define SQUARE_OF_ROWS \
    "(TM % 8 == 0 && VEC >= 8 ? 8 : TM % 4 == 0 && VEC >= 4 ? 4 : TM % 2 == 0 ? 2 : 1)"
#define HALVINGS_OF(side) \
    "(" side " <= 2 ? " side " - 1 : " side " == 4 ? 2 : " side " == 8 ? 3 : 4)"

/* The stage that adds up what parts of K have of an element (common/parts:add): so many work-items
 * for each of so many elements side by side. */
#define VALUES_ADD \
    { "ADDERS", "max(1, min(32, min(MAX_ITEMS, MAX_ITEMS_X)))" }, \
    { "ADDWAYS", "max(1, min(8, min(MAX_ITEMS / ADDERS, MAX_ITEMS_Y)))" }
#define ADD_LOCAL_BYTES "ADDWAYS > 1 ? ADDERS * ADDWAYS * (1 + COMPLEX) * REAL_BYTES : 0"

/* Rules that several families share. */
#define RULE_DOUBLE { "REAL_BYTES < 8 || HAS_DOUBLE", "the device has no double precision" }
/* PoCL keeps what work-items have across a barrier on the stack of a thread, 8 MB as a rule; what
 * they have beside their blocks of C may be several times as much. */
#define RULE_STACK(numbers) \
    { "!IS_CPU || " numbers " * REAL_BYTES <= 1024 * 1024", \
      "the work-items' blocks of C exceed the stack of a CPU's thread" }

#endif
