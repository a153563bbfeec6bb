#!/usr/bin/env python3
"""test_page.py BENCH_PAGE: pages of small measurements, without a browser. What is drawn is what
the figures say; what cannot be drawn is refused, each with an error of its own."""

import html.parser
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

VOID = {"meta", "br", "line", "polyline"}
SIZES = (64, 128, 256, 512)
GRID = (16, 32, 64)
CLASSES = ("large", "thin", "deep")


class Page(html.parser.HTMLParser):
    """Counts elements and their classes; every element that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.counts, self.wrong = [], {}, []
        self.feed(text)
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        for name in [tag, *(f"{tag}.{kind}" for kind in dict(attrs).get("class", "").split())]:
            self.counts[name] = self.counts.get(name, 0) + 1
        self.wrong += [f"<{tag}> loads {value}" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")


def row(precision, shape, group, kiln, peer):
    ops = 2 * math.prod(shape)
    results = {name: {"outcome": "timed", "gflops": rate, "median_seconds": 1e-9 * ops / rate}
               for name, rate in (("kiln", kiln), ("cublas", peer)) if rate}
    if not peer:
        results["cublas"] = {"outcome": "refused"}
    m, n, k = shape
    return {"precision": precision, "transpose": "nn", "m": m, "n": n, "k": k, "group": group,
            "kernel": "bundle: one\nkernel: direct A=<1>", "results": results}


def document(rows, arguments, device="A <device>", **more):
    peers = [{"key": "kiln", "title": "Kiln", "detail": "its own choice of bundle"},
             {"key": "cublas", "title": "cuBLAS", "detail": "version 130100, CUDA 13.1"}]
    return {"format": "kiln-bench 2", "version": "0.1.0", "date": "2026-11-24T01:02:03Z",
            "arguments": arguments,
            "device": {"name": device, "platform": "P", "driver": "1 & 2", "bundle": "one",
                       "host_threads": 2, "is_cpu": False},
            "comparison": {"rounds": 2, "clock": "device", "peers": peers, "rows": rows, **more}}


def random_run():
    """Ratios whose geometric mean is 1.50 in single, and 0.50 in double."""
    rows = []
    for i, group in enumerate(CLASSES):
        for part in (1.25, 0.8):       # their product is 1
            shape = (100 + 7 * i, round(200 * part), 300)
            rows.append(row("S", shape, group, 1500 * part, 1000))
            rows.append(row("D", shape, group, 500 * part, 1000))
    rows.append(row("S", (99, 98, 97), "deep", 300, 0))
    return document(rows, ["--shapes", "random", "--json", "/tmp/x.json"], random={"seed": 1})


def grid_run():
    rows = [row("S", (m, n, 24), "grid", 10 * m, 160) for m in GRID for n in GRID]
    return document(rows, ["--shapes", "grid", "--k", "24"])


def squares_run():
    rows = [row("S", (size,) * 3, "squares", 2 * size, size) for size in SIZES]
    return document(rows, ["--shapes", "squares"])


def triangles_run(device="A <device>"):
    whole = document([], ["--triangles"], device)
    del whole["comparison"]
    rates = {"product": {"gflops": 100}, "syrk": {"gflops": 64}, "symm": {"gflops": 97}}
    return whole | {"triangles": {"rounds": 1, "clock": "wall", "rows": [
        {"precision": "S", "n": 512, "results": rates}]}}


def first_run():
    whole = triangles_run()
    del whole["triangles"]
    return whole | {"first_result": {"size": 256, "kiln_kernels": "source",
                                     "seconds": {"kiln": [0.5, 3, 1.25], "clblast": [8.5]}}}


class Test:
    def __init__(self, script, folder):
        self.script, self.folder, self.failures = script, folder, []

    def put(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content),
                        encoding="utf-8")
        return path

    def run(self, *arguments):
        done = subprocess.run([self.script, *arguments], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr

    def check(self, what, good):
        if not good:
            self.failures.append(what)

    def page(self, name, files, *options):
        target = self.folder / name
        status, said = self.run("-o", target, *options, *files)
        self.check(f"{name}: status {status}: {said}", status == 0)
        text = target.read_text(encoding="utf-8") if target.is_file() else ""
        page = Page(text)
        self.check(f"{name}: {page.wrong[:4]}", not page.wrong)
        self.check(f"{name}: it is not alone",
                   not re.search("https?:|<script|@import|url\\(", text))
        for svg in re.findall("<svg.*?</svg>", text, re.DOTALL):
            self.check(f"{name}: a picture says nothing",
                       re.search("<title>[^<]+</title>\n<desc>[^<]+</desc>", svg))
            self.check(f"{name}: not a number in a picture", not re.search(r"\b(nan|inf)\b", svg))
        return text, page.counts

    def refuse(self, what, status, pattern, *arguments):
        target = self.folder / "refused.html"
        found, said = self.run("-o", target, *arguments)
        self.check(f"{what}: status {found}, wanted {status} and '{pattern}': {said}",
                   found == status and re.search(pattern, said) and "Traceback" not in said)
        self.check(f"{what}: a page was written", not target.exists())


def check_whole(test, files):
    text, counts = test.page("whole.html", files)
    answer = text[text.index('id="answer"'):text.index("</section>")]
    for told in ("<b>1.50</b> in single and <b>0.50</b> in double precision", "cuBLAS 13.1",
                 "A &lt;device&gt;", "driver 1 &amp; 2", "7 random shapes", "2026-11-24",
                 '<td class="num">0.50</td>'):
        test.check(f"the answer has no {told}", told in answer)
    test.check("the answer is not first", text.index('id="answer"') < text.index("<svg"))
    # A dot in the strip of its class and in that of all, in each precision; the refused one in
    # none. Six shapes were timed twice.
    test.check(f"dots: {counts.get('circle.dot')}", counts.get("circle.dot") == 2 * 2 * 6)
    # Every rate of every product under a roof, and those of the squares on lines.
    products = 2 * 2 * 6 + 1 + 2 * len(GRID) ** 2 + 2 * len(SIZES)
    points = products + 2 * len(SIZES)
    test.check(f"points: {counts.get('circle.point')}", counts.get("circle.point") == points)
    test.check(f"roofs: {counts.get('polyline.roof')}", counts.get("polyline.roof") == 2)
    test.check(f"curves: {counts.get('polyline.curve')}", counts.get("polyline.curve") == 2)
    test.check(f"cells: {counts.get('text.cell')}", counts.get("text.cell") == len(GRID) ** 2)
    for told in ("16 × 32 × 24: 1.00", "64 × 16 × 24: 4.00", "0.64; 0.97",
                 "<summary>Other runs</summary>", '<span class="faster">2.00</span>',
                 "kernels from source", '<td class="num">1.25</td>', '<td class="num">8.50</td>',
                 "kiln-bench --shapes random</code>", "roof: 1875 GFLOP/s", "the best seen"):
        test.check(f"the page has no {told}", told in text)
    test.check("tables folded away", counts.get("details") == 4)
    test.check("twice the same", test.page("again.html", files)[0] == text)
    given, _ = test.page("given.html", files, "--peak", "S=4", "--peak", "d=2", "--bandwidth",
                         "500", "--title", "A & B")
    for told in ("roof: 4.00 TFLOP/s, 500 GB/s, given", "<h1>A &amp; B</h1>"):
        test.check(f"the page with a given roof has no {told}", told in given)


def check_parts(test, files):
    """What is not in the files is not drawn, and leaves no heading behind."""
    for name, there, absent in (
            (0, {"Ratios by class", "Roofline"}, {"Over M and N", "Over size", "Beside speed"}),
            (1, {"Over M and N"}, {"Ratios by class", "Over size"}),
            (2, {"Over size", "Roofline"}, {"Over M and N"}),
            (3, {"Beside speed"}, {"Roofline", "All figures"})):
        text, _ = test.page(f"part-{name}.html", [files[name]])
        headings = " ".join(re.findall("<h3>(.*?)</h3>", text))
        test.check(f"part {name} has {headings}", all(word in headings for word in there)
                   and not any(word in headings for word in absent))
    alone = grid_run()
    for one in alone["comparison"]["rows"]:
        del one["results"]["cublas"]
    text, counts = test.page("alone.html", [test.put("alone.json", alone)])
    test.check("a grid without a peer has rates", "Kiln was compared with no peer" in text
               and counts.get("text.cell") == len(GRID) ** 2)
    other = test.put("other.json", triangles_run("Another"))
    text, _ = test.page("two.html", [*files, other])
    test.check("two devices", "<h2>A &lt;device&gt;</h2>" in text and "<h2>Another</h2>" in text)
    test.refuse("a roof of two devices", 1, "of one device, the files of 2", "--peak", "S=4",
                *files, other)


def changed(change):
    whole = random_run()
    change(whole)
    return whole


def rows_in(whole):
    return whole["comparison"]["rows"]


def check_refused(test, good):
    bad = {
        "cut": ('{"format": "kiln-ben', r"is not JSON: .*line 1"),
        "list": ("[1, 2]", "is JSON, but not what kiln-bench --json writes"),
        "program": ('{"format": "other 2"}', "is JSON, but not what kiln-bench --json writes"),
        "old": (random_run() | {"format": "kiln-bench 1"}, "is of the format 'kiln-bench 1'"),
        "empty": (document([], []), "holds no rows: nothing was measured"),
        "nothing": ({name: value for name, value in random_run().items() if name != "comparison"},
                    "holds nothing that kiln-bench measures"),
        "extent": (changed(lambda w: rows_in(w)[2].update(m=0)), "row 3: 'm' is not above 0"),
        "rate": (changed(lambda w: rows_in(w)[1]["results"]["kiln"].update(gflops="x")),
                 "row 2, 'kiln': 'gflops' is not as expected"),
        "pair": (changed(lambda w: rows_in(w)[0].update(transpose="nx")),
                 "row 1: 'NX' are no transposes"),
        "precision": (changed(lambda w: rows_in(w)[0].update(precision="Q")),
                      "row 1: no precision is called 'Q'"),
        "device": (changed(lambda w: w.pop("device")), "the file has no 'device'"),
    }
    for name, (content, pattern) in bad.items():
        path = test.put(f"bad-{name}.json", content)
        test.refuse(name, 1, f"bad-{name}.json: .*{pattern}|bad-{name}.json: {pattern}", good, path)
    (test.folder / "bytes.json").write_bytes(b"\xff\xfe{")
    test.refuse("bytes", 1, "bytes.json: is not text", test.folder / "bytes.json")
    test.refuse("not there", 1, "none.json: No such file", test.folder / "none.json")
    test.refuse("a folder", 1, "Is a directory", test.folder)
    test.refuse("no file", 2, "BENCH.json")
    test.refuse("a bad peak", 2, "'S=x' is no peak", "--peak", "S=x", good)
    test.refuse("a peak of nothing", 2, "'Q=4' is no peak", "--peak", "Q=4", good)
    test.refuse("a bad bandwidth", 2, "'-1' is no bandwidth", "--bandwidth=-1", good)
    status, said = test.run("-o", test.folder / "no/page.html", good)
    test.check(f"nowhere to write: {said}", status == 1 and "No such file" in said)
    status, said = test.run(good)
    test.check(f"no -o: {said}", status == 2 and "-o" in said)


def main():
    if len(sys.argv) != 2:
        print("usage: test_page.py BENCH_PAGE", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="kiln-page.") as folder:
        test = Test(sys.argv[1], pathlib.Path(folder))
        files = [test.put(f"{name}.json", run()) for name, run in
                 (("random", random_run), ("grid", grid_run), ("squares", squares_run),
                  ("triangles", triangles_run), ("first", first_run))]
        check_whole(test, files)
        check_parts(test, files)
        check_refused(test, files[0])
    print("\n".join(test.failures) or "all pages are as they should be")
    return int(bool(test.failures))


if __name__ == "__main__":
    sys.exit(main())
