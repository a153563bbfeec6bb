#!/bin/sh
# compare_budgets.sh: how much of what a long search finds a short one finds.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END'
usage: scripts/compare_budgets.sh [OPTION]... KILN_TUNE DIR

For each precision: tunes for a short and for a long time, each from nothing, into
DIR/PRECISION-short and DIR/PRECISION-long. Both are given a few shapes as the application's own.
Then what both bundles have pinned to them is timed again, the two in turn in one process, several
rounds, and the fastest times are compared. A line per shape: how near the short search's choice
comes to the long one's; at the end their geometric mean. The exit status is 1 when that is less
than --least. Run again, it goes on where it stopped: tunings that have ended are replayed from
their journals.

    --short S          seconds of the short tuning, for each precision (default 60)
    --factor N         how many times longer the long one is (default 20)
    --precisions LIST  of half, single, double (default single,double)
    --rounds N         of the comparison (default 5)
    --least R          what is asked for (default 0.95)
    --shapes FILE      as for kiln-tune (default: eight of several kinds)
    --device NAME      as for kiln-tune

The machine must be quiet. With the defaults it takes up to 45 minutes.
END
}

# is_number TEXT: whether it is one above 0.
is_number()
{
    echo "$1" | awk '!/^[0-9]+(\.[0-9]+)?$/ || $1 <= 0 { exit 1 }'
}

short=60
factor=20
precisions=single,double
rounds=5
least=0.95
shapes=
device=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --short | --factor | --rounds | --least | --precisions | --shapes | --device)
            [ $# -ge 2 ] || wrong "$1 needs a value"
            case $1 in
                --precisions) precisions=$2 ;;
                --shapes) shapes=$2 ;;
                --device) device=$2 ;;
                *)
                    is_number "$2" || wrong "$1: '$2' is not a number above 0"
                    case $1 in
                        --short) short=$2 ;;
                        --factor) factor=$2 ;;
                        --rounds) rounds=$2 ;;
                        --least) least=$2 ;;
                    esac ;;
            esac
            shift 2 ;;
        -*) wrong "unknown option $1" ;;
        *) break ;;
    esac
done
[ $# -eq 2 ] || wrong "KILN_TUNE and DIR are needed"
[ -x "$1" ] || fail "$1 cannot be run"
kiln_tune=$1
dir=$2
mkdir -p "$dir"
if [ -z "$shapes" ]; then
    shapes=$dir/shapes
    printf '%s\n' 1024x1024x1024 1000x1000x1000 256x256x256 2048x16x2048 16x2048x2048 \
        1536x1536x64 96x96x8192 333x777x555 >"$shapes"
fi

# tune PRECISION NAME SECONDS
tune()
{
    echo "$1, $3 s:" >&2
    "$kiln_tune" tune --device "$device" --precisions "$1" --seconds "$3" --name "$2" \
        --shapes "$shapes" --output "$dir/$1-$2" || exit 1
}

# requests PRECISION: for the trial process (generator/tune/trial.c), a question for each shape and
# pair that both bundles have a pin for, the short one's recipe first.
requests()
{
    awk -F '\t' -v letter="$(echo "$1" | cut -c 1)" -v rounds="$rounds" '
        FNR == 1 { file++ }
        $1 == "recipe" { config[file, count[file]++] = $3 }
        $1 == "pin" {
            for (pair = 0; pair < 4; pair++) {
                task = $3 " " $4 " " $5
                recipe = $(6 + pair)
                if (recipe == "-")
                    continue
                if (file == 1)
                    first[task, pair] = recipe
                else if ((task, pair) in first)
                    line[num++] = sprintf("measure %s %d %d %s 0 2\nconfig %s\nconfig %s", letter,
                        int(pair / 2), pair % 2, task, config[1, first[task, pair]],
                        config[2, recipe])
            }
        }
        END {
            for (round = 0; round < rounds; round++)
                for (i = 0; i < num; i++)
                    print line[i]
        }' "$dir/$1-short/winners.tsv" "$dir/$1-long/winners.tsv"
}

# compare PRECISION: asks, and reads the answers beside the questions.
compare()
{
    requests "$1" >"$dir/$1.requests"
    if [ ! -s "$dir/$1.requests" ]; then
        echo "${0##*/}: $1: no shape was measured in both tunings" >&2
        return 1
    fi
    "$kiln_tune" trial --device "$device" <"$dir/$1.requests" >"$dir/$1.answers" || return 1
    awk -v precision="$1" -v least="$least" -v short="$short" -v factor="$factor" '
        BEGIN { done = 0 }
        FILENAME == ARGV[1] {
            if ($1 == "measure")
                task[asked++] = sprintf("%5d x %5d x %5d %s", $5, $6, $7,
                    ($3 ? "t" : "n") ($4 ? "t" : "n"))
            next
        }
        $1 == "result" && $3 != "ok" && $3 != "slow" {
            print "compare_budgets.sh: " precision " " task[done] ": " $0 >"/dev/stderr"
            failed = 1
        }
        $1 == "result" {
            key = task[done] SUBSEP $2
            if (!(key in best) || $4 < best[key])
                best[key] = $4
        }
        $1 == "done" { done++ }
        END {
            if (failed || !asked || done != asked) {
                print "compare_budgets.sh: " precision ": " done + 0 " of " asked + 0 \
                    " comparisons were made" >"/dev/stderr"
                exit 1
            }
            for (i = 0; i < asked && !(task[i] in seen); i++) {
                seen[task[i]] = 1
                ratio = best[task[i], 1] / best[task[i], 0]
                printf "%-7s %s  %.3f\n", precision, task[i], ratio
                sum += log(ratio)
                num++
            }
            mean = exp(sum / num)
            printf "%s: after %g s %.3f of the speed after %g s, geometric mean of %d\n",
                precision, short, mean, short * factor, num
            exit mean < least
        }' "$dir/$1.requests" "$dir/$1.answers"
}

long=$(awk -v short="$short" -v factor="$factor" 'BEGIN { print short * factor }')
status=0
for precision in $(echo "$precisions" | tr , ' '); do
    tune "$precision" short "$short"
    tune "$precision" long "$long"
    compare "$precision" || status=1
done
exit "$status"
