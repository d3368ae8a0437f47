"""Certificates and scores recomputed from public attributes, with sixty decimal digits.

Floats are decimal fractions, so their sums and products are exact here but for the last of sixty
digits, and exponentials and logarithms are right to as many. What a certificate states beside these
numbers may differ by the rounding that it states, and by the last bit of what it stores.

Each function of `JUDGES` yields what it recomputed for one certificate of a fitted model. It shares
no code with the package.
"""

from dataclasses import replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import inf
from typing import NamedTuple

import numpy as np

DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
LAST_BIT = 4e-16  # relative: what storing a value as a float may cost
FACTOR = 30  # by how much the factor of landmarks may worsen lengths
SUSPICIOUS = 1e5  # times the unit roundoff of all terms: nobody's arithmetic is that bad
NEGLIGIBLE = 1e-9  # relative: a bound of rounding that harms nobody, however large it seems


def high(a):
    """The same numbers as decimal fractions."""
    a = np.asarray(a, float)
    return (np.vectorize(Decimal, otypes=[object])(a) if a.size else a.astype(object))[()]


def _each(f):
    return lambda a: np.vectorize(f, otypes=[object])(a)[()] if np.size(a) else np.asarray(a)


exp, log, root = (_each(f) for f in (Decimal.exp, Decimal.ln, Decimal.sqrt))


def softplus(u):
    """log(1 + exp(u))."""
    return np.maximum(u, Decimal(0)) + log(1 + exp(-abs(u)))


def entropy(p):
    """-p log p, with the limit at zero."""
    return -p * log(np.where(p > 0, p, Decimal(1)))


class Recomputed(NamedTuple):
    """What a certificate should say: primal and dual values, and the size of the terms in them."""

    certificate: object
    primal: Decimal
    dual: Decimal | None
    size: float

    def complaints(self):
        return differences(*self)


class Above(NamedTuple):
    """The objective at some feasible point: no lower bound exceeds it."""

    certificate: object
    value: Decimal

    def complaints(self):
        c = self.certificate
        if high(c.dual) > self.value + high(c.rounding + LAST_BIT * abs(float(self.value))):
            yield f"certificate: dual {c.dual!r} above the objective {float(self.value)!r}"


class Farther(NamedTuple):
    """The objective at a point that is said to be optimal, and that at a better one."""

    certificate: object
    value: Decimal
    better: Decimal
    size: float

    def complaints(self):
        c, worse = self.certificate, float(self.value - self.better)
        scale = max(float(self.value), 1e-6 * c.unit)
        allowed = (c.tol + 2 * c.relative_rounding) * scale + 2e-13 * self.size
        if c.converged and worse > allowed:
            yield f"certificate: converged, {float(self.value)!r} and {float(self.better)!r} exist"


# -- data, kernels, expansions ---------------------------------------------------------------------
def dense(X):
    """Rows as decimal fractions."""
    return high(X.toarray() if hasattr(X, "toarray") else X)


