"""Linear classifiers of many rows, of many classes and on a cluster, against their peers."""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from harness import (
    against,
    benchmark,
    once,
    output_of,
    peak,
    peak_from_here,
    seconds,
    side_by_side,
    small,
)
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from mcsvm_lit import SVMProbabilityClassifier, TruncatedHingeSVC, TwinKSVC, TwinMarginSVC
from mcsvm_lit.core.losses import Hinge, Softmax
from mcsvm_lit.crammer_singer.classifier import CrammerSingerSVC
from mcsvm_lit.kernel_logistic.classifier import KernelLogisticRegression
from mcsvm_lit.scale.streamed import StreamedCrammerSingerSVC, StreamedKernelLogisticRegression


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
    In blocks, 20,000 rows can all be at work in memory: that takes fewer passes, and more time
    where many of them decide, as here."""
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
        yield from rows_of(name, timed, lambda m: value(m, X, y, C, Hinge(1.0)))
    for n, d, K in ((4000, 20, 3), (100_000, 100, 10)):
        X, y = table(n, d, K)
        timed = side_by_side(
            repeat,
            **{
                "ours": lambda: KernelLogisticRegression(**kernel).fit(X, y),
                "ours, in blocks": lambda: StreamedKernelLogisticRegression().fit(X, y),
                "LogisticRegression": lambda: LogisticRegression(max_iter=1000).fit(X, y),
            },
        )
        name = f"logistic, {n:,} × {d}, {K} classes"
        yield from rows_of(name, timed, lambda m: value(m, X, y, 1.0, Softmax()), 1.5)


# -- a cluster ------------------------------------------------------------------------------------
MILLION = 1_000_000
PIECE = 25_000  # rows of a partition
WIDTH, CLASSES = 50, 10
CALIBRATION = Path(__file__).with_name("cluster.csv")  # what page 72 computes with


def planted(seed, rows, prototypes, first=0):
    """Rows and labels of a piece: the class with the highest score, disturbed."""
    rng = np.random.default_rng([seed, first])
    X = rng.normal(size=(rows, prototypes.shape[1]))
    return X, (X @ prototypes.T + rng.gumbel(size=(rows, len(prototypes)))).argmax(1)


def spread(prototypes):
    """A million rows in partitions that workers make themselves."""
    import dask.array as da
    from dask import delayed

    pieces = [delayed(planted)(1, PIECE, prototypes, i) for i in range(MILLION // PIECE)]
    X = [da.from_delayed(p[0], (PIECE, prototypes.shape[1]), float) for p in pieces]
    y = [da.from_delayed(p[1], (PIECE,), int) for p in pieces]
    return da.concatenate(X), da.concatenate(y)


def used():
    """CPU seconds of a worker so far, and the peak of its memory in megabytes."""
    return time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def distributed_fit(kind, client, X, y):
    """A fit, the CPU seconds of workers and driver, and the peak of a worker."""
    before, here = client.run(used), time.process_time()
    model = kind(C=0.1).fit(X, y)
    driver = time.process_time() - here
    after = client.run(used)
    workers = sum(after[w][0] - before[w][0] for w in after)
    return model, workers, driver, max(peak for _, peak in after.values())


def speed_of_pieces(prototypes):
    """Products a second, and seconds for the loss of a row and class, on one partition."""
    X, y = planted(2, PIECE, prototypes)
    F, c = X @ prototypes.T, np.ones(PIECE)
    products = once(lambda: (X @ prototypes.T, F.T @ X)).seconds
    hinge = once(lambda: Hinge(1.0).look(F, y, c)).seconds
    return 4 * X.size * len(prototypes) / products, hinge / F.size


def empty_round(client, blocks):
    """Wall seconds of a round that computes nothing."""
    start = time.time()
    client.gather([client.submit(len, b"", pure=False) for _ in range(blocks)])
    return time.time() - start


@benchmark("A million rows on two processes")
def cluster(repeat):
    """Dask's LocalCluster of two processes with a thread each, 1,000,000 × 50 rows of 10 classes in
    40 partitions that the workers make themselves; C = .1, default gaps; each fit once. CPU seconds
    of the two workers together, making the rows included, and of the process that drives them. The
    last column: right labels of 50,000 new rows. What page 72 computes with is written to
    `benchmarks/cluster.csv`.
    """
    from dask.distributed import Client, LocalCluster

    from mcsvm_lit.scale import StreamedCrammerSingerSVC, StreamedKernelLogisticRegression

    prototypes = np.random.default_rng(0).normal(size=(CLASSES, WIDTH))
    how = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    known = dict(zip(("flops", "loss"), speed_of_pieces(prototypes)))
    new = planted(3, 2 * PIECE, prototypes)
    with LocalCluster(**how) as made, Client(made) as client:
        client.wait_for_workers(2)
        X, y = spread(prototypes)
        for kind in (StreamedCrammerSingerSVC, StreamedKernelLogisticRegression):
            model, workers, driver, peak = distributed_fit(kind, client, X, y)
            c = model.certificate_
            name = "hinge" if kind is StreamedCrammerSingerSVC else "softmax"
            known |= {f"rounds_{name}": c.n_iter, f"pass_{name}": workers / c.passes}
            known |= {f"driver_{name}": driver / c.n_iter}
            known |= {f"received_{name}": c.received / c.n_iter}
            yield {
                "classifier": kind.__name__,
                "rounds": c.n_iter,
                "gap": small(c.relative_gap),
                "workers, CPU s": seconds(workers),
                "driver, CPU s": seconds(driver),
                "MB sent": f"{c.sent / 1e6:.1f}",
                "MB received": f"{c.received / 1e6:.1f}",
                "peak MB of a worker": f"{peak:.0f}",
                "right, %": f"{100 * (model.predict(new[0]) == new[1]).mean():.1f}",
            }
        known["latency"] = empty_round(client, MILLION // PIECE)
    keep(known)


def keep(known):
    """Write what was measured for page 72."""
    known |= dict(rows=MILLION, features=WIDTH, classes=CLASSES, blocks=MILLION // PIECE, workers=2)
    lines = [f"{name},{value:.6g}" for name, value in known.items()]
    CALIBRATION.write_text("\n".join(["quantity,value", *lines, ""]), encoding="utf-8")


# -- each fit in a process of its own --------------------------------------------------------------
NEW = 2000  # rows that are held out


class Alone(NamedTuple):
    """A fit that is measured in a process of its own.

    Attributes
    ----------
    kind : str
        The class, by its name in this module.
    shape : tuple of int
        Rows, features, classes.
    how : dict
        Parameters.
    data : str
        "dense", "sparse" (a hundred non-zeros a row) or "file", a memory map.
    """

    kind: str
    shape: tuple
    how: dict
    data: str = "dense"


def clouds(shape, data, seed=0):
    """Rows around a centre for each class; sparse ones have a hundred entries, ten of the class."""
    n, d, K = shape
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(K), rng.integers(0, K, n + NEW - K)]
    if data != "sparse":
        centres = rng.normal(size=(K, d)).astype(np.float32)
        X = rng.normal(scale=2, size=(n + NEW, d)).astype(np.float32)
        X += centres[y]
        X /= np.float32(d**0.5)
        return (X if data == "file" else X.astype(float)), y
    words = rng.integers(0, d, (n + NEW, 100))
    own = rng.integers(0, d, (K, 30))
    words[:, :10] = np.take_along_axis(own[y], rng.integers(0, 30, (n + NEW, 10)), axis=1)
    rows = np.repeat(np.arange(n + NEW), 100)
    X = sparse.csr_matrix((np.full(len(rows), 0.1), (rows, words.ravel())), shape=(n + NEW, d))
    return X, y


def fit_alone(job):
    """Fit, and print what it took."""
    X, y = clouds(job.shape, job.data)
    n = job.shape[0]
    A, a, B, b = X[:n], y[:n], X[n:].copy(), y[n:]
    model = KINDS[job.kind](**job.how)
    few = np.r_[np.arange(min(job.shape[2], 20)), np.flatnonzero(a < 20)[:200]]
    model.fit(A[few], a[few])  # compiled code is loaded
    with tempfile.TemporaryDirectory() as folder:
        if job.data == "file":
            np.save(Path(folder) / "X.npy", A)
            A = np.load(Path(folder) / "X.npy", mmap_mode="r")
            del X
        before = peak_from_here()
        run = once(lambda: model.fit(A, a))
    c = getattr(run.value, "certificate_", None)
    print(
        json.dumps(
            {
                "seconds": run.seconds,
                "before": before,
                "peak": peak(),
                "gap": c and c.relative_gap,
                "right": 100 * run.value.score(B, b),
                "warned": run.warned,
            }
        )
    )


def row_of(job):
    """A row of a table, from a process of its own."""
    r = json.loads(output_of([sys.executable, __file__, json.dumps(job)]))
    n, d, K = job.shape
    extras = [f"{k}={v}" for k, v in job.how.items() if k in ("kernel", "rank", "multi_class")]
    return {
        "classifier": f"{job.kind}({', '.join(extras)})",
        "rows × features": f"{n:,} × {d:,}" + FORMS[job.data],
        "classes": K,
        "CPU s": seconds(r["seconds"]) + "!" * r["warned"],
        "gap": small(r["gap"]) if r["gap"] is not None else "",
        "before, MB": f"{r['before']:.0f}",
        "peak, MB": f"{r['peak']:.0f}",
        "right, %": f"{r['right']:.1f}",
    }


KINDS = {
    kind.__name__: kind
    for kind in (
        CrammerSingerSVC,
        KernelLogisticRegression,
        StreamedCrammerSingerSVC,
        StreamedKernelLogisticRegression,
        TwinMarginSVC,
        TwinKSVC,
        TruncatedHingeSVC,
        SVMProbabilityClassifier,
        LinearSVC,
        LogisticRegression,
        SGDClassifier,
    )
}
FORMS = {"dense": "", "sparse": ", sparse", "file": ", a file"}
LINEAR = {"kernel": "linear"}
SPAN = {"kernel": "rbf", "rank": 300}


@benchmark("A thousand classes")
def many_classes(repeat):
    """Linear classifiers, C = 1, defaults, each once in a process of its own: clouds around a
    centre for each class, and rows like text, a hundred words of which ten are of the class.
    Memory: what the process held before the fit, data included, and its peak. `!`: not converged,
    with a warning. `SGDClassifier` solves a thousand problems of two classes.
    `LogisticRegression` is left out for text: it took more than 2300 MB. Right: of 2000 new
    rows."""
    theirs = {"multi_class": "crammer_singer", "fit_intercept": False}
    dense, text = ((5000, 100, 1000), "dense"), ((5000, 20_000, 1000), "sparse")
    jobs = [
        ("CrammerSingerSVC", LINEAR, *dense),
        ("LinearSVC", theirs, *dense),
        ("KernelLogisticRegression", LINEAR, *dense),
        ("LogisticRegression", {"max_iter": 1000}, *dense),
        ("SGDClassifier", {}, *dense),
        ("CrammerSingerSVC", LINEAR, *text),
        ("LinearSVC", theirs, *text),
        ("KernelLogisticRegression", LINEAR, *text),
    ]
    for kind, how, shape, data in jobs:
        yield row_of(Alone(kind, shape, how, data))


@benchmark("How far does each classifier go?")
def reach(repeat):
    """One fit of each classifier at a size that takes a minute or less, in a process of its own,
    with the defaults but for what is named: clouds around a centre for each class. It is no limit:
    linear fits grow in proportion to rows × features × classes, those with a kernel and all its
    functions with the square of the rows or faster, those with `rank` in proportion to the rows.
    Memory: what the process held before the fit, data included, and its peak; of a file it holds
    what has been read last, as long as nobody else needs the room."""
    jobs = [
        Alone("CrammerSingerSVC", (500_000, 50, 10), LINEAR),
        Alone("KernelLogisticRegression", (500_000, 50, 10), LINEAR),
        Alone("StreamedCrammerSingerSVC", (1_000_000, 50, 10), {}, "file"),
        Alone("StreamedKernelLogisticRegression", (1_000_000, 50, 10), {}, "file"),
        Alone("CrammerSingerSVC", (20_000, 50, 10), {"kernel": "rbf"}),
        Alone("KernelLogisticRegression", (16_000, 50, 3), {"kernel": "rbf"}),
        Alone("CrammerSingerSVC", (200_000, 50, 10), SPAN),
        Alone("KernelLogisticRegression", (200_000, 50, 10), SPAN),
        Alone("TwinMarginSVC", (5000, 50, 3), {"kernel": "rbf"}),
        Alone("TwinKSVC", (3000, 50, 3), {"kernel": "rbf"}),
        Alone("TruncatedHingeSVC", (2000, 50, 3), {"kernel": "rbf"}),
        Alone("SVMProbabilityClassifier", (1000, 50, 3), {"kernel": "rbf"}),
    ]
    yield from map(row_of, jobs)


if __name__ == "__main__":
    kind, shape, how, data = json.loads(sys.argv[1])
    fit_alone(Alone(kind, tuple(shape), how, data))
