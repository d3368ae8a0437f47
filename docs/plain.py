"""Every page as plain Markdown beside its HTML, and `llms.txt`, the list of them, for programs.

The pages of the site are their notebooks; here is what a reader without a browser needs of them:
the words, the code, and what it prints. A picture is represented by its description.
"""

from pathlib import Path
from posixpath import dirname, relpath

import book
from cells import NBS, bare, plumbing, read, relink, text, title


def printed(output):
    """The words of an output: what was printed, a table, or the description of a picture."""
    data = output.get("data", {})
    words = text(output.get("text") or data.get("text/markdown") or data.get("text/plain") or "")
    if "text/markdown" in data:
        return words.strip()
    if any(kind.startswith("image/") for kind in data):
        return f"*Picture: {words.strip()}*"
    return f"```\n{words.rstrip()}\n```" if words.strip() else ""


def markdown(nb, path, pages):
    """A notebook as Markdown, `path` below the notebooks; links lead to others of these pages."""

    def to(target, anchor):
        if target.removeprefix("nbs/") not in pages:
            return None  # only the words
        here = dirname(f"nbs/{path}")
        return relpath(target.removesuffix(".ipynb") + ".md", here) + anchor

    parts = []
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(relink(cell["source"], f"nbs/{path}", to).strip())
        elif not plumbing(cell["source"]):
            parts.append(f"```python\n{bare(cell['source'])}\n```")
            parts += filter(None, map(printed, cell["outputs"]))
    return "\n\n".join(parts) + "\n"


def write_all(extra, pages):
    """Write the pages, and the list of them with the sentence that each begins with."""
    listed = []
    for path in pages:
        nb, file = read(NBS / path), Path(extra) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_suffix(".md").write_text(markdown(nb, path, pages), encoding="utf-8")
        name, sentence = title(nb)
        place = path.removesuffix(".ipynb") + ".md"
        listed.append((path, f"- [{name}]({place}): {sentence}"))
    _, sentence = title(read(NBS / "index.ipynb"))
    parts = [f"# mcsvm_lit\n\n> {sentence}"]
    for chapter, lines in book.by_chapter(listed).items():
        parts.append(f"## {chapter}\n\n" + "\n".join(lines))
    (Path(extra) / "llms.txt").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
