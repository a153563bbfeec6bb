#!/bin/sh
# test_header.sh INCLUDE_DIR LANGUAGE STANDARD COMPILER...: the public header compiles alone, twice
# in one file, without a warning.
set -eu

[ $# -ge 4 ] || { echo "usage: $0 INCLUDE_DIR LANGUAGE STANDARD COMPILER..." >&2; exit 2; }
include_dir=$1
language=$2
standard=$3
shift 3

printf '#include <kiln/kiln.h>\n#include <kiln/kiln.h>\n' \
    | "$@" -x "$language" -std="$standard" -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror \
        -DCL_TARGET_OPENCL_VERSION=120 -I"$include_dir" -fsyntax-only -
