"""What each strategy of `CrammerSingerSVC` is worth: fits without one strategy after the other."""

import csv
import signal
import statistics
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from harness import benchmark, once, seconds
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.preprocessing import StandardScaler

from mcsvm_lit.crammer_singer import classifier
from mcsvm_lit.crammer_singer.classifier import CrammerSingerSVC

TABLE = Path(__file__).with_name("ablation.csv")  # what page 14 draws
LONGEST = 6.0  # a fit without a strategy may take so many times what the fit with all takes,
LEAST = 3.0  # and so many CPU seconds in any case
AGES = 600.0  # the fit with all may take that long


# -- data -----------------------------------------------------------------------------------------
def standardised(X, y):
    return StandardScaler().fit_transform(X), y


def blobs(n, d, K, apart=1.5, mislabelled=0.01):
    """Standardised rows of several classes, the more apart the fewer decide."""
    clusters = 1 if K > 10 else 2
    kinds = dict(n_informative=d // 2, n_redundant=d // 10, n_clusters_per_class=clusters)
    X, y = make_classification(
        n, d, n_classes=K, class_sep=apart, flip_y=mislabelled, random_state=0, **kinds
    )
    return standardised(X, y)


def words(n, d, K, per_row=40):
    """Sparse rows of equal length, like counts of words: each class has words of its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    column = rng.zipf(1.3, size=(n, per_row)) % d
    own = rng.random(column.shape) < 0.3
    column = np.where(own, (column * 31 + 97 * y[:, None]) % d, column)
    place = np.repeat(np.arange(n), per_row), column.ravel()
    X = sparse.csr_matrix((np.ones(n * per_row), place), (n, d))
    return sparse.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(1)))), y


def contradictory(X, y):
    """Every row twice, a tenth of them with another label the second time."""
    other = np.random.default_rng(0).random(len(y)) < 0.1
    return np.r_[X, X], np.r_[y, np.where(other, (y + 1) % (y.max() + 1), y)]


iris, wine, cancer, pixels = (
    partial(load, return_X_y=True)
    for load in (load_iris, load_wine, load_breast_cancer, load_digits)
)


def digits():
    X, y = pixels()
    return X / 16, y


def odd_units():
    X, y = iris()
    return X * [1e-3, 1.0, 1.0, 1e9], y


DATA = {
    "iris": iris,
    "iris, columns from 1e-3 to 1e9": odd_units,
    "wine": lambda: standardised(*wine()),
    "cancer, raw": cancer,
    "digits": digits,
    "digits, a tenth contradicted": lambda: contradictory(*digits()),
    "synthetic": lambda: blobs(5000, 50, 10),
    "a hundred classes": lambda: blobs(2000, 50, 100),
    "30,000 rows": lambda: blobs(30_000, 30, 5),
    "150,000 rows": lambda: blobs(150_000, 20, 3),
    "100,000 rows, well apart": lambda: blobs(100_000, 50, 5, apart=4.0),
    "100,000 rows, no noise": lambda: blobs(100_000, 50, 5, apart=4.0, mislabelled=0.0),
    "texts": lambda: words(3000, 5000, 10),
}


@cache
def data(name):
    X, y = DATA[name]()
    return X, np.unique(y, return_inverse=True)[1]


# -- fits -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Case:
    """A fit: a data set and parameters of the classifier."""

    data: str
    C: float
    tol: float = 1e-3
    kernel: str = "linear"
    gamma: float | str = "scale"
    cache_size: float = 500.0

    def fit(self, strategies):
        """Return the certificate of a fit by these strategies."""
        how = {name: value for name, value in vars(self).items() if name != "data"}
        with patch.object(classifier, "STRATEGIES", tuple(strategies)):
            return CrammerSingerSVC(**how).fit(*data(self.data)).certificate_


LINEAR = [
    Case("iris", 1.0),
    Case("iris", 1e3, 1e-6),
    Case("iris, columns from 1e-3 to 1e9", 1.0),
    Case("wine", 1.0),
    Case("cancer, raw", 1e3),
    Case("digits", 0.1),
    Case("digits", 1.0, 1e-6),
    Case("digits", 100.0),
    Case("synthetic", 1.0),
    Case("synthetic", 100.0, 1e-5),
    Case("a hundred classes", 1.0),
    Case("texts", 1.0),
    Case("texts", 100.0),
    Case("30,000 rows", 1.0, 1e-2),
    Case("30,000 rows", 1.0),
    Case("150,000 rows", 0.1),
    Case("100,000 rows, well apart", 1.0),
    Case("100,000 rows, well apart", 100.0, 1e-5),
    Case("100,000 rows, no noise", 1.0),
]
KERNEL = [
    Case("iris", 1e4, 1e-6, "rbf"),
    Case("wine", 1.0, 1e-3, "rbf"),
    Case("digits", 1.0, 1e-3, "rbf"),
    Case("digits", 1e3, 1e-6, "rbf"),
    Case("digits", 1e4, 1e-3, "rbf", 1e-4),
    Case("digits, a tenth contradicted", 100.0, 1e-3, "rbf"),
    Case("synthetic", 10.0, 1e-3, "rbf"),
    Case("synthetic", 10.0, 1e-3, "rbf", "scale", 20.0),
    Case("synthetic", 1.0, 1e-8, "rbf", "scale", 50.0),
]


class Counted:
    """A strategy that counts its steps."""

    def __init__(self, strategy):
        self.strategy, self.taken = strategy, 0
        self.name, self.suits, self.budget = strategy.name, strategy.suits, strategy.budget

    def run(self, *given):
        state, taken = self.strategy.run(*given)
        self.taken += taken
        return state, taken


def label(strategy):
    """What a strategy is called in the table, with what sets it apart from its namesake."""
    first = getattr(strategy, "per_example", None)
    return f"{strategy.name}, first {first} steps" if first else strategy.name


# -- time -----------------------------------------------------------------------------------------
@contextmanager
def at_most(limit):
    """Stop what takes more CPU seconds by a TimeoutError."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def timed(case, strategies, limit):
    """CPU seconds of a fit; infinite if it takes longer or does not reach its gap."""
    try:
        with at_most(limit):
            run = once(partial(case.fit, strategies))
    except (TimeoutError, ValueError):  # or no strategy is left that suits
        return np.inf
    return run.seconds if run.value.converged else np.inf


def without_each(case, repeat):
    """Fit with all strategies, and without each that took a step; yields name, seconds, ratio."""
    counted = [Counted(s) for s in classifier.STRATEGIES]
    case.fit(counted)
    full = timed(case, classifier.STRATEGIES, AGES)
    for left in (c.strategy for c in counted if c.taken):
        rest = [s for s in classifier.STRATEGIES if s is not left]
        limit = max(LEAST, LONGEST * full)
        pairs = [(full, timed(case, rest, limit))]
        while len(pairs) < repeat and pairs[0][1] < 1.0:
            pairs.append((timed(case, classifier.STRATEGIES, AGES), timed(case, rest, limit)))
        yield label(left), full, statistics.median(t / f for f, t in pairs)


def warm_up():
    """Compile what strategies run before the clock starts."""
    for kernel, cache_size in (("linear", 500.0), ("rbf", 500.0), ("rbf", 0.1)):
        case = Case("iris", 1e3, 1e-6, kernel, "scale", cache_size)
        for strategy in classifier.STRATEGIES:
            with suppress(ValueError):  # it does not suit
                case.fit([strategy])


@benchmark("Crammer and Singer, without one strategy after the other")
def cs_without(repeat):
    """CPU seconds of a fit without a strategy over those of the fit with all, medians of pairs.
    Above 1 the strategy saves time; ∞: without it the fit missed its gap, or took six times as long
    (and three seconds). A strategy that took no step in a fit is not listed for it. What was
    measured is also written to `benchmarks/ablation.csv`, which the page of the classifier draws.
    """
    warm_up()
    rows = []
    for case in LINEAR + KERNEL:
        X, y = data(case.data)
        for strategy, full, ratio in without_each(case, repeat):
            memory = f", {case.cache_size:g} MB" if case.cache_size < 500 else ""
            width = f", γ = {case.gamma:g}" if case.gamma != "scale" else ""
            problem = f"{case.data}, C = {case.C:g}{width}{memory}"
            sizes = dict(zip(("n", "d", "K"), (*X.shape, y.max() + 1)))
            row = {"kernel": case.kernel, "problem": problem, **sizes, "gap": f"{case.tol:g}"}
            row |= {"strategy": strategy, "CPU s": seconds(full)}
            rows.append(row | {"without / with": f"{ratio:.2f}" if ratio < np.inf else "∞"})
            yield rows[-1]
    with open(TABLE, "w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
