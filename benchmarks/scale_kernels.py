"""Kernels for many rows: landmarks, and twin planes by columns of their dual."""

import json
import sys

import numpy as np
from harness import (
    against,
    benchmark,
    once,
    output_of,
    peak,
    peak_from_here,
    recorded,
    seconds,
    side_by_side,
    small,
)
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression, TwinKSVC


# -- one plane of each pair ------------------------------------------------------------------------
def three_classes(n):
    return make_classification(n, 20, n_informative=10, n_classes=3, random_state=0)


@benchmark("Twin planes with a Gaussian kernel, one λ")
def twin_kernels(repeat):
    """Three classes, `make_classification` with 20 features, 10 of them informative; end to end.
    The gap is that of the worst of the six planes, among all functions of the kernel; it may be far
    above 1e-6 with landmarks, where it says what more of them could gain. `SVC` solves another
    problem: read its time as what a user is used to. Right: share of 1000 new rows."""
    X, y = three_classes(60)
    TwinKSVC(kernel="rbf").fit(X, y)
    for n in (300, 1000, 3000, 10_000):
        X, y = three_classes(n + 1000)
        ours = {"ours": None} if n < 10_000 else {}
        ours["ours, rank=200"] = 200
        runs = {
            name: lambda X=X, y=y, n=n, rank=rank: TwinKSVC(kernel="rbf", rank=rank).fit(
                X[:n], y[:n]
            )
            for name, rank in ours.items()
        }
        runs["SVC"] = lambda X=X, y=y, n=n: SVC().fit(X[:n], y[:n])
        for solver, run in side_by_side(repeat, **runs).items():
            m = run.value
            gap = m.full_certificate_.relative_gap if solver != "SVC" else None
            yield {
                "n": n,
                "solver": solver,
                "CPU s": seconds(run.seconds),
                "gap": "" if gap is None else small(gap),
                "right, %": f"{100 * m.score(X[n:], y[n:]):.1f}",
            }


# -- beyond the cache ------------------------------------------------------------------------------
@benchmark("Gaussian kernels whose matrix does not fit")
def beyond_cache(repeat):
    """`make_classification`, Gaussian kernel, C = 1, all at their defaults, end to end: ten classes
    with 50 features for `CrammerSingerSVC`, three with 20 for `KernelLogisticRegression`. The
    matrix fits into `cache_size` in double precision up to 8095 rows, in single precision up to
    11,448, and half of it up to 16,000. `SVC` solves another problem, in parts of two classes."""
    ten = dict(n_features=50, n_informative=20, n_classes=10, n_clusters_per_class=1)
    three = dict(n_features=20, n_informative=10, n_classes=3)
    jobs = [
        (CrammerSingerSVC, ten, (10_000, 20_000), 1),
        (KernelLogisticRegression, three, (8_000, 16_000), 2),
    ]
    for kind, shape, sizes, goal in jobs:
        few = make_classification(600, random_state=0, **shape)
        kind(kernel="rbf", cache_size=1).fit(*few)
        for n in sizes:
            data = make_classification(n, random_state=0, **shape)
            runs = side_by_side(
                repeat,
                ours=lambda kind=kind, data=data: kind(kernel="rbf").fit(*data),
                SVC=lambda data=data: SVC().fit(*data),
            )
            ours, theirs = runs["ours"], runs["SVC"]
            yield {
                "classifier": kind.__name__,
                "n": n,
                "CPU s": seconds(ours.seconds),
                "gap": small(ours.value.certificate_.relative_gap),
                "SVC": seconds(theirs.seconds),
                "ours / SVC": against(ours.seconds / theirs.seconds, goal),
            }


