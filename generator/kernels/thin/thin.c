/* thin: C of few rows or few columns, vectors above all. Nothing is used twice, so memory decides:
 * the long matrix is read once, side by side, with many loads under way, and K is shared among
 * work-items that add up at the end.
 *
 * By symmetry there is one text: X, the long matrix, is B where C has few rows and A where it has
 * few columns; Y is the other one. Where rows of X, as stored, run along K, each is a sum with Y;
 * where they run along the long side of C, they are added up, each times an element of Y. */
#include "../table.h"

static const struct family_param params[] = {
    { "SIDE", "0 1", 0, "the short side of C: 0 M, 1 N", NULL, .sibling = 1 },
    { "SHORT", "1 2 4 8 16", 1, "elements of a work-item along the short side", NULL,
      .sibling = 1 },
    { "VEC", "1 2 4 8 16", 1, "width of a load of X", "Matsumoto 2012 vw" },
    { "ROWS", "1 2 4 8 16", 4, "rows of X that a work-item loads at once", NULL },
    { "NV", "1 4 32 64", 1, "vectors of a row that a lone work-item sums up", NULL },
    { "LITEMS", "1 2 4 8 16 32", 1,
      "work-items of a work-group along the long side (YDEPTH: across the rows of X)", NULL },
    { "KITEMS", "1 4 16 32 64 128", 1,
      "work-items of a work-group along K (YDEPTH: along the rows of X)", NULL },
    { "FILL", "0 1 2 4 8", 0,
      "work-groups for each compute unit, for which K is shared where L is short; 0: it is not",
      "CUTLASS split-K" },
    { "ALIGN", "0 1", 0, "whether aligned vectors of X have a loop of their own", NULL },
    { "INDEX", "32 64", 64, "bits of an index", NULL },
    { "YDEPTH", "0 64 256 512", 0,
      "values of k for which Y is brought into local memory; 0: not at all", NULL },
};

static const struct family_value values[] = {
    { "REALS", "1 + COMPLEX" },                  // numbers of an element
    { "DOTS", "SIDE ? !TA : TB" },               // rows of X run along K
    { "YDOTS", "SIDE ? TB : !TA" },              // and those of Y (YDEPTH)
    // With Y in local memory KITEMS are side by side in the rows of X, along K or along L.
    { "ITEMSL", "YDEPTH && !DOTS ? KITEMS : LITEMS" },
    { "ITEMSK", "YDEPTH && !DOTS ? LITEMS : KITEMS" },
    { "LANES", "DOTS ? ITEMSK : ITEMSL" },
    { "LINES", "DOTS ? ITEMSL : ITEMSK" },
    { "ITEMS", "LITEMS * KITEMS" },
    { "TL", "DOTS ? ROWS : NV * VEC" },
    { "BLKL", "ITEMSL * TL" },
    { "STEP", "ITEMSK * (DOTS ? VEC : ROWS)" },
    { "PARTBYTES", "KITEMS == 1 ? 0 : ITEMS * (DOTS ? ROWS : VEC) * REALS * REAL_BYTES" },
    { "YPITCH", "DOTS ? YDEPTH + VEC : SHORT" }, // between rows of Y in local memory
    { "SUMBYTES", "16384" },                     // of sums that are added up at once, unless one
    { "ATONCE", "max(1, min(SHORT, SUMBYTES / (ITEMS * TL * REAL_BYTES)))" },
    { "SUMPITCH", "ITEMSK * (ITEMSL + 1)" },
    { "KEPT", "max(YPITCH * (DOTS ? SHORT : YDEPTH), ATONCE * TL * SUMPITCH)" },
    { "LOCAL", "YDEPTH ? KEPT * REAL_BYTES : PARTBYTES" },
    VALUES_ADD,
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    { "!COMPLEX || (NV == 1 && !YDEPTH && REALS * VEC <= 16)",
      "of complex elements there are vectors of 16 numbers, and Y is read where it lies" },
    { "ITEMS <= MAX_ITEMS", "work-group larger than the device's" },
    { "max(LITEMS, KITEMS) <= min(MAX_ITEMS_X, MAX_ITEMS_Y)",
      "work-group longer than the device's" },
    { "VEC == 1 || VEC * ELEM_BYTES <= max(VECTOR_BYTES, 16)", "vectors wider than the device's" },
    { "(YDEPTH ? SHORT * max(ROWS, VEC) + ROWS * VEC : (SHORT + 1) * ROWS * VEC)"
      " * REALS * REAL_BYTES <= REGISTER_BYTES", "the sums exceed the registers" },
    RULE_STACK("(KITEMS > 1) * ITEMS * SHORT * ROWS * VEC * REALS"),
    { "KITEMS == 1 || ITEMS * max(ROWS, VEC) * REALS * REAL_BYTES <= LOCAL_BYTES",
      "the sums exceed local memory" },
    { "!YDEPTH || (KITEMS > 1 && NV == 1)", "a lone work-item has nobody to share Y with" },
    { "!YDEPTH || VEC <= 8", "with Y in local memory vectors are of 8 at most" },
    { "YDEPTH % max(KITEMS * VEC, LITEMS * ROWS) == 0", "steps do not divide what there is of Y" },
    { "!YDEPTH || max(SHORT * (YDEPTH + VEC) * REAL_BYTES,"
      " 2 * max(SUMBYTES, ITEMS * max(ROWS, VEC) * REAL_BYTES)) <= LOCAL_BYTES",
      "Y and the sums exceed local memory" },
    { "NV == 1 || (ITEMS == 1 && SHORT * NV * VEC * REAL_BYTES <= 16384)",
      "a long piece of a row is for one work-item and the nearest cache" },
    { "!ALIGN || ((VEC > 1 || COMPLEX) && NV == 1)", "single elements and long pieces have one loop" },
};

