"""What the public classifiers and paths answer, compared with answers recorded earlier.

Each case fits one classifier, or follows one path, on a small data set and compares what comes
out with `recorded/behaviour.json`. Every recorded number stands there with the distance that a
correct answer may have from it. For objectives that is the duality gap asked for; for scores it
is what strong convexity makes of this gap. Rows may be reordered or merged inside a classifier,
and another processor may round differently, without a failure.

`python tests/test_behaviour.py --record` writes the file again. Do so only when an answer is
meant to change.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

RECORDED = Path(__file__).parent / "recorded" / "behaviour.json"
KEPT_ROWS = 6  # rows whose scores are recorded; labels are recorded for all held-out rows


# Data


@dataclass(frozen=True, eq=False)
class Data:
    """Rows to learn from and rows to predict, with what a case may ask for beside them."""

    X: np.ndarray
    y: np.ndarray
    Z: np.ndarray
    weight: np.ndarray  # of each training row, zero for some
    radius: np.ndarray  # by which each training row may move
    fold: np.ndarray  # in which each training row is held out


def make_data(X, y, held_out):
    """Split the rows; weights, radii and folds follow from their numbers."""
    X, y, Z = X[~held_out], y[~held_out], X[held_out]
    number = np.arange(len(y))
    weight = (number % 4) / 2
    radius = 0.02 * (1 + number % 3)
    return Data(X, y, Z, weight, radius, number * 7 % 11 % 3)


def every_third(X, y):
    """Hold every third row out."""
    return make_data(X, y, np.arange(len(y)) % 3 == 2)


def standardised(X):
    """Columns of mean 0 and variance 1."""
    return (X - X.mean(0)) / X.std(0)


def iris():
    """Irises, as they are."""
    return every_third(*load_iris(return_X_y=True))


def iris_names():
    """Irises whose labels are words."""
    X, y = load_iris(return_X_y=True)
    return every_third(X, load_iris().target_names[y])


def wine():
    """Wines in standard units."""
    X, y = load_wine(return_X_y=True)
    return every_third(standardised(X), y)


def wine_two():
    """The two wines that are most alike."""
    data = wine()
    two = data.y < 2
    return Data(data.X[two], data.y[two], data.Z, *(v[two] for v in weights_of(data)))


def weights_of(data):
    """What goes along with each training row."""
    return data.weight, data.radius, data.fold


def digits():
    """Some handwritten digits, scaled to the unit interval."""
    X, y = load_digits(return_X_y=True)
    return every_third(X[:360] / 16, y[:360])


def blobs(n, dimension, classes, spread, seed):
    """Gaussian clouds about corners of a cube, of unequal sizes."""
    random = np.random.RandomState(seed)
    centres = random.normal(size=(classes, dimension))
    y = np.minimum(random.randint(classes + 1, size=n), classes - 1)
    X = centres[y] + spread * random.normal(size=(n, dimension))
    return every_third(X, y)


def two_clouds():
    """Two clouds that overlap."""
    return blobs(240, 3, 2, 0.8, seed=1)


def three_clouds():
    """Three clouds that overlap."""
    return blobs(210, 4, 3, 0.8, seed=2)


def noisy_clouds():
    """Three clouds, far apart, where every ninth label is wrong."""
    data = blobs(180, 2, 3, 0.4, seed=3)
    wrong = np.arange(len(data.y)) % 9 == 0
    return replace(data, y=np.where(wrong, (data.y + 1) % 3, data.y))


# Cases


@dataclass(frozen=True)
class Case:
    """One fit or path: what is called, on which data, and how."""

    name: str
    call: str  # a public name of the package
    data: Callable
    settings: dict = field(default_factory=dict)
    form: str = "dense"  # or "sparse", or "precomputed" from the kernel in `gram`
    gram: dict = field(default_factory=dict)
    weighted: bool = False
    radii: bool = False  # a radius for each row
    folds: bool = False  # cross-validation on folds named row by row


def cs(name, data, form="dense", gram=None, weighted=False, **settings):
    """A case of `CrammerSingerSVC`."""
    settings = {"tol": 1e-10, **settings}
    return Case(f"cs {name}", "CrammerSingerSVC", data, settings, form, gram or {}, weighted)


def klr(name, data, form="dense", gram=None, weighted=False, **settings):
    """A case of `KernelLogisticRegression`."""
    call, settings = "KernelLogisticRegression", {"tol": 1e-11, **settings}
    return Case(f"klr {name}", call, data, settings, form, gram or {}, weighted)


def margin(name, data, form="dense", gram=None, weighted=False, radii=False, **settings):
    """A case of `TwinMarginSVC`."""
    call, settings = "TwinMarginSVC", {"tol": 1e-11, **settings}
    return Case(f"twin margin {name}", call, data, settings, form, gram or {}, weighted, radii)


def ksvc(name, data, form="dense", gram=None, weighted=False, **settings):
    """A case of `TwinKSVC`."""
    return Case(f"twin ksvc {name}", "TwinKSVC", data, settings, form, gram or {}, weighted)


def truncated(name, data, form="dense", gram=None, weighted=False, **settings):
    """A case of `TruncatedHingeSVC`."""
    settings = {"tol": 1e-9, **settings}
    call = "TruncatedHingeSVC"
    return Case(f"truncated {name}", call, data, settings, form, gram or {}, weighted)


def shares(name, data, form="dense", gram=None, weighted=False, folds=False, **settings):
    """A case of `SVMProbabilityClassifier`."""
    plain = {"tol": 1e-8, "n_weights": 64, "scheme": "gumbel", "calibrate": False}
    call, settings = "SVMProbabilityClassifier", {**plain, **settings}
    rest = form, gram or {}, weighted, False, folds
    return Case(f"probability {name}", call, data, settings, *rest)


def searched(name, call, data, form="dense", gram=None, **settings):
    """A case of a classifier that chooses its parameters on folds."""
    return Case(name, call, data, settings, form, gram or {}, folds=True)


RBF = {"kernel": "rbf", "gamma": 0.3}
POLY = {"kernel": "poly", "degree": 2, "gamma": 0.2, "coef0": 1.0}
LINEAR = {"kernel": "linear"}
GIVEN = {"kernel": "precomputed"}
UNEVEN = {0: 1.0, 1: 2.5, 2: 0.5}

CASES = [
    cs("rbf, scale", iris, C=10, kernel="rbf"),
    cs("rbf, ten classes", digits, C=0.5, kernel="rbf", gamma=0.05),
    cs("rbf, labels are words", iris_names, C=3, **RBF),
    cs("linear", wine, C=0.01, **LINEAR),
    cs("linear, ten classes, intercept", digits, C=0.1, fit_intercept=True, **LINEAR),
    cs("linear, overlap, balanced", three_clouds, C=2, class_weight="balanced", **LINEAR),
    cs("linear, sparse, weighted", digits, "sparse", weighted=True, C=0.1, **LINEAR),
    cs("poly, intercept", wine, C=0.005, fit_intercept=True, **POLY),
    cs("rbf, sparse, weighted", three_clouds, "sparse", weighted=True, C=3, **RBF),
    cs(
        "precomputed, weights of classes",
        three_clouds,
        "precomputed",
        RBF,
        C=0.5,
        class_weight=UNEVEN,
        **GIVEN,
    ),
    cs("rbf, two classes", two_clouds, C=5, **RBF),
    klr("rbf, two classes, smo", two_clouds, C=5, solver="smo", **RBF),
    klr("rbf, two classes, newton", two_clouds, C=5, solver="newton", **RBF),
    klr("linear, two classes", wine_two, C=2, **LINEAR),
    klr("poly, two classes, no intercept", two_clouds, C=0.5, fit_intercept=False, **POLY),
    klr(
        "linear, two classes, sparse, weighted", two_clouds, "sparse", weighted=True, C=3, **LINEAR
    ),
    klr(
        "precomputed, two classes, balanced",
        two_clouds,
        "precomputed",
        RBF,
        C=2,
        class_weight="balanced",
        **GIVEN,
    ),
    klr("rbf, scale, smo", iris, C=10, solver="smo", kernel="rbf"),
    klr("rbf, newton", three_clouds, C=4, solver="newton", **RBF),
    klr("linear, ten classes", digits, C=0.5, **LINEAR),
    klr("linear, no intercept, weighted", wine, weighted=True, C=1, fit_intercept=False, **LINEAR),
    klr("poly, sparse, weights of classes", wine, "sparse", C=0.3, class_weight=UNEVEN, **POLY),
    klr("precomputed, words", iris_names, "precomputed", RBF, C=2, **GIVEN),
    margin("linear, distance", iris, nu=0.5),
    margin("linear, signed, weighted", wine, weighted=True, nu=0.3, decision="signed"),
    margin("linear, sparse, vote", three_clouds, "sparse", nu=0.4, decision="vote"),
    margin("rbf, scale, signed", wine, nu=0.2, kernel="rbf", decision="signed"),
    margin("poly, vote", iris, nu=0.35, decision="vote", **POLY),
    margin("precomputed, weighted", three_clouds, "precomputed", RBF, True, nu=0.6, **GIVEN),
    margin("robust, box", iris, nu=0.3, radius=0.05, norm=np.inf),
    margin("robust, ball", wine, nu=0.4, radius=0.1, norm=2),
    margin("robust, diamond, own radii", iris, radii=True, nu=0.5, norm=1),
    margin("robust, p of 3", iris, nu=0.4, radius=0.03, norm=3),
    margin("robust, rbf", wine, nu=0.5, radius=0.05, norm=2, kernel="rbf", gamma=0.1),
    margin("robust, poly, box, own radii", iris, radii=True, nu=0.4, norm=np.inf, **POLY),
    searched("crammer singer cv, linear", "CrammerSingerSVCCV", wine, **LINEAR),
    searched("crammer singer cv, rbf", "CrammerSingerSVCCV", iris, kernel="rbf", gamma=[0.1, 0.5]),
    searched("twin margin cv, linear", "TwinMarginSVCCV", wine),
    searched("twin margin cv, rbf", "TwinMarginSVCCV", iris, kernel="rbf", gamma=[0.1, 0.5]),
    searched(
        "twin margin cv, poly, grid",
        "TwinMarginSVCCV",
        three_clouds,
        nu=[0.2, 0.35, 0.5],
        decision="signed",
        **POLY,
    ),
    ksvc("linear, nearest", wine, lam=[200.0, 50.0]),
    ksvc("linear, paper, weighted", three_clouds, weighted=True, lam=[0.7, 1.3], decision="paper"),
    ksvc(
        "linear, threshold, λ by pair",
        three_clouds,
        lam=[[0.5, 0.3], [1.0, 0.3], [2.0, 0.3]],
        epsilon=0.4,
        ridge=1e-3,
        decision="threshold",
    ),
    ksvc("linear, two classes, sparse", two_clouds, "sparse", lam=[0.4, 0.9]),
    ksvc(
        "rbf, weights of classes",
        three_clouds,
        lam=[2.0, 4.0],
        ridge=1e-2,
        class_weight=UNEVEN,
        **RBF,
    ),
    ksvc(
        "precomputed, no ε",
        three_clouds,
        "precomputed",
        RBF,
        lam=3.0,
        epsilon=0.0,
        ridge=1e-2,
        **GIVEN,
    ),
    searched("twin ksvc cv, linear", "TwinKSVCCV", iris),
    searched(
        "twin ksvc cv, rbf",
        "TwinKSVCCV",
        three_clouds,
        kernel="rbf",
        gamma=0.3,
        ridge=1e-1,
        epsilon=0.3,
        decision="paper",
    ),
    truncated("rbf", noisy_clouds, C=5, **RBF),
    truncated("linear", noisy_clouds, C=5, **LINEAR),
    truncated("linear, convex", wine, C=0.02, truncation=None, **LINEAR),
    truncated(
        "linear, sparse, weighted",
        noisy_clouds,
        "sparse",
        weighted=True,
        C=2,
        truncation=-0.3,
        **LINEAR,
    ),
    truncated("rbf, logistic", noisy_clouds, C=2, loss="logistic", **RBF),
    truncated(
        "linear, exponential, weights of classes",
        three_clouds,
        C=0.5,
        loss="exponential",
        truncation=-0.4,
        class_weight=UNEVEN,
        **LINEAR,
    ),
    truncated(
        "precomputed, at zero", three_clouds, "precomputed", RBF, C=3, truncation=0.0, **GIVEN
    ),
    shares("rbf, gumbel", iris, C=20 / 3, kernel="rbf", gamma=0.2),
    shares(
        "linear, gumbel, convex, weighted", wine, weighted=True, C=5 / 3, truncation=None, **LINEAR
    ),
    shares("linear, indirect", iris, C=10, scheme="indirect", grid=0.1, **LINEAR),
    shares(
        "linear, direct",
        noisy_clouds,
        C=10,
        scheme="direct",
        grid=0.05,
        **LINEAR,
    ),
    shares("rbf, pairwise, temperature", iris, scheme="pairwise", calibrate=True, **RBF),
    shares("linear, one against the rest", three_clouds, C=3, scheme="one-vs-rest", **LINEAR),
    shares("rbf, pairwise", iris, C=10, scheme="pairwise", **RBF),
    shares(
        "linear, logistic, sparse",
        three_clouds,
        "sparse",
        C=1,
        loss="logistic",
        **LINEAR,
    ),
    shares(
        "precomputed, two classes",
        two_clouds,
        "precomputed",
        RBF,
        C=6,
        **GIVEN,
    ),
    shares(
        "linear, folds and temperature",
        iris,
        folds=True,
        C=1,
        truncation=None,
        calibrate=True,
        n_weights=16,
        **LINEAR,
    ),
    Case("path in λ, three groups", "twin_path", three_clouds, {"epsilon": 0.25, "ridge": 1e-3}),
    Case("path in λ, two groups", "twin_path", wine_two, {"ridge": 1e-2, "kB": 1.5}),
    Case("path in ε of twin planes", "epsilon_path", three_clouds, {"lam": 0.8, "ridge": 1e-3}),
    Case("path in ν, linear", "nu_path", wine, gram=LINEAR),
    Case("path in ν, rbf", "nu_path", iris, gram=RBF),
    Case("path in radius, diamond", "robust_path", three_clouds, {"r": 0.4, "p": 1}),
    Case("path in radius, box", "robust_path", wine, {"r": 0.3, "p": np.inf}),
    Case("path in π", "pi_path", three_clouds, {"C": 2.0}),
    Case("regions of π", "pi_regions", three_clouds, {"C": 2.0}),
    Case("ranking rbf", "LabelRankingSVC", three_clouds, {"C": 3, "tol": 1e-10, **RBF}),
]


# From a case to a fitted classifier


def public(name):
    """A public name of the package, looked up when it is needed."""
    import mcsvm_lit

    return getattr(mcsvm_lit, name)


def gram_matrix(parameters, A, B):
    """The kernel of `parameters` between the rows of A and of B."""
    parameters = dict(parameters)
    kernels = {"linear": linear_kernel, "poly": polynomial_kernel, "rbf": rbf_kernel}
    return kernels[parameters.pop("kernel")](A, B, **parameters)


def shaped(case, data):
    """Training rows and held-out rows in the form that the case asks for."""
    if case.form == "sparse":
        return sparse.csr_matrix(data.X), sparse.csr_matrix(data.Z)
    if case.form == "precomputed":
        return gram_matrix(case.gram, data.X, data.X), gram_matrix(case.gram, data.Z, data.X)
    return data.X, data.Z


def splits(data):
    """Folds as pairs of training rows and held-out rows."""
    folds = np.unique(data.fold)
    return [(np.flatnonzero(data.fold != k), np.flatnonzero(data.fold == k)) for k in folds]


def fitted(case, data):
    """The fitted classifier of a case, and the rows to predict; it must have converged."""
    X, Z = shaped(case, data)
    settings = dict(case.settings)
    if case.folds:
        settings["cv"] = splits(data)
    extra = {"sample_weight": data.weight} if case.weighted else {}
    if case.radii:
        extra["radius"] = data.radius
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return public(case.call)(**settings).fit(X, data.y, **extra), Z


def reach(case, data):
    """The largest ‖φ(x)‖ of any row in the space of the kernel."""
    rows = np.concatenate([data.X, data.Z])
    kernel = case.gram or {"kernel": "linear", **case.settings}
    if kernel["kernel"] == "rbf":
        return 1.0
    length = np.sqrt((rows**2).sum(1).max())
    if kernel["kernel"] == "linear":
        return length
    return (kernel["gamma"] * length**2 + kernel["coef0"]) ** (kernel["degree"] / 2)


# Facts: values, and how far from them a correct answer may be


def fact(values, within):
    """Numbers and their tolerance: one for all, or one for each."""
    values, within = np.asarray(values, float), np.asarray(within, float)
    return {"values": values.tolist(), "within": within.tolist()}


def exactly(values):
    """Labels, counts and answers to yes-or-no questions."""
    return {"exactly": np.asarray(values).tolist()}


def near(values, relative=1e-7):
    """Numbers that are exact but for rounding: a tolerance relative to the largest."""
    values = np.asarray(values, float)
    return fact(values, relative * max(np.abs(values).max(initial=0.0), 1e-6))


def gap_allowed(certificate):
    """The duality gap that the tolerance asked for leaves room for."""
    size = max(abs(certificate.primal), abs(certificate.dual), 1e-6 * certificate.unit)
    return certificate.tol * size


def objectives(certificate):
    """Both values; each lies between the optimum and the optimum plus or minus the gap."""
    gap = 1.01 * gap_allowed(certificate)
    values = {"primal": certificate.primal, "dual": certificate.dual}
    found = {name: fact(value, gap) for name, value in values.items()}
    return found | {"converged": exactly(bool(certificate.converged))}


def leads(scores):
    """By how much the winner of each row is ahead."""
    if scores.ndim == 1:
        return np.abs(scores)
    top = np.sort(scores, axis=1)
    return top[:, -1] - top[:, -2]


def answers(m, Z, scores, within):
    """Scores of some rows, and the labels of all rows where the scores leave no doubt."""
    sure = leads(scores) > 2 * within
    assert sure.mean() > 0.8, "too few labels are beyond doubt"
    labels = np.where(sure, m.predict(Z).astype(str), "?")
    return {
        "classes": exactly(m.classes_),
        "labels": exactly(labels),
        "scores": fact(scores[:KEPT_ROWS], within),
    }


def score_noise(case, data, certificate):
    """How far scores of two solutions within the gap can be apart.

    The objective is strongly convex in w with modulus 1, so each is within √(2 gap) of the
    optimum; a difference of two scores has a factor √2 more.
    """
    return 4 * np.sqrt(gap_allowed(certificate)) * reach(case, data)


def measure_cs(case, data):
    """Objectives, answers, and the slacks that point at doubtful labels."""
    m, Z = fitted(case, data)
    noise = score_noise(case, data, m.certificate_) * (1 + m.fit_intercept)
    slacks = np.sort(m.suspects().slack)[::-1][:5]
    found = {
        "slacks": fact(slacks, noise),
        "total slack": fact(m.slack_.sum(), noise * len(data.y)),
    }
    return objectives(m.certificate_) | answers(m, Z, m.decision_function(Z), noise) | found


def measure_klr(case, data):
    """Objectives, answers and probabilities; a free intercept doubles the noise."""
    m, Z = fitted(case, data)
    noise = 2 * score_noise(case, data, m.certificate_)
    found = {"probabilities": fact(m.predict_proba(Z[:KEPT_ROWS]), noise / 2)}
    return objectives(m.certificate_) | answers(m, Z, m.decision_function(Z), noise) | found


def plane_facts(case, data, m, Z, tol):
    """Objectives, norms and distances of one plane for each class.

    The optimal value is -‖w‖²/2, so that a relative gap bounds the relative error of w.
    """
    planes = [m.certificates_[label] for label in m.classes_.tolist()]
    gaps = np.array([gap_allowed(replace(c, tol=tol)) for c in planes])
    relative = 4 * np.sqrt(tol)
    scale = max(1.0, np.abs(m.distances(Z)).max(), reach(case, data))
    found = {
        "primal": fact([c.primal for c in planes], 1.01 * gaps),
        "dual": fact([c.dual for c in planes], 1.01 * gaps),
        "converged": exactly([bool(c.converged) for c in planes]),
        "norms": fact(m.norms_, relative * m.norms_),
        "distances": fact(m.distances(Z)[:KEPT_ROWS], relative * scale),
    }
    return found | answers(m, Z, m.decision_function(Z), 2 * relative * scale)


def measure_margin(case, data):
    """Everything about the planes."""
    m, Z = fitted(case, data)
    return plane_facts(case, data, m, Z, m.tol)


def measure_singer_cv(case, data):
    """What was chosen, and the classifier that it gives."""
    m, Z = fitted(case, data)
    return {
        "C": near(m.C_, 1e-6),
        "gamma": near(m.kernel_.gamma) if case.settings.get("kernel") == "rbf" else exactly("none"),
        "best score": near(m.best_score_),
        "best scores": near(m.cv_results_["best_score"]),
        "steps of the curve": near(m.curve().finite),
        "converged": exactly(bool(m.certificate_.converged)),
        "labels": exactly(m.predict(Z)),
    }


def measure_margin_cv(case, data):
    """What was chosen, and the planes that it gives; these are exact but for rounding."""
    m, Z = fitted(case, data)
    rows = m.cv_results_
    found = {
        "nu": near([m.nu_, *m.nu_interval_]),
        "decision": exactly(m.decision_),
        "gamma": near(m.kernel_.gamma) if case.settings.get("kernel") == "rbf" else exactly("none"),
        "best score": near(m.best_score_),
        "best scores": near(rows["best_score"]),
        "intervals": near([rows["nu_low"], rows["nu_high"]]),
    }
    return found | plane_facts(case, data, m, Z, 1e-9)


def vote_facts(case, m, Z):
    """Planes, but for the coordinates that a kernel's features have, and what they answer."""
    planes = m.planes_ if case.settings.get("kernel", "linear") == "linear" else m.planes_[..., -1]
    found = {
        "pairs": exactly(m.pairs_),
        "planes": near(planes, 1e-6),
        "norms": near(m.norms_, 1e-6),
        "converged": exactly(bool(m.certificate_.converged)),
    }
    return found | answers(m, Z, m.decision_function(Z), 1e-6)


