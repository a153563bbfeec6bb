#!/usr/bin/env python3
"""test_header.py HEADER SCRIPT DECLARATIONS COMPILER...: ctypes sees kiln.h as a compiler does.

A program prints the size of every structure, the place and size of every field, and the value of
every enumerator. Then SCRIPT, which wrote DECLARATIONS, must follow changes of the header, or
refuse them.
"""
import ctypes
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

failures = 0


def check(what, is_right):
    global failures
    print(f'{"ok" if is_right else "FAILED"}: {what}')
    failures += not is_right


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def structures(declared):
    return {name: value for name, value in vars(declared).items()
            if isinstance(value, type) and issubclass(value, ctypes.Structure)
            and hasattr(value, '_fields_')}


def as_ctypes(declared):
    lines = []
    for name, kind in structures(declared).items():
        lines.append(f'{name} {ctypes.sizeof(kind)}')
        for field, _ in kind._fields_:
            place = getattr(kind, field)
            lines.append(f'{name}.{field} {place.offset} {place.size}')
    for values in declared.ENUMS.values():
        lines += [f'{name} {value}' for name, value in values.items()]
    return lines


def as_compiled(declared, header, compiler, scratch):
    """What a program says of the same names."""
    prints = []
    for name, kind in structures(declared).items():
        prints.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        for field, _ in kind._fields_:
            prints.append(f'printf("{name}.{field} %zu %zu\\n", offsetof(struct {name}, {field}), '
                          f'sizeof ((struct {name} *) 0)->{field});')
    for values in declared.ENUMS.values():
        prints += [f'printf("{name} %d\\n", (int) {name});' for name in values]
    source = scratch / 'layout.c'
    source.write_text('#include <kiln/kiln.h>\n#include <stdio.h>\nint main(void)\n{\n    '
                      + '\n    '.join(prints) + '\n    return 0;\n}\n')
    program = scratch / 'layout'
    subprocess.run([*compiler, f'-I{header.parent.parent}', str(source), '-o', str(program)],
                   check=True)
    return subprocess.run([str(program)], check=True, stdout=subprocess.PIPE,
                          encoding='utf-8').stdout.splitlines()


def written(script, header, output):
    """Whether the script took the header, and what it said."""
    done = subprocess.run([sys.executable, script, header, '1', output], stderr=subprocess.PIPE,
                          encoding='utf-8')
    return done.returncode, done.stderr


def mentioned(header, declared):
    """Every enumerator and function that a plain search finds is declared."""
    text = re.sub(r'/\*.*?\*/', '', header.read_text(encoding='utf-8'), flags=re.S)
    constants = {name for values in declared.ENUMS.values() for name in values}
    check('every enumerator is known', set(re.findall(r'\b(KILN_\w+) =', text)) == constants)
    context = r'struct kiln_context \*{1,2}context[,)]'
    found = set(re.findall(rf'\b(kiln_\w+)\({context}(?! enum kiln_layout)', text))
    check('every function but the typed calls is known',
          found | {'kiln_status_string', 'kiln_context_create'} == set(declared.FUNCTIONS))
    bodies = {name for name, _ in re.findall(r'^struct (\w+) (\{)', text, flags=re.M)}
    check('every structure is known', bodies == set(structures(declared)))


# What stands in the header, what takes its place, and what then the declarations or the script say.
CHANGES = [
    ('    size_t m, n, k; ', '    size_t m, n, more, k; ', "('more', ctypes.c_size_t)"),
    ('    int hermitian;', '    int hermitian; double last;', "('last', ctypes.c_double)"),
    ('    double alpha, beta;', '    float alpha, beta;', 'a type: float'),
    ('    size_t m, n, k; ', '    size_t m, n, k[2]; ', 'a name: k[2]'),
    ('    cl_mem a, b, c;', '    cl_image a, b, c;', 'a type: cl_image'),
    ('    int exact_only;', '    unsigned exact_only : 1;', 'a declaration: unsigned exact_only'),
    ('KILN_NO_DOUBLE = 29,', 'KILN_NO_DOUBLE = 30,', "'KILN_NO_DOUBLE': 30"),
    ('KILN_NO_DOUBLE = 29,', 'KILN_NO_DOUBLE,', 'an enumerator without a value: KILN_NO_DOUBLE'),
    ('KILN_NO_DOUBLE = 29,', 'KILN_NO_DOUBLE = 1 << 5,', 'no number: 1 << 5'),
    ('struct kiln_context;', 'struct kiln_context; typedef int kiln_int;',
     'a declaration: typedef'),
    ('struct kiln_context;', 'struct kiln_context; union kiln_x { int a; };',
     'a declaration: union'),
    ('KILN_API void kiln_context_destroy(struct kiln_context **context);',
     'KILN_API void kiln_context_destroy(struct kiln_context context);', 'a structure by value'),
]


def try_changes(header, script, scratch):
    text = header.read_text(encoding='utf-8')
    changed, output = scratch / 'changed.h', scratch / 'changed.py'
    for before, after, expected in CHANGES:
        if text.count(before) != 1:
            check(f'{before!r} is there once, to be changed', False)
            continue
        changed.write_text(text.replace(before, after), encoding='utf-8')
        output.write_text('')
        status, said = written(script, str(changed), str(output))
        where = output.read_text() if status == 0 else said
        check(f'{after.strip()!r}: {expected!r}', expected in where)
    (scratch / 'no.h').write_text('int nothing')
    status, said = written(script, str(scratch / 'no.h'), str(output))
    check('what is no declaration is refused', status == 1 and 'no declaration' in said)
    done = subprocess.run([sys.executable, script], stderr=subprocess.PIPE)
    check('wrong usage', done.returncode == 2)


def main():
    if len(sys.argv) < 5:
        sys.stderr.write('usage: test_header.py HEADER SCRIPT DECLARATIONS COMPILER...\n')
        return 2
    header, script = pathlib.Path(sys.argv[1]), sys.argv[2]
    declared = load('declared', sys.argv[3])
    with tempfile.TemporaryDirectory(prefix='kiln-header.') as folder:
        scratch = pathlib.Path(folder)
        ours = as_ctypes(declared)
        theirs = as_compiled(declared, header, sys.argv[4:], scratch)
        check(f'{len(ours)} sizes, places and values', len(ours) > 100 and ours == theirs)
        for left, right in zip(ours, theirs):
            if left != right:
                print(f'    ctypes: {left}; compiler: {right}')
        mentioned(header, declared)
        try_changes(header, script, scratch)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    sys.exit(main())
