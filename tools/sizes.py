"""The sizes of exported functions: none above 60 lines, half of those of a package at most 15.

Lines are counted as `ruff format` leaves them, from `def` to the last line. How many arguments a
function may take and how much it may branch is checked by ruff, see pyproject.toml.

    python tools/sizes.py [FOLDER …]     the median of each package, and what is too long
"""

import ast
import sys
from pathlib import Path
from statistics import median_high

from notebooks import ROOT

LONGEST = 60  # lines of one function
MEDIAN = 15  # lines of the functions of one package (a folder)


def functions(source):
    """Name, first line and number of lines of each function and method of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def packages(folder):
    """The functions below `folder` by package, as `{package: [(module, name, line, lines)]}`."""
    found = {}
    for module in sorted(Path(folder).rglob("*.py")):
        if module.name.startswith("_"):
            continue
        for function in functions(module.read_text(encoding="utf-8")):
            found.setdefault(module.parent, []).append((module, *function))
    return found


def out_of_size(folder):
    """What is too long below `folder`."""
    for package, rows in packages(folder).items():
        for module, name, line, lines in rows:
            if lines > LONGEST:
                yield f"{module}:{line} {name} has {lines} lines (at most {LONGEST})"
        typical = median_high(lines for *_, lines in rows)
        if typical > MEDIAN:
            yield f"{package}: the median of functions is {typical} lines (at most {MEDIAN})"


def main(folders):
    bad = 0
    for folder in folders or [ROOT / "mcsvm_lit"]:
        for package, rows in packages(folder).items():
            sizes = [lines for *_, lines in rows]
            typical, longest = median_high(sizes), max(sizes)
            print(f"{package}: {len(sizes)} functions, median {typical}, longest {longest}")
        for complaint in out_of_size(folder):
            print(complaint)
            bad += 1
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
