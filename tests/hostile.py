"""Hostile data, and what every classifier must do with them.

A `Case` is a small record of plain values: the seed of the rows, what is wrong with them, how they
are weighted and stored, and the parameters of the fit. `CHOICES` lists what each of its fields may
be, so that hypothesis and a long campaign (`tools/fuzz.py`) draw from the same table, and a case
that failed is kept as one line of JSON.

`judge` fits a case and returns every complaint. Certificates and scores are recomputed from public
attributes in exact arithmetic (`exact.py`), by code that shares nothing with the solvers.
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
from exact import dishonest, wrong_scores, wrong_votes
from exact_paths import Groups, judged_twin_path
from proved import disproved
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mcsvm_lit
from mcsvm_lit import scale

LONG = np.longdouble

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
    law=(
        *("none", "permuted", "copies", "absent", "arbitrary", "relabelled", "sparse", "pickled"),
        *("again", "warm", "doubled", "given"),
    ),
    more=range(16),
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
    more: int = 0

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
    "CrammerSingerSVCCV": lambda c: dict(
        C=cycle(((0, np.inf), (0, c.C), (c.C / 10, np.inf)), c),
        fit_intercept=c.option % 2 == 1,
        cv=2 + c.option % 2,
    ),
    "KernelLogisticRegression": lambda c: dict(
        C=c.C, fit_intercept=c.option % 3 != 0, solver=cycle(("auto", "auto", "smo", "newton"), c)
    ),
    "TwinMarginSVC": lambda c: dict(
        nu=some_ratio(c), decision=cycle(("distance", "signed", "vote"), c)
    ),
    "TwinMarginSVCCV": lambda c: dict(cv=2 + c.option % 2),
    "TwinKSVC": lambda c: dict(
        lam=[min(max(c.C, 1e-4), 1e4), 1.0],
        decision=cycle(("nearest", "paper", "threshold"), c),
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
    "MulticlassSVC": lambda c: dict(
        C=c.C,
        loss=cycle(("weston-watkins", "lee-lin-wahba", "crammer-singer", "absolute-maximum"), c),
        fit_intercept=c.option % 3 == 1,
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


MORE = {  # parameters that are set now and then, where a classifier has them
    1: dict(radius=0.1, norm=2),
    2: dict(radius=0.05, norm=1, gamma=0.25),
    3: dict(radius=0.2, norm=inf),
    8: dict(gamma=0.37),
    9: dict(degree=2, coef0=1.0),
    10: dict(gamma=30.0),
    11: dict(cache_size=0.01),
    12: dict(n_jobs=2),
    13: dict(warm_start=True),
    14: dict(rank=3),
    15: dict(verbose=0, gamma="auto"),
}


def more_of(case, known):
    """Further parameters of a case, of those that a classifier knows."""
    asked = {key: value for key, value in MORE.get(case.more, {}).items() if key in known}
    if case.more in (6, 7) and "class_weight" in known and case.law != "relabelled":
        asked["class_weight"] = {training_of(case).classes[0]: 2.0}
    return asked


def classifier_of(name, case):
    """The classifier of a case, not yet fitted."""
    model = getattr(scale if name in IN_MEMORY else mcsvm_lit, name)()
    known = model.get_params()
    asked = more_of(case, known) | SPECIAL[name](case)
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
    "CrammerSingerSVCCV",
    "KernelLogisticRegression",
    "LabelRankingSVC",
    "MulticlassSVC",
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


def elsewhere(case, X):
    """Training rows and other points: the origin, the mean, a far one, one near a row."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, float)
    if case.kernel == "precomputed":
        return X
    rng = np.random.default_rng(case.seed + 2)
    further = [0 * X[0], X.mean(0), X[0] + 100 * rng.normal(size=X.shape[1]), X[-1] * (1 + 1e-9)]
    return np.vstack([X, *further])


def undecided(model, training, Z):
    """Complaints about labels that are not those of the largest scores."""
    if isinstance(model, mcsvm_lit.LabelRankingSVC):
        return
    classes = training.classes
    if isinstance(model, mcsvm_lit.WeightedVoteClassifier) and training.w is not None:
        classes = np.unique(training.y[training.w > 0])  # the others refuse a class without weight
    if not np.array_equal(model.classes_, classes):
        yield f"classes: {model.classes_.tolist()} for labels {classes.tolist()}"
        return
    F = decisions(model, Z)
    F = np.c_[-F, F] if F.ndim == 1 else F
    if not (model.classes_[F.argmax(1)] == model.predict(Z)).all():
        yield "argmax: predict differs from the largest score"