# -- landmarks beside the full kernel --------------------------------------------------------------
@benchmark("Landmarks beside the full kernel")
def landmarks_or_all(repeat):
    """The data of the table above, C = 1, defaults: among all functions of the kernel, and in the
    span of 300 landmarks. The gap is that of the full problem, in brackets what rounding can add to
    it. Right: share of 2000 new rows."""
    ten = dict(n_features=50, n_informative=20, n_classes=10, n_clusters_per_class=1)
    three = dict(n_features=20, n_informative=10, n_classes=3)
    jobs = [
        (CrammerSingerSVC, ten, ((5000, 1), (10_000, 1), (20_000, 1), (10_000, 30))),
        (KernelLogisticRegression, three, ((5000, 1), (10_000, 1), (16_000, 1), (10_000, 30))),
    ]
    for kind, shape, sizes in jobs:
        few = make_classification(600, random_state=0, **shape)
        for how in ({}, {"rank": 50}):
            kind(kernel="rbf", cache_size=1, **how).fit(*few)
        for n, wider in sizes:
            X, y = make_classification(n + 2000, random_state=0, **shape)
            γ = 1 / X.shape[1] / X[:n].var() / wider

            def fit(kind=kind, X=X, y=y, n=n, γ=γ, **how):
                return kind(kernel="rbf", gamma=γ, **how).fit(X[:n], y[:n])

            runs = side_by_side(
                repeat,
                **{
                    "all functions": fit,
                    "rank=300": lambda fit=fit: fit(rank=300),
                },
            )
            for how, run in runs.items():
                c = run.value.full_certificate_
                yield {
                    "classifier": kind.__name__,
                    "n": n,
                    "γ": "scale" if wider == 1 else f"scale / {wider}",
                    "fit": how,
                    "CPU s": seconds(run.seconds),
                    "full gap": f"{small(c.relative_gap)} (+ {small(c.relative_rounding)})",
                    "right, %": f"{100 * run.value.score(X[n:], y[n:]):.1f}",
                }


# -- half a million rows ---------------------------------------------------------------------------
CLASSES, CLOUDS, MEASURED = 7, 6, 10
SHARES = np.array([0.365, 0.488, 0.062, 0.005, 0.016, 0.030, 0.034])
ONE_HOT = 4, 40  # areas and soils


def forests(n, seed=0):
    """Rows in the manner of covtype: 10 measurements, 4 areas, 40 soils, 7 uneven classes."""
    fixed, rng = np.random.default_rng(12345), np.random.default_rng(seed)
    centres = 1.2 * fixed.normal(size=(CLASSES, CLOUDS, MEASURED))
    mixing = 0.35 * fixed.normal(size=(CLASSES, CLOUDS, MEASURED, MEASURED))
    kinds = [fixed.dirichlet(np.full(m, 8 / m / m**0.5), size=(CLASSES, CLOUDS)) for m in ONE_HOT]
    y = rng.choice(CLASSES, n, p=SHARES / SHARES.sum())
    cloud = rng.integers(CLOUDS, size=n)
    X = np.zeros((n, MEASURED + sum(ONE_HOT)))
    noise = rng.normal(size=(n, MEASURED))
    for r in range(CLASSES):
        for k in range(CLOUDS):
            i = np.flatnonzero((y == r) & (cloud == k))
            X[i, :MEASURED] = centres[r, k] + noise[i] @ (0.6 * np.eye(MEASURED) + mixing[r, k])
            start = MEASURED
            for shares in kinds:
                m = shares.shape[2]
                X[i, start + rng.choice(m, len(i), p=shares[r, k])] = 1
                start += m
    return X, y


def makers(rank, cache_size):
    "What is compared, all with C = 1."
    few = {"rank": rank, "cache_size": cache_size}
    nystroem = Nystroem(n_components=rank, random_state=0)
    return {
        "CrammerSingerSVC": CrammerSingerSVC(tol=2e-3, **few),
        "KernelLogisticRegression": KernelLogisticRegression(tol=1e-3, **few),
        "Nystroem + LinearSVC": make_pipeline(nystroem, LinearSVC()),
        "Nystroem + LogisticRegression": make_pipeline(nystroem, LogisticRegression(max_iter=200)),
        "SVC": SVC(cache_size=cache_size),
    }


def fit_forests(solver, n, rank, cache_size):
    """Fit in a process of its own, so that the peak of its memory is its own; prints a report."""
    X, y = forests(n + 10_000)
    A, a, B, b = X[:n], y[:n], X[n:], y[n:]
    m = makers(rank, cache_size)[solver]
    if "Nystroem" in solver:  # its default for gamma is another one than ours
        m.steps[0][1].set_params(gamma=1 / (A.shape[1] * A.var()))
    few = m.fit(A[:1000], a[:1000])  # compiled code is loaded
    before = peak_from_here()
    run = once(lambda: few.fit(A, a))
    report = {
        "seconds": run.seconds,
        "before": before,
        "peak": peak(),
        "right": 100 * run.value.score(B, b),
        "warned": run.warned,
    }
    if hasattr(run.value, "full_certificate_"):
        within, full = run.value.certificate_, run.value.full_certificate_
        report |= {"gap": within.proved_gap, "P": within.primal, "D": full.dual - full.rounding}
    print(json.dumps(report))


