"""Write README.md from the beginning of the front page, nbs/index.ipynb, with its stored outputs.

The tables of the front page name pages and modules; writing brings those names up to date first.

    python tools/readme.py             write it
    python tools/readme.py --check     only say whether it is what the front page says
"""

import re
import sys

from cells import NBS, ROOT, bare, directives, module, plumbing, read, relink, text, title, write

PAGE, README = NBS / "index.ipynb", ROOT / "README.md"
HEAD = "<!-- Written from nbs/index.ipynb by tools/readme.py: edit that, not this. -->"
END = "<!-- README.md ends here. -->"
ROW = re.compile(r"^\| \[[^|]+\]\(([^)#|]+\.ipynb)\) \|(.+)\|$", re.M)


# -- the tables of the front page -----------------------------------------------------------------
def renamed(row):
    """A row of a table that opens with a link to a page, with its title and, third, its module."""
    file = NBS / row[1]
    if not file.exists():
        return row[0]
    page = read(file)
    cells = [f"[{title(page)[0]}]({row[1]})", *map(str.strip, row[2].split(" |"))]
    if len(cells) == 3:
        cells[2] = f"`mcsvm_lit.{module(page)}`" if module(page) else ""
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def rename_pages():
    """Give the pages that the front page lists the titles and modules that they have."""
    nb = read(PAGE)
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = ROW.sub(renamed, cell["source"])
    write(nb, PAGE)


# -- the README -----------------------------------------------------------------------------------
def prose(source):
    """Markdown whose links start at the root of the repository."""
    here = PAGE.relative_to(ROOT).as_posix()

    def to(path, heading):
        # GitHub gives notebooks no anchors
        return path if path.endswith(".ipynb") else path + heading

    return relink(source, here, to).strip()


def output(o):
    """A stored output as Markdown."""
    data = o.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        raise SystemExit(
            "nbs/index.ipynb shows a picture as an output: "
            "save it below figures/ and show that file in a Markdown cell"
        )
    if "text/markdown" in data:
        return prose(text(data["text/markdown"]))
    return "```text\n" + text(data.get("text/plain") or o.get("text", "")).rstrip() + "\n```"


def code(cell):
    """The parts of the README that a code cell becomes."""
    source, d = cell["source"], directives(cell["source"])
    if plumbing(source):
        return
    if d.get("echo") != "false":
        yield f"```python\n{bare(source)}\n```"
    if d.get("output") != "false":
        yield from map(output, cell["outputs"])


def readme():
    """The text of README.md."""
    parts = [HEAD]
    for cell in read(PAGE)["cells"]:
        if cell["source"].startswith(END):
            break
        if cell["cell_type"] == "markdown":
            parts.append(prose(cell["source"]))
        elif cell["cell_type"] == "code":
            parts += code(cell)
    return "\n\n".join(parts) + "\n"


def main():
    if "--check" not in sys.argv:
        rename_pages()
        README.write_text(readme(), encoding="utf-8")
    elif not README.exists() or README.read_text(encoding="utf-8") != readme():
        return "README.md is not what nbs/index.ipynb says: run python tools/readme.py"
    return 0


if __name__ == "__main__":
    sys.exit(main())
