#!/bin/sh
# test_scripts.sh KILN_TUNE SCRIPTS [--whole]: tunings spread by GNU parallel and by Slurm, and two
# budgets compared, tiny ones. In place of Slurm's commands stand two that run a job at once, one
# after the other. Without --whole only Slurm's script tunes. 77 without a device.
set -eu

[ $# -eq 2 ] || [ "${3-}" = --whole ] || {
    echo "usage: test_scripts.sh KILN_TUNE SCRIPTS [--whole]" >&2
    exit 2
}
whole=${3-}
kiln_tune=$(realpath "$1")
scripts=$(realpath "$2")
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-scripts.XXXXXX")
trap 'rm -rf "$dir"' EXIT
"$kiln_tune" probe >"$dir/probe" 2>"$dir/error" || {
    cat "$dir/error" >&2
    grep -q "no OpenCL device" "$dir/error" && exit 77
    exit 1
}

fail()
{
    echo "test_scripts.sh: $*" >&2
    [ ! -f "$dir/log" ] || tail -5 "$dir/log" >&2
    exit 1
}

# says STATUS PATTERN COMMAND...
says()
{
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$@" >"$dir/log" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: exit status $status, not $wanted"
    grep -q -e "$pattern" "$dir/log" || fail "$*: it does not say '$pattern'"
}

# tuned FOLDER: two shards, one merged journal and a bundle are there.
tuned()
{
    for i in 1 2; do
        grep -q "^shard	$i/2$" "$1/shard$i/journal.tsv" || fail "$1: shard $i"
    done
    grep -q "^merged	2$" "$1/merged.tsv" || fail "$1: nothing was merged"
    grep -q "^bundle	it-s-me$" "$1/winners.tsv" || fail "$1: no bundle of the name given"
}

# Slurm's commands, as far as the script uses them.
mkdir "$dir/bin"
cat >"$dir/bin/sbatch" <<'END'
#!/bin/sh
array=
while [ $# -gt 0 ]; do
    case $1 in
        --array=1-*) array=${1#--array=1-}; shift ;;
        --output=*) output=${1#--output=}; shift ;;
        --*) shift ;;
        *) break ;;
    esac
done
[ -z "$array" ] || rm -f "$SLURM_FAKE/failed"
for i in $(seq "${array:-1}"); do
    [ -z "$array" ] || export SLURM_ARRAY_TASK_ID="$i"
    [ -n "$array" ] || [ ! -e "$SLURM_FAKE/failed" ] || continue
    "$@" >"$(echo "$output" | sed "s/%a/$i/")" 2>&1 || touch "$SLURM_FAKE/failed"
done
echo 17
END
cat >"$dir/bin/scontrol" <<'END'
#!/bin/sh
[ -e "$SLURM_FAKE/failed" ] && echo "JobId=17 JobState=CANCELLED Reason=DependencyNeverSatisfied" ||
    echo "JobId=17 JobState=COMPLETED Reason=None"
END
chmod +x "$dir/bin/sbatch" "$dir/bin/scontrol"
export SLURM_FAKE="$dir"
real_path=$PATH

