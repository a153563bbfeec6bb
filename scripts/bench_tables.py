"""bench_tables.py: tables of what kiln-bench measured; results.py writes them into documents, and
bench_page.py onto its page.

To add a kind: a function that takes documents and options and gives a Table, and its row in KINDS.
"""
import dataclasses
import math
import re

from bench_data import CALLS, PRECISIONS, TITLES, BenchError, geometric_mean

TERA = 2000                            # GFLOP/s of the fastest from which rates are in TFLOP/s


@dataclasses.dataclass
class Table:
    """Text in every cell; the first column names the row, all others hold figures."""
    head: list
    rows: list
    about: str = ""                    # what the figures are


def ratio_text(ratio):
    if ratio is None:
        return ""
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"


def rate_text(rate, unit):
    """Three digits, and more only before the point."""
    if rate is None:
        return ""
    rate /= 1000 if unit == "TFLOP/s" else 1
    digits = max(0, 2 - math.floor(math.log10(rate)))
    return f"{rate:.{min(digits, 3)}f}"


def percent_text(part):
    return f"{100 * part:.1f} %" if part < 0.0995 else f"{100 * part:.0f} %"


def unit_of(rows):
    most = max((rate for row in rows for rate in row.rates.values()), default=0)
    return "TFLOP/s" if most >= TERA else "GFLOP/s"


def one(documents, mode):
    """The only document there may be."""
    if len(documents) != 1:
        raise BenchError(f"this table is of one file, not of {len(documents)}")
    return of_mode(documents[0], mode)


def of_mode(document, mode):
    if document.mode != mode:
        raise BenchError(f"{document.name}.json is of '{document.mode}', the table of '{mode}'")
    return document


def pairs_of(document, options):
    """Who is compared: all, unless the options say which."""
    pairs = [(ours, peer) for ours, peer in document.pairs
             if options.get("ours", ours) == ours and options.get("peer", peer) == peer]
    if not pairs:
        raise BenchError(f"{document.name}.json compares none of those that are asked for")
    return pairs


def versus(ours, peer):
    return f"{TITLES.get(ours, ours)} / {TITLES.get(peer, peer)}"


def classes(documents, options):
    """Geometric means of ratios by class of shape, the least, how many are under a threshold."""
    for document in documents:
        of_mode(document, "comparison")
    pairs = list(dict.fromkeys(pair for document in documents
                               for pair in pairs_of(document, options)))
    under = float(options.get("under", "0.65"))
    groups = list(dict.fromkeys(group for document in documents for group in document.groups))
    groups = groups if len(groups) > 1 else []
    rows = []
    for pair in pairs:
        for letter, document in by_precision(documents):
            every = document.ratios(*pair, precision=letter)
            if not every:
                continue
            means_of = [geometric_mean(document.ratios(*pair, precision=letter, group=group))
                        for group in groups]
            name = letter if len(pairs) == 1 else f"{letter}, {versus(*pair)}"
            rows.append([name, *map(ratio_text, means_of), ratio_text(geometric_mean(every)),
                         ratio_text(min(every)), str(sum(ratio < under for ratio in every))])
    what = versus(*pairs[0]) if len(pairs) == 1 else "Kiln over its peers"
    return Table(["", *groups, "all", "least", f"under {under:g}"], rows,
                 f"Geometric means of {what}, the least ratio, and how many are under {under:g}.")


def by_precision(documents):
    """Each precision of each document, in the order of all precisions."""
    found = [(letter, document) for document in documents for letter in document.precisions]
    return sorted(found, key=lambda item: list(PRECISIONS).index(item[0]))


def shapes(documents, options):
    """Every product: rates, and ratios."""
    document = one(documents, "comparison")
    wanted = options.get("precision", "").upper()
    found = [row for row in document.rows if row.precision in (wanted or row.precision)]
    keys = [key for key in document.peers if any(key in row.rates for row in found)]
    pairs = pairs_of(document, options)
    unit = unit_of(found)
    pairs_differ = len({row.transpose for row in found}) > 1
    rows = []
    for row in found:
        name = f"{row.precision} {row.shape}" + (f" {row.transpose}" if pairs_differ else "")
        rows.append([name, *(rate_text(row.rates.get(key), unit) for key in keys),
                     *(ratio_text(row.ratio(*pair)) for pair in pairs)])
    head = ["", *(TITLES.get(key, key) for key in keys), *(versus(*pair) for pair in pairs)]
    return Table(head, rows, f"Rates in {unit}, and ratios.")


