"""Kernels compiled ahead of time: the library computes what numba and plain Python compute.

The arguments are recorded from small fits. While they run, each kernel is plain Python at first, so
that the kernels it calls are recorded too.

numba compiles slowly. Only kernels that have changed since all were compared are compared with it,
and all by `make test FULL=1`; `python tests/test_ahead.py` compares all and keeps their digests.
"""

import compileall
import copy
import inspect
import json
import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from test_behaviour import (
    CASES,
    LINEAR,
    RBF,
    Case,
    blobs,
    cs,
    digits,
    every_third,
    iris,
    measure,
    three_clouds,
)

import mcsvm_lit
from mcsvm_lit import MulticlassSVC, c_path
from mcsvm_lit.core import gram, linear_algebra, losses
from mcsvm_lit.engine import compiled
from mcsvm_lit.engine.compiled import library, name_of, package_kernels
from mcsvm_lit.kernel_logistic.paper import section_5
from mcsvm_lit.twin_ksvc import two_parts

KEPT = 3  # calls kept of each kernel
PATIENCE = 20  # calls after which a kernel need not be plain Python any more
ROWS = 9  # of each class in the small fits
# What happens only where rounding leaves rows in each other's way.
NOT_REACHED = {"mcsvm_lit.twin_ksvc.event_loop.makes_room"}
# These return memory that nobody has written to yet; only its shape can be compared.
UNWRITTEN = {"mcsvm_lit.twin_margin.walk_in_nu._new_track"}

COMPARED = Path(__file__).parent / "recorded/compared_with_numba.json"

ALL_KERNELS = package_kernels()
KERNELS = [k for k in ALL_KERNELS if k.signatures]
needs_library = pytest.mark.skipif(
    library()[0] is None, reason=f"there is no library: {library()[1]}"
)


@dataclass
class Recorder:
    """Stands in for a kernel and keeps its first arguments."""

    kernel: compiled.Compiled
    fast: object
    inner: list = field(default_factory=list)  # recorders of all kernels that this one calls
    calls: list = field(default_factory=list)
    count: int = 0

    def __call__(self, *args):
        self.count += 1
        if len(self.calls) < KEPT:
            self.calls.append(copy.deepcopy(args))
        if self.count > PATIENCE and all(r.calls for r in self.inner):
            return self.fast(*args)
        return self.kernel.py_func(*args)


def small(data):
    """Some rows of each class."""
    rows = np.concatenate([np.flatnonzero(data.y == k)[:ROWS] for k in np.unique(data.y)])
    rows = np.sort(rows)
    parts = {name: getattr(data, name)[rows] for name in ("X", "y", "weight", "radius", "fold")}
    return replace(data, **parts, Z=data.Z[:6])


def twins():
    """Rows that are equal and have different labels."""
    data = small(iris())
    both = [np.concatenate([v, v]) for v in (data.X, data.weight, data.radius, data.fold)]
    X, weight, radius, fold = both
    return replace(
        data,
        X=X,
        y=np.concatenate([data.y, (data.y + 1) % 3]),
        weight=weight,
        radius=radius,
        fold=fold,
    )


def many_rows():
    """More rows than a solver takes at once."""
    return blobs(1200, 2, 3, 0.5, seed=4)


def twice():
    """Rounded rows, each of them twice."""
    data = three_clouds()
    return every_third(np.tile(data.X.round(1), (2, 1)), np.tile(data.y, 2))


# What the cases of test_behaviour.py do not reach: equal rows, a cache that is too small for the
# kernel matrix, and what the pages call directly.
MORE_CASES = [
    cs("many rows", many_rows, **RBF),
    Case("path in λ, rows twice", "twin_path", twice, {"epsilon": 0.25, "ridge": 1e-8}),
    Case("path in λ, rows in planes", "twin_path", iris, {"epsilon": 0.2, "ridge": 1e-8}),
    cs("equal rows", twins, **RBF),
    cs("equal rows, linear", twins, **LINEAR),
    cs("small cache", digits, cache_size=0.05, **RBF),
]


def more_calls():
    """Kernels that pages call and classifiers do not."""
    factor = np.tril(np.arange(1.0, 10.0).reshape(3, 3))
    linear_algebra.elbow_solve(factor, 3, np.ones(3))
    rows = np.zeros((3, 2, 2))
    rows[:, 0] = [[1, 0], [0, 1], [1, 1]]
    axes = np.array([np.eye(2), np.eye(2)])
    two_parts.combination(rows[2], np.arange(2), rows, axes, np.zeros(2))
    Z, s = small(iris()).X[:12], np.tile([1.0, -1.0], 6)  # labels that no plane explains
    c = np.full(12, 1e8)
    section_5(Z @ Z.T + np.eye(12), s, c, np.array([c / 2, c / 2]), most=300)
    F, y = np.ascontiguousarray(Z[:, :3]), np.arange(12) % 3
    for loss in losses.Softmax(), losses.Hinge(1.0):
        loss.look(F, y, np.linspace(0.5, 2.0, 12))
    Q = Z @ Z.T + np.eye(12)
    gram.gram_renew(Q, np.zeros((12, 12)), 12)
    c_path(Z.round(), y, kernel="linear")  # many ties
    for loss in "top-k", "weston-watkins", "lee-lin-wahba":
        MulticlassSVC(C=10.0, loss=loss, tol=1e-6).fit(Z, np.arange(12) % 4)


