"""bench_svg.py: plots as inline SVG. Marks name classes of generator/report/page.css, no colours.

A plot is as wide in its own units as a panel is in pixels at its narrowest, so that letters never
become smaller than they are written here.
"""
import math
from html import escape

WIDTH = 340
THIN = "&#8239;"                       # the narrow space between a number and its unit


class Axis:
    """From a value to a place along an axis, evenly or by logarithm."""

    def __init__(self, least, most, is_log):
        self.is_log = is_log
        self.least, self.most = least, most
        self.low, self.high = self.place(least), self.place(most)

    def place(self, value):
        return math.log2(value) if self.is_log else value

    def part(self, value):
        return (self.place(value) - self.low) / (self.high - self.low)

    def ticks(self, most):
        """Powers of two, or round numbers where the axis is even or short; `most` or fewer."""
        if self.is_log and self.high - self.low > 2:
            step = math.ceil((self.high - self.low) / most)
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            return [2.0 ** (i * step) for i in range(first, last + 1)]
        step = round_step(self.most - self.least, most)
        first = math.ceil(self.least / step - 1e-9)
        return [i * step for i in range(first, math.floor(self.most / step + 1e-9) + 1)]


def round_step(span, most):
    """1, 2 or 5 times a power of ten, so that no more than `most` fit."""
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw))
    return power * next(part for part in (1, 2, 5, 10) if raw <= part * power * (1 + 1e-9))


class Plot:
    """Marks, in the order in which they are drawn."""

    def __init__(self, title, about, height, margins, x, y):
        self.title, self.about, self.height = title, about, height
        self.top, self.right, self.bottom, self.left = margins
        self.axis_x, self.axis_y = x, y
        self.marks = []

    def x(self, value):
        return self.left + self.axis_x.part(value) * (WIDTH - self.left - self.right)

    def y(self, value):
        return self.height - self.bottom \
            - self.axis_y.part(value) * (self.height - self.top - self.bottom)

    def line(self, kind, x1, y1, x2, y2):
        self.marks.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                          f'y2="{y2:.1f}"/>')

    def text(self, kind, anchor, x, y, content, turn=0):
        """`content` is HTML already."""
        turned = f' transform="rotate({turn:.1f} {x:.1f} {y:.1f})"' if turn else ""
        self.marks.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" '
                          f'text-anchor="{anchor}"{turned}>{content}</text>')

    def dot(self, kind, x, y, radius, tip):
        self.marks.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
                          f'<title>{escape(tip)}</title></circle>')

    def path(self, kind, points):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.marks.append(f'<polyline class="{kind}" points="{at}"/>')

    def svg(self, kind="chart"):
        return (f'<svg class="{kind}" viewBox="0 0 {WIDTH} {self.height:g}" role="img">\n'
                f'<title>{escape(self.title)}</title>\n<desc>{escape(self.about)}</desc>\n'
                + "\n".join(self.marks) + "\n</svg>\n")


def figure(caption, svg):
    """`caption` is HTML already."""
    return f"<figure><figcaption>{caption}</figcaption>\n{svg}</figure>\n"


def legend(entries):
    """(class of its colour, name) of each."""
    items = "".join(f'<li><span class="swatch {kind}"></span>{escape(name)}</li>'
                    for kind, name in entries)
    return f'<ul class="legend">{items}</ul>\n'
