#!/bin/sh
# test_dist.sh SOURCE_ROOT [whole]: the tarball holds what git knows, is configured where there is
# no git, and is built by a Meson project that has nothing but the wrap. "whole": the tarball's two
# commands, build.sh and test.sh, work.
set -eu

[ $# -ge 1 ] || { echo "usage: $0 SOURCE_ROOT [whole]" >&2; exit 2; }
source_root=$1
whole=${2:-}
if [ ! -e "$source_root/.git" ] || ! git -C "$source_root" rev-parse -q --verify HEAD >/dev/null
then
    echo "$source_root is no git repository" >&2
    exit 77
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-dist-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

# quietly COMMAND...: runs it; what it says is shown only when it fails.
quietly()
{
    "$@" >"$scratch/log" 2>&1 || { tail -n 60 "$scratch/log" >&2; die "$*"; }
}

# A project as in tests/consumer, with the wrap; the tarball is found where this says.
check_wrap()
{
    project=$scratch/project
    mkdir -p "$project/subprojects"
    cp "$source_root/tests/consumer/meson/meson.build" "$source_root/tests/consumer/example.c" \
        "$project"
    cp "$scratch/kiln.wrap" "$project/subprojects"
    if [ "$1" = packagefiles ]; then
        mkdir "$project/subprojects/packagefiles"
        cp "$tarball" "$project/subprojects/packagefiles"
    fi
    quietly meson setup "$scratch/wrap" "$project" \
        --wrap-mode=forcefallback -Ddefault_library=static
    if [ "$1" = packagefiles ]; then
        quietly ninja -C "$scratch/wrap" kiln-example
        status=0
        "$scratch/wrap/kiln-example" 65 33 17 >"$scratch/log" 2>&1 || status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || { cat "$scratch/log" >&2; die "example"; }
    fi
    rm -rf "$project" "$scratch/wrap"
    echo "ok: the wrap, with the tarball from $1"
}

quietly "$source_root/scripts/make_dist.sh" "$scratch"
tarball=$(echo "$scratch"/kiln-*.tar.gz)
[ -f "$tarball" ] || die "there is no tarball"
tar -xzf "$tarball" -C "$scratch"
tree=$scratch/$(basename "$tarball" .tar.gz)
git -C "$source_root" ls-tree -r --name-only HEAD | grep -v '^\.git' | sort >"$scratch/committed"
(cd "$tree" && find . -type f | sed 's|^\./||') | grep -v '^\.git' | sort >"$scratch/packed"
diff "$scratch/committed" "$scratch/packed" || die "the tarball (>) is not what is committed (<)"
echo "ok: $(wc -l <"$scratch/packed") files in ${tarball##*/}, $(wc -c <"$tarball") bytes"

# From here on there is a git that tells who called it, and can do nothing.
make_dist=$source_root/scripts/make_dist.sh
real_path=$PATH
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "git $*" >>"%s"\nexit 1\n' "$scratch/called" >"$scratch/bin/git"
chmod +x "$scratch/bin/git"
PATH=$scratch/bin:$PATH
if [ -z "$whole" ]; then
    (cd "$tree" && quietly meson setup build -Dtune=off)
    echo "ok: configured"
    check_wrap packagefiles
    (PATH=$real_path
        quietly "$make_dist" --url "file://$scratch/again/${tarball##*/}" "$scratch/again")
    cp "$scratch/again/kiln.wrap" "$scratch"
    check_wrap source_url
else
    cd "$tree"
    quietly scripts/build.sh -- -Dtune_seconds=20 -Dprecisions=single
    grep -q 'bundle: local' "$scratch/log" ||
        { tail "$scratch/log" >&2; die "build.sh: no bundle"; }
    echo "ok: build.sh"
    quietly scripts/test.sh build-test -- --suite core --suite golden --suite package \
        --suite consumer --suite install
    echo "ok: test.sh: $(tail -n 1 "$scratch/log")"
fi
[ ! -s "$scratch/called" ] || { cat "$scratch/called" >&2; die "git was called"; }
