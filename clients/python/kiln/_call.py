"""_call.py: a product as its caller says it, and the struct kiln_gemm that says the same.

A call of Kiln has one layout for its three matrices, arrays have one each. An array of the other
layout is its own transpose there: its operation is turned around, and the triangle of it that
counts changes sides. Only a conjugate transpose can not be turned around.
"""
import ctypes
import numbers

import numpy as np

from . import _header
from ._library import CONSTANTS
from ._matrix import COLUMNS, LAYOUTS, ROWS, Matrix, other
from ._pack import Pack

OPERATIONS = {letter: CONSTANTS[name] for letter, name in
              [('N', 'KILN_NO_TRANS'), ('T', 'KILN_TRANS'), ('C', 'KILN_CONJ_TRANS')]}
TRIANGLES = {letter: CONSTANTS[name] for letter, name in
             [('U', 'KILN_UPPER'), ('L', 'KILN_LOWER')]}
TURNED = {'N': 'T', 'T': 'N', 'U': 'L', 'L': 'U', None: None}
ARITHMETIC = {None: 0, False: CONSTANTS['KILN_NATIVE'], True: CONSTANTS['KILN_ALLOW_EMULATION']}
IN_WORDS = {ROWS: 'rows', COLUMNS: 'columns'}


def letter_of(name, value, letters):
    """'n' as 'N'; raises ValueError unless it is one of the letters."""
    if not isinstance(value, str) or value.upper() not in letters:
        *first, last = [repr(letter) for letter in letters]
        raise ValueError(f'{name} is {value!r}: it is {", ".join(first)} or {last}')
    return value.upper()


