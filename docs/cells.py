"""What the site and the README need to know about a notebook: cells, directives, title, links."""

import json
import re
from pathlib import Path
from posixpath import dirname, join, normpath

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT / "nbs"
DIRECTIVE = re.compile(r"^[ \t]*#\|[ \t]*([\w-]+):?[ \t]*(.*?)[ \t]*$\n?", re.M)
MAGIC = re.compile(r"^%.*$\n?", re.M)


def text(source):
    """Nbformat stores a text as a string or as a list of lines."""
    return source if isinstance(source, str) else "".join(source)


def read(file):
    """A notebook as JSON, the source of each cell one string."""
    nb = json.loads(Path(file).read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["source"] = text(cell["source"])
    return nb


def notebooks():
    """Every notebook but the front page, in the order of the book."""
    found = (f for f in NBS.rglob("*.ipynb") if ".ipynb_checkpoints" not in f.parts)
    return sorted(f for f in found if f != NBS / "index.ipynb")


def is_checks(file):
    """Is this a page of checks, beside a page of the book?"""
    return Path(file).parent.name == "checks"


def title(nb):
    """The title of a notebook and the sentence below it."""
    texts = (c["source"] for c in nb["cells"] if c["cell_type"] == "markdown")
    first = next(texts, "")
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
