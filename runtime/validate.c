/* validate.c: checks a call and brings it into canonical form.
 *
 * Everything that can be wrong with a call is found here, before anything is enqueued, in the order
 * of the statuses. Whether an operand is A, B or C is an index into tables, so that each check is
 * written once.
 */
#include "internal.h"

#include <string.h>

enum { OPERAND_A, OPERAND_B, OPERAND_C, NUM_OPERANDS };

struct operand {
    cl_mem buffer;
    struct kiln_matrix matrix;
};

/* Elements: a multiple of all numbers up to 16 and of 256. */
enum { LD_PERIOD = 720720 * 16 };

/* What the driver knows of a queue. A queue that it does not know gives an error. */
static cl_int query_queue(cl_command_queue queue, cl_context *context, cl_device_id *device,
        cl_command_queue_properties *properties)
{
    cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof *context, context, NULL);
    if (error == CL_SUCCESS) {
        error = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, NULL);
    }
    if (error == CL_SUCCESS) {
        error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof *properties, properties,
                NULL);
    }
    return error;
}

static enum kiln_status check_queue(const struct kiln_context *context, cl_command_queue queue,
        struct kiln_queue_facts *facts)
{
    cl_context queue_context = NULL;
    cl_device_id queue_device = NULL;
    cl_command_queue_properties properties = 0;
    if (queue == NULL) {
        return KILN_INVALID_QUEUE;
    }
    enum kiln_status status = kiln_conclude(
            query_queue(queue, &queue_context, &queue_device, &properties), KILN_INVALID_QUEUE);
    if (status != KILN_SUCCESS) {
        return status;
    }
    facts->out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    if (queue_context != context->context) {
        return KILN_QUEUE_CONTEXT_MISMATCH;
    }
    return queue_device == context->device ? KILN_SUCCESS : KILN_QUEUE_DEVICE_MISMATCH;
}

static enum kiln_status check_wait_list(cl_uint num_events, const cl_event *events)
{
    if ((num_events == 0) != (events == NULL)) {
        return KILN_INVALID_WAIT_LIST;
    }
    for (cl_uint i = 0; i < num_events; i++) {
        if (events[i] == NULL) {
            return KILN_INVALID_WAIT_LIST;
        }
    }
    return KILN_SUCCESS;
}

enum kiln_status kiln_check_request(const struct kiln_context *context,
        struct kiln_request *request)
{
    enum kiln_status status = check_queue(context, request->queue, &request->queue_facts);
    return status == KILN_SUCCESS ? check_wait_list(request->num_wait, request->wait) : status;
}

static bool read_transpose(enum kiln_transpose value, bool strict, unsigned *trans)
{
    *trans = value == KILN_TRANS || value == KILN_CONJ_TRANS;
    return *trans || value == KILN_NO_TRANS || (value == 0 && !strict);
}

static bool layout_is_known(enum kiln_layout layout, bool strict)
{
    return layout == KILN_ROW_MAJOR || layout == KILN_COL_MAJOR || (layout == 0 && !strict);
}

/* Whether single precision may be emulated. */
static bool may_emulate(const struct kiln_context *context, const struct kiln_gemm *gemm)
{
    return (gemm->arithmetic != 0 ? gemm->arithmetic : context->arithmetic) == KILN_ALLOW_EMULATION;
}

