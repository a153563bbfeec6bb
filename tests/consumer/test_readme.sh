#!/bin/sh
# The program in the README, exactly as it stands there, must compile without a warning and
# multiply.
# usage: test_readme.sh README INCLUDE_DIR LIBKILN_A CC...
set -eu
readme=$1 include=$2 archive=$3
shift 3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme" > "$dir/program.c"
grep -q kiln_sgemm "$dir/program.c" || { echo "no program in $readme" >&2; exit 1; }
"$@" -std=c11 -Wall -Wextra -Werror -DCL_TARGET_OPENCL_VERSION=120 -I"$include" "$dir/program.c" \
    "$archive" -lOpenCL -lpthread -o "$dir/program"

# run: sets status and out; 77 is the program's word for a machine without a device.
run()
{
    status=0
    out=$("$dir/program") || status=$?
    echo "$out"
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || exit 1
}

(OCL_ICD_VENDORS=$dir OPENCL_VENDOR_PATH=$dir; export OCL_ICD_VENDORS OPENCL_VENDOR_PATH; run)
run
[ "$status" -eq 0 ] || exit "$status"
case $out in *": 19 22 43 50") ;; *) exit 1 ;; esac
