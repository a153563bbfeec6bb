/* matrix.c: see matrix.h. */
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Signalling NaNs: whatever is computed from one is a quiet NaN. So it shows if a kernel reads
 * poison and writes the result over poison. */
static const uint64_t poison[] = {
#define STORAGE(constant, bytes, bits) [KILN_STORED_##constant] = (bits),
#include "precisions.inc"
#undef STORAGE
};

/* ---- Bits, of elements of any type that are so wide ---- */

#define STORAGE(constant, bytes, ...) \
    _Static_assert((bytes) == 2 || (bytes) == 4 || (bytes) == 8, "numbers of other widths");
#include "precisions.inc"
#undef STORAGE

static uint64_t bits_at(const unsigned char *at, size_t bytes)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    if (bytes == sizeof two)
        return memcpy(&two, at, sizeof two), two;
    if (bytes == sizeof four)
        return memcpy(&four, at, sizeof four), four;
    return memcpy(&eight, at, sizeof eight), eight;
}

static void put_bits(unsigned char *at, size_t bytes, uint64_t bits)
{
    const uint16_t two = (uint16_t) bits;
    const uint32_t four = (uint32_t) bits;
    memcpy(at,
            bytes == sizeof two    ? (const void *) &two
            : bytes == sizeof four ? (const void *) &four
                                   : (const void *) &bits,
            bytes);
}

/* ---- Matrices ---- */

unsigned char *matrix_row(const struct matrix *matrix, size_t row)
{
    return matrix->image + MATRIX_ZONE_BYTES +
           (matrix->offset + row * matrix->ld) * matrix->element_bytes;
}

static unsigned char *element_at(const struct matrix *matrix, size_t row, size_t col)
{
    return matrix_row(matrix, row) + col * matrix->element_bytes;
}

/* Elements of the buffer; a matrix without elements has a buffer all the same. */
static bool buffer_elements(const struct matrix *matrix, size_t *elements)
{
    size_t skipped = 0;
    const bool empty = !matrix->rows || !matrix->cols;
    return !__builtin_mul_overflow(empty ? 0 : matrix->rows - 1, matrix->ld, &skipped) &&
           !__builtin_add_overflow(skipped, matrix->offset + (empty ? 1 : matrix->cols), elements);
}

bool matrix_layout(struct matrix *matrix, enum kiln_storage storage, size_t rows, size_t cols,
        size_t pad, size_t offset)
{
    size_t elements, bytes;
    *matrix = (struct matrix){ .rows = rows,
        .cols = cols,
        .ld = (cols ? cols : 1) + pad,
        .offset = offset,
        .storage = storage,
        .element_bytes = kiln_storage_bytes(storage) };
    return buffer_elements(matrix, &elements) &&
           !__builtin_mul_overflow(elements, matrix->element_bytes, &bytes) &&
           !__builtin_add_overflow(bytes, 2 * MATRIX_ZONE_BYTES, &matrix->bytes);
}

bool matrix_init(struct matrix *matrix, enum kiln_storage storage, size_t rows, size_t cols,
        size_t pad, size_t offset)
{
    if (!matrix_layout(matrix, storage, rows, cols, pad, offset))
        return false;
    matrix->image = malloc(matrix->bytes);
    if (matrix->image)
        matrix_poison(matrix);
    return matrix->image != NULL;
}

void matrix_free(struct matrix *matrix)
{
    if (matrix->buffer)
        clReleaseMemObject(matrix->buffer);
    if (matrix->whole)
        clReleaseMemObject(matrix->whole);
    free(matrix->image);
    *matrix = (struct matrix){ .rows = 0 };
}

/* Poisons image[from..to). */
static void poison_bytes(struct matrix *matrix, size_t from, size_t to)
{
    size_t done = matrix->element_bytes;
    if (from == to)
        return;
    put_bits(matrix->image + from, done, poison[matrix->storage]);
    while (done < to - from) {
        const size_t rest = to - from - done, bytes = done < rest ? done : rest;
        memcpy(matrix->image + from + done, matrix->image + from, bytes);
        done += bytes;
    }
}

void matrix_poison(struct matrix *matrix)
{
    poison_bytes(matrix, 0, matrix->bytes);
}

/* What lies outside the elements: image[from..to) before a row, or behind the last one. */
static void gap_before(const struct matrix *matrix, size_t row, size_t *from, size_t *to)
{
    const size_t rows = matrix->cols ? matrix->rows : 0;
    *from = row == 0 ? 0
                     : (size_t) (matrix_row(matrix, row - 1) - matrix->image) +
                               matrix->cols * matrix->element_bytes;
    *to = row < rows ? (size_t) (matrix_row(matrix, row) - matrix->image) : matrix->bytes;
}

static size_t num_gaps(const struct matrix *matrix)
{
    return (matrix->cols ? matrix->rows : 0) + 1;
}

