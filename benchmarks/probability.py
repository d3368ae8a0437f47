"""Probabilities of support vector machines: log-loss, CPU seconds and memory beside `SVC`."""

import json
import sys

import numpy as np
from harness import against, benchmark, once, output_of, peak, seconds, side_by_side, small
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mcsvm_lit.probability.classifier import SVMProbabilityClassifier
from mcsvm_lit.studies.datasets import DataMissing, load

TESTED = 0.25  # share of the examples that are held out
SPLITS = 10


def peers():  # -> {name: classifier}, ours first, all at their defaults
    """Our classifier, and scikit-learn's two ways to calibrate a support vector machine."""
    return {
        "ours": SVMProbabilityClassifier(),
        "Platt": CalibratedClassifierCV(SVC(), ensemble=False),
        "temperature": CalibratedClassifierCV(SVC(), method="temperature", ensemble=False),
    }


def made(n, K):
    """Examples of K classes that overlap, with one label in twenty drawn at random."""
    return make_classification(n, 20, n_informative=10, n_classes=K, flip_y=0.05, random_state=0)


def halves(X, y, splits, trained=None):
    """Training and test rows, stratified, standardised by the training rows."""
    how = dict(test_size=TESTED, train_size=trained, random_state=0)
    for train, test in StratifiedShuffleSplit(splits, **how).split(X, y):
        scale = StandardScaler().fit(X[train])
        yield scale.transform(X[train]), y[train], scale.transform(X[test]), y[test]


def warm_up():
    X, y = made(200, 3)
    for model in peers().values():
        model.fit(X, y)


# -- goals ----------------------------------------------------------------------------------------
@benchmark("SVMProbabilityClassifier, CPU seconds of one fit at the defaults")
def probability(repeat):
    """Gaussian kernel, C = 1, sixteen thresholds for each pair of classes and a temperature, to a
    relative gap of 1e-3, beside `CalibratedClassifierCV(SVC(), ensemble=False)` with its two
    methods for several classes, Platt's curves and a temperature. *made*: `make_classification`
    with ten of twenty columns informative. Log-loss on a quarter of the data that is held out."""
    warm_up()
    digits = load_digits(return_X_y=True)
    for name, (X, y), goal in (
        ("made, n = 1000, 3 classes", made(1334, 3), 1.0),
        ("digits, n = 1347, 10 classes", digits, 2.0),
        ("made, n = 2000, 2 classes", made(2667, 2), 0.5),
    ):
        A, a, B, b = next(halves(X, y, 1))
        runs = {who: lambda m=model: m.fit(A, a) for who, model in peers().items()}
        timed = side_by_side(repeat, **runs)
        ours = timed["ours"]
        yield {
            "problem": name,
            "CPU s": against_goal(ours.seconds, goal),
            "gap": small(ours.value.certificate_.relative_gap) + "!" * ours.warned,
            "Platt, s": seconds(timed["Platt"].seconds),
            "ours / it": against(ours.seconds / timed["Platt"].seconds, 3),
            "temperature, s": seconds(timed["temperature"].seconds),
            "ours / this": against(ours.seconds / timed["temperature"].seconds),
        } | {
            f"log-loss, {who}": f"{log_loss(b, t.value.predict_proba(B)):.3f}"
            for who, t in timed.items()
        }


def against_goal(taken, goal):
    """Seconds, and whether they are at most the goal."""
    return f"{seconds(taken)} ({'meets' if taken <= goal else 'misses'} {goal:g})"


# -- log-loss -------------------------------------------------------------------------------------
def real():  # -> {name: (X, y)} of those that are there
    """The data sets of the table, and a note on those that are missing."""
    found = {"digits": load_digits(return_X_y=True), "wine": load_wine(return_X_y=True)}
    for name in ("vowel_deterding", "satimage"):
        try:
            b = load(name)
        except DataMissing as missing:
            print(missing)
            continue
        found[name] = np.asarray(b.data, float), np.unique(b.target, return_inverse=True)[1]
    return found


