"""What the crawler yields of a share, and what it passes over."""

import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pathspec
import pytest

from phiscan.crawl import IgnoreRules, check_roots, crawl
from phiscan.errors import InputError
from phiscan.extract.core.opening import open_read_only
from phiscan.model import FailReason, SkipReason, SourceFile
from phiscan.model.plain_values import dumps, from_plain, to_plain


def _rules(*lines: str, own: frozenset[bytes] = frozenset()) -> IgnoreRules:
    return IgnoreRules(pathspec.GitIgnoreSpec.from_lines(lines), own=own)


def _paths(root: Path, *lines: str) -> dict[bytes, object]:
    return {c.source.path: c.skip or c.fail for c in crawl([bytes(root)], _rules(*lines))}


def test_yields_files_depth_first_in_raw_name_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "B.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    order = [c.source.path for c in crawl([bytes(tmp_path)], _rules())]
    assert order == [b"B.txt", b"a/b/c.txt", b"a/z.txt", b"a.txt", b"b.txt"]


def test_a_file_of_a_far_year_is_opened_and_comes_back_from_a_worker(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    os.utime(tmp_path / "a.txt", (10**10, 10**10))
    (crawled,) = crawl([bytes(tmp_path)], _rules())
    os.close(open_read_only(crawled.source))
    for source in (crawled.source, replace(crawled.source, size=2**64, mtime_ns=-(2**64))):
        assert from_plain(SourceFile, json.loads(dumps(to_plain(SourceFile, source)))) == source


def test_keeps_names_that_are_not_utf8(tmp_path: Path) -> None:
    raw = b"caf\xe9 \xff.txt"
    Path(os.fsdecode(bytes(tmp_path) + b"/" + raw)).write_text("x")
    (crawled,) = crawl([bytes(tmp_path)], _rules())
    assert crawled.source.path == raw
    assert crawled.source.display == r"caf\xe9 \xff.txt"
    assert os.stat(crawled.source.absolute).st_size == 1  # noqa: PTH116 (raw bytes)


def test_never_follows_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("x")
    share = tmp_path / "share"
    share.mkdir()
    (share / "to_file").symlink_to(outside / "secret.txt")
    (share / "to_folder").symlink_to(outside)
    (share / "loop").symlink_to(share)
    (share / "broken").symlink_to("nowhere")
    assert set(_paths(share).values()) == {SkipReason.SYMLINK}
    assert len(_paths(share)) == 4


def test_passes_over_what_is_no_file_is_empty_or_has_another_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").write_text("x")
    (tmp_path / "empty").touch()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        found = _paths(tmp_path)
    assert found == {
        b"a": None,
        b"b": SkipReason.HARD_LINK,
        b"c": None,
        b"empty": SkipReason.EMPTY,
        **dict.fromkeys((b"fifo", b"socket"), SkipReason.NOT_REGULAR),
    }


def test_records_ignored_paths_instead_of_hiding_them(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "keep/a.tmp").write_text("x")
    (tmp_path / "keep/a.txt").write_text("x")
    (tmp_path / "cache/b.txt").write_text("x")
    found = _paths(tmp_path, "*.tmp", "cache/")
    assert found == {b"cache": SkipReason.IGNORED, b"keep/a.tmp": SkipReason.IGNORED, b"keep/a.txt": None}


def test_never_crawls_its_own_home(tmp_path: Path) -> None:
    home = tmp_path / ".phiscan"
    home.mkdir()
    (home / "phiscan.db").write_text("x")
    found = {c.source.path: c.skip for c in crawl([bytes(tmp_path)], _rules(own=frozenset({bytes(home)})))}
    assert found == {b".phiscan": SkipReason.IGNORED}


def test_records_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    real = os.open

    def refuse(path: bytes, flags: int) -> int:
        if path == bytes(closed):
            raise PermissionError(13, "Permission denied")
        return real(path, flags)

    monkeypatch.setattr(os, "open", refuse)  # root may list everything, so the refusal is made here
    assert _paths(tmp_path) == {b"closed": FailReason.NO_PERMISSION}


def test_is_not_led_out_of_the_share_by_a_folder_swapped_for_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("x")
    inside = tmp_path / "share/folder"
    inside.mkdir(parents=True)
    real = os.open

    def swap(path: bytes, flags: int) -> int:
        if path == bytes(inside):  # after its state was read, before it is listed
            inside.rmdir()
            inside.symlink_to(tmp_path / "outside")
        return real(path, flags)

    monkeypatch.setattr(os, "open", swap)
    assert list(_paths(tmp_path / "share").values()) == [FailReason.CHANGED]


def test_refuses_roots_that_are_missing_or_nested(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a-b").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="expected a folder"):
        check_roots([""])
    with pytest.raises(InputError, match="expected a folder"):
        check_roots([tmp_path / "nowhere"])
    with pytest.raises(InputError, match="expected a folder"):
        check_roots([tmp_path / "file"])
    with pytest.raises(InputError, match="lies inside"):
        check_roots([tmp_path / "a", tmp_path / "a-b", tmp_path / "a/b"])


def test_takes_the_same_root_once(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert check_roots([tmp_path, tmp_path / "link", str(tmp_path) + "/"]) == (bytes(tmp_path.resolve()),)
