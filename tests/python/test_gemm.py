"""test_gemm.py: products of arrays in every place, of every dtype, as NumPy has them."""
import itertools
import unittest

import numpy as np
import pyopencl as cl
import pyopencl.array

import kiln
import scene
from scene import COMPLEX, PLACES, REAL, fetch, numbers, on_device, operated, placed, product


class Case(unittest.TestCase):
    def same(self, result, wanted):
        found = fetch(result) if isinstance(result, cl.array.Array) else result
        self.assertEqual(found.shape, wanted.shape)
        np.testing.assert_array_equal(found, wanted.astype(found.dtype))

    def operands(self, dtype, m, n, k, trans_a='N', trans_b='N'):
        a = numbers((m, k) if trans_a == 'N' else (k, m), dtype)
        return a, numbers((k, n) if trans_b == 'N' else (n, k), dtype)


class Gemm(Case):
    def test_dtypes_and_transposes(self):
        for dtype, ops in itertools.chain(
                itertools.product(REAL, itertools.product('NT', repeat=2)),
                itertools.product(COMPLEX, itertools.product('NTC', repeat=2))):
            with self.subTest(dtype=dtype, ops=ops):
                a, b = self.operands(dtype, 17, 13, 21, *ops)
                result = kiln.gemm(on_device(a), on_device(b), trans_a=ops[0], trans_b=ops[1])
                self.assertEqual(result.dtype, dtype)
                self.same(result, product(a, b, *ops))

    def test_places(self):
        """What lies around C stays as it is."""
        for place_a, place_b, place_c in itertools.product(PLACES, repeat=3):
            with self.subTest(a=place_a, b=place_b, c=place_c):
                a, b = self.operands('float32', 9, 11, 7)
                c = numbers((9, 11), 'float32')
                there = placed(c, place_c)
                before = scene.around(there)
                back = kiln.gemm(placed(a, place_a), placed(b, place_b), there, alpha=2, beta=-1)
                self.assertIs(back, there)
                self.same(there, product(a, b, alpha=2) - c)
                np.testing.assert_array_equal(scene.around(there), before)

    def test_places_with_transposes(self):
        for place_a, place_b, ops in itertools.product(PLACES[:4], PLACES[:4], ('TN', 'NT', 'TT')):
            with self.subTest(a=place_a, b=place_b, ops=ops):
                a, b = self.operands('float32', 6, 5, 8, *ops)
                result = kiln.gemm(placed(a, place_a), placed(b, place_b), trans_a=ops[0],
                                   trans_b=ops[1])
                self.same(result, product(a, b, *ops))

    def test_conjugated_places(self):
        """A new C takes the layout that the conjugated operand has; a given one may not fit."""
        for place, ops in itertools.product(PLACES[:4], ('CN', 'NC', 'CC', 'CT')):
            with self.subTest(place=place, ops=ops):
                a, b = self.operands('complex64', 6, 5, 8, *ops)
                result = kiln.gemm(placed(a, place), placed(b, place), trans_a=ops[0],
                                   trans_b=ops[1])
                self.same(result, product(a, b, *ops))

    def test_vectors(self):
        """Of a single row or column both strides may say anything."""
        for m, n, k in itertools.product((1, 4), repeat=3):
            for place in PLACES:
                with self.subTest(m=m, n=n, k=k, place=place):
                    a, b = self.operands('float32', m, n, k)
                    c = numbers((m, n), 'float32')
                    result = kiln.gemm(placed(a, place), placed(b, place), placed(c, place), beta=1)
                    self.same(result, product(a, b) + c)

    def test_empty(self):
        for m, n, k in itertools.product((0, 3), repeat=3):
            with self.subTest(m=m, n=n, k=k):
                a, b = self.operands('float32', m, n, k)
                self.same(kiln.gemm(on_device(a), on_device(b)), product(a, b))
                self.same(kiln.gemm(a, b), product(a, b))
        empty = cl.array.Array(scene.queue, (0, 3, 3), np.float32)
        self.assertEqual(kiln.gemm(empty, empty).shape, (0, 3, 3))
        c = cl.array.Array(scene.queue, (0, 3, 3), np.float32)
        self.assertIs(kiln.gemm(empty, on_device(numbers((3, 3), 'float32')), c, beta=1), c)

    def test_empty_batches(self):
        """Of arrays without elements NumPy's strides are 0."""
        for count, m, n, k in itertools.product((0, 3), (0, 4), (0, 2), (0, 5)):
            with self.subTest(count=count, m=m, n=n, k=k):
                a, b = numbers((count, m, k), 'float32'), numbers((k, n), 'float32')
                c = numbers((count, m, n), 'float32')
                wanted = product(a, b)
                self.same(kiln.gemm(a, b), wanted)
                self.same(kiln.gemm(on_device(a), on_device(b)), wanted)
                self.same(kiln.gemm(a, b, c.copy(), beta=2), wanted + 2 * c)
                self.same(kiln.gemm(a, b, out=c.copy(order='F')), wanted)
                self.same(kiln.syrk(a, trans='T', alpha=0), np.zeros((count, k, k)))
        context = kiln.Context.shared(scene.queue)
        none = np.zeros((0, 4, 5), np.float32)
        self.assertEqual(context.workspace_bytes(none, np.zeros((5, 3), np.float32)), 0)

    def test_scalars(self):
        a, b = self.operands('complex64', 5, 6, 7)
        c = numbers((5, 6), 'complex64')
        there = on_device(c)
        kiln.gemm(on_device(a), on_device(b), there, alpha=1 - 2j, beta=np.complex64(2j))
        self.same(there, product(a, b, alpha=1 - 2j) + 2j * c)
        a, b = self.operands('float32', 5, 6, 7)
        for alpha in (3, 3.0, np.float32(3), np.array(3.0), True + 2):
            self.same(kiln.gemm(on_device(a), on_device(b), alpha=alpha), product(a, b, alpha=3))

    def test_beta_of_0_reads_nothing(self):
        a, b = self.operands('float32', 5, 6, 7)
        c = on_device(np.full((5, 6), np.nan, np.float32))
        self.same(kiln.gemm(on_device(a), on_device(b), c), product(a, b))
        out = on_device(np.full((5, 6), np.nan, np.float32))
        self.assertIs(kiln.gemm(on_device(a), on_device(b), out=out), out)
        self.same(out, product(a, b))

    def test_batches(self):
        for shape_a, shape_b in (((3, 5, 7), (3, 7, 6)), ((5, 7), (3, 7, 6)), ((3, 5, 7), (7, 6)),
                                 ((1, 5, 7), (3, 7, 6)), ((1, 5, 7), (7, 6))):
            for place in PLACES:
                with self.subTest(a=shape_a, b=shape_b, place=place):
                    a, b = numbers(shape_a, 'float32'), numbers(shape_b, 'float32')
                    wanted = product(a, b)
                    self.same(kiln.gemm(placed(a, place), placed(b, place)), wanted)
                    c = numbers(wanted.shape, 'float32')
                    there = placed(c, place)
                    kiln.gemm(placed(a, place), placed(b, place), there, beta=1)
                    self.same(there, wanted + c)

    def test_interleaved_members(self):
        """The batch is the middle dimension of the memory."""
        a, b = numbers((5, 3, 7), 'float32'), numbers((3, 7, 6), 'float32')
        view = on_device(a).transpose((1, 0, 2))
        self.same(kiln.gemm(view, on_device(b)), product(a.transpose(1, 0, 2), b))

    def test_parts_of_one_array(self):
        """A, B and C side by side in one buffer, as in a factorization by blocks."""
        whole = numbers((12, 12), 'float32')
        there = on_device(whole)
        kiln.gemm(there[4:, :4], there[:4, 4:], there[4:, 4:], alpha=-1, beta=1)
        whole[4:, 4:] -= whole[4:, :4] @ whole[:4, 4:]
        self.same(there, whole)

    def test_allocator_and_workspace(self):
        allocator = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(scene.queue))
        a, b = self.operands('float32', 150, 140, 130)
        x = cl.array.to_device(scene.queue, a, allocator=allocator)
        y = cl.array.to_device(scene.queue, b, allocator=allocator)
        context = kiln.Context.shared(scene.queue)
        room = cl.Buffer(scene.context, cl.mem_flags.READ_WRITE,
                         max(256, context.workspace_bytes(x, y)))
        result = context.gemm(x, y, workspace=room)
        self.assertIs(result.allocator, allocator)
        self.same(result, product(a, b))

    def test_emulation_may_be_allowed(self):
        a, b = self.operands('float32', 40, 50, 60)
        for allowed in (True, False):
            self.same(kiln.gemm(on_device(a), on_device(b), allow_emulation=allowed), product(a, b))
        context = kiln.Context(scene.queue, allow_emulation=True)
        self.same(context.gemm(on_device(a), on_device(b)), product(a, b))


