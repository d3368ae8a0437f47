"""A fit that fails or is interrupted leaves no trace: the estimator is what it was before.

Each fit is stopped at places spread over all calls of functions of the package that it makes, by
an interruption and by an error, once before any fit and once after one with other labels.
"""

import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from itertools import count

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import mcsvm_lit
from mcsvm_lit.core.estimators import WholeFit
from mcsvm_lit.core.scikit_learn import heard_by
from mcsvm_lit.scale import StreamedCrammerSingerSVC

PLACES = 12
X, Y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)[::6]
FIRST, SECOND = np.array(["a", "b", "c"])[Y[::6]], np.array([10, 20, 30])[(Y[::6] + 1) % 3]


def estimators():
    """Every classifier at the top of the package, at its defaults and where it goes other ways."""
    found = (getattr(mcsvm_lit, name) for name in mcsvm_lit.__all__)
    kinds = [c for c in found if inspect.isclass(c) and issubclass(c, BaseEstimator)]
    for c in kinds:
        if hasattr(c, "fit"):
            around = "estimator" in c().get_params()
            yield c(LogisticRegression(), n_weights=4) if around else c()
    yield mcsvm_lit.CrammerSingerSVC(kernel="linear")
    yield mcsvm_lit.CrammerSingerSVC(rank=10, warm_start=True)
    yield mcsvm_lit.KernelLogisticRegression(warm_start=True)
    yield mcsvm_lit.MulticlassSVC(warm_start=True)
    yield mcsvm_lit.TruncatedHingeSVC(kernel="linear")
    yield StreamedCrammerSingerSVC()


ALL = list(estimators())
every = pytest.mark.parametrize("model", ALL, ids=repr)


class Stop:
    """Raise an error at one call of a function of the package; None only counts the calls.

    Generators are no places: what is raised where an unfinished one is closed reaches nobody.
    """

    def __init__(self, place=None, error=None):
        self.place, self.error, self.calls = place, error, count(1)

    def __call__(self, frame, event, arg):
        ours = frame.f_globals.get("__name__", "").startswith("mcsvm_lit.")
        if ours and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            self.called = next(self.calls)
            if self.called == self.place:
                raise self.error

    def __enter__(self):
        gc.disable()  # what it finalises of other tests would be counted, too
        sys.settrace(self)  # sees only calls of Python functions: half as slow as a profile
        return self

    def __exit__(self, *_):
        sys.settrace(None)
        gc.enable()


def targets(model, y):
    """Labels, or relevances of all labels where the classifier wants these."""
    ranks = isinstance(model, mcsvm_lit.LabelRankingSVC)
    return (y[:, None] == np.unique(y)).astype(float) if ranks else y


def places(model, y):
    """Calls at which a fit can be stopped, spread over all that it makes within `fit` itself."""
    model.fit(X, y)  # a first fit also loads modules
    calls = []
    for one in (clone(model), model):
        with Stop() as whole:
            one.fit(X, y)
        calls.append(whole.called)
    return np.unique(np.linspace(6, 0.95 * min(calls), PLACES).astype(int))


def same(a, b):
    """The same state: the same names, and objects that are the very same."""
    return a.keys() == b.keys() and all(a[name] is b[name] for name in a)


def state_of(model):
    """What a fit may not change, but for what the next one resumes from."""
    return {k: v for k, v in vars(model).items() if k not in type(model)._resumable}


@every
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_fit_that_stops_leaves_the_estimator_as_it_was(model, error):
    model = clone(model)
    first, second = targets(model, FIRST), targets(model, SECOND)
    stops = places(clone(model), second)
    for place in stops:
        fresh = clone(model)
        with Stop(place, error), pytest.raises(error):
            fresh.fit(X, second)
        assert not [name for name in state_of(fresh) if name not in model.get_params()]
        with pytest.raises(NotFittedError):
            fresh.predict(X)
    model.fit(X, first)
    before, answers = state_of(model), model.predict(X)
    for place in stops:
        for name in model._resumable:  # from the beginning each time
            vars(model).pop(name, None)
        with Stop(place, error), pytest.raises(error):
            model.fit(X, second)
        assert same(state_of(model), before)
        assert_array_equal(model.predict(X), answers)


@every
def test_nothing_of_an_earlier_fit_stays(model):
    """A second fit, with other parameters and data, has the attributes of a first one."""
    again = clone(model).fit(X, targets(model, FIRST))
    if "kernel" in model.get_params():
        again.set_params(kernel="poly" if model.kernel == "linear" else "linear")
    once = clone(again)
    y = targets(model, SECOND)
    assert vars(again.fit(X[:, :3], y)).keys() == vars(once.fit(X[:, :3], y)).keys()


