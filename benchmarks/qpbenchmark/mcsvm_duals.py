"""Duals of Crammer and Singer's classifier as a test set of qpbenchmark.

With α = C (e_y - η) and η_i in the simplex, one distribution for each example, the dual is

    maximise  C Σ_i (1 - η_{i,y_i}) - ½ Σ_ij k(x_i, x_j) α_i·α_j  over  η_i >= 0, Σ_r η_ir = 1:

a convex quadratic program whose matrix C² (G ⊗ I) is singular or nearly so, with one equality for
each example, and degenerate where C is large: what general solvers find hard.

    pip install qpbenchmark clarabel
    python benchmarks/qpbenchmark/mcsvm_duals.py                # solve the smallest and compare
    qpbenchmark benchmarks/qpbenchmark/mcsvm_duals.py run       # every installed solver
"""

import numpy as np
import qpbenchmark
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

WEIGHTS = (1.0, 100.0)


def data():
    """`(name, kernel matrix, class indices)` of the problems' data."""
    X, y = load_digits(return_X_y=True)
    sets = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    sets["digits_100"] = X[:100] / 16, y[:100]
    for name, (rows, labels) in sets.items():
        rows = StandardScaler().fit_transform(rows) if name != "digits_100" else rows
        yield name, rbf_kernel(rows), labels


def dual(G, y, C, name):
    """The dual as a quadratic program in η, row by row, without its constant."""
    n, K = len(y), int(y.max()) + 1
    Y = np.eye(K)[y]
    P = C**2 * sp.kron(sp.csc_matrix(G), sp.eye(K), format="csc")
    # ½ (Y - η)' G (Y - η) C² - C Σ (1 - η_iy), of which the terms without η are left out
    q = (C * Y - C**2 * G @ Y).ravel()
    A = sp.kron(sp.eye(n), np.ones((1, K)), format="csc")
    bounds = dict(lb=np.zeros(n * K), ub=np.ones(n * K))
    return qpbenchmark.Problem(P, q, None, None, A, np.ones(n), **bounds, name=name)


def constant(G, y, C):
    """What the program leaves out of the negative dual value."""
    Y = np.eye(int(y.max()) + 1)[y]
    return 0.5 * C**2 * (Y * (G @ Y)).sum() - C * len(y)


class McsvmDuals(qpbenchmark.TestSet):
    """Six duals: three data sets, two weights of the loss."""

    @property
    def title(self):
        return "Duals of Crammer and Singer's multiclass support vector machine"

    @property
    def description(self):
        return __doc__

    @property
    def sparse_only(self):
        return False

    def __iter__(self):
        for name, G, y in data():
            for C in WEIGHTS:
                yield dual(G, y, C, f"CS_{name}_C{C:g}")


def main():
    """Compare a general solver with ours on the first problem."""
    import qpsolvers

    from mcsvm_lit import CrammerSingerSVC

    name, G, y = next(data())
    for C in WEIGHTS:
        solution = qpsolvers.solve_problem(dual(G, y, C, name), solver="clarabel")
        theirs = -(solution.obj + constant(G, y, C))
        ours = CrammerSingerSVC(kernel="precomputed", C=C, tol=1e-10).fit(G, y).certificate_.dual
        print(f"{name}, C = {C:g}: dual value {theirs:.9g} by clarabel, {ours:.9g} by mcsvm_lit")
        # ours is feasible, so a lower bound; at C = 100 clarabel's default tolerance is too loose
        assert theirs <= ours * (1 + 1e-6)
        assert abs(theirs - ours) < (1e-6 if C == 1 else 1e-3) * ours


if __name__ == "__main__":
    main()
