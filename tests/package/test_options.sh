#!/bin/sh
# test_options.sh SOURCE_ROOT: what a build says to options that cannot be meant, and which library
# it makes by default.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 SOURCE_ROOT" >&2; exit 2; }
source_root=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-options.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

setup()
{
    rm -rf "$scratch/build"
    meson setup "$scratch/build" "$source_root" -Dtune=off -Dtests=false -Dbench=false "$@" \
        >"$scratch/log" 2>&1
}

# refused PATTERN OPTION...
refused()
{
    pattern=$1
    shift
    if setup "$@" || ! grep -q "ERROR: .*$pattern" "$scratch/log"; then
        echo "FAILED: $* is not refused with '$pattern'" >&2
        tail -5 "$scratch/log" >&2
        exit 1
    fi
    echo "ok: $*: $pattern"
}

refused "generic serves every device.*name it last" -Dbundles=generic,pocl-avx512
refused "generic is named twice" -Dbundles=generic,generic
refused "there is no .*tuned/no-such/bundle.c" -Dbundles=no-such,generic
refused "option python: .*it loads the shared library" -Dpython=enabled
refused "option wheel: .*it is switched off" -Dwheel=true -Dpython=disabled

setup -Dbundles=pocl-avx512,generic || { cat "$scratch/log" >&2; exit 1; }
meson introspect --targets "$scratch/build" >"$scratch/targets"
grep -q 'libkiln\.a"' "$scratch/targets" || { echo "FAILED: no libkiln.a" >&2; exit 1; }
! grep -q 'libkiln\.so' "$scratch/targets" ||
    { echo "FAILED: a shared library by default" >&2; exit 1; }
echo "ok: the static library by default"