# spread FOLDER: leaves the options that did. A slow machine finds nothing that may ship in so short
# a time: then it goes on for longer.
spread()
{
    for seconds in 6 24 96; do
        options="--seconds $seconds --precisions single --name it-s-me"
        status=0
        # shellcheck disable=SC2086
        "$script" $wait "$kiln_tune" "$1" 2 $options >"$dir/log" 2>&1 || status=$?
        [ "$status" -ne 0 ] || return 0
        cat "$1"/*.out >>"$dir/log" 2>/dev/null || true
        grep -q "nothing may ship" "$dir/log" || break
    done
    fail "$script: exit status $status after $seconds s"
}

for name in parallel slurm; do
    PATH=$dir/bin:$real_path
    script=$scripts/tune_$name.sh
    says 0 "usage: scripts/tune_$name.sh" "$script" --help
    says 2 "KILN_TUNE, DIR and SHARDS are needed" "$script" "$kiln_tune" "$dir/out"
    says 2 "'0' is not a number from 1" "$script" "$kiln_tune" "$dir/out" 0
    says 2 "'two' is not a number from 1" "$script" "$kiln_tune" "$dir/out" two
    says 2 "unknown option --fast" "$script" --fast "$kiln_tune" "$dir/out" 2
    if [ "$name" = parallel ] && ! command -v parallel >/dev/null; then
        says 1 "GNU parallel is missing" "$script" "$kiln_tune" "$dir/out" 2
        continue
    fi
    says 1 "/nowhere cannot be run" "$script" /nowhere "$dir/out" 2
    [ "$name" = slurm ] || [ -n "$whole" ] || continue
    [ "$name" = parallel ] && wait= || wait=--wait
    spread "$dir/it's $name"
    tuned "$dir/it's $name"
    cp "$dir/it's $name/merged.tsv" "$dir/before"
    # shellcheck disable=SC2086
    says 0 . "$script" $wait "$kiln_tune" "$dir/it's $name" 2 $options
    cmp "$dir/before" "$dir/it's $name/merged.tsv" || fail "$name: a second run measured again"
    # shellcheck disable=SC2086
    says 1 "a shard failed" "$script" $wait "$kiln_tune" "$dir/bad $name" 2 --device no-such-thing
    [ ! -e "$dir/bad $name/merged.tsv" ] || fail "$name: merged what failed"
done

# Two budgets compared; the second time, that asks for too much, from the journals of the first.
script=$scripts/compare_budgets.sh
says 0 "usage: scripts/compare_budgets.sh" "$script" --help
says 2 "KILN_TUNE and DIR are needed" "$script" "$kiln_tune"
says 2 "unknown option --fast" "$script" --fast "$kiln_tune" "$dir/out"
says 2 "'-1' is not a number above 0" "$script" --short -1 "$kiln_tune" "$dir/out"
says 2 "'0' is not a number above 0" "$script" --least 0 "$kiln_tune" "$dir/out"
says 1 "/nowhere cannot be run" "$script" /nowhere "$dir/out"
compare_two()
{
    echo 128x96x64 >"$dir/shapes"
    # A slow machine measures nothing in so short a time: then it gets more.
    for seconds in 8 24 72; do
        options="--short $seconds --factor 1.25 --rounds 1 --precisions single --shapes $dir/shapes"
        # shellcheck disable=SC2086
        "$script" $options --least 0.01 "$kiln_tune" "$dir/budgets" >"$dir/log" 2>&1 && break
        grep -q "no shape was measured in both" "$dir/log" || break
    done
    # shellcheck disable=SC2086
    says 0 "single: after $seconds s [0-9.]* of the speed after [0-9]* s, geometric mean of [1-4]" \
        "$script" $options --least 0.01 "$kiln_tune" "$dir/budgets"
    cp "$dir/budgets/single-long/journal.tsv" "$dir/before"
    # shellcheck disable=SC2086
    says 1 "single: after $seconds s" "$script" $options --least 100 "$kiln_tune" "$dir/budgets"
    cmp "$dir/before" "$dir/budgets/single-long/journal.tsv" ||
        fail "compare_budgets.sh tuned again"
}
[ -z "$whole" ] || compare_two

# The generic bundle's: an empty name of a device is the first one.
script=$scripts/make_generic.sh
says 0 "usage: scripts/make_generic.sh" "$script" --help
says 2 "--output or --join is needed" "$script"
says 2 "--device says on which device" "$script" --output "$dir/generic"
says 1 "there is no /nowhere/tuned/kiln-tune" "$script" --device "" --output "$dir/generic" \
    --build /nowhere
says 2 "--join is a step of its own" "$script" --device "" --join "$dir/generic"
