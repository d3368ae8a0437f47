"""Turn the notebooks into pages for Sphinx. No cell runs: the site shows the stored outputs."""

import ast
import json
import re
import shutil
from functools import partial
from html import escape
from pathlib import Path
from posixpath import dirname, relpath

import bibliography
import book
import graph
import lite
import plain
from cells import (
    NBS,
    ROOT,
    all_notebooks,
    bare,
    directives,
    is_checks,
    module,
    plumbing,
    prose,
    read,
    relink,
    text,
)
from reading import minutes

PACKAGE = "mcsvm_lit"
PROJECT = ["CHANGELOG.md", "CONTRIBUTING.md"]
# Pages that live elsewhere in the repository, and their places on the site.
PAPER = "paper/paper.md"
BENCHMARKS = "benchmarks/README.md"
REFERENCE = "docs/pages/reference.rst"
MOVED = {
    PAPER: "pages/paper.md",
    BENCHMARKS: "pages/benchmarks.md",
    REFERENCE: "api/index.rst",
}
# Sphinx then does not read the seconds in brackets as numbers of equations.
UNNUMBERED = "---\nunnumbered: true\n---\n\n"
HERE = ROOT / "docs"
WIDGET = "application/vnd.jupyter.widget-view+json"
FRAMES = "application/vnd.mcsvm-lit.frames"
CAPTION = re.compile(r"\*\*(Figure|Table) \d")
PYTHON = dict(
    kernelspec=dict(display_name="Python 3", language="python", name="python3"),
    language_info=dict(name="python", pygments_lexer="python"),
)


def markdown(source):
    return dict(cell_type="markdown", metadata={}, source=source)


