#!/bin/sh
# test_format.sh SOURCE_DIR: every function is laid out as .clang-format says.
set -eu

command -v clang-format-14 >/dev/null || { echo "clang-format-14 is not installed" >&2; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed" >&2; exit 77; }
"$1/scripts/format.py" --check || { echo "scripts/format.py would mend this" >&2; exit 1; }
