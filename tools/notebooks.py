"""Run the notebooks, each in a process of its own, and compare what they show with what they store.

A processor that rounds differently takes other paths to the same answers: other counts of steps,
other last digits, other pictures of them. So a notebook remembers how the computer rounded that
stored its outputs. On one that rounds alike they must be the same; elsewhere differences are only
counted. Running a notebook changes no file of the project.

    python tools/notebooks.py                 run all; fail on an error or on a changed output
    python tools/notebooks.py --store [NB …]  run, and write the outputs into the notebooks
    python tools/notebooks.py --export        run nothing: write the package that they export
    python tools/notebooks.py --format        run nothing: format and clean notebooks and modules

The processes are forks of one that has imported what most pages import.
"""

import argparse
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import namedtuple
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import graph
from cells import ROOT, all_notebooks, as_stored, home, module, name, read, write
from outputs import changed, changed_figures, parts, rounding

# Where `figures.save` writes; a check writes beside the tree, never into it.
FIGURES = "MCSVM_LIT_FIGURES"
# What every notebook sees, so that its outputs depend on nothing else.
SURROUNDINGS = dict(
    MPLBACKEND="agg", PYTHONHASHSEED="0", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", IN_TEST="1"
)
# What the process that is forked has imported, but the package: what most notebooks take long for.
# A system other than Linux does not let forks use such packages.
IMPORTED = (
    "numpy.testing",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.datasets",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
    "cvxpy",
    "pandas",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "PIL.Image",
    "nbdev.clean",
    "pytest",
    "shell",
)
WRITTEN = ("nbs", graph.PACKAGE, "figures")  # where a page might write
FEW = 3  # notebooks, for which importing all that costs more than it saves


# -- one notebook, in this process ----------------------------------------------------------------
def skipped(cell):
    """Is this a cell that a run passes over?"""
    if cell["cell_type"] != "code":
        return True
    return bool(re.search(r"^\s*#\|\s*eval:\s*false", cell["source"], re.M | re.I))


def words(setting):
    """The words of a setting of nbdev: version 2 has them in one line, version 3 in a list."""
    return setting.split() if isinstance(setting, str) else setting


def cleaned(nb, root=ROOT):
    """The notebook after `nbdev_clean` with the settings of the project."""
    from nbdev.clean import clean_nb
    from nbdev.config import get_config

    config = get_config(path=root)
    clean_nb(
        nb,
        config.clear_all,
        words(config.allowed_metadata_keys),
        words(config.allowed_cell_metadata_keys),
        config.clean_ids,
    )
    return nb


def executed(notebook):
    """The notebook with the outputs of a run; ends the process where a cell fails."""
    from shell import new_shell

    nb = read(notebook)
    os.chdir(notebook.parent)
    shell = new_shell(notebook.parent)
    borrow(nb)
    for i, cell in enumerate(nb["cells"]):
        if skipped(cell):
            continue
        cell["outputs"], error = shell.outputs(cell["source"])
        if error:
            told = "".join(traceback.format_exception(error))
            sys.exit(f"cell {i}:\n{cell['source']}\n\n{told}")
    return nb


def borrow(nb):
    """Let the inner loops of a page be those of its module where they say the same.

    But not on the pages about compiling.
    """
    exported = module(nb)
    if exported and not exported.startswith("engine.") and "@kernel" in as_stored(nb):
        from borrow import borrow_from

        borrow_from(import_module(f"{graph.PACKAGE}.{exported}"))


def kinds(cell):
    """The kinds of output of a cell; somebody else's solver may warn on one processor only."""
    return {kind for kind, _ in parts(cell)} - {"stderr"}


def compared(notebook, old, new):
    """Hold the outputs of a run against those stored; ends the process where they differ."""
    pairs = list(enumerate(zip(old["cells"], new["cells"], strict=True)))
    differences = []
    for i, (a, b) in pairs:
        difference = changed(a, b)
        if difference:
            differences.append(f"{name(notebook)}, cell {i}: {difference}")
    for difference in changed_figures(os.environ[FIGURES], home(notebook).parent / "figures"):
        differences.append(f"{name(notebook)}: {difference}")
    if differences and old["metadata"].get("rounding") in (None, rounding()):
        sys.exit("\n".join(differences))
    other = [i for i, (a, b) in pairs if kinds(a) != kinds(b)]
    if other:
        sys.exit(f"cells {other} show other kinds of output than they store")
    if differences:
        print(
            f"{len(differences)} outputs and figures differ, as this processor rounds differently"
        )


def run_one(notebook, store):
    """Run a notebook, and store its outputs or compare them with those stored."""
    old, new = read(notebook), executed(notebook)
    if store:
        new["metadata"]["rounding"] = rounding()
    cleaned(new, home(notebook).parent)
    if store:
        write(new, notebook)
    else:
        compared(notebook, old, new)


# -- many of them, in forks of one process --------------------------------------------------------
Run = namedtuple("Run", "notebook code printed seconds cpu")


def prepare():
    """Import what most notebooks import; what is missing here fails on the pages that need it."""
    ours = (m for m in graph.modules(ROOT) if not m.startswith(f"{graph.PACKAGE}.studies"))
    for wanted in (*IMPORTED, *ours):
        with suppress(ImportError):
            import_module(wanted)
    gc.freeze()  # what is there now no child has to look through for garbage, nor to copy for it


def fork(job, folder):
    """Run a notebook in a fork of this process; returns the process, which prints into a file."""
    child = os.fork()
    if child:
        return child
    printed = os.open(folder / "printed", os.O_WRONLY | os.O_CREAT)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (of the process)
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    notebook = Path(job["notebook"])
    os.environ[FIGURES] = str(
        home(notebook).parent / "figures" if job["store"] else folder / "figures"
    )
    run_one(notebook, job["store"])
    sys.exit()


