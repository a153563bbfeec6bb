"""_matrix.py: what the shape, strides and offset of an array say to a GEMM.

Kiln knows matrices whose rows or whose columns are contiguous lines, which begin a leading
dimension apart and do not overlap. A view of an array (transposed, sliced, of one member of a
batch) is one of these or is refused: nothing is copied.
"""
import numpy as np

from ._library import CONSTANTS

ROWS, COLUMNS = CONSTANTS['KILN_ROW_MAJOR'], CONSTANTS['KILN_COL_MAJOR']
LAYOUTS = (ROWS, COLUMNS)

PRECISIONS = {np.dtype(name): CONSTANTS[constant] for name, constant in [
    ('float16', 'KILN_HALF'), ('float32', 'KILN_SINGLE'), ('float64', 'KILN_DOUBLE'),
    ('complex64', 'KILN_COMPLEX_SINGLE'), ('complex128', 'KILN_COMPLEX_DOUBLE')]}


def other(layout):
    return ROWS + COLUMNS - layout


def precision_of(name, dtype):
    """Of elements; raises TypeError."""
    if dtype not in PRECISIONS:
        known = ', '.join(each.name for each in PRECISIONS)
        raise TypeError(f'{name} is of {dtype!r}: Kiln multiplies {known}, in the byte order of '
                        'the machine')
    return PRECISIONS[dtype]


def in_elements(name, what, number, itemsize):
    if number % itemsize != 0:
        raise ValueError(f'{what} of {name}, {number} bytes, is no multiple of its elements')
    return number // itemsize


def leading_dimension(lines, length, line_stride, element_stride):
    """Of contiguous lines; None where they are not, or overlap."""
    if length > 1 and element_stride != 1:
        return None
    if lines == 1:
        return length
    return line_stride if line_stride >= length else None


def refusal(name, shape, strides):
    """What is wrong with a matrix that has no leading dimension."""
    real = [stride for extent, stride in zip(shape, strides) if extent > 1]
    if any(stride < 0 for stride in real):
        return f'{name} has a negative stride'
    if 0 in real:
        return f'{name} has a stride of 0: its rows or columns are the same memory'
    if 1 not in real:
        return f'neither the rows nor the columns of {name} are contiguous'
    return f'the rows or columns of {name} overlap'


class Matrix:
    """One operand: a matrix, or a batch of them.

    name: for messages. rows, columns: of the matrix as the array has it. batch: members, or None
    for an array of two dimensions. ld: a leading dimension by layout, for each that its memory
    has. offset, stride: elements. pointer: the cl_mem, or None where there are no elements.
    """

    def __init__(self, name, shape, strides, dtype, offset=0, pointer=None):
        if len(shape) not in (2, 3):
            raise ValueError(f'{name} has {len(shape)} dimensions: a matrix has 2, '
                             'a batch of matrices 3')
        self.name, self.dtype, self.pointer = name, dtype, pointer
        self.precision = precision_of(name, dtype)
        # Of an array without elements strides say nothing; NumPy has them 0.
        real = [extent > 1 and 0 not in shape for extent in shape]
        steps = [in_elements(name, 'a stride', stride, dtype.itemsize) if counts else 0
                 for counts, stride in zip(real, strides)]
        self.offset = in_elements(name, 'the offset', offset, dtype.itemsize)
        self.rows, self.columns = shape[-2:]
        self.batch = shape[0] if len(shape) == 3 else None
        self.stride = steps[0] if len(shape) == 3 else 0
        if self.stride < 0:
            raise ValueError(f'{name} has a negative stride from one member to the next')
        if 0 in shape:
            found = {ROWS: max(1, self.columns), COLUMNS: max(1, self.rows)}
        else:
            found = {
                ROWS: leading_dimension(self.rows, self.columns, *steps[-2:]),
                COLUMNS: leading_dimension(self.columns, self.rows, *reversed(steps[-2:]))}
        self.ld = {layout: ld for layout, ld in found.items() if ld is not None}
        if not self.ld:
            raise ValueError(refusal(name, shape[-2:], steps[-2:]))

    def span(self, layout):
        """Elements from the first to behind the last of one matrix."""
        lines, length = ((self.rows, self.columns) if layout == ROWS else
                         (self.columns, self.rows))
        return (lines - 1) * self.ld[layout] + length if lines and length else 0

    def is_apart(self):
        """Whether members do not overlap, as Kiln wants it of C: one behind the other."""
        return (self.batch or 0) < 2 or any(self.stride >= self.span(layout) for layout in self.ld)
