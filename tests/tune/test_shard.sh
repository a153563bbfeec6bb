#!/bin/sh
# test_shard.sh KILN_TUNE: a search in shards, merged, and tuned over: no point is measured by two
# shards, the finalists are timed again on one device, and a bundle comes out. Then what is refused.
# 77 without a device.
set -eu

[ $# -eq 1 ] || { echo "usage: test_shard.sh KILN_TUNE" >&2; exit 2; }
kiln_tune=$(realpath "$1")
seconds=12
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-shard.XXXXXX")
trap 'rm -rf "$dir"' EXIT
"$kiln_tune" probe >"$dir/probe" 2>"$dir/error" || {
    cat "$dir/error" >&2
    grep -q "no OpenCL device" "$dir/error" && exit 77
    exit 1
}

fail()
{
    echo "test_shard.sh: $*" >&2
    [ ! -f "$dir/log" ] || tail -5 "$dir/log" >&2
    exit 1
}

# tune FOLDER OPTION...
tune()
{
    folder=$1
    shift
    "$kiln_tune" tune --output "$dir/$folder" --name local --precisions single \
        --seconds $seconds "$@" >"$dir/log" 2>&1
}

# refused PATTERN COMMAND...: exit status 1 and a message.
refused()
{
    pattern=$1
    shift
    status=0
    "$@" >"$dir/log" 2>&1 || status=$?
    [ "$status" -eq 1 ] || fail "$*: exit status $status"
    grep -q "$pattern" "$dir/log" || fail "$*: the message is not '$pattern'"
}

merge()
{
    "$kiln_tune" merge "$@" >"$dir/log" 2>&1
}

rows()
{
    sed '1,/^begin$/d' "$1"
}

# Two shards at once, which take turns: nothing but searches, no configuration in both.
pids=
for i in 1 2; do
    "$kiln_tune" tune --output "$dir/part$i" --name local --precisions single --shard $i/2 \
        --seconds $seconds >"$dir/log$i" 2>&1 &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid" || { cat "$dir/log1" "$dir/log2" >&2; fail "a shard failed"; }
done
for i in 1 2; do
    grep -q "shard $i/2 ends" "$dir/log$i" || fail "shard $i: what is to be done next is not said"
    [ ! -e "$dir/part$i/winners.tsv" ] || fail "shard $i chose winners"
    rows "$dir/part$i/journal.tsv" | cut -f 1 | sort -u >"$dir/kinds"
    [ "$(cat "$dir/kinds")" = search ] || fail "shard $i did more than search"
    rows "$dir/part$i/journal.tsv" | cut -f 7 | sort -u >"$dir/configs$i"
    [ "$(wc -l <"$dir/configs$i")" -ge 1 ] || fail "shard $i measured nothing"
done
[ -z "$(comm -12 "$dir/configs1" "$dir/configs2")" ] || fail "both shards measured the same"

# A shard goes on in its own journal alone.
tune part1 --shard 1/2 || fail "a shard is not resumed"
refused "holds another shard" tune part1 --shard 2/2
refused "holds one shard of a search" tune part1
refused "needs a whole journal" tune part1 --replay

# Merged, tuned over: looks at the best again, edges, matrix; no search row is added.
merge "$dir/part1/journal.tsv" "$dir/part2/journal.tsv" --journal "$dir/merged.tsv" ||
    fail "two shards are not merged"
cp "$dir/merged.tsv" "$dir/before"
# A slow machine finds nothing that may ship in so short a time: then it goes on for longer.
for seconds in 12 48 192; do
    tune whole --journal "$dir/merged.tsv" && break
    grep -q "nothing may ship" "$dir/log" || fail "no tuning over a merged journal"
done
[ -e "$dir/whole/winners.tsv" ] || fail "no tuning over a merged journal"
cmp -n "$(wc -c <"$dir/before")" "$dir/merged.tsv" "$dir/before" || fail "merged rows were lost"
rows "$dir/merged.tsv" | tail -n +$(($(rows "$dir/before" | wc -l) + 1)) >"$dir/added"
cut -f 1 "$dir/added" | sort -u | tr '\n' ' ' >"$dir/kinds"
case $(cat "$dir/kinds") in
    *search*) fail "a tuning over a merged journal searched" ;;
    "edges "*"look "* | "again edges "*"look "*) ;;
    *) fail "a tuning over a merged journal added: $(cat "$dir/kinds")" ;;
esac
grep -q "^recipe" "$dir/whole/winners.tsv" || fail "no recipe"
[ -s "$dir/whole/bundle.c" ] || fail "no bundle"

# The same again from the journal alone.
tune replayed --journal "$dir/merged.tsv" --replay || fail "no replay of a merged journal"
cmp "$dir/whole/winners.tsv" "$dir/replayed/winners.tsv" || fail "a replay gives other winners"

# What is refused. Rows are damaged, heads altered; the output is never written.
one=$dir/part1/journal.tsv
two=$dir/part2/journal.tsv
refused "is there already" merge "$one" "$two" --journal "$dir/merged.tsv"
refused "No such file" merge "$one" "$dir/nothing.tsv" --journal "$dir/out.tsv"
refused "both shard 1/2" merge "$one" "$one" --journal "$dir/out.tsv"
sed '2s/\t[^\t]*\t/\tAnother platform\t/' "$two" >"$dir/other.tsv"
refused "another platform" merge "$one" "$dir/other.tsv" --journal "$dir/out.tsv"
sed '2s/\t[^\t]*$/\t0.0/' "$two" >"$dir/other.tsv"
refused "another driver" merge "$one" "$dir/other.tsv" --journal "$dir/out.tsv"
sed '3s/\t.*/\t0123456789abcdef/' "$two" >"$dir/other.tsv"
refused "another version of the kernels" merge "$one" "$dir/other.tsv" --journal "$dir/out.tsv"
sed 's/^\(fact\tUNITS\t\).*/\177/' "$two" >"$dir/other.tsv"
refused "another UNITS" merge "$one" "$dir/other.tsv" --journal "$dir/out.tsv"
sed '$s/ok/OK/' "$two" >"$dir/other.tsv"
sed -i '$s/search/serach/' "$dir/other.tsv"
refused "wrong checksum" merge "$one" "$dir/other.tsv" --journal "$dir/out.tsv"
[ ! -e "$dir/out.tsv" ] || fail "a refused merge wrote its output"
echo "two shards: $(cat "$dir/configs1" "$dir/configs2" | wc -l) configurations," \
    "then $(wc -l <"$dir/added") rows on one device"