def measure_ksvc(case, data):
    """The planes of all pairs."""
    return vote_facts(case, *fitted(case, data))


def measure_ksvc_cv(case, data):
    """What was chosen, how the search went, and the planes that it gives."""
    m, Z = fitted(case, data)
    found = {
        "lam": fact(m.lam_, 1e-6 * m.lam_),
        "lam of pairs alone": fact(m.cv_results_["lam_alone"], 1e-6 * m.cv_results_["lam_alone"]),
        "scores of sweeps": near(m.cv_results_["scores"]),
        "best score": near(m.best_score_),
        "fewest errors": exactly([int(s.errors.min()) for s in m.cv_results_["surfaces"]]),
    }
    return found | vote_facts(case, m, Z)


def measure_truncated(case, data):
    """Objectives before, and at the end of, the descent, with the last convex problem's."""
    m, Z = fitted(case, data)
    gap = gap_allowed(m.certificate_)
    noise = 2 * score_noise(case, data, m.certificate_)
    path = m.objective_path_[[0, -1]]
    found = {
        "objective": fact(path, 2 * gap + 2e-9 * path if m.loss == "hinge" else 1e-5 * path),
        "truncation": near(m.truncation_) if np.isfinite(m.truncation_) else exactly("none"),
        "descended": exactly(bool(m.n_dca_iter_ > 0)),
    }
    return objectives(m.certificate_) | answers(m, Z, m.decision_function(Z), noise) | found


