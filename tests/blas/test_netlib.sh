#!/bin/sh
# test_netlib.sh LIBRARY TESTER INPUT ROUTINES [FALLBACK]: runs one of Debian's BLAS testers with
# the library preloaded; "-" is the one that the system has as libblas.so.3. Each of ROUTINES, by
# their names in the library, must have been served by Kiln.
# FALLBACK is the BLAS behind the library and the tester's own.
set -eu

[ $# -ge 4 ] || { echo "usage: $0 LIBRARY TESTER INPUT ROUTINES [FALLBACK]" >&2; exit 2; }
library=
[ "$1" = - ] || library=$(realpath "$1")
tester=$2
input=$3
routines=$4
if [ $# -gt 4 ]; then
    export KILN_BLAS_FALLBACK="$5" LD_LIBRARY_PATH="${5%/*}"
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-blas.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

status=0
LD_PRELOAD=$library "$tester" <"$input" >output 2>errors || status=$?
# The Fortran testers write their report to a file that the input names.
cat ./*.out >>output 2>/dev/null || true
cat output
! grep -q 'fallback, there is no device' errors || { echo "no OpenCL device" >&2; exit 77; }

[ "$status" -eq 0 ] || { echo "FAILED: the tester ended with status $status" >&2; exit 1; }
grep -q 'END OF TESTS' output || { echo "FAILED: the tester did not come to its end" >&2; exit 1; }
if grep -E 'FAIL|FATAL|SUSPECT|\*\*\*' output; then
    echo "FAILED: the tester complains" >&2
    exit 1
fi
for routine in $routines; do
    served=$(grep -c "^kiln-blas: $routine [0-9 ]*: Kiln, " errors || true)
    echo "$routine: Kiln served $served calls"
    [ "$served" -ge 100 ] || { echo "FAILED: $routine did not come to Kiln" >&2; exit 1; }
done
