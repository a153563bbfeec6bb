#!/usr/bin/env python3
"""check_tidy.py FOLDER: what must not be left in a rendered kernel (generator/core/tidy.h).

No line of the FOLDER's kernels is longer than 100 characters or ends with a blank; no loop between
numbers has one turn or none; nothing is added that is 0, multiplied by 1, divided by 1 or taken
modulo 1; what a loop is told by a pragma is indented like the loop.
"""
import pathlib
import re
import sys

LOOP = re.compile(r'\bfor \(\w+ (\w+) = (\d+); \1 ([<>]=?) (\d+); '
                  r'\1(?:(\+\+|--)|( [-+*/]= )(\d+))\)')
IDLE = re.compile(r' [-+] 0[uUlL]*(?![\w.])(?! [*/%])| [*/%] 1[uUlL]*(?![\w.])|'
                  r'(?<![\w.)\]] [-+*/%])[ (\[]1[uUlL]* \* |[(\[=,] ?0[uUlL]* [+*] ')
HOLDS = {'<': int.__lt__, '<=': int.__le__, '>': int.__gt__, '>=': int.__ge__}
NEXT = {'+': int.__add__, '-': int.__sub__, '*': int.__mul__, '/': int.__floordiv__}


def turns(match):
    """How often a loop goes round; 2 stands for more."""
    _, at, holds, end, one, operator, step = match.groups()
    at, num = int(at), 0
    while num < 2 and HOLDS[holds](at, int(end)):
        at, num = NEXT[(one or operator.strip())[0]](at, int(step or 1)), num + 1
    return num


def faults_of(line):
    if len(line) > 100:
        yield 'more than 100 characters'
    if line != line.rstrip():
        yield 'a blank at the end'
    for match in LOOP.finditer(line):
        if turns(match) < 2:
            yield f'a loop of {turns(match)} turns: {match.group()}'
    if line.startswith('#'):
        return
    code = re.sub(r'"(\\.|[^"\\])*"', '""', line).split('//')[0]
    for match in IDLE.finditer(code):
        yield f'changes nothing: {match.group().strip()}'


def indent_of(line):
    return len(line) - len(line.lstrip())


def faults_of_pragmas(lines):
    """Yields the number of a line from 1 and its fault."""
    for number, (line, after) in enumerate(zip(lines, lines[1:]), 1):
        if line.lstrip().startswith('#pragma unroll') and indent_of(line) != indent_of(after):
            yield number, 'a pragma that is not indented like what it is for'


def self_test():
    """The check must be able to fail."""
    bad = ['x' * 101, 'for (int i = 0; i < 1; i++)', 'for (uint i = 3; i < 3; i++) {',
           'for (int i = 0; i < 8; i += 8)', 'for (int h = 1; h > 0; h /= 2) {', 'a = b % 1 * 2;',
           'a = b / 1;', 'a = b * 1u;', 'f(b + 0);', 'a = b - 0, c;', 'a = 1 * b;', 'f(1 * b)',
           'a = 0 * b;', 'f(0 + b);', '// ', 'a = b; ', '  ', 'a = b;\t']
    good = ['x' * 100, 'for (int i = 0; i < 2; i++)', 'for (int h = 2; h > 0; h /= 2) {',
            'for (int i = 0; i < n; i++)', 'a = b % 10;', 'a = b + 0x1p2;', 'a = b * 1.5;',
            'f("a + 0"); // b * 1', 'a = b - 1 * 2;', 'a = b - 0 * f(c);', '//', '']
    for line in bad:
        assert list(faults_of(line)), line
    for line in good:
        assert not list(faults_of(line)), line
    assert list(faults_of_pragmas(['  #pragma unroll', 'for (;;)']))
    assert not list(faults_of_pragmas(['  #pragma unroll 4', '  for (;;)', 'x']))


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith('-'):
        print(__doc__, file=sys.stderr)
        return 2
    self_test()
    num = num_files = 0
    for path in sorted(pathlib.Path(arguments[0]).glob('*.cl')):
        num_files += 1
        lines = path.read_text(encoding='utf-8').splitlines()
        faults = [(number, fault) for number, line in enumerate(lines, 1)
                  for fault in faults_of(line)]
        for number, fault in faults + list(faults_of_pragmas(lines)):
            print(f'{path.name}:{number}: {fault}', file=sys.stderr)
            num += 1
    print(f'{num_files} kernels, {num} faults')
    return 1 if num or not num_files else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
