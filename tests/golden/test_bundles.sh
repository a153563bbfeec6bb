#!/bin/sh
# test_bundles.sh KILN_GEN TUNED: every committed bundle.c is what its winners.tsv emits.
set -eu

kiln_gen=$1
tuned=$2
set --
for winners in "$tuned"/*/winners.tsv; do
    set -- "$@" "$(dirname "$winners")"
done
"$kiln_gen" check "$@"

# What else is committed as such rows can be read, if not all of it emitted: generic is joined of
# it.
for rows in "$tuned"/*/*.tsv; do
    if head -n 1 "$rows" | grep -q "^kiln-winners" &&
        ! error=$("$kiln_gen" emit "$rows" 2>&1 >/dev/null) &&
        ! echo "$error" | grep -q "illegal configuration"; then
        echo "$error" >&2
        exit 1
    fi
done
echo "$# bundles are what their winners emit"

# The check must be able to fail.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$1/winners.tsv" "$1/bundle.c" "$folder"
echo "/* edited */" >>"$folder/bundle.c"
if "$kiln_gen" check "$folder" 2>"$folder/error"; then
    echo "an edited bundle.c passed the check" >&2
    exit 1
fi
grep -q "is not what its winners.tsv emits" "$folder/error"
