"""common.py: what Python scripts answer alike to --help and --version."""
import pathlib
import re
import sys


def answer(text):
    """Ends the script where it is asked for its help, which is `text`, or its version."""
    if '--help' in sys.argv[1:] or '-h' in sys.argv[1:]:
        print(text.strip())
        sys.exit(0)
    if '--version' in sys.argv[1:]:
        script = pathlib.Path(sys.argv[0])
        project = (pathlib.Path(__file__).resolve().parent.parent / 'meson.build').read_text()
        print(script.name, re.search("^  version: '(.*)',$", project, re.MULTILINE)[1])
        sys.exit(0)