def error_of(differences, share=TESTED):  # one for each split
    """The standard error of a mean over splits that overlap, after Nadeau and Bengio (2003)."""
    spread = np.var(differences, ddof=1)
    return np.sqrt(spread * (1 / len(differences) + share / (1 - share)))


@benchmark("SVMProbabilityClassifier, log-loss at the defaults")
def probability_loss(repeat):
    """Everything at its defaults, on ten splits (three for satimage) into three quarters and a
    quarter, standardised: mean log-loss of ours and of `CalibratedClassifierCV(SVC(),
    ensemble=False)` with Platt's curves and with a temperature; differences with the standard error
    of Nadeau and Bengio for splits that overlap; and the CPU seconds of all fits over theirs.
    Better means by more than two standard errors."""
    warm_up()
    for name, (X, y) in real().items():
        splits = 3 if len(y) > 4000 else SPLITS
        loss, taken = {who: [] for who in peers()}, dict.fromkeys(peers(), 0.0)
        for A, a, B, b in halves(X, y, splits):
            for who, model in peers().items():
                fitted = once(lambda: model.fit(A, a))
                taken[who] += fitted.seconds
                loss[who].append(log_loss(b, model.predict_proba(B)))
        row = {"problem": f"{name}, n = {len(a)}, K = {len(set(y))}", "splits": splits}
        row |= {f"log-loss, {who}": f"{np.mean(v):.3f}" for who, v in loss.items()}
        for who in ("Platt", "temperature"):
            row |= compared(who, np.subtract(loss["ours"], loss[who]))
            row[f"ours / {who}, s"] = against(taken["ours"] / taken[who], 3)
        yield row


def compared(who, d):  # ours minus theirs, one for each split
    """Mean difference with its standard error, and what it says."""
    mean, error = np.mean(d), error_of(d)
    word = "better" if mean < -2 * error else "worse" if mean > 2 * error else "level"
    return {f"minus {who}": f"{mean:+.3f} ± {error:.3f} ({word})"}


# -- many rows ------------------------------------------------------------------------------------
MANY, NEW = 20_000, 5000  # training and test rows


def fit_many(who, K):
    """Fit in a process of its own, so that the peak of its memory is its own; prints a report."""
    X, y = made(MANY + NEW, int(K))
    scale = StandardScaler().fit(X[:MANY])
    A, a, B, b = scale.transform(X[:MANY]), y[:MANY], scale.transform(X[MANY:]), y[MANY:]
    peers()[who].fit(A[:500], a[:500])  # compiled code is loaded
    before = peak()
    run = once(lambda: peers()[who].fit(A, a))
    report = {"seconds": run.seconds, "before": before, "warned": run.warned}
    report["peak"] = peak()
    asked = once(lambda: run.value.predict_proba(B))
    report |= {"asked": asked.seconds, "loss": log_loss(b, asked.value)}
    report["gap"] = run.value.certificate_.relative_gap if who == "ours" else None
    print(json.dumps(report))


@benchmark("SVMProbabilityClassifier, 20,000 rows")
def probability_many(repeat):
    """As above, *made* with 20,000 training rows and 5,000 test rows, everything at its defaults,
    each fit once in a process of its own. Memory: what the process held before, and its peak in
    the fit; the kernel matrix of one pair of classes would take 1,400 MB."""
    taken = {}
    for who in ("ours", "temperature"):
        r = json.loads(output_of([sys.executable, __file__, who, 3]))
        taken[who] = r["seconds"]
        yield {
            "problem": "made, 3 classes",
            "classifier": who,
            "fit, CPU s": seconds(r["seconds"]),
            "ours / it": "" if who == "ours" else against(taken["ours"] / r["seconds"], 3),
            "gap": small(r["gap"]) + "!" * r["warned"] if who == "ours" else "",
            "log-loss": f"{r['loss']:.3f}",
            "5,000 new rows, s": seconds(r["asked"]),
            "MB before": f"{r['before']:.0f}",
            "peak MB": f"{r['peak']:.0f}",
        }


if __name__ == "__main__":
    fit_many(*sys.argv[1:])
