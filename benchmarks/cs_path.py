"""What it costs to have the classifier of Crammer and Singer for every C."""

import numpy as np
from harness import benchmark, once, seconds, side_by_side
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mcsvm_lit
from mcsvm_lit.crammer_singer.path_in_c import mean_curve

GRID = np.geomspace(1e-2, 1e2, 10)


def path_data(name):
    """Rows and classes."""
    if name.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        n = int(name.split()[1])
        return X[:n] / 16, y[:n]
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    return make_classification(1000, 20, n_informative=8, n_classes=3, random_state=0)


def folds_of(y):
    """Training and test rows of five folds."""
    yield from StratifiedKFold(5, shuffle=True, random_state=0).split(y, y)


def all_values(X, y, **kernel):
    """The highest cross-validated accuracy of all C."""
    curves = []
    for train, test in folds_of(y):
        path = mcsvm_lit.c_path(X[train], y[train], **kernel)
        curves.append(path.accuracy(X[test], y[test]))
    return mean_curve(curves).accuracy.max()


def grid_values(X, y, **kernel):
    """The highest cross-validated accuracy of ten C."""
    found = np.zeros(len(GRID))
    for train, test in folds_of(y):
        for j, C in enumerate(GRID):
            model = mcsvm_lit.CrammerSingerSVC(C=C, **kernel).fit(X[train], y[train])
            found[j] += model.score(X[test], y[test]) / 5
    return found.max()


@benchmark("Every C at once")
def c_paths(repeat):
    """`c_path` with the Gaussian kernel from C = 0 to ∞ beside one fit with C = 1 at the default
    gap of 1e-3, and cross-validation on five folds: the exact accuracy for every C against fits at
    ten of them. A path's optimality conditions hold to 1e-9 everywhere."""
    for name in ("iris", "three classes", "digits 500", "digits 1000"):
        X, y = path_data(name)
        kernel = {"gamma": 1 / (X.shape[1] * X.var())}
        seen = side_by_side(
            repeat,
            path=lambda X=X, y=y, kernel=kernel: mcsvm_lit.c_path(X, y, **kernel),
            fit=lambda X=X, y=y, k=kernel: mcsvm_lit.CrammerSingerSVC(**k).fit(X, y),
        )
        every, some = (once(lambda f=f: f(X, y, **kernel)) for f in (all_values, grid_values))
        path, fit = seen["path"], seen["fit"].seconds
        yield {
            "data": name,
            "rows": len(y),
            "classes": path.value.K,
            "pieces": len(path.value.last),
            "path, s": seconds(path.seconds),
            "one fit, s": seconds(fit),
            "in fits": f"{path.seconds / fit:.0f}",
            "cross-validated, all C, s": seconds(every.seconds),
            "ten C, s": seconds(some.seconds),
            "all / ten": f"{every.seconds / some.seconds:.1f}",
            "accuracy, all C": f"{every.value:.4f}",
            "ten C": f"{some.value:.4f}",
        }


WIDTHS = 2.0 ** np.arange(-6, 4)  # times the default width


@benchmark("All C and ten widths")
def c_search(repeat):
    """`CrammerSingerSVCCV` over all C and ten widths of the Gaussian kernel, from 1/64 to 8 times
    the default, on five folds, beside scikit-learn's `GridSearchCV` over ten C from 0.01 to 100 and
    the same widths, with `CrammerSingerSVC` at its default gap and with `SVC`. The narrowest
    kernels on ten classes take most of the time: there all classes of all examples are in the
    elbow."""
    for name in ("iris", "digits 200"):
        X, y = path_data(name)
        gammas, folds = WIDTHS / (X.shape[1] * X.var()), list(folds_of(y))
        grid = {"C": GRID, "gamma": gammas}

        def by_grid(model, X=X, y=y, grid=grid, folds=folds):
            return GridSearchCV(model, grid, cv=folds).fit(X, y).best_score_

        def by_paths(X=X, y=y, gammas=gammas, folds=folds):
            return mcsvm_lit.CrammerSingerSVCCV(gamma=gammas, cv=folds).fit(X, y).best_score_

        paths = once(by_paths)
        ours, svc = (once(lambda m=m: by_grid(m)) for m in (mcsvm_lit.CrammerSingerSVC(), SVC()))
        yield {
            "data": name,
            "all C, s": seconds(paths.seconds),
            "grid, s": seconds(ours.seconds),
            "grid of SVC, s": seconds(svc.seconds),
            "all C / grid": f"{paths.seconds / ours.seconds:.1f}",
            "accuracy, all C": f"{paths.value:.4f}",
            "grid": f"{ours.value:.4f}",
            "SVC": f"{svc.value:.4f}",
        }
