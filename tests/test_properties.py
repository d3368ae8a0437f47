"""What must hold for any input.

Hypothesis looks for one that breaks it, always among the same examples.
"""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.sparse import csr_array

from mcsvm_lit.core.boxqp import box_program, solve_boxqp
from mcsvm_lit.core.kernel_rows import KernelRows
from mcsvm_lit.core.kernels import Kernel
from mcsvm_lit.core.losses import Hinge, below_top, loss_values, one_hot
from mcsvm_lit.core.simplex import project_cs, project_row, project_simplex
from mcsvm_lit.core.solving import Goal
from mcsvm_lit.crammer_singer.kernel_solver import solve_kernel
from mcsvm_lit.crammer_singer.problem import CrammerSinger, cs_dual_cvxpy


def numbers(most):
    return st.sampled_from([-1.0, 0.0, 1.0, 2.0]) | st.floats(-most, most).map(
        lambda v: round(v, 6)
    )  # ties are common


def matrices(rows, columns, most=10.0):
    return st.tuples(rows, columns).flatmap(
        lambda shape: arrays(float, shape, elements=numbers(most))
    )


few = st.integers(1, 8)

# -- the simplex ----------------------------------------------------------------------------------
points, totals = matrices(few, few, 1e3), st.sampled_from([1e-3, 1.0, 7.0])


def level(D, s):
    """θ as the largest of (sum of the k highest - s)/k over all k: one sort, no search for k."""
    return ((np.cumsum(-np.sort(-D, axis=1), axis=1) - s) / np.arange(1, D.shape[1] + 1)).max(
        1, keepdims=True
    )


@given(points, totals, st.sampled_from(["sort", "michelot"]))
def test_projection_is_what_stands_above_the_level(D, s, method):
    η = project_simplex(D, s, method)
    δ = 1e-12 * max(1.0, np.abs(D).max())
    assert (η >= 0).all()
    assert_allclose(η.sum(1), s, rtol=1e-12)
    assert_allclose(η, np.maximum(D - level(D, s), 0), rtol=0, atol=δ)


@given(points, totals)
def test_compiled_projection_of_a_row_is_the_same(D, s):
    for d, η in zip(D, project_simplex(D, s)):
        out = np.empty(len(d))
        project_row(d, s, out)
        assert_allclose(out, η, rtol=0, atol=1e-14 * s + 1e-15 * np.ptp(d))


@given(points, totals)
def test_no_other_point_is_nearer(D, s):
    """(D - η)·(z - η) <= 0 for every corner z, and so for every z of the simplex."""
    η = project_simplex(D, s)
    corners = s * np.eye(D.shape[1])
    assert (
        np.einsum("nk,nzk->nz", D - η, corners - η[:, None])
        <= 1e-12 * s * max(1.0, np.abs(D).max())
    ).all()


@given(points, totals)
def test_projecting_twice_is_projecting_once(D, s):
    η = project_simplex(D, s)
    assert_allclose(project_simplex(η, s), η, rtol=0, atol=1e-15 * s)


@given(
    points.flatmap(lambda D: st.tuples(st.just(D), arrays(float, D.shape, elements=numbers(1e3)))),
    totals,
)
def test_projections_come_no_further_apart(both, s):
    D, E = both
    apart = np.linalg.norm(project_simplex(D, s) - project_simplex(E, s), axis=1)
    assert (
        apart <= np.linalg.norm(D - E, axis=1) * (1 + 1e-12) + 1e-12 * max(1.0, np.abs(both).max())
    ).all()


@given(
    points.flatmap(
        lambda V: st.tuples(
            st.just(V), arrays(int, len(V), elements=st.integers(0, V.shape[1] - 1))
        )
    ),
    totals,
)
def test_crammer_singer_set(both, c):
    """τ is below c·e_y and sums to zero; no corner c(e_y - e_r) of the set shows a nearer point."""
    V, y = both
    n, K = V.shape
    τ = project_cs(V, y, c)
    δ = 1e-12 * max(1.0, np.abs(V).max())
    assert (τ <= c * one_hot(y, K)).all()
    assert_allclose(τ.sum(1), 0, atol=1e-12 * c)
    corners = c * (one_hot(y, K)[:, None] - np.eye(K))
    assert (np.einsum("nk,nrk->nr", V - τ, corners - τ[:, None]) <= c * δ).all()


