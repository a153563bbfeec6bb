/* packing.h: calls with packs, for the tests of them on the fake driver. */
#ifndef KILN_TESTS_PACKING_H
#define KILN_TESTS_PACKING_H

#include "fixture.h"

enum { M = 16, N = 16, K = 4096, A_BYTES = M * K * 4, B_BYTES = K * N * 8 };

/* A packed operand with the buffer that was made for it. */
struct packed {
    struct kiln_pack pack;
    cl_mem buffer;
};

/* A shape that the packed recipe of three stages serves, and one of the one-stage recipe. */
static inline struct kiln_gemm packed_gemm(const struct fixture *f)
{
    return fixture_gemm(f, M, N, K);
}

static inline struct kiln_gemm small_gemm(const struct fixture *f)
{
    return fixture_gemm(f, 60, 50, 40);
}

static inline size_t bytes_for(struct fixture *f, const struct kiln_gemm *gemm,
        enum kiln_pack_operand operand)
{
    size_t bytes = 0;
    assert_int_equal(kiln_pack_bytes(f->kiln, gemm, operand, &bytes), KILN_SUCCESS);
    assert_true(bytes > 0);
    return bytes;
}

/* Packs into a buffer of just the right size; the records of it are forgotten. */
static inline struct packed pack(struct fixture *f, const struct kiln_gemm *gemm,
        enum kiln_pack_operand operand)
{
    struct packed packed = { .buffer = stub_make_buffer(f->cl, bytes_for(f, gemm, operand)) };
    assert_int_equal(kiln_pack_enqueue(f->kiln, gemm, operand, packed.buffer, 0, f->queue, 0, NULL,
                             NULL, &packed.pack),
            KILN_SUCCESS);
    stub_clear_records();
    return packed;
}

static inline void let_go(struct packed *packed)
{
    assert_int_equal(stub_refs(packed->buffer), 1);
    clReleaseMemObject(packed->buffer);
}

static inline enum kiln_status call(struct fixture *f, const struct kiln_gemm *gemm)
{
    return kiln_gemm_enqueue(f->kiln, gemm, f->queue, 0, NULL, NULL);
}

#endif
