"""What the number of threads that a user allows changes, and what `n_jobs` gains."""

import json
import os
import sys
from pathlib import Path

from harness import benchmark, output_of, seconds

ROOT = Path(__file__).resolve().parent.parent
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SETTINGS = ("1", "2", "unset")
# name: model, data, rows
CASES = {
    "Crammer and Singer": ("CrammerSingerSVC()", "iris", 150),
    "Crammer and Singer, linear": ("CrammerSingerSVC(kernel='linear')", "iris", 150),
    "kernel logistic regression": ("KernelLogisticRegression()", "iris", 150),
    "twin margin": ("TwinMarginSVC()", "iris", 150),
    "twin margin, ν by cross-validation": ("TwinMarginSVCCV()", "iris", 150),
    "twin support vectors": ("TwinKSVC()", "iris", 150),
    "twin support vectors, λ by cross-validation": ("TwinKSVCCV()", "iris", 150),
    "truncated hinge": ("TruncatedHingeSVC()", "iris", 150),
    "probabilities": ("SVMProbabilityClassifier(n_weights=64)", "iris", 150),
    "Crammer and Singer, linear, digits": ("CrammerSingerSVC(kernel='linear')", "digits", 1797),
    "Crammer and Singer, digits": ("CrammerSingerSVC()", "digits", 1797),
    "Crammer and Singer, synthetic": ("CrammerSingerSVC()", "synthetic", 5000),
    "kernel logistic regression, digits": ("KernelLogisticRegression()", "digits", 1797),
    "twin margin, Gaussian, digits": ("TwinMarginSVC(kernel='rbf')", "digits", 1797),
    "twin margin, ν by cross-validation, digits": ("TwinMarginSVCCV()", "digits", 900),
    "twin support vectors, digits": ("TwinKSVC()", "digits", 500),
    "truncated hinge, digits": ("TruncatedHingeSVC()", "digits", 900),
}
FIT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from sklearn.datasets import load_digits, load_iris, make_classification
import mcsvm_lit
from mcsvm_lit import *

def load(name, n):
    if name == "synthetic":
        shape = dict(n_informative=20, n_redundant=5, n_classes=10, n_clusters_per_class=2)
        return make_classification(n, 50, random_state=0, **shape)
    X, y = {"iris": load_iris, "digits": load_digits}[name](return_X_y=True)
    return X[:n], y[:n]

def taken(run):
    least = []
    for _ in range(REPEAT):
        runs, cpu, wall = 0, time.process_time(), time.perf_counter()
        while not runs or time.process_time() - cpu < 0.1:
            run()
            runs += 1
        least.append(((time.process_time() - cpu) / runs, (time.perf_counter() - wall) / runs))
    return [min(column) for column in zip(*least)]

