/* test_misfit.c: every way in which a pack, or a packing, does not fit. */
#include "packing.h"

#include "internal.h"

#include <string.h>

/* A call with both operands packed, of which something may be spoilt. */
struct misfit {
    struct kiln_gemm gemm;
    struct kiln_pack a, b;
    cl_mem made;                       /* released after the call */
};

typedef void spoil(struct fixture *f, struct misfit *misfit);

static void spoil_empty(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->a = (struct kiln_pack){ 0 };
}

static void spoil_buffer(struct fixture *f, struct misfit *misfit)
{
    misfit->a.buffer = (cl_mem) (void *) f->queue;
}

static void spoil_kind(struct fixture *f, struct misfit *misfit)
{
    misfit->b.buffer = misfit->made = stub_make_image(f->cl, B_BYTES);
}

static void spoil_size(struct fixture *f, struct misfit *misfit)
{
    misfit->a.buffer = misfit->made = stub_make_buffer(f->cl, A_BYTES - 1);
}

static void spoil_place(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->a.offset = 256;
}

static void spoil_alignment(struct fixture *f, struct misfit *misfit)
{
    misfit->a.buffer = misfit->made = stub_make_buffer(f->cl, 2 * A_BYTES);
    misfit->a.offset = 4;
}

static void spoil_context(struct fixture *f, struct misfit *misfit)
{
    misfit->b.buffer = misfit->made = stub_make_buffer(f->other_cl, B_BYTES);
}

static void spoil_operand(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.packed_a = &misfit->b;
}

static void spoil_precision(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.precision = KILN_DOUBLE;
}

static void spoil_transpose(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.transb = KILN_TRANS;
}

static void spoil_rows(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.m = M + 1;
}

static void spoil_depth(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.packed_a = NULL;
    misfit->gemm.k = K - 1;
}

static void spoil_batch(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.batch_count = 2;
    misfit->gemm.b_stride = 1;
    misfit->gemm.c_stride = M * N;
}

static void spoil_bundle(struct fixture *f, struct misfit *misfit)
{
    static struct kiln_bundle copy;
    (void) f;
    copy = tuned_bundle;
    misfit->a.bundle = &copy;
}

static void spoil_index(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->b.recipe = NUM_TUNED;
}

static void spoil_recipe(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->b.recipe = TUNED_SMALL;
}

/* The pack of A alone fits, but its kernels are for another transpose of B. */
static void spoil_other_transpose(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.packed_b = NULL;
    misfit->gemm.transb = KILN_TRANS;
}

/* The kernels of the packs have 32-bit indices. */
static void spoil_index_width(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    misfit->gemm.c_offset = (size_t) 1 << 32;
}

/* The lowest status counts, whichever pack it is of. */
static void spoil_both(struct fixture *f, struct misfit *misfit)
{
    spoil_bundle(f, misfit);
    spoil_batch(f, misfit);
}

static void spoil_call_too(struct fixture *f, struct misfit *misfit)
{
    spoil_empty(f, misfit);
    misfit->gemm.c = NULL;
}

static void pass(struct fixture *f, struct misfit *misfit)
{
    (void) f;
    (void) misfit;
}

static const struct {
    const char *what;
    enum kiln_status expected;
    spoil *spoil;
} misfits[] = {
    {"nothing", KILN_SUCCESS, pass},
    {"an empty pack", KILN_INVALID_PACK, spoil_empty},
    {"a buffer that is none", KILN_INVALID_PACK, spoil_buffer},
    {"a buffer that is an image", KILN_INVALID_PACK, spoil_kind},
    {"a buffer that shrank", KILN_INVALID_PACK, spoil_size},
    {"a pack past the end", KILN_INVALID_PACK, spoil_place},
    {"a pack between places", KILN_INVALID_PACK, spoil_alignment},
    {"a buffer of another context", KILN_PACK_CONTEXT_MISMATCH, spoil_context},
    {"B as A", KILN_PACK_OPERAND_MISMATCH, spoil_operand},
    {"another precision", KILN_PACK_PRECISION_MISMATCH, spoil_precision},
    {"another transpose", KILN_PACK_TRANSPOSE_MISMATCH, spoil_transpose},
    {"another m", KILN_PACK_SHAPE_MISMATCH, spoil_rows},
    {"another k", KILN_PACK_SHAPE_MISMATCH, spoil_depth},
    {"a stride", KILN_PACK_BATCH_MISMATCH, spoil_batch},
    {"another bundle", KILN_PACK_BUNDLE_MISMATCH, spoil_bundle},
    {"no such recipe", KILN_PACK_BUNDLE_MISMATCH, spoil_index},
    {"two recipes", KILN_PACK_RECIPE_MISMATCH, spoil_recipe},
    {"another transpose of B", KILN_PACK_UNSUITABLE, spoil_other_transpose},
    {"an offset beyond 32 bits", KILN_PACK_UNSUITABLE, spoil_index_width},
    {"two faults", KILN_PACK_BATCH_MISMATCH, spoil_both},
    {"a fault of the call as well", KILN_INVALID_BUFFER_C, spoil_call_too},
};

