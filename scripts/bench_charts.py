"""bench_charts.py: the pictures of what kiln-bench measured.

Each function takes rows of one precision and gives a figure, or nothing where there is too little
to draw. To add a picture: a function here, and its call in bench_page.py.
"""
import math
from html import escape

import bench_svg
from bench_data import PRECISIONS, TITLES, geometric_mean, is_ours
from bench_svg import THIN, WIDTH, Axis, Plot, figure
from bench_tables import rate_text, ratio_text, versus

COLOURS = {"kiln": "c0", "kiln-packed": "c4", "kiln-emulated": "c6", "kiln-emulated-packed": "c3",
           "kiln-generic": "c5", "cublas": "c1", "openblas": "c1", "clblast": "c2"}
EVEN = 16
LEAST_SIZES = 3                        # from which a line is drawn


def colour(key):
    return COLOURS.get(key, "c7")


def name_of(letter):
    return PRECISIONS[letter][0]


def unit_for(rate):
    return "TFLOP/s" if rate >= 2000 else "GFLOP/s"


def tip_of(row, value):
    return f"{row.m} × {row.n} × {row.k} {row.transpose}: {value}"


def tick_text(value):
    """Short, and without powers of ten."""
    if value < 0.2:
        return f"1/{1 / value:.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


# ---- Ratios by class of shape ----

def ratio_axis(ratios):
    """So wide that 1 is within, and some place beside it."""
    return Axis(min(0.85, *ratios) / 1.04, max(1.18, *ratios) * 1.04, True)


def ratio_ticks(plot, axis, bottom):
    ticks = axis.ticks(6)
    if 1 not in ticks:
        ticks.append(1)
    for tick in ticks:
        x = plot.x(tick)
        plot.line("one" if tick == 1 else "grid", x, plot.top, x, bottom)
        plot.text("tick", "middle", x, bottom + 14, tick_text(tick))


def strip(rows, ours, peer, axis):
    """A dot for each shape, a line of dots for each class; the bar is the geometric mean."""
    timed = [row for row in rows if row.ratio(ours, peer)]
    groups = list(dict.fromkeys(row.group for row in timed if row.group))
    groups = groups if len(groups) > 1 else []
    lines = [(group, [row for row in timed if row.group == group]) for group in groups]
    lines.append(("all", timed))
    if not timed:
        return ""
    letter = timed[0].precision
    height = 6 + 22 * len(lines) + 36
    title = f"{versus(ours, peer)}, {name_of(letter)}, by class of shape"
    told = "; ".join(f"{group} {ratio_text(mean_of(some, ours, peer))}" for group, some in lines)
    plot = Plot(title, f"Geometric means: {told}.", height, (6, 46, 36, 62), axis, None)
    bottom = height - plot.bottom
    ratio_ticks(plot, axis, bottom)
    for i, (group, some) in enumerate(lines):
        y = 6 + 22 * (i + 0.5)
        is_all = group == "all"
        kind = "name all" if is_all else "name"
        plot.text(kind, "end", plot.left - 8, y + 4, escape(group))
        plot.line("grid", plot.left, y, WIDTH - plot.right, y)
        for k, row in enumerate(some):
            ratio = row.ratio(ours, peer)
            plot.dot("dot", plot.x(ratio), y + (0 if is_all else k % 3 * 3 - 3), 2 if is_all else 3,
                     tip_of(row, ratio_text(ratio)))
        mean = mean_of(some, ours, peer)
        plot.line("best", plot.x(mean), y - 8, plot.x(mean), y + 8)
        plot.text(kind, "end", WIDTH, y + 4, ratio_text(mean))
    plot.text("label", "start", plot.left, height - 5, "times as fast; right of 1 is faster")
    plot.text("label", "end", WIDTH, height - 5, "mean")
    return figure(f"<b>{name_of(letter)}</b>, {len(timed)} shapes", plot.svg())


def mean_of(rows, ours, peer):
    return geometric_mean([row.ratio(ours, peer) for row in rows])


