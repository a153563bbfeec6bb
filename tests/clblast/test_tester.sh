#!/bin/sh
# test_tester.sh LIBRARY HALF_DEVICE TESTER [oclgrind]: runs one of CLBlast's testers (Debian:
# clblast-tests) with the library preloaded, in each precision, on the first device, or in Oclgrind.
# No test may fail, and Kiln must have served what passed: nothing goes to CLBlast.
# HALF_DEVICE is made of half_device.c.
set -eu

[ $# -ge 3 ] || { echo "usage: $0 LIBRARY HALF_DEVICE TESTER [oclgrind]" >&2; exit 2; }
library=$(realpath "$1")
half_device=$(realpath "$2")
tester=$3
command -v "$tester" >/dev/null ||
    { echo "$tester is missing (Debian: clblast-tests)" >&2; exit 77; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-clblast.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

run=
if [ "${4-}" = oclgrind ]; then
    run=oclgrind
    command -v $run >/dev/null || { echo "$run is missing" >&2; exit 77; }
fi
# Meson names the folder of half_device.so here, where a fake CLBlast is, too.
LD_LIBRARY_PATH=$(echo "${LD_LIBRARY_PATH-}" | tr : '\n' |
    grep -Fxv "$(dirname "$half_device")" | paste -sd : -) || true
export LD_LIBRARY_PATH
status=0
# Oclgrind preloads its OpenCL, which half_device.so goes before.
KILN_CLBLAST_VERBOSE=1 $run sh -c \
    'LD_PRELOAD="$1 $2 ${LD_PRELOAD-}" exec "$3" -platform 0 -device 0' \
    sh "$half_device" "$library" "$tester" >output 2>errors || status=$?
! grep -qE 'CL_DEVICE_NOT_FOUND|no platforms|-1001' output errors ||
    { echo "no OpenCL device" >&2; exit 77; }

# The testers colour their lines.
sed -i 's/\x1b\[[0-9;]*m//g' output
grep -E 'routine|passed|failed$' output | grep -v 'Pass rate' || true
[ "$status" -eq 0 ] || { echo "FAILED: the tester ended with status $status" >&2; exit 1; }
if grep -qE '^ *[1-9][0-9]* test\(s\) failed' output; then
    echo "FAILED: the tester complains" >&2
    exit 1
fi
passed=$(awk '/test\(s\) passed/ { sum += $1 } END { print sum + 0 }' output)
served=$(grep -c '^kiln-clblast: .*: success$' errors || true)
echo "$passed passed, Kiln served $served calls"
awk '/Starting tests/ { routine = $0 }
    /All tests skipped/ && routine ~ /\047H/ { exit 1 }' output ||
    { echo "FAILED: halves were left out" >&2; exit 1; }
[ "$passed" -ge 100 ] || { echo "FAILED: few were tested" >&2; exit 1; }
! grep '^kiln-clblast: .*: no kernel' errors ||
    { echo "FAILED: Kiln has no kernel for the calls above" >&2; exit 1; }
[ "$served" -ge "$passed" ] || { echo "FAILED: not all came to Kiln" >&2; exit 1; }
