#!/usr/bin/env python3
"""header.py HEADER VERSION OUTPUT: writes as ctypes declarations what kiln.h declares.

Enumerations, structures and functions come from the text of the header, so that they stand there
alone. What the script does not know how to read ends it. The typed calls are left out:
kiln_gemm_enqueue does all that they do, and ctypes can not pass their complex numbers.
"""
import re
import sys

# C types and what they are in ctypes. Handles of OpenCL are pointers.
SCALARS = {'int': 'c_int', 'size_t': 'c_size_t', 'double': 'c_double', 'uint32_t': 'c_uint32',
           'cl_uint': 'c_uint32'}
HANDLES = {'cl_mem', 'cl_context', 'cl_device_id', 'cl_command_queue', 'cl_event'}
NAME = r'[A-Za-z_]\w*'


class Unknown(Exception):
    """A declaration that this script can not read."""


def bare(text):
    """The declarations without comments, preprocessor lines and the braces of extern "C"."""
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    text = re.sub(r'^[ \t]*#(.*\\\n)*.*$', '', text, flags=re.M)
    text = re.sub(r'extern "C" \{(.*)\}', r'\1', text, flags=re.S)
    return ' '.join(text.split())


def declarations(text):
    """Splits at the semicolons outside braces."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == '{') - (letter == '}')
        if letter == ';' and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    if text[begin:].strip():
        raise Unknown(f'no declaration: {text[begin:].strip()}')


def value_of(text):
    """A number, or a sum of numbers."""
    if not re.fullmatch(r'-?\d+( [-+] \d+)*', text):
        raise Unknown(f'no number: {text}')
    return sum(int(part.replace(' ', '')) for part in re.findall(r'[-+]? ?\d+', text))


def enumerators(body):
    """Names and values. Every one has its value beside it."""
    found = {}
    for part in filter(None, (part.strip() for part in body.split(','))):
        match = re.fullmatch(rf'({NAME}) = (.+)', part)
        if not match:
            raise Unknown(f'an enumerator without a value: {part}')
        found[match[1]] = value_of(match[2])
    return found


def plain_type(text, depth):
    """A type without const, behind which come `depth` stars."""
    match = re.fullmatch(rf'(struct|enum) ({NAME})', text)
    if match and match[1] == 'struct':
        if depth == 0:
            raise Unknown(f'a structure by value: {text}')
        return 'ctypes.POINTER(' * depth + match[2] + ')' * depth
    if depth == 0 and match:
        return 'ctypes.c_int'
    if depth == 0 and text in SCALARS:
        return f'ctypes.{SCALARS[text]}'
    if depth == 1 and text == 'size_t':
        return 'ctypes.POINTER(ctypes.c_size_t)'
    if depth == 1 and text == 'char':
        return 'ctypes.c_char_p'
    if (depth == 0 and text in HANDLES) or (depth == 1 and text == 'void'):
        return 'ctypes.c_void_p'
    if depth == 1 and text in HANDLES:
        return 'ctypes.POINTER(ctypes.c_void_p)'
    raise Unknown(f'a type: {text}{" " + "*" * depth if depth else ""}')


def split_declarator(text):
    """'const struct kiln_pack *pack' as its type, stars and name."""
    match = re.fullmatch(rf'(?:const )?((?:(?:struct|enum) )?{NAME}) (\**)({NAME})', text)
    if not match:
        raise Unknown(f'a declaration: {text}')
    return match[1], len(match[2]), match[3]


def arguments(text):
    return [plain_type(*split_declarator(part.strip())[:2]) for part in text.split(',')]


def fields(body):
    """Names and types of a structure's fields."""
    found = []
    for part in filter(None, (part.strip() for part in body.split(';'))):
        callback = re.fullmatch(rf'void \(\*({NAME})\)\((.*)\)', part)
        if callback:
            types = ', '.join(arguments(callback[2]))
            found.append((callback[1], f'ctypes.CFUNCTYPE(None, {types})'))
            continue
        first, *others = [name.strip() for name in part.split(',')]
        base, depth, name = split_declarator(first)
        found.append((name, plain_type(base, depth)))
        for other in others:
            match = re.fullmatch(rf'(\**)({NAME})', other)
            if not match:
                raise Unknown(f'a name: {other}')
            found.append((match[2], plain_type(base, len(match[1]))))
    return found


def read(text):
    """Enumerations, structures and functions of the header, each by name."""
    enums, structs, functions = {}, {}, {}
    for line in declarations(bare(text)):
        enum = re.fullmatch(rf'enum (?:({NAME}) )?\{{(.*)\}}', line)
        struct = re.fullmatch(rf'struct ({NAME})(?: \{{(.*)\}})?', line)
        function = re.fullmatch(rf'KILN_API (.+?) ?(\**)({NAME})\((.*)\)', line)
        if enum:
            enums.setdefault(enum[1] or '', {}).update(enumerators(enum[2]))
        elif struct and (struct[2] or struct[1] not in structs):
            structs[struct[1]] = fields(struct[2] or '')
        elif function:
            if 'enum kiln_layout' in function[4]:      # a typed call
                continue
            result = function[1].replace('const ', '')
            functions[function[3]] = (
                'None' if result == 'void' else plain_type(result, len(function[2])),
                arguments(function[4]))
        elif not struct:
            raise Unknown(f'a declaration: {line}')
    return enums, structs, functions


def lines_of(enums, structs, functions, version):
    yield '"""What kiln.h declares, for ctypes. Written by header.py; not to be edited."""'
    yield 'import ctypes'
    yield ''
    yield f'VERSION = {version!r}'
    yield ''
    yield 'ENUMS = {'
    for name, values in enums.items():
        yield f'    {name!r}: {{'
        for key, value in values.items():
            yield f'        {key!r}: {value},'
        yield '    },'
    yield '}'
    for name in structs:
        yield ''
        yield ''
        yield f'class {name}(ctypes.Structure):'
        yield '    pass'
    yield ''
    for name, members in structs.items():
        if members:
            yield ''
            yield f'{name}._fields_ = ['
            for key, kind in members:
                yield f'    ({key!r}, {kind}),'
            yield ']'
    yield ''
    yield '# By name: the result and the arguments.'
    yield 'FUNCTIONS = {'
    for name, (result, types) in functions.items():
        yield f'    {name!r}: ({result}, ['
        for kind in types:
            yield f'        {kind},'
        yield '    ]),'
    yield '}'


def main():
    if len(sys.argv) != 4:
        sys.stderr.write('usage: header.py HEADER VERSION OUTPUT\n')
        return 2
    header, version, output = sys.argv[1:]
    with open(header, encoding='utf-8') as file:
        text = file.read()
    try:
        lines = list(lines_of(*read(text), version))
    except Unknown as error:
        sys.stderr.write(f'header.py: {header}: {error}\n')
        return 1
    with open(output, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