# ---- Roofline ----

class Roof:
    """What no product can be above: a rate, and bytes a second times operations for each byte."""

    def __init__(self, points, peak, bandwidth):
        """In GFLOP/s and GB/s; what is None is the best of the points."""
        self.peak = peak or max(rate for _, _, rate in points)
        self.bandwidth = bandwidth or max(rate / row.intensity for row, _, rate in points)
        self.is_seen = (not peak, not bandwidth)

    def at(self, intensity):
        return min(self.peak, self.bandwidth * intensity)

    def told(self):
        seen = ["the best seen" if seen else "given" for seen in self.is_seen]
        unit = unit_for(self.peak)
        rate, moved = f"{rate_text(self.peak, unit)} {unit}", bytes_text(self.bandwidth)
        if seen[0] == seen[1]:
            return f"{rate}, {moved}, {seen[0]}"
        return f"{rate} ({seen[0]}), {moved} ({seen[1]})"


def bytes_text(rate):
    return f"{rate / 1000:.3g} TB/s" if rate >= 1000 else f"{rate:.3g} GB/s"


def roofline(rows, peak, bandwidth):
    """Operations for each byte against the rate, both by logarithm; Kiln's dots on top. A product
    of singles that was computed of halves is left out: it may be above the roof."""
    points = [(row, key, rate) for row in rows for key, rate in row.rates.items()
              if "emulated" not in key]
    points.sort(key=lambda point: is_ours(point[1]))
    if len({row.intensity for row, _, _ in points}) < LEAST_SIZES:
        return "", []
    roof = Roof(points, peak, bandwidth)
    letter = rows[0].precision
    intensities = [row.intensity for row, _, _ in points]
    rates = [rate for _, _, rate in points]
    x = Axis(min(intensities) / 1.15, max(max(intensities), 2 * roof.peak / roof.bandwidth) * 1.15,
             True)
    y = Axis(max(min(rates), 1e-5 * roof.peak) / 1.3, max(roof.peak, *rates) * 1.7, True)
    plot = Plot(f"Roofline, {name_of(letter)}",
                f"Rates of {len(points)} products over operations for each byte. "
                f"The roof: {roof.told()}.", 256, (22, 16, 38, 44), x, y)
    unit = unit_for(roof.peak)
    for tick in x.ticks(7):
        plot.line("grid", plot.x(tick), plot.top, plot.x(tick), plot.height - plot.bottom)
        plot.text("tick", "middle", plot.x(tick), plot.height - plot.bottom + 14, tick_text(tick))
    for tick in decades(y):
        plot.line("grid", plot.left, plot.y(tick), WIDTH - plot.right, plot.y(tick))
        shown = tick / (1000 if unit == "TFLOP/s" else 1)
        plot.text("tick", "end", plot.left - 5, plot.y(tick) + 4, f"{shown:g}")
    plot.text("label", "start", 0, 12, unit)
    plot.text("label", "end", WIDTH - plot.right, plot.height - 5, "operations for each byte moved")
    for row, key, rate in points:
        plot.dot(f"point {colour(key)}", plot.x(row.intensity), plot.y(max(rate, y.least)), 2.4,
                 tip_of(row, f"{TITLES.get(key, key)} {rate_text(rate, unit)} {unit}"))
    draw_roof(plot, roof, unit)
    caption = f"<b>{name_of(letter)}</b>; roof: {escape(roof.told())}"
    return figure(caption, plot.svg()), list(dict.fromkeys(key for _, key, _ in points))


def decades(axis):
    """Powers of ten, and where these are few 2 and 5 times them."""
    low, high = math.floor(math.log10(axis.least)), math.ceil(math.log10(axis.most))
    parts = (1,) if high - low > 3 else (1, 2, 5)
    every = [part * 10.0 ** i for i in range(low, high + 1) for part in parts]
    return [tick for tick in every if axis.least <= tick <= axis.most]


