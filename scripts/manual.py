#!/usr/bin/env python3
"""manual.py: makes the manual page of a program out of what its --help prints. Run by the build.

usage: manual.py PAGE VERSION PROGRAM [SEE_ALSO...]

Such a text is blocks with a blank line between:

    usage: NAME ...        the synopsis; further lines are indented
    text at the margin     what the program does; the first sentence is the page's short description
      TERM   explanation   commands, or options where TERM begins with "-"; the explanation goes on
                           in lines that are indented further
    NAME:                  what is indented below belongs to the command NAME
    Exit status: ...       anywhere in text at the margin

What is none of these is an error. The date is that of SOURCE_DATE_EPOCH; without it there is none.
"""
import datetime
import os
import re
import subprocess
import sys
import textwrap

MOST_INDENT = 8             # of a term; explanations are indented further
LONGEST_LINE = 80


class Malformed(Exception):
    pass


def escaped(text):
    """Text as roff prints it. Hyphens of options and file names stay what they are."""
    return text.replace('\\', '\\e').replace('-', '\\-')


def paragraph(lines):
    """Lines of escaped text, with the names of options in bold, none of which is a request."""
    text = re.sub(r'(?<![\w\\])\\-\\-(?:[a-z]|\\-)+', lambda name: f'\\fB{name[0]}\\fR',
                  escaped(' '.join(lines)))
    for line in textwrap.wrap(text, LONGEST_LINE - 2, break_long_words=False,
                              break_on_hyphens=False):
        yield '\\&' + line if line[0] in ".'" else line


def with_fonts(term):
    """A command or option in bold, what stands for something in italics: "-n, --name NAME"."""
    words = []
    for word in re.split(r'([ ,/\[\]]+)', term):
        is_placeholder = re.fullmatch(r'[A-Z][A-Za-z]*(x[A-Z])*(\.\.\.)?', word)
        is_name = re.fullmatch(r'[-a-z]+', word)
        font = 'I' if is_placeholder else 'B' if is_name else None
        words.append(f'\\f{font}{escaped(word)}\\fR' if font else escaped(word))
    return ''.join(words)


def blocks_of(text):
    blocks = [block.split('\n') for block in re.split(r'\n{2,}', text.strip('\n'))]
    # What stands below "NAME:" is a block of its own; so is text behind an indented block.
    for block in blocks:
        begin = 0
        for at in range(1, len(block)):
            turns = block[at].startswith(' ') != block[at - 1].startswith(' ')
            if turns and not block[0].startswith('usage:'):
                yield block[begin:at]
                begin = at
        yield block[begin:]


def entries_of(block):
    """Pairs of a term and the lines that explain it; the term is None for plain text."""
    entries = []
    for line in block:
        body = line.lstrip(' ')
        if len(line) - len(body) > MOST_INDENT:
            if not entries:
                raise Malformed(line)
            entries[-1][1].append(body)
            continue
        parts = re.split(' {2,}', body, maxsplit=1)
        if len(parts) == 1 and ' ' in body:
            # A long term fills its line; else it is one space before the explanation, or text.
            long_term = re.match(r'(--[-a-z]+(?: [A-Z]\S*)?) (?=[a-z])(.*)', body)
            parts = list(long_term.groups()) if long_term else parts
        if len(parts) == 2 or body.startswith('-'):
            entries.append((parts[0], parts[1:]))
        elif entries and entries[-1][0] is None:
            entries[-1][1].append(body)
        else:
            entries.append((None, [body]))
    return entries


class Page:
    def __init__(self):
        self.sections = {}              # of a heading: its lines

    def add(self, heading, *lines):
        section = self.sections.setdefault(heading, [])
        section.extend(lines[1:] if lines[0] == '.PP' and not section else lines)

    def add_entries(self, heading, block):
        for term, lines in entries_of(block):
            if term is None:
                self.add(heading, '.PP', *paragraph(lines))
            else:
                self.add(heading, '.TP', with_fonts(term), *paragraph(lines))


def synopsis(block):
    for line in ' '.join(block).split('usage: ')[1:]:
        program, *rest = line.split(' ', 1)
        yield f'.B {escaped(program)}'
        yield from (re.sub(r'[A-Z]{2,}', r'\\fI\g<0>\\fR', escaped(text)) for text in rest)


def text_block(page, block):
    text = re.sub(r'\s+', ' ', ' '.join(block))
    text, _, status = text.partition('Exit status: ')
    if status:
        page.add('EXIT STATUS', '.PP', *paragraph([status]))
    if not text:
        return
    if 'NAME' not in page.sections:
        short = text.partition('. ')[0].rstrip('.')
        page.add('NAME', escaped(page.program) + ' \\- ' + escaped(short[0].lower() + short[1:]))
    heading = 'NOTES' if 'COMMANDS' in page.sections or 'OPTIONS' in page.sections \
        else 'DESCRIPTION'
    page.add(heading, '.PP', *paragraph([text]))


def page_of(text, program):
    page = Page()
    page.program = program
    command = None                      # of which options are shown
    for block in blocks_of(text):
        first = block[0]
        if first.startswith('usage: '):
            page.add('SYNOPSIS', *synopsis([line.strip() for line in block]))
            command = None
        elif re.fullmatch('[a-z]+:', first) and len(block) == 1:
            command = first[:-1]
            page.add('OPTIONS', f'.SS Of {command}')
        elif not first.startswith(' '):
            text_block(page, block)
            command = None
        else:
            is_options = command is not None or first.lstrip().startswith('-')
            page.add_entries('OPTIONS' if is_options else 'COMMANDS', block)
            command = None
    return page


def rendered(page, version, date, see_also):
    lines = ['.\\" Made from what the program prints for --help. Do not edit.',
             f'.TH {page.program.upper()} 1 "{date}" "Kiln {version}" "User Commands"']
    if see_also:
        references = [f'.BR {name} (1)' for name in see_also]
        page.add('SEE ALSO', *[line + ' ,' for line in references[:-1]], references[-1])
    for heading in ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'COMMANDS', 'OPTIONS', 'NOTES',
                    'EXIT STATUS', 'SEE ALSO']:
        if heading in page.sections:
            lines += [f'.SH {heading}', *page.sections[heading]]
        elif heading in ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'EXIT STATUS'):
            raise Malformed(f'there is nothing for {heading}')
    return '\n'.join(lines) + '\n'


def main(arguments):
    if len(arguments) < 3:
        import common
        common.answer(__doc__)
        print(__doc__.strip(), file=sys.stderr)
        return 2
    path, version, program, *see_also = arguments
    text = subprocess.run([program, '--help'], stdout=subprocess.PIPE, encoding='utf-8',
                          check=True).stdout
    epoch = os.environ.get('SOURCE_DATE_EPOCH')
    date = '' if epoch is None else datetime.datetime.fromtimestamp(
        int(epoch), datetime.timezone.utc).strftime('%Y-%m-%d')
    name = os.path.basename(program)
    try:
        page = rendered(page_of(text, name), version, date, see_also)
    except Malformed as error:
        print(f'manual.py: {program} --help: {error}', file=sys.stderr)
        return 1
    with open(path, 'w', encoding='utf-8') as file:
        file.write(page)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
