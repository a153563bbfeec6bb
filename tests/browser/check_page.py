#!/usr/bin/env python3
"""Looks at HTML pages in a real browser, Chromium without a window, and names what is wrong.

At each width, on paper too, with all <details> open:
- no error and no warning on the console, nothing loaded from outside the page;
- the page does not scroll sideways, and no text is cut off or sticks out of its box;
- in an SVG: text within the drawing, labels that do not lie on each other, no text too small;
- on paper: what a <details> holds is shown, no drawing is taller than a page;
and once: a title, a language, an id only once, a name for each SVG and image, a scope for each
<th>.

The browser is spoken to through a pipe (DevTools protocol); Python and Chromium are all it takes.
"""

import argparse
import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile

NO_BROWSER = 77
WIDTHS = [400, 800, 1280]
SCREEN_HEIGHT = 900
PAPER = (718, 1047)         # what A4 leaves of margins of a centimetre, in pixels of CSS
LEAST_TEXT = 8              # pixels, of the letters in an SVG
MOST_FAULTS = 12            # are told of each page and width
SECONDS = 60                # for one answer of the browser
SERIOUS = ("error", "warning", "assert")
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]

# Runs in the page; gives a list of faults.
LAYOUT = r"""
(({ paper, paperHeight, leastText }) => {
  const faults = [];
  const name = e => {
    const c = typeof e.className === "string" ? e.className : e.className.baseVal;
    return e.localName + (e.id ? "#" + e.id : c ? "." + c.trim().split(/\s+/).join(".") : "");
  };
  const quote = t => JSON.stringify(t.trim().replace(/\s+/g, " ").slice(0, 60));
  const root = document.documentElement, wide = root.clientWidth;
  const style = new Map();
  const of = e => style.get(e) || (style.set(e, getComputedStyle(e)), style.get(e));
  const parents = function* (e) { for (; e && e !== root; e = e.parentElement) yield e; };
  const shown = r => r.width > 0.5 && r.height > 0.5;

  const texts = [];                    // { node, element, text, rect } of what is to be read
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("script, style, title, desc, noscript, template"))
      continue;
    if (of(element).visibility !== "visible")
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects())
      if (shown(rect))
        texts.push({ node, element, text: node.data, rect });
  }

  if (root.scrollWidth > wide) {
    faults.push(`the page is ${root.scrollWidth} wide and scrolls sideways`);
    const out = [...document.body.querySelectorAll("*")].filter(e =>
      e.getBoundingClientRect().right > wide + 1 &&
      ![...parents(e.parentElement)].some(p => of(p).overflowX !== "visible"));
    for (const e of out.slice(0, 4))
      faults.push(`<${name(e)}> ends at ${Math.round(e.getBoundingClientRect().right)}`);
  }

  // Text against the boxes around it: one that hides cuts it, one that scrolls ends the search.
  const cut = ({ element, text, rect }) => {
    let block = element.ownerSVGElement; // labels have a check of their own
    for (const e of parents(element)) {
      if (e.namespaceURI.endsWith("svg"))
        continue;
      const s = of(e), box = e.getBoundingClientRect();
      const inline = s.display === "inline" || s.display === "contents";
      if (!block && !inline) {
        block = e;
        if (s.overflowX === "visible" &&
            (rect.right > box.right + 1.5 || rect.left < box.left - 1.5))
          return `sticks out of <${name(e)}>`;
      }
      if (inline)
        continue;
      if (/auto|scroll/.test(s.overflowX + s.overflowY)) {
        if (paper && e.scrollWidth > e.clientWidth + 1)
          return `<${name(e)}> would have to be scrolled on paper`;
        return "";
      }
      if (s.overflowX !== "visible" && (rect.right > box.right + 1.5 || rect.left < box.left - 1.5))
        return `is cut off by <${name(e)}>`;
      if (s.overflowY !== "visible" && (rect.bottom > box.bottom + 2 || rect.top < box.top - 2))
        return `is cut off by <${name(e)}>`;
    }
    return rect.left < -1 || rect.right > wide + 1 ? "is beside the page" : "";
  };
  for (const t of texts) {
    const why = cut(t);
    if (why)
      faults.push(`text ${quote(t.text)} ${why}`);
  }

  for (const svg of document.querySelectorAll("svg")) {
    if (svg.parentElement.closest("svg"))
      continue;
    const box = svg.getBoundingClientRect(), labels = texts.filter(t => svg.contains(t.node));
    if (paper && box.height > paperHeight)
      faults.push(`<${name(svg)}> is taller than a page`);
    for (const { element, text, rect } of labels) {
      if (rect.left < box.left - 1 || rect.right > box.right + 1 || rect.top < box.top - 1 ||
          rect.bottom > box.bottom + 1)
        faults.push(`label ${quote(text)} is cut off by <${name(svg)}>`);
      const m = element.getScreenCTM();
      const size = parseFloat(of(element).fontSize) * Math.sqrt(Math.abs(m.a * m.d - m.b * m.c));
      if (size < leastText)
        faults.push(`label ${quote(text)}: letters of ${size.toFixed(1)} pixels in <${name(svg)}>`);
    }
    for (let i = 0; i < labels.length; i++)
      for (let j = i + 1; j < labels.length; j++) {
        const a = labels[i].rect, b = labels[j].rect;
        const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (labels[i].node !== labels[j].node && x > 2 && y > 0.3 * Math.min(a.height, b.height))
          faults.push(`labels ${quote(labels[i].text)} and ${quote(labels[j].text)} lie on each ` +
            `other in <${name(svg)}>`);
      }
  }

  if (paper)
    for (const d of document.querySelectorAll("details")) {
      const held = [...d.children].filter(e => e.localName !== "summary" && e.textContent.trim());
      if (held.length && !held.some(e => e.checkVisibility({ contentVisibilityAuto: true })))
        faults.push(`<${name(d)}> ${quote(d.textContent)} is closed on paper`);
    }
  return faults;
})
"""

