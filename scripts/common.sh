# common.sh: version, errors, packages and configuration. Sourced by the other scripts, never run.
# shellcheck shell=sh disable=SC2034

# What building takes. PoCL is the OpenCL device of a machine that has no other.
build_packages='meson ninja-build pkg-config gcc libc6-dev ocl-icd-opencl-dev opencl-headers
pocl-opencl-icd'

# What the tests take beyond that.
test_packages='oclgrind libcmocka-dev libopenblas-dev libopenblas0-pthread libclblast-dev valgrind
libblas-test clblast-tests clang clang-format-14 cmake make g++ gcc-aarch64-linux-gnu
libc6-dev-arm64-cross binutils python3 python3-numpy python3-pyopencl python3-pip python3-mesonpy
parallel musl-tools mandoc man-db bsdextrautils'

# What the long suite takes beyond that.
long_packages='chromium cython3 debhelper dpkg-dev g++-arm-linux-gnueabihf g++-i686-linux-gnu
g++-mingw-w64-x86-64-posix gcc-arm-linux-gnueabihf gcc-i686-linux-gnu gcc-mingw-w64-x86-64-posix
hpcc libc6-dev-armhf-cross libc6-dev-i386-cross libc6-i386 lintian mmdebstrap octave python3-dev
python3-hypothesis python3-pytest python3-venv qemu-user qemu-user-static'

# version: Kiln's, of which meson.build tells, for a script in this folder.
version()
{
    sed -n "s/^  version: '\(.*\)',\$/\1/p" "$(dirname "$0")/../meson.build"
}

print_version()
{
    echo "${0##*/} $(version)"
}

# wrong TEXT: ends the script, which was not called as --help says.
wrong()
{
    echo "${0##*/}: $*; see --help" >&2
    exit 2
}

# fail TEXT: ends the script, which could not do what it was asked for.
fail()
{
    echo "${0##*/}: $*" >&2
    exit 1
}

# need_number OPTION VALUE: the value is a number from 1, or the script ends.
need_number()
{
    case $2 in "" | *[!0-9]* | 0*) wrong "$1 needs a positive number, not '$2'" ;; esac
}

# quietly COMMAND...: runs it. What it prints is seen only if it fails, which ends the script. It is
# kept in the folder $scratch meanwhile.
quietly()
{
    # shellcheck disable=SC2154
    "$@" >"$scratch/log" 2>&1 || { tail -n 30 "$scratch/log" >&2; fail "$1 failed"; }
}

# is_installed PACKAGE: whether dpkg holds it, fully installed.
is_installed()
{
    status=$(dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null) || return 1
    case $status in
        *not-installed* | *config-files*) return 1 ;;
        *installed*) return 0 ;;
        *) return 1 ;;
    esac
}

# require_packages PACKAGE...: installs the missing ones when root; otherwise says how and stops.
# Leaves other systems than Debian's family alone: Meson names what it does not find there.
require_packages()
{
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "Not a Debian system: taking compiler, Meson and OpenCL as they are." >&2
        return 0
    fi
    missing=
    for package in "$@"; do
        is_installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "Packages are missing. Install them, then run this again:" >&2
        echo "    sudo apt-get install -y$missing" >&2
        exit 1
    fi
    echo "Installing$missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    # shellcheck disable=SC2086
    apt-get install -y -q $missing
}

# configure BUILD_DIR OPTION...: sets the build directory up, or up anew when it exists.
configure()
{
    directory=$1
    shift
    if [ -f "$directory/meson-private/coredata.dat" ]; then
        meson setup --reconfigure "$directory" "$@"
    else
        meson setup "$directory" "$@"
    fi
}
