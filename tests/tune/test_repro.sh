#!/bin/sh
# test_repro.sh KILN-TUNE CC: a reproducer compiles alone, says "ok" of a right kernel, and finds a
# wrong one. 77 without a device.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 KILN-TUNE CC" >&2; exit 2; }
kiln_tune=$(realpath "$1")
cc=$2

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-repro.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$kiln_tune" probe >probe.tsv 2>errors || {
    cat errors >&2
    grep -q "no OpenCL device" errors && exit 77
    exit 1
}

# check PRECISION TRANSPOSES CONFIG [SHAPE]
check() {
    "$kiln_tune" repro --precision "$1" --transpose "$2" --shape "${4:-50x45x37}" --stem found \
        "$3" >/dev/null
    $cc -std=c11 -Wall -Wextra -Werror found.c -o found -lOpenCL -lm
    ./found >output || { cat output >&2; echo "FAILED: $1 $2 $3" >&2; exit 1; }
    tail -1 output | grep -qx ok
}

for precision in half single; do
    for pair in nn nt tn tt; do
        check $precision $pair 'packed TM=4 NV=2 VEC=2'
    done
done
check single nn 'tiled WGM=4 WGN=4 KT=4'
for pair in nn tt; do # K is shared
    check single $pair 'tiled WGM=4 WGN=4 KT=4 FILL=8' 30x29x203
    check double $pair 'thin SIDE=1 SHORT=2 VEC=2 ROWS=2 KITEMS=4 INDEX=64 FILL=8' 50x2x403
done
check single tn 'direct'

# A term too few.
sed 's/k < K; k++/k < K - 1; k++/' found.cl >broken.cl
if cmp -s found.cl broken.cl; then
    echo "FAILED: the kernel has no loop to break" >&2
    exit 1
fi
mv broken.cl found.cl
status=0
./found >output || status=$?
cat output
[ $status -eq 1 ] && grep -q '^wrong: C' output
