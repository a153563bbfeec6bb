#!/usr/bin/env python3
"""Products of pyopencl's arrays: views, a batch, a sum into c, a triangle."""
import numpy as np
import pyopencl as cl
import pyopencl.array

import kiln

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
random = np.random.default_rng(1)


def matrix(*shape):
    return cl.array.to_device(queue, random.standard_normal(shape, np.float32))


def report(what, result, wanted):
    error = abs(result.get() - wanted).max()
    print(f'{what:32} {str(result.shape):16} largest error {error:.1e}')
    assert error < 1e-3


a, b = matrix(300, 200), matrix(200, 100)
c = kiln.gemm(a, b)                      # enqueued; c.events has its event
report('a b', c, a.get() @ b.get())

kiln.gemm(a, b, c, alpha=2, beta=1)      # c becomes 2 a b + c
report('2 a b + c', c, 3 * (a.get() @ b.get()))

report("b' a', transposed views", kiln.gemm(b.T, a.T), (a.get() @ b.get()).T)
report('parts of a and b', kiln.gemm(a[10:50, 5:69], b[:64, 20:40]),
       a.get()[10:50, 5:69] @ b.get()[:64, 20:40])

batch = matrix(8, 30, 200)               # eight matrices, and one b for all
report('a batch', kiln.gemm(batch, b), batch.get() @ b.get())

report("a' a, its lower triangle", kiln.syrk(a, trans='T'), np.tril(a.get().T @ a.get()))

print(kiln.Context.shared(queue).explain(a, b).splitlines()[1])
