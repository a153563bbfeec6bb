#!/bin/sh
# test_install.sh SOURCE_ROOT BUILD_ROOT: installs the build into a temporary directory, looks at
# what is there, and builds and runs the example against it by every way that the README names.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 SOURCE_ROOT BUILD_ROOT" >&2; exit 2; }
source_root=$1
build_root=$2
consumer=$source_root/tests/consumer
cc=${CC:-cc}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-install.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# A build that came from elsewhere must not lend its flags or its search path.
unset CFLAGS LDFLAGS DESTDIR PKG_CONFIG_PATH LD_LIBRARY_PATH

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

say()
{
    echo "== $*"
}

# quietly COMMAND...: runs it; what it says is shown only when it fails.
quietly()
{
    "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; die "$*"; }
}

# build_option NAME: the value that an option of the build has.
build_option()
{
    meson introspect --buildoptions "$build_root" | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]))' "$1"
}

# run_example PROGRAM [LIBRARY_DIR]: runs it on a small shape; no OpenCL device is no failure.
run_example()
{
    status=0
    LD_LIBRARY_PATH=${2:-} "$1" 65 33 17 >"$scratch/log" 2>&1 || status=$?
    case $status in
        0) ;;
        77) echo "   (built, not run: no OpenCL device)" ;;
        *) cat "$scratch/log" >&2; die "$1 ended with status $status" ;;
    esac
}

# links_shared PROGRAM: whether the program loads libkiln.so when it starts.
links_shared()
{
    readelf -d "$1" | grep -q 'NEEDED.*libkiln\.so'
}

# expect_variant static|shared PROGRAM
expect_variant()
{
    if links_shared "$2"; then found=shared; else found=static; fi
    [ "$found" = "$1" ] || die "$2 is $found, not $1"
}

# has_library static|shared: whether the build installs that variant.
has_library()
{
    [ "$default_library" = both ] || [ "$default_library" = "$1" ]
}

check_tree()
{
    say "what is installed"
    [ -f "$root/include/kiln/kiln.h" ] || die "kiln.h is not installed"
    [ -f "$libdir/pkgconfig/kiln.pc" ] || die "kiln.pc is not installed"
    [ -f "$libdir/cmake/kiln/kilnConfig.cmake" ] || die "kilnConfig.cmake is not installed"
    [ -f "$libdir/cmake/kiln/kilnConfigVersion.cmake" ] || die "no CMake version file"
    [ "$(find "$root/include" -type f | wc -l)" -eq 1 ] || die "kiln.h is not the only header"
    [ -f "$root/share/doc/kiln/LICENSE" ] || die "the licence is not installed"
    [ "$(build_option install_tools)" = False ] || check_tools
    ! has_library static || [ -f "$libdir/libkiln.a" ] || die "libkiln.a is not installed"
    ! has_library shared || check_shared
}

# The programs run where they are installed, and have a manual page each.
check_tools()
{
    for program in "$root"/bin/*; do
        name=${program##*/}
        [ "$("$program" --version)" = "$name $version" ] || die "$name does not tell its version"
        [ -s "$root/share/man/man1/$name.1" ] || die "$name has no manual page"
    done
    [ -x "$root/bin/kiln-gen" ] || die "kiln-gen is not installed"
}

# The shared library: a link for the linker, and a soname that is a link to the versioned file.
check_shared()
{
    [ -L "$libdir/libkiln.so" ] || die "libkiln.so is not a link"
    soname=$(readelf -d "$libdir/libkiln.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    case $soname in
        libkiln.so.[0-9]*) ;;
        *) die "the soname is \"$soname\"" ;;
    esac
    [ -e "$libdir/$soname" ] || die "$soname is not installed"
    [ -f "$libdir/libkiln.so.$version" ] || die "libkiln.so.$version is not installed"
}

# The tree is staged, so the prefix that kiln.pc names is not where it lies.
relocate_pkgconfig()
{
    sed -i "s|^prefix=.*|prefix=$1|" "$2/pkgconfig/kiln.pc"
}

# static_copy: a copy of the installed tree without the shared library. -lkiln prefers the shared.
static_copy()
{
    cp -a "$root" "$scratch/static-only"
    static_root=$scratch/static-only
    static_libdir=$static_root/$libdir_option
    rm -f "$static_libdir"/libkiln.so*
    relocate_pkgconfig "$static_root" "$static_libdir"
}

# with_archive LIBDIR PROGRAM: as README.md says it for a place with both libraries.
with_archive()
{
    flags=$(PKG_CONFIG_PATH=$1/pkgconfig pkg-config --cflags --libs --static kiln \
        | sed 's/-lkiln/-l:libkiln.a/')
    # shellcheck disable=SC2086
    quietly "$cc" -std=c11 -o "$2" "$consumer/example.c" $flags -lm
}

# with_pkgconfig LIBDIR PROGRAM [--static]: the line as printed, and nothing else.
with_pkgconfig()
{
    pc_dir=$1/pkgconfig
    program=$2
    shift 2
    flags=$(PKG_CONFIG_PATH=$pc_dir pkg-config "$@" --cflags --libs kiln)
    # shellcheck disable=SC2086
    quietly "$cc" -std=c11 -o "$program" "$consumer/example.c" $flags -lm
}

