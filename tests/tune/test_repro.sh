#!/bin/sh
# test_repro.sh KILN-TUNE CC: a reproducer compiles alone, says "ok" of a right kernel, and finds a
# wrong one; what it would load where the kernels are masked PTX. 77 without a device.
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
for pair in nn tt; do
    check complex_single $pair 'fused TM=4 NV=2 VEC=2'
    check complex_double $pair 'packed TM=4 NV=2 VEC=2'
    check complex_single $pair 'thin SIDE=0 SHORT=2 VEC=2 KITEMS=4 INDEX=64 FILL=8' 2x50x403
done
check complex_double tn 'tiled WGM=4 WGN=4 KT=4'
check single nn 'blockmajor BLKM=32 BLKN=32 KT=16 LAYOUT=1 IMAGEA=1' 64x64x64
if "$kiln_tune" repro --stem found mirror 2>errors || ! grep -q 'multiplies nothing' errors; then
    echo "FAILED: a program was made of what multiplies nothing" >&2
    exit 1
fi

# breaks WHAT SED-EXPRESSION MESSAGE: the kernel that was checked last, spoilt.
breaks() {
    sed "$2" found.cl >broken.cl
    if cmp -s found.cl broken.cl; then
        echo "FAILED: the kernel has no $1 to break" >&2
        exit 1
    fi
    mv broken.cl found.cl
    status=0
    ./found >output || status=$?
    cat output
    if [ $status -ne 1 ] || ! grep -q "^wrong: C$3 is" output; then
        echo "FAILED: $1 that is broken is not found" >&2
        exit 1
    fi
}

check complex_single nt 'direct'
breaks 'sign of imaginary parts' 's/? -1 : 1;/? 1 : -1;/' '.*, imaginary,'
check single tn 'direct'
breaks 'loop' 's/k < K; k++/k < K - 1; k++/' '.*'

# Masked PTX: what is loaded in its place.
"$kiln_tune" repro --stem found direct >/dev/null
sed -i 's/^enum { PTX = 0 };/enum { PTX = 90 };/' found.c
cat >unmask.c <<'END'
#define main run
#include "found.c"
#undef main

int main(void)
{
    static char text[1 << 12];
    fread(text, 1, sizeof text - 1, stdin);
    fputs(unmask(text), stdout);
}
END
$cc -std=c11 unmask.c -o unmask -lOpenCL -lm
cat >masked.ptx <<'END'
.target sm_90, texmode_independent
.entry one(.param .u32 x)
.reqntid 128, 1, 1
//@wgmma.fence.sync.aligned;
// a remark
setmaxnreg.dec.sync.aligned.u32 24;
END
cat >unmasked.ptx <<'END'
.target sm_90a, texmode_independent
.entry one(.param .u32 x)
.minnctapersm 1
.reqntid 128, 1, 1
wgmma.fence.sync.aligned;
// a remark
setmaxnreg.dec.sync.aligned.u32 24;
END
for text in masked unmasked; do
    ./unmask <$text.ptx >output
    diff unmasked.ptx output
done
