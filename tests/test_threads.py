"""One thread of BLAS inside whatever is public, and the same bits for any number of threads."""

import inspect
import os
import subprocess
import sys
from importlib import import_module
from threading import Barrier, Thread

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import load_iris
from test_architecture import MAY_IMPORT
from threadpoolctl import threadpool_info, threadpool_limits

import mcsvm_lit
from mcsvm_lit.engine.threads import one_thread

X, Y = load_iris(return_X_y=True)
CHAPTERS = (import_module(f"mcsvm_lit.{chapter}") for chapter in sorted(MAY_IMPORT))
OFFERED = {
    name: getattr(package, name)
    for package in (mcsvm_lit, *CHAPTERS)
    for name in getattr(package, "__all__", ())
}
CLASSIFIERS = {
    name: c
    for name, c in OFFERED.items()
    if inspect.isclass(c) and issubclass(c, ClassifierMixin) and hasattr(c, "fit")
}
# Those that fit here and now; the others need a cluster.
FITTING = [name for name, c in CLASSIFIERS.items() if "client" not in c().get_params()]
SOLVERS = [
    name
    for name in OFFERED
    if name.startswith("solve") or name.endswith("_path") or name in ("twin_surface", "sparse_klr")
]


def is_limited(f):
    """Whether `one_thread` stands above a function."""
    while hasattr(f, "__wrapped__"):
        closure = inspect.getclosurevars(f).nonlocals
        if one_thread in closure.values():
            return True
        f = f.__wrapped__
    return False


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_public_method_is_limited(name):
    methods = {
        key: f
        for key, f in inspect.getmembers(CLASSIFIERS[name], inspect.isfunction)
        if not key.startswith("_") and f.__module__.startswith("mcsvm_lit")
    }
    assert {"fit", "predict"} <= set(methods)
    assert [key for key, f in methods.items() if not is_limited(f)] == []


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_is_limited(name):
    assert is_limited(OFFERED[name])


def quick(name):
    """A classifier that is fitted in a moment."""
    known = CLASSIFIERS[name]().get_params()
    few = {"n_weights": 16, "random_state": 0, "cv": None if known.get("cv", 0) is None else 3}
    return CLASSIFIERS[name]().set_params(**{k: v for k, v in few.items() if k in known})


def fitted_values(model):
    """What a fit on iris says of iris."""
    model.fit(X, Y)
    method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    return getattr(model, method)(X)


@pytest.mark.parametrize("name", FITTING)
def test_bits_do_not_depend_on_jobs(name):
    model = quick(name)
    if "n_jobs" not in model.get_params():
        pytest.skip("has no n_jobs")
    one = fitted_values(clone(model).set_params(n_jobs=1))
    np.testing.assert_array_equal(fitted_values(clone(model).set_params(n_jobs=2)), one)


def test_fits_in_parallel_threads():
    """All classifiers at the same time, each in a thread of Python: the values are those of one
    after the other, and the user's number of threads returns when all have ended."""
    with threadpool_limits(2):
        before = threadpool_info()
        alone = {name: fitted_values(quick(name)) for name in FITTING}
        together, start = {}, Barrier(len(FITTING))

        def run(name):
            start.wait()
            together[name] = fitted_values(quick(name))

        runs = [Thread(target=run, args=[name]) for name in FITTING]
        for thread in runs:
            thread.start()
        for thread in runs:
            thread.join()
        assert threadpool_info() == before
    assert list(alone) and set(together) == set(alone)
    for name, values in alone.items():
        np.testing.assert_array_equal(together[name], values, err_msg=name)


def test_an_error_restores_the_threads():
    with threadpool_limits(2):
        before = threadpool_info()
        for name in FITTING:
            with pytest.raises(ValueError):
                CLASSIFIERS[name]().fit(X, np.zeros(len(X)))
        assert threadpool_info() == before


LARGE = """
import hashlib
from sklearn.datasets import make_classification
from mcsvm_lit import CrammerSingerSVC
from mcsvm_lit.core import Kernel

X, y = make_classification(1500, 20, n_informative=10, n_classes=4, random_state=0)
k = Kernel("rbf", 0.05)
found = [k(X), k(X, X[:1100])]
for kernel in ("linear", "rbf"):
    model = CrammerSingerSVC(kernel=kernel).fit(X, y)
    found += [model.dual_coef_, model.decision_function(X)]
for values in found:
    print(hashlib.sha1(values.tobytes()).hexdigest())
"""


def test_bits_do_not_depend_on_the_threads_of_blas():
    """On a problem that is large enough for kernel matrices to be divided among threads."""
    said = set()
    for number in "1234":
        env = os.environ | {"OMP_NUM_THREADS": number, "OPENBLAS_NUM_THREADS": number}
        run = [sys.executable, "-c", LARGE]
        done = subprocess.run(run, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\n") == 6
        said.add(done.stdout)
    assert len(said) == 1
