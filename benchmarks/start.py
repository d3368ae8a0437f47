"""What the first fit costs in a fresh process; what a model costs later, one row and its file."""

import os
import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from harness import benchmark, output_of, seconds, side_by_side
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression, MulticlassSVC

ROOT = Path(__file__).resolve().parent.parent
CASES = {
    "Crammer and Singer": "CrammerSingerSVC()",
    "Crammer and Singer, linear": "CrammerSingerSVC(kernel='linear')",
    "kernel logistic regression": "KernelLogisticRegression()",
    "twin margin": "TwinMarginSVC()",
    "twin margin, Gaussian": "TwinMarginSVC(kernel='rbf')",
    "twin margin, ν by cross-validation": "TwinMarginSVCCV()",
    "twin support vectors": "TwinKSVC()",
    "twin support vectors, λ by cross-validation": "TwinKSVCCV()",
    "truncated hinge": "TruncatedHingeSVC()",
    "probabilities": "SVMProbabilityClassifier()",
}
FIRST_FIT = """
import resource, sys, warnings
warnings.simplefilter("ignore")

def clock():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

import sklearn.base
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
start = clock()
import mcsvm_lit
imported = clock()
from mcsvm_lit import NAME
MODEL.fit(X, y)
print(imported - start, clock() - start)
"""


def wheel_in(folder):
    """Build the wheel and unpack it; returns the folder to import from."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    env = os.environ | {"MCSVM_LIT_LIBRARY": "1"}
    subprocess.run([*command, "--wheel-dir", folder, ROOT], env=env, check=True)
    (file,) = Path(folder).glob("*.whl")
    site = Path(folder) / "site"
    with zipfile.ZipFile(file) as z:
        z.extractall(site)
    return site


def first_fit(model, site, home, **settings):
    """CPU seconds of our import, and of import and fit, in a process that knows only `site`."""
    ours = ("MCSVM_LIT", "XDG", "NUMBA", "PYTHON")
    env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    env |= {"HOME": str(home), "PYTHONPATH": str(site)} | settings
    code = FIRST_FIT.replace("MODEL", model).replace("NAME", model.partition("(")[0])
    return tuple(
        map(float, output_of([sys.executable, "-P", "-c", code], env=env, cwd=home).split())
    )


def two_processes(model, site, **settings):
    """The costs of two processes in a row, the first of which has an empty home."""
    with tempfile.TemporaryDirectory() as home:
        return [first_fit(model, site, home, **settings) for _ in range(2)]


def lowest(runs):
    """The lowest cost of each kind: noise only adds."""
    return [[min(t) for t in zip(*process, strict=True)] for process in zip(*runs, strict=True)]


@benchmark("The first fit of a fresh process")
def cold_start(repeat):
    """One fit on iris in a fresh process, from an unpacked wheel: CPU seconds beyond `import
    sklearn`, the lowest of the runs (numba with an empty cache: one run). *First*: the home
    directory is empty. *Second*: another process after that one. With numba, `MCSVM_LIT_KERNELS`
    is `numba`, which is what an installation without the library does."""
    with tempfile.TemporaryDirectory() as folder:
        site = wheel_in(folder)
        with tempfile.TemporaryDirectory() as home:
            first_fit("TwinMarginSVC()", site, home)  # bytecode is written when pip installs
        for name, model in CASES.items():
            runs = [two_processes(model, site) for _ in range(repeat)]
            (imported, first), (_, second) = lowest(runs)
            (_, cold), (_, warm) = two_processes(model, site, MCSVM_LIT_KERNELS="numba")
            goal = 1.0 if name == "probabilities" else 0.2
            yield {
                "classifier": name,
                "import mcsvm_lit": seconds(imported),
                "first fit": f"{seconds(first)} ({'meets' if first <= goal else 'misses'} {goal})",
                "second process": seconds(second),
                "numba, first": seconds(cold),
                "numba, second": seconds(warm),
            }


SERVED = {  # classifiers, and what they are compared with
    "Crammer and Singer": (CrammerSingerSVC(), SVC()),
    "Crammer and Singer, linear": (CrammerSingerSVC(kernel="linear"), SVC(kernel="linear")),
    "kernel logistic regression": (KernelLogisticRegression(), SVC()),
    "kernel logistic regression, linear": (
        KernelLogisticRegression(kernel="linear"),
        LogisticRegression(),
    ),
    "Lee, Lin and Wahba": (MulticlassSVC(loss="lee-lin-wahba"), SVC()),
}


@benchmark("One row, and the model in a file")
def one_row(repeat):
    """Fits on the 1,797 digits, their pixels from 0 to 1; then `predict` of one row, an array, in
    microseconds of CPU, and the bytes of `pickle.dumps`, of the whole model and of `slim()`. Beside
    it scikit-learn's `SVC` with the same kernel, or `LogisticRegression`."""
    X, y = load_digits(return_X_y=True)
    X, row = X / 16, X[:1] / 16
    for name, (ours, its) in SERVED.items():
        models = {"ours": ours.fit(X, y), "its": its.fit(X, y)}
        runs = {which: lambda m=m: m.predict(row) for which, m in models.items()}
        took = side_by_side(5 * repeat, **runs)
        ours_took, its_took = (1e6 * took[which].seconds for which in models)
        yield {
            "classifier": name,
            "µs": f"{ours_took:.0f}",
            "scikit-learn": f"{its_took:.0f}",
            "ratio": f"{ours_took / its_took:.2f}",
            "bytes": f"{len(pickle.dumps(ours)):,}",
            "slim": f"{len(pickle.dumps(ours.slim())):,}",
            "scikit-learn's": f"{len(pickle.dumps(its)):,}",
        }
