#!/bin/sh
# test_literature.sh KILN_TUNE KILN_GEN: the table of the literature has a row for every preset.
set -eu

tune=$1 gen=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$tune" probe >"$dir/device.tsv" 2>"$dir/error" || {
    grep -q 'no OpenCL device' "$dir/error" && exit 77
    cat "$dir/error" >&2
    exit 1
}

"$tune" literature --quiet --size 64 >"$dir/table" || { cat "$dir/table" >&2; exit 1; }
"$gen" presets | grep -v '^ ' >"$dir/names"
while read -r name; do
    row=$(grep "^| $name " "$dir/table") || { echo "no row for $name" >&2; exit 1; }
    # Either it ran, or the row says why not.
    ran=$(echo "$row" | cut -d'|' -f6 | tr -d ' ')
    remark=$(echo "$row" | cut -d'|' -f8 | tr -d ' ')
    case $ran in
    [0-9]*) ;;
    *) [ -n "$remark" ] || { echo "$row: no reason" >&2; exit 1; } ;;
    esac
done <"$dir/names"
grep -q "^$(wc -l <"$dir/names") presets: .* ok" "$dir/table"

"$tune" literature --quiet --size 64 avx2 >"$dir/table"
grep -q '^| avx2 ' "$dir/table"
! grep -q '^| neon ' "$dir/table"

# expect STATUS PATTERN ARGUMENT...
expect()
{
    wanted=$1 pattern=$2 status=0
    shift 2
    "$tune" literature "$@" >"$dir/out" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -q -e "$pattern" "$dir/out"; then
        echo "literature $*: status $status, wanted $wanted and '$pattern'" >&2
        exit 1
    fi
}
expect 2 "no preset has 'no-such-preset' in its name" no-such-preset
expect 1 "no-such-device" --device no-such-device
expect 2 "size: '0' is not a number" --size 0
expect 2 "budget: '-1' is not a positive number" --budget -1
