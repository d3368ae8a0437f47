"""The outline of the site: what stands in the sidebar, landing pages, the gallery.

The notebooks are the pages; this module decides in which order a reader meets them.
"""

import base64
import io
import re
import tomllib
from collections import namedtuple
from configparser import ConfigParser
from html import escape
from pathlib import Path
from posixpath import relpath

from cells import NBS, ROOT, prose_of, read, text, title

# What equations and statements are called by: 2.8, 42a.1, and E20.1 where experiments are shown.
NUMBER = r"E?\d+[a-z]?\.\d+[a-z]?"
Part = namedtuple("Part", "title sentence")
# The chapters of the theory, by folder, in the order of the book.
CHAPTERS = {
    "core": Part("Foundations", "What all chapters share: kernels, certificates, solving, paths."),
    "crammer_singer": Part(
        "Crammer–Singer", "One multiclass problem with prototypes: Crammer and Singer 2001."
    ),
    "kernel_logistic": Part(
        "Kernel logistic regression",
        "Its dual, two multipliers at a time: Keerthi, Duan, Shevade and Poo 2002.",
    ),
    "twin_margin": Part(
        "Robust twin margins",
        "One plane for each class, robust against bounded errors: De Leone, Maggioni and "
        "Spinelli 2023.",
    ),
    "twin_ksvc": Part(
        "Twin planes and their paths",
        "Exact solution paths for the twin classifier of pairs: Chen, Zhou, Jing, Fan and Li 2022.",
    ),
    "probability": Part(
        "Class probabilities",
        "Probabilities from classifiers that only name classes: Wu, Zhang and Liu 2010.",
    ),
    "scale": Part("Beyond one computer", "What outgrows memory or one machine."),
    "engine": Part(
        "The engine room", "For maintainers: compiled loops, threads, optional packages."
    ),
}
EXPERIMENTS = ": the paper's experiments"
WIDTH = 360  # pixels of a thumbnail
CAPTION = re.compile(r"\*\*(Figure \d+\.?\w*)\.?\*\*\.?\s*(.*)", re.S)


# -- toctrees -------------------------------------------------------------------------------------
def toctree(entries, caption=""):
    """A hidden table of contents; an entry is a place, or `(label, place)`."""
    head = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
    lines = [e if isinstance(e, str) else f"{e[0]} <{e[1]}>" for e in entries]
    return "\n".join([*head, *lines, "```", ""])


def number(path):
    """The number of a page, which its file name begins with, or nothing."""
    found = re.match(r"(\d+[a-z]?)_", Path(path).name)
    return found[1].lstrip("0") or "0" if found else ""


