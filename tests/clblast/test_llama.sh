#!/bin/sh
# test_llama.sh LIBRARY PYTHON: llama-cpp-python generates the same text from a small random model
# with the library preloaded as without. A version that has CLBlast is built from PyPI's source with
# Debian's CLBlast, in an environment of its own. What pip cannot get is not tested.
# How long both took is printed, and decides nothing.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 LIBRARY PYTHON" >&2; exit 2; }
library=$(realpath "$1")
python=$2
tests=$(cd "$(dirname "$0")" && pwd)
rounds=5

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

for program in cmake g++; do
    command -v "$program" >/dev/null || skip "$program is missing"
done
echo '#include <clblast.h>' | g++ -DCL_TARGET_OPENCL_VERSION=120 -E -x c++ - >/dev/null 2>&1 ||
    skip "clblast.h is missing (Debian: libclblast-dev)"
"$python" -c 'import ctypes
cl, number = ctypes.CDLL("libOpenCL.so.1"), ctypes.c_uint()
raise SystemExit(cl.clGetPlatformIDs(0, None, ctypes.byref(number)) != 0)' ||
    skip "no OpenCL device"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-llama.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$python" -m venv venv >log 2>&1 || { cat log >&2; skip "no environments (python3-venv)"; }
pip()
{
    venv/bin/python -m pip "$@" >log 2>&1
}
pip download --no-deps --no-binary llama-cpp-python llama-cpp-python==0.2.75 ||
    { tail -n 5 log >&2; skip "pip cannot get llama-cpp-python"; }
pip install gguf==0.6.0 || { tail -n 5 log >&2; skip "pip cannot get gguf"; }
export CMAKE_ARGS="-DLLAMA_CLBLAST=on -DLLAVA_BUILD=off" CMAKE_BUILD_PARALLEL_LEVEL=2
pip install llama_cpp_python-*.tar.gz || { tail -n 30 log >&2; die "it does not build"; }
venv/bin/python "$tests/make_model.py" model.gguf >log 2>&1 || { cat log >&2; die "no model"; }

# generate NAME [VARIABLE=VALUE...]
generate()
{
    name=$1
    shift
    env PYTHONDONTWRITEBYTECODE=1 GGML_OPENCL_PLATFORM=0 GGML_OPENCL_DEVICE=0 "$@" \
        venv/bin/python "$tests/generate.py" model.gguf >"$name" 2>"$name.errors" ||
        { grep -v '^kiln-clblast' "$name.errors" >&2; die "$name"; }
    sed -n 's/^seconds: //p' "$name.errors" >>"$name.seconds"
}

generate clblast
generate kiln LD_PRELOAD="$library" KILN_CLBLAST_VERBOSE=1
cat kiln
diff clblast kiln || die "with Kiln (>) it generates another text"
served=$(grep -c '^kiln-clblast: .*: success$' kiln.errors || true)
echo "Kiln served $served calls"
! grep '^kiln-clblast: .*: \(no kernel\|status\)' kiln.errors || die "these calls"
[ "$served" -ge 20 ] || die "its products did not come to Kiln"

rm -f ./*.seconds
for _ in $(seq "$rounds"); do
    generate clblast
    generate kiln LD_PRELOAD="$library"
done
# median FILE
median()
{
    sort -n "$1" | sed -n "$((rounds / 2 + 1))p"
}
echo "seconds, medians of $rounds: CLBlast $(median clblast.seconds), Kiln $(median kiln.seconds)"
