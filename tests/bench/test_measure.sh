#!/bin/sh
# test_measure.sh MEASURE: each run is asked for once, what failed leaves no file, what is there
# stays, and wrong usage is told. The program that it runs only notes what it was asked for.
set -eu

[ $# -eq 1 ] || { echo "usage: test_measure.sh MEASURE" >&2; exit 2; }
measure=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-measure.XXXXXX")
trap 'rm -rf "$dir"' EXIT

cat >"$dir/bench" <<'END'
#!/bin/sh
echo "$*" >>"$(dirname "$0")/asked"
for word; do
    [ "$word" != --triangles ] || [ ! -e "$(dirname "$0")/broken" ] || exit 1
    last=$word
done
echo '{}' >"$last"
END
chmod +x "$dir/bench"

fail()
{
    echo "FAILED: $*" >&2
    cat "$dir/said" >&2
    exit 1
}

# go STATUS PATTERN ARGUMENT...
go()
{
    wanted=$1 pattern=$2 status=0
    shift 2
    "$measure" --bench "$dir/bench" "$@" >"$dir/said" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: status $status, wanted $wanted"
    grep -q -e "$pattern" "$dir/said" || fail "$*: not '$pattern'"
}

touch "$dir/broken"
go 1 "triangles failed" cpu "$dir/out"
[ -s "$dir/out/cpu-goals.json" ] || fail "what was measured before is lost"
[ -z "$(find "$dir/out" -name '*triangles*')" ] || fail "what failed left a file"
rm "$dir/broken"
go 0 "cpu-goals.json: is there" cpu "$dir/out"
[ "$(grep -c -e '--shapes goals' "$dir/asked")" -eq 1 ] || fail "goals were measured twice"
[ "$(find "$dir/out" -name 'cpu-*.json' | wc -l)" -eq 10 ] || fail "not ten runs of a CPU"
[ -z "$(find "$dir/out" -name '*.new')" ] || fail "something was not finished"
go 0 "== grid" --device "Some GPU" gpu "$dir/gpu" grid host
[ "$(find "$dir/gpu" -type f | wc -l)" -eq 2 ] || fail "not the two that were asked for"
grep -q -e "^--device Some GPU --shapes grid" "$dir/asked" || fail "another device"
go 0 "== random" --seed 12 gpu "$dir/seed" random
grep -q -e "--shapes random --seed 12 " "$dir/asked" || fail "another seed"
go 2 "'gpu' has none of: nothing" gpu "$dir/gpu" nothing
go 2 "no set is called 'tpu'" tpu "$dir/gpu"
go 2 "it wants cpu or gpu, and a folder" cpu
go 2 "unknown option '--fast'" --fast cpu "$dir/gpu"
go 2 "--device wants a value" --device
go 1 "/nowhere: there is no such program" --bench /nowhere cpu "$dir/gpu"
echo "each run is asked for once"
