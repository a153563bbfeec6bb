#!/bin/sh
# offline_steps.sh: build, tune, test and bench on a machine without network, where no command may
# run for long. Each step ends in time and goes on from where the one before it stopped.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END'
usage: scripts/offline_steps.sh STEP --dir DIR [OPTION...] [-- KILN_BENCH_OPTION...]

    build    sets DIR/build up and builds all that the other steps run
    tune     tunes for the device; the journal is DIR/journal.tsv, the bundle DIR/local
    test     links the bundle if there is one; then the tests of the host, every family of kernels
             in every precision on the device, and 12000 random calls of the library
    verify   runs every recipe of a bundle on every edge class; DIR/verify.txt has a line for each
    bench    compares with all peers, each precision and pair of transposes in a run of its own;
             tables and JSON lie in DIR/bench

    --device NAME         substring of the device's name; all steps but build want it
    --seconds N           how long this call may take (default 500)
    --tune-seconds N      budget of the whole tuning, over all its calls (default 1200); the same in
                          each, or decisions already taken are taken anew
    --bundle FOLDER       what to verify (default DIR/local)
    --precisions LIST     to tune: of half, single, double (default single,double,half)

Options after -- go to kiln-bench, for instance --shapes goals --peers kiln,cublas. Without them it
compares the list hopper without transposes, and 4096x4096x4096 with.

Exit status: 0 the step is done; 75 its time was up: call it again to go on; 1 a failure; 2 wrong
usage. Nothing is installed. Parts of test, verify and bench that passed are not run again unless
the programs or the options have changed, or DIR/STEP.passed is removed.
END
}

step=
dir=
device=
seconds=500
tune_seconds=1200
precisions=single,double,half
bundle=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --) shift; break ;;
        --dir | --device | --seconds | --tune-seconds | --precisions | --bundle)
            [ $# -ge 2 ] || wrong "$1 needs a value"
            case $1 in
                --dir) dir=$2 ;;
                --device) device=$2 ;;
                --seconds) need_number "$1" "$2"; seconds=$2 ;;
                --tune-seconds) need_number "$1" "$2"; tune_seconds=$2 ;;
                --precisions) precisions=$2 ;;
                --bundle) bundle=$2 ;;
            esac
            shift 2 ;;
        build | tune | test | verify | bench)
            [ -z "$step" ] || wrong "one step at a time, not $step and $1"
            step=$1
            shift ;;
        *) wrong "unknown argument '$1'" ;;
    esac
done
[ -n "$step" ] || wrong "which step: build, tune, test, verify or bench?"
[ -n "$dir" ] || wrong "--dir says where everything is kept"
[ "$step" = build ] || [ -n "$device" ] || wrong "--device says which device to $step"
[ "$seconds" -ge 30 ] || wrong "--seconds: at least 30"
options=$*
[ $# -eq 0 ] || [ "$step" = bench ] || wrong "only bench takes options after --"
case $dir in *,*) wrong "--dir: no commas, please" ;; esac

unfinished=75
deadline=$(($(date +%s) + seconds))
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
build=$dir/build
bundle=$(cd "${bundle:-$dir/local}" 2>/dev/null && pwd) || bundle=
cd "$(dirname "$0")/.."

left()
{
    echo $((deadline - $(date +%s)))
}

# within SECONDS COMMAND...: its exit status, or that of this script when the time is up. An
# interrupt lets the tuner keep its best; what does not end by it is killed.
within()
{
    [ "$1" -gt 0 ] || return $unfinished
    status=0
    timeout --foreground --signal=INT --kill-after=20 "$@" || status=$?
    case $status in 124 | 137) return $unfinished ;; *) return $status ;; esac
}

# compile [TARGET...]
compile()
{
    status=0
    within "$(left)" ninja -C "$build" "$@" || status=$?
    [ $status -ne $unfinished ] || { echo "not all is built yet: call this step again"; exit 75; }
    [ $status -eq 0 ] || fail "the build failed"
}

step_build()
{
    configure "$build" -Dtune=off
    compile
    compile tests/kernels/kernel_test tests/kernels/soak
}

need_device()
{
    [ -x "$build/tuned/kiln-tune" ] || fail "run the step build first"
    "$build/tuned/kiln-tune" probe --device "$device" >"$dir/device.txt" ||
        fail "no device is called '$device'"
}

# The tuner takes a while to verify its best after an interrupt.
step_tune()
{
    need_device
    status=0
    within $(($(left) - 20)) "$build/tuned/kiln-tune" tune --device "$device" --name local \
        --output "$dir/local" --journal "$dir/journal.tsv" --precisions "$precisions" \
        --seconds "$tune_seconds" || status=$?
    [ $status -ne $unfinished ] || echo "tuning is not finished: call this step again"
    exit $status
}

