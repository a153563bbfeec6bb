"""_host.py: NumPy's arrays: to the device, and the product back."""
import numpy as np
import pyopencl as cl
import pyopencl.array

from ._call import letter_of
from ._pack import Pack


def upload(queue, array):
    """The array on the device; what is not contiguous becomes so."""
    array = np.asarray(array)
    return cl.array.to_device(queue, array if array.flags.forc else np.ascontiguousarray(array))


def is_conjugated(name, array, options):
    """Whether it is A or B conjugated, which has the layout of C: rows."""
    trans = f'trans_{name}'
    return (not isinstance(array, Pack) and array.dtype.kind == 'c'
            and letter_of(trans, options.get(trans, 'N'), 'NTC') == 'C')


def operands(queue, a, b, options):
    """A and B on the device. One array that is both is brought once."""
    by_rows = [is_conjugated('a', a, options), is_conjugated('b', b, options)]
    if a is b:
        by_rows = [any(by_rows)] * 2
    first, second = [np.ascontiguousarray(array) if is_bound else array
                     for array, is_bound in zip((a, b), by_rows)]
    there = [array if isinstance(array, Pack) else upload(queue, array)
             for array in ((first,) if a is b else (first, second))]
    return there[0], there[-1]


def multiply(enqueue, queue, a, b, target, is_read, options):
    """The product as NumPy's array, or in `target`, whose elements count if `is_read`. Waits."""
    first, second = operands(queue, a, b, options)
    there = None
    if target is not None and is_read:
        there = upload(queue, np.ascontiguousarray(target))
    elif target is not None:
        there = cl.array.Array(queue, target.shape, target.dtype)
    result = enqueue(queue, first, second, there).get(queue)
    if target is None:
        return result
    np.copyto(target, result)
    return target
