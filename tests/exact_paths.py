"""Points of exact paths recomputed from rows and settings alone, with 120 decimal digits.

A path states in `kkt` how far its optimality conditions and its duality gap are from zero, at both
ends and in the middle of every piece. Here multipliers and planes of some of these points are put
into the program as it is written. What a path states may differ by the rounding of its terms, and
by what the rounding of the matrix F'F + δI does beside a small ridge.
"""

from decimal import Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np
from exact import DIGITS, high, norms, root

WIDE = Context(prec=120, Emax=DIGITS.Emax, Emin=DIGITS.Emin)
UNIT = 1.2e-16
TERMS = 1e3  # times the unit roundoff of all terms: what is found needs a fiftieth of that
PIECES = 4  # that are looked at, of one path
LEAST = Decimal("1e-6")  # of the objective of the zero plane: what a gap is measured against


class Groups(NamedTuple):
    """The rows of one twin program, and its settings."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    settings: dict

    def program(self):
        """What (40.1) is made of."""
        s = {"epsilon": 0.2, "ridge": 1e-4, "kB": 1.0, "kC": 1.0} | self.settings
        F, G, H = (np.c_[high(X), np.full(len(X), Decimal(1))] for X in self[:3])
        q = np.r_[np.full(len(G), Decimal(1)), np.full(len(H), 1 - high(s["epsilon"]))]
        h = np.r_[np.full(len(G), high(s["kB"])), np.full(len(H), high(s["kC"]))]
        return TwinProgram(F, np.concatenate([G, H]), q, h, high(s["ridge"]))


def solved(M, B):
    """The solutions of linear equations with a positive definite matrix, by elimination."""
    n, M = len(M), np.c_[M, B]
    for i in range(n):
        M[i] = M[i] / M[i, i]
        others = np.arange(n) != i
        M[others] = M[others] - M[others, i : i + 1] * M[i]
    return M[:, n:]


class TwinProgram(NamedTuple):
    """The program (40.1): a plane near the rows F and away from the rows N."""

    F: np.ndarray
    N: np.ndarray
    q: np.ndarray  # margins
    h: np.ndarray  # what a slack costs
    ridge: Decimal

    def matrix(self):
        return self.F.T @ self.F + self.ridge * high(np.eye(self.F.shape[1]))

    def primal(self, u, λ):
        near = self.F @ u
        loss = self.h @ np.maximum(self.q + self.N @ u, Decimal(0))
        return λ * (near @ near + self.ridge * (u @ u)) / 2 + loss

    def dual(self, z, x, λ):
        """The dual value; x solves (F'F + δI) x = N'z."""
        return self.q @ z - (self.N.T @ z) @ x / (2 * λ)

    def violation(self, u, z):
        """The largest violation of the conditions (40.6), in units of a margin and of a bound."""
        t = z / self.h
        moved = np.clip(t + self.q + self.N @ u, Decimal(0), Decimal(1))
        return abs(t - moved).max()

    def room(self, u, z, x, λ):
        """What rounding may do to a margin, and to the gap."""
        unit, length = high(TERMS * UNIT), root(u @ u)
        margins = unit * (self.q + norms(self.N) * length)
        size = (self.F**2).sum() + self.ridge
        of_matrix = size * (λ * length**2 + x @ x / λ)  # both values hold F'F + δI
        return margins.max(), self.h @ margins + unit * (of_matrix + self.q @ z)


def looked_at(path, seed):
    """Values of the parameter: before the first event, both ends and middles of pieces, the end."""
    pieces = list(path.pieces())
    chosen = np.random.default_rng(seed).permutation(len(pieces))[:PIECES]
    values = [path.lams.max(initial=1.0) * 2]
    for i in chosen:
        _, first, last = pieces[i]
        values += [first, (first + last) / 2, last]
    return [λ for λ in values if λ > 0 and λ >= path.domain[0]]


def judged_twin_path(path, groups, seed):
    """Complaints about a path that the program, as it is written, contradicts."""
    with localcontext(WIDE):
        program, stated = groups.program(), path.kkt()
        values = looked_at(path, seed)
        points = [path.at(λ) for λ in values]
        Z = high([p.z for p in points])
        X = solved(program.matrix(), program.N.T @ Z.T).T
        for λ, p, z, x in zip(high(values), points, Z, X):
            u = high(np.r_[p.w, p.b])
            if (z < 0).any() or (z > program.h).any():
                yield f"path: multipliers outside their bounds at {p.value!r}"
            of_margins, of_gap = program.room(u, z, x, λ)
            P = program.primal(u, λ)
            gap, scale = P - program.dual(z, x, λ), max(P, LEAST * (program.h @ program.q))
            if gap > high(stated.gap) * scale + of_gap:
                yield f"path: gap {float(gap / scale)!r} at {p.value!r}, {stated.gap!r} stated"
            violation = program.violation(u, z)
            if violation > high(stated.violation) + of_margins:
                yield f"path: violation {float(violation)!r} at {p.value!r}, {stated!r} stated"
            off = abs(high(path.decision(groups.B, p.value)) - program.N[: len(groups.B)] @ u)
            if off.max() > of_margins:
                yield f"path: decisions {float(off.max()):.1e} off at {p.value!r}"
