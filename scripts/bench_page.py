#!/usr/bin/env python3
"""Draws what kiln-bench measured as one HTML page, which holds all it shows and loads nothing.

usage: bench_page.py [OPTION]... -o PAGE.html BENCH.json...

The page opens with the answer: geometric means of Kiln's speed over that of each peer. Then come,
for each device, ratios by class of shape, the roofline, a heat map of each grid (--shapes grid),
lines over the size of squares; last all figures, folded away. What the files hold decides what is
drawn.

  -o PAGE.html       where to write it
  --title TEXT       the page's heading (default: Kiln and its peers)
  --peak P=TFLOP/s   the roof of precision P (S, D, H, C or Z): what the device is said to reach
                     (default: the fastest product in the files)
  --bandwidth GB/s   the slope of the roof: what its memory is said to reach (default: the most
                     that any product in the files would need if it moved each byte once)

Both are of one device, so files of several do not take them.
"""
import argparse
import copy
import math
import pathlib
import sys
from html import escape

import bench_charts as charts
import bench_data
import bench_tables
import common
from bench_data import PRECISIONS, TITLES, BenchError, geometric_mean
from bench_tables import device_text, ratio_text

SENTENCES = 3    # of so many devices the answer is told in words, too; of more, by its table
STYLE = pathlib.Path(__file__).resolve().parent.parent / "generator/report/page.css"
MORE_STYLE = """
.point { fill: currentColor; fill-opacity: 0.6; }
.roof { fill: none; stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 3; }
.cell { fill: var(--ink); font-size: 10px; }
.faster { font-weight: 700; } .means small { display: block; }
tbody th::first-letter, th.num::first-letter { text-transform: none; }
h2, h3, h4, summary { overflow-wrap: anywhere; }
.rows td, .rows th { padding: 3px 12px 3px 0; font-size: 13px; }
@media (max-width: 520px) { .rows td, .rows th { padding-right: 8px; font-size: 12px; } }
@media print { .rows td, .rows th { padding: 1.5pt 5pt 1.5pt 0; font-size: 8pt; }
  h3 + p, h4 + p, .legend { break-after: avoid; } }
"""