class Data(NamedTuple):
    """Rows, class indices and weights of a fit, without rows of weight zero."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    relevant: np.ndarray | None = None


def data_of(training, model):
    """What the judges work with."""
    y = np.unique(training.y, return_inverse=True)[1]
    w = np.ones(len(y)) if training.w is None else training.w
    factors = getattr(model, "class_weight", None) or {}
    own = np.array([factors.get(label, 1.0) for label in training.classes])[y]
    return Data(dense(training.X), y, high(w) * high(own), training.relevant)


def kernel_values(model, X, Z):
    """Kernel values from the formula."""
    k = model.kernel_
    if k.name == "precomputed":
        return X
    if k.name == "rbf":
        return exp(-high(k.gamma) * ((X[:, None] - Z[None]) ** 2).sum(2))
    G = X @ Z.T
    return G if k.name == "linear" else (high(k.gamma) * G + high(k.coef0)) ** int(k.degree)


def expanded(model, X, S, A):
    """Scores of all rows without intercepts, half the squared norm, and the size of its terms."""
    if len(S) == 0:
        return np.full((len(X), A.shape[1]), Decimal(0)), Decimal(0), Decimal(0)
    if model.kernel == "linear":  # by way of the weights, where large terms cancel least
        W = X[S].T @ A
        return X @ W, (W**2).sum() / 2, norms(X[S]) @ abs(A).sum(1)
    F = kernel_values(model, X[:, S] if model.kernel == "precomputed" else X, X[S]) @ A
    own = kernel_diagonal(model, X, S)
    return F, (A * F[S]).sum() / 2, own @ abs(A).sum(1)


def norms(X):
    """Lengths of rows."""
    return root((X**2).sum(1))


def kernel_diagonal(model, X, S):
    """The roots of k(x, x) of some rows."""
    if model.kernel == "precomputed":
        return root(np.maximum(X[S, S], Decimal(0)))
    values = [kernel_values(model, X[i : i + 1], X[i : i + 1])[0, 0] for i in S]
    return root(np.maximum(np.array(values, object), Decimal(0)))


def reach(model, X):
    """The largest root of k(x, x)."""
    return kernel_diagonal(model, X, np.arange(len(X))).max()


def merged(data, S):
    """The weights of the rows S together with those of their copies."""
    X, y, w, _ = data
    same = (X[S][:, None] == X[None]).all(2) & (y[S][:, None] == y[None])
    return same.astype(int) @ w


def caps(model, data, S):
    """The upper bounds of the multipliers of the rows S."""
    weights = merged(data, S) if model.kernel != "precomputed" else data.w[S]
    return high(model.C) * weights


def two_rows(coef, b):
    """Weights and biases of both classes, which add up to zero, from those of their difference."""
    return [np.concatenate([-v, v]) / 2 for v in (coef, b)] if len(coef) == 1 else [coef, b]


# -- the classifiers -------------------------------------------------------------------------------
def judged_crammer_singer(model, data):
    X, y, w, _ = data
    rows, c = np.arange(len(y)), high(getattr(model, "C_", model.C)) * w
    S, α = model.support_, high(model.dual_coef_)
    F, half, length = expanded(model, X, S, α)
    if model.fit_intercept:
        F = F + α.sum(0)
        half += (α.sum(0) ** 2).sum() / Decimal(2)
    norm = half
    if model.kernel == "linear":
        coef, b = two_rows(high(model.coef_), high(model.intercept_))
        F, norm = X @ coef.T + b, ((coef**2).sum() + (b**2).sum()) / 2
    K = F.shape[1]
    given = getattr(model, "costs", None)
    costs = high(1 - np.eye(K) if given is None else cost_table(given, K))
    rival = F + costs[y]
    P = norm + c @ (rival.max(1) - F[rows, y])
    D = (-α * costs[y[S]]).sum() - half
    size = length**2 + c.sum() * (1 + reach(model, X) * length + abs(α).sum())
    yield Recomputed(model.certificate_, P, D, size)


RIVALS = {  # are margins to the mean score, and how many rivals count (0: all)
    "crammer-singer": (False, 1),
    "weston-watkins": (False, 0),
    "lee-lin-wahba": (True, 0),
    "absolute-maximum": (True, 1),
}


def judged_multiclass(model, data):
    X, y, w, _ = data
    rows, c = np.arange(len(y)), high(model.C) * w
    S, α = model.support_, high(model.dual_coef_)
    F, half, length = expanded(model, X, S, α)
    if model.fit_intercept:
        F = F + α.sum(0)
        half += (α.sum(0) ** 2).sum() / Decimal(2)
    norm = half
    if model.kernel == "linear":
        coef, b = two_rows(high(model.coef_), high(model.intercept_))
        F, norm = X @ coef.T + b, ((coef**2).sum() + (b**2).sum()) / 2
    absolute, top = (False, model.top_k) if model.loss == "top-k" else RIVALS[model.loss]
    u = 1 + F - (F.sum(1) / F.shape[1] if absolute else F[rows, y])[:, None]
    u[rows, y] = Decimal(0)
    u = np.sort(np.maximum(u, Decimal(0)), axis=1)[:, ::-1]
    P = norm + c @ (u[:, :top].sum(1) / top if top else u.sum(1))
    masses = α[np.arange(len(S)), y[S]].sum()  # all masses times weights, or a K-th of them
    D = masses * (F.shape[1] if absolute else 1) - half
    size = length**2 + c.sum() * F.shape[1] * (1 + reach(model, X) * length + abs(α).sum())
    yield Recomputed(model.certificate_, P, D, size)


def cost_table(costs, K):
    r = np.arange(K)
    return abs(r[:, None] - r) if isinstance(costs, str) else np.asarray(costs, float)


def judged_ranking(model, data):
    X, y, w, relevant = data
    Y = high(relevant)[y]
    A, S, b = high(model.dual_coef_), model.support_, high(model.intercept_)
    F, half, length = expanded(model, X, S, centred(A, model.border))
    far = reach(model, X)
    if model.fit_intercept:  # one feature more, whose value is one
        length, far = length + abs(A).sum(), far + 1
    if model.kernel == "linear":
        coef = centred(high(model.coef_).T, model.border)
        F, half = X @ coef, (coef**2).sum() / 2
    b = centred(b[None], model.border)
    if model.border:
        Y = np.c_[Y, borders(np.asarray(relevant, float)[y])]
    above = Y[:, :, None] > Y[:, None, :]
    G = (F + b)[:, None, :] + 1 - (F + b)[:, :, None]
    loss = np.where(above, np.maximum(G, Decimal(0)), Decimal(0)).max(2).sum(1)
    P = half + (b**2).sum() / 2 + high(model.C) * w @ loss
    size = length**2 + high(model.C) * w.sum() * (1 + far * length + abs(b).sum())
    yield Recomputed(model.certificate_, P, None, size * Y.shape[1])


def centred(A, border):
    """Coefficients of all labels and the border, whose sum is zero, from those above the border."""
    zero = np.full((len(A), 1), Decimal(0))
    return np.c_[A, zero] - A.sum(1, keepdims=True) / (A.shape[1] + 1) if border else A


def borders(Y):
    """Relevances between those that are positive and the others."""
    low, high_ = np.where(Y > 0, -np.inf, Y).max(1), np.where(Y > 0, Y, np.inf).min(1)
    return high(np.where(high_ < np.inf, (np.maximum(low, 0) + high_) / 2, low + 1))


def judged_logistic(model, data):
    X, y, w, _ = data
    S, a, b = model.support_, high(model.dual_coef_), high(model.intercept_)
    F, half, length = expanded(model, X, S, a)
    norm = half
    if model.kernel == "linear":  # weights and multipliers need not belong together
        coef = high(model.coef_)
        F, norm = X @ coef.T, (coef**2).sum() / 2
    cS = caps(model, data, S)
    F = F + b
    if len(model.classes_) == 2:
        s = np.where(y == 1, 1, -1)
        loss = softplus(-s * F[:, 0])
        δ = np.clip(a[:, 0] * s[S] / cS, Decimal(0), Decimal(1))
        D = cS @ (entropy(δ) + entropy(1 - δ)) - half
    else:
        top = F.max(1, keepdims=True)
        loss = log(exp(F - top).sum(1)) + top[:, 0] - F[np.arange(len(y)), y]
        η = -a / cS[:, None]
        η[np.arange(len(S)), y[S]] += 1
        D = cS @ entropy(np.clip(η, Decimal(0), Decimal(1))).sum(1) - half
    c = high(model.C) * w
    size = length**2 + c.sum() * (1 + reach(model, X) * length + abs(b).max())
    yield Recomputed(model.certificate_, norm + c @ loss, D, size)


def judged_margin(model, data):
    if model.uncertainty != "ball" and model.kernel != "linear" and np.any(radius_of(model)):
        return  # bounds of kernel values make another problem
    for k, label in enumerate(model.classes_):
        certificate = model.certificates_.get(label)
        if certificate is None:
            continue
        judged = judged_collapse if model.norms_[k] == 0 else judged_plane
        yield from judged(model, data, k, certificate)


def radius_of(model):
    """The radius, given or chosen."""
    return getattr(model, "radius_", model.radius)


def feared(model, X):
    """How far each example may move in the space of the planes, and the norm; see page 33."""
    ε, p = high(radius_of(model)), getattr(model, "norm_", model.norm)
    if ε == 0 or model.kernel == "linear":
        return np.full(len(X), ε), p
    if model.kernel == "poly":
        return np.array([image_radius(model, x, ε, p) for x in X], object), 2
    longest = ε * (high(model.n_features_in_).sqrt() if p == inf else 1)
    one = (2 - 2 * (-high(model.kernel_.gamma) * longest**2).exp()).sqrt()
    return np.full(len(X), one), 2


def image_radius(model, x, ε, p):
    """How far the image of x is from that of the worst perturbation, for a polynomial kernel."""
    away = np.where(x < 0, Decimal(-1), Decimal(1))
    if p == 1:  # along the largest coordinate
        away = np.where(np.arange(len(x)) == abs(x).argmax(), away, Decimal(0))
    elif p == 2:  # away from the origin
        away = x if x.any() else np.where(np.arange(len(x)) == 0, away, Decimal(0))
        away = away / root((away**2).sum())
    both = np.array([x, x + ε * away])
    K = kernel_values(model, both, both)
    return max(K[0, 0] - 2 * K[0, 1] + K[1, 1], Decimal(0)).sqrt()


def dual_norm(v, p):
    """The largest v·δ over all δ of length one in the norm p: 1, 2 or ∞."""
    return abs(v).max() if p == 1 else abs(v).sum() if p == inf else (v @ v).sqrt()


def judged_collapse(model, data, k, certificate):
    """A class that abstains: w = 0, whatever its multipliers leave of it."""
    X, _, w, _ = data
    a = high(model.dual_coef_[:, k])
    live = np.flatnonzero((a != 0) & (w > 0))
    _, half, length = expanded(model, X, live, a[live, None])
    robust = radius_of(model) > 0
    dual = None if robust else -half
    size = (length + reach(model, X)) ** 2 * (1 + 1 / Decimal(float(np.min(model.nu_))))
    yield Recomputed(certificate, Decimal(0), dual, inf if robust else size)


def judged_plane(model, data, k, certificate):
    X, y, w, _ = data
    own = y == k
    if model.kernel == "linear":  # by way of the weights
        slope = high(model.coef_[k])
        f, half = X @ slope, slope @ slope / 2
        length = norms(X) @ abs(high(model.dual_coef_[:, k]))
    else:
        a = high(model.dual_coef_[:, k])
        live = np.flatnonzero((a != 0) & (w > 0))
        f, half, length = expanded(model, X, live, a[live, None])
        f = f[:, 0]
    far = reach(model, X)  # of the largest row, whatever its weight
    off = abs(high(model.norms_[k]) ** 2 - 2 * half)
    if off > high(1e-11) * (2 * half + (length + far) ** 2):
        yield Said(f"norms_: {model.norms_[k]!r} of class {k}, its square {float(off):.1e} off")
    R, p = feared(model, X)
    robust, left, c = R.any(), Decimal(1), w[own] / w[own].sum()
    D = None if robust and model.kernel == "linear" else -half  # those multipliers make another w
    lost, share = Decimal(0), w[~own] / w[~own].sum()
    if robust and model.kernel == "linear":
        lost = dual_norm(slope, p)  # where each example goes to its worst place, times its radius
    elif robust:  # kept is v; the plane is v - κ v / ‖v‖, which decides alike
        κ, length_of_v = share @ R[~own] + R[own] @ a[own], (2 * half).sqrt()
        D = -(max(length_of_v - κ, Decimal(0)) ** 2) / 2
        left = max(1 - κ / high(model.norms_[k]), Decimal(0))  # of a v that may be rounding
        f, half, lost = left * f, left**2 * half, left * length_of_v
    θ = left * high(model.intercept_[k])
    # a cap above one is never met: the program is the same with two instead (page 30); copies of
    # a row share its cap
    mine = Data(X[own], y[own], c)
    group = c if model.kernel == "precomputed" else merged(mine, np.arange(len(c)))
    ratio = high(np.broadcast_to(model.nu_, len(model.classes_))[k])
    capped = np.minimum(group / ratio, Decimal(2)) * c / np.where(group > 0, group, Decimal(1))
    behind = capped @ np.maximum(lost * R[own] - (f[own] + θ), Decimal(0))
    mean = share @ (f[~own] + lost * R[~own])
    size = length**2 + far**2 + (far * length + abs(θ)) * (2 + capped.sum())
    if robust:
        size = inf  # near collapse, ‖v‖ = κ, an error of ‖v‖² is one of its root
    yield Recomputed(certificate, half + mean + θ + behind, D, size)


def judged_truncated(model, data):
    X, y, w, _ = data
    A, b, c = high(model.dual_coef_), high(model.intercept_), high(model.C) * w
    S = model.support_
    F, half, length = expanded(model, X, S, A)
    if model.kernel == "linear":
        coef = high(model.coef_)
        F, half = X @ coef.T, (coef**2).sum() / 2
    F = F + b
    rest = np.where(np.eye(len(model.classes_), dtype=bool)[y], -inf, F).max(1)
    u = F[np.arange(len(y)), y] - rest
    convex = model.truncation_ == -inf
    loss = LOSSES[model.loss](u if convex else np.maximum(u, high(model.truncation_)))
    P, D = half + c @ loss, None
    last = replace(model.certificate_, primal=float(model.objective_path_[-1]))
    if convex:
        cS = caps(model, data, S)
        p = A[np.arange(len(S)), y[S]] / cS
        D = cS @ CONJUGATES[model.loss](p, np.clip(p, Decimal(0), Decimal(1))) - half
        last = replace(last, dual=model.certificate_.dual)
    far = reach(model, X) * length + abs(b).max()
    steep = c @ loss if model.loss == "exponential" else c.sum()  # Σ c |loss'|
    size = length**2 + c @ abs(loss) + c.sum() + (c.sum() + steep) * far
    # multipliers that do not balance cost what they do to scores
    size += abs(A.sum(0)).sum() * (1 + 2 * far) / high(SUSPICIOUS * 1.2e-16)
    if model.loss == "exponential" and last.rounding == inf:
        size = inf  # scores that are known so badly that their exponentials overflow
    yield Recomputed(last, P, D, size)


LOSSES = {
    "hinge": lambda u: np.maximum(1 - u, Decimal(0)),
    "logistic": lambda u: softplus(-u),
    "exponential": lambda u: exp(-u),
}
CONJUGATES = {
    "hinge": lambda p, share: p,
    "logistic": lambda p, share: entropy(share) + entropy(1 - share),
    "exponential": lambda p, share: p + entropy(np.maximum(p, Decimal(0))),
}


def judged_stream(model, data):
    X, y, w, _ = data
    b, crammer_singer = high(model.intercept_), "Crammer" in type(model).__name__
    if model.kernel == "linear":
        coef = high(model.coef_).T
        F, gram = X @ coef, coef.T @ coef
        length = norms(coef.T).sum()
    else:
        Z, coef = dense(model.landmarks_), high(model.dual_coef_)
        F = kernel_values(model, X, Z) @ coef
        gram = coef.T @ kernel_values(model, Z, Z) @ coef
        length = kernel_diagonal(model, Z, np.arange(len(Z))) @ abs(coef).sum(1)
        length *= FACTOR
        worse = high(np.linalg.cond(kernel_values(model, Z, Z).astype(float)))  # of projections
    F, half = F + b, np.trace(gram) / 2
    rows = np.arange(len(y))
    if len(b) == 1:  # the second class's score minus the first's
        s = np.where(y == 1, F[:, 0], -F[:, 0])
        loss = np.maximum(1 - s, Decimal(0)) if crammer_singer else softplus(-s)
        half, norm = (half / 2, b @ b / 4) if crammer_singer else (half, Decimal(0))
    elif crammer_singer:
        rivals = F + (1 - np.eye(F.shape[1], dtype=int)[y])
        loss, norm = rivals.max(1) - F[rows, y], b @ b / 2
    else:
        top = F.max(1, keepdims=True)
        loss, norm = log(exp(F - top).sum(1)) + top[:, 0] - F[rows, y], Decimal(0)
    c = high(model.C) * w
    P = half + norm + c @ loss
    # prototypes of the dual point, which nobody stores, are within the root of twice the gap
    away = length + high(2 * abs(model.certificate_.gap)).sqrt()
    size = length**2 + c.sum() * (1 + reach(model, X) * away + abs(b).max())
    if model.kernel != "linear":  # the dual point is one of all rows, and nobody stores it
        penalised = crammer_singer and model.fit_intercept
        size += min(worse, FACTOR**4) * (c.sum() * (reach(model, X) + penalised)) ** 2
    else:  # a sum over all rows, balanced by some more; what rounding leaves of both is squared
        size += high(1.2e-16) * (10 * c.sum() * reach(model, X)) ** 2
    yield Recomputed(model.certificate_, P, None, size)
    yield Recomputed(model.full_certificate_, P, None, size)


def judged_span(model, data):
    """A classifier in the span of landmarks: its objective, for both of its certificates."""
    X, y, w, _ = data
    S, A, b = model.support_, high(model.dual_coef_), high(model.intercept_)
    F, half, length = expanded(model, X, S, A)
    length *= FACTOR
    rows, c, far = np.arange(len(y)), high(model.C) * w, reach(model, X)
    if A.shape[1] == 1:
        loss = softplus(-np.where(y == 1, 1, -1) * (F[:, 0] + b))
    elif type(model).__name__ == "CrammerSingerSVC":
        b = np.concatenate([-b, b]) / 2 if len(b) == 1 else b
        half += b @ b / 2
        rivals = F + b + (1 - np.eye(F.shape[1], dtype=int)[y])
        loss = rivals.max(1) - (F + b)[rows, y]
        far += model.fit_intercept
    else:
        F = F + b
        top = F.max(1, keepdims=True)
        loss = log(exp(F - top).sum(1)) + top[:, 0] - F[rows, y]
    P = half + c @ loss
    # the dual point is one of all rows, whose projections are known as well as the span is
    worse = high(np.linalg.cond(kernel_values(model, X[S], X[S]).astype(float)))
    size = length**2 + c.sum() * (1 + far * length + abs(b).max())
    size += min(worse, FACTOR**4) * (c.sum() * far) ** 2
    yield Recomputed(model.certificate_, P, None, size)
    yield Recomputed(model.full_certificate_, P, None, size)


# -- pairs of planes -------------------------------------------------------------------------------
class Framed(NamedTuple):
    """Planes in the coordinates of their programs, where the origin is the mean of the rows."""

    G: np.ndarray  # inner products of the rows (n, n)
    f: np.ndarray  # values of the planes at the rows (2P, n)
    b: np.ndarray  # and at the mean (2P,)
    squares: np.ndarray  # ‖w‖² (2P,)
    reach: np.ndarray  # bounds of |f| that no cancellation makes smaller (2P, n)
    lengths: np.ndarray  # of the rows; for kernels what rounds with their values (n,)


def framed(model, data):
    """All planes of a classifier, those that it keeps with the other sign turned back."""
    X, σ = data.X, high(model.standard_.size)
    U = high(model.planes_) * np.array([[1], [-1]])[None]
    U = U.reshape(-1, U.shape[2])
    W, b = U[:, :-1], U[:, -1]
    if model.kernel == "linear":
        centre = high(model.standard_.centre)
        rows = (X - centre) / σ
        own = root((W**2).sum(1))
        far = own[:, None] * (norms(X) + norms(centre[None])) + abs(b)[:, None]
        b_mean = b + W @ centre
        G, values = rows @ rows.T, W @ X.T + b[:, None]
        lengths = root(np.maximum(G.diagonal(), Decimal(0)))
        return Framed(G, values, b_mean, (W**2).sum(1) * σ**2, far, lengths)
    p = data.w / data.w.sum()
    K = kernel_values(model, X, X)
    S, μ = model.support_, K @ p
    f = W @ K[S]
    G = (K - μ[:, None] - μ[None] + p @ μ) / σ**2
    squares = ((W @ K[np.ix_(S, S)]) * W).sum(1)
    own = kernel_diagonal(model, X, np.arange(len(X)))
    far = (abs(W) @ own[S])[:, None] * (own + p @ own) + abs(b)[:, None]
    return Framed(G, f + b[:, None], b + f @ p, squares * σ**2, far, (own + p @ own) / σ)


class PlaneProgram(NamedTuple):
    """What a plane has to minimise, in the coordinates of a frame."""

    own: np.ndarray  # which rows it is near
    q: np.ndarray  # margins of the others
    c: np.ndarray  # weights of all rows
    lam: Decimal
    ridge: Decimal

    def value(self, f, length):
        """The objective of a plane with these values and this ‖w‖² + b²."""
        near = self.c[self.own] @ f[self.own] ** 2 + self.ridge * length
        missed = np.maximum(self.q + f[~self.own], Decimal(0))
        return self.lam / 2 * near + self.c[~self.own] @ missed

    def better(self, G):
        """The objective of the plane that coordinate ascent on the dual finds in float64."""
        K, own = G.astype(float), self.own
        λ, V = np.linalg.eigh(K)
        kept = λ > 1e-13 * max(λ.max(), 1e-300)
        Φ = np.c_[V[:, kept] * np.sqrt(λ[kept]), np.ones(len(K))]
        c, q, lam = self.c.astype(float), self.q.astype(float), float(self.lam)
        M = (Φ[own] * c[own, None]).T @ Φ[own] + float(self.ridge) * np.eye(Φ.shape[1])
        N, inverse = Φ[~own], np.linalg.pinv(M, rcond=1e-17, hermitian=True)
        z = in_a_box(N @ inverse @ N.T / lam, q, c[~own])
        u = -inverse @ (N.T @ z) / lam
        a, b = high(V[:, kept] / np.sqrt(λ[kept]) @ u[:-1]), high(u[-1])
        f = G @ a
        return self.value(f + b, a @ f + b * b)


def in_a_box(Q, q, hi, sweeps=100):
    """Maximise q z - z Q z / 2 for 0 <= z <= hi, coordinate by coordinate."""
    z, slope = hi.copy(), q - Q @ hi
    for _ in range(sweeps):
        before = z.copy()
        for i in range(len(z)):
            newton = slope[i] / Q[i, i] if Q[i, i] > 1e-200 * abs(slope[i]) else np.inf * slope[i]
            new = np.clip(z[i] + np.nan_to_num(newton), 0, hi[i])
            slope -= (new - z[i]) * Q[i]
            z[i] = new
        if np.abs(z - before).max(initial=0.0) <= 1e-12 * hi.max(initial=0.0):
            break
    return z


def plane_programs(model, data):
    """The programs of all planes, in the order of `planes_`."""
    cv = hasattr(model, "lam_")
    lam = high(np.broadcast_to(model.lam_ if cv else model.lam, (len(model.pairs_), 2)))
    ε = high(model.best_params_["epsilon"] if cv else model.epsilon)
    for (i, j), two in zip(model.pairs_, lam):
        for own, other, λ in ((i, j, two[0]), (j, i, two[1])):
            mine = data.y == own
            q = np.where(data.y[~mine] == other, Decimal(1), 1 - ε)
            yield PlaneProgram(mine, q, data.w, λ, high(model.standard_.ridge))


def drowned(program, frame):
    """Is the rounding of kernel values, beside the ridge, more than the zero plane's objective?"""
    residual = high(1.2e-16) * (program.c @ frame.lengths) ** 2
    return residual > program.lam * program.ridge * (program.c[~program.own] @ program.q)


