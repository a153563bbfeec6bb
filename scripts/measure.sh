#!/bin/sh
# measure.sh: the runs of kiln-bench whose figures the documents tell.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END'
usage: scripts/measure.sh [--bench PROGRAM] [--device TEXT] [--seed N] cpu|gpu DIR [NAME...]

Measures what the tables of the documents are made of, and writes DIR/cpu-NAME.json or
DIR/gpu-NAME.json, one for each run of kiln-bench. What is there already is not measured again.
With NAMEs only these. Then, for each that documents shall tell:

    scripts/results.py --take DIR/gpu-random.json h200-random
    scripts/results.py

Nothing else should run on the machine.

  --bench PROGRAM   default: build/tests/bench/kiln-bench of these sources
  --device TEXT     the first device whose name contains TEXT (default: the first)
  --seed N          of random shapes (default: 90210); for figures that judge a bundle, one that
                    nothing was tuned or fitted to
END
}

bench=$(dirname "$0")/../build/tests/bench/kiln-bench
device=
seed=90210
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) usage; exit 0 ;;
    --version) print_version; exit 0 ;;
    --bench | --device | --seed)
        [ $# -ge 2 ] || wrong "$1 wants a value"
        case $1 in
        --bench) bench=$2 ;;
        --device) device=$2 ;;
        *) seed=$2 ;;
        esac
        shift 2
        ;;
    -*) wrong "unknown option '$1'" ;;
    *) break ;;
    esac
done
[ $# -ge 2 ] || wrong "it wants cpu or gpu, and a folder"
set=$1 dir=$2
shift 2
names=$*
[ -x "$bench" ] || fail "$bench: there is no such program"
mkdir -p "$dir"
num=0

# run NAME ARGUMENT...: one file.
run()
{
    name=$1 file=$dir/$set-$1.json
    shift
    case " ${names:-$name} " in *" $name "*) ;; *) return 0 ;; esac
    num=$((num + 1))
    if [ -s "$file" ]; then
        echo "$file: is there"
        return 0
    fi
    echo "== $name: kiln-bench $*"
    "$bench" ${device:+--device "$device"} "$@" --json "$file.new" || {
        rm -f "$file.new"
        fail "$name failed"
    }
    mv "$file.new" "$file"
}

case $set in
cpu)
    run goals --shapes goals --rounds 9
    run random --shapes random --seed "$seed" --count 40 --precision s,d --rounds 3 --best \
        --peers kiln,openblas,openblas-best
    run complex-random --shapes random --seed "$seed" --count 30 --precision c,z --rounds 2 \
        --peers kiln,openblas-best
    run vectors --shape 1x4096x4096 --shape 4096x1x4096 --peers kiln,openblas,openblas-best
    run squares --shapes squares --rounds 5 --peers kiln,openblas,openblas-best,clblast
    run grid --shapes grid --k 256 --largest 2048 --rounds 3 --sample-ms 5 \
        --peers kiln,openblas,openblas-best
    run complex --shape 1000x1040x1016 --precision c,z --transpose nn,nt,tn,tt --rounds 5 \
        --peers kiln,openblas,clblast
    run triangles --triangles --shape 1024x1024x1024 --shape 2048x2048x2048 --rounds 5 \
        --precision s,d,c,z
    ;;
gpu)
    run random --shapes random --seed "$seed" --count 100 --precision s,d,h --rounds 2 \
        --sample-ms 2 --peers kiln,cublas
    run hopper --shapes hopper --precision s,d,h,c,z --rounds 2 --sample-ms 4 --peers kiln,cublas
    run emulated --shape 1000x1000x1000 --shape 1024x1024x1024 --shape 2048x2048x2048 \
        --shape 2049x2049x2049 --shape 4096x4096x4096 --shape 4097x4097x4097 \
        --shape 8192x8192x8192 --shape 16384x16384x16384 --precision s --rounds 3 --sample-ms 3 \
        --peers kiln-emulated,kiln-emulated-packed,cublas
    run emulated-random --shapes random --seed "$seed" --count 40 --least-ops 1e10 --largest 32768 \
        --precision s --rounds 2 --sample-ms 2 --peers kiln-emulated,cublas
    run errors --errors --shape 1024x1024x1024 --shape 60x8000x3000 --shape 900x1000x20000 \
        --peers kiln-emulated,cublas
    run squares --shapes squares --shape 4096x4096x4096 --shape 8192x8192x8192 \
        --precision s,d,h --rounds 3 --sample-ms 3 --peers kiln,cublas
    run grid --shapes grid --k 1024 --precision s,d,h --rounds 2 --sample-ms 2 --peers kiln,cublas
    run complex --shape 1024x1024x1024 --shape 4096x4096x4096 --precision c,z \
        --transpose nn,nt,tn,tt --rounds 3 --sample-ms 3 --peers kiln,cublas
    run complex-random --shapes random --seed "$seed" --count 50 --precision c,z --rounds 2 \
        --sample-ms 2 --peers kiln,cublas
    run triangles --triangles --shape 1024x1024x1024 --shape 2048x2048x2048 \
        --shape 4096x4096x4096 --shape 8192x8192x8192 --precision s,d,c,z --rounds 3
    ;;
*)
    wrong "no set is called '$set'"
    ;;
esac
run first --first-result
run host --host-overhead
[ "$num" -gt 0 ] || wrong "'$set' has none of: $names"