static enum kiln_status read_modes(const struct kiln_context *context, const struct kiln_gemm *gemm,
        bool strict, struct kiln_problem *problem)
{
    struct kiln_product *product = &problem->product;
    const unsigned asked = gemm->precision == 0 ? (unsigned) KILN_SINGLE
                                                : (unsigned) gemm->precision;
    const struct kiln_precision_facts *precision = kiln_precision_find(asked);
    if (precision == NULL || asked == KILN_EMULATED) {
        return KILN_INVALID_PRECISION;
    }
    const bool is_complex = kiln_precision_is_complex(asked);
    problem->wants_emulation = (asked == KILN_SINGLE || asked == KILN_COMPLEX_SINGLE) &&
                               may_emulate(context, gemm);
    const bool emulates = problem->wants_emulation && context->has_emulation;
    const unsigned single = emulates ? (unsigned) KILN_EMULATED : (unsigned) KILN_SINGLE;
    product->precision = is_complex || !emulates ? asked : single;
    const unsigned real = kiln_precision_of_parts(asked);
    product->real_precision = real == KILN_SINGLE ? single : real;
    product->element_bytes = kiln_element_bytes(asked);
    problem->real_bytes = precision->real_bytes;
    if (!layout_is_known(gemm->layout, strict)) {
        return KILN_INVALID_LAYOUT;
    }
    if (!read_transpose(gemm->transa, strict, &product->transa)) {
        return KILN_INVALID_TRANSPOSE_A;
    }
    if (!read_transpose(gemm->transb, strict, &product->transb)) {
        return KILN_INVALID_TRANSPOSE_B;
    }
    product->conja = is_complex && gemm->transa == KILN_CONJ_TRANS;
    product->conjb = is_complex && gemm->transb == KILN_CONJ_TRANS;
    return KILN_SUCCESS;
}

/* A matrix of `rows` x `columns` as the caller sees it; a column-major one lies in memory as its
 * transpose does in row-major. */
static struct operand operand_of(enum kiln_layout layout, size_t rows, size_t columns,
        cl_mem buffer, size_t offset, size_t ld, size_t stride)
{
    bool by_columns = layout == KILN_COL_MAJOR;
    const struct operand operand = {
        .buffer = buffer,
        .matrix = {
            .offset = offset,
            .ld = ld,
            .stride = stride,
            .rows = by_columns ? columns : rows,
            .row_length = by_columns ? rows : columns,
        },
    };
    return operand;
}

/* Of a packed operand only the stride is looked at, later. */
static void hide_packed(const struct kiln_pack *pack, struct operand *operand)
{
    if (pack != NULL) {
        operand->buffer = NULL;
        operand->matrix.offset = 0;
        operand->matrix.ld = operand->matrix.row_length;
    }
}

static void read_operands(const struct kiln_gemm *gemm, const struct kiln_product *product,
        struct operand operands[NUM_OPERANDS])
{
    size_t m = gemm->m, n = gemm->n, k = gemm->k;
    bool is_batch = product->batch_count > 1;
    operands[OPERAND_A] = operand_of(gemm->layout, product->transa ? k : m, product->transa ? m : k,
            gemm->a, gemm->a_offset, gemm->lda, is_batch ? gemm->a_stride : 0);
    operands[OPERAND_B] = operand_of(gemm->layout, product->transb ? n : k, product->transb ? k : n,
            gemm->b, gemm->b_offset, gemm->ldb, is_batch ? gemm->b_stride : 0);
    operands[OPERAND_C] = operand_of(gemm->layout, m, n, gemm->c, gemm->c_offset, gemm->ldc,
            is_batch ? gemm->c_stride : 0);
    hide_packed(gemm->packed_a, &operands[OPERAND_A]);
    hide_packed(gemm->packed_b, &operands[OPERAND_B]);
}

/* A matrix of one row may have any leading dimension, even one too large to compute with. It is
 * replaced by a smaller one that is a multiple of the same numbers. */
static size_t tame(const struct kiln_matrix *matrix)
{
    size_t least = matrix->row_length > 0 ? matrix->row_length : 1;
    return matrix->rows > 1 ? matrix->ld : least + (matrix->ld - least) % LD_PERIOD;
}

static enum kiln_status read_leading_dimensions(bool strict, struct operand operands[NUM_OPERANDS])
{
    static const enum kiln_status too_short[NUM_OPERANDS] = { KILN_INVALID_LDA, KILN_INVALID_LDB,
        KILN_INVALID_LDC };
    for (unsigned i = 0; i < NUM_OPERANDS; i++) {
        struct kiln_matrix *matrix = &operands[i].matrix;
        size_t least = matrix->row_length > 1 ? matrix->row_length : 1;
        if (matrix->ld == 0 && !strict) {
            matrix->ld = least;
        }
        if (matrix->ld < least) {
            return too_short[i];
        }
        matrix->ld = tame(matrix);
    }
    return KILN_SUCCESS;
}