# What does not depend on the width.
MARKUP = r"""
(() => {
  const faults = [], seen = new Set();
  const quote = t => JSON.stringify(t.trim().replace(/\s+/g, " ").slice(0, 60));
  if (!document.title.trim())
    faults.push("the page has no title");
  if (!document.documentElement.lang)
    faults.push("the page does not say its language");
  if (document.compatMode !== "CSS1Compat")
    faults.push("the page has no doctype");
  for (const { id } of document.querySelectorAll("[id]"))
    seen.has(id) ? faults.push(`the id ${quote(id)} is there twice`) : seen.add(id);
  for (const a of document.querySelectorAll("a[href^='#']"))
    if (a.hash.length > 1 && !document.getElementById(decodeURIComponent(a.hash.slice(1))))
      faults.push(`the link ${a.hash} leads nowhere`);
  for (const th of document.querySelectorAll("th:not([scope])"))
    faults.push(`<th> ${quote(th.textContent)} has no scope`);
  for (const img of document.querySelectorAll("img:not([alt])"))
    faults.push(`<img> ${quote(img.src)} has no alt`);
  for (const svg of document.querySelectorAll("svg"))
    if (!svg.closest("[aria-hidden=true]") && !svg.closest("[aria-label], [aria-labelledby]") &&
        !svg.querySelector(":scope > title"))
      faults.push("an <svg> has no title");
  return faults;
})()
"""

ANSWER = r"""
(selector => {
  const e = document.querySelector(selector);
  return e ? Math.round(e.getBoundingClientRect().bottom + scrollY) : -1;
})
"""

OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = true"
CLOSE_ALL = "for (const d of document.querySelectorAll('details')) d.open = false"


class BrowserError(Exception):
    """The browser does not start or does not answer."""


