"""SciPy's L-BFGS on the objective with a softened maximum: exact only in the limit."""

import numpy as np
from benchopt import BaseSolver
from scipy.optimize import minimize
from scipy.special import logsumexp


class Solver(BaseSolver):
    """The maximum of the slack is softened to temperature `softness`; smaller is nearer."""

    name = "L-BFGS"
    sampling_strategy = "iteration"
    parameters = {"softness": [0.1, 0.01]}
    requirements = ["scipy"]

    def set_objective(self, X, y, C):
        self.X, self.y, self.C = X, y, C
        self.K = int(y.max()) + 1

    def value(self, m):
        """The softened objective and its gradient."""
        M, rows = m.reshape(self.K, -1), np.arange(len(self.y))
        F = self.X @ M.T
        Z = 1 + F - F[rows, self.y][:, None]
        Z[rows, self.y] = 0
        Z /= self.softness
        total = logsumexp(Z, axis=1)
        P = np.exp(Z - total[:, None])
        P[rows, self.y] -= 1
        gradient = M + self.C * P.T @ self.X
        return 0.5 * (M**2).sum() + self.C * self.softness * total.sum(), gradient.ravel()

    def run(self, n_iter):
        start = np.zeros(self.K * self.X.shape[1])
        limits = dict(maxiter=n_iter, ftol=0, gtol=0, maxfun=10**9)
        if n_iter:
            start = minimize(self.value, start, jac=True, method="L-BFGS-B", options=limits).x
        self.M = start.reshape(self.K, -1)

    def get_result(self):
        return dict(M=self.M)
