#!/bin/sh
# test_board.sh SOURCE_ROOT CROSS_FILE: the recipe for a product without a compiler, from beginning
# to end, by the commands of tuned/README.md. The board is Debian's arm64 PoCL under qemu-user; ssh
# and scp are functions here. 77 where there is no such board: it takes a network, qemu-user-static,
# and user namespaces that may have a binfmt_misc of their own (Linux 6.7).
#
# PoCL's "binary" has the kernel as LLVM's bitcode too, from which it compiles for sizes of
# work-groups that it has not seen: its compiler is not absent, but out of the application's reach.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 SOURCE_ROOT CROSS_FILE" >&2; exit 2; }
source_root=$1
cross_file=$2
binfmt=/usr/lib/binfmt.d/qemu-aarch64.conf

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-board.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset CC CFLAGS LDFLAGS DESTDIR PKG_CONFIG_PATH PKG_CONFIG_LIBDIR

skip()
{
    echo "skipped: $*" >&2
    exit 77
}

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

# ---- The board ----

# Enters a root with qemu for the programs in it; all of it ends with the process.
cat >"$scratch/enter.sh" <<'END'
set -eu
root=$1 binfmt=$2
shift 2
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
cat "$binfmt" >/proc/sys/fs/binfmt_misc/register
[ $# -gt 0 ] || exit 0
for folder in dev proc sys; do
    mkdir -p "$root/$folder"
    mount --rbind "/$folder" "$root/$folder"
done
exec chroot "$root" "$@"
END

# on_board [COMMAND...]
on_board()
{
    timeout 3600 unshare --map-root-user --mount sh "$scratch/enter.sh" "$SYSROOT" "$binfmt" "$@"
}

# Packages with all that they need, into the root, by an apt that knows arm64 alone.
apt()
{
    quietly_or_skip=$1
    shift
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
        -o Dir::State::lists="$scratch/lists" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$scratch/cache" -o APT::Sandbox::User=root "$@" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log" >&2; skip "$quietly_or_skip"; }
}

make_board()
{
    mkdir -p "$SYSROOT" "$scratch/lists/partial" "$scratch/cache/archives/partial"
    apt "no lists of packages for arm64" update
    apt "PoCL for arm64 cannot be downloaded" install -y --no-install-recommends --download-only \
        pocl-opencl-icd ocl-icd-opencl-dev opencl-c-headers libc6-dev
    for package in "$scratch"/cache/archives/*.deb; do
        quietly dpkg -x "$package" "$SYSROOT"
    done
    mkdir -p "$SYSROOT/tmp"
    rm -rf "$scratch/cache"
}

# ---- The commands of the recipe ----

# scp [-r] FROM TO: "board:" is the root.
scp()
{
    [ "$1" != -r ] || shift
    from=$1
    to=$2
    case $from in board:*) from=$SYSROOT/${from#board:} ;; esac
    case $to in board:*) to=$SYSROOT/${to#board:} ;; esac
    cp -r "$from" "$to"
}

# ssh board COMMAND...: tunes for a minute in single precision; runs all else without a compiler,
# and without what the tuner's kernels have left in PoCL's cache.
ssh()
{
    shift
    command=${1#./}
    shift
    case $command in
        kiln-tune)
            POCL_CACHE_DIR=/tmp/board on_board "/$command" "$@" --seconds 60 --precisions single ;;
        *)
            QEMU_SET_ENV=LD_PRELOAD=/libno_compiler.so POCL_CACHE_DIR=/tmp/product \
                on_board "/$command" "$@" | tee "$scratch/said" ;;
    esac
}

command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
command -v unshare >/dev/null || skip "no unshare; Debian: util-linux"
[ -f "$binfmt" ] || skip "no $binfmt; Debian: apt-get install qemu-user-static"
SYSROOT=$scratch/root
on_board 2>"$scratch/log" ||
    skip "a user namespace can have no binfmt_misc: $(tail -n 1 "$scratch/log")"
make_board

# As in a checkout of one's own, without what was built there.
mkdir "$scratch/kiln"
tar -C "$source_root" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$scratch/kiln" -xf -
cd "$scratch/kiln"
options="[built-in options]\nc_args = ['--sysroot=$SYSROOT']\nc_link_args = c_args\n\n"
sed "s#^\[binaries\]#$options&#" "$cross_file" >board.ini
grep -q sysroot= board.ini || die "the cross file has no [binaries]"
cp tests/tune/embed_check.c program.c
quietly aarch64-linux-gnu-gcc --sysroot="$SYSROOT" -shared -fPIC -DCL_TARGET_OPENCL_VERSION=120 \
    tests/tune/no_compiler.c -o "$SYSROOT/libno_compiler.so"

awk '/^## / { on = $0 == "## A product without a compiler" } on && /^    /' tuned/README.md \
    >"$scratch/recipe.sh"
[ "$(grep -c 'ssh board' "$scratch/recipe.sh")" -eq 2 ] || die "tuned/README.md has no such recipe"
cat "$scratch/recipe.sh"
. "$scratch/recipe.sh"

! grep -q piece_ myboard/bundle.c || die "the bundle has source"
grep -q '^log: the device has no compiler' "$scratch/said" || die "the product has a compiler"
grep -q '^right$' "$scratch/said" || die "a product is wrong"
grep -q '^half: the device has no compiler, and no embedded binary serves$' "$scratch/said" ||
    die "what the bundle lacks is not told"