def label(path, name):
    """What the sidebar calls a page: its number, and its title without the name of its chapter."""
    head, colon, rest = name.partition(": ")
    chapter = CHAPTERS.get(path.partition("/")[0])
    mine = chapter and (head.split()[0] in chapter.title or head.startswith("Twin"))
    short = rest[:1].upper() + rest[1:] if colon and mine else name
    return f"{number(path)} {short}".strip()


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def write(file, *parts):
    """Write a page of Markdown from its parts."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n\n".join(p for p in parts if p) + "\n", encoding="utf-8")


# -- what came out ---------------------------------------------------------------------------------
CLAIM = re.compile(r"(holds|does not hold): ([^;\n]+)")


def claims(nb):
    """The claims of a paper that a page of experiments has looked at: `{claim: does it hold}`."""
    outputs = (o for c in nb["cells"] for o in c.get("outputs", []))
    printed = "\n".join(text(o.get("text") or o["data"].get("text/plain", "")) for o in outputs)
    found = CLAIM.findall(printed)
    return {words.strip("'").split(". ")[0]: said == "holds" for said, words in found}


# -- landing pages --------------------------------------------------------------------------------
def questions():
    """The question that each page answers, from the table of the front page."""
    front = "\n".join(prose_of(read(NBS / "index.ipynb")))
    return dict(re.findall(r"^\| \[[^|]+\]\(([^)#|]+\.ipynb)\) \| (.+?) \|", front, re.M))


class Outline:
    """Landing pages and the sidebar for a list of notebooks, as paths below `nbs` in order."""

    def __init__(self, folder, pages):
        self.folder = Path(folder)
        self.titles = {p: title(read(NBS / p))[0] for p in pages}
        self.asked = questions()

    def listed(self, pages, here, ending=""):
        """A table of pages, without the `ending` of their titles, with links from `here`."""
        rows = []
        for p in pages:
            named = self.titles[p].removesuffix(ending)
            name = f"[{label(p, named)}]({relpath(p, here or '.')})"
            rows.append([name, self.asked.get(p, "")])
        return table(["page", "the question it answers"], rows)

    def entries(self, pages, here):
        """The same pages as entries of a toctree on a page of the folder `here`."""
        return [(label(p, self.titles[p]), "/" + p.removesuffix(".ipynb")) for p in pages]

    def chapter(self, name, pages):
        """The landing page of a chapter; returns its place."""
        part = CHAPTERS.get(name, Part(name.replace("_", " ").capitalize(), ""))
        write(
            self.folder / name / "index.md",
            f"# {part.title}",
            f"> {part.sentence}",
            self.listed(pages, name),
            toctree(self.entries(pages, name)),
        )
        return f"/{name}/index"

    def theory(self):
        """The landing page of the theory, above the chapters; returns its place."""
        chapters = {}
        for p in self.titles:
            name = p.partition("/")[0]
            if "/" in p and name not in ("tutorials", "studies"):
                chapters.setdefault(name, []).append(p)
        places = [self.chapter(name, pages) for name, pages in chapters.items()]
        rows = [
            [f"[{CHAPTERS[n].title}](../{n}/index.md)", CHAPTERS[n].sentence]
            for n in chapters
            if n in CHAPTERS
        ]
        loose = [p for p in self.titles if "/" not in p]
        write(
            self.folder / "pages/theory.md",
            "# Theory",
            "> Five papers, derived step by step; every formula is asserted in the cell below it.",
            table(["chapter", "what it derives"], rows),
            self.listed(loose, "pages"),
            toctree([*self.entries(loose, "pages"), *places]),
        )
        return "/pages/theory"

    def scoreboard(self, pages):
        """How many claims of each paper hold, from the stored outputs of its experiments."""
        rows = []
        for p in pages:
            found = claims(read(NBS / p))
            failed = [words for words, holds in found.items() if not holds]
            name = f"[{self.titles[p].removesuffix(EXPERIMENTS)}]({relpath(p, 'pages')})"
            share = f"{'✗' if failed else '✓'} {len(found) - len(failed)} of {len(found)}"
            rows.append([name, share, "; ".join(failed)])
        return table(["paper", "claims that hold", "those that do not, on the data we have"], rows)

    def reproduction(self):
        """The landing page of experiments and studies; returns its place."""
        ours = [p for p in self.titles if p.endswith("_experiments.ipynb")]
        studies = [p for p in self.titles if p.startswith("studies/")]
        write(
            self.folder / "pages/reproduction.md",
            "# Reproduction",
            "> Every table and figure of the five papers, ours beside theirs, and the machinery "
            "that makes them.",
            "`make reproduce` computes all of it again and writes one report; "
            "`mcsvm-lit list` says what there is.",
            "## At a glance",
            "The claims of each paper that its page of experiments looks at, in the quick profile.",
            self.scoreboard(ours),
            "## The papers' experiments",
            self.listed(ours, "pages", EXPERIMENTS),
            "## Data sets, figures, runs",
            self.listed(studies, "pages"),
            toctree(self.entries(studies, "pages")),
        )
        return "/pages/reproduction"

    def tutorials(self):
        """The tutorials, as entries of a toctree."""
        return self.entries([p for p in self.titles if p.startswith("tutorials/")], "pages")


# -- what can be installed ------------------------------------------------------------------------
EXTRAS = {
    "studies": "a page of this site that was downloaded: figures, CVXPY as an oracle, experiments",
    "numba": "compiling the inner loops where there is no library of them",
    "dask": "fits and experiments on a cluster",
    "widgets": "sliders in notebooks",
    "onnx": "export to ONNX",
    "bench": "the peers of the benchmarks",
    "dev": "work on the package: nbdev, JupyterLab, pytest, ruff",
    "docs": "this site",
}


def installable():
    """A table of what the package needs and of its optional parts, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements):
        return ", ".join(re.split(r"[<>=!~;\[ ]", r)[0] for r in requirements)

    rows = [["(nothing)", "the classifiers", names(project["dependencies"])]]
    for extra, needs in project["optional-dependencies"].items():
        if extra in EXTRAS:
            rows.append([f"`[{extra}]`", EXTRAS[extra], names(needs)])
    return table(["extra", "for", "brings"], rows)


