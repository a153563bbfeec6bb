#!/bin/sh
# test_archive.sh ARCHIVE [EXTRA_SYMBOL...]: what libkiln.a may hold and may ask for. A static
# library cannot hide symbols, so each one must carry the prefix; and a product without a file
# system or a console must be able to link it.
set -eu

[ $# -ge 1 ] || { echo "usage: $0 ARCHIVE [EXTRA_SYMBOL...]" >&2; exit 2; }
archive=$1
shift
extra_symbols=$*

max_archive_bytes=$((960 * 1024))
max_runtime_bytes=$((104 * 1024))

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-archive.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failures=0

# expect_none WHAT TEXT: TEXT lists offences and must be empty.
expect_none()
{
    if [ -z "$2" ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1:" >&2
        echo "$2" | sed 's/^/    /' >&2
        failures=$((failures + 1))
    fi
}

# expect_below WHAT BYTES LIMIT
expect_below()
{
    if [ "$2" -gt 0 ] && [ "$2" -lt "$3" ]; then
        echo "ok: $1: $2 bytes of $3"
    else
        echo "FAILED: $1: $2 bytes of $3" >&2
        failures=$((failures + 1))
    fi
}

# Debugging sections are no part of what a product links.
strip -g -o "$scratch/libkiln.a" "$archive"

defined=$(nm -g --defined-only "$scratch/libkiln.a" | awk 'NF == 3 { print $3 }' | sort -u)
[ -n "$defined" ] || { echo "FAILED: $archive defines nothing" >&2; exit 1; }
expect_none 'every global symbol starts with kiln_' "$(echo "$defined" | grep -v '^kiln_' || true)"

# Constant data that holds pointers lies in .data.rel.ro; anything else here could be written.
expect_none 'no writable data, no constructors' "$(size -A "$scratch/libkiln.a" | awk '
    $1 ~ /^\.data\.rel\.ro/ { next }
    $2 > 0 && ($1 ~ /^\.(data|bss|tdata|tbss|preinit_array|init_array|fini_array)(\.|$)/ ||
        $1 ~ /^\.(ctors|dtors|init|fini)(\.|$)/) { print $1, $2 }')"

# OpenCL, threads, memory and strings: the whole list, so that nothing else creeps in. Clang makes
# bcmp of memcmp.
allowed='^(kiln_.*|cl[A-Z].*|pthread_.*|(mem|str)[a-z]+|bcmp|malloc|calloc|realloc|free'
allowed="$allowed|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_"
for symbol in $extra_symbols; do
    allowed="$allowed|$symbol"
done
expect_none 'nothing is called beyond OpenCL, threads, memory and strings' \
    "$(nm -u "$scratch/libkiln.a" | awk '$1 == "U" { print $2 }' | sort -u \
        | grep -Ev "$allowed)\$" || true)"

expect_below 'the archive' "$(wc -c <"$scratch/libkiln.a")" "$max_archive_bytes"
expect_below 'the runtime: code, constants and data' "$(size "$scratch/libkiln.a" \
    | awk '$6 ~ /runtime_/ { bytes += $4 } END { print bytes + 0 }')" "$max_runtime_bytes"

[ "$failures" -eq 0 ]
