/* fixture.h: the world in which each host-logic test runs, on the fake driver. */
#ifndef KILN_TESTS_FIXTURE_H
#define KILN_TESTS_FIXTURE_H

#include "test_bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct fixture {
    cl_device_id device, other_device;
    cl_context cl, other_cl;           /* cl holds both devices */
    cl_command_queue queue;            /* in order */
    cl_command_queue loose;            /* out of order */
    cl_mem a, b, c;                    /* 16 TiB each: no shape below that is too large for them */
    struct kiln_context *kiln;         /* made by fixture_setup; tests may replace it */
};

/* For cmocka: *state is the struct fixture *. The teardown destroys the context and fails when an
 * object or a reference is left, or when the driver was misused. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Replaces the fixture's context; fails the test where that fails. NULL: the defaults. */
void fixture_new_context(struct fixture *f, const struct kiln_context_params *params);
/* An NVIDIA device of compute capability major.minor beside the fixture's own, to be looked at by
 * explain: it has no queue. */
struct fixture_nvidia {
    cl_device_id device;
    cl_context cl;
    struct kiln_context *kiln;
};
struct stub_facts fixture_nvidia_facts(cl_uint major, cl_uint minor);
struct fixture_nvidia fixture_nvidia_open(const struct stub_facts *facts,
        const struct kiln_context_params *params);
void fixture_nvidia_close(struct fixture_nvidia *nvidia);
/* The call C = A * B in single precision, dense. */
struct kiln_gemm fixture_gemm(const struct fixture *f, size_t m, size_t n, size_t k);
/* Enqueues it on the in-order queue with no events, forgets older records, expects success. */
void fixture_run(struct fixture *f, const struct kiln_gemm *gemm);
/* The only record there is; fails the test unless it is a launch of the named kernel. */
/* Skips the test on a host of 32 bits, where no buffer is as large as it needs. */
void fixture_need_large_buffers(void);
const struct stub_record *fixture_only(const char *entry);
/* Fails unless the records are launches of these kernels, in order; ended by NULL. */
void fixture_expect(const char *entry, ...);
/* Fails unless explain's second line names the recipe and its first line the bundle. */
void fixture_expect_recipe_on(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        const char *bundle, const char *recipe);
void fixture_expect_recipe(struct fixture *f, const struct kiln_gemm *gemm, const char *bundle,
        const char *recipe);

#endif