def setting(name):
    """What settings.ini says, such as the version."""
    ini = ConfigParser()
    ini.read(ROOT / "settings.ini", encoding="utf-8")
    return ini["DEFAULT"][name]


def by_chapter(lines):  # (path of a page, line) -> {title of a chapter: [line]}
    """Lines about pages under the titles of their chapters, in the order of the book."""
    names = {"tutorials": "Tutorials"} | {k: v.title for k, v in CHAPTERS.items()}
    others = "Data and studies"
    found = {name: [] for name in [*names.values(), others]}
    for path, line in lines:
        found[names.get(path.partition("/")[0], others)].append(line)
    return {name: there for name, there in found.items() if there}


# -- the gallery ----------------------------------------------------------------------------------
def thumbnail(png):
    """A small picture of a picture, as PNG."""
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    small = io.BytesIO()
    image.save(small, "PNG", optimize=True)
    return small.getvalue()


def figures_of(nb):
    """The figures of a notebook with a caption: `(number, words, PNG)`."""
    cells = nb["cells"]
    for cell, after in zip(cells, cells[1:]):
        found = CAPTION.match(after["source"]) if after["cell_type"] == "markdown" else None
        pngs = [
            o["data"]["image/png"]
            for o in cell.get("outputs", [])
            if "image/png" in o.get("data", {})
        ]
        if found and pngs:
            words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", found[2].split("\n\n")[0])
            yield found[1].rstrip("."), " ".join(words.split()), base64.b64decode(text(pngs[0]))


def plain(words):
    """Markdown and mathematics as plain words, its first sentence, or as much as a card holds."""
    words = re.sub(r"\$(\w+)\$", r"\1", re.sub(r"[*`]", "", words))  # a letter is a word
    words = re.sub(r"\$[^$]*\$", "…", words)
    first = re.split(r"(?<=[.]) ", words)[0]
    return first if len(first) < 140 else first[:137].rsplit(" ", 1)[0] + " …"


def card(page, anchor, words, name, alt):
    """One picture of the gallery, which leads to where it is made."""
    link = relpath(page.replace(".ipynb", ".html"), "pages") + anchor
    return (
        f'<a class="card" href="{link}"><img loading="lazy" src="../thumbs/{name}" '
        f'alt="{escape(alt)}"><span>{escape(words)}</span></a>'
    )


def gallery(folder, extra, pages):
    """Write the gallery of all captioned figures, by chapter, with thumbnails below `extra`."""
    cards, thumbs = [], Path(extra) / "thumbs"
    thumbs.mkdir(parents=True, exist_ok=True)
    for page in pages:
        nb = read(NBS / page)
        for figure, words, png in figures_of(nb):
            name = "-".join([*Path(page).with_suffix("").parts, figure.split()[1]]) + ".png"
            (thumbs / name).write_bytes(thumbnail(png))
            dotted = re.fullmatch(rf"Figure ({NUMBER})", figure)
            anchor = f"#figure-{dotted[1].replace('.', '-')}" if dotted else ""
            shown = f"{figure}. {plain(words)}" if dotted else plain(words)
            cards.append((page, card(page, anchor, shown, name, f"{title(nb)[0]}, {figure}")))
    body = []
    for chapter, lines in by_chapter(cards).items():
        body += [f"## {chapter}", '<div class="gallery">\n' + "\n".join(lines) + "\n</div>"]
    write(
        Path(folder) / "pages/gallery.md",
        "# Gallery",
        "> Every figure of the notebooks. Choose one to see the lines that make it.",
        *body,
    )
