"""What the first fit costs in a fresh process."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from harness import benchmark, seconds

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
from mcsvm_lit import *
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
    """CPU seconds of the import and of import and fit, in a process that knows only `site`."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MCSVM_LIT", "XDG", "NUMBA"))}
    env |= {"HOME": str(home), "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": ""} | settings
    code = FIRST_FIT.replace("from mcsvm_lit import *", f"from mcsvm_lit import {model.split('(')[0]}")
    done = subprocess.run(
        [sys.executable, "-P", "-c", code.replace("MODEL", model)],
        env=env,
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(t) for t in done.stdout.split()]


def fresh_and_second(model, site, runs, **settings):
    """The lowest cost of a first fit with an empty home, and of the same in a second process."""
    first, second, imports = [], [], []
    for _ in range(runs):
        home = tempfile.mkdtemp()
        imports.append(first_fit(model, site, home, **settings)[0])
        first.append(imports.pop() and first_fit(model, site, home, **settings)[1])
        shutil.rmtree(home)
    return min(first), min(second), min(imports)
