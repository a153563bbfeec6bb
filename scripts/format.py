#!/usr/bin/env python3
"""format.py: lays out functions by .clang-format (version 14).

usage: scripts/format.py [--check] [FILE...]

Formats the C files of the tree, or those named. With --check it changes nothing, names the places
that it would change, and exits with 1 if there are any. What is laid out by hand is left alone:
macros of several lines; tables, structures and enumerations outside functions; declarations with
an attribute above them; what stands between "clang-format off" and "clang-format on"; the tables
of the families (generator/kernels, generator/literature); and texts that tests compare.
"""
import difflib
import pathlib
import subprocess
import sys

import common

TREE = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ['runtime', 'generator', 'clients', 'tests']
BY_HAND = ['generator/kernels/', 'generator/literature/', 'tests/golden/', 'tests/core/test_tidy.c']


def files_of_the_tree():
    for folder in FOLDERS:
        for path in sorted((TREE / folder).rglob('*.[ch]')):
            name = path.relative_to(TREE).as_posix()
            if not any(name.startswith(other) for other in BY_HAND):
                yield path


def ranges_to_format(lines):
    """Pairs of first and last line, from 1, of what is not laid out by hand."""
    begin, end, at = None, None, 0
    while at < len(lines):
        line, last = lines[at], at
        if line.startswith('#'):
            while lines[last].endswith('\\') and last + 1 < len(lines):
                last += 1
            is_by_hand = last > at
        elif line.startswith('__attribute__'):
            while not lines[last].endswith((';', '{')) and last + 1 < len(lines):
                last += 1
            is_by_hand = True
        else:
            is_text = line[:1].isalpha() and line.endswith(' =')
            is_by_hand = is_text or line[:1].isalpha() and line.endswith('{')
            while is_by_hand and last + 1 < len(lines) and not (
                    lines[last].endswith(';') if is_text else
                    lines[last].startswith('}') and not lines[last].endswith('{')):
                last += 1
        if not is_by_hand:
            begin = at + 1 if begin is None else begin
            end = at + 1
        elif begin is not None:
            yield begin, end
            begin = None
        at = last + 1
    if begin is not None:
        yield begin, end


def formatted(path, text):
    ranges = [f'--lines={begin}:{end}' for begin, end in ranges_to_format(text.split('\n'))]
    if not ranges:
        return text
    return subprocess.run(['clang-format-14', f'--assume-filename={path}', *ranges], input=text,
                          stdout=subprocess.PIPE, encoding='utf-8', check=True).stdout


def main(arguments):
    common.answer(__doc__)
    is_check = '--check' in arguments
    names = [name for name in arguments if name != '--check']
    if any(name.startswith('-') for name in names):
        print('format.py: unknown option; see --help', file=sys.stderr)
        return 2
    named = [pathlib.Path(name).resolve() for name in names]
    status = 0
    for path in named or files_of_the_tree():
        try:
            old = path.read_text(encoding='utf-8')
        except (OSError, UnicodeDecodeError) as error:
            print(f'format.py: {path}: {getattr(error, "strerror", None) or "not a text"}',
                  file=sys.stderr)
            return 1
        new = formatted(path, old)
        if new == old:
            continue
        if not is_check:
            path.write_text(new, encoding='utf-8')
            continue
        status = 1
        name = path.relative_to(TREE).as_posix()
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name,
                                                   name + ', formatted', n=0))
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
