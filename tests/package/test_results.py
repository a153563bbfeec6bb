#!/usr/bin/env python3
"""test_results.py SOURCE_DIR: the documents tell what was measured, and results.py finds out where
they do not: a figure that was edited by hand, in a table or beside one, another measurement, marks
and files that cannot be meant. Works on a copy."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RESULTS = "tests/bench/RESULTS.md"
FOLDER = "tests/bench/results"
FILE = f"{FOLDER}/cpu-goals.json"
KIND = "<!-- results: shapes cpu-goals -->"


class Tree:
    """What results.py reads of the sources, in a folder of its own."""

    def __init__(self, source, folder):
        self.script = source / "scripts/results.py"
        self.folder = folder
        for name in ["README.md", RESULTS]:
            self.write(name, (source / name).read_text(encoding="utf-8"))
        shutil.copytree(source / FOLDER, folder / FOLDER)
        for kind in ["bundle.c", "winners.tsv"]:
            for file in source.glob(f"tuned/*/{kind}"):
                self.write(str(file.relative_to(source)), file.read_text(encoding="utf-8"))
        self.failures = []

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def run(self, *arguments):
        done = subprocess.run([self.script, "--root", self.folder, *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def expect(self, what, status, pattern, *arguments):
        found, said = self.run(*arguments)
        if found != status or not re.search(pattern, said):
            self.failures.append(f"{what}: status {found}, wanted {status} and '{pattern}': {said}")

    def with_text(self, what, name, change, pattern):
        """A file that is changed makes the check fail, and say why."""
        before = self.read(name)
        after = change(before)
        if after == before:
            self.failures.append(f"{what}: nothing was changed")
        self.write(name, after)
        self.expect(what, 1, pattern, "--check")
        self.write(name, before)


def edit_figure(text):
    """The first ratio of a table, one hundredth off."""
    at = text.index(KIND)
    match = re.compile(r"\| (\d+\.\d)(\d) \|").search(text, at)
    digit = "5" if match[2] != "5" else "6"
    return text[:match.start(2)] + digit + text[match.end(2):]


def faster(text):
    """The rate of one row, twice as fast."""
    document = json.loads(text)
    document["comparison"]["rows"][0]["results"]["kiln"]["gflops"] *= 2
    return json.dumps(document)


def without(*names):
    """A change that takes a member of the JSON away, deep inside."""
    def change(text):
        document = held = json.loads(text)
        for name in names[:-1]:
            held = held[name]
        del held[names[-1]]
        return json.dumps(document)
    return change


def check_documents(tree):
    text = tree.read(RESULTS)
    tree.expect("as it is", 0, "all is as measured", "--check")
    tree.with_text("a figure", RESULTS, edit_figure, r"RESULTS\.md:\d+: is not what the measure")
    tree.with_text("a sentence", RESULTS,
                   lambda t: t.replace("\n## Old", "\nIt is 1.23.\n\n## Old"),
                   r"RESULTS\.md:\d+: 1\.23 is typed by hand")
    tree.with_text("a lost end", RESULTS, lambda t: t.replace("<!-- end -->\n", "", 1),
                   r"RESULTS\.md:\d+: no '<!-- end -->' follows")
    tree.with_text("an end too many", RESULTS, lambda t: t + "<!-- end -->\n",
                   r"RESULTS\.md:\d+: nothing ends here")
    tree.with_text("an unknown kind", RESULTS,
                   lambda t: t.replace(KIND, KIND.replace("shapes", "x")),
                   r"RESULTS\.md:\d+: no table is called 'x': run, classes")
    tree.with_text("no file", RESULTS, lambda t: t.replace(KIND, KIND.replace("cpu-goals", "none")),
                   r"RESULTS\.md:\d+: there is no tests/bench/results/none\.json")
    tree.with_text("another kind of file", RESULTS,
                   lambda t: t.replace(KIND, KIND.replace("cpu-goals", "cpu-triangles")),
                   r"cpu-triangles\.json is of 'triangles', the table of 'comparison'")
    tree.with_text("nobody compared", RESULTS,
                   lambda t: t.replace(KIND, KIND.replace("goals", "goals peer=cublas")),
                   r"cpu-goals\.json compares none")
    tree.write(RESULTS, edit_figure(text))
    tree.expect("made anew", 0, "RESULTS.md: written")
    if tree.read(RESULTS) != text:
        tree.failures.append("made anew: it is not what it was")
    if tree.run() != (0, "all is as measured\n"):
        tree.failures.append("made twice: something changed")


def check_files(tree):
    bundle = "tuned/" + json.loads(tree.read(FILE))["device"]["bundle"]
    tree.with_text("another measurement", FILE, faster, r"RESULTS\.md:\d+: is not what the measure")
    tree.with_text("no JSON", FILE, lambda t: t[:-20], r"cpu-goals\.json: is not JSON")
    tree.with_text("another program", FILE, lambda t: '{"format": "other 1"}',
                   r"cpu-goals\.json: is JSON, but not what kiln-bench")
    tree.with_text("another format", FILE, lambda t: t.replace("kiln-bench 2", "kiln-bench 1"),
                   r"cpu-goals\.json: is of the format 'kiln-bench 1'")
    tree.with_text("no rows", FILE, lambda t: json.dumps(
        json.loads(t) | {"comparison": {"peers": [], "rows": []}}), "holds no rows")
    tree.with_text("no extent", FILE, without("comparison", "rows", 0, "m"), "row 1 has no 'm'")
    tree.with_text("no date", FILE, without("date"), "has no 'date'")
    tree.with_text("another time", f"{bundle}/winners.tsv",
                   lambda t: t + "time\tsingle\t0\t1\n",
                   r"RESULTS\.md:\d+: is not what the measure")
    tree.with_text("another kernel", f"{bundle}/bundle.c",
                   lambda t: t.replace("{ UINT64_C(0x", "{ UINT64_C(0xf", 1),
                   r"RESULTS\.md:\d+: is not what the measure")
    shutil.copy(tree.folder / FILE, tree.folder / FOLDER / "spare.json")
    tree.expect("a file of no table", 1, "spare.json: no document has a table of it", "--check")
    (tree.folder / FOLDER / "spare.json").unlink()


def check_take(tree):
    source = tree.folder / FILE
    before = tree.read(FILE)
    tree.expect("taken", 0, "other-1.json: written", "--take", source, "other-1")
    if tree.read(f"{FOLDER}/other-1.json") != before:
        tree.failures.append("taken twice: it is not the same")
    (tree.folder / FOLDER / "other-1.json").unlink()
    tree.expect("a bad name", 1, "'../x' is no name", "--take", source, "../x")
    tree.expect("not there", 1, "No such file", "--take", tree.folder / "none", "x")
    tree.expect("not JSON", 1, "is not JSON", "--take", tree.folder / "README.md", "x")
    tree.expect("both", 2, "--check takes nothing", "--check", "--take", source, "x")


def main():
    if len(sys.argv) != 2:
        print("usage: test_results.py SOURCE_DIR", file=sys.stderr)
        return 2
    source = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="kiln-results.") as folder:
        tree = Tree(source, pathlib.Path(folder))
        # As if the present bundle had been measured, whatever was tuned since.
        tree.expect("prepared", 0, "written", "--take", tree.folder / FILE, "cpu-goals")
        tree.expect("prepared", 0, "")
        check_documents(tree)
        check_files(tree)
        check_take(tree)
        if tree.run("--check")[0]:
            tree.failures.append("the copy was not restored")
    whole = subprocess.run([source / "scripts/results.py", "--check"], capture_output=True,
                           text=True, check=False)
    if whole.returncode:
        tree.failures.append(f"the documents of the sources: {whole.stdout}{whole.stderr}")
    print("\n".join(tree.failures) or "every fault is found")
    return int(bool(tree.failures))


if __name__ == "__main__":
    sys.exit(main())
