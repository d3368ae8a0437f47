"""How the pages of the book read, in numbers: a report, which never fails.

A cell *shows* something if it stores an output; cells that are exported, that begin with a
directive or that only import are not counted. Prose is the share of Markdown among the characters.
The first picture should come before the third heading of the second level; pages of checks are
not pages of the book.

    python tools/reading.py [NB …]
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from cells import all_notebooks, checks_of, is_checks, name, read
from outputs import parts

WHITE_BOX = re.compile(r"patch\.|py_func")
PLAIN_IMPORT = re.compile(r"(from|import) |\s+\w+,?$|\)")
EXPORTED = re.compile(r"^\s*#\|\s*exports?i?\b", re.M)


class Page(NamedTuple):
    """The counts of one page."""

    cells: int
    words: int
    shows: int  # cells that show something
    silent: int  # cells that do not
    prose: float  # share of the characters
    headings: int | None  # headings before the first picture; None if there is none
    white_box: int  # cells that patch exported names or run loops as plain Python


def only_imports(source):
    """Does a cell do nothing but import?"""
    return all(not line.strip() or PLAIN_IMPORT.match(line) for line in source.splitlines())


def pictured(cell):
    """Does a cell show a picture, as an output or by a link in Markdown?"""
    if cell["cell_type"] == "markdown":
        return bool(re.search(r"!\[[^\]]*\]\(|<img ", cell["source"]))
    return any(kind.startswith("image/") or "<svg" in s for kind, s in parts(cell))


def headings_before_a_picture(cells):
    """How many headings of the second level stand before the first picture."""
    headings = 0
    for cell in cells:
        if pictured(cell):
            return headings
        if cell["cell_type"] == "markdown":
            headings += len(re.findall(r"^## ", cell["source"], re.M))
    return None


def minutes(cells):
    """How long a page takes to read: 100 words or 60 lines of code a minute, in steps of five."""
    words = sum(len(c["source"].split()) for c in cells if c["cell_type"] == "markdown")
    lines = sum(len(c["source"].splitlines()) for c in cells if c["cell_type"] == "code")
    return 5 * max(1, round((words / 100 + lines / 60) / 5))


def counted(cells):
    """The counts of a page with these cells."""
    texts = [c["source"] for c in cells if c["cell_type"] == "markdown"]
    code = [c for c in cells if c["cell_type"] == "code"]
    seen = [
        c
        for c in code
        if not EXPORTED.search(c["source"])
        and not c["source"].lstrip().startswith("#|")
        and not only_imports(c["source"])
    ]
    shows = sum(bool(c["outputs"]) for c in seen)
    prose = sum(map(len, texts))
    return Page(
        cells=len(cells),
        words=sum(len(s.split()) for s in texts),
        shows=shows,
        silent=len(seen) - shows,
        prose=prose / max(prose + sum(len(c["source"]) for c in code), 1),
        headings=headings_before_a_picture(cells),
        white_box=sum(bool(WHITE_BOX.search(c["source"])) for c in seen),
    )


def row(notebook, page):
    """The line of a page."""
    first = "none" if page.headings is None else f"after {page.headings}"
    checks = " +checks" if checks_of(notebook).exists() else ""
    shown = f"{page.shows:3} of {page.shows + page.silent:3}"
    return (
        f"{name(notebook):48} {page.cells:5} {page.words:6}  {shown}  {page.prose:6.0%}"
        f"  {first:>8}  {page.white_box:5}{checks}"
    )


def summary(pages):
    """The figures of the whole book."""
    shows, silent = sum(p.shows for p in pages), sum(p.silent for p in pages)
    late = sum(p.headings is None or p.headings > 2 for p in pages)
    return (
        f"{len(pages)} pages: {shows / max(shows + silent, 1):.0%} of {shows + silent} cells show "
        f"something (aim 50 %); {sum(p.prose < 0.4 for p in pages)} have less than 40 % prose; "
        f"{late} show no picture before their third heading; "
        f"{sum(p.white_box for p in pages)} white-box cells"
    )


def main(names):
    notebooks = [f for f in map(Path, names) if not is_checks(f)]
    notebooks = notebooks or [f for f in all_notebooks() if not is_checks(f)]
    pages = {f: counted(read(f)["cells"]) for f in notebooks}
    print(f"{'page':48} cells  words  show         prose   picture  white")
    for f, page in pages.items():
        print(row(f, page))
    print(summary(list(pages.values())))


if __name__ == "__main__":
    main(sys.argv[1:])
