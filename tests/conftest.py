"What all tests share. They need the package installed, and the tree around this folder."

import faulthandler
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
settings.register_profile("same every time", derandomize=True, deadline=None, database=None)
settings.load_profile("same every time")

# Files whose tests share what takes long to make, and which a file keeps in a cache of its own.
TOGETHER = {"test_ahead"}


def pytest_collection_modifyitems(items):
    """With several processes, tests that share something made once for their file run in one."""
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        shared = any(f.scope == "module" for found in fixtures for f in found)
        if shared or item.module.__name__ in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


LONGEST = 900  # seconds that one test may take, with what it sets up: the longest takes a minute


def too_long(signum, frame):
    """Show where all threads are, and end the test."""
    faulthandler.dump_traceback(file=sys.__stderr__)
    raise TimeoutError(f"a test takes more than {LONGEST} seconds")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test that stands still fails, and says where: most are over in a second."""
    if not hasattr(signal, "setitimer"):
        return (yield)
    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
