/* matrix.h: matrices for tests, in memory where every stray access shows.
 *
 * Around the matrix, between its rows (leading dimension) and before it (offset) lie NaNs of a
 * known bit pattern: what is read of them by mistake spoils the result, and what is written over
 * them is found bit by bit afterwards. The zones before and after are not part of the buffer that
 * the kernel is given; it is a part of a larger one.
 */
#ifndef KILN_TUNE_MATRIX_H
#define KILN_TUNE_MATRIX_H

#include "element.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATRIX_ZONE_BYTES = 4096, MATRIX_MESSAGE_BYTES = 96 };

struct matrix {
    size_t rows, cols, ld, offset;     /* elements, as stored */
    enum kiln_storage storage;         /* of an element, a real number */
    size_t element_bytes;
    size_t bytes;                      /* of the image: zone, offset and matrix, zone */
    unsigned char *image;              /* on the host */
    cl_mem whole, buffer;              /* on the device: the image; without the zones */
};

/* A matrix of nothing but poison; `pad` elements lie between rows. False when out of memory. */
bool matrix_init(struct matrix *matrix, enum kiln_storage storage, size_t rows, size_t cols,
        size_t pad, size_t offset);
void matrix_free(struct matrix *matrix);
void matrix_poison(struct matrix *matrix);

/* The same without an image, which the caller sets later; false when too large. */
bool matrix_layout(struct matrix *matrix, enum kiln_storage storage, size_t rows, size_t cols,
        size_t pad, size_t offset);

/* Poison for all but the elements. */
void matrix_poison_around(struct matrix *matrix);

/* Where a row of the image begins. */
unsigned char *matrix_row(const struct matrix *matrix, size_t row);

/* Rounds the value to the element type. */
void matrix_set(struct matrix *matrix, size_t row, size_t col, double value);
double matrix_get(const struct matrix *matrix, size_t row, size_t col);

/* The element's bits; a value's bits as it lies in a matrix. */
uint64_t matrix_bits(const struct matrix *matrix, size_t row, size_t col);
uint64_t matrix_bits_of(enum kiln_storage storage, double value);

/* Between the image and the device; the first upload makes the buffers. OpenCL's error code. */
cl_int matrix_upload(struct matrix *matrix, cl_context context, cl_command_queue queue);
cl_int matrix_download(struct matrix *matrix, cl_command_queue queue);

/* Poison for all of the matrix on the device, as if it had been uploaded; the image stays. */
cl_int matrix_poison_device(struct matrix *matrix, cl_context context, cl_command_queue queue);

/* Whether all poison outside the elements is intact; if not, says where. */
bool matrix_is_intact(const struct matrix *matrix, char message[MATRIX_MESSAGE_BYTES]);

#endif
