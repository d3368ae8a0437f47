"""Labels of rows that are left out: whatever is proved is what the optimum without the row says."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hostile import classifier_of, drawn, elsewhere, training_of
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression
from mcsvm_lit.core.certificates import roundoff, score_rounding
from mcsvm_lit.core.simplex import own_and_rest
from mcsvm_lit.core.solving import Goal, solve
from mcsvm_lit.core.training import gather
from mcsvm_lit.crammer_singer.classifier import STRATEGIES
from mcsvm_lit.crammer_singer.problem import CrammerSinger, score_radius
from mcsvm_lit.kernel_logistic.binary import Gram
from mcsvm_lit.kernel_logistic.multinomial import SoftmaxLogistic, softmax_score_bound
from mcsvm_lit.kernel_logistic.multinomial_solvers import softmax_strategies

FEW = np.r_[:5, 45:60, 95:115]
X, y = (a[FEW] for a in load_iris(return_X_y=True))
SOME = np.random.default_rng(0).uniform(0.2, 3, len(y))


def optimum_without(model, X, y, weight, i):
    """Scores of row i without it, and how far a difference of two can be from the optimum's."""
    kernel = model.kernel_
    given = gather(X, y, model.classes_, weight, model.class_weight, kernel, merge=False)
    here = np.flatnonzero(given.first == i)[0]
    others = np.delete(np.arange(len(given)), here)
    if isinstance(model, KernelLogisticRegression):
        return logistic_without(model, given, here, others)
    how = model.C, model.fit_intercept, model._table
    problem = CrammerSinger.of(given.part(others), *how)
    solution = solve(problem, Goal(1e-9), STRATEGIES)
    α = own_and_rest(solution.state.η, problem.y, problem.c)
    full = CrammerSinger.of(given, *how)
    size, c = full.sizes, solution.certificate
    errors = score_rounding(size[[here]], α, size[others], full.rounding).max()
    bound = score_radius(c.gap + c.rounding, size[here] ** 2, c.apart) * (1 + roundoff(12))
    return (full.matrix[here, others] @ α), bound + 2 * errors


def logistic_without(model, given, here, others):
    """The same for logistic regression; infinitely far where a class is left without examples."""
    part, K = given.part(others), given.n_classes
    c = model.C / (2 if K == 2 else 1) * part.weights
    if model.fit_intercept and not np.bincount(part.y, minlength=K).all():
        return np.zeros(K), np.inf
    problem = SoftmaxLogistic(Gram(part.kernel, part.X), part.y, c, K, model.fit_intercept)
    solution = solve(problem, Goal(1e-9, 5000), softmax_strategies("auto", True))
    α, b = problem.expansion(solution.state)
    full, certificate = Gram(given.kernel, given.X), solution.certificate
    largest = problem.gram.diagonal.max() if model.fit_intercept else 0.0
    gap, diagonal = certificate.gap + certificate.rounding, full.diagonal[here]
    bound = softmax_score_bound(gap, diagonal, largest, K, certificate.apart)
    row = given.kernel(given.X[[here]], part.X) if not given.precomputed else full.matrix[[here]]
    row = row[:, others] if given.precomputed else row
    return (row @ α + b)[0], bound + 1e-9 * (1 + np.abs(b).max() + np.abs(α).sum())


def compared(model, X, y, weight, rows):
    """How many of some rows are proved by both sides; fails where the two proofs contradict."""
    classes, y = np.unique(y, return_inverse=True)
    left = model.leave_one_out(X, classes[y], weight)
    X, both = model._check(X), 0
    for i in np.intersect1d(rows, np.flatnonzero(left.proved)):
        F, bound = optimum_without(model, X, y, weight, i)
        two = np.sort(F)[-2:]
        if two[1] - two[0] > bound:
            both += 1
            assert left.labels[i] == classes[F.argmax()], (i, F, bound)
    wrong = left.labels != classes[y]
    assert left.errors == ((wrong & left.proved).sum(), (wrong | ~left.proved).sum())
    return both, left