def plain(text):
    """A table's text as HTML; what Markdown calls code is code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def html_table(head, rows, kind=""):
    """The first cell of a row names it; the others are figures. Cells are HTML already."""
    first = f'<th scope="col">{head[0]}</th>' if head[0] else "<td></td>"
    cells = [first, *(f'<th scope="col" class="num">{cell}</th>' for cell in head[1:])]
    lines = [f'<div class="scroll"><table{kind}>', f"<thead><tr>{''.join(cells)}</tr></thead>",
             "<tbody>"]
    for row in rows:
        others = "".join(f'<td class="num">{cell}</td>' for cell in row[1:])
        lines.append(f'<tr><th scope="row">{row[0]}</th>{others}</tr>')
    return "\n".join([*lines, "</tbody></table></div>\n"])


def about(document):
    """Which shapes, as HTML."""
    return plain(document.what).replace(" x ", "&#8239;&#215;&#8239;")


def and_join(words):
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def worth(document):
    """How much a run says of the device: random shapes of Kiln as it is most, a grid least."""
    native = any(ours == "kiln" for ours, _ in document.pairs)
    own = not document.note            # of the bundle that is committed
    return own, document.is_random, not document.grid_k, native, len(document.rows)


class Device:
    """The files that are of one device and driver."""

    def __init__(self, documents):
        self.documents = documents
        self.name = device_text(documents[0]).replace("`", "")
        self.comparisons = [document for document in documents if document.mode == "comparison"]
        self.comparisons.sort(key=worth, reverse=True)

    @property
    def chosen(self):
        """The run that answers best."""
        return next((document for document in self.comparisons if document.pairs), None)


def by_device(documents):
    devices = {}
    for document in documents:
        devices.setdefault((document.device_name, document.driver), []).append(document)
    return [Device(some) for some in devices.values()]


# ---- The answer ----

def sentence(device):
    """Kiln's speed over each peer's, in words."""
    document = device.chosen
    if not document:
        return f"On {escape(device.name)} Kiln was compared with no peer."
    parts = []
    for ours, peer in document.pairs:
        if peer == "kiln-generic" and len(document.pairs) > 1:
            continue
        means = [(letter, geometric_mean(document.ratios(ours, peer, precision=letter)))
                 for letter in document.precisions]
        told = and_join([f"<b>{ratio_text(mean)}</b> in {PRECISIONS[letter][0]}"
                         for letter, mean in means if mean])
        called = "" if ours == "kiln" else f" ({escape(TITLES[ours].split(', ', 1)[-1])})"
        parts.append(f"{escape(TITLES.get(peer, peer))}'s{called}: {told}")
    return (f"Kiln's speed over {'; over '.join(parts)} precision. These are geometric means of "
            f"{about(document)}, on {escape(device.name)}.")


def means_table(devices, wanted):
    """A row for each run that is wanted, and each peer in it."""
    found = [(device, document, ours, peer,
              [geometric_mean(document.ratios(ours, peer, precision=letter))
               for letter in PRECISIONS])
             for device in devices for document in device.comparisons if wanted(device, document)
             for ours, peer in document.pairs]
    letters = [(i, letter) for i, letter in enumerate(PRECISIONS)
               if any(means[i] for *_, means in found)]
    rows = []
    for device, document, ours, peer, means in found:
        name = bench_tables.versus(ours, peer) if ours != "kiln" else TITLES.get(peer, peer)
        place = f"{escape(device.name)}; " if len(devices) > 1 else ""
        cells = [f'<span class="faster">{ratio_text(means[i])}</span>' if (means[i] or 0) >= 1
                 else ratio_text(means[i]) or "&#8211;" for i, _ in letters]
        rows.append([f"{escape(name)} <small>{place}{about(document)}</small>", *cells])
    head = ["Kiln over", *(PRECISIONS[letter][0] for _, letter in letters)]
    return html_table(head, rows, ' class="means"') if rows else ""


def answering(device):
    """The runs that are the answer: of random shapes, for each peer and precision the one that is
    worth most."""
    runs, told = [], set()
    for run in device.comparisons:
        tells = {(pair, letter) for pair in run.pairs for letter in run.precisions}
        if run is device.chosen or run.is_random and not run.note and not tells <= told:
            runs.append(run)
            told |= tells
    return runs


def other_runs(devices):
    table = means_table(devices, lambda device, document: document not in answering(device))
    return f"<details><summary>Other runs</summary>\n{table}</details>\n" if table else ""


def answer(devices, title):
    lines = ['<section id="answer">', f"<h1>{escape(title)}</h1>"]
    for device in devices:
        first = device.documents[0]
        dates = sorted({document.date for document in device.documents})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        bundles = sorted({document.bundle for document in device.documents
                          if document.bundle and not document.note})
        versions = dict.fromkeys(told for document in device.documents
                                 for told in document.versions)
        facts = [device.name, f"driver {first.driver}", *versions,
                 *(f"bundle {bundle}" for bundle in bundles), when]
        lines.append(f'<p class="where">{escape("; ".join(facts))}</p>')
    if len(devices) <= SENTENCES:
        lines += [f'<p class="lead">{sentence(device)}</p>' for device in devices]
    lines += [means_table(devices, lambda device, document: document in answering(device)),
              "<p>Geometric means of ratios of speed: above 1 Kiln is faster. The peers of a run "
              "took turns.</p>", "</section>", other_runs(devices)]
    return "\n".join(lines)


# ---- The sections of a device ----

def panels(figures):
    return f'<div class="panels">\n{"".join(figures)}</div>\n'


def section(title, about, body):
    return f"<h3>{title}</h3>\n<p>{about}</p>\n{body}" if body else ""


def rows_of(document, letter, pair=None):
    return [row for row in document.rows if row.precision == letter
            and (pair is None or row.transpose == pair)]


def strips_section(device):
    """Of runs with several classes. Grids and squares have pictures of their own."""
    body = []
    able = [document for document in device.comparisons if len(document.groups) > 1]
    for document in able or device.comparisons[:1]:
        for ours, peer in document.pairs:
            if document.grid_k:
                continue
            axis = charts.ratio_axis(document.ratios(ours, peer))
            figures = [charts.strip(rows_of(document, letter), ours, peer, axis)
                       for letter in document.precisions]
            title = f"{escape(bench_tables.versus(ours, peer))}, {about(document)}"
            body.append(f"<h4>{title}</h4>\n{panels(filter(None, figures))}")
    return section("Ratios by class of shape", "A dot is a shape, the bar the geometric mean of "
                   "its class.", "".join(body))


def roofline_section(device, options):
    figures, keys = [], {}
    for letter in PRECISIONS:
        rows = [row for document in device.comparisons for row in rows_of(document, letter)
                if "data" not in document.part]
        if rows:
            drawn, shown = charts.roofline(rows, options.peak.get(letter), options.bandwidth)
            figures.append(drawn)
            keys |= dict.fromkeys(shown)
    body = charts.legend(keys) + panels(figures) if any(figures) else ""
    return section("Roofline", "Every product of the runs above: its rate over the operations that "
                   "it has for each byte, if A, B and C are moved once. Small operands stay in "
                   "caches, so that the slope may be above what memory gives.", body)


def heat_section(device):
    body = []
    for document in device.comparisons:
        if not document.grid_k:
            continue
        for ours, peer in document.pairs or [(key, None) for key in document.peers]:
            figures = [charts.heat(rows_of(document, letter, pair), ours, peer)
                       for letter in document.precisions
                       for pair in sorted({row.transpose for row in rows_of(document, letter)})]
            what = bench_tables.versus(ours, peer) if peer else TITLES.get(ours, ours)
            if any(figures):
                body.append(f"<h4>{escape(what)}</h4>\n{panels(figures)}")
    return section("Over M and N", "M down, N across, K the same everywhere.", "".join(body))


def squares_of(device, letter):
    """Rows of squares and the peers they have: of the run with most sizes, and of others what
    peers that one does not have."""
    runs = [(document, pair) for document in device.comparisons if not document.is_random
            for pair in sorted({row.transpose for row in rows_of(document, letter)})]
    runs.sort(key=lambda run: -sum(row.is_square for row in rows_of(run[0], letter, run[1])))
    rows, keys = [], []
    for document, pair in runs:
        if pair != runs[0][1] or "data" in document.part:
            continue
        new = [key for key in document.peers if key not in keys]
        for row in rows_of(document, letter, pair):
            row = copy.copy(row)
            row.rates = {key: rate for key, rate in row.rates.items() if key in new}
            rows.append(row)
        keys += new
    return rows, keys


def lines_section(device):
    figures, keys = [], {}
    for letter in PRECISIONS:
        drawn, shown = charts.lines(*squares_of(device, letter))
        figures.append(drawn)
        keys |= dict.fromkeys(shown)
    body = charts.legend(keys) + panels(figures) if any(figures) else ""
    return section("Over size", "Rates of squares. Dots beside a line are sizes that are no "
                   "multiples of 16.", body)


def other_section(device):
    """What is no comparison: as tables."""
    body = []
    for document in device.documents:
        if document.mode == "comparison":
            continue
        kind = {"first_result": "first", "host_overhead": "host"}.get(document.mode, document.mode)
        # A table for each shape, or that of errors would be too wide.
        several = bench_tables.shapes_of(document) if document.mode == "errors" else [None]
        for i, shape in enumerate(several):
            table = bench_tables.KINDS[kind]([document], {"shape": shape})
            if i == 0:
                body.append(f"<h4>{bench_data.MODES[document.mode]}</h4>\n"
                            f"<p>{escape(table.about)}</p>\n")
            body.append(html_table([plain(cell) for cell in table.head],
                                   [[plain(cell) for cell in row] for row in table.rows]))
    return "".join(["<h3>Beside speed</h3>\n", *body]) if body else ""


def figures_section(device):
    lines = ["<h3>All figures</h3>\n"]
    for document in device.comparisons:
        table = bench_tables.products(document)
        what = f"{about(document)}; {and_join([PRECISIONS[p][0] for p in document.precisions])}"
        lines += [f"<details><summary>{what}</summary>\n",
                  f"<p>{escape(table.about)} {escape(document.date)}; "
                  f"{escape(document.clock)}.<br><code>{escape(document.command)}</code></p>\n",
                  html_table([plain(cell) for cell in table.head],
                             [[plain(cell) for cell in row] for row in table.rows],
                             ' class="rows"'), "</details>\n"]
    return "".join(lines) if device.comparisons else ""


def page(devices, options):
    style = STYLE.read_text(encoding="ascii") + MORE_STYLE
    lines = ['<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
             '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
             f"<title>{escape(options.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n",
             answer(devices, options.title)]
    for device in devices:
        if len(devices) > 1:
            lines.append(f"<h2>{escape(device.name)}</h2>\n")
        lines += [strips_section(device), roofline_section(device, options), heat_section(device),
                  lines_section(device), other_section(device), figures_section(device)]
    return "".join([*lines, "</body>\n</html>\n"])


def read_peak(text):
    letter, _, value = text.partition("=")
    try:
        rate = float(value)
    except ValueError:
        rate = 0
    if letter.upper() not in PRECISIONS or not 0 < rate < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no peak: S=67 is 67 TFLOP/s in single")
    return letter.upper(), 1000 * rate


def read_bandwidth(text):
    try:
        rate = float(text)
    except ValueError:
        rate = 0
    if not 0 < rate < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no bandwidth in GB/s")
    return rate


def main():
    common.answer(__doc__)
    usage = __doc__.split("usage: ")[1].splitlines()[0]
    parser = argparse.ArgumentParser(add_help=False, usage=usage)
    parser.add_argument("files", nargs="+", metavar="BENCH.json")
    parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
    parser.add_argument("--title", default="Kiln and its peers")
    parser.add_argument("--peak", type=read_peak, action="append", default=[])
    parser.add_argument("--bandwidth", type=read_bandwidth)
    options = parser.parse_args()
    options.peak = dict(options.peak)
    try:
        devices = by_device([bench_data.load(path) for path in options.files])
        if len(devices) > 1 and (options.peak or options.bandwidth):
            raise BenchError("--peak and --bandwidth are of one device, the files of "
                             f"{len(devices)}: {'; '.join(device.name for device in devices)}")
        options.output.write_text(page(devices, options), encoding="utf-8")
    except BenchError as error:
        print(f"bench_page.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"bench_page.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
