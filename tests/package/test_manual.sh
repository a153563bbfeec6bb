#!/bin/sh
# test_manual.sh MANUAL_PY VERSION PROGRAM...: the manual pages that are made of --help: mandoc and
# man find no fault in them, no option is lost, and the same bytes come out each time. What cannot
# be read as help is refused.
set -eu

[ $# -ge 3 ] || { echo "usage: $0 MANUAL_PY VERSION PROGRAM..." >&2; exit 2; }
manual_py=$1
version=$2
shift 2
command -v mandoc >/dev/null || { echo "mandoc is not installed" >&2; exit 77; }
man --version >/dev/null 2>&1 || { echo "man is not installed" >&2; exit 77; }
command -v col >/dev/null || { echo "col is not installed" >&2; exit 77; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/kiln-manual.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=86400
failures=0

fail()
{
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

for program in "$@"; do
    name=${program##*/}
    page=$scratch/$name.1
    "$manual_py" "$page" "$version" "$program" see-also
    "$manual_py" "$scratch/again" "$version" "$program" see-also
    cmp "$page" "$scratch/again" || fail "$name.1 differs when it is made again"
    head -2 "$page" | grep -q "^.TH .* \"1970-01-02\" \"Kiln $version\"" || fail "$name.1: its head"
    ! grep -F "$scratch" "$page" || fail "$name.1 holds a path"
    mandoc -Tlint -Wstyle "$page" || fail "mandoc complains about $name.1"
    MAN_KEEP_FORMATTING=1 MANROFFSEQ='' MANWIDTH=80 \
        man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>"$scratch/warnings" >/dev/null
    [ ! -s "$scratch/warnings" ] || { cat "$scratch/warnings" >&2; fail "man complains: $name.1"; }
    mandoc -Tascii -Owidth=1000 "$page" | col -b >"$scratch/text"
    for heading in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' 'SEE ALSO'; do
        grep -qx "$heading" "$scratch/text" || fail "$name.1 has no section $heading"
    done
    "$program" --help >"$scratch/help"
    # Each word of the text, in any order: nothing is lost but the labels of the two sections.
    words() { tr -s ' \n' '\n\n' <"$1" | sed 's/^[a-z]*:$//; /^Exit$/d' | sort -u; }
    words "$scratch/help" >"$scratch/wanted"
    words "$scratch/text" >"$scratch/found"
    lost=$(comm -23 "$scratch/wanted" "$scratch/found")
    [ -z "$lost" ] || fail "$name.1 lacks" $lost
    echo "ok: $name.1, $(wc -l <"$scratch/text") lines"
done

# refused WHY TEXT: no page is made of a program that prints TEXT.
refused()
{
    printf '#!/bin/sh\ncat <<END\n%s\nEND\n' "$2" >"$scratch/program"
    chmod +x "$scratch/program"
    rm -f "$scratch/page"
    status=0
    "$manual_py" "$scratch/page" 1 "$scratch/program" 2>"$scratch/said" || status=$?
    if [ "$status" -ne 1 ] || [ -e "$scratch/page" ] || ! grep -q -e "$1" "$scratch/said"; then
        cat "$scratch/said" >&2
        fail "this is not refused with '$1', but with status $status: $2"
    fi
}
refused 'nothing for SYNOPSIS' 'Does a thing. Exit status: 0.'
refused 'nothing for NAME' 'usage: program

  --help   print this'
refused 'nothing for EXIT STATUS' 'usage: program

Does a thing.'
refused '--help:     *deep' 'usage: program

             deep

Does a thing. Exit status: 0.'
exit "$((failures > 0))"