model = eval(sys.argv[1])
X, y = load(sys.argv[2], int(sys.argv[3]))
model.fit(*load_iris(return_X_y=True))  # all that loads or compiles itself has done so
print(json.dumps([*taken(lambda: model.fit(X, y)), *taken(lambda: model.predict(X))]))
"""


def costs(case, setting, repeat):
    """CPU and wall seconds of fit and of predict, in a process with so many threads."""
    env = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    if setting != "unset":
        env |= dict.fromkeys(VARIABLES, setting)
    env["PYTHONPATH"] = str(ROOT)
    code = FIT.replace("REPEAT", str(repeat))
    command = [sys.executable, "-c", code, *map(str, case)]
    return json.loads(output_of(command, env=env))


def lowest(case, repeat):
    """The lowest costs for each setting; the settings take turns."""
    rounds = [{s: costs(case, s, repeat) for s in SETTINGS} for _ in range(repeat)]
    return {s: [min(t) for t in zip(*(r[s] for r in rounds), strict=True)] for s in SETTINGS}


@benchmark("Threads of BLAS")
def threads(repeat):
    """Each fit in a process of its own with `OMP_NUM_THREADS` and its like at 1, at 2, and unset
    (as many as there are cores): CPU and wall seconds, the lowest of the runs. *Worst*: the CPU
    seconds of 2 or of unset over the lower of 1 and 2; a row is met at 1.2 or less. Wall seconds
    depend on who else uses the cores."""
    for name, case in CASES.items():
        found = lowest(case, repeat)
        fit = {s: found[s][0] for s in SETTINGS}
        worst = max(fit.values()) / min(fit["1"], fit["2"])
        yield {
            "classifier": name,
            **{f"fit, {s}": f"{seconds(fit[s])} ({seconds(found[s][1])})" for s in SETTINGS},
            **{f"predict, {s}": f"{found[s][2]:.4f}" for s in SETTINGS},
            "worst": f"{worst:.2f} ({'meets' if worst <= 1.2 else 'misses'} 1.2)",
        }


JOBS = {
    "pairs of TwinKSVC, digits": ("TwinKSVC()", 900),
    "folds of TwinMarginSVCCV, digits": ("TwinMarginSVCCV()", 1797),
    "folds of TwinMarginSVCCV, Gaussian, digits": ("TwinMarginSVCCV(kernel='rbf')", 1797),
    "pairs and folds of TwinKSVCCV, digits": ("TwinKSVCCV(cv=3)", 400),
    "classes of TwinMarginSVC, Gaussian, digits": ("TwinMarginSVC(kernel='rbf')", 1797),
}
TWO_JOBS = """
import json, sys, threading, time, warnings
warnings.simplefilter("ignore")
from sklearn.base import clone
from sklearn.datasets import load_digits
from mcsvm_lit import *
import mcsvm_lit.engine.threads as threads

spent = []

def clocks():  # (the account of running time is brought up to date every few milliseconds only)
    file = f"/proc/self/task/{threading.get_native_id()}/schedstat"
    waiting = int(open(file).read().split()[1])
    return time.perf_counter_ns(), time.thread_time_ns(), waiting

class Clocked(threads._Settled):
    def __call__(self, item):
        before = clocks()
        try:
            return super().__call__(item)
        finally:
            spent.append([b - a for a, b in zip(before, clocks())])

threads._Settled = Clocked
model, n = eval(sys.argv[1]), int(sys.argv[2])
X, y = (a[:n] for a in load_digits(return_X_y=True))
warm = clone(model).set_params(n_jobs=2).fit(X[:200], y[:200])
spent.clear()
wall, cpu, scores = [], [], []
for jobs in (1, 2):
    m = clone(model).set_params(n_jobs=jobs)
    begin, used = time.perf_counter(), time.process_time()
    m.fit(X, y)
    wall.append(time.perf_counter() - begin)
    cpu.append(time.process_time() - used)
    scores.append(m.decision_function(X))
whole, running, waiting = map(sum, zip(*spent))
print(json.dumps([*cpu, *wall, running / 1e9, (running + waiting) / whole,
                  bool((scores[0] == scores[1]).all())]))
"""


@benchmark("Two jobs")
def jobs(repeat):
    """`n_jobs=2` against 1: CPU seconds, how much of the work is done by the two threads, and which
    part of their time they compute or wait for a core (the rest they wait for Python's lock), read
    from Linux's accounts of each thread. *Possible*: how many times as fast two free cores make it,
    by these two numbers. *Seen*: by the clock on the wall, which on a busy machine is less."""
    for name, (model, n) in JOBS.items():
        env = os.environ | dict.fromkeys(VARIABLES, "1") | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", TWO_JOBS, model, str(n)]
        cpu1, cpu2, wall1, wall2, inside, free, same = json.loads(output_of(command, env=env))
        share = min(1.0, inside / cpu2)
        possible = cpu1 / (cpu2 * (1 - share + share / (2 * free)))
        yield {
            "work": name,
            "1 job, CPU s": seconds(cpu1),
            "2 jobs, CPU s": seconds(cpu2),
            "in threads": f"{share:.0%}",
            "not waiting for the lock": f"{free:.0%}",
            "possible": f"{possible:.2f}",
            "seen": f"{wall1 / wall2:.2f}",
            "same bits": "yes" if same else "no",
        }
