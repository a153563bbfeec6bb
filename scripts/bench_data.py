"""bench_data.py: what kiln-bench --json wrote, read and checked; ratios and their means.

A run of OpenBLAS with its own core type and one with the best that was tried count as one peer, the
faster of both at each shape, as they do in kiln-bench itself.
"""
import json
import math
import pathlib
import re
import shlex

FORMAT = "kiln-bench 2"

def _read_precisions():
    """By letter: name, bytes of an element, operations of a product and a sum."""
    text = (pathlib.Path(__file__).parents[1] / "runtime/precisions.inc").read_text()
    stored = dict(re.findall(r"^STORAGE\((\w+), (\d+),", text, re.M))
    row = r"^PRECISION\(\w+, \d+, (\w+), '(\w)', \"\w+\", (\w+), (\d),"
    there = {letter.upper(): (name.replace("_", " "), int(stored[storage]) * int(parts),
                              8 if parts == "2" else 2)
             for name, letter, storage, parts in re.findall(row, text, re.M) if name != "emulated"}
    return {letter: there[letter] for letter in sorted(there, key=f"SDH{''.join(there)}".index)}


PRECISIONS = _read_precisions()
TITLES = {"kiln": "Kiln", "kiln-packed": "Kiln, packed before", "kiln-emulated": "Kiln, emulated",
          "kiln-emulated-packed": "Kiln, emulated, packed before", "kiln-generic": "generic",
          "openblas": "OpenBLAS", "cublas": "cuBLAS", "clblast": "CLBlast"}
MODES = {"comparison": "a comparison", "errors": "errors", "triangles": "triangles",
         "first_result": "first results", "host_overhead": "host time"}
CALLS = ("product", "syrk", "symm")


class BenchError(Exception):
    """What is wrong with a file, for the one who named it."""


def is_ours(key):
    """Whether a peer is Kiln as it is meant to be called."""
    return key.startswith("kiln") and key != "kiln-generic"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def need(where, holder, key, kind):
    """A member that has to be there, and of what kind."""
    value = holder.get(key) if isinstance(holder, dict) else None
    if value is None:
        raise BenchError(f"{where} has no '{key}'")
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BenchError(f"{where}: '{key}' is not {'text' if kind is str else 'as expected'}")
    return value


def need_positive(where, holder, key):
    value = need(where, holder, key, (int, float))
    if not 0 < value < math.inf:
        raise BenchError(f"{where}: '{key}' is not above 0")
    return value


class Row:
    """One product of a comparison, and how fast each peer was."""

    def __init__(self, where, row):
        self.precision = need(where, row, "precision", str)
        self.transpose = need(where, row, "transpose", str).upper()
        if self.precision not in PRECISIONS:
            raise BenchError(f"{where}: no precision is called '{self.precision}'")
        if not re.fullmatch("[NT]{2}", self.transpose):
            raise BenchError(f"{where}: '{self.transpose}' are no transposes")
        self.m, self.n, self.k = (need_positive(where, row, extent) for extent in "mnk")
        self.group = row.get("group", "")
        self.loss = row.get("loss")
        self.kernel = row.get("kernel", "").split("kernel: ")[-1]
        self.rates = {}                # GFLOP/s, of those that were timed
        for key, result in need(where, row, "results", dict).items():
            if need(f"{where}, '{key}'", result, "outcome", str) == "timed":
                self.rates[key] = need_positive(f"{where}, '{key}'", result, "gflops")
        best = self.rates.pop("openblas-best", None)
        if best:
            self.rates["openblas"] = max(best, self.rates.get("openblas", 0))

    @property
    def is_square(self):
        return self.m == self.n == self.k

    @property
    def shape(self):
        """As a reader names it."""
        return f"{self.m} cubed" if self.is_square else f"{self.m} x {self.n} x {self.k}"

    @property
    def intensity(self):
        """Operations for each byte of A, B and C, each of which is moved once."""
        _, size, ops = PRECISIONS[self.precision]
        moved = size * (self.m * self.k + self.k * self.n + self.m * self.n)
        return ops * self.m * self.n * self.k / moved

    def ratio(self, ours, peer):
        """How many times as fast; None unless both were timed."""
        if ours in self.rates and peer in self.rates:
            return self.rates[ours] / self.rates[peer]
        return None


