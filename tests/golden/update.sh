#!/bin/sh
# update.sh KILN_GEN: renders the list anew, after a change that was meant.
set -eu

[ $# -eq 1 ] || { echo "usage: update.sh KILN_GEN" >&2; exit 2; }
here=$(dirname "$0")
. "$here/render.sh"
rm -f "$here"/*.cl
render_list "$1" "$here/list" "$here"