def judged_planes(model, data):
    frame, c = framed(model, data), model.certificate_
    squares = (high(model.norms_.ravel()) * high(model.standard_.size)) ** 2
    off = abs(squares - frame.squares)
    if (off > high(1e-12) * (frame.squares + frame.reach.max(1) ** 2)).any():
        yield Said(f"norms_: {model.norms_.tolist()}, squares off by {off.astype(float)}")
    programs = list(plane_programs(model, data))
    values, sizes, moved = [], [], []
    lengths = 1 + frame.lengths
    for program, f, b, square, far in zip(programs, *frame[1:-1]):
        values.append(program.value(f, square + b * b))
        own, λ = program.own, program.lam
        size = program.value(far, square + far.max() ** 2)
        pull = np.where(own, λ * far, Decimal(1)) * program.c @ lengths
        size += high(1e-16) * pull**2 / (λ * program.ridge)
        # margins are products of rows of the dual, as long as |x| / √δ, with a plane
        steep = root(2 * values[-1] / (λ * program.ridge))
        size += steep * (program.c[~own] @ lengths[~own])
        # values of a kernel are dozens of units of rounding off, and move the dual with them
        sizes.append(float(size) * (1 if model.kernel == "linear" else 10))
        moved.append(0.0 if model.kernel == "linear" else float(10 * pull**2 / (λ * program.ridge)))
    k = int(np.argmin([abs(P - high(c.primal)) for P in values]))
    size = inf if model.kernel != "linear" and drowned(programs[k], frame) else sizes[k]
    yield Recomputed(c, values[k], None, size + moved[k])
    if getattr(model, "rank", None) is not None:
        return  # there may be better planes, among those of more landmarks
    for j in {k, len(values) - 1}:
        better = programs[j].better(frame.G)
        if j == k and model.kernel == "linear":
            yield Above(c, better)
        yield Farther(c, values[j], better, sizes[j])


