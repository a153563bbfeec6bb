/* test_verify.c: generator/tune/{verify,matrix}.c: wrong kernels are caught.
 *
 * Each fault is a plain kernel in which one thing is wrong. It is put into a bundle by hand and run
 * through the library, as the tuner runs its candidates. Needs a device; 77 without one.
 */
#include "device.h"
#include "verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The tuner links no bundle, so that a kernel that is refused has no stand-in. */
const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

static struct launcher launcher;
static struct device_facts facts;

/* The parts of the kernel, any of which may be at fault. */
struct fault {
    const char *name;
    const char *outside;               /* which work-items do nothing */
    const char *terms;                 /* what is summed over */
    const char *sum;                   /* how the sum is finished */
    const char *store;                 /* what is stored, and where */
};

#define RIGHT_OUTSIDE "i >= M || j >= N"
#define RIGHT_TERMS "p < K"
#define RIGHT_SUM ""
#define AT "C[c_offset + i * ldc + j]"
#define RIGHT_STORE AT " = beta == 0 ? alpha * s : alpha * s + beta * " AT ";"

static const struct fault right = { "right", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE };

static const struct fault faults[] = {
    { "writes-past-n", "i >= M || j > N", RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE },
    { "writes-past-m", "i > M || j >= N", RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE },
    { "skips-last-column", "i >= M || j >= N - 1", RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE },
    { "skips-last-row", "i >= M - 1 || j >= N", RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE },
    { "skips-one-element", RIGHT_OUTSIDE " || (i == 2 && j == 1)", RIGHT_TERMS, RIGHT_SUM,
      RIGHT_STORE },
    { "does-nothing", "true", RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE },
    { "misses-last-term", RIGHT_OUTSIDE, "p < K - 1", RIGHT_SUM, RIGHT_STORE },
    { "adds-a-term", RIGHT_OUTSIDE, "p <= K", RIGHT_SUM, RIGHT_STORE },
    { "misses-terms-past-16", RIGHT_OUTSIDE, "p < min(K, 16)", RIGHT_SUM, RIGHT_STORE },
    { "ignores-beta", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM, AT " = alpha * s;" },
    { "beta-is-one", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM,
      AT " = beta == 0 ? alpha * s : alpha * s + " AT ";" },
    { "reads-c-at-beta-zero", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM,
      AT " = alpha * s + beta * " AT ";" },
    { "ignores-alpha", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM,
      AT " = beta == 0 ? s : s + beta * " AT ";" },
    { "ignores-c-offset", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM, "C[i * ldc + j] = beta == 0 ?"
      " alpha * s : alpha * s + beta * C[i * ldc + j];" },
    { "ignores-ldc", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM, "C[c_offset + i * N + j] = beta == 0 ?"
      " alpha * s : alpha * s + beta * C[c_offset + i * N + j];" },
    { "writes-before-c", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE
      " if (i == 0 && j == 0) C[c_offset - 1] = 0;" },
    { "writes-after-c", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE
      " if (i == M - 1 && j == N - 1) C[c_offset + i * ldc + N + 2] = 0;" },
    { "nan-in-one-element", RIGHT_OUTSIDE, RIGHT_TERMS,
      "if (i == M - 1 && j == N - 1) s = nan(1u);", RIGHT_STORE },
    { "one-too-many-in-one-element", RIGHT_OUTSIDE, RIGHT_TERMS, "if (i == 4 && j == 4) s += 1;",
      RIGHT_STORE },
    { "low-precision", RIGHT_OUTSIDE, RIGHT_TERMS, "s = as_float(as_uint(s) & 0xffffe000);",
      RIGHT_STORE },
};

static struct kiln_stage stage = {
    .entry = "multiply", .work_dim = 2, .dim = { KILN_DIM_N, KILN_DIM_M },
    .tile = { 16, 4, 1 }, .local = { 16, 4, 1 }, .num_args = 14,
    .args = { KILN_ARG_M, KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_BETA, KILN_ARG_A,
              KILN_ARG_A_OFFSET, KILN_ARG_LDA, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB,
              KILN_ARG_C, KILN_ARG_C_OFFSET, KILN_ARG_LDC },
};

#define KERNEL_HEAD \
    "__kernel void multiply(int M, int N, int K, float alpha, float beta,\n" \
    "        __global const float *A, int a_offset, int lda,\n" \
    "        __global const float *B, int b_offset, int ldb,\n" \
    "        __global float *C, int c_offset, int ldc)\n" \
    "{\n"