def improbable(model, training, Z):
    """Complaints about probabilities outside their own bounds, and about votes."""
    if not isinstance(model, mcsvm_lit.SVMProbabilityClassifier):
        return
    if model.kernel in ("linear", "rbf", "poly", "precomputed"):
        yield from wrong_votes(model, training, Z)
    try:
        low, high = model.probability_bounds(Z)
    except ValueError as error:
        if "probability_bounds needs" not in str(error):
            raise
        return
    P = model.predict_proba(Z)
    off = max((low - P).max(), (P - high).max())
    if off > 1e-9:
        yield f"probability_bounds: {off:.1e} outside"


def out_of_bounds(case, training, model, Z):
    """A complaint if a better fit has scores further away than the bounds of both allow."""
    parameters = type(model)().get_params()
    if case.seed % 4 or case.kernel == "precomputed" or not hasattr(model, "decision_bounds"):
        return
    convex = getattr(model, "truncation_", -np.inf) == -np.inf
    kinked = getattr(model, "loss", "hinge") == "hinge"
    if "max_iter" not in parameters or not (convex and kinked):  # bounds are of one convex fit
        return
    steps = parameters["max_iter"]
    better = fitted(training, clone(model).set_params(tol=1e-10, max_iter=steps), [])
    if better is None:
        return
    moved = np.c_[decisions(model, Z) - decisions(better, Z)]
    moved = np.ptp(moved, axis=1) if moved.shape[1] > 1 else np.abs(moved[:, 0])
    room = (model.decision_bounds(Z) + better.decision_bounds(Z)) * (1 + 1e-12)
    if (moved > room).any():
        yield f"decision_bounds: moved by {(moved / room).max():.2g} of what they allow"


def unfinished(case, model):
    """A complaint about a small, plain problem that was not solved."""
    plain = {case.flaw, case.second} <= {"plain", "lattice", "separable"}
    usual = case.budget == "default" and case.tol in ("default", 1e-2) and 1e-3 <= case.C <= 1e3
    small = case.n <= 5 and case.weights != "decades" and not case.more
    certificate = getattr(model, "certificate_", None)
    if plain and usual and small and certificate is not None and not certificate.converged:
        yield f"not converged: {certificate!r}"


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


# -- laws -----------------------------------------------------------------------------------------
def same_bits(what, one, other, X, Z=None):
    """A complaint if two models decide differently in any bit."""
    a, b = decisions(one, X), decisions(other, X if Z is None else Z)
    if not np.array_equal(a, b, equal_nan=True):
        worst = np.nanmax(np.abs(a - b))
        yield f"{what}: decisions differ by up to {worst:.1e}"


def same_optimum(what, one, other, times=1.0):
    """A complaint if the dual of one model exceeds the primal of the other, multiplied."""
    a, b = (getattr(m, "full_certificate_", m.certificate_) for m in (one, other))
    b = replace(b, primal=times * b.primal, dual=times * b.dual, rounding=times * b.rounding)
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


def arbitrary(case, training):
    """Rows of weight zero hold something else, which may not matter."""
    if case.weights != "zeros" or case.kernel == "precomputed" or case.storage == "csr":
        return None
    X = np.array(training.X)
    X[training.w == 0] = 7.0
    return replace(training, X=X)


def given(case, training):
    """The linear kernel of whole numbers, exact, as a precomputed one."""
    X = training.X.toarray() if hasattr(training.X, "toarray") else np.asarray(training.X, float)
    if case.kernel != "linear" or np.abs(X).max() > 1e6 or (np.round(X) != X).any():
        return None
    return replace(training, X=X @ X.T)


def doubled(case, training):
    """Rows times two: the same functions of a kernel whose width follows, or of C over four."""
    if case.kernel == "precomputed" or case.more or case.storage == "float32":
        return None
    return replace(training, X=training.X * 2.0)


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
    arbitrary=arbitrary,
    given=given,
    doubled=doubled,
)


def one_optimum(name):
    """Is the certificate one of the whole fit, so that two of them can be compared?"""
    names = "CrammerSingerSVC", "KernelLogisticRegression", "LabelRankingSVC", "MulticlassSVC"
    return name in (*names, *IN_MEMORY)


def comparable(name, case, model):
    """Do the laws of given and of doubled rows leave the optimum where it is?"""
    if name not in ("CrammerSingerSVC", "KernelLogisticRegression"):
        return False
    if case.law == "doubled":  # a bias of the linear kernel is not doubled
        return not (case.kernel == "linear" and model.fit_intercept and "Crammer" in name)
    return getattr(model, "rank", None) is None


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


