"""The pages for the reader's browser: JupyterLite, a JupyterLab without a server, beside the site.

Its Python is Pyodide, which comes from its makers' host when a reader opens a page; all else is
built here, without the network. The package is the wheel without a library (tools/wasm.py runs the
same pages in the same kind of machine).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import wasm
from cells import ROOT, read

NAME = "lite"  # the folder on the site
WISH = "MCSVM_LIT_LITE"  # set where the site is built with it
FIRST = "%pip install -q mcsvm_lit cvxpy-base clarabel"


def button(path, up):
    """The link that opens a page (a path of the repository) in the browser, or nothing."""
    if not os.environ.get(WISH) or not wasm.is_open(ROOT / path):
        return None
    page = Path(path).relative_to("nbs").as_posix()
    return f'<a href="{up}/{NAME}/lab/index.html?path={page}">Run in the browser</a>'


def for_browser(notebook):
    """The notebook as JSON, with a first cell that installs."""
    nb = read(notebook)
    first = dict(cell_type="code", source=FIRST, metadata={}, outputs=[], execution_count=None)
    return json.dumps(nb | dict(cells=[first | dict(id="install"), *nb["cells"]]))


def build(html):
    """Build JupyterLite into the folder of a built site; returns how many pages it has."""
    pages = wasm.pages()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        wheel = wasm.wheel(folder)
        for notebook in pages:
            copy = folder / "pages" / notebook.relative_to(ROOT / "nbs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(for_browser(notebook), encoding="utf-8")
        command = [sys.executable, "-m", "jupyter", "lite", "build", "--contents", "pages"]
        command += ["--piplite-wheels", wheel.name, "--output-dir", (html / NAME).resolve()]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return len(pages)
