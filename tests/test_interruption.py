"""Ctrl-C ends every fit that follows paths: by real signals, at many moments of long fits.

Each case runs in a process of its own. A thread sends the signal to that process once the fit has
used some CPU time; how long the fit goes on after it is measured in CPU seconds, too, so that a
busy computer changes nothing.
"""

import json
import subprocess
import sys

import pytest

BEFORE = """
import json, os, signal, threading, time
import numpy as np
from mcsvm_lit import TwinKSVC, TwinKSVCCV, epsilon_path, twin_path

# programs in the background are started without it
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)


def classes(n, d):
    return rng.normal(size=(n, d)), rng.integers(0, 3, n)


def interrupted(work, moment):
    "The exception that `work` raises when it is interrupted after so many CPU seconds, and when."
    sent, begun = [], time.process_time()

    def send():
        while time.process_time() < begun + moment:
            time.sleep(0.001)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send, daemon=True)
    try:
        thread.start()
        work()
        thread.join()
    except BaseException as stop:
        return stop, time.process_time() - sent[0] if sent else None
    return None, None


"""

# What is done before, and what is interrupted; each takes many times the latest moment.
LONG = {
    "TwinKSVC": ("X, y = classes(6000, 20)", "TwinKSVC().fit(X, y)"),
    "TwinKSVC by threads": ("X, y = classes(6000, 20)", "TwinKSVC(n_jobs=2).fit(X, y)"),
    "TwinKSVC rbf": ("X, y = classes(3000, 5)", "TwinKSVC(kernel='rbf').fit(X, y)"),
    "TwinKSVCCV": ("X, y = classes(4000, 10)", "TwinKSVCCV(cv=3).fit(X, y)"),
    "twin_path": ("X, y = classes(9000, 20)", "twin_path(*(X[y == k] for k in range(3)))"),
    "wide twin_path": ("X, y = classes(6000, 300)", "twin_path(*(X[y == k] for k in range(3)))"),
    "epsilon_path": ("X, y = classes(9000, 20)", "epsilon_path(*(X[y == k] for k in range(3)))"),
}
MOMENTS = (0.05, 0.3, 0.9)


def outcomes(setup, work, moments, after="None"):
    """What a process of its own prints: for each moment the exception, the seconds, and `after`."""
    lines = [
        BEFORE + setup,
        f"for moment in {moments!r}:",
        f"    stop, late = interrupted(lambda: {work}, moment)",
        f"    print(json.dumps([type(stop).__name__, late, {after}]))",
    ]
    run = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize("setup, work", LONG.values(), ids=LONG)
def test_ctrl_c_ends_a_fit_within_a_second(setup, work):
    for name, late, _ in outcomes(setup, work, MOMENTS):
        assert name == "KeyboardInterrupt"
        assert late < 1.0


def test_an_interrupted_path_keeps_what_it_has_found():
    setup = "X, y = classes(3000, 20)\nABC = [X[y == k] for k in range(3)]"
    after = (
        "(lambda p, q: [len(p.rows), p.complete, bool((p.rows == q.rows).all()),"
        " bool((p.at(p.domain[0]).z == q.at(p.domain[0]).z).all())])"
        "(stop.path, twin_path(*ABC, max_events=len(stop.path.rows)))"
    )
    ((name, _, (events, complete, same_rows, same_multipliers)),) = outcomes(
        setup, "twin_path(*ABC)", (0.5,), after
    )
    assert name == "KeyboardInterrupt"
    assert events > 100 and not complete and same_rows and same_multipliers