static void check_misfit(struct fixture *f, size_t i, const struct kiln_pack *a,
        const struct kiln_pack *b)
{
    struct misfit misfit = { .gemm = packed_gemm(f), .a = *a, .b = *b };
    size_t bytes = 0;
    char text[2048];
    if (sizeof(size_t) < 8 && misfits[i].spoil == spoil_index_width) {
        return; /* no buffer of the host is that large */
    }
    misfit.gemm.packed_a = &misfit.a;
    misfit.gemm.packed_b = &misfit.b;
    misfits[i].spoil(f, &misfit);
    enum kiln_status status = call(f, &misfit.gemm);
    if (status != misfits[i].expected) {
        fail_msg("%s: %s", misfits[i].what, kiln_status_string(status));
    }
    assert_int_equal(stub_num_records(), status == KILN_SUCCESS);
    stub_clear_records();
    if (misfit.gemm.c != NULL) { /* which questions do not look at */
        assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &misfit.gemm, &bytes), status);
        assert_int_equal(kiln_gemm_explain(f->kiln, &misfit.gemm, text, sizeof text), status);
    }
    if (misfit.made != NULL) {
        clReleaseMemObject(misfit.made);
    }
}

static void misfits_have_their_status(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a = pack(f, &gemm, KILN_PACK_A), b = pack(f, &gemm, KILN_PACK_B);
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        check_misfit(f, i, &a.pack, &b.pack);
    }
    let_go(&a);
    let_go(&b);
}

static enum kiln_status pack_into(struct fixture *f, const struct kiln_gemm *gemm, cl_mem buffer,
        size_t offset)
{
    struct kiln_pack made;
    memset(&made, 1, sizeof made);
    enum kiln_status status = kiln_pack_enqueue(f->kiln, gemm, KILN_PACK_A, buffer, offset,
            f->queue, 0, NULL, NULL, &made);
    assert_int_equal(stub_num_records(), 0);
    assert_null(made.buffer);
    return status;
}

static void bad_targets_have_their_status(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    cl_mem room = stub_make_buffer(f->cl, A_BYTES + 256);
    cl_mem image = stub_make_image(f->cl, A_BYTES);
    cl_mem foreign = stub_make_buffer(f->other_cl, A_BYTES);
    assert_int_equal(pack_into(f, &gemm, NULL, 0), KILN_INVALID_PACK_BUFFER);
    assert_int_equal(pack_into(f, &gemm, image, 0), KILN_INVALID_PACK_BUFFER);
    assert_int_equal(pack_into(f, &gemm, room, 128), KILN_INVALID_PACK_BUFFER);
    assert_int_equal(pack_into(f, &gemm, room, 512), KILN_PACK_BUFFER_TOO_SMALL);
    assert_int_equal(pack_into(f, &gemm, room, (size_t) 1 << sizeof(size_t) * 5),
            KILN_PACK_BUFFER_TOO_SMALL);
    assert_int_equal(pack_into(f, &gemm, foreign, 0), KILN_PACK_CONTEXT_MISMATCH);
    gemm.batch_count = 2;
    gemm.a_stride = M * K;
    gemm.c_stride = M * N;
    assert_int_equal(pack_into(f, &gemm, room, 0), KILN_PACK_BATCH_MISMATCH);
    gemm.transb = (enum kiln_transpose) 1;
    assert_int_equal(pack_into(f, &gemm, room, 0), KILN_INVALID_TRANSPOSE_B);
    clReleaseMemObject(room);
    clReleaseMemObject(image);
    clReleaseMemObject(foreign);
}

