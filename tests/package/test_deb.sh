#!/bin/sh
# test_deb.sh SOURCE_ROOT: Debian's packages. They are built twice, in two places, with the same
# bytes; lintian finds no fault; they are installed in a root made for that, where the tests of
# scripts/packaging/debian/tests pass, and removed again.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 SOURCE_ROOT" >&2; exit 2; }
source_root=$1
debian=$source_root/scripts/packaging/debian

skip()
{
    echo "$*" >&2
    exit 77
}

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

[ -e "$source_root/.git" ] || skip "$source_root is no git repository"
grep -qx 'ID=debian' /etc/os-release || skip "this is not Debian"
[ "$(id -u)" -eq 0 ] || skip "a root cannot be made without root"
for tool in dpkg-buildpackage dh lintian mmdebstrap; do
    command -v $tool >/dev/null || skip "$tool is missing"
done
dpkg-checkbuilddeps "$debian/control" || skip "packages for the build are missing"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-deb.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# quietly COMMAND...: runs it; what it says is shown only when it fails.
quietly()
{
    "$@" >"$scratch/log" 2>&1 || { tail -n 60 "$scratch/log" >&2; die "$*"; }
}

# A build of Debian's begins without the flags of this one.
unset CC CFLAGS LDFLAGS MAKEFLAGS
quietly "$source_root/scripts/make_deb.sh" "$scratch/first"
echo "ok: built"

(umask 027
    export TZ=Asia/Tokyo LC_ALL=C DEB_BUILD_OPTIONS=nocheck
    quietly "$source_root/scripts/make_deb.sh" --tarball "$scratch"/first/kiln-*.tar.gz \
        "$scratch/another/place" -- -b)
num=0
for package in "$scratch"/first/*.deb; do
    cmp "$package" "$scratch/another/place/${package##*/}" || die "not the same bytes"
    num=$((num + 1))
done
echo "ok: $num packages, the same bytes in another place"

# There is no bug of Debian's that asks for a package of Kiln, no address where versions are found.
lintian --allow-root --display-info --pedantic --fail-on error,warning,info,pedantic \
    --suppress-tags initial-upload-closes-no-bugs,debian-watch-file-is-missing,no-homepage-field \
    "$scratch"/first/*.changes || die "lintian complains"
echo "ok: lintian"

# The packages that the tests need, but for Kiln's own; and the mirrors that apt has of Debian.
own=$(sed -n 's/^Package: //p' "$debian/control")
needed=$(sed -n 's/^Depends: //p' "$debian/tests/control" | tr -s ', ' '\n\n' | sort -u |
    grep -vxF "$own" | tr '\n' ',')
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
    'Origin: Debian' | sort -u >"$scratch/sources"
[ -s "$scratch/sources" ] || skip "apt has no mirror of Debian"

# Run when the root is there, whose folder is $1.
cat >"$scratch/hook" <<'END'
set -eu
root=$1 scratch=$2
: >"$scratch/root-is-there"
mkdir "$root/debs"
cp "$scratch"/first/*.deb "$root/debs"
rm -f "$root"/debs/*-dbgsym_*
cp -R "$scratch"/first/kiln-*/ "$root/source"
chroot "$root" sh -euc '
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q /debs/*.deb
    cd /source
    for test in $(sed -n "s/^Tests: //p" debian/tests/control); do
        AUTOPKGTEST_TMP=$(mktemp -d) "debian/tests/$test"
        echo "== passed: $test"
    done
    alternative=$(find /usr/lib -path "*/kiln/libblas.so.3")
    link=${alternative%/kiln/*}/libblas.so.3
    update-alternatives --set "libblas.so.3-$(basename "${link%/*}")" "$alternative"
    apt-get purge -y -q $(sed -n "s/^Package: //p" debian/control)
    test -e "$link"
    test ! -e "$alternative"
    test ! -e /usr/share/kiln
    echo "== passed: removal"
'
END
status=0
mmdebstrap --quiet --variant=apt --include="${needed%,}" \
    --customize-hook="sh '$scratch/hook' \"\$1\" '$scratch'" \
    "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" /dev/null - <"$scratch/sources" \
    >"$scratch/log" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
    tail -n 60 "$scratch/log" >&2
    [ -e "$scratch/root-is-there" ] || skip "no root could be made of the mirrors that apt has"
    die "the packages do not do in a root of their own"
fi
grep '^== passed' "$scratch/log"