@every
@pytest.mark.parametrize("looks", [1, 3])
def test_whoever_hears_of_a_gap_ends_the_fit(model, looks):
    """At once, without a warning, and what is left is a fit with a certificate of its own."""
    heard = []

    def hear(primal, gap, steps):
        heard.append(gap)
        return len(heard) >= looks

    fitted, y = clone(model), targets(model, FIRST)
    with warnings.catch_warnings(), heard_by(hear):
        warnings.simplefilter("error")
        fitted.fit(X, y)
    assert len(heard) <= looks
    assert fitted.predict(X).shape == y.shape
    if len(heard) == looks:
        c = fitted.certificate_
        best = clone(model).fit(X, y).certificate_
        assert np.isfinite(c.gap) and c.n_iter <= best.n_iter
        assert not c.converged or heard[-1] <= c.tol * c.primal
        assert c.dual <= best.primal + 1e-9 and best.dual <= c.primal + 1e-9


def test_a_fit_to_many_rows_ends_where_it_is_told_to():
    """Passes over the rows have a way of their own to stop."""
    rows, classes = make_classification(5000, 10, n_informative=6, n_classes=3, random_state=0)
    model = mcsvm_lit.CrammerSingerSVC(kernel="linear")
    heard = []
    with heard_by(lambda primal, gap, steps: heard.append(steps) or len(heard) == 3):
        model.fit(rows, classes)
    assert len(heard) == 3 and not model.certificate_.converged
    assert model.n_iter_ <= heard[-1] + 1


class Recorder:
    """A callback of scikit-learn's that writes down what it is called for."""

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        assert len(X) == len(y)
        if context.task_name == "look":
            gap = metadata["primal"] - metadata["dual"]
            assert_allclose(metadata["gap"], gap, atol=1e-9 * abs(metadata["primal"]))
        else:
            assert fitted_estimator.predict(X).shape == y.shape
        self.calls.append(f"end {context.task_name}")


