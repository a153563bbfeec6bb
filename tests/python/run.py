#!/usr/bin/env python3
"""run.py SCRIPT [ARGUMENT...]: runs a script that uses kiln and a device; 77 where that can not be.

The environment names the package (PYTHONPATH) and the library (KILN_LIBRARY).
"""
import os
import runpy
import sys

EXIT_SKIP = 77


def reason_to_skip():
    try:
        import numpy  # noqa: F401
        import pyopencl
    except ImportError as error:
        return str(error)
    try:
        has_device = any(platform.get_devices() for platform in pyopencl.get_platforms())
    except pyopencl.Error as error:
        return f'no OpenCL device: {error}'
    return None if has_device else 'no OpenCL device'


def main():
    if len(sys.argv) < 2:
        sys.stderr.write('usage: run.py SCRIPT [ARGUMENT...]\n')
        return 2
    reason = reason_to_skip()
    if reason:
        print(f'skipped: {reason}')
        return EXIT_SKIP
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    runpy.run_path(sys.argv[0], run_name='__main__')
    return 0


if __name__ == '__main__':
    sys.exit(main())
