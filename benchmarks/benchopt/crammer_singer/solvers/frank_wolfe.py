"""Frank-Wolfe steps on all examples at once, by dual-fw-svm."""

from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion
from dual_fw_svm import MulticlassFrankWolfeSVM


class Solver(BaseSolver):
    name = "dual-fw-svm"
    # The first steps are long and make things worse before they get better.
    stopping_criterion = SufficientProgressCriterion(patience=10, strategy="iteration")
    requirements = ["pip::dual-fw-svm"]

    def set_objective(self, X, y, C):
        self.X, self.y, self.C = X, y, C

    def run(self, n_iter):
        how = dict(formulation="cs", tol=0.0, max_iter=n_iter, record_every=n_iter + 1)
        self.model = MulticlassFrankWolfeSVM(C=self.C, **how).fit(self.X, self.y)

    def get_result(self):
        return dict(M=self.model.coef_)