def half_norms(case, data, m):
    """‖W‖²/2 of some of the classifiers, which their scores determine."""
    some = np.unique(np.linspace(0, len(m.intercept_) - 1, 5).astype(int))
    if m.coef_ is not None:
        return (m.coef_[some] ** 2).sum((1, 2)) / 2
    V = data.X[m.support_]
    G = gram_matrix(case.gram or {k: case.settings[k] for k in ("kernel", "gamma")}, V, V)
    return np.array(
        [np.einsum("ik,ij,jk->", A, G, A) / 2 for A in m.dual_coef_.swapaxes(0, 1)[some]]
    )


def measure_shares(case, data):
    """Probabilities are shares of labels: one label may differ, where rounding decides."""
    m, Z = fitted(case, data)
    grain = m.grid if m.scheme == "direct" else 1 / len(m.weights_)
    P, norms = m.predict_proba(Z), half_norms(case, data, m)
    largest = m.C * m.class_count_.sum()  # an upper bound of all objectives
    found = {
        "half norms": fact(norms, 4 * np.sqrt(2 * norms * m.tol * largest) + 1e-9),
        "classifiers": exactly(m.intercept_.size // (1 if m._of_two else P.shape[1])),
        "probabilities": fact(P[:KEPT_ROWS], 1.01 * grain),
        "temperature": fact(m.temperature_, 0.02 * m.temperature_),
        "converged": exactly(bool(m.certificate_.converged)),
    }
    sure = leads(P) > 2.02 * grain
    found["labels"] = exactly(np.where(sure, m.predict(Z).astype(str), "?"))
    return found


# Paths


def groups(data):
    """The rows of the first class, of the second, and of the rest, if there is one."""
    first, second, rest = data.y == 0, data.y == 1, data.y > 1
    return data.X[first], data.X[second], data.X[rest] if rest.any() else None


def some_of(values, most=12):
    """At most so many of the values, evenly."""
    values = np.asarray(values)
    return values[np.unique(np.linspace(0, len(values) - 1, most).astype(int))]


def measure_twin_path(case, data):
    """Break points, and planes above, among and below them."""
    path = public("twin_path")(*groups(data), **case.settings)
    breaks = np.sort(path.breakpoints)
    breaks = breaks[breaks > 1e-9 * breaks[-1]]
    lams = breaks[-1] * np.array([2.0, 0.3, 0.03, 0.003])
    return {
        "complete": exactly(bool(path.complete)),
        "number": exactly(len(breaks)),
        "breaks": fact(some_of(breaks), 1e-7 * some_of(breaks)),
        "planes": near(path.planes(lams), 1e-7),
        "multipliers": near([[p.alpha.sum(), p.beta.sum()] for p in map(path.at, lams)], 1e-7),
        "exact": exactly(bool(max(path.kkt()[:2]) < 1e-8)),
    }


def measure_epsilon_path(case, data):
    """Break points and planes from ε = 0 to 1."""
    path = public("epsilon_path")(*groups(data), **case.settings)
    at = np.array([0.0, 0.15, 0.4, 0.7, 1.0])
    return {
        "complete": exactly(bool(path.complete)),
        "number": exactly(len(path.breakpoints)),
        "breaks": near(some_of(path.breakpoints), 1e-7),
        "planes": near(path.planes(at), 1e-7),
        "multipliers": near([[p.alpha.sum(), p.beta.sum()] for p in map(path.at, at)], 1e-7),
    }


def measure_nu_path(case, data):
    """Break points, and the plane of the first class at some ratios."""
    own, others = data.X[data.y == 0], data.X[data.y != 0]
    g = gram_matrix(case.gram, own, others).mean(1)
    gg = gram_matrix(case.gram, others, others).mean()
    path = public("nu_path")(gram_matrix(case.gram, own, own), g, gg)
    planes = [path.at(r) for r in (0.1, 0.25, 0.5, 0.8)]
    falling = path.breakpoints[::-1]
    return {
        "number": exactly(len(falling)),
        "breaks": near(some_of(falling), 1e-8),
        "primal": near([p.certificate.primal for p in planes], 1e-8),
        "norms": near([p.norm for p in planes], 1e-8),
        "levels": near([[p.ρ, *p.ρ_interval] for p in planes]),
        "exact": exactly(bool(path.kkt().violation < 1e-9)),
    }


def measure_radius_path(case, data):
    """Break points in the radius, and the robust planes between them."""
    own, others = data.X[data.y == 0], data.X[data.y != 0]
    path = public("robust_path")(own, others.mean(0), **case.settings)
    at = path.breakpoints[-1] * np.array([0.0, 0.2, 0.5, 0.9, 1.1])
    planes = [path.at(radius) for radius in at]
    return {
        "number": exactly(len(path.breakpoints)),
        "breaks": near(some_of(path.breakpoints), 1e-8),
        "weights": near([p.w for p in planes], 1e-7),
        "primal": near([p.certificate.primal for p in planes], 1e-8),
    }


def measure_pi_path(case, data):
    """Corners of the path, machines on it, and where labels change."""
    ends = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.2, 0.7])
    path = public("pi_path")(data.X, data.y, *ends, **case.settings)
    machines = [path.at(t) for t in (0.0, 0.2, 0.55, 1.0)]
    changes = [path.changes(z) for z in data.Z[:KEPT_ROWS]]
    return {
        "corners": near(some_of(path.t), 1e-6),
        "number": exactly(len(path.t)),
        "weights": near([W for W, _ in machines], 1e-6),
        "intercepts": near([b for _, b in machines], 1e-6),
        "times": near(np.concatenate([times for times, _ in changes]), 1e-6),
        "labels": exactly(np.concatenate([labels for _, labels in changes])),
    }


