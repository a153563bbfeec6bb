#!/usr/bin/env python3
"""Products of NumPy's arrays: to the device and back."""
import numpy as np

import kiln

random = np.random.default_rng(2)
for dtype, bound in ((np.float16, 1.0), (np.float32, 1e-3), (np.complex64, 1e-3)):
    a = random.standard_normal((150, 120)).astype(dtype)
    b = random.standard_normal((120, 90)).astype(dtype)
    if dtype is np.complex64:
        a += 1j * random.standard_normal(a.shape, np.float32)
    c = kiln.gemm(a, b)
    wanted = a.astype(np.complex128) @ b.astype(np.complex128)
    error = abs(c - wanted).max()
    print(f'{c.dtype.name:10} {c.shape}: largest error {error:.1e}')
    assert c.dtype == dtype and error < bound

try:
    kiln.gemm(a, b[1:])
except ValueError as error:
    print(f'refused: {error}')
