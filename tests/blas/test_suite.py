#!/usr/bin/env python3
"""test_suite.py LIBRARY numpy|octave: the program's own tests, without the library and with it.

Every product is Kiln's, however small. What fails without the library is named, and ignored; what
fails only with it fails the test.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

EXIT_SKIP = 77

NUMPY = ['numpy.linalg', 'numpy.core', 'numpy.lib', 'numpy.matrixlib']
# Octave's tests of plots, sound and packages multiply little. Each folder has a process of its own,
# as a test may end Octave. Octave seeds its generators by the clock.
OCTAVE = {
    'octtestsdir': ['liboctave', 'libinterp', 'fixed'],
    'fcnfiledir': ['elfun', 'general', 'geometry', 'linear-algebra', 'ode', 'optimization',
                   'polynomial', 'set', 'signal', 'sparse', 'special-matrix', 'specfun',
                   'statistics', 'strings'],
}
RUN_FOLDER = '''
for kind = {"rand", "randn", "rande", "randg", "randp"}
  feval(kind{1}, "twister", 1);
end
folders = {fullfile(__octave_config_info__("%s"), "%s")};
if strcmp("%s", "fixed")
  __run_test_suite__({}, folders);
else
  __run_test_suite__(folders, {});
end
'''


def numpys_commands():
    # The lines that the library says go to the descriptor, which pytest must not take.
    yield 'numpy', [sys.executable, '-m', 'pytest', '-q', '-m', 'not slow',
                    '-p', 'no:cacheprovider', '--capture=sys', '--junitxml=results.xml',
                    '--pyargs', *NUMPY]


def numpys_results(folder):
    """The number of tests that passed, and the names of those that failed."""
    passed, failed = 0, set()
    for case in xml.etree.ElementTree.parse(folder / 'results.xml').iter('testcase'):
        if case.find('failure') is not None or case.find('error') is not None:
            failed.add(f'{case.get("classname")}.{case.get("name")}')
        elif case.find('skipped') is None:
            passed += 1
    return passed, failed


def octaves_commands():
    for root, names in OCTAVE.items():
        for name in names:
            yield name, ['octave-cli', '--no-init-file', '--no-history', '--eval',
                         RUN_FOLDER % (root, name, name)]


def octaves_results(folder):
    """As numpys_results. A test is named by its file and its first lines; Octave itself expects the
    bugs that it knows of."""
    file, block, failed = '', [], set()
    kind = ''
    for line in (folder / 'fntests.log').read_text(errors='replace').splitlines():
        mark = re.match(r'(>>>>>|\*\*\*\*\*|!!!!!|-----) (.*)', line)
        if mark:
            kind, text = mark.groups()
            if kind == '>>>>>':
                file = text.removeprefix('processing ')
            elif kind == '*****':
                block = [text]
            elif kind == '!!!!!' and not text.startswith('known bug'):
                failed.add(f'{file}: {" ".join(block[:3])}')
        elif kind == '*****':
            block.append(line.strip())
    output = (folder / 'output').read_text(errors='replace')
    return sum(int(num) for num in re.findall(r'\.\. pass +(\d+)/', output)), failed


# Commands, results, how many tests pass at least, and how many calls are then Kiln's.
SUITES = {
    'numpy': (numpys_commands, numpys_results, 15000, 1000),
    'octave': (octaves_commands, octaves_results, 10000, 1000),
}


def missing(suite):
    if suite == 'octave':
        return None if shutil.which('octave-cli') else 'octave'
    for module, package in (('numpy', 'python3-numpy'), ('pytest', 'python3-pytest'),
                            ('hypothesis', 'python3-hypothesis')):
        if subprocess.run([sys.executable, '-c', f'import {module}'], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0:
            return package
    return None


def run(suite, home, **environment):
    """Runs the suite as a user whose home is this new folder. Returns how many tests passed, the
    names of those that failed, and how many calls the library has served."""
    commands, results, *_ = SUITES[suite]
    passed, failed, served = 0, set(), 0
    for name, command in commands():
        folder = home / name
        folder.mkdir(parents=True)
        with open(folder / 'output', 'wb') as output, open(folder / 'errors', 'wb') as errors:
            status = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                env={**os.environ, 'HOME': str(home), 'PYTHONDONTWRITEBYTECODE': '1',
                     **environment}, check=False).returncode
        said = (folder / 'errors').read_text(errors='replace')
        if 'there is no device' in said:
            print('no OpenCL device')
            sys.exit(EXIT_SKIP)
        served += said.count(': Kiln, ')
        try:
            num, names = results(folder)
        except (OSError, xml.etree.ElementTree.ParseError):
            num, names = 0, {f'{name}: no results'}
        if status < 0:
            names.add(f'{name}: ended by signal {-status}')
        passed += num
        failed |= names
    return passed, failed, served


def main(library, suite):
    package = missing(suite)
    if package:
        print(f'{package} is missing')
        return EXIT_SKIP
    *_, least_passed, least_served = SUITES[suite]
    with tempfile.TemporaryDirectory(prefix='kiln-blas.') as scratch:
        scratch = pathlib.Path(scratch)
        alone, ignored, _ = run(suite, scratch / 'alone')
        passed, failed, served = run(suite, scratch / 'kiln', LD_PRELOAD=os.path.abspath(library),
                                     KILN_BLAS_VERBOSE='1', KILN_BLAS_LEAST_OPS='0')
    print(f'without Kiln: {alone} passed, {len(ignored)} failed\n'
          f'with Kiln: {passed} passed, {len(failed)} failed; Kiln served {served} calls')
    for name in sorted(ignored):
        print(f'ignored, fails without Kiln: {name}')
    for name in sorted(failed - ignored):
        print(f'FAILED with Kiln only: {name}')
    if failed - ignored:
        return 1
    if alone < least_passed or passed < least_passed or served < least_served:
        sys.exit(f'FAILED: fewer than {least_passed} tests passed, or {least_served} calls came')
    return 0


if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[2] not in SUITES:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
