"""Run the notebooks, each in a process of its own, and hold what they show against what they store.

A processor that rounds differently takes other paths to the same answers: other counts of steps, other last digits, other pictures of them.
So a notebook remembers how the machine rounded that stored its outputs. On one that rounds likewise they must be the same; elsewhere what differs is only counted.

    python tools/notebooks.py                 run all; fail on an error or on an output that has changed
    python tools/notebooks.py --store [NB …]  run, and write the outputs into the notebooks
    python tools/notebooks.py --export        run nothing: write the package that the notebooks export
"""

import argparse
import base64
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha1
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = "MCSVM_LIT_FIGURES"  # where `figures.save` writes; a check writes beside the tree, never into it
EMBEDDED = re.compile(r"(?<=data:image/png;base64,)[\w+/=\s]+")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def all_notebooks(root=ROOT):
    return sorted(f for f in (root / "nbs").rglob("*.ipynb") if ".ipynb_checkpoints" not in f.parts)


def home(f):
    return next(
        d for d in Path(f).resolve().parents if d.name == "nbs"
    )  # the folder `nbs` that a notebook lives in


def name(f):
    return Path(f).resolve().relative_to(home(f)).as_posix()


def text(s):
    return s if isinstance(s, str) else "".join(s)


# -- what counts as the same output ---------------------------------------------------------------
def same_text(a, b, rtol=1e-3, atol=1e-9):
    "Equal word for word, numbers up to the last digits that another processor may round differently."
    if a == b:
        return True
    if NUMBER.split(a) != NUMBER.split(b):
        return False
    return all(
        abs(x - y) <= atol + rtol * max(abs(x), abs(y))
        for x, y in ((float(p), float(q)) for p, q in zip(NUMBER.findall(a), NUMBER.findall(b)))
    )


def same_png(a, b, tol=32):
    "Pictures of one size that look alike: no square of 5 by 5 pixels differs by more than `tol` of 255 on average."
    if a == b:
        return True
    import numpy as np
    from PIL import Image, ImageFilter

    A, B = (
        Image.open(io.BytesIO(base64.b64decode(x))).convert("RGBA").filter(ImageFilter.BoxBlur(2))
        for x in (a, b)
    )
    return A.size == B.size and abs(np.asarray(A, int) - np.asarray(B, int)).max() <= tol


def same(a, b, **tols):
    "As `same_text`, but the pictures embedded in HTML or SVG are compared as pictures."
    A, B = EMBEDDED.findall(a), EMBEDDED.findall(b)
    return (
        len(A) == len(B)
        and all(map(same_png, A, B))
        and same_text(EMBEDDED.sub("", a), EMBEDDED.sub("", b), **tols)
    )


def parts(cell):
    "The outputs of a cell as `[(mime type, text)]`, streams joined."
    out = []
    for o in cell.get("outputs", []):
        if o["output_type"] == "stream":
            if out and out[-1][0] == o["name"]:
                out[-1] = o["name"], out[-1][1] + text(o["text"])
            else:
                out.append((o["name"], text(o["text"])))
        else:
            out += [
                (k, text(v) if isinstance(v, (str, list)) else repr(v))
                for k, v in sorted(o.get("data", {}).items())
            ]
    return out


def changed(old, new):
    "The first thing that differs between the stored and the new outputs of a cell, or None."
    a, b = parts(old), parts(new)
    if [k for k, _ in a] != [k for k, _ in b]:
        return f"stored {[k for k, _ in a]}, now {[k for k, _ in b]}"
    for (k, x), (_, y) in zip(a, b):
        if not (same_png(x, y) if k == "image/png" else same(x, y)):
            return k if k == "image/png" else f"{k}: stored {x[:200]!r}, now {y[:200]!r}"


def rounding():
    "Equal on machines that round alike: a digest of sums, products, exponentials and decompositions."
    import numpy as np

    rng = np.random.default_rng(0)
    A, v = rng.normal(size=(67, 67)), rng.normal(size=1003)
    S = A @ A.T
    seen = (
        A @ A,
        S,
        A @ A[0],
        v @ v,
        v.sum(),
        np.exp(v),
        np.log(v * v),
        np.tanh(v),
        np.linalg.solve(A, A[0]),
        np.linalg.cholesky(S),
        np.linalg.eigvalsh(S),
        np.linalg.svd(A)[1],
    )
    return sha1(b"".join(np.asarray(x).tobytes() for x in seen)).hexdigest()[:12]


def changed_figures(written, figures=ROOT / "figures"):
    "What is wrong with the files below `written` that are not as their namesakes in `figures`."
    for f in sorted(p for p in Path(written).rglob("*") if p.is_file() and "_runs" not in p.parts):
        old = Path(figures) / f.relative_to(written)
        what = f"figures/{f.relative_to(written).as_posix()}"
        if not old.exists():
            yield f"{what} is made by this notebook but not in the tree"
        elif f.suffix == ".png":
            if not same_png(*(base64.b64encode(p.read_bytes()) for p in (old, f))):
                yield f"{what} has changed"
        elif not same(*(p.read_text(encoding="utf-8") for p in (old, f)), rtol=5e-3, atol=0.02):
            yield f"{what} has changed"


