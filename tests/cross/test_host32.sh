#!/bin/sh
# test_host32.sh SOURCE_ROOT i386|armhf SUITE...: builds for a 32-bit host and runs suites there
# that need no device. cmocka of that architecture is unpacked into a folder, not installed. 77
# where a package is missing and cannot be had.
set -eu

[ $# -ge 3 ] || { echo "usage: $0 SOURCE_ROOT i386|armhf SUITE..." >&2; exit 2; }
source_root=$1
machine=$2
shift 2
case $machine in
    i386)
        triplet=i386-linux-gnu
        packages="gcc-i686-linux-gnu libc6-dev-i386-cross libc6-i386"
        compiler=i686-linux-gnu-gcc
        runs= ;;
    armhf)
        triplet=arm-linux-gnueabihf
        packages="gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user"
        compiler=arm-linux-gnueabihf-gcc
        runs="qemu-arm -L /usr/arm-linux-gnueabihf" ;;
    *) echo "$0: unknown machine $machine" >&2; exit 2 ;;
esac

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-host32.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset CC CFLAGS LDFLAGS DESTDIR

skip()
{
    echo "skipped: $*" >&2
    exit 77
}

echo 'int main(void) { return 0; }' >"$scratch/main.c"
# shellcheck disable=SC2086
{ $compiler "$scratch/main.c" -o "$scratch/main" && $runs "$scratch/main"; } 2>/dev/null ||
    skip "no compiler for $machine, or nothing that runs it; Debian: apt-get install $packages"

# apt knows the other architecture in a folder of its own alone.
apt()
{
    apt-get -q -o APT::Architectures::="$(dpkg --print-architecture)" \
        -o APT::Architectures::="$machine" -o Dir::State::lists="$scratch/lists" \
        -o Dir::Cache="$scratch/cache" -o APT::Sandbox::User=root "$@" >"$scratch/log" 2>&1
}
mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial" "$scratch/root"
(cd "$scratch" && apt update; cd "$scratch" &&
    apt download "libcmocka0:$machine" "libcmocka-dev:$machine") || {
    cat "$scratch/log" >&2
    skip "cmocka for $machine cannot be downloaded"
}
for package in "$scratch"/*.deb; do
    dpkg -x "$package" "$scratch/root"
done

export PKG_CONFIG_LIBDIR="$scratch/root/usr/lib/$triplet/pkgconfig"
export PKG_CONFIG_SYSROOT_DIR="$scratch/root"
export LD_LIBRARY_PATH="$scratch/root/usr/lib/$triplet"
export QEMU_SET_ENV="LD_LIBRARY_PATH=$LD_LIBRARY_PATH"
meson setup "$scratch/build" "$source_root" \
    --cross-file "$source_root/tests/cross/$machine.ini" -Dtune=off -Dbench=false \
    -Ddefault_library=static >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
suites=
for suite in "$@"; do
    suites="$suites --suite $suite"
done
# shellcheck disable=SC2086
meson test -C "$scratch/build" --print-errorlogs $suites
