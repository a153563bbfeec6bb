"""_pack.py: an operand that many products share, in the form that their kernels want."""
import ctypes

from . import _header
from ._library import call


class Pack:
    """op(A) or op(B) as Context.pack_a or Context.pack_b packed it; gemm takes it in their place.

    operand: 'a' or 'b'. shape: of op(A) or op(B). dtype. nbytes: of the device's memory. event:
    pyopencl's, of the packing, or None where there was nothing to pack; gemm waits for it.
    """

    batch = None

    def __init__(self, owner, operand, described, struct, buffer, event):
        self.context, self.operand, self.name = owner, operand, operand
        self.struct, self.buffer, self.event = struct, buffer, event
        self.dtype, self.precision = described.dtype, described.gemm.precision
        self.layout = described.layout
        self.trans = getattr(described.gemm, f'trans{operand}')
        self.rows, self.columns = ((described.m, described.k) if operand == 'a' else
                                   (described.k, described.n))

    @property
    def shape(self):
        return self.rows, self.columns

    @property
    def nbytes(self):
        return self.struct.bytes

    def __repr__(self):
        return (f'<kiln.Pack of {self.operand}: {self.rows} x {self.columns}, {self.dtype.name}, '
                f'{self.nbytes} bytes>')


def bytes_of(handle, described, code):
    """How much memory the operand takes when it is packed."""
    size = ctypes.c_size_t()
    call('kiln_pack_bytes', handle, described.gemm, code, size)
    return size.value


def enqueue(handle, described, code, buffer, queue, waits):
    """Packs; returns the struct and the event's handle."""
    struct, event = _header.kiln_pack(), ctypes.c_void_p()
    pointer = None if buffer is None else buffer.int_ptr
    call('kiln_pack_enqueue', handle, described.gemm, code, pointer, 0, queue.int_ptr, len(waits),
         waits or None, event, struct)
    return struct, event.value