/* Which operands a check is about. */
struct selection {
    bool has[NUM_OPERANDS];
};

/* The handles, their context and the offsets; gives out each buffer's size. The owner of the
 * workspace is looked at with theirs. */
static enum kiln_status check_buffers(cl_context context, cl_context workspace_owner,
        const struct kiln_product *product, const struct selection *which,
        const struct operand operands[NUM_OPERANDS], size_t elements[NUM_OPERANDS])
{
    static const enum kiln_status invalid[NUM_OPERANDS] = { KILN_INVALID_BUFFER_A,
        KILN_INVALID_BUFFER_B, KILN_INVALID_BUFFER_C };
    static const enum kiln_status past_end[NUM_OPERANDS] = { KILN_OFFSET_A_PAST_END,
        KILN_OFFSET_B_PAST_END, KILN_OFFSET_C_PAST_END };
    bool is_foreign = workspace_owner != context;
    for (unsigned i = 0; i < NUM_OPERANDS; i++) {
        struct kiln_buffer_facts facts;
        if (!which->has[i]) {
            continue;
        }
        enum kiln_status status = kiln_buffer_query(operands[i].buffer, invalid[i], &facts);
        if (status != KILN_SUCCESS) {
            return status;
        }
        is_foreign = is_foreign || facts.owner != context;
        elements[i] = facts.bytes / product->element_bytes;
    }
    if (is_foreign) {
        return KILN_BUFFER_CONTEXT_MISMATCH;
    }
    for (unsigned i = 0; i < NUM_OPERANDS; i++) {
        if (which->has[i] && operands[i].matrix.offset >= elements[i]) {
            return past_end[i];
        }
    }
    return KILN_SUCCESS;
}

/* A buffer that is not looked at counts as SIZE_MAX elements; the size of the matrix must be
 * countable all the same. */
static enum kiln_status check_extents(const struct kiln_product *product,
        const struct selection *which, const struct operand operands[NUM_OPERANDS],
        const size_t elements[NUM_OPERANDS])
{
    static const enum kiln_status too_small[NUM_OPERANDS] = { KILN_BUFFER_A_TOO_SMALL,
        KILN_BUFFER_B_TOO_SMALL, KILN_BUFFER_C_TOO_SMALL };
    for (unsigned i = 0; i < NUM_OPERANDS; i++) {
        size_t end = 0, bytes = 0;
        if (!which->has[i]) {
            continue;
        }
        if (!kiln_matrix_end(&operands[i].matrix, product->batch_count, &end) ||
                !kiln_multiply(end, product->element_bytes, &bytes)) {
            return KILN_SIZE_OVERFLOW;
        }
        if (end > elements[i]) {
            return too_small[i];
        }
    }
    return KILN_SUCCESS;
}

static enum kiln_status check_batch(size_t batch_count, const struct kiln_matrix *c)
{
    size_t span = 0;
    if (batch_count > 1 && (!kiln_matrix_span(c, &span) || c->stride < span)) {
        return KILN_INVALID_BATCH_STRIDE;
    }
    return KILN_SUCCESS;
}

/* Takes the caller's workspace over; `owner` becomes its context, if it has one. In a question the
 * offset counts even where the workspace is not there yet. */
static enum kiln_status read_workspace(const struct kiln_gemm *gemm, enum kiln_checks checks,
        struct kiln_problem *problem, cl_context *owner)
{
    struct kiln_buffer_facts facts = { 0 };
    if (gemm->workspace == NULL && checks != KILN_CHECK_SHAPE) {
        return KILN_SUCCESS;
    }
    problem->workspace = gemm->workspace;
    problem->places.workspace_offset = gemm->workspace_offset;
    enum kiln_status status = KILN_SUCCESS;
    if (gemm->workspace != NULL) {
        status = kiln_buffer_query(gemm->workspace, KILN_INVALID_WORKSPACE, &facts);
    }
    if (status == KILN_SUCCESS && gemm->workspace != NULL) {
        *owner = facts.owner;
    }
    problem->workspace_bytes = facts.bytes > gemm->workspace_offset
                                     ? facts.bytes - gemm->workspace_offset
                                     : 0;
    return status != KILN_SUCCESS || gemm->workspace_offset % KILN_REGION_ALIGN == 0
                 ? status
                 : KILN_INVALID_WORKSPACE;
}

