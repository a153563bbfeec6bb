/* complex: brings a complex product into the form of a real one, of twice the columns and depth.
 *
 * Elements are stored as their parts, side by side. So C (M x N) is a real matrix of 2 N columns,
 * and op(A) one of 2 K where it is stored by rows. With each element b of op(B) as two rows,
 *     ( re b  im b)
 *     (-im b  re b),
 * the real product of these is C: 2 M (2 N) (2 K) operations, as many as four products take. Any
 * recipe of the real precision computes it (runtime/complex.c). */
#include "../table.h"

static const struct family_param params[] = {
    { "TILE", "8 16 32 64", 16, "rows and columns of a matrix that a work-group copies", NULL },
    { "ROWS", "1 2 4", 4, "work-items across these rows", NULL },
    { "ALONE", "0 1", 0, "whether operands are copied by work-groups of one work-item", NULL },
};

static const struct family_value values[] = {
    // Elements of a vector, of 64 bytes.
    { "VEC", "ALONE ? 64 / ELEM_BYTES : 1" },
    { "INDEX", "64" },
    // Tiles below each other that a work-group copies: some devices have few groups along an axis
    // but the first.
    { "TILES", "8" },
    // Lines of a block that is transposed by one work-item.
    { "BLOCK", "8" },
    { "TILE_BYTES", "ALONE ? 0 : TILE * (TILE + 1) * ELEM_BYTES" },
};

static const struct family_rule rules[] = {
    { "!COMPLEX_DOUBLE || HAS_DOUBLE", "the device has no double precision" },
    { "TILE * ROWS <= MAX_ITEMS && TILE <= MAX_ITEMS_X && ROWS <= MAX_ITEMS_Y",
      "work-group larger than the device's" },
    { "TILE_BYTES <= LOCAL_BYTES", "a tile exceeds local memory" },
};

/* Launches over a matrix: its columns, its rows. */
#define OVER(columns, rows) columns " " rows, "TILE; TILE * TILES", "TILE; ROWS"
#define COPY_OVER(columns, rows) \
    columns " " rows, "TILE; TILE * TILES", "ALONE ? 1 : TILE; ALONE ? 1 : ROWS"
#define PREPARED(X, x) \
    "PACKED_" #X " as __global ${R} *restrict packed_" #x "; PACKED_" #X "_AT as long " #x "_at; "
#define OPERAND(X) #X " as __global const ${R} *restrict " #X "; "

static const struct family_stage stages[] = {
    { "transpose", "TA", "complex/complex:transpose", NULL, COPY_OVER("K", "M"), "TILE_BYTES",
      "M K " OPERAND(A) "A_OFFSET LDA CONJ_A " PREPARED(A, a), "A", NULL },
    { "expand", NULL, "complex/complex:expand", NULL, COPY_OVER("N", "K"),
      "TB ? TILE_BYTES : 0",
      "N K " OPERAND(B) "B_OFFSET LDB CONJ_B " PREPARED(B, b), "B", NULL },
    { "rotate", NULL, "complex/complex:rotate", NULL, OVER("N", "K"), NULL,
      "N K ALPHA ALPHA_IMAG PACKED_B as __global const ${R} *restrict packed_b; "
      "PACKED_B_AT as long b_at; WORKSPACE as __global ${R} *restrict work; "
      "REGION_2 as long work_at; ",
      NULL, "ROTATE" },
    { "scale", NULL, "complex/complex:scale", NULL, OVER("N", "M"), NULL,
      "M N BETA BETA_IMAG C as __global ${R} *restrict C; C_OFFSET LDC TRIANGLE", NULL,
      "SCALE" },
    { "diagonal", NULL, "complex/complex:diagonal", NULL, "M", "TILE * ROWS",
      "TILE * ROWS", NULL, "M C as __global ${R} *restrict C; C_OFFSET LDC", NULL,
      "DIAGONAL" },
};

/* Rows begin at multiples of 16 bytes. The regions of the real recipe come behind; the last one is
 * theirs where alpha is real (runtime/complex.c). */
static const struct family_region regions[] = {
    { "TA", "M K", "1; 2", "ELEM_BYTES", "A" },
    { NULL, "K N", "1; 2", "2 * ELEM_BYTES", "B" },
    { NULL, "K N", "1; 2", "2 * ELEM_BYTES", NULL },
};

static const struct family_preset presets[] = {
    { "complex", "complex", 'c' },
    { "complex-alone", "complex TILE=32 ALONE=1", 'c', "for CPUs" },
};

extern const struct family family_complex;
const struct family family_complex = {
    .name = "complex",
    .meaning = "complex products in the form of real ones, for recipes of these",
    .routine = KILN_ROUTINE_TO_REAL,
    .serves = "COMPLEX",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "complex/complex",
    .guard = { "1", "1", "1" },
    .tile = { "TILE * TILES", "TILE", "TILE * TILES" },
    .edges = { "TILE * TILES", "TILE", "TILE * TILES" },
};
