#!/bin/sh
# test_scripts.sh SCRIPTS VERSION: what every script answers alike: its help, and the version, which
# meson.build alone tells. The newest entry of Debian's changelog is for that version.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 SCRIPTS VERSION" >&2; exit 2; }
failures=0

# expect PATTERN SCRIPT ARGUMENT
expect()
{
    status=0
    output=$(cd / && "$2" "$3" 2>&1) || status=$?
    if [ "$status" -ne 0 ] || ! echo "$output" | grep -q "$1"; then
        echo "FAILED: $2 $3: status $status, and not '$1': $output" >&2
        failures=$((failures + 1))
    fi
}

num=0
for script in "$1"/*.sh "$1"/*.py; do
    [ -x "$script" ] || continue       # it is read by others
    expect "^usage: .*${script##*/}" "$script" --help
    expect "^${script##*/} $2\$" "$script" --version
    num=$((num + 1))
done
[ "$num" -ge 14 ] || { echo "FAILED: only $num scripts were found" >&2; exit 1; }
head -1 "$1/packaging/debian/changelog" | grep -q "^kiln ($2-" ||
    { echo "FAILED: Debian's changelog has no entry for $2" >&2; failures=$((failures + 1)); }
echo "$num scripts"
exit "$((failures > 0))"
