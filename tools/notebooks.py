"""Run the notebooks, each in a process of its own, and compare what they show with what they store.

A processor that rounds differently takes other paths to the same answers: other counts of steps,
other last digits, other pictures of them. So a notebook remembers how the computer rounded that
stored its outputs. On one that rounds alike they must be the same; elsewhere differences are only
counted.

    python tools/notebooks.py                 run all; fail on an error or on a changed output
    python tools/notebooks.py --store [NB …]  run, and write the outputs into the notebooks
    python tools/notebooks.py --export        run nothing: write the package that they export
    python tools/notebooks.py --format        run nothing: format and clean notebooks and modules
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from outputs import changed, changed_figures, parts, rounding

ROOT = Path(__file__).resolve().parent.parent
# Where `figures.save` writes; a check writes beside the tree, never into it.
FIGURES = "MCSVM_LIT_FIGURES"
# What every notebook sees, so that its outputs depend on nothing else.
SURROUNDINGS = dict(
    MPLBACKEND="agg", PYTHONHASHSEED="0", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"
)


def all_notebooks(root=ROOT):
    """Every notebook below `nbs`, in the order of their names."""
    found = (root / "nbs").rglob("*.ipynb")
    return sorted(f for f in found if ".ipynb_checkpoints" not in f.parts)


def home(notebook):
    """The folder `nbs` that a notebook lives in."""
    return next(d for d in Path(notebook).resolve().parents if d.name == "nbs")


def name(notebook):
    """The path of a notebook within its folder `nbs`."""
    return Path(notebook).resolve().relative_to(home(notebook)).as_posix()


def checks_of(notebook):
    """The page of checks beside a page, whether there is one or not."""
    return Path(notebook).parent / "checks" / Path(notebook).name


def is_checks(notebook):
    """Is this a page of checks: what guards the code of a page and teaches nothing?"""
    return Path(notebook).resolve().parent.name == "checks"


# -- one notebook, in this process ----------------------------------------------------------------
def skipped(cell):
    """Is this a cell that a run passes over?"""
    if cell.cell_type != "code":
        return True
    return bool(re.search(r"^\s*#\|\s*eval:\s*false", cell.source, re.M | re.I))


def cleaned(nb, root=ROOT):
    """The notebook after `nbdev_clean` with the settings of the project."""
    from nbdev.clean import clean_nb
    from nbdev.config import get_config

    config = get_config(path=root)
    clean_nb(
        nb,
        config.clear_all,
        config.allowed_metadata_keys.split(),
        config.allowed_cell_metadata_keys.split(),
        config.clean_ids,
    )
    return nb


def traceback_of(nb):
    """The first cell that failed, with its traceback; None if none did."""
    for i, cell in enumerate(nb.cells):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                lines = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output["traceback"]))
                return f"cell {i}:\n{cell.source}\n\n{lines}"
    return None


def executed(notebook):
    """The notebook with the outputs of a run; ends the process where a cell fails."""
    from execnb.nbio import read_nb
    from execnb.shell import CaptureShell

    os.environ["IN_TEST"] = "1"
    nb = read_nb(notebook)
    for cell in nb.cells:
        if not skipped(cell):
            cell.outputs = []
    os.chdir(notebook.parent)
    try:
        CaptureShell(notebook, mpl_format="png").run_all(nb, exc_stop=True, preproc=skipped)
    except Exception:
        failure = traceback_of(nb)
        if failure:
            sys.exit(failure)
        raise
    return nb


def kinds(cell):
    """The kinds of output of a cell; somebody else's solver may warn on one processor only."""
    return {kind for kind, _ in parts(cell)} - {"stderr"}


def compared(notebook, old, new):
    """Hold the outputs of a run against those stored; ends the process where they differ."""
    differences = []
    for i, (a, b) in enumerate(zip(old.cells, new.cells)):
        difference = changed(a, b)
        if difference:
            differences.append(f"{name(notebook)}, cell {i}: {difference}")
    for difference in changed_figures(os.environ[FIGURES], home(notebook).parent / "figures"):
        differences.append(f"{name(notebook)}: {difference}")
    if differences and old.metadata.get("rounding") in (None, rounding()):
        sys.exit("\n".join(differences))
    other = [i for i, (a, b) in enumerate(zip(old.cells, new.cells)) if kinds(a) != kinds(b)]
    if other:
        sys.exit(f"cells {other} show other kinds of output than they store")
    if differences:
        print(
            f"{len(differences)} outputs and figures differ, as this processor rounds differently"
        )


