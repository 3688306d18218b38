"""Waiting until something can be observed, instead of for a fixed time."""

import time
from collections.abc import Callable

CEILING_S = 120.0  # on a busy machine; a condition that holds is seen at once
LOOK_S = 0.02


def wait_until(condition: Callable[[], bool], what: str, *, ceiling_s: float = CEILING_S) -> None:
    """Return once the condition holds; fail, naming what was waited for, if it never does."""
    deadline = time.monotonic() + ceiling_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {ceiling_s:g} s: {what}"
        time.sleep(LOOK_S)  # between two looks
