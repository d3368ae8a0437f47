"""Notebooks as JSON: reading and writing them, their cells, directives, titles and links."""

import json
import re
from pathlib import Path
from posixpath import dirname, join, normpath

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT / "nbs"
DIRECTIVE = re.compile(r"^[ \t]*#\|[ \t]*([\w-]+):?[ \t]*(.*?)[ \t]*$\n?", re.M)
MAGIC = re.compile(r"^%.*$\n?", re.M)


# -- files ----------------------------------------------------------------------------------------
def text(source):
    """Nbformat stores a text as a string or as a list of lines."""
    return source if isinstance(source, str) else "".join(source)


def read(file):
    """A notebook as JSON, the source of each cell one string."""
    nb = json.loads(Path(file).read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["source"] = text(cell["source"])
    return nb


def as_stored(nb):
    """A notebook as the text of its file, the source of each cell a list of lines."""
    cells = [{**cell, "source": text(cell["source"]).splitlines(True)} for cell in nb["cells"]]
    return json.dumps({**nb, "cells": cells}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def write(nb, file):
    """Store a notebook, and leave a file alone that says it already."""
    stored, file = as_stored(nb), Path(file)
    if not file.exists() or file.read_text(encoding="utf-8") != stored:
        file.write_text(stored, encoding="utf-8")


# -- which there are ------------------------------------------------------------------------------
def all_notebooks(root=ROOT):
    """Every notebook below `nbs`, in the order of their names."""
    found = (root / "nbs").rglob("*.ipynb")
    return sorted(f for f in found if ".ipynb_checkpoints" not in f.parts)


def home(notebook):
    """The folder `nbs` that a notebook lives in."""
    return next(d for d in Path(notebook).resolve().parents if d.name == "nbs")


def name(notebook):
    """The path of a notebook within its folder `nbs`."""
    return Path(notebook).resolve().relative_to(home(notebook)).as_posix()


def checks_of(notebook):
    """The page of checks beside a page, whether there is one or not."""
    return Path(notebook).parent / "checks" / Path(notebook).name


def is_checks(notebook):
    """Is this a page of checks: what guards the code of a page and teaches nothing?"""
    return Path(notebook).parent.name == "checks"


# -- what a notebook says -------------------------------------------------------------------------
def prose_of(nb):
    """The texts of the Markdown cells of a notebook."""
    return [c["source"] for c in nb["cells"] if c["cell_type"] == "markdown"]


def title(nb):
    """The title of a notebook and the sentence below it."""
    first = next(iter(prose_of(nb)), "")
    heading = re.search(r"^# +(.+)$", first, re.M)
    sentence = re.search(r"^> *(.+)$", first, re.M)
    return tuple(m[1].strip() if m else "" for m in (heading, sentence))


def module(nb):
    """The module that a notebook exports to, within the package, or None."""
    for cell in nb["cells"]:
        if cell["cell_type"] == "code":
            exported = directives(cell["source"]).get("default_exp")
            if exported:
                return exported
    return None


# -- code cells -----------------------------------------------------------------------------------
def directives(source):
    """The directives of a cell, `#| name: value`, as a dictionary."""
    return dict(DIRECTIVE.findall(source))


def bare(source):
    """The code of a cell without directives and magics."""
    return MAGIC.sub("", DIRECTIVE.sub("", source)).strip("\n")


def plumbing(source):
    """Is this code there for nbdev and not for readers?"""
    d = directives(source)
    return (
        bool({"hide", "default_exp"} & d.keys())
        or d.get("include") == "false"
        or not bare(source)
        or bare(source).startswith("show_doc(")
    )


# -- Markdown -------------------------------------------------------------------------------------
# Code and mathematics.
VERBATIM = re.compile(r"^```.*?^```[^\n]*$|`[^`\n]+`|\$\$.*?\$\$|\$[^$\n]+\$", re.M | re.S)
LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)((?: "[^"]*")?)\)')
SRC = re.compile(r'(<img\b[^>]*\bsrc=")([^"]+)(")')


def prose(md, change):
    """`md` with `change` made to all of it but code and mathematics.

    Of those `change` sees only `\\0`, a number and `\\0`.
    """
    kept = []

    def shelve(m):
        kept.append(m[0])
        return f"\0{len(kept) - 1}\0"

    return re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], change(VERBATIM.sub(shelve, md)))


def outside(target):
    """Does a link lead to another host?"""
    return bool(re.match(r"[a-zA-Z][\w+.-]*:|//", target))


def relink(md, page, to):
    """Rewrite the relative links of `md`, the text of the file `page`, a path of the repository.

    `to(path, anchor)` is the new target of a path of the repository, or None to keep only the words
    of the link.
    """

    def target(t):
        if outside(t):
            return t
        path, hash, anchor = t.partition("#")
        return to(normpath(join(dirname(page), path)) if path else page, hash + anchor)

    def link(m):
        t = target(m[3])
        return m[2] if t is None else f"{m[1]}[{m[2]}]({t}{m[4]})"

    def picture(m):
        return m[1] + (target(m[2]) or m[2]) + m[3]

    return prose(md, lambda s: SRC.sub(picture, LINK.sub(link, s)))