def report_of(solver, n, rank, cache_size):
    return json.loads(output_of([sys.executable, __file__, solver, n, rank, cache_size]))


@benchmark("Kernels for half a million rows")
def landmarks(repeat):
    """Rows in the manner of covtype (54 columns, 7 uneven classes, generated), Gaussian kernel with
    `gamma="scale"`, C = 1, each fit once in a process of its own. Memory: what the process held
    before the fit, data included, and its peak. The gap is that among the functions of the
    landmarks, rounding included; optimum ≥ is the share of the objective reached that the
    certificate of the full kernel proves to be needed: what is missing to 100 % is the most that
    the full kernel could gain, and for so many rows a pessimistic bound of it (7c.4).
    Right: share of 10,000 new rows. `SVC` sees a part of the rows. `Nystroem` draws its landmarks
    at random and is given our `gamma`; its features stay in memory as a whole."""
    jobs = [
        ("CrammerSingerSVC", 500_000, 300, 1000),
        ("KernelLogisticRegression", 500_000, 300, 1000),
        ("CrammerSingerSVC", 50_000, 300, 100),
        ("CrammerSingerSVC", 50_000, 300, 500),
        ("KernelLogisticRegression", 50_000, 300, 500),
        ("Nystroem + LinearSVC", 50_000, 300, 500),
        ("Nystroem + LogisticRegression", 50_000, 300, 500),
        ("SVC", 20_000, 300, 500),
    ]
    for solver, n, rank, cache_size in jobs:
        r = report_of(solver, n, rank, cache_size)
        ours = "gap" in r
        yield {
            "solver": solver,
            "rows": n,
            "landmarks": "" if solver == "SVC" else rank,
            "cache_size, MB": cache_size if ours else "",
            "CPU s": seconds(r["seconds"]),
            "before, MB": f"{r['before']:.0f}",
            "peak, MB": f"{r['peak']:.0f}",
            "gap": small(r["gap"]) + "!" * r["warned"] if ours else "!" * r["warned"],
            "optimum ≥": f"{100 * r['D'] / r['P']:.2g} %" if ours else "",
            "right, %": f"{r['right']:.1f}",
        }


# -- sizes ----------------------------------------------------------------------------------------
def largest(name, size, **wanted):
    """Of a recorded table, the row of the largest `size` (a column) with these entries."""
    rows = [r for r in recorded(name) if all(r.get(k) == v for k, v in wanted.items())]
    return max(rows, key=lambda r: int(r[size].replace(",", "")), default=None)


def line(classifier, kernel, how, row, size):
    return {
        "classifier": f"`{classifier}`",
        "kernel": kernel,
        "how": how,
        "rows": f"{int(row[size].replace(',', '')):,}",
        "CPU s": row["CPU s"],
        "peak, MB": row.get("peak, MB", ""),
        "gap": row.get("gap") or row.get("full gap", "").split()[0],
    }


@benchmark("Which classifier works to which size")
def sizes(repeat):
    """The largest fits of the other tables of this page, as they were measured there: nothing is
    fitted for this one. The gaps of `CrammerSingerSVC` and `KernelLogisticRegression` with `rank`
    are those among the functions of the landmarks, that of `TwinKSVC` is among all."""
    linear = {"Crammer and Singer": "CrammerSingerSVC", "logistic": "KernelLogisticRegression"}
    for row in recorded("scale"):
        problem, _, shape = row["problem"].partition(", ")
        n, d = shape.split(", ")[0].split(" × ")
        if n == "100,000" and row["solver"].startswith("ours"):
            blocks = "blocks" in row["solver"]
            name = linear[problem]
            name = f"Streamed{name}" if blocks else name
            how = f"in blocks, {d} columns" if blocks else f"{d} columns"
            yield line(name, "linear", how, row | {"n": n, "gap": row["certified gap"]}, "n")
    for name in ("CrammerSingerSVC", "KernelLogisticRegression"):
        row = largest("beyond_cache", "n", classifier=name)
        if row:
            yield line(name, "Gaussian", "all functions", row, "n")
        row = largest("landmarks", "rows", solver=name)
        if row:
            yield line(name, "Gaussian", f"`rank={row['landmarks']}`", row, "rows")
    for how, text in (("ours", "all functions"), ("ours, rank=200", "`rank=200`")):
        row = largest("twin_kernels", "n", solver=how)
        if row:
            yield line("TwinKSVC", "Gaussian", text, row, "n")


if __name__ == "__main__":
    fit_forests(sys.argv[1], *(int(float(v)) for v in sys.argv[2:]))
