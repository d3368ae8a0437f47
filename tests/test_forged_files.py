"""Forged files: each is refused in one sentence, or does no harm.

Paths and regions, kept replications, and classifiers in files of skops. Fingerprints and checksums
fit. A process of its own reads them, so that one that crashes the interpreter is seen and named.
For more (`make fuzz` does it):

    python tests/test_forged_files.py 10000
"""

import io
import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import mcsvm_lit
from mcsvm_lit import c_path, epsilon_path, nu_path, pi_path, pi_regions, robust_path, twin_path
from mcsvm_lit.core.paths import _fingerprint
from mcsvm_lit.studies.runner import _digest, _keep, kept, plain

PATHS = ("TwinPath", "stopped TwinPath", "EpsilonPath", "NuPath", "RobustPath", "PiPath", "CPath")
PATHS += ("regions",)
KINDS = (*PATHS, "replication", "skops")


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
    return flipped(file.getvalue(), rng)


def flipped(raw, rng):
    """A file with one bit turned over, now and then."""
    raw = bytearray(raw)
    if raw and rng.random() < 0.1:
        raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    return bytes(raw)


def forged_paths(kind):
    """Read forged files of a path: a function of a generator of random numbers."""
    path, file = path_of(kind), io.BytesIO()
    path.save(file)
    file.seek(0)
    with np.load(file) as stored:
        fields = {name: stored[name] for name in stored.files if name != "fingerprint"}

    def read(rng):
        try:
            record = type(path).load(io.BytesIO(forge(fields, rng)))
        except ValueError as refusal:
            assert "is not an intact file of a" in str(refusal), refusal
            return "refused"
        try:
            use(record)
        except (ArithmeticError, ValueError):
            return "of no use"
        return "read"

    return read


# -- replications that are kept --------------------------------------------------------------------
ROWS = [dict(word="a", number=0.1, curve=np.arange(3.0)), dict(word="b", number=2, curve=None)]
STRANGE = (None, True, -1, 1e308, "", "x", [], {}, [1], [[]], {"npz": "0.word"}, {"npz": []})


def warped(value, rng):
    """A document of JSON with something of it taken out or exchanged, at any depth."""
    if isinstance(value, dict | list) and len(value) and rng.random() < 0.8:
        value = value.copy()
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = keys[rng.integers(len(keys))]
        if rng.random() < 0.15:
            del value[key]
        else:
            value[key] = warped(value[key], rng)
        return value
    return STRANGE[rng.integers(len(STRANGE))]


def forged_replications():
    """Read forged files of a replication."""
    file = Path(tempfile.mkdtemp()) / "kept.json"
    beside = file.with_suffix(".npz")
    _keep(file, "asked", {"r": 1}, ROWS, 1.5)
    answer = json.loads(json.loads(file.read_bytes())["answer"])

    def read(rng):
        text, arrays = plain(answer), {"0.curve": np.arange(3.0)}
        if rng.random() < 0.7:
            text = plain(warped(answer, rng))
        if rng.random() < 0.5:
            arrays = {str(rng.choice(["0.curve", "x", ""])): spoil(arrays["0.curve"], rng)}
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays)
        packed = flipped(packed.getvalue(), rng) * (rng.random() < 0.95)
        whole = plain(dict(digest=_digest(text, packed), answer=text)).encode()
        beside.write_bytes(packed)
        file.write_bytes(flipped(whole, rng) if rng.random() < 0.9 else plain(text).encode())
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = kept(file, "asked")
        if found is None:
            (sentence,) = said
            assert "is damaged or another's: its replication is run again." in str(sentence.message)
            return "refused"
        assert not said and isinstance(found["seconds"], int | float)
        assert all(isinstance(row, dict) for row in found["rows"])
        return "read"

    return read


# -- classifiers in files of skops -----------------------------------------------------------------
POINTS = np.random.default_rng(0).normal(size=(24, 3))


def classifiers():
    """Fitted classifiers of each class, linear and Gaussian."""
    X, y = POINTS, np.arange(24) % 3
    for name in mcsvm_lit.__all__:
        cls = getattr(mcsvm_lit, name)
        if not hasattr(cls, "fit"):
            continue
        model = cls(n_weights=4) if "n_weights" in cls().get_params() else cls()
        for kernel in ("linear", "rbf"):
            if "kernel" in model.get_params():
                model.set_params(kernel=kernel)
            yield model.fit(X, np.eye(3)[y] if name == "LabelRankingSVC" else y)


def consult(model):
    """Whatever a fitted classifier can be asked, whether it can answer or not."""
    for name in dir(type(model)):
        if name in ASKED:
            with suppress(Exception):  # plain errors of shapes and types are no harm
                getattr(model, name)(POINTS)


ASKED = "predict", "predict_proba", "decision_function", "decision_bounds", "certified", "votes"
ASKED += ("probability_bounds", "certified_radius", "predict_log_proba")


def forged_skops():
    """Read forged files of classifiers, each class in turn."""
    import skops.io

    parts = []
    for model in classifiers():
        raw = skops.io.dumps(model)
        with ZipFile(io.BytesIO(raw)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        parts.append((members, skops.io.get_untrusted_types(data=raw)))

    def read(rng):
        members, types = parts[rng.integers(len(parts))]
        members = dict(members)
        for _ in range(rng.integers(1, 4)):
            name = rng.choice(sorted(members))
            if name.endswith(".npy"):
                file = io.BytesIO()
                np.save(file, spoil(np.load(io.BytesIO(members[name])), rng))
                members[name] = file.getvalue()
            else:
                document = warped(json.loads(members[name]), rng)
                members[name] = json.dumps(document).encode()
        file = io.BytesIO()
        with ZipFile(file, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        try:
            model = skops.io.loads(flipped(file.getvalue(), rng), trusted=types)
        except Exception:  # skops refuses in words of its own
            return "refused"
        consult(model)
        return "read"

    return read


# -- all of them -----------------------------------------------------------------------------------
def read_forged(kind, seeds):
    """How the files ended; the seed goes to stderr before each."""
    warnings.simplefilter("ignore")
    readers = {"replication": forged_replications, "skops": forged_skops}
    read = readers[kind]() if kind in readers else forged_paths(kind)
    ends = Counter()
    for seed in seeds:
        print(seed, file=sys.stderr, flush=True)
        ends[read(np.random.default_rng(seed))] += 1
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
    if kind == "skops":
        pytest.importorskip("skops.io")
    ends = in_a_process(kind, 0, 60)
    assert ends["refused"] > 5  # and not one crash


if __name__ == "__main__":
    if len(sys.argv) == 4:
        first, n = map(int, sys.argv[2:])
        print(json.dumps(read_forged(sys.argv[1], range(first, first + n))))
    else:
        for kind in KINDS:
            print(kind, in_a_process(kind, 10**6, int(sys.argv[1])))
