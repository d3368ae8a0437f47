"""Mistakes in a page are seen by the page or by its page of checks (`make mutants`)."""

import os
import subprocess
import sys

import pytest
from notebooks import ROOT

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="mistakes are made in forks")


def campaign(*options):
    """What `tools/mutants.py` says of the page on drawing."""
    command = [sys.executable, "tools/mutants.py", "nbs/core/09a_drawing.ipynb", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@needs_fork
def test_the_page_of_checks_sees_what_the_page_does_not():
    """Where the lines of the triangle stand is asserted on the page of checks alone."""
    done = campaign("--of", "_level_line", "--most", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("of the checks: AssertionError") == 2
    assert done.stdout.rstrip().endswith("0 of 2 survived")
