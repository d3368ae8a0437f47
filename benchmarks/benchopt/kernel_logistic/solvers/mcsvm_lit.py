"""This package: pairs, blocks and Newton's method, chosen by the measured gap."""

import warnings

import numpy as np
from benchopt import BaseSolver

from mcsvm_lit import KernelLogisticRegression


class Solver(BaseSolver):
    name = "mcsvm_lit"
    sampling_strategy = "tolerance"
    parameters = {"solver": ["auto", "newton"]}
    requirements = ["pip::mcsvm_lit"]

    def set_objective(self, G, y, C):
        self.G, self.y, self.C = G, y, C
        self.fitted(G[:50, :50], y[:50], 1e-3)  # loads the compiled loops

    def fitted(self, G, y, tol):
        model = KernelLogisticRegression(
            kernel="precomputed", C=self.C, fit_intercept=False, tol=tol, solver=self.solver
        )
        return model.fit(G, y)

    def run(self, tol):
        warnings.simplefilter("ignore")
        self.model = self.fitted(self.G, self.y, min(max(tol, 1e-13), 0.5))

    def get_result(self):
        A = np.zeros((len(self.y), len(self.model.classes_)))
        A[self.model.support_] = self.model.dual_coef_
        return dict(A=A)
