#!/bin/sh
# test_onefile.sh SOURCE_ROOT native|cross: kiln.c as scripts/onefile.py makes it: the same bytes
# each time, no warning by any compiler at hand, no symbol but the functions of kiln.h; natively
# also what it computes, and what the script refuses.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 SOURCE_ROOT native|cross" >&2; exit 2; }
source_root=$1
kind=$2
unset CFLAGS LDFLAGS
command -v python3 >/dev/null || { echo "python3 is not installed" >&2; exit 77; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-onefile.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

quietly()
{
    "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; die "$*"; }
}

onefile()
{
    quietly "$source_root/scripts/onefile.py" "$@"
}

# works COMPILER...: whether it compiles and links anything at all.
works()
{
    echo 'int main(void) { return 0; }' >"$scratch/main.c"
    "$@" "$scratch/main.c" -o "$scratch/main" >/dev/null 2>&1
}

# The OpenCL headers alone, for compilers that know nothing of the machine's own.
link_headers()
{
    header=$(echo '#include <CL/cl.h>' | "$1" -DCL_TARGET_OPENCL_VERSION=120 -M -x c - |
        tr ' ' '\n' | grep 'CL/cl\.h$') || die "$1 does not find CL/cl.h"
    mkdir "$scratch/opencl"
    ln -s "$(realpath "$(dirname "$header")")" "$scratch/opencl/CL"
}

# compile COMPILER...: leaves kiln.o, with generic alone.
compile()
{
    quietly "$@" -O2 -Wall -Wextra -Wpedantic -Werror -I"$scratch/opencl" -c \
        "$scratch/generic/kiln.c" -o "$scratch/kiln.o"
}

# expect_exports NM: every function of kiln.h, and nothing else.
expect_exports()
{
    "$1" -g --defined-only "$scratch/kiln.o" | awk 'NF == 3 { print $3 }' |
        sort >"$scratch/exported"
    diff -u "$scratch/declared" "$scratch/exported" ||
        die "kiln.o (+) does not define what kiln.h (-) declares, and that alone"
}

# expect STATUS PATTERN ARGUMENT...
expect()
{
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$script" "$@" >"$scratch/log" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -q -e "$pattern" "$scratch/log"; then
        cat "$scratch/log" >&2
        die "onefile.py $*: exit status $status, wanted $wanted and '$pattern'"
    fi
}

check_bytes()
{
    cmp "$scratch/generic/kiln.h" "$source_root/runtime/include/kiln/kiln.h"
    touch -d 2001-01-01 "$scratch/generic/kiln.c" "$scratch/generic/kiln.h"
    (cd / && onefile --bundles "$source_root/tuned/generic" -o "$scratch/generic")
    [ -z "$(find "$scratch/generic" -newermt 2002-01-01 -type f)" ] ||
        die "what does not change is written"
    (cd "$scratch" && onefile --bundles generic -o again --depfile again.d)
    cmp "$scratch/generic/kiln.c" "$scratch/again/kiln.c"
    ! grep -qF -e "$(realpath "$source_root")" -e "$scratch" "$scratch/again/kiln.c" ||
        die "kiln.c has a path"
    grep -q '^again/kiln.c: .*runtime/log.c' "$scratch/again.d" || die "the depfile"
    echo "ok: the same bytes"
}

check_usage()
{
    script=$source_root/scripts/onefile.py
    expect 0 '^usage: scripts/onefile.py' --help
    expect 2 'required: --bundles, -o'
    expect 2 'unrecognized arguments: --no-such' --bundles generic -o "$scratch/x" --no-such
    expect 2 'a name is empty' --bundles generic, -o "$scratch/x"
    expect 1 'no-such: there is no .*tuned/no-such/bundle.c' --bundles no-such -o "$scratch/x"
    expect 1 'there are two of this name' --bundles nvidia,nvidia,generic -o "$scratch/x"
    expect 1 'name it last' --bundles generic,nvidia -o "$scratch/x"
    expect 1 '/dev/null' --bundles generic -o /dev/null
    mkdir "$scratch/older" "$scratch/other"
    sed 's/^KILN_INTERNAL //' "$source_root/tuned/nvidia/bundle.c" >"$scratch/older/bundle.c"
    expect 1 'is not what the kiln-gen of this version emits' --bundles "$scratch/older" \
        -o "$scratch/x"
    sed 's/^    \.format = .*/    .format = 1,/' "$source_root/tuned/nvidia/bundle.c" \
        >"$scratch/other/bundle.c"
    expect 1 'is not what the kiln-gen of this version emits' --bundles "$scratch/other" \
        -o "$scratch/x"
    [ ! -e "$scratch/x" ] || die "what is refused leaves a folder"
    echo "ok: what is refused"
}

# What two sources call alike, in a copy of the tree, must not pass.
check_collisions()
{
    mkdir -p "$scratch/tree/tuned" "$scratch/tree/scripts"
    cp -R "$source_root/runtime" "$source_root/meson.build" "$source_root/LICENSE" "$scratch/tree"
    cp -R "$source_root/tuned/generic" "$scratch/tree/tuned"
    cp "$source_root/scripts/onefile.py" "$scratch/tree/scripts"
    script=$scratch/tree/scripts/onefile.py
    echo '#define place 1' >>"$scratch/tree/runtime/log.c"
    expect 1 'has the word place, a macro of log.c' --bundles generic -o "$scratch/tree"
    echo '#undef place' >>"$scratch/tree/runtime/log.c"
    echo 'static int comes_before;' >>"$scratch/tree/runtime/log.c"
    quietly "$script" --bundles generic -o "$scratch/tree"
    ! "$1" -std=c11 -fsyntax-only "$scratch/tree/kiln.c" 2>"$scratch/log" ||
        die "a function and a variable of one name pass"
    grep -q comes_before "$scratch/log" || die "another error than that of the names"
    echo "ok: collisions are seen"
}

# run LANGUAGE COMPILER...: the README's program with kiln.c, where there is a device.
run()
{
    mkdir -p "$scratch/run"
    onefile --bundles pocl-avx512,generic -o "$scratch/run/kiln"
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$source_root/README.md" \
        >"$scratch/run/program.c"
    quietly "$@" -O2 -c "$scratch/run/kiln/kiln.c" -o "$scratch/run/kiln.o"
    quietly gcc -I"$scratch/run" -x c "$scratch/run/program.c" -x none "$scratch/run/kiln.o" \
        -lOpenCL -lpthread -o "$scratch/run/program"
    status=0
    out=$("$scratch/run/program") || status=$?
    case $status:$out in
        0:*": 19 22 43 50") echo "ok: $*: $out" ;;
        77:*) echo "skipped: no device to run the program on" ;;
        *) die "$*: the README's program: exit status $status, $out" ;;
    esac
}

