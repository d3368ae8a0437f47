"""The judge of hostile fits, judged: fifty broken packages, of which it has to see every one.

Each fault is planted into a classifier that is right. `tests/hostile.py` must complain about one of
the first cases drawn; without the fault it has nothing to say about the same cases.
"""

import warnings
from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
from hostile import drawn, judge
from sklearn.exceptions import ConvergenceWarning

from mcsvm_lit import (
    CrammerSingerSVC,
    KernelLogisticRegression,
    LabelRankingSVC,
    SVMProbabilityClassifier,
    TruncatedHingeSVC,
    TwinKSVC,
    TwinKSVCCV,
    TwinMarginSVC,
)
from mcsvm_lit.crammer_singer import classifier
from mcsvm_lit.twin_ksvc import path_in_lambda
from mcsvm_lit.twin_margin import planes

SEED, CASES = 31 * 10**9, 60
CLASSES = {
    cls.__name__: cls
    for cls in (
        CrammerSingerSVC,
        KernelLogisticRegression,
        LabelRankingSVC,
        SVMProbabilityClassifier,
        TruncatedHingeSVC,
        TwinKSVC,
        TwinKSVCCV,
        TwinMarginSVC,
    )
}
CLASSES["twin_path"] = path_in_lambda.TwinPath


# -- ways to break a classifier --------------------------------------------------------------------
def after_fit(change):
    """A fault that changes a fitted classifier."""

    def plant(cls, patch):
        fit = cls.fit

        @wraps(fit)  # whose signature says that there are weights
        def broken(self, *args, **weights):
            fit(self, *args, **weights)
            change(self)
            return self

        patch.setattr(cls, "fit", broken)

    return plant


def before_fit(change):
    """A fault that changes what is fitted: rows, labels and weights."""

    def plant(cls, patch):
        fit = cls.fit

        def broken(self, X, y, sample_weight=None):
            return fit(self, *change(self, X, y, sample_weight))

        patch.setattr(cls, "fit", broken)

    return plant


def answers(name, change):
    """A fault that changes what a method answers."""

    def plant(cls, patch):
        method = getattr(cls, name)
        patch.setattr(cls, name, lambda self, X, *more: change(self, method(self, X, *more), X))

    return plant


def times(name, factor):
    """A fitted attribute, multiplied."""

    def change(model):
        if getattr(model, name, None) is not None:
            setattr(model, name, getattr(model, name) * factor)

    return after_fit(change)


def certificate(**changes):
    """Another certificate; each change is a function of the true one."""

    def change(model):
        c = model.certificate_
        model.certificate_ = replace(c, **{name: f(c) for name, f in changes.items()})

    return after_fit(change)


def silent(cls, patch):
    fit = cls.fit

    @wraps(fit)
    def broken(self, *args, **weights):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return fit(self, *args, **weights)

    patch.setattr(cls, "fit", broken)


def noisy(cls, patch):
    fit = cls.fit

    @wraps(fit)
    def broken(self, *args, **weights):
        np.float64(1.0) / np.float64(0.0)
        return fit(self, *args, **weights)

    patch.setattr(cls, "fit", broken)


def forgetful(cls, patch):
    patch.setattr(
        cls, "__getstate__", lambda self: vars(self) | {"intercept_": self.intercept_ + 1}
    )


def swapped(model):
    model.classes_ = model.classes_[::-1].copy()


def stale(model):
    """Of some earlier fit."""
    for name in ("coef_", "dual_coef_"):
        if getattr(model, name, None) is not None:
            setattr(model, name, np.roll(getattr(model, name), 1, axis=0))


def first_heavier(self, X, y, w):
    w = np.ones(len(y)) if w is None else np.array(w, float)
    w[0] *= 1.5
    return X, y, w


def absent_count(self, X, y, w):
    return X, y, w if w is None else np.where(np.asarray(w) == 0, 1e-3, w)


