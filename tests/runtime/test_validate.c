/* test_validate.c: every bad argument has its status, and nothing is enqueued for any of them. */
#include "fixture.h"

#include <string.h>

enum { M = 20, N = 30, K = 40 };

struct call {
    struct kiln_context *context;
    struct kiln_gemm gemm;
    const struct kiln_gemm *gemm_pointer;
    cl_command_queue queue;
    cl_uint num_waits;
    const cl_event *waits;
    cl_mem made[2];                    /* released after the call */
    cl_command_queue made_queue;
};

struct bad_call {
    const char *what;
    enum kiln_status expected;
    void (*spoil)(struct fixture *f, struct call *call);
};

static void spoil_context(struct fixture *f, struct call *call)
{
    (void) f;
    call->context = NULL;
}

static void spoil_gemm(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm_pointer = NULL;
}

static void spoil_queue_null(struct fixture *f, struct call *call)
{
    (void) f;
    call->queue = NULL;
}

static void spoil_queue_kind(struct fixture *f, struct call *call)
{
    call->queue = (cl_command_queue) (void *) f->a;
}

static void spoil_queue_context(struct fixture *f, struct call *call)
{
    call->queue = call->made_queue = stub_make_queue(f->other_cl, f->device, false);
}

static void spoil_queue_device(struct fixture *f, struct call *call)
{
    call->queue = call->made_queue = stub_make_queue(f->cl, f->other_device, false);
}

static void spoil_wait_count(struct fixture *f, struct call *call)
{
    (void) f;
    call->num_waits = 1;
}

static void spoil_wait_list(struct fixture *f, struct call *call)
{
    static const cl_event none = NULL;
    (void) f;
    call->waits = &none;
}

static void spoil_wait_null(struct fixture *f, struct call *call)
{
    spoil_wait_count(f, call);
    spoil_wait_list(f, call);
}

static void spoil_precision(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.precision = (enum kiln_precision) 33;
}

static void spoil_layout(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.layout = (enum kiln_layout) 100;
}

static void spoil_transa(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.transa = (enum kiln_transpose) 110;
}

static void spoil_transb(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.transb = (enum kiln_transpose) 114;
}

static void spoil_lda(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.lda = K - 1;
}

static void spoil_lda_transposed(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.transa = KILN_TRANS;
    call->gemm.lda = M - 1;
}

static void spoil_lda_column(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.layout = KILN_COL_MAJOR;
    call->gemm.lda = M - 1;
}

static void spoil_ldb(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.ldb = N - 1;
}

static void spoil_ldb_column(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.layout = KILN_COL_MAJOR;
    call->gemm.ldb = K - 1;
}

static void spoil_ldc(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.ldc = N - 1;
}

static void spoil_ldc_column(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.layout = KILN_COL_MAJOR;
    call->gemm.ldc = M - 1;
}

static void spoil_a_null(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.a = NULL;
}

static void spoil_b_null(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.b = NULL;
}

static void spoil_c_null(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.c = NULL;
}

static void spoil_a_kind(struct fixture *f, struct call *call)
{
    call->gemm.a = (cl_mem) (void *) f->queue;
}

static void spoil_b_kind(struct fixture *f, struct call *call)
{
    call->gemm.b = call->made[0] = stub_make_image(f->cl, 1 << 20);
}

static void spoil_c_kind(struct fixture *f, struct call *call)
{
    call->gemm.c = call->made[0] = stub_make_image(f->cl, 1 << 20);
}

static void spoil_a_context(struct fixture *f, struct call *call)
{
    call->gemm.a = call->made[0] = stub_make_buffer(f->other_cl, 1 << 20);
}

static void spoil_c_context(struct fixture *f, struct call *call)
{
    call->gemm.c = call->made[0] = stub_make_buffer(f->other_cl, 1 << 20);
}

static void spoil_a_offset(struct fixture *f, struct call *call)
{
    call->gemm.a = call->made[0] = stub_make_buffer(f->cl, 1 << 20);
    call->gemm.a_offset = ((1 << 20) / 4) + 1;
}

static void spoil_b_offset(struct fixture *f, struct call *call)
{
    call->gemm.b = call->made[0] = stub_make_buffer(f->cl, 1 << 20);
    call->gemm.b_offset = ((1 << 20) / 4) + 1;
}

static void spoil_c_offset(struct fixture *f, struct call *call)
{
    call->gemm.c = call->made[0] = stub_make_buffer(f->cl, 1 << 20);
    call->gemm.c_offset = ((1 << 20) / 4) + 1;
}

