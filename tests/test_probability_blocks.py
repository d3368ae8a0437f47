"""Where no kernel matrix fits into memory, the probabilities are those of fits that have one."""

import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification

from mcsvm_lit import SVMProbabilityClassifier
from mcsvm_lit.probability import schemes

ROOM = 60  # rows of the kernel matrix that are kept


@pytest.fixture
def no_matrix(monkeypatch):
    """No kernel matrix fits, and few of its rows do."""

    def forbid(n):
        monkeypatch.setattr(schemes, "fits", lambda n: False)
        monkeypatch.setattr(schemes, "MEGABYTES_OF_ROWS", ROOM * 8 * n / 2**20)

    return forbid


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("scheme", ["pairwise", "one-vs-rest"])
def test_blocks_give_the_same_probabilities(scheme, kernel, form, no_matrix):
    X, y = make_classification(240, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
    X = csr_matrix(X) if form == "sparse" else X
    settings = dict(scheme=scheme, kernel=kernel, n_weights=8, tol=1e-6)
    whole = SVMProbabilityClassifier(**settings).fit(X, y)
    no_matrix(len(y))
    blocks = SVMProbabilityClassifier(**settings).fit(X, y)
    assert blocks.certificate_.converged
    assert_allclose(blocks.temperature_, whole.temperature_, rtol=1e-2)
    assert_allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=2e-3)
