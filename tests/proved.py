"""What classifiers prove of fits that nobody has made, against fits that are made.

Labels of rows that are left out, distances within which no label changes, and proofs in files are
compared with fits to a gap of 1e-10, where these prove a label themselves. `hostile.judge` draws
one of the three for a case.
"""

import tempfile
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
from sklearn.base import clone

from mcsvm_lit import CrammerSingerSVC
from mcsvm_lit.crammer_singer import verify

CLOSE = 1e-10  # relative gap of the fits that labels are compared with
LOOKED_AT = 3  # rows of a case, at most


def closer(model):
    """The classifier, not yet fitted, as near to the optimum of its problem as it can be."""
    again = clone(model)
    if hasattr(model, "C_"):  # what was chosen stays
        same = {name: getattr(model, name) for name in ("kernel", "fit_intercept")}
        again = CrammerSingerSVC(model.C_, **same, **model.best_params_)
    again.set_params(tol=CLOSE, max_iter=type(model)().max_iter)
    gamma = getattr(model.kernel_, "gamma", None)
    return again if gamma is None or isinstance(gamma, str) else again.set_params(gamma=gamma)


def without(training, i):
    """The training data without row i, and that row; None where a class is left without weight."""
    rest = np.delete(np.arange(len(training.y)), i)
    w = None if training.w is None else training.w[rest]
    present = training.y[rest] if w is None else training.y[rest][w > 0]
    if not np.array_equal(np.unique(present), training.classes):
        return None
    return replace(training, X=training.X[rest], y=training.y[rest], w=w), training.X[[i]]


def wrong_left_out(case, training, model, Z, fitted):
    """Complaints about labels of rows that are left out."""
    if not hasattr(model, "leave_one_out") or model.rank is not None or case.n > 10:
        return  # with other landmarks it is another problem
    left = model.leave_one_out(training.X, training.y, training.w)
    wrong = left.labels != training.y
    if left.errors != ((wrong & left.proved).sum(), (wrong | ~left.proved).sum()):
        yield f"leave_one_out: {left.errors} errors among {left}"
    if model.kernel == "precomputed":
        return  # the fit without the row does not know how long it is
    weights = np.ones(len(wrong)) if training.w is None else training.w
    rows = np.flatnonzero(left.proved & (weights > 0))
    for i in np.random.default_rng(case.seed).permutation(rows)[:LOOKED_AT]:
        parts = without(training, i)
        twin = parts and fitted(parts[0], closer(model), [])
        if twin and twin.certified(parts[1])[0] and twin.predict(parts[1])[0] != left.labels[i]:
            yield f"leave_one_out: {left.labels[i]!r} at {i}, not {twin.predict(parts[1])[0]!r}"


def steepest(model, z, norm):
    """Where the lead of the winning class at z falls fastest, over each other class."""
    step = 1e-4 * (np.abs(z).max() + 1e-6)
    F = np.c_[model.decision_function(np.r_[[z], z + step * np.eye(len(z))])]
    F = np.c_[-F, F] if F.shape[1] == 1 else F
    slopes, best = F[1:] - F[0], F[0].argmax()
    towards = np.delete((slopes - slopes[:, [best]]).T, best, axis=0)
    return np.sign(towards) if norm == inf else towards


def wrong_radius(case, training, model, Z, fitted):
    """Complaints about distances within which a label does change."""
    if not hasattr(model, "certified_radius") or model.kernel not in ("linear", "rbf"):
        return
    norm, rng = (2, inf)[case.seed // 4 % 2], np.random.default_rng(case.seed)
    radius, labels = model.certified_radius(Z, norm), model.predict(Z)
    if not (radius >= 0).all() or (radius[~model.certified(Z)] > 0).any():
        yield f"certified_radius: {radius} where labels are not proved"
    rows = rng.permutation(np.flatnonzero(radius))[:LOOKED_AT]
    better = fitted(training, closer(model), []) if len(rows) else None
    for i in rows if better else ():
        moves = np.vstack(
            [steepest(better, Z[i], norm), Z - Z[i], rng.normal(size=(4, Z.shape[1]))]
        )
        lengths = np.linalg.norm(moves, ord=norm, axis=1)[:, None]
        far = min(radius[i], 1e3 * (1 + np.abs(Z).max())) * (1 - 1e-9)
        with np.errstate(all="ignore"):
            W = Z[i] + far * (moves / lengths)
        W = W[np.isfinite(W).all(1)]
        gone = np.linalg.norm((W - Z[i].astype(np.longdouble)).astype(float), ord=norm, axis=1)
        W = W[gone <= radius[i] * (1 - 1e-12)]
        other = W[better.certified(W) & (better.predict(W) != labels[i])] if len(W) else W
        if len(other):
            yield f"certified_radius: {radius[i]:.3g} at {Z[i]}, but another label at {other[0]}"


NO_PROOF = "Proofs are written", "Classes need different names"


def wrong_proof(case, training, model, Z, fitted):
    """Complaints about a proof that its verifier refuses, or that is not so."""
    if not hasattr(model, "prove") or model.kernel == "precomputed" or case.n > 8:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.json"
        try:
            gap, proved = model.prove(path, training.X, training.y, Z, training.w)
        except ValueError as error:
            if not str(error).startswith(NO_PROOF):
                raise
            return
        texts = [p.read_text(encoding="utf-8") for p in (path, path.with_suffix(".csv"))]
    try:
        told, n, labels = verify.check(*texts)
    except Exception as error:
        yield f"prove: the verifier refuses: {error}"
        return
    if float(told) > gap or n != len(proved) or labels < proved.sum():
        yield f"prove: {gap!r} and {proved.sum()} labels, verified {told!r} and {labels}"
    X = training.X.toarray() if hasattr(training.X, "toarray") else np.asarray(training.X, float)
    points = np.vstack([X, Z])
    better = fitted(training, closer(model), [])
    if better:
        sure = proved & better.certified(points)
        if (model.predict(points) != better.predict(points))[sure].any():
            yield "prove: a label that is proved is not that of a better fit"


KINDS = {1: wrong_left_out, 2: wrong_radius, 3: wrong_proof}


def disproved(case, training, model, Z, fitted):
    """Complaints of the kind that a case draws; `fitted` is that of the judge."""
    if case.seed % 4 in KINDS:
        yield from KINDS[case.seed % 4](case, training, model, Z, fitted)
