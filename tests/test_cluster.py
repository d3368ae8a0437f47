"""Replications on a Dask cluster of real processes: the same rows, also when a worker dies."""

import os
import re
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("distributed", reason="needs the extra 'dask'")
from mcsvm_lit.studies.runner import REGISTRY, exhibit, jobs, reproduce


def start(kind, *args):
    """A scheduler or a worker on loopback, a process of its own."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *args]
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    return subprocess.Popen(
        command + local, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def drained(process):
    """Keep the pipe of a process empty, so that it never waits for a reader."""
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return process


def address(scheduler):
    """Where the scheduler listens, from what it says."""
    for line in scheduler.stdout:
        found = re.search(r"tcp://127\.0\.0\.1:\d+", line)
        if found:
            return found[0]
    pytest.fail("the scheduler did not start")


WORKER = ("--nthreads", "1", "--nworkers", "1", "--no-nanny")


@pytest.fixture
def cluster():
    """A scheduler on a free port of loopback and two workers."""
    scheduler = start("scheduler", "--port", "0")
    there = address(scheduler)
    drained(scheduler)
    workers = [drained(start("worker", there, *WORKER)) for _ in range(2)]
    yield there, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


@pytest.fixture
def sums():
    """Forty replications that take a moment each."""
    import numpy as np

    before = dict(REGISTRY)
    REGISTRY.clear()

    @exhibit("TEST", "sums", "Sums of random numbers", jobs(r=range(40)))
    def total(rng, r):
        time.sleep(0.1)
        A = rng.normal(size=(60, 60))
        lowest = float(np.linalg.eigvalsh(A @ A.T)[0])
        return dict(total=float(A.sum()), first=lowest, worker=os.getpid())

    yield "TEST/sums"
    REGISTRY.clear()
    REGISTRY.update(before)


def numbers(outcome):
    """What the replications found."""
    return [(r["r"], r["total"], r["first"]) for r in outcome.rows]


def until(folder, m):
    """Wait for m answers; returns what they say."""
    end = time.monotonic() + 60
    while len(answers := list(folder.rglob("*.json"))) < m and time.monotonic() < end:
        time.sleep(0.02)
    return " ".join(f.read_text() for f in answers)


def test_a_worker_dies(cluster, sums, tmp_path):
    from dask.distributed import Client

    there, workers = cluster
    here = reproduce([sums], out=tmp_path / "here")[sums]

    def kill_in_the_middle():
        """Kill one that has worked; on a busy computer the other may not have begun yet."""
        said = until(tmp_path / "there", 8)
        workers.sort(key=lambda w: not re.search(rf"\b{w.pid}\b", said))
        workers[0].kill()

    with Client(there) as client:
        client.wait_for_workers(2, timeout=60)
        killer = threading.Thread(target=kill_in_the_middle, daemon=True)
        killer.start()
        out = reproduce([sums], n_jobs=-1, backend="dask", out=tmp_path / "there")[sums]
        killer.join()
    assert workers[0].wait() != 0 and workers[1].poll() is None  # one is gone, in the middle
    assert len({r["worker"] for r in out.rows}) == 2  # both had work
    assert numbers(out) == numbers(here)  # to the last bit
    again = reproduce([sums], out=tmp_path / "there")[sums]
    assert again.rows == out.rows  # all of it was kept
