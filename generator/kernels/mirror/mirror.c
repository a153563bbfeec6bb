/* mirror: a symmetric or Hermitian matrix of which one triangle is stored, as a whole one. The
 * library does that before it multiplies (runtime/triangle.c). */
#include "../table.h"

static const struct family_param params[] = {
    { "TILE", "8 16 32 64", 16, "rows and columns of a tile that a work-group copies", NULL },
    { "ROWS", "1 2 4", 4, "work-items across these rows", NULL },
    { "ALONE", "0 1", 0, "whether a work-group is one work-item, and needs no local memory", NULL },
};

static const struct family_value values[] = {
    { "VEC", "1" },
    { "INDEX", "64" },
    { "TILE_BYTES", "ALONE ? 0 : TILE * (TILE + 1) * (COMPLEX ? ELEM_BYTES : REAL_BYTES)" },
};

static const struct family_rule rules[] = {
    { "!(DOUBLE || COMPLEX_DOUBLE) || HAS_DOUBLE", "the device has no double precision" },
    { "ALONE || (TILE * ROWS <= MAX_ITEMS && TILE <= MAX_ITEMS_X && ROWS <= MAX_ITEMS_Y)",
      "work-group larger than the device's" },
    { "TILE_BYTES <= LOCAL_BYTES", "a tile exceeds local memory" },
};

#define MIRROR(when, type) \
    { "mirror", when, "mirror/mirror", NULL, "M M", "TILE; TILE", \
      "ALONE ? 1 : TILE; ALONE ? 1 : ROWS", "TILE_BYTES", \
      "M A as __global const " type " *restrict A; A_OFFSET LDA CONJ_A TRIANGLE " \
      "C as __global " type " *restrict C; C_OFFSET LDC" }

static const struct family_stage stages[] = {
    MIRROR("!COMPLEX", "${T}"),
    MIRROR("COMPLEX", "${R}"),
};

static const struct family_preset presets[] = {
    { "mirror", "mirror" },
    { "mirror-alone", "mirror TILE=32 ALONE=1", 0, "for CPUs" },
};

extern const struct family family_mirror;
const struct family family_mirror = {
    .name = "mirror",
    .meaning = "a symmetric matrix of which one triangle is stored, as a whole one",
    .routine = KILN_ROUTINE_MIRROR,
    .serves = "!EMULATED",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(presets),
    .prelude = "mirror/prelude",
    .guard = { "1", "1", "1" },
    .tile = { "TILE", "TILE", "1" },
    .edges = { "TILE", "TILE", NULL },
};