static void spoil_a_size(struct fixture *f, struct call *call)
{
    call->gemm.a = call->made[0] = stub_make_buffer(f->cl, M * K * 4 - 1);
}

static void spoil_b_size(struct fixture *f, struct call *call)
{
    call->gemm.b = call->made[0] = stub_make_buffer(f->cl, K * N * 4 + 6 * 4 - 1);
    call->gemm.b_offset = 6;
}

static void spoil_c_size(struct fixture *f, struct call *call)
{
    call->gemm.ldc = N + 5;
    call->gemm.c = call->made[0] = stub_make_buffer(f->cl, (M * (N + 5) - 5) * 4 - 1);
}

static void spoil_c_size_of_batch(struct fixture *f, struct call *call)
{
    call->gemm.batch_count = 3;
    call->gemm.c_stride = 1000;
    call->gemm.c = call->made[0] = stub_make_buffer(f->cl, (2000 + M * N) * 4 - 1);
}

static void spoil_size(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.m = call->gemm.n = (size_t) 1 << sizeof(size_t) * 4;
}

static void spoil_ld_size(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.lda = SIZE_MAX / 4;
}

static void spoil_batch(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.batch_count = 2;
}

static void spoil_batch_overlap(struct fixture *f, struct call *call)
{
    (void) f;
    call->gemm.batch_count = 2;
    call->gemm.c_stride = N - 1;
}

static void need_workspace(struct call *call)
{
    call->gemm.m = call->gemm.n = 16;
    call->gemm.k = 4096;
}

static void spoil_workspace_kind(struct fixture *f, struct call *call)
{
    need_workspace(call);
    call->gemm.workspace = call->made[0] = stub_make_image(f->cl, 1 << 20);
}

static void spoil_workspace_context(struct fixture *f, struct call *call)
{
    need_workspace(call);
    call->gemm.workspace = call->made[0] = stub_make_buffer(f->other_cl, 1 << 20);
}

static void spoil_workspace_context_and_alignment(struct fixture *f, struct call *call)
{
    spoil_workspace_context(f, call);
    call->gemm.workspace_offset = 1;
    call->gemm.c_offset = (size_t) 1 << 60;
}

static void spoil_workspace_alignment(struct fixture *f, struct call *call)
{
    need_workspace(call);
    call->gemm.workspace = call->made[0] = stub_make_buffer(f->cl, 1 << 24);
    call->gemm.workspace_offset = 4;
}

static void spoil_workspace_size(struct fixture *f, struct call *call)
{
    need_workspace(call);
    call->gemm.workspace = call->made[0] = stub_make_buffer(f->cl, 512);
}

static void spoil_workspace_offset(struct fixture *f, struct call *call)
{
    size_t second;
    size_t bytes = test_bundle_packed_bytes(16, 16, 4096, &second);
    need_workspace(call);
    call->gemm.workspace = call->made[0] = stub_make_buffer(f->cl, bytes);
    call->gemm.workspace_offset = 256;
}