def scalar_of(name, value, is_complex):
    """The real and the imaginary part; raises TypeError."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, numbers.Real):
        return float(value), 0.0
    if not isinstance(value, numbers.Complex):
        raise TypeError(f'{name} is a {type(value).__name__}: it is a number')
    if not is_complex:
        raise TypeError(f'{name} is complex: it is a real number here')
    return value.real, value.imag


def operand_of(name, array):
    """A Pack as it is; of an array, a Matrix."""
    if isinstance(array, Pack):
        if array.operand != name:
            raise ValueError(f'{name} is a pack of {array.operand}: it was made for that side')
        return array
    if isinstance(array, np.ndarray):        # as it will be on the device
        return Matrix(name, array.shape, array.strides, array.dtype)
    pointer = None if array.base_data is None else array.base_data.int_ptr
    return Matrix(name, array.shape, array.strides, array.dtype, array.offset, pointer)


def missing(name, op, rows, columns, dtype):
    """An operand of which the shape of op(it) alone is known: dense rows."""
    shape = (rows, columns) if op == 'N' else (columns, rows)
    strides = (max(1, shape[1]) * dtype.itemsize, dtype.itemsize)
    return Matrix(name, shape, strides, dtype)


def operated(operand, op):
    """The rows and columns of op(operand)."""
    if op == 'N':
        return operand.rows, operand.columns
    return operand.columns, operand.rows


def layouts_of(operand, op):
    """The layouts that a call with op(operand) may have."""
    if isinstance(operand, Pack):
        return {operand.layout}
    return set(operand.ld) | ({other(layout) for layout in operand.ld} if op != 'C' else set())


class Call:
    """A product: `gemm`, the struct; `shape`, `dtype`, `layout` of C.

    a, b: arrays, Packs, or numbers in the place of one: how many rows op(a) has, or columns op(b).
    c: the array to be written, or None for a new one. layout: None for any.
    """

    def __init__(self, a, b, c=None, *, alpha=1, beta=0, trans_a='N', trans_b='N', uplo_a=None,
                 uplo_b=None, uplo_c=None, hermitian=False, allow_emulation=None, layout=None):
        self.ops = {'a': letter_of('trans_a', trans_a, OPERATIONS),
                    'b': letter_of('trans_b', trans_b, OPERATIONS)}
        self.uplos = {'a': uplo_a, 'b': uplo_b, 'c': uplo_c}
        if allow_emulation not in ARITHMETIC:
            raise ValueError(f'allow_emulation is {allow_emulation!r}: it is True, False or None')
        self.take_operands(a, b)
        self.take_shape(None if c is None else operand_of('c', c))
        self.layout = self.common_layout(layout)
        self.gemm = _header.kiln_gemm(
            precision=self.a.precision, layout=self.layout, m=self.m, n=self.n, k=self.k,
            arithmetic=ARITHMETIC[allow_emulation], hermitian=hermitian)
        is_complex = self.dtype.kind == 'c'
        self.gemm.alpha, self.gemm.alpha_imag = scalar_of('alpha', alpha, is_complex)
        self.gemm.beta, self.gemm.beta_imag = scalar_of('beta', beta, is_complex)
        self.fill_batch()
        self.fill_operand('a', self.a)
        self.fill_operand('b', self.b)
        self.fill_c()

    def take_operands(self, a, b):
        """Sets a, b, dtype. What an array says counts where the other operand is a number."""
        numeric = [name for name, value in (('a', a), ('b', b)) if isinstance(value, int)]
        self.a = None if 'a' in numeric else operand_of('a', a)
        self.b = None if 'b' in numeric else operand_of('b', b)
        known = self.b if self.a is None else self.a
        self.dtype = known.dtype
        if self.dtype.kind != 'c':
            self.ops = {name: 'T' if op == 'C' else op for name, op in self.ops.items()}
        for name, operand in (('a', self.a), ('b', self.b)):
            if isinstance(operand, Pack) and self.ops[name] != 'N':
                raise ValueError(f'trans_{name} is {self.ops[name]!r}, but {name} is packed: '
                                 f'op({name}) was, as it was asked for then')
        if self.a is None:
            depth = operated(self.b, self.ops['b'])[0]
            self.a = missing('a', self.ops['a'], a, depth, self.dtype)
        if self.b is None:
            depth = operated(self.a, self.ops['a'])[1]
            self.b = missing('b', self.ops['b'], depth, b, self.dtype)

    def take_shape(self, c):
        """Sets m, n, k, count, shape, c; raises where they do not fit each other."""
        self.c = c
        for operand in filter(None, (self.b, c)):
            if operand.dtype != self.dtype:
                raise TypeError(f'a is of {self.dtype.name}, but {operand.name} is of '
                                f'{operand.dtype.name}')
        (self.m, self.k), (depth, self.n) = [
            operated(operand, self.ops[operand.name]) for operand in (self.a, self.b)]
        if self.k != depth:
            raise ValueError(f'op(a) is {self.m} x {self.k}, but op(b) is {depth} x {self.n}')
        for operand in filter(None, (self.a, self.b)):
            if self.uplos[operand.name] and operand.rows != operand.columns:
                raise ValueError(f'{operand.name} is {operand.rows} x {operand.columns}: '
                                 'a matrix of which one triangle counts is square')
        counts = {operand.batch for operand in (self.a, self.b)} - {None}
        self.count = max(counts - {1}, default=1)
        if not counts <= {1, self.count}:
            raise ValueError(f'a has {self.a.batch} members, but b has {self.b.batch}')
        self.shape = (self.count,) * bool(counts) + (self.m, self.n)
        if c is not None:
            shape = (() if c.batch is None else (c.batch,)) + (c.rows, c.columns)
            if shape != self.shape:
                raise ValueError(f'c has the shape {shape}, but the product {self.shape}')
            if not c.is_apart():
                raise ValueError('the members of c do not follow each other: its first stride is '
                                 'shorter than a member')

    def common_layout(self, wanted):
        """A layout that all matrices allow."""
        allowed = [(operand.name, layouts_of(operand, self.ops[operand.name]))
                   for operand in (self.a, self.b)]
        if self.c is not None:
            allowed.append(('c', set(self.c.ld)))
        if wanted is not None:
            allowed.append(('the order asked for', {wanted}))
        for layout in LAYOUTS:
            if all(layout in layouts for _, layouts in allowed):
                return layout
        bound = [f'{name} by {IN_WORDS[layouts.pop()]}' for name, layouts in allowed
                 if len(layouts) == 1]
        raise ValueError(f'no layout suits all: {", ".join(bound)} (a conjugate transpose, a pack '
                         'and c bind the call to the layout that they have)')

    def fill_batch(self):
        """A batch of no members is a product without elements."""
        if self.count == 0:
            self.gemm.m = self.gemm.n = self.gemm.k = 0
        self.gemm.batch_count = max(1, self.count)

    def fill_operand(self, name, operand):
        op, uplo, gemm = self.ops[name], self.uplos[name], self.gemm
        if isinstance(operand, Pack):
            setattr(gemm, f'packed_{name}', ctypes.pointer(operand.struct))
            setattr(gemm, f'trans{name}', operand.trans)
            return
        stored = self.layout
        if stored not in operand.ld:
            stored, op, uplo = other(stored), TURNED[op], TURNED[uplo]
        setattr(gemm, name, operand.pointer)
        setattr(gemm, f'{name}_offset', operand.offset)
        setattr(gemm, f'ld{name}', operand.ld[stored])
        setattr(gemm, f'trans{name}', OPERATIONS[op])
        setattr(gemm, f'uplo_{name}', TRIANGLES.get(uplo, 0))
        if self.count > 1 and operand.batch not in (None, 1):
            setattr(gemm, f'{name}_stride', operand.stride)

    def fill_c(self):
        """Without an array C is dense: its members follow each other."""
        gemm = self.gemm
        gemm.uplo_c = TRIANGLES.get(self.uplos['c'], 0)
        if self.c is None:
            gemm.c_stride = self.m * self.n
        else:
            gemm.c, gemm.c_offset = self.c.pointer, self.c.offset
            gemm.ldc, gemm.c_stride = self.c.ld[self.layout], self.c.stride

    def strides(self):
        """Those of a new C, in bytes."""
        lines = (self.n, 1) if self.layout == ROWS else (1, self.m)
        steps = (self.m * self.n,) * (len(self.shape) - 2) + lines
        return tuple(step * self.dtype.itemsize for step in steps)
