"""_host.py: NumPy's arrays: to the device, and the product back.

A call has one layout, that of its Packs or rows. What has to be in it is brought so: C, and what is
conjugated. Other operands are brought as they lie, or by rows if their elements lie apart.
"""
import numpy as np
import pyopencl as cl
import pyopencl.array

from ._call import letter_of
from ._matrix import COLUMNS, ROWS
from ._pack import Pack


def turned(array):
    """A view in which rows and columns of each member have changed places."""
    before = len(array.shape) - 2
    if before < 0:
        return array
    return array.transpose([*range(before), before + 1, before])


def place_of(name, array, options, layout):
    """The layout in which A or B is brought to a call of this layout."""
    trans = f'trans_{name}'
    if not isinstance(array, np.ndarray) or (
            array.dtype.kind == 'c' and letter_of(trans, options.get(trans, 'N'), 'NTC') == 'C'):
        return layout
    is_turned = not array.flags.c_contiguous and turned(array).flags.c_contiguous
    return COLUMNS if is_turned else ROWS


def places(a, b, options):
    """The layouts in which A, B and C are brought. One array that is both has one."""
    layout = next((each.layout for each in (a, b) if isinstance(each, Pack)), ROWS)
    first, second = place_of('a', a, options, layout), place_of('b', b, options, layout)
    if a is b and first != second:
        first = second = layout
    return first, second, layout


def upload(queue, array, layout):
    """The array on the device; a Pack as it is."""
    if isinstance(array, Pack):
        return array
    if layout == COLUMNS:
        return turned(upload(queue, turned(array), ROWS))
    return cl.array.to_device(queue, np.asarray(array, order='C'))


def room_for(queue, array, layout):
    """An array on the device, whose elements do not matter."""
    if layout == COLUMNS:
        return turned(room_for(queue, turned(array), ROWS))
    return cl.array.Array(queue, array.shape, array.dtype)


def download(queue, array):
    return array.get(queue) if array.flags.forc else turned(turned(array).get(queue))


def lying(array, layout):
    """An array with the strides that upload's has, to be described; its elements do not matter.
    What is not NumPy's stays as it is."""
    if not isinstance(array, np.ndarray):
        return array
    if layout == COLUMNS:
        return turned(lying(turned(array), ROWS))
    return array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)


def described(a, b, target, options):
    """The arrays as `multiply` has them on the device."""
    return [lying(array, layout)
            for array, layout in zip((a, b, target), places(a, b, options))]


def multiply(enqueue, queue, a, b, target, is_read, options):
    """The product as NumPy's array, or in `target`, whose elements count if `is_read`. Waits."""
    place_a, place_b, layout = places(a, b, options)
    first = upload(queue, a, place_a)
    second = first if b is a else upload(queue, b, place_b)
    there = None
    if target is not None:
        there = (upload if is_read else room_for)(queue, target, layout)
    result = download(queue, enqueue(queue, first, second, there))
    if target is None:
        return result
    np.copyto(target, result)
    return target