def draw_roof(plot, roof, unit):
    axis = plot.axis_x
    ridge = roof.peak / roof.bandwidth
    begin = max(axis.least, plot.axis_y.least / roof.bandwidth)
    points = [(begin, roof.at(begin)), (ridge, roof.peak), (axis.most, roof.peak)]
    points = [point for point in points if axis.least <= point[0]]
    plot.path("roof", [(plot.x(x), plot.y(y)) for x, y in points])
    plot.text("name", "end", WIDTH - plot.right, plot.y(roof.peak) - 5,
              f"{rate_text(roof.peak, unit)}{THIN}{unit}")
    (x1, y1), (x2, y2) = [(plot.x(x), plot.y(roof.bandwidth * x)) for x in (begin, ridge)]
    if math.hypot(x2 - x1, y2 - y1) > 110:
        turn = math.degrees(math.atan2(y2 - y1, x2 - x1))
        middle_x, middle_y = x1 + 0.42 * (x2 - x1), y1 + 0.42 * (y2 - y1)
        up = math.radians(turn - 90)
        plot.text("name", "middle", middle_x + 5 * math.cos(up), middle_y + 5 * math.sin(up),
                  escape(bytes_text(roof.bandwidth)), turn)


# ---- Heat map ----

def heat(rows, ours, peer):
    """Ratios over M and N; where there is no peer, rates."""
    cells = {}
    for row in rows:
        value = row.ratio(ours, peer) if peer else row.rates.get(ours)
        if value:
            cells[row.m, row.n] = value
    down, across = (sorted({cell[i] for cell in cells}) for i in (0, 1))
    if len(down) < 2 or len(across) < 2:
        return ""
    letter, k = rows[0].precision, rows[0].k
    side = (WIDTH - 40) / len(across)
    tall = min(side, 30)
    height = 22 + tall * len(down) + (40 if peer else 4)
    unit = unit_for(max(cells.values()))
    what = versus(ours, peer) if peer else f"{TITLES.get(ours, ours)}, {unit}"
    title = f"{what}, {name_of(letter)}, over M and N for K = {k}"
    plot = Plot(title, told_of(cells, peer, unit), height, (22, 0, 40, 40), None, None)
    plot.text("label", "end", 34, 12, "M \\ N")
    for j, n in enumerate(across):
        plot.text("tick", "middle", 40 + side * (j + 0.5), 12, short(n))
    most = max(cells.values())
    for i, m in enumerate(down):
        y = 22 + tall * i
        plot.text("tick", "end", 34, y + tall / 2 + 4, short(m))
        for j, n in enumerate(across):
            if (m, n) in cells:
                value = cells[m, n]
                text = ratio_text(value) if peer else rate_text(value, unit)
                kind, depth = shade(value) if peer else ("c0", 0.05 + 0.5 * value / most)
                plot.marks.append(cell_mark(40 + side * j, y, side, tall, kind, depth,
                                            f"{m} × {n} × {k}: {text}"))
                plot.text("cell", "middle", 40 + side * (j + 0.5), y + tall / 2 + 3.5,
                          short_ratio(value) if peer else rate_text(value, unit))
    if peer:
        draw_scale(plot, 22 + tall * len(down) + 12)
    pair = rows[0].transpose
    return figure(f"<b>{name_of(letter)}</b>, {pair}, K = {k}", plot.svg())


def cell_mark(x, y, width, height, kind, depth, tip):
    return (f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width - 1:.1f}" '
            f'height="{height - 1:.1f}" fill-opacity="{depth:.2f}"><title>{escape(tip)}</title>'
            '</rect>')


def shade(ratio):
    """Colour and its depth: the deepest is for twice and for half as fast."""
    return ("c0" if ratio >= 1 else "c1"), 0.55 * min(1, abs(math.log2(ratio)))


def short(extent):
    return f"{extent // 1024}K" if extent >= 1024 and extent % 1024 == 0 else str(extent)


