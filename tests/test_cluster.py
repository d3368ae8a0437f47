"Replications on a Dask cluster of real processes: the same rows as here, also when a worker dies."

import os
import re
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("distributed", reason="needs the extra 'dask'")
from mcsvm_lit.studies.runner import REGISTRY, exhibit, jobs, reproduce


def start(*args):
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + args[0], *args[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def address(process):
    "Where the scheduler listens, from what it says."
    for line in process.stdout:
        if m := re.search(r"tcp://127\.0\.0\.1:\d+", line):
            break
    else:
        pytest.fail("the scheduler did not start")
    threading.Thread(
        target=lambda: process.stdout.read(), daemon=True
    ).start()  # keep its pipe empty
    return m[0]


@pytest.fixture
def cluster():
    "A scheduler on a free port of loopback and two workers, each a process of its own."
    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    there = address(scheduler)
    workers = [
        start(
            "worker",
            there,
            "--nthreads",
            "1",
            "--nworkers",
            "1",
            "--no-dashboard",
            "--no-nanny",
            "--host",
            "127.0.0.1",
        )
        for _ in range(2)
    ]
    for w in workers:
        threading.Thread(target=w.stdout.read, daemon=True).start()
    yield there, workers
    for p in (*workers, scheduler):
        p.kill()
        p.wait()


@pytest.fixture
def sums():
    "Forty replications that take a moment each."
    import numpy as np

    before = dict(REGISTRY)
    REGISTRY.clear()

    @exhibit("TEST", "sums", "Sums of random numbers", jobs(r=range(40)))
    def total(rng, r):
        time.sleep(0.1)
        A = rng.normal(size=(60, 60))
        return dict(
            total=float(A.sum()), first=float(np.linalg.eigvalsh(A @ A.T)[0]), worker=os.getpid()
        )

    yield "TEST/sums"
    REGISTRY.clear()
    REGISTRY.update(before)


def numbers(outcome):
    return [(r["r"], r["total"], r["first"]) for r in outcome.rows]


def test_a_worker_dies(cluster, sums, tmp_path):
    from dask.distributed import Client

    there, workers = cluster
    here = reproduce([sums], out=tmp_path / "here")[sums]
    with Client(there) as client:
        client.wait_for_workers(2, timeout=60)
        kill = threading.Thread(
            target=lambda: (until(tmp_path / "there", 8), workers[0].kill()), daemon=True
        )
        kill.start()
        out = reproduce([sums], n_jobs=-1, backend="dask", out=tmp_path / "there")[sums]
        kill.join()
    assert workers[0].wait() != 0 and workers[1].poll() is None  # one is gone, in the middle
    assert len({r["worker"] for r in out.rows}) == 2  # both had work
    assert numbers(out) == numbers(here)  # to the last bit
    again = reproduce([sums], out=tmp_path / "there")[sums]
    assert again.rows == out.rows  # all of it was kept


def until(folder, m):
    "Wait for m answers."
    end = time.monotonic() + 60
    while len(list(folder.rglob("*.json"))) < m and time.monotonic() < end:
        time.sleep(0.02)