/* What stages see is X, L x K, and Y, S x K: the long side of C is L, the short one S. Y's rows may
 * run either way: y_row elements lie from one to the next, and y_step from an element to the next. */
#define LONG_AND_SHORT(l, s) l " as ${I} L; " s " as ${I} S; "
#define LONG_OPERAND(X) \
    #X " as __global const ${T} *restrict X; " #X "_OFFSET as ${I} x_offset; " \
    #X "_STRIDE as ${I} x_stride; LD" #X " as ${I} ldx; "
#define SHORT_OPERAND(Y, row, step) \
    #Y " as __global const ${T} *restrict Y; " #Y "_OFFSET as ${I} y_offset; " \
    #Y "_STRIDE as ${I} y_stride; " row " as ${I} y_row; " step " as ${I} y_step; "
#define PARTS(qualifier) \
    "WORKSPACE as __global " qualifier "${TC} *restrict parts; REGION_0 as long parts_at; "
#define STAGES(when, extents, names, factors, conj, matrices) \
    { "multiply", "!FILL && " when, "thin/thin", NULL, \
      extents " ONE", "BLKL; SHORT; 1", "LANES; LINES; 1", "LOCAL", \
      names "K " factors conj matrices "C C_OFFSET C_STRIDE LDC" }, \
    { "multiply", "FILL && " when, "thin/thin", NULL, \
      extents " PARTS", "BLKL; SHORT; 1", "LANES; LINES; 1", "LOCAL", \
      names "K " factors conj matrices "PARTS " PARTS("") "C C_OFFSET C_STRIDE LDC" }, \
    { "add", "FILL && " when, "thin/thin:add", NULL, \
      extents, "ADDERS; 1", "ADDERS; ADDWAYS", ADD_LOCAL_BYTES, \
      names factors conj "PARTS " PARTS("const ") "C C_OFFSET LDC", NULL, "ADD" }
