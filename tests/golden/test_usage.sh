#!/bin/sh
# test_usage.sh KILN_GEN: the command line of kiln-gen: exit status and messages.
set -eu

kiln_gen=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect STATUS PATTERN ARGUMENT...: runs kiln-gen; standard output and error together must match.
expect()
{
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$kiln_gen" "$@" >"$folder/out" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -q -e "$pattern" "$folder/out"; then
        echo "kiln-gen $*: status $status, wanted $wanted and '$pattern'; it said:" >&2
        head -5 "$folder/out" >&2
        failures=$((failures + 1))
    fi
}

# Wrong usage: status 2, a message that says what is wrong, and where to look.
expect 2 "no command"
expect 2 "Try 'kiln-gen --help'"
expect 2 "no command 'rendr'" rendr
expect 2 "unknown option '--colour'" families --colour
expect 2 "option '--precision' needs a value" render packed --precision
expect 2 "no precision 'quad'" render packed --precision quad
expect 2 "no transposes 'xy'" render packed -t xy
expect 2 "render needs a configuration" render
expect 2 "no family 'pakced'" render "pakced TM=8"
expect 2 "TM is one of: 1 2 3" render "packed TM=5"
expect 2 "render takes a configuration or --preset, not both" render packed --preset avx512
expect 2 "option '--preset' needs a value" render --preset
expect 2 "no preset 'avx521'; is 'avx512' meant?" render --preset avx521
expect 2 "no preset 'nothing'; 'kiln-gen presets' lists them" render --preset nothing
expect 2 "explain needs a configuration" explain
expect 2 "emit needs one winners file" emit
expect 2 "select needs one journal" select
expect 2 "no family 'fast'" select some.tsv --times fast
expect 2 "--times needs --bench" select some.tsv --times thin
expect 2 "--times chooses nothing" select some.tsv --bench b.json --times all --bundle-kib 9
expect 2 "check needs a folder" check
expect 2 "report needs one journal" report
expect 2 "space needs a family" space
expect 2 "no family 'pakced'" space pakced
expect 2 "ahead: not a number from 0 to 63: '64'" replay --ahead 64
expect 2 "not a number of seeds: '0'" replay --seeds 0

# Each option with the commands that do not take it.
while read -r option commands; do
    for command in $commands; do
        expect 2 "$command takes no option '$option'" "$command" "$option" x
    done
done <<END
--preset families presets space select emit join forms check replay report
-p families presets select emit join forms check replay report
--precision families presets select emit join forms check replay report
--transpose families presets select emit join forms check replay report
--store families presets space select emit join forms check replay report
--facts families presets select emit join forms check replay report
-n families presets space render explain emit forms check replay report
--name families presets space render explain emit forms check replay report
--provenance families presets space render explain select emit forms check replay report
--bundle-kib families presets space render explain emit join forms check replay report
--strategy families presets space render explain select emit join forms check report
--seeds families presets space render explain select emit join forms check report
--start families presets space render explain select emit join forms check report
--ahead families presets space render explain select emit join forms check report
--rank families presets space render explain select emit join forms check report
--bench families presets space render explain emit join forms check replay
--times families presets space render explain emit join forms check replay report
--output check
-o check
END

# Failures: status 1, path and cause.
expect 1 "/nowhere/winners.tsv: No such file" emit /nowhere/winners.tsv
expect 1 "/nowhere/journal.tsv: No such file" select /nowhere/journal.tsv
expect 1 "/nowhere/facts: No such file" render packed --facts /nowhere/facts
expect 1 "/nowhere/winners.tsv: No such file" check /nowhere
expect 1 "/nowhere/out.new: No such file" render packed --output /nowhere/out
expect 1 "illegal configuration: vectors wider" render "packed VEC=16"
echo "no winners" >"$folder/bad.tsv"
expect 1 "bad.tsv: line 1: not a kiln-winners file" emit "$folder/bad.tsv"
expect 1 "line 1: not a kiln-journal" select "$folder/bad.tsv"
expect 1 "bad.tsv: line 1: not a kiln-journal" report "$folder/bad.tsv"

