"""Build the documentation site: stage the notebooks, run Sphinx (a warning is an error), check.

The pages show the outputs that the notebooks store; no cell runs. nbdev would hand them to Quarto,
but Quarto is in no package registry, so that a clean clone could not build the site from pinned
packages. Sphinx with myst-nb and the theme furo comes from PyPI, and reads the same notebooks.

    python docs/build.py           the site
    python docs/build.py --lite    with pages that run in the reader's browser (docs/lite.py)
"""

import gc
import os
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE / "_build"
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "tools")]


def staged():
    from stage import stage

    return f"{stage(BUILD / 'src', BUILD / 'extra')} pages staged", True


def built():
    from sphinx.cmd.build import main

    folders = ["-d", BUILD / "cache", "-c", HERE, BUILD / "src", BUILD / "html"]
    options = ["-q", "-E", "-W", "--keep-going", "-j", "auto", "-b", "html"]
    code = main([*options, *map(str, folders)])
    return "Sphinx, without a warning" if code == 0 else "Sphinx", code == 0


def runs():
    from lite import build

    return f"{build(BUILD / 'html')} pages run in the browser", True


def checked():
    from check_site import check

    n, bad = check(BUILD / "html")
    print(*bad, sep="\n", end="\n" * bool(bad))
    return f"{n} pages: links, anchors, pictures, nothing from another host", not bad


def main(*wishes):
    from lite import WISH

    lite = "--lite" in wishes
    if lite:
        os.environ[WISH] = "1"
    gc.set_threshold(200_000, 20, 100)  # trees of documents are large, and hardly any is garbage
    shutil.rmtree(BUILD, ignore_errors=True)  # a build over an old one would differ
    for stage in (staged, built, *[runs] * lite, checked):
        t = time.time()
        what, good = stage()
        print(f"{'ok' if good else 'FAILED':>6}  {what} ({time.time() - t:.1f} s)", flush=True)
        if not good:
            return 1
    print(f"        {(BUILD / 'html' / 'index.html').as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
