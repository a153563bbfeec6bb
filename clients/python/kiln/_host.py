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


def operand(queue, array, trans):
    """A or B on the device. One that is conjugated has the layout of C: rows."""
    if isinstance(array, Pack):
        return array
    if array.dtype.kind == 'c' and letter_of('a transpose', trans, 'NTC') == 'C':
        array = np.ascontiguousarray(array)
    return upload(queue, array)


def multiply(enqueue, queue, a, b, target, is_read, options):
    """The product as NumPy's array, or in `target`, whose elements count if `is_read`. Waits."""
    first = operand(queue, a, options.get('trans_a', 'N'))
    second = first if b is a and not isinstance(a, Pack) else (
        operand(queue, b, options.get('trans_b', 'N')))
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
