"""The search of hostile bytes for missing text ends in time in proportion to the bytes, or to a bound."""

import random

import pytest

from phiscan.config import Limits
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.missing_text import add_missing
from phiscan.extract.registry import dispatch

N = 100_000
# Beginnings of what a search looks for, without an end.
REPEATED = (
    *(b"x" * 40 + b"\0", "aé".encode("latin-1"), b"a\x82", b"CREATE TABLE '", b"a b c d e f "),
    b'<a:b c="',
)
KINDS = {"a.db": "application/vnd.sqlite3", "a.dat": "application/ms-tnef"}


def listed(data: bytes, name: str) -> int:
    sink = Sink(Limits(), dispatch=dispatch)
    add_missing(Content(data, name), KINDS[name], sink, (0, 0))
    return len(sink.unread)


@pytest.mark.parametrize("name", KINDS)
def test_beginnings_without_an_end_are_searched_to_the_end(name: str) -> None:
    for mark in REPEATED:
        assert listed(mark * (N // len(mark)), name) < 100


@pytest.mark.parametrize("name", KINDS)
def test_mixed_bytes_give_no_error(name: str) -> None:
    chance = random.Random(name)
    data = b"".join(
        chance.choice(REPEATED) * chance.randint(1, 9) + chance.randbytes(9) for _ in range(2_000)
    )
    assert listed(data, name) < 1_000
