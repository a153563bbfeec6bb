/* arguments.c: the arguments of kernels. */
#include "launch.h"

#include <string.h>

static struct kiln_argument buffer_argument(cl_mem buffer)
{
    const struct kiln_argument argument = { .size = sizeof buffer, .buffer = buffer };
    return argument;
}

static struct kiln_argument long_argument(size_t value)
{
    struct kiln_argument argument = { .size = sizeof(cl_long) };
    cl_long number = (cl_long) value;
    memcpy(&argument.scalar, &number, sizeof number);
    return argument;
}

static struct kiln_argument index_argument(unsigned bits, size_t value)
{
    if (bits == 64) {
        return long_argument(value);
    }
    struct kiln_argument argument = { .size = sizeof(cl_int) };
    cl_int number = (cl_int) value;
    memcpy(&argument.scalar, &number, sizeof number);
    return argument;
}

static struct kiln_argument real_argument(size_t bytes, double value)
{
    struct kiln_argument argument = { .size = bytes };
    if (bytes == sizeof(cl_float)) {
        cl_float narrow = (cl_float) value;
        memcpy(&argument.scalar, &narrow, sizeof narrow);
    } else {
        memcpy(&argument.scalar, &value, sizeof value);
    }
    return argument;
}

/* The four arguments of a matrix: buffer, offset of the batch member, stride, leading dimension. */
static void operand_arguments(cl_mem buffer, const struct kiln_matrix *matrix, size_t member,
        unsigned bits, struct kiln_argument arguments[4])
{
    arguments[0] = buffer_argument(buffer);
    arguments[1] = index_argument(bits, matrix->offset + member * matrix->stride);
    arguments[2] = index_argument(bits, matrix->stride);
    arguments[3] = index_argument(bits, matrix->ld);
}

/* From a row of op(X) to the next, and from a column to the next. */
static void stride_arguments(const struct kiln_matrix *matrix, bool is_transposed, unsigned bits,
        struct kiln_argument arguments[2])
{
    arguments[is_transposed ? 1 : 0] = index_argument(bits, matrix->ld);
    arguments[is_transposed ? 0 : 1] = index_argument(bits, 1);
}

/* The four arguments of a prepared operand: its buffer, where it starts there, stride, leading
 * dimension. They are the operand's own where it is taken as it is. */
static void packed_arguments(const struct launch *launch, const struct kiln_plan *plan,
        cl_mem workspace, unsigned prepared, struct kiln_argument arguments[4])
{
    const struct kiln_problem *problem = launch->problem;
    const struct kiln_matrix *matrix = kiln_operand(&problem->product, prepared);
    unsigned bits = plan->recipe->index_bits;
    if ((plan->ready & ~problem->places.packed & prepared) != 0) {
        operand_arguments(prepared == KILN_PREPARED_A ? problem->a : problem->b, matrix,
                launch->member, bits, arguments);
        arguments[1] = long_argument(matrix->offset + launch->member * matrix->stride);
        return;
    }
    cl_mem pack = problem->packs[prepared];
    arguments[0] = buffer_argument(pack != NULL ? pack : workspace);
    arguments[1] = long_argument(plan->packed_start[prepared]);
    arguments[2] = index_argument(bits, 0);
    arguments[3] = index_argument(bits, plan->packed_ld[prepared]);
}

void kiln_arguments_fill(const struct launch *launch, const struct kiln_plan *plan,
        cl_mem workspace, struct kiln_argument arguments[KILN_NUM_ARG_CODES])
{
    const struct kiln_problem *problem = launch->problem;
    const struct kiln_product *product = &problem->product;
    size_t member = launch->member;
    unsigned bits = plan->recipe->index_bits;
    arguments[KILN_ARG_M] = index_argument(bits, product->m);
    arguments[KILN_ARG_N] = index_argument(bits, product->n);
    arguments[KILN_ARG_K] = index_argument(bits, product->k);
    arguments[KILN_ARG_ALPHA] = real_argument(problem->real_bytes, problem->alpha);
    arguments[KILN_ARG_BETA] = real_argument(problem->real_bytes, problem->beta);
    arguments[KILN_ARG_ALPHA_IMAG] = real_argument(problem->real_bytes, problem->alpha_imag);
    arguments[KILN_ARG_BETA_IMAG] = real_argument(problem->real_bytes, problem->beta_imag);
    arguments[KILN_ARG_CONJ_A] = index_argument(32, product->conja);
    arguments[KILN_ARG_CONJ_B] = index_argument(32, product->conjb);
    arguments[KILN_ARG_TRIANGLE] = index_argument(32, (size_t) product->triangle);
    arguments[KILN_ARG_HERMITIAN] = index_argument(32, problem->is_hermitian);
    operand_arguments(problem->a, &product->a, member, bits, &arguments[KILN_ARG_A]);
    operand_arguments(problem->b, &product->b, member, bits, &arguments[KILN_ARG_B]);
    operand_arguments(problem->c, &product->c, member, bits, &arguments[KILN_ARG_C]);
    stride_arguments(&product->a, product->transa, bits, &arguments[KILN_ARG_RSA]);
    stride_arguments(&product->b, product->transb, bits, &arguments[KILN_ARG_RSB]);
    arguments[KILN_ARG_PARTS] = index_argument(32, plan->parts);
    arguments[KILN_ARG_WORKSPACE] = buffer_argument(workspace);
    arguments[KILN_ARG_WORKSPACE_IMAGE] = buffer_argument(
            launch->image != NULL ? launch->image->image : NULL);
    for (unsigned i = 0; i < KILN_MAX_REGIONS; i++) {
        arguments[KILN_ARG_REGION_0 + i] = long_argument(plan->region_start[i]);
    }
    packed_arguments(launch, plan, workspace, KILN_PREPARED_A, &arguments[KILN_ARG_PACKED_A]);
    packed_arguments(launch, plan, workspace, KILN_PREPARED_B, &arguments[KILN_ARG_PACKED_B]);
}

/* A scalar that the kernel holds from an earlier call is not set again. Buffers always are: a
 * handle may have been released and given out again, and then means another buffer. */
cl_int kiln_arguments_set(const struct kiln_stage *stage, unsigned index,
        struct kiln_kernel_set *set, const struct kiln_argument arguments[KILN_NUM_ARG_CODES])
{
    for (unsigned i = 0; i < stage->num_args; i++) {
        const struct kiln_argument *argument = &arguments[stage->args[i]];
        bool is_buffer = argument->buffer != NULL;
        if (!is_buffer && set->known[index][i] && set->scalars[index][i] == argument->scalar) {
            continue;
        }
        const void *value = is_buffer ? (const void *) &argument->buffer : &argument->scalar;
        cl_int error = clSetKernelArg(set->kernels[index], i, argument->size, value);
        if (error != CL_SUCCESS) {
            return error;
        }
        set->known[index][i] = !is_buffer;
        set->scalars[index][i] = argument->scalar;
    }
    return CL_SUCCESS;
}
