"""House style of the notebooks: what JupyterLab and the site both render, and the shape of a page.

python tools/lint.py [NB …]
"""

import re
import sys
from pathlib import Path

from notebooks import ROOT, all_notebooks, name, parts, text

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
MATH = re.compile(r"\$\$(.*?)\$\$", re.S)
FORBIDDEN = [
    (r"\\(label|eqref|ref|bm|newcommand|def)\b", "TeX that does not work everywhere"),
    (r"\[\^[^\]]+\]", "footnote"),
    (r"^:::", "fenced div"),
    (r"^\s*>\s*\[!", "alert"),
    (r"~~\S", "strikethrough"),
    (r"\\\$", "escaped dollar (write USD or &#36;)"),
]


# -- Markdown -------------------------------------------------------------------------------------
def lint_markdown(s):
    "What is wrong with the text of one Markdown cell."
    s = CODE.sub("", s)
    for pattern, why in FORBIDDEN:
        for m in re.finditer(pattern, s, re.M):
            yield f"{why}: {m[0]}"
    for m in MATH.finditer(s):
        before, after = (
            s[s.rfind("\n", 0, m.start()) + 1 : m.start()],
            s[m.end() :].split("\n", 1)[0],
        )
        if before.strip(" >-*") or after.strip():
            yield f"display math not on lines of its own: {m[0][:40]!r}"
        if ">" in before and "\n" in m[1]:
            yield f"display math over several lines in a quotation: {m[0][:40]!r}"
    rest = MATH.sub("", s)
    for m in re.finditer(r"^\\begin\{\w+\*?\}|\\\\?[(\[](?=\S)", rest, re.M):
        yield f"mathematics outside dollars: {m[0]}"
    for row in rest.splitlines():
        if row.startswith("|") and any("|" in x for x in row.split("$")[1::2]):
            yield f"a bar in mathematics in a table (write \\lvert or \\mid): {row[:40]!r}"


def headings(cells):
    "The anchors JupyterLab gives to the headings of these Markdown texts: case kept, spaces to hyphens."
    s = "\n".join(cells)
    return {m[1].replace(" ", "-") for m in re.finditer(r"^#{1,6} +(.+?)\s*$", s, re.M)} | set(
        re.findall(r'<a id="([^"]+)"', s)
    )


def lint_links(fn, s, markdown):
    "Relative links of one Markdown cell of `fn` that lead nowhere; `markdown` holds the Markdown of every notebook."
    for m in re.finditer(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", CODE.sub("", s)):
        path, anchor = m[1], m[2]
        if "://" in path or path.startswith("mailto:"):
            continue
        target = (fn.parent / path).resolve() if path else fn
        if not target.exists():
            yield f"no file {path}"
        elif anchor and target in markdown and anchor not in headings(markdown[target]):
            yield f"no such heading (case counts): {m[0][2:-1]}"


# -- shape ----------------------------------------------------------------------------------------
def lines(src):
    return [l for l in src.splitlines() if l.strip() and not l.lstrip().startswith("#|")]


def has(src, directive):
    return bool(re.search(rf"^\s*#\|\s*{directive}\b", src, re.M))


def lint_shape(cells):
    "The proportions of one notebook: short exported cells, visible tests, enough prose."
    code = [text(c.source) for c in cells if c.cell_type == "code"]
    exported = [s for s in code if has(s, "exports?i?")]
    tests = [s for s in code if s not in exported and re.search(r"\bassert|\braises\b", s)]
    for s in exported:
        if len(lines(s)) > 40:
            yield f"exported cell of {len(lines(s))} lines (at most 40): {lines(s)[0][:60]!r}"
    if exported and sorted(map(len, map(lines, exported)))[len(exported) // 2] > 12:
        yield "exported cells are long: the median is above 12 lines"
    if len(tests) < len(exported) / 2:
        yield f"{len(exported)} exported cells but {len(tests)} cells that test"
    if sum(has(s, "hide") for s in tests) > len(tests) / 10:
        yield "more than one test in ten is hidden"
    if sum(c.cell_type == "markdown" for c in cells) < 0.3 * len(cells):
        yield "less than 30 % of the cells are prose"
    first = text(cells[0].source) if cells else ""
    if not re.match(r"# \S.*\n\n> \S", first):
        yield "does not open with a title and, after an empty line, one sentence marked by >"
    if re.match(r"# .*\n\n> .*[$\\]", first):
        yield "the sentence marked by > holds a formula: it becomes the docstring of the module"


# -- outputs --------------------------------------------------------------------------------------
MACHINE = re.compile(
    r'(?<![\w./+])(?:/(?:home|root|tmp|usr|var|opt|Users)/|[A-Z]:\\)[^\s"\'<]+|\b0x[0-9a-f]{6,}'
)


def lint_outputs(cells):
    "What stored outputs must not show: messages left over, paths and addresses of the machine that ran them."
    for i, c in enumerate(cells):
        for kind, s in parts(c):
            if kind == "stderr":
                yield f"cell {i} stores a warning or another message: {s[:80]!r}"
            elif kind != "image/png":
                yield from (
                    f"cell {i} shows a path or an address: {m[0]}" for m in MACHINE.finditer(s)
                )


def lint(nbs, root=ROOT):
    "What is wrong with these notebooks; links are followed into all notebooks below `root`."
    from execnb.nbio import read_nb

    books = {f.resolve(): read_nb(f).cells for f in all_notebooks(root)}
    markdown = {
        f: [text(c.source) for c in cells if c.cell_type == "markdown"]
        for f, cells in books.items()
    }
    for fn in map(Path.resolve, nbs):
        for bad in [*lint_shape(books[fn]), *lint_outputs(books[fn])]:
            yield f"{name(fn)}: {bad}"
        for s in markdown[fn]:
            for bad in [*lint_markdown(s), *lint_links(fn, s, markdown)]:
                yield f"{name(fn)}: {bad}"


if __name__ == "__main__":
    bad = list(lint([Path(a) for a in sys.argv[1:]] or all_notebooks()))
    print(*bad, sep="\n", end="\n" * bool(bad))
    sys.exit(bool(bad))
