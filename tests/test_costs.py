"""Costs of errors, several labels and rankings: what the options promise, by independent means."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcsvm_lit import CrammerSingerSVC, LabelRankingSVC
from mcsvm_lit.engine.extras import cone_solver

X, Y = load_iris(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[::4], Y[::4]
NAMES = np.array(["small", "middle", "large"])[Y]
TABLE = np.array([[0.0, 2.0, 5.0], [1.0, 0.0, 0.5], [3.0, 1.0, 0.0]])
KERNELS = pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])


@parametrize_with_checks(
    [
        LabelRankingSVC(),
        LabelRankingSVC(kernel="linear"),
        CrammerSingerSVC(costs="absolute"),
        CrammerSingerSVC(costs="absolute", kernel="linear", fit_intercept=True),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


def least_objective(K, y, table, C):
    """The primal in terms of coefficients of the kernel expansion, by a general solver."""
    λ, U = np.linalg.eigh(K)
    rows = U * np.sqrt(np.maximum(λ, 0))
    M = cp.Variable((len(table), rows.shape[1]))
    F = rows @ M.T
    slacks = [cp.max(F[i] + table[y[i]]) - F[i, y[i]] for i in range(len(y))]
    return cp.Problem(cp.Minimize(cp.sum_squares(M) / 2 + C * sum(slacks))).solve(**cone_solver())


@KERNELS
@pytest.mark.parametrize("bias", [False, True])
def test_costs_by_a_general_solver(kernel, bias):
    m = CrammerSingerSVC(C=0.7, kernel=kernel, fit_intercept=bias, costs=TABLE, tol=1e-7)
    y = np.where(np.arange(len(Y)) % 7 == 0, (Y + 1) % 3, Y)  # some labels that are wrong
    m.fit(X, y)
    optimum = least_objective(m.kernel_(X) + bias, y, TABLE, 0.7)
    assert_allclose(m.certificate_.primal, optimum, rtol=1e-6)
    assert m.certificate_.dual <= optimum * (1 + 1e-7)
    paid = TABLE[y, m.predict(X)]
    assert (m.slack_ >= paid - 1e-9).all() and paid.any()


@KERNELS
def test_the_order_of_the_labels_is_that_of_classes(kernel):
    order = np.argsort(["small", "middle", "large"])  # that of the alphabet
    table = TABLE[np.ix_(order, order)]
    given = CrammerSingerSVC(kernel=kernel, costs=TABLE, tol=1e-9).fit(X, Y)
    named = CrammerSingerSVC(kernel=kernel, costs=table, tol=1e-9).fit(X, NAMES)
    F = named.decision_function(X)[:, np.argsort(order)]
    assert_allclose(F, given.decision_function(X), atol=1e-3)


@KERNELS
def test_absolute_is_the_distance_of_ranks(kernel):
    ranks = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    given, said = (
        CrammerSingerSVC(kernel=kernel, costs=costs).fit(X, Y) for costs in (ranks, "absolute")
    )
    assert_array_equal(given.decision_function(X), said.decision_function(X))


def test_costs_in_a_search():
    model = make_pipeline(StandardScaler(), CrammerSingerSVC())
    grid = {"crammersingersvc__costs": [None, "absolute", TABLE]}
    search = GridSearchCV(model, grid, cv=3, scoring="neg_mean_absolute_error").fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert clone(CrammerSingerSVC(costs=TABLE)).costs is not None


def test_costs_that_change_after_the_fit_change_nothing():
    m = CrammerSingerSVC(costs=TABLE).fit(X, Y)
    before, suspects = m.decision_function(X), m.suspects()
    m.set_params(costs=None)
    assert_array_equal(m.decision_function(X), before)
    assert_array_equal(m.suspects(), suspects)


def test_weights_and_costs():
    rng = np.random.default_rng(0)
    times = rng.integers(0, 3, len(X))
    weighted = CrammerSingerSVC(costs=TABLE).fit(X, Y, times)
    repeated = CrammerSingerSVC(costs=TABLE).fit(np.repeat(X, times, 0), np.repeat(Y, times))
    assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_ranking_of_one_label_each_is_the_classifier(kernel):
    one = CrammerSingerSVC(kernel=kernel, fit_intercept=True, tol=1e-9).fit(X, Y)
    ranked = LabelRankingSVC(kernel=kernel, border=False, tol=1e-9).fit(X, np.eye(3)[Y])
    assert_allclose(ranked.certificate_.primal, one.certificate_.primal, rtol=1e-8)
    assert_allclose(ranked.decision_function(X), one.decision_function(X), atol=2e-3)


def test_several_labels():
    """As good as one classifier for each label, on labels that overlap."""
    rng = np.random.default_rng(1)
    Z, new = rng.uniform(-2, 2, (300, 2)), rng.uniform(-2, 2, (1000, 2))

    def labels(Z):
        return np.stack([Z[:, 0] > 0, Z[:, 1] > 0.5, Z.sum(1) > 0], axis=1).astype(int)

    ours = LabelRankingSVC(C=10, kernel="linear").fit(csr_matrix(Z), csr_matrix(labels(Z)))
    each = MultiOutputClassifier(CrammerSingerSVC(C=10, kernel="linear", fit_intercept=True))
    right = (ours.predict(new) == labels(new)).all(1).mean()
    assert right > (each.fit(Z, labels(Z)).predict(new) == labels(new)).all(1).mean() - 0.03
    assert right > 0.9 and ours.score(new, labels(new)) > 0.97
    assert ours.predict(new).dtype.kind == "i"
