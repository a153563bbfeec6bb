"""_library.py: finds libkiln, and turns its statuses into exceptions."""
import ctypes
import enum
import os
import sys
import threading

from . import _header

VARIABLE = 'KILN_LIBRARY'
BESIDE, SONAME = (('libkiln.dylib', 'libkiln.0.dylib') if sys.platform == 'darwin' else
                  ('libkiln.so', 'libkiln.so.0'))

# Every enumerator of kiln.h, by its name there.
CONSTANTS = {name: value for values in _header.ENUMS.values() for name, value in values.items()}

Status = enum.IntEnum('Status', {name[len('KILN_'):]: value for name, value
                                 in _header.ENUMS['kiln_status'].items() if value >= 0})
Status.__doc__ = "What became of a call: enum kiln_status of kiln.h, without OpenCL's codes."

_lock = threading.Lock()
_library = None


class Error(RuntimeError):
    """Kiln or OpenCL refused a call. `status` is a Status, or OpenCL's code, a negative int."""

    def __init__(self, status, function):
        self.status = Status(status) if status > 0 else status
        self.function = function
        text = library().kiln_status_string(status).decode()
        name = f'{self.status.name}, ' if status > 0 else ''
        super().__init__(f'{function}: {text} ({name}{int(status)})')

    def __reduce__(self):
        return type(self), (int(self.status), self.function)


def candidate(path):
    """The file to load, and what named it."""
    if path is not None:
        return os.fspath(path), 'the argument'
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE], VARIABLE
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), BESIDE)
    return (beside, 'the package') if os.path.exists(beside) else (SONAME, 'the loader')


def open_library(path):
    file, origin = candidate(path)
    try:
        opened = ctypes.CDLL(file)
    except OSError as error:
        raise OSError(f'{file}, named by {origin}, can not be loaded: {error}. '
                      f'{VARIABLE} or kiln.load names another file') from None
    for name, (result, types) in _header.FUNCTIONS.items():
        try:
            function = getattr(opened, name)
        except AttributeError:
            raise OSError(f'{file}, named by {origin}, is no libkiln for this package: '
                          f'it has no {name}') from None
        function.restype, function.argtypes = result, types
    return opened


def load(path=None):
    """Loads libkiln, which the first call that needs it does otherwise.

    path: the file. None: what KILN_LIBRARY names; else libkiln.so beside the package; else what
    the loader finds as libkiln.so.0. One library serves the process: naming one when it is loaded
    is an error. Raises OSError.
    """
    global _library
    with _lock:
        if _library is None:
            _library = open_library(path)
        elif path is not None:
            raise OSError(f'{os.fspath(path)} comes too late: {_library._name} is loaded')


def library():
    if _library is None:
        load()
    return _library


def call(function, *arguments):
    """Calls it; raises Error unless it succeeds."""
    status = getattr(library(), function)(*arguments)
    if status != 0:
        raise Error(status, function)