# -- one notebook, in this process ------------------------------------------------------------------
def skipped(cell):
    return (
        cell.cell_type != "code"
        or "nbdev_export(" in cell.source
        or bool(re.search(r"^\s*#\|\s*eval:\s*false", cell.source, re.M | re.I))
    )


def cleaned(nb, root=ROOT):
    "The notebook, after what `nbdev_clean` does to it by the settings of the project."
    from nbdev.clean import clean_nb
    from nbdev.config import get_config

    cfg = get_config(path=root)
    clean_nb(
        nb,
        cfg.clear_all,
        cfg.allowed_metadata_keys.split(),
        cfg.allowed_cell_metadata_keys.split(),
        cfg.clean_ids,
    )
    return nb


def run_one(fn, store):
    from execnb.nbio import read_nb, write_nb
    from execnb.shell import CaptureShell

    os.environ["IN_TEST"] = "1"
    fn = Path(fn).resolve()
    old, new = read_nb(fn), read_nb(fn)
    for c in new.cells:
        if not skipped(c):
            c.outputs = []
    os.chdir(fn.parent)
    try:
        CaptureShell(fn, mpl_format="png").run_all(new, exc_stop=True, preproc=skipped)
    except Exception:
        for i, c in enumerate(new.cells):
            for o in c.get("outputs", []):
                if o["output_type"] == "error":
                    sys.exit(
                        f"cell {i}:\n{c.source}\n\n"
                        + re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(o["traceback"]))
                    )
        raise
    if store:
        new.metadata["rounding"] = rounding()
    cleaned(new, home(fn).parent)
    if store:
        write_nb(new, fn)
        return
    bad = [
        f"{name(fn)}, cell {i}: {d}"
        for i, (a, b) in enumerate(zip(old.cells, new.cells))
        if (d := changed(a, b))
    ]
    bad += [
        f"{name(fn)}: {d}"
        for d in changed_figures(os.environ[FIGURES], home(fn).parent / "figures")
    ]
    if bad and old.metadata.get("rounding") in (None, rounding()):
        sys.exit("\n".join(bad))
    kinds = lambda cell: (
        {k for k, _ in parts(cell)} - {"stderr"}
    )  # a solver of others may warn on one processor only
    other = [i for i, (a, b) in enumerate(zip(old.cells, new.cells)) if kinds(a) != kinds(b)]
    if other:
        sys.exit(f"cells {other} show other kinds of output than they store")
    if bad:
        print(f"{len(bad)} of its outputs and figures differ, as this processor rounds differently")


# -- all of them, both cores busy -------------------------------------------------------------------
def start(fn, store):
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(
            os.environ,
            MPLBACKEND="agg",
            PYTHONHASHSEED="0",
            OMP_NUM_THREADS="1",
            OPENBLAS_NUM_THREADS="1",
        )
        env[FIGURES] = str(home(fn).parent / "figures" if store else tmp)
        t = time.time()
        r = subprocess.run(
            [sys.executable, __file__, "--one", str(fn)] + ["--store"] * store,
            env=env,
            capture_output=True,
            text=True,
        )
        return fn, r.returncode, r.stdout + r.stderr, time.time() - t


def run_all(nbs, store=False, jobs=os.cpu_count()):
    "Run `nbs`; returns the failures as `[(notebook, what it printed)]`."
    failed = []
    if store:  # replications kept by earlier runs may be those of earlier code
        for kept in [
            p
            for root in {home(f).parent for f in nbs}
            for p in root.glob("figures/_runs/*/*/quick")
        ]:
            shutil.rmtree(kept)
    with ThreadPoolExecutor(jobs) as pool:
        for fn, code, out, secs in pool.map(lambda f: start(f, store), nbs):
            print(
                f"  {'ok    ' if code == 0 else 'FAILED'} {name(fn)} ({secs:.0f} s)"
                + f": {out.strip()}" * (code == 0 and bool(out.strip())),
                flush=True,
            )
            if code:
                failed.append((name(fn), out))
    return failed


# -- notebooks -> package ---------------------------------------------------------------------------
def export(root=ROOT):
    "Write the package that the notebooks below `root` export; returns what went wrong, or nothing."
    r = subprocess.run(
        [sys.executable, "-c", "from nbdev.doclinks import nbdev_export; nbdev_export()"],
        cwd=root,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "IN_TEST"},
    )  # nbdev exports nothing while that is set
    return r.stdout + r.stderr if r.returncode else ""


if __name__ == "__main__":
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--store", action="store_true", help="write the outputs into the notebooks")
    p.add_argument(
        "--export",
        action="store_true",
        help="run nothing: write the package that the notebooks export",
    )
    p.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("notebooks", nargs="*", type=Path)
    a = p.parse_args()
    if a.export:
        sys.exit(export() or 0)
    elif a.one:
        run_one(a.notebooks[0], a.store)
    else:
        failed = run_all(a.notebooks or all_notebooks(), a.store, a.jobs)
        for nb, out in failed:
            print(f"\n--- {nb}\n{out}", file=sys.stderr)
        sys.exit(bool(failed))
