#!/usr/bin/env python3
"""Checks which names templates use: check_names.py GENERATOR

Rendering finds a name that is not set in the arms of @if that it takes; this looks at all of them.
A template may use what tables define, what it sets itself, and what it takes. What it takes it
uses, or passes on.
"""
import pathlib
import re
import sys

FUNCTIONS = {"min", "max", "ceil_div", "gcd", "in"}
FORM = re.compile(r"\$(list|if)\(")
HEAD = "kernel"                        # a kernel's head, made from the table
BUILTIN = {"T", "R", "TC", "RV", "I", "TA", "TB", "TRIANGLE", "STORED", "FACTORS",
           "COMPLEX", "ELEM_BYTES", "REAL_BYTES"}


def table_names(generator):
    names = set(BUILTIN)
    for path in [*generator.glob("kernels/**/*.[ch]"), *generator.glob("literature/**/*.[ch]")]:
        text = path.read_text()
        names |= set(re.findall(r'\{ "([A-Z][A-Z0-9_]*)", ["A-Z]', text))  # a text or a macro
        for bind in re.findall(r'"((?:\w+ = [^";]+; )*\w+ = [^";]+)"', text):
            names |= set(re.findall(r"(\w+) = ", bind))
    names |= set(re.findall(r"FACT\((\w+)", (generator / "core/facts.inc").read_text()))
    inc = (generator / "../runtime/precisions.inc").read_text()
    return names | set(re.findall(r"^PRECISION\((\w+)", inc, re.M))


def expression_names(text):
    return [name for name in re.findall(r"[A-Za-z_]\w*", text) if name not in FUNCTIONS]


def text_names(line, bound):
    """The names that ${}, $list() and $if() of a line use beyond those bound."""
    at = line.find("$")
    while at >= 0:
        if line.startswith("${", at):
            end = line.index("}", at)
            yield from (n for n in expression_names(line[at + 2:end]) if n not in bound)
        elif form := FORM.match(line, at):
            end, depth = form.end(), 1
            while depth:
                depth += (line[end] == "(") - (line[end] == ")")
                end += 1
            head, rest = line[form.end():end - 1].split(";", 1)
            inside = bound
            if form[1] == "list":
                name, head = re.match(r"\s*(\w+)\s+in\s+(.*)", head).groups()
                inside = bound | {name}
            yield from (n for n in expression_names(head) if n not in bound)
            yield from text_names(rest, inside)
        else:
            raise ValueError(line)
        at = line.find("$", end)


def lines_of(path):
    """The numbers and lines of a template; what has its one line behind a colon as a block."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if one := re.match(r"\s*(@(?:if|for) .*?\S): (.*)", line):
            yield from ((number, part) for part in (one[1], one[2], "@end"))
        else:
            yield number, line


class Template:
    def __init__(self, path):
        self.name = "/".join(path.parts[-2:])
        self.takes, self.uses = [], set()
        self.includes = []             # (file, names that are given, names in sight)
        self.errors = []
        blocks = [set()]
        for number, line in lines_of(path):
            sight = set().union(*blocks, self.takes)
            is_directive = line.strip().startswith("@")
            word, _, rest = line.strip()[1:].partition(" ") if is_directive else ("", "", "")
            used = []
            if line.strip().startswith("@//"):
                continue
            if word == "takes":
                self.takes += rest.split()
            elif word in ("if", "for", "wrap"):
                blocks.append(set())
            elif word in ("elif", "else", "end"):
                blocks.pop()
                if word != "end":
                    blocks.append(set())
            if word in ("if", "elif"):
                used = expression_names(rest)
            elif word == "for":
                name, bounds = re.match(r"(\w+)\s+in\s+(.*)", rest).groups()
                used = expression_names(bounds)
                blocks[-1].add(name)
            elif word == "let":
                name, value = re.match(r"(\w+)\s*=(.*)", rest).groups()
                used = expression_names(value)
                blocks[-1].add(name)
            elif word in ("include", "wrap"):
                file, _, names = rest.partition(" ")
                pairs = [pair.split("=", 1) for pair in names.split(";") if pair.strip()]
                used = [n for _, value in pairs for n in expression_names(value)]
                self.includes.append((number, file, {name.strip() for name, _ in pairs}, sight))
            elif not word:
                try:
                    used = list(text_names(line, set()))
                except (ValueError, IndexError):
                    self.errors.append("%s:%d: what a '$' begins is no value, list or choice"
                                       % (self.name, number))
            for name in used:
                self.uses.add((number, name, name in sight))


def main(generator):
    generator = pathlib.Path(generator)
    tables = table_names(generator)
    paths = [*generator.glob("kernels/*/*.cl.in"), *generator.glob("literature/*/*.cl.in")]
    templates = {t.name: t for t in map(Template, paths)}
    errors = [error for t in templates.values() for error in t.errors]
    for t in templates.values():
        used = {name for _, name, _ in t.uses}
        for number, name, in_sight in sorted(t.uses):
            if not in_sight and name not in tables:
                errors.append("%s:%d: '%s' is neither set, nor taken, nor in a table"
                              % (t.name, number, name))
        for number, file, given, sight in t.includes:
            if file == HEAD:
                continue
            if file not in templates:
                errors.append("%s:%d: no template called '%s'" % (t.name, number, file))
                continue
            used |= set(templates[file].takes) - given
            for name in templates[file].takes:
                if name not in given | sight | tables:
                    errors.append("%s:%d: %s takes '%s'" % (t.name, number, file, name))
        errors += ["%s: takes '%s' and does not use it" % (t.name, name)
                   for name in t.takes if name not in used]
    print("\n".join(errors) if errors else "%d templates use what they may" % len(templates))
    return 1 if errors or not templates else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