# -- classifiers of two classes under many weights ------------------------------------------------
def two_class_parts(model, y):
    """Rows of each problem, and the signs of their classes; in the order of the scheme."""
    K = len(model.classes_)
    if model.scheme_ == "one-vs-rest" and K > 2:
        return [(np.arange(len(y)), np.where(y == k, 1, -1)) for k in range(K)]
    pairs = [np.flatnonzero((y == i) | (y == j)) for i in range(K) for j in range(i + 1, K)]
    return [(on, np.where(y[on] == y[on].min(), 1, -1)) for on in pairs]


def functions(model, data, Z=None):
    """Scores of all solutions at rows, (problems, m, n), or (m, K, n); coefficients (…, rows)."""
    X, Z = data.X, data.X if Z is None else Z
    if model.support_ is None:
        W = high(model.coef_)
        return W @ Z.T + high(model.intercept_)[..., None], W
    A, S = np.moveaxis(high(model.dual_coef_), 0, -1), model.support_
    V = X[:, S] if model.kernel == "precomputed" else X[S]
    F = A @ kernel_values(model, Z[:, S] if model.kernel == "precomputed" else Z, V).T
    return F + high(model.intercept_)[..., None], A


def squared_norms(model, data, A):
    """‖w‖² of each solution."""
    if model.support_ is None:
        return (A**2).sum(-1)
    X, S = data.X, model.support_
    K = X[np.ix_(S, S)] if model.kernel == "precomputed" else kernel_values(model, X[S], X[S])
    return ((A @ K) * A).sum(-1)


