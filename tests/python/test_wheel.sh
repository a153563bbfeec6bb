#!/bin/sh
# test_wheel.sh SOURCE_ROOT PYTHON: a wheel of the tree holds the package, the library and nothing
# else, and the examples run with what was installed from it alone.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 SOURCE_ROOT PYTHON" >&2; exit 2; }
source_root=$1
python=$2

for module in pip mesonpy; do
    "$python" -c "import $module" 2>/dev/null ||
        { echo "skipped: $python has no module $module" >&2; exit 77; }
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-wheel.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset KILN_LIBRARY PYTHONPATH DESTDIR

die()
{
    echo "FAILED: $*" >&2
    exit 1
}

# pip ARGUMENT...: without a network.
pip()
{
    PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
        "$python" -m pip "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; die "pip $*"; }
}

# The backend writes into the tree.
mkdir "$scratch/tree"
(cd "$source_root" && tar -cf - meson.build meson_options.txt pyproject.toml LICENSE clients \
    generator runtime scripts tuned) | tar -xf - -C "$scratch/tree"
pip wheel --no-build-isolation --no-deps -w "$scratch" "$scratch/tree"
wheel=$(ls "$scratch"/*.whl)
echo "ok: $(basename "$wheel"), $(wc -c <"$wheel") bytes"
"$python" -m zipfile -l "$wheel" | awk 'NR > 1 { print $1 }' | sort >"$scratch/files"
grep -qx 'kiln/libkiln\.so' "$scratch/files" || die "there is no library in it"
grep -qx 'kiln/_header\.py' "$scratch/files" || die "there is no _header.py in it"
! grep -Evx 'kiln/(libkiln\.so|[a-z_]*\.py)|kiln-[0-9.]*\.dist-info/.*' "$scratch/files" ||
    die "these are in it, too"
case $wheel in *-any.whl) die "it claims to be for any machine" ;; esac

pip install --no-deps --target "$scratch/site" "$wheel"
"$python" -c 'import numpy, pyopencl' 2>/dev/null ||
    { echo "(not run: no pyopencl)"; exit 0; }
tests=$(cd "$(dirname "$0")" && pwd)
for example in "$source_root"/clients/python/examples/*.py; do
    status=0
    (cd "$scratch" && PYTHONPATH=$scratch/site PYTHONDONTWRITEBYTECODE=1 \
        "$python" "$tests/run.py" "$example") >"$scratch/log" 2>&1 || status=$?
    case $status in
        0) echo "ok: $(basename "$example")" ;;
        77) cat "$scratch/log"; exit 0 ;;
        *) cat "$scratch/log" >&2; die "$example" ;;
    esac
done
