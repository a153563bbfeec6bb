#!/bin/sh
# test_program.sh LIBRARY PROGRAM: compiles the program with CLBlast's header, and runs it linked
# with the library alone; linked with CLBlast, and the library under that name; and preloaded. All
# that the library exports is CLBlast's.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 LIBRARY PROGRAM" >&2; exit 2; }
library=$(realpath "$1")
program=$(realpath "$2")
command -v g++ >/dev/null || { echo "g++ is missing" >&2; exit 77; }
echo '#include <clblast.h>' | g++ -DCL_TARGET_OPENCL_VERSION=120 -E -x c++ - >/dev/null 2>&1 ||
    { echo "clblast.h is missing (Debian: libclblast-dev)" >&2; exit 77; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-clblast.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# run TITLE [VARIABLE=VALUE]: runs ./program; each of its products must have come to Kiln.
run()
{
    title=$1
    shift
    status=0
    env KILN_CLBLAST_VERBOSE=1 "$@" ./program >output 2>errors || status=$?
    cat output errors
    [ "$status" -ne 77 ] || { echo "no OpenCL device" >&2; exit 77; }
    [ "$status" -eq 0 ] || { echo "FAILED: $title: status $status" >&2; exit 1; }
    [ "$(grep -c '^kiln-clblast: .* 2 2 2: success$' errors)" -eq 5 ] ||
        { echo "FAILED: $title: not all came to Kiln" >&2; exit 1; }
}

g++ -DCL_TARGET_OPENCL_VERSION=120 -c "$program" -o program.o
g++ program.o "$library" -lOpenCL -o program
run "linked with the library" LD_LIBRARY_PATH="${library%/*}"
g++ program.o -lclblast -lOpenCL -o program
run "preloaded" LD_PRELOAD="$library"
ln -s "$library" libclblast.so.1
run "in the place of CLBlast" LD_LIBRARY_PATH=.

nm -D --defined-only "$library" | awk '{ print $NF }' | sort >ours
clblast=$(ldconfig -p | awk '/libclblast\.so\.1 / { print $NF; exit }')
nm -D --defined-only "$clblast" | awk '{ print $NF }' | sort >theirs
if comm -23 ours theirs | grep .; then
    echo "FAILED: the names above are not CLBlast's" >&2
    exit 1
fi
# In C: five of each precision, symm, syrk, hemm and herk, the cache; in C++: the same but for one
# of five, which an argument tells apart.
[ "$(wc -l <ours)" -eq 77 ] || { echo "FAILED: $(wc -l <ours) names, not 77" >&2; exit 1; }
