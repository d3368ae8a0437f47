"""Turn the notebooks into pages for Sphinx. No cell runs: the site shows the stored outputs."""

import ast
import json
import re
import shutil
from functools import partial
from pathlib import Path
from posixpath import dirname, relpath

import api
from cells import (
    NBS,
    ROOT,
    bare,
    directives,
    module,
    notebooks,
    plumbing,
    prose,
    read,
    relink,
    text,
    title,
)

PACKAGE = "mcsvm_lit"
# The sections of the sidebar, by folder, in order; a folder that is not here comes last.
PARTS = {
    "": "Start",
    "tutorials": "Tutorials",
    "core": "Foundations",
    "crammer_singer": "Crammer–Singer",
    "kernel_logistic": "Kernel logistic regression",
    "twin_margin": "Robust twin margins",
    "twin_ksvc": "Twin planes and their paths",
    "probability": "Class probabilities",
    "scale": "Beyond one computer",
    "studies": "Data, figures, reproduction",
}
PROJECT = ["CHANGELOG.md", "CONTRIBUTING.md"]
WIDGET = "application/vnd.jupyter.widget-view+json"
CAPTION = re.compile(r"\*\*(Figure|Table) \d")
PYTHON = dict(
    kernelspec=dict(display_name="Python 3", language="python", name="python3"),
    language_info=dict(name="python", pygments_lexer="python"),
)


def markdown(source):
    return dict(cell_type="markdown", metadata={}, source=source)


def part(page):
    """The section of the sidebar that a page belongs to: its folder below `nbs`."""
    folder = page.partition("/")[0] if "/" in page else ""
    return PARTS.get(folder, folder.replace("_", " ").capitalize())


# -- links ----------------------------------------------------------------------------------------
class Site:
    """Where each file of the repository lives on the site.

    Files that pages link to are copied there.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.cells = {}  # where each public name is defined: {full name: label of its cell}

    def place(self, path):
        """The place on the site of a path of the repository, or None if it has none."""
        if path.startswith("nbs/"):
            return path[4:]
        if path == "README.md":
            return "index.ipynb"
        if path in PROJECT:
            return path
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
            new["metadata"]["mystnb"] = dict(image=dict(alt=alternative(new, rest)))
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
        self.site.cells |= {f"{module}.{n}": label for n in names}
        links = [f"{{py:obj}}`~{module}.{n}`" for n in names if not n.startswith("_")]
        target = f"({label})=\n" if names else ""
        line = " ".join([f"{{py:mod}}`{self.module} <{module}>`", *links])
        return markdown(f"{target}\n{{.exported}}\n{line}")

    def write(self, tail=""):
        """Write the page, with the Markdown `tail` at its end."""
        cells = []
        for i, cell in enumerate(self.nb["cells"]):
            if cell["cell_type"] == "markdown":
                cells.append(markdown(self.site.relink(cell["source"], self.path)))
            elif cell["cell_type"] == "code":
                cells += self.code(cell, self.nb["cells"][i + 1 :])
        one_title(cells)
        if tail:
            cells.append(markdown(tail))
        for i, cell in enumerate(cells):
            cell["id"] = f"c{i:04d}"
        out = self.site.folder / self.site.place(self.path)
        out.parent.mkdir(parents=True, exist_ok=True)
        staged = dict(cells=cells, metadata=PYTHON, nbformat=4, nbformat_minor=5)
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
def toctree(caption, pages):
    """A section of the sidebar. Pages have no title but their own there."""
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def reading_order():
    """The pages in the order in which the tables of the front page list them."""
    texts = (
        c["source"] for c in read(NBS / "index.ipynb")["cells"] if c["cell_type"] == "markdown"
    )
    return re.findall(r"^\| \[[^|]+\]\(([^)#|]+\.ipynb)\)", "\n".join(texts), re.M)


def in_order(files):
    """Notebooks in the order of the sidebar: by folder as in `PARTS`, then as the front page."""
    folders, listed = list(PARTS), reading_order()

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


def stage(folder):
    """Stage everything into `folder`, emptied first; returns the number of pages."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site, parts, chapters = Site(folder), {p: [] for p in PARTS.values()}, []
    for file in in_order(notebooks()):
        page, path = Page(file, site), file.relative_to(NBS).as_posix()
        page.write()
        parts.setdefault(part(path), []).append(path.removesuffix(".ipynb"))
        if page.module:
            chapters.append(api.Chapter(f"{PACKAGE}.{page.module}", path, *title(page.nb)))
    sidebar = [toctree(caption, pages) for caption, pages in parts.items() if pages]
    reference = api.write(chapters, folder / "api", site.cells)
    if reference:
        sidebar.append(toctree("Reference", [f"api/{page}" for page in reference]))
    project = [p for p in PROJECT if (ROOT / p).exists()]
    for p in project:
        md = site.relink((ROOT / p).read_text(encoding="utf-8"), p)
        (folder / p).write_text(md, encoding="utf-8")
    if project:
        sidebar.append(toctree("Project", [p.removesuffix(".md") for p in project]))
    Page(NBS / "index.ipynb", site).write("\n".join(sidebar))
    return sum(1 for f in folder.rglob("*") if f.suffix in (".ipynb", ".md"))
