"""What every classifier of the package promises: scikit-learn's checks, none excused, and ours."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mcsvm_lit


def classifiers():
    """Every classifier that the package has at its top; a base without `fit` is none."""
    found = (getattr(mcsvm_lit, name) for name in mcsvm_lit.__all__)
    whole = (c for c in found if inspect.isclass(c) and issubclass(c, ClassifierMixin))
    return sorted((c for c in whole if hasattr(c, "fit")), key=lambda c: c.__name__)


ALL = classifiers()
every = pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)


def has(cls, *parameters):
    return set(parameters) <= set(cls().get_params())


# Parameters that make many small fits fewer; scikit-learn tests its own ensembles so, too.
SMALL = {"WeightedVoteClassifier": dict(n_weights=5)}


OTHER_WAYS = (  # beside the defaults of every class
    mcsvm_lit.CrammerSingerSVC(kernel="linear", fit_intercept=True),
    mcsvm_lit.KernelLogisticRegression(kernel="linear"),
    mcsvm_lit.TruncatedHingeSVC(kernel="linear"),
    mcsvm_lit.TruncatedHingeSVC(loss="logistic"),
    mcsvm_lit.SVMProbabilityClassifier(
        kernel="linear", scheme="gumbel", n_weights=4, calibrate=False
    ),
    mcsvm_lit.LabelRankingSVC(),
    mcsvm_lit.MulticlassSVC(loss="lee-lin-wahba"),
    mcsvm_lit.MulticlassSVC(kernel="linear", fit_intercept=True),
)


@parametrize_with_checks([*(cls(**SMALL.get(cls.__name__, {})) for cls in ALL), *OTHER_WAYS])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_there_are_classifiers():
    assert {
        "CrammerSingerSVC",
        "KernelLogisticRegression",
        "TwinMarginSVC",
        "TwinKSVC",
        "TruncatedHingeSVC",
        "SVMProbabilityClassifier",
    } <= {c.__name__ for c in ALL}


# -- one small problem ----------------------------------------------------------------------------
X, Y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)[::3]
SPECIES = np.array(["setosa", "versicolor", "virginica"])
NAMES = SPECIES[Y][::3]
PAIR = NAMES != "setosa"


def takes_weights(cls):
    return "sample_weight" in inspect.signature(cls.fit).parameters


def scores(m, X):
    """Probabilities if the classifier gives any, else the values of its decision function."""
    return m.predict_proba(X) if hasattr(m, "predict_proba") else m.decision_function(X)


# A fit is determined up to the root of its tolerance only; two routes to it agree as closely as
# these tests ask for by a smaller one than the default.
TIGHT = dict.fromkeys(["CrammerSingerSVC", "CrammerSingerSVCCV", "MulticlassSVC"], 1e-13)
TIGHT["SVMProbabilityClassifier"] = 1e-9


def exact(cls, **parameters):
    """A classifier that leaves no room between two routes to its solution."""
    parameters = SMALL.get(cls.__name__, {}) | parameters
    if cls.__name__ in TIGHT:
        parameters["tol"] = TIGHT[cls.__name__]
    return cls(**parameters)


def agree(a, b, Xa=X, Xb=X, rtol=1e-7):
    assert_array_equal(a.predict(Xa), b.predict(Xb))
    assert_allclose(scores(a, Xa), scores(b, Xb), rtol=rtol, atol=rtol)


@every
def test_parameters_are_documented(cls):
    """The docstring names every parameter and says what is minimised."""
    for p in cls().get_params():
        assert p in cls.__doc__, f"{cls.__name__} does not document {p}"
    assert "inimis" in cls.__doc__


@every
def test_fit_says_how_good_it_is(cls):
    if has(cls, "estimator"):
        pytest.skip("its estimators say it")
    m = cls().fit(X, NAMES)
    said = {"certificate_", "objective_path_", "path_", "paths_"} & set(vars(m))
    assert said
    if "certificate_" not in said:
        return
    c = m.certificate_
    assert c.converged and c.relative_gap <= c.tol and c.primal >= c.dual - 1e-9 * abs(c.primal)
    assert not has(cls, "tol") or c.tol == m.tol
    assert np.max(m.n_iter_) == c.n_iter and repr(c).startswith("Certificate(converged")


@every
def test_stopping_early_is_said(cls):
    """A warning with the certificate in it, and a certificate that still tells the truth."""
    if not has(cls, "max_iter", "tol"):
        pytest.skip("has no max_iter")
    with pytest.warns(ConvergenceWarning, match=r"(?s)max_iter.*Certificate\(NOT CONVERGED"):
        m = cls(max_iter=1, tol=1e-14).fit(X, NAMES)
    assert not m.certificate_.converged


@every
def test_predict_agrees_with_the_scores(cls):
    m = cls().fit(X, NAMES)
    assert_array_equal(m.classes_, np.unique(NAMES))
    for name in {"decision_function", "predict_proba"} & set(dir(m)):
        assert_array_equal(m.classes_[getattr(m, name)(X).argmax(1)], m.predict(X))
    m = cls().fit(X[PAIR], NAMES[PAIR])
    if hasattr(m, "decision_function"):
        assert_array_equal(m.classes_[(m.decision_function(X) > 0).astype(int)], m.predict(X))
    if hasattr(m, "predict_proba"):
        assert_array_equal(m.classes_[m.predict_proba(X).argmax(1)], m.predict(X))


@every
def test_the_same_data_in_another_form(cls):
    m = exact(cls).fit(X, NAMES)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    agree(m, exact(cls).fit(frame, pd.Series(NAMES, dtype="category")), X, frame)
    agree(m, exact(cls).fit(X.tolist(), NAMES.tolist()), X, X.tolist())
    agree(m, exact(cls).fit(np.asfortranarray(X), NAMES))
    if not cls().__sklearn_tags__().input_tags.sparse:
        return
    for sparse in csr_array, csr_matrix:
        agree(m, exact(cls).fit(sparse(X), NAMES), X, sparse(X), rtol=1e-5)


@every
def test_the_same_kernel_in_another_form(cls):
    if not has(cls, "kernel", "gamma"):
        pytest.skip("is linear")
    folds = {}
    if cls().get_params().get("cv") is not None:
        # a precomputed kernel keeps the order of rows, so folds by number would be others
        folds["cv"] = list(StratifiedKFold(3).split(X, NAMES))
    if has(cls, "calibrate"):
        folds["calibrate"] = False  # which takes folds as well

    def fitted(A, kernel, **parameters):
        return exact(cls, kernel=kernel, **folds, **parameters).fit(A, NAMES)

    m, G = fitted(X, "rbf", gamma=0.5), rbf_kernel(X, gamma=0.5)
    agree(m, fitted(X, lambda A, B: rbf_kernel(A, B, gamma=0.5)), rtol=1e-5)
    agree(m, fitted(G, "precomputed"), X, G, rtol=1e-5)
    agree(fitted(X, "linear"), fitted(X @ X.T, "precomputed"), X, X @ X.T, rtol=1e-1)


@every
def test_labels_and_their_order_do_not_matter(cls):
    """Numbers instead of names, or every name replaced by one that sorts the other way round."""
    m, other = cls().fit(X, NAMES), cls().fit(X, -Y[::3])
    assert_array_equal(SPECIES[-other.predict(X)], m.predict(X))


@every
def test_the_order_of_rows_changes_no_bit(cls):
    m, order = cls().fit(X, NAMES), np.random.default_rng(0).permutation(len(X))
    other = cls().fit(X[order], NAMES[order])
    assert_array_equal(scores(m, X), scores(other, X))
    assert_array_equal(m.predict(X), other.predict(X))


@every
def test_weights_are_copies(cls):
    """Weight two is an example twice, and weight zero is none, to the last bit."""
    if not takes_weights(cls):
        pytest.skip("has no weights")
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    one = cls().fit(X, NAMES, sample_weight=weights)
    other = cls().fit(np.repeat(X, weights, axis=0), np.repeat(NAMES, weights))
    assert_array_equal(scores(one, X), scores(other, X))
    assert np.abs(scores(one, X) - scores(cls().fit(X, NAMES), X)).max() > 1e-3


@every
def test_weights_of_zero_leave_no_trace(cls):
    """Whatever stands in such a row; not even in attributes that refer to rows."""
    if not takes_weights(cls):
        pytest.skip("has no weights")
    weights = np.r_[np.ones(len(X)), np.zeros(len(X))]
    one = cls().fit(np.r_[X, 7 - 3 * X], np.r_[NAMES, NAMES[::-1]], sample_weight=weights)
    assert_array_equal(scores(one, X), scores(cls().fit(X, NAMES), X))
    if hasattr(one, "support_"):
        assert np.max(np.concatenate(one.support_, axis=None)) < len(X)


@every
def test_it_survives_a_pickle_and_a_clone(cls):
    m = cls().fit(X, NAMES)
    agree(m, pickle.loads(pickle.dumps(m)), rtol=1e-15)
    agree(m, clone(m).fit(X, NAMES), rtol=1e-15)  # the same fit twice is the same to the last bit


LATER = {
    "C": 7.0,
    "gamma": 3.0,
    "kernel": "poly",
    "degree": 2,
    "coef0": 2.0,
    "ridge": 0.5,
    "lam": 9.0,
    "nu": 0.1,
    "radius": 0.3,
    "norm": 1,
    "decision": "signed",
    "tol": 0.5,
    "loss": "logistic",
    "truncation": -0.5,
    "scheme": "gumbel",
    "grid": 0.2,
    "calibrate": False,
    "n_weights": 8,
    "class_weight": {"setosa": 9},
    "fit_intercept": True,
    "rank": 3,
    "cv": 2,
}


@every
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_parameters_set_later_change_no_fitted_model(cls, kernel):
    given = {"kernel": kernel, "truncation": None}  # bounds are those of convex problems
    m = cls(**{name: value for name, value in given.items() if has(cls, name)})
    m.fit(X, NAMES)
    names = "predict", "decision_function", "predict_proba", "distances", "decision_bounds"
    asked = [getattr(m, name) for name in (*names, "probability_bounds") if hasattr(m, name)]
    before = [f(X) for f in asked]
    for name in LATER.keys() & m.get_params().keys():
        m.set_params(**{name: LATER[name]})
        for f, value in zip(asked, before, strict=True):
            assert_array_equal(f(X), value, err_msg=name)


ANSWERS = ("predict", "decision_function", "predict_proba", "decision_bounds", "certified")
ANSWERS += ("certified_radius", "probability_bounds", "votes", "distances")


def answers(m, X):
    """Whatever a fitted classifier says of rows: arrays, or the sentence of a refusal."""
    said = {}
    for name in ANSWERS:
        if hasattr(m, name):
            try:
                said[name] = np.asarray(getattr(m, name)(X))
            except (AttributeError, ValueError) as refusal:
                said[name] = str(refusal)
    return said


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("cls", [c for c in ALL if hasattr(c, "slim")], ids=lambda c: c.__name__)
def test_a_slim_copy_says_the_same(cls, kernel):
    Z = X @ X.T if kernel == "precomputed" else X
    m = cls(kernel=kernel).fit(Z, NAMES)
    before = set(vars(m))
    small = pickle.loads(pickle.dumps(m.slim()))
    assert set(vars(m)) == before and len(pickle.dumps(small)) < len(pickle.dumps(m)) + 100
    for name, said in answers(m, Z).items():
        assert_array_equal(answers(small, Z)[name], said, err_msg=name)
    agree(small.fit(Z, NAMES), m, Z, Z)  # and it can be fitted again


def test_a_slim_copy_says_what_is_missing():
    m = mcsvm_lit.CrammerSingerSVC(kernel="linear", warm_start=True).fit(X, NAMES)
    small = m.slim()
    with pytest.raises(AttributeError, match="`slim` left out what is known of the training"):
        small.suspects()
    with pytest.raises(AttributeError, match="`slim` left out"):
        small.leave_one_out(X, NAMES)
    agree(small.fit(X, NAMES), m, rtol=1e-2)  # without a warm start
    assert small.suspects().size == m.suspects().size


@every
def test_plain_rows_are_checked_as_well_as_others(cls):
    """Plain arrays go past scikit-learn's checks; what it would refuse is refused."""
    m = cls(**SMALL.get(cls.__name__, {})).fit(X, NAMES)
    for spoilt in (np.nan, np.inf, -np.inf):
        Z = X.copy()
        Z[3, 1] = spoilt
        with pytest.raises(ValueError, match="NaN|infinity"):
            m.predict(Z)
    for Z in (X[:, :2], X[:0], X[0], X[None]):
        with pytest.raises(ValueError):
            m.predict(Z)
    huge = np.full_like(X[:1], 1e308)  # finite, and their sum is not
    with np.errstate(all="ignore"):
        assert np.isfinite(huge).all() and not np.isfinite(huge.sum())
        try:
            m.predict(huge)
        except ValueError as refusal:  # values of the kernel that are not finite
            assert "not finite" in str(refusal) or "too large" in str(refusal), refusal


