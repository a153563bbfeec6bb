# render.sh: sourced by test_golden.sh and update.sh.
# shellcheck shell=sh

# render_list KILN_GEN LIST FOLDER: renders each line of the list into FOLDER/NAME.cl.
render_list()
{
    tuned=$(dirname "$2")/../../tuned
    grep -v '^#' "$2" | while read -r name precision pair facts config; do
        set -- "$1" "$2" "$3" "$config" --precision "$precision" --transpose "${pair%/*}"
        [ "$pair" = "${pair%/*}" ] || set -- "$@" --store "${pair#*/}"
        [ "$facts" = - ] || set -- "$@" --facts "$tuned/$facts/device.tsv"
        gen=$1 folder=$3
        (shift 3 && "$gen" render "$@" --output "$folder/$name.cl") </dev/null || exit 1
    done
}
