"""House style of the notebooks: prose, links, titles and the shape of a page.

Prose is checked for what JupyterLab, GitHub and the site do not all render. How long functions are
and how code looks is checked elsewhere, by tools/sizes.py and ruff.

    python tools/lint.py [NB …]
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

import graph
from cells import ROOT, all_notebooks, checks_of, is_checks, name, prose_of, read
from outputs import parts

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
MATH = re.compile(r"\$\$(.*?)\$\$", re.S)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
FORBIDDEN = [
    (r"\\(label|eqref|ref|bm|newcommand|def)\b", "TeX that does not work everywhere"),
    (r"\[\^[^\]]+\]", "footnote"),
    (r"^:::", "fenced div"),
    (r"^\s*>\s*\[!", "alert"),
    (r"~~\S", "strikethrough"),
    (r"\\\$", "escaped dollar (write USD or &#36;)"),
]
PROSE = 0.3  # the least share of cells that are prose
HIDDEN = 0.1  # the largest share of tests that are hidden


# -- Markdown -------------------------------------------------------------------------------------
def lint_display(s):
    """Display mathematics that does not stand on lines of its own."""
    for m in MATH.finditer(s):
        before = s[s.rfind("\n", 0, m.start()) + 1 : m.start()]
        after = s[m.end() :].split("\n", 1)[0]
        if before.strip(" >-*") or after.strip():
            yield f"display math not on lines of its own: {m[0][:40]!r}"
        if ">" in before and "\n" in m[1]:
            yield f"display math over several lines in a quotation: {m[0][:40]!r}"


def lint_markdown(s):
    """What is wrong with the text of one Markdown cell."""
    s = CODE.sub("", s)
    for pattern, why in FORBIDDEN:
        for m in re.finditer(pattern, s, re.M):
            yield f"{why}: {m[0]}"
    yield from lint_display(s)
    rest = MATH.sub("", s)
    for m in re.finditer(r"^\\begin\{\w+\*?\}|\\\\?[(\[](?=\S)", rest, re.M):
        yield f"mathematics outside dollars: {m[0]}"
    for row in rest.splitlines():
        if row.startswith("|") and any("|" in x for x in row.split("$")[1::2]):
            yield f"a bar in mathematics in a table (write \\lvert or \\mid): {row[:40]!r}"


# -- links ----------------------------------------------------------------------------------------
def headings(cells):
    """The anchors that JupyterLab gives to the headings of these Markdown texts.

    It keeps case and turns spaces into hyphens.
    """
    s = "\n".join(cells)
    found = {m[1].replace(" ", "-") for m in re.finditer(r"^#{1,6} +(.+?)\s*$", s, re.M)}
    return found | set(re.findall(r'<a id="([^"]+)"', s))


def lint_links(notebook, s, markdown):
    """Relative links of one Markdown cell of `notebook` that lead nowhere.

    `markdown` holds the Markdown cells of every notebook.
    """
    for m in LINK.finditer(CODE.sub("", s)):
        path, anchor = m[1], unquote(m[2] or "")
        if "://" in path or path.startswith("mailto:"):
            continue
        target = (notebook.parent / path).resolve() if path else notebook
        if not target.exists():
            yield f"no file {path}"
        elif anchor and target in markdown and anchor not in headings(markdown[target]):
            yield f"no such heading (case counts): {m[0][2:-1]}"


# -- titles ---------------------------------------------------------------------------------------
def title(cells):
    """The title of a page from its Markdown cells."""
    m = re.match(r"# +(.+)", cells[0]) if cells else None
    return m[1].strip() if m else ""


def rows_of_tables(s):
    """The rows of the Markdown tables in a text, as lists of cells."""
    for line in s.splitlines():
        if line.startswith("|") and line.endswith("|"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:-1])]


def lint_titles(front, markdown):
    """Rows of the tables of the front page that name a page by another title than its own.

    Such a row opens with a link to the page. On the site, the sidebar takes its titles from the
    pages themselves. `markdown` holds the Markdown cells of every notebook.
    """
    listed = set()
    for s in markdown[front]:
        for first, *_ in rows_of_tables(s):
            link = re.fullmatch(r"\[(.+)\]\(([^)]+\.ipynb)\)", first)
            target = (front.parent / link[2]).resolve() if link else None
            if target not in markdown:
                continue
            listed.add(target)
            if link[1] != title(markdown[target]):
                yield f"{link[2]} is called {title(markdown[target])!r}, not {link[1]!r}"
    for page in sorted(set(markdown) - listed - {front}):
        if page.parent != front.parent and not is_checks(page):
            yield f"no row of a table opens with a link to {name(page)}"


# -- shape ----------------------------------------------------------------------------------------
def has(source, directive):
    """Does a cell have this directive of nbdev?"""
    return bool(re.search(rf"^\s*#\|\s*{directive}\b", source, re.M))


def lint_opening(cells):
    """A notebook opens with its title and one sentence, which becomes the docstring of a module."""
    first = cells[0]["source"] if cells else ""
    if not re.match(r"# \S.*\n\n> \S", first):
        yield "does not open with a title and, after an empty line, one sentence marked by >"
    if re.match(r"# .*\n\n> .*[$\\]", first):
        yield "the sentence marked by > holds a formula: it becomes the docstring of the module"


def tests_among(cells):
    """The code of the cells that test."""
    code = [c["source"] for c in cells if c["cell_type"] == "code"]
    return [
        s
        for s in code
        if not has(s, "exports?i?") and re.search(r"\bassert|\b(raises|expecting)\b", s)
    ]


def lint_shape(cells, checks=()):
    """The proportions of a page of the book: tests that are seen, enough prose.

    Cells that test may also stand on its page of checks.
    """
    exported = [c for c in cells if c["cell_type"] == "code" and has(c["source"], "exports?i?")]
    tests = tests_among(cells)
    n = len(tests) + len(tests_among(checks))
    if n < len(exported) / 2:
        yield f"{len(exported)} exported cells but {n} cells that test"
    if sum(has(s, "hide") for s in tests) > HIDDEN * len(tests):
        yield "more than one test in ten is hidden"
    if sum(c["cell_type"] == "markdown" for c in cells) < PROSE * len(cells):
        yield "less than 30 % of the cells are prose"


def lint_imports(cells):
    """Whoever downloads a page has what the package and its extras bring, and no more."""
    _, strangers = graph.needed(dict(cells=cells))
    for package in sorted(strangers):
        yield f"imports {package}, which no extra of the package brings to its readers"


# -- pages of checks ------------------------------------------------------------------------------
def links_to(texts, target):
    """Does one of these texts of Markdown hold a link with this target?"""
    return any(m[1] == target for s in texts for m in LINK.finditer(CODE.sub("", s)))


def lint_checks(notebook, cells, texts):
    """A page of checks exports nothing, and leads to the page beside which it stands."""
    page = notebook.parent.parent / notebook.name
    if not page.exists():
        yield f"checks no page: there is no {name(page)}"
    elif not links_to(texts, f"../{page.name}"):
        yield f"has no link to its page ../{page.name}"
    if any(has(c["source"], r"(exports?i?|default_exp)") for c in cells):
        yield "a page of checks exports nothing"


def lint_its_checks(notebook, texts):
    """A page ends with a link to its page of checks, if it has one."""
    checks = checks_of(notebook)
    if checks.exists() and not links_to(texts[-1:], f"checks/{checks.name}"):
        yield f"its last prose has no link to checks/{checks.name}"


# -- outputs --------------------------------------------------------------------------------------
LOCAL = re.compile(
    r'(?<![\w./+])(?:/(?:home|root|tmp|usr|var|opt|Users)/|[A-Z]:\\)[^\s"\'<]+|\b0x[0-9a-f]{6,}'
)


def lint_outputs(cells):
    """What stored outputs must not show: messages, and paths and addresses of one computer."""
    for i, cell in enumerate(cells):
        for kind, s in parts(cell):
            if kind == "stderr":
                yield f"cell {i} stores a warning or another message: {s[:80]!r}"
            elif kind != "image/png":
                for m in LOCAL.finditer(s):
                    yield f"cell {i} shows a path or an address: {m[0]}"


# -- all of it ------------------------------------------------------------------------------------
def lint_page(notebook, books, markdown):
    """What is wrong with one notebook, one of `books`, the cells of all."""
    cells = books[notebook]
    yield from lint_opening(cells)
    if is_checks(notebook):
        yield from lint_checks(notebook, cells, markdown[notebook])
    else:
        yield from lint_shape(cells, books.get(checks_of(notebook), ()))
        yield from lint_imports(cells)
        yield from lint_its_checks(notebook, markdown[notebook])
    yield from lint_outputs(cells)
    for s in markdown[notebook]:
        yield from lint_markdown(s)
        yield from lint_links(notebook, s, markdown)


def lint(notebooks, root=ROOT):
    """What is wrong with these notebooks; links are followed into all notebooks below `root`."""
    read_all = {f.resolve(): read(f) for f in all_notebooks(root)}
    books = {f: nb["cells"] for f, nb in read_all.items()}
    markdown = {f: prose_of(nb) for f, nb in read_all.items()}
    front = (root / "nbs/index.ipynb").resolve()
    for f in map(Path.resolve, notebooks):
        bad = [*lint_page(f, books, markdown)]
        if f == front:
            bad += lint_titles(front, markdown)
        for complaint in bad:
            yield f"{name(f)}: {complaint}"


if __name__ == "__main__":
    bad = list(lint([Path(a) for a in sys.argv[1:]] or all_notebooks()))
    print(*bad, sep="\n", end="\n" * bool(bad))
    sys.exit(bool(bad))
