"""Handwritten digits of scikit-learn, 1797 x 64, ten classes, pixels from 0 to 1."""

from benchopt import BaseDataset
from sklearn.datasets import load_digits


class Dataset(BaseDataset):
    name = "digits"

    def get_data(self):
        X, y = load_digits(return_X_y=True)
        return dict(X=X / 16, y=y)
