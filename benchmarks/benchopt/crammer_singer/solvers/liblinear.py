"""LIBLINEAR by its own package, solver 4."""

import numpy as np
from benchopt import BaseSolver
from liblinear.liblinearutil import parameter, problem, train


class Solver(BaseSolver):
    name = "LIBLINEAR"
    sampling_strategy = "tolerance"
    requirements = ["pip::liblinear-official"]

    def set_objective(self, X, y, C):
        self.X, self.y, self.C = X, y, C
        self.problem = problem(y, X)

    def run(self, tol):
        self.model = train(self.problem, parameter(f"-s 4 -c {self.C} -e {max(tol, 1e-10)} -q"))

    def get_result(self):
        K, d = self.model.get_nr_class(), self.X.shape[1]
        W = np.ctypeslib.as_array(self.model.w, (d * K,)).reshape(d, K).T
        M = np.zeros((K, d))
        M[self.model.get_labels()] = W  # in the order in which labels were met
        return dict(M=M)
