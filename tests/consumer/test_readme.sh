#!/bin/sh
# The program in the README, exactly as it stands there, must compile without a warning and multiply.
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
if [ -z "$(ls /etc/OpenCL/vendors 2>/dev/null)" ] && [ -z "${OCL_ICD_VENDORS:-}" ]; then
    echo "no OpenCL device: compiled, not run"
    exit 77
fi
out=$("$dir/program")
echo "$out"
case $out in *": 19 22 43 50") ;; *) exit 1 ;; esac
