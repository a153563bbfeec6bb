#!/bin/sh
# test_program.sh NAME PROGRAM [SHAPES_COMMAND...]: what every program does alike: its version, 0
# for success, 1 for a failure, 2 for wrong usage, a full disk noticed. SHAPES_COMMAND are arguments
# that want the name of a file of shapes behind them.
set -eu

[ $# -ge 2 ] || { echo "usage: $0 NAME PROGRAM [SHAPES_COMMAND...]" >&2; exit 2; }
name=$1
program=$(realpath "$2")
shift 2
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-program.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail()
{
    echo "test_program.sh: $name: $*" >&2
    cat log >&2
    exit 1
}

# expect STATUS PATTERN ARGUMENT...
expect()
{
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$program" "$@" >log 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: exit status $status, not $wanted"
    grep -q -e "$pattern" log || fail "$*: it does not say '$pattern'"
}

expect 0 "^$name [0-9]*\.[0-9]*\.[0-9]*$" --version
expect 0 "^usage: $name" --help
expect 0 "2 on wrong usage" --help
expect 2 "no-such-option" --no-such-option

# full ARGUMENT...: nothing of what it prints arrives.
full()
{
    status=0
    "$program" "$@" >/dev/full 2>log || status=$?
    [ "$status" -eq 1 ] || fail "$* on a full disk: exit status $status"
    grep -q "^$name: cannot write to standard output: No space left on device$" log ||
        fail "$* on a full disk: the message"
}

if [ -w /dev/full ]; then
    full --help
    full --version
fi
[ $# -gt 0 ] || exit 0

# Shapes are read in one way by all. What comes after the reading is another matter.
expect 1 "^$name: /nowhere: No such file" "$@" /nowhere
printf '\357\273\277# by an editor\r\n64 32 16\r\n7x8x9 # else\n\n 1  x 2 x 3\t\n16777216 1 1' >good
"$program" "$@" good >log 2>&1 || :
! grep -q "good: " log || fail "a good file is refused"
for line in "64 64" "64,64,64" "0 1 1" "16777217 1 1" "1 1 1 1" "-1 1 1" "1xx1x1" "64x64x"; do
    printf '1 1 1\n%s\n' "$line" >bad
    expect 1 "^$name: bad: line 2: expected M N K" "$@" bad
done
