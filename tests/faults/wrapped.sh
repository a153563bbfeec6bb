#!/bin/sh
# wrapped.sh LIBKILN WRAPPED: every OpenCL function that the library calls has a row in wrapped.inc.
set -eu
status=0
for name in $(nm --undefined-only "$1" | sed -n 's/.* U \(cl[A-Z][A-Za-z]*\)$/\1/p' | sort -u); do
    grep -q "^[A-Z]*($name," "$2" || { echo "wrapped.inc has no row for $name"; status=1; }
done
exit $status
