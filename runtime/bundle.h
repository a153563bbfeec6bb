/* bundle.h: the contract between emitted bundles and the runtime.
 *
 * A bundle is constant data: kernel text (or device binaries), recipes that say how kernels are
 * launched, and times that say which recipe is fastest for a shape. Emitted C defines one
 * `const struct kiln_bundle`; the tuner builds the same structs in memory, so that what is timed is
 * what ships. The runtime knows nothing about kernel families: a launch is data.
 *
 * Kernels see one canonical form: row-major C (M x N) = alpha op(A) op(B) + beta C, where op(A) is
 * M x K and op(B) is K x N. The runtime brings every call into it (a column-major call swaps A with
 * B and M with N).
 */
#ifndef KILN_BUNDLE_H
#define KILN_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

/* Marks what several sources share and no application uses. In one file of all sources
 * (scripts/onefile.py) nothing is global but the functions of kiln.h. */
#ifdef KILN_ONE_FILE
#define KILN_INTERNAL static
#else
#define KILN_INTERNAL
#endif

enum { KILN_BUNDLE_FORMAT = 27 };

enum {
    KILN_MAX_STAGES = 8,
    KILN_MAX_REGIONS = 4,
    KILN_MAX_ARGS = 28,
    KILN_REGION_ALIGN = 256,           /* bytes; every region starts at a multiple */
    KILN_ALIGNED_BYTES = 16,           /* rows that begin at multiples of it are aligned */
    KILN_MAX_DEPTH = 24                /* how deep pairs may be nested */
};

/* A kernel's text is for one pair of transposes of A and B as stored: 0 to 3 are NN, NT, TN, TT. */
enum { KILN_NUM_PAIRS = 4 };
static inline unsigned kiln_pair(unsigned transa, unsigned transb)
{
    return 2 * transa + transb;
}

/* The extents that data may name: one, those of the product, the compute units of the device, and
 * the parts of K (`unit_parts` of a recipe). Regions that hold no operand may name the units in
 * recipes of 64-bit indices, stages that multiply the parts. */
enum kiln_dim {
    KILN_DIM_ONE, KILN_DIM_M, KILN_DIM_N, KILN_DIM_K, KILN_DIM_UNITS, KILN_DIM_PARTS,
    KILN_NUM_DIMS
};

/* Operands that a recipe brings into a form of its own before it multiplies, as a set. */
enum kiln_prepared {
    KILN_PREPARED_NONE,
    KILN_PREPARED_A,
    KILN_PREPARED_B,
    KILN_NUM_PREPARED,
    KILN_PREPARED_BOTH = KILN_PREPARED_A | KILN_PREPARED_B    /* of stages alone */
};

/* The workspace as an image is a 1-D image buffer whose pixels are four 32-bit words (CL_RGBA,
 * CL_UNSIGNED_INT32): pixel i holds its bytes from KILN_PIXEL_BYTES * i on. */
enum { KILN_PIXEL_BYTES = 16 };

/* One kernel argument. "index" is cl_int or cl_long as the recipe's index_bits says; "real" is
 * cl_double for KILN_DOUBLE and KILN_COMPLEX_DOUBLE, and cl_float for the others. */
