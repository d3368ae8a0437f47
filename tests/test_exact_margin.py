"""Certificates of twin margin classifiers, judged without rounding.

A judge in rational arithmetic takes a fitted classifier as its user sees it: `dual_coef_`,
`intercept_`, `coef_` and `nu_`, with the rows, labels and weights that were given. The values that
a certificate states, primal and dual, must be within the stated rounding of those that exact
arithmetic finds. The data are small and hostile: far from the origin, on scales of their own,
with copies, with precomputed kernels.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from mcsvm_lit import TwinMarginSVC, TwinMarginSVCCV, nu_path, twin_path
from mcsvm_lit.twin_margin import nu_path_points
from mcsvm_lit.twin_margin.problem import about_rest, rest_pieces


# -- the judge ------------------------------------------------------------------------------------
def exactly(x):
    """An array of fractions."""
    x = np.asarray(x, float)
    return np.array([Fraction(float(v)) for v in x.ravel()], object).reshape(x.shape)


def gram(model, X):
    """Kernel values of all pairs of rows, without rounding."""
    if model.kernel == "precomputed":
        return exactly(X)
    X = exactly(X)
    K = X.dot(X.T)
    if model.kernel == "poly":
        k = model.kernel_
        K = (Fraction(float(k.gamma)) * K + Fraction(float(k.coef0))) ** int(k.degree)
    return K


def exact_values(model, X, y, c):
    """Primal and dual value of (30.1) with ν = 1 for each class, without rounding."""
    K, c = gram(model, X), exactly(c)
    for k, label in enumerate(model.classes_):
        own, a = y == label, exactly(model.dual_coef_[:, k])
        r = Fraction(float(np.broadcast_to(model.nu_, len(model.classes_))[k]))
        if model.norms_[k] == 0:  # the class abstains: w = θ = ξ = 0
            yield label, Fraction(0), -a.dot(K.dot(a)) / 2
            continue
        if model.kernel == "linear":
            w = exactly(model.coef_[k])
            f, half = exactly(X).dot(w), w.dot(w) / 2
        else:
            f, half = K.dot(a), a.dot(K.dot(a)) / 2
        θ = Fraction(float(model.intercept_[k]))
        mean = c[~own].dot(f[~own]) / c[~own].sum()
        slack = c[own].dot(np.maximum(-(f[own] + θ), Fraction(0))) / (r * c[own].sum())
        yield label, half + mean + θ + slack, -a.dot(K.dot(a)) / 2


def contradictions(model, X, y, c=None):
    """What a certificate states and exact arithmetic contradicts."""
    c = np.ones(len(y)) if c is None else c
    for label, primal, dual in exact_values(model, X, np.asarray(y), c):
        said = model.certificates_[label]
        for name, true, stated in (("primal", primal, said.primal), ("dual", dual, said.dual)):
            off = float(abs(true - Fraction(stated)))
            if off > said.rounding:
                yield f"class {label}: {name} off by {off:.1e}, said {said.rounding:.1e}"
        if float(primal - dual) > abs(said.gap) + said.rounding:
            yield f"class {label}: gap {float(primal - dual):.1e}, said {said!r}"


# -- data -----------------------------------------------------------------------------------------
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


def fitted(model, X, y, c=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # planes that collapse, gaps that float64 cannot reach
        return model.fit(X, y, c)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("given", [False, True], ids=["rows", "precomputed"])
def test_certificates(case, weights, given):
    """Both classifiers, rows or their kernel matrix, with and without weights."""
    settings, c = dict(CASES[case]), WEIGHTS[weights]
    X = settings.pop("X")
    if given:
        X, settings = X @ X.T, dict(kernel="precomputed")
    if case == "copies":
        c = np.ones(12)  # equal rows with unequal labels share no weight
    for model in (
        TwinMarginSVC(0.3, **settings),
        TwinMarginSVC(0.77, **settings),
        TwinMarginSVCCV(cv=2, **settings),
    ):
        m = fitted(model, X, LABELS, c)
        assert list(contradictions(m, X, LABELS, c)) == []


# -- what was found once --------------------------------------------------------------------------
def test_offsets_of_a_cubic_kernel():
    rng = np.random.default_rng(0)
    for offset in (1e2, 1e3):
        X = rng.normal(size=(12, 2)) + offset
        m = fitted(TwinMarginSVCCV(kernel="poly", degree=3, cv=2), X, LABELS)
        assert list(contradictions(m, X, LABELS)) == []


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
    m = fitted(TwinMarginSVCCV(kernel="precomputed", cv=5, **settings), K, y)
    assert list(contradictions(m, K, np.array(y))) == []


# -- paths ----------------------------------------------------------------------------------------
def path_values(Q, path, r):
    """Exact primal and dual value of the plane of a path, for a class with the Gram matrix Q."""
    p, r = path.at(r), Fraction(r)
    μ, ρ = exactly(p.μ), Fraction(p.ρ)
    f = Q.dot(μ)
    slack = sum(np.maximum(ρ - f, Fraction(0))) / (r * len(f))
    return p.certificate, μ.dot(f) / 2 - ρ + slack, -μ.dot(f) / 2


def class_at(offset, columns):
    """A class of six rows and three others, and their kernel matrix."""
    X = np.random.default_rng(11).normal(size=(9, columns)) + offset
    own = np.arange(9) < 6
    return X[own] - X[~own].mean(0), rest_pieces(X @ X.T, own)


def assert_bounded(path, Q):
    """Every plane of the path is what its certificate states for the exact Gram matrix Q."""
    for r in (0.2, 0.37, 0.5, 0.81):
        c, primal, dual = path_values(Q, path, r)
        assert float(abs(primal - Fraction(c.primal))) <= c.rounding
        assert float(abs(dual - Fraction(c.dual))) <= c.rounding


@pytest.mark.parametrize("columns", [3, 14])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_planes_of_paths_from_rows(offset, columns):
    A, _ = class_at(offset, columns)
    assert_bounded(nu_path_points(A), exactly(A).dot(exactly(A).T))


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e3])
def test_planes_of_paths_from_matrices(offset):
    _, (G, g, gg) = class_at(offset, 3)
    G_, g_ = exactly(G), exactly(g)
    assert_bounded(nu_path(G, g, gg), G_ - g_[:, None] - g_[None] + Fraction(gg))
    Q = about_rest(G, g, gg)
    assert_bounded(nu_path(Q), exactly(Q))


def solved(M, b):
    """The solution of linear equations in fractions, by elimination."""
    n = len(M)
    M = np.c_[M, b]
    for i in range(n):
        pivot = i + next(k for k, row in enumerate(M[i:]) if row[i] != 0)
        M[[i, pivot]] = M[[pivot, i]]
        M[i] = M[i] / M[i, i]
        for j in set(range(n)) - {i}:
            M[j] = M[j] - M[j, i] * M[i]
    return M[:, -1]


@pytest.mark.parametrize("unit", [1.0, 1e4, 1e9])
@pytest.mark.parametrize("seed", [1, 3, 7])
def test_the_first_event_of_a_path_beside_a_small_ridge(seed, unit):
    """Cubic features of up to 1e19 beside a ridge of 0.01: λ0 of (40.8) has all but four digits."""
    g = np.random.default_rng(seed)
    Z = g.normal(size=(14, 2)) * 10.0 ** g.integers(0, 4, 2) + 10.0 ** g.integers(0, 4)
    X = unit * np.c_[Z, Z**2, Z[:, 0] * Z[:, 1], Z**3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # further down the path may be inaccurate
        path = twin_path(X[:5], X[5:10], X[10:], epsilon=0.25, ridge=0.01)
    F, N = (exactly(np.c_[rows, np.ones(len(rows))]) for rows in (X[:5], X[5:]))
    M = F.T.dot(F) + Fraction(0.01) * exactly(np.eye(F.shape[1]))
    margins = [Fraction(1)] * 5 + [Fraction(0.75)] * 4
    first = max(N.dot(solved(M, N.sum(0))) / np.array(margins, object))
    np.testing.assert_allclose(path.breakpoints.max(), float(first), rtol=1e-11)


# -- the judge itself -----------------------------------------------------------------------------
def test_the_judge_sees_what_is_understated():
    X = three_clouds(2, 1e8, 10.0)
    m = fitted(TwinMarginSVC(0.3), X, LABELS)
    m.intercept_ = m.intercept_ * (1 + 1e-9)
    assert list(contradictions(m, X, LABELS))
