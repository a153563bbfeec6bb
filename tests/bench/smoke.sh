#!/bin/sh
# smoke.sh KILN-BENCH PYTHON PLOT: one tiny comparison with every peer there is; its JSON must parse
# and plot. Measures nothing that matters.
set -eu

bench=$1
python=$2
plot=$3
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
grep -q "none/bench.json" "$folder/error"
[ ! -s "$folder/report" ]

# Packed operands, of shapes that are packed anew.
"$bench" --shape 65x33x17 --shape 40x50x60 --peers kiln,kiln-packed --rounds 1 --sample-ms 1 \
    --precision s,h --transpose nn,tt > "$folder/packed"
grep -q "packed" "$folder/packed"

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

"$bench" --shape 64x64x64 --rounds 1 --sample-ms 1 --json "$folder/bench.json"
"$python" -m json.tool "$folder/bench.json" > /dev/null
"$python" "$plot" "$folder/bench.json" -o "$folder/bench.svg"
"$python" "$plot" "$folder/bench.json" "$folder/again.svg"
cmp "$folder/bench.svg" "$folder/again.svg"
"$python" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$folder/bench.svg"
