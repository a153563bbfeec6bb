#!/bin/sh
# make_deb.sh: Debian's packages, source and binary.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END_OF_USAGE'
usage: scripts/make_deb.sh [--tarball FILE] DIR [-- OPTION...]

Builds the packages of scripts/packaging/debian in DIR, from what is committed. Options after -- go
to dpkg-buildpackage, for instance -b. What is missing for a build is said by that, and by

    apt-get build-dep ./DIR/kiln-VERSION

    --tarball FILE    of make_dist.sh, in place of what is committed; it keeps its name there

The same sources give the same packages, whatever DIR is.

Exit status: 0 on success, 1 on failure, 2 on wrong usage.
END_OF_USAGE
}

tarball=
output=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --tarball)
            [ $# -ge 2 ] || wrong "--tarball needs a value"
            [ -f "$2" ] || fail "$2: no such file"
            tarball=$(realpath "$2")
            shift 2 ;;
        --) shift; break ;;
        -*) wrong "unknown option $1; dpkg-buildpackage's go after --" ;;
        *)
            [ -z "$output" ] || wrong "one folder, please"
            output=$1
            shift ;;
    esac
done
[ -n "$output" ] || wrong "DIR is needed"
command -v dpkg-buildpackage >/dev/null || fail "dpkg-buildpackage is missing (Debian: dpkg-dev)"
version=$(version)
scripts=$(cd "$(dirname "$0")" && pwd)
debian=$scripts/packaging/debian
packaged=$(sed -n '1s/^kiln (\(.*\)-[^-]*).*/\1/p' "$debian/changelog")
[ "$packaged" = "$version" ] ||
    fail "meson.build says version $version, scripts/packaging/debian/changelog $packaged"

mkdir -p "$output"
cd "$output"
place=$PWD
[ ! -e "kiln-$version" ] || fail "$PWD/kiln-$version is there already: remove it first"
# What a failure leaves must not be in the way of the next try.
trap 'status=$?; [ "$status" -eq 0 ] || rm -rf "$place/kiln-$version"; exit "$status"' EXIT
trap 'exit 1' HUP INT TERM
if [ -z "$tarball" ]; then
    "$scripts/make_dist.sh" .
    tarball=kiln-$version.tar.gz
fi
cp -f "$tarball" "kiln_$version.orig.tar.gz"
tar -xzf "$tarball"
cd "kiln-$version"
cp -R "$debian" debian
dpkg-buildpackage -us -uc "$@"