/* Alpha and beta count as what the kernels get: a double that rounds to 0 in float is 0. */
static void read_scalars(const struct kiln_gemm *gemm, struct kiln_problem *problem)
{
    bool is_double = problem->real_bytes == sizeof(cl_double);
    problem->alpha = is_double ? gemm->alpha : (double) (float) gemm->alpha;
    problem->beta = is_double ? gemm->beta : (double) (float) gemm->beta;
    if (kiln_precision_is_complex(problem->product.precision)) {
        problem->alpha_imag = is_double ? gemm->alpha_imag : (double) (float) gemm->alpha_imag;
        problem->beta_imag = is_double ? gemm->beta_imag : (double) (float) gemm->beta_imag;
    }
}

/* A call that reads nothing of A and B is the same as one with k and alpha of 0. Alpha is dropped
 * too: kernels multiply it with an empty sum, which makes NaN of infinity and -0 of a negative
 * value. What is added to beta C is -0, the one number that leaves -0 as it is. */
static void drop_a_and_b(struct kiln_problem *problem, struct operand operands[NUM_OPERANDS])
{
    problem->product.k = 0;
    problem->alpha = problem->beta == 0 ? 0.0 : -0.0;
    problem->alpha_imag = 0;
    const struct operand none = { .buffer = operands[OPERAND_C].buffer };
    operands[OPERAND_A] = operands[OPERAND_B] = none;
}

/* In column-major layout C = op(A) op(B) is what C' = op(B)' op(A)' is in row-major: the same
 * memory, with the names swapped. */
static void set_canonical(const struct kiln_gemm *gemm, struct kiln_problem *problem,
        const struct operand operands[NUM_OPERANDS])
{
    bool swap = gemm->layout == KILN_COL_MAJOR;
    const struct operand *a = &operands[swap ? OPERAND_B : OPERAND_A];
    const struct operand *b = &operands[swap ? OPERAND_A : OPERAND_B];
    const struct operand *c = &operands[OPERAND_C];
    struct kiln_product *product = &problem->product;
    problem->a = a->buffer;
    problem->b = b->buffer;
    problem->c = c->buffer;
    product->a = a->matrix;
    product->b = b->matrix;
    product->c = c->matrix;
    if (swap) {
        unsigned trans = product->transa;
        product->transa = product->transb;
        product->transb = trans;
        unsigned conj = product->conja;
        product->conja = product->conjb;
        product->conjb = conj;
        product->m = gemm->n;
        product->n = gemm->m;
    }
}

/* Of the matrices that have elements, those whose buffers are looked at. */
static struct selection looked_at(enum kiln_checks checks, const struct selection *present)
{
    bool all = checks == KILN_CHECK_ALL || checks == KILN_CHECK_ALL_STRICT;
    const struct selection looked = { {
            present->has[OPERAND_A] && (all || checks == KILN_CHECK_A),
            present->has[OPERAND_B] && (all || checks == KILN_CHECK_B),
            present->has[OPERAND_C] && all,
    } };
    return looked;
}

/* The memory of a call that has elements in C. */
static enum kiln_status check_memory(const struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_checks checks, bool reads_a_and_b,
        const struct operand operands[NUM_OPERANDS], struct kiln_problem *problem)
{
    size_t elements[NUM_OPERANDS] = { SIZE_MAX, SIZE_MAX, SIZE_MAX };
    const struct selection present = { {
            reads_a_and_b && gemm->packed_a == NULL,
            reads_a_and_b && gemm->packed_b == NULL,
            true,
    } };
    const struct selection looked = looked_at(checks, &present);
    cl_context workspace_owner = context->context;
    enum kiln_status workspace = read_workspace(gemm, checks, problem, &workspace_owner);
    enum kiln_status status = check_buffers(context->context, workspace_owner, &problem->product,
            &looked, operands, elements);
    if (status == KILN_SUCCESS) {
        status = check_extents(&problem->product, &present, operands, elements);
    }
    if (status == KILN_SUCCESS) {
        status = check_batch(problem->product.batch_count, &operands[OPERAND_C].matrix);
    }
    return kiln_lower(status, workspace);
}

