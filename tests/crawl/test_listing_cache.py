"""Listings kept between scans: deltas, names, damage, and a process killed in the middle of a delta."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.crawl.listed_tree import entries_of
from phiscan.crawl.listing_cache import (
    DamagedListingError,
    Item,
    Kind,
    ListingCache,
    Page,
    original_name,
    path_name,
)
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.model import FailReason, SkipReason

ROOT = b"m365://contoso/drives/ann"
TOP = Item("top", None, None, Kind.ROOT)


def _file(name: str, parent: str = "top", **more: object) -> Item:
    return Item(f"id-{name}", parent, name.encode(), Kind.FILE, 5, 1, "v1")._replace(**more)


def _folder(name: str, parent: str = "top") -> Item:
    return Item(f"id-{name}", parent, name.encode(), Kind.FOLDER)


def _store(cache: ListingCache, *pages: Page, feed: str = "drive", asked: list[str] | None = None) -> None:
    def given_pages(token: str) -> Iterator[Page]:
        if asked is not None:
            asked.append(token)
        return iter(pages)

    cache.begin()
    cache.refresh(feed, given_pages)


def _paths(cache: ListingCache, feed: str = "drive") -> list[str]:
    """Return all paths of a feed, as a walk would find them."""
    found = []
    waiting = [(cache.top(feed), b"")]
    while waiting:
        parent, folder = waiting.pop()
        for entry in entries_of(ROOT, folder, cache.children(feed, parent)):
            path = entry.source.path
            found.append(path.decode())
            item = cache.child(feed, parent, path.rpartition(b"/")[2])
            assert item is not None
            if entry.is_folder:
                waiting.append((item.id, path))
    return sorted(found)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ListingCache]:
    made = ListingCache(str(tmp_path / "listings"), ROOT)
    _store(
        made, Page([TOP, _folder("a"), _folder("b", "id-a")]), Page([_file("x", "id-b"), _file("y")], (), "1")
    )
    yield made
    made.close()


def test_a_renamed_folder_moves_what_is_below_and_deleted_items_go(
    cache: ListingCache, tmp_path: Path
) -> None:
    assert _paths(cache) == ["a", "a/b", "a/b/x", "y"]
    asked: list[str] = []
    _store(cache, Page([_folder("a")._replace(name=b"new")], ["id-y"], "2"), asked=asked)
    assert asked == ["1"]
    assert _paths(cache) == ["new", "new/b", "new/b/x"]
    _store(cache, Page([_folder("b")], ["id-a"], "3"))  # moved out, and the emptied folder deleted
    assert _paths(cache) == ["b", "b/x"]
    (stored,) = (tmp_path / "listings").glob("*.sqlite")
    assert stored.stat().st_mode & 0o777 == 0o600


def test_what_a_delta_leaves_out_of_an_item_stays_as_it_was(cache: ListingCache) -> None:
    _store(cache, Page([Item("id-y", None, None, None, mark="v2")], (), "2"))
    item = cache.child("drive", "top", b"y")
    assert item == _file("y", mark="v2")


def test_a_refused_token_is_replaced_by_a_whole_listing(cache: ListingCache) -> None:
    asked = []

    def pages(token: str) -> Iterator[Page]:
        asked.append(token)
        if token:
            raise RefusedError(FailReason.CHANGED, "gone")
        yield Page([TOP, _file("z")], (), "9")

    cache.begin()
    cache.refresh("drive", pages)
    cache.refresh("drive", pages)  # once in a crawl
    assert asked == ["1", ""]
    assert _paths(cache) == ["z"]


def test_a_listing_that_breaks_off_changes_nothing(cache: ListingCache) -> None:
    def pages(_: str) -> Iterator[Page]:
        yield Page([_file("new")], ["id-y"], "")
        message = "no answer"
        raise UnansweredError(message, is_gone=True)

    cache.begin()
    with pytest.raises(UnansweredError):
        cache.refresh("drive", pages)
    assert _paths(cache) == ["a", "a/b", "a/b/x", "y"]
    asked: list[str] = []
    _store(cache, Page((), (), "2"), asked=asked)
    assert asked == ["1"]


KILLED = """
import sys
from phiscan.crawl.listing_cache import Item, Kind, ListingCache, Page

