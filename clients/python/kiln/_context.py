"""_context.py: a kiln_context for Python: kernels for one device, and the calls that use them."""
import ctypes
import functools
import sys
import threading
import weakref

import numpy as np
import pyopencl as cl
import pyopencl.array

from . import _events, _header, _host, _pack
from ._call import Call, letter_of, scalar_of
from ._library import CONSTANTS, Error, call, library
from ._matrix import COLUMNS, ROWS
from ._pack import Pack

ORDERS = {'C': ROWS, 'F': COLUMNS}

_lock = threading.RLock()
# The contexts that module functions use, by the handles of their cl_context and device: these are
# theirs for as long as Kiln retains them. Queues hold them alive, as an attribute of their own.
_shared = weakref.WeakValueDictionary()
_ATTRIBUTE = '_kiln_context'


def check_array(name, array):
    if not isinstance(array, (cl.array.Array, np.ndarray, Pack)):
        raise TypeError(f'{name} is a {type(array).__name__}: it is a pyopencl.array.Array or a '
                        'numpy.ndarray')
    data = getattr(array, 'base_data', None)
    if data is not None and not isinstance(data, cl.MemoryObjectHolder):
        raise TypeError(f'{name} lies in a {type(data).__name__}: Kiln takes buffers alone')


def on_host(**arrays):
    """Whether the arrays are NumPy's. None and Packs do not count; raises TypeError for a mix."""
    for name, array in arrays.items():
        if array is not None:
            check_array(name, array)
    kinds = {isinstance(array, np.ndarray) for array in arrays.values()
             if array is not None and not isinstance(array, Pack)}
    if len(kinds) == 2:
        names = [name for name, array in arrays.items() if isinstance(array, np.ndarray)]
        raise TypeError(f'{" and ".join(names)} on the host (numpy.ndarray), the others on the '
                        'device (pyopencl.array.Array): all are of one kind')
    return kinds == {True}


def queue_of(queue, *arrays):
    """The queue that was given, or an array's; raises ValueError where there is none."""
    for array in arrays:
        queue = getattr(array, 'queue', None) if queue is None else queue
    if queue is None:
        raise ValueError('no queue: name one, or give an array that has one')
    if not isinstance(queue, cl.CommandQueue):
        raise TypeError(f'queue is a {type(queue).__name__}: it is a pyopencl.CommandQueue')
    return queue


def target_of(c, out, beta):
    """The array that is written, or None for a new one."""
    if c is not None and out is not None and out is not c:
        raise ValueError('c and out are two arrays: the product is written to c, which beta '
                         'multiplies, or to out, whose elements do not matter')
    if c is None and beta != 0:
        raise ValueError('beta is not 0, but there is no c')
    return out if c is None else c


def shadow(array):
    """An array of NumPy's with the array's shape, strides and place in its buffer. It is there to
    be compared: there is nothing behind it."""
    class Shadow:
        __array_interface__ = {
            'version': 3, 'shape': array.shape, 'strides': array.strides,
            'typestr': array.dtype.str, 'data': (2 ** 20 + array.offset, False)}
    return np.asarray(Shadow())


def check_overlap(target, **operands):
    """Raises ValueError where C shares an element with A or B, as far as the buffers are the same
    and it can be told soon."""
    for name, array in operands.items():
        if (isinstance(array, cl.array.Array) and array.size and target.size
                and array.base_data.int_ptr == target.base_data.int_ptr):
            try:
                overlap = np.shares_memory(shadow(array), shadow(target), max_work=10000)
            except np.TooHardError:
                overlap = False
            if overlap:
                raise ValueError(f'the array that is written shares memory with {name}')


