#!/bin/sh
# test_illegal.sh KERNEL_TEST: a configuration that is asked for and illegal is no failure, and says
# so by its exit status. 77 without a device.
set -eu

[ $# -eq 1 ] || { echo "usage: test_illegal.sh KERNEL_TEST" >&2; exit 2; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# expect STATUS PATTERN OPTION...
expect()
{
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$kernel_test" "$@" --fact VECTOR_BYTES=16 >"$log" 2>&1 || status=$?
    [ "$status" -ne 77 ] || exit 77
    if [ "$status" -ne "$wanted" ] || ! grep -q -e "$pattern" "$log"; then
        echo "$*: status $status, wanted $wanted and '$pattern'; it said:" >&2
        cat "$log" >&2
        exit 1
    fi
}

kernel_test=$1
legal="direct WGM=1 WGN=1 TM=1 NV=1 VEC=4" # in double precision its vectors are too wide
expect 3 "^single nn packed .*: illegal: vectors wider" --precision single --transpose nn \
    --config "packed VEC=16"
expect 3 ": illegal: vectors wider" --family packed --list --config "packed VEC=16"
expect 3 "^double .*: illegal: vectors wider" --real --transpose nn --list --config "$legal"
expect 3 "^emulated .*: illegal: the family is not for" --precision emulated --list \
    --config "$legal"
expect 0 "^1 programs, .* 0 failures$" --precision single --transpose nn --edge primes \
    --config "$legal"
