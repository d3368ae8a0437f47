"""Kernel logistic regression with the softmax and a Gaussian kernel, without intercepts."""

import numpy as np
from benchopt import BaseObjective
from scipy.special import logsumexp
from sklearn.metrics.pairwise import rbf_kernel


class Objective(BaseObjective):
    name = "Kernel logistic regression"
    min_benchopt_version = "1.6"
    parameters = {"C": [0.1, 1.0, 10.0]}

    def set_data(self, X, y):
        self.X, self.y = X, y
        self.n_classes = int(y.max()) + 1
        self.gamma = 1 / (X.shape[1] * X.var())
        self.G = rbf_kernel(X, gamma=self.gamma)

    def evaluate_result(self, A):
        """The primal value of the coefficients A (n, K) of the kernel expansion."""
        F = self.G @ A
        loss = (logsumexp(F, axis=1) - F[np.arange(len(self.y)), self.y]).sum()
        return dict(value=0.5 * (A * F).sum() + self.C * loss)

    def get_one_result(self):
        return dict(A=np.zeros((len(self.y), self.n_classes)))

    def get_objective(self):
        return dict(G=self.G, y=self.y, C=self.C)
