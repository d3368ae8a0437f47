"""Certificates of twin margin planes on small hostile data, judged without rounding.

The data are far from the origin, on scales of their own, with copies, with precomputed kernels.
Classifiers are judged by `exact.py` at their public attributes, paths at the points that they give.
"""

import warnings
from decimal import Decimal, localcontext

import numpy as np
import pytest
from exact import DIGITS, dishonest, high
from hostile import Training

from mcsvm_lit import TwinMarginSVC, TwinMarginSVCCV, nu_path, twin_path
from mcsvm_lit.twin_margin import nu_path_points
from mcsvm_lit.twin_margin.problem import about_rest, rest_pieces


# -- classifiers ----------------------------------------------------------------------------------
def three_clouds(seed, offset, unit=1.0):
    g = np.random.default_rng(seed)
    return unit * g.normal(size=(12, 2)) + offset


CASES = {
    "at home": dict(X=three_clouds(0, 0.0)),
    "far": dict(X=three_clouds(1, 1e6)),
    "very far": dict(X=three_clouds(2, 1e8, 10.0)),
    "small": dict(X=three_clouds(3, 0.0, 1e-7)),
    "columns": dict(X=three_clouds(4, 0.0) * [1e5, 1e-3]),
    "copies": dict(X=np.repeat(three_clouds(5, 3.0)[:6], 2, axis=0)),
    "poly": dict(X=three_clouds(6, 2.0), kernel="poly", degree=3),
    "poly, far": dict(X=three_clouds(7, 1e3), kernel="poly", degree=3),
    "poly, farther": dict(X=three_clouds(8, 1e4), kernel="poly", degree=3, gamma=1.0, coef0=1.0),
    "poly, farthest": dict(X=three_clouds(9, 1e6), kernel="poly", degree=2, gamma=1.0),
}
LABELS = np.arange(12) % 3
WEIGHTS = {"equal": None, "unequal": np.tile([1.0, 2.5, 0.3, 4.0], 3)}


def contradictions(model, X, y, c=None):
    """What the certificates of the fitted classifier state and exact arithmetic contradicts."""
    y = np.asarray(y)
    training = Training(X, y, c, np.unique(y), None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # planes that collapse, gaps that float64 cannot reach
        return list(dishonest(type(model).__name__, training.fit(model), training))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("given", [False, True], ids=["rows", "precomputed"])
def test_certificates(case, weights, given):
    """Both classifiers, rows or their kernel matrix, with and without weights."""
    settings, c = dict(CASES[case]), WEIGHTS[weights]
    X = settings.pop("X")
    if given:
        X, settings = X @ X.T, dict(kernel="precomputed")
    for model in (
        TwinMarginSVC(0.3, **settings),
        TwinMarginSVC(0.77, **settings),
        TwinMarginSVCCV(cv=2, **settings),
    ):
        assert contradictions(model, X, LABELS, c) == []


def test_offsets_of_a_cubic_kernel():
    rng = np.random.default_rng(0)
    for offset in (1e2, 1e3):
        X = rng.normal(size=(12, 2)) + offset
        assert contradictions(TwinMarginSVCCV(kernel="poly", degree=3, cv=2), X, LABELS) == []


@pytest.mark.parametrize(
    ("X", "y", "settings"),
    [
        ([[6e9, 0], [0, -1e4], [0, 0]], [1, 3, 1], dict(nu=[0.1, 0.5, 0.9])),
        ([[1000004.0], [999996.0], [999997.0], [1000002.0]], [3, 1, 2, 3], dict()),
    ],
    ids=["lengths", "offset"],
)
def test_exact_matrices(X, y, settings):
    K = np.array(X) @ np.transpose(X)
    assert contradictions(TwinMarginSVCCV(kernel="precomputed", cv=5, **settings), K, y) == []


# -- paths ----------------------------------------------------------------------------------------
@pytest.fixture
def digits():
    """All arithmetic of decimal fractions with the digits of the judge."""
    with localcontext(DIGITS):
        yield


def class_at(offset, columns):
    """A class of six rows and three others, and their kernel matrix."""
    X = np.random.default_rng(11).normal(size=(9, columns)) + offset
    own = np.arange(9) < 6
    return X[own] - X[~own].mean(0), rest_pieces(X @ X.T, own)


def assert_bounded(path, Q):
    """Every plane of the path is what its certificate states for the exact Gram matrix Q."""
    for r in (0.2, 0.37, 0.5, 0.81):
        p = path.at(r)
        μ, ρ, c = high(p.μ), high(p.ρ), p.certificate
        f = Q @ μ
        slack = np.maximum(ρ - f, Decimal(0)).sum() / (high(r) * len(f))
        primal, dual = μ @ f / 2 - ρ + slack, -(μ @ f) / 2
        assert abs(primal - high(c.primal)) <= c.rounding
        assert abs(dual - high(c.dual)) <= c.rounding


@pytest.mark.parametrize("columns", [3, 14])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_planes_of_paths_from_rows(offset, columns, digits):
    A, _ = class_at(offset, columns)
    assert_bounded(nu_path_points(A), high(A) @ high(A).T)


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e3])
def test_planes_of_paths_from_matrices(offset, digits):
    _, (G, g, gg) = class_at(offset, 3)
    G_, g_ = high(G), high(g)
    assert_bounded(nu_path(G, g, gg), G_ - g_[:, None] - g_[None] + high(gg))
    Q = about_rest(G, g, gg)
    assert_bounded(nu_path(Q), high(Q))


def solved(M, b):
    """The solution of linear equations, by elimination."""
    n = len(M)
    M = np.c_[M, b]
    for i in range(n):
        pivot = i + abs(M[i:, i]).argmax()
        M[[i, pivot]] = M[[pivot, i]]
        M[i] = M[i] / M[i, i]
        for j in set(range(n)) - {i}:
            M[j] = M[j] - M[j, i] * M[i]
    return M[:, -1]


@pytest.mark.parametrize("unit", [1.0, 1e4, 1e9])
@pytest.mark.parametrize("seed", [1, 3, 7])
def test_the_first_event_of_a_path_beside_a_small_ridge(seed, unit):
    """Cubic features of up to 1e19 beside a ridge of 0.01: λ0 of (40.9) has all but four digits."""
    g = np.random.default_rng(seed)
    Z = g.normal(size=(14, 2)) * 10.0 ** g.integers(0, 4, 2) + 10.0 ** g.integers(0, 4)
    X = unit * np.c_[Z, Z**2, Z[:, 0] * Z[:, 1], Z**3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # further down the path may be inaccurate
        path = twin_path(X[:5], X[5:10], X[10:], epsilon=0.25, ridge=0.01)
    F, N = (high(np.c_[rows, np.ones(len(rows))]) for rows in (X[:5], X[5:]))
    margins = high([1.0] * 5 + [0.75] * 4)
    with localcontext(DIGITS) as wide:
        wide.prec = 300  # powers of 1e19 beside a hundredth
        M = F.T @ F + high(0.01) * high(np.eye(F.shape[1]))
        first = max(N @ solved(M, N.sum(0)) / margins)
    np.testing.assert_allclose(path.breakpoints.max(), float(first), rtol=1e-11)
