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
from mcsvm_lit.scale import DaskCrammerSingerSVC, DaskKernelLogisticRegression


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

    how = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
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


@pytest.mark.parametrize("kind", [DaskCrammerSingerSVC, DaskKernelLogisticRegression])
def test_killed_workers_cost_a_round(client, data, monkeypatch, kind):
    dX, dy = collections(*data)
    undisturbed = kind(C=0.1).fit(dX, dy)
    assert undisturbed.certificate_.converged

    before = pids(client)
    killed = []
    standing = passes.standing

    def kill(number):
        killed.append(before[number])
        os.kill(before[number], signal.SIGKILL)

    def between_rounds(*args):
        """What the driver does with the answer of a round; the third time a worker is killed."""
        here = standing(*args)
        if not killed:
            kill(0)
        elif len(killed) == 1:
            threading.Timer(0.05, kill, [1]).start()  # in the middle of a round
            until(lambda: len(killed) == 2)
        return here

    monkeypatch.setattr(passes, "standing", between_rounds)
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
    model = DaskCrammerSingerSVC(C=0.1).fit(dX[some], dy[some], sample_weight=w[right])
    twice = DaskCrammerSingerSVC(C=0.1).fit(X[right], y[right], sample_weight=w[right])
    best = [model.certificate_.primal, twice.certificate_.primal]
    assert abs(best[0] - best[1]) <= 1e-3 * max(best)
    assert model.certificate_.n_rows == np.count_nonzero(w[right])
    assert_array_equal(model.to_local().predict(X[:100]), model.predict(X[:100]))


def test_dataframes(data):
    dd = pytest.importorskip(
        "dask.dataframe", reason="Dask's dataframes need pyarrow", exc_type=ImportError
    )
    from dask.distributed import Client

    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X).assign(label=y)
    frames = dd.from_pandas(frame, npartitions=7)
    with Client(processes=False, dashboard_address=None):
        rows = frames.drop(columns="label")
        model = DaskKernelLogisticRegression(C=0.1).fit(rows, frames["label"])
        assert model.certificate_.converged and model.certificate_.blocks == 7
        assert_array_equal(model.predict_proba(rows).compute(), model.predict_proba(X))
