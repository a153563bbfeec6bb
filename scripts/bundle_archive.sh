#!/bin/sh
# bundle_archive.sh: what a vendor ships for a device: the library with its bundle, and a proof.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END_OF_USAGE'
usage: scripts/bundle_archive.sh [--cross-file FILE] NAME[,NAME...] DIR

Builds kiln-VERSION-NAME-MACHINE.tar.gz in DIR. It unpacks to a folder of that name, with

    lib/libkiln.a             the library with these bundles of tuned/, and generic behind them
    include/kiln/kiln.h, lib/pkgconfig/kiln.pc, lib/cmake/kiln
    PROOF.md                  of each bundle: the device and driver it was tuned on, its recipes and
                              the hashes of their texts, and what choosing among them loses
    LICENSE

No device is needed. NAME may be a path, with a slash in it. bundle.c must be what winners.tsv emits
with these sources: one with device binaries of an older version is tuned again. A program links one
such archive: two of them define the same functions, and the first alone would count. For several
devices name several bundles.

    --cross-file FILE    Meson's, for another machine; MACHINE is then its name without .ini

Exit status: 0 on success, 1 on failure, 2 on wrong usage.
END_OF_USAGE
}

cross=
names=
output=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --cross-file)
            [ $# -ge 2 ] || wrong "--cross-file needs a value"
            [ -f "$2" ] || fail "$2: no such file"
            cross=$(realpath "$2")
            shift 2 ;;
        -*) wrong "unknown option $1" ;;
        *)
            if [ -z "$names" ]; then
                names=$1
            elif [ -z "$output" ]; then
                output=$1
            else
                wrong "one list of bundles and one folder, please"
            fi
            shift ;;
    esac
done
[ -n "$names" ] && [ -n "$output" ] || wrong "name bundles and a folder"

tree=$(dirname "$(dirname "$(realpath "$0")")")
version=$(version)

# The folders of the bundles; generic is put last by this script.
label=
list=
set --
IFS=,
for name in $names; do
    case $name in
        generic) fail "generic is always there: name the others alone" ;;
        */*) folder=$(realpath -m "$name") ;;
        *) folder=$tree/tuned/$name ;;
    esac
    for file in bundle.c winners.tsv device.tsv; do
        [ -f "$folder/$file" ] || fail "bundle $name: there is no $folder/$file"
    done
    set -- "$@" "$folder"
    list=$list$folder,
    label=$label${label:+-}$(basename "$folder")
done
unset IFS
machine=$(if [ -n "$cross" ]; then basename "$cross" .ini; else "${CC:-cc}" -dumpmachine; fi)
whole=kiln-$version-$label-$machine

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-archive.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

options="-Dtune=off -Dtests=false -Dbench=false -Dblas=disabled -Dclblast=disabled"
options="$options -Dpython=disabled -Ddefault_library=static"

# The proof tells of winners.tsv, and the library has what bundle.c holds.
quietly meson setup "$scratch/native" "$tree" $options -Dbundles=generic
quietly ninja -C "$scratch/native" generator/kiln-gen
"$scratch/native/generator/kiln-gen" check "$@" >"$scratch/check" 2>&1 ||
    fail "$(grep -v "changed since" "$scratch/check")"

quietly meson setup "$scratch/build" "$tree" ${cross:+--cross-file "$cross"} \
    --prefix=/ --libdir=lib $options -Dbundles="${list}generic"
quietly meson install -C "$scratch/build" --tags devel --destdir "$scratch/$whole"
cp "$tree/LICENSE" "$scratch/$whole"
"$tree/scripts/proof.py" "$scratch/$whole/lib/libkiln.a" "$@" >"$scratch/$whole/PROOF.md"

mkdir -p "$output" || fail "$output can not be made"
tar -C "$scratch" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
    -cf - "$whole" | gzip -n >"$scratch/archive" || fail "the archive can not be written"
mv "$scratch/archive" "$output/$whole.tar.gz" || fail "$output/$whole.tar.gz can not be written"
echo "$output/$whole.tar.gz"
