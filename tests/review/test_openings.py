"""Openings in the store, on either database: a set of minutes, periods that join, rows that are purged."""

from datetime import timedelta

import pytest

from phiscan.review.records import openings
from phiscan.review.records.openings import add_openings, cover, minute_of
from phiscan.review.store import Store
from phiscan.review.worklist.model import opened_factor
from phiscan.store.tables.scans import log_coverage, opening
from tests.review.results import NOW, later, referred, scan
from tests.review.test_purging import count, purge, scan_at, years

LETTER, OTHER = "a/letter.txt", "b/other.txt"
ANN, BO = b"a" * 16, b"b" * 16
FIRST = minute_of(NOW)


def add(store: Store, name: str, minutes: dict[bytes, set[int]], *, owner: bytes = b"") -> int:
    number = store.find(name)
    found = {(number, one, minute): one == owner for one, times in minutes.items() for minute in times}
    return store.database.write(lambda connection: add_openings(connection, found))


def test_openings_are_a_set_of_minutes_by_account(store: Store) -> None:
    scan(store, [referred(LETTER), referred(OTHER)])
    times = {FIRST, FIRST + 1, FIRST + 24 * 60}
    assert add(store, LETTER, {ANN: times, BO: {FIRST + 5}}, owner=BO) == 4
    assert add(store, LETTER, {ANN: {FIRST + 1, FIRST + 2}}) == 1
    assert add(store, LETTER, {ANN: times}) == 0
    assert add(store, OTHER, {ANN: {FIRST - 60}}) == 1
    assert count(store, opening) == 6
    found = store.openings_together([store.find(LETTER)])
    assert (found.n_openings, found.n_accounts, found.n_others) == (5, 2, 1)
    assert (found.first, found.last) == (later(0), later(24 * 60))
    both = store.openings_together([store.find(LETTER), store.find(OTHER)])
    assert (both.n_opened, both.n_openings, both.n_accounts) == (2, 6, 2)
    assert both.first == later(-60)


@pytest.mark.parametrize(
    ("runs", "gaps"),
    [
        ([(0, 60), (30, 90)], 0),
        ([(0, 60), (61, 90)], 0),
        ([(0, 10), (200, 300), (5, 210)], 0),
        ([(0, 60), (100, 160)], 0),  # less than an hour
        ([(0, 60), (121, 160), (300, 301)], 2),
    ],
)
def test_periods_join_where_they_overlap(store: Store, runs: list[tuple[int, int]], gaps: int) -> None:
    scan(store, [referred(LETTER)])
    number = store.find(LETTER)

    def covered(order: list[tuple[int, int]]) -> object:
        for first, last in order:
            store.database.write(lambda c: cover(c, (1, b""), "samba", later(first), later(last)))  # noqa: B023
        (found,) = store.openings_together([number]).covered
        assert (found.first, found.last) == (later(0), later(max(last for _first, last in runs)))
        assert found.gaps == gaps
        return found

    assert covered(runs) == covered(runs[::-1])
    assert count(store, log_coverage) <= len(runs)


def test_openings_go_with_their_file(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER), referred(OTHER))
    add(store, LETTER, {ANN: {FIRST}})
    add(store, OTHER, {ANN: {FIRST}})
    scan_at(store, NOW + timedelta(days=1), referred(OTHER))
    purge(store, years(9))
    assert count(store, opening) == 1
    with store.database.read() as connection:
        assert set(openings.openings_of(connection, [store.find(OTHER)])) == {store.find(OTHER)}


def test_the_factor_of_openings_never_falls() -> None:
    factors = [opened_factor(n) for n in range(100)]
    assert factors == sorted(set(factors))
    assert factors[0] == 1
