#!/bin/sh
# make_dist.sh: the tarball of a version, and the wrap by which Meson projects take it.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END_OF_USAGE'
usage: scripts/make_dist.sh [--url URL] DIR

Writes into DIR, of what is committed and nothing else:

    kiln-VERSION.tar.gz   the sources; neither build nor test of them needs git
    kiln.wrap             for the folder "subprojects" of a Meson project that says
                          dependency('kiln')

    --url URL    where the tarball will be found, from which the wrap then has it; without it the
                 tarball's place is subprojects/packagefiles

Exit status: 0 on success, 1 on failure, 2 on wrong usage.
END_OF_USAGE
}

url=
output=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --url)
            [ $# -ge 2 ] || wrong "--url needs a value"
            case $2 in *://*) ;; *) wrong "--url: '$2' is no URL" ;; esac
            url=$2
            shift 2 ;;
        -*) wrong "unknown option $1" ;;
        *)
            [ -z "$output" ] || wrong "one folder, please"
            output=$1
            shift ;;
    esac
done
[ -n "$output" ] || wrong "DIR is needed"
version=$(version)
root=$(cd "$(dirname "$0")/.." && pwd)
if [ ! -e "$root/.git" ] || ! git -C "$root" rev-parse -q --verify HEAD >/dev/null; then
    fail "$root is no git repository with a commit"
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-dist.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# Meson leaves the tarball in a build folder. That of a clone is nobody else's.
quietly git clone -q "$root" "$scratch/clone"
quietly meson setup "$scratch/build" "$scratch/clone" -Dtune=off -Dbundles=generic -Dtests=false \
    -Dbench=false -Dblas=disabled
quietly meson dist -C "$scratch/build" --no-tests --formats gztar
tarball=kiln-$version.tar.gz
mkdir -p "$output"
cp "$scratch/build/meson-dist/$tarball" "$output/$tarball"
hash=$(sha256sum "$output/$tarball" | cut -d ' ' -f 1)
if [ -n "$url" ]; then source_url="source_url = $url"; else source_url=; fi
awk -v version="$version" -v hash="$hash" -v url="$source_url" '
    /@SOURCE_URL@/ { if (url != "") print url; next }
    { gsub(/@VERSION@/, version); gsub(/@HASH@/, hash); print }
' "$root/scripts/packaging/kiln.wrap.in" >"$output/kiln.wrap"