def serve(jobs):
    """Run the notebooks that standard input names, so many at a time; print a line for each."""
    waiting = [json.loads(line) for line in sys.stdin]
    if sys.platform == "linux" and len(waiting) > FEW:
        prepare()
    running = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            job, folder = waiting.pop(0), Path(tempfile.mkdtemp())
            running[fork(job, folder)] = job, folder, time.time()
        child, status, used = os.wait4(-1, 0)
        job, folder, begun = running.pop(child)
        printed = (folder / "printed").read_text(encoding="utf-8")
        shutil.rmtree(folder)
        cpu = used.ru_utime + used.ru_stime
        code = os.waitstatus_to_exitcode(status)
        done = Run(job["notebook"], code, printed, time.time() - begun, cpu)
        print(json.dumps(done), flush=True)


def runs(notebooks, store=False, jobs=None):
    """Run notebooks; yields a `Run` for each as it ends."""
    command = [sys.executable, __file__, "--serve", "--jobs", str(jobs or os.cpu_count())]
    server = subprocess.Popen(
        command,
        env=os.environ | SURROUNDINGS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        for f in notebooks:
            job = dict(notebook=str(Path(f).resolve()), store=store)
            server.stdin.write(json.dumps(job) + "\n")
        server.stdin.close()
        for line in server.stdout:
            yield Run(*json.loads(line))


def forget_replications(notebooks):
    """Delete the replications kept by earlier runs: they may be those of earlier code."""
    for root in {home(f).parent for f in notebooks}:
        for kept in root.glob("figures/_runs/*/*/quick"):
            shutil.rmtree(kept)


def touched(root):
    """The pages, modules and figures that differ from those stored in Git, with their times."""
    command = ["git", "-C", str(root), "status", "--porcelain", "-z", "--untracked-files=all", "--"]
    done = subprocess.run([*command, *WRITTEN], capture_output=True, text=True)
    files = {line[3:] for line in done.stdout.split("\0") if line[3:]}
    return {f: (root / f).stat().st_mtime_ns if (root / f).exists() else 0 for f in files}


class Watch:
    """What the notebooks of a run do to the files of the project, when they should do nothing."""

    def __init__(self, notebooks):
        self.root = home(notebooks[0]).parent if notebooks else ROOT
        self.before = touched(self.root)

    def complaint(self, notebook):
        """What has been written since the last question, by this notebook or one that runs."""
        now = touched(self.root)
        new = sorted(f for f in now.keys() | self.before if now.get(f) != self.before.get(f))
        self.before = now
        if not new:
            return ""
        return f"while {name(notebook)} ran, files of the project changed: {', '.join(new)}\n"


def run_all(notebooks, store=False, jobs=None, done=None, watched=False):
    """Run `notebooks`; returns the failures as `[(notebook, what it printed)]`.

    `done(run, bad)` is called for each that ends. If `watched`, one that changes a file fails.
    """
    failed = []
    if store:
        forget_replications(notebooks)
    watch = Watch(notebooks) if watched else None
    for run in runs(notebooks, store, jobs):
        f, code, printed, seconds, cpu = run
        written = watch.complaint(f) if watch else ""
        printed, bad = written + printed, bool(code or written)
        if done:
            done(run, bad)
        remark = "" if bad or not printed.strip() else f": {printed.strip()}"
        verdict = "FAILED" if bad else "ok    "
        print(f"  {verdict} {name(f)} ({seconds:.0f} s, {cpu:.1f} s of CPU){remark}", flush=True)
        if bad:
            failed.append((name(f), printed or f"the process ended with {code}"))
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


ABSOLUTE = ("--select", "I,TID252", "mcsvm_lit")  # rules of ruff, and where


def export(root=ROOT):
    """Write the formatted package of the notebooks below `root`; returns what went wrong, or ""."""
    error = python("-c", "from nbdev.doclinks import nbdev_export; nbdev_export()", cwd=root)
    # nbdev's index of names serves other projects of nbdev's kind; here nothing reads it.
    (root / "mcsvm_lit" / "_modidx.py").unlink(missing_ok=True)
    return (
        error
        # nbdev makes imports within the package relative.
        or python("-m", "ruff", "check", "-q", "--fix", "--unsafe-fixes", *ABSOLUTE, cwd=root)
        or python("-m", "ruff", "format", "-q", "mcsvm_lit", cwd=root)
    )


def format_all(root=ROOT, only=()):
    """Format notebooks and modules, make the fixes that are safe, clean the notebooks.

    All of them, or only some files.
    """
    where = [str(f) for f in only] or ["."]
    complaints = python("-m", "ruff", "check", "-q", "--fix", "--exit-zero", *where, cwd=root)
    complaints += python("-m", "ruff", "format", "-q", *where, cwd=root)
    for f in only or all_notebooks(root):
        write(cleaned(read(f), root), f)
    return complaints


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--store", action="store_true", help="write the outputs into the notebooks")
    p.add_argument("--export", action="store_true", help="run nothing: write the package")
    p.add_argument("--format", action="store_true", help="run nothing: format and clean")
    p.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--jobs", type=int, help="notebooks at a time; one for each core if not given")
    p.add_argument("notebooks", nargs="*", type=Path)
    return p.parse_args()


def main():
    a = arguments()
    if a.export:
        return export()
    if a.format:
        return format_all(only=a.notebooks)
    if a.serve:
        return serve(a.jobs)
    failed = run_all(a.notebooks or all_notebooks(), a.store, a.jobs)
    for notebook, printed in failed:
        print(f"\n--- {notebook}\n{printed}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main() or 0)
