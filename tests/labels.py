"""Labels that are proved, against solutions by code that shares nothing with the solvers.

`compared` draws a small problem, fits it to a loose tolerance, and solves it again by an interior
point method (Crammer and Singer) or by Newton's method (logistic regression) in plain NumPy, whose
own gap is computed in extended precision and is about 1e-12. Then

* no label that is `certified` may differ from that of the second solution;
* no difference of two scores may be further from the second one's than `decision_bounds` says.
"""

from dataclasses import dataclass

import numpy as np
from hostile import LONG, Case, rows_of
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._testing import ignore_warnings

from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression

FLAWS = (
    *("plain", "plain", "lattice", "duplicates", "contradictions", "constant", "collinear"),
    *("zero rows", "offset", "tails", "lonely", "separable"),
)
LABELS = dict(
    n=range(6, 21),
    d=(1, 2, 3, 5),
    K=(2, 3, 4),
    flaw=FLAWS,
    weights=("none", "none", "whole"),
    kernel=("linear", "rbf", "rbf", "poly"),
    C=(0.1, 1.0, 10.0),
    tol=(0.3, 0.1, 1e-2, 1e-3),
    option=range(4),  # bits: a bias or another solver; landmarks
)
GOOD = 1e-12  # relative gap of a second solution
POINTS = 20  # that are predicted besides the rows themselves


@dataclass(frozen=True)
class Second:
    """A second solution: scores at the points, how far off their differences are, its gap."""

    F: np.ndarray
    radius: np.ndarray
    relative: float


def drawn(chance):
    """A small problem; `chance` is a `random.Random`."""
    chosen = {name: chance.choice(values) for name, values in LABELS.items()}
    return Case(seed=chance.randrange(2**31), **chosen)


def values_of(kernel, X, Z):
    """Kernel values by the formula, in float64 after extended precision."""
    X, Z = X.astype(LONG), Z.astype(LONG)
    if kernel.name == "rbf":
        return np.exp(-LONG(kernel.gamma) * ((X[:, None] - Z[None]) ** 2).sum(2)).astype(float)
    G = (X[:, None] * Z[None]).sum(2)
    if kernel.name == "poly":
        G = (LONG(kernel.gamma) * G + kernel.coef0) ** int(kernel.degree)
    return G.astype(float)


def summed(size, sizes, A):
    """How far sums of kernel values with coefficients A can be off in float64, twice over."""
    return 4 * (len(A) + 8) * np.finfo(float).eps * size * (sizes @ np.abs(A)).max()


# -- Crammer and Singer ---------------------------------------------------------------------------
def crammer_singer_values(G, y, c, η):
    """Primal and dual value at weights η of the classes, in extended precision."""
    G, c = G.astype(LONG), c.astype(LONG)
    η = np.maximum(η, 0).astype(LONG)
    η *= (c / η.sum(1))[:, None]
    Y = np.eye(η.shape[1], dtype=LONG)[y]
    A = c[:, None] * Y - η
    F = G @ A
    half = (A * F).sum() / 2
    rival, own = F + 1 - Y, (F * Y).sum(1)
    return A, half + c @ (rival.max(1) - own), (A * Y).sum() - half


def interior_step(matrix, at, residuals, product):
    """One Newton step of the interior point method towards x z = product + x z."""
    (x, z), m = at, len(at[0])
    dual, row = residuals
    matrix = matrix.copy()
    matrix.flat[: m * len(matrix) : len(matrix) + 1] += z / x
    step = np.linalg.solve(matrix, np.r_[product / x - dual, -row])
    return step[:m], step[m:], (product - z * step[:m]) / x


def reach(x, dx):
    """How far one may go before an entry is zero."""
    down = dx < 0
    return min(1.0, 0.9995 * (-x[down] / dx[down]).min(initial=np.inf))


def crammer_singer_again(G, y, c, K):
    """The dual of Crammer and Singer by an interior point method -> coefficients, P, D."""
    n, Y = len(y), np.eye(K)[y].ravel()
    H, rows = np.kron(G, np.eye(K)), np.kron(np.eye(n), np.ones(K))
    matrix = np.block([[H, rows.T], [rows, np.zeros((n, n))]])
    pull = Y - H @ (np.repeat(c, K) * Y)  # the gradient at η = 0
    x, z, λ = np.repeat(c / K, K), np.ones(n * K), np.zeros(n)
    best = None
    for _ in range(60):
        A, P, D = crammer_singer_values(G, y, c, x.reshape(n, K))
        if best is None or best[1] - best[2] > P - D:
            best = A, P, D
        μ = x @ z / len(x)
        if P - D <= GOOD / 100 * P or μ < 1e-300:
            break
        residuals = H @ x + pull - z + np.repeat(λ, K), rows @ x - c
        try:
            dx, _, dz = interior_step(matrix, (x, z), residuals, -x * z)
            t, u = reach(x, dx), reach(z, dz)
            σ = ((x + t * dx) @ (z + u * dz) / len(x) / μ) ** 3
            target = σ * μ - x * z - dx * dz
            dx, dλ, dz = interior_step(matrix, (x, z), residuals, target)
        except np.linalg.LinAlgError:
            break
        t = min(reach(x, dx), reach(z, dz))
        x, z, λ = x + t * dx, z + t * dz, λ + t * dλ
    return best


