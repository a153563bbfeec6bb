"""_routines.py: the functions of the module. They find the Context, and call it."""
import threading

import pyopencl as cl

from ._context import Context, on_host, queue_of
from ._pack import Pack

_lock = threading.Lock()
_default = None


def default_queue():
    """For NumPy's arrays that come without a queue: a device as pyopencl.create_some_context
    chooses it, by PYOPENCL_CTX or the first. It is kept until the process ends."""
    global _default
    with _lock:
        if _default is None:
            _default = cl.CommandQueue(cl.create_some_context(interactive=False))
        return _default


def context_for(queue, *names, **arrays):
    """A Pack's Context, or the one that the queue's device has."""
    for array in arrays.values():
        if isinstance(array, Pack):
            return array.context
    is_host = on_host(**arrays)
    if queue is None and is_host:
        queue = default_queue()
    return Context.shared(queue_of(queue, arrays['out'], arrays['c'], arrays['a'], arrays['b']))


def gemm(a, b, c=None, *, alpha=1, beta=0, trans_a='N', trans_b='N', out=None, queue=None,
         wait_for=None, allow_emulation=None, workspace=None):
    """alpha op(a) op(b) + beta c, enqueued.

    a, b: pyopencl.array.Array of two dimensions, or three for a batch of matrices; Packs in their
        place. Views are used as they are: transposed, sliced, of part of a batch. A batch of one,
        or an array of two dimensions, goes with every member of the other operand's.
    c: what beta multiplies. It is overwritten by the result.
    out: the array for the result where there is no c. Without either there is a new one.
    alpha, beta: numbers; complex ones only for complex matrices. With beta of 0, c is not read.
    trans_a, trans_b: 'N' as it is, 'T' transposed, 'C' transposed and conjugated.
    queue: None: that of out, c, a or b, the first that has one.
    wait_for: pyopencl's events, beside those that the arrays hold.
    allow_emulation: True: single precision may be multiplied as halves on tensor units (kiln.h:
        KILN_ALLOW_EMULATION); False: not; None: as the Context has it.
    workspace: a pyopencl.Buffer of Context.workspace_bytes, in place of the Context's own memory.

    Returns the array that is written, with the call's event among its `events`. Of numpy.ndarray,
    arrays are brought to the device and the result back: it waits.
    """
    context = context_for(queue, a=a, b=b, c=c, out=out)
    return context.gemm(a, b, c, alpha=alpha, beta=beta, trans_a=trans_a, trans_b=trans_b, out=out,
                        queue=queue, wait_for=wait_for, allow_emulation=allow_emulation,
                        workspace=workspace)


def symm(a, b, c=None, *, alpha=1, beta=0, side='L', uplo='L', hermitian=False, out=None,
         queue=None, wait_for=None, allow_emulation=None, workspace=None):
    """alpha a b + beta c (side 'L') or alpha b a + beta c (side 'R'), where a is symmetric.

    uplo: which triangle of a is read: 'L' or 'U', as the array is indexed.
    hermitian: a is its own conjugate transpose; hemm says the same.
    The rest is as for gemm.
    """
    context = context_for(queue, a=a, b=b, c=c, out=out)
    return context.symm(a, b, c, alpha=alpha, beta=beta, side=side, uplo=uplo, hermitian=hermitian,
                        out=out, queue=queue, wait_for=wait_for, allow_emulation=allow_emulation,
                        workspace=workspace)


def hemm(a, b, c=None, **options):
    """As symm, where a is its own conjugate transpose."""
    return symm(a, b, c, hermitian=True, **options)


def syrk(a, c=None, *, alpha=1, beta=0, trans='N', uplo='L', hermitian=False, out=None,
         queue=None, wait_for=None, allow_emulation=None, workspace=None):
    """alpha a a' + beta c, or with trans 'T' alpha a' a + beta c; ' is the transpose.

    uplo: which triangle of the result is computed, 'L' or 'U'. The other one stays as it is in c
        and out, and is 0 in a new array.
    hermitian: ' is the conjugate transpose, trans is 'N' or 'C', alpha and beta are real; herk
        says the same.
    The rest is as for gemm.
    """
    context = context_for(queue, a=a, b=None, c=c, out=out)
    return context.syrk(a, c, alpha=alpha, beta=beta, trans=trans, uplo=uplo, hermitian=hermitian,
                        out=out, queue=queue, wait_for=wait_for, allow_emulation=allow_emulation,
                        workspace=workspace)


def herk(a, c=None, **options):
    """As syrk, with the conjugate transpose in place of the transpose."""
    return syrk(a, c, hermitian=True, **options)
