"""Wu, Zhang and Liu's classifiers: CPU seconds per weight.

They stand beside those of a general solver and those that the paper prints.
"""

import numpy as np
from harness import benchmark, once, seconds, side_by_side, small

from mcsvm_lit.core.kernels import Kernel
from mcsvm_lit.core.semidefinite import pivoted_cholesky
from mcsvm_lit.core.simplex import simplex_grid
from mcsvm_lit.engine.extras import cone_solver
from mcsvm_lit.probability.ascent import solve_hinge
from mcsvm_lit.probability.lattice import direct_estimate, face_rule
from mcsvm_lit.probability.many_weights import Sample, solve_many
from mcsvm_lit.probability.problem import hinge_cvxpy
from mcsvm_lit.probability.simplex import indirect_estimate
from mcsvm_lit.probability.truncated import Truncation, truncated_many
from mcsvm_lit.probability.truncated_classifier import TruncatedHingeSVC
from mcsvm_lit.studies.datasets import make_wzl1, make_wzl2, make_wzl3, make_wzl4

PAPER = {
    1: 0.4827,
    2: 5.4086,
    3: 0.5118,
    4: 2.3549,
}  # section 5.2, seconds per weight on the authors' computer


def example(i):  # -> rows, class indices, classes
    """A training set of the paper.

    Example 2 is a factor of its Gaussian kernel matrix, at the median distance between classes.
    """
    d = {1: make_wzl1, 2: make_wzl2, 3: make_wzl3, 4: make_wzl4}[i](random_state=0)
    X, y = d.data, d.target
    if i != 2:
        return X, y, y.max() + 1
    D = ((X[:, None] - X) ** 2).sum(2)
    return pivoted_cholesky(Kernel("rbf", 1 / np.median(D[y[:, None] != y])), X, 1e-14)[0], y, 3


def gumbel(K, m, seed=0):  # -> (m, K)
    w = 1 / np.random.default_rng(seed).exponential(size=(m, K))
    return w / w.sum(1, keepdims=True)


def lattice(K, M):
    return simplex_grid(K, M, interior=True) / M


def minimal(K):  # -> Truncation
    "The hinge, truncated as little as consistency allows."
    return Truncation(-1 / (K - 1))


def warm_up():
    for i in (1, 2):
        Z, y, K = example(i)
        truncated_many(Sample(Z[:60], y[:60], K), gumbel(K, 2), 1.0, minimal(K))


# -- per weight
def milliseconds(t):
    "Seconds as text in milliseconds."
    return f"{1e3 * t:.2f}"


@benchmark("Wu, Zhang and Liu, one weight")
def wzl_weight(repeat):
    """CPU milliseconds per weight, hinge and truncated at the minimal place, over 64 Gumbel
    weights, and over a lattice of weights where neighbours are near. CVXPY with ECOS: the hinge
    primal, two weights. The last column holds the truncated classifier against the paper's
    seconds, on its own computer: read it as an order of magnitude."""
    warm_up()
    for i, C in ((1, 1.0), (1, 100.0), (2, 10.0), (3, 10.0), (4, 10.0)):
        Z, y, K = example(i)
        sample, Π = Sample(Z, y, K), gumbel(K, 64)
        near = lattice(K, 20 if K == 3 else 8)
        runs = {
            "hinge": lambda Π: solve_many(sample, Π, C),
            "truncated": lambda Π: truncated_many(sample, Π, C, minimal(K)),
        }
        t = {
            (who, len(Q)): once(lambda: run(Q)).seconds / len(Q)
            for who, run in runs.items()
            for Q in (Π, near)
        }
        ecos = (
            once(lambda: [hinge_cvxpy(Z, y, C * π[y], K) for π in Π[:2]]).seconds / 2
            if i != 2
            else once(lambda: hinge_cvxpy(Z, y, C * Π[0][y], K)).seconds
        )
        yield {
            "problem": f"Example {i}, n = {len(y)}, K = {K}, C = {C:g}",
            "hinge, Gumbel, ms": milliseconds(t["hinge", 64]),
            "hinge, lattice, ms": milliseconds(t["hinge", len(near)]),
            "truncated, Gumbel, ms": milliseconds(t["truncated", 64]),
            "truncated, lattice, ms": milliseconds(t["truncated", len(near)]),
            "CVXPY + ECOS, hinge, ms": f"{1e3 * ecos:.0f}",
            "paper, truncated, ms": f"{1e3 * PAPER[i]:.0f}",
            "paper / ours": f"{PAPER[i] / t['truncated', 64]:.0f}",
        }


