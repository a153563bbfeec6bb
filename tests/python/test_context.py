"""test_context.py: contexts, their logs and packs, and the order in which all of them go."""
import gc
import itertools
import subprocess
import sys
import unittest
import weakref

import numpy as np
import pyopencl as cl
import pyopencl.array

import kiln
import scene
from scene import fetch, numbers, on_device, placed, product, turned


class Contexts(unittest.TestCase):
    def setUp(self):
        self.hosts = numbers((30, 40), 'float32'), numbers((40, 50), 'float32')
        self.a, self.b = map(on_device, self.hosts)
        self.wanted = product(*self.hosts)

    def same(self, result):
        np.testing.assert_array_equal(fetch(result), self.wanted)

    def test_shared(self):
        queues = [cl.CommandQueue(scene.context) for _ in range(2)]
        contexts = [kiln.Context.shared(queue) for queue in queues]
        self.assertIs(contexts[0], contexts[1])
        self.assertIs(kiln.Context.shared(scene.queue), contexts[0])
        other = cl.CommandQueue(cl.Context([scene.device]))
        self.assertIsNot(kiln.Context.shared(other), contexts[0])

    def test_shared_goes_with_its_queues(self):
        queues = [cl.CommandQueue(cl.Context([scene.device]))]
        queues.append(cl.CommandQueue(queues[0].context))
        for queue in queues:
            kiln.gemm(on_device(self.hosts[0], queue), on_device(self.hosts[1], queue))
        alive = weakref.ref(kiln.Context.shared(queues[0]))
        del queue
        for _ in range(2):
            gc.collect()
            self.assertIsNotNone(alive())
            queues.pop()
        gc.collect()
        self.assertIsNone(alive())

    def test_released(self):
        """Nothing of OpenCL's is held when a Context is gone."""
        queue = cl.CommandQueue(cl.Context([scene.device]))
        a, b = (on_device(host, queue) for host in self.hosts)
        first = None
        for _ in range(5):
            context = kiln.Context(queue)
            with_context = queue.context.reference_count
            context.gemm(context.pack_a(a, b), b)
            queue.finish()
            del context
            gc.collect()
            self.assertTrue(scene.eventually(
                lambda: queue.context.reference_count < with_context))
            first = first or (queue.context.reference_count, queue.reference_count)
            self.assertTrue(scene.eventually(lambda: queue.context.reference_count <= first[0]
                                             and queue.reference_count <= first[1]))

    def test_pack_outlives_everything(self):
        context = kiln.Context(cl.CommandQueue(scene.context))
        alive = weakref.ref(context)
        there = on_device(self.hosts[1])
        pack = context.pack_b(there, 30)
        del context, there
        gc.collect()
        self.assertIsNotNone(alive())
        for _ in range(3):
            self.same(kiln.gemm(self.a, pack))
        result = kiln.gemm(self.a, pack)
        del pack
        gc.collect()
        self.assertIsNone(alive())
        self.same(result)

    def test_pack_in_a_cycle(self):
        context = kiln.Context(scene.queue)
        pack = context.pack_a(self.a, self.b)
        context.mine = pack
        alive = weakref.ref(context)
        self.same(kiln.gemm(pack, self.b))
        del context, pack
        gc.collect()
        self.assertIsNone(alive())

    def test_destroyed_while_under_way(self):
        gate = cl.UserEvent(scene.context)
        context = kiln.Context(scene.queue)
        result = context.gemm(self.a, self.b, wait_for=[gate])
        del context
        gc.collect()
        gate.set_status(cl.command_execution_status.COMPLETE)
        self.same(result)

    def test_packs(self):
        """Of A, of B, of both, of views and transposes; for other numbers of rows."""
        context = kiln.Context.shared(scene.queue)
        a, b = self.hosts
        for place in scene.PLACES:
            there = placed(b, place)
            pack = context.pack_b(there, self.a)
            self.assertEqual((pack.shape, pack.dtype), (b.shape, b.dtype))
            self.assertGreaterEqual(pack.nbytes, b.nbytes)
            self.same(kiln.gemm(self.a, pack))
        turned = context.pack_b(on_device(b.T), self.a, trans_b='T')
        self.same(kiln.gemm(self.a, turned))
        for rows in (1, 300):
            more = numbers((rows, 40), 'float32')
            np.testing.assert_array_equal(fetch(kiln.gemm(on_device(more), pack)), product(more, b))
        pack_a = context.pack_a(self.a, 50)
        self.same(kiln.gemm(pack_a, self.b))
        both = context.pack_b(self.b, pack_a)
        self.same(kiln.gemm(pack_a, both, queue=scene.queue))
        out = on_device(np.zeros((30, 50), np.float32))
        self.assertIs(kiln.gemm(pack_a, both, out=out), out)
        self.same(out)
        batch = numbers((3, 30, 40), 'float32')
        np.testing.assert_array_equal(fetch(kiln.gemm(on_device(batch), pack)), product(batch, b))

    def test_packs_by_columns(self):
        context = kiln.Context.shared(scene.queue)
        pack = context.pack_b(self.b, placed(self.hosts[0], 'columns'), order='F')
        self.same(kiln.gemm(placed(self.hosts[0], 'columns'), pack))
        out = placed(np.zeros((30, 50), np.float32), 'part of columns')
        self.same(kiln.gemm(placed(self.hosts[0], 'columns'), pack, out=out))

    def test_packs_of_numpy(self):
        context = kiln.Context(scene.queue)
        pack = context.pack_b(self.hosts[1], 30)
        np.testing.assert_array_equal(context.gemm(self.hosts[0], pack), self.wanted)
        np.testing.assert_array_equal(kiln.gemm(self.hosts[0], pack), self.wanted)

    def test_packs_of_numpy_by_columns(self):
        """The order of a pack is that of the product and of what is conjugated, wherever c lies."""
        context = kiln.Context(scene.queue)
        for dtype, ops, order, by, batch in itertools.product(
                ('float32', 'complex64'), ('NN', 'CN', 'NC', 'CC'), 'CF', 'CF', ((), (3,))):
            with self.subTest(dtype=dtype, ops=ops, order=order, by=by, batch=batch):
                a = numbers(batch + ((6, 5) if ops[0] == 'N' else (5, 6)), dtype)
                b = numbers((5, 7) if ops[1] == 'N' else (7, 5), dtype)
                x = np.array(a, order='C') if by == 'C' else turned(turned(a).copy())
                y = np.array(b, order=by)
                wanted = product(a, b, *ops)
                for beside in (x, x[0] if batch else x.copy('K')):
                    pack = context.pack_b(y, beside, trans_a=ops[0], trans_b=ops[1], order=order)
                    result = kiln.gemm(x, pack, trans_a=ops[0])
                    np.testing.assert_array_equal(result, wanted)
                    c = np.ones_like(wanted, dtype, order=by)
                    kiln.gemm(x, pack, c, trans_a=ops[0], beta=2)
                    np.testing.assert_array_equal(c, wanted + 2)
                    context.workspace_bytes(x, pack, trans_a=ops[0], out=c)
                if not batch:
                    pack = context.pack_a(x, y, trans_a=ops[0], trans_b=ops[1], order=order)
                    out = np.empty_like(wanted, dtype, order=by)
                    kiln.gemm(pack, y, trans_b=ops[1], out=out)
                    np.testing.assert_array_equal(out, wanted)

    def test_empty_pack(self):
        context = kiln.Context.shared(scene.queue)
        pack = context.pack_b(on_device(numbers((0, 5), 'float32')), 3)
        self.assertEqual(pack.nbytes, 0)
        result = kiln.gemm(on_device(numbers((3, 0), 'float32')), pack, queue=scene.queue)
        np.testing.assert_array_equal(fetch(result), np.zeros((3, 5)))

    def test_explain(self):
        context = kiln.Context.shared(scene.queue)
        for a, b in ((self.a, self.b), self.hosts, (self.a, context.pack_b(self.b, 30))):
            text = context.explain(a, b)
            self.assertRegex(text, '^bundle: .*\nkernel: ')
            self.assertIn('m=30 n=50 k=40', text)
        self.assertIn('m=40 n=40 k=30', context.explain(self.a, self.a, trans_a='T'))

    def test_describes_what_numpy_needs(self):
        """The workspace that is told does, and products that work can be explained."""
        context = kiln.Context(scene.queue)
        for m, n, k in ((1, 300, 64), (300, 1, 64), (16, 64, 300), (300, 64, 300)):
            for dtype, by in itertools.product(scene.REAL + scene.COMPLEX, 'CF'):
                with self.subTest(m=m, n=n, k=k, dtype=dtype, by=by):
                    a, b = numbers((m, k), dtype), numbers((k, n), dtype)
                    out, rows = np.empty((m, n), dtype, order=by), np.empty((m, n), dtype)
                    size = context.workspace_bytes(a, b, out=out)
                    self.assertEqual(size, context.workspace_bytes(a, b, out=rows))
                    room = cl.Buffer(scene.context, cl.mem_flags.READ_WRITE, max(1, size))
                    context.gemm(a, b, out=out, workspace=room, queue=scene.queue)
                    np.testing.assert_array_equal(out, product(a, b))
        z = numbers((6, 5), 'complex64')
        for x, y, by in itertools.product((z, np.asfortranarray(z)), (z, z.copy('F')), 'CF'):
            out = np.empty((6, 6), 'complex64', order=by)
            self.assertIn('m=6 n=6 k=5', context.explain(x, y, trans_b='C', out=out))
            self.assertIn('m=6 n=6 k=5', context.explain(x, x, trans_b='C', out=out))

    def test_log(self):
        messages = []
        context = kiln.Context(scene.queue, log=messages.append, log_calls=True)
        context.gemm(self.a, self.b)
        self.assertIn('shape: 30 50 40 single nn', messages)
        self.assertTrue(all(type(message) is str for message in messages))

    def test_log_that_raises(self):
        """The call goes on; what was raised is told to the hook, each time."""
        told, kept = [], sys.unraisablehook

        def log(message):
            raise LookupError(message)

        sys.unraisablehook = lambda entry: told.append(entry.exc_type)
        try:
            context = kiln.Context(scene.queue, log=log, log_calls=True)
            self.same(context.gemm(self.a, self.b))
        finally:
            sys.unraisablehook = kept
        self.assertTrue(told and set(told) == {LookupError})

    def test_log_that_holds_the_context(self):
        class Program:
            def __init__(self):
                self.context = kiln.Context(scene.queue, log=self.log)

            def log(self, message):
                pass

        alive = weakref.ref(Program().context)
        gc.collect()
        self.assertIsNone(alive())

    def test_settings(self):
        context = kiln.Context(scene.context, scene.device, exact_only=True, self_test=True)
        self.same(context.gemm(self.a, self.b))
        self.assertIs(type(context.workspace_bytes(self.a, self.b)), int)

    def test_end_of_the_interpreter(self):
        """Contexts, packs and a thread within a call are there when it ends."""
        program = '''
import threading, numpy, pyopencl, pyopencl.array, kiln
queue = pyopencl.CommandQueue(pyopencl.create_some_context(interactive=False))
context = kiln.Context(queue, log=print)
a = pyopencl.array.to_device(queue, numpy.ones((50, 50), numpy.float32))
pack = context.pack_b(a, 50)
result = kiln.gemm(a, pack)
kiln.gemm(a.get(), a.get())
began = threading.Event()
def work():
    while True:
        context.explain(a, a)
        began.set()
threading.Thread(target=work, daemon=True).start()
began.wait()
print("end:", result.get()[0, 0])
'''
        done = subprocess.run([sys.executable, '-c', program], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('end: 50.0', done.stdout)


if __name__ == '__main__':
    unittest.main()
