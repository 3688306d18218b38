"""When a file counts as unchanged."""

from dataclasses import replace

import pytest

from phiscan.crawl import is_same_file
from phiscan.model import SourceFile

FILE = SourceFile(b"/srv", b"a", size=1, mtime_ns=2, ctime_ns=3, inode=4, device=5)


def test_is_the_same_when_nothing_changed() -> None:
    assert is_same_file(FILE, replace(FILE))


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_is_another_when_a_number_changed(field: str) -> None:
    assert not is_same_file(FILE, replace(FILE, **{field: 99}))


def test_is_the_same_after_a_remount() -> None:
    assert is_same_file(FILE, replace(FILE, device=99))
