#!/bin/sh
# test_sanitize.sh SOURCE BUILD SUITE...: builds with the address and undefined sanitizers in BUILD,
# which is kept for the next run, and runs the suites there.
set -eu

source=$1
build=$2
shift 2
suites=
for suite in "$@"; do
    suites="$suites --suite $suite"
done

# Warnings are the first build's matter; with -O1 the sanitizers' reports name lines that exist.
if [ ! -f "$build/build.ninja" ]; then
    meson setup "$build" "$source" -Db_sanitize=address,undefined -Dbuildtype=debugoptimized \
        -Doptimization=1 -Dtune=off -Dbench=false -Ddefault_library=static
fi
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=66
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# shellcheck disable=SC2086
exec meson test -C "$build" --print-errorlogs $suites