@every
def test_it_is_found_in_a_grid_within_a_pipeline(cls):
    if has(cls, "estimator"):
        pytest.skip("its parameters are those of its estimator")
    name = next(p for p in ("C", "nu", "lam", "epsilon") if has(cls, p))
    pipe = make_pipeline(StandardScaler(), cls())
    ranges = cls.__name__ == "CrammerSingerSVCCV"  # whose C is the range that it searches
    grid = {f"{cls.__name__.lower()}__{name}": [(0.2, 2), (0.5, 9)] if ranges else [0.2, 0.5]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(X, NAMES)
    assert search.best_score_ > 0.8


@every
def test_it_leaves_its_input_alone(cls):
    A, b, s = X.copy(), NAMES.copy(), np.ones(len(X))
    A.flags.writeable = b.flags.writeable = s.flags.writeable = False
    kw = dict(sample_weight=s) if takes_weights(cls) else {}
    agree(cls().fit(A, b, **kw), cls().fit(X, NAMES), rtol=1e-6)
    assert_array_equal(A, X)


@every
@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda X, y: (np.where(np.arange(4) == 2, np.nan, X), y), "contains NaN"),
        (lambda X, y: (np.where(np.arange(4) == 2, np.inf, X), y), "contains infinity"),
        (lambda X, y: (X, np.full(len(y), "a")), "class"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X[0], y[:1]), "Expected 2D array"),
        (lambda X, y: (X, np.linspace(0, 1, len(y))), "label type"),
        (lambda X, y: (X[:0], y[:0]), "minimum of 1 is required"),
    ],
)
def test_bad_data_get_a_sentence(cls, spoil, message):
    with pytest.raises(ValueError, match=message):
        cls().fit(*spoil(X, NAMES))


MISUSE = [
    ("C", -1.0),
    ("C", 0.0),
    ("tol", -1.0),
    ("kernel", "gaussian"),
    ("gamma", -1.0),
    ("nu", 1.0),
    ("lam", 0.0),
    ("max_iter", 0),
]


@every
def test_misuse_gets_a_sentence(cls):
    with pytest.raises(NotFittedError, match="not fitted"):
        cls().predict(X)
    with pytest.raises(ValueError, match="3 features, but .* expecting 4"):
        cls().fit(X, NAMES).predict(X[:, :3])
    for parameter, bad in MISUSE:
        if has(cls, parameter):
            with pytest.raises(ValueError, match=f"'{parameter}' parameter of {cls.__name__}"):
                cls(**{parameter: bad}).fit(X, NAMES)


@every
def test_an_indefinite_kernel_is_refused(cls):
    if not has(cls, "kernel"):
        pytest.skip("is linear")
    with pytest.raises(ValueError, match="not positive semidefinite"):
        cls(kernel="precomputed").fit(X @ X.T - 5 * np.eye(len(X)), NAMES)
    with pytest.raises(ValueError, match="square"):
        cls(kernel="precomputed").fit(X, NAMES)
