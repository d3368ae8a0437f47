"""Paths and dual solvers of the later chapters on inputs made to be nasty.

Ties, copies, lattices, equal rows in different classes.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from mcsvm_lit.core.kernels import Kernel
from mcsvm_lit.core.semidefinite import pivoted_cholesky
from mcsvm_lit.crammer_singer.classifier import CrammerSingerSVC
from mcsvm_lit.crammer_singer.path_in_c import c_path
from mcsvm_lit.kernel_logistic.problem import best_intercept, logistic_kl
from mcsvm_lit.kernel_logistic.solvers import solve_klr
from mcsvm_lit.probability.simplex import expected_shares, inverse_shares
from mcsvm_lit.twin_ksvc.path_in_lambda import twin_path
from mcsvm_lit.twin_ksvc.problem import twin_dual, twin_values
from mcsvm_lit.twin_margin.path_in_nu import nu_path, nu_path_points
from mcsvm_lit.twin_margin.problem import solve_margin
from mcsvm_lit.twin_margin.robust import dual_norm, worst_case

lattice = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
coordinates = lattice | st.floats(-3, 3).map(lambda v: round(v, 3))


def rows(most, d):
    return st.integers(1, most).flatmap(lambda n: arrays(float, (n, d), elements=coordinates))


# -- the path in C of Crammer and Singer -----------------------------------------------------------
@st.composite
def labelled(draw):
    """Rows, many of them equal, whose labels contradict each other, and how often each counts."""
    n, d, K = draw(st.integers(4, 16)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    X = draw(arrays(float, (n, d), elements=lattice))
    y = draw(arrays(int, n, elements=st.integers(0, K - 1)))
    y[:K] = np.arange(K)
    return X, y, draw(arrays(float, n, elements=st.sampled_from([1.0, 2.0, 0.5])))


KERNELS = [
    dict(kernel="linear"),
    dict(kernel="linear", fit_intercept=True),
    dict(kernel="rbf", gamma=0.3),
    dict(kernel="poly", degree=2, coef0=1.0),
]


@given(labelled(), st.sampled_from(KERNELS))
@settings(max_examples=60, deadline=None)
def test_the_path_in_C_is_optimal_everywhere(data, options):
    X, y, w = data
    p = c_path(X, y, sample_weight=w, **options)
    assert p.domain == (0, np.inf)
    worst = p.kkt()
    assert worst.violation <= 1e-9 and worst.gap <= 1e-9, worst
    assert (np.diff(p.ends) > 0).all()


@given(labelled(), st.sampled_from(KERNELS), st.floats(-2, 1))
@settings(max_examples=15, deadline=None)
def test_the_path_in_C_lies_between_the_bounds_of_a_fit(data, options, exponent):
    X, y, w = data
    p, C = c_path(X, y, sample_weight=w, **options), 10.0**exponent
    fit = CrammerSingerSVC(C=C, tol=1e-5, **options).fit(X, y, w).certificate_
    P = p.certificate(C).primal
    assert fit.dual - fit.rounding - 1e-9 * P <= P <= fit.primal + fit.rounding + 1e-9 * P


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_path_in_C_is_what_a_fit_finds(kernel):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    p = c_path(X, y, kernel=kernel)
    for C in 10 ** np.random.default_rng(0).uniform(-2, 1, 3):
        fit = CrammerSingerSVC(C=C, kernel=kernel, tol=1e-10).fit(X, y)
        assert_allclose(p.certificate(C).primal, fit.certificate_.primal, rtol=1e-9)
        assert_allclose(p.decision(X, C), fit.decision_function(X), atol=1e-4)


# -- the λ-path of twin planes ---------------------------------------------------------------------
triples = st.integers(1, 3).flatmap(lambda d: st.tuples(rows(6, d), rows(8, d), rows(8, d)))


@given(triples, st.sampled_from([0.0, 0.2, 0.5]), st.sampled_from([1.0, 0.3]))
@settings(max_examples=60)
def test_the_twin_path_is_optimal_everywhere(ABC, eps, kC):
    p = twin_path(*ABC, epsilon=eps, ridge=1e-2, kC=kC)
    worst = p.kkt()
    assert p.complete and worst.violation <= 1e-9 and worst.gap <= 1e-9, worst


@given(triples, st.floats(-3, 2))
@settings(max_examples=25)
def test_the_twin_path_goes_through_the_solution_of_the_quadratic_program(ABC, log_lam):
    p = twin_path(*ABC, ridge=1e-2)
    lam = 10**log_lam
    P, D = twin_values(p.qp, twin_dual(p.qp, lam, 1e-10), lam)
    here = twin_values(p.qp, p.at(lam).z, lam)
    assert_allclose(here, (P, D), rtol=1e-7, atol=1e-9)


# -- the ν-path -----------------------------------------------------------------------------------
@given(st.integers(1, 3).flatmap(lambda d: rows(12, d)))
@settings(max_examples=60)
def test_the_ν_path_is_optimal_everywhere(A):
    if len(A) < 2:
        A = np.vstack([A, A])
    assert nu_path_points(A).kkt().violation <= 1e-9
    assert nu_path(A @ A.T).kkt(A @ A.T).violation <= 1e-9


@given(rows(10, 2), st.floats(0.05, 0.95))
@settings(max_examples=30)
def test_the_ν_path_goes_through_the_solution_of_the_quadratic_program(A, r):
    if len(A) < 2:
        A = np.vstack([A, A + 1])
    Q = A @ A.T
    a, b = nu_path_points(A).at(r), solve_margin(Q, r)
    assert_allclose(a.norm, b.norm, rtol=1e-6, atol=2e-5 * np.sqrt(1 + np.abs(Q).max()))


# -- kernel logistic regression -------------------------------------------------------------------
@given(rows(14, 2), st.integers(0, 2**14 - 1), st.floats(-4, 5), st.booleans())
@settings(max_examples=60)
def test_kernel_logistic_regression_reaches_its_gap(X, bits, log_C, intercept):
    if len(X) < 2:
        X = np.vstack([X, X])
    s = np.where((bits >> np.arange(len(X))) & 1, 1.0, -1.0)
    s[:2] = 1, -1
    f = solve_klr(
        Kernel("rbf", gamma=0.5).fit(X), X, s, np.full(len(X), 10**log_C), intercept, tol=1e-6
    )
    assert f.certificate.converged and f.certificate.gap >= 0, f.certificate


@given(arrays(float, st.integers(2, 9), elements=st.floats(-1e6, 1e6)))
def test_the_best_intercept_balances(F):
    s, c = np.where(np.arange(len(F)) % 2, 1.0, -1.0), np.ones(len(F))
    b = best_intercept(F, s, c)

    def loss(b):
        return np.logaddexp(0, -s * (F + b)).sum()

    δ = 1e-6 * (1 + abs(b))
    assert loss(b) <= min(loss(b - δ), loss(b + δ)) * (1 + 1e-12) + 1e-12


@given(st.floats(-700, 700), st.floats(-60, 60))
def test_the_gap_of_an_example_is_never_negative(u, h):
    assert logistic_kl(np.array([u]), np.array([h]))[0] >= 0


@given(rows(12, 3))
def test_pivoted_cholesky_leaves_what_it_says(X):
    k = Kernel("rbf", gamma=0.7).fit(X)
    L, pivots = pivoted_cholesky(k, X, tol=1e-12)
    G = k(X)
    assert len(set(pivots)) == len(pivots) == L.shape[1]
    assert_allclose(L @ L.T, G, rtol=0, atol=1e-6)


# -- robust margins, and shares of labels ---------------------------------------------------------
@given(
    arrays(float, 4, elements=coordinates),
    st.sampled_from([1.0, 1.5, 2.0, 3.0, np.inf]),
    st.floats(0, 5),
)
def test_the_worst_case_lies_in_the_ball_and_attains_the_dual_norm(w, p, ε):
    δ = worst_case(w, ε, p)
    assert np.linalg.norm(δ, p) <= ε * (1 + 1e-12)
    assert_allclose(abs(w @ δ), ε * dual_norm(w, p), rtol=1e-10, atol=1e-12)


@given(arrays(float, st.integers(2, 6), elements=st.floats(-8, 8)))
@settings(max_examples=50)
def test_shares_are_inverted(logits):
    p = np.exp(logits - logits.max())
    p /= p.sum()
    assert_allclose(inverse_shares(expected_shares(p)), p, rtol=1e-8, atol=1e-15)
