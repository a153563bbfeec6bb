#!/bin/sh
# tune_parallel.sh: one tuning, its search spread over several processes by GNU parallel.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END'
usage: scripts/tune_parallel.sh [--gpus N | --hosts FILE] KILN_TUNE DIR SHARDS [TUNE_OPTION...]

Runs SHARDS shards of "kiln-tune tune" side by side (Debian package: parallel), joins their journals
and tunes over the joint one, on this machine: the best of all shards are timed again on one device.
DIR gets shard1, shard2, ..., merged.tsv, and in DIR itself the bundle. Run again after a failure or
a kill, it goes on where it stopped. All runs take the same --seconds: a shard spends its part.

    --gpus N      N identical GPUs of this machine: the n-th process at a time sees the n-th alone
    --hosts FILE  a list of machines for "parallel --sshloginfile", which share DIR and KILN_TUNE's
                  path; their devices and drivers must be the same as this machine's

Without either, all shards share this machine's first device and take turns to measure. For example:

    scripts/tune_parallel.sh --gpus 4 build/tuned/kiln-tune tuned/mygpu 8 --seconds 1800
END
}

gpus=
hosts=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --gpus | --hosts)
            [ $# -ge 2 ] || wrong "$1 needs a value"
            if [ "$1" = --gpus ]; then gpus=$2; else hosts=$2; fi
            shift 2 ;;
        -*) wrong "unknown option $1; kiln-tune's go at the end" ;;
        *) break ;;
    esac
done
[ $# -ge 3 ] || wrong "KILN_TUNE, DIR and SHARDS are needed"
[ -z "$gpus" ] || [ -z "$hosts" ] || wrong "--gpus or --hosts, not both"
for number in "$3" ${gpus:+"$gpus"}; do
    case $number in "" | *[!0-9]* | 0*) wrong "'$number' is not a number from 1" ;; esac
done
command -v parallel >/dev/null || fail "GNU parallel is missing (Debian: apt-get install parallel)"
[ -x "$1" ] || fail "$1 cannot be run"
kiln_tune=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
shards=$3
shift 3

# quote WORD...: as one line for the shells that parallel starts.
quote()
{
    for word; do
        printf " '%s'" "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
    done
}

spread=--jobs
where=${gpus:-$shards}
if [ -n "$hosts" ]; then
    spread=--sshloginfile
    where=$hosts
fi
options=$(quote "$@")

# Of several GPUs a process sees one: CUDA's and ROCm's way to say it; {%} is parallel's slot.
devices=
# shellcheck disable=SC2016
[ -z "$gpus" ] || devices='n=$(({%} - 1)); export CUDA_VISIBLE_DEVICES=$n ROCR_VISIBLE_DEVICES=$n; '

program=$(quote "$kiln_tune")
seq "$shards" | parallel "$spread" "$where" --line-buffer --tagstring "shard {}" \
    --joblog "$dir/joblog" \
    "$devices$program tune --shard {}/$shards --output$(quote "$dir/shard"){}$options" ||
    fail "a shard failed; see $dir/joblog; run again to go on"

if [ ! -s "$dir/merged.tsv" ]; then
    journals=
    for i in $(seq "$shards"); do
        journals="$journals$(quote "$dir/shard$i/journal.tsv")"
    done
    eval "$program merge$journals --journal$(quote "$dir/merged.tsv")"
fi
[ -z "$gpus" ] || export CUDA_VISIBLE_DEVICES=0 ROCR_VISIBLE_DEVICES=0
eval "exec$program tune --output$(quote "$dir") --journal$(quote "$dir/merged.tsv")$options"
