#!/bin/sh
# test_readmes.sh ROOT: the README of a folder names every source in it, without its ending.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 ROOT" >&2; exit 2; }

# Prints what the README of a folder does not name.
unnamed() {
    for source in "$1"/*.[ch] "$1"/*.inc "$1"/*.sh "$1"/*.py; do
        name=$(basename "$source")
        [ ! -e "$source" ] || grep -qw "${name%.*}" "$1/README.md" || echo "$source"
    done
}

failures=0
for folder in runtime generator/core generator/tune generator/report tests/bench tests/golden \
    tests/kernels tests/package tests/tune; do
    for source in $(unnamed "$1/$folder"); do
        echo "FAILED: $folder/README.md does not name $(basename "$source")" >&2
        failures=$((failures + 1))
    done
done

# The check must be able to fail.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-readmes.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
echo "Named: \`one.c\`, \`three\`." >"$scratch/README.md"
touch "$scratch/one.c" "$scratch/two.h" "$scratch/three.sh"
[ "$(unnamed "$scratch")" = "$scratch/two.h" ] || {
    echo "FAILED: a source that is not named is not found" >&2
    failures=$((failures + 1))
}
[ "$failures" -eq 0 ]
