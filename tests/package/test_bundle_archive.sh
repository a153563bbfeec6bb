#!/bin/sh
# test_bundle_archive.sh SOURCE_ROOT: an archive of a bundle. The README's program is built with
# what it unpacks to and nothing else of Kiln's, and runs; its proof tells of every recipe, and of
# this library; made again it has the same bytes. What can not be made is refused, each in its own
# words.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 SOURCE_ROOT" >&2; exit 2; }
root=$1
make=$root/scripts/bundle_archive.sh
unset CC CFLAGS LDFLAGS
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-archive.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

# refused STATUS TEXT ARGUMENT...
refused()
{
    wanted=$1
    text=$2
    shift 2
    status=0
    output=$("$make" "$@" 2>&1) || status=$?
    [ "$status" -eq "$wanted" ] || die "$*: status $status: $output"
    echo "$output" | grep -qF -e "$text" || die "$*: not '$text': $output"
}

refused 2 "name bundles and a folder"
refused 2 "name bundles and a folder" pocl-avx512
refused 2 "one list of bundles and one folder" a b c
refused 2 "unknown option --fast" --fast
refused 1 "there is no $root/tuned/nobody/bundle.c" nobody out
refused 1 "generic is always there" generic out
refused 1 "no such file" --cross-file nothing.ini pocl-avx512 out
refused 1 "there is no $scratch/no/where/bundle.c" ./no/where out
mkdir mixed
cp "$root"/tuned/pocl-avx512/*.tsv mixed
cp "$root/tuned/pocl-avx2/bundle.c" mixed
refused 1 "mixed/bundle.c is not what its winners.tsv emits" ./mixed out
: >file
refused 1 "can not be made" pocl-avx512 file/folder

mkdir "a place"
cp -r "$root/tuned/pocl-avx512" "a place"
"$make" "./a place/pocl-avx512" spaced || die "a path with a space"
archive=$("$make" pocl-avx512 out)
tar xzf "$archive"
whole=$(basename "$archive" .tar.gz)
for file in lib/libkiln.a include/kiln/kiln.h lib/pkgconfig/kiln.pc \
    lib/cmake/kiln/kilnConfig.cmake LICENSE PROOF.md; do
    [ -s "$whole/$file" ] || die "the archive has no $file"
done
grep -q "$(sha256sum "$whole/lib/libkiln.a" | cut -d ' ' -f 1)" "$whole/PROOF.md" ||
    die "the proof is of another library"
sed -n 's/^recipe\t[a-z_]*\t\([^\t]*\)\t\([0-9a-f]*\).*/\1 \2/p' \
    "$root/tuned/pocl-avx512/winners.tsv" >recipes
[ "$(wc -l <recipes)" -ge 20 ] || die "few recipes: $(wc -l <recipes)"
while read -r recipe; do
    grep -F "\`${recipe% *}\`" "$whole/PROOF.md" | grep -q "${recipe##* }" ||
        die "the proof does not tell of $recipe"
done <recipes

# As in a product: elsewhere, with a compiler and OpenCL.
mkdir product
mv "$whole" product/kiln
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >program.c
gcc -o program program.c $(PKG_CONFIG_PATH=product/kiln/lib/pkgconfig pkg-config --static --cflags \
    --libs kiln)
status=0
./program >said || status=$?
[ "$status" -ne 77 ] || { echo "no OpenCL device" >&2; exit 77; }
grep -q '^success: 19 22 43 50$' said || die "the program says: $(cat said)"

again=$("$make" pocl-avx512 again)
cmp "$archive" "$again" || die "made again it has other bytes"
