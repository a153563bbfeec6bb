#!/bin/sh
# test_lines.sh ROOT: no line of a source, document or template is longer than 100 columns. Left out
# are tables and marks of results in documents, what is generated (bundles), the tables of families,
# which are laid out by hand, templates of the literature, and meson_options.txt, where a text can
# not go on in another line.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 ROOT" >&2; exit 2; }
cd "$1"

# Prints the sources below the folders and files given.
sources() {
    find "$@" -type f \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.inc' -o -name '*.py' \
        -o -name '*.sh' -o -name '*.md' -o -name 'meson.build' -o -name '*.cl.in' \) | grep -vE \
        '^tuned/[^/]+/bundle\.c$|^generator/(kernels/.*\.c|literature/.*\.(c|cl\.in))$'
}

# Prints FILE:NUMBER:LINE of the lines that are too long; reads the files' names.
too_long() {
    LC_ALL=C.UTF-8 xargs grep -nE '.{101}' /dev/null |
        grep -vE '^[^:]*\.md:[0-9]+:(\||<!-- results: )' || true
}

found=$(sources README.md ADDING.md meson.build runtime generator clients scripts tests tuned |
    too_long)
[ -z "$found" ] || {
    printf '%s\n' "$found"
    echo "FAILED: longer than 100 columns" >&2
    exit 1
}

# The check must be able to fail.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-lines.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
hundred=$(printf '%0100d' 0)
printf '%s\n' "$hundred" "x$hundred" >"$scratch/one.sh"
printf '%s\n' "| $hundred" "$hundred." >"$scratch/two.md"
[ "$(sources "$scratch" | too_long | sed 's/.*\///; s/:[^:]*$//' | sort | tr '\n' ' ')" = \
    "one.sh:2 two.md:2 " ] || { echo "FAILED: long lines are not found" >&2; exit 1; }
