#!/usr/bin/env python3
"""test_numpy.py LIBRARY: products of NumPy with the library preloaded are those without it."""
import os
import subprocess
import sys

EXIT_SKIP = 77

# Prints sums of products of small integers, which are exact.
PRODUCTS = '''
import numpy
for kind in "fdFD":
    a = (numpy.arange(300 * 200) % 7).reshape(300, 200).astype(kind)
    b = (numpy.arange(200 * 250) % 5 - 2).reshape(200, 250).astype(kind)
    wide = (numpy.arange(500 * 600) % 3).reshape(500, 600).astype(kind)
    part = wide[:200, 1:301].T @ wide[200:400, 300:]
    for c in (a @ b, b.T @ a.T, a @ a.T, part, a[:, ::2] @ b[:100]):
        print(kind, c.shape, c.sum(), (c * (numpy.arange(c.size) % 11).reshape(c.shape)).sum())
'''


def products(**environment):
    done = subprocess.run([sys.executable, '-c', PRODUCTS], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
    if done.returncode != 0:
        sys.exit(f'FAILED: {done.stderr}')
    return done.stdout, done.stderr


def main():
    try:
        import numpy  # noqa: F401
    except ImportError:
        print('numpy is not there')
        return EXIT_SKIP
    alone, _ = products()
    kiln, said = products(LD_PRELOAD=os.path.abspath(sys.argv[1]))
    if 'there is no device' in said:
        print('no OpenCL device')
        return EXIT_SKIP
    served = said.count(': Kiln, ')
    print(f'{alone}Kiln served {served} calls')
    if kiln != alone:
        sys.exit(f'FAILED: with the library preloaded:\n{kiln}')
    if served < 16:
        sys.exit(f'FAILED: the products did not come to Kiln:\n{said}')
    return 0


sys.exit(main())
