#!/bin/sh
# test_exports.sh LIBRARY HEADER: the shared library exports what the header declares, all of it
# and nothing else.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 LIBRARY HEADER" >&2; exit 2; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-exports.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

nm -D --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u >"$scratch/exported"
sed -n 's/^KILN_API .*\(kiln_[a-z_]*\)(.*/\1/p' "$2" | sort -u >"$scratch/declared"
[ -s "$scratch/declared" ] || { echo "FAILED: no KILN_API function found in $2" >&2; exit 1; }

if ! diff -u "$scratch/declared" "$scratch/exported"; then
    echo "FAILED: $1 (+) does not export what $2 (-) declares" >&2
    exit 1
fi
echo "ok: $(wc -l <"$scratch/exported") functions, as declared"