enum kiln_arg {
    KILN_ARG_M, KILN_ARG_N, KILN_ARG_K,                  /* index */
    KILN_ARG_ALPHA, KILN_ARG_BETA,                       /* real */
    /* cl_mem; index (elements); index, from a member of a batch to the next; index */
    KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_A_STRIDE, KILN_ARG_LDA,
    KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_B_STRIDE, KILN_ARG_LDB,
    KILN_ARG_C, KILN_ARG_C_OFFSET, KILN_ARG_C_STRIDE, KILN_ARG_LDC,
    KILN_ARG_WORKSPACE,                                  /* cl_mem */
    KILN_ARG_WORKSPACE_IMAGE,                            /* the same memory, read as an image */
    KILN_ARG_REGION_0, KILN_ARG_REGION_1,                /* cl_long: where region i starts in the */
    KILN_ARG_REGION_2, KILN_ARG_REGION_3,                /* workspace, in elements of the region */
    /* cl_mem and cl_long: where the region that holds prepared A starts, in elements, or A itself
     * where it is taken as it is; of recipes that may do so, index: from a member of a batch to the
     * next, 0 where it is prepared; index: its leading dimension */
    KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT, KILN_ARG_PACKED_A_STRIDE, KILN_ARG_PACKED_LDA,
    KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT, KILN_ARG_PACKED_B_STRIDE, KILN_ARG_PACKED_LDB,
    /* Of complex precisions: real; cl_int: 1 where op(X) is the conjugate of X or its transpose */
    KILN_ARG_ALPHA_IMAG, KILN_ARG_BETA_IMAG, KILN_ARG_CONJ_A, KILN_ARG_CONJ_B,
    KILN_ARG_TRIANGLE,                                   /* cl_int: enum kiln_triangle */
    KILN_ARG_HERMITIAN,                                  /* cl_int: 1 where C is Hermitian too */
    /* index: from a row or column of op(A) or op(B) to the next, in elements */
    KILN_ARG_RSA, KILN_ARG_CSA, KILN_ARG_RSB, KILN_ARG_CSB,
    KILN_ARG_PARTS,                                      /* cl_int: parts of K */
    KILN_NUM_ARG_CODES
};

/* Which elements of a row i of a matrix count: all, or those of a triangle. Where a matrix of pairs
 * is taken as one of twice the columns, the triangle is that of the pairs. */
enum kiln_triangle {
    KILN_TRIANGLE_NONE = 0,
    KILN_TRIANGLE_LOWER = 1, KILN_TRIANGLE_UPPER = -1,               /* columns j <= i, j >= i */
    KILN_TRIANGLE_LOWER_PAIRS = 2, KILN_TRIANGLE_UPPER_PAIRS = -2    /* j / 2 instead of j */
};

/* What a recipe is for. KILN_ROUTINE_MIRROR: reads the triangle KILN_ARG_TRIANGLE of A (m x m),
 * writes it to C, and across the diagonal its transpose, conjugated with KILN_ARG_CONJ_A.
 * KILN_ROUTINE_TO_REAL: brings a complex product into the form of a real one, which another recipe
 * computes (complex.c). */
enum kiln_routine { KILN_ROUTINE_MULTIPLY = 0, KILN_ROUTINE_MIRROR = 1, KILN_ROUTINE_TO_REAL = 2 };

/* Whether a recipe is for products of which one triangle is stored; then its stages that write C
 * take KILN_ARG_TRIANGLE. One that multiplies complex numbers takes KILN_ARG_HERMITIAN there too:
 * the diagonal of a Hermitian matrix is stored as real numbers. */
enum kiln_triangles { KILN_TRIANGLES_NEVER, KILN_TRIANGLES_ALWAYS, KILN_TRIANGLES_ALSO };

/* A part of the workspace: a matrix of round_up(dim[0], round[0]) + more rows and
 * round_up(dim[1], round[1]) columns, of elements of element_bytes each; or one for each part of K,
 * or for each member of a batch.
 *
 * At most one region holds prepared A, and one B. It lies in the workspace; when a call brings a
 * pack, in the pack; and nowhere where the operand is taken as it is. So kernels find it by the
 * PACKED codes alone, and it may depend on nothing but its operand. */
struct kiln_region {
    uint8_t dim[2];                    /* enum kiln_dim */
    uint32_t round[2];                 /* >= 1 */
    uint32_t more;                     /* rows that say something of each column */
    uint32_t element_bytes;
    uint8_t holds;                     /* enum kiln_prepared */
    uint8_t each_part;                 /* 1: one for each part of K; none where K has one part */
    uint8_t each_member;               /* 1: one for each member of a batch that a launch takes */
};

/* What a stage does that not every call needs: it is left out of the others.
 *
 * KILN_ROLE_ADD: adds up what work-groups share of a tile (`shares`, `unit_parts` of the recipe).
 * Others are of recipes of KILN_ROUTINE_TO_REAL, one of each, in this order behind the stages that
 * prepare. KILN_ROLE_ROTATE: prepared B times a complex alpha, to the last region. KILN_ROLE_SCALE:
 * C times a complex beta. KILN_ROLE_DIAGONAL: the diagonal of a Hermitian C is made real, when all
 * else is done. */