def of_two(model):
    """Are the solutions classifiers of two classes?"""
    return model.scheme_ in ("pairwise", "one-vs-rest") or len(model.classes_) == 2


def judged_probabilities(model, data):
    """The certificate is that of one of the solutions; none is farther from its optimum."""
    if model.truncation_ != -inf:
        return  # of the last convex problem, whose slopes nobody keeps
    F, A = functions(model, data)
    objectives = of_pairs if of_two(model) else of_all_classes
    found = objectives(model, data, F, squared_norms(model, data, A), A)
    c = model.certificate_
    off = [
        abs(one.primal - high(c.primal)) + (0 if one.dual is None else abs(one.dual - high(c.dual)))
        for one in found
    ]
    level = min(off) + high(1e-9) * abs(high(c.primal))
    # pairs that share a class of little weight have nearly the same objective
    alike = [one for one, far in zip(found, off) if far <= level]
    yield found[int(np.argmin(off))]._replace(size=max(one.size for one in alike))
    unit = 2 * float(high(model.C) * data.w.sum())
    for one in found:
        if one.dual is None or not c.converged or not c.certifiable:
            continue
        scale = max(abs(float(one.primal)), 1e-6 * unit)
        allowed = c.proved_gap * scale + 1e-13 * float(one.size)
        if float(one.primal - one.dual) > 1.001 * allowed + c.rounding:
            yield Said(f"certificate: {c!r}, but a gap of {float(one.primal - one.dual)!r}")


