"""Timing side by side: a registry of benchmarks, CPU seconds, medians, tables in Markdown."""

import gc
import re
import resource
import statistics
import subprocess
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

README = Path(__file__).with_name("README.md")
SLOW = 4.0  # seconds: what takes longer is run once
SHORT = 0.1  # seconds: what takes less is repeated until it has taken that
REPETITIONS = 1000  # the most repetitions of a short run
UNTOUCHED = 2**26  # numbers, half a gigabyte, that are written before each run
BENCHMARKS = {}  # name -> function(repeat) that yields rows, dictionaries with the same keys


def benchmark(title):
    """Register a generator of rows under its name; its docstring stands above the table."""

    def keep(f):
        f.title = title
        BENCHMARKS[f.__name__] = f
        return f

    return keep


# -- time -----------------------------------------------------------------------------------------
class Timed(NamedTuple):
    """What a run cost and gave; a run that has its own clock, such as R's, returns one itself.

    Attributes
    ----------
    seconds : float
        CPU seconds of one run.
    value : object
        What it returned.
    warned : bool
        Did it warn that it had not converged?
    """

    seconds: float
    value: Any
    warned: bool = False


def clock():
    """CPU seconds so far, of all threads of this process and of the children it has waited for."""
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + child.ru_utime + child.ru_stime


def once(run):
    """Time one run, or, of a short one, the mean of several; returns a `Timed`."""
    gc.collect()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        start = clock()
        value = run()
        taken = clock() - start
        if isinstance(value, Timed):
            return value
        more = min(int(SHORT / max(taken, 1e-9)), REPETITIONS)
        for _ in range(more):
            run()
    warned = any(issubclass(w.category, ConvergenceWarning) for w in said)
    return Timed((clock() - start) / (1 + more), value, warned)


def warm_memory():
    """Write half a gigabyte and give it back.

    Memory that the host of a virtual machine hands out for the first time costs more than many a
    fit.
    """
    np.ones(UNTOUCHED)


def side_by_side(repeat, **runs):
    """Time functions without arguments by name; returns `{name: Timed}`, with median seconds.

    All are run in turn, then all again, so that a busy moment of the computer meets all of them.
    """
    seen = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            if not seen[name] or seen[name][0].seconds < SLOW:
                warm_memory()
                seen[name].append(once(run))
    return {
        name: timed[-1]._replace(seconds=statistics.median(t.seconds for t in timed))
        for name, timed in seen.items()
    }


def output_of(command, **settings):
    """What a process prints; if it fails, an error that shows what it complained of."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **settings)
    if done.returncode:
        call = " ".join(map(str, command))
        raise RuntimeError(f"{call}\nended with code {done.returncode}:\n{done.stderr}")
    return done.stdout


# -- memory ---------------------------------------------------------------------------------------
def peak():
    """The most megabytes that this process has held.

    Linux hands the parent's `ru_maxrss` down to its children, so the kernel's own number is read
    where there is one.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            return int(next(l for l in lines if l.startswith("VmHWM")).split()[1]) / 2**10
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def peak_from_here():
    """Let the peak count from here, where Linux can; returns the megabytes that are held now."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return held()


def held():
    """Megabytes that this process holds now; where Linux does not tell, the most it has held."""
    try:
        with open("/proc/self/statm", encoding="ascii") as line:
            return int(line.read().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return peak()


# -- tables ---------------------------------------------------------------------------------------
def seconds(t):
    """Seconds with about three digits."""
    if t < 1:
        return f"{t:.3f}"
    return f"{t:.2f}" if t < 10 else f"{t:.0f}"


def small(x):
    """A gap: one digit is enough."""
    return "0" if x <= 0 else f"{x:.0e}".replace("e-0", "e-")


def against(ratio, goal=None):
    """Our time over theirs, and whether it is at most `goal`."""
    if goal is None:
        return f"{ratio:.2f}"
    return f"{ratio:.2f} ({'meets' if ratio <= goal else 'misses'} {goal:g})"


def row_of_table(cells):
    """Cells as a row of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def markdown(rows):
    """Dictionaries with the same keys as a table."""
    head = [row_of_table(rows[0]), row_of_table("---" for _ in rows[0])]
    return "\n".join(head + [row_of_table(row.values()) for row in rows])


def measure(name, repeat):
    """Run a benchmark and show each row as it comes; returns its section in Markdown."""
    f, rows, start = BENCHMARKS[name], [], time.time()
    print(f"\n{f.title} ({name})", flush=True)
    for row in f(repeat):
        if not rows:
            print(" | ".join(row))
        rows.append(row)
        print(" | ".join(map(str, row.values())), flush=True)
    print(f"({time.time() - start:.0f} s)")
    note = " ".join((f.__doc__ or "").split())
    return f"### {f.title}\n\n{note}\n\n{markdown(rows)}"


def write(name, section):
    """Put a section between its markers in the README; a new one stands behind the others."""
    text = README.read_text(encoding="utf-8")
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    if first not in text:
        text = text.replace("\n## Reading them", f"\n{first}\n{last}\n\n## Reading them", 1)
    section = f"{first}\n{section}\n{last}"
    text = re.sub(f"{first}.*?{last}", lambda _: section, text, flags=re.S)
    README.write_text(text, encoding="utf-8")


def recorded(name):
    """The rows of a table of the README, as dictionaries of text; none if it is not there."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", README.read_text("utf-8"), re.S)
    lines = [line for line in (found[1] if found else "").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return [dict(zip(cells[0], row)) for row in cells[2:]] if cells else []
