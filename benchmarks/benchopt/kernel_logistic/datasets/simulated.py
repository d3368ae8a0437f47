"""Clusters of scikit-learn's `make_classification`, standardised."""

from benchopt import BaseDataset
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler


class Dataset(BaseDataset):
    name = "simulated"
    parameters = {"n, d, K": [(1000, 20, 5)]}
    test_parameters = {"n, d, K": [(60, 8, 3)]}

    def get_data(self):
        X, y = make_classification(
            self.n,
            self.d,
            n_informative=self.d // 2,
            n_classes=self.K,
            n_clusters_per_class=1,
            random_state=0,
        )
        return dict(X=StandardScaler().fit_transform(X), y=y)