def products(document):
    """Every product, for a page: one shape after the other, precisions and classes told."""
    keys = [key for key in document.peers if any(key in row.rates for row in document.rows)]
    pairs = document.pairs
    unit = unit_of(document.rows)
    rows = []
    for row in document.rows:
        name = f"{row.precision} {row.transpose} {row.m} × {row.n} × {row.k}"
        rows.append([name, row.group, *(rate_text(row.rates.get(key), unit) for key in keys),
                     *(ratio_text(row.ratio(*pair)) for pair in pairs)])
    head = ["", "class", *(TITLES.get(key, key) for key in keys),
            *(f"over {TITLES.get(peer, peer)}" if ours == "kiln" else versus(ours, peer)
              for ours, peer in pairs)]
    return Table(head, rows, f"Rates in {unit}, and ratios.")


def transposes(documents, options):
    """Ratios of each precision and shape, a column for each pair of transposes."""
    document = one(documents, "comparison")
    ours, peer = pairs_of(document, options)[0]
    columns = sorted({row.transpose for row in document.rows})
    cells = {(row.precision, row.shape, row.transpose): row.ratio(ours, peer)
             for row in document.rows}
    names = dict.fromkeys((row.precision, row.shape) for row in document.rows)
    rows = [[f"{letter} {shape}", *(ratio_text(cells.get((letter, shape, column)))
                                    for column in columns)] for letter, shape in names]
    return Table(["", *columns], rows, f"{versus(ours, peer)}.")


def sizes(documents, options):
    """Ratios of squares: a row for each that is compared, a column for each size."""
    document = one(documents, "comparison")
    found = [row for row in document.rows if row.is_square and row.transpose == "NN"]
    columns = sorted({row.m for row in found})
    rows = []
    for ours, peer in pairs_of(document, options):
        for letter in document.precisions:
            cells = {row.m: row.ratio(ours, peer) for row in found if row.precision == letter}
            rows.append([f"{letter}, {versus(ours, peer)}",
                         *(ratio_text(cells.get(size)) for size in columns)])
    return Table(["NN, cubed", *map(str, columns)], rows, "Ratios.")


def means(documents, options):
    """Geometric means of all ratios, by precision: a row for each device, peer and kind of shapes.
    Runs that have these in common and share no precision make one row."""
    letters = [letter for letter in PRECISIONS
               if any(letter in document.precisions for document in documents)]
    rows = []                          # of name, and ratio of each precision
    for document in documents:
        of_mode(document, "comparison")
        for ours, peer in pairs_of(document, options):
            if ours.endswith("packed"):
                continue               # not the whole of a call
            called = "" if ours == "kiln" else TITLES[ours].split(", ", 1)[-1] + "; "
            version = next((told for told in document.versions
                            if told.startswith(TITLES.get(peer, peer))), TITLES.get(peer, peer))
            name = f"{device_text(document)}; {called}{version}; {document.what}"
            ratios = {letter: geometric_mean(document.ratios(ours, peer, precision=letter))
                      for letter in document.precisions}
            before = next((held for told, held in rows
                           if told == name and not held.keys() & ratios.keys()), None)
            if before is None:
                rows.append((name, ratios))
            else:
                before.update(ratios)
    return Table(["device; peer; shapes", *letters],
                 [[name, *(ratio_text(held.get(letter)) for letter in letters)]
                  for name, held in rows], "Geometric means of ratios.")


def device_text(document):
    """The device, as short as it can be told."""
    name = document.device_name
    if name.startswith(("pthread-", "cpu-")):    # PoCL's own words before the processor's name
        name = re.sub("^(pthread|cpu)-[a-z0-9_.-]*-(?=[A-Z])", "", name)
        threads = document.device.get("host_threads", 0)
        name = f"{threads} cores of {name}, PoCL {document.driver.split('+')[0]}"
        if "pocl_affinity" in document.device:
            name += f", `POCL_AFFINITY={document.device['pocl_affinity']}`"
    return name.replace("(R)", "").replace("(TM)", "")


