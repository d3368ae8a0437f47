"""What has passed in this checkout and need not run again, by digests of all that it depends on.

A page depends on its cells and outputs, on the modules that it imports, with what these import, on
the files that it names, on the pinned packages, and on how this computer rounds. The stages of
`make test` that look at everything depend on every file of some folders. A digest that has passed
is the name of an empty file in `.venv/passed`. Continuous integration (CI in the environment) and
`make test FULL=1` run everything.
"""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

import graph
from cells import ROOT, module, read
from outputs import rounding

KEPT = ROOT / ".venv/passed"


def everything():
    """Is nothing to be skipped?"""
    return bool(os.environ.get("CI") or os.environ.get("FULL"))


def digest_of(*parts):
    """One digest of texts and bytes."""
    digest = sha256()
    for part in parts:
        found = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(found).to_bytes(8, "little") + found)
    return digest.hexdigest()[:24]


@cache
def files(root=ROOT):
    """The files of a project that Git knows or would add, as paths within it."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:  # not a working copy: no file is known, and nothing counts as passed
        return ()
    return tuple(sorted(f for f in set(done.stdout.split("\0")) if f and (root / f).is_file()))


@cache
def contents(file):
    """The digest of a file."""
    return digest_of(file.read_bytes())


def of_files(names, root=ROOT):
    """One digest of files and their contents."""
    return digest_of(*(f"{f} {contents(root / f)}" for f in names))


def below(*folders, root=ROOT):
    """The files that stand below these folders, or are these files."""
    return [f for f in files(root) if any(f == d or f.startswith(f"{d}/") for d in folders)]


@cache
def surroundings(root=ROOT):
    """What everything depends on: packages, Python, processor, data, and what runs it."""
    data = os.environ.get("MCSVM_LIT_DATA", "")
    there = sorted(f"{f.name} {f.stat().st_size}" for f in Path(data).glob("*")) if data else ()
    tools = below("constraints.txt", "pyproject.toml", "tools", root=root)
    return digest_of(sys.version, sys.platform, rounding(), *there, of_files(tools, root))


def mentioned(source, root=ROOT):
    """The files outside the package that a text mentions, figures without their ending."""
    paths = {path.lstrip("./") for path in re.findall(r"[\w./-]+", source)}
    for f in files(root):
        short = f.removeprefix("figures/").rpartition(".")[0] if f.startswith("figures/") else f
        if short in paths or (f.endswith(".ipynb") and "*.ipynb" in source):
            yield f


def modules_of(names, root=ROOT):
    """The files of modules, with all that they import."""
    known = graph.modules(root)
    reached = graph.reached(names, root)
    return sorted(known[m].relative_to(root).as_posix() for m in reached if m in known)


def of_page(notebook, root=ROOT):
    """The digest of a page."""
    nb = read(notebook)
    source = graph.notebook_source(nb["cells"])
    names = graph.uses_of(source, root)
    if module(nb):
        names.add(f"{graph.PACKAGE}.{module(nb)}")
    used = {*mentioned(source, root), *modules_of(names, root)}
    here = Path(notebook).relative_to(root).as_posix()
    return digest_of("page", here, surroundings(root), of_files(sorted({*used, here}), root))


# Tests that look at more than the modules which they import.
WIDE = ("ROOT", "walk_packages", "rglob", "glob(", "__path__", "subprocess", "parent.parent")


def companions(file):
    """A file of tests with the files beside it that it imports, and what these import."""
    found, waiting = set(), [file]
    while waiting:
        f = waiting.pop()
        if f not in found:
            found.add(f)
            source = f.read_text(encoding="utf-8")
            names = {n.split(".")[0] for n in graph.imported(ast.parse(source), "")}
            waiting += (f.parent / f"{n}.py" for n in names if (f.parent / f"{n}.py").exists())
    return sorted({*found, *file.parent.glob("conftest.py")})


def of_test(file, root=ROOT):
    """The digest of a file of tests: everything counts where it looks at more than modules."""
    own = companions(file)
    source = "\n".join(f.read_text(encoding="utf-8") for f in own if f.name != "conftest.py")
    if any(word in source for word in WIDE):
        used = files(root)
    else:
        names = graph.uses_of(source, root)
        used = [f.relative_to(root).as_posix() for f in own] + modules_of(names, root)
    return digest_of("test", file.name, surroundings(root), of_files(sorted(used), root))


def has_passed(digest):
    """Has what this digest stands for passed before?"""
    return bool(files()) and not everything() and (KEPT / digest).exists()


def remember(digest):
    """What this digest stands for has passed."""
    KEPT.mkdir(exist_ok=True, parents=True)
    (KEPT / digest).touch()
