"""Hostile data, and what every classifier must do with them.

A `Case` is a small record of plain values: the seed of the rows, what is wrong with them, how they
are weighted and stored, and the parameters of the fit. `CHOICES` lists what each of its fields may
be, so that hypothesis and a long campaign (`tools/fuzz.py`) draw from the same table, and a case
that failed is kept as one line of JSON.

`judge` fits a case and returns every complaint. Certificates are recomputed from public attributes
in extended precision, by code that shares nothing with the solvers.
"""

import json
import pickle
import random
import traceback
import warnings
from dataclasses import asdict, dataclass, replace
from inspect import signature
from math import inf

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mcsvm_lit
from mcsvm_lit import scale

LONG = np.longdouble
ROUND = float(np.finfo(LONG).eps) * 1e3  # what the judge's own arithmetic may be off by

# -- cases ----------------------------------------------------------------------------------------
FLAWS = (
    *("plain", "lattice", "duplicates", "contradictions", "constant", "collinear", "zero rows"),
    *("huge rows", "offset", "far offset", "tiny", "large", "mixed", "tails", "lonely"),
    *("cluster", "separable"),
)
CHOICES = dict(
    seed=range(2**31),
    n=(3, 4, 5, 6, 8, 10, 14, 20, 30),
    d=(1, 2, 3, 5, 40),
    K=(2, 2, 3, 4),
    flaw=FLAWS,
    second=("plain", "plain", "plain", "duplicates", "contradictions", "offset", "mixed", "lonely"),
    storage=("dense", "dense", "dense", "float32", "csr", "columns first"),
    labels=("numbers", "strings", "booleans"),
    weights=("none", "none", "whole", "zeros", "decades"),
    kernel=("linear", "linear", "rbf", "rbf", "poly", "precomputed"),
    C=(1.0, 1.0, 10.0, 1e-3, 1e3, 1e-6, 1e8),
    tol=("default", "default", 1e-2, 1e-6, 1e-8, 1e-10),
    budget=("default", "default", "default", "default", 1, 30),
    option=range(12),
    law=("none", "permuted", "copies", "absent", "relabelled", "sparse", "pickled", "again"),
)


@dataclass(frozen=True)
class Case:
    """One hostile fit; each field is one of `CHOICES`."""

    seed: int = 0
    n: int = 8
    d: int = 2
    K: int = 3
    flaw: str = "plain"
    second: str = "plain"
    storage: str = "dense"
    labels: str = "numbers"
    weights: str = "none"
    kernel: str = "linear"
    C: float = 1.0
    tol: object = "default"
    budget: object = "default"
    option: int = 0
    law: str = "none"

    def line(self):
        """The case as a line of JSON."""
        return json.dumps(asdict(self))


def drawn(seed):
    """A case drawn without hypothesis."""
    chance = random.Random(seed)
    return Case(**{name: chance.choice(values) for name, values in CHOICES.items()})


