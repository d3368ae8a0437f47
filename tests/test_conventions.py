"""Crammer and Singer's classifier and kernel logistic regression: units, scikit-learn's manners."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression, LabelRankingSVC
from mcsvm_lit.core import estimators

BOTH = (CrammerSingerSVC, KernelLogisticRegression)
each = pytest.mark.parametrize("cls", BOTH, ids=lambda c: c.__name__)
X, Y = load_iris(return_X_y=True)
SECONDS = 1.7e9 + np.random.default_rng(0).integers(0, 3 * 10**7, len(X))


# -- units ----------------------------------------------------------------------------------------
TABLES = {
    "ten million": X * 1e7,
    "hundred thousand": X * 1e5,
    "seconds": np.c_[X, SECONDS],
    "constant": np.c_[X, np.full(len(X), 1.7e9)],
    "mixed": X * [1e-6, 1e6, 1.0, 1e6],
    "mixed the other way": X * [1e6, 1e-6, 1e-6, 1.0],
}


def peers_at_best(Z, y):
    """The better of two peers' accuracies; what they say about convergence is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peers = (LogisticRegression(max_iter=1000), LinearSVC(random_state=0))
        return max(peer.fit(Z, y).score(Z, y) for peer in peers)


@each
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("table", TABLES)
def test_badly_scaled_linear_tables(cls, table, classes, bias):
    """A certificate or a warning, and labels as good as those of the usual linear classifiers."""
    rows = classes - 1 + Y > 1
    Z, y = TABLES[table][rows], Y[rows]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        m = cls(kernel="linear", fit_intercept=bias, tol=1e-3).fit(Z, y)
    assert {w.category for w in said} <= {ConvergenceWarning}
    assert bool(said) != m.certificate_.converged
    assert m.certificate_.relative_gap < 0.05
    if bias:  # the peers have an intercept
        assert m.score(Z, y) >= peers_at_best(Z, y) - 0.03
    else:
        assert m.score(Z, y) > 0.8


@each
def test_a_change_of_units_changes_no_label(cls):
    """The kernel's `gamma="scale"` takes the unit out, over twenty-four decades."""
    plain = cls().fit(X, Y)
    for k in range(-12, 13):
        m = cls().fit(X * 10.0**k, Y)
        assert_array_equal(m.predict(X * 10.0**k), plain.predict(X))
        assert_allclose(m.certificate_.primal, plain.certificate_.primal, rtol=2e-3)


@each
def test_a_translation_changes_no_label(cls):
    """A Gaussian kernel sees differences only."""
    plain = cls(tol=1e-8).fit(X, Y)
    for shift in (-1e3, 1.0, 1e6):
        m = cls(tol=1e-8).fit(X + shift, Y)
        assert_array_equal(m.predict(X + shift), plain.predict(X))
        assert_allclose(m.certificate_.primal, plain.certificate_.primal, rtol=1e-6)


def test_a_free_intercept_takes_up_a_translation():
    plain = KernelLogisticRegression(kernel="linear").fit(X, Y)
    for shift in (-1e3, 1.0, 1e6):
        m = KernelLogisticRegression(kernel="linear").fit(X + shift, Y)
        assert_array_equal(m.predict(X + shift), plain.predict(X))
        assert_allclose(m.coef_, plain.coef_, atol=1e-6)


# -- manners --------------------------------------------------------------------------------------
@each
def test_two_classes_have_one_row_of_weights(cls):
    """Shapes and signs are those of `LinearSVC` and `LogisticRegression`."""
    pair = Y > 0
    for bias in (False, True):
        m = cls(kernel="linear", fit_intercept=bias).fit(X[pair], Y[pair])
        assert m.coef_.shape == (1, 4) and m.intercept_.shape == (1,)
        assert_allclose(m.decision_function(X), X @ m.coef_[0] + m.intercept_[0], rtol=1e-9)
        assert cls(fit_intercept=bias).fit(X[pair], Y[pair]).intercept_.shape == (1,)
    m = cls(kernel="linear").fit(X, Y)
    assert m.coef_.shape == (3, 4) and m.intercept_.shape == (3,)
    assert_allclose(m.decision_function(X), X @ m.coef_.T + m.intercept_, rtol=1e-9)


@each
def test_many_features(cls):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 500))
    m = cls(kernel="linear").fit(Z, np.arange(40) % 3)
    assert m.coef_.shape == (3, 500) and m.certificate_.converged
    assert_allclose(m.decision_function(Z), Z @ m.coef_.T + m.intercept_, rtol=1e-9)


@each
def test_nothing_of_an_earlier_fit_is_left(cls):
    m = cls(kernel="linear").fit(X, Y)
    before = set(vars(m))
    m.set_params(kernel="rbf").fit(X, Y)
    assert before - set(vars(m)) == {"coef_"}
    fresh = cls().fit(X, Y)
    assert_array_equal(m.decision_function(X), fresh.decision_function(X))


@each
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_parameters_set_later_change_no_fitted_model(cls, kernel):
    m = cls(kernel=kernel).fit(X, Y)
    asked = (m.decision_function, m.predict, m.decision_bounds)
    before = [f(X) for f in asked]
    other = "rbf" if kernel == "linear" else "linear"
    m.set_params(kernel=other, gamma=7.0, C=99.0, fit_intercept=not m.fit_intercept, tol=0.5)
    for f, value in zip(asked, before, strict=True):
        assert_array_equal(f(X), value)
    with pytest.raises(ValueError, match="precomputed"):
        cls(kernel="precomputed").fit(X @ X.T, Y).set_params(kernel="rbf").decision_bounds(X @ X.T)


