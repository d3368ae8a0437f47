"""Are two stored outputs the same? Text, numbers, pictures, and pictures within SVG or HTML."""

import base64
import io
import re
from hashlib import sha1
from pathlib import Path

from cells import text

EMBEDDED = re.compile(r"(?<=data:image/png;base64,)[\w+/=\s]+")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


# -- two outputs ----------------------------------------------------------------------------------
def same_text(a, b, rtol=1e-3, atol=1e-9):
    """Are the words equal, and the numbers up to what another processor may round differently?"""
    if a == b:
        return True
    if NUMBER.split(a) != NUMBER.split(b):
        return False
    pairs = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)))
    return all(abs(x - y) <= atol + rtol * max(abs(x), abs(y)) for x, y in pairs)


def blurred(png):
    """The picture in a base64 text, each pixel the average of the 5 by 5 around it."""
    from PIL import Image, ImageFilter

    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    return picture.convert("RGBA").filter(ImageFilter.BoxBlur(2))


def same_png(a, b, tol=32):
    """Do pictures look alike: one size, no 5 by 5 pixels that differ by more than `tol` of 255?"""
    if a == b:
        return True
    import numpy as np

    first, second = blurred(a), blurred(b)
    if first.size != second.size:
        return False
    return abs(np.asarray(first, int) - np.asarray(second, int)).max() <= tol


def same(a, b, **tols):
    """As `same_text`, but pictures that are embedded in HTML or SVG are compared as pictures."""
    first, second = EMBEDDED.findall(a), EMBEDDED.findall(b)
    return (
        len(first) == len(second)
        and all(map(same_png, first, second))
        and same_text(EMBEDDED.sub("", a), EMBEDDED.sub("", b), **tols)
    )


# -- the outputs of a cell ------------------------------------------------------------------------
def parts(cell):
    """The outputs of a cell as `[(kind, text)]`: a MIME type or a stream, its pieces joined."""
    found = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            stream, said = output["name"], text(output["text"])
            if found and found[-1][0] == stream:
                said = found.pop()[1] + said
            found.append((stream, said))
            continue
        for kind, value in sorted(output.get("data", {}).items()):
            found.append((kind, text(value) if isinstance(value, str | list) else repr(value)))
    return found


def changed(old, new):
    """The first difference between the stored and the new outputs of a cell, or None."""
    stored, now = parts(old), parts(new)
    stored_kinds, new_kinds = [kind for kind, _ in stored], [kind for kind, _ in now]
    if stored_kinds != new_kinds:
        return f"stored {stored_kinds}, now {new_kinds}"
    for (kind, a), (_, b) in zip(stored, now):
        if kind == "image/png":
            if not same_png(a, b):
                return kind
        elif not same(a, b):
            return f"{kind}: stored {a[:200]!r}, now {b[:200]!r}"
    return None


# -- files and processors -------------------------------------------------------------------------
def same_figure(a, b):
    """Do two files of the folder `figures` show the same?"""
    if a.suffix == ".png":
        return same_png(*(base64.b64encode(f.read_bytes()) for f in (a, b)))
    return same(*(f.read_text(encoding="utf-8") for f in (a, b)), rtol=5e-3, atol=0.02)


def changed_figures(written, figures):
    """The files below `written` that differ from their namesakes in `figures`, or have none."""
    files = (
        f for f in Path(written).rglob("*") if f.is_file() and not {"_runs", "_quick"} & {*f.parts}
    )
    for new in sorted(files):
        stored = Path(figures) / new.relative_to(written)
        name = f"figures/{new.relative_to(written).as_posix()}"
        if not stored.exists():
            yield f"{name} is made by this notebook but not in the tree"
        elif not same_figure(stored, new):
            yield f"{name} has changed"


def rounding():
    """A digest of sums, products, exponentials and decompositions.

    Two computers have the same one if they round alike.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    A = rng.normal(size=(67, 67))
    v = rng.normal(size=1003)
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
