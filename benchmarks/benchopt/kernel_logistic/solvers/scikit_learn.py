"""scikit-learn's `LogisticRegression` on a factor of the kernel matrix, which it is charged for."""

import warnings

import numpy as np
from benchopt import BaseSolver
from scipy.linalg import cholesky, solve_triangular
from sklearn.linear_model import LogisticRegression


class Solver(BaseSolver):
    name = "scikit-learn"
    sampling_strategy = "tolerance"
    parameters = {"solver": ["lbfgs", "newton-cg"]}
    requirements = ["scikit-learn"]

    def set_objective(self, G, y, C):
        self.G, self.y, self.C = G, y, C

    def run(self, tol):
        warnings.simplefilter("ignore")
        tol = max(1e-3 * tol, 1e-12)  # its gradients are means: at 0.1 it has not moved
        # a ridge of rounding: equal rows make the matrix singular
        ridge = 1e-12 * np.eye(len(self.y))
        self.factor = cholesky(self.G + ridge, lower=True)
        self.model = LogisticRegression(
            C=self.C, fit_intercept=False, tol=tol, max_iter=100_000, solver=self.solver
        ).fit(self.factor, self.y)

    def get_result(self):
        # scores are factor @ W', and so G @ A with A = factor'^-1 W'
        return dict(A=solve_triangular(self.factor, self.model.coef_.T, lower=True, trans="T"))