def warmer(training, model):
    """Complaints about a second fit to the same data that begins where the first ended."""
    if "warm_start" not in model.get_params():
        return
    cold, warm = model.certificate_, clone(model).set_params(warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        training.fit(training.fit(warm))
    c = warm.certificate_
    room = c.rounding + cold.rounding + 1e-13 * abs(cold.primal)
    if cold.converged and cold.certifiable and not c.converged:
        yield f"warm: {cold!r} became {c!r}"
    elif abs(c.gap) > abs(cold.gap) + room:  # what is known of the distance to the optimum
        yield f"warm: a gap of {cold.gap!r} became {c.gap!r}"


def under_law(case, model):
    """The classifier, not yet fitted, with the parameters that the law of the case asks for."""
    twin = clone(model)
    if case.law == "given":
        twin.set_params(kernel="precomputed")
    if case.law == "doubled" and case.kernel == "linear" and "C" in model.get_params():
        twin.set_params(C=model.C / 4)
    return twin


def broken_law(name, case, training, model):
    """Complaints about the law of the case."""
    if case.law == "none":
        return
    if case.law == "warm":
        yield from warmer(training, model)
        return
    if case.law == "pickled":
        copy = pickle.loads(pickle.dumps(model))
        yield from same_bits("pickled", model, copy, training.X)
        return
    other = LAWS[case.law](case, training)
    if other is None:
        return
    complaints = []
    if case.law in ("given", "doubled") and not comparable(name, case, model):
        return
    twin = fitted(other, under_law(case, model), complaints)
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
    exact = exact and case.law not in ("given", "doubled")
    if case.law != "sparse" and exact:
        yield from same_bits(case.law, model, twin, training.X)
    elif one_optimum(name):
        quarter = case.law == "doubled" and case.kernel == "linear"
        yield from same_optimum(case.law, model, twin, 4.0 if quarter else 1.0)


# -- paths ----------------------------------------------------------------------------------------
class FollowedPath:
    """A path from one twin program's solution to all of them, as something to fit."""

    def __init__(self, case):
        kB, kC = cycle(((1.0, 1.0), (case.C, 1.0), (1.0, min(max(case.C, 1e-3), 1e3))), case)
        self.settings = dict(
            epsilon=(0.2, 0.0, 0.5, 0.9)[case.option % 4],
            ridge=(1e-4, 1.0, 1e-2, 1e-8)[case.option // 3],
            kB=kB,
            kC=kC,
        )
        self.most = None if case.budget == "default" else case.budget

    def fit(self, X, y):
        """Rows of the first class, of the second and of the others."""
        X = X.toarray() if hasattr(X, "toarray") else X
        first, second = np.unique(y)[:2]
        parts = X[y == first], X[y == second], X[(y != first) & (y != second)]
        self.path_ = mcsvm_lit.twin_path(*parts, **self.settings, max_events=self.most)
        self.groups_ = Groups(*parts, self.settings)
        return self


PATHS = {"twin_path": judged_twin_path}


def judge_path(name, case):
    """Everything that is wrong with a path: what it states is compared with its program."""
    training, complaints = training_of(replace(case, kernel="linear", weights="none")), []
    followed = fitted(training, FollowedPath(case), complaints)
    if followed is not None:
        complaints += PATHS[name](followed.path_, followed.groups_, case.seed)
    return list(dict.fromkeys(complaints))


def judge(name, case):
    """Everything that is wrong with a fit of a case: sentences that begin with their kind."""
    if name in PATHS:
        return judge_path(name, case)
    if name in IN_MEMORY and case.kernel == "precomputed":
        case = replace(case, kernel="linear")  # blocks are rows, not the values of a kernel
    training, complaints = training_of(case), []
    model = fitted(training, classifier_of(name, case), complaints)
    if model is None:
        return complaints
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            Z = elsewhere(case, training.X)
            complaints += unfinite(model, training.X)
            complaints += undecided(model, training, Z)
            complaints += unfinished(case, model)
            complaints += improbable(model, training, Z)
            complaints += out_of_bounds(case, training, model, Z)
            complaints += dishonest(name, model, training)
            complaints += wrong_scores(name, model, training, Z)
            complaints += disproved(case, training, model, Z, fitted)
            complaints += another_problem(name, training, model)
            complaints += broken_law(name, case, training, model)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            here = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
            complaints.append(f"raw error: {type(error).__name__} afterwards at {here}: {error}")
    complaints += numerical(w for w in seen if "hostile.py" not in w.filename)
    return list(dict.fromkeys(complaints))
