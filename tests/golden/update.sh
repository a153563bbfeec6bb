#!/bin/sh
# update.sh KILN_GEN: renders the list anew, after a change that was meant.
set -eu

[ $# -eq 1 ] || { echo "usage: update.sh KILN_GEN" >&2; exit 2; }
here=$(dirname "$0")
. "$here/render.sh"
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
render_list "$1" "$here/list" "$new"
rm -f "$here"/*.cl
cp "$new"/*.cl "$here"
