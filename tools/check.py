"""What `make test` does, in order, one line per stage; the first stage that fails ends it."""

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


def run(*args, cwd):
    "What a Python command has to complain about."
    r = subprocess.run([sys.executable, *args], cwd=cwd, capture_output=True, text=True)
    if r.returncode:
        yield r.stdout + r.stderr


# Every stage takes the root of the project and yields what is wrong.
def exported(root=ROOT):
    "The package is what the notebooks export: nothing missing, nothing stale, no module without its notebook."
    with tempfile.TemporaryDirectory() as tmp:
        old, fresh = root / "mcsvm_lit", Path(tmp) / "mcsvm_lit"
        fresh.mkdir()
        shutil.copy(old / "__init__.py", fresh)
        shutil.copy(root / "settings.ini", tmp)
        shutil.copytree(root / "nbs", Path(tmp) / "nbs")
        if error := export(tmp):
            yield error
            return
        was, now = ({f.name for f in p.glob("*.py")} for p in (old, fresh))
        yield from (
            f"mcsvm_lit/{f} has no notebook that exports it: delete it" for f in sorted(was - now)
        )
        yield from (f"mcsvm_lit/{f} is not exported: run make export" for f in sorted(now - was))
        yield from (
            f"mcsvm_lit/{f} differs from what its notebook exports: run make export"
            for f in sorted(was & now)
            if not cmp(fresh / f, old / f, shallow=False)
        )


def linted(root=ROOT):
    "Names that the exported modules use without importing them (their notebooks would not notice)."
    return run("-m", "ruff", "check", "--select", "F", "--output-format", "concise", ".", cwd=root)


def clean(root=ROOT):
    "`nbdev_clean` changes nothing: no execution counts, no stray metadata."
    from execnb.nbio import nb2str, read_nb

    for f in all_notebooks(root):
        if nb2str(cleaned(read_nb(f), root)) != f.read_text(encoding="utf-8"):
            yield f"{f.relative_to(root)} is not clean: run nbdev_clean"


def styled(root=ROOT):
    return lint(all_notebooks(root), root)


def front_page(root=ROOT):
    return run("tools/readme.py", "--check", cwd=root)


def compiled(root=ROOT):
    from mcsvm_lit.core.compiled import compile_all

    compile_all(verbose=False)
    return ()


def notebooks_run(root=ROOT):
    return [f"--- {nb}\n{out}" for nb, out in run_all(all_notebooks(root))]


def tested(root=ROOT):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=root
    ).returncode  # 5 when it collects nothing: a failure too


STAGES = [
    (exported, "the package is what the notebooks export"),
    (linted, "ruff finds no undefined or unused name"),
    (clean, "notebooks are clean"),
    (styled, "notebooks keep the house style"),
    (front_page, "README.md is the front page"),
    (compiled, "inner loops compile"),
    (notebooks_run, "every notebook runs and shows what it stores"),
]


def main():
    os.chdir(ROOT)
    for stage, what in STAGES:
        t = time.time()
        bad = list(stage())
        print(f"{'FAILED' if bad else 'ok':>6}  {what} ({time.time() - t:.0f} s)", flush=True)
        if bad:
            print(*bad, sep="\n")
            return 1
    print("        pytest over the installed package:", flush=True)
    return tested()


if __name__ == "__main__":
    sys.exit(main())