def run_one(notebook, store):
    """Run a notebook, and store its outputs or compare them with those stored."""
    from execnb.nbio import read_nb, write_nb

    notebook = Path(notebook).resolve()
    old, new = read_nb(notebook), executed(notebook)
    if store:
        new.metadata["rounding"] = rounding()
    cleaned(new, home(notebook).parent)
    if store:
        write_nb(new, notebook)
    else:
        compared(notebook, old, new)


# -- all of them, on all cores --------------------------------------------------------------------
def start(notebook, store):
    """Run a notebook in a process of its own; returns (exit code, what it printed, seconds)."""
    with tempfile.TemporaryDirectory() as elsewhere:
        figures = home(notebook).parent / "figures" if store else elsewhere
        command = [sys.executable, __file__, "--one", str(notebook)]
        if store:
            command.append("--store")
        begun = time.time()
        done = subprocess.run(
            command,
            env={**os.environ, **SURROUNDINGS, FIGURES: str(figures)},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr, time.time() - begun


def forget_replications(notebooks):
    """Delete the replications kept by earlier runs: they may be those of earlier code."""
    for root in {home(f).parent for f in notebooks}:
        for kept in root.glob("figures/_runs/*/*/quick"):
            shutil.rmtree(kept)


def run_all(notebooks, store=False, jobs=None):
    """Run `notebooks`; returns the failures as `[(notebook, what it printed)]`."""
    failed = []
    if store:
        forget_replications(notebooks)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        results = pool.map(lambda f: start(f, store), notebooks)
        for f, (code, printed, seconds) in zip(notebooks, results):
            remark = "" if code or not printed.strip() else f": {printed.strip()}"
            verdict = "FAILED" if code else "ok    "
            print(f"  {verdict} {name(f)} ({seconds:.0f} s){remark}", flush=True)
            if code:
                failed.append((name(f), printed))
    return failed


# -- notebooks -> package -------------------------------------------------------------------------
def python(*command, cwd, **env):
    """What a Python command prints if it fails, else the empty string."""
    # nbdev exports nothing while IN_TEST is set
    env = {k: v for k, v in os.environ.items() if k != "IN_TEST"} | env
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True
    )
    return done.stdout + done.stderr if done.returncode else ""


def export(root=ROOT):
    """Write the formatted package of the notebooks below `root`; returns what went wrong, or ""."""
    error = python("-c", "from nbdev.doclinks import nbdev_export; nbdev_export()", cwd=root)
    # nbdev's index of names serves other projects of nbdev's kind; here nothing reads it.
    (root / "mcsvm_lit" / "_modidx.py").unlink(missing_ok=True)
    return (
        error
        or python("-m", "ruff", "check", "-q", "--fix", "--select", "I", "mcsvm_lit", cwd=root)
        or python("-m", "ruff", "format", "-q", "mcsvm_lit", cwd=root)
    )


def format_all(root=ROOT):
    """Format notebooks and modules, make the fixes that are safe, clean the notebooks."""
    from execnb.nbio import nb2str, read_nb

    complaints = python("-m", "ruff", "check", "-q", "--fix", "--exit-zero", ".", cwd=root)
    complaints += python("-m", "ruff", "format", "-q", ".", cwd=root)
    for f in all_notebooks(root):
        tidy = nb2str(cleaned(read_nb(f), root))
        if tidy != f.read_text(encoding="utf-8"):
            f.write_text(tidy, encoding="utf-8")
    return complaints


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--store", action="store_true", help="write the outputs into the notebooks")
    p.add_argument("--export", action="store_true", help="run nothing: write the package")
    p.add_argument("--format", action="store_true", help="run nothing: format and clean")
    p.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--jobs", type=int, help="notebooks at a time; one for each core if not given")
    p.add_argument("notebooks", nargs="*", type=Path)
    return p.parse_args()


def main():
    a = arguments()
    if a.export:
        return export()
    if a.format:
        return format_all()
    if a.one:
        return run_one(a.notebooks[0], a.store)
    failed = run_all(a.notebooks or all_notebooks(), a.store, a.jobs)
    for notebook, printed in failed:
        print(f"\n--- {notebook}\n{printed}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main() or 0)
