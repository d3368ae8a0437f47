"""Set up Git for notebooks, in this clone only: how they differ, merge, and are checked.

* `git diff` and `git log -p` show the text of cells, not JSON;
* a merge that conflicts within a notebook leaves one that JupyterLab opens (`nbdev_merge`);
* after a merge, notebooks are trusted again, so that their outputs show (`nbdev_trust`);
* before a commit, what `.pre-commit-config.yaml` lists is run, if pre-commit is installed.

    python tools/hooks.py               set it up
    python tools/hooks.py --remove      undo it
    python tools/hooks.py --text NB     print a notebook as text; Git calls this
"""

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# `.gitattributes` names these two drivers.
SETTINGS = {
    "diff.jupyternotebook.textconv": f'"{sys.executable}" tools/hooks.py --text',
    "diff.jupyternotebook.cachetextconv": "true",
    "merge.nbdev-merge.name": "resolve conflicts in notebooks cell by cell",
    "merge.nbdev-merge.driver": f'"{BIN / "nbdev_merge"}" %O %A %B %P',
}
POST_MERGE = f'#!/bin/sh\n# Written by tools/hooks.py.\n"{BIN / "nbdev_trust"}"\n'


def as_text(file):
    """A notebook as text: the source of each cell under a line that names its kind."""
    for cell in json.loads(Path(file).read_text(encoding="utf-8"))["cells"]:
        yield f"# %% [{cell['cell_type']}]"
        yield "".join(cell["source"])
        for output in cell.get("outputs", []):
            shown = output.get("text") or output.get("data", {}).get("text/plain", [])
            yield from (f"#> {line}" for line in "".join(shown).splitlines())


def git(*arguments):
    """Run Git here; what it prints, or nothing where it has nothing to say."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def hook(name):
    """The file of one of Git's hooks."""
    return ROOT / git("rev-parse", "--git-path", f"hooks/{name}")


def pre_commit(action):
    """Install or uninstall the hooks of pre-commit; says so where there is no pre-commit."""
    program = shutil.which("pre-commit", path=str(BIN)) or shutil.which("pre-commit")
    if program is None:
        return "pre-commit is not installed (pip install pre-commit): no check before a commit"
    return subprocess.run(
        [program, action], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()


def set_up():
    for name, value in SETTINGS.items():
        git("config", "--local", name, value)
    file = hook("post-merge")
    if file.exists() and "tools/hooks.py" not in file.read_text(encoding="utf-8"):
        print(f"{file} is yours and stays as it is")
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(POST_MERGE, encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IEXEC)
    print(pre_commit("install"))
    print("Git shows and merges notebooks cell by cell in this clone.")


def remove():
    for section in ("diff.jupyternotebook", "merge.nbdev-merge"):
        git("config", "--local", "--remove-section", section)
    file = hook("post-merge")
    if file.exists() and "tools/hooks.py" in file.read_text(encoding="utf-8"):
        file.unlink()
    pre_commit("uninstall")


def main():
    if "--text" in sys.argv:
        print(*as_text(sys.argv[-1]), sep="\n")
    elif not git("rev-parse", "--git-dir"):
        return "This is no Git repository."
    elif "--remove" in sys.argv:
        remove()
    else:
        set_up()
    return 0


if __name__ == "__main__":
    sys.exit(main())