# Starts the list of parts that passed anew when one of the programs has changed.
open_list()
{
    list=$dir/$step.passed
    mkdir -p "$dir/$step"
    failures=0
    mark="programs $(cksum "$@" | cksum), options $options"
    [ -f "$list" ] && [ "$(head -n 1 "$list")" = "$mark" ] || echo "$mark" >"$list"
}

# part NAME COMMAND...: unless it has passed. Its output goes to DIR/STEP/NAME.log.
part()
{
    name=$1
    shift
    ! grep -qx "$name" "$list" || return 0
    log=$dir/$step/$name.log
    time=$(left)
    status=0
    within "$time" "$@" >"$log" 2>&1 || status=$?
    case $status in
        0) result=passed ;;
        77) result="skipped: $(tail -n 1 "$log")" ;;
        "$unfinished")
            if [ "$time" -lt $((seconds * 9 / 10)) ]; then
                echo "time is up before $name: call this step again"
                [ "$failures" -eq 0 ] || fail "$failures parts failed so far"
                exit $unfinished
            fi
            result="FAILED: does not end within $time seconds" ;;
        *) result="FAILED with status $status" ;;
    esac
    echo "$name: $result"
    case $result in
        FAILED*)
            failures=$((failures + 1))
            tail -n 20 "$log" ;;
        *) echo "$name" >>"$list" ;;
    esac
}

close_list()
{
    [ "$failures" -eq 0 ] || fail "$failures parts failed; $dir/$step has what they printed"
    echo "all parts of $step are done"
}

# Links the bundle that was tuned, if there is one.
link_bundle()
{
    if [ -f "$dir/local/bundle.c" ] && [ ! -f "$build/links-local" ]; then
        configure "$build" -Dtune=off -Dbundles="$dir/local,generic"
        touch "$build/links-local"
    fi
}

step_test()
{
    need_device
    link_bundle
    compile all tests/kernels/kernel_test tests/kernels/soak
    open_list "$build/tests/kernels/kernel_test" "$build/tests/kernels/soak"
    part host meson test -C "$build" --suite core --suite golden --suite host
    for family in $(sed -n 's/^FAMILY(\(.*\))$/\1/p' generator/kernels/families.inc); do
        for precision in single double half; do
            part "$family-$precision" "$build/tests/kernels/kernel_test" --device "$device" \
                --family "$family" --precision "$precision"
        done
    done
    # On few compute units the edge classes have more tiles than work-groups that take them in turn.
    for units in 1 4; do
        for family in tma async; do
            part "$family-$units" "$build/tests/kernels/kernel_test" --device "$device" \
                --family "$family" --fact UNITS=$units
        done
    done
    for seed in 1 2 3 4; do
        part "soak-$seed" "$build/tests/kernels/soak" --device "$device" --calls 500 \
            --seed "$seed" --kind single --most 4096 --work 2000
        part "soak-sessions-$seed" "$build/tests/kernels/soak" --device "$device" --calls 2500 \
            --seed "$seed" --kind session
    done
    close_list
}

# In parts of some recipes each, so that one ends in time.
step_verify()
{
    need_device
    [ -n "$bundle" ] || fail "--bundle names no folder, and there is no $dir/local"
    compile tests/kernels/kernel_test
    open_list "$build/tests/kernels/kernel_test" "$bundle/winners.tsv"
    parts=16
    for i in $(seq $parts); do
        part "bundle-$i" "$build/tests/kernels/kernel_test" --device "$device" \
            --bundle "$bundle" --shard "$i/$parts"
    done
    cat "$dir"/verify/bundle-*.log | grep " classes, " | grep -v "^[0-9]* programs" | sort \
        >"$dir/verify.txt"
    close_list
}

step_bench()
{
    need_device
    link_bundle
    compile tests/bench/kiln-bench
    open_list "$build/tests/bench/kiln-bench"
    for pair in nn nt tn tt; do
        if [ -z "$options" ]; then
            case $pair in nn) set -- --shapes hopper ;; *) set -- --shape 4096x4096x4096 ;; esac
        fi
        for precision in s d h; do
            part "$precision-$pair" "$build/tests/bench/kiln-bench" --device "$device" \
                --precision $precision --transpose $pair --json "$dir/bench/$precision-$pair.json" \
                "$@"
        done
    done
    close_list
}

"step_$step" "$@"