@cache
def recorded():
    """The arguments of the first calls of each kernel, by its name."""
    recorders = {k: Recorder(k, k.ready() if k.signatures else k.py_func) for k in ALL_KERNELS}
    for k, recorder in recorders.items():
        recorder.inner = [recorders[g] for g in compiled.with_callees([k]) if g in recorders]
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        for k, recorder in recorders.items():
            patch.setattr(k, "_ready", recorder)
        more_calls()
        for size in (small, lambda data: data):
            for case in MORE_CASES + CASES:
                if not all(recorders[k].calls for k in KERNELS):
                    try_case(case, size(case.data()))
    return {name_of(k): recorder.calls for k, recorder in recorders.items()}


def try_case(case, data):
    """Run a case for its calls; with few rows its answers may be in doubt, which is no matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            measure(case, data)
        except Exception as e:
            print(f"{case.name}: {e!r}")


def outcome(run, args):
    """What a call returns and leaves in its arguments."""
    args = copy.deepcopy(args)
    with np.errstate(all="ignore"):
        return run(*args), args


def same(a, b, rtol=0.0, atol=0.0):
    """Equal in kind, shape and value; to the bit, unless a tolerance is given."""
    if isinstance(a, tuple):
        assert isinstance(b, tuple) and len(a) == len(b)
        assert getattr(a, "_fields", None) == getattr(b, "_fields", None)
        for x, y in zip(a, b, strict=True):
            same(x, y, rtol, atol)
    elif a is None or isinstance(a, bool | np.bool_):
        assert a == b
    elif getattr(a, "dtype", None) is not None and a.dtype.names:
        assert a.dtype == b.dtype
        for name in a.dtype.names:
            same(a[name], b[name], rtol, atol)
    elif rtol:
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
    else:
        np.testing.assert_array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def shapes(x):
    """The shapes of all arrays in nested tuples."""
    return tuple(map(shapes, x)) if isinstance(x, tuple) else np.shape(x)


def calls_of(k):
    """The recorded arguments of a kernel."""
    calls = recorded()[name_of(k)]
    if not calls and name_of(k) in NOT_REACHED:
        pytest.skip("no data at hand makes a classifier call it")
    assert calls, "no small fit calls this kernel: add a case to test_behaviour.py"
    return calls


def compare(k, other, **tolerances):
    """The library's kernel and another function agree on all recorded calls."""
    calls, (shelf, _) = calls_of(k), library()
    assert not shelf.refuses(k), "the library is stale: build it again"
    ahead = shelf.function(k)
    for args in calls:
        found = outcome(ahead, args), outcome(other, args)
        same(*(map(shapes, found) if name_of(k) in UNWRITTEN else found), **tolerances)


def compared():
    """The digests of kernels that were compared with this version of numba."""
    kept = json.loads(COMPARED.read_text(encoding="utf-8"))
    return set(kept["kernels"]) if kept["numba"] == version("numba") else set()


@needs_library
@pytest.mark.parametrize("k", KERNELS, ids=name_of)
def test_ahead_is_python(k):
    """But for rounding."""
    compare(k, k.py_func, rtol=1e-7, atol=1e-9)


@needs_library
@pytest.mark.parametrize("k", KERNELS, ids=name_of)
def test_ahead_is_numba(k):
    """To the bit."""
    if not os.environ.get("FULL") and k.digest() in compared():
        pytest.skip("compared before, and the same since")
    compare(k, k.compiled())


def test_what_has_changed_is_compared_again(monkeypatch):
    """Most kernels are known as they are; one whose lines change is not."""
    known = [k for k in KERNELS if k.digest() in compared()]
    assert 2 * len(known) > len(KERNELS), "compare all again: python tests/test_ahead.py"
    k, constants = known[0], compiled.constants_of
    monkeypatch.setattr(compiled, "constants_of", lambda k: constants(k) + "one more")
    assert k.digest() not in compared()


def compare_all():
    """Compare every kernel with numba, and keep the digests of those that are the same."""
    found = set()
    for k in KERNELS:
        if name_of(k) not in NOT_REACHED:
            compare(k, k.compiled())
            found.add(k.digest())
    kept = {"numba": version("numba"), "kernels": sorted(found)}
    COMPARED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


