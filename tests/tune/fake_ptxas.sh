#!/bin/sh
# A stand-in for ptxas: fake_ptxas.sh -arch=ARCH -o CUBIN PTX. The cubin is a header, in which byte
# 56 is p, then the option, then the PTX. What has the word "refuse" is refused. At the word "trip"
# it hangs if FAKE_PTXAS_TRIP is a process, to which it sends SIGUSR1 first.
[ $# = 4 ] && [ "$2" = -o ] || { echo "usage" >&2; exit 2; }
if grep -q refuse "$4"; then
    echo "ptxas fatal   : refused as planned" >&2
    exit 255
fi
if [ -n "${FAKE_PTXAS_TRIP-}" ] && grep -q trip "$4"; then
    kill -USR1 "$FAKE_PTXAS_TRIP"
    exec sleep 1000
fi
zeros()
{
    head -c "$1" /dev/zero
}
{
    if grep -q garbage "$4"; then printf junk; else printf '\177ELF'; fi
    zeros 14
    printf '\276'
    zeros 37
    printf p
    zeros 7
    echo "$1"
    cat "$4"
} > "$3"