FITS = {
    "Gaussian": {"gamma": 0.5},
    "large C": {"C": 100.0},
    "small C": {"C": 0.02},
    "polynomial with a bias": {"kernel": "poly", "degree": 2, "coef0": 1.0, "fit_intercept": True},
    "linear": {"kernel": "linear"},
    "linear with a bias": {"kernel": "linear", "fit_intercept": True, "C": 5.0},
    "weighted classes": {"class_weight": "balanced", "C": 0.3},
    "costs": {"costs": "absolute", "gamma": 0.4},
    "on landmarks": {"rank": 5},
    "loosely": {"tol": 0.3},
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("weights", ["none", "some"])
def test_every_label_is_that_of_the_optimum_without_the_row(name, weights):
    w = None if weights == "none" else SOME
    model = CrammerSingerSVC(**FITS[name]).fit(X, y, w)
    both, left = compared(model, X, y, w, range(len(y)))
    assert left.proved.all() and both == len(y)


LOGISTIC = {
    "Gaussian": {"gamma": 0.5},
    "large C": {"C": 100.0},
    "small C": {"C": 0.02},
    "without intercepts": {"C": 3.0, "fit_intercept": False},
    "polynomial": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "linear": {"kernel": "linear", "C": 2.0},
    "linear without intercepts": {"kernel": "linear", "fit_intercept": False},
    "weighted classes": {"class_weight": "balanced", "C": 0.3},
    "on landmarks": {"rank": 5},
    "loosely": {"tol": 0.1},
}


@pytest.mark.parametrize("name", LOGISTIC)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_same_of_logistic_regression(name, classes):
    here = y >= 3 - classes
    w = SOME[here] if name in ("Gaussian", "without intercepts") else None
    model = KernelLogisticRegression(**LOGISTIC[name]).fit(X[here], y[here], w)
    both, left = compared(model, X[here], y[here], w, range(here.sum()))
    assert left.proved.all() and both >= 0.9 * here.sum()


def test_the_only_row_of_a_class_stays_open_with_intercepts():
    one = np.r_[y, 7]
    rows = np.r_[X, [[5.0, 5.0, 5.0, 5.0]]]
    left = KernelLogisticRegression().fit(rows, one).leave_one_out(rows, one)
    assert left.proved[:-1].all() and not left.proved[-1]
    left = KernelLogisticRegression(fit_intercept=False).fit(rows, one).leave_one_out(rows, one)
    assert left.proved.all() and left.labels[-1] != 7


@pytest.mark.parametrize("cls", [CrammerSingerSVC, KernelLogisticRegression])
def test_equal_rows_take_their_part_along_and_rows_of_no_weight_take_nothing(cls):
    take = np.r_[np.arange(40), np.arange(0, 40, 3), 7, 7]
    w = np.r_[np.ones(40), np.linspace(0, 2, 14), 0.0, 0.5]
    model = cls(C=3.0).fit(X[take], y[take], w)
    present = np.flatnonzero(w)
    both, left = compared(model, X[take], y[take], w, present)
    assert left.proved.all() and both == len(present)
    absent = np.flatnonzero(w == 0)
    assert (left.labels[absent] == model.predict(X[take][absent])).all()


@pytest.mark.parametrize("cls", [CrammerSingerSVC, KernelLogisticRegression])
def test_rows_may_be_sparse_and_kernels_precomputed(cls):
    model = cls(gamma=0.5).fit(X, y)
    dense = model.leave_one_out(X, y)
    rows = sparse.csr_array(X)
    of_sparse = cls(gamma=0.5).fit(rows, y).leave_one_out(rows, y)
    G, w = model.kernel_(X), np.r_[0.0, np.ones(len(y) - 1)]
    of_matrix = cls(kernel="precomputed").fit(G, y).leave_one_out(G, y)
    for other in (of_sparse, of_matrix):
        np.testing.assert_array_equal(other.labels, dense.labels)
        assert other.proved.all() and other.errors == dense.errors
    left = cls(kernel="precomputed").fit(G, y, w).leave_one_out(G, y, w)
    assert left.proved[1:].all() and not left.proved[0]


def test_names_of_classes_come_back():
    names = load_iris().target_names[y]
    left = CrammerSingerSVC().fit(X, names).leave_one_out(X, names)
    assert set(left.labels) == set(names)


@pytest.mark.parametrize("cls", [CrammerSingerSVC, KernelLogisticRegression])
def test_without_room_for_the_matrix_what_is_open_stays_open(cls):
    digits, labels = (a[:300] for a in load_digits(return_X_y=True))
    full = cls().fit(digits, labels).leave_one_out(digits, labels)
    tight = cls(cache_size=0.1, tol=1e-5).fit(digits, labels)
    left = tight.leave_one_out(digits, labels)
    assert full.proved.all() and 0.4 < left.proved.mean() < 1
    assert (left.labels == full.labels)[left.proved].all()
    assert left.errors[0] <= full.errors[0] <= left.errors[1]


def test_other_rows_and_a_hard_margin_are_refused():
    model = CrammerSingerSVC().fit(X, y)
    with pytest.raises(ValueError, match="not the rows and labels"):
        model.leave_one_out(X, y[::-1])
    with pytest.raises(ValueError, match="not the rows and labels"):
        model.leave_one_out(X[1:], y[1:])
    logistic = KernelLogisticRegression().fit(X, y)
    for wrong in (y[1:], y + 1):
        with pytest.raises(ValueError, match="not labels of the rows"):
            logistic.leave_one_out(X, wrong)
    hard = CrammerSingerSVC(C=np.inf, kernel="linear").fit(X[:15], y[:15])
    with pytest.raises(ValueError, match="finite C"):
        hard.leave_one_out(X[:15], y[:15])


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", ["CrammerSingerSVC", "KernelLogisticRegression"])
def test_nothing_is_proved_that_is_not_so_on_hostile_data(name, seed):
    case = replace(drawn(9_100_000_000 + seed), law="none", budget="default")
    model, training = classifier_of(name, case), training_of(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            training.fit(model)
        except ValueError:
            return  # data that are refused
        if np.isinf(model.C):
            return
        w = np.ones(len(training.y)) if training.w is None else training.w
        rows = np.flatnonzero(w > 0)[:3]
        compared(model, training.X, training.y, training.w, rows)


@pytest.mark.parametrize("seed", range(60))
def test_labels_proved_without_intercepts_are_those_of_a_better_fit(seed):
    case = replace(drawn(9_200_000_000 + seed), law="none", budget="default", tol=0.03, more=0)
    case = replace(case, kernel="rbf" if case.kernel == "precomputed" else case.kernel)
    training = training_of(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rough = training.fit(classifier_of("KernelLogisticRegression", case))
        except ValueError:
            return  # data that are refused
        kept = {} if isinstance(rough.kernel_.gamma, str) else {"gamma": rough.kernel_.gamma}
        better = training.fit(clone(rough).set_params(tol=1e-8, max_iter=3000, **kept))
        Z = np.vstack([points := elsewhere(case, training.X), points.mean(0) + points / 2])
        two = np.sort(better.decision_function(Z).reshape(len(Z), -1), axis=1)
        if len(better.classes_) == 2:
            two = np.c_[-np.abs(two) / 2, np.abs(two) / 2]
        sure = two[:, -1] - two[:, -2] > better.decision_bounds(Z)
        both = sure & rough.certified(Z)
        assert (rough.predict(Z) == better.predict(Z))[both].all()


@pytest.mark.parametrize("K", [3, 6])
def test_more_labels_are_proved_than_by_bounds_on_scores(K):
    rng = np.random.default_rng(K)
    centres = 1.5 * rng.normal(size=(K, 4))
    labels = rng.integers(0, K, 300)
    rows = centres[labels] + rng.normal(size=(300, 4))
    exact = KernelLogisticRegression(tol=1e-9).fit(rows[:150], labels[:150])
    for tol in (3e-2, 1e-3, 1e-4):
        model = KernelLogisticRegression(tol=tol).fit(rows[:150], labels[:150])
        two = np.sort(model.decision_function(rows), axis=1)[:, -2:]
        by_scores = two[:, 1] - two[:, 0] > model.decision_bounds(rows)
        proved = model.certified(rows)
        assert (proved >= by_scores).all()
        assert tol < 1e-2 or proved.sum() > by_scores.sum() + 10
        assert (model.predict(rows) == exact.predict(rows))[proved].all()
        again = pickle.loads(pickle.dumps(model))
        assert (again.certified(rows) == proved).all()
    with pytest.raises(ValueError):
        model.fit(rows[:150], labels[:10])
    assert (model.certified(rows) == proved).all()  # a fit that fails leaves it as it was
    model.fit(rows[150:], labels[150:])
    assert (
        model.certified(rows) == clone(model).fit(rows[150:], labels[150:]).certified(rows)
    ).all()


# -- sets of labels -------------------------------------------------------------------------------
OTHERS = load_iris().data[2::9]


def strangeness(F):
    """By how much the best other class beats each class, one comparison at a time."""
    K = len(F[0])
    return np.array([[max(f[r] for r in range(K) if r != k) - f[k] for k in range(K)] for f in F])


def counted(model, X, y, new):
    """How many rows look at least as strange as new ones: for certain, and possibly."""
    kernel, k, weights = model.kernel_, np.searchsorted(model.classes_, y), model.class_weight
    given = gather(X, k, model.classes_, None, weights, kernel, merge=False)
    sure, perhaps = np.ones((2, new.shape[0], given.n_classes), int)
    for i in range(len(given)):
        others = np.delete(np.arange(len(given)), i)
        how = model.C, model.fit_intercept, model._table
        problem = CrammerSinger.of(given.part(others), *how)
        solution = solve(problem, Goal(1e-10), STRATEGIES)
        α, c = own_and_rest(solution.state.η, problem.y, problem.c), solution.certificate
        at = [problem.kernel.between(Z, problem.X) @ α for Z in (given.X[[i]], new)]
        size = problem.kernel.sizes(given.X[[i]]), problem.kernel.sizes(new)
        off = score_radius(c.gap + c.rounding, (size[0] + size[1]) ** 2, c.apart)[:, None] + 1e-9
        lead = strangeness(at[0])[0, given.y[i]] - strangeness(at[1])
        sure += lead >= off
        perhaps += lead >= -off
    return sure / (len(given) + 1), perhaps / (len(given) + 1)


@pytest.mark.parametrize("name", FITS)
def test_sets_hold_what_brute_force_finds(name):
    model = CrammerSingerSVC(**FITS[name]).fit(X, y)
    sets, (sure, perhaps) = model.prediction_sets(X, y, OTHERS), counted(model, X, y, OTHERS)
    assert (sets.low <= perhaps).all() and (sets.high >= sure).all()
    narrow = sets.high - sets.low
    assert narrow.mean() < 0.1 and (sets.high > 1 / 41 + 1e-9).any()
    for alpha in (0.05, 0.1, 0.3):
        exact = sets.exact(alpha)
        assert exact.mean() > 0.7
        assert (sets.at(alpha) >= (sure > alpha)).all()
        assert (sets.at(alpha)[exact] <= (perhaps > alpha)[exact]).all()


def test_sets_of_sparse_rows_and_of_named_classes():
    names = load_iris().target_names[y]
    dense = CrammerSingerSVC(gamma=0.5).fit(X, names).prediction_sets(X, names, OTHERS)
    rows, new = sparse.csr_array(X), sparse.csr_array(OTHERS)
    of_sparse = CrammerSingerSVC(gamma=0.5).fit(rows, names).prediction_sets(rows, names, new)
    assert list(dense.classes) == sorted(set(names))
    for a, b in zip(dense[1:], of_sparse[1:]):
        assert abs(a - b).max() <= 2 / 41


@pytest.mark.parametrize("seed", range(40))
def test_sets_hold_what_brute_force_finds_on_hostile_data(seed):
    case = replace(drawn(9_300_000_000 + seed), law="none", budget="default", weights="none")
    case = replace(case, kernel="rbf" if case.kernel == "precomputed" else case.kernel)
    case = replace(case, n=min(case.n, 14), storage="dense")
    model, training = classifier_of("CrammerSingerSVC", case), training_of(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            training.fit(model)
        except ValueError:
            return  # data that are refused
        if np.isinf(model.C):
            return
        new = np.vstack([elsewhere(case, training.X), training.X[:3]])
        sets = model.prediction_sets(training.X, training.y, new)
        sure, perhaps = counted(model, training.X, training.y, new)
    assert (sets.low <= perhaps).all() and (sets.high >= sure).all()