# -- links ----------------------------------------------------------------------------------------
class Site:
    """Where each file of the repository lives on the site.

    Files that pages link to are copied there.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.cells = {}  # where names are defined: {full name: (page, label of the cell)}

    def place(self, path):
        """The place on the site of a path of the repository, or None if it has none."""
        if path.startswith("nbs/"):
            return path[4:]
        if path == "README.md":
            return "index.ipynb"
        if path in PROJECT:
            return path
        if path in MOVED:
            return MOVED[path]
        if path.startswith("docs/pages/"):
            return path.removeprefix("docs/")
        if (ROOT / path).is_dir():
            return None
        return self.copied(path) if (ROOT / path).is_file() else path

    def copied(self, path):
        """Copy a file onto the site; returns its place there."""
        place = path if path.startswith("figures/") else f"files/{path}"
        if place.endswith(".md"):
            place += ".txt"
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, self.folder / place)
        return place

    def relink(self, md, page):
        """The text `md` of a file of the repository, with links that hold on the site."""
        here = dirname(self.place(page))

        def to(path, anchor):
            if path == page:
                return anchor
            place = self.place(path)
            return place and relpath(place, here or ".") + anchor

        return relink(md, page, to)


# -- code cells -----------------------------------------------------------------------------------
def defined(source):
    """Names that an exported cell defines, in order."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            names = (n for target in node.targets for n in ast.walk(target))
            yield from (n.id for n in names if isinstance(n, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def pictured(output):
    """Is this output a picture?"""
    return any(kind.startswith("image/") for kind in output.get("data", {}))


def alternative(cell, rest):
    """The words that stand for the pictures of a cell, as plain text.

    Those that they carry themselves, `figures.save(…, alt=…)`, else the caption that opens the
    next Markdown cell.
    """
    own = [text(o["data"].get("text/plain", "")) for o in cell["outputs"] if pictured(o)]
    if own and own[0] and not own[0].startswith(("<", "Figure(")):
        return own[0]
    caption = next((c["source"] for c in rest if c["cell_type"] == "markdown"), "")
    if not CAPTION.match(caption):
        return ""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", caption.split("\n\n")[0])
    return " ".join(re.sub(r"[*`$]", "", words).split())


def with_slider(output, words):
    """An output, or one that the site's script turns into a slider over its pictures."""
    name, _, pictures = text(output.get("data", {}).get(FRAMES, "")).partition("\n")
    if not pictures:
        return output
    pictures = pictures.replace("<img ", f'<img alt="{escape(words, quote=True)}" ')
    shown = f'<div class="frames" data-name="{escape(name, quote=True)}">{pictures}</div>'
    return dict(output, data={"text/html": shown})


def only_imports(source):
    """Does a cell import, and do little else? Readers of the site see such cells folded."""
    body = ast.parse(source).body
    imports = sum(isinstance(node, ast.Import | ast.ImportFrom) for node in body)
    plain = all(isinstance(node, ast.Import | ast.ImportFrom | ast.Assign) for node in body)
    return plain and source.count("\n") > 2 and imports > 2 * (len(body) - imports)


def tags(d):
    """The tags of myst-nb for the directives `echo: false`, `code-fold: true`, `output: false`."""
    pairs = (
        ("remove-input", "echo", "false"),
        ("hide-input", "code-fold", "true"),
        ("remove-output", "output", "false"),
    )
    return [tag for tag, name, value in pairs if d.get(name) == value]


class Page:
    """A notebook on its way to the site."""

    def __init__(self, file, site):
        self.site = site
        self.nb = read(file)
        self.path = file.relative_to(ROOT).as_posix()
        self.module = module(self.nb)
        # Labels are those of the whole site, and pages of two folders may have one name.
        self.stem = "-".join(file.relative_to(NBS).with_suffix("").parts)

    def code(self, cell, rest):
        """The cells that a code cell becomes; `rest` is what follows it."""
        source, d = cell["source"], directives(cell["source"])
        if plumbing(source):
            return
        # a live widget needs a kernel
        outputs = [o for o in cell["outputs"] if WIDGET not in o.get("data", {})]
        new = dict(
            cell_type="code",
            metadata=dict(tags=tags(d)),
            execution_count=None,
            source=bare(source),
            outputs=outputs,
        )
        if any(map(pictured, outputs)):
            words = alternative(new, rest)
            new["metadata"]["mystnb"] = dict(image=dict(alt=words))
            new["outputs"] = [with_slider(o, words) for o in outputs]
        if only_imports(new["source"]):
            new["metadata"]["tags"].append("hide-input")
            shown = dict(code_prompt_show="imports", code_prompt_hide="imports")
            new["metadata"].setdefault("mystnb", {}).update(shown)
        if {"export", "exports", "exporti"} & d.keys():
            new["metadata"]["tags"].append("exported")
            yield self.exported(cell["id"], new["source"])
        yield new
        if len(outputs) < len(cell["outputs"]):
            yield markdown("*A slider: it moves in JupyterLab.*")

    def exported(self, cell_id, source):
        """The line above an exported cell, which names what it defines and can be linked to."""
        module = f"{PACKAGE}.{self.module}"
        names, label = list(defined(source)), f"{self.stem}-{cell_id}"
        page = self.site.place(self.path).removesuffix(".ipynb")
        self.site.cells |= {f"{module}.{n}": (page, label) for n in names}
        target = f"({label})=\n" if names else ""
        shown = [self.module, *(n for n in names if not n.startswith("_"))]
        line = " ".join(f"`{name}`" for name in shown)
        return markdown(f"{target}\n{{.exported}}\n{line}")

    def tools(self):
        """The line below the title: number of the page, its notebook, its module."""
        here = dirname(self.site.place(self.path)) or "."
        number = book.number(self.path)
        notebook = relpath(self.site.copied(self.path), here)
        parts = [f"Page {number}"] if number else []
        parts.append(f"{{download}}`Download the notebook <{notebook}>`")
        if not is_checks(self.path):
            parts.append(f"{minutes(self.nb['cells'])} minutes to read")
            extras = ",".join(sorted({"studies", *graph.needed(self.nb)[0]}))
            where = "in a clone " if graph.in_a_clone(self.nb) else ""
            parts.append(f"Runs {where}with `{PACKAGE}[{extras}]`")
        if link := lite.button(self.path, relpath(".", here)):
            parts.append(link)
        if repository := book.setting("git_url"):
            branch = book.setting("branch")
            parts.append(f"[Edit]({repository.rstrip('/')}/edit/{branch}/{self.path})")
        return "{.page-tools}\n" + " · ".join(parts)

    def opened(self, cells):
        """The cells with the line of tools below title and sentence of the first."""
        first = next((c for c in cells if c["cell_type"] == "markdown"), None)
        opening = first and re.match(r"# .+\n+(?:> .+\n*)*", first["source"])
        if opening:
            rest = first["source"][opening.end() :]
            first["source"] = f"{opening[0].rstrip()}\n\n{self.tools()}\n\n{rest}"

    def write(self, tail=""):
        """Write the page, with the Markdown `tail` at its end."""
        cells = []
        for i, cell in enumerate(self.nb["cells"]):
            if cell["cell_type"] == "markdown":
                cells.append(markdown(self.site.relink(cell["source"], self.path)))
            elif cell["cell_type"] == "code":
                cells += self.code(cell, self.nb["cells"][i + 1 :])
        one_title(cells)
        if self.path != "nbs/index.ipynb":
            self.opened(cells)
        if tail:
            cells.append(markdown(tail))
        for i, cell in enumerate(cells):
            cell["id"] = f"c{i:04d}"
        out = self.site.folder / self.site.place(self.path)
        out.parent.mkdir(parents=True, exist_ok=True)
        # A page of checks has no place in the sidebar: only its page leads there.
        metadata = {**PYTHON, "orphan": True} if is_checks(self.path) else PYTHON
        staged = dict(cells=cells, metadata=metadata, nbformat=4, nbformat_minor=5)
        out.write_text(json.dumps(staged), encoding="utf-8")


def lowered(source, keep_title):
    """Markdown whose headings are one level lower, but perhaps the title at its start."""

    def lower(m):
        return "" if keep_title and m.start() == 0 else "#"

    return re.sub(r"^(?=#+ )", lower, source, flags=re.M)


def one_title(cells):
    """One page, one title: where there are more, all headings but the title go down a level."""
    texts, firsts = [c for c in cells if c["cell_type"] == "markdown"], []
    for cell in texts:
        prose(cell["source"], lambda s: firsts.extend(re.findall(r"^# ", s, re.M)) or s)
    if len(firsts) < 2:
        return
    for i, cell in enumerate(texts):
        cell["source"] = prose(cell["source"], partial(lowered, keep_title=i == 0))


# -- the whole site -------------------------------------------------------------------------------
def in_order(files):
    """Notebooks in the order of the sidebar: by folder, then as the front page lists them."""
    folders, listed = ["", "tutorials", *book.CHAPTERS, "studies"], list(book.questions())

    def place(file):
        path = file.relative_to(NBS)
        folder = path.parts[0] if len(path.parts) > 1 else ""
        name = path.as_posix()
        return (
            folders.index(folder) if folder in folders else len(folders),
            listed.index(name) if name in listed else len(listed),
            name,
        )

    return sorted(files, key=place)


def by_hand(site):
    """Stage the pages of Markdown that are written by hand."""
    filled = {"EXTRAS": book.installable(), "VERSION": book.setting("version")}
    files = [*PROJECT, *(f.relative_to(ROOT).as_posix() for f in (HERE / "pages").glob("*.md"))]
    for path in [*files, *MOVED]:
        if not (ROOT / path).exists():
            continue
        md = (ROOT / path).read_text(encoding="utf-8")
        if path == PAPER:
            md = article(md)
        if path == BENCHMARKS:
            md = UNNUMBERED + re.sub(r"(?<=\de)-(?=\d)", "\N{NON-BREAKING HYPHEN}", md)
        for word, value in filled.items():
            md = re.sub(rf"(?<!\w){word}(?!\w)", lambda m, v=value: v, md)
        book.write(site.folder / site.place(path), site.relink(md, path))


def article(md):
    """The write-up as a page: its title instead of the header, and its references at the end."""
    header, body = md.split("\n---\n", 1)
    name = re.search(r"^title: ['\"]?(.+?)['\"]?$", header, re.M)[1]
    body = bibliography.cited(body, bibliography.read((ROOT / PAPER).with_suffix(".bib")))
    return f"# {name}\n\n" + re.sub(r"^# ", "## ", body, flags=re.M)


def sidebar(outline):
    """The table of contents of the whole site, at the end of the front page."""
    guide = outline.folder / "pages/guide.md"
    if guide.exists():
        text = guide.read_text(encoding="utf-8")
        book.write(guide, text, book.toctree(outline.tutorials()))
    wanted = [
        "pages/install",
        "pages/guide",
        "pages/gallery",
        outline.theory(),
        outline.reproduction(),
        "api/index",
        "pages/benchmarks",
        "pages/guarantees",
        "pages/cite",
        "pages/paper",
        "CHANGELOG",
        "CONTRIBUTING",
        "pages/why_sphinx",
    ]
    there = [w for w in wanted if any(outline.folder.glob(f"{w.lstrip('/')}.*"))]
    return book.toctree([("Paper", w) if w == "pages/paper" else w for w in there])


def stage(folder, extra):
    """Stage everything into `folder`, emptied first; returns the number of pages.

    What Sphinx copies as it is, such as thumbnails, goes to `extra`.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site, pages = Site(folder), []
    front = NBS / "index.ipynb"
    for file in in_order(f for f in all_notebooks() if f != front):
        page, path = Page(file, site), file.relative_to(NBS).as_posix()
        page.write()
        if not is_checks(file):
            pages.append(path)
    (folder / "cells.json").write_text(json.dumps(site.cells), encoding="utf-8")
    by_hand(site)
    book.gallery(folder, extra, pages)
    plain.write_all(extra, pages)
    outline = book.Outline(folder, pages)
    Page(front, site).write(sidebar(outline))
    return sum(1 for f in folder.rglob("*") if f.suffix in (".ipynb", ".md"))
