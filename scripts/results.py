#!/usr/bin/env python3
"""Writes what kiln-bench measured into the documents, so that no figure there is typed by hand.

usage: results.py [--check] [--root DIR]
       results.py --take BENCH.json NAME [--note TEXT] [--root DIR]

The first form makes all tables anew; with --check it changes nothing, and fails where a document
differs from what the measurements say. A table stands between two lines of a document, of which
the first says its kind, the files it is made of, and options:

    <!-- results: classes h200-random under=0.65 -->
    <!-- end -->

Before the table stands what its figures are, unless the options have about=no. The kinds are those
of scripts/bench_tables.py, and `run`, which says how a file was measured. The files are
tests/bench/results/NAME.json.

The second form puts what `kiln-bench --json` wrote there as NAME, without what no table needs, and
notes in what state the bundle was: that of this tree. A bundle that is not of this tree is told by
--note. Then name it in a document, and run the first form.

  --root DIR    of the sources (default: those of this script)
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import sys
import textwrap

import bench_data
import bench_tables
import common
from bench_data import BenchError

FOLDER = "tests/bench/results"
WIDTH = 100                            # columns of a document
MARK = re.compile(r"^<!-- results: (.*) -->$")
END = "<!-- end -->"
# Where all figures are made, once a table is: document, the line that begins this part, and the
# line that ends it.
MADE = [("README.md", "## How fast", "## "),
        ("tests/bench/RESULTS.md", "# ", "## Old records")]
FIGURE = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)")


def find_documents(root):
    """All Markdown of the sources; folders that begin with a dot or 'build' hold none."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "build")))
        for name in sorted(files):
            if name.endswith(".md"):
                yield pathlib.Path(folder, name)


def state_of(root, bundle):
    """What tells one state of a committed bundle from another, or empty: its recipes, their times,
    and the hashes of its kernels' texts, however these are stored. What follows from a
    configuration, as work-groups and guards, is not told apart."""
    folder = root / "tuned" / bundle
    try:
        linked, winners = [(folder / name).read_text(encoding="utf-8")
                           for name in ("bundle.c", "winners.tsv")]
    except OSError:
        return ""
    rows = [row.split("\t") for row in winners.splitlines()]
    parts = sorted(set(re.findall(r"^    \{ UINT64_C\((0x[0-9a-f]+)\)", linked, re.M)))
    parts += ["\t".join(row[:3]) for row in rows if row[0] in ("recipe", "triangle")]
    parts += ["\t".join(row) for row in rows if row[0] in ("time", "kind", "pin")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


class Results:
    """The measurements, each read once."""

    def __init__(self, root):
        self.root = root
        self.files = {}

    def load(self, name):
        if name not in self.files:
            path = self.root / FOLDER / f"{name}.json"
            if not re.fullmatch(r"[\w.-]+", name) or not path.is_file():
                raise BenchError(f"there is no {FOLDER}/{name}.json")
            self.files[name] = bench_data.load(path)
        return self.files[name]

    def bundle(self, document):
        if document.note or not document.bundle:
            return document.note
        now = state_of(self.root, document.bundle)
        known = document.bundle_hash and now
        old = known and document.bundle_hash != now
        return f"bundle `{document.bundle}`{' in an earlier state' if old else ''}"

    def run(self, documents, _options):
        """How, when and where the files were measured."""
        lines = []
        for document in documents:
            rounds = document.part.get("rounds")
            facts = [bench_tables.device_text(document), f"driver {document.driver}",
                     *document.versions, self.bundle(document), document.date]
            if rounds:
                facts.append(f"{'medians of ' if rounds > 1 else ''}{rounds} "
                             f"round{'s' if rounds > 1 else ''}")
            if "clock" in document.part:
                facts.append(document.clock)
            lines += textwrap.wrap("; ".join(filter(None, facts)) + ":", WIDTH,
                                   break_on_hyphens=False)
            lines += ["", *command_lines(document.command), ""]
        return lines[:-1]


def command_lines(command):
    """A command as it can be typed, each option on one line with its value."""
    parts = re.findall(r"\S+(?: (?!-)\S+)*", command)
    lines = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) + 3 <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {'    ' if lines else ''}{part}")
    return [line + (" \\" if i + 1 < len(lines) else "") for i, line in enumerate(lines)]


def read_mark(text):
    """A marker's kind, names and options."""
    kind, *words = text.split()
    options = dict(word.split("=", 1) for word in words if "=" in word)
    return kind, [word for word in words if "=" not in word], options


def make(results, text):
    """The lines that a marker asks for."""
    kind, names, options = read_mark(text)
    if kind != "run" and kind not in bench_tables.KINDS:
        raise BenchError(f"no table is called '{kind}': run, {', '.join(bench_tables.KINDS)}")
    if not names:
        raise BenchError(f"'{kind}' names no file")
    documents = [results.load(name) for name in names]
    if kind == "run":
        return results.run(documents, options)
    table = bench_tables.KINDS[kind](documents, options)
    lines = ["| " + " | ".join(table.head) + " |", "|" + "---|" * len(table.head),
             *("| " + " | ".join(row) + " |" for row in table.rows)]
    lines = [line.replace("|  |", "| |").replace("|  |", "| |") for line in lines]
    if options.get("about") == "no":
        return lines
    return [*textwrap.wrap(table.about, WIDTH), "", *lines]


