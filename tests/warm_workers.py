"""One server that forks workers, with everything loaded that they need, for the scans of many tests.

Loading takes seconds, so the server goes on from one module to the next, until one of the folders whose tests
are of servers and workers follows: they find none running.
"""

import pytest

_STARTED = pytest.StashKey[bool]()
_OF_WORKERS = ("cluster", "extract", "sandbox", "security")


@pytest.fixture(scope="module")
def warm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have the server run."""
    from phiscan.pipeline.workers import pools  # noqa: PLC0415 (few tests need what this loads)
    from phiscan.sandbox import fork_server, pool  # noqa: PLC0415 (the same)

    preload = [*pool._PRELOAD, *pools._PRELOAD, "tests.warm_models"]
    if fork_server.start(tmp_path_factory.mktemp("server"), preload):
        request.config.stash[_STARTED] = True


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if not item.config.stash.get(_STARTED, False):
        return
    if nextitem is None or nextitem.path.parent.name in _OF_WORKERS:
        from phiscan.sandbox import fork_server  # noqa: PLC0415 (see above)

        fork_server.stop()
        item.config.stash[_STARTED] = False