/* However wrong, it stays within the zones around the matrices, or else it might crash the test. */
static void write_kernel(const struct fault *fault, char *text, size_t size)
{
    snprintf(text, size,
            KERNEL_HEAD
            "    const int i = get_global_id(1), j = get_global_id(0);\n"
            "    float s = 0;\n"
            "    if (%s)\n"
            "        return;\n"
            "    for (int p = 0; %s; p++)\n"
            "        s += A[a_offset + min(i, M - 1) * lda + p] *\n"
            "             B[b_offset + p * ldb + min(j, N - 1)];\n"
            "    %s\n"
            "    %s\n"
            "}\n",
            fault->outside, fault->terms, fault->sum, fault->store);
}

/* A fault's kernel as the only recipe of a bundle, opened. */
struct fixture {
    char text[2048];
    uint32_t line;
    uint16_t symbol;
    struct kiln_program program;
    struct kiln_recipe recipe;
    struct kiln_bundle bundle;
    struct problem problem;
    struct kiln_context *context;
    struct verifier verifier;
};

static struct problem problem_nn(void)
{
    return (struct problem){ .precision = precision_find("single") };
}

/* With the text that is in the fixture, for the problem. */
static void fixture_open_problem(struct fixture *fixture, const char *name,
        const struct kiln_stage *multiply, const struct problem *problem)
{
    const uint32_t len = (uint32_t) strlen(fixture->text);
    fixture->program = (struct kiln_program){ .num_symbols = 1,
        .text_bytes = len,
        .hash = kiln_hash(KILN_HASH_BEGIN, fixture->text, len) };
    fixture->text[len - 1] = '\0'; /* for the newline */
    fixture->recipe = (struct kiln_recipe){ .name = name,
        .precision = (uint8_t) problem->precision->id,
        .transa = problem->transa,
        .transb = problem->transb,
        .index_bits = 32,
        .num_stages = 1,
        .stages = multiply,
        .tile = { 4, 16, 1 },
        .reach = { 4, 16, 1 } };
    fixture->bundle = (struct kiln_bundle){ .format = KILN_BUNDLE_FORMAT,
        .name = "test",
        .provenance = "",
        .num_programs = 1,
        .num_recipes = 1,
        .programs = &fixture->program,
        .recipes = &fixture->recipe,
        .pool = { .text_bytes = len,
                .num_lines = 1,
                .num_symbols = 1,
                .text = fixture->text,
                .lines = &fixture->line,
                .symbols = &fixture->symbol } };
    fixture->problem = *problem;
    const struct kiln_context_params params = { .bundle = &fixture->bundle };
    assert_int_equal(
            kiln_context_create(launcher.context, launcher.device, &params, &fixture->context),
            KILN_SUCCESS);
    verifier_init(&fixture->verifier, &launcher);
}

static void fixture_open_text(struct fixture *fixture, const char *name,
        const struct kiln_stage *multiply)
{
    const struct problem problem = problem_nn();
    fixture_open_problem(fixture, name, multiply, &problem);
}

static void fixture_open(struct fixture *fixture, const struct fault *fault)
{
    memset(fixture, 0, sizeof *fixture);
    write_kernel(fault, fixture->text, sizeof fixture->text);
    fixture_open_text(fixture, fault->name, &stage);
}

/* A product of complex singles a, of A, and b: `sum` is added for each term. */
static void fixture_open_complex(struct fixture *fixture, const char *sum, int pair)
{
    const struct problem problem = problem_of_pair(precision_find("complex_single"), pair);
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->text, sizeof fixture->text,
            "__kernel void multiply(int M, int N, int K, float alpha, float beta,\n"
            "        __global const float2 *A, int a_offset, int lda,\n"
            "        __global const float2 *B, int b_offset, int ldb,\n"
            "        __global float2 *C, int c_offset, int ldc)\n"
            "{\n"
            "    const int i = get_global_id(1), j = get_global_id(0);\n"
            "    float2 s = 0;\n"
            "    if (" RIGHT_OUTSIDE ")\n"
            "        return;\n"
            "    for (int p = 0; p < K; p++) {\n"
            "        const float2 a = A[a_offset + %s];\n"
            "        const float2 b = B[b_offset + %s];\n"
            "        s += %s;\n"
            "    }\n"
            "    " RIGHT_STORE "\n"
            "}\n",
            problem.transa ? "p * lda + i" : "i * lda + p",
            problem.transb ? "j * ldb + p" : "p * ldb + j", sum);
    fixture_open_problem(fixture, "complex", &stage, &problem);
}

