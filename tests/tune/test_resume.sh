#!/bin/sh
# test_resume.sh KILN_TUNE [KILLS]: kills the tuner at random moments, starts it again, and looks at
# what it leaves: nothing measured is lost or measured twice, and the end is what a replay of the
# journal gives, byte by byte. Then the other ways in which a run ends early. 77 without a device.
set -eu

[ $# -ge 1 ] || { echo "usage: test_resume.sh KILN_TUNE [KILLS]" >&2; exit 2; }
kiln_tune=$(realpath "$1")
kills=${2:-4}
seconds=12
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-resume.XXXXXX")
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :; rm -rf "$dir"' EXIT
"$kiln_tune" probe >"$dir/probe" 2>"$dir/error" || {
    cat "$dir/error" >&2
    grep -q "no OpenCL device" "$dir/error" && exit 77
    exit 1
}

fail()
{
    echo "test_resume.sh: $*" >&2
    [ ! -f "$dir/log" ] || tail -5 "$dir/log" >&2
    exit 1
}

# tune FOLDER OPTION...: a run of the tuner, in the foreground.
tune()
{
    folder=$1
    shift
    "$kiln_tune" tune --output "$dir/$folder" --name local --precisions single \
        --seconds $seconds "$@" >"$dir/log" 2>&1
}

# start FOLDER OPTION...: the same in the background; its process is $pid.
start()
{
    folder=$1
    shift
    "$kiln_tune" tune --output "$dir/$folder" --name local --precisions single \
        --seconds $seconds "$@" >"$dir/log" 2>&1 &
    pid=$!
}

# stop SIGNAL: ends what was started; its exit status is $status.
stop()
{
    kill "-$1" "$pid" 2>/dev/null || :
    status=0
    wait "$pid" || status=$?
    pid=
}

# await_row JOURNAL: waits until the tuner that was started has added a row to what was there.
await_row()
{
    size=$(wc -c <"$1")
    while [ "$(wc -c <"$1")" -eq "$size" ]; do
        kill -0 "$pid" 2>/dev/null || fail "the tuner ended before it measured anything"
        sleep 0.1
    done
}

# A time to wait, in seconds: from 0.2 to 2, less when there are many kills.
random_time()
{
    number=$(od -An -N2 -tu2 /dev/urandom)
    awk -v n="$number" -v kills="$kills" \
        'BEGIN { printf "%.3f", 0.2 + n / 65536 * (kills > 10 ? 1 : 1.8) }'
}

rows()
{
    sed '1,/^begin$/d' "$1"
}

# keep_whole JOURNAL COPY: copies what ends in a newline.
keep_whole()
{
    touch "$1"
    if [ -n "$(tail -c 1 "$1")" ]; then
        sed '$d' "$1" >"$2"
    else
        cp "$1" "$2"
    fi
}

# begins_with FILE START
begins_with()
{
    cmp -n "$(wc -c <"$2")" "$1" "$2" >/dev/null
}

no_row_twice()
{
    [ -z "$(rows "$1" | cut -f 1-7 | sort | uniq -d)" ] || fail "something was evaluated twice"
}

# 1. Killed and resumed.
journal=$dir/killed/journal.tsv
: >"$dir/before"
for kill in $(seq "$kills"); do
    start killed
    sleep "$(random_time)"
    stop KILL
    [ -f "$journal" ] || continue
    begins_with "$journal" "$dir/before" || fail "kill $kill: rows were lost"
    keep_whole "$journal" "$dir/before"
done
tune killed || fail "the run after the last kill failed"
begins_with "$journal" "$dir/before" || fail "the last run lost rows"
no_row_twice "$journal"
if grep -q "	blocked " "$journal"; then fail "the search went into the literature's family"; fi

# 2. The same as an undisturbed replay of the same journal, and as one over the replay's own output.
mkdir "$dir/replayed"
cp "$journal" "$dir/replayed/"
for turn in first second; do
    tune replayed --replay || fail "the $turn replay failed"
    for file in winners.tsv bundle.c device.tsv; do
        cmp "$dir/killed/$file" "$dir/replayed/$file" || fail "the $turn replay gives another $file"
    done
done
cmp "$journal" "$dir/replayed/journal.tsv" || fail "a replay wrote into the journal"
grep -q "left in $dir/replayed: winners.tsv, device.tsv, bundle.c; the journal is $dir/replayed/" \
    "$dir/log" || fail "what is left is not named"
if grep -q "to link it" "$dir/log"; then fail "a folder outside tuned/ is to be linked"; fi
mkdir "$dir/tuned"
: >"$dir/tuned/bundle_list.c.in"
tune tuned/mine --replay --journal "$journal" || fail "the replay into tuned/ failed"
grep -q "to link it: meson configure BUILD -Dbundles=mine,generic" "$dir/log" ||
    fail "how to link it is not said"
tune tuned/mine --replay --journal "$journal" --quiet || fail "the quiet replay failed"
if grep -q "left in" "$dir/log"; then fail "it is not quiet"; fi
if [ -w /dev/full ]; then
    status=0
    "$kiln_tune" tune --replay --journal "$journal" --output "$dir/replayed" --name local --json \
        --precisions single --seconds $seconds >/dev/full 2>"$dir/log" || status=$?
    [ "$status" -eq 1 ] || fail "standard output on a full disk: exit status $status"
    grep -q "cannot write to standard output: No space left on device" "$dir/log" ||
        fail "standard output on a full disk: the message"
fi
echo "$kills kills: $(rows "$journal" | wc -l) rows, the same bytes as a replay"

# 3. A torn last row is dropped, the rest kept.
mkdir "$dir/torn"
head -c -7 "$journal" >"$dir/torn/journal.tsv"
sed '$d' "$journal" >"$dir/whole"
tune torn || fail "a torn last row stopped the tuner"
begins_with "$dir/torn/journal.tsv" "$dir/whole" || fail "more than the torn row was lost"
no_row_twice "$dir/torn/journal.tsv"

# 4. The journal of another device is refused and left alone.
mkdir "$dir/other"
sed '2s/\t[^\t]*\t/\tAnother platform\t/' "$journal" >"$dir/other/journal.tsv"
cp "$dir/other/journal.tsv" "$dir/whole"
if tune other; then fail "the journal of another device was taken"; fi
grep -q "made on another device" "$dir/log" || fail "another device: the message"
cmp "$dir/other/journal.tsv" "$dir/whole" || fail "the journal of another device was changed"

# 5. Two tuners on one journal: the second refuses. Then Ctrl-C: the first keeps the best so far.
mkdir "$dir/stopped"
cp "$journal" "$dir/stopped/"
start stopped --seconds 600
await_row "$dir/stopped/journal.tsv"
if "$kiln_tune" tune --output "$dir/second" --journal "$dir/stopped/journal.tsv" --seconds 1 \
    --precisions single 2>"$dir/error"; then
    fail "a second tuner wrote the same journal"
fi
grep -q "another tuner writes this journal" "$dir/error" || fail "two tuners: the message"
stop INT
[ "$status" -eq 0 ] || fail "Ctrl-C: exit status $status"
grep -q "interrupted: keeping the best so far" "$dir/log" || fail "Ctrl-C: the message"
[ -s "$dir/stopped/winners.tsv" ] && [ -s "$dir/stopped/bundle.c" ] || fail "Ctrl-C: no bundle"
begins_with "$dir/stopped/journal.tsv" "$journal" || fail "Ctrl-C: rows were lost"

# 6. Ctrl-C before anything is verified: that is what is said, not that the budget ended.
start early --seconds 600
while [ ! -s "$dir/early/journal.tsv" ]; do
    kill -0 "$pid" 2>/dev/null || fail "the tuner ended before it had a journal"
    sleep 0.05
done
stop INT
[ "$status" -eq 1 ] || fail "an early Ctrl-C: exit status $status"
grep -q "nothing may ship: single: interrupted before .*the journal is kept, run again" \
    "$dir/log" || fail "an early Ctrl-C: the message"

# 7. A disk that is full: an error, a journal of whole rows, and still the best so far. The limit is
# set for the tuner when it runs, as the driver in the trial process writes files of its own.
command -v prlimit >/dev/null || exit 0
mkdir "$dir/full"
cp "$journal" "$dir/full/"
trap '' XFSZ
start full --seconds 600
await_row "$dir/full/journal.tsv"
prlimit --pid "$pid" --fsize=$(($(wc -c <"$dir/full/journal.tsv") + 200))
status=0
wait "$pid" || status=$?
pid=
[ "$status" -eq 1 ] || fail "a full disk: exit status $status"
grep -q "journal.tsv: \(File too large\|No space left\)" "$dir/log" ||
    fail "a full disk: the message"
begins_with "$dir/full/journal.tsv" "$journal" || fail "a full disk: rows were lost"
[ -z "$(tail -c 1 "$dir/full/journal.tsv")" ] || fail "a full disk: a row was written in part"
