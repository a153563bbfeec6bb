#!/bin/sh
# test_bench_page.sh CHECK_PAGE SOURCE_DIR: the page of what kiln-bench measured is sound in a
# browser and begins with the answer: of all that the documents tell, of each file alone, and of two
# devices with long names.
set -eu

[ $# -eq 2 ] || { echo "usage: test_bench_page.sh CHECK_PAGE SOURCE_DIR" >&2; exit 2; }
check_page=$1 source=$2
dir=$(mktemp -d "${TMPDIR:-/tmp}/kiln-page.XXXXXX")
trap 'rm -rf "$dir"' EXIT

"$source/scripts/bench_page.py" -o "$dir/all.html" "$source"/tests/bench/results/*.json
for file in "$source"/tests/bench/results/*.json; do
    "$source/scripts/bench_page.py" -o "$dir/one-$(basename "$file" .json).html" "$file"
done
# 100 rows of two digits more, and names that are hard to break.
name=A_device_whose_name_is_of_one_word_that_goes_on_and_on_and_on
sed -e "s/\"name\": \"[^\"]*\"/\"name\": \"$name\"/" \
    -e 's/"gflops": /&9/g' "$source/tests/bench/results/cpu-random.json" >"$dir/long.json"
"$source/scripts/bench_page.py" \
    --title "A_title_of_one_word_that_does_not_fit_into_a_narrow_window" \
    -o "$dir/long.html" "$dir/long.json" "$source"/tests/bench/results/cpu-grid.json
"$check_page" --first-screen '#answer' "$dir"/*.html
