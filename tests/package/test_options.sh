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
cp -r "$source_root/tuned/generic" "$scratch/copy"
refused "generic is named twice" "-Dbundles=$scratch/copy,generic"
mkdir "$scratch/empty"
echo "int nothing;" >"$scratch/empty/bundle.c"
mkdir "$scratch/kept"
sed 's/kiln_bundle_generic/kiln_bundle_local/' "$source_root/tuned/generic/bundle.c" \
    >"$scratch/kept/bundle.c"
refused "one is named local, .*give it another name" "-Dbundles=$scratch/kept,generic" -Dtune=auto
refused "option precisions: name one at least" -Dtune=auto -Dprecisions=
refused "option shapes: there is no file $scratch" -Dtune=auto "-Dshapes=$scratch"
refused "no bundle of Kiln: $scratch/empty/bundle.c" "-Dbundles=$scratch/empty,generic"
refused "there is no .*tuned/no-such/bundle.c" -Dbundles=no-such,generic
refused "option python: .*it loads the shared library" -Dpython=enabled
refused "option wheel: .*it is switched off" -Dwheel=true -Dpython=disabled

mv "$scratch/copy" "$scratch/of-any-name"
setup "-Dbundles=$scratch/of-any-name" || { cat "$scratch/log" >&2; exit 1; }
ninja -C "$scratch/build" tuned/libkiln.a >"$scratch/log" ||
    { cat "$scratch/log" >&2; exit 1; }
nm "$scratch/build/tuned/libkiln.a" | grep -q " [rRdD] kiln_bundle_generic$" ||
    { echo "FAILED: the bundle of another folder's name is not in the library" >&2; exit 1; }
echo "ok: a bundle's folder may have any name"

setup -Dbundles=pocl-avx512,generic || { cat "$scratch/log" >&2; exit 1; }
meson introspect --targets "$scratch/build" >"$scratch/targets"
grep -q 'libkiln\.a"' "$scratch/targets" || { echo "FAILED: no libkiln.a" >&2; exit 1; }
! grep -q 'libkiln\.so' "$scratch/targets" ||
    { echo "FAILED: a shared library by default" >&2; exit 1; }
echo "ok: the static library by default"
