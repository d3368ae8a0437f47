"""Write README.md from the front page, nbs/index.ipynb, with the outputs it stores.

python tools/readme.py             write it
python tools/readme.py --check     only say whether it is what the front page says
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "docs"))
from cells import NBS, ROOT, bare, directives, plumbing, read, relink, text

PAGE, README = NBS / "index.ipynb", ROOT / "README.md"
HEAD = "<!-- Written from nbs/index.ipynb by tools/readme.py: edit that, not this. -->"


def anchor(heading):
    "The anchor GitHub gives to a heading, from the one JupyterLab gives it."
    return re.sub(r"[^\w\-#]", "", heading.lower())


def prose(src):
    "Markdown whose links start at the root of the repository."
    here = PAGE.relative_to(ROOT).as_posix()

    def to(path, a):
        return (
            anchor(a) if path == here else path + a * (not path.endswith(".ipynb"))
        )  # GitHub gives notebooks no anchors

    return relink(src, here, to).strip()


def output(o):
    "A stored output as Markdown."
    data = o.get("data", {})
    if any(k.startswith("image/") for k in data):
        raise SystemExit(
            "nbs/index.ipynb shows a picture as an output: save it below figures/ and show that file in a Markdown cell"
        )
    if "text/markdown" in data:
        return prose(text(data["text/markdown"]))
    return "```text\n" + text(data.get("text/plain") or o.get("text", "")).rstrip() + "\n```"


def code(cell):
    src, d = cell["source"], directives(cell["source"])
    if plumbing(src):
        return
    if d.get("echo") != "false":
        yield f"```python\n{bare(src)}\n```"
    if d.get("output") != "false":
        yield from map(output, cell["outputs"])


def readme():
    parts = [HEAD]
    for c in read(PAGE)["cells"]:
        parts += (
            [prose(c["source"])]
            if c["cell_type"] == "markdown"
            else code(c)
            if c["cell_type"] == "code"
            else []
        )
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    new = readme()
    if "--check" not in sys.argv:
        README.write_text(new, encoding="utf-8")
    elif not README.exists() or README.read_text(encoding="utf-8") != new:
        sys.exit("README.md is not what nbs/index.ipynb says: run python tools/readme.py")
