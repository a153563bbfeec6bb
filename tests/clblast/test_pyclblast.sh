#!/bin/sh
# test_pyclblast.sh LIBRARY PYTHON: pyclblast, from PyPI's source and Debian's CLBlast, runs its own
# tests with the library preloaded, and its samples print what they print without. What pip cannot
# get is not tested.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 LIBRARY PYTHON" >&2; exit 2; }
library=$(realpath "$1")
python=$2
version=1.4.0

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

for module in numpy pyopencl pip; do
    "$python" -c "import $module" 2>/dev/null || skip "$python has no module $module"
done
command -v cython3 >/dev/null || skip "cython3 is missing"
command -v g++ >/dev/null || skip "g++ is missing"
includes=$("$python" -c 'import numpy, sysconfig
print("-I" + sysconfig.get_path("include"), "-I" + numpy.get_include())')
npymath=$("$python" -c 'import numpy, os
print(os.path.join(os.path.dirname(numpy.get_include()), "lib", "libnpymath.a"))')

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-pyclblast.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# shellcheck disable=SC2086
printf '#include <Python.h>\n#include <clblast_c.h>\n' |
    g++ $includes -DCL_TARGET_OPENCL_VERSION=120 -E -x c++ - >/dev/null 2>&1 ||
    skip "headers of python3-dev or libclblast-dev are missing"
"$python" -m pip download --no-deps --no-binary pyclblast "pyclblast==$version" >log 2>&1 ||
    { tail -n 5 log >&2; skip "pip cannot get pyclblast $version"; }
tar -xzf pyclblast-*.tar.gz --strip-components 1
cython3 -3 --cplus src/pyclblast.pyx -o pyclblast.cpp >log 2>&1 || { cat log >&2; die "cython3"; }
# shellcheck disable=SC2086
g++ -O1 -w -shared -fPIC $includes -DCL_TARGET_OPENCL_VERSION=120 pyclblast.cpp -o pyclblast.so \
    "$npymath" -lclblast -lOpenCL || die "pyclblast $version does not compile"
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1 PYOPENCL_CTX=0 PYOPENCL_NO_CACHE=1
"$python" -c 'import pyopencl; pyopencl.create_some_context()' >log 2>&1 || skip "no OpenCL device"

# served LEAST: of the calls in the file `errors` so many must have come to Kiln, and all that are
# its own.
served()
{
    num=$(grep -c '^kiln-clblast: .*: success$' errors || true)
    ! grep '^kiln-clblast: .*: \(no kernel\|status\)' errors || die "$title: these calls"
    [ "$num" -ge "$1" ] || die "$title: Kiln served $num calls, not $1"
    echo "ok: $title, Kiln served $num calls"
}

title="its tests"
LD_PRELOAD=$library KILN_CLBLAST_VERBOSE=1 "$python" -m unittest test/test_pyclblast.py \
    >output 2>errors ||
    { grep -v '^kiln-clblast' errors >&2; die "$title"; }
served 100

# The numbers drawn are the same in both runs. Halves are refused by CLBlast on many devices.
cat >run.py <<'END_OF_RUN'
import sys
import numpy
numpy.random.seed(1)
numpy.set_printoptions(precision=4)
exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'))
END_OF_RUN
for sample in samples/*.py; do
    title=$sample
    of_clblast=0
    "$python" run.py "$sample" >expected 2>log || of_clblast=$?
    status=0
    LD_PRELOAD=$library KILN_CLBLAST_VERBOSE=1 "$python" run.py "$sample" >output 2>errors ||
        status=$?
    [ "$status" -eq "$of_clblast" ] || { cat errors >&2; die "$title: status $status"; }
    if [ "$status" -ne 0 ]; then
        echo "ignored: $title fails without Kiln: $(tail -n 1 log)"
        continue
    fi
    diff expected output || die "$title: other results (>) than CLBlast's (<)"
    served "$(grep -c '^[^#]*pyclblast\.gemm(' "$sample" || true)"
done
