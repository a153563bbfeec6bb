#!/bin/sh
# smoke.sh KILN-BENCH PYTHON PAGE KILN-GEN: one tiny comparison with every peer there is; its JSON
# must parse, and the page of scripts/bench_page.py and the tuner's report take it. Measures nothing
# that matters.
set -eu

bench=$1
python=$2
page=$3
kiln_gen=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$bench" --help > "$folder/help"
"$bench" --list-peers
"$bench" --list-shapes > "$folder/shapes"
if "$bench" --shape 64x64 2> "$folder/error"; then
    echo "a bad shape was accepted" >&2
    exit 1
fi
if "$bench" --peers cublas --shape 8x8x8 2> "$folder/error"; then
    "$bench" --list-peers | grep -q "^cublas *there"
else
    grep -q "cublas" "$folder/error"
fi

# Where it cannot write it measures nothing.
if "$bench" --json "$folder/none/bench.json" > "$folder/report" 2> "$folder/error"; then
    echo "a path that cannot be written was accepted" >&2
    exit 1
fi
grep -q "none/bench.json: No such file or directory" "$folder/error"
[ ! -s "$folder/report" ]

# What is not measured leaves no file.
status=0
"$bench" --json "$folder/new.json" --peers kiln,nobody > "$folder/report" 2> "$folder/error" ||
    status=$?
if [ -e "$folder/new.json" ]; then
    echo "a file of nothing was left" >&2
    exit 1
fi
# And before a device is opened it shows that there is no such peer.
if [ "$status" -ne 2 ] || [ -s "$folder/report" ] ||
    ! grep -q "no peer 'nobody' is built in" "$folder/error"; then
    echo "a peer that is none: status $status" >&2
    exit 1
fi

# What names nothing is refused.
: > "$folder/empty"
for wrong in "--device" "--peers=" "--precision=" "--shapes-file=$folder/empty" "--shape="; do
    if "$bench" "$wrong" > "$folder/report" 2> "$folder/error"; then
        echo "'$wrong' was accepted" >&2
        exit 1
    fi
done

# Where there is no device it says what OpenCL answered.
if OCL_ICD_VENDORS="$folder/none" OPENCL_VENDOR_PATH="$folder/none" "$bench" --shape 8x8x8 \
    2> "$folder/error"; then
    echo "it measured on no device" >&2
    exit 1
fi
grep -q "no OpenCL device was found: clGetPlatformIDs gives status .* OCL_ICD_VENDORS" \
    "$folder/error"

# Packed operands, of shapes that are packed anew.
"$bench" --shape 65x33x17 --shape 40x50x60 --peers kiln,kiln-packed --rounds 1 --sample-ms 1 \
    --precision s,h --transpose nn,tt > "$folder/packed"
grep -q "packed" "$folder/packed"

# What is interrupted keeps what it has measured, and ends by the signal.
"$bench" --shape 48x48x48 --shape 64x64x64 --peers kiln --precision s --rounds 1000 \
    --sample-ms 10 --json "$folder/interrupted.json" > "$folder/interrupted" &
pid=$!
while ! grep -q "^S nn  *48 " "$folder/interrupted"; do
    kill -0 "$pid"
    sleep 0.2
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[ "$status" -eq 143 ]
grep -q "^interrupted: 1 problems" "$folder/interrupted"
"$python" -c '
import json, sys
comparison = json.load(open(sys.argv[1]))["comparison"]
assert comparison["interrupted"] and len(comparison["rows"]) == 1' "$folder/interrupted.json"

# Errors on data of every kind, also where emulation is allowed; data by name.
"$bench" --errors --shape 33x40x50 --transpose nn,tt --peers kiln,kiln-emulated \
    --json "$folder/errors.json" > "$folder/errors"
grep -q "nan: one NaN in B" "$folder/errors"
grep -q "kiln-emulated" "$folder/errors"
"$bench" --shape 65x33x17 --data powers --peers kiln,kiln-emulated,kiln-emulated-packed \
    --rounds 1 --sample-ms 1 --precision s > "$folder/data"