class Triangles(Case):
    def test_symm(self):
        for dtype, hermitian in ([(REAL[1], False), (REAL[1], True)]
                                 + [(dtype, way) for dtype in COMPLEX for way in (False, True)]):
            for side, uplo, place in itertools.product('LR', 'UL', PLACES[:4]):
                with self.subTest(dtype=dtype, hermitian=hermitian, side=side, uplo=uplo):
                    half = numbers((6, 6), dtype)
                    part = np.triu(half, 1) if uplo == 'U' else np.tril(half, -1)
                    diagonal = np.diag(np.diag(half).real if hermitian else np.diag(half))
                    a = part + operated(part, 'C' if hermitian else 'T') + diagonal
                    b = numbers((6, 4) if side == 'L' else (4, 6), dtype)
                    c = numbers(b.shape, dtype)
                    routine = kiln.hemm if hermitian else kiln.symm
                    there = on_device(c)
                    routine(placed(half, place), on_device(b), there, beta=2, side=side, uplo=uplo)
                    self.same(there, (product(a, b) if side == 'L' else product(b, a)) + 2 * c)
                    self.same(routine(half, b, side=side, uplo=uplo.lower()),
                              product(a, b) if side == 'L' else product(b, a))

    def test_syrk(self):
        for dtype, hermitian in ((REAL[1], False), (REAL[1], True), (COMPLEX[0], False),
                                 (COMPLEX[0], True)):
            op = 'C' if hermitian else 'T'
            routine = kiln.herk if hermitian else kiln.syrk
            for trans, uplo, place in itertools.product('N' + op, 'UL', PLACES[:4]):
                with self.subTest(dtype=dtype, trans=trans, uplo=uplo, place=place):
                    a = numbers((7, 5), dtype)
                    pair = ('N', op) if trans == 'N' else (op, 'N')
                    wanted = product(a, a, *pair, alpha=3)
                    cut = np.triu if uplo == 'U' else np.tril
                    new = routine(placed(a, place), alpha=3, trans=trans, uplo=uplo)
                    self.same(new, cut(wanted))
                    c = numbers(wanted.shape, dtype)
                    there = placed(c, place)
                    routine(placed(a, place), there, alpha=3, beta=1, trans=trans, uplo=uplo)
                    # The diagonal of a Hermitian C is real.
                    is_real = hermitian and dtype.kind == 'c'
                    kept = c - 1j * np.diag(np.diag(c).imag) if is_real else c
                    expected = np.where(cut(np.ones_like(wanted)) == 1, wanted + kept, c)
                    self.same(there, expected)
                    host = c.copy()
                    self.assertIs(routine(a, host, alpha=3, beta=1, trans=trans, uplo=uplo), host)
                    self.same(host, expected)
                    host = c.copy()
                    routine(a, out=host, alpha=3, trans=trans, uplo=uplo)
                    self.same(host, np.where(cut(np.ones_like(wanted)) == 1, wanted, c))


