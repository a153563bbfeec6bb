#!/bin/sh
# oclgrind.sh KERNEL_TEST FAMILY [OPTION...]: runs the kernel test of a family on Oclgrind, which
# interprets each kernel and sees races, uninitialised values and accesses out of bounds.
# oclgrind.sh COPY_TEST: the same with a test that takes nothing but the device's name.
#
# Oclgrind exits with 0 whatever it finds; what counts is its log. Its device is a scalar one: it is
# taken for one with vectors and registers, so that kernels for such devices are seen too, but not
# with many registers, as each costs time. Kernels
# are compiled without optimisation: the check for uninitialised values does not know the
# instruction "freeze", which the optimiser makes of a division and a remainder by the same number,
# and gives up. It is taken for a device without images: what a kernel reads from one counts as
# uninitialised there, now and then.
set -eu

program=$1
if [ $# -eq 1 ]; then
    set -- Oclgrind
else
    family=$2
    shift 2
    set -- --device Oclgrind --family "$family" \
        --fact VECTOR_BYTES=64 --fact REGISTER_BYTES=512 --fact IMAGE_PIXELS=0 "$@"
fi
# Presets have large tiles: what is uninitialised, which takes three times as long to see, is left
# to the small configurations. The check crashes on the copying of vectors, and on putting vectors
# together, as `fused` and `packed` do where B is transposed or A is not: runs of their own have
# what is not. It does not follow the parts of complex numbers that change places in a vector.
checks='--data-races --uninitialized'
case " $* " in
*' --presets '* | *' --complex '* | ' Oclgrind ') checks=--data-races ;;
*' --family fused '*' --transpose tn '* | *' --family packed '*' --transpose tn '*) ;;
*' --family fused '* | *' --family packed '*) checks=--data-races ;;
esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT

status=0
# shellcheck disable=SC2086
oclgrind $checks --max-errors 20 \
    --build-options -cl-opt-disable --log "$log" \
    "$program" "$@" || status=$?
if [ -s "$log" ]; then
    echo "oclgrind.sh: Oclgrind reports:" >&2
    cat "$log" >&2
    exit 1
fi
exit "$status"
