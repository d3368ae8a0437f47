"""scikit-learn's `LinearSVC`, which calls its own copy of LIBLINEAR."""

import warnings

from benchopt import BaseSolver
from sklearn.svm import LinearSVC


class Solver(BaseSolver):
    name = "scikit-learn"
    sampling_strategy = "tolerance"
    requirements = ["scikit-learn"]

    def set_objective(self, X, y, C):
        self.X, self.y, self.C = X, y, C

    def run(self, tol):
        warnings.simplefilter("ignore")
        self.model = LinearSVC(
            multi_class="crammer_singer", fit_intercept=False, C=self.C, tol=max(tol, 1e-10)
        ).fit(self.X, self.y)

    def get_result(self):
        return dict(M=self.model.coef_)
