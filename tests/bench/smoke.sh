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

"$bench" --shape 64x64x64 --rounds 1 --sample-ms 1 --json "$folder/bench.json"
"$python" -m json.tool "$folder/bench.json" > /dev/null
"$python" "$plot" "$folder/bench.json" "$folder/bench.svg"
"$python" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$folder/bench.svg"
