"""Check a built site without the network.

Every local link and anchor has its target, nothing is loaded from another host, no id stands twice
on a page, every picture has a text that stands for it, every page can be reached from the front
page, and the reference has no private names.

    python docs/check_site.py docs/_build/html
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

NO_ALT = 'a picture without alternative text (is there a caption "**Figure N.m.** …" below it?)'
FOREIGN = re.compile(r'(?:url\(|@import)\s*["\']?((?:https?:)?//[^"\')\s]+)')
MARKDOWN = re.compile(r"\]\(([^()\s#:]+\.md)(?:#[^()\s]*)?\)")
PRIVATE = re.compile(r"mcsvm_lit\.(\w+\.)*_\w+$")
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
    "link": "href",
}


class Page(HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.ids, self.links, self.loads, self.bad = set(), [], [], []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if a.get("id"):
            if a["id"] in self.ids:
                self.bad.append(f"an id twice: {a['id']}")
            self.ids.add(a["id"])
            if PRIVATE.match(a["id"]):
                self.bad.append(f"a private name in the reference: {a['id']}")
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if a.get(LOADED.get(tag)):
            self.loads.append(a[LOADED[tag]])
        if tag == "img" and not (a.get("alt") or "").strip():
            self.bad.append(f"{NO_ALT}: {a.get('src')}")


def elsewhere(url):
    return urlsplit(url).scheme in ("http", "https", "ws", "wss") or url.startswith("//")


def local(url):
    return not elsewhere(url) and urlsplit(url).scheme == ""


def check(root):
    "The number of pages, and what is wrong with them."
    root = Path(root).resolve()
    # JupyterLite is somebody else's application, with rules of its own.
    ours = (f for f in sorted(root.rglob("*.html")) if f.relative_to(root).parts[0] != "lite")
    pages = {f: Page(f) for f in ours}
    bad, reached, todo = [], set(), [root / "index.html"]

    def target(f, url):
        return (f.parent / unquote(urlsplit(url).path)).resolve() if urlsplit(url).path else f

    for f, p in pages.items():
        for b in p.bad:
            bad.append((f, b))
        for url in p.loads:
            if elsewhere(url):
                bad.append((f, f"loads {url}"))
        for url in filter(local, p.links + p.loads):
            t, anchor = target(f, url), unquote(urlsplit(url).fragment)
            if not t.exists():
                bad.append((f, f"no file {url}"))
            elif anchor not in ("", "top") and t in pages and anchor not in pages[t].ids:
                bad.append((f, f"no anchor {url}"))
    while todo:
        f = todo.pop()
        if f in pages and f not in reached:
            reached.add(f)
            todo += [target(f, u) for u in pages[f].links if local(u)]
    alone = {"404.html", "search.html"}
    bad += [(f, "no page leads here") for f in pages if f not in reached and f.name not in alone]
    bad += [
        (f, f"loads {m[1]}")
        for f in sorted(root.rglob("*.css"))
        if f.relative_to(root).parts[0] != "lite"
        for m in FOREIGN.finditer(f.read_text(encoding="utf-8"))
    ]
    for f in [root / "llms.txt", *root.rglob("*.md")]:
        links = MARKDOWN.findall(f.read_text(encoding="utf-8")) if f.exists() else []
        bad += [(f, f"no file {url}") for url in links if not (f.parent / url).exists()]
    return len(pages), [f"{f.relative_to(root).as_posix()}: {b}" for f, b in bad]


if __name__ == "__main__":
    n, bad = check(sys.argv[1])
    print(*bad, sep="\n", end="\n" * bool(bad))
    print(f"{n} pages, {len(bad)} faults")
    sys.exit(bool(bad))
