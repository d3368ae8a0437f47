"""This package: coordinate descent, then a semismooth Newton method."""

import warnings

from benchopt import BaseSolver

from mcsvm_lit import CrammerSingerSVC


class Solver(BaseSolver):
    name = "mcsvm_lit"
    sampling_strategy = "tolerance"
    requirements = ["pip::mcsvm_lit"]

    def set_objective(self, X, y, C):
        self.X, self.y, self.C = X, y, C
        CrammerSingerSVC(kernel="linear").fit(X[:50], y[:50])  # loads the compiled loops

    def run(self, tol):
        warnings.simplefilter("ignore")
        model = CrammerSingerSVC(kernel="linear", C=self.C, tol=max(tol, 1e-12))
        self.model = model.fit(self.X, self.y)

    def get_result(self):
        M = self.model.coef_
        return dict(M=M if len(M) == len(self.model.classes_) else [-M[0] / 2, M[0] / 2])