def measure_pi_regions(case, data):
    """Shares of labels under both measures, and one machine, of four rows of each class."""
    few = np.concatenate([np.flatnonzero(data.y == k)[:4] for k in range(3)])
    regions = public("pi_regions")(data.X[few], data.y[few], **case.settings)
    rows = data.Z[:KEPT_ROWS]
    return {
        "areas": near(regions.shares(rows), 1e-5),
        "gumbel": near(regions.shares(rows, "gumbel"), 1e-5),
        "weights": near(regions.at([0.35, 0.25, 0.4])[0], 1e-6),
        "covered": near(regions.areas().sum(), 1e-5),
    }


def measure_ranking(case, data):
    """Objectives and scores of rows with one or two labels out of three."""
    labels = np.stack([data.y == 0, data.y >= 1, data.y == 2], axis=1).astype(int)
    m = public(case.call)(**case.settings).fit(data.X, labels)
    scores = m.decision_function(data.Z[:KEPT_ROWS])
    noise = score_noise(case, data, m.certificate_)
    return objectives(m.certificate_) | {"scores": fact(scores, noise)}


MEASURES = {
    "CrammerSingerSVC": measure_cs,
    "KernelLogisticRegression": measure_klr,
    "TwinMarginSVC": measure_margin,
    "CrammerSingerSVCCV": measure_singer_cv,
    "TwinMarginSVCCV": measure_margin_cv,
    "TwinKSVC": measure_ksvc,
    "TwinKSVCCV": measure_ksvc_cv,
    "TruncatedHingeSVC": measure_truncated,
    "SVMProbabilityClassifier": measure_shares,
    "twin_path": measure_twin_path,
    "epsilon_path": measure_epsilon_path,
    "nu_path": measure_nu_path,
    "robust_path": measure_radius_path,
    "pi_path": measure_pi_path,
    "pi_regions": measure_pi_regions,
    "LabelRankingSVC": measure_ranking,
}