def second_crammer_singer(model, X, y, w, points):
    """The exact model of a `CrammerSingerSVC`, nearly."""
    shift = float(model.fit_intercept)
    G = values_of(model.kernel_, X, X) + shift
    A, P, D = crammer_singer_again(G, y, model.C * w, len(model.classes_))
    F = (values_of(model.kernel_, points, X) + shift) @ A.astype(float)
    size = np.sqrt(values_of(model.kernel_, points, points).diagonal() + shift)
    radius = 2 * np.sqrt(max(float(P - D), 0.0)) * size
    radius += summed(size, np.sqrt(G.diagonal()), A.astype(float))
    return Second(F, radius, float((P - D) / max(P, 1e-6 * model.C * w.sum())))


# -- logistic regression --------------------------------------------------------------------------
def logistic_values(Z, y, c, θ):
    """Primal and dual value at weights θ (K, r + 1), in extended precision."""
    Z, c, θ = Z.astype(LONG), c.astype(LONG), θ.astype(LONG)
    F = Z @ θ.T
    top = F.max(1, keepdims=True)
    log_p = F - top - np.log(np.exp(F - top).sum(1, keepdims=True))
    A = c[:, None] * (np.eye(len(θ), dtype=LONG)[y] - np.exp(log_p))
    P = (θ[:, :-1] ** 2).sum() / 2 - c @ log_p[np.arange(len(y)), y]
    D = -(c[:, None] * np.exp(log_p) * log_p).sum() - ((A.T @ Z[:, :-1]) ** 2).sum() / 2
    off = np.abs(A.sum(0)).sum() * (np.abs(θ[:, -1]).max() + np.abs(F).max())
    return P, D - off


def objective(Z, y, c, θ):
    """The objective of logistic regression."""
    return (θ[:, :-1] ** 2).sum() / 2 - c @ log_softmax(Z @ θ.T, axis=1)[np.arange(len(y)), y]


def newton_step(Z, Y, c, θ):
    """Newton's step, and the slope along it; the intercepts' common part is held at zero."""
    K, r = θ.shape
    free = np.r_[np.zeros(r - 1), 1.0]
    p = softmax(Z @ θ.T, axis=1)
    slope = (1 - free) * θ + (c[:, None] * (p - Y)).T @ Z
    weight = c[:, None, None] * p[:, :, None] * (np.eye(K) - p[:, None])
    H = np.einsum("irs,ia,ib->rasb", weight, Z, Z, optimize=True).reshape(K * r, K * r)
    H += np.diag(np.tile(1 - free, K)) + np.kron(np.ones((K, K)), np.diag(free))
    step = -np.linalg.solve(H, slope.ravel()).reshape(K, r)
    return step, (slope * step).sum()


def logistic_again(R, y, c, K):
    """Logistic regression with free intercepts by Newton's method -> (θ, P, D); G = R Rᵀ."""
    Z, Y = np.c_[R, np.ones(len(y))], np.eye(K)[y]
    θ, best = np.zeros((K, Z.shape[1])), None
    θ[:, -1] = np.log(c @ Y) - np.log(c @ Y).mean()
    for _ in range(60):
        P, D = logistic_values(Z, y, c, θ)
        if best is None or best[1] - best[2] > P - D:
            best = θ, P, D
        if P - D <= GOOD / 100 * P:
            break
        try:
            step, slope = newton_step(Z, Y, c, θ)
        except np.linalg.LinAlgError:
            break
        t, now = 1.0, objective(Z, y, c, θ) * (1 + 1e-14)
        while t > 1e-9 and objective(Z, y, c, θ + t * step) > now + 1e-4 * t * slope:
            t /= 2
        θ = θ + t * step
    return best