enum { TURNS = 512 }; /* more than there are tiles in classes without turns */

/* Work-groups take tiles of 4 x 16 in turn, up to one of that number. */
static void fixture_open_turns(struct fixture *fixture, const char *end)
{
    static struct kiln_stage in_turn;
    in_turn = stage;
    in_turn.work_dim = 1;
    in_turn.dim[0] = KILN_DIM_ONE;
    in_turn.tile[0] = TURNS;
    in_turn.local[0] = 1;
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->text, sizeof fixture->text,
            KERNEL_HEAD
            "    const int across = (N + 15) / 16, tiles = (M + 3) / 4 * across;\n"
            "    for (int e = get_group_id(0) * 64; e < (%s) * 64;\n"
            "            e += e %% 64 == 63 ? %d * 64 - 63 : 1) {\n"
            "        const int i = e / 64 / across * 4 + e %% 64 / 16;\n"
            "        const int j = e / 64 %% across * 16 + e %% 16;\n"
            "        float s = 0;\n"
            "        for (int p = 0; i < M && j < N && p < K; p++)\n"
            "            s += A[a_offset + i * lda + p] * B[b_offset + p * ldb + j];\n"
            "        if (i < M && j < N)\n"
            "            %s\n"
            "    }\n"
            "}\n",
            end, TURNS, RIGHT_STORE);
    fixture_open_text(fixture, "in-turn", &in_turn);
}

static void fixture_close(struct fixture *fixture)
{
    verifier_free(&fixture->verifier);
    kiln_context_destroy(&fixture->context);
}

static const struct assembly_edges no_edges;

/* How many edge classes find fault, of those that follow from what is stated. */
static unsigned count_wrong(struct fixture *fixture, const struct assembly_edges *stated)
{
    unsigned wrong = 0;
    struct edge_case edges[VERIFY_MAX_EDGES];
    const unsigned num = verify_edges(&fixture->problem, &fixture->recipe, stated, edges);
    for (unsigned i = 0; i < num; i++) {
        const struct verify_case *of = &edges[i].of;
        char message[VERIFY_MESSAGE_BYTES];
        enum verify_verdict verdict = verify_exact(&fixture->verifier, fixture->context, of,
                message);
        if (verdict == VERIFY_OK && verify_has_reference(of))
            verdict = verify_gauge(&fixture->verifier, fixture->context, of, message);
        if (verdict != VERIFY_OK && verdict != VERIFY_WRONG)
            fail_msg("%s at %s: %s", fixture->recipe.name, edges[i].name, message);
        assert_true(verdict == VERIFY_OK ? !message[0] : message[0] != '\0');
        wrong += verdict == VERIFY_WRONG;
    }
    return wrong;
}

static bool passes_checks(struct fixture *fixture)
{
    struct verify_case exact, gauge;
    char message[VERIFY_MESSAGE_BYTES];
    verify_check_cases(&fixture->problem, &fixture->recipe, &no_edges, &exact, &gauge);
    return verify_exact(&fixture->verifier, fixture->context, &exact, message) == VERIFY_OK &&
           verify_gauge(&fixture->verifier, fixture->context, &gauge, message) == VERIFY_OK;
}

static void test_right_kernel_passes(void **state)
{
    struct fixture fixture;
    (void) state;
    fixture_open(&fixture, &right);
    assert_int_equal(count_wrong(&fixture, &no_edges), 0);
    assert_true(passes_checks(&fixture));
    fixture_close(&fixture);
}

static void test_complex_kernels(void **state)
{
    static const char *const sums[] = {
        "(float2) (a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)",
        "(float2) (a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y)", /* b conjugated */
        "(float2) (a.x * b.x - a.y * b.y, a.y * b.x - a.x * b.y)",
        "(float2) (a.x * b.x, a.x * b.y + a.y * b.x)",
        "(float2) (a.x * b.y + a.y * b.x, a.x * b.x - a.y * b.y)", /* parts change places */
        "(float2) (a.x * b.x - a.y * b.y, 0)",
        "a * b",
    };
    (void) state;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            struct fixture fixture;
            fixture_open_complex(&fixture, sums[i], pair);
            if ((count_wrong(&fixture, &no_edges) == 0) != (i == 0))
                fail_msg("'%s' is %s", sums[i], i ? "not caught" : "taken for wrong");
            assert_int_equal(passes_checks(&fixture), i == 0);
            fixture_close(&fixture);
        }
}