static void arguments_of_packing_are_checked(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct kiln_pack made = { 0 };
    size_t bytes = 0;
    assert_int_equal(kiln_pack_bytes(NULL, &gemm, KILN_PACK_A, &bytes), KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_pack_bytes(f->kiln, NULL, KILN_PACK_A, &bytes), KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_A, NULL), KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, (enum kiln_pack_operand) 0, &bytes),
            KILN_INVALID_PACK_OPERAND);
    const struct {
        struct kiln_context *kiln;
        const struct kiln_gemm *gemm;
        enum kiln_pack_operand operand;
        cl_command_queue queue;
        cl_uint num_waits;
        struct kiln_pack *made;
        enum kiln_status expected;
    } cases[] = {
        { NULL, &gemm, KILN_PACK_A, f->queue, 0, &made, KILN_INVALID_ARGUMENT },
        { f->kiln, NULL, KILN_PACK_A, f->queue, 0, &made, KILN_INVALID_ARGUMENT },
        { f->kiln, &gemm, KILN_PACK_A, f->queue, 0, NULL, KILN_INVALID_ARGUMENT },
        { f->kiln, &gemm, (enum kiln_pack_operand) 3, f->queue, 0, &made,
                KILN_INVALID_PACK_OPERAND },
        { f->kiln, &gemm, KILN_PACK_A, NULL, 0, &made, KILN_INVALID_QUEUE },
        { f->kiln, &gemm, KILN_PACK_A, f->queue, 1, &made, KILN_INVALID_WAIT_LIST },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(kiln_pack_enqueue(cases[i].kiln, cases[i].gemm, cases[i].operand, f->c, 0,
                                 cases[i].queue, cases[i].num_waits, NULL, NULL, cases[i].made),
                cases[i].expected);
    }
    assert_int_equal(stub_num_records(), 0);
}

/* Each case has two faults: the one with the lower number is told. */
static void the_lowest_status_of_a_packing_counts(void **state)
{
    struct fixture *f = *state;
    const enum kiln_pack_operand neither = (enum kiln_pack_operand) 3;
    struct kiln_gemm gemm = packed_gemm(f), wrong = gemm, batch = gemm, both = gemm;
    const struct kiln_pack none = { 0 };
    struct kiln_pack made;
    size_t bytes = 1;
    wrong.precision = (enum kiln_precision) 9;
    batch.batch_count = 2;
    batch.a_stride = M * K;
    batch.c_stride = M * N;
    both.packed_b = &none;
    const struct {
        const struct kiln_gemm *gemm;
        enum kiln_pack_operand operand;
        cl_command_queue queue;
        cl_mem room;
        enum kiln_status expected;
    } cases[] = {
        { &gemm, neither, NULL, f->c, KILN_INVALID_QUEUE },
        { &wrong, neither, f->queue, f->c, KILN_INVALID_PRECISION },
        { &gemm, neither, f->queue, NULL, KILN_INVALID_PACK_OPERAND },
        { &batch, KILN_PACK_A, f->queue, NULL, KILN_INVALID_PACK_BUFFER },
        { &both, KILN_PACK_A, f->queue, NULL, KILN_INVALID_PACK_BUFFER },
        { &both, KILN_PACK_A, f->queue, f->c, KILN_INVALID_PACK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&made, 1, sizeof made);
        assert_int_equal(kiln_pack_enqueue(f->kiln, cases[i].gemm, cases[i].operand, cases[i].room,
                                 0, cases[i].queue, 0, NULL, NULL, &made),
                cases[i].expected);
        assert_null(made.buffer);
    }
    assert_int_equal(kiln_pack_bytes(f->kiln, &wrong, neither, &bytes), KILN_INVALID_PRECISION);
    assert_int_equal(bytes, 0);
}

/* Where the rest of the arguments is not even looked at, too. */
static void a_failed_packing_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct kiln_pack made;
    size_t bytes = 1;
    memset(&made, 1, sizeof made);
    assert_int_equal(kiln_pack_bytes(NULL, &gemm, KILN_PACK_A, &bytes), KILN_INVALID_ARGUMENT);
    assert_int_equal(bytes, 0);
    assert_int_equal(
            kiln_pack_enqueue(NULL, &gemm, KILN_PACK_A, f->c, 0, f->queue, 0, NULL, NULL, &made),
            KILN_INVALID_ARGUMENT);
    assert_memory_equal(&made, &(struct kiln_pack){ 0 }, sizeof made);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(misfits_have_their_status),
        TEST(bad_targets_have_their_status),
        TEST(arguments_of_packing_are_checked),
        TEST(the_lowest_status_of_a_packing_counts),
        TEST(a_failed_packing_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