def rewrite(results, path):
    """A document's text as it should be; nothing where it has no tables."""
    made, held, mark = [], None, ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = MARK.match(line)
        if held is not None:
            if match:
                raise BenchError(f"{path}:{held}: no '{END}' follows")
            if line == END:
                lines = make_at(results, path, held, mark)
                made += [*lines, line] if lines[0].startswith("|") else ["", *lines, "", line]
                held = None
            continue
        if match:
            held, mark = number, match[1]
        elif line == END:
            raise BenchError(f"{path}:{number}: nothing ends here")
        made.append(line)
    if held is not None:
        raise BenchError(f"{path}:{held}: no '{END}' follows")
    return "".join(line + "\n" for line in made)


def make_at(results, path, number, mark):
    try:
        return make(results, mark)
    except BenchError as error:
        raise BenchError(f"{path}:{number}: {error}") from None


def typed_by_hand(root):
    """Figures that stand where all of them should be made, and are not."""
    for name, begin, end in MADE:
        path = root / name
        within = made = False
        text = path.read_text(encoding="utf-8")
        if "<!-- results: " not in text:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            made = line != END and (made or bool(MARK.match(line)))
            if line.startswith(end):
                within = False
            if line.startswith(begin):
                within = True
            if within and not made and (figure := FIGURE.search(line)):
                yield f"{path}:{number}: {figure[0]} is typed by hand"


def update(root, check):
    """Rewrites the documents, or tells which are not as they should be."""
    results = Results(root)
    wrong, changed = [], []
    for path in find_documents(root):
        text = path.read_text(encoding="utf-8")
        if "<!-- results: " not in text and END not in text:
            continue
        made = rewrite(results, path)
        if made == text:
            continue
        if check:
            old, new = text.splitlines(), made.splitlines()
            at = next((i for i, pair in enumerate(zip(old, new)) if pair[0] != pair[1]),
                      min(len(old), len(new)))
            wrong.append(f"{path}:{at + 1}: is not what the measurements say "
                         "(scripts/results.py makes it anew)")
        else:
            path.write_text(made, encoding="utf-8")
            changed.append(str(path.relative_to(root)))
    wrong += typed_by_hand(root)
    unread = {path.stem for path in (root / FOLDER).glob("*.json")} - set(results.files)
    wrong += [f"{FOLDER}/{name}.json: no document has a table of it" for name in sorted(unread)]
    print("\n".join([*wrong, *(f"{path}: written" for path in changed)]) or "all is as measured")
    return int(bool(wrong))


def trim_results(results):
    """Of each peer what a table needs."""
    return {key: {name: value for name, value in result.items()
                  if name in ("outcome", "gflops", "median_seconds", "most", "mean", "wrong",
                              "beyond")}
            for key, result in results.items()}


def one_line(value):
    return json.dumps(value, ensure_ascii=True)


def listed(begin, lines, end):
    return begin + "\n" + ",\n".join(lines) + "\n" + end


def trim(document):
    """Less of a run, a row in each line: what no table and no picture shows is left out."""
    members = []
    for name, value in document.items():
        if name not in bench_data.MODES:
            members.append(f" {one_line(name)}: {one_line(value)}")
            continue
        inner = []
        for key, held in value.items():
            if key == "rows":
                rows = [{member: trim_results(of) if member == "results" else of
                         for member, of in row.items() if member != "recipes"}
                        for row in held]
                for row in rows:
                    row.update({"kernel": row["kernel"].split("kernel: ")[-1]}
                               if "kernel" in row else {})
                text = listed("[", [f"   {one_line(row)}" for row in rows], "  ]")
            elif key in ("samples_us", "geometric_means", "group_means"):
                continue
            else:
                text = one_line(held)
            inner.append(f"  {one_line(key)}: {text}")
        members.append(f" {one_line(name)}: " + listed("{", inner, " }"))
    return listed("{", members, "}")


def take(root, source, name, note):
    document = bench_data.parse(source)
    read = bench_data.load(source)     # refuses what no table could be made of
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise BenchError(f"'{name}' is no name: small letters, digits and '-'")
    state = state_of(root, read.bundle)
    if note:
        document["note"] = note
    elif state:
        document["bundle_hash"] = state
    words = document["arguments"]      # where the file lay says nothing
    document["arguments"] = [word for i, word in enumerate(words) if word != "--json"
                             and not word.startswith("--json=") and words[i - 1:i] != ["--json"]]
    target = root / FOLDER / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(trim(document) + "\n", encoding="utf-8")
    bench_data.load(target)
    print(f"{target}: written")
    return 0


def main():
    common.answer(__doc__)
    parser = argparse.ArgumentParser(add_help=False, usage=__doc__.split("usage: ")[1])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--take", nargs=2, metavar=("BENCH.json", "NAME"))
    parser.add_argument("--note", default="")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    if options.check and options.take:
        parser.error("--check takes nothing")
    if options.note and not options.take:
        parser.error("--note is of what is taken")
    try:
        if options.take:
            return take(options.root, *options.take, options.note)
        return update(options.root, options.check)
    except BenchError as error:
        print(f"results.py: {error}", file=sys.stderr)
    except OSError as error:
        print(f"results.py: {error.filename}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
