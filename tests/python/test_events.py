"""test_events.py: what a call waits for and says when it is done; queues; threads."""
import threading
import unittest

import numpy as np
import pyopencl as cl
import pyopencl.array

import kiln
import scene
from scene import fetch, numbers, on_device, product

OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
COMPLETE = cl.command_execution_status.COMPLETE


class Events(unittest.TestCase):
    def setUp(self):
        self.host = numbers((20, 20), 'float32')
        self.a, self.b = on_device(self.host), on_device(self.host)

    def held(self, gate, **options):
        """A product that may only come when the gate opens."""
        result = kiln.gemm(self.a, self.b, **options)
        self.assertNotEqual(result.events[-1].command_execution_status, COMPLETE)
        gate.set_status(COMPLETE)
        np.testing.assert_array_equal(fetch(result), product(self.host, self.host))
        self.assertEqual(result.events, [])

    def test_result_has_the_event(self):
        result = kiln.gemm(self.a, self.b)
        self.assertIsInstance(result.events[-1], cl.Event)
        result.events[-1].wait()
        self.assertEqual(result.events[-1].command_execution_status, COMPLETE)

    def test_events_are_released(self):
        """A driver may hold those of a queue's last commands."""
        event = kiln.gemm(self.a, self.b).events[-1]
        kiln.gemm(self.a, self.b)
        scene.queue.finish()
        self.assertTrue(scene.eventually(lambda: event.reference_count == 1))

    def test_waits(self):
        """For wait_for, and for the events that any of the arrays holds."""
        gate = cl.UserEvent(scene.context)
        self.held(gate, wait_for=[gate, gate])
        for array in (self.a, self.b):
            gate = cl.UserEvent(scene.context)
            array.events.append(gate)
            self.held(gate)
        out = on_device(self.host)
        gate = cl.UserEvent(scene.context)
        out.events.append(gate)
        self.held(gate, out=out)

    def test_failed_event(self):
        """Nothing is written when what a call waits for fails."""
        gate = cl.UserEvent(scene.context)
        queue = cl.CommandQueue(scene.context)
        out = on_device(self.host)
        kiln.gemm(self.a, self.b, out=out, wait_for=[gate], queue=queue)
        gate.set_status(-1)
        with self.assertRaises(cl.Error):
            out.finish()
        del out.events[:]
        np.testing.assert_array_equal(fetch(out), self.host)

    def test_out_of_order(self):
        """Events alone keep a chain of products in order."""
        queue = cl.CommandQueue(scene.context, properties=OUT_OF_ORDER)
        chain = np.triu(np.ones((40, 40), np.float32), 38)
        chain += np.eye(40, dtype=np.float32)
        x = on_device(chain, queue)
        factor = on_device(chain, queue)
        wanted = chain
        for _ in range(20):
            x = kiln.gemm(x, factor)
            kiln.gemm(factor, factor, x, alpha=0, beta=-1)
            wanted = -(wanted @ chain)
        np.testing.assert_array_equal(fetch(x), wanted)
        out = on_device(np.zeros((40, 40), np.float32), queue)
        for _ in range(30):
            kiln.gemm(factor, factor, out, beta=1)
        np.testing.assert_array_equal(fetch(out), 30 * (chain @ chain))
        self.assertEqual(kiln.syrk(factor).get(queue)[0, 1], 0)

    def test_events_of_a_pack(self):
        queue = cl.CommandQueue(scene.context, properties=OUT_OF_ORDER)
        gate = cl.UserEvent(scene.context)
        pack = kiln.Context.shared(queue).pack_b(self.b, 20, queue=queue, wait_for=[gate])
        self.assertNotEqual(pack.event.command_execution_status, COMPLETE)
        result = kiln.gemm(self.a, pack, queue=queue)
        self.assertNotEqual(result.events[-1].command_execution_status, COMPLETE)
        gate.set_status(COMPLETE)
        np.testing.assert_array_equal(fetch(result), product(self.host, self.host))

    def test_threads(self):
        """One Context, a queue for each thread; and one queue for all."""
        wanted = product(self.host, self.host)
        failures = []

        def work(queue):
            try:
                a, b = on_device(self.host, queue), on_device(self.host, queue)
                for _ in range(50):
                    if not np.array_equal(fetch(kiln.gemm(a, b)), wanted):
                        failures.append('another product')
            except Exception as error:
                failures.append(error)

        for shared in (None, cl.CommandQueue(scene.context)):
            threads = [threading.Thread(target=work, args=(
                shared or cl.CommandQueue(scene.context),)) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])

    def test_other_threads_run_during_a_call(self):
        """A log callback waits for another thread, which must be able to run Python."""
        asked, answered = threading.Event(), threading.Event()

        def answer():
            asked.wait(60)
            answered.set()

        waited = []

        def log(message):
            asked.set()
            waited.append(answered.wait(60))

        helper = threading.Thread(target=answer)
        helper.start()
        kiln.Context(scene.queue, log=log, log_calls=True).gemm(self.a, self.b)
        helper.join()
        self.assertTrue(waited and all(waited))


if __name__ == '__main__':
    unittest.main()
