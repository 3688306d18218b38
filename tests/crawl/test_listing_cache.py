"""Listings kept between scans: deltas, names, damage, and a process killed in the middle of a delta."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.config import SharesTable
from phiscan.crawl.listing_cache import Item, Kind, ListedShare, Page, path_name
from phiscan.crawl.location import unescaped
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.model import FailReason, SkipReason
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


def test_a_renamed_folder_moves_what_is_below_and_deleted_items_go(folder: Path) -> None:
    renamed = _folder("a")._replace(name=b"new")
    assert _paths(folder, _page(renamed, gone=("id-y",), token="2"), asked="1") == ["new/b/x"]
    # Moved out, and the emptied folder deleted.
    assert _paths(folder, _page(_folder("b"), gone=("id-a",), token="3"), asked="2") == ["b/x"]
    (stored,) = folder.glob("*.sqlite")
    assert stored.stat().st_mode & 0o777 == 0o600


def test_what_a_delta_leaves_out_of_an_item_stays_as_it_was(folder: Path) -> None:
    source = Source(folder, {"drive": lambda _: iter([_page(Item("id-y", None, None, None, identity=12))])})
    assert _crawled(source) == {"a/b/x": (11, None, None), "y": (12, None, None)}


def test_a_refused_token_is_replaced_by_a_whole_listing(folder: Path) -> None:
    def pages(token: str) -> Iterator[Page]:
        if token:
            raise RefusedError(FailReason.CHANGED, "gone")
        yield _page(_file("z"), _folder("c"), token="9", top="top")

    source = Source(folder, {"drive": pages})
    assert list(_crawled(source)) == ["z"]
    assert source.asked == [("drive", "1"), ("drive", "")]


def test_a_listing_that_breaks_off_changes_nothing(folder: Path) -> None:
    def pages(_: str) -> Iterator[Page]:
        yield _page(_file("new"), gone=("id-y",))
        message = "no answer"
        raise UnansweredError(message, is_gone=True)

    assert list(_crawled(Source(folder, {"drive": pages})).values()) == [(0, None, FailReason.IO_ERROR)]
    assert _paths(folder, _page(token="2"), asked="1") == ["a/b/x", "y"]


def test_a_folder_has_the_entries_of_its_own_feed_too(folder: Path) -> None:
    feeds = {
        "drive": lambda _: iter([_page(_folder("a", feed="inner"))]),
        "inner": lambda _: iter([_page(_file("m", ""), token="1")]),
    }
    assert list(_crawled(Source(folder, feeds))) == ["a/b/x", "a/m", "y"]


KILLED = """
import sys
from pathlib import Path
from typing import Any
from tests.crawl.test_listing_cache import NOTHING, Item, Kind, Page, Source

def pages(token):
    for number in range(5000):
        names = [f"{number}-{one}" for one in range(200)]
        yield Page({name: Item(name, "top", name.encode(), Kind.FILE) for name in names})
        if number == int(sys.argv[2]):
            print("ready", flush=True)
            sys.stdin.read()

list(Source(Path(sys.argv[1]), {"drive": pages}).crawl(NOTHING, set()))
"""


@pytest.mark.parametrize("n_pages", [0, 1, 40])
def test_a_process_killed_in_the_middle_of_a_delta_leaves_the_state_before(
    folder: Path, n_pages: int
) -> None:
    command = [sys.executable, "-c", KILLED, str(folder), str(n_pages)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"ready\n"
        killed.send_signal(signal.SIGKILL)
    assert _paths(folder, _page(token="2"), asked="1") == ["a/b/x", "y"]


@pytest.mark.parametrize("damage", ["overwritten", "zeroed", "tables of another version"])
def test_a_file_that_cannot_be_used_is_removed_and_read_again(folder: Path, damage: str) -> None:
    (stored,) = folder.glob("*.sqlite")
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


def test_shortcuts_are_skipped_and_a_package_is_a_folder_if_it_has_entries(tmp_path: Path) -> None:
    items = [
        Item("link", "top", b"link", Kind.LINK, 1),
        Item("full", "top", b"full", Kind.PACKAGE, 1),
        Item("shut", "top", b"shut", Kind.PACKAGE, 1),
        _file("section", "full"),
    ]
    found = _crawled(Source(tmp_path, {"drive": lambda _: iter([_page(*items, top="top")])}))
    skips = {path: skip for path, (_, skip, _) in found.items()}
    assert skips == {"full/section": None, "link": SkipReason.SYMLINK, "shut": None}


@given(st.text(st.characters(exclude_categories=())))
def test_any_name_is_one_part_of_a_path_and_comes_back(name: str) -> None:
    raw = path_name(name)
    assert b"/" not in raw
    assert b"\0" not in raw
    assert raw not in {b".", b".."}
    assert unescaped(raw.decode("utf-8", "surrogatepass")) == name