# test_readme: the first line with a compiler in the README, on the program that stands above it,
# where the archive is installed alone, as it is by default.
test_readme()
{
    line=$(sed -n 's/.*`\(gcc program\.c [^`]*\)`.*/\1/p' "$source_root/README.md" | head -n 1)
    [ -n "$line" ] || die "the README does not say how to link"
    say "README: $line"
    mkdir "$scratch/readme"
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$source_root/README.md" \
        >"$scratch/readme/program.c"
    (cd "$scratch/readme" && PKG_CONFIG_PATH=$static_libdir/pkgconfig quietly sh -ec "$line")
    expect_variant static "$scratch/readme/a.out"
    run_example "$scratch/readme/a.out"
}

test_pkgconfig()
{
    [ "$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --modversion kiln)" = "$version" ] \
        || die "kiln.pc does not say version $version"
    if has_library static; then
        say "pkg-config --static, the archive"
        with_pkgconfig "$static_libdir" "$scratch/pc-static" --static
        expect_variant static "$scratch/pc-static"
        run_example "$scratch/pc-static"
        test_readme
    fi
    if [ "$default_library" = static ]; then
        say "pkg-config without --static, the archive"
        with_pkgconfig "$libdir" "$scratch/pc-plain"
        expect_variant static "$scratch/pc-plain"
        run_example "$scratch/pc-plain"
    fi
    if has_library shared; then
        say "pkg-config, the shared library"
        with_pkgconfig "$libdir" "$scratch/pc-shared"
        expect_variant shared "$scratch/pc-shared"
        run_example "$scratch/pc-shared" "$libdir"
        say "pkg-config --static where both are installed"
        with_pkgconfig "$libdir" "$scratch/pc-both" --static
        run_example "$scratch/pc-both" "$libdir"
    fi
    if has_library static && has_library shared; then
        say "pkg-config --static where both are installed, the archive by its name"
        with_archive "$libdir" "$scratch/pc-archive"
        expect_variant static "$scratch/pc-archive"
        run_example "$scratch/pc-archive"
    fi
}

# with_cmake DIRECTORY TARGET
with_cmake()
{
    quietly cmake -S "$consumer/cmake" -B "$1" -DCMAKE_PREFIX_PATH="$root" -DKILN_TARGET="$2"
    quietly cmake --build "$1"
}

test_cmake()
{
    command -v cmake >/dev/null 2>&1 || { say "no CMake: its package is not tried"; return; }
    for variant in static shared; do
        has_library $variant || continue
        say "CMake, kiln::kiln_$variant"
        with_cmake "$scratch/cmake-$variant" kiln::kiln_$variant
        expect_variant $variant "$scratch/cmake-$variant/kiln-example"
        run_example "$scratch/cmake-$variant/kiln-example"
    done
    say "CMake, kiln::kiln"
    with_cmake "$scratch/cmake-default" kiln::kiln
    if has_library static; then expected=static; else expected=shared; fi
    expect_variant $expected "$scratch/cmake-default/kiln-example"
}

# with_meson PROJECT BUILD_DIR VARIANT PKG_CONFIG_PATH
with_meson()
{
    PKG_CONFIG_PATH=$4 quietly meson setup "$2" "$1" -Ddefault_library="$3"
    quietly ninja -C "$2" kiln-example
}

test_meson()
{
    project=$scratch/project
    mkdir "$project"
    cp "$consumer/meson/meson.build" "$consumer/example.c" "$project"
    for variant in static shared; do
        has_library $variant || continue
        say "Meson, dependency('kiln') as installed, $variant"
        if [ $variant = static ]; then path=$static_libdir; else path=$libdir; fi
        with_meson "$project" "$scratch/meson-$variant" $variant "$path/pkgconfig"
        expect_variant $variant "$scratch/meson-$variant/kiln-example"
        run_example "$scratch/meson-$variant/kiln-example" "$libdir"
    done
    mkdir "$project/subprojects"
    cp "$consumer/meson/subprojects/kiln.wrap" "$project/subprojects"
    ln -s "$source_root" "$project/subprojects/kiln"
    for variant in static shared; do
        say "Meson, Kiln as a subproject, $variant"
        with_meson "$project" "$scratch/subproject-$variant" $variant /nonexistent
        expect_variant $variant "$scratch/subproject-$variant/kiln-example"
        run_example "$scratch/subproject-$variant/kiln-example"
    done
}

prefix=$(build_option prefix)
libdir_option=$(build_option libdir)
default_library=$(build_option default_library)
version=$(meson introspect --projectinfo "$build_root" | python3 -c '
import json, sys
print(json.load(sys.stdin)["version"])')

quietly meson install -C "$build_root" --no-rebuild --destdir "$scratch/stage"
root=$scratch/stage$prefix
libdir=$root/$libdir_option

check_tree
relocate_pkgconfig "$root" "$libdir"
static_copy
test_pkgconfig
test_cmake
test_meson
say "all ways build the example"
