#!/bin/sh
# test_cross.sh SOURCE_ROOT CROSS_FILE TRIPLET: cross-compiles the library from the committed
# bundles: first the archive alone, where the target has no OpenCL library to link with; then all
# of it, against a stand-in for one.
set -eu

[ $# -eq 3 ] || { echo "usage: $0 SOURCE_ROOT CROSS_FILE TRIPLET" >&2; exit 2; }
source_root=$1
cross_file=$2
triplet=$3

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-cross.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset CC CFLAGS LDFLAGS DESTDIR PKG_CONFIG_PATH PKG_CONFIG_LIBDIR

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

# quietly COMMAND...: runs it; what it says is shown only when it fails.
quietly()
{
    "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; die "$*"; }
}

# cross_build NAME LIBRARY OPTION...: sets up, builds and stages one build.
cross_build()
{
    name=$1
    shift
    quietly meson setup "$scratch/$name" "$source_root" --cross-file "$cross_file" \
        --prefix=/usr --libdir=lib -Dtune=off -Dtests=false -Dbench=false "$@"
    quietly ninja -C "$scratch/$name"
    ! grep -A5 "warning:" "$scratch/log" || die "$name is not built without warnings"
    quietly meson install -C "$scratch/$name" --no-rebuild --destdir "$scratch/$name-stage"
}

# expect_machine FILE: every object in it is for the target.
expect_machine()
{
    [ -f "$1" ] || die "$1 was not built"
    machines=$("$triplet-readelf" -h "$1" | sed -n 's/^ *Machine: *//p' | sort -u)
    [ "$machines" = AArch64 ] || die "$1 is for: $machines"
    echo "ok: ${1##*/}, for $machines"
}

# A library for the linker alone: it has the name of every function in the OpenCL header.
make_opencl()
{
    mkdir "$scratch/opencl"
    echo '#include <CL/cl.h>' | "$triplet-gcc" -DCL_TARGET_OPENCL_VERSION=120 -E -P - \
        | grep -o '\bcl[A-Z][A-Za-z0-9]*(' | sort -u | sed 's/(/;/; s/^/char /' >"$scratch/opencl.c"
    [ -s "$scratch/opencl.c" ] || die "the OpenCL header declares no function"
    quietly "$triplet-gcc" -shared -Wl,-soname,libOpenCL.so.1 -o "$scratch/opencl/libOpenCL.so" \
        "$scratch/opencl.c"
}

# link_example NAME STAGE LIBRARY: a program of the target, linked with the library.
link_example()
{
    quietly "$triplet-gcc" -std=c11 -o "$scratch/$1" "$source_root/tests/consumer/example.c" \
        -I"$2/usr/include" "$3" -L"$scratch/opencl" -lOpenCL -lpthread -lm
    expect_machine "$scratch/$1"
}

make_opencl

echo "== without an OpenCL library for the target"
cross_build archive
stage=$scratch/archive-stage
expect_machine "$stage/usr/lib/libkiln.a"
link_example archive-example "$stage" "$stage/usr/lib/libkiln.a"

echo "== with one"
cross_build both -Ddefault_library=both -Dc_link_args="-L$scratch/opencl"
stage=$scratch/both-stage
expect_machine "$stage/usr/lib/libkiln.a"
expect_machine "$stage/usr/lib/libkiln.so"
link_example shared-example "$stage" "$stage/usr/lib/libkiln.so"