def losses(documents, _options):
    """What choosing loses, by class: the mean, the 95th percentile, the worst."""
    document = one(documents, "comparison")
    rows = []
    for letter, groups in document.part.get("losses", {}).items():
        for group, loss in groups.items():
            rows.append([f"{letter} {group}", str(loss["shapes"]), percent_text(loss["mean"]),
                         percent_text(loss["percentile_95"]), percent_text(loss["worst"])])
    if not rows:
        raise BenchError(f"{document.name}.json was measured without --best")
    return Table(["", "shapes", "mean", "of 95 %", "worst"], rows,
                 "How much longer the call takes than the fastest recipe of the bundle.")


def errors(documents, options):
    """The largest error and the mean of them, of each kind of data; a column for each result."""
    document = one(documents, "errors")
    without = options.get("without", "").split(",")
    keys = [key for key in ("chain", *document.peers) if key not in without
            and any(key in row["results"] for row in document.rows)]
    found = [shape for shape in shapes_of(document) if options.get("shape") in (None, shape)]
    cells = {(row["about"], shape_of(row), key): error_text(row["results"].get(key))
             for row in document.rows for key in keys}
    titles = {"chain": "FMAs"} | TITLES
    head = [found[0] if len(found) == 1 else "data"]
    for shape in found:
        names = [titles.get(key, key) for key in keys]
        head += [f"{shape}: {names[0]}", *names[1:]] if len(found) > 1 else names
    rows = [[about, *(cells.get((about, shape, key), "") for shape in found for key in keys)]
            for about in dict.fromkeys(row["about"] for row in document.rows)]
    return Table(head, rows, "The largest error and the mean one, in units of 2^-24 sum |a||b|"
                 + ("." if "chain" in without else "; FMAs: a chain of fused multiply-adds."))


def shapes_of(document):
    return list(dict.fromkeys(map(shape_of, document.rows)))


def shape_of(row):
    """Of a row of errors, as a reader names it."""
    m, n, k = row["m"], row["n"], row["k"]
    pair = row.get("transpose", "nn").upper()
    shape = f"{m} cubed" if m == n == k else f"{m} x {n} x {k}"
    return shape if pair == "NN" else f"{shape} {pair}"


def error_text(result):
    if not result:
        return ""
    told = f"{result['most']:.2g}, {result['mean']:.2g}" if "most" in result else "infinite"
    return told + (f"; {result['wrong']} wrong" if result.get("wrong") else "")


def triangles(documents, _options):
    """The rates of syrk and symm over that of a whole product."""
    document = one(documents, "triangles")
    letters = dict.fromkeys(row["precision"] for row in document.rows)
    cells = {}
    for row in document.rows:
        whole, syrk, symm = (row["results"][call]["gflops"] for call in CALLS)
        both = f"{ratio_text(syrk / whole)}; {ratio_text(symm / whole)}"
        cells[row["n"], row["precision"]] = both
    rows = [[str(n), *(cells.get((n, letter), "") for letter in letters)]
            for n in sorted({row["n"] for row in document.rows})]
    return Table(["syrk; symm", *letters], rows,
                 "The rate of a call over that of a whole product of the same size.")


def first(documents, _options):
    """Seconds until a fresh process has its first product: medians."""
    rows = []
    for document in documents:
        part = of_mode(document, "first_result").part
        for key, seconds in part["seconds"].items():
            kernels = f", kernels from {part['kiln_kernels']}" if key == "kiln" else ""
            rows.append([f"{device_text(document)}: {TITLES.get(key, key)}{kernels}",
                         f"{sorted(seconds)[len(seconds) // 2]:.2f}"])
    return Table(["", "seconds"], rows, "Time until the first product is known to be right.")


def host(documents, _options):
    """Microseconds that a warm call costs the host."""
    rows = []
    for document in documents:
        part = of_mode(document, "host_overhead").part
        rows.append([device_text(document), f"{part['call_us']:.1f}", f"{part['launch_us']:.1f}",
                     f"{part['beyond_us']:.1f}"])
    return Table(["microseconds", "a call", "a launch alone", "beyond it"], rows,
                 "What a warm call costs the host.")


KINDS = {"classes": classes, "shapes": shapes, "transposes": transposes, "sizes": sizes,
         "means": means, "losses": losses, "errors": errors, "triangles": triangles,
         "first": first, "host": host}
