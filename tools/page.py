"""What a change of one page needs, in seconds: `make page NB=nbs/core/05_boxqp.ipynb`.

The package is exported; the page and its page of checks are formatted, looked at and run; then the
files of tests that import the module of the page. `make test` looks at everything.
"""

import subprocess
import sys
from pathlib import Path

import graph
from cells import ROOT, checks_of, module, read
from lint import lint
from notebooks import export, format_all, run_all


def tests_of(wanted):
    """The files of tests that import a module by its name."""
    for file in sorted((ROOT / "tests").glob("test_*.py")):
        names = graph.imported_names(file.read_text(encoding="utf-8"))
        if any(n == wanted or n.rpartition(".")[0] == wanted for n in names):
            yield file


def tested(page):
    """Run the tests of a page; returns an exit code."""
    exported = module(read(page))
    files = list(tests_of(f"{graph.PACKAGE}.{exported}")) if exported else []
    if not files:
        print("        no file of tests imports its module", flush=True)
        return 0
    return subprocess.run([sys.executable, "-m", "pytest", "-q", *files], cwd=ROOT).returncode


def main(page):
    page = Path(page).resolve()
    pages = [f for f in (page, checks_of(page)) if f.exists()]
    complaint = format_all(only=pages) or export()
    bad = [complaint] if complaint else list(lint(pages))
    ruff = [sys.executable, "-m", "ruff", "check", "--output-format", "concise", *pages]
    if subprocess.run(ruff, cwd=ROOT).returncode or bad:
        print(*bad, sep="\n")
        return 1
    for notebook, printed in run_all(pages):
        bad.append(notebook)
        print(f"--- {notebook}\n{printed}")
    return 1 if bad else tested(page)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
