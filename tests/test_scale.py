"""Fits on a Dask cluster of real processes: the same to the bit, also when workers die."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification

pytest.importorskip("distributed", reason="needs the extra 'dask'")

from mcsvm_lit.core import passes
from mcsvm_lit.crammer_singer.rows_at_work import AtWork
from mcsvm_lit.scale import StreamedCrammerSingerSVC, StreamedKernelLogisticRegression


@pytest.fixture(scope="module")
def data():
    """Rows and labels that a few hundred tasks go through."""
    X, y = make_classification(
        6000, 20, n_informative=10, n_classes=5, n_clusters_per_class=1, random_state=0
    )
    return X, y


@pytest.fixture(scope="module")
def client():
    """Two worker processes on this computer; Dask's nannies start those that die again."""
    from dask.distributed import Client, LocalCluster

    how = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with LocalCluster(**how) as cluster, Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def collections(X, y):
    """Twelve partitions."""
    import dask.array as da

    return da.from_array(X, chunks=(500, 20)), da.from_array(y, chunks=500)


def pids(client):
    """The processes of the workers."""
    return sorted(client.run(os.getpid).values())


def until(condition):
    """Wait for something, a minute at most."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


# what the driver does with the answer of a round: rows at work, or a step of Newton's method
@pytest.mark.parametrize(
    "kind, home, name",
    [
        (StreamedCrammerSingerSVC, AtWork, "solve"),
        (StreamedKernelLogisticRegression, passes, "standing"),
    ],
)
def test_killed_workers_cost_a_round(client, data, monkeypatch, kind, home, name):
    dX, dy = collections(*data)
    undisturbed = kind(C=0.1).fit(dX, dy)
    assert undisturbed.certificate_.converged

    before = pids(client)
    killed = []
    usual = getattr(home, name)

    def kill(number):
        killed.append(before[number])
        os.kill(before[number], signal.SIGKILL)

    def between_rounds(*args):
        """The first time a worker is killed, the next time another."""
        here = usual(*args)
        if not killed:
            kill(0)
        elif len(killed) == 1:
            threading.Timer(0.05, kill, [1]).start()  # in the middle of a round
            until(lambda: len(killed) == 2)
        return here

    monkeypatch.setattr(home, name, between_rounds)
    survived = kind(C=0.1).fit(dX, dy)
    assert len(killed) == 2
    assert not set(killed) & set(pids(client))  # they are gone
    assert_array_equal(survived.coef_, undisturbed.coef_)  # to the last bit
    assert survived.certificate_ == undisturbed.certificate_
    assert survived.predict(dX).compute().shape == (6000,)


def test_unknown_chunks_and_weights(client, data):
    X, y = data
    dX, dy = collections(X, y)
    some = dX[:, 0] > 0
    right = X[:, 0] > 0
    w = np.arange(len(y)) % 3
    model = StreamedCrammerSingerSVC(C=0.1).fit(dX[some], dy[some], sample_weight=w[right])
    twice = StreamedCrammerSingerSVC(C=0.1).fit(X[right], y[right], sample_weight=w[right])
    best = [model.certificate_.primal, twice.certificate_.primal]
    assert abs(best[0] - best[1]) <= 1e-3 * max(best)
    assert model.certificate_.n_rows == np.count_nonzero(w[right])
    assert_array_equal(model.to_local().predict(X[:100]), model.predict(X[:100]))


@pytest.fixture
def frames(data):
    """Seven partitions of named columns with string labels and weights; one that is empty."""
    dd = pytest.importorskip(
        "dask.dataframe", reason="Dask's dataframes need pyarrow", exc_type=ImportError
    )
    from dask.distributed import Client

    pd = pytest.importorskip("pandas")
    X, y = data
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
    table = table.assign(label=np.array(list("abcde"))[y], weight=np.arange(6000) % 3.0)
    frames = dd.from_pandas(table.assign(row=np.arange(6000.0)), npartitions=7)
    frames = frames[(frames["row"] < 1000) | (frames["row"] >= 2000)].drop(columns="row")
    with Client(processes=False, dashboard_address=":0"):
        yield table.drop(index=range(1000, 2000)), frames


def apart(table):
    """Rows, labels and weights of a dataframe of pandas or of Dask."""
    return table.drop(columns=["label", "weight"]), table["label"], table["weight"]


@pytest.mark.parametrize("kind", [StreamedCrammerSingerSVC, StreamedKernelLogisticRegression])
def test_dataframes(frames, kind):
    table, collection = frames
    (X, y, w), (dX, dy, dw) = apart(table), apart(collection)
    model = kind(C=0.1).fit(dX, dy, sample_weight=dw)
    assert model.certificate_.converged and model.certificate_.blocks == 7
    assert model.certificate_.n_rows == np.count_nonzero(w)
    assert_array_equal(model.feature_names_in_, X.columns)
    assert_array_equal(model.classes_, list("abcde"))
    local = model.to_local()
    for lazy, here in ((model.predict(dX), local.predict(X)), (model.certified(dX), None)):
        assert not isinstance(lazy, np.ndarray)  # nothing has been computed yet
        assert len(lazy.compute()) == 5000
        assert here is None or (lazy.compute() == here).all()
    assert_array_equal(model.predict(X), local.predict(X))
    from_pandas = kind(C=0.1).fit(X, y, sample_weight=w)
    best = [model.certificate_.primal, from_pandas.certificate_.primal]
    assert abs(best[0] - best[1]) <= 1e-3 * max(best)


def test_columns_of_dataframes_are_compared(frames):
    _, collection = frames
    dX, dy, _ = apart(collection)
    model = StreamedCrammerSingerSVC(C=0.1).fit(dX, dy.astype("category"))
    for wrong in (dX.rename(columns={"x0": "z"}), dX.drop(columns="x0"), dX[dX.columns[::-1]]):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        StreamedCrammerSingerSVC().fit(dX, dX["x0"])