#define ROW_STAGES(when, ...) \
    STAGES(when " && !SIDE", "N M", LONG_AND_SHORT("N", "M"), __VA_ARGS__, \
           LONG_OPERAND(B) SHORT_OPERAND(A, "RSA", "CSA"))
#define COLUMN_STAGES(when, ...) \
    STAGES(when " && SIDE", "M N", LONG_AND_SHORT("M", "N"), __VA_ARGS__, \
           LONG_OPERAND(A) SHORT_OPERAND(B, "CSB", "RSB"))
#define COMPLEX_SCALARS "ALPHA ALPHA_IMAG BETA BETA_IMAG "

/* Texts take X for the first factor: conj_a is its. */
static const struct family_stage stages[] = {
    ROW_STAGES("!COMPLEX", "ALPHA BETA ", ""),
    COLUMN_STAGES("!COMPLEX", "ALPHA BETA ", ""),
    ROW_STAGES("COMPLEX", COMPLEX_SCALARS, "CONJ_A as int conj_b; CONJ_B as int conj_a; "),
    COLUMN_STAGES("COMPLEX", COMPLEX_SCALARS, "CONJ_A CONJ_B "),
};

/* C, as each part of K has it. */
static const struct family_region regions[] = {
    { "FILL", "M N", "1; 1", "REALS * REAL_BYTES", .each_part = 1 },
};

/* Vectors of 16 bytes: a preset of singles, or of what else it is legal for, and one of doubles. */
#define BY_16_BYTES(name, before, after) \
    { name, "thin " before " VEC=4 " after }, \
    { name "-double", "thin " before " VEC=2 " after, 'd' }
#define Y_IN_LOCAL(name, before, fill) \
    BY_16_BYTES(name, before, "ROWS=4 LITEMS=8 KITEMS=32 " fill "ALIGN=1 INDEX=32 YDEPTH=256")

