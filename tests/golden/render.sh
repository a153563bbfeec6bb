# render.sh: sourced by test_golden.sh and update.sh.
# shellcheck shell=sh

# render_list KILN_GEN LIST FOLDER: renders each line of the list into FOLDER/NAME.cl.
render_list()
{
    grep -v '^#' "$2" | while read -r name precision pair config; do
        "$1" render "$config" --precision "$precision" --transpose "$pair" \
            --output "$3/$name.cl" </dev/null || exit 1
    done
}
