"""What the crawler yields of a folder, and what it passes over; where the ignore file may come from."""

import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import IgnoreRules, check_roots, crawl, is_same_file, load_ignore
from phiscan.errors import ConfigError, InputError
from phiscan.extract.core.opening import open_read_only
from phiscan.model import FailReason, SkipReason, SourceFile
from phiscan.model.plain_values import dumps, from_plain, to_plain


def _rules(*lines: str, own: frozenset[bytes] = frozenset()) -> IgnoreRules:
    return IgnoreRules(pathspec.GitIgnoreSpec.from_lines(lines), own=own)


def _write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def _paths(root: Path, *lines: str) -> dict[bytes, object]:
    return {c.source.path: c.skip or c.fail for c in crawl([bytes(root)], _rules(*lines))}


def test_yields_files_depth_first_in_raw_name_order(tmp_path: Path) -> None:
    _write(tmp_path, "b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "B.txt")
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
    outside, share = tmp_path / "outside", tmp_path / "share"
    _write(outside, "secret.txt")
    share.mkdir()
    (share / "to_file").symlink_to(outside / "secret.txt")
    (share / "to_folder").symlink_to(outside)
    (share / "loop").symlink_to(share)
    (share / "broken").symlink_to("nowhere")
    assert set(_paths(share).values()) == {SkipReason.SYMLINK}
    assert len(_paths(share)) == 4


def test_passes_over_what_is_no_file_is_empty_or_has_another_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    _write(tmp_path, "a", "c")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
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
    _write(tmp_path, "keep/a.tmp", "keep/a.txt", "cache/b.txt")
    found = _paths(tmp_path, "*.tmp", "cache/")
    assert found == {b"cache": SkipReason.IGNORED, b"keep/a.tmp": SkipReason.IGNORED, b"keep/a.txt": None}


def test_never_crawls_its_own_home(tmp_path: Path) -> None:
    home = tmp_path / ".phiscan"
    _write(home, "phiscan.db")
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
    _write(tmp_path, "outside/secret.txt")
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
    _write(tmp_path, "file", "a/b/c", "a-b/c")
    for root in ("", tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(InputError, match="expected a folder"):
            check_roots([root])
    with pytest.raises(InputError, match="lies inside"):
        check_roots([tmp_path / "a", tmp_path / "a-b", tmp_path / "a/b"])


def test_takes_the_same_root_once(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert check_roots([tmp_path, tmp_path / "link", str(tmp_path) + "/"]) == (bytes(tmp_path.resolve()),)


FILE = SourceFile(b"/srv", b"a", size=1, mtime_ns=2, ctime_ns=3, inode=4, device=5)


@pytest.mark.parametrize(
    ("field", "is_same"),
    [("size", False), ("mtime_ns", False), ("ctime_ns", False), ("inode", False), ("device", True)],
)
def test_is_another_when_a_number_changed_but_that_of_the_mount(field: str, *, is_same: bool) -> None:
    assert is_same_file(FILE, replace(FILE))
    assert is_same_file(FILE, replace(FILE, **{field: 99})) == is_same


def test_reads_the_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "phiscan.toml").write_text("")
    (tmp_path / ".phiscanignore").write_text("*.iso\n")
    rules = load_ignore(Config(source=str(tmp_path / "phiscan.toml")), [b"/srv/share"])
    assert rules.matches(b"a/b.iso", b"/srv/share/a/b.iso", is_folder=False)
    assert not rules.matches(b"a/b.txt", b"/srv/share/a/b.txt", is_folder=False)


def test_does_not_use_a_file_that_lies_on_the_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".phiscanignore").write_text("*\n")
    monkeypatch.chdir(tmp_path)
    rules = load_ignore(Config(), [bytes(tmp_path)])
    assert rules.refused == str(tmp_path / ".phiscanignore")
    assert not rules.matches(b"a.txt", bytes(tmp_path / "a.txt"), is_folder=False)


def test_passes_over_what_phiscan_itself_writes(tmp_path: Path) -> None:
    config = Config(home=tmp_path / "home", database=f"sqlite:///{tmp_path}/share/own.db")
    rules = load_ignore(config, [b"/srv/share"])
    assert rules.matches(b"home", bytes(tmp_path / "home"), is_folder=True)
    for ending in ("", "-wal", "-shm"):
        path = tmp_path / f"share/own.db{ending}"
        assert rules.matches(path.name.encode(), bytes(path), is_folder=False)


def test_matches_nothing_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rules = load_ignore(Config(), [b"/srv/share"])
    assert rules.source == ""
    assert not rules.matches(b"a.txt", b"/srv/share/a.txt", is_folder=False)


def test_names_an_ignore_file_that_is_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".phiscanignore").write_bytes(b"\xff\xfe\x00")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"\.phiscanignore: byte 0: expected UTF-8"):
        load_ignore(Config(), [b"/srv/share"])