# -- quadratic programs in a box ------------------------------------------------------------------
@st.composite
def programs(draw):
    """Q of any rank, a box some of whose sides may be zero, a point in it, perhaps an equality."""
    n = draw(few)
    B = draw(matrices(st.just(n), few, 3.0))
    q = draw(arrays(float, n, elements=numbers(10.0)))
    lo = draw(arrays(float, n, elements=numbers(3.0)))
    hi = lo + draw(arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 4.0])))
    z = lo + (hi - lo) * draw(arrays(float, n, elements=st.sampled_from([0.0, 0.25, 1.0])))
    a = draw(st.none() | arrays(float, n, elements=st.sampled_from([-1.0, 0.0, 1.0, 2.5])))
    return B @ B.T, q, lo, hi, a, 0.0 if a is None else a @ z, z


@given(programs())
def test_boxqp_is_feasible_and_certified(program):
    Q, q, lo, hi, a, b, z = program
    s = solve_boxqp(box_program(Q, q, lo, hi, a, b), tol=1e-9)
    c = s.certificate
    size = np.abs(Q).max() + np.abs(q).max() + 1

    def value(x):
        return x @ Q @ x / 2 + q @ x

    assert (lo <= s.x).all() and (s.x <= hi).all()
    if a is not None:
        assert abs(a @ s.x - b) <= 1e-12 * (1 + np.abs(a) @ np.abs(s.x))
    assert c.converged, c
    assert_allclose(c.primal, value(s.x), rtol=1e-9, atol=1e-12 * size)
    assert (
        c.dual <= value(z) + 1e-9 * size
    )  # the bound holds at the point that we know to be feasible
    g = Q @ s.x + q  # nothing feasible lies downhill: a linear program that shares no code
    lowest = linprog(
        g,
        A_eq=None if a is None else a[None],
        b_eq=None if a is None else [b],
        bounds=np.c_[lo, hi],
    ).fun
    assert g @ s.x - lowest <= 1e-6 * size


@settings(max_examples=50)
@given(programs())
def test_boxqp_forgets_where_it_started(program):
    Q, q, lo, hi, a, b, z = program
    size = np.abs(Q).max() + np.abs(q).max() + 1
    here, there = (
        solve_boxqp(box_program(Q, q, lo, hi, a, b)),
        solve_boxqp(box_program(Q, q, lo, hi, a, b), x0=z),
    )
    assert_allclose(here.certificate.primal, there.certificate.primal, rtol=1e-8, atol=1e-8 * size)


# -- Crammer and Singer's classifier --------------------------------------------------------------
@st.composite
def data(draw, most=12):
    """Few different rows, zero among them: copies with equal and with different labels abound."""
    K, d, n = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(2, most))
    X = draw(arrays(float, (n, d), elements=st.sampled_from([-1.0, 0.0, 0.0, 0.5, 1.0])))
    y = draw(arrays(int, n, elements=st.integers(0, K - 1)))
    c = draw(st.sampled_from([0.01, 1.0, 30.0])) * draw(
        arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0]))
    )
    assume(c.any())
    return X, y, c, K


kernels_of_fits = st.sampled_from(
    [
        Kernel("linear"),
        Kernel("linear", shift=1.0),
        Kernel("rbf", gamma=0.7),
        Kernel("poly", gamma=1.0, degree=2),
    ]
)


@given(data(), kernels_of_fits, st.sampled_from([1e-2, 1e-6]))
def test_a_fit_is_certified(made, kernel, tol):
    X, y, c, K = made
    k = kernel.fit(X)
    s = solve_kernel(CrammerSinger(k, X, y, c, K), Goal(tol))
    cert, (η, scores, _) = s.certificate, s.state
    assert (η >= 0).all()
    assert_allclose(η.sum(1), 1, rtol=1e-12)
    F = k(X) @ (c[:, None] * (one_hot(y, K) - η))
    P, D = loss_values(Hinge(), F, η, y, c)  # recomputed, from η alone
    assert_allclose(scores, F, rtol=1e-9, atol=1e-9)
    assert_allclose([cert.primal, cert.dual], [P, D], rtol=1e-9, atol=1e-12)
    assert (c * below_top(F - one_hot(y, K), η)).min() >= 0 and P >= D - 1e-12 * P
    assert c.sum() * (1 + tol) >= P and cert.converged and cert.relative_gap <= tol


