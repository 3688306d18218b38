"""When a file counts as unchanged."""

from dataclasses import replace

import pytest

from phiscan.crawl import is_same_file
from phiscan.model import SourceFile

FILE = SourceFile(b"/srv", b"a", size=1, mtime_ns=2, ctime_ns=3, inode=4, device=5)


@pytest.mark.parametrize(
    ("field", "is_same"),
    [("size", False), ("mtime_ns", False), ("ctime_ns", False), ("inode", False), ("device", True)],
)
def test_is_another_when_a_number_changed_but_that_of_the_mount(field: str, *, is_same: bool) -> None:
    assert is_same_file(FILE, replace(FILE))
    assert is_same_file(FILE, replace(FILE, **{field: 99})) == is_same
