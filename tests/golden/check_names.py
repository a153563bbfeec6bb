#!/usr/bin/env python3
"""Checks which names templates use: check_names.py GENERATOR

Rendering finds a name that is not set in the arms of @if that it takes; this looks at all of them.
A template, and each of its fragments, may use what tables define, what it sets itself, and what it
takes. What it takes it uses, or passes on. No two fragments of a file have one name, and a table
names each text, or a text that includes it.
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


def texts_of(path):
    """The file's own text and its fragments: how each is called, and its numbered lines."""
    file = "/".join(path.with_name(path.name.removesuffix(".cl.in")).parts[-2:])
    texts = [(file, [])]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not re.match(r"\s*@fragment\b", line):
            texts[-1][1].append((number, line))
        elif name := re.fullmatch(r"@fragment ([a-z]\w*)", line):
            texts.append((file + ":" + name[1], []))
        else:
            raise SystemExit(f"{path}:{number}: a fragment is named alone, at the line's start")
    own = any(line for _, line in texts[0][1])
    return texts if own else texts[1:]


def steps_of(lines):
    """Numbered lines; what has its one line behind a colon as a block."""
    for number, line in lines:
        if one := re.match(r"\s*(@(?:if|for) .*?\S): (.*)", line):
            yield from ((number, part) for part in (one[1], one[2], "@end"))
        else:
            yield number, line


class Text:
    def __init__(self, name, lines):
        self.name = name
        self.file = name.partition(":")[0]
        self.at = self.file + ".cl.in"
        self.takes, self.uses = [], set()
        self.includes = []             # (text, names that are given, names in sight)
        self.errors = []
        blocks = [set()]
        for number, line in steps_of(lines):
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
                text, _, names = rest.partition(" ")
                pairs = [pair.split("=", 1) for pair in names.split(";") if pair.strip()]
                used = [n for _, value in pairs for n in expression_names(value)]
                text = self.file + text if text.startswith(":") else text
                self.includes.append((number, text, {name.strip() for name, _ in pairs}, sight))
            elif not word:
                try:
                    used = list(text_names(line, set()))
                except (ValueError, IndexError):
                    self.errors.append("%s:%d: what a '$' begins is no value, list or choice"
                                       % (self.at, number))
            for name in used:
                self.uses.add((number, name, name in sight))


def check_use(texts, generator):
    """A table leads to each text, and each has a name of its own."""
    names = [t.name for t in texts]
    by_name = {t.name: t for t in texts}
    todo = [name for path in generator.glob("*/*/*.[ch]")
            for name in re.findall(r'"([a-z_]+/[a-z_]+(?::\w+)?)"', path.read_text())]
    found = set()
    while todo:
        name = todo.pop()
        if name in by_name and name not in found:
            found.add(name)
            todo += [text for _, text, _, _ in by_name[name].includes]
    yield from ("%s: nothing includes it" % name for name in names if name not in found)
    yield from ("%s: there are two" % name for name in set(names) if names.count(name) > 1)


def check_text(t, texts, tables):
    used = {name for _, name, _ in t.uses}
    for number, name, in_sight in sorted(t.uses):
        if not in_sight and name not in tables:
            yield "%s:%d: '%s' is neither set, nor taken, nor in a table" % (t.at, number, name)
    for number, name, given, sight in t.includes:
        if name == HEAD:
            continue
        if name not in texts:
            yield "%s:%d: no template called '%s'" % (t.at, number, name)
            continue
        used |= set(texts[name].takes) - given
        for taken in texts[name].takes:
            if taken not in given | sight | tables:
                yield "%s:%d: %s takes '%s'" % (t.at, number, name, taken)
    yield from ("%s: takes '%s' and does not use it" % (t.name, name)
                for name in t.takes if name not in used)


def main(generator):
    generator = pathlib.Path(generator)
    tables = table_names(generator)
    paths = [*generator.glob("kernels/*/*.cl.in"), *generator.glob("literature/*/*.cl.in")]
    texts = [Text(*text) for path in sorted(paths) for text in texts_of(path)]
    by_name = {t.name: t for t in texts}
    errors = [error for t in texts for error in [*t.errors, *check_text(t, by_name, tables)]]
    errors += check_use(texts, generator)
    print("\n".join(errors) if errors else "%d texts of %d templates use what they may"
          % (len(texts), len(paths)))
    return 1 if errors or not texts else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