static bool uplo_is_known(enum kiln_uplo uplo)
{
    return uplo == 0 || uplo == KILN_UPPER || uplo == KILN_LOWER;
}

enum kiln_status kiln_check_forms(const struct kiln_gemm *gemm)
{
    if (!kiln_arithmetic_is_known(gemm->arithmetic)) {
        return KILN_INVALID_ARITHMETIC;
    }
    if (!uplo_is_known(gemm->uplo_a) || !uplo_is_known(gemm->uplo_b) ||
            !uplo_is_known(gemm->uplo_c)) {
        return KILN_INVALID_UPLO;
    }
    if ((gemm->uplo_a != 0 && gemm->m != gemm->k) || (gemm->uplo_b != 0 && gemm->k != gemm->n) ||
            (gemm->uplo_c != 0 && gemm->m != gemm->n)) {
        return KILN_NOT_SQUARE;
    }
    return (gemm->uplo_a != 0 && gemm->packed_a != NULL) ||
                           (gemm->uplo_b != 0 && gemm->packed_b != NULL)
                 ? KILN_PACK_OF_TRIANGLE
                 : KILN_SUCCESS;
}

/* A triangle in column-major layout is the other one in row-major. */
static int triangle_of(enum kiln_uplo uplo, bool by_columns)
{
    return uplo == 0                          ? KILN_TRIANGLE_NONE
         : (uplo == KILN_LOWER) != by_columns ? KILN_TRIANGLE_LOWER
                                              : KILN_TRIANGLE_UPPER;
}

/* An operand that is not read has no triangle. */
static void read_triangles(const struct kiln_gemm *gemm, struct kiln_problem *problem)
{
    const bool swap = gemm->layout == KILN_COL_MAJOR;
    problem->product.triangle = triangle_of(gemm->uplo_c, swap);
    problem->is_hermitian = gemm->hermitian != 0 &&
                            kiln_precision_is_complex(problem->product.precision);
    if (kiln_reads_operands(&problem->product)) {
        problem->triangle_a = triangle_of(swap ? gemm->uplo_b : gemm->uplo_a, swap);
        problem->triangle_b = triangle_of(swap ? gemm->uplo_a : gemm->uplo_b, swap);
    }
}

enum kiln_status kiln_problem_check(const struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_checks checks, struct kiln_problem *problem)
{
    struct operand operands[NUM_OPERANDS];
    struct kiln_product *product = &problem->product;
    bool strict = checks == KILN_CHECK_ALL_STRICT;
    memset(problem, 0, sizeof *problem);
    enum kiln_status status = read_modes(context, gemm, strict, problem);
    if (status != KILN_SUCCESS) {
        return status;
    }
    product->m = gemm->m;
    product->n = gemm->n;
    product->k = gemm->k;
    product->batch_count = gemm->batch_count > 0 ? gemm->batch_count : 1;
    read_scalars(gemm, problem);
    read_operands(gemm, product, operands);
    status = read_leading_dimensions(strict, operands);
    if (status != KILN_SUCCESS) {
        return status;
    }
    bool has_c = product->m > 0 && product->n > 0;
    bool reads_a_and_b = product->k > 0 && (problem->alpha != 0 || problem->alpha_imag != 0);
    if (has_c) {
        status = check_memory(context, gemm, checks, reads_a_and_b, operands, problem);
    }
    if (status != KILN_SUCCESS) {
        return status;
    }
    if (!kiln_precision_runs(product->precision, &context->facts)) {
        return KILN_NO_DOUBLE;
    }
    if (!reads_a_and_b) {
        drop_a_and_b(problem, operands);
    }
    problem->is_nothing = !has_c ||
                          (!reads_a_and_b && problem->beta == 1 && problem->beta_imag == 0);
    set_canonical(gemm, problem, operands);
    read_triangles(gemm, problem);
    return KILN_SUCCESS;
}
