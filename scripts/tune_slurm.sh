#!/bin/sh
# tune_slurm.sh: one tuning, its search spread over a Slurm job array.
#SBATCH --job-name=kiln-tune
#SBATCH --open-mode=append
#SBATCH --requeue
set -eu

usage()
{
    cat <<'END'
usage: scripts/tune_slurm.sh [--wait] KILN_TUNE DIR SHARDS [TUNE_OPTION...]

Submits a job array, a task for each shard of "kiln-tune tune", and after it a job that joins their
journals and tunes over the joint one: the best of all shards are timed again on one device. DIR,
which all nodes share, gets shard1, shard2, ..., merged.tsv, the jobs' output, and in DIR itself the
bundle. Submitted again after a failure, or requeued, it goes on where it stopped. All runs take the
same --seconds: a shard spends its part. The nodes' devices and drivers must be the same.

    --wait        return when the last job has ended, with its exit status

sbatch reads what else it should know from the environment, for instance:

    SBATCH_PARTITION=gpu SBATCH_GRES=gpu:1 SBATCH_TIMELIMIT=30 \
        scripts/tune_slurm.sh build/tuned/kiln-tune tuned/mygpu 8 --seconds 1800
END
}

# What the jobs run. Slurm copies this script, so it takes nothing from its own path.
case ${1:-} in
    --shard-job)
        kiln_tune=$2
        dir=$3
        shards=$4
        shift 4
        exec "$kiln_tune" tune --shard "$SLURM_ARRAY_TASK_ID/$shards" \
            --output "$dir/shard$SLURM_ARRAY_TASK_ID" "$@" ;;
    --last-job)
        kiln_tune=$2
        dir=$3
        shards=$4
        shift 4
        if [ ! -s "$dir/merged.tsv" ]; then
            (for i in $(seq "$shards"); do
                set -- "$@" "$dir/shard$i/journal.tsv"
            done
            shift "$(($# - shards))"
            exec "$kiln_tune" merge "$@" --journal "$dir/merged.tsv")
        fi
        exec "$kiln_tune" tune --output "$dir" --journal "$dir/merged.tsv" "$@" ;;
esac

. "$(dirname "$0")/common.sh"

wait=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --wait) wait=--wait; shift ;;
        -*) wrong "unknown option $1; kiln-tune's go at the end" ;;
        *) break ;;
    esac
done
[ $# -ge 3 ] || wrong "KILN_TUNE, DIR and SHARDS are needed"
case $3 in "" | *[!0-9]* | 0*) wrong "'$3' is not a number from 1" ;; esac
command -v sbatch >/dev/null || fail "sbatch is missing (Debian: apt-get install slurm-client)"
[ -x "$1" ] || fail "$1 cannot be run"
kiln_tune=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
shards=$3
shift 3

array=$(sbatch --parsable --array="1-$shards" --output="$dir/slurm-shard%a.out" \
    "$0" --shard-job "$kiln_tune" "$dir" "$shards" "$@")
array=${array%%;*}
echo "job array $array: $shards shards"
# A shard that fails leaves the last job unable to run: it is then cancelled, not left to wait.
# shellcheck disable=SC2086
last=$(sbatch --parsable $wait --dependency="afterok:$array" --kill-on-invalid-dep=yes \
    --output="$dir/slurm-last.out" "$0" --last-job "$kiln_tune" "$dir" "$shards" "$@") ||
    fail "the last job failed; see $dir/slurm-last.out"
last=${last%%;*}
echo "job $last: the best again, then the bundle in $dir"
[ -n "$wait" ] || exit 0

# sbatch --wait takes a job that never ran for one that went well.
case $(scontrol --oneliner show job "$last") in
    *" JobState=COMPLETED "*) ;;
    *) fail "a shard failed; see $dir/slurm-shard*.out; run again to go on" ;;
esac