static const struct family_preset presets[] = {
    { "row-cpu", "thin SIDE=0 VEC=16 ROWS=8 NV=32" },
    { "row-cpu-double", "thin SIDE=0 VEC=8 ROWS=8 NV=64", 'd' },
    { "column-cpu", "thin SIDE=1 VEC=16 ROWS=8 NV=32" },
    { "column-cpu-double", "thin SIDE=1 VEC=8 ROWS=8 NV=64", 'd' },
    BY_16_BYTES("row-gpu", "SIDE=0", "ROWS=4 LITEMS=8 KITEMS=32 ALIGN=1 INDEX=32"),
    { "row-gpu-half", "thin SIDE=0 VEC=8 ROWS=4 LITEMS=4 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    { "row-gpu-short-half", "thin SIDE=0 VEC=8 ROWS=1 LITEMS=4 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    { "row-gpu-two-half",
      "thin SIDE=0 SHORT=2 VEC=8 ROWS=4 LITEMS=4 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    { "row-gpu-few-half",
      "thin SIDE=0 SHORT=4 VEC=4 ROWS=4 LITEMS=8 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    BY_16_BYTES("row-gpu-wide", "SIDE=0", "ROWS=4 LITEMS=8 KITEMS=128 ALIGN=1 INDEX=32"),
    { "row-gpu-wide-half", "thin SIDE=0 VEC=4 ROWS=8 LITEMS=8 KITEMS=128 ALIGN=1 INDEX=32", 'h' },
    BY_16_BYTES("row-gpu-deep", "SIDE=0", "ROWS=4 LITEMS=8 KITEMS=32 FILL=4 ALIGN=1 INDEX=32"),
    { "row-gpu-deep-half",
      "thin SIDE=0 VEC=8 ROWS=1 LITEMS=4 KITEMS=64 FILL=4 ALIGN=1 INDEX=32", 'h' },
    { "row-gpu-odd", "thin SIDE=0 VEC=1 ROWS=16 LITEMS=32 KITEMS=32 INDEX=32" },
    Y_IN_LOCAL("row-gpu-few", "SIDE=0 SHORT=4", ""),
    Y_IN_LOCAL("row-gpu-few-deep", "SIDE=0 SHORT=4", "FILL=2 "),
    Y_IN_LOCAL("row-gpu-several", "SIDE=0 SHORT=16", ""),
    Y_IN_LOCAL("row-gpu-several-deep", "SIDE=0 SHORT=16", "FILL=2 "),
    Y_IN_LOCAL("column-gpu-few", "SIDE=1 SHORT=4", ""),
    Y_IN_LOCAL("column-gpu-few-deep", "SIDE=1 SHORT=4", "FILL=2 "),
    Y_IN_LOCAL("column-gpu-several", "SIDE=1 SHORT=16", ""),
    Y_IN_LOCAL("column-gpu-several-deep", "SIDE=1 SHORT=16", "FILL=2 "),
    BY_16_BYTES("column-gpu", "SIDE=1", "ROWS=4 LITEMS=4 KITEMS=32 ALIGN=1 INDEX=32"),
    { "column-gpu-half", "thin SIDE=1 VEC=8 ROWS=4 LITEMS=4 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    { "column-gpu-short-half",
      "thin SIDE=1 VEC=8 ROWS=1 LITEMS=4 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    { "column-gpu-two-half",
      "thin SIDE=1 SHORT=2 VEC=8 ROWS=4 LITEMS=4 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    { "column-gpu-few-half",
      "thin SIDE=1 SHORT=4 VEC=4 ROWS=4 LITEMS=8 KITEMS=64 ALIGN=1 INDEX=32", 'h' },
    BY_16_BYTES("column-gpu-wide", "SIDE=1", "ROWS=4 LITEMS=4 KITEMS=128 ALIGN=1 INDEX=32"),
    { "column-gpu-wide-half",
      "thin SIDE=1 VEC=4 ROWS=8 LITEMS=4 KITEMS=128 ALIGN=1 INDEX=32", 'h' },
    BY_16_BYTES("column-gpu-deep", "SIDE=1", "ROWS=4 LITEMS=8 KITEMS=32 FILL=4 ALIGN=1 INDEX=32"),
    { "column-gpu-deep-half",
      "thin SIDE=1 VEC=8 ROWS=1 LITEMS=4 KITEMS=64 FILL=4 ALIGN=1 INDEX=32", 'h' },
    { "row-gpu-complex", "thin SIDE=0 VEC=2 ROWS=4 LITEMS=8 KITEMS=32 ALIGN=1 INDEX=32", 'c' },
    { "row-gpu-complex-double",
      "thin SIDE=0 VEC=1 ROWS=4 LITEMS=8 KITEMS=32 ALIGN=1 INDEX=32", 'z' },
    { "row-gpu-complex-few",
      "thin SIDE=0 SHORT=4 VEC=2 ROWS=2 LITEMS=8 KITEMS=32 ALIGN=1 INDEX=32", 'c' },
    { "row-gpu-complex-few-double",
      "thin SIDE=0 SHORT=4 VEC=1 ROWS=4 LITEMS=8 KITEMS=32 ALIGN=1 INDEX=32", 'z' },
    { "column-gpu-complex", "thin SIDE=1 VEC=2 ROWS=4 LITEMS=4 KITEMS=32 ALIGN=1 INDEX=32", 'c' },
    { "column-gpu-complex-double",
      "thin SIDE=1 VEC=1 ROWS=4 LITEMS=4 KITEMS=32 ALIGN=1 INDEX=32", 'z' },
    { "column-gpu-complex-few",
      "thin SIDE=1 SHORT=4 VEC=2 ROWS=2 LITEMS=4 KITEMS=32 ALIGN=1 INDEX=32", 'c' },
    { "column-gpu-complex-few-double",
      "thin SIDE=1 SHORT=4 VEC=1 ROWS=4 LITEMS=4 KITEMS=32 ALIGN=1 INDEX=32", 'z' },
    { "row-gpu-complex-wide",
      "thin SIDE=0 VEC=2 ROWS=4 LITEMS=8 KITEMS=128 ALIGN=1 INDEX=32", 'c' },
    { "row-gpu-complex-deep",
      "thin SIDE=0 VEC=2 ROWS=4 LITEMS=8 KITEMS=32 FILL=4 ALIGN=1 INDEX=32", 'c' },
    { "row-gpu-complex-wide-double",
      "thin SIDE=0 VEC=1 ROWS=4 LITEMS=8 KITEMS=128 ALIGN=1 INDEX=32", 'z' },
    { "row-gpu-complex-deep-double",
      "thin SIDE=0 VEC=1 ROWS=4 LITEMS=8 KITEMS=32 FILL=4 ALIGN=1 INDEX=32", 'z' },
    { "column-gpu-complex-wide",
      "thin SIDE=1 VEC=2 ROWS=4 LITEMS=4 KITEMS=128 ALIGN=1 INDEX=32", 'c' },
    { "column-gpu-complex-deep",
      "thin SIDE=1 VEC=2 ROWS=4 LITEMS=8 KITEMS=32 FILL=4 ALIGN=1 INDEX=32", 'c' },
    { "column-gpu-complex-wide-double",
      "thin SIDE=1 VEC=1 ROWS=4 LITEMS=4 KITEMS=128 ALIGN=1 INDEX=32", 'z' },
    { "column-gpu-complex-deep-double",
      "thin SIDE=1 VEC=1 ROWS=4 LITEMS=8 KITEMS=32 FILL=4 ALIGN=1 INDEX=32", 'z' },
    { "row-cpu-complex", "thin SIDE=0 VEC=8 ROWS=8", 'c' },
    { "row-cpu-complex-double", "thin SIDE=0 VEC=4 ROWS=8", 'z' },
    { "column-cpu-complex", "thin SIDE=1 VEC=8 ROWS=8", 'c' },
    { "column-cpu-complex-double", "thin SIDE=1 VEC=4 ROWS=8", 'z' },
    { "column-gpu-odd", "thin SIDE=1 VEC=1 ROWS=4 LITEMS=4 KITEMS=64 INDEX=32" },
};

/* What an extent is gone through by where it is the long one. */
#define ALONG_L(is_long) \
    is_long " && !DOTS ? VEC : 1; " is_long " ? TL : 1; " is_long " && FILL ? ADDERS : 1"

extern const struct family family_thin;
const struct family family_thin = {
    .name = "thin",
    .serves = "HALF || SINGLE || DOUBLE || COMPLEX",
    .meaning = "C of few rows or columns: one matrix read once, at the speed of memory",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "common/elements",
    .batches = "1",
    .guard = { "1", "1", "1" },
    .most = { "SIDE ? 0 : 2 * SHORT", "SIDE ? 2 * SHORT : 0", "0" },
    .tile = { "SIDE ? BLKL : SHORT", "SIDE ? SHORT : BLKL", "STEP" },
    .edges = { ALONG_L("SIDE"), ALONG_L("!SIDE"),
               "DOTS ? VEC : ITEMSK; max(YDEPTH, 1); 2 * YDEPTH" },
    .unit_parts = "FILL",
    // Loads under way, in whole lines of memory, for as many work-groups as can be.
    .rank = "(SHORT == 1) * 400 - (FILL > 0) * 100 + (IS_CPU"
            " ? (ITEMS == 1) * 200 + (VEC * REAL_BYTES == VECTOR_BYTES) * 200 + (ROWS >= 4) * 100"
            " + (NV >= 16) * 100 : (ITEMS >= 256) * 200 + (LITEMS * VEC * ELEM_BYTES >= 64) * 100"
            " + (LITEMS * max(VEC, ROWS) <= 32) * 200 + (ROWS * VEC * ELEM_BYTES >= 32) * 100)",
};