static const struct bad_call bad_calls[] = {
    {"no context", KILN_INVALID_ARGUMENT, spoil_context},
    {"no call", KILN_INVALID_ARGUMENT, spoil_gemm},
    {"no queue", KILN_INVALID_QUEUE, spoil_queue_null},
    {"a queue that is a buffer", KILN_INVALID_QUEUE, spoil_queue_kind},
    {"a queue of another context", KILN_QUEUE_CONTEXT_MISMATCH, spoil_queue_context},
    {"a queue of another device", KILN_QUEUE_DEVICE_MISMATCH, spoil_queue_device},
    {"events without a list", KILN_INVALID_WAIT_LIST, spoil_wait_count},
    {"a list of no events", KILN_INVALID_WAIT_LIST, spoil_wait_list},
    {"a NULL event", KILN_INVALID_WAIT_LIST, spoil_wait_null},
    {"precision 33", KILN_INVALID_PRECISION, spoil_precision},
    {"layout 100", KILN_INVALID_LAYOUT, spoil_layout},
    {"transa 110", KILN_INVALID_TRANSPOSE_A, spoil_transa},
    {"transb 114", KILN_INVALID_TRANSPOSE_B, spoil_transb},
    {"short lda", KILN_INVALID_LDA, spoil_lda},
    {"short lda of the transposed", KILN_INVALID_LDA, spoil_lda_transposed},
    {"short lda by columns", KILN_INVALID_LDA, spoil_lda_column},
    {"short ldb", KILN_INVALID_LDB, spoil_ldb},
    {"short ldb by columns", KILN_INVALID_LDB, spoil_ldb_column},
    {"short ldc", KILN_INVALID_LDC, spoil_ldc},
    {"short ldc by columns", KILN_INVALID_LDC, spoil_ldc_column},
    {"no A", KILN_INVALID_BUFFER_A, spoil_a_null},
    {"no B", KILN_INVALID_BUFFER_B, spoil_b_null},
    {"no C", KILN_INVALID_BUFFER_C, spoil_c_null},
    {"A is a queue", KILN_INVALID_BUFFER_A, spoil_a_kind},
    {"B is an image", KILN_INVALID_BUFFER_B, spoil_b_kind},
    {"C is an image", KILN_INVALID_BUFFER_C, spoil_c_kind},
    {"A of another context", KILN_BUFFER_CONTEXT_MISMATCH, spoil_a_context},
    {"C of another context", KILN_BUFFER_CONTEXT_MISMATCH, spoil_c_context},
    {"A's offset past the end", KILN_OFFSET_A_PAST_END, spoil_a_offset},
    {"B's offset past the end", KILN_OFFSET_B_PAST_END, spoil_b_offset},
    {"C's offset past the end", KILN_OFFSET_C_PAST_END, spoil_c_offset},
    {"A too small", KILN_BUFFER_A_TOO_SMALL, spoil_a_size},
    {"B too small", KILN_BUFFER_B_TOO_SMALL, spoil_b_size},
    {"C too small", KILN_BUFFER_C_TOO_SMALL, spoil_c_size},
    {"C too small for the batch", KILN_BUFFER_C_TOO_SMALL, spoil_c_size_of_batch},
    {"m * n overflows", KILN_SIZE_OVERFLOW, spoil_size},
    {"m * lda overflows", KILN_SIZE_OVERFLOW, spoil_ld_size},
    {"C's stride of 0", KILN_INVALID_BATCH_STRIDE, spoil_batch},
    {"C's stride too short", KILN_INVALID_BATCH_STRIDE, spoil_batch_overlap},
    {"workspace is an image", KILN_INVALID_WORKSPACE, spoil_workspace_kind},
    {"workspace of another context", KILN_BUFFER_CONTEXT_MISMATCH, spoil_workspace_context},
    {"the same, its offset, and C's", KILN_BUFFER_CONTEXT_MISMATCH,
     spoil_workspace_context_and_alignment},
    {"workspace offset not aligned", KILN_INVALID_WORKSPACE, spoil_workspace_alignment},
    {"workspace too small", KILN_WORKSPACE_TOO_SMALL, spoil_workspace_size},
    {"workspace too small at its offset", KILN_WORKSPACE_TOO_SMALL, spoil_workspace_offset},
};

static void release_made(const struct call *call)
{
    for (int i = 0; i < 2; i++) {
        if (call->made[i] != NULL) {
            clReleaseMemObject(call->made[i]);
        }
    }
    if (call->made_queue != NULL) {
        assert_int_equal(stub_refs(call->made_queue), 1);
        clReleaseCommandQueue(call->made_queue);
    }
}

static void check_bad_call(struct fixture *f, const struct bad_call *bad)
{
    struct call call = { .context = f->kiln, .gemm = fixture_gemm(f, M, N, K), .queue = f->queue };
    cl_event event = NULL;
    call.gemm_pointer = &call.gemm;
    bad->spoil(f, &call);
    enum kiln_status status = kiln_gemm_enqueue(call.context, call.gemm_pointer, call.queue,
            call.num_waits, call.waits, &event);
    if (status != bad->expected) {
        fail_msg("%s: %s", bad->what, kiln_status_string(status));
    }
    assert_int_equal(stub_num_records(), 0);
    assert_null(event);
    release_made(&call);
}

static void bad_calls_have_their_status(void **state)
{
    for (size_t i = 0; i < sizeof bad_calls / sizeof *bad_calls; i++) {
        check_bad_call(*state, &bad_calls[i]);
    }
}

/* A sub-buffer of any operand may begin at every 16th byte of its parent, and nowhere else. */
static void parts_begin_at_multiples_of_16(void **state)
{
    static const enum kiln_status invalid[] = { KILN_INVALID_BUFFER_A, KILN_INVALID_BUFFER_B,
        KILN_INVALID_BUFFER_C };
    struct fixture *f = *state;
    const size_t bytes = (size_t) 64 * 64 * sizeof(float);
    cl_mem whole = stub_make_buffer(f->cl, bytes + 64);
    for (size_t origin = 0; origin <= 32; origin += 4) {
        for (int i = 0; i < 3; i++) {
            struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
            cl_mem *const fields[] = { &gemm.a, &gemm.b, &gemm.c };
            cl_mem part = stub_make_part(whole, origin, bytes);
            *fields[i] = part;
            assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL),
                    origin % 16 == 0 ? KILN_SUCCESS : invalid[i]);
            clReleaseMemObject(part);
        }
    }
    clReleaseMemObject(whole);
}

