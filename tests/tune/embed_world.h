/* embed_world.h: a bundle of a few programs and a device for it, on the fake OpenCL driver. */
#ifndef KILN_TESTS_TUNE_EMBED_WORLD_H
#define KILN_TESTS_TUNE_EMBED_WORLD_H

#include "tune/embed.h"
#include "internal.h"
#include "stub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* No other bundle serves. */
extern const struct kiln_bundle *const kiln_linked_bundles[];
const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

#define PARAMETERS                                                                                \
    "int m, int n, int k, float alpha, global const float *a, int a_offset, int lda, "            \
    "global const float *b, int b_offset, int ldb, float beta, global float *c, int c_offset, "   \
    "int ldc) {}\n"

/* The second is masked, and reads what the driver tells it. The others take no calls: of the third
 * the stand-ins make no cubin, and at the fourth they do what FAKE_CUDA_TRIP says. */
static const struct {
    const char *entry, *text;
} world_programs[] = {
    { "first", "// .target sm_90\nkernel void first(" PARAMETERS },
    { "second", "// .target sm_90\n//@ %envreg3\nkernel void second(" PARAMETERS },
    { "third", "// .target sm_90\n// refuse\nkernel void third(" PARAMETERS },
    { "fourth", "// .target sm_90\n// trip\nkernel void fourth(" PARAMETERS },
    { "fifth", "// .target sm_90\nkernel void fifth(" PARAMETERS },
    { "sixth", "// .target sm_90\nkernel void sixth(" PARAMETERS },
    { "seventh", "// .target sm_90\nkernel void seventh(" PARAMETERS },
    { "eighth", "// .target sm_90\nkernel void eighth(" PARAMETERS },
};
enum {
    WORLD_PROGRAMS = sizeof world_programs / sizeof *world_programs, ELF_HEADER_BYTES = 64
};

struct world {
    cl_device_id device;
    cl_context cl;
    cl_command_queue queue;
    struct assembly assembly;
    struct kiln_stage stages[WORLD_PROGRAMS];
    char error[FAMILY_ERROR_BYTES];
};

/* The first takes calls whose n is a multiple of 64, and the second others. */
static inline void add_recipe(struct world *w, unsigned number)
{
    struct assembly *assembly = &w->assembly;
    struct kiln_program *program = &assembly->programs[number];
    const char *text = world_programs[number].text;
    assert_true(pool_add(&assembly->pool, text, program));
    program->hash = kiln_hash(KILN_HASH_BEGIN, text, strlen(text));
    program->ptx = number == 1 ? 90 : 0;
    w->stages[number] = (struct kiln_stage){
        .entry = world_programs[number].entry,
        .work_dim = 2,
        .dim = { KILN_DIM_N, KILN_DIM_M },
        .tile = { 1, 1 },
        .local = { 1, 1 },
        .num_args = 14,
        .args = { KILN_ARG_M, KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_A, KILN_ARG_A_OFFSET,
                KILN_ARG_LDA, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB, KILN_ARG_BETA,
                KILN_ARG_C, KILN_ARG_C_OFFSET, KILN_ARG_LDC },
    };
    assembly->recipes[number] = (struct kiln_recipe){
        .name = w->stages[number].entry,
        .precision = KILN_SINGLE,
        .index_bits = 32,
        .guard.n = number ? 1 : 64,
        .tile = { 1, 1, 1 },
        .reach = { 1, 1, 1 },
        .program = number,
        .num_stages = 1,
        .stages = &w->stages[number],
    };
    assembly->bundle.num_programs = assembly->bundle.num_recipes = number + 1;
    assembly->bundle.pool = assembly->pool.data;
}

/* Multiplies as the kernels say, in NN. */
static inline void multiply(void *user, const struct stub_record *r)
{
    const float *a = stub_buffer_data(stub_record_mem(r, 4));
    const float *b = stub_buffer_data(stub_record_mem(r, 7));
    float *c = stub_buffer_data(stub_record_mem(r, 11));
    const long long m = stub_record_int(r, 0), n = stub_record_int(r, 1), k = stub_record_int(r, 2);
    const float alpha = (float) stub_record_real(r, 3), beta = (float) stub_record_real(r, 10);
    const bool *is_wrong = user;
    for (long long i = 0; i < m; i++)
        for (long long j = 0; j < n; j++) {
            float sum = *is_wrong ? 1 : 0;
            for (long long p = 0; p < k; p++)
                sum += a[i * stub_record_int(r, 6) + p] * b[p * stub_record_int(r, 9) + j];
            float *at = &c[i * stub_record_int(r, 13) + j];
            *at = alpha * sum + beta * *at;
        }
}

static bool products_are_wrong;

static inline void open_device(struct world *w, unsigned minor, const char *name)
{
    struct stub_facts facts = stub_default_facts();
    facts.extensions = "cl_khr_fp64 cl_nv_device_attribute_query";
    facts.name = name;
    facts.nv_major = 9;
    facts.nv_minor = minor;
    w->device = stub_make_device(&facts);
    w->cl = stub_make_context(1, &w->device);
    w->queue = stub_make_queue(w->cl, w->device, false);
}

/* With so many of the programs. */
static inline void open_world(struct world *w, unsigned num)
{
    struct device_facts facts;
    memset(w, 0, sizeof *w);
    stub_reset();
    products_are_wrong = false;
    stub_emulate(multiply, &products_are_wrong);
    open_device(w, 0, "Stub Device");
    facts_minimal(&facts);
    assert_true(assembly_init(&w->assembly, "embedded", &facts));
    for (unsigned i = 0; i < num; i++)
        add_recipe(w, i);
}

static inline void close_world(struct world *w)
{
    assert_int_equal(stub_live(STUB_PROGRAM), 0);
    assert_int_equal(stub_live(STUB_KERNEL), 0);
    assembly_free(&w->assembly);
}

static inline bool is_elf(const struct kiln_binary *binary)
{
    return binary->size > ELF_HEADER_BYTES && !memcmp(binary->data, "\177ELF", 4);
}

#endif
