"""Classifiers in the span of landmarks: in memory and in blocks, every form of input."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_wine, make_classification
from sklearn.metrics.pairwise import rbf_kernel

from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression

X, NUMBERS = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
LABELS = {2: np.where(NUMBERS > 0, "yes", "no"), 3: np.array(["a", "b", "c"])[NUMBERS]}
WEIGHTS = np.random.default_rng(0).uniform(0, 2, 300)
KINDS = {"hinge": (CrammerSingerSVC, 1e-3), "logistic": (KernelLogisticRegression, 1e-6)}

kinds = pytest.mark.parametrize("kind", KINDS)
classes = pytest.mark.parametrize("K", LABELS)
places = pytest.mark.parametrize("cache_size", [500, 1e-3], ids=["in memory", "in blocks"])


def fitted(kind, K, A=X, **settings):
    """A classifier with weights for all rows but some."""
    cls, tol = KINDS[kind]
    weights = WEIGHTS * (np.arange(300) % 5 > 0)
    return cls(**{"gamma": 0.2, "C": 3, "tol": tol, **settings}).fit(A, LABELS[K], weights)


def objective(kind, m, K):
    """The objective of the kernel expansion that predicts, by hand."""
    c = m.C * WEIGHTS * (np.arange(300) % 5 > 0)
    i, y = np.arange(300), np.unique(LABELS[K], return_inverse=True)[1]
    a = m.dual_coef_
    norm = (a * (rbf_kernel(X[m.support_], gamma=0.2) @ a)).sum()
    f = m.decision_function(X)
    F = np.c_[-f / 2, f / 2] if K == 2 else f
    if kind == "hinge":
        margins = F + 1
        margins[i, y] -= 1
        return norm / 2 + c @ (margins.max(1) - F[i, y])
    p = np.exp(F - F.max(1, keepdims=True))
    return norm / 2 - c @ np.log(p[i, y] / p.sum(1))


@kinds
@classes
@places
def test_bounds_hold(kind, K, cache_size):
    """Objective reached ≥ that of all functions ≥ the bound; the first is that of what predicts."""
    best = fitted(kind, K, tol=1e-8).certificate_
    before = np.inf
    for rank in (5, 20, 80):
        m = fitted(kind, K, rank=rank, cache_size=cache_size)
        within, full = m.certificate_, m.full_certificate_
        assert within.converged and len(m.support_) == rank
        assert full.dual - full.rounding <= best.primal and best.dual <= full.primal
        assert_allclose(within.primal, objective(kind, m, K), rtol=1e-8)
        assert 0 < within.rounding < 1e-6 * within.primal
        assert within.primal < before * (1 + 2 * m.tol)
        before = within.primal


@kinds
@classes
def test_memory_and_blocks_agree(kind, K):
    one, other = (fitted(kind, K, rank=300, cache_size=size) for size in (500, 1e-3))
    exact = fitted(kind, K)
    for m in (one, other):
        assert_allclose(m.certificate_.primal, exact.certificate_.primal, rtol=2 * m.tol)
        assert m.full_certificate_.relative_gap <= 2 * m.tol


@kinds
@classes
def test_forms_of_input(kind, K):
    """Sparse rows and a precomputed kernel say the same, and a pickle as well."""
    dense = fitted(kind, K, rank=40)
    sparse = fitted(kind, K, csr_array(X), rank=40)
    given = fitted(kind, K, rbf_kernel(X, gamma=0.2), rank=40, kernel="precomputed")
    scores = dense.decision_function(X)
    assert_allclose(pickle.loads(pickle.dumps(dense)).decision_function(X), scores, atol=0)
    assert_allclose(sparse.decision_function(csr_array(X)), scores, atol=1e-5)
    ours = given.decision_function(rbf_kernel(X, gamma=0.2))
    assert_array_equal(given.classes_, dense.classes_)
    assert (np.sign(ours - ours.mean()) == np.sign(scores - scores.mean())).mean() > 0.9
    best = fitted(kind, K).certificate_
    for m in (sparse, given):
        assert m.certificate_.converged
        assert m.full_certificate_.dual <= best.primal and best.dual <= m.full_certificate_.primal


@kinds
def test_a_share_in_place_of_a_number(kind):
    m = fitted(kind, 3, rank=0.1)
    assert m.full_certificate_.relative_gap <= 0.1
    half = fitted(kind, 3, rank=len(m.support_) // 2)
    assert half.full_certificate_.relative_gap > 0.1


@kinds
@places
def test_everything_else_works(kind, cache_size):
    """What a user asks of a fitted classifier."""
    m = fitted(kind, 3, rank=30, cache_size=cache_size)
    assert m.score(X, LABELS[3]) > 0.7
    assert (m.decision_bounds(X) > 0).all()
    if kind == "hinge":
        assert m.slack_.shape == (300,) and (m.slack_ >= 0).all()
        assert m.certified(X).shape == (300,)
        assert set(m.suspects().example) <= set(range(300))
    else:
        assert_allclose(m.predict_proba(X).sum(1), 1)


@kinds
@pytest.mark.parametrize("rank", [None, 300])
def test_prediction_works_in_blocks(kind, rank):
    """Kernel values of all rows with all coefficients would take 145 MB."""
    m = fitted(kind, 3, rank=rank, C=0.01)
    assert len(m.support_) > 200
    many = np.tile(X, (60_400 // 300, 1))
    tracemalloc.start()
    F = m.decision_function(many)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6
    assert_allclose(F[-300:], m.decision_function(X), rtol=1e-9, atol=1e-9)


@kinds
@places
def test_tables_with_named_columns(kind, cache_size):
    table = pd.DataFrame(X, columns=list("abcdef"))
    m = fitted(kind, 3, table, rank=30, cache_size=cache_size)
    assert list(m.feature_names_in_) == list("abcdef")
    assert_array_equal(m.predict(table), fitted(kind, 3, rank=30, cache_size=cache_size).predict(X))


def test_rounding_decides_no_verdict():
    """A gap within the tolerance, but not by the bound on its rounding, is made smaller."""
    A, y = load_wine(return_X_y=True)
    A = (A - A.mean(0)) / A.std(0) + 50
    settings = {"gamma": 0.3, "rank": 10, "C": 0.15}
    reached = CrammerSingerSVC(tol=1e-7, **settings).fit(A, y).certificate_
    close = reached.relative_gap * (1 + 1.1e-3)
    again = CrammerSingerSVC(tol=close, **settings).fit(A, y).certificate_
    assert again.certifiable and again.converged
