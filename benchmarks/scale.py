"""Linear classifiers of many rows against their peers."""

import numpy as np
from harness import against, benchmark, seconds, side_by_side, small
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from mcsvm_lit.core.passes import SmoothedHinge, Softmax
from mcsvm_lit.crammer_singer.classifier import CrammerSingerSVC
from mcsvm_lit.kernel_logistic.classifier import KernelLogisticRegression
from mcsvm_lit.scale.blocks import StreamedCrammerSingerSVC, StreamedLogisticRegression


def table(n, d, K):
    """Clusters of `make_classification`, one a class, half of the features informative."""
    return make_classification(
        n, d, n_informative=d // 2, n_classes=K, n_clusters_per_class=1, random_state=0
    )


def value(model, X, y, C, loss):
    """The objective of a linear classifier, recomputed; the intercepts are free."""
    F = model.decision_function(X)
    if F.ndim == 1:
        F = np.c_[-F / 2, F / 2]
    return (model.coef_**2).sum() / 2 + loss.look(F, y, np.full(len(y), C)).loss


def rows_of(name, runs, excess, goal=None):
    """Our row, with its certificate, and those of the others."""
    ours = next(iter(runs))
    best = runs[ours].value.certificate_.dual
    for solver, timed in runs.items():
        c = getattr(timed.value, "certificate_", None)
        yield {
            "problem": name,
            "solver": solver,
            "CPU s": seconds(timed.seconds),
            "certified gap": small(c.relative_gap) if c else "",
            "excess": small(excess(timed.value) / best - 1),
            "steps": f"{np.max(timed.value.n_iter_):,}",
            "ours / it": ""
            if solver == ours
            else against(runs[ours].seconds / timed.seconds, goal),
        }


@benchmark("Linear classifiers of many rows")
def scale(repeat):
    """Crammer and Singer to a gap of 1e-3 and logistic regression to 1e-6, the defaults, in memory
    and in blocks, beside scikit-learn at its own tolerance. The excess is that of the objective,
    recomputed, over our dual value, a lower bound on the optimum. A step is a pass over the rows.
    """
    kernel = dict(kernel="linear")
    for n, d, K, C in ((20_000, 50, 5, 0.1), (100_000, 100, 10, 0.1)):
        X, y = table(n, d, K)
        hinge = dict(C=C, fit_intercept=False)
        runs = {
            "ours": lambda: CrammerSingerSVC(C=C, **kernel).fit(X, y),
            "ours, in blocks": lambda: StreamedCrammerSingerSVC(C=C).fit(X, y),
        }
        if n <= 20_000:
            runs["LinearSVC"] = lambda: LinearSVC(multi_class="crammer_singer", **hinge).fit(X, y)
        timed = side_by_side(repeat, **runs)
        name = f"Crammer and Singer, {n:,} × {d}, {K} classes, C = {C}"
        yield from rows_of(name, timed, lambda m: value(m, X, y, C, SmoothedHinge()))
    for n, d, K in ((4000, 20, 3), (100_000, 100, 10)):
        X, y = table(n, d, K)
        timed = side_by_side(
            repeat,
            **{
                "ours": lambda: KernelLogisticRegression(**kernel).fit(X, y),
                "ours, in blocks": lambda: StreamedLogisticRegression().fit(X, y),
                "LogisticRegression": lambda: LogisticRegression(max_iter=1000).fit(X, y),
            },
        )
        name = f"logistic, {n:,} × {d}, {K} classes"
        yield from rows_of(name, timed, lambda m: value(m, X, y, 1.0, Softmax()), 1.5)