@each
def test_a_class_without_weight_is_refused(cls):
    """One rule: its rows are to be left out, for nothing can be learnt of it."""
    sentence = "No example of class 'c' has a positive weight.*leave out the rows"
    names = np.array(["a", "b", "c"])[Y]
    for bias in (False, True):
        with pytest.raises(ValueError, match=sentence):
            cls(fit_intercept=bias).fit(X, names, (names != "c") * 1.0)
        with pytest.raises(ValueError, match=sentence):
            cls(fit_intercept=bias, class_weight={"c": 0.0}).fit(X, names)


@each
@pytest.mark.parametrize("most", [1, 2, 7, 50])
@pytest.mark.parametrize("how", [{}, {"kernel": "linear"}, {"solver": "smo"}, {"solver": "newton"}])
def test_no_more_iterations_than_allowed(cls, most, how):
    """`n_iter_` and `max_iter` count the same thing."""
    if "solver" in how and cls is CrammerSingerSVC:
        pytest.skip("has one solver")
    for labels in (Y, Y == 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            m = cls(C=1e3, tol=1e-12, max_iter=most, **how).fit(X, labels)
        assert m.n_iter_ == m.certificate_.n_iter <= most
        assert m.n_iter_ == most or m.certificate_.converged


@pytest.mark.parametrize("most", [1, 2, 7, 50])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_no_more_passes_over_pairs_than_allowed(most, kernel):
    """The same where a row has several pairs, which are visited together."""
    labels = np.column_stack([Y == 0, Y != 1, X[:, 0] > X[:, 0].mean()])
    for target in (Y, labels):
        m = LabelRankingSVC(C=1e3, tol=1e-12, max_iter=most, kernel=kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            m.fit(X, target)
        assert 0 < m.n_iter_ == m.certificate_.n_iter <= most


@each
def test_warnings_point_at_the_line_that_called(cls):
    m = cls(C=1e3, tol=1e-14, max_iter=1)
    for fit in (m.fit, make_pipeline(StandardScaler(), m).fit):
        with pytest.warns(ConvergenceWarning, match="raise max_iter or tol") as said:
            fit(X, Y)
        assert {w.filename for w in said} == {__file__}


@each
def test_a_cache_of_less_than_a_megabyte_changes_nothing_but_time(cls):
    small, large = (cls(cache_size=size).fit(X, Y) for size in (0.05, 500))  # 0.18 MB in all
    assert small.certificate_.converged
    assert_allclose(small.certificate_.primal, large.certificate_.primal, rtol=small.tol)


def test_a_warm_start_belongs_to_one_kernel_and_one_table():
    for change in ({"gamma": 3.0}, {"kernel": "poly"}, {"kernel": "linear"}):
        m = KernelLogisticRegression(warm_start=True).fit(X, Y)
        fresh = KernelLogisticRegression(**change).fit(X, Y)
        assert_array_equal(m.set_params(**change).fit(X, Y).dual_coef_, fresh.dual_coef_)
    m = KernelLogisticRegression(warm_start=True).fit(X, Y)
    other = X[:, ::-1] + np.arange(len(X))[:, None]
    m.fit(other, Y)
    assert m.n_iter_ == KernelLogisticRegression().fit(other, Y).n_iter_ > 0
    assert m.fit(other, Y).n_iter_ == 0


@each
def test_names_of_features_and_routed_weights(cls):
    table = pd.DataFrame(X, columns=list("abcd"))
    m = cls().fit(table, Y)
    assert_array_equal(m.feature_names_in_, list("abcd"))
    with pytest.warns(UserWarning, match="feature names"):
        m.predict(X)
    weights = np.random.default_rng(0).uniform(0.1, 5, len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        asked = cls().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(asked, {"C": [0.3, 3.0]}, cv=3)
        search.fit(X, Y, sample_weight=weights)
        best = clone(search.best_estimator_).fit(X, Y, weights)
    assert_array_equal(search.decision_function(X), best.decision_function(X))
    unweighted = clone(best).fit(X, Y).decision_function(X)
    assert np.abs(unweighted - best.decision_function(X)).max() > 1e-3


def test_logarithms_of_probabilities_are_exact_where_probabilities_are_not():
    m = KernelLogisticRegression(C=1e9, kernel="linear").fit(X * 1e3, Y)
    L, P = m.predict_log_proba(X * 1e6), m.predict_proba(X * 1e6)
    assert_array_equal(L.argmax(1), P.argmax(1))
    assert L.min() < -1000 and np.isfinite(L).all() and (P > 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_warm_start_ends_no_worse_than_a_cold_one(seed):
    """Columns of very different scale and a large C, where Newton's steps from the end fail."""
    rng = np.random.default_rng(seed)
    Z, y = rng.normal(size=(30, 4)) * [1, 1e-2, 1e6, 1e-5], rng.integers(0, 5, 30)
    m = KernelLogisticRegression(kernel="linear", C=2e4, tol=1e-4, warm_start=True).fit(Z, y)
    cold = m.certificate_
    warm = m.fit(Z, y).certificate_
    assert cold.converged and warm.converged
    assert_allclose(warm.primal, cold.primal, rtol=2e-4)


@each
def test_large_tables_are_told_before_a_fit(cls, monkeypatch):
    monkeypatch.setattr(estimators, "MUCH", 1e-3)
    with pytest.warns(UserWarning, match="megabytes beside cache_size"):
        cls().fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cls(kernel="linear").fit(X, Y)
