"""Classifiers of blocks, given rows in memory: scikit-learn's checks, and numbers of features."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcsvm_lit.scale import StreamedCrammerSingerSVC, StreamedKernelLogisticRegression


# Without an intercept no classifier gives all rows the class of the larger weight, as one check
# asks; and two fits of the same data in different blocks agree as far as the tolerance asks.
@parametrize_with_checks(
    [StreamedCrammerSingerSVC(fit_intercept=True, tol=1e-9), StreamedKernelLogisticRegression()]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [StreamedCrammerSingerSVC, StreamedKernelLogisticRegression])
def test_number_of_features(kind):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    for given in ((X, y), ([(X[:30], y[:30]), (X[30:], y[30:])],)):
        model = kind(tol=1e-2).fit(*given)
        assert model.predict(X).shape == (60,)
        with pytest.raises(ValueError, match="3 features, but .* is expecting 4"):
            model.predict(X[:, :3])
        with pytest.raises(ValueError, match="3 features, the first has 4"):
            list(model.predict([(X[:, :3],)]))


KINDS = [StreamedCrammerSingerSVC, StreamedKernelLogisticRegression]
ROWS = np.random.default_rng(0).normal(size=(6, 2))
LABELS = [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "given, sentence",
    [
        (("visits.npy", LABELS), "X must be rows, or blocks .* got str"),
        (("visits.npy",), "X must be rows, or blocks .* got str"),
        ((3.5, LABELS), "X must be rows, or blocks .* got float"),
        ((ROWS[:, 0], LABELS), "1D array"),
        (([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], LABELS), "1D array"),
        (([ROWS],), "A block must be a pair|dim 3"),
        ((ROWS, [0, 1, np.nan, 1, 0, 1]), "Input y contains NaN: row 2"),
        (([(ROWS, [0, 1, np.nan, 1, 0, 1])],), "Input y contains NaN: row 2"),
        ((ROWS, [0, 1, np.inf, 1, 0, 1]), "Input y contains infinity: row 2"),
        ((ROWS, np.array(["a", None, "a", "b", "a", "b"], object)), "Input y contains NaN: row 1"),
        ((ROWS * 1e200, LABELS), "whose square is too large"),
        (([(ROWS * 1e200, LABELS)],), "whose square is too large"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_cannot_be_read_is_refused_in_a_sentence(kind, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        kind().fit(*given)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_with_missing_values(kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.array([1, 2, None, 4, 5, 6], "Int64"), "b": ROWS[:, 0]})
    with pytest.raises(ValueError, match="missing or not numbers|contains NaN"):
        kind().fit(frame, LABELS)
    with pytest.raises(ValueError, match="Input y contains NaN: row 2"):
        kind().fit(frame[["b"]], pd.array([0, 1, None, 1, 0, 1], "Int64"))
    whole = frame.dropna()
    model = kind(tol=1e-2).fit(whole, np.array(LABELS)[whole.index])
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="missing or not numbers|contains NaN"):
        model.predict(frame)