def pages(token):
    for number in range(5000):
        names = [f"{number}-{one}" for one in range(200)]
        yield Page([Item(name, "top", name.encode(), Kind.FILE) for name in names])
        if number == int(sys.argv[2]):
            print("ready", flush=True)
            sys.stdin.read()

ListingCache(sys.argv[1], b"m365://contoso/drives/ann").refresh("drive", pages)
"""


@pytest.mark.parametrize("n_pages", [0, 1, 40])
def test_a_process_killed_in_the_middle_of_a_delta_leaves_the_state_before(
    cache: ListingCache, tmp_path: Path, n_pages: int
) -> None:
    before = _paths(cache)
    cache.close()
    command = [sys.executable, "-c", KILLED, str(tmp_path / "listings"), str(n_pages)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"ready\n"
        killed.send_signal(signal.SIGKILL)
    assert _paths(cache) == before
    asked: list[str] = []
    _store(cache, Page((), (), "2"), asked=asked)
    assert asked == ["1"]


@pytest.mark.parametrize("damage", [b"not a database, " * 512, None])
def test_a_damaged_file_is_removed_and_listed_again(
    cache: ListingCache, tmp_path: Path, damage: bytes | None
) -> None:
    cache.close()
    (stored,) = (tmp_path / "listings").glob("*.sqlite")
    data = stored.read_bytes()
    stored.write_bytes(damage or data[:4096] + bytes(len(data) - 4096))
    with pytest.raises(DamagedListingError):
        _paths(cache)
    asked: list[str] = []
    _store(cache, Page([TOP, _file("y")], (), "1"), asked=asked)
    assert asked == [""]
    assert _paths(cache) == ["y"]


def test_tables_of_another_version_are_made_anew(
    cache: ListingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.close()
    monkeypatch.setattr("phiscan.crawl.listing_cache._VERSION", 99)
    assert _paths(cache) == []


def test_equal_names_in_one_folder_are_told_apart_by_age(cache: ListingCache) -> None:
    twins = [
        Item("young", "top", b"a.txt", Kind.FILE, born="2026"),
        Item("old", "top", b"a.txt", Kind.FILE, born="2025"),
        Item("odd", "top", b"a [young].txt", Kind.FILE, born="2024"),
        Item("/", "top", b"%2F", Kind.FILE, born="2024"),
        Item("b/", "top", b"%2F", Kind.FILE, born="2025"),
    ]
    _store(cache, Page([TOP, *twins], (), "1"), feed="twins")
    assert _paths(cache, "twins") == ["%2F", "%2F [b%2F]", "a [young] [young].txt", "a [young].txt", "a.txt"]
    named = {
        name: cache.child("twins", "top", name)
        for name in (b"a.txt", b"a [young].txt", b"a [young] [young].txt", b"%2F [b%2F]", b"a [gone].txt")
    }
    assert [item and item.id for item in named.values()] == ["old", "odd", "young", "b/", None]


def test_shortcuts_are_skipped_and_a_package_is_a_folder_if_it_has_entries(cache: ListingCache) -> None:
    items = [
        TOP,
        Item("link", "top", b"link", Kind.LINK, 1),
        Item("full", "top", b"full", Kind.PACKAGE, 1),
        Item("shut", "top", b"shut", Kind.PACKAGE, 1),
        _file("section", "full"),
    ]
    _store(cache, Page(items, (), "1"), feed="kinds")
    found = entries_of(ROOT, b"", cache.children("kinds", "top"))
    assert {entry.source.path: (entry.is_folder, entry.skip) for entry in found} == {
        b"link": (False, SkipReason.SYMLINK),
        b"full": (True, None),
        b"shut": (False, None),
    }


@given(st.text(st.characters(exclude_categories=())))
def test_any_name_is_one_part_of_a_path_and_comes_back(name: str) -> None:
    raw = path_name(name)
    assert b"/" not in raw
    assert b"\0" not in raw
    assert raw not in {b".", b".."}
    assert original_name(raw) == name