static void test_wrong_kernels_fail(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, &faults[i]);
        if (!count_wrong(&fixture, &no_edges))
            fail_msg("'%s' is not caught by any edge class", faults[i].name);
        fixture_close(&fixture);
    }
}

/* That a kernel does one turn alone shows where turns are stated, and only there. */
static void test_missing_turns_fail(void **state)
{
    const struct assembly_edges stated = { .turns = TURNS, .block = { 4, 16 } };
    struct fixture fixture;
    (void) state;
    fixture_open_turns(&fixture, "tiles");
    assert_int_equal(count_wrong(&fixture, &stated), 0);
    fixture_close(&fixture);
    fixture_open_turns(&fixture, "min(tiles, 512)");
    assert_int_equal(count_wrong(&fixture, &no_edges), 0);
    assert_int_equal(count_wrong(&fixture, &stated), 2);
    fixture_close(&fixture);
}

/* The two checks before timing catch what does not depend on a special shape, offset or scalar. */
static void test_checks_before_timing(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, &faults[i]);
        if (passes_checks(&fixture))
            fail_msg("'%s' would be timed", faults[i].name);
        fixture_close(&fixture);
    }
}

/* Integers hide a loss of precision, random numbers show it. */
static void test_only_gauge_sees_precision(void **state)
{
    struct fixture fixture;
    char message[VERIFY_MESSAGE_BYTES];
    const struct verify_case of = { .problem = problem_nn(),
        .m = 20,
        .n = 30,
        .k = 40,
        .alpha = 1 };
    (void) state;
    fixture_open(&fixture, &faults[sizeof faults / sizeof faults[0] - 1]);
    assert_int_equal(verify_exact(&fixture.verifier, fixture.context, &of, message), VERIFY_OK);
    assert_int_equal(verify_gauge(&fixture.verifier, fixture.context, &of, message), VERIFY_WRONG);
    assert_non_null(strstr(message, "units"));
    fixture_close(&fixture);
}

static void test_messages_name_the_place(void **state)
{
    static const struct {
        const char *fault, *message;
    } expected[] = {
        { "writes-past-n", "wrote between rows, at row 0 column 30" },
        { "writes-before-c", "wrote 1 elements before C" },
        { "writes-after-c", "wrote 3 elements after C's end" },
        { "one-too-many-in-one-element", "C[4][4] is " },
    };
    (void) state;
    for (size_t e = 0; e < sizeof expected / sizeof expected[0]; e++)
        for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
            struct fixture fixture;
            char message[VERIFY_MESSAGE_BYTES];
            const struct verify_case of = { .problem = problem_nn(),
                .m = 20,
                .n = 30,
                .k = 40,
                .alpha = 1,
                .pad_c = 2 };
            if (strcmp(faults[i].name, expected[e].fault))
                continue;
            fixture_open(&fixture, &faults[i]);
            assert_int_equal(verify_exact(&fixture.verifier, fixture.context, &of, message),
                    VERIFY_WRONG);
            if (!strstr(message, expected[e].message))
                fail_msg("'%s' is not in '%s'", expected[e].message, message);
            fixture_close(&fixture);
        }
}

