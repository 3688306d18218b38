"""One server that forks workers, with everything loaded that they need, for the scans of many tests.

Loading takes seconds, so the server goes on from one module to the next, as long as the next uses it too;
tests of the server and of workers find none running.
"""

from pathlib import Path

import pytest

_USING = pytest.StashKey[set[Path]]()
_STARTED = pytest.StashKey[bool]()


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[_USING] = {
        item.path for item in session.items if "warm" in getattr(item, "fixturenames", ())
    }


@pytest.fixture(scope="module")
def warm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have the server run."""
    from phiscan.pipeline.workers import pools  # noqa: PLC0415 (few tests need what this loads)
    from phiscan.sandbox import fork_server, pool  # noqa: PLC0415 (the same)

    if fork_server.start(tmp_path_factory.mktemp("server"), [*pool._PRELOAD, *pools._PRELOAD]):
        request.config.stash[_STARTED] = True


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if not item.config.stash.get(_STARTED, False):
        return
    if nextitem is None or nextitem.path not in item.config.stash[_USING]:
        from phiscan.sandbox import fork_server  # noqa: PLC0415 (see above)

        fork_server.stop()
        item.config.stash[_STARTED] = False
