"""What `make test` does: stages in order, one line for each; the first stage that fails ends it."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from filecmp import cmp
from pathlib import Path

from lint import lint
from notebooks import ROOT, all_notebooks, cleaned, export, run_all
from sizes import out_of_size

PACKAGE = "mcsvm_lit"


def complaints_of(*command, cwd):
    """What a Python command prints, if it fails."""
    done = subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        yield done.stdout + done.stderr


# Every stage takes the root of the project and yields what is wrong there.
def modules(package):
    """The Python files of a package, as paths within it."""
    return {f.relative_to(package).as_posix() for f in package.rglob("*.py")}


def exported_afresh(root, folder):
    """Export the notebooks of `root` into a package in `folder`; returns what went wrong.

    The package starts with nothing but the `__init__.py` files, the only modules written by hand.
    """
    for name in ("settings.ini", "pyproject.toml"):
        shutil.copy(root / name, folder)
    shutil.copytree(root / "nbs", folder / "nbs")
    for f in (root / PACKAGE).rglob("__init__.py"):
        copy = folder / f.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(f, copy)
    return export(folder)


def exported(root=ROOT):
    """The package is what the notebooks export: nothing is missing, stale or without a notebook."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        error = exported_afresh(root, folder)
        if error:
            yield error
            return
        stored, fresh = root / PACKAGE, folder / PACKAGE
        before, now = modules(stored), modules(fresh)
        for f in sorted(before - now):
            yield f"{PACKAGE}/{f} has no notebook that exports it: delete it"
        for f in sorted(now - before):
            yield f"{PACKAGE}/{f} is not exported: run make export"
        for f in sorted(before & now):
            if not cmp(fresh / f, stored / f, shallow=False):
                yield f"{PACKAGE}/{f} differs from what its notebook exports: run make export"


def formatted(root=ROOT):
    """`ruff format` changes nothing, neither in notebooks nor in Python files."""
    return complaints_of("-m", "ruff", "format", "--check", "-q", ".", cwd=root)


def linted(root=ROOT):
    """`ruff check` finds nothing; its rules and their exceptions stand in pyproject.toml."""
    return complaints_of("-m", "ruff", "check", "--output-format", "concise", ".", cwd=root)


def sized(root=ROOT):
    """Exported functions are short."""
    return out_of_size(root / PACKAGE)


def clean(root=ROOT):
    """`nbdev_clean` changes no notebook: no execution counts, no stray metadata."""
    from execnb.nbio import nb2str, read_nb

    for f in all_notebooks(root):
        if nb2str(cleaned(read_nb(f), root)) != f.read_text(encoding="utf-8"):
            yield f"{f.relative_to(root)} is not clean: run make format"


def styled(root=ROOT):
    """Prose, links and the shape of pages."""
    return lint(all_notebooks(root), root)


def front_page(root=ROOT):
    """README.md is what nbs/index.ipynb says."""
    return complaints_of("tools/readme.py", "--check", cwd=root)


def site(root=ROOT):
    """The site builds without a warning, and every link on it leads somewhere."""
    return complaints_of("docs/build.py", cwd=root)


def compiled(root=ROOT):
    """The inner loops compile."""
    from mcsvm_lit.engine.compiled import compile_all

    compile_all(verbose=False)
    return ()


def notebooks_run(root=ROOT):
    """Every notebook runs and shows what it stores."""
    return [f"--- {notebook}\n{printed}" for notebook, printed in run_all(all_notebooks(root))]


def tested(root=ROOT):
    """The exit code of pytest; it is 5, a failure too, when there is no test."""
    return subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=root).returncode


STAGES = [
    (exported, "the package is what the notebooks export"),
    (formatted, "notebooks and modules are formatted"),
    (linted, "ruff finds nothing to complain about"),
    (sized, "exported functions are short"),
    (clean, "notebooks are clean"),
    (styled, "notebooks keep the house style"),
    (front_page, "README.md is the front page"),
    (site, "the site builds without a warning"),
    (compiled, "inner loops compile"),
    (notebooks_run, "every notebook runs and shows what it stores"),
]


def main():
    os.chdir(ROOT)
    for stage, claim in STAGES:
        start = time.time()
        bad = list(stage())
        print(f"{'FAILED' if bad else 'ok':>6}  {claim} ({time.time() - start:.0f} s)", flush=True)
        if bad:
            print(*bad, sep="\n")
            return 1
    print("        pytest over the installed package:", flush=True)
    return tested()


if __name__ == "__main__":
    sys.exit(main())
