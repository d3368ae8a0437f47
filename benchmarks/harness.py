"""Timing side by side: a registry of benchmarks, CPU seconds, medians, tables in Markdown."""

import gc
import re
import resource
import statistics
import time
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

README = Path(__file__).with_name("README.md")
SLOW, SHORT = (
    4.0,
    0.1,
)  # seconds: what takes longer is run once; what takes less, until it has taken that
BENCHMARKS = {}  # name -> function(repeat) that yields rows, dictionaries with the same keys


def benchmark(title):
    "Register a generator of rows under its name; its docstring stands above the table."

    def keep(f):
        f.title = title
        BENCHMARKS[f.__name__] = f
        return f

    return keep


# -- time -----------------------------------------------------------------------------------------
Timed = namedtuple(
    "Timed", "seconds value warned", defaults=(False,)
)  # returned by a run that has its own clock, such as R's


def clock():  # of this process and the children it has waited for
    "CPU seconds so far, of all threads."
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + child.ru_utime + child.ru_stime


def once(run):  # -> Timed
    "CPU seconds of a run (a short one is repeated), what it returned, and whether it warned that it had not converged."
    gc.collect()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        start = clock()
        value = run()
        t = clock() - start
        if isinstance(value, Timed):
            return value
        more = min(int(SHORT / max(t, 1e-9)), 1000)
        for _ in range(more):
            run()
    return Timed(
        (clock() - start) / (1 + more),
        value,
        any(issubclass(w.category, ConvergenceWarning) for w in said),
    )


def warm_memory():
    "Write half a gigabyte and give it back: what a virtual machine's host hands out for the first time costs more than many a fit."
    np.ones(2**26)


def side_by_side(repeat, **runs):  # name=function without arguments; -> {name: Timed}, medians
    "Run all in turn, then all again, so that a change of the machine's mood meets everybody."
    seen = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            if not seen[name] or seen[name][0].seconds < SLOW:
                warm_memory()
                seen[name].append(once(run))
    return {
        name: s[-1]._replace(seconds=statistics.median(t.seconds for t in s))
        for name, s in seen.items()
    }


# -- tables ---------------------------------------------------------------------------------------
def seconds(t):
    return f"{t:.3f}" if t < 1 else f"{t:.2f}" if t < 10 else f"{t:.0f}"


def small(x):
    return "0" if x <= 0 else f"{x:.0e}".replace("e-0", "e-")  # a gap: one digit is enough


def against(ratio, goal=None):  # ours/theirs and the most it should be
    return (
        f"{ratio:.2f}"
        if goal is None
        else f"{ratio:.2f} ({'meets' if ratio <= goal else 'misses'} {goal:g})"
    )


def markdown(rows):
    "Dictionaries as a table."
    line = lambda cells: f"| {' | '.join(map(str, cells))} |"
    return "\n".join(
        [line(rows[0]), line("---" for _ in rows[0])] + [line(r.values()) for r in rows]
    )


def measure(name, repeat):  # -> section in Markdown
    "Run a benchmark, show each row as it comes."
    f, rows, t = BENCHMARKS[name], [], time.time()
    print(f"\n{f.title} ({name})", flush=True)
    for row in f(repeat):
        if not rows:
            print(" | ".join(row))
        rows.append(row)
        print(" | ".join(map(str, row.values())), flush=True)
    print(f"({time.time() - t:.0f} s)")
    note = " ".join((f.__doc__ or "").split())
    return f"### {f.title}\n\n{note}\n\n{markdown(rows)}"


def write(name, section):
    "Put a section between its markers in the README; a new one stands behind the others."
    text, (a, b) = README.read_text(encoding="utf-8"), (f"<!-- {name} -->", f"<!-- /{name} -->")
    if a not in text:
        text = text.replace("\n## Reading them", f"\n{a}\n{b}\n\n## Reading them", 1)
    README.write_text(
        re.sub(f"{a}.*?{b}", lambda _: f"{a}\n{section}\n{b}", text, flags=re.S), encoding="utf-8"
    )