@pytest.mark.skipif(not hasattr(WholeFit, "set_callbacks"), reason="scikit-learn before 1.9")
@every
def test_callbacks_hear_of_every_fit(model):
    """Of its beginning, its looks and its end; also where it fails, somebody tidies up."""
    recorder = Recorder()
    fitted = clone(model).set_callbacks(recorder)
    fitted.fit(X, targets(model, FIRST))
    head, *looks, end, down = recorder.calls[1:]
    assert (recorder.calls[0], head, end, down) == ("setup", "begin fit", "end fit", "teardown")
    assert looks == ["begin look", "end look"] * (len(looks) // 2)
    if type(model) in (mcsvm_lit.CrammerSingerSVC, mcsvm_lit.KernelLogisticRegression):
        assert looks
    recorder.calls.clear()
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(np.full_like(X, np.nan), targets(model, FIRST))
    assert recorder.calls[0] == "setup" and recorder.calls[-1] == "teardown"
    assert "end fit" not in recorder.calls


def test_every_classifier_fits_as_a_whole():
    assert all(isinstance(model, WholeFit) for model in ALL)


# -- real signals ---------------------------------------------------------------------------------
class Alarm:
    """Presses Ctrl-C after some seconds, and remembers how much CPU had been used by then."""

    def __init__(self):
        self.rung = self.timer = None

    def press(self, seconds):
        self.timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        self.timer.start()

    def ring(self, number, frame):
        self.rung = time.process_time()
        if any(f.f_code.co_name == "__del__" for f, _ in traceback.walk_stack(frame)):
            self.press(0.01)  # Python drops what is raised in there, such as of joblib's pools
        else:
            raise KeyboardInterrupt

    def stops(self, work, seconds):
        """The interruption that ended `work`, and how many CPU seconds after; None if it ended."""
        try:
            self.press(seconds)
            work()
            self.timer.cancel()
            self.timer.join()
        except KeyboardInterrupt as stop:
            return stop, time.process_time() - self.rung
        return None


ON_WINDOWS = "there os.kill ends a process without asking it"


@pytest.fixture
def alarm():
    if os.name == "nt":
        pytest.skip(ON_WINDOWS)
    one = Alarm()
    before = signal.signal(signal.SIGINT, one.ring)
    # Python drops what is raised in a callback of the garbage collector; hypothesis has one, which
    # is often the first line of Python to run after a compiled loop, and so hears the signal.
    callbacks, gc.callbacks[:] = gc.callbacks[:], []
    yield one
    gc.callbacks[:] = callbacks
    signal.signal(signal.SIGINT, before)


@every
def test_a_signal_ends_a_fit(model, alarm):
    """Also in compiled loops and in threads; how far the fit has come then is a matter of luck."""
    rng = np.random.default_rng(0)
    Z, labels = rng.normal(size=(200, 5)), rng.integers(0, 3, 200)
    model, y = clone(model), targets(model, labels)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(Z, y)  # a first fit also loads modules
        begin = time.perf_counter()
        before, stops = state_of(model.fit(Z, y)), 0
        seconds = time.perf_counter() - begin
        for share in (0.1, 0.3, 0.5, 0.7, *[0.0] * 20):
            if stops and not share:  # fits of milliseconds may end before the signal arrives
                break
            vars(model).pop("_unfinished", None)
            if alarm.stops(lambda: model.fit(Z, y), max(share * seconds, 1e-3)):
                stops += 1
                assert same(state_of(model), before)
            before = state_of(model)
    assert stops


def classes(n, d):
    """Rows without structure in three classes: long paths."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, rng.integers(0, 3, n)


def three(n, d):
    """The rows of each of three classes."""
    X, y = classes(n, d)
    return [X[y == k] for k in range(3)]


def left_out(model):
    """A fit, and all of its rows left out one at a time."""
    return lambda X, y: model.fit(X, y).leave_one_out(X, y)


LONG = {  # each takes many times the latest moment
    "TwinKSVC": (classes(6000, 20), mcsvm_lit.TwinKSVC().fit),
    "TwinKSVC by threads": (classes(6000, 20), mcsvm_lit.TwinKSVC(n_jobs=2).fit),
    "TwinKSVC rbf": (classes(3000, 5), mcsvm_lit.TwinKSVC(kernel="rbf").fit),
    "TwinKSVCCV": (classes(4000, 10), mcsvm_lit.TwinKSVCCV(cv=3).fit),
    "twin_path": (three(9000, 20), mcsvm_lit.twin_path),
    "wide twin_path": (three(6000, 300), mcsvm_lit.twin_path),
    "epsilon_path": (three(9000, 20), mcsvm_lit.epsilon_path),
    "c_path": (classes(700, 5), mcsvm_lit.c_path),
    "each row left out": (classes(3000, 5), left_out(mcsvm_lit.CrammerSingerSVC())),
    "each row left out, logistic": (
        classes(1500, 5),
        left_out(mcsvm_lit.KernelLogisticRegression()),
    ),
}


@pytest.mark.parametrize("data, work", LONG.values(), ids=LONG)
def test_ctrl_c_ends_a_path_within_a_second(data, work, alarm):
    for moment in (0.05, 0.3, 0.9):
        _, late = alarm.stops(lambda: work(*data), moment)
        assert late < 1.0


def test_no_thread_goes_on_for_an_interrupted_fit(alarm):
    data, work = LONG["TwinKSVC by threads"]
    work(*(x[:60] for x in data))  # a first fit also loads modules
    assert alarm.stops(lambda: work(*data), 0.5)
    time.sleep(1.5)
    begin = time.process_time()
    time.sleep(1.0)
    assert time.process_time() - begin < 0.3


def test_an_interrupted_path_keeps_what_it_has_found(alarm):
    ABC = three(3000, 20)
    mcsvm_lit.twin_path(*ABC, max_events=2)  # a first path also loads modules
    for seconds in (1.0, 4.0, 16.0):  # on a busy machine the walk may begin late
        stop, _ = alarm.stops(lambda: mcsvm_lit.twin_path(*ABC), seconds)
        found = getattr(stop, "path", None)
        if found and len(found.rows) > 100:
            break
    again = mcsvm_lit.twin_path(*ABC, max_events=len(found.rows))
    assert len(found.rows) > 100 and not found.complete
    assert_array_equal(found.rows, again.rows)
    λ = found.domain[0]
    assert_array_equal(found.at(λ).z, again.at(λ).z)


PRESSED = """
import os, signal, threading, time
from typing import NamedTuple
from mcsvm_lit.engine.compiled import kernel


class Sums(NamedTuple):
    once: float
    twice: float


@kernel()
def sums(n):
    s = 0.0
    for i in range(n):
        s += 1.0 / (i + 1.0)
    return Sums(s, 2 * s), n


signal.signal(signal.SIGINT, signal.default_int_handler)
sums(1)
begin = time.perf_counter()
sums(10**7)
seconds, stops = time.perf_counter() - begin, 0
for _ in range(20):
    try:
        threading.Timer(seconds / 2, os.kill, (os.getpid(), signal.SIGINT)).start()
        sums(10**7)
        time.sleep(10)
    except KeyboardInterrupt:
        stops += 1
print(stops)
"""


@pytest.mark.skipif(os.name == "nt", reason=ON_WINDOWS)
def test_ctrl_c_during_a_loop_of_numba_crashes_nothing():
    """It makes records in Python."""
    run = [sys.executable, "-c", PRESSED]
    at_home = {**os.environ, "MCSVM_LIT_KERNELS": "numba", "IN_TEST": "1"}
    done = subprocess.run(run, env=at_home, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "20\n"), done.stderr