def of_pairs(model, data, F, squares, A):
    """Primal and dual values of classifiers of two classes."""
    loss, found, b = LOSSES[model.loss], [], high(model.intercept_)
    sizes = expansion_sizes(model, data, A)
    unit = 2 if model.loss == "hinge" else 1  # of ‖w‖² / 2; else both classes have weights, ±w/2
    for p, (on, s) in enumerate(two_class_parts(model, data.y)):
        for j, π in enumerate(high(model.weights_[:, 1])):
            c = unit * high(model.C) * data.w[on] * np.where(s > 0, 1 - π, π)
            half = unit * squares[p, j] / 4
            P = half + c @ loss(s * F[p, j, on])
            dual = model.support_ is not None and model.loss == "hinge"
            D = abs(A[p, j]).sum() - half if dual else None
            size = sizes[p, j] ** 2 + c.sum() * (1 + reach(model, data.X) * sizes[p, j])
            size += c.sum() * abs(b[p, j])
            # errors of kernel values are bounded by their sizes, dozens of units each
            found.append(Recomputed(model.certificate_, P, D, 10 * size))
    return found


def of_all_classes(model, data, F, squares, A):
    """Primal values of classifiers of all classes."""
    (X, y, w, _), K, found = data, len(model.classes_), []
    rows, own = np.arange(len(y)), np.eye(len(model.classes_), dtype=bool)[y]
    sizes, b = expansion_sizes(model, data, A), high(model.intercept_)
    for j, π in enumerate(high(model.weights_)):
        f = F[j].T
        c = K * high(model.C) * w * π[y]
        u = f[rows, y] - np.where(own, high(-inf), f).max(1)
        P = squares[j].sum() / 2 + c @ LOSSES[model.loss](u)
        size = sizes[j].sum() ** 2
        size += c.sum() * (1 + reach(model, X) * sizes[j].sum() + abs(b[j]).max())
        found.append(Recomputed(model.certificate_, P, None, size))
    return found