enum kiln_role {
    KILN_ROLE_NONE, KILN_ROLE_ADD, KILN_ROLE_ROTATE, KILN_ROLE_SCALE, KILN_ROLE_DIAGONAL,
    KILN_NUM_ROLES
};

/* One kernel launch: ceil(dim[i] / tile[i]) work-groups of local[i] work-items along axis i; where
 * dim[i] is KILN_DIM_ONE, tile[i] work-groups, whatever the shape; where it is KILN_DIM_UNITS,
 * tile[i] for each compute unit.
 *
 * A stage that prepares A alone gets M, K, A and PACKED_A only; one that prepares B alone, N, K, B
 * and PACKED_B. A stage that prepares nothing reads no operand that another stage prepares. A stage
 * may prepare both operands; then there is also one for each alone. Which are enqueued:
 * - without a pack, the stage for both if there is one, else those for each;
 * - with a pack of one operand, those for the other alone;
 * - to pack an operand, those for it alone, and nothing else.
 * An operand that is taken as it is counts as packed.
 * The last stage prepares nothing. Others may write parts of C that no stage after them reads.
 *
 * Where a launch takes several members of a batch (`batches` of the recipe, kiln_num_members of
 * plan.h), it has so many times the work-groups along axis 2: work-group i there is of member i. K
 * is then in one part, and along an axis of KILN_DIM_UNITS there may be fewer work-groups. */
struct kiln_stage {
    const char *entry;                 /* the kernel's name in the recipe's program */
    uint8_t work_dim;                  /* 1 to 3 */
    uint8_t dim[3];                    /* enum kiln_dim */
    uint32_t tile[3];                  /* >= 1 */
    uint16_t local[3];                 /* >= 1 */
    uint32_t local_bytes;              /* local memory that one work-group declares */
    uint8_t num_args;
    uint8_t args[KILN_MAX_ARGS];       /* enum kiln_arg, in the kernel's order */
    uint8_t prepares;                  /* enum kiln_prepared */
    uint8_t role;                      /* enum kiln_role */
};

/* A device binary of a program, and what it was made for. It matches where all strings are equal;
 * NULL stands for any. */
struct kiln_binary {
    const char *platform;              /* CL_PLATFORM_NAME */
    const char *device;                /* CL_DEVICE_NAME */
    const char *driver;                /* CL_DRIVER_VERSION */
    uint32_t compute_capability;       /* of NVIDIA's devices, 90 for 9.0; 0 is any device */
    uint64_t source_hash;              /* must equal the program's hash */
    uint64_t data_hash;                /* of the data (fnv.h); with another it is not loaded */
    const unsigned char *data;
    size_t size;                       /* bytes */
};

/* Two symbols, one after the other. */
struct kiln_pair {
    uint16_t first, second;
};

/* The kernel text of a bundle's programs, which is mostly the same. Each line is there once, and so
 * is what the programs share. A symbol stands for text: one below num_lines is a line, and
 * num_lines + i is pair i, which is made of lines and of pairs before it. reader.h reads it. */
struct kiln_pool {
    uint32_t text_bytes, num_lines, num_pairs, num_symbols;
    const char *text;                  /* its last byte is NUL. NULL: it is packed */
    const uint32_t *lines;             /* where each begins in the text. A NUL ends it, and stands
                                          for a newline; a first byte below ' ' stands for so many
                                          spaces */
    const struct kiln_pair *pairs;
    const uint16_t *symbols;           /* of the programs */
    uint32_t packed_bytes;
    const unsigned char *packed;       /* the text as an LZ4 block (lz4.h) */
};

/* The text of a recipe's kernels: a run of the pool's symbols. */
struct kiln_program {
    uint64_t hash;                     /* of the text (fnv.h); one with another is not compiled */
    uint32_t ptx;                      /* compute capability that the text is masked PTX for
                                          (ptx.c), 90 for 9.0; 0: plain OpenCL C */
    uint32_t first_symbol, num_symbols;   /* 0 symbols when there are only binaries */
    uint32_t text_bytes;               /* of the text */
    uint32_t num_binaries;
    const struct kiln_binary *binaries;
};

