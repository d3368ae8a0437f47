"What the site and the README need to know about a notebook: its cells, their directives, its links."

import json
import re
from pathlib import Path
from posixpath import dirname, join, normpath

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT / "nbs"
DIRECTIVE = re.compile(r"^[ \t]*#\|[ \t]*([\w-]+):?[ \t]*(.*?)[ \t]*$\n?", re.M)
MAGIC = re.compile(r"^%.*$\n?", re.M)


def text(s):
    return s if isinstance(s, str) else "".join(s)


def read(fn):
    "A notebook as JSON, the source of each cell one string."
    nb = json.loads(Path(fn).read_text(encoding="utf-8"))
    for c in nb["cells"]:
        c["source"] = text(c["source"])
    return nb


def notebooks():
    "Every notebook but the front page, in the order of the book."
    return sorted(
        f
        for f in NBS.rglob("*.ipynb")
        if f != NBS / "index.ipynb" and ".ipynb_checkpoints" not in f.parts
    )


# -- code cells -----------------------------------------------------------------------------------
def directives(src):
    return dict(DIRECTIVE.findall(src))


def bare(src):
    return MAGIC.sub("", DIRECTIVE.sub("", src)).strip("\n")


def plumbing(src):
    "Is this code there for nbdev and not for readers?"
    d = directives(src)
    return (
        bool({"hide", "default_exp"} & d.keys())
        or d.get("include") == "false"
        or not bare(src)
        or "nbdev_export(" in src
        or bare(src).startswith("show_doc(")
    )


# -- Markdown -------------------------------------------------------------------------------------
VERBATIM = re.compile(
    r"^```.*?^```[^\n]*$|`[^`\n]+`|\$\$.*?\$\$|\$[^$\n]+\$", re.M | re.S
)  # code and mathematics


def prose(md, change):
    "`md` with `change` made to all of it but code and mathematics, which it sees as `\\0`, a number and `\\0`."
    kept = []

    def shelve(m):
        kept.append(m[0])
        return f"\0{len(kept) - 1}\0"

    return re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], change(VERBATIM.sub(shelve, md)))


LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)((?: "[^"]*")?)\)')
SRC = re.compile(r'(<img\b[^>]*\bsrc=")([^"]+)(")')


def outside(target):
    return bool(re.match(r"[a-zA-Z][\w+.-]*:|//", target))


def relink(md, page, to):
    """Rewrite the relative links of `md`, the text of the file `page` (a path from the root of the repository).
    `to(path, anchor)` is the new target of a path from the root, or None to keep only the words of the link."""

    def target(t):
        if outside(t):
            return t
        path, hash, anchor = t.partition("#")
        return to(normpath(join(dirname(page), path)) if path else page, hash + anchor)

    def link(m):
        t = target(m[3])
        return m[2] if t is None else f"{m[1]}[{m[2]}]({t}{m[4]})"

    return prose(
        md, lambda s: SRC.sub(lambda m: m[1] + (target(m[2]) or m[2]) + m[3], LINK.sub(link, s))
    )