@settings(max_examples=40)
@given(data(), kernels_of_fits)
def test_the_order_and_the_split_of_weights_do_not_matter(made, kernel):
    """Each example twice, at 1/3 and 2/3 of its weight, in reverse order: the same classifier."""
    X, y, c, K = made
    k = kernel.fit(X)
    twice = np.repeat(np.arange(len(y)), 2)[::-1]
    shares = np.tile([1 / 3, 2 / 3], len(y))
    one = solve_kernel(CrammerSinger(k, X, y, c, K), Goal(1e-9))
    split = CrammerSinger(k, X[twice], y[twice], c[twice] * shares, K)
    two = solve_kernel(split, Goal(1e-9))
    assert_allclose(one.certificate.primal, two.certificate.primal, rtol=1e-8)
    radius = (
        4 * np.sqrt(1e-9 * one.certificate.primal * k.diag(X).max(initial=0)) + 1e-9
    )  # twice that of the certificate, see (10.10)

    def apart(F):
        return F - F[:, :1]

    assert_allclose(apart(one.state.F), apart(two.state.F[::-1][::2]), rtol=0, atol=radius)


@settings(max_examples=10)
@given(data(8), st.sampled_from([Kernel("linear"), Kernel("rbf", gamma=0.7)]))
def test_a_fit_is_what_a_cone_solver_finds(made, kernel):
    X, y, c, K = made
    y[0], c = K - 1, np.clip(c, 0.1, 3.0)
    k = kernel.fit(X)
    assert_allclose(
        solve_kernel(CrammerSinger(k, X, y, c, K), Goal(1e-9)).certificate.primal,
        cs_dual_cvxpy(k(X), y, c)[1],
        rtol=1e-6,
    )


# -- rows from a cache ----------------------------------------------------------------------------
kernels = st.sampled_from(
    [
        Kernel("linear"),
        Kernel("rbf", gamma=0.5),
        Kernel("poly", degree=3, coef0=1.0),
        Kernel("sigmoid", gamma=0.1),
        Kernel(lambda X, Z: X @ Z.T + 2.0),
        Kernel("linear", shift=1.0),
        Kernel("precomputed"),
    ]
)


@settings(max_examples=60)
@given(st.integers(2, 30), kernels, st.booleans(), st.sampled_from([0.1, 0.4, 1.0]), st.data())
def test_rows_are_those_of_the_full_matrix(n, kernel, sparse, share, ask):
    """Whatever is asked for, in whatever order, with room for one row, some or all."""
    X = ask.draw(
        arrays(float, (n, n if kernel.name == "precomputed" else 3), elements=numbers(3.0))
    )
    if kernel.name == "precomputed":
        X = X + X.T
    V = csr_array(X) if sparse and not callable(kernel.name) else X
    k = kernel.fit(V)
    G = k(V)
    rows = KernelRows(k, V, cache_size=max(1, share * n) * n * 8 / 2**20)
    asked = 0
    assert_array_equal(rows.diag, G.diagonal())
    for idx in ask.draw(
        st.lists(st.lists(st.integers(0, n - 1), min_size=1, max_size=n), min_size=1, max_size=8)
    ):
        assert_allclose(rows.rows(idx), G[idx], rtol=1e-12, atol=1e-13)
        asked += len(idx)
        assert rows.hits + rows.misses == asked and rows.nbytes <= max(1, share * n) * n * 8
        if len(set(idx)) <= len(rows.buffer):
            assert_array_equal(rows.buffer[rows.ensure(idx)], rows.rows(idx))
            asked += 2 * len(idx)
    if rows.full is not None:
        assert_allclose(rows.full, G, rtol=1e-12, atol=1e-13)
    assert (rows.full is None) == (len(rows.buffer) < n)
