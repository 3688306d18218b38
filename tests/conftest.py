"""Settings of all tests."""

import gc
import os
import signal
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

from phiscan.threads import use_one_thread

use_one_thread()  # as the program does, before a test loads numpy

# CI tries the same examples each time, so that a change is judged by what it changed; elsewhere they vary.
# No deadline: how long an example takes on a busy machine says nothing about it.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Containers often forbid it; then each of the hundreds of programs that tests start compiles phiscan anew,
# and each worker of pytest-xdist every test.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell lets what runs in its background ignore Ctrl-C, and so would every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# CI runs the tests as root: what a scan says of that is tested where it is meant.
os.environ.setdefault("PHISCAN_ALLOW_ROOT", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector rest while millions of objects are made that all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


# Compiling the small trainings of tests takes longer than they do.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

collect_ignore = ["warm_models.py"]  # looked at for doctests, it would load in each process what few need
pytest_plugins = ("tests.postgresql", "tests.servers.files", "tests.statements", "tests.warm_workers")
