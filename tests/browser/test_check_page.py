#!/usr/bin/env python3
"""test_check_page.py CHECK_PAGE: each fault that check_page.py looks for is found, one page each,
and a page without any passes. 77 without a browser."""

import pathlib
import subprocess
import sys
import tempfile

HEAD = ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Page</title><style>'
        'details::details-content { content-visibility: visible; }</style>')
SVG = '<svg viewBox="0 0 300 100" width="300"><title>Chart</title>{}</svg>'
LONG = "word" * 200
NO_WIDTH = "width: 50px; white-space: nowrap; "

# Name, what must be said (None: nothing), the page's body, and what goes into its head.
PAGES = [
    ("good", None, '<h1 id="a">Page</h1><a href="#a">up</a><table><tr><th scope="col">one</th>'
     '</tr></table><details><summary>more</summary><p>held</p></details>'
     '<div style="overflow-x: auto"><p>short</p></div>'
     + SVG.format('<text x="9" y="20">left</text><text x="90" y="20">right</text>')),
    ("throws", "console: script error: Error: thrown", "<script>throw Error('thrown')</script>"),
    ("console", "console: console error: told", "<script>console.error('told', 1)</script>"),
    ("outside", "console: the page loads file:///", '<img alt="" src="nowhere.png">'),
    ("sideways", "400 wide: the page is 600 wide", '<div style="width: 600px">a</div>',
     "<style>body { margin: 0 }</style>"),
    ("sticks-out", f"1280 wide: text {chr(34)}wordword", f"<p>{LONG}</p>"),
    ("hides", "is cut off by <div.box>", f'<div class="box" style="{NO_WIDTH}overflow: hidden">'
     "<span>some words that do not fit</span></div>"),
    ("low", "is cut off by <div.box>", '<div class="box" style="height: 20px; overflow: hidden">'
     "<p>one<br>two<br>three</p></div>"),
    ("beside", "is beside the page", '<p style="position: absolute; left: -90px">gone</p>'),
    ("paper-scroll", "on paper: text", f'<div style="{NO_WIDTH}overflow-x: auto">'
     "words that have to be scrolled</div>"),
    ("label-out", "is cut off by <svg>", SVG.format('<text x="280" y="20">beyond</text>')),
    ("label-up", "is cut off by <svg>", SVG.format('<text x="20" y="4">beyond</text>')),
    ("labels", 'labels "one" and "two" lie on each other',
     SVG.format('<text x="9" y="20">one</text><text x="20" y="22">two</text>')),
    ("turned", 'labels "sideways" and "two" lie on each other',
     SVG.format('<text transform="translate(20 90) rotate(-90)">sideways</text>'
                '<text x="9" y="60">two</text>')),
    ("small", "letters of 5.0 pixels",
     SVG.format('<text x="9" y="20" style="font-size: 5px">one</text>')),
    ("tall", "on paper: <svg> is taller than a page",
     '<svg viewBox="0 0 1 9" width="200"><title>Tower</title></svg>'),
    ("closed", "is closed on paper", "<details><summary>more</summary><p>held</p></details>",
     "<style>details::details-content { content-visibility: hidden; }</style>"),
    ("folded", "wide: text", f"<details><summary>more</summary><p>{LONG}</p></details>"),
    ("id", 'the id "a" is there twice', '<p id="a">one</p><p id="a">two</p>'),
    ("link", "the link #b leads nowhere", '<a href="#b">b</a>'),
    ("th", '<th> "one" has no scope', "<table><tr><th>one</th></tr></table>"),
    ("svg", "an <svg> has no title", '<svg viewBox="0 0 9 9"></svg>'),
    ("alt", "has no alt", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'),
]
ANSWERS = [
    ("answer", None, '<p id="answer">42</p>'),
    ("low-answer", "first screen: #answer ends at 1", '<p style="height: 990px"></p>'
     '<p id="answer">42</p>'),
    ("no-answer", "first screen: there is no #answer", "<p>41</p>"),
]


def run(check_page, *arguments):
    done = subprocess.run([check_page, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def judge(check_page, folder, pages, *options):
    """What is wrong with the checker's answers. All pages but the first have a fault."""
    paths = {}
    for name, _, body, *head in pages:
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(f"{HEAD}{''.join(head)}</head><body>{body}</body></html>\n")
    status, said = run(check_page, *options, *paths.values())
    if status == 77:
        print(said, file=sys.stderr)
        sys.exit(77)
    wrong = [] if status == 1 else [f"exit status {status} with faults, it says:\n{said}"]
    for name, wanted, *_ in pages:
        of_page = "".join(line + "\n" for line in said.splitlines()
                          if line.startswith(f"{paths[name]}: "))
        if wanted not in of_page if wanted else of_page:
            wrong.append(f"{name}: wanted '{wanted}', it says:\n{of_page}")
    return wrong


def main():
    if len(sys.argv) != 2:
        print("usage: test_check_page.py CHECK_PAGE", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="kiln-browser.") as folder:
        place = pathlib.Path(folder)
        wrong = judge(sys.argv[1], place, PAGES)
        wrong += judge(sys.argv[1], place, ANSWERS, "--first-screen", "#answer", "--width", "800")
        for status, arguments in [(0, [place / "good.html"]), (2, [place / "nowhere.html"]),
                                  (2, ["--browser", "/nowhere", place / "good.html"]),
                                  (77, ["--browser", "/bin/false", place / "good.html"])]:
            if run(sys.argv[1], *arguments)[0] != status:
                wrong.append(f"{arguments}: the exit status is not {status}")
    print("\n".join(wrong) or f"{len(PAGES) + len(ANSWERS)} pages are judged rightly")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