# -- whole sets of weights
@benchmark("Wu, Zhang and Liu, all weights of a fit")
def wzl_fit(repeat):
    """CPU seconds for all classifiers of a fit, truncated, and the largest relative gap of a
    last convex problem among them (1e-8 was asked for)."""
    warm_up()
    for i, C, name, Π, goal in (
        (1, 1.0, "1176 lattice weights, d = 0.02", lattice(3, 50), 5.0),
        (1, 100.0, "1176 lattice weights, d = 0.02", lattice(3, 50), 5.0),
        (1, 1.0, "256 Gumbel weights", gumbel(3, 256), 1.0),
        (1, 100.0, "256 Gumbel weights", gumbel(3, 256), 1.0),
        (2, 10.0, "1176 lattice weights, d = 0.02", lattice(3, 50), 5.0),
        (4, 10.0, "256 Gumbel weights", gumbel(5, 256), 30.0),
    ):
        Z, y, K = example(i)
        r = once(lambda: truncated_many(Sample(Z, y, K), Π, C, minimal(K)))
        yield {
            "problem": f"Example {i}, C = {C:g}",
            "weights": name,
            "CPU s": seconds(r.seconds),
            "goal, s": goal,
            "meets": "yes" if r.seconds <= goal else "**no**",
            "largest gap": small(r.value.gap.max()),
            "the paper's rate, s": f"{PAPER[i] * len(Π):.0f}",
        }


# -- from labels to probabilities
@benchmark("Wu, Zhang and Liu, from labels to probabilities")
def wzl_schemes(repeat):
    """CPU seconds of the paper's two schemes on the labels of 4000 points under the lattice of
    step 0.02, exact ones and ones of which a share was replaced at random. The indirect scheme
    needs the weights of the interior, the direct one the border, too; what fitting costs is in
    the tables above, and is by far the larger part."""
    rng = np.random.default_rng(0)
    W, P = simplex_grid(3, 50), rng.dirichlet(np.ones(3), 4000)
    exact = np.stack([(w * P).argmax(1) for w in W]).astype(np.int16)
    inner = W.min(1) > 0
    for share in (0.0, 0.005):
        replaced = rng.random(exact.shape) < share
        L = np.where(replaced, rng.integers(0, 3, exact.shape), exact).astype(np.int16)
        times = side_by_side(
            repeat,
            indirect=lambda L=L: indirect_estimate(L[inner], 3),
            direct=lambda L=L: direct_estimate(face_rule(L, 3, 50), 3, 50),
        )
        a, b = times["indirect"].seconds, times["direct"].seconds
        yield {
            "labels replaced": f"{share:.1%}",
            "indirect, weights": int(inner.sum()),
            "direct, weights": len(W),
            "indirect, CPU s": seconds(a),
            "direct, CPU s": seconds(b),
            "direct / indirect": f"{b / a:.1f}",
        }


# -- right
@benchmark("Wu, Zhang and Liu, objectives against a general solver")
def wzl_right(repeat):
    """Hinge objectives on 200 random weights (100 rows of Example 1, 100 of Example 4, C from
    0.1 to 100): the largest relative difference from CVXPY with ECOS; at most 1e-6 is the goal."""
    warm_up()
    rng = np.random.default_rng(0)
    for i in (1, 4):
        Z, y, K = example(i)
        Z, y = Z[:100], y[:100]
        worst = 0.0
        walked = 0.0
        for C in (0.1, 1.0, 10.0, 100.0):
            Π = rng.dirichlet(np.ones(K), 25)
            many = solve_many(Sample(Z, y, K), Π, C)
            for j, π in enumerate(Π):
                P = hinge_cvxpy(Z, y, C * π[y], K, **cone_solver(1e-9))[2]
                worst = max(worst, abs(solve_hinge(Z, y, C * π[y], K).certificate.primal / P - 1))
                walked = max(walked, abs(many.objective[j] / P - 1))
        yield {
            "problem": f"Example {i}, n = 100, K = {K}",
            "interior point": small(worst),
            "path": small(walked),
            "meets 1e-6": "yes" if max(worst, walked) <= 1e-6 else "**no**",
        }


# -- the estimator
@benchmark("Wu, Zhang and Liu, TruncatedHingeSVC")
def wzl_estimator(repeat):
    """One fit, Gaussian kernel, tol 1e-4, after the d.c. steps; `!` if the gap was not reached."""
    from sklearn.datasets import load_digits, make_classification

    warm_up()
    digits = load_digits(return_X_y=True)
    made = make_classification(3000, 20, n_informative=8, n_classes=3, random_state=0)
    for name, (X, y) in {
        "digits/16": (digits[0] / 16, digits[1]),
        "synthetic, n = 3000, K = 3": made,
    }.items():
        for C in (1.0, 10.0):
            for truncation in (None, "minimal"):
                r = once(lambda: TruncatedHingeSVC(C=C, truncation=truncation).fit(X, y))
                m = r.value
                yield {
                    "problem": f"{name}, C = {C:g}",
                    "truncation": str(truncation),
                    "CPU s": seconds(r.seconds),
                    "gap": small(m.certificate_.relative_gap) + "!" * r.warned,
                    "d.c. steps": m.n_dca_iter_,
                    "support vectors": len(m.support_),
                }