# -- what is done without the library, and with one that is damaged --------------------------------
FIT = """
import sys, warnings
if "numba" in sys.argv:
    sys.modules["numba"] = None  # as if it were not installed
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from sklearn.datasets import load_iris
    from mcsvm_lit import CrammerSingerSVC
    from mcsvm_lit.engine.compiled import status
    X, y = load_iris(return_X_y=True)
    score = CrammerSingerSVC().fit(X, y).score(X, y)
    print(score > 0.9, "numba" in sys.modules, bool(status().path))
    print(*(w.message for w in said if w.category is RuntimeWarning), sep="\\n")
"""


def fit_in(folder, home, *absent, **settings):
    """What a fresh process prints that imports the package from `folder`."""
    env = os.environ | {"PYTHONPATH": str(folder), "HOME": str(home)} | settings
    command = [sys.executable, "-P", "-c", FIT, *absent]
    done = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n", 1)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A copy of the package, with its library."""
    folder = tmp_path_factory.mktemp("installed")
    package = Path(mcsvm_lit.__file__).parent
    shutil.copytree(package, folder / "mcsvm_lit", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@needs_library
def test_a_fit_needs_no_numba(installed, tmp_path):
    assert fit_in(installed, tmp_path) == ["True False True"]


@needs_library
@pytest.mark.parametrize("level", library()[0].about["levels"] if library()[0] else [])
def test_every_level_of_processor_fits(installed, tmp_path, level):
    shelf, _ = library()
    if shelf.about["levels"][level] <= shelf.module.processor():
        assert fit_in(installed, tmp_path, MCSVM_LIT_CPU=level) == ["True False True"]


@needs_library
def test_a_package_without_sources_trusts_its_library(installed, tmp_path):
    """As in a frozen application: nobody can have edited what is not there."""
    compiled_only = tmp_path / "frozen"
    shutil.copytree(installed, compiled_only)
    assert compileall.compile_dir(compiled_only, legacy=True, quiet=1)
    for file in compiled_only.rglob("*.py"):
        file.unlink()
    assert fit_in(compiled_only, tmp_path) == ["True False True"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with a cache of what numba has compiled for the tests before."""
    return tmp_path_factory.mktemp("home")


@needs_library
@pytest.mark.parametrize("damage", [lambda whole: b"no library", lambda whole: whole[:5000]])
def test_a_damaged_library_is_one_sentence(installed, home, damage):
    """Then numba compiles, into a cache of its own; a file cut off would end the process.
    Without numba, the sentence does not promise it."""
    (file,) = (installed / "mcsvm_lit").rglob("_loops.*")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    try:
        answer, said = fit_in(installed, home)
        alone, both = fit_in(installed, home, "numba")
    finally:
        file.write_bytes(whole)
    assert answer == alone == "True True False"
    assert said.count("\n") == 0 and "cannot be used" in said and "compiled by numba" in said
    first, second = both.splitlines()  # what has happened, and what to do
    assert first.endswith("they run as plain Python.") and second.startswith("numba is not inst")


def test_without_library_and_numba_loops_are_python(tmp_path):
    """One sentence says what that costs, and what to do."""
    package = Path(mcsvm_lit.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "_loops.*")
    shutil.copytree(package, tmp_path / "mcsvm_lit", ignore=ignored)
    answer, said = fit_in(tmp_path, tmp_path, "numba")
    assert answer == "True True False"  # in sys.modules, as a name without a module
    assert said.startswith("numba is not installed") and said.count("\n") == 0
    assert "40 to 90 times" in said and 'pip install "mcsvm_lit[numba]"' in said


@needs_library
def test_an_edited_kernel_is_not_served(installed, tmp_path):
    """A new comment changes nothing; a new line in a kernel sends this kernel to numba."""
    k = next(k for k in KERNELS if "\n    return" in inspect.getsource(k.py_func))
    module = installed / (k.__module__.replace(".", "/") + ".py")
    text = module.read_text(encoding="utf-8")
    source = inspect.getsource(k.py_func)
    changed = source.replace("\n    return", "\n    pass\n    return", 1)
    assert served_in(installed, tmp_path, k)
    module.write_text(text + "\n# a comment\n", encoding="utf-8")
    assert served_in(installed, tmp_path, k)
    module.write_text(text.replace(source, changed), encoding="utf-8")
    assert not served_in(installed, tmp_path, k)
    module.write_text(text, encoding="utf-8")


def served_in(folder, home, k):
    """Whether the library in `folder` serves a kernel."""
    code = (
        "import sys, importlib; from mcsvm_lit.engine.compiled import library; "
        "m = importlib.import_module(sys.argv[1]); "
        "print(library()[0].refuses(getattr(m, sys.argv[2])) == '')"
    )
    env = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, k.__module__, k.__qualname__],
        env=env,
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() == "True"


if __name__ == "__main__":
    compare_all()
