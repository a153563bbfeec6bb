#!/usr/bin/env python3
"""Draws the comparison that kiln-bench wrote as JSON: one panel for each precision and transpose, a
group of bars for each shape, a bar for each peer. Needs nothing but Python.

usage: plot_bench.py BENCH.json [-o] PLOT.svg
"""

import json
import math
import sys
from xml.sax.saxutils import escape

import common

# Colour and name of each peer; the colours are distinct in hue and in lightness.
PEERS = {
    "kiln": ("#c2410c", "Kiln"),
    "kiln-generic": ("#fdba74", "Kiln, generic bundle"),
    "openblas": ("#93c5fd", "OpenBLAS, its own core type"),
    "openblas-best": ("#1d4ed8", "OpenBLAS, best core type"),
    "clblast": ("#9ca3af", "CLBlast"),
}
PRECISIONS = {"S": "SGEMM", "D": "DGEMM", "H": "HGEMM"}

BAR = 18                    # all in pixels
GROUP_GAP = 26
LEFT, RIGHT = 70, 30
TOP, LEGEND = 62, 34
PANEL, PANEL_GAP = 250, 74


def nice_step(top):
    """A distance between grid lines that gives four to ten of them up to top."""
    step = 10.0 ** math.floor(math.log10(top))
    for divisor in (5, 2, 1):
        if top / (step / divisor) <= 10:
            return step / divisor
    return step


def number(value):
    """A short number for a label."""
    if value < 0.01:
        return "< 0.01"
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def colour(peer):
    return PEERS.get(peer["key"], ("#10b981", ""))[0]


def name(peer):
    return PEERS.get(peer["key"], ("", peer["title"]))[1]


def text(x, y, content, size=12, anchor="middle", fill="#374151", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}"{extra}>{escape(content)}</text>')


def line(x1, y1, x2, y2, stroke):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{stroke}" stroke-width="1"/>')


def shape_label(row):
    if row["m"] == row["n"] == row["k"]:
        return [str(row["m"])]
    return [f'{row["m"]} x {row["n"]}', f'x {row["k"]}']


def panels_of(comparison):
    """The rows by precision and transposition, in the order of the file."""
    panels = {}
    for row in comparison["rows"]:
        panels.setdefault((row["precision"], row["transpose"]), []).append(row)
    return panels


def gflops(row, peer):
    """None when the peer was not timed."""
    return row["results"].get(peer["key"], {}).get("gflops")


def group_width(peers):
    return BAR * len(peers) + GROUP_GAP


def draw_grid(top, bottom, width):
    """Grid lines and their labels; gives the marks and the pixels of one GFLOP/s."""
    step = nice_step(top)
    scale = PANEL / (math.ceil(top / step) * step)
    marks = []
    for i in range(math.ceil(top / step) + 1):
        y = bottom - i * step * scale
        marks.append(line(LEFT, y, width - RIGHT, y, "#9ca3af" if i == 0 else "#e5e7eb"))
        marks.append(text(LEFT - 8, y + 4, f"{i * step:g}", 11, "end", "#6b7280"))
    return marks, scale


def draw_bar(x, bottom, value, scale, peer):
    """One bar, with its value above; a dash where the peer was not timed."""
    if value is None:
        return [text(x + BAR / 2, bottom - 4, "-", 11, fill="#6b7280")]
    height = value * scale
    top = bottom - height
    middle = x + BAR / 2 + 3.5
    return [f'<rect x="{x + 1:.1f}" y="{top:.1f}" width="{BAR - 2}" height="{height:.1f}" '
            f'fill="{colour(peer)}"><title>{escape(name(peer))}: {value:.2f} GFLOP/s</title>'
            f'</rect>',
            text(middle, top - 5, number(value), 9, "start",
                 extra=f' transform="rotate(-90 {middle:.1f} {top - 5:.1f})"')]


def draw_panel(key, rows, peers, y, width):
    """One panel whose upper edge is at y."""
    values = [v for row in rows for v in (gflops(row, p) for p in peers) if v is not None]
    bottom = y + PANEL
    # Room above the highest bar for its label.
    marks, scale = draw_grid(1.12 * max(values, default=1.0), bottom, width)
    precision, transpose = key
    marks.append(text(LEFT, y - 12, f"{PRECISIONS.get(precision, precision)}, {transpose}", 14,
                      "start", "#111827", ' font-weight="bold"'))
    marks.append(text(18, y + PANEL / 2, "GFLOP/s", 12,
                      extra=f' transform="rotate(-90 18 {y + PANEL / 2:.1f})"'))
    for i, row in enumerate(rows):
        x = LEFT + GROUP_GAP / 2 + i * group_width(peers)
        for j, peer in enumerate(peers):
            marks += draw_bar(x + j * BAR, bottom, gflops(row, peer), scale, peer)
        for k, part in enumerate(shape_label(row)):
            marks.append(text(x + BAR * len(peers) / 2, bottom + 18 + 14 * k, part))
    return marks


def draw_legend(peers, y):
    marks = []
    x = LEFT
    for peer in peers:
        marks.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" '
                     f'fill="{colour(peer)}"/>')
        marks.append(text(x + 18, y, name(peer), 12, "start"))
        x += 38 + 7 * len(name(peer))
    return marks


def draw(document):
    """The whole picture as SVG text."""
    comparison = document["comparison"]
    peers = comparison["peers"]
    panels = panels_of(comparison)
    most = max(len(rows) for rows in panels.values())
    width = max(820, LEFT + RIGHT + most * group_width(peers))
    height = TOP + LEGEND + len(panels) * (PANEL + PANEL_GAP)
    device = document["device"]

    marks = [
        text(LEFT, 26, "Kiln and its peers", 17, "start", "#111827", ' font-weight="bold"'),
        text(LEFT, 46, f'{device["name"]}; {device["platform"]} {device["driver"]}; '
             f'medians of {comparison["rounds"]} rounds', 11, "start", "#6b7280"),
    ]
    marks += draw_legend(peers, TOP + 10)
    for i, (key, rows) in enumerate(panels.items()):
        marks += draw_panel(key, rows, peers, TOP + LEGEND + 26 + i * (PANEL + PANEL_GAP), width)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
            + "\n".join(marks) + "\n</svg>\n")


def main():
    common.answer(__doc__)
    words = [word for word in sys.argv[1:] if word != "-o"]
    if len(words) != 2 or sys.argv[-1] == "-o":
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        sys.exit(2)
    source, target = words
    try:
        with open(source, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"{source}: {error}")
    if not document.get("comparison", {}).get("rows"):
        sys.exit(f"{source}: holds no comparison of kiln-bench")
    with open(target, "w", encoding="utf-8") as file:
        file.write(draw(document))


if __name__ == "__main__":
    main()
