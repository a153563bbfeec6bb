#!/bin/sh
# test_hpl.sh LIBRARY [N]: HPL of Debian's hpcc, of N equations (6000) in one process, with the BLAS
# that is there and with the library preloaded. Its residuals must pass, and Kiln must have served
# its large products. The speeds are printed, and decide nothing.
set -eu

[ $# -ge 1 ] || { echo "usage: $0 LIBRARY [N]" >&2; exit 2; }
library=$(realpath "$1")
n=${2:-6000}
example=/usr/share/doc/hpcc/examples/_hpccinf.txt
[ -f "$example" ] || { echo "hpcc is missing" >&2; exit 77; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-hpl.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

# hpl NAME [VARIABLE=VALUE...]: in a folder of that name.
hpl()
{
    name=$1
    shift
    mkdir "$name"
    sed -e "s/^1000  /$n  /" -e 's/^80  /192  /' -e 's/^2\( *[PQ]s\)/1\1/' "$example" \
        >"$name/hpccinf.txt"
    (cd "$name" && env OPENBLAS_THREAD_TIMEOUT=4 POCL_AFFINITY=1 "$@" hpcc >said 2>&1) ||
        { tail -n 20 "$name/said" >&2; die "$name: hpcc"; }
    ! grep -q 'there is no device' "$name/said" || { echo "no OpenCL device" >&2; exit 77; }
    grep -E '^WR|\.\.\. *(PASSED|FAILED)' "$name/hpccoutf.txt" | sed "s/^/$name: /"
    grep -q "^WR.* $n  *192 " "$name/hpccoutf.txt" || die "$name: no $n equations were solved"
    grep -q '\.\.\. *PASSED' "$name/hpccoutf.txt" || die "$name: no residual passed"
    ! grep -q '\.\.\. *FAILED' "$name/hpccoutf.txt" || die "$name: a residual is too large"
}

hpl without
hpl kiln LD_PRELOAD="$library" KILN_BLAS_VERBOSE=1
served=$(grep -c '^kiln-blas: .*: Kiln, ' kiln/said || true)
echo "Kiln served $served calls"
[ "$served" -ge $((n / 192 / 2)) ] || die "its products did not come to Kiln"
