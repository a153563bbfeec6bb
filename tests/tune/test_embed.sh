#!/bin/sh
# A bundle of device binaries alone multiplies without the driver's compiler; with both, a binary
# that does not match falls back to source. NO_COMPILER, preloaded, takes the driver's compiler
# away: then the binaries alone serve.
# usage: test_embed.sh KILN_TUNE KILN_GEN SOURCE_ROOT NO_COMPILER CC...
set -eu
tune=$1 gen=$2 root=$3 no_compiler=$4
shift 4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$tune" probe > "$dir/device.tsv" 2> "$dir/error" || {
    grep -q 'no OpenCL device' "$dir/error" && exit 77
    cat "$dir/error" >&2
    exit 1
}

cat > "$dir/list.c" <<'END'
#include "bundle.h"
extern const struct kiln_bundle kiln_bundle_embedded;
extern const struct kiln_bundle *const kiln_linked_bundles[];
const struct kiln_bundle *const kiln_linked_bundles[] = { &kiln_bundle_embedded, NULL };
END

compile()
{
    "$@" -std=c11 -O1 -D_POSIX_C_SOURCE=200809L -DCL_TARGET_OPENCL_VERSION=120 \
        -I"$root/runtime" -I"$root/runtime/include"
}

# The library without a bundle, and both programs: all programs are of these and of one bundle.
mkdir "$dir/objects"
(cd "$dir/objects" && compile "$@" -c "$root"/runtime/*.c "$dir/list.c")
for program in embed_probe embed_check; do
    compile "$@" -c "$root/tests/tune/$program.c" -o "$dir/$program.o"
done

# build_and_run BUNDLE CC...: links the program with a bundle, compiled once, and prints what it
# says.
build_and_run()
{
    bundle=${1%.c}
    shift
    [ -f "$bundle.o" ] || compile "$@" -c "$bundle.c" -o "$bundle.o"
    "$@" "$dir"/objects/*.o "$bundle.o" "$dir/$program.o" -lOpenCL -lpthread -o "$dir/$program"
    LD_PRELOAD=$preload "$dir/$program"
}
program=embed_probe preload=

for kind in binary both; do
    "$tune" tune --quiet --seconds 10 --precisions single --name embedded --embed $kind \
        --journal "$dir/journal.tsv" --output "$dir/$kind"
done

# What winners.tsv emits is compared with all of it but the binaries.
for kind in binary both; do
    "$gen" check "$dir/$kind"
    mkdir "$dir/stale"
    cp "$dir/$kind/winners.tsv" "$dir/stale"
    sed '/^static const struct kiln_stage/s/$/ /' "$dir/$kind/bundle.c" > "$dir/stale/bundle.c"
    ! "$gen" check "$dir/stale" 2> "$dir/error" || exit 1
    grep -q "is not what its winners.tsv emits, but for its binaries" "$dir/error"
    rm -r "$dir/stale"
done

# A replay makes binaries on the device that the journal is of, and leaves nothing on another one.
replay()
{
    "$tune" tune --replay --quiet --seconds 10 --precisions single --name embedded \
        --embed binary --journal "$1" --output "$2"
}
replay "$dir/journal.tsv" "$dir/replayed"
grep -q '^static const struct kiln_binary' "$dir/replayed/bundle.c"
sed '2s/\t[^\t]*\t/\tAnother platform\t/' "$dir/journal.tsv" > "$dir/another.tsv"
! replay "$dir/another.tsv" "$dir/elsewhere" 2> "$dir/error" || exit 1
grep -q "need the device of the journal: the platform here is .*, not 'Another platform'" \
    "$dir/error"
[ ! -e "$dir/elsewhere/bundle.c" ]

! grep -q piece_ "$dir/binary/bundle.c" || { echo "--embed binary left source" >&2; exit 1; }
build_and_run "$dir/binary/bundle.c" "$@" | tee "$dir/out"
grep -q 'program: binary' "$dir/out"
grep -q 'right' "$dir/out"

# Another driver: the binaries are of no use.
driver=$(sed -n 's/^driver\t\([^\t]*\).*/\1/p' "$dir/device.tsv")
for kind in binary both; do
    awk -v driver="\"$driver\"" '{ at = index($0, driver)
        if (at) $0 = substr($0, 1, at - 1) "\"another driver\"" substr($0, at + length(driver))
        print }' "$dir/$kind/bundle.c" > "$dir/$kind/other.c"
    grep -q 'another driver' "$dir/$kind/other.c"
done
build_and_run "$dir/both/other.c" "$@" | tee "$dir/out"
grep -q 'program: source' "$dir/out"
grep -q 'right' "$dir/out"
build_and_run "$dir/binary/other.c" "$@" | tee "$dir/out"
grep -q 'no kernel runs' "$dir/out"

# Without a compiler: everything that the bundle has, and what is said of the rest.
said="the device has no compiler, and no embedded binary serves"
preload=$no_compiler
program=embed_check
build_and_run "$dir/binary/bundle.c" "$@" | tee "$dir/out"
grep -q '^right$' "$dir/out"
grep -q "^half: $said\$" "$dir/out"
build_and_run "$dir/both/bundle.c" "$@" | tee "$dir/out"
grep -q '^right$' "$dir/out"
for kind in binary both; do
    ! build_and_run "$dir/$kind/other.c" "$@" > "$dir/out" 2>&1 || exit 1
    cat "$dir/out"
    grep -q "^$said\$" "$dir/out"
done
! LD_PRELOAD=$preload "$tune" tune --quiet --seconds 4 --precisions single --output "$dir/none" \
    2> "$dir/error" || exit 1
grep -q 'the device has no compiler' "$dir/error" || { cat "$dir/error" >&2; exit 1; }
