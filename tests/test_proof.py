"""Proofs for strangers: whatever the verifier accepts is true, whoever wrote it."""

import ast
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

from mcsvm_lit import CrammerSingerSVC
from mcsvm_lit.crammer_singer import verify

FEW = np.r_[40:50, 90:100, 140:150]
X, y = (a[FEW] for a in load_iris(return_X_y=True))
NEW = load_iris().data[::10]
NAMES = np.array(["setosa", "versi,color", 'the "third"'])[y]


def read(path):
    return path.read_text(encoding="utf-8"), path.with_suffix(".csv").read_text(encoding="utf-8")


def accepted(proof, rows):
    """What the verifier says, or None."""
    try:
        return verify.check(proof, rows)
    except Exception:  # `main` says REJECTED for all of them
        return None


FITS = {
    "Gaussian": {"gamma": 0.5},
    "polynomial with a bias": {"kernel": "poly", "degree": 2, "coef0": 1.0, "fit_intercept": True},
    "linear": {"kernel": "linear"},
    "linear with a bias": {"kernel": "linear", "fit_intercept": True, "C": 10.0},
    "weighted classes": {"class_weight": "balanced", "C": 0.3},
    "on landmarks": {"rank": 5},
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("weights", ["none", "some", "zeros"])
def test_what_is_written_is_accepted_and_true(name, weights, tmp_path):
    w = {"none": None, "some": np.linspace(0.1, 3, 30), "zeros": np.arange(30) % 3 * 1.0}[weights]
    fit = CrammerSingerSVC(tol=1e-5, **FITS[name]).fit(X, NAMES, w)
    gap, proved = fit.prove(tmp_path / "a.json", X, NAMES, NEW, w)
    told, n, labels = verify.check(*read(tmp_path / "a.json"))
    assert told <= gap and (n, labels) == (30 + len(NEW), proved.sum())
    if name != "on landmarks":
        assert gap <= 1e-5 * fit.certificate_.primal * (1 + 1e-6)
        assert proved.sum() >= fit.certified(np.r_[X, NEW]).sum()  # up to the bounds on rounding
    best = CrammerSingerSVC(tol=1e-10, **FITS[name] | {"rank": None}).fit(X, NAMES, w)
    assert (best.predict(np.r_[X, NEW]) == fit.predict(np.r_[X, NEW]))[proved].all()


def test_a_label_that_the_file_contradicts_is_not_said_to_be_proved(tmp_path):
    """Of a fit that stopped early the multipliers may prove another label than `predict` gives."""
    g = np.random.default_rng(1)
    rows, labels = np.outer(g.normal(size=4), 10 ** g.uniform(-3, 3, 40)), np.arange(4)
    points = g.normal(size=(300, 1)) * rows[:1]
    fit = CrammerSingerSVC(C=1e-3, kernel="linear", fit_intercept=True, max_iter=5)
    with pytest.warns(ConvergenceWarning):
        fit.fit(rows, labels)
    _, proved = fit.prove(tmp_path / "a.json", rows, labels, points)
    _, _, in_file = verify.check(*read(tmp_path / "a.json"))
    best = CrammerSingerSVC(C=1e-3, kernel="linear", fit_intercept=True, tol=1e-10)
    points = np.r_[rows, points]
    right = best.fit(rows, labels).predict(points) == fit.predict(points)
    assert right[proved].all() and proved.sum() < in_file and not right.all()


def test_sparse_rows_and_copies(tmp_path):
    rows, labels = np.r_[X, X[:3]].round(), np.r_[NAMES, NAMES[:3]]
    fit = CrammerSingerSVC(tol=1e-6).fit(rows, labels)
    gap, proved = fit.prove(tmp_path / "a.json", sparse.csr_matrix(rows), labels)
    assert verify.check(*read(tmp_path / "a.json"))[1:] == (33, proved.sum())
    assert gap <= 1e-6 * fit.certificate_.primal * (1 + 1e-6) and proved.any()


def leaves(value, path=()):
    """Paths to everything in a JSON document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from leaves(part, (*path, key))


def another(value, draw):
    """Something else in the place of a value."""
    strange = [None, True, -1, 0, 1 << 70, 0.5, "", "1e999999999", [], {}, "rbf", 3]
    if isinstance(value, str) and draw.random() < 0.6:
        try:
            return repr(float(value) * draw.uniform(0.3, 1.7))
        except ValueError:
            return value[::-1]
    if type(value) is int and draw.random() < 0.7:
        return draw.choice([value + 1, value - 1, value // 2, 2 * value])
    return draw.choice(strange)


def forged(proof, draw):
    """A proof with some of its values exchanged, left out or written twice."""
    p = json.loads(proof)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        *way, last = draw.choice([path for path in leaves(p) if path != ("rows",)])
        place = p
        for key in way:
            place = place[key]
        kind = draw.random()
        if kind < 0.75:
            place[last] = another(place[last], draw)
        elif kind < 0.9 or isinstance(place, dict):
            del place[last]
        else:
            place.append(place[last])
    return p


def optimum(p):
    """The classifier that a proof speaks of, to a much smaller gap."""
    k = p["kernel"]  # what it does not use may be anything
    kernel = {"kernel": k["name"], "fit_intercept": bool(k["plus"])}
    if k["name"] != "linear":
        kernel["gamma"] = float(k["gamma"])
    if k["name"] == "poly":
        kernel |= {"degree": k["degree"], "coef0": float(k["coef0"])}
    return CrammerSingerSVC(float(p["C"]), tol=1e-10, **kernel).fit(X, NAMES)


def test_a_thousand_forgeries_prove_nothing_that_is_wrong(tmp_path):
    draw, refused, right = random.Random(5), 0, 0
    CrammerSingerSVC(gamma=0.5, tol=1e-4).fit(X, NAMES).prove(tmp_path / "a.json", X, NAMES)
    proof, rows = read(tmp_path / "a.json")
    true = json.loads(proof)
    for _ in range(1000):
        p = forged(proof, draw)
        found = accepted(json.dumps(p), rows)
        if found is None:
            refused += 1
            continue
        right += 1
        same = all(p[key] == true[key] for key in ("kernel", "C", "classes"))
        best = optimum(true if same else p)
        names = np.array(p["classes"])
        for i, label in p["labels"]:
            assert names[label] == best.predict(X[i : i + 1])[0]
        assert float(p["gap"]) >= 0
    assert refused > 700 and right > 20, (refused, right)  # what is right may be said otherwise


def test_other_rows_and_broken_files(tmp_path):
    CrammerSingerSVC(gamma=0.5, tol=1e-4).fit(X, NAMES).prove(tmp_path / "a.json", X, NAMES)
    proof, rows = read(tmp_path / "a.json")
    assert accepted(proof, rows)
    draw = random.Random(1)
    for _ in range(200):
        i = draw.randrange(len(rows))
        assert accepted(proof, rows[:i] + chr(ord(rows[i]) ^ 1) + rows[i + 1 :]) is None
        assert accepted(proof[: draw.randrange(len(proof))], rows) is None


def test_the_verifier_stands_alone(tmp_path):
    code = Path(verify.__file__).read_text(encoding="utf-8")
    imported = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Import | ast.ImportFrom)]
    roots = {(getattr(n, "module", None) or n.names[0].name).split(".")[0] for n in imported}
    assert roots <= sys.stdlib_module_names
    own = code[code.index("# %%", code.index("__all__")) :].splitlines()
    assert sum(bool(line) and not line.startswith("#") for line in own) <= 130
    CrammerSingerSVC(gamma=0.5).fit(X, NAMES).prove(tmp_path / "a.json", X, NAMES)
    alone = tmp_path / "verify.py"
    alone.write_text(code, encoding="utf-8")

    def run(*files):
        command = [sys.executable, "-I", "-S", str(alone), *map(str, files)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    said = run("a.json", "a.csv")
    assert said.returncode == 0 and said.stdout.startswith("proved: a duality gap of at most")
    for files in (("a.csv", "a.json"), ("a.json", "none.csv"), ("a.json", "a.json")):
        said = run(*files)
        assert said.returncode == 1 and said.stderr.startswith("REJECTED")
        assert "Traceback" not in said.stderr


def test_three_hundred_digits_are_proved(tmp_path):
    digits, number = load_digits(return_X_y=True)
    some = slice(None, 300)
    fit = CrammerSingerSVC(gamma=1 / 2048, tol=1e-4).fit(digits[some], number[some])
    _, proved = fit.prove(tmp_path / "a.json", digits[some], number[some], digits[300:400])
    assert verify.check(*read(tmp_path / "a.json"))[1:] == (400, proved.sum())
    assert proved[:300].mean() > 0.99 and proved.mean() > 0.95
