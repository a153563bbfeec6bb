#!/usr/bin/env python3
"""test_library.py LIBRARY PACKAGE: which libkiln the package finds, and what it says to others."""
import os
import shutil
import subprocess
import sys
import tempfile

EXIT_SKIP = 77
failures = 0


def run(program, package, **environment):
    env = {key: value for key, value in os.environ.items() if key != 'KILN_LIBRARY'}
    env.update(environment, PYTHONPATH=os.path.dirname(package), PYTHONDONTWRITEBYTECODE='1')
    done = subprocess.run([sys.executable, '-c', 'import kiln; from kiln import _library\n'
                           + program], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8')
    return done.stdout


def check(what, expected, output):
    global failures
    is_right = expected in output
    print(f'{"ok" if is_right else "FAILED"}: {what}')
    if not is_right:
        print(f'    not {expected!r}, but {output}')
        failures += 1


def main():
    if len(sys.argv) != 3:
        sys.stderr.write('usage: test_library.py LIBRARY PACKAGE\n')
        return 2
    try:
        import numpy  # noqa: F401
        import pyopencl  # noqa: F401
    except ImportError as error:
        print(f'skipped: {error}')
        return EXIT_SKIP
    library, package = map(os.path.abspath, sys.argv[1:])
    name = 'print(_library.library()._name)'
    check('nothing is loaded before it is needed', 'None', run('print(_library._library)', package,
                                                               KILN_LIBRARY='/nowhere'))
    check('the variable', library, run(name, package, KILN_LIBRARY=library))
    check('the argument before the variable', library,
          run(f'kiln.load({library!r}); {name}', package, KILN_LIBRARY='/nowhere'))
    check('a file that is not there', 'OSError: /nowhere, named by KILN_LIBRARY, can not be loaded',
          run(name, package, KILN_LIBRARY='/nowhere'))
    check('an argument that is not there', 'OSError: /nowhere, named by the argument, can not be',
          run('kiln.load("/nowhere")', package))
    check('after a failure another may be named', library,
          run(f'try: kiln.load("/nowhere")\nexcept OSError: kiln.load({library!r})\n{name}',
              package))
    check('another library', 'named by KILN_LIBRARY, is no libkiln for this package: it has no ki',
          run(name, package, KILN_LIBRARY='libOpenCL.so.1'))
    check('a second library', f'comes too late: {library} is loaded',
          run('kiln.load(); kiln.load("/nowhere")', package, KILN_LIBRARY=library))
    with tempfile.TemporaryDirectory(prefix='kiln-library.') as folder:
        os.symlink(library, os.path.join(folder, 'libkiln.so.0'))
        check('what the loader finds', 'libkiln.so.0', run(name, package, LD_LIBRARY_PATH=folder))
        beside = os.path.join(folder, 'kiln')
        shutil.copytree(package, beside)
        shutil.copy(library, os.path.join(beside, 'libkiln.so'))
        check('beside the package', os.path.join(beside, 'libkiln.so'),
              run(name, beside, LD_LIBRARY_PATH=folder))
        check('the variable before it', library, run(name, beside, KILN_LIBRARY=library))
        with open(os.path.join(folder, 'libkiln.so.0.new'), 'w', encoding='ascii') as file:
            file.write('nothing')
        os.replace(os.path.join(folder, 'libkiln.so.0.new'), os.path.join(folder, 'libkiln.so.0'))
        check('none', 'OSError: libkiln.so.0, named by the loader, can not be loaded',
              run(name, package, LD_LIBRARY_PATH=folder))
    return 1 if failures else 0


sys.exit(main())