def short_ratio(ratio):
    """Three letters or four, so that it fits into a cell."""
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 1.995 else f"{ratio:.2f}"


def told_of(cells, peer, unit):
    values = sorted(cells.values())
    if not peer:
        return f"From {rate_text(values[0], unit)} to {rate_text(values[-1], unit)} {unit}."
    return (f"From {ratio_text(values[0])} to {ratio_text(values[-1])}, "
            f"{ratio_text(geometric_mean(values))} in the geometric mean; "
            f"{sum(value >= 1 for value in values)} of {len(values)} are at least 1.")


def draw_scale(plot, y):
    """What the colours say, with words at both ends."""
    steps = [0.5, 0.71, 0.84, 1, 1.19, 1.41, 2]
    left, width = 40 + 45, (WIDTH - 40 - 90) / len(steps)
    plot.text("tick", "start", 40, y + 9, "slower")
    plot.text("tick", "end", WIDTH, y + 9, "faster")
    for i, step in enumerate(steps):
        kind, depth = shade(step)
        plot.marks.append(cell_mark(left + width * i, y, width, 10, kind, depth, f"{step:g}"))
        plot.text("tick", "middle", left + width * (i + 0.5), y + 23, f"{step:g}")


# ---- Lines over size ----

def lines(rows, keys):
    """Rates of squares over their size, a line for each peer. Sizes that are no multiples of EVEN
    are dots beside the line: a line would zigzag from 2048 to 2049."""
    rows = sorted((row for row in rows if row.is_square), key=lambda row: row.m)
    sizes = sorted({row.m for row in rows})
    keys = [key for key in keys if sum(key in row.rates for row in rows) >= LEAST_SIZES]
    if len(sizes) < LEAST_SIZES or not keys:
        return "", []
    letter = rows[0].precision
    most = max(rate for row in rows for rate in row.rates.values())
    unit = unit_for(most)
    by = 1000 if unit == "TFLOP/s" else 1
    best = {key: max(row.rates.get(key, 0) for row in rows) for key in keys}
    told = ", ".join(f"{TITLES.get(key, key)} {rate_text(best[key], unit)}" for key in keys)
    plot = Plot(f"Rates of squares, {name_of(letter)}, {rows[0].transpose}",
                f"At most, in {unit}: {told}.", 224, (22, 16, 38, 40),
                Axis(sizes[0] / 1.08, sizes[-1] * 1.08, True), Axis(0, 1.05 * most / by, False))
    bottom = plot.height - plot.bottom
    for tick in plot.axis_x.ticks(8):
        plot.line("grid", plot.x(tick), plot.top, plot.x(tick), bottom)
        plot.text("tick", "middle", plot.x(tick), bottom + 14, tick_text(tick))
    for tick in plot.axis_y.ticks(5):
        plot.line("grid", plot.left, plot.y(tick), WIDTH - plot.right, plot.y(tick))
        plot.text("tick", "end", plot.left - 5, plot.y(tick) + 4, f"{tick:g}")
    plot.text("label", "start", 0, 12, unit)
    plot.text("label", "end", WIDTH - plot.right, plot.height - 5, "M = N = K")
    for key in sorted(keys, key=is_ours):
        timed = [(row, row.rates[key] / by) for row in rows if key in row.rates]
        even = [pair for pair in timed if pair[0].m % EVEN == 0]
        even = even if len(even) >= LEAST_SIZES else timed
        plot.path(f"curve {colour(key)}", [(plot.x(row.m), plot.y(rate)) for row, rate in even])
        for row, rate in timed:
            plot.dot(f"point {colour(key)}", plot.x(row.m), plot.y(rate), 2.6,
                     f"{row.m} cubed: {TITLES.get(key, key)} {rate_text(rate * by, unit)} {unit}")
    return figure(f"<b>{name_of(letter)}</b>, {rows[0].transpose}", plot.svg()), keys


def legend(keys):
    return bench_svg.legend([(colour(key), TITLES.get(key, key)) for key in keys])
