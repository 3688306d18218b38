"""Listings kept between scans: deltas that break off, names, damage."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.config import SharesTable
from phiscan.crawl import listing_cache
from phiscan.crawl.listing_cache import Item, Kind, ListedShare, Page, path_name
from phiscan.crawl.location import unescaped
from phiscan.crawl.share import UnansweredError
from phiscan.model import FailReason, SkipReason, SourceFile
from tests.crawl.fetched import NOTHING

ROOT = b"test://source"


class Source(ListedShare):
    """A root whose feeds are made by the test; ``asked`` are the feeds and tokens requested."""

    def __init__(self, folder: Path, feeds: dict[str, Callable[[str], Iterator[Page]]]) -> None:
        super().__init__(ROOT, SharesTable(listings=str(folder)))
        self.feeds, self.asked = feeds, list[tuple[str, str]]()

    def start(self) -> tuple[str, tuple[str, ...]]:
        return "drive", ()

    def pages(self, feed: str, token: str) -> Iterator[Page]:
        self.asked.append((feed, token))
        return self.feeds[feed](token)

    def open(self, source: SourceFile, offset: int = 0) -> NoReturn:
        raise NotImplementedError


def _file(name: str, parent: str = "top", **more: Any) -> Item:
    return Item(f"id-{name}", parent, name.encode(), Kind.FILE, 5, 1, 11)._replace(**more)


def _folder(name: str, parent: str = "top", **more: Any) -> Item:
    return Item(f"id-{name}", parent, name.encode(), Kind.FOLDER)._replace(**more)


def _page(*items: Item, gone: tuple[str, ...] = (), token: str = "", top: str | None = None) -> Page:
    return Page({item.id: item for item in items} | dict.fromkeys(gone), token, top)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = (
        _page(_folder("a"), _folder("b", "id-a"), top="top"),
        _page(_file("x", "id-b"), _file("y"), token="1"),
    )
    assert _paths(tmp_path, *pages) == ["a/b/x", "y"]
    return tmp_path


def _crawled(source: Source) -> dict[str, tuple[int, SkipReason | None, FailReason | None]]:
    found = source.crawl(NOTHING, set())
    return {one.source.path.decode(): (one.source.inode, one.skip, one.fail) for one in found}


def _paths(folder: Path, *pages: Page, asked: str | None = None) -> list[str]:
    """Return the paths of a crawl during which the drive gives some pages."""
    source = Source(folder, {"drive": lambda _: iter(pages)})
    found = _crawled(source)
    assert not any(failed for _, _, failed in found.values())
    assert asked is None or source.asked == [("drive", asked)]
    return list(found)


def test_what_a_delta_leaves_out_of_an_item_stays_as_it_was(folder: Path) -> None:
    source = Source(folder, {"drive": lambda _: iter([_page(Item("id-y", None, None, None, identity=12))])})
    assert _crawled(source) == {"a/b/x": (11, None, None), "y": (12, None, None)}


def test_a_listing_that_breaks_off_changes_nothing(folder: Path) -> None:
    def pages(_: str) -> Iterator[Page]:
        yield _page(_file("new"), gone=("id-y",))
        message = "no answer"
        raise UnansweredError(message, is_gone=True)

    assert list(_crawled(Source(folder, {"drive": pages})).values()) == [(0, None, FailReason.IO_ERROR)]
    assert _paths(folder, _page(token="2"), asked="1") == ["a/b/x", "y"]


@pytest.mark.parametrize("damage", ["overwritten", "zeroed", "tables of another version"])
def test_a_file_that_cannot_be_used_is_removed_and_read_again(folder: Path, damage: str) -> None:
    (stored,) = folder.glob("*.sqlite")
    assert stored.stat().st_mode & 0o777 == 0o600
    data = stored.read_bytes()
    if damage == "overwritten":
        stored.write_bytes(b"not a database, " * 512)
    elif damage == "zeroed":
        stored.write_bytes(data[:4096] + bytes(len(data) - 4096))
    else:
        with sqlite3.connect(stored) as database:
            database.execute("ALTER TABLE items DROP COLUMN feed")
    assert _paths(folder, _page(_file("y"), token="1", top="top"), asked=None) == ["y"]
    assert _paths(folder, _page(token="2"), asked="1") == ["y"]


def test_another_scan_that_stores_the_listing_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_cache, "_WAIT_S", 0.1)
    (stored,) = folder.glob("*.sqlite")
    with closing(sqlite3.connect(stored, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        (failed,) = Source(folder, {"drive": lambda _: iter([_page(token="2")])}).crawl(NOTHING, set())
    assert failed.detail.startswith("another scan is storing the listing")


def test_equal_names_in_one_folder_are_told_apart_by_age(tmp_path: Path) -> None:
    twins = [
        Item("young", "", b"a.txt", Kind.FILE, 1, born="2026", identity=1),
        Item("old", "", b"a.txt", Kind.FILE, 1, born="2025", identity=2),
        Item("odd", "", b"a [young].txt", Kind.FILE, 1, born="2024", identity=3),
        Item("/", "", b"%2F", Kind.FILE, 1, born="2024", identity=4),
        Item("b/", "", b"%2F", Kind.FILE, 1, born="2025", identity=5),
    ]
    found = _crawled(Source(tmp_path, {"drive": lambda _: iter([_page(*twins)])}))
    assert {path: inode for path, (inode, _, _) in found.items()} == {
        "%2F": 4,
        "%2F [b%2F]": 5,
        "a [young] [young].txt": 1,
        "a [young].txt": 3,
        "a.txt": 2,
    }


def test_a_file_of_several_feeds_is_found_in_the_one_of_its_path(tmp_path: Path) -> None:
    users = _page(*(_folder(name, "", feed=name) for name in ("ann", "bob", "cem")))
    feeds = {"drive": lambda _: iter([users])}
    for user in ("ann", "bob"):
        feeds[user] = lambda _: iter([_page(_file("shared", ""), token="1")])
    feeds["cem"] = lambda _: iter([_page(_file("own", "", identity=12), token="1")])
    source = Source(tmp_path, feeds)
    found = [source.find(one.source)[0] for one in Source(tmp_path, feeds).crawl(NOTHING, set())]
    assert found == ["ann", "bob", "cem"]
    (*_, last) = Source(tmp_path, feeds).crawl(NOTHING, set())
    fresh = Source(tmp_path / "elsewhere", feeds)  # as another machine of a cluster
    assert fresh.find(last.source)[1].id == "id-own"


@given(st.text(st.characters(exclude_categories=())))
def test_any_name_is_one_part_of_a_path_and_comes_back(name: str) -> None:
    raw = path_name(name)
    assert b"/" not in raw
    assert b"\0" not in raw
    assert raw not in {b".", b".."}
    assert unescaped(raw.decode("utf-8", "surrogatepass")) == name