def fewer(X, y, rng, labels_too):
    """Copies of few rows, with the labels of the originals or with labels that contradict."""
    i = rng.integers(0, max(2, len(y) // 3), size=len(y))
    return X[i], (rng.permutation(y) if labels_too else y)


def one_constant(X, y, rng):
    """One column has the same value everywhere."""
    X = X.copy()
    X[:, rng.integers(X.shape[1])] = rng.choice([0.0, 1.0, -1e6, 1e-7])
    return X, y


def on_a_line(X, y, rng):
    """All columns are multiples of one."""
    X = np.outer(X[:, 0], 10.0 ** rng.uniform(-3, 3, size=X.shape[1]))
    return X + rng.choice([0.0, 5.0]), y


def huge_rows(X, y, rng):
    """Some rows times a power of ten."""
    factor = np.where(rng.random(len(y)) < 0.3, 10.0 ** rng.integers(3, 9), 1.0)
    return X * factor[:, None], y


def alone(X, y, rng):
    """All classes but one have a single example."""
    i = np.arange(len(y))
    return X, np.where(i <= y.max(), i, 0)


def apart(X, y, rng):
    """Classes far from each other."""
    d = X.shape[1]
    return X + 8.0 * np.eye(max(d, y.max() + 1))[y, :d], y


SPOILED = {
    "plain": lambda X, y, rng: (X, y),
    "lattice": lambda X, y, rng: (np.round(X), y),
    "duplicates": lambda X, y, rng: fewer(X, y, rng, labels_too=True),
    "contradictions": lambda X, y, rng: fewer(X, y, rng, labels_too=False),
    "constant": one_constant,
    "collinear": on_a_line,
    "zero rows": lambda X, y, rng: (X * (rng.random(len(y)) < 0.6)[:, None], y),
    "huge rows": huge_rows,
    "offset": lambda X, y, rng: (X + 10.0 ** rng.integers(2, 5), y),
    "far offset": lambda X, y, rng: (X + 10.0 ** rng.integers(5, 9), y),
    "tiny": lambda X, y, rng: (X * 10.0 ** -rng.integers(4, 13), y),
    "large": lambda X, y, rng: (X * 10.0 ** rng.integers(4, 13), y),
    "mixed": lambda X, y, rng: (X * 10.0 ** rng.integers(-12, 13, size=X.shape[1]), y),
    "tails": lambda X, y, rng: (X * rng.standard_cauchy(size=(len(y), 1)) ** 2, y),
    "lonely": alone,
    "cluster": lambda X, y, rng: (X[:1] + 1e-9 * X, y),
    "separable": apart,
}


def rows_of(case):
    """Rows as floats, class indices (every class occurs), weights or None."""
    rng = np.random.default_rng(case.seed)
    X = rng.normal(size=(case.n, case.d))
    K = min(case.K, case.n)
    y = rng.permutation(np.r_[np.arange(K), rng.integers(0, K, size=case.n - K)])
    X = X + rng.choice([0.0, 1.5]) * np.eye(max(case.d, K))[y, : case.d]
    for flaw in (case.flaw, case.second):
        X, y = SPOILED[flaw](X, y, rng)
    w = {
        "none": None,
        "whole": rng.integers(1, 4, size=case.n).astype(float),
        "zeros": np.where((rng.random(case.n) < 0.4) & (np.arange(case.n) >= K), 0.0, 1.0),
        "decades": 10.0 ** rng.uniform(-6, 6, size=case.n),
    }[case.weights]
    if case.storage == "float32":
        X = X.astype(np.float32)
    return np.asarray(X, float), y, w


def named(y, kind):
    """Class indices as labels that keep their order."""
    if kind == "strings":
        return np.array(["a", "b b", "c", "ü"])[y]
    return y.astype(bool) if kind == "booleans" and y.max() < 2 else y - 1


def stored(X, storage):
    """The rows as a caller may have them."""
    if storage == "csr":
        return csr_matrix(X)
    if storage == "float32":
        return X.astype(np.float32)
    return np.asfortranarray(X) if storage == "columns first" else X


# -- what is fitted -------------------------------------------------------------------------------
def relevances(case):
    """What labels say of each class: one applies, a ranking, two apply, or perhaps none."""
    K = min(case.K, case.n)
    below = (np.arange(K) - np.arange(K)[:, None]) % K  # how far a label is behind the class
    kinds = below == 0, -below, below < 2, (below == 0) & (np.arange(K)[:, None] > 0)
    return np.asarray(kinds[case.option // 3], float)


def cycle(options, case):
    """One of the options of a classifier."""
    return options[case.option % len(options)]


def some_ratio(case):
    """A ratio ν, seldom an extreme one."""
    return (0.5, 0.2, 0.8, 0.05, 0.99, 1e-6)[case.option % 6]


SPECIAL = {
    "CrammerSingerSVC": lambda c: dict(C=c.C, fit_intercept=c.option % 2 == 1),
    "KernelLogisticRegression": lambda c: dict(
        C=c.C, fit_intercept=c.option % 3 != 0, solver=cycle(("auto", "auto", "smo", "newton"), c)
    ),
    "TwinMarginSVC": lambda c: dict(
        nu=some_ratio(c), decision=cycle(("distance", "signed", "vote"), c)
    ),
    "TwinMarginSVCCV": lambda c: dict(cv=2 + c.option % 2),
    "TwinKSVC": lambda c: dict(
        lam1=min(max(c.C, 1e-4), 1e4), lam2=1.0, vote=cycle(("nearest", "paper", "threshold"), c)
    ),
    "TwinKSVCCV": lambda c: dict(cv=2),
    "TruncatedHingeSVC": lambda c: dict(
        C=c.C,
        loss=cycle(("hinge", "hinge", "logistic", "exponential"), c),
        truncation=cycle(("minimal", None, None), c),
    ),
    "SVMProbabilityClassifier": lambda c: dict(
        C=c.C,
        n_weights=16,
        grid=0.25,
        scheme=cycle(("gumbel", "indirect", "direct", "pairwise"), c),
    ),
    "LabelRankingSVC": lambda c: dict(
        C=c.C, fit_intercept=c.option % 2 == 1, border=c.option % 3 != 0
    ),
    "WeightedVoteClassifier": lambda c: dict(
        estimator=voter_of(c),
        n_weights=4,
        scheme=cycle(("pairwise", "one-vs-rest", "gumbel"), c),
    ),
    "StreamedCrammerSingerSVC": lambda c: in_blocks(c) | dict(fit_intercept=c.option % 2 == 1),
    "StreamedKernelLogisticRegression": lambda c: (
        in_blocks(c) | dict(fit_intercept=c.option % 3 != 0)
    ),
}
IN_MEMORY = {  # classifiers that solve the problem of a streamed one
    "StreamedCrammerSingerSVC": "CrammerSingerSVC",
    "StreamedKernelLogisticRegression": "KernelLogisticRegression",
}


def in_blocks(case):
    """How a streamed classifier reads the rows, and how many landmarks it may have."""
    return dict(C=case.C, block_rows=cycle((3, 7, 8192), case), rank=cycle((300, 4), case))


def voter_of(case):
    """What `WeightedVoteClassifier` is put around."""
    kernel = "linear" if case.kernel == "precomputed" else case.kernel  # rows are features to it
    names = "CrammerSingerSVC", "KernelLogisticRegression"
    return getattr(mcsvm_lit, cycle(names, case))(kernel=kernel, C=case.C)


def classifier_of(name, case):
    """The classifier of a case, not yet fitted."""
    model = getattr(scale if name in IN_MEMORY else mcsvm_lit, name)()
    known = model.get_params()
    asked = SPECIAL[name](case)
    if "kernel" in known:
        asked["kernel"] = case.kernel
    if case.tol != "default" and "tol" in known:
        asked["tol"] = case.tol
    if case.budget != "default" and "max_iter" in known:
        asked["max_iter"] = case.budget
    return model.set_params(**asked)


def gram(X, Z):
    """What a precomputed kernel is made of here: the Gaussian of these rows, in float64."""
    scale = max(float(np.median(np.abs(Z - Z.mean(0)))), 1e-300)
    A, B = (X - Z.mean(0)) / scale, (Z - Z.mean(0)) / scale
    with np.errstate(over="ignore"):
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(2))


@dataclass(frozen=True)
class Training:
    """What a classifier is given; `relevant` has a row of relevances for each of `classes`."""

    X: object
    y: np.ndarray
    w: np.ndarray | None
    classes: np.ndarray
    relevant: np.ndarray

    def fit(self, model):
        """The model, fitted with weights where there are any."""
        y = self.labels() if isinstance(model, mcsvm_lit.LabelRankingSVC) else self.y
        if self.w is None or "sample_weight" not in signature(model.fit).parameters:
            return model.fit(self.X, y)
        return model.fit(self.X, y, sample_weight=self.w)

    def labels(self):
        """Relevances of all labels for each row."""
        return self.relevant[np.searchsorted(self.classes, self.y)]


def training_of(case):
    """The data of a case as they are passed to `fit`."""
    X, y, w = rows_of(case)
    X = gram(X, X) if case.kernel == "precomputed" else stored(X, case.storage)
    y = named(y, case.labels)
    return Training(X, y, w, np.unique(y), relevances(case))


# -- one fit --------------------------------------------------------------------------------------
REFUSALS = ("mcsvm_lit", "sklearn")  # packages whose sentences a user may see
OURS = "semidefinite", "not convex", "scores F"  # all kernels here are convex, and no user gives F


def said(error):
    """Is this an error that tells the user something?"""
    where = traceback.extract_tb(error.__traceback__)[-1].filename
    sentence = str(error).strip()
    plain = type(error) is ValueError and any(f"/{p}/" in where for p in REFUSALS)
    return plain and len(sentence.split()) >= 4


def numerical(seen):
    """Warnings that NumPy gave, not we: they are no sentences."""
    for w in seen:
        bare = not str(w.message).strip().endswith(".")
        if bare and issubclass(w.category, RuntimeWarning | DeprecationWarning | FutureWarning):
            place = f"{w.filename.rsplit('/', 1)[-1]}:{w.lineno}"
            yield f"NumPy warning: {w.message} at {place}"


# classifiers whose `n_iter_` and `max_iter` count the same
COUNTING = (
    "CrammerSingerSVC",
    "KernelLogisticRegression",
    "LabelRankingSVC",
    "StreamedCrammerSingerSVC",
    "StreamedKernelLogisticRegression",
    "TruncatedHingeSVC",
)


def fitted(training, model, complaints):
    """The fitted model, or None after an error; complaints about errors and warnings are added."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            training.fit(model)
        except Exception as error:
            complaints += numerical(seen)
            if any(words in str(error) for words in OURS):
                complaints.append(f"refused: {str(error)[:90]}")
            elif not said(error):
                frame = traceback.extract_tb(error.__traceback__)[-1]
                here = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.name}"
                complaints.append(f"raw error: {type(error).__name__} in {here}: {str(error)[:90]}")
            return None
    complaints += numerical(seen)
    warned = any(issubclass(w.category, ConvergenceWarning) for w in seen)
    if not hasattr(model, "certificate_"):
        return model
    converged = model.certificate_.converged
    if warned == converged:
        complaints.append(f"warning: converged is {converged}, a warning was given: {warned}")
    if not 0 <= model.certificate_.relative_gap < inf:
        complaints.append(f"not finite: {model.certificate_!r}")
    allowed = model.get_params().get("max_iter")
    if type(model).__name__ in COUNTING and allowed is not None and model.n_iter_ > allowed:
        complaints.append(f"n_iter_ {model.n_iter_} beyond max_iter {allowed}")
    return model


ARRAYS = "dual_coef_", "coef_", "intercept_", "planes_", "label_distribution_", "objective_path_"


def decisions(model, X):
    """Scores, or probabilities where there are no scores."""
    return (getattr(model, "decision_function", None) or model.predict_proba)(X)


def unfinite(model, X):
    """Names of what is not finite in a fitted model."""
    for name in ARRAYS:
        value = getattr(model, name, None)
        if value is not None and not np.isfinite(value).all():
            yield f"not finite: {name}"
    if np.isnan(decisions(model, X)).any():
        yield "not finite: decision_function"
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(X)
        if not (np.isfinite(P).all() and np.allclose(P.sum(1), 1) and (P >= 0).all()):
            yield "not finite: predict_proba"
        if not (model.classes_[P.argmax(1)] == model.predict(X)).all():
            yield "argmax: predict differs from the largest probability"


# -- certificates, recomputed ---------------------------------------------------------------------
def kernel_values(model, X, Z):
    """Kernel values in extended precision, from the formula."""
    k = model.kernel_
    if k.name == "precomputed":
        return np.asarray(X, LONG)
    if k.name == "rbf":
        return np.exp(-LONG(k.gamma) * ((X[:, None] - Z[None]) ** 2).sum(2))
    G = (X[:, None] * Z[None]).sum(2)
    return G if k.name == "linear" else (LONG(k.gamma) * G + k.coef0) ** int(k.degree)


def whole(training):
    """Rows, class indices and weights in extended precision, without rows of weight zero."""
    y = np.unique(training.y, return_inverse=True)[1]
    w = np.ones(len(y)) if training.w is None else training.w
    return whole_rows(training.X), y, w.astype(LONG)


def whole_rows(X):
    """Rows in extended precision."""
    return (X.toarray() if hasattr(X, "toarray") else np.asarray(X)).astype(LONG)


def expanded(model, X, S, A):
    """Scores of all rows without intercepts, and half the squared norm of the functions."""
    if model.kernel == "linear":  # by way of the weights, where large terms cancel least
        W = X[S].T @ A
        return X @ W, (W**2).sum() / 2
    F = kernel_values(model, X[:, S] if model.kernel == "precomputed" else X, X[S]) @ A
    return F, (A * F[S]).sum() / 2


def merged(X, y, w, S):
    """The weights of the rows S together with those of their copies."""
    same = (X[S][:, None] == X[None]).all(2) & (y[S][:, None] == y[None])
    return same.astype(LONG) @ w


def entropy(p):
    """-p log p, with the limit at zero."""
    return -p * np.log(np.where(p > 0, p, 1))


def judged_crammer_singer(model, X, y, w):
    c, S, α = model.C * w, model.support_, model.dual_coef_.astype(LONG)
    F, half = expanded(model, X, S, α)
    if model.fit_intercept:
        F = F + α.sum(0)
        half += (α.sum(0) ** 2).sum() / 2
    if model.kernel == "linear":
        coef, b = model.coef_.astype(LONG), model.intercept_.astype(LONG)
        if len(coef) == 1:  # the difference of two prototypes with sum zero
            coef, b = (np.concatenate([-v, v]) / 2 for v in (coef, b))
        F = X @ coef.T + b
        norm = ((coef**2).sum() + (b**2).sum()) / 2
    else:
        norm = half
    own = F[np.arange(len(y)), y]
    rival = F + 1
    rival[np.arange(len(y)), y] -= 1
    P = norm + c @ (rival.max(1) - own)
    D = α[np.arange(len(S)), y[S]].sum() - half
    yield model.certificate_, P, D


def judged_ranking(model, X, y, w, relevant):
    A, S, Y = model.dual_coef_.astype(LONG), model.support_, relevant[y]
    b = model.intercept_.astype(LONG)
    F, half = expanded(model, X, S, centred(A, model.border))
    if model.kernel == "linear":
        coef = centred(model.coef_.T.astype(LONG), model.border)
        F, half = X @ coef, (coef**2).sum() / 2
    b = centred(b[None], model.border)
    if model.border:
        Y = np.c_[Y, borders(Y)]
    above = Y[:, :, None] > Y[:, None, :]
    G = (F + b)[:, None, :] + 1 - (F + b)[:, :, None]
    loss = np.where(above, np.maximum(G, 0), 0).max(2).sum(1)
    yield model.certificate_, half + (b**2).sum() / 2 + model.C * w @ loss, None


def centred(A, border):
    """Coefficients of all labels and the border, whose sum is zero, from those above the border."""
    return np.c_[A, np.zeros(len(A))] - A.sum(1, keepdims=True) / (A.shape[1] + 1) if border else A


def borders(Y):
    """Relevances between those that are positive and the others."""
    low, high = np.where(Y > 0, -np.inf, Y).max(1), np.where(Y > 0, Y, np.inf).min(1)
    return np.where(high < np.inf, (np.maximum(low, 0) + high) / 2, low + 1)


def judged_logistic(model, X, y, w):
    S, a = model.support_, model.dual_coef_.astype(LONG)
    F, half = expanded(model, X, S, a)
    b, norm = model.intercept_.astype(LONG), half
    if model.kernel == "linear":  # weights and multipliers need not belong together
        coef = model.coef_.astype(LONG)
        F, norm = X @ coef.T, (coef**2).sum() / 2
    cS = model.C * (merged(X, y, w, S) if model.kernel != "precomputed" else w[S])
    if len(model.classes_) == 2:
        s = np.where(y == 1, 1, -1)
        m = -s * (F[:, 0] + b[0])
        loss = np.logaddexp(LONG(0), m)
        δ = np.clip(a[:, 0] * s[S] / cS, 0, 1)
        D = cS @ (entropy(δ) + entropy(1 - δ)) - half
    else:
        top = (F + b).max(1, keepdims=True)
        loss = np.log(np.exp(F + b - top).sum(1)) + top[:, 0] - (F + b)[np.arange(len(y)), y]
        η = -a / cS[:, None]
        η[np.arange(len(S)), y[S]] += 1
        D = cS @ entropy(np.clip(η, 0, 1)).sum(1) - half
    yield model.certificate_, norm + model.C * w @ loss, D


def judged_margin(model, X, y, w):
    if model.kernel == "linear" and np.any(model.radius):
        return
    for k, label in enumerate(model.classes_):
        certificate = model.certificates_.get(label)
        if certificate is None or model.norms_[k] == 0:
            continue
        own = y == k
        if model.kernel == "linear":  # by way of the weights
            slope = model.coef_[k].astype(LONG)
            f, half = np.asarray(X, LONG) @ slope, slope @ slope / 2
        else:
            a = model.dual_coef_[:, k].astype(LONG)
            live = np.flatnonzero((a != 0) & (w > 0))
            f, half = expanded(model, X, live, a[live])
        θ, c = LONG(model.intercept_[k]), w[own] / w[own].sum()
        # a cap above one is never met: the program is the same with two instead (page 30);
        # copies of a row share its cap
        group = c if model.kernel == "precomputed" else merged(X[own], y[own], c, np.arange(len(c)))
        caps = np.minimum(group / LONG(model.nu_), 2) * np.divide(c, np.maximum(group, 1e-300))
        behind = caps @ np.maximum(-(f[own] + θ), 0)
        mean = (w[~own] / w[~own].sum()) @ f[~own]
        yield certificate, half + mean + θ + behind, -half


def judged_truncated(model, X, y, w):
    c = model.C * w
    A, b = model.dual_coef_.astype(LONG), model.intercept_.astype(LONG)
    if model.kernel == "linear":  # by way of the weights
        coef = model.coef_.astype(LONG)
        F, half = X @ coef.T, (coef**2).sum() / 2
    else:
        F, half = expanded(model, X, model.support_, A)
    F = F + b
    rest = np.where(np.eye(len(model.classes_), dtype=bool)[y], -np.inf, F).max(1)
    u = F[np.arange(len(y)), y] - rest
    loss = {
        "hinge": lambda u: np.maximum(1 - u, 0),
        "logistic": lambda u: np.logaddexp(LONG(0), -u),
        "exponential": lambda u: np.exp(-u),
    }[model.loss](np.maximum(u, LONG(model.truncation_)))
    P, D = half + c @ loss, None
    last = replace(model.certificate_, primal=float(model.objective_path_[-1]))
    if model.truncation_ == -inf:  # a convex problem: its dual, too
        S = model.support_
        cS = model.C * (merged(X, y, w, S) if model.kernel != "precomputed" else w[S])
        p = A[np.arange(len(S)), y[S]] / cS
        share = np.clip(p, 0, 1)
        D = (
            cS
            @ {
                "hinge": p,
                "logistic": entropy(share) + entropy(1 - share),
                "exponential": p + entropy(np.maximum(p, 0)),
            }[model.loss]
            - half
        )
        last = replace(last, dual=model.certificate_.dual)
    yield last, P, D


def judged_stream(model, X, y, w):
    b, crammer_singer = model.intercept_.astype(LONG), "Crammer" in type(model).__name__
    if model.kernel == "linear":
        coef = model.coef_.T.astype(LONG)
        F, gram = X @ coef, coef.T @ coef
    else:
        Z, coef = whole_rows(model.landmarks_), model.dual_coef_.astype(LONG)
        F = kernel_values(model, X, Z) @ coef
        gram = coef.T @ kernel_values(model, Z, Z) @ coef
    F, half = F + b, np.trace(gram) / 2
    if len(b) == 1:  # the second class's score minus the first's
        s = np.where(y == 1, F[:, 0], -F[:, 0])
        loss = np.maximum(1 - s, 0) if crammer_singer else np.logaddexp(LONG(0), -s)
        half, norm = (half / 2, b @ b / 4) if crammer_singer else (half, 0)
    else:
        rivals = F + (1 - np.eye(F.shape[1])[y] if crammer_singer else 0)
        top = rivals.max(1, keepdims=True)
        over = 0 if crammer_singer else np.log(np.exp(rivals - top).sum(1))
        loss, norm = over + top[:, 0] - F[np.arange(len(y)), y], b @ b / 2 if crammer_singer else 0
    P = half + norm + model.C * w @ loss
    yield model.certificate_, P, None
    yield model.full_certificate_, P, None


JUDGES = {
    "CrammerSingerSVC": judged_crammer_singer,
    "KernelLogisticRegression": judged_logistic,
    "TwinMarginSVC": judged_margin,
    "TruncatedHingeSVC": judged_truncated,
    "LabelRankingSVC": judged_ranking,
    "StreamedCrammerSingerSVC": judged_stream,
    "StreamedKernelLogisticRegression": judged_stream,
}


def dishonest(name, model, training):
    """Complaints about certificates that exact arithmetic contradicts."""
    if name not in JUDGES or not np.isfinite(model.certificate_.primal):
        return  # what is not finite has been reported
    if model.kernel not in ("linear", "rbf", "poly", "precomputed"):
        return
    X, y, w = whole(training)
    more = (training.relevant,) if name == "LabelRankingSVC" else ()
    with np.errstate(over="ignore", under="ignore"):
        values = list(JUDGES[name](model, X, y, w, *more))
    for c, P, D in values:
        scale = max(abs(float(P)), abs(c.primal), 1e-6 * c.unit)
        room = c.rounding + (ROUND + 1e-15) * scale
        if abs(float(P - LONG(c.primal))) > room:
            yield f"certificate: primal {c.primal!r}, recomputed {float(P)!r}, room {room:.1e}"
        if D is not None and abs(float(D - LONG(c.dual))) > room:
            yield f"certificate: dual {c.dual!r}, recomputed {float(D)!r}, room {room:.1e}"
        if D is not None and float(P - D) > abs(c.gap) + 2 * room:
            yield f"certificate: gap {c.gap!r}, recomputed {float(P - D)!r}, room {room:.1e}"


# -- laws -----------------------------------------------------------------------------------------
def same_bits(what, one, other, X, Z=None):
    """A complaint if two models decide differently in any bit."""
    a, b = decisions(one, X), decisions(other, X if Z is None else Z)
    if not np.array_equal(a, b, equal_nan=True):
        worst = np.nanmax(np.abs(a - b))
        yield f"{what}: decisions differ by up to {worst:.1e}"


def same_optimum(what, one, other):
    """A complaint if the dual of one model exceeds the primal of the other."""
    a, b = (getattr(m, "full_certificate_", m.certificate_) for m in (one, other))
    for p, q in ((a, b), (b, a)):
        room = p.rounding + q.rounding + 1e-13 * max(abs(p.primal), abs(q.dual))
        if q.dual > p.primal + room:
            yield f"{what}: a dual of {q.dual!r} above a primal of {p.primal!r}, room {room:.1e}"


def permuted(case, training):
    p = np.random.default_rng(case.seed + 1).permutation(len(training.y))
    X = training.X[p][:, p] if case.kernel == "precomputed" else training.X[p]
    return replace(training, X=X, y=training.y[p], w=None if training.w is None else training.w[p])


def copied(case, training):
    if case.weights != "whole" or case.kernel == "precomputed":
        return None
    i = np.repeat(np.arange(len(training.y)), training.w.astype(int))
    return replace(training, X=training.X[i], y=training.y[i], w=None)


def absent(case, training):
    if case.weights != "zeros":
        return None
    i = np.flatnonzero(training.w > 0)
    X = training.X[i][:, i] if case.kernel == "precomputed" else training.X[i]
    return replace(training, X=X, y=training.y[i], w=training.w[i])


def relabelled(case, training):
    y = np.array(["p", "q", "r", "s"])[rows_of(case)[1]]
    return replace(training, y=y, classes=np.unique(y))


def sparse_or_dense(case, training):
    if case.kernel == "precomputed" or case.storage == "float32":
        return None
    if case.storage == "csr":
        return replace(training, X=training.X.toarray())
    return replace(training, X=csr_matrix(training.X))


LAWS = dict(
    permuted=permuted,
    copies=copied,
    absent=absent,
    relabelled=relabelled,
    sparse=sparse_or_dense,
    again=lambda case, training: training,
)


def one_optimum(name):
    """Is the certificate one of the whole fit, so that two of them can be compared?"""
    names = "CrammerSingerSVC", "KernelLogisticRegression", "LabelRankingSVC"
    return name in (*names, *IN_MEMORY)


def another_problem(name, training, model):
    """Complaints if a streamed classifier contradicts the one that has all rows in memory."""
    if name not in IN_MEMORY:
        return
    local = getattr(mcsvm_lit, IN_MEMORY[name])(tol=1e-8)
    shared = local.get_params().keys() & model.get_params().keys() - {"tol", "max_iter", "rank"}
    local.set_params(**{key: getattr(model, key) for key in shared})
    local.set_params(gamma=model.kernel_.gamma if model.kernel != "linear" else "scale")
    complaints = []
    if fitted(training, local, complaints):
        yield from same_optimum("in memory", model, local)


def broken_law(name, case, training, model):
    """Complaints about the law of the case."""
    if case.law == "none":
        return
    if case.law == "pickled":
        copy = pickle.loads(pickle.dumps(model))
        yield from same_bits("pickled", model, copy, training.X)
        return
    other = LAWS[case.law](case, training)
    if other is None:
        return
    complaints = []
    twin = fitted(other, clone(model), complaints)
    yield from (text for text in complaints if not text.startswith("NumPy"))
    if twin is None:
        if not complaints:
            yield f"{case.law}: refused"
        return
    exact = case.kernel != "precomputed" or case.law in ("relabelled", "again")
    # each copy brings its own weight to the voters, and 3 w need not be w + w + w
    exact = exact and (name, case.law) != ("WeightedVoteClassifier", "copies")
    # other rows come together in a block
    exact = exact and (name not in IN_MEMORY or case.law in ("relabelled", "again"))
    if case.law != "sparse" and exact:
        yield from same_bits(case.law, model, twin, training.X)
    elif one_optimum(name):
        yield from same_optimum(case.law, model, twin)


def judge(name, case):
    """Everything that is wrong with a fit of a case: sentences that begin with their kind."""
    if name in IN_MEMORY and case.kernel == "precomputed":
        case = replace(case, kernel="linear")  # blocks are rows, not the values of a kernel
    training, complaints = training_of(case), []
    model = fitted(training, classifier_of(name, case), complaints)
    if model is None:
        return complaints
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            complaints += unfinite(model, training.X)
            complaints += dishonest(name, model, training)
            complaints += another_problem(name, training, model)
            complaints += broken_law(name, case, training, model)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            here = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
            complaints.append(f"raw error: {type(error).__name__} afterwards at {here}: {error}")
    complaints += numerical(w for w in seen if "hostile.py" not in w.filename)
    return list(dict.fromkeys(complaints))
