#!/bin/sh
# test.sh: builds with the committed bundles, runs every test and counts the results.
set -eu
. "$(dirname "$0")/common.sh"

usage()
{
    cat <<'END'
usage: scripts/test.sh [--werror] [--long] [BUILD_DIR] [-- MESON_TEST_ARGUMENT...]

Installs what is missing from Debian's packages (as root; otherwise prints the apt line and stops),
builds the static and the shared library in BUILD_DIR (default: build-test) without tuning, and runs
the tests. Near the end stands what failed tests printed last. The last line says "N passed, N
failed", and how many were skipped; the exit status is 0 when none failed.

    --werror    compile with warnings as errors
    --long      run the long suite instead, which takes hours (tests/README.md)

Arguments after -- go to "meson test", for instance:

    scripts/test.sh
    scripts/test.sh build-test -- --suite blas
END
}

build=
werror=false
long=false
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --version) print_version; exit 0 ;;
        --werror) werror=true; shift ;;
        --long) long=true; shift ;;
        --) shift; break ;;
        -*) wrong "unknown option $1; Meson's go after --" ;;
        *)
            [ -z "$build" ] || wrong "one build directory, please"
            build=$1
            shift ;;
    esac
done
case $build in "" | /*) ;; *) build=$PWD/$build ;; esac

cd "$(dirname "$0")/.."
build=${build:-$PWD/build-test}

# Prints what failed tests printed last, and the closing line, from Meson's log, which holds one
# JSON object a line.
report_results()
{
    python3 - "$1" <<'END'
import collections, json, sys

with open(sys.argv[1], encoding='utf-8') as log:
    tests = [json.loads(line) for line in log if line.strip()]
results = collections.Counter(test['result'] for test in tests)
passed = results.pop('OK', 0) + results.pop('EXPECTEDFAIL', 0)
skipped = results.pop('SKIP', 0) + results.pop('IGNORED', 0)
failed = sum(results.values())
last_lines, most_tests = 20, 10
sys.stdout.reconfigure(errors='backslashreplace')
bad = [test for test in tests if test['result'] in results]
for test in bad[:most_tests]:
    print(f"\n{test['name']}: {test['result']}")
    for stream in ('stdout', 'stderr'):
        for line in test.get(stream, '').splitlines()[-last_lines:]:
            print(line)
if len(bad) > most_tests:
    print(f'... and {len(bad) - most_tests} more')
print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' if skipped else ''))
sys.exit(1 if failed or not passed else 0)
END
}

! "$long" || test_packages="$test_packages $long_packages"
# shellcheck disable=SC2086
require_packages $build_packages $test_packages
configure "$build" -Dtune=off -Dtests=true -Dwerror=$werror -Ddefault_library=both
ninja -C "$build"

# Meson names its log after the test setup.
rm -f "$build"/meson-logs/testlog*.json
! "$long" || set -- --suite long "$@"
status=0
meson test -C "$build" --no-rebuild --print-errorlogs "$@" || status=$?
log=$(ls "$build"/meson-logs/testlog*.json 2>/dev/null) ||
    fail "meson test ran no test"
report_results "$log" || status=1
exit "$status"
