"""Fit every classifier once with the installed package, and insist on the library of kernels."""

import sys
import warnings

from sklearn.datasets import load_iris

import mcsvm_lit
from mcsvm_lit.core.compiled import status

CLASSIFIERS = [
    "CrammerSingerSVC",
    "KernelLogisticRegression",
    "TwinMarginSVC",
    "TwinMarginSVCCV",
    "TwinKSVC",
    "TwinKSVCCV",
    "TruncatedHingeSVC",
    "SVMProbabilityClassifier",
]


def main():
    X, y = load_iris(return_X_y=True)
    warnings.simplefilter("error", RuntimeWarning)
    for name in CLASSIFIERS:
        score = getattr(mcsvm_lit, name)().fit(X, y).score(X, y)
        print(f"{name:25} {score:.3f}")
        if score < 0.8:
            return f"{name} does not learn"
    print(status())
    if not status().path or status().exceptions:
        return "kernels do not all come from the library"
    if "numba" in sys.modules:
        return "numba was imported"
    return 0


if __name__ == "__main__":
    sys.exit(main())