grep -q "em packed" "$folder/data"
if "$bench" --data none --shape 8x8x8 > "$folder/data" 2> "$folder/error"; then
    echo "data of no kind was accepted" >&2
    exit 1
fi
grep -q "no data 'none': uniform" "$folder/error"

# Every recipe of the bundle beside what is dispatched. kiln-gen finds them again in a bundle that
# is committed, and wants more shapes, or says that the bundle is not of this device alone.
"$bench" --best --shape 65x33x17 --peers kiln --rounds 1 --sample-ms 1 --precision s \
    --json "$folder/best.json" > "$folder/report"
bundle=$("$python" -c '
import json, sys
print(json.load(open(sys.argv[1]))["device"]["bundle"])' "$folder/best.json")
winners=$(dirname "$page")/../tuned/$bundle/winners.tsv
if [ -f "$winners" ]; then
    if "$kiln_gen" select "$winners" --bench "$folder/best.json" > "$folder/report" \
            2> "$folder/error"; then
        echo "one shape was enough to choose by" >&2
        exit 1
    fi
    grep -q -e "single: recipes of the bundle were timed at 1 shapes" -e "several kinds" \
        -e "the bundle is for .* was measured" "$folder/error"
fi

# Triangles, of square matrices alone.
"$bench" --triangles --shape 40x40x40 --shape 8x9x10 --precision s,c --rounds 2 --sample-ms 1 \
    --json "$folder/triangles.json" > "$folder/triangles"
[ "$(grep -c "^[SC]  *40 " "$folder/triangles")" -eq 2 ]

# What every mode's JSON says of its run; what is in that of these two modes.
"$bench" --host-overhead --json "$folder/host.json" > "$folder/report"
"$python" - "$folder" "$("$bench" --version)" <<'END'
import datetime, json, sys

def load(name):
    document = json.load(open(f"{sys.argv[1]}/{name}.json", encoding="utf-8"))
    assert document["format"] == "kiln-bench 2", document["format"]
    assert "kiln-bench " + document["version"] == sys.argv[2], document["version"]
    date = datetime.datetime.strptime(document["date"], "%Y-%m-%dT%H:%M:%SZ")
    assert abs(datetime.datetime.utcnow() - date) < datetime.timedelta(days=1), date
    assert f"{sys.argv[1]}/{name}.json" in document["arguments"], document["arguments"]
    device = document["device"]
    assert device["bundle"] and device["name"] and device["driver"], device
    return document

load("host")
errors = load("errors")["errors"]
assert [peer["key"] for peer in errors["peers"]] == ["kiln", "kiln-emulated"], errors["peers"]
assert {row["transpose"] for row in errors["rows"]} == {"nn", "tt"}
assert {(row["m"], row["n"], row["k"]) for row in errors["rows"]} == {(33, 40, 50)}
for row in errors["rows"]:
    assert set(row["results"]) == {"chain", "kiln", "kiln-emulated"}, row
    assert row["results"]["kiln"]["most"] >= row["results"]["kiln"]["mean"] >= 0, row
assert any(row["results"]["kiln"]["most"] > 0 for row in errors["rows"])
triangles = load("triangles")["triangles"]
assert [(row["precision"], row["n"]) for row in triangles["rows"]] == [("S", 40), ("C", 40)]
for row in triangles["rows"]:
    ops = (8 if row["precision"] == "C" else 2) * 40 ** 3
    for name, part in (("product", 1), ("syrk", 41 / 80), ("symm", 1)):
        result = row["results"][name]
        least, most = result["range_seconds"]
        assert 0 < least <= result["median_seconds"] <= most, result
        rate = 1e-9 * ops * part / result["median_seconds"]
        assert abs(result["gflops"] - rate) < 1e-4 * rate, result
END

# Shapes of a group and of none; both clocks.
printf '7 5 3\n' > "$folder/own"
"$bench" --shapes small --shapes-file "$folder/own" --shape 1x2x3 --peers kiln --rounds 1 \
    --sample-ms 1 --precision s --device-clock --json "$folder/bench.json" > "$folder/report"
grep -q "the device's clock" "$folder/report"
grep -q "the wall clock" "$folder/report"
"$python" - "$folder/bench.json" <<'END'
import json, sys

comparison = json.load(open(sys.argv[1], encoding="utf-8"))["comparison"]
assert comparison["clock"] == "device"
assert list(comparison["group_means"]["S"]) == ["small"], comparison["group_means"]
for row in comparison["rows"]:
    result = row["results"]["kiln"]
    assert result["seconds"][0] > 0 and result["wall_seconds"][0] > 0, result
END

# A shape of a file that names a precision and transposes is compared in these alone, unless others
# are asked for.
printf '8 7 6 half nt batch=3\n# none\n5x4x3 weight=2\n9 9 9 tn\n' > "$folder/own"
"$bench" --shapes-file "$folder/own" --peers kiln --rounds 1 --sample-ms 1 \
    --json "$folder/bench.json" > "$folder/report"
"$bench" --shapes-file "$folder/own" --peers kiln --rounds 1 --sample-ms 1 --precision s \
    --transpose nn --json "$folder/other.json" > "$folder/report"
"$python" - "$folder/bench.json" "$folder/other.json" <<'END'
import json, sys

def rows(path):
    rows = json.load(open(path, encoding="utf-8"))["comparison"]["rows"]
    return sorted((row["precision"], row["transpose"], row["m"]) for row in rows)

assert rows(sys.argv[1]) == [("D", "nn", 5), ("D", "tn", 9), ("H", "nt", 8), ("S", "nn", 5),
                             ("S", "tn", 9)], rows(sys.argv[1])
assert rows(sys.argv[2]) == [("S", "nn", m) for m in (5, 8, 9)], rows(sys.argv[2])
END
# Batches: rates count all members; what is drawn follows from the seed.
"$bench" --shapes batches --count 3 --seed 7 --precision s --rounds 1 --sample-ms 1 --best \
    --json "$folder/bench.json" > "$folder/report"
grep -q ' batch=' "$folder/report"
"$bench" --shapes batches --count 2 --seed 7 --precision s --rounds 1 --sample-ms 1 --peers kiln \
    --json "$folder/other.json" > "$folder/report"
"$python" - "$folder/bench.json" "$folder/other.json" <<'END'
import json, sys

one, two = (json.load(open(path, encoding="utf-8"))["comparison"]["rows"] for path in sys.argv[1:])
shapes = [[[row[key] for key in ("transpose", "m", "n", "k", "batch")] for row in rows]
          for rows in (one, two)]
assert len(one) == 3 and shapes[0][:2] == shapes[1], shapes
for row in one:
    operations = 2 * row["m"] * row["n"] * row["k"] * row["batch"]
    assert 3e7 <= operations <= 1.5e10 and row["batch"] > 1, row
    assert "gflops" in row["results"]["kiln"], row
    for result in row["results"].values():
        if "gflops" not in result:
            continue
        rate = operations / result["median_seconds"] * 1e-9
        assert abs(result["gflops"] / rate - 1) < 1e-3, row
END
printf '8 7 6 half double\n' > "$folder/own"
if "$bench" --shapes-file "$folder/own" > "$folder/report" 2> "$folder/error"; then
    echo "two precisions of one shape were accepted" >&2
    exit 1
fi
grep -q "own: line 1: more than one precision" "$folder/error"

# A grid of M and N for one K.
"$bench" --shapes grid --k 24 --largest 40 --peers kiln --rounds 1 --sample-ms 1 --precision s \
    --json "$folder/grid.json" > "$folder/report"
"$python" - "$folder/grid.json" <<'END'
import json, sys

rows = json.load(open(sys.argv[1], encoding="utf-8"))["comparison"]["rows"]
assert [(row["m"], row["n"], row["k"]) for row in rows] == [
    (m, n, 24) for m in (16, 32) for n in (16, 32)], rows
END

# Random shapes: the same for a seed, each with a pair of its own unless one is given; what is lost
# by choosing among the recipes of the bundle.
random="--shapes random --least-ops 1e4 --most-ops 1e6 --largest 128 --precision s --sample-ms 1"
for wrong in "--seed 2" "--shapes random --least-ops 1e3x" "--shapes random --most-ops 2e6 \
    --least-ops 1e6" "--shapes random --count 0" "--shapes goals --largest 64" \
    "--shape 8x8x8 --k 9" \
    "--shapes grid --seed 2" "--shapes batches --least-ops 1e4" "--shapes batches --data positive" \
    "--shapes batches --errors" "--shape 8x8x8 --best --peers kiln-packed" "--errors --best" \
    "--triangles --first-result"; do
    # shellcheck disable=SC2086
    if "$bench" $wrong > "$folder/report" 2> "$folder/error"; then
        echo "accepted: $wrong" >&2
        exit 1
    fi
    [ -s "$folder/error" ]
done
# shellcheck disable=SC2086
{
    "$bench" $random --count 6 --peers kiln --rounds 2 --best --json "$folder/one.json" \
        > "$folder/report"
    "$bench" $random --count 4 --peers kiln --rounds 1 --json "$folder/two.json" > /dev/null
    "$bench" $random --count 4 --peers kiln --rounds 1 --seed 2 --transpose tn \
        --json "$folder/three.json" > /dev/null
}
grep -q "lost by choosing" "$folder/report"
"$python" - "$folder" <<'END'
import json, sys

def comparison(name):
    return json.load(open(f"{sys.argv[1]}/{name}.json", encoding="utf-8"))["comparison"]

def shapes(rows):
    return [(row["m"], row["n"], row["k"], row["group"], row["transpose"]) for row in rows]

one, two, three = comparison("one"), comparison("two"), comparison("three")
assert len(one["rows"]) == 6 and one["random"]["seed"] == 1, one["random"]
assert shapes(one["rows"])[:4] == shapes(two["rows"])
assert shapes(one["rows"])[:4] != shapes(three["rows"])
assert len({row["transpose"] for row in one["rows"]}) > 1
assert {row["transpose"] for row in three["rows"]} == {"tn"}
assert set(one["group_means"]["S"]) == {"large", "medium", "small", "thin", "deep", "flat"}
for row in one["rows"]:
    timed = [recipe for recipe in row["recipes"] if recipe["outcome"] == "timed"]
    names = [recipe["name"] for recipe in timed]
    assert row["best"] in names and row["chosen"] in names, row
    assert all(len(recipe["seconds"]) == 2 for recipe in timed), row
    times = 1
    for found, judged in (0, 1), (1, 0):
        fastest = min(timed, key=lambda recipe: recipe["seconds"][found])
        if fastest["name"] != row["chosen"]:
            times *= row["results"]["kiln"]["seconds"][judged] / fastest["seconds"][judged]
    wanted = 0 if row["best"] == row["chosen"] else max(times ** 0.5 - 1, 0)
    assert abs(row["loss"] - wanted) < 1e-4 * times, row
losses = one["losses"]["S"]
assert losses["all"]["shapes"] == 6 and losses["deep"]["shapes"] == 1, losses
assert losses["all"]["worst"] == max(row["loss"] for row in one["rows"]), losses
assert "losses" not in two and "recipes" not in two["rows"][0]
END

"$bench" --shape 64x64x64 --rounds 1 --sample-ms 1 --json "$folder/bench.json"
"$python" -m json.tool "$folder/bench.json" > /dev/null
"$kiln_gen" report /dev/null --bench "$folder/bench.json" -o "$folder/report.html"
"$python" "$page" -o "$folder/bench.html" "$folder/bench.json" "$folder/one.json" \
    "$folder/grid.json" "$folder/errors.json" "$folder/triangles.json" "$folder/host.json"
grep -q "Over M and N" "$folder/bench.html"
grep -q "Beside speed" "$folder/bench.html"

# The page and the JSON have the same ratios: one of them is computed anew.
"$python" - "$(dirname "$page")" "$folder/bench.json" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import bench_data

rows = json.load(open(sys.argv[2], encoding="utf-8"))["comparison"]["rows"]
read = bench_data.load(sys.argv[2]).rows
assert len(rows) == len(read)
for told, row in zip(rows, read):
    for name, ratio in told["ratios"].items():
        ours, peer = name.split("/")
        mine = row.ratio(ours, peer.replace("openblas-best", "openblas"))
        assert abs(mine / ratio - 1) < 1e-4, (name, ratio, mine)
END
