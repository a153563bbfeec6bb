/* gemm.c: the calls that multiply. Each one is checked, bound and launched. */
#include "internal.h"

enum kiln_status kiln_problem_make(const struct kiln_context *context, const struct kiln_gemm *gemm,
        enum kiln_checks checks, struct kiln_problem *problem)
{
    enum kiln_status status = kiln_problem_check(context, gemm, checks, problem);
    if (status == KILN_SUCCESS) {
        status = kiln_problem_bind(context, gemm, problem);
    }
    return status == KILN_SUCCESS ? kiln_check_forms(gemm) : status;
}

static enum kiln_status enqueue(struct kiln_context *context, const struct kiln_gemm *gemm,
        enum kiln_checks checks, enum kiln_status found, struct kiln_request *request)
{
    struct kiln_problem problem;
    if (context == NULL || gemm == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    enum kiln_status status = kiln_check_request(context, request);
    if (status == KILN_SUCCESS) {
        status = kiln_lower(kiln_problem_make(context, gemm, checks, &problem), found);
    }
    return status == KILN_SUCCESS ? kiln_launch(context, &problem, request) : status;
}

enum kiln_status kiln_gemm_request(struct kiln_context *context, const struct kiln_gemm *gemm,
        enum kiln_status found, struct kiln_request *request)
{
    return enqueue(context, gemm, KILN_CHECK_ALL_STRICT, found, request);
}

enum kiln_status kiln_gemm_enqueue(struct kiln_context *context, const struct kiln_gemm *gemm,
        cl_command_queue queue, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
        cl_event *event)
{
    struct kiln_request request = {
        .queue = queue,
        .num_wait = num_events_in_wait_list,
        .wait = event_wait_list,
        .event = event,
    };
    return enqueue(context, gemm, KILN_CHECK_ALL, KILN_SUCCESS, &request);
}

enum kiln_status kiln_gemm_enqueue_profiled(struct kiln_context *context,
        const struct kiln_gemm *gemm, cl_command_queue queue,
        cl_event stage_events[KILN_MAX_STAGES], unsigned *num_events)
{
    struct kiln_request request = {
        .queue = queue,
        .stage_events = stage_events,
        .num_stage_events = num_events,
    };
    if (num_events != NULL) {
        *num_events = 0;
    }
    if (stage_events == NULL || num_events == NULL || gemm == NULL || gemm->batch_count > 1 ||
            gemm->uplo_a != 0 || gemm->uplo_b != 0) {
        return KILN_INVALID_ARGUMENT;
    }
    return enqueue(context, gemm, KILN_CHECK_ALL, KILN_SUCCESS, &request);
}

/* The typed calls differ in the precision alone. */
static enum kiln_status enqueue_typed(struct kiln_context *context, const struct kiln_gemm *gemm,
        cl_command_queue queue, cl_uint num_wait, const cl_event *wait, cl_event *event)
{
    struct kiln_request request = {
        .queue = queue,
        .num_wait = num_wait,
        .wait = wait,
        .event = event,
    };
    return kiln_gemm_request(context, gemm, KILN_SUCCESS, &request);
}

enum kiln_status kiln_sgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        float alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb,
        float beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    const struct kiln_gemm gemm = {
        .precision = KILN_SINGLE,
        .layout = layout,
        .transa = transa,
        .transb = transb,
        .m = m,
        .n = n,
        .k = k,
        .alpha = alpha,
        .beta = beta,
        .a = a,
        .b = b,
        .c = c,
        .a_offset = a_offset,
        .b_offset = b_offset,
        .c_offset = c_offset,
        .lda = lda,
        .ldb = ldb,
        .ldc = ldc,
    };
    return enqueue_typed(context, &gemm, queue, num_events_in_wait_list, event_wait_list, event);
}

enum kiln_status kiln_dgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        double alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb,
        double beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    const struct kiln_gemm gemm = {
        .precision = KILN_DOUBLE,
        .layout = layout,
        .transa = transa,
        .transb = transb,
        .m = m,
        .n = n,
        .k = k,
        .alpha = alpha,
        .beta = beta,
        .a = a,
        .b = b,
        .c = c,
        .a_offset = a_offset,
        .b_offset = b_offset,
        .c_offset = c_offset,
        .lda = lda,
        .ldb = ldb,
        .ldc = ldc,
    };
    return enqueue_typed(context, &gemm, queue, num_events_in_wait_list, event_wait_list, event);
}

enum kiln_status kiln_hgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        float alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb,
        float beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    const struct kiln_gemm gemm = {
        .precision = KILN_HALF,
        .layout = layout,
        .transa = transa,
        .transb = transb,
        .m = m,
        .n = n,
        .k = k,
        .alpha = alpha,
        .beta = beta,
        .a = a,
        .b = b,
        .c = c,
        .a_offset = a_offset,
        .b_offset = b_offset,
        .c_offset = c_offset,
        .lda = lda,
        .ldb = ldb,
        .ldc = ldc,
    };
    return enqueue_typed(context, &gemm, queue, num_events_in_wait_list, event_wait_list, event);
}

enum kiln_status kiln_cgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        cl_float2 alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset,
        size_t ldb, cl_float2 beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    const struct kiln_gemm gemm = {
        .precision = KILN_COMPLEX_SINGLE,
        .layout = layout,
        .transa = transa,
        .transb = transb,
        .m = m,
        .n = n,
        .k = k,
        .alpha = alpha.s[0],
        .beta = beta.s[0],
        .alpha_imag = alpha.s[1],
        .beta_imag = beta.s[1],
        .a = a,
        .b = b,
        .c = c,
        .a_offset = a_offset,
        .b_offset = b_offset,
        .c_offset = c_offset,
        .lda = lda,
        .ldb = ldb,
        .ldc = ldc,
    };
    return enqueue_typed(context, &gemm, queue, num_events_in_wait_list, event_wait_list, event);
}

enum kiln_status kiln_zgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        cl_double2 alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset,
        size_t ldb, cl_double2 beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    const struct kiln_gemm gemm = {
        .precision = KILN_COMPLEX_DOUBLE,
        .layout = layout,
        .transa = transa,
        .transb = transb,
        .m = m,
        .n = n,
        .k = k,
        .alpha = alpha.s[0],
        .beta = beta.s[0],
        .alpha_imag = alpha.s[1],
        .beta_imag = beta.s[1],
        .a = a,
        .b = b,
        .c = c,
        .a_offset = a_offset,
        .b_offset = b_offset,
        .c_offset = c_offset,
        .lda = lda,
        .ldb = ldb,
        .ldc = ldc,
    };
    return enqueue_typed(context, &gemm, queue, num_events_in_wait_list, event_wait_list, event);
}