def measure(case, data=None):
    """All facts about a case."""
    return MEASURES[case.call](case, case.data() if data is None else data)


# Comparison


def differences(recorded, found):
    """What differs between the facts recorded and those found, in words; empty if nothing does."""
    missing = set(recorded) ^ set(found)
    told = [f"{name}: only recorded or only found" for name in sorted(missing)]
    for name in sorted(set(recorded) & set(found)):
        told += difference(name, recorded[name], found[name])
    return told


def difference(name, old, new):
    """What differs in one fact."""
    if "exactly" in old:
        same = same_answers(old["exactly"], new.get("exactly"))
        return [] if same else [f"{name}: {new.get('exactly')} instead of {old['exactly']}"]
    values, seen = np.array(old["values"]), np.array(new.get("values", np.nan))
    if values.shape != seen.shape:
        return [f"{name}: shape {seen.shape} instead of {values.shape}"]
    excess = np.abs(seen - values) / np.broadcast_to(old["within"], values.shape)
    worst = np.nanmax(np.where(seen == values, 0.0, np.nan_to_num(excess, nan=np.inf)), initial=0.0)
    return [f"{name}: {worst:.3g} times the tolerance away"] if worst > 1 else []


def same_answers(old, new):
    """Equal, but for labels that were, or are, in doubt."""
    if not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
        return old == new
    return all(a == b or "?" in (a, b) for a, b in zip(old, new, strict=True))


