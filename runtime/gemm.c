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

/* found: an error that the typed call saw itself (kiln_gemm_request); the lower status counts. The
 * queue and the wait list are checked first. */
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
    if (stage_events == NULL || num_events == NULL || gemm == NULL || gemm->uplo_a != 0 ||
            gemm->uplo_b != 0) {
        return KILN_INVALID_ARGUMENT;
    }
    return enqueue(context, gemm, KILN_CHECK_ALL, KILN_SUCCESS, &request);
}
