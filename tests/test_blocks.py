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
