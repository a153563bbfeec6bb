#!/bin/sh
# build.sh: from a fresh Debian to a tuned libkiln.a, and one multiplication done with it.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END'
usage: scripts/build.sh [BUILD_DIR] [-- MESON_OPTION...]

Installs what is missing from Debian's packages (as root; otherwise prints the apt line and stops),
tunes the kernels for this machine's OpenCL device, builds the library in BUILD_DIR (default:
build) and runs the example. Options after -- go to "meson setup", for instance:

    scripts/build.sh
    scripts/build.sh build-gpu -- -Ddevice=H200 -Dtune_seconds=600 -Dprecisions=single
END
}

build=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --) shift; break ;;
        -*) wrong "unknown option $1; Meson's go after --" ;;
        *)
            [ -z "$build" ] || wrong "one build directory, please"
            build=$1
            shift ;;
    esac
done
case $build in "" | /*) ;; *) build=$PWD/$build ;; esac

cd "$(dirname "$0")/.."
build=${build:-$PWD/build}

# shellcheck disable=SC2086
require_packages $build_packages
configure "$build" -Dtune=on "$@"
ninja -C "$build"

echo
echo "The example, with the library just built:"
"$build/tests/consumer/kiln-example"
