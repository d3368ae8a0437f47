"""Classifiers of blocks, given rows in memory: scikit-learn's checks, and numbers of features."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcsvm_lit.scale import StreamedCrammerSingerSVC, StreamedLogisticRegression


def not_for_blocks(estimator):
    """Checks that cannot hold, and why."""
    if isinstance(estimator, StreamedLogisticRegression):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": "blocks differ, so fits differ in the gap",
        "check_class_weight_classifiers": "weights of 1000 and 0.0001: stops early, with a warning",
    }


@parametrize_with_checks(
    [StreamedCrammerSingerSVC(), StreamedLogisticRegression()],
    expected_failed_checks=not_for_blocks,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [StreamedCrammerSingerSVC, StreamedLogisticRegression])
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
