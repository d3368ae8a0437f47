"""Turn the notebooks into pages for Sphinx. No cell runs: the site shows the outputs that are stored."""

import ast
import json
import re
import shutil
from pathlib import Path
from posixpath import dirname, relpath

import api
from cells import NBS, ROOT, bare, directives, notebooks, plumbing, prose, read, relink, text

PACKAGE = "mcsvm_lit"
PARTS = {
    0: "Foundations",
    1: "Crammer–Singer",
    2: "Kernel logistic regression",
    3: "Robust twin margins",
    4: "Twin machines and their paths",
    5: "Class probabilities",
    6: "Data, figures, reproduction",
}
FOLDERS = {"experiments": "Experiments", "tutorials": "Tutorials"}
PROJECT = ["CHANGELOG.md", "CONTRIBUTING.md"]
WIDGET = "application/vnd.jupyter.widget-view+json"


def markdown(s):
    return dict(cell_type="markdown", metadata={}, source=s)


def part(name):
    "The section of the sidebar that a notebook belongs to, from its folder or its number."
    if "/" in name:
        return FOLDERS.get(dirname(name), dirname(name).capitalize())
    return PARTS.get(int(name[:2]) // 10, "More") if name[:2].isdigit() else "More"


# -- links ----------------------------------------------------------------------------------------
class Site:
    "Where each file of the repository lives on the site; files that pages link to are copied there."

    def __init__(self, folder):
        self.folder = Path(folder)

    def place(self, path):
        "The place on the site of a path of the repository, or None if it has none."
        if path.startswith("nbs/"):
            return path[4:]
        if path == "README.md":
            return "index.ipynb"
        if path in PROJECT:
            return path
        if not (ROOT / path).is_file():
            return None if (ROOT / path).is_dir() else path
        place = (
            path if path.startswith("figures/") else f"files/{path}" + ".txt" * path.endswith(".md")
        )
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, self.folder / place)
        return place

    def relink(self, md, page):
        here = dirname(self.place(page))

        def to(path, anchor):
            if path == page:
                return anchor
            place = self.place(path)
            return place and relpath(place, here or ".") + anchor

        return relink(md, page, to)


