"""scene.py: a queue, matrices in many places, and what products should be."""
import time

import numpy as np
import pyopencl as cl
import pyopencl.array

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
device = queue.device
random = np.random.default_rng(7)

REAL = [np.dtype(name) for name in ('float16', 'float32', 'float64')]
COMPLEX = [np.dtype(name) for name in ('complex64', 'complex128')]
if not device.double_fp_config:
    REAL, COMPLEX = REAL[:2], COMPLEX[:1]
# How an array lies in its buffer.
PLACES = ('rows', 'columns', 'part of rows', 'part of columns', 'every other row')


def numbers(shape, dtype):
    """Small integers: sums of their products are exact in every precision."""
    dtype = np.dtype(dtype)
    drawn = random.integers(-2, 3, shape).astype(dtype)
    if dtype.kind == 'c':
        drawn += 1j * random.integers(-2, 3, shape)
    return drawn


def turned(array):
    """Rows and columns of each member change places."""
    return array.transpose([*range(array.ndim - 2), array.ndim - 1, array.ndim - 2])


def on_device(array, where=queue, order='C'):
    if array.size == 0:
        return cl.array.Array(where, array.shape, array.dtype)
    return cl.array.to_device(where, np.array(array, order=order, copy=True))


def placed(array, place, where=queue):
    """The array's elements on the device, as a view of the kind that `place` says."""
    lead = (slice(None),) * (array.ndim - 2)
    if 'columns' in place:
        return turned(placed(turned(array), place.replace('columns', 'rows'), where))
    if place == 'rows':
        return on_device(array, where)
    *members, rows, columns = array.shape
    if place == 'part of rows':
        cut = lead + (slice(2, 2 + rows), slice(3, 3 + columns))
        parent = numbers((*members, rows + 4, columns + 5), array.dtype)
    else:
        cut = lead + (slice(1, 1 + 2 * rows, 2), slice(0, columns))
        parent = numbers((*members, 2 * rows + 1, columns), array.dtype)
    parent[cut] = array
    on = on_device(parent, where)
    if place == 'part of rows':
        return on[cut]
    strides = list(on.strides)
    offset = on.offset + strides[-2]
    strides[-2] *= 2
    return on._new_with_changes(on.base_data, offset, shape=array.shape, strides=tuple(strides))


def fetch(view):
    """The elements of a view, as NumPy's array."""
    view.finish()
    if view.size == 0:
        return np.zeros(view.shape, view.dtype)
    memory = np.empty(view.base_data.size, np.uint8)
    cl.enqueue_copy(view.queue or queue, memory, view.base_data)
    return np.ndarray(view.shape, view.dtype, memory, view.offset, view.strides).copy()


def around(view):
    """All of the view's buffer, with the view's own elements 0."""
    view.finish()
    memory = np.empty(view.base_data.size, np.uint8)
    cl.enqueue_copy(view.queue or queue, memory, view.base_data)
    np.ndarray(view.shape, view.dtype, memory, view.offset, view.strides)[...] = 0
    return memory


def operated(array, op):
    if op == 'N':
        return array
    return turned(array).conj() if op == 'C' else turned(array)


def product(a, b, trans_a='N', trans_b='N', alpha=1):
    wide = np.complex128 if a.dtype.kind == 'c' else np.float64
    return alpha * (operated(a.astype(wide), trans_a) @ operated(b.astype(wide), trans_b))


def eventually(condition):
    """Whether it comes true: drivers let go of what is done a little later."""
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()
