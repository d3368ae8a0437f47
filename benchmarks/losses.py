"""What it costs to have another loss than Crammer and Singer's."""

from harness import against, benchmark, seconds, side_by_side, small
from sklearn.datasets import load_digits, make_classification
from sklearn.svm import SVC

from mcsvm_lit import CrammerSingerSVC, MulticlassSVC

LOSSES = "crammer-singer", "weston-watkins", "top-k", "lee-lin-wahba", "absolute-maximum"


def three_classes(n):
    return make_classification(n, 20, n_informative=8, n_classes=3, random_state=0)


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


DATA = {
    "three classes, 1000 rows": lambda: three_classes(1000),
    "three classes, 3000 rows": lambda: three_classes(3000),
    "digits": digits,
}


@benchmark("Other losses")
def losses(repeat):
    """`MulticlassSVC` with the Gaussian kernel at the default gap of 1e-3, beside
    `CrammerSingerSVC`, whose solver knows one loss, and scikit-learn's `SVC`, which solves a
    problem for each pair of classes and certifies nothing."""
    for name, load in DATA.items():
        X, y = load()
        for C in (1.0, 100.0):
            for loss in LOSSES:
                given = {"C": C, "gamma": 1 / (X.shape[1] * X.var())}
                seen = side_by_side(
                    repeat,
                    ours=lambda given=given, loss=loss, X=X, y=y: MulticlassSVC(
                        loss=loss, **given
                    ).fit(X, y),
                    one=lambda given=given, X=X, y=y: CrammerSingerSVC(**given).fit(X, y),
                    svc=lambda given=given, X=X, y=y: SVC(**given).fit(X, y),
                )
                ours = seen["ours"]
                yield {
                    "data": name,
                    "C": f"{C:g}",
                    "loss": loss,
                    "gap": small(ours.value.certificate_.relative_gap),
                    "ours, s": seconds(ours.seconds),
                    "ours / `CrammerSingerSVC`": against(ours.seconds / seen["one"].seconds),
                    "ours / `SVC`": against(ours.seconds / seen["svc"].seconds),
                }
