"""SciPy's L-BFGS on the coefficients of the kernel expansion."""

import numpy as np
from benchopt import BaseSolver
from scipy.optimize import minimize
from scipy.special import logsumexp


class Solver(BaseSolver):
    name = "L-BFGS"
    sampling_strategy = "iteration"
    requirements = ["scipy"]

    def set_objective(self, G, y, C):
        self.G, self.y, self.C = G, y, C
        self.K = int(y.max()) + 1

    def value(self, a):
        """The objective and its gradient."""
        A, rows = a.reshape(-1, self.K), np.arange(len(self.y))
        F = self.G @ A
        total = logsumexp(F, axis=1)
        loss = (total - F[rows, self.y]).sum()
        P = np.exp(F - total[:, None])
        P[rows, self.y] -= 1
        gradient = self.G @ (A + self.C * P)
        return 0.5 * (A * F).sum() + self.C * loss, gradient.ravel()

    def run(self, n_iter):
        start = np.zeros(len(self.y) * self.K)
        limits = dict(maxiter=n_iter, ftol=0, gtol=0, maxfun=10**9)
        if n_iter:
            start = minimize(self.value, start, jac=True, method="L-BFGS-B", options=limits).x
        self.A = start.reshape(-1, self.K)

    def get_result(self):
        return dict(A=self.A)
