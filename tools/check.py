"""What `make test` does, one line for each stage.

First what needs no run, in order; the first stage that fails ends it. Then, side by side on all
cores, the site, the notebooks and pytest. What has passed before with the same files is skipped,
except in continuous integration and by `make test FULL=1` (tools/passed.py).
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from filecmp import cmp
from pathlib import Path
from xml.etree import ElementTree

import passed
from cells import ROOT, all_notebooks, as_stored, read
from lint import lint
from notebooks import cleaned, export, run_all
from sizes import out_of_size

PACKAGE = "mcsvm_lit"
# What visitors ask of the built site.
ANSWERS = "tests/test_answers.py"
# What the site is made from.
SITE = (
    "nbs",
    "docs",
    "figures",
    "benchmarks",
    PACKAGE,
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "settings.ini",
    ANSWERS,
)


class Spent(threading.local):
    """The processor seconds of the programs that a thread has run."""

    cpu = 0.0


SPENT = Spent()


def ran(*command, cwd):
    """Run a Python command; returns its exit code and what it printed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=cwd, stdout=printed, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        SPENT.cpu += used.ru_utime + used.ru_stime
        printed.seek(0)
        return process.returncode, printed.read()


def complaints_of(*command, cwd):
    """What a Python command prints, if it fails."""
    code, printed = ran(*command, cwd=cwd)
    if code:
        yield printed


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
    for f in all_notebooks(root):
        if as_stored(cleaned(read(f), root)) != f.read_text(encoding="utf-8"):
            yield f"{f.relative_to(root)} is not clean: run make format"


def styled(root=ROOT):
    """Prose, links and the shape of pages."""
    return lint(all_notebooks(root), root)


def front_page(root=ROOT):
    """README.md is what nbs/index.ipynb says."""
    return complaints_of("tools/readme.py", "--check", cwd=root)


def compiled(root=ROOT):
    """The inner loops compile."""
    from mcsvm_lit.engine.compiled import compile_all

    compile_all()
    return ()


# -- the long ones --------------------------------------------------------------------------------
def site(root=ROOT):
    """The site builds without a warning, every link leads somewhere, and questions have answers."""
    digest = passed.digest_of("site", passed.surroundings(), passed.of_files(passed.below(*SITE)))
    if root == ROOT and passed.has_passed(digest):
        return
    code, printed = ran("docs/build.py", cwd=root)
    if not code and (root / ANSWERS).exists():
        code, printed = ran("-m", "pytest", "-q", ANSWERS, cwd=root)
    if code:
        yield printed
    elif root == ROOT:
        passed.remember(digest)


def notebooks_run(root=ROOT):
    """Every notebook runs, shows what it stores, and writes nothing."""
    digests = {f: passed.of_page(f, root) for f in all_notebooks(root)}
    waiting = [f for f in digests if not passed.has_passed(digests[f])]
    if len(waiting) < len(digests):
        print(f"  {len(digests) - len(waiting)} notebooks have passed before", flush=True)

    def done(run, bad):
        SPENT.cpu += run.cpu
        if not bad:
            passed.remember(digests[Path(run.notebook)])

    return [
        f"--- {notebook}\n{printed}"
        for notebook, printed in run_all(waiting, done=done, watched=True)
    ]


def outcomes(report):
    """The files of tests in a report of pytest, and those of them in which something failed."""
    found, failed = set(), set()
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.get("classname").split(".")[1]
        found.add(file)
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(file)
    return found, failed


def tested(root=ROOT):
    """Run pytest on all cores; returns its exit code and what it printed.

    The code is 5, a failure too, when there is no test.
    """
    files = sorted(set(root.glob("tests/test_*.py")) - {root / ANSWERS})
    digests = {f: passed.of_test(f, root) for f in files}
    waiting = [f for f in digests if not passed.has_passed(digests[f])]
    if digests and not waiting:
        return 0, "every test has passed before"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-n", str(os.cpu_count()), "--dist", "loadgroup", f"--junitxml={report}"]
        names = [f.relative_to(root).as_posix() for f in waiting]
        code, printed = ran("-m", "pytest", *options, *names, cwd=root)
        found, failed = outcomes(report) if report.exists() else (set(), set())
    for f in waiting:
        if f.stem in found - failed:
            passed.remember(digests[f])
    return code, printed.rstrip()


STAGES = [
    (exported, "the package is what the notebooks export"),
    (formatted, "notebooks and modules are formatted"),
    (linted, "ruff finds nothing to complain about"),
    (sized, "exported functions are short"),
    (clean, "notebooks are clean"),
    (styled, "notebooks keep the house style"),
    (front_page, "README.md is the front page"),
    (compiled, "inner loops compile"),
]
LONG_STAGES = [
    (site, "the site builds without a warning"),
    (notebooks_run, "every notebook runs, shows what it stores, and writes nothing"),
]


def seconds():
    """Seconds of this process and of all that have ended: of the clock, and of the processor."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.time(), sum(u.ru_utime + u.ru_stime for u in used)


def tell(claim, bad, wall, cpu):
    """The line of a stage, and what is wrong."""
    verdict = "FAILED" if bad else "ok"
    print(f"{verdict:>6}  {claim} ({wall:.0f} s, {cpu:.0f} s of CPU)", flush=True)
    if bad:
        print(*bad, sep="\n", flush=True)


def in_order():
    """Run the stages that need no run of notebooks; is all well?"""
    for stage, claim in STAGES:
        begun, used = seconds()
        bad = list(stage())
        now, since = seconds()
        tell(claim, bad, now - begun, since - used)
        if bad:
            return False
    return True


def measured(stage):
    """What a stage says, its seconds, and those of the processor in the programs that it ran."""
    begun, SPENT.cpu = time.time(), 0.0
    said = list(stage())
    return said, time.time() - begun, SPENT.cpu


def side_by_side():
    """Run the long stages at the same time; returns an exit code. What pytest prints comes last."""
    with ThreadPoolExecutor() as pool:
        stages = [(claim, pool.submit(measured, stage)) for stage, claim in LONG_STAGES]
        tests = pool.submit(measured, tested)
        wrong = False
        for claim, stage in stages:
            bad, wall, cpu = stage.result()
            tell(claim, bad, wall, cpu)
            wrong |= bool(bad)
        (code, printed), wall, cpu = tests.result()
    print(f"        pytest over the installed package ({wall:.0f} s, {cpu:.0f} s of CPU):")
    print(printed, flush=True)
    return code or int(wrong)


def main():
    os.chdir(ROOT)
    return side_by_side() if in_order() else 1


if __name__ == "__main__":
    sys.exit(main())
