"""Every fit leaves one line in the log of the package, and costs nothing where nobody reads it."""

import logging
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from test_whole_fits import FIRST, X, every, targets

from mcsvm_lit import CrammerSingerSVC, TruncatedHingeSVC, WeightedVoteClassifier
from mcsvm_lit.core import estimators


class Kept(logging.Handler):
    """Keeps the records of a logger in a list."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


LOGGER = logging.getLogger("mcsvm_lit")


@pytest.fixture
def lines():
    """The records of the package's logger, from the level INFO on."""
    kept = Kept()
    LOGGER.addHandler(kept)
    LOGGER.setLevel(logging.INFO)
    yield kept.records
    LOGGER.setLevel(logging.NOTSET)
    LOGGER.removeHandler(kept)


@every
def test_every_fit_has_its_line(model, lines):
    """Of the whole fit, whatever others it consists of, and of what the certificate says."""
    fitted = clone(model).fit(X, targets(model, FIRST))
    (line,) = lines
    facts, c = line.args, getattr(fitted, "certificate_", None)
    assert (line.name, line.levelname, line.filename) == ("mcsvm_lit", "INFO", "test_logging.py")
    said = r"(\w+), \d+\.\d\d s: (\d+) rows, 3 classes(.*)"
    name, rows, rest = re.fullmatch(said, line.getMessage()).groups()
    assert (name, rows) == (type(model).__name__, str(len(X))) and facts["seconds"] > 0
    assert bool(rest) == (c is not None) == (not isinstance(model, WeightedVoteClassifier))
    if c is not None:
        assert (facts["relative_gap"], facts["tol"]) == (c.relative_gap, model.tol)
        reached = "reached" if c.converged else "not reached"
        gap = f"relative gap {c.relative_gap:.1e}, tol {c.tol:.0e} {reached}"
        assert rest == f", {fitted.n_iter_} steps, {gap}"


@every
def test_a_fit_that_fails_has_none(model, lines):
    with pytest.raises(ValueError, match="NaN"):
        clone(model).fit(np.full_like(X, np.nan), targets(model, FIRST))
    assert not lines


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_fits_within_a_fit_are_details(n_jobs, lines):
    """Also in threads of their own; the fit that comes after them is none of them."""
    several = WeightedVoteClassifier(n_weights=3, scheme="one-vs-rest", n_jobs=n_jobs)
    several.fit(X, FIRST)
    assert [line.args["classifier"] for line in lines] == ["WeightedVoteClassifier"]
    LOGGER.setLevel(logging.DEBUG)
    several.fit(X, FIRST)
    _, *details, whole = lines
    assert whole.levelname == "INFO" and len(details) == len(several.estimators_) == 9
    for line in details:
        assert (line.levelname, line.args["classifier"]) == ("DEBUG", "TruncatedHingeSVC")
    TruncatedHingeSVC().fit(X, FIRST)
    assert lines[-1].levelname == "INFO"


def test_a_fit_that_fails_within_another_leaves_the_level_as_it_was(lines):
    class Refusing(TruncatedHingeSVC):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        WeightedVoteClassifier(Refusing()).fit(X, FIRST)
    TruncatedHingeSVC().fit(X, FIRST)
    assert len(lines) == 1


def test_folds_are_fits_that_somebody_called(lines):
    cross_val_score(CrammerSingerSVC(), X, FIRST, cv=3)
    assert len(lines) == 3


def test_where_nobody_reads_nothing_is_counted(monkeypatch, lines):
    def unwanted(*_):
        raise AssertionError("nobody asked for this")

    monkeypatch.setattr(estimators, "_facts", unwanted)
    LOGGER.setLevel(logging.WARNING)
    CrammerSingerSVC().fit(X, FIRST)
    assert not lines


def test_an_error_in_the_log_leaves_the_estimator_as_it_was(lines):
    class Broken(logging.Handler):
        def emit(self, record):
            raise KeyboardInterrupt

    model, broken = CrammerSingerSVC().fit(X, FIRST), Broken()
    before = dict(vars(model))
    LOGGER.addHandler(broken)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :2], FIRST)
    finally:
        LOGGER.removeHandler(broken)
    assert vars(model) == before


def test_rows_that_nobody_has_counted_are_left_out(lines):
    from mcsvm_lit.scale import StreamedCrammerSingerSVC

    StreamedCrammerSingerSVC().fit([(X[:15], FIRST[:15]), (X[15:], FIRST[15:])])
    (line,) = lines
    assert "rows" not in line.args and "s: 3 classes, " in line.getMessage()