# A bundle for a compiler within the process must say for which versions of the driver it is.
mkdir "$folder/wide"
printf 'kiln-winners\t4\nbundle\twide\nplatform\tPortable*\n' >"$folder/wide/winners.tsv"
"$kiln_gen" emit "$folder/wide/winners.tsv" -o "$folder/wide/bundle.c"
expect 1 "wide/winners.tsv: .* a row driver is needed" check "$folder/wide"
printf 'driver\t3.1*\n' >>"$folder/wide/winners.tsv"
"$kiln_gen" emit "$folder/wide/winners.tsv" -o "$folder/wide/bundle.c"
"$kiln_gen" check "$folder/wide" || failures=$((failures + 1))

# What is too much, or nothing.
expect 2 "unexpected 'one'" families one
expect 2 "unexpected 'two'" space packed two
expect 2 "unexpected 'tiled'" render packed tiled
: >"$folder/empty.tsv"
expect 1 "empty.tsv: empty" select "$folder/empty.tsv"
expect 1 "empty.tsv: empty" report "$folder/empty.tsv"
expect 2 "a tab or a line's end is in" join --provenance "$(printf 'a\tb')" "$folder/empty.tsv"
expect 2 "name: 'a b' is not made of up to 63 letters" join --name 'a b' "$folder/empty.tsv"
expect 2 "name: 'x/y' is not made of up to 63 letters" select -n x/y "$folder/empty.tsv"

# What works.
expect 0 "usage: kiln-gen COMMAND" --help
expect 0 "usage: kiln-gen COMMAND" render -h
expect 0 "^avx512-double" presets
for family in packed tiled direct; do
    expect 0 "^$family" families
    expect 0 "WGM\|TM" space "$family"
    expect 0 "^legal" explain "$family"
    expect 0 "__kernel" render "$family" -p h -t tt
done
expect 0 "illegal: vectors wider .*(the device: the least of OpenCL 1.2; --facts" \
    explain "packed VEC=16"
printf 'VECTOR_BYTES\t64\tbytes\nREGISTER_BYTES\t2048\tbytes\n' >"$folder/facts.tsv"
expect 0 "float16" render --preset avx512
expect 0 "double8" render --preset avx512-double
expect 0 "float16" render --preset avx512 --facts "$folder/facts.tsv" --transpose tt
expect 0 "^legal" explain --preset avx512
expect 1 "illegal configuration: vectors wider .*(the device: one that allows every preset; --fa" \
    render --preset avx512 -p d
expect 1 "illegal configuration: .* (the device: the least of OpenCL 1.2; --facts names another)$" \
    render "tiled WGM=16 WGN=16"
expect 1 "illegal configuration: [^(]*$" render "tiled WGM=16 WGN=16" --facts "$folder/facts.tsv"
printf 'VECTOR_BYTES\twide\tbytes\n' >"$folder/facts.tsv"
expect 1 "facts.tsv: line 1: VECTOR_BYTES is not a whole number" render packed \
    --facts "$folder/facts.tsv"
expect 1 "bad.tsv: no facts of a device" render packed --facts "$folder/bad.tsv"

# A full disk: status 1 and a message; the old file stays, nothing is left beside it.
if [ -w /dev/full ]; then
    for command in families presets; do # less than a buffer holds, and more
        status=0
        "$kiln_gen" $command >/dev/full 2>"$folder/out" || status=$?
        if [ "$status" -ne 1 ] ||
            ! grep -q "cannot write to standard output: No space left on device" "$folder/out"; then
            echo "standard output on a full disk: status $status" >&2
            failures=$((failures + 1))
        fi
    done
fi
echo old >"$folder/kernel.cl"
status=0
(trap '' XFSZ; ulimit -f 1; exec "$kiln_gen" render tiled --output "$folder/kernel.cl") \
    2>"$folder/out" || status=$?
if [ "$status" -ne 1 ] || [ "$(cat "$folder/kernel.cl")" != old ] ||
    [ -e "$folder/kernel.cl.new" ] || ! grep -q "kernel.cl: File too large" "$folder/out"; then
    echo "output on a full disk: status $status" >&2
    failures=$((failures + 1))
fi

# An output that does not change keeps its time.
"$kiln_gen" render tiled --output "$folder/kernel.cl"
touch -d 2001-01-01 "$folder/kernel.cl" "$folder/reference"
"$kiln_gen" render tiled --output "$folder/kernel.cl"
if [ "$folder/kernel.cl" -nt "$folder/reference" ]; then
    echo "an unchanged output was written again" >&2
    failures=$((failures + 1))
fi
[ "$failures" -eq 0 ]
