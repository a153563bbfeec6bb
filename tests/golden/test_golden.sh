#!/bin/sh
# test_golden.sh KILN_GEN: renders the list anew and fails on any difference.
set -eu

here=$(dirname "$0")
. "$here/render.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

render_list "$1" "$here/list" "$folder"
mkdir "$folder/expected"
cp "$here"/*.cl "$folder/expected"
mkdir "$folder/found"
mv "$folder"/*.cl "$folder/found"
if ! diff -ru "$folder/expected" "$folder/found"; then
    echo "If that was meant: tests/golden/update.sh $1" >&2
    exit 1
fi
echo "$(find "$folder/found" -name '*.cl' | wc -l) kernels are as they were"