/* What a call must satisfy for a recipe to serve it: m, n and k divide the extents up to a small
 * rest; a, b and c divide the leading dimension and offset of that matrix. 0 and 1 mean any. */
struct kiln_guard {
    uint16_t m, n, k;
    uint16_t a, b, c;                  /* elements; a divides lda, a_offset and a_stride, ... */
    uint32_t most[3];                  /* the largest m, n, k; 0 is any */
    uint16_t rest[3];                  /* the largest rest when m, n, k are divided so */
};

/* Kinds of devices, as a set: CPUs on which a work-item has vectors, and what is no CPU. A CPU
 * whose driver tells of no vectors is of neither kind: work-items are the lanes of its vectors, and
 * local memory gains nothing. */
enum kiln_kind { KILN_KIND_CPU = 1, KILN_KIND_OTHER = 2, KILN_KIND_BOTH = 3 };

/* The terms of a recipe's time (predict.h). "A compute unit" is the one that has most work;
 * "fetched" is what passes from memory or cache to the work-groups. "Shared" steps and elements are
 * those of all units together, counted in 1/256 of what one has if all have as many. */
enum kiln_term {
    KILN_TERM_CALL,                    /* 1 */
    KILN_TERM_STEPS,                   /* over K, of the work-groups that a compute unit takes */
    KILN_TERM_ROUNDS,                  /* work-groups that a compute unit takes */
    KILN_TERM_PAIRED_STEPS,            /* the same two, where a unit takes two at a time; or, where
                                          work-groups take turns, of all of a unit's together */
    KILN_TERM_PAIRED_ROUNDS,
    KILN_TERM_EVEN,                    /* steps, shared */
    KILN_TERM_DEPTH,                   /* steps of one work-group */
    KILN_TERM_A, KILN_TERM_B, KILN_TERM_C,       /* elements, shared, as all below but COPIES */
    KILN_TERM_RAGGED_C,                /* of C, where rows begin within lines of 64 bytes */
    KILN_TERM_TRANSPOSED_A, KILN_TERM_TRANSPOSED_B,        /* of operands that are transposed */
    KILN_TERM_FETCHED_A, KILN_TERM_FETCHED_B,              /* elements, once for every tile */
    KILN_TERM_FETCHED_TRANSPOSED_A, KILN_TERM_FETCHED_TRANSPOSED_B,
    KILN_TERM_FETCHED_RAGGED_A, KILN_TERM_FETCHED_RAGGED_B,
    KILN_TERM_COPIES,                  /* 1 where a launch is made that others do without: parts of
                                          K are added up, or an operand is prepared that may be
                                          taken as it is; and the elements of those operands */
    KILN_TERM_COPIED_A, KILN_TERM_COPIED_B,
    KILN_TERM_SHARED,                  /* elements of C in tiles that work-groups share */
    KILN_TERM_KEPT,                    /* elements that they keep of these, to be added up */
    KILN_TERM_FETCHED_PLAIN_A, KILN_TERM_FETCHED_PLAIN_B,  /* elements, once for every tile, of
                                          operands that are not transposed */
    KILN_TERM_PRODUCTS,                /* m n k, shared: not what tiles compute beyond C */
    KILN_TERM_FETCHED_UNCACHED,        /* elements, once for every tile, of operands that are larger
                                          than most caches */
    KILN_NUM_TERMS
};

/* Picoseconds for each unit of a term; none is negative. */
struct kiln_time {
    float coefficient[KILN_NUM_TERMS];
};

