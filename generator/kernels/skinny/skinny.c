/* skinny: single precision by products of halves, as of halves, where C has few rows or few
 * columns. The long matrix is read once, where it lies, and cut in registers on its way to the
 * tensor units; the short one is cut before.
 *
 * As of thin, X is the long matrix, B where C has few rows and A where it has few columns; Y is the
 * other one. A line of X is a column of op(B) or a row of op(A), of Y likewise. */
#include "../halves/halves.h"
#include "../table.h"

static const struct family_param params[] = {
    { "SIDE", "0 1", 0, "the short side of C: 0 M, 1 N", NULL, .sibling = 1 },
    { "BX", "64 128 192", 128, "lines of X of a work-group", "CUTLASS CtaTileM" },
    { "BY", "16 32 48 64 96", 64, "lines of Y of a work-group", "CUTLASS CtaTileN",
      .sibling = 1 },
    { "BK", "32 64", 64, "k in a tile", "CUTLASS CtaTileK" },
    { "ST", "2 3 4 6 8", 3, "tiles under way", "CUTLASS Stages" },
    HALVES_CUTTING,
    { "STREAM", "0 1 2 3 4", 1, "work-groups a compute unit, which share the steps; 0: one a tile",
      "Osama et al. 2023", .sibling = 1 },
    { "SHARED", "0 1", 1, "whether they share those of tiles that make no whole turn", NULL },
};

static const struct family_value values[] = {
    HALVES_VALUES,
    HALVES_WGMMA,
    { "BM", "SIDE ? BX : BY" },
    { "BN", "SIDE ? BY : BX" },
    // Whether rows of X, as stored, run along K.
    { "ALONG", "SIDE ? !TA : TB" },
    // Tiles with the same lines of X come one after the other.
    { "GROUP", "SIDE ? 1 : 16" },
    // Warp groups, each with 64 lines of X, and their work-items.
    { "WORKERS", "BX * 2" },
    { "PAIRS", "0" },
    { "OWNERS", "WORKERS" },
    { "SUMS", "BY / 2" },
    // Sums, what is cut, and what is found to be needed beside them.
    { "REGISTERS", "3 * SUMS + BK + 40" },
    // Columns of C that a warp puts side by side to store them.
    { "COLUMNS", "SUMS % 16 == 0 ? 32 : 16" },
    // Local memory of a work-group, and how many of these a compute unit is to have.
    { "LOCAL", "ST * ((BX + BY) * BK * 4 + 8) + SIDE * WORKERS * COLUMNS + 1024" },
    { "RESIDENT", "max(STREAM, 1)" },
};

static const struct family_rule rules[] = {
    { "COMPUTE_CAPABILITY == 90", "not a device of compute capability 9.0" },
    { "RESIDENT * (LOCAL + 1024) <= 228 * 1024", "tiles exceed local memory" },
    { "REGISTERS <= min(255, 65536 / (WORKERS * RESIDENT) / 8 * 8)",
      "work-groups exceed the registers" },
    { "SHARED || STREAM", "SHARED is for work-groups that take tiles in turn" },
};

#define CUTS(name, when, bind) \
    CUT_ONE(name "a", "!SIDE" when, bind "; LONG = BY; ACROSS = TA", A, "M", "A"), \
    CUT_ONE(name "b", "SIDE" when, bind "; LONG = BY; ACROSS = !TB", B, "N", "B")
#define WORK "WORKSPACE as __global uchar *work; REGION_2 as long parts_at; "
#define OPERANDS(X, Y) \
    #X " as __global const float *restrict X; " #X "_OFFSET as long x_offset; " \
    "LD" #X " as long ldx; " PIECES(Y, y)
#define MULTIPLY(when, X, Y) \
    NV_MULTIPLY("skinny/skinny", "WORKERS", "", WORK, when, OPERANDS(X, Y), "")

static const struct family_stage stages[] = {
    CUTS("look", " && SHARES > 1", "LOOKS = 1; CUTS = 0"),
    CUTS("cut", "", "LOOKS = SHARES == 1; CUTS = 1"),
    MULTIPLY("SIDE", A, B),
    MULTIPLY("!SIDE", B, A),
    NV_ADD("PARTS", "SWAPPED = !SIDE", "REGION_2"),
};

static const struct family_region regions[] = {
    { "!SIDE", "K M", "BK; BY", "4", "A", "HEADS" },
    { "SIDE", "K N", "BK; BY", "4", "B", "HEADS" },
    NV_PARTS("PARTS"),
};

static const struct family_preset presets[] = {
    { "hopper-skinny-rows", "skinny SIDE=0 BX=64 BK=32 ST=4 SHARES=16 STREAM=3", 'x' },
    { "hopper-skinny-rows-deep", "skinny SIDE=0 BX=64 SHARES=16 STREAM=2", 'x' },
    { "hopper-skinny-rows-short", "skinny SIDE=0 BX=64 STREAM=2", 'x' },
    { "hopper-skinny-rows-few", "skinny SIDE=0 BX=64 BY=16 SHARES=16 STREAM=3", 'x' },
    { "hopper-skinny-columns", "skinny SIDE=1 BX=64 BK=32 ST=4 SHARES=16 STREAM=3", 'x' },
    { "hopper-skinny-columns-deep", "skinny SIDE=1 BX=64 SHARES=16 STREAM=2", 'x' },
    { "hopper-skinny-columns-short", "skinny SIDE=1 BX=64 STREAM=2", 'x' },
    { "hopper-skinny-columns-few", "skinny SIDE=1 BX=64 BY=16 SHARES=16 STREAM=3", 'x' },
};

extern const struct family family_skinny;
const struct family family_skinny = {
    .name = "skinny",
    .meaning = "C of few rows or columns, by products of halves: the long matrix cut on its way",
    .serves = "EMULATED",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "skinny/prelude",
    .guard = { "1", "1", "1" },
    .most = CUT_MOST,
    .tile = { "BM", "BN", "BK" },
    .edges = { "SIDE ? 16 : 8", "SIDE ? 8 : 16", CUT_EDGES },
    .unit_turns = "STREAM",
    .shares = "PARTS",
    .capability = 90,
    .ptx = "90",
    .rank = "BX + BY - STREAM * 10",
};
