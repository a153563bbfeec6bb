#!/bin/sh
# make_generic.sh: makes tuned/generic, the bundle for every device, from tunings on a few kinds.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END'
usage: scripts/make_generic.sh --device NAME --output DIR [--seconds N] [--build DIR]
       scripts/make_generic.sh --join DIR... [--bundle-kib N] [--build DIR] [--into DIR]

First, on one device of each kind, a CPU with vectors and a GPU: tunes as for the least device that
the bundle is to serve (tuned/generic/least.tsv), and leaves journal.tsv and winners.tsv in
DIR/least. On a CPU whose vectors are longer than 256 bits it tunes a second time, in DIR/least_256,
as for one with vectors of 256 bits. The same command goes on where it stopped.

    --device NAME    substring of the device's name; "" is the first device
    --seconds N      budget of each tuning (default 1000)

Then, anywhere: chooses the best few recipes of each tuning, puts what is not tuned and serves
everything behind them (tuned/generic/base.tsv), and writes winners.tsv and bundle.c. Where none of
the tunings is of a GPU, tuned/generic/others.tsv stands in, which was not tuned.

    --join DIR...    the folders of --output
    --bundle-kib N   what the recipes of each tuning may take, KiB (default 95)
    --into DIR       default tuned/generic

    --build DIR      where Kiln is built (default build)
END
}

root=$(cd "$(dirname "$0")/.." && pwd)
generic=$root/tuned/generic
device=
has_device=false
output=
seconds=1000
bundle_kib=95
build=build
into=$generic
joins=false
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --device | --output | --seconds | --bundle-kib | --build | --into)
            [ $# -ge 2 ] || wrong "$1 needs a value"
            case $1 in
                --device) device=$2; has_device=true ;;
                --output) output=$2 ;;
                --seconds) need_number "$1" "$2"; seconds=$2 ;;
                --bundle-kib) need_number "$1" "$2"; bundle_kib=$2 ;;
                --build) build=$2 ;;
                --into) into=$2 ;;
            esac
            shift 2 ;;
        --join)
            joins=true
            shift
            folders=
            while [ $# -gt 0 ]; do
                case $1 in -*) break ;; esac
                folders="$folders
$1"
                shift
            done ;;
        *) wrong "unknown argument '$1'" ;;
    esac
done

# fact NAME: of the device
fact()
{
    awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$output/device.txt"
}

# tune NAME: as for the device of tuned/generic/NAME.tsv
tune()
{
    "$build/tuned/kiln-tune" tune --device "$device" --facts "$generic/$1.tsv" --name generic \
        --output "$output/$1" --seconds "$seconds" \
        --precisions single,double,half,complex_single,complex_double || fail "tuning failed"
}

tune_all()
{
    $has_device || wrong "--device says on which device to tune"
    [ -x "$build/tuned/kiln-tune" ] || fail "there is no $build/tuned/kiln-tune: build first"
    mkdir -p "$output"
    "$build/tuned/kiln-tune" probe --device "$device" >"$output/device.txt" ||
        fail "no device is called '$device'"
    [ "$(fact IS_CPU)" -eq 0 ] || [ "$(fact VECTOR_BYTES)" -gt 4 ] ||
        fail "a CPU without vectors is of no kind that generic is tuned for"
    tune least
    if [ "$(fact IS_CPU)" -eq 1 ] && [ "$(fact VECTOR_BYTES)" -gt 32 ]; then
        tune least_256
    fi
}

# Chooses from each journal of the folders; the names of what it wrote, one a line.
choose_all()
{
    printf '%s\n' "$folders" | while IFS= read -r folder; do
        for journal in "$folder"/*/journal.tsv; do
            [ -f "$journal" ] || continue
            "$build/generator/kiln-gen" select "$journal" --name generic \
                --bundle-kib "$bundle_kib" -o "${journal%journal.tsv}chosen.tsv" || exit 1
            printf '%s\n' "${journal%journal.tsv}chosen.tsv"
        done
    done
}

# The devices of the files, as their provenance has them, each once.
name_devices()
{
    awk -F '\t' '$1 == "device" && !seen[$2]++ { printf "%s%s", comma, $2; comma = "; " }' "$@"
}

join_all()
{
    [ -x "$build/generator/kiln-gen" ] || fail "there is no $build/generator/kiln-gen: build first"
    chosen=$(choose_all) || fail "a journal is no good"
    [ -n "$chosen" ] || fail "no journal in the folders of --join"
    mkdir -p "$into"
    set --
    others=$generic/others.tsv
    while IFS= read -r file; do
        set -- "$@" "$file"
        if awk -F '\t' '$1 == "fact" && $2 == "IS_CPU" { exit $3 }' "$file"; then
            others=
        fi
    done <<END
$chosen
END
    provenance="for every device of OpenCL 1.2; tuned on $(name_devices "$@")"
    set -- "$@" ${others:+"$others"} "$generic/base.tsv"
    "$build/generator/kiln-gen" join --name generic --provenance "$provenance" "$@" \
        -o "$into/winners.tsv" || fail "joining failed"
    "$build/generator/kiln-gen" emit "$into/winners.tsv" -o "$into/bundle.c" ||
        fail "emitting failed"
}

if $joins; then
    ! $has_device && [ -z "$output" ] || wrong "--join is a step of its own"
    join_all
else
    [ -n "$output" ] || wrong "--output or --join is needed"
    tune_all
fi