def expansion_sizes(model, data, A):
    """Bounds of ‖w‖ that no cancellation makes smaller."""
    if model.support_ is None:  # nobody keeps the multipliers, but C bounds them
        most = 2 * len(model.classes_) * high(model.C) * data.w @ norms(data.X)
        return np.full(A.shape[:-1], most)
    return abs(A) @ kernel_diagonal(model, data.X, model.support_)


def wrong_votes(model, training, Z):
    """Complaints about labels that the scores of the solutions contradict."""
    with localcontext(DIGITS):
        data = data_of(training, model)
        F, A = functions(model, data, dense(Z))
        sizes = expansion_sizes(model, data, A)[..., None] * reach_of(model, data, dense(Z))
        room = high(SUSPICIOUS * 1.2e-16) * sizes
        if of_two(model):
            votes, found = np.asarray(model.votes(Z)), F > 0
            clear = abs(F) > room
            if len(model.classes_) == 2:
                votes = (votes == model.classes_[0])[None]
            elif model.scheme_ == "pairwise":
                pairs = np.array(np.triu_indices(len(model.classes_), 1))
                votes = votes == model.classes_[pairs[0]][:, None, None]
            wrong = clear & (votes != found)
        else:
            top = np.sort(F, axis=1)
            level = high(2e-5) * (1 + abs(top[:, -1]))  # below, scores count as equal
            clear = top[:, -1] - top[:, -2] > 2 * room.max(1) + level
            wrong = clear & (model.classes_[F.argmax(1)] != model.votes(Z))
        if wrong.any():
            yield f"votes: {wrong.sum()} of {wrong.size} contradict the scores"


