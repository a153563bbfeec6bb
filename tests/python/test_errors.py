"""test_errors.py: each bad argument has an error of its own, and leaves the arrays as they were."""
import pickle
import unittest

import numpy as np
import pyopencl as cl
import pyopencl.array

import kiln
import scene
from scene import numbers, on_device, placed


def half(array):
    return on_device(array.get().astype(np.float16))


class Errors(unittest.TestCase):
    def setUp(self):
        self.a = on_device(numbers((4, 5), 'float32'))
        self.b = on_device(numbers((5, 6), 'float32'))
        self.c = on_device(numbers((4, 6), 'float32'))
        self.context = kiln.Context.shared(scene.queue)

    def refused(self, kind, pattern, *arrays, call=None, **options):
        before = self.c.get()
        with self.assertRaisesRegex(kind, pattern) as caught:
            (call or kiln.gemm)(*arrays, **options)
        np.testing.assert_array_equal(self.c.get(), before)
        return caught.exception

    def test_types(self):
        a, b, c = self.a, self.b, self.c
        self.refused(TypeError, '^a is a list: ', [[1.0]], b)
        self.refused(TypeError, '^b is a int: ', a, 3)
        self.refused(TypeError, '^b on the host', a, b.get())
        self.refused(TypeError, '^a and c on the host', a.get(), b, c.get())
        self.refused(TypeError, 'a is of .*int32', a.astype(np.int32), b)
        self.refused(TypeError, 'a is of .*byte order', a.get().astype('>f4'), b.get())
        self.refused(TypeError, '^a is of float32, but b is of float16', a, half(b))
        self.refused(TypeError, '^a is of float32, but c is of float16', a, b,
                     half(c), beta=1)
        self.refused(TypeError, '^alpha is complex', a, b, alpha=1j)
        self.refused(TypeError, '^beta is complex', a, b, c, beta=np.complex64(1))
        self.refused(TypeError, "^alpha is a str: it is a number", a, b, alpha='1')
        self.refused(TypeError, '^queue is a Context', a, b, queue=scene.context)
        self.refused(TypeError, '^wait_for holds a int', a, b, wait_for=[3])
        self.refused(TypeError, '^workspace is a int', a, b, workspace=3)

    def test_shapes(self):
        a, b, c = self.a, self.b, self.c
        self.refused(ValueError, '^a has 1 dimensions', a[0], b)
        self.refused(ValueError, r'^op\(a\) is 4 x 5, but op\(b\) is 6 x 5', a, b, trans_b='T')
        self.refused(ValueError, r'^c has the shape \(6, 4\), but the product \(4, 6\)', a, b, c.T)
        three, two = (on_device(numbers((count, 5, 5), 'float32')) for count in (3, 2))
        self.refused(ValueError, '^a has 3 members, but b has 2', three, two)
        self.refused(ValueError, r'c has the shape \(4, 6\), but the product \(3, 5, 5\)', three,
                     three, c)
        self.refused(ValueError, '^beta is not 0, but there is no c', a, b, beta=1)
        self.refused(ValueError, '^beta is not 0, but there is no c', a, b, out=c, beta=1)
        self.refused(ValueError, '^c and out are two arrays', a, b, c, out=on_device(c.get()))
        self.refused(ValueError, "^trans_a is 'X': it is 'N', 'T' or 'C'", a, b, trans_a='X')
        self.refused(ValueError, '^trans_b is 1', a, b, trans_b=1)
        self.refused(ValueError, '^allow_emulation is', a, b, allow_emulation='yes')

    def view(self, strides, shape=(3, 3), offset=0, dtype=np.float32):
        there = on_device(np.zeros(200, np.float32))
        return cl.array.Array(scene.queue, shape, dtype, data=there.base_data, offset=offset,
                              strides=strides)

    def test_strides(self):
        square = on_device(numbers((3, 3), 'float32'))
        for pattern, strides in (('^neither the rows nor the columns of a', (80, 8)),
                                 ('^the rows or columns of a overlap', (8, 4)),
                                 ('^the rows or columns of a overlap', (4, 4)),
                                 ('^a has a negative stride', (-12, 4)),
                                 ('^a has a stride of 0', (0, 4)),
                                 ('^a stride of a, 14 bytes', (14, 4))):
            self.refused(ValueError, pattern, self.view(strides), square)
        self.refused(ValueError, '^the offset of a, 2 bytes', self.view((12, 4), offset=2), square)
        self.refused(ValueError, '^a has a negative stride from one member',
                     self.view((-36, 12, 4), (2, 3, 3), 36), square)
        apart = self.view((12, 24, 4), (2, 3, 3))
        self.refused(ValueError, '^the members of c do not follow', apart, square, apart)

    def test_conjugates(self):
        a = numbers((3, 3), 'complex64')
        by_rows, by_columns = on_device(a), placed(a, 'columns')
        out = by_columns._new_with_changes(None, 0)
        self.refused(ValueError, '^no layout suits all: a by rows, c by columns', by_rows, by_rows,
                     trans_a='C', out=out)
        self.refused(ValueError, '^no layout suits all: a by rows, b by columns', by_rows,
                     by_columns, trans_a='C', trans_b='C')

    def test_overlap(self):
        square = on_device(numbers((6, 6), 'float32'))
        self.refused(ValueError, 'shares memory with a$', square, on_device(square.get()),
                     out=square)
        self.refused(ValueError, 'shares memory with b$', square[:3, :3], square[3:, :3].T,
                     out=square[3:, 2:5])

    def test_triangles(self):
        a, b = self.a, self.b
        square = on_device(numbers((4, 4), 'float32'))
        self.refused(ValueError, '^a is 4 x 5: a matrix of which one triangle', a, b,
                     call=kiln.symm)
        self.refused(ValueError, "^side is 'X'", square, a, side='X', call=kiln.symm)
        self.refused(ValueError, "^uplo is None", square, a, uplo=None, call=kiln.symm)
        self.refused(ValueError, "^trans is 'C': it is 'N' or 'T'", a, trans='C', call=kiln.syrk)
        self.refused(ValueError, "^trans is 'T': it is 'N' or 'C'", a, trans='T', call=kiln.herk)
        half = on_device(numbers((3, 3), 'complex64'))
        self.refused(TypeError, '^alpha is complex', half, alpha=1j, call=kiln.herk)
        pack = self.context.pack_a(square, 5)
        self.refused(TypeError, '^a is packed', pack, a, call=kiln.symm)
        self.refused(TypeError, '^a is packed', pack, call=kiln.syrk)

    def test_packs(self):
        a, b, context = self.a, self.b, self.context
        pack = context.pack_b(b, 4)
        self.refused(ValueError, '^a is a pack of b', pack, b)
        self.refused(ValueError, "^trans_b is 'T', but b is packed", a, pack, trans_b='T')
        self.refused(ValueError, '^no layout suits all: b by rows, c by columns', a, pack,
                     placed(numbers((4, 6), 'float32'), 'columns'))
        self.refused(TypeError, '^a is of float16, but b is of float32', half(a), pack)
        self.refused(TypeError, '^b is packed already', pack, 4, call=context.pack_b)
        self.refused(TypeError, '^a is a str', b, '4', call=context.pack_b)
        self.refused(ValueError, '^-1 rows', b, -1, call=context.pack_b)
        self.refused(ValueError, "^order is 'A': it is 'C' or 'F'", b, 4, order='A',
                     call=context.pack_b)
        far = cl.CommandQueue(cl.Context([scene.device]))
        error = self.refused(kiln.Error, 'kiln_gemm_enqueue: .*PACK_CONTEXT_MISMATCH',
                             on_device(a.get(), far), pack, call=kiln.Context(far).gemm)
        self.assertIs(error.status, kiln.Status.PACK_CONTEXT_MISMATCH)

    def test_contexts(self):
        self.refused(TypeError, '^context is a int', 3, call=kiln.Context)
        self.refused(TypeError, '^device is a int', scene.context, 3, call=kiln.Context)
        self.refused(TypeError, '^log is a int', scene.context, log=3, call=kiln.Context)
        bare = self.a.with_queue(None)
        self.refused(ValueError, '^no queue', bare, self.b.with_queue(None))

    def test_statuses(self):
        far = cl.CommandQueue(cl.Context([scene.device]))
        error = self.refused(kiln.Error, r'^kiln_gemm_enqueue: .*\(QUEUE_CONTEXT_MISMATCH, 5\)$',
                             self.a, self.b, queue=far, call=self.context.gemm)
        self.assertIs(error.status, kiln.Status.QUEUE_CONTEXT_MISMATCH)
        self.assertEqual(error.function, 'kiln_gemm_enqueue')
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.status), (str(error), error.status))
        other = on_device(self.a.get(), far)
        error = self.refused(kiln.Error, 'BUFFER_CONTEXT_MISMATCH', other, self.b,
                             queue=scene.queue)
        self.assertEqual(error.status, kiln.Status.BUFFER_CONTEXT_MISMATCH)
        error = self.refused(kiln.Error, 'BUFFER_A_TOO_SMALL', self.view((400, 4)),
                             on_device(numbers((3, 3), 'float32')))
        self.assertEqual(error.status, kiln.Status.BUFFER_A_TOO_SMALL)
        error = kiln.Error(-5, 'kiln_gemm_enqueue')
        self.assertEqual(str(error), 'kiln_gemm_enqueue: CL_OUT_OF_RESOURCES (-5)')
        self.assertEqual(error.status, -5)


if __name__ == '__main__':
    unittest.main()
