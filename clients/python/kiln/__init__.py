"""Products of matrices on OpenCL devices, for pyopencl's arrays and NumPy's, by libkiln.

    import kiln
    c = kiln.gemm(a, b)              # pyopencl.array.Array or numpy.ndarray, all of one kind

gemm, symm, hemm, syrk and herk use a Context that queues of one device share. Context makes one
with settings of your own, packs operands that many products share, and explains a call. What Kiln
or OpenCL refuses raises Error; what can be no matrix product raises TypeError or ValueError. Both
leave the arrays as they were.
"""
from ._context import Context
from ._header import VERSION as __version__
from ._library import Error, Status, load
from ._pack import Pack
from ._routines import gemm, hemm, herk, symm, syrk

__all__ = ['Context', 'Error', 'Pack', 'Status', 'gemm', 'hemm', 'herk', 'load', 'symm', 'syrk',
           '__version__']