class Context:
    """Kernels for one device. Any number of threads may use one at once.

    context: a pyopencl.CommandQueue, whose context and device count, or a pyopencl.Context.
    device: of a pyopencl.Context with several devices.
    allow_emulation: single precision may be multiplied as halves on tensor units (kiln.h:
        KILN_ALLOW_EMULATION), in calls that do not say otherwise.
    exact_only: bundles that were tuned on a relative of the device do not serve.
    build_now: builds the kernels at once, and not when they are first needed.
    self_test: multiplies small matrices in every precision and compares.
    log: called with each message, a str, from the thread whose call gave rise to it. It must not
        use this Context. What it raises goes to sys.unraisablehook.
    log_calls: the log is told the shapes that are called, too.

    The device's kernels are released when the last reference goes: Packs hold one.
    """

    def __init__(self, context, device=None, *, allow_emulation=False, exact_only=False,
                 build_now=False, self_test=False, log=None, log_calls=False):
        self._handle = ctypes.POINTER(_header.kiln_context)()
        self._queue = None
        if isinstance(context, cl.CommandQueue):
            context, device = context.context, context.device if device is None else device
        if not isinstance(context, cl.Context):
            raise TypeError(f'context is a {type(context).__name__}: it is a pyopencl.Context or a '
                            'pyopencl.CommandQueue')
        if device is None:
            if len(context.devices) != 1:
                raise ValueError(f'the context has {len(context.devices)} devices: name one')
            device = context.devices[0]
        if not isinstance(device, cl.Device):
            raise TypeError(f'device is a {type(device).__name__}: it is a pyopencl.Device')
        if log is not None and not callable(log):
            raise TypeError(f'log is a {type(log).__name__}: it is called with a str')
        self.context, self.device = context, device
        params = _header.kiln_context_params(
            build=CONSTANTS['KILN_BUILD_NOW' if build_now else 'KILN_BUILD_AT_FIRST_USE'],
            self_test=bool(self_test), exact_only=bool(exact_only), log_calls=bool(log_calls),
            arithmetic=CONSTANTS['KILN_ALLOW_EMULATION' if allow_emulation else 'KILN_NATIVE'])
        if log is not None:
            def log_message(user, message):
                log(message.decode('utf-8', 'replace'))

            # Kept here: the library calls it for as long as there is a handle.
            params.log = self._log = dict(params._fields_)['log'](log_message)
        call('kiln_context_create', context.int_ptr, device.int_ptr, params, self._handle)

    def __del__(self, is_finalizing=sys.is_finalizing):
        # When the interpreter ends, other threads may be in a call still.
        if getattr(self, '_handle', None) and not is_finalizing():
            library().kiln_context_destroy(self._handle)

    @classmethod
    def shared(cls, queue):
        """The Context of default settings that the module's functions use on this queue. It lives
        as long as a queue that they used it on, a Pack, or whoever asked for it."""
        found = getattr(queue, _ATTRIBUTE, None)
        if found is None:
            key = queue.context.int_ptr, queue.device.int_ptr
            with _lock:
                found = _shared.get(key)
                if found is None:
                    found = _shared[key] = cls(queue)
                setattr(queue, _ATTRIBUTE, found)
        return found

    def own_queue(self):
        """The queue for NumPy's arrays that come without one."""
        with _lock:
            if self._queue is None:
                self._queue = cl.CommandQueue(self.context, self.device)
            return self._queue

    def gemm(self, a, b, c=None, *, alpha=1, beta=0, trans_a='N', trans_b='N', out=None,
             queue=None, wait_for=None, allow_emulation=None, workspace=None):
        """alpha op(a) op(b) + beta c. As kiln.gemm, by this Context."""
        return self._multiply(a, b, c, out, queue, wait_for, workspace, alpha=alpha, beta=beta,
                              trans_a=trans_a, trans_b=trans_b, allow_emulation=allow_emulation)

    def symm(self, a, b, c=None, *, alpha=1, beta=0, side='L', uplo='L', hermitian=False,
             out=None, queue=None, wait_for=None, allow_emulation=None, workspace=None):
        """alpha a b + beta c, or alpha b a + beta c. As kiln.symm, by this Context."""
        on_left = letter_of('side', side, 'LR') == 'L'
        uplo = letter_of('uplo', uplo, 'UL')
        if isinstance(a, Pack):
            raise TypeError('a is packed: a matrix of which one triangle counts can not be')
        first, second = (a, b) if on_left else (b, a)
        triangle = {'uplo_a' if on_left else 'uplo_b': uplo}
        return self._multiply(first, second, c, out, queue, wait_for, workspace, alpha=alpha,
                              beta=beta, hermitian=hermitian, allow_emulation=allow_emulation,
                              **triangle)

    def hemm(self, a, b, c=None, **options):
        """As kiln.hemm, by this Context."""
        return self.symm(a, b, c, hermitian=True, **options)

    def syrk(self, a, c=None, *, alpha=1, beta=0, trans='N', uplo='L', hermitian=False, out=None,
             queue=None, wait_for=None, allow_emulation=None, workspace=None):
        """alpha op(a) op(a)' + beta c. As kiln.syrk, by this Context."""
        uplo = letter_of('uplo', uplo, 'UL')
        turned = 'C' if hermitian else 'T'
        first = letter_of('trans', trans, ('N', turned))
        if hermitian:
            scalar_of('alpha', alpha, False)
            scalar_of('beta', beta, False)
        if isinstance(a, Pack):
            raise TypeError('a is packed: it is both operands here')
        return self._multiply(a, a, c, out, queue, wait_for, workspace, alpha=alpha, beta=beta,
                              trans_a=first, trans_b='N' if first == turned else turned,
                              uplo_c=uplo, hermitian=hermitian, allow_emulation=allow_emulation)

    def herk(self, a, c=None, **options):
        """As kiln.herk, by this Context."""
        return self.syrk(a, c, hermitian=True, **options)

    def pack_a(self, a, b, *, trans_a='N', trans_b='N', order='C', queue=None, wait_for=None,
               allow_emulation=None):
        """Packs op(a) for products with op(b). See pack_b: the operands have changed places, and a
        number in the place of b is how many columns op(b) has."""
        return self._pack('a', a, b, order, queue, wait_for, trans_a=trans_a, trans_b=trans_b,
                          allow_emulation=allow_emulation)

    def pack_b(self, b, a, *, trans_a='N', trans_b='N', order='C', queue=None, wait_for=None,
               allow_emulation=None):
        """Packs op(b) for products with op(a), a Pack that gemm takes as its b.

        a: the array that it is to be multiplied with, or one like it; a Pack; or how many rows
            op(a) has. It decides which kernels the Pack is for. Products with another number of
            rows may use the Pack as well, as long as these kernels can serve them.
        order: of C, by rows or, as Fortran has it, by columns; calls with the Pack have the same.
        """
        return self._pack('b', a, b, order, queue, wait_for, trans_a=trans_a, trans_b=trans_b,
                          allow_emulation=allow_emulation)

    def explain(self, a, b, c=None, **options):
        """What gemm would do with these arguments, in lines of "key: value" (kiln_gemm_explain).
        Of the arrays shape, strides, offset and dtype count. Builds the kernels of the call."""
        described = self._describe(a, b, c, **options)
        size = 4096
        while True:
            text = ctypes.create_string_buffer(size)
            try:
                call('kiln_gemm_explain', self._handle, described.gemm, text, size)
                return text.value.decode('utf-8', 'replace')
            except Error as error:
                if error.status != CONSTANTS['KILN_TEXT_TOO_SMALL']:
                    raise
            size *= 2

    def workspace_bytes(self, a, b, c=None, **options):
        """How much memory the workspace of gemm with these arguments takes. Builds the kernels."""
        described = self._describe(a, b, c, **options)
        size = ctypes.c_size_t()
        call('kiln_gemm_workspace_bytes', self._handle, described.gemm, size)
        return size.value

    def _describe(self, a, b, c, *, out=None, queue=None, wait_for=None, workspace=None, **options):
        is_host = on_host(a=a, b=b, c=c, out=out)
        target = target_of(c, out, options.get('beta', 0))
        if is_host:
            a, b, target = _host.described(a, b, target, options)
        return Call(a, b, target, **options)

    def _multiply(self, a, b, c, out, queue, wait_for, workspace, *, beta, **options):
        """queue, wait_for, workspace: for _enqueue."""
        target = target_of(c, out, beta)
        enqueue = functools.partial(self._enqueue, wait_for=wait_for, workspace=workspace,
                                    beta=beta, **options)
        if on_host(a=a, b=b, c=c, out=out):
            queue = self.own_queue() if queue is None else queue_of(queue)
            # A triangle's other half stays as it is.
            is_read = beta != 0 or options.get('uplo_c') is not None
            return _host.multiply(enqueue, queue, a, b, target, is_read, options)
        return enqueue(queue_of(queue, target, a, b), a, b, target)

    def _enqueue(self, queue, a, b, target, *, wait_for, workspace, **options):
        described = Call(a, b, target, **options)
        gemm = described.gemm
        if target is None:
            target = self._new(described, queue, a, b, wait_for)
            gemm.c = None if target.base_data is None else target.base_data.int_ptr
        else:
            check_overlap(target, a=a, b=b)
        if workspace is not None:
            if not isinstance(workspace, cl.MemoryObjectHolder):
                raise TypeError(f'workspace is a {type(workspace).__name__}: it is a '
                                'pyopencl.Buffer')
            gemm.workspace = workspace.int_ptr
        waits = _events.waits(wait_for, a, b, target)
        event = ctypes.c_void_p()
        call('kiln_gemm_enqueue', self._handle, gemm, queue.int_ptr, len(waits), waits or None,
             event)
        target.add_event(_events.event_of(event.value))
        return target

    def _new(self, described, queue, a, b, wait_for):
        """An array for C. Where one triangle of it is written, the rest is 0."""
        allocator = getattr(a, 'allocator', None) or getattr(b, 'allocator', None)
        new = cl.array.Array(queue, described.shape, described.dtype, allocator=allocator,
                             strides=described.strides())
        if described.uplos['c'] and new.nbytes:
            new.add_event(cl.enqueue_fill_buffer(queue, new.base_data, np.zeros(1, np.uint8), 0,
                                                 new.nbytes, wait_for=wait_for))
        return new

    def _pack(self, name, a, b, order, queue, wait_for, **options):
        other, packed, beside = ('b', a, b) if name == 'a' else ('a', b, a)
        layout = ORDERS[letter_of('order', order, ORDERS)]
        if isinstance(packed, Pack):
            raise TypeError(f'{name} is packed already')
        check_array(name, packed)
        if isinstance(beside, (int, np.integer)):
            beside = int(beside)
            if beside < 0:
                raise ValueError(f'{beside} rows or columns: there are none of that number')
        else:
            check_array(other, beside)
        beside = _host.lying(beside, _host.place_of(other, beside, options, layout))
        if isinstance(packed, np.ndarray):
            queue = self.own_queue() if queue is None else queue_of(queue)
            place = _host.place_of(name, packed, options, layout)
            packed = _host.upload(queue, packed, place)
        queue = queue_of(queue, packed)
        a, b = (packed, beside) if name == 'a' else (beside, packed)
        described = Call(a, b, layout=layout, **options)
        code = CONSTANTS[f'KILN_PACK_{name.upper()}']
        size = _pack.bytes_of(self._handle, described, code)
        room = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, size) if size else None
        struct, event = _pack.enqueue(self._handle, described, code, room, queue,
                                      _events.waits(wait_for, packed))
        return Pack(self, name, described, struct, room, _events.event_of(event))