class Document:
    """A file of kiln-bench: a run of one of its modes."""

    def __init__(self, path, document):
        self.name = pathlib.Path(path).stem
        self.device = need("the file", document, "device", dict)
        self.device_name = need("the device", self.device, "name", str)
        self.driver = need("the device", self.device, "driver", str)
        self.date = need("the file", document, "date", str)[:10]
        self.arguments = need("the file", document, "arguments", list)
        self.bundle = self.device.get("bundle", "")
        self.bundle_hash = document.get("bundle_hash", "")
        self.note = document.get("note", "")
        self.mode = next((mode for mode in MODES if mode in document), None)
        if not self.mode:
            raise BenchError("holds nothing that kiln-bench measures")
        self.part = document[self.mode]
        self.peers = {}                # key: what it says of itself
        for peer in self.part.get("peers", []):
            self.peers[need("a peer", peer, "key", str)] = peer.get("detail", "")
        if "openblas-best" in self.peers:
            self.peers.setdefault("openblas", self.peers["openblas-best"])
            del self.peers["openblas-best"]
        self.rows = []
        if self.mode == "comparison":
            rows = need("the comparison", self.part, "rows", list)
            self.rows = [Row(f"row {i + 1}", row) for i, row in enumerate(rows)]
        elif self.mode in ("errors", "triangles"):
            self.rows = need(MODES[self.mode], self.part, "rows", list)
            check = check_errors if self.mode == "errors" else check_triangle
            for i, row in enumerate(self.rows):
                check(f"row {i + 1}", row)
        elif self.mode == "first_result":
            need("first results", self.part, "seconds", dict)
        else:
            need_positive("host time", self.part, "call_us")
        if self.mode in ("comparison", "errors", "triangles") and not self.rows:
            raise BenchError("holds no rows: nothing was measured")

    @property
    def precisions(self):
        there = {row.precision for row in self.rows}
        return [letter for letter in PRECISIONS if letter in there]

    @property
    def groups(self):
        return list(dict.fromkeys(row.group for row in self.rows if row.group))

    @property
    def pairs(self):
        """Kiln, as it was called, and whom it is measured against; those that met in a row."""
        ours = [key for key in self.peers if is_ours(key)]
        peers = [key for key in self.peers if not is_ours(key)]
        return [(our, peer) for our in ours for peer in peers
                if any(row.ratio(our, peer) for row in self.rows)]

    def ratios(self, ours, peer, **wanted):
        """Those of the rows that have what is wanted, as in group='deep'."""
        rows = [row for row in self.rows
                if all(getattr(row, name) == value for name, value in wanted.items())]
        return [ratio for row in rows if (ratio := row.ratio(ours, peer))]

    @property
    def is_random(self):
        return "random" in self.part

    @property
    def grid_k(self):
        """K of a grid; 0 where it is none."""
        is_grid = self.mode == "comparison" and {row.group for row in self.rows} == {"grid"}
        return self.rows[0].k if is_grid and len({row.k for row in self.rows}) == 1 else 0

    @property
    def what(self):
        """Which shapes, in few words."""
        num = len({(row.m, row.n, row.k, row.transpose) for row in self.rows})
        data = f" of data '{self.part['data']}'" if "data" in self.part else ""
        data += f"; {self.note}" if self.note else ""
        lists = [b for a, b in zip(self.arguments, self.arguments[1:]) if a == "--shapes"]
        if self.is_random:
            return f"{num} random shapes{data}"
        if self.grid_k:
            return f"a grid of M and N, K = {self.grid_k}{data}"
        if lists == ["batches"]:
            return f"{num} random batches{data}"
        if lists:
            return f"{num} shapes of {', '.join(lists)}{data}"
        shapes = list(dict.fromkeys(row.shape for row in self.rows))
        if len(shapes) > 3 and all(row.is_square for row in self.rows):
            sizes = [row.m for row in self.rows]
            return f"{len(shapes)} cubes of {min(sizes)} to {max(sizes)}{data}"
        told = ", ".join(shapes) if len(shapes) <= 3 else f"{len(shapes)} named shapes"
        pairs = sorted({row.transpose for row in self.rows})
        told += f", {', '.join(pairs)}" if pairs != ["NN"] and len(shapes) <= 3 else ""
        return f"{told}{data}"

    @property
    def command(self):
        """How to measure it again; where the file lay says nothing."""
        words = []
        skip = False
        for word in self.arguments:
            if not skip and word != "--json" and not word.startswith("--json="):
                words.append(word)
            skip = word == "--json"
        return shlex.join(["kiln-bench", *words])

    @property
    def clock(self):
        return "the device's clock" if self.part.get("clock") == "device" else "the wall clock"

    @property
    def versions(self):
        """Of the peers, as far as they tell."""
        told = []
        for key, detail in self.peers.items():
            if key == "cublas" and (match := re.search(r"version (\d+)", detail)):
                number = int(match[1])
                told.append(f"cuBLAS {number // 10000}.{number // 100 % 100}")
            elif key == "openblas" and (match := re.search(r"OpenBLAS (\S+)", detail)):
                core = re.search(r"core type (\S+)", detail)
                told.append(f"OpenBLAS {match[1]}" + (f" ({core[1]})" if core else ""))
            elif key == "clblast":
                told.append(f"CLBlast {detail}")
        return told


def check_errors(where, row):
    for key, kind in (("data", str), ("about", str), ("results", dict)):
        need(where, row, key, kind)
    for extent in "mnk":
        need_positive(where, row, extent)


def check_triangle(where, row):
    if need(where, row, "precision", str) not in PRECISIONS:
        raise BenchError(f"{where}: no precision is called '{row['precision']}'")
    need_positive(where, row, "n")
    for call in CALLS:
        result = need(where, need(where, row, "results", dict), call, dict)
        need_positive(f"{where}, '{call}'", result, "gflops")


def parse(path):
    """The JSON of a file, if it is of kiln-bench."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BenchError(f"{path}: is not text") from None
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BenchError(f"{path}: is not JSON: {error}") from None
    found = document.get("format") if isinstance(document, dict) else None
    if not isinstance(found, str) or not found.startswith("kiln-bench "):
        raise BenchError(f"{path}: is JSON, but not what kiln-bench --json writes")
    if found != FORMAT:
        raise BenchError(f"{path}: is of the format '{found}', and '{FORMAT}' is read")
    return document


def load(path):
    try:
        return Document(path, parse(path))
    except BenchError as error:
        text = str(error)
        raise BenchError(text if text.startswith(f"{path}: ") else f"{path}: {text}") from None