/* How one multiplication is done: launches in order, with the regions they share. */
struct kiln_recipe {
    const char *name;                  /* family and configuration, for a reader */
    uint8_t precision;                 /* enum kiln_precision */
    uint8_t transa, transb;            /* 0 or 1 */
    uint8_t routine;                   /* enum kiln_routine */
    uint8_t triangles;                 /* enum kiln_triangles */
    uint8_t index_bits;                /* 32: only while every index fits 31 bits; or 64 */
    struct kiln_guard guard;
    uint32_t tile[3];                  /* >= 1: rows and columns of C that are computed at a time,
                                          and the depth of one step over K */
    uint32_t reach[3];                 /* >= the tile of the recipe and of any stage: the largest
                                          part by which kernels go through M, N and K. An index goes
                                          less than twice as far beyond the extent */
    uint16_t unit_parts;               /* work-groups for each compute unit; where tiles are fewer,
                                          K is shared among them (kiln_num_parts of plan.h). 0: K is
                                          not shared */
    uint16_t unit_turns;               /* work-groups for each compute unit that take tiles in turn;
                                          0: each has a tile of its own */
    uint8_t shares;                    /* 1: they share the steps over K of the tiles that make no
                                          whole turn (kiln_whole_tiles of plan.h) */
    uint8_t as_is;                     /* of the operands that it prepares, those that it takes as
                                          they are where their rows are aligned */
    uint8_t batches;                   /* 1: a launch may take several members of a batch; what
                                          multiplies takes the strides of all that it reads and
                                          writes */
    uint8_t kinds;                     /* enum kiln_kind; 0: any */
    uint8_t vector_floats;             /* least CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT; 0: any */
    const struct kiln_time *time;      /* NULL: not known; what has a time is preferred */
    uint32_t program;                  /* index into the bundle's programs */
    uint8_t num_stages, num_regions;
    const struct kiln_stage *stages;
    const struct kiln_region *regions;
};

/* A shape of an application's own, and the recipes that were fastest there, by pair:
 * indices into the bundle's recipes, or KILN_NO_RECIPE. They serve it whatever the times say. */
struct kiln_pin {
    uint8_t precision;                 /* enum kiln_precision */
    uint32_t m, n, k, batch;           /* batch: members; 1: a single multiplication */
    uint16_t recipe[KILN_NUM_PAIRS];
};
enum { KILN_NO_RECIPE = 0xffff };

/* Which devices a bundle is for. Strings are globs in which * stands for any text; NULL is any.
 * Those of drivers may be several, with | between them. */
struct kiln_match {
    const char *platform;              /* CL_PLATFORM_NAME */
    const char *device;                /* CL_DEVICE_NAME */
    const char *driver;                /* CL_DRIVER_VERSION */
    uint32_t native_vector_float;      /* CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT; 0 is any */
    uint32_t compute_capability;       /* of NVIDIA's devices, 90 for 9.0; 0 is any device */
    const char *verified;              /* drivers that it was verified on but not tuned on: with one
                                          of these it serves as a relative's. NULL is none */
};

/* The device that a bundle was tuned on: those like it are its relatives (kinship.c). Its platform
 * is that of the match. Without compute units nothing is known of it, and it has no relatives. */
struct kiln_device_traits {
    uint8_t is_cpu;                    /* 1: CL_DEVICE_TYPE_CPU */
    uint32_t compute_units;            /* CL_DEVICE_MAX_COMPUTE_UNITS */
    uint32_t native_vector_float;      /* CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT */
    uint32_t local_bytes;              /* local memory that a work-group may declare */
    uint32_t compute_capability;       /* of NVIDIA's devices, 90 for 9.0; 0 for others */
};

struct kiln_bundle {
    uint32_t format;                   /* KILN_BUNDLE_FORMAT */
    const char *name;
    const char *provenance;            /* generator, device and driver the bundle was tuned with */
    struct kiln_match match;
    struct kiln_device_traits traits;
    struct kiln_pool pool;
    uint32_t num_programs, num_recipes, num_pins;
    const struct kiln_program *programs;
    const struct kiln_recipe *recipes; /* what has no time is tried in this order */
    const struct kiln_pin *pins;
};

/* The linked bundles in order of preference, generic last, ended by NULL. Made by
 * tuned/meson.build; scripts/onefile.py makes a static one. */
#ifndef KILN_ONE_FILE
extern const struct kiln_bundle *const kiln_linked_bundles[];
#endif

#endif