static void the_smallest_buffers_do(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, M, N, K);
    gemm.a = stub_make_buffer(f->cl, M * K * 4);
    gemm.b = stub_make_buffer(f->cl, (K * N + 6) * 4);
    gemm.b_offset = 6;
    gemm.ldc = N + 5;
    gemm.c = stub_make_buffer(f->cl, (M * (N + 5) - 5) * 4);
    fixture_run(f, &gemm);
    assert_int_equal(stub_num_records(), 1);
    clReleaseMemObject(gemm.a);
    clReleaseMemObject(gemm.b);
    clReleaseMemObject(gemm.c);
}

static void conjugate_transpose_is_transpose(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, M, N, K);
    gemm.transa = KILN_CONJ_TRANS;
    fixture_run(f, &gemm);
    fixture_only("tn_mul");
}

static enum kiln_status typed_call(struct fixture *f, size_t lda, size_t ldb, size_t ldc)
{
    return kiln_sgemm(f->kiln, KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, M, N, K, 1.0f, f->a, 0,
            lda, f->b, 0, ldb, 0.0f, f->c, 0, ldc, f->queue, 0, NULL, NULL);
}

static void typed_calls_take_no_defaults(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(typed_call(f, 0, N, N), KILN_INVALID_LDA);
    assert_int_equal(typed_call(f, K, 0, N), KILN_INVALID_LDB);
    assert_int_equal(typed_call(f, K, N, 0), KILN_INVALID_LDC);
    assert_int_equal(
            kiln_sgemm(f->kiln, (enum kiln_layout) 0, KILN_NO_TRANS, KILN_NO_TRANS, M, N, K, 1.0f,
                    f->a, 0, K, f->b, 0, N, 0.0f, f->c, 0, N, f->queue, 0, NULL, NULL),
            KILN_INVALID_LAYOUT);
    assert_int_equal(stub_num_records(), 0);
    assert_int_equal(typed_call(f, K, N, N), KILN_SUCCESS);
    assert_int_equal(stub_num_records(), 1);
}

static enum kiln_status create(cl_context cl, cl_device_id device,
        const struct kiln_context_params *params)
{
    struct kiln_context *made = NULL;
    enum kiln_status status = kiln_context_create(cl, device, params, &made);
    assert_true((status == KILN_SUCCESS) == (made != NULL));
    kiln_context_destroy(&made);
    return status;
}

static void bad_contexts_have_their_status(void **state)
{
    struct fixture *f = *state;
    struct kiln_bundle wrong = tuned_bundle;
    wrong.format = KILN_BUNDLE_FORMAT + 1;
    struct kiln_context_params params = { .bundle = &wrong };
    assert_int_equal(kiln_context_create(f->cl, f->device, NULL, NULL), KILN_INVALID_ARGUMENT);
    assert_int_equal(create(NULL, f->device, NULL), KILN_INVALID_CONTEXT);
    assert_int_equal(create(f->cl, NULL, NULL), KILN_INVALID_DEVICE);
    assert_int_equal(create(f->other_cl, f->other_device, NULL), KILN_INVALID_DEVICE);
    assert_int_equal(create(f->cl, f->device, &params), KILN_INVALID_BUNDLE);
    kiln_context_destroy(NULL);
}

static void unsound_bundles_are_refused(void **state)
{
    struct fixture *f = *state;
    struct kiln_recipe recipes[NUM_TUNED];
    struct kiln_bundle wrong = tuned_bundle;
    struct kiln_context_params params = { .bundle = &wrong };
    wrong.recipes = recipes;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < NUM_TUNED; j++) {
            recipes[j] = tuned_recipes[j];
        }
        recipes[1].program = i == 0 ? NUM_TUNED_PROGRAMS : recipes[1].program;
        recipes[1].num_stages = i == 1 ? KILN_MAX_STAGES + 1 : recipes[1].num_stages;
        recipes[1].num_regions = i == 2 ? 1 : recipes[1].num_regions;
        recipes[1].index_bits = i == 3 ? 16 : recipes[1].index_bits;
        assert_int_equal(create(f->cl, f->device, &params), KILN_INVALID_BUNDLE);
    }
}

