#!/bin/sh
# test_netlib.sh SHIM TESTER INPUT ROUTINE: runs one of Debian's BLAS testers with the shim before
# the BLAS library, on the tester's own input with all routines but ROUTINE switched off.
set -eu

[ $# -eq 4 ] || { echo "usage: $0 SHIM TESTER INPUT ROUTINE" >&2; exit 2; }
shim=$(realpath "$1")
tester=$2
input=$3
routine=$4

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-netlib.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# The lines of routines are the ones with "PUT F FOR NO TEST".
sed "/PUT F FOR NO TEST/{/^$routine /!s/ T PUT/ F PUT/}" "$input" >tester.in
grep -q "^$routine .* T PUT" tester.in || { echo "FAILED: $input has no $routine" >&2; exit 1; }

status=0
LD_PRELOAD=$shim OPENBLAS_NUM_THREADS=1 "$tester" <tester.in >output 2>errors || status=$?
[ "$status" -ne 77 ] || { cat errors >&2; exit 77; }

# The Fortran testers write their report to a file that the input names.
cat ./*.out >>output 2>/dev/null || true
cat output errors

expect()
{
    grep -q "$routine  *$1" output || { echo "FAILED: not found: $routine $1" >&2; exit 1; }
}

[ "$status" -eq 0 ] || { echo "FAILED: the tester ended with status $status" >&2; exit 1; }
expect 'PASSED THE TESTS OF ERROR-EXITS'
case $routine in
    cblas_*)
        expect 'PASSED THE COLUMN-MAJOR COMPUTATIONAL TESTS'
        expect 'PASSED THE ROW-MAJOR  *COMPUTATIONAL TESTS' ;;
    *) expect 'PASSED THE COMPUTATIONAL TESTS' ;;
esac
grep -q 'END OF TESTS' output || { echo "FAILED: the tester did not come to its end" >&2; exit 1; }
if grep -E 'FAIL|FATAL|SUSPECT|\*\*\*' output; then
    echo "FAILED: the tester complains" >&2
    exit 1
fi
grep -q 'Kiln served [1-9]' errors || { echo "FAILED: the calls did not come to Kiln" >&2; exit 1; }
