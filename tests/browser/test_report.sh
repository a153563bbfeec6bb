#!/bin/sh
# test_report.sh CHECK_PAGE KILN_TUNE KILN_GEN: the report of a short tuning, with and without what
# kiln-bench measured, is sound in a browser and begins with the answer. Skipped without a device.
set -eu

[ $# -eq 3 ] || { echo "usage: test_report.sh CHECK_PAGE KILN_TUNE KILN_GEN" >&2; exit 2; }
check_page=$1 kiln_tune=$2 kiln_gen=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-report.XXXXXX")
trap 'rm -rf "$dir"' EXIT

"$kiln_tune" probe >"$dir/facts" 2>"$dir/log" || { cat "$dir/log"; exit 77; }
"$kiln_tune" tune --output "$dir/tuned" --name local --quiet --precisions single --seconds 15 \
    >"$dir/log" 2>&1 || { tail -5 "$dir/log" >&2; exit 1; }
cat >"$dir/bench.json" <<'JSON'
{"format": "kiln-bench 2",
 "device": {"name": "a device", "platform": "a platform", "driver": "1", "host_threads": 2},
 "comparison": {"rounds": 1, "sample_seconds": 0.002, "clock": "wall",
  "peers": [{"key": "kiln", "title": "Kiln", "detail": ""},
            {"key": "openblas", "title": "OpenBLAS", "detail": "0.3"}],
  "rows": [{"precision": "S", "transpose": "nn", "m": 1000, "n": 1000, "k": 1000,
            "group": "large", "kernel": "", "ratios": {"kiln/openblas": 1.25}},
           {"precision": "S", "transpose": "tt", "m": 64, "n": 64, "k": 64,
            "group": "small", "kernel": "", "ratios": {"kiln/openblas": 0.5}}]}}
JSON
"$kiln_gen" report "$dir/tuned/journal.tsv" -o "$dir/report.html"
"$kiln_gen" report "$dir/tuned/journal.tsv" --bench "$dir/bench.json" -o "$dir/peers.html"
grep -q '<h2>Against its peers</h2>' "$dir/peers.html" || { echo "no peers" >&2; exit 1; }
grep -q 'OpenBLAS' "$dir/peers.html" || { echo "no OpenBLAS" >&2; exit 1; }
"$check_page" --first-screen '#answer' "$dir/report.html" "$dir/peers.html"
