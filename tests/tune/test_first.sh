#!/bin/sh
# test_first.sh KILN_TUNE: what a build asks of the tuner on devices that are not as hoped: none,
# none of the name, a driver that dies, one that cannot be verified in the time. A bundle is there
# in the end, and what was wrong is said. The parts with a device are left out without one.
set -eu

[ $# -eq 1 ] || { echo "usage: test_first.sh KILN_TUNE" >&2; exit 2; }
kiln_tune=$(realpath "$1")
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-first.XXXXXX")
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
mkdir "$dir/nothing" "$dir/dying"

fail()
{
    echo "test_first.sh: $*" >&2
    [ ! -f "$dir/log" ] || tail -5 "$dir/log" >&2
    exit 1
}

# tune STATUS PATTERN OPTION...: as a build does. What it says must match.
tune()
{
    wanted=$1
    pattern=$2
    shift 2
    rm -rf "$dir/out"
    status=0
    "$kiln_tune" tune --output "$dir/out" --name local --quiet "$@" >"$dir/log" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "tune $*: exit status $status, not $wanted"
    grep -q -e "$pattern" "$dir/log" || fail "tune $*: it does not say '$pattern'"
}

# for_no_device: the bundle is whole and matches nothing.
for_no_device()
{
    for file in bundle.c winners.tsv device.tsv; do
        [ -s "$dir/out/$file" ] || fail "there is no $file"
    done
    grep -q "^platform	(none)$" "$dir/out/winners.tsv" || fail "the bundle is for a device"
    ! grep -q "^recipe" "$dir/out/winners.tsv" || fail "the bundle has recipes"
}

# No device: nothing to do, or a warning where tuning was asked for; one by its name is missed.
OCL_ICD_VENDORS=$dir/nothing OPENCL_VENDOR_PATH=$dir/nothing
export OCL_ICD_VENDORS OPENCL_VENDOR_PATH
tune 0 "no OpenCL device was found: .*: nothing to tune" --or-generic --unless-matched
for_no_device
tune 0 "warning: .*the generic bundle serves: no OpenCL device was found" --or-generic
for_no_device
tune 1 "no OpenCL device was found" --or-generic --unless-matched --device typo
[ ! -e "$dir/out/bundle.c" ] || fail "a bundle without the device asked for"
tune 1 "no OpenCL device was found: clGetPlatformIDs gives status .* OCL_ICD_VENDORS"

# A driver that takes its process down: not the tuner's.
echo 'void __attribute__((constructor)) die(void); void die(void) { __builtin_trap(); }' \
    >"$dir/die.c"
if cc -shared -fPIC -o "$dir/die.so" "$dir/die.c" 2>"$dir/log"; then
    echo "$dir/die.so" >"$dir/dying/die.icd"
    OCL_ICD_VENDORS=$dir/dying OPENCL_VENDOR_PATH=$dir/dying
    tune 0 "warning: .*the generic bundle serves: signal" --or-generic --unless-matched
    for_no_device
    tune 0 "warning: .*the generic bundle serves: signal" --or-generic
    tune 1 "signal"
fi
unset OCL_ICD_VENDORS OPENCL_VENDOR_PATH

# A place that cannot be written to.
touch "$dir/file"
status=0
"$kiln_tune" tune --output "$dir/file" --or-generic >"$dir/log" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "a file for a folder: exit status $status"
grep -q "$dir/file: " "$dir/log" || fail "a file for a folder: the message"

# What cannot be meant.
: >"$dir/empty.tsv"
tune 1 "empty.tsv: an empty journal" --replay --journal "$dir/empty.tsv"
tune 1 "no shapes in .*empty.tsv" --shapes "$dir/empty.tsv"
tune 2 "seed: '-1' is not a number" --seed -1

# Each option with the commands that do not take it.
while read -r option commands; do
    for command in $commands; do
        status=0
        "$kiln_tune" "$command" "$option" 1 >"$dir/log" 2>&1 || status=$?
        [ "$status" -eq 2 ] || fail "$command $option: exit status $status"
        grep -q -e "$command takes no option '$option'" "$dir/log" ||
            fail "$command $option: the message"
    done
done <<END
--device merge
--output probe merge literature repro trial
--journal probe literature repro trial binaries
--seconds probe merge literature repro trial binaries
--precisions probe merge literature repro trial binaries
--shapes probe merge literature repro trial binaries
--strategy probe merge literature repro trial binaries
--seed probe merge literature repro trial binaries
--shard probe merge literature repro trial binaries
--name probe merge literature repro trial binaries
--embed probe merge literature repro trial binaries
--bundle-kib probe merge literature repro trial binaries
--facts probe merge literature repro binaries
--unless-matched probe merge literature repro trial binaries
--or-generic probe merge literature repro trial binaries
--set-aside probe merge literature repro trial binaries
--replay probe merge literature repro trial binaries
--json merge literature repro trial binaries
--quiet probe merge repro trial binaries
--precision probe tune merge literature trial binaries
--transpose probe tune merge literature trial binaries
--shape probe tune merge literature trial binaries
--stem probe tune merge literature trial binaries
--size probe tune merge repro trial binaries
--budget probe tune merge repro trial binaries
--member probe tune merge literature repro binaries
END

"$kiln_tune" probe >"$dir/probe" 2>"$dir/error" || exit 0

# One that is not there, while others are: they are named.
tune 1 "no device's name contains 'typo'; there is: '" --or-generic --unless-matched --device typo

# No time at all: what was asked for and is not there is said, with the reason.
tune 0 "warning: nothing is tuned, the generic bundle serves: single: the budget ended before" \
    --or-generic --seconds 0.01 --precisions single
for_no_device
all=half,single,double,emulated,complex_single,complex_double
tune 0 "generic bundle serves: half: .*; complex_double: " --or-generic --seconds 0.01 \
    --precisions $all
for_no_device
echo "no device, no such device, a driver that dies, no time: a bundle or a word"
