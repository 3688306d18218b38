"""Programs and servers that some tests need: absent, a test is skipped with its reason; in .ci/run it fails.

``.ci/run`` sets PHISCAN_REQUIRE=1 once it has installed the optional parts, so that a test which needs one
can not be skipped there unnoticed.
"""

import os
import shutil

import pytest


def needs(*programs: str, folders: tuple[str, ...] = ()) -> dict[str, str]:
    """Return where each program lies (on PATH, else in one of the folders); skip or fail without them."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *folders])
    found = {program: shutil.which(program, path=path) for program in programs}
    missing = [program for program, place in found.items() if place is None]
    if missing:
        reason = f"not installed: {', '.join(missing)} (scripts/install-optional.sh)"
        if os.environ.get("PHISCAN_REQUIRE"):
            pytest.fail(reason)
        pytest.skip(reason)
    return {program: place for program, place in found.items() if place}