native()
{
    num=0
    for compiler in gcc clang; do
        works $compiler || { echo "skipped: no $compiler"; continue; }
        num=$((num + 1))
        [ -e "$scratch/opencl" ] || link_headers $compiler
        compile $compiler -std=c11 -Wshadow
        expect_exports nm
        echo "ok: $compiler, C11"
    done
    [ "$num" -gt 0 ] || die "neither gcc nor clang is there"
    for compiler in g++ clang++; do
        works $compiler || { echo "skipped: no $compiler"; continue; }
        for standard in c++17 c++20; do
            compile $compiler -x c++ -std=$standard
            expect_exports nm
            echo "ok: $compiler, $standard"
        done
    done
    for compiler in musl-gcc aarch64-linux-gnu-gcc; do
        works $compiler || { echo "skipped: no $compiler"; continue; }
        compile $compiler -std=c11 -Wshadow
        echo "ok: $compiler, C11"
    done
    check_bytes
    check_usage
    if works gcc; then
        check_collisions gcc
        run gcc -std=c11
        ! works g++ || run g++ -x c++ -std=c++17
    fi
}

# A library for the linker alone: it has every function in the OpenCL header.
make_opencl()
{
    echo '#include <CL/cl.h>' | "$@" -I"$scratch/opencl" -DCL_TARGET_OPENCL_VERSION=120 \
        -E -P -x c - |
        grep -o '\bcl[A-Z][A-Za-z0-9]*(' | sort -u |
        sed 's/(/(void) { return 0; }/; s/^/int /' >"$scratch/opencl.c"
    [ -s "$scratch/opencl.c" ] || die "the OpenCL header declares no function"
    quietly "$@" -c "$scratch/opencl.c" -o "$scratch/opencl.o"
}

cross()
{
    num=0
    link_headers "$(command -v gcc || command -v clang)"
    for compiler in i686-linux-gnu-gcc arm-linux-gnueabihf-gcc x86_64-w64-mingw32-gcc; do
        cxx=$(echo "$compiler" | sed 's/gcc/g++/')
        works "$compiler" || { echo "skipped: no $compiler"; continue; }
        num=$((num + 1))
        ! works "$cxx" || compile "$cxx" -x c++ -std=c++17
        compile "$compiler" -std=c11 -Wshadow
        make_opencl "$compiler"
        quietly "$compiler" -std=c11 -I"$scratch/opencl" -I"$source_root/runtime/include" \
            "$source_root/tests/consumer/example.c" "$scratch/kiln.o" "$scratch/opencl.o" \
            -lpthread -lm -o "$scratch/example"
        echo "ok: $compiler"
    done
    [ "$num" -gt 0 ] || {
        echo "no cross compiler; Debian: apt-get install gcc-i686-linux-gnu g++-i686-linux-gnu" \
            "gcc-arm-linux-gnueabihf gcc-mingw-w64-x86-64-posix" >&2
        exit 77
    }
}

onefile --bundles generic -o "$scratch/generic"
sed -n 's/^KILN_API .*\(kiln_[a-z_]*\)(.*/\1/p' "$scratch/generic/kiln.h" |
    sort >"$scratch/declared"
[ -s "$scratch/declared" ] || die "no KILN_API function found in kiln.h"
case $kind in
    native) native ;;
    cross) cross ;;
    *) echo "$0: unknown kind $kind" >&2; exit 2 ;;
esac
