"""The linear problem of Crammer and Singer, without a bias."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Crammer-Singer"
    min_benchopt_version = "1.6"
    parameters = {"C": [0.1, 1.0, 10.0]}

    def set_data(self, X, y):
        self.X, self.y = X, y
        self.K = int(y.max()) + 1

    def evaluate_result(self, M):
        """The primal value of the prototypes M (K, d)."""
        F = self.X @ M.T
        rows = np.arange(len(self.y))
        margins = 1 + F - F[rows, self.y][:, None]
        margins[rows, self.y] = 0
        slack = margins.max(axis=1)
        return dict(
            value=0.5 * (M**2).sum() + self.C * slack.sum(),
            errors=float((F.argmax(axis=1) != self.y).mean()),
        )

    def get_one_result(self):
        return dict(M=np.zeros((self.K, self.X.shape[1])))

    def get_objective(self):
        return dict(X=self.X, y=self.y, C=self.C)