/* What is wrong of a shape that is divided among threads, and what is said of it. */
static void test_threads_say_the_same(void **state)
{
    static const struct {
        const char *extra, *message;
    } wrong[] = {
        { "", "" },
        { "if (i == 0 && j == 0) s += 1;", "C[0][0] is " },
        { "if (i == M / 2 && j == 7) s += 1;", "C[550][7] is " },
        { "if (i == M - 1 && j == N - 1) s += 1;", "C[1099][999] is " },
        { "if (i >= 137 && j >= 800) s += 1;", "C[137][800] is " },
        { "if (i == 9 && j == 9) C[c_offset - 2] = 0;", "wrote 2 elements before C" },
        { "if (i == 9 && j == 9) C[c_offset + (M - 1) * ldc + N] = 0;",
                "wrote 1 elements after C's end" },
        { "if (i == 9 && j == 9) C[c_offset + 400 * ldc + N + 1] = 0;",
                "wrote between rows, at row 400 column 1001" },
    };
    (void) state;
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        const struct fault fault = { "large", RIGHT_OUTSIDE, RIGHT_TERMS, wrong[w].extra,
            RIGHT_STORE };
        char message[4][VERIFY_MESSAGE_BYTES];
        for (unsigned i = 0; i < 4; i++) {
            struct fixture fixture;
            const struct verify_case of = { .problem = problem_nn(),
                .m = 1100,
                .n = 1000,
                .k = 5,
                .pad_c = 2,
                .alpha = 1,
                .beta = i & 2 ? 0.75 : 0 };
            fixture_open(&fixture, &fault);
            fixture.verifier.cores = i & 1 ? 8 : 1;
            verify_exact(&fixture.verifier, fixture.context, &of, message[i]);
            fixture_close(&fixture);
            assert_memory_equal(message[i], wrong[w].message, strlen(wrong[w].message));
            assert_int_equal(message[i][0] == '\0', w == 0);
        }
        assert_string_equal(message[0], message[1]);
        assert_string_equal(message[2], message[3]);
    }
}

/* What one candidate left in C is not what the next one starts from. */
static void test_nothing_is_left_of_the_last_one(void **state)
{
    const struct verify_case of = { .problem = problem_nn(),
        .m = 20,
        .n = 30,
        .k = 40,
        .alpha = 1 };
    const struct fault idle = { "idle", "true", RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE };
    struct fixture first, second;
    char message[VERIFY_MESSAGE_BYTES];
    (void) state;
    fixture_open(&first, &right);
    fixture_open(&second, &idle);
    assert_int_equal(verify_exact(&first.verifier, first.context, &of, message), VERIFY_OK);
    assert_int_equal(verify_exact(&first.verifier, second.context, &of, message), VERIFY_WRONG);
    assert_memory_equal(message, "C[0][0] is nan", strlen("C[0][0] is nan"));
    assert_int_equal(verify_exact(&first.verifier, first.context, &of, message), VERIFY_OK);
    fixture_close(&second);
    fixture_close(&first);
}

/* The same by columns, as an application calls, and done again. */
static void test_other_ways_to_call(void **state)
{
    struct fixture fixture;
    char message[VERIFY_MESSAGE_BYTES];
    struct verify_case of = { .problem = problem_nn(),
        .m = 20,
        .n = 30,
        .k = 40,
        .alpha = 2,
        .beta = 0.75,
        .pad_a = 1,
        .pad_b = 2,
        .pad_c = 3,
        .by_columns = true,
        .repeats = 2 };
    (void) state;
    fixture_open(&fixture, &right);
    launcher.is_plain = true;
    assert_int_equal(verify_exact(&fixture.verifier, fixture.context, &of, message), VERIFY_OK);
    assert_int_equal(fixture.verifier.gemm.layout, KILN_COL_MAJOR);
    assert_int_equal(fixture.verifier.gemm.m, of.n);
    assert_int_equal(verify_gauge(&fixture.verifier, fixture.context, &of, message), VERIFY_OK);
    launcher.is_plain = false;
    fixture_close(&fixture);
}

/* It also changes A, by so little that each result alone is within the bound. */
static void test_repeats_must_agree(void **state)
{
    struct fixture fixture;
    char message[VERIFY_MESSAGE_BYTES];
    const struct fault fickle = { "fickle", RIGHT_OUTSIDE, RIGHT_TERMS, RIGHT_SUM,
        RIGHT_STORE " if (i == 0 && j == 0) ((__global float *) A)[a_offset] *= 1.000001f;" };
    struct verify_case of = { .problem = problem_nn(), .m = 1, .n = 1, .k = 40, .alpha = 1 };
    (void) state;
    fixture_open(&fixture, &fickle);
    assert_int_equal(verify_gauge(&fixture.verifier, fixture.context, &of, message), VERIFY_OK);
    of.repeats = 1;
    assert_int_equal(verify_gauge(&fixture.verifier, fixture.context, &of, message), VERIFY_WRONG);
    assert_non_null(strstr(message, "other bits"));
    fixture_close(&fixture);
}