# Record and test


def rounded(x):
    """Twelve digits are enough."""
    if isinstance(x, dict):
        return {key: rounded(value) for key, value in x.items()}
    if isinstance(x, list):
        return [rounded(value) for value in x]
    return float(f"{x:.12g}") if isinstance(x, float) else x


def record(file):
    """Measure all cases and write what was found, one line for each fact."""
    found = {case.name: rounded(measure(case)) for case in CASES}
    lines = []
    for name, facts in found.items():
        inner = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items()]
        lines.append(f"{json.dumps(name, ensure_ascii=False)}: {{\n" + ",\n".join(inner) + "\n}")
    file.parent.mkdir(exist_ok=True)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def recorded():
    """The facts recorded, by the names of the cases."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answers_are_kept(case):
    """A case gives what it gave when it was recorded."""
    told = differences(recorded()[case.name], measure(case))
    assert not told, "\n".join(told)


def test_all_cases_are_recorded():
    """Nothing recorded goes unchecked, and no two cases share a name."""
    names = [case.name for case in CASES]
    assert sorted(names) == sorted(recorded())


def test_a_small_change_is_noticed():
    """One per cent more C is more than any tolerance hides."""
    case = next(case for case in CASES if case.name == "cs linear")
    changed = replace(case, settings={**case.settings, "C": 1.01 * case.settings["C"]})
    told = differences(recorded()[case.name], measure(changed))
    assert any(line.startswith("primal") for line in told)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help=f"write {RECORDED.name} anew")
    if parser.parse_args().record:
        record(RECORDED)
    else:
        parser.print_help()
