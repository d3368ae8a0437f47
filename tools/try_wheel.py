"""Use the installed package as on the first day.

Every module and every name is imported, every classifier fits and predicts with the library of
kernels and without numba, and where a package of an extra is missing, one sentence says so.
"""

import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from inspect import isclass
from pkgutil import walk_packages

from sklearn.base import ClassifierMixin
from sklearn.datasets import load_iris

import mcsvm_lit
from mcsvm_lit.engine.compiled import status
from mcsvm_lit.engine.extras import EXTRA_OF

X, Y = load_iris(return_X_y=True)
# What needs a package of an extra.
NEEDS = {
    "cvxpy": lambda: mcsvm_lit.twin_margin.problem.tpm_cvxpy(X[:2], X[2:], 0.5, 1.0),
    "matplotlib": lambda: mcsvm_lit.nu_path(X[:50] @ X[:50].T).plot(),
}


def classifiers():
    """Every classifier that the package offers, after importing all modules."""
    for module in walk_packages(mcsvm_lit.__path__, "mcsvm_lit."):
        import_module(module.name)
    offered = [getattr(mcsvm_lit, name) for name in mcsvm_lit.__all__]
    complete = [
        c for c in offered if isclass(c) and issubclass(c, ClassifierMixin) and hasattr(c, "fit")
    ]
    return [c for c in complete if "client" not in c().get_params()]  # those need a cluster


def silent_about(package):
    """Whether the sentence that a missing package asks for is not said."""
    try:
        NEEDS[package]()
    except ModuleNotFoundError as e:
        print(e)
        return f'pip install "mcsvm_lit[{EXTRA_OF[package]}]"' not in str(e)
    return True


def main():
    """What is wrong, or 0."""
    warnings.simplefilter("error", RuntimeWarning)
    for classifier in classifiers():
        score = classifier().fit(X, Y).score(X, Y)
        print(f"{classifier.__name__:25} {score:.3f}")
        if score < 0.8:
            return f"{classifier.__name__} does not learn"
    print(status())
    if not status().path or status().exceptions:
        return "kernels do not all come from the library"
    if "numba" in sys.modules:
        return "numba was imported"
    for package in NEEDS:
        if find_spec(package) is None and silent_about(package):
            return f"nobody is told that {package} is missing"
    return 0


if __name__ == "__main__":
    sys.exit(main())