class Host(Case):
    def test_numpy(self):
        a, b = self.operands('float32', 9, 8, 7)
        for x, y in ((a, b), (np.asfortranarray(a), b), (a, np.asfortranarray(b))):
            result = kiln.gemm(x, y)
            self.assertIs(type(result), np.ndarray)
            self.same(result, product(a, b))
        wide = numbers((18, 21), 'float32')
        self.same(kiln.gemm(wide[::2, ::-3], b), product(wide[::2, ::-3], b))
        self.same(kiln.gemm(a, b, queue=scene.queue), product(a, b))
        self.same(kiln.Context(scene.context).gemm(a, b), product(a, b))

    def test_numpy_in_place(self):
        a, b = self.operands('float32', 9, 8, 7)
        whole = numbers((20, 20), 'float32')
        wanted = whole.copy()
        wanted[1:10, 2:18:2] = product(a, b) + 2 * whole[1:10, 2:18:2]
        c = whole[1:10, 2:18:2]
        self.assertIs(kiln.gemm(a, b, c, beta=2), c)
        self.same(whole, wanted)
        out = np.full((9, 8), np.nan, np.float32, order='F')
        self.assertIs(kiln.gemm(a, b, out=out), out)
        self.same(out, product(a, b))
        square = numbers((6, 6), 'float32')
        wanted = product(square, square)
        kiln.gemm(square, square, out=square)
        self.same(square, wanted)

    def test_numpy_conjugated(self):
        for ops, orders in itertools.product(('CN', 'NC', 'CC', 'CT'), ('CC', 'CF', 'FC', 'FF')):
            with self.subTest(ops=ops, orders=orders):
                a, b = self.operands('complex64', 6, 5, 8, *ops)
                result = kiln.gemm(np.array(a, order=orders[0]), np.array(b, order=orders[1]),
                                   trans_a=ops[0], trans_b=ops[1])
                self.same(result, product(a, b, *ops))

    def test_numpy_conjugated_in_place(self):
        """C lies as it likes, and one array may be both operands."""
        for ops, order, by in itertools.product(('CN', 'NC', 'CC', 'TC'), 'CF', 'CF'):
            with self.subTest(ops=ops, order=order, by=by):
                a = numbers((6, 6), 'complex64')
                b, c = numbers((2, 6, 6), 'complex64')
                x = np.array(a, order=order)
                trans = {'trans_a': ops[0], 'trans_b': ops[1]}
                for y in (x, np.array(b, order=order)):
                    there = np.array(c, order=by)
                    self.assertIs(kiln.gemm(x, y, there, beta=1, **trans), there)
                    self.same(there, product(a, y, *ops) + c)
                    out = np.full_like(there, np.nan)
                    self.same(kiln.gemm(x, y, out=out, **trans), product(a, y, *ops))

    def test_numpy_herk(self):
        for trans, order, by in itertools.product('NC', 'CF', 'CF'):
            with self.subTest(trans=trans, order=order, by=by):
                a = numbers((6, 6), 'complex64')
                c = np.array(numbers((6, 6), 'complex64').real, 'complex64', order=by)
                lower = np.tril(product(a, a, *('NC' if trans == 'N' else 'CN')))
                x = np.array(a, order=order)
                self.same(kiln.herk(x, trans=trans), lower)
                wanted = c + lower
                kiln.herk(x, c, beta=1, trans=trans)
                self.same(c, wanted)

    def test_numpy_batch(self):
        a, b = numbers((3, 5, 7), 'float32'), numbers((7, 6), 'float32')
        for x in (a, np.asfortranarray(a), scene.turned(scene.turned(a).copy()), a[:, ::-1]):
            self.same(kiln.gemm(x, b), product(x, b))
            out = np.empty((3, 5, 6), np.float32, order='F')
            self.same(kiln.gemm(x, b, out=out), product(x, b))


if __name__ == '__main__':
    unittest.main()