void matrix_poison_around(struct matrix *matrix)
{
    size_t from, to;
    for (size_t i = 0; i < num_gaps(matrix); i++) {
        gap_before(matrix, i, &from, &to);
        poison_bytes(matrix, from, to);
    }
}

void matrix_set(struct matrix *matrix, size_t row, size_t col, double value)
{
    kiln_real_put(matrix->storage, element_at(matrix, row, col), value);
}

double matrix_get(const struct matrix *matrix, size_t row, size_t col)
{
    return kiln_real_get(matrix->storage, element_at(matrix, row, col));
}

uint64_t matrix_bits(const struct matrix *matrix, size_t row, size_t col)
{
    return bits_at(element_at(matrix, row, col), matrix->element_bytes);
}

uint64_t matrix_bits_of(enum kiln_storage storage, double value)
{
    unsigned char at[sizeof value];
    kiln_real_put(storage, at, value);
    return bits_at(at, kiln_storage_bytes(storage));
}

/* The zones are multiples of every device's base address alignment. */
static cl_int make_buffers(struct matrix *matrix, cl_context context)
{
    const cl_buffer_region region = { MATRIX_ZONE_BYTES, matrix->bytes - 2 * MATRIX_ZONE_BYTES };
    cl_int error = CL_SUCCESS;
    if (!matrix->whole)
        matrix->whole = clCreateBuffer(context, CL_MEM_READ_WRITE, matrix->bytes, NULL, &error);
    if (matrix->whole && !matrix->buffer)
        matrix->buffer = clCreateSubBuffer(matrix->whole, CL_MEM_READ_WRITE,
                CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    return error;
}

cl_int matrix_upload(struct matrix *matrix, cl_context context, cl_command_queue queue)
{
    const cl_int error = make_buffers(matrix, context);
    if (error != CL_SUCCESS)
        return error;
    return clEnqueueWriteBuffer(queue, matrix->whole, CL_TRUE, 0, matrix->bytes, matrix->image, 0,
            NULL, NULL);
}

cl_int matrix_poison_device(struct matrix *matrix, cl_context context, cl_command_queue queue)
{
    const cl_int error = make_buffers(matrix, context);
    if (error != CL_SUCCESS)
        return error;
    unsigned char one[sizeof(uint64_t)];
    put_bits(one, matrix->element_bytes, poison[matrix->storage]);
    return clEnqueueFillBuffer(queue, matrix->whole, one, matrix->element_bytes, 0, matrix->bytes,
            0, NULL, NULL);
}

/* The zones are overwritten first: else the old image would be taken for a new one that did not
 * arrive. */
cl_int matrix_download(struct matrix *matrix, cl_command_queue queue)
{
    memset(matrix->image, 0, MATRIX_ZONE_BYTES);
    memset(matrix->image + matrix->bytes - MATRIX_ZONE_BYTES, 0, MATRIX_ZONE_BYTES);
    return clEnqueueReadBuffer(queue, matrix->whole, CL_TRUE, 0, matrix->bytes, matrix->image, 0,
            NULL, NULL);
}

/* The first place in image[from..to) that is not poison; `to` when all is. A stretch is poison when
 * its first element is and each further element equals the one before. */
static size_t first_stray(const struct matrix *matrix, size_t from, size_t to)
{
    const unsigned char *at = matrix->image + from;
    const size_t size = matrix->element_bytes;
    unsigned char one[sizeof(uint64_t)];
    put_bits(one, size, poison[matrix->storage]);
    if (from < to && !memcmp(at, one, size) && !memcmp(at, at + size, to - from - size))
        return to;
    while (from < to && !memcmp(matrix->image + from, one, size))
        from += size;
    return from < to ? from : to;
}

static void say_where(const struct matrix *matrix, size_t at, char message[MATRIX_MESSAGE_BYTES])
{
    const long long element = ((long long) at - MATRIX_ZONE_BYTES) /
                                      (long long) matrix->element_bytes -
                              (long long) matrix->offset;
    const long long ld = (long long) matrix->ld;
    if (element < 0)
        snprintf(message, MATRIX_MESSAGE_BYTES, "wrote %lld elements before C", -element);
    else if (at >= matrix->bytes - MATRIX_ZONE_BYTES)
        snprintf(message, MATRIX_MESSAGE_BYTES, "wrote %zu elements after C's end",
                (at - (matrix->bytes - MATRIX_ZONE_BYTES)) / matrix->element_bytes + 1);
    else
        snprintf(message, MATRIX_MESSAGE_BYTES, "wrote between rows, at row %lld column %lld",
                element / ld, element % ld);
}

bool matrix_is_intact(const struct matrix *matrix, char message[MATRIX_MESSAGE_BYTES])
{
    size_t from, to;
    for (size_t i = 0; i < num_gaps(matrix); i++) {
        gap_before(matrix, i, &from, &to);
        const size_t stray = first_stray(matrix, from, to);
        if (stray < to) {
            say_where(matrix, stray, message);
            return false;
        }
    }
    return true;
}