class Browser:
    """A Chromium of its own, and one page in it."""

    def __init__(self, path, profile):
        down, up = os.pipe(), os.pipe()
        # The browser reads from 3 and writes to 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (down[0], up[1])]
        command = ["sh", "-c", 'exec "$@" 3</dev/fd/%d 4>/dev/fd/%d' % tuple(ends), "sh", path,
                   "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}",
                   "--no-first-run", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--disable-extensions", "--disable-background-networking",
                   "--disable-component-update", "--hide-scrollbars", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=ends, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (down[0], up[1], *ends):
            os.close(end)
        self.out, self.back = down[1], up[0]
        self.last, self.events, self.rest, self.session = 0, [], b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def _receive(self):
        """The next message, a dictionary."""
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], SECONDS)
            piece = os.read(self.back, 1 << 16) if ready else b""
            if not piece:
                raise BrowserError("it ended" if ready else f"no answer in {SECONDS} s")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        """A command's result; what the browser tells meanwhile is kept."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        try:
            os.write(self.out, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise BrowserError("it ended") from None
        while True:
            answer = self._receive()
            if answer.get("id") == self.last:
                break
            self.events.append(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def show(self, url):
        """Loads a page, and waits until it is there."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._receive())
        self.evaluate("document.fonts.ready.then(() => 0)")

    def resize(self, width, height=SCREEN_HEIGHT, media="", dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def end(self):
        with contextlib.suppress(BrowserError):
            self.session = None
            self.call("Browser.close")
        os.close(self.out)
        os.close(self.back)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def told(events, url):
    """What the page said on its console, and what it loaded beside itself."""
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled" and params["type"] in SERIOUS:
            words = [str(a.get("value", a.get("description", ""))) for a in params["args"]]
            yield f"console {params['type']}: {' '.join(words)}"
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            yield "script error: " + details.get("exception", {}).get("description",
                                                                      details["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] in SERIOUS:
            yield f"{params['entry']['level']}: {params['entry']['text']}"
        elif method == "Network.requestWillBeSent":
            asked = params["request"]["url"]
            if asked.split("#")[0] != url and not asked.startswith("data:"):
                yield f"the page loads {asked}"


def save(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(data))


def take_picture(browser, path, whole):
    size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
    more = {"clip": clip, "captureBeyondViewport": True} if whole else {}
    save(path, browser.call("Page.captureScreenshot", **more)["data"])


def layout(browser, paper=False):
    arguments = {"paper": paper, "paperHeight": PAPER[1], "leastText": LEAST_TEXT}
    return browser.evaluate(f"{LAYOUT}({json.dumps(arguments)})")


def check_answer(browser, selector):
    browser.resize(1280)
    bottom = browser.evaluate(f"{ANSWER}({json.dumps(selector)})")
    if bottom < 0:
        yield f"there is no {selector}"
    elif bottom > SCREEN_HEIGHT:
        yield f"{selector} ends at {bottom}, below the first screen"


def check(browser, page, options):
    """Yields (where, fault)."""
    url = page.resolve().as_uri()
    browser.resize(1280)
    browser.show(url)
    for fault in browser.evaluate(MARKUP):
        yield "markup", fault
    for selector in options.first_screen:
        for fault in check_answer(browser, selector):
            yield "first screen", fault
    for dark in (False, True):
        for width in options.width:
            mode = "dark" if dark else "light"
            browser.resize(width, dark=dark)
            browser.evaluate(CLOSE_ALL)
            if options.pictures:
                take_picture(browser, options.pictures / f"{page.stem}-{width}-{mode}.png", True)
            browser.evaluate(OPEN_ALL)
            if options.pictures:
                take_picture(browser, options.pictures / f"{page.stem}-{width}-{mode}-open.png",
                             True)
            if not dark:
                for fault in layout(browser):
                    yield f"{width} wide", fault
    browser.evaluate(CLOSE_ALL)
    browser.resize(*PAPER, media="print")
    for fault in layout(browser, paper=True):
        yield "on paper", fault
    if options.pictures:
        browser.call("Emulation.setEmulatedMedia", media="")
        pdf = browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, marginTop=0.394,
                           marginBottom=0.394, marginLeft=0.394, marginRight=0.394)
        save(options.pictures / f"{page.stem}.pdf", pdf["data"])
    for fault in told(browser.events, url):
        yield "console", fault


def tell(page, faults):
    """Prints the faults, those of one place together; whether there is any."""
    places = {}
    for where, fault in faults:
        places.setdefault(where, []).append(fault)
    for where, list_of in places.items():
        for fault in list_of[:MOST_FAULTS]:
            print(f"{page}: {where}: {fault}")
        if len(list_of) > MOST_FAULTS:
            print(f"{page}: {where}: and {len(list_of) - MOST_FAULTS} more")
    return bool(places)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit status: 0 nothing is wrong, 1 something is, "
                                            "2 wrong usage, 77 no browser.")
    parser.add_argument("page", nargs="+", type=pathlib.Path)
    parser.add_argument("--width", type=int, action="append", metavar="N",
                        help="of the window, in pixels; may be given again (default: "
                             f"{', '.join(map(str, WIDTHS))})")
    parser.add_argument("--first-screen", action="append", default=[], metavar="SELECTOR",
                        help=f"what must end within {SCREEN_HEIGHT} pixels at a width of 1280")
    parser.add_argument("--pictures", type=pathlib.Path, metavar="DIR",
                        help="leave pictures of each width, light and dark, and a PDF there")
    parser.add_argument("--browser", metavar="PATH",
                        help=f"default: the first of {', '.join(BROWSERS)}")
    options = parser.parse_args()
    options.width = options.width or WIDTHS
    if options.browser and not os.access(options.browser, os.X_OK):
        parser.error(f"{options.browser} cannot be run")
    for page in options.page:
        if not page.is_file():
            parser.error(f"there is no {page}")
    return options


def main():
    options = read_options()
    path = options.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not path:
        print("no browser: Debian's package is chromium", file=sys.stderr)
        return NO_BROWSER
    with tempfile.TemporaryDirectory(prefix="kiln-page.", ignore_cleanup_errors=True) as profile:
        try:
            browser = Browser(path, profile)
        except (BrowserError, OSError) as error:
            print(f"the browser does not start: {error}", file=sys.stderr)
            return NO_BROWSER
        try:
            bad = [tell(page, check(browser, page, options)) for page in options.page]
        except BrowserError as error:
            print(f"the browser: {error}", file=sys.stderr)
            return 1
        finally:
            browser.end()
    return int(any(bad))


if __name__ == "__main__":
    sys.exit(main())
