#!/bin/sh
# test_order.sh library ARCHIVE
# test_order.sh generator CORE TUNER
#
# What source files may ask of each other. No file calls one that calls it in turn, by whatever way.
# Of the library, the planning core, which the generator shares, asks for nothing but itself and
# plain functions on memory. Of the generator, what is pure asks for nothing of the tuner.
set -eu

usage() {
    echo "usage: $0 library ARCHIVE, or $0 generator CORE TUNER" >&2
    exit 2
}

case ${1-}/$# in
    library/2) seen='gemm launch;launch prepare;prepare dispatch;dispatch plan' ;;
    generator/3) seen='core_select core_times;core_times core_fit;tune_phases tune_tuner' ;;
    *) usage ;;
esac
what=$1
shift

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-order.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failures=0

# "MEMBER T SYMBOL" for what a file defines, "MEMBER U SYMBOL" for what it asks for. Meson puts a
# folder's name before that of the source: of the library's files it goes.
nm -A -g "$@" | sed 's/^[^:]*:\([^:]*\):[0-9a-f ]* \([A-Za-z]\) /\1 \2 /
                     s/^[^ ]*\///
                     s/^\.\._//
                     s/^generator_//
                     s/\.c\.o / /' >"$scratch/symbols"
[ "$what" = generator ] ||
    sed -i 's/^[^ ]*_\([a-z0-9]*\) /\1 /' "$scratch/symbols"
awk '$2 != "U" { definer[$3] = $1 }
    $2 == "U" { num++; user[num] = $1; symbol[num] = $3 }
    END {
        for (i = 1; i <= num; i++)
            if (symbol[i] in definer && definer[symbol[i]] != user[i])
                print user[i], definer[symbol[i]]
    }' "$scratch/symbols" | sort -u >"$scratch/edges"

IFS=';'
for pair in $seen; do
    if ! grep -qx "$pair" "$scratch/edges"; then
        echo "FAILED: the call of one file by another is not seen: $pair" >&2
        failures=$((failures + 1))
    fi
done
unset IFS

if tsort "$scratch/edges" >"$scratch/order" 2>"$scratch/circles"; then
    echo "ok: no circle among $(wc -l <"$scratch/order") files"
else
    echo "FAILED: files call each other in a circle:" >&2
    sed 's/^/    /' "$scratch/circles" >&2
    failures=$((failures + 1))
fi

if [ "$what" = generator ]; then
    # The literature's commands, literature_literature, are the tuner's.
    if grep -v '^literature_literature ' "$scratch/edges" |
        grep -E '^(core|kernels|search|report|literature)_[^ ]* (kiln_)?tune' >&2; then
        echo "FAILED: what is pure calls the tuner" >&2
        failures=$((failures + 1))
    fi
    exit "$((failures > 0))"
fi

for file in plan predict rank; do
    foreign=$(awk -v file="$file" '$1 == file && $2 == "U" { print $3 }' "$scratch/symbols" |
        grep -Ev '^(kiln_.*|mem(chr|cpy|set)|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$' || true)
    callees=$(awk -v file="$file" '$1 == file { print $2 }' "$scratch/edges" |
        grep -Ev '^(plan|predict|rank)$' || true)
    if ! grep -q "^$file T " "$scratch/symbols"; then
        echo "FAILED: $file.c defines nothing" >&2
        failures=$((failures + 1))
    elif [ -n "$foreign$callees" ]; then
        echo "FAILED: $file.c is not pure: $foreign $callees" >&2
        failures=$((failures + 1))
    else
        echo "ok: $file.c is pure"
    fi
done
exit "$((failures > 0))"