def by_values(G, y, c, p, b):
    """Coefficients, primal and dual value at probabilities p, from the kernel values themselves."""
    G, c, p, b = (np.asarray(v, LONG) for v in (G, c, p, b))
    A = c[:, None] * (np.eye(p.shape[1], dtype=LONG)[y] - p)
    F = G @ A
    half = (A * F).sum() / 2
    top = (F + b).max(1, keepdims=True)
    log_p = F + b - top - np.log(np.exp(F + b - top).sum(1, keepdims=True))
    off = np.abs(A.sum(0)).sum() * (np.abs(F).max() + np.abs(b).max())
    entropy = -(c[:, None] * p * np.log(np.maximum(p, np.finfo(LONG).tiny))).sum()
    return A.astype(float), half - c @ log_p[np.arange(len(y)), y], entropy - half - off


def second_logistic(model, X, y, w, points):
    """The exact model of a `KernelLogisticRegression`, nearly."""
    K = len(model.classes_)
    factor = 2 if K == 2 else 1  # two classes are one function, at twice the weights
    c, G = model.C * w / factor, values_of(model.kernel_, X, X)
    λ, U = np.linalg.eigh(G)
    on = λ > 1e-14 * λ.max()
    R = U[:, on] * np.sqrt(λ[on])
    θ = logistic_again(R, y, c, K)[0]
    p, b = softmax(R @ θ[:, :-1].T + θ[:, -1], axis=1), θ[:, -1]
    A, P, D = by_values(G, y, c, p, b)  # with what the factor has left out
    size, largest = np.sqrt(values_of(model.kernel_, points, points).diagonal()), G.max() ** 0.5
    radius = 2 * np.sqrt(max(float(P - D), 0.0)) * (size + (K - 1) * largest)
    radius += summed(size + (K - 1) * largest, np.sqrt(G.diagonal()), A)
    F = values_of(model.kernel_, points, X) @ A + b
    return Second(F, radius, float((P - D) / P))


# -- the comparison -------------------------------------------------------------------------------
SECOND = {"CrammerSingerSVC": second_crammer_singer, "KernelLogisticRegression": second_logistic}


@dataclass(frozen=True)
class Compared:
    """What a comparison found: numbers of labels, and how much of the bound was needed."""

    labels: int
    proved: int
    wrong: int  # proved labels that the second solution contradicts
    beyond: int  # points with a difference of scores beyond its bound
    used: float  # the largest share of a bound that was needed
    good: bool  # is the second solution as good as it should be?


def model_of(name, case):
    """The classifier of a case."""
    asked = dict(kernel=case.kernel, C=case.C, tol=case.tol)
    if case.option > 1 and case.kernel != "linear":
        asked["rank"] = (case.n // 2, case.n)[case.seed % 2]
    if name == "CrammerSingerSVC":
        return CrammerSingerSVC(fit_intercept=bool(case.option % 2), **asked)
    return KernelLogisticRegression(solver=("auto", "smo")[case.option % 2], **asked)


def points_near(X, rng):
    """The rows, and points between two of them and beside them."""
    i, j = rng.integers(len(X), size=(2, POINTS))
    between = X[i] + rng.uniform(-0.2, 1.2, size=(POINTS, 1)) * (X[j] - X[i])
    return np.r_[X, between + 0.1 * rng.normal(size=between.shape) * X.std(0)]


def differences(F):
    """Differences of any two scores of a point (m, K, K)."""
    return F[:, :, None] - F[:, None, :]


def compared(name, case):
    """One problem solved twice."""
    X, y, w = rows_of(case)
    w = np.ones(len(y)) if w is None else w
    model = ignore_warnings(category=ConvergenceWarning)(model_of(name, case).fit)(X, y, w)
    points = points_near(X, np.random.default_rng(case.seed))
    second = SECOND[name](model, X[w > 0], y[w > 0], w[w > 0], points)
    F, bound = scores(model, points), model.decision_bounds(points)
    two = np.sort(F, axis=1)[:, -2:]
    proved = two[:, 1] - two[:, 0] > bound
    theirs = np.sort(second.F, axis=1)[:, -2:]
    decided = theirs[:, 1] - theirs[:, 0] > second.radius
    wrong = proved & decided & (F.argmax(1) != second.F.argmax(1))
    off = np.abs(differences(F) - differences(second.F)).max((1, 2))
    excess = np.maximum(off - second.radius, 0.0)
    used = np.divide(excess, bound, out=np.zeros(len(bound)), where=bound > 0)
    return Compared(
        len(points),
        int(proved.sum()),
        int(wrong.sum()),
        int((excess > bound).sum()),
        float(used.max()),
        second.relative <= GOOD,
    )


def scores(model, points):
    """Scores of all classes, whose largest is the label."""
    F = model.decision_function(points)
    return np.c_[-F / 2, F / 2] if F.ndim == 1 else F
