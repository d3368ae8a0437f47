"""What it costs to leave every row out, and to prove labels to others."""

import tempfile
from pathlib import Path

import numpy as np
from harness import benchmark, once, seconds, side_by_side
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import mcsvm_lit
from mcsvm_lit.crammer_singer import verify

SOME = 12  # rows that are left out by fitting again


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def standardised(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


DATA = {
    "iris": lambda: standardised(load_iris),
    "wine": lambda: standardised(load_wine),
    "digits": digits,
}


def refits(model, X, y):
    """Fit without each of some rows, at the same kernel."""
    for i in np.linspace(0, len(y) - 1, SOME).astype(int):
        j = np.delete(np.arange(len(y)), i)
        model.set_params(gamma=model.kernel_.gamma).fit(X[j], y[j]).predict(X[[i]])


@benchmark("Every row left out")
def leave_out(repeat):
    """`leave_one_out` of a fitted classifier, the fit itself at a gap of 1e-6, and the fits of the
    same gap without each row that it replaces: twelve of them, times the number of rows. A label
    that is proved is that of the exact optimum; a fit that is done again proves nothing."""
    for name, load in DATA.items():
        X, y = load()
        for kind in ("CrammerSingerSVC", "KernelLogisticRegression"):
            for C in (1.0, 10.0):
                model = getattr(mcsvm_lit, kind)(C=C, tol=1e-6).fit(X, y)
                again = getattr(mcsvm_lit, kind)(C=C, tol=1e-6).fit(X, y)
                seen = side_by_side(
                    repeat,
                    out=lambda model=model, X=X, y=y: model.leave_one_out(X, y),
                    fit=lambda again=again, X=X, y=y: again.set_params(gamma="scale").fit(X, y),
                )
                left, fit = seen["out"], seen["fit"].seconds
                brute = once(lambda again=again, X=X, y=y: refits(again, X, y)).seconds
                brute *= len(y) / SOME
                low, high = left.value.errors
                yield {
                    "data": name,
                    "classifier": f"{kind}(C={C:g})",
                    "errors": low if low == high else f"{low} to {high}",
                    "all left out, s": seconds(left.seconds),
                    "one fit, s": seconds(fit),
                    "in fits": f"{left.seconds / fit:.1f}",
                    "fits without each row, s": seconds(brute),
                    "ours / these": f"{left.seconds / brute:.3f}",
                }


@benchmark("Sets of labels")
def sets(repeat):
    """`prediction_sets` of a fitted `CrammerSingerSVC` for half of the rows from the other half,
    and the fits without each row that it replaces, at the gap of 1e-5 that it goes to: twelve of
    them, times the number of rows. The last columns are of the level 0.05."""
    for name, load in DATA.items():
        X, y = load()
        rows = np.random.default_rng(0).permutation(len(y))
        A, B = rows[: len(y) // 2], rows[len(y) // 2 :]
        model = mcsvm_lit.CrammerSingerSVC(tol=1e-5).fit(X[A], y[A])
        again = mcsvm_lit.CrammerSingerSVC(tol=1e-5).fit(X[A], y[A])
        run = side_by_side(
            repeat,
            sets=lambda model=model, X=X, y=y, A=A, B=B: model.prediction_sets(X[A], y[A], X[B]),
        )["sets"]
        brute = once(lambda again=again, X=X, y=y, A=A: refits(again, X[A], y[A])).seconds
        brute *= len(A) / SOME
        inside = run.value.at(0.05)
        yield {
            "data": name,
            "examples, new rows": f"{len(A)}, {len(B)}",
            "sets, s": seconds(run.seconds),
            "fits without each row, s": seconds(brute),
            "ours / these": f"{run.seconds / brute:.3f}",
            "labels missed": f"{np.mean(~inside[np.arange(len(B)), y[B]]):.3f}",
            "labels in a set": f"{inside.sum(1).mean():.2f}",
            "sets that are exact": f"{run.value.exact(0.05).mean():.0%}",
        }


@benchmark("Proofs for others")
def proofs(repeat):
    """`CrammerSingerSVC.prove` for all training rows of a fit at a gap of 1e-4, and the verifier,
    which is plain Python with whole numbers. The digits have their grey values from 0 to 16."""
    for name in ("iris", "wine", "digits"):
        X, y = load_digits(return_X_y=True) if name == "digits" else DATA[name]()
        model = mcsvm_lit.CrammerSingerSVC(tol=1e-4).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "proof.json"

            def written(model=model, path=path, X=X, y=y):
                return model.prove(path, X, y)

            def checked(path=path):
                return verify.check(path.read_text(), path.with_suffix(".csv").read_text())

            wrote = side_by_side(repeat, wrote=written)["wrote"]
            seen = side_by_side(repeat, checked=checked)["checked"]
            yield {
                "data": name,
                "labels proved": f"{seen.value[2]} of {len(y)}",
                "proof, kB": f"{path.stat().st_size / 1000:.0f}",
                "written, s": seconds(wrote.seconds),
                "verified, s": seconds(seen.seconds),
            }