def reach_of(model, data, Z):
    """The roots of k(z, z), or for given values what stands for them."""
    if model.kernel == "precomputed":
        return root(abs(Z[:, model.support_]).max(1))
    return kernel_diagonal(model, Z, np.arange(len(Z)))


class Said(NamedTuple):
    """A complaint."""

    text: str

    def complaints(self):
        yield self.text


JUDGES = {
    "CrammerSingerSVC": judged_crammer_singer,
    "CrammerSingerSVCCV": judged_crammer_singer,
    "KernelLogisticRegression": judged_logistic,
    "TwinMarginSVC": judged_margin,
    "TwinMarginSVCCV": judged_margin,
    "TruncatedHingeSVC": judged_truncated,
    "LabelRankingSVC": judged_ranking,
    "MulticlassSVC": judged_multiclass,
    "TwinKSVC": judged_planes,
    "TwinKSVCCV": judged_planes,
    "SVMProbabilityClassifier": judged_probabilities,
    "StreamedCrammerSingerSVC": judged_stream,
    "StreamedKernelLogisticRegression": judged_stream,
}


SPANNING = "CrammerSingerSVC", "KernelLogisticRegression"  # with landmarks, in memory


def dishonest(name, model, training):
    """Complaints about certificates that exact arithmetic contradicts."""
    if name not in JUDGES or not np.isfinite(model.certificate_.primal):
        return  # what is not finite has been reported
    if model.kernel not in ("linear", "rbf", "poly", "precomputed"):
        return
    judges = JUDGES
    if getattr(model, "rank", None) is not None and model.kernel != "linear":
        judges = JUDGES | dict.fromkeys(SPANNING, judged_span)
    with localcontext(DIGITS):
        for found in judges[name](model, data_of(training, model)):
            yield from found.complaints()


def differences(c, P, D, size):
    """Complaints about one certificate."""
    scale = max(abs(float(P)), abs(c.primal), 1e-6 * c.unit)
    room = c.rounding + LAST_BIT * scale
    if abs(float(P - high(c.primal))) > room:
        yield f"certificate: primal {c.primal!r}, recomputed {float(P)!r}, room {room:.1e}"
    if D is not None and abs(float(D - high(c.dual))) > room:
        yield f"certificate: dual {c.dual!r}, recomputed {float(D)!r}, room {room:.1e}"
    if D is not None and float(P - D) > abs(c.gap) + 2 * room:
        yield f"certificate: gap {c.gap!r}, recomputed {float(P - D)!r}, room {room:.1e}"
    if c.converged and c.rounding > SUSPICIOUS * 1.2e-16 * float(size) + NEGLIGIBLE * scale:
        yield f"certificate: rounding {c.rounding!r}, terms of {float(size):.1e} need far less"


# -- scores ----------------------------------------------------------------------------------------
def scores(model, Z, X):
    """Scores of rows Z recomputed, and the size of their terms; X: training rows."""
    linear = model.kernel == "linear"
    b = high(model.intercept_)
    if linear:
        coef = high(model.coef_).T
        return Z @ coef + b, norms(Z)[:, None] * norms(coef.T).max() + abs(b).max()
    S, A = model.support_, high(model.dual_coef_)
    if len(S) == 0:
        return np.full((len(Z), len(b)), Decimal(0)) + b, np.full((len(Z), 1), abs(b).max())
    V = X[:, S] if model.kernel == "precomputed" else X[S]
    F = kernel_values(model, Z[:, S] if model.kernel == "precomputed" else Z, V) @ A
    if A.shape[1] == 2 and len(b) == 1:
        F = F[:, 1:] - F[:, :1]
    if model.kernel == "precomputed":
        sizes = abs(Z[:, S]) @ abs(A)
    else:
        own = [kernel_values(model, z[None], z[None])[0, 0] for z in Z]
        mine = root(np.maximum(np.array(own, object), Decimal(0)))
        sizes = mine[:, None] * (kernel_diagonal(model, X, S) @ abs(A))
    return F + b, sizes.max(1, keepdims=True) + abs(b).max()


SCORED = (
    "CrammerSingerSVC",
    "KernelLogisticRegression",
    "TruncatedHingeSVC",
    "LabelRankingSVC",
    "MulticlassSVC",
)


def wrong_scores(name, model, training, Z):
    """Complaints about a decision function that its own coefficients contradict."""
    if name not in SCORED or model.kernel not in ("linear", "rbf", "poly", "precomputed"):
        return
    given = np.asarray(model.decision_function(Z), float)
    given = given[:, None] if given.ndim == 1 else given
    with localcontext(DIGITS):
        F, sizes = scores(model, dense(Z), dense(training.X))
        if F.shape[1] == 2 and given.shape[1] == 1:
            F = F[:, 1:] - F[:, :1]
        off = abs(F - high(given))
        room = high(SUSPICIOUS * 1.2e-16) * sizes + high(1e-300)
        if (off > room).any():
            i = int((off - room).max(1).argmax())
            yield f"decision_function: {float(off[i].max()):.1e} off at point {i}"
