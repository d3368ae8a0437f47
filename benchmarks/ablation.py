"""What each strategy is worth: Crammer and Singer's fits without one strategy after the other."""

import signal
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from harness import once
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

TABLE = Path(__file__).with_name("ablation.csv")
LONGEST = 5.0  # a fit without a strategy is stopped after so many times the fit with all,
LEAST = 2.0  # but not before so many seconds
REPEAT = 5  # the most pairs of fits


# -- data ------------------------------------------------------------------------------------------
def standardised(X, y):
    return StandardScaler().fit_transform(X), y


def every(step, X, y):
    return X[::step], y[::step]


def in_units(X, y, *powers):
    "Columns in other units, a power of ten for each."
    return X * 10.0 ** np.resize(np.array(powers, float), X.shape[1]), y


def blobs(n, d, K, seed=0):
    "Rows of several classes that overlap."
    return make_classification(
        n,
        d,
        n_informative=max(2, d // 2),
        n_redundant=d // 10,
        n_classes=K,
        n_clusters_per_class=1 if K > 10 else 2,
        class_sep=1.5,
        random_state=seed,
    )


def words(n, d, K, per_row=40, seed=0):
    "Sparse rows, like counts of words: each class prefers words of its own."
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    column = rng.zipf(1.3, size=(n, per_row)) % d
    column = np.where(rng.random(column.shape) < 0.3, (column * 31 + 97 * y[:, None]) % d, column)
    rows = np.repeat(np.arange(n), per_row)
    X = sparse.csr_matrix((np.ones(n * per_row), (rows, column.ravel())), (n, d))
    return sparse.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(1)))), y


def noisy(X, y, share=0.1):
    "Every row twice, the second time with another label for some."
    rng = np.random.default_rng(0)
    K = y.max() + 1
    other = np.where(rng.random(len(y)) < share, (y + 1) % K, y)
    return np.r_[X, X], np.r_[y, other]


@cache
def data(name):
    X, y = DATA[name]()
    return X, np.unique(y, return_inverse=True)[1]


iris, wine, cancer, digits = (
    partial(f, return_X_y=True) for f in (load_iris, load_wine, load_breast_cancer, load_digits)
)
DATA = {
    "iris": iris,
    "iris, odd units": lambda: in_units(*iris(), -3, 0, 0, 9),
    "wine, as it is": wine,
    "wine": lambda: standardised(*wine()),
    "cancer, as it is": cancer,
    "digits": lambda: (digits()[0] / 16, digits()[1]),
    "digits, as they are": digits,
    "digits, noisy twins": lambda: noisy(digits()[0] / 16, digits()[1]),
    "synthetic": lambda: standardised(*blobs(5000, 50, 10)),
    "100 classes": lambda: standardised(*blobs(2000, 50, 100)),
    "30,000 rows": lambda: standardised(*blobs(30_000, 30, 5)),
    "150,000 rows": lambda: standardised(*blobs(150_000, 20, 3)),
    "words": lambda: words(3000, 5000, 10),
    "30,000 texts": lambda: words(30_000, 20_000, 10),
}
FROM_FILES = "usps", "letter", "satimage", "vowel_deterding", "mnist_5k", "shuttle", "segment"


# -- fits ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Case:
    "A fit: a data set and the classifier's parameters."

    data: str
    C: float
    tol: float = 1e-3
    kernel: str = "linear"
    more: tuple = ()

    def fit(self, strategies):
        X, y = data(self.data)
        m = CrammerSingerSVC(self.C, kernel=self.kernel, tol=self.tol, **dict(self.more))
        with patch.object(classifier, "STRATEGIES", tuple(strategies)):
            return m.fit(X, y).certificate_


@dataclass
class Recorded:
    "A strategy that remembers whether it has taken a step."

    strategy: object
    taken: int = 0
    name: str = field(init=False)

    def __post_init__(self):
        self.name = self.strategy.name
        self.suits, self.budget = self.strategy.suits, self.strategy.budget

    def run(self, *given):
        state, taken = self.strategy.run(*given)
        self.taken += taken
        return state, taken


@contextmanager
def at_most(limit):
    "Stop what takes longer, in CPU seconds, by a TimeoutError."

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def timed(case, strategies, limit):  # -> seconds, or inf if it does not converge in time
    try:
        with at_most(limit):
            run = once(partial(case.fit, strategies))
    except (TimeoutError, ValueError):
        return np.inf
    return run.seconds if run.value.converged else np.inf