def sparse_is_different(self, X, y, w):
    return (X * 1.001 if hasattr(X, "toarray") else X), y, w


def strings_are_sorted_otherwise(self, X, y, w):
    return X, (np.roll(y, 1) if getattr(y, "dtype", None) and y.dtype.kind == "U" else y), w


def shifted(model):
    model.intercept_ = model.intercept_ + 1e-5


def not_finite(model):
    model.dual_coef_ = model.dual_coef_ * np.nan


def too_many_steps(model):
    model.n_iter_ = 10**9


def raw(self, X, y, w):
    if hasattr(X, "toarray"):
        raise TypeError("sparse matrix length is ambiguous")
    return X, y, w


def dear(model, factor=1.0 + 1e-6):
    """A stale weight of the loss: the parameter has another value than the fit had."""
    model.C *= factor


def other_pairs(model):
    """Rolled, as if pairs came in another order; of two classes, near and far exchanged."""
    model.planes_ = np.roll(model.planes_, 1, axis=0 if len(model.planes_) > 1 else 1)


def turned(model):
    for name in ("coef_", "dual_coef_"):
        if getattr(model, name, None) is not None:
            setattr(model, name, -getattr(model, name))


def beginner(cls, patch):
    """A warm start that ends anywhere."""
    fit = cls.fit

    @wraps(fit)
    def broken(self, *args, **weights):
        begun = hasattr(self, "classes_") and self.warm_start
        fit(self, *args, **weights)
        if begun:
            c = self.certificate_
            self.certificate_ = replace(c, primal=2 * c.primal + 1)
        return self

    patch.setattr(cls, "fit", broken)


def fearless(cls, patch):
    """The radius is forgotten."""
    fit = cls.fit

    @wraps(fit)
    def broken(self, *args, **weights):
        radius, self.radius = self.radius, 0.0
        fit(self, *args, **weights)
        self.radius = radius
        return self

    patch.setattr(cls, "fit", broken)


def small_images(cls, patch):
    """Images of balls are a hundredth too small, for polynomial kernels only."""
    ours = planes.kernel_radius
    patch.setattr(
        planes, "kernel_radius", lambda k, *given: ours(k, *given) * (1 - 0.01 * (k.name == "poly"))
    )


def others_rest(cls, patch):
    """The others' images do not move, for polynomial kernels only."""
    ours = planes.ball_problem

    def broken(Q, r, R, mean, *more):
        return ours(Q, r, R, mean if np.ptp(R) == 0 else 0.0, *more)

    patch.setattr(planes, "ball_problem", broken)


def another_ridge(cls, patch):
    """The program of a path has another ridge than was asked for, and so have its own residuals."""
    ours = path_in_lambda.twin_qp

    def broken(A, B, C, epsilon, ridge, *costs):
        return ours(A, B, C, epsilon, 1.001 * ridge, *costs)

    patch.setattr(path_in_lambda, "twin_qp", broken)


def one_cost(cls, patch):
    """A slack of the rest costs one, whatever was asked for."""
    ours = path_in_lambda.twin_qp
    patch.setattr(path_in_lambda, "twin_qp", lambda *given: ours(*given[:-1], 1.0))


def one_event_late(cls, patch):
    """A path is read on the piece before the right one."""
    ours = cls.events_before
    patch.setattr(cls, "events_before", lambda self, λ: np.maximum(ours(self, λ) - 1, 0))


def scaled_points(**factors):
    """Points of a path, some of their parts multiplied."""

    def plant(cls, patch):
        ours = cls.at

        def broken(self, value):
            p = ours(self, value)
            return p._replace(**{name: getattr(p, name) * f for name, f in factors.items()})

        patch.setattr(cls, "at", broken)

    return plant


def all_as_they_are(model, left, X):
    """Each row that is left out gets the label that it has with it, and this counts as proved."""
    return left._replace(labels=model.predict(X), proved=np.ones(len(left.proved), bool))


def miscounted(model, left, X):
    return left._replace(errors=(left.errors[0], left.errors[1] + 1))