# -- one notebook ---------------------------------------------------------------------------------
def defined(src):
    "Names that an exported cell defines, in order."
    for o in ast.parse(src).body:
        if isinstance(o, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield o.name
        elif isinstance(o, ast.Assign):
            yield from (n.id for t in o.targets for n in ast.walk(t) if isinstance(n, ast.Name))
        elif isinstance(o, ast.AnnAssign) and isinstance(o.target, ast.Name):
            yield o.target.id


def alternative(cell, rest):
    """The words that stand for the pictures of a cell: those they carry themselves (`figures.save(…, alt=…)`),
    else the caption that opens the next Markdown cell, as plain text."""
    own = [text(o["data"].get("text/plain", "")) for o in cell["outputs"] if pictured(o)]
    if own and own[0] and not own[0].startswith(("<", "Figure(")):
        return own[0]
    s = next((c["source"] for c in rest if c["cell_type"] == "markdown"), "")
    if not re.match(r"\*\*(Figure|Table) \d", s):
        return ""
    s = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", s.split("\n\n")[0])
    return " ".join(re.sub(r"[*`$]", "", s).split())


def tags(d):
    "myst-nb's tags for nbdev's directives `echo: false`, `code-fold: true` and `output: false`."
    pairs = (
        ("remove-input", "echo", "false"),
        ("hide-input", "code-fold", "true"),
        ("remove-output", "output", "false"),
    )
    return [tag for tag, name, value in pairs if d.get(name) == value]


def pictured(output):
    return any(k.startswith("image/") for k in output.get("data", {}))


def stage_code(cell, rest, stem, module, where):
    "The cells that a code cell becomes on the site; `where` learns which cell defines which name."
    src, d = cell["source"], directives(cell["source"])
    if plumbing(src):
        return
    outputs = [
        o for o in cell["outputs"] if WIDGET not in o.get("data", {})
    ]  # a live widget needs a kernel
    new = dict(
        cell_type="code",
        metadata=dict(tags=tags(d)),
        execution_count=None,
        source=bare(src),
        outputs=outputs,
    )
    if any(map(pictured, outputs)):
        new["metadata"]["mystnb"] = dict(image=dict(alt=alternative(new, rest)))
    if {"export", "exports", "exporti"} & d.keys():
        new["metadata"]["tags"].append("exported")
        names, label = (
            [f"{PACKAGE}.{module}.{n}" for n in defined(new["source"])],
            f"{stem}-{cell['id']}",
        )
        where.update(dict.fromkeys(names, label))
        public = " ".join(
            f"{{py:obj}}`~{n}`" for n in names if not n.rpartition(".")[2].startswith("_")
        )
        yield markdown(
            f"({label})=\n" * bool(names)
            + f"\n{{.exported}}\n{{py:mod}}`{module} <{PACKAGE}.{module}>` {public}"
        )
    yield new
    if len(outputs) < len(cell["outputs"]):
        yield markdown("*A slider: it moves in JupyterLab.*")


def one_title(cells):
    "Where a notebook has several headings of the first level, all but its title go down one level: one page, one title."
    texts, firsts = [c for c in cells if c["cell_type"] == "markdown"], []
    for c in texts:
        prose(c["source"], lambda s: firsts.extend(re.findall(r"^# ", s, re.M)) or s)
    if len(firsts) < 2:
        return

    def down(s, first):
        return re.sub(r"^(?=#+ )", lambda m: "" if first and m.start() == 0 else "#", s, flags=re.M)

    for i, c in enumerate(texts):
        c["source"] = prose(c["source"], lambda s: down(s, i == 0))


def title(nb):
    "The title of a notebook and the sentence below it."
    first = next((c["source"] for c in nb["cells"] if c["cell_type"] == "markdown"), "")
    t, q = re.search(r"^# +(.+)$", first, re.M), re.search(r"^> *(.+)$", first, re.M)
    return (t[1].strip() if t else ""), (q[1].strip() if q else "")


def module(nb):
    "The module a notebook exports to, or None."
    return next(
        (
            e
            for c in nb["cells"]
            if c["cell_type"] == "code" and (e := directives(c["source"]).get("default_exp"))
        ),
        None,
    )


def stage_notebook(fn, site, where, tail=""):
    "Write the page of the notebook `fn`."
    nb, page = read(fn), fn.relative_to(ROOT).as_posix()
    cells, mod = [], module(nb)
    for i, c in enumerate(nb["cells"]):
        if c["cell_type"] == "markdown":
            cells.append(markdown(site.relink(c["source"], page)))
        elif c["cell_type"] == "code":
            cells += stage_code(c, nb["cells"][i + 1 :], fn.stem, mod, where)
    one_title(cells)
    if tail:
        cells.append(markdown(tail))
    for i, c in enumerate(cells):
        c["id"] = f"c{i:04d}"
    python = dict(
        kernelspec=dict(display_name="Python 3", language="python", name="python3"),
        language_info=dict(name="python", pygments_lexer="python"),
    )
    out = site.folder / site.place(page)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(
        json.dumps(dict(cells=cells, metadata=python, nbformat=4, nbformat_minor=5)),
        encoding="utf-8",
    )


# -- the whole site -------------------------------------------------------------------------------
def toctree(caption, pages):
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def stage(folder):
    "Stage everything into `folder`, emptied first; returns the number of pages."
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site, where, parts, chapters = Site(folder), {}, {}, []
    for fn in notebooks():
        nb, name = read(fn), fn.relative_to(NBS).as_posix()
        stage_notebook(fn, site, where)
        parts.setdefault(part(name), []).append(name.removesuffix(".ipynb"))
        if module(nb):
            chapters.append(api.Chapter(f"{PACKAGE}.{module(nb)}", name, *title(nb)))
    order = [*PARTS.values(), "More", *FOLDERS.values()]
    tail = [
        toctree(p, parts[p])
        for p in sorted(parts, key=lambda p: (order.index(p) if p in order else len(order), p))
    ]
    reference = api.write(chapters, folder / "api", where)
    if reference:
        tail.append(toctree("Reference", [f"api/{r}" for r in reference]))
    project = [p for p in PROJECT if (ROOT / p).exists()]
    for p in project:
        (folder / p).write_text(
            site.relink((ROOT / p).read_text(encoding="utf-8"), p), encoding="utf-8"
        )
    if project:
        tail.append(toctree("Project", [p.removesuffix(".md") for p in project]))
    stage_notebook(NBS / "index.ipynb", site, where, "\n".join(tail))
    return sum(1 for f in folder.rglob("*") if f.suffix in (".ipynb", ".md"))