static void test_refused(void **state)
{
    struct fixture fixture;
    char message[VERIFY_MESSAGE_BYTES];
    const struct fault syntax = { "syntax", "}{", RIGHT_TERMS, RIGHT_SUM, RIGHT_STORE };
    struct verify_case of = { .problem = problem_nn(), .m = 20, .n = 30, .k = 40, .alpha = 1 };
    (void) state;
    fixture_open(&fixture, &syntax);
    assert_int_equal(verify_exact(&fixture.verifier, fixture.context, &of, message),
            VERIFY_REFUSED);
    fixture_close(&fixture);
    fixture_open(&fixture, &right);
    fixture.recipe.guard.m = 16; /* does not divide 20 */
    assert_false(kiln_guard_takes_extents(&fixture.recipe.guard, 20, 30, 40));
    assert_int_equal(verify_gauge(&fixture.verifier, fixture.context, &of, message),
            VERIFY_REFUSED);
    fixture_close(&fixture);
}

/* Beyond 2^24 odd numbers may not add up exactly in float; that is said, not passed over. */
static void test_too_deep(void **state)
{
    struct fixture fixture;
    char message[VERIFY_MESSAGE_BYTES];
    struct verify_case of = { .problem = problem_nn(),
        .m = 1,
        .n = 1,
        .k = (size_t) 1 << 20,
        .alpha = 1 };
    (void) state;
    fixture_open(&fixture, &right);
    assert_int_equal(verify_exact(&fixture.verifier, fixture.context, &of, message), VERIFY_OK);
    of.k = (size_t) 1 << 23;
    assert_int_equal(verify_exact(&fixture.verifier, fixture.context, &of, message),
            VERIFY_IMPOSSIBLE);
    fixture_close(&fixture);
}

/* ---- Matrices ---- */

static void test_matrix_guards(void **state)
{
    struct matrix matrix;
    char message[MATRIX_MESSAGE_BYTES];
    (void) state;
    for (int type = 0; type < KILN_NUM_STORAGES; type++) {
        const size_t bytes = kiln_storage_bytes((enum kiln_storage) type);
        assert_true(matrix_init(&matrix, (enum kiln_storage) type, 5, 7, 3, 11));
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < 7; j++) {
                matrix_set(&matrix, i, j, (double) (i * 7 + j) - 9);
                assert_true(matrix_get(&matrix, i, j) == (double) (i * 7 + j) - 9);
            }
        assert_true(matrix_is_intact(&matrix, message));
        /* Any byte outside the elements, and only there. */
        for (size_t at = 0; at < matrix.bytes; at++) {
            const size_t first = MATRIX_ZONE_BYTES + 11 * bytes;
            const bool inside = at >= first && at < first + (4 * 10 + 7) * bytes &&
                                (at - first) / bytes % 10 < 7;
            matrix.image[at] ^= 1;
            assert_int_equal(matrix_is_intact(&matrix, message), inside);
            matrix.image[at] ^= 1;
        }
        matrix_free(&matrix);
    }
}

static void test_matrix_of_nothing(void **state)
{
    struct matrix matrix;
    char message[MATRIX_MESSAGE_BYTES];
    (void) state;
    assert_true(matrix_init(&matrix, KILN_STORED_FLOAT, 0, 5, 0, 0));
    assert_true(matrix_is_intact(&matrix, message));
    matrix.image[MATRIX_ZONE_BYTES] ^= 1;
    assert_false(matrix_is_intact(&matrix, message));
    matrix_free(&matrix);
    assert_false(matrix_init(&matrix, KILN_STORED_DOUBLE, SIZE_MAX / 2, 3, 0, 0));
    matrix_free(&matrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_kernel_passes),
        cmocka_unit_test(test_complex_kernels),
        cmocka_unit_test(test_wrong_kernels_fail),
        cmocka_unit_test(test_missing_turns_fail),
        cmocka_unit_test(test_checks_before_timing),
        cmocka_unit_test(test_only_gauge_sees_precision),
        cmocka_unit_test(test_messages_name_the_place),
        cmocka_unit_test(test_threads_say_the_same),
        cmocka_unit_test(test_nothing_is_left_of_the_last_one),
        cmocka_unit_test(test_other_ways_to_call),
        cmocka_unit_test(test_repeats_must_agree),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_matrix_guards),
        cmocka_unit_test(test_matrix_of_nothing),
    };
    cl_device_id device;
    char error[FAMILY_ERROR_BYTES];
    if (!device_find("", &device, error)) {
        printf("skipped: %s\n", error);
        return 77;
    }
    if (!device_facts(device, &facts, error) || !launcher_open(&launcher, device, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_FAILURE;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launcher_close(&launcher);
    return failed;
}
