"""Forged files of paths: each is refused in one sentence, or does no harm.

Their fingerprints fit. A process of its own reads them, so that one that crashes the interpreter is
seen and named. For more:

    python tests/test_forged_paths.py 10000
"""

import io
import json
import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import pytest

from mcsvm_lit import c_path, epsilon_path, nu_path, pi_path, pi_regions, robust_path, twin_path
from mcsvm_lit.core.paths import _fingerprint

KINDS = ("TwinPath", "stopped TwinPath", "EpsilonPath", "NuPath", "RobustPath", "PiPath", "CPath")
KINDS += ("regions",)


def path_of(kind):
    """A small path of each kind that is saved to files."""
    rng = np.random.default_rng(0)
    A, B, C = (rng.normal(size=(m, 2)) + shift for m, shift in ((8, 0), (8, 1), (6, -1)))
    y = np.repeat([0, 1, 2], (8, 8, 6))
    if kind == "TwinPath":
        return twin_path(A, B, C)
    if kind == "stopped TwinPath":
        return twin_path(A, B, C, max_events=9)
    if kind == "EpsilonPath":
        return epsilon_path(A, B, C)
    if kind == "NuPath":
        A -= np.r_[B, C].mean(axis=0)
        return nu_path(A @ A.T)
    if kind == "RobustPath":
        return robust_path(A, np.r_[B, C].mean(axis=0), 0.5)
    if kind == "PiPath":
        return pi_path(np.r_[A, B, C], y, [0.2, 0.3, 0.5], [0.5, 0.3, 0.2])
    if kind == "CPath":
        return c_path(np.r_[A, B, C], y)
    return pi_regions(np.r_[A[:3], B[:3], C[:3]], np.repeat([0, 1, 2], 3))


def use(path):
    """Whatever compiled loops do with a path."""
    repr(path)
    path.kkt()
    if not hasattr(path, "domain"):
        path.at(np.array([0.2, 0.3, 0.5]))
        return
    low, high = path.domain
    middle = (low + min(high, low + 1)) / 2
    path.at(middle)
    path.curves(np.array([middle]))
    if hasattr(path, "planes"):
        path.planes(middle)


def spoil(array, rng):
    """An array as an attacker might change it."""
    how = rng.integers(10)
    flat = array.copy().reshape(-1)
    if how < 5 and flat.size and array.dtype.kind in "iufb":
        few = rng.integers(flat.size, size=1 + rng.integers(3))
        values = [-1, 10**6, -(10**12), 2**62, 0, 1, 2, 3, 4, len(array) if array.ndim else 7]
        if array.dtype.kind == "f":
            values += [np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flat[few] = np.array(rng.choice(values)).astype(array.dtype)
        return flat.reshape(array.shape)
    if how == 5 and flat.size:
        return rng.permutation(flat).reshape(array.shape)
    if how == 6:
        return flat[: rng.integers(flat.size + 1)]
    if how == 7:
        return np.concatenate([array, array]) if array.ndim else array[None]
    if how == 8 and array.dtype.kind in "iufb":
        return array.astype(rng.choice(["f4", "i4", ">f8", "U9", "?", "c16", "u1"]))
    return np.array(rng.choice(["", "x", "9" * 50]))


def forge(fields, rng):
    """A file with one to three fields changed, taken out or exchanged, and its fingerprint."""
    fields = dict(fields)
    for _ in range(rng.integers(1, 4)):
        name = rng.choice(sorted(fields))
        if rng.random() < 0.06:
            del fields[name]
        elif rng.random() < 0.06:
            fields[name] = fields[rng.choice(sorted(fields))]
        else:
            fields[name] = spoil(fields[name], rng)
        if not fields:
            break
    fields["fingerprint"] = np.array(_fingerprint(fields))
    file = io.BytesIO()
    np.savez(file, **fields)
    raw = bytearray(file.getvalue())
    if rng.random() < 0.1:
        raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    return bytes(raw)


def read_forged(kind, seeds):
    """How many files were refused and how many read; the seed goes to stderr before each."""
    warnings.simplefilter("ignore")
    path, file = path_of(kind), io.BytesIO()
    path.save(file)
    file.seek(0)
    with np.load(file) as stored:
        fields = {name: stored[name] for name in stored.files if name != "fingerprint"}
    ends = Counter()
    for seed in seeds:
        print(seed, file=sys.stderr, flush=True)
        raw = forge(fields, np.random.default_rng(seed))
        try:
            read = type(path).load(io.BytesIO(raw))
        except ValueError as refusal:
            assert "is not an intact file of a" in str(refusal), (seed, refusal)
            ends["refused"] += 1
            continue
        ends["read"] += 1
        try:
            use(read)
        except (ArithmeticError, ValueError):
            ends["of no use"] += 1
    return dict(ends)


def in_a_process(kind, first, n):
    """What `read_forged` returns in a process of its own."""
    run = subprocess.run(
        [sys.executable, __file__, kind, str(first), str(n)], capture_output=True, text=True
    )
    last = [line for line in run.stderr.splitlines() if line.isdigit()][-1:]
    assert run.returncode == 0, f"{kind}, seed {last}: {run.returncode}\n{run.stderr[-2000:]}"
    return json.loads(run.stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_file_is_refused_or_does_no_harm(kind):
    ends = in_a_process(kind, 0, 60)
    assert ends["refused"] > 20


if __name__ == "__main__":
    if len(sys.argv) == 4:
        first, n = map(int, sys.argv[2:])
        print(json.dumps(read_forged(sys.argv[1], range(first, first + n))))
    else:
        for kind in KINDS:
            print(kind, in_a_process(kind, 10**6, int(sys.argv[1])))