def longer_proof(cls, patch):
    """One label more is said to be proved than the file proves."""
    prove = cls.prove

    def broken(self, *args):
        gap, proved = prove(self, *args)
        return gap, np.r_[True, proved[:-1]] | proved

    patch.setattr(cls, "prove", broken)


def smaller_gap(cls, patch):
    """The proof claims a gap that its numbers do not have."""
    write = classifier.proof_of

    def broken(*args):
        proof, text = write(*args)
        return proof | dict(gap=str(float(proof["gap"]) / 2)), text

    patch.setattr(classifier, "proof_of", broken)


CS, KLR, TRUNCATED = "CrammerSingerSVC", "KernelLogisticRegression", "TruncatedHingeSVC"
MARGIN, RANKING = "TwinMarginSVC", "LabelRankingSVC"
PATH = "twin_path"
PLANES, CHOSEN, MANY = "TwinKSVC", "TwinKSVCCV", "SVMProbabilityClassifier"
FAULTS = {
    "predict is always the first class": (
        CS,
        answers("predict", lambda m, p, X: np.full(len(p), m.classes_[0])),
    ),
    "predict is the worst class": (
        TRUNCATED,
        answers("predict", lambda m, p, X: m.classes_[::-1][np.searchsorted(m.classes_, p)]),
    ),
    "the decision function has the wrong sign": (
        CS,
        answers("decision_function", lambda m, F, X: -F),
    ),
    "scores are a little off": (KLR, answers("decision_function", lambda m, F, X: F * (1 + 1e-6))),
    "far points have other scores": (
        CS,
        answers("decision_function", lambda m, F, X: np.clip(F, -3, 3)),
    ),
    "rankings are a little off": (
        RANKING,
        answers("decision_function", lambda m, F, X: F + 1e-5),
    ),
    "classes are swapped": (CS, after_fit(swapped)),
    "classes of logistic regression are swapped": (KLR, after_fit(swapped)),
    "coefficients are those of another fit": (CS, after_fit(stale)),
    "coefficients of a truncated loss are those of another fit": (TRUNCATED, after_fit(stale)),
    "dual coefficients are a millionth too large": (CS, times("dual_coef_", 1 + 1e-6)),
    "weights are a millionth too large": (KLR, times("coef_", 1 + 1e-6)),
    "planes are a millionth too long": (MARGIN, times("coef_", 1 + 1e-6)),
    "robust planes fear nothing": (MARGIN, fearless),
    "robust planes have other lengths": (MARGIN, times("norms_", 1 + 1e-6)),
    "images of balls are too small": (MARGIN, small_images),
    "the images of other classes do not move": (MARGIN, others_rest),
    "thresholds are off": (MARGIN, after_fit(shifted)),
    "intercepts are off": (KLR, after_fit(shifted)),
    "coefficients are not finite": (CS, after_fit(not_finite)),
    "the primal value is too low": (CS, certificate(primal=lambda c: c.primal * (1 - 1e-9))),
    "the dual value is too high": (KLR, certificate(dual=lambda c: c.dual + 1e-9 * abs(c.dual))),
    "the dual value is that of the primal": (CS, certificate(dual=lambda c: c.primal)),
    "rounding is left out": (CS, certificate(rounding=lambda c: 0.0)),
    "rounding excuses everything": (CS, certificate(rounding=lambda c: 0.4 * c.tol * c.primal)),
    "every fit converges": (CS, certificate(tol=lambda c: np.inf)),
    "nobody is warned": (KLR, silent),
    "more steps than allowed": (CS, after_fit(too_many_steps)),
    "probabilities do not add up": (
        KLR,
        answers("predict_proba", lambda m, P, X: P * (1 + 1e-3)),
    ),
    "the largest probability is another class's": (
        KLR,
        answers("predict_proba", lambda m, P, X: P[:, ::-1]),
    ),
    "bounds of scores are too small": (
        CS,
        answers("decision_bounds", lambda m, bounds, X: bounds / 30),
    ),
    "bounds of log-odds are too small": (
        KLR,
        answers("decision_bounds", lambda m, bounds, X: bounds / 30),
    ),
    "rows that are left out keep their labels": (CS, answers("leave_one_out", all_as_they_are)),
    "rows left out of logistic regression keep theirs": (
        KLR,
        answers("leave_one_out", all_as_they_are),
    ),
    "errors of rows that are left out are miscounted": (KLR, answers("leave_one_out", miscounted)),
    "labels are said to be safe twice as far": (
        CS,
        answers("certified_radius", lambda m, r, X: 2 * r),
    ),
    "labels of logistic regression are safe twice as far": (
        KLR,
        answers("certified_radius", lambda m, r, X: 2 * r),
    ),
    "a proof has fewer labels than it says": (CS, longer_proof),
    "a proof claims half of its gap": (CS, smaller_gap),
    "the order of rows matters": (CS, before_fit(first_heavier)),
    "rows of weight zero count": (KLR, before_fit(absent_count)),
    "sparse rows are others": (CS, before_fit(sparse_is_different)),
    "sparse rows raise something raw": (CS, before_fit(raw)),
    "names of labels matter": (CS, before_fit(strings_are_sorted_otherwise)),
    "NumPy complains": (CS, noisy),
    "a pickle is another model": (CS, forgetful),
    "C is another than the fit's": (KLR, after_fit(dear)),
    "warm starts end worse": (CS, beginner),
    "planes of pairs are a millionth too long": (PLANES, times("planes_", 1 + 1e-6)),
    "planes of pairs are those of other pairs": (PLANES, after_fit(other_pairs)),
    "lengths of planes are off": (PLANES, times("norms_", 1 + 1e-6)),
    "the lower bound of a plane is too high": (
        PLANES,
        certificate(dual=lambda c: c.dual + 1e-3 * abs(c.primal)),
    ),
    "chosen planes belong to another λ": (CHOSEN, times("lam_", 1.001)),
    "the objective of chosen planes is too low": (
        CHOSEN,
        certificate(primal=lambda c: c.primal * (1 - 1e-9)),
    ),
    "classifiers under weights have the wrong sign": (MANY, after_fit(turned)),
    "the objective under weights is too low": (
        MANY,
        certificate(primal=lambda c: c.primal * (1 - 1e-9)),
    ),
    "a path belongs to another ridge": (PATH, another_ridge),
    "a path forgets what the rest costs": (PATH, one_cost),
    "a path is read one event late": (PATH, one_event_late),
    "planes of a path are a millionth too long": (PATH, scaled_points(w=1 + 1e-6, b=1 + 1e-6)),
    "multipliers of a path are a millionth too small": (PATH, scaled_points(z=1 - 1e-6)),
    "decisions of a path are off": (
        PATH,
        answers("decision", lambda path, f, X: f * (1 + 1e-6)),
    ),
    "probabilities are beyond their bounds": (
        MANY,
        answers("probability_bounds", lambda m, bounds, X: (bounds[1], bounds[0] + 1e-3)),
    ),
}


SLOW = MANY, PLANES  # to judge; their faults are seen in few cases


def complaints(name, cases=CASES):
    """Of the first case that has any, and which case it is."""
    for i in range(cases):
        found = judge(name, drawn(SEED + i))
        if found:
            return found, i
    return [], cases


@pytest.mark.parametrize("name", CLASSES)
def test_without_a_fault_there_is_nothing_to_say(name):
    cases = CASES // 4 if name in SLOW else CASES
    assert complaints(name, cases) == ([], cases)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_seen(fault, monkeypatch):
    name, plant = FAULTS[fault]
    plant(CLASSES[name], monkeypatch)
    found, _ = complaints(name)
    assert found, fault


def test_there_are_fifty_faults():
    assert len(FAULTS) >= 50