static void a_device_without_double_says_so(void **state)
{
    struct fixture *f = *state;
    struct stub_facts facts = stub_default_facts();
    facts.double_config = 0;
    cl_device_id device = stub_make_device(&facts);
    cl_context cl = stub_make_context(1, &device);
    cl_command_queue queue = stub_make_queue(cl, device, false);
    struct kiln_gemm gemm = fixture_gemm(f, M, N, K);
    struct kiln_context *kiln = NULL;
    gemm.a = gemm.b = gemm.c = stub_make_buffer(cl, 1 << 20);
    assert_int_equal(kiln_context_create(cl, device, NULL, &kiln), KILN_SUCCESS);
    gemm.precision = KILN_DOUBLE;
    assert_int_equal(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, NULL), KILN_NO_DOUBLE);
    assert_int_equal(stub_num_records(), 0);
    gemm.precision = KILN_SINGLE;
    assert_int_equal(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, NULL), KILN_SUCCESS);
    gemm.precision = KILN_HALF;
    assert_int_equal(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, NULL), KILN_SUCCESS);
    kiln_context_destroy(&kiln);
    clReleaseMemObject(gemm.a);
}

static void questions_check_their_arguments(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, M, N, K);
    size_t bytes = 1;
    char text[4] = "old";
    assert_int_equal(kiln_gemm_workspace_bytes(NULL, &gemm, &bytes), KILN_INVALID_ARGUMENT);
    assert_int_equal(bytes, 0);
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, NULL, &bytes), KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, NULL), KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_gemm_explain(NULL, &gemm, text, sizeof text), KILN_INVALID_ARGUMENT);
    assert_string_equal(text, "");
    assert_int_equal(kiln_gemm_explain(f->kiln, NULL, text, sizeof text), KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, NULL, 100), KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_TEXT_TOO_SMALL);
    gemm.transa = (enum kiln_transpose) 1;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_INVALID_TRANSPOSE_A);
}

/* "From the workspace offset on", also where there is no workspace yet. */
static void questions_count_from_the_offset(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    struct kiln_recipe recipes[NUM_TUNED];
    struct kiln_bundle bundle = tuned_bundle;
    size_t bytes = 0;
    memcpy(recipes, tuned_recipes, sizeof recipes);
    struct kiln_region regions[2] = { recipes[TUNED_PACKED].regions[0],
        recipes[TUNED_PACKED].regions[1] };
    regions[0].element_bytes = 12; /* starts at multiples of 768 */
    recipes[TUNED_PACKED].regions = regions;
    bundle.recipes = recipes;
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    gemm.workspace_offset = 256;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    gemm.workspace = stub_make_buffer(f->cl, gemm.workspace_offset + bytes);
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    clReleaseMemObject(gemm.workspace);
    gemm.workspace = NULL;
    gemm.workspace_offset = 255;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_INVALID_WORKSPACE);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL), KILN_SUCCESS);
    kiln_context_destroy(&f->kiln);
}

/* An object that the driver can not look at for want of memory is not an invalid one. */
static void a_lack_of_memory_is_told_as_such(void **state)
{
    static const char *const asking[] = { "clGetCommandQueueInfo", "clGetMemObjectInfo" };
    struct fixture *f = *state;
    for (size_t i = 0; i < 2; i++) {
        for (unsigned nth = 1; nth <= 13; nth++) {
            struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
            gemm.workspace = stub_make_buffer(f->cl, 1 << 20);
            unsigned long before = stub_calls(asking[i]);
            stub_clear_records();
            stub_fail(asking[i], nth, CL_OUT_OF_HOST_MEMORY);
            enum kiln_status status = kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL);
            bool failed = stub_calls(asking[i]) - before >= nth;
            assert_true(failed || nth > 3);
            assert_int_equal(status, failed ? CL_OUT_OF_HOST_MEMORY : KILN_SUCCESS);
            assert_true(!failed || stub_num_records() == 0);
            stub_clear_plans();
            clReleaseMemObject(gemm.workspace);
        }
    }
}

static void an_empty_call_is_still_checked(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 0, N, K);
    gemm.ldc = N - 1;
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL), KILN_INVALID_LDC);
    gemm.ldc = 0;
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, NULL, 0, NULL, NULL), KILN_INVALID_QUEUE);
    assert_int_equal(stub_num_records(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bad_calls_have_their_status),
        TEST(the_smallest_buffers_do),
        TEST(parts_begin_at_multiples_of_16),
        TEST(conjugate_transpose_is_transpose),
        TEST(typed_calls_take_no_defaults),
        TEST(bad_contexts_have_their_status),
        TEST(unsound_bundles_are_refused),
        TEST(a_device_without_double_says_so),
        TEST(questions_check_their_arguments),
        TEST(questions_count_from_the_offset),
        TEST(a_lack_of_memory_is_told_as_such),
        TEST(an_empty_call_is_still_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
