"""What every server of files does alike: SFTP against OpenSSH, WebDAV against Apache, SMB against Samba."""

import os
import re
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from operator import attrgetter
from pathlib import Path

import pytest

from phiscan.config import SharesTable
from phiscan.crawl import check_roots, crawl, is_same_file
from phiscan.crawl.remote import RangeFile
from phiscan.crawl.share import RefusedError, UnansweredError
from phiscan.crawl.shares import open_remote
from phiscan.crawl.walk import AHEAD
from phiscan.model import FailReason, SkipReason, SourceFile
from tests.crawl.fetched import NOTHING, fetched, found_at, opened_share, reason_of, refusal_of
from tests.servers.files import STARTS, FileServers
from tests.servers.process import Server

NAMES = [
    "résumé été.txt".encode(),
    b"100% #1 [x] {y} & co;=+,.txt",
    b"%2F %41.txt",
    "日本語 🦓.txt".encode(),
    b"'quoted' \"double\" `back` $HOME <b>.txt",
    b"\\back\\slash",
    b"~tilde?",
    b"new\nline\t.txt",
    b"latin \xe9\xff.txt",
    b"n" * 255,
]


@pytest.fixture(params=STARTS)
def server(
    request: pytest.FixtureRequest, file_servers: FileServers, monkeypatch: pytest.MonkeyPatch
) -> Server:
    return file_servers(request.param).ready(monkeypatch)


def test_yields_files_depth_first_in_raw_name_order(server: Server) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "B.txt", "cache/a.txt", "d/a.tmp"):
        server.write(name)
    server.write("empty", "")
    (server.share / "folder without files").mkdir()
    found = found_at(server.url, "*.tmp", "cache/")
    names = [b"B.txt", b"a/b/c.txt", b"a/z.txt", b"a.txt", b"b.txt", b"cache", b"d/a.tmp", b"empty"]
    assert [crawled.source.path for crawled in found] == names
    skips = [SkipReason.IGNORED, SkipReason.IGNORED, SkipReason.EMPTY]
    assert [crawled.skip for crawled in found] == [*[None] * 5, *skips]
    assert {crawled.fail for crawled in found} == {None}


def test_lists_a_folder_as_a_root_and_more_entries_than_one_answer_holds(server: Server) -> None:
    for number in range(1500):
        server.write(f"a b/é/many/a long name so that the answers fill up {number:04d}.txt")
    server.write("other.txt")
    found = found_at(server.url + "/a b/é")
    assert len(found) == 1500
    assert found[0].source.path == b"many/a long name so that the answers fill up 0000.txt"
    assert found[0].source.absolute.startswith(f"{server.url}/a b/é/many/".encode())


def test_reads_files_of_any_name(server: Server) -> None:
    is_smb = server.url.startswith("smb")
    names = sorted(NAMES[:4] if is_smb else NAMES)  # Samba gives the others names that Windows allows
    folder = "été & %20".encode() if is_smb else b"f\xf6lder & %20"
    for name in names:
        path = Path(os.fsdecode(os.fsencode(server.share) + b"/" + folder + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name)
    found = [crawled.source for crawled in found_at(server.url)]
    assert [source.path for source in found] == [folder + b"/" + name for name in names]
    with opened_share(server.url) as share:
        assert [fetched(share, source) for source in found] == names


@pytest.mark.parametrize("server", ["sftp", "dav"], indirect=True)  # Samba shows what a link leads to
def test_follows_no_link_and_opens_nothing_but_files(server: Server) -> None:
    server.write("a/b.txt")
    (server.share / "a/link.txt").symlink_to("b.txt")
    (server.share / "a/loop").symlink_to("..")
    os.mkfifo(server.share / "a/pipe")
    found = {crawled.source.path: crawled.skip for crawled in found_at(server.url)}
    links = {b"a/link.txt": SkipReason.SYMLINK, b"a/loop": SkipReason.SYMLINK}
    # Apache leaves out of its listing what is neither a file nor a folder.
    others = links | {b"a/pipe": SkipReason.NOT_REGULAR} if server.url.startswith("sftp") else {}
    assert found == {b"a/b.txt": None, **others}


def test_tells_an_unchanged_file_from_a_changed_one(server: Server) -> None:
    path = server.write("a.txt", "one")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (first,) = found_at(server.url)
    assert first.source.mtime_ns == 1_700_000_000 * 10**9
    (again,) = found_at(server.url)
    assert again == first
    os.utime(path, (1_700_000_001, 1_700_000_001))
    (changed,) = found_at(server.url)
    assert not is_same_file(changed.source, first.source)


@pytest.mark.parametrize("what", ["replaced", "grown", "gone", "a folder", "a link", "a pipe"])
def test_a_file_that_changed_since_it_was_listed_is_not_read(server: Server, what: str) -> None:
    path = server.write("a.txt", "one")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (crawled,) = found_at(server.url)
    path.unlink()
    if what in {"replaced", "grown"}:
        path.write_text("two" if what == "replaced" else "one and more")
    elif what == "a folder":
        path.mkdir()
    elif what == "a link":
        path.symlink_to(server.write("b.txt", "one"))
    elif what == "a pipe":
        os.mkfifo(path)
    assert reason_of(crawled.source) == FailReason.CHANGED


def test_a_file_that_changes_while_it_is_read_is_noticed(server: Server) -> None:
    path = server.write("a.txt", "one" * 1000)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (crawled,) = found_at(server.url)
    with opened_share(server.url) as share, share.open(crawled.source) as opened:
        opened.read(100)
        path.write_text("two" * 1000)
        with pytest.raises(RefusedError, match=FailReason.CHANGED):
            opened.verify()


def test_what_may_not_be_read_is_named(server: Server) -> None:
    server.write("closed.txt").chmod(0o600)
    server.write("closed/a.txt")
    (server.share / "closed").chmod(0o700)  # root's; the user that reads is another
    found = {crawled.source.path: crawled for crawled in found_at(server.url)}
    assert {path: crawled.fail for path, crawled in found.items()} == {
        b"closed": FailReason.NO_PERMISSION,
        b"closed.txt": None,
    }
    assert reason_of(found[b"closed.txt"].source) == FailReason.NO_PERMISSION


def test_changes_nothing_and_reads_at_any_position(server: Server) -> None:
    path = server.write("a.txt", "0123456789" * 1_000_000)
    state = attrgetter("st_ino", "st_mtime_ns", "st_ctime_ns")
    before = state(path.stat())
    (crawled,) = found_at(server.url)
    content = path.read_bytes()
    with opened_share(server.url) as share:
        for offset in (0, 9_000_001, len(content) - 1, len(content)):
            with share.open(crawled.source, offset) as opened, share.open(crawled.source) as second:
                assert second.n_bytes == opened.n_bytes == len(content)
                assert second.read(7) == content[:7]
                assert b"".join(iter(lambda opened=opened: opened.read(1 << 20), b"")) == content[offset:]
                opened.verify()
                assert second.read(5) == content[7:12]
    assert state(path.stat()) == before
    assert [entry.name for entry in server.share.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"PASSWORD": "wrong"}, "wrong user name(,| or) password"),
        ({"USERNAME": "nobody-here"}, "wrong user name(,| or) password"),
        ({}, "no such folder"),
    ],
)
def test_says_before_it_begins_why_a_root_cannot_be_opened(
    server: Server, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], expected: str
) -> None:
    prefix = next(name for name in server.environment if name.endswith("USERNAME")).removesuffix("USERNAME")
    for name, value in change.items():
        monkeypatch.setenv(prefix + name, value)
    assert re.search(expected, refusal_of(server.url + "/nowhere"))


def test_a_server_that_goes_away_costs_the_folders_not_yet_listed(server: Server) -> None:
    for number in range(12):
        server.write(f"{number:02d}/a.txt")
    listing = crawl(check_roots([server.url]), NOTHING)
    first = next(listing)
    server.kill()
    rest = list(listing)
    assert (first.source.path, first.fail) == (b"00/a.txt", None)
    assert [crawled.source.path.partition(b"/")[0] for crawled in rest] == [b"%02d" % n for n in range(1, 12)]
    # Those listed in advance may have been answered, or not.
    assert {crawled.source.path for crawled in rest if crawled.fail} >= {
        b"%02d" % n for n in range(AHEAD, 12)
    }
    assert {crawled.fail for crawled in rest} <= {None, FailReason.IO_ERROR}


def test_a_server_that_comes_back_is_read_from_where_it_broke_off(server: Server) -> None:
    path = server.write("a.txt", "".join(f"{number:07d}\n" for number in range(2_500_000)))  # 20 MB
    (crawled,) = found_at(server.url)
    opened_at = []
    with opened_share(server.url) as share:

        class Breaking:
            """Kills the server after the first pieces; it is back before the next attempt."""

            retry_policy = share.retry_policy

            @staticmethod
            def open(source: SourceFile, offset: int = 0) -> AbstractContextManager[RangeFile]:
                opened_at.append(offset)
                if server.process is None:
                    server.start()
                return _breaking(share.open(source, offset), server, is_broken=not offset)

        data = fetched(Breaking, crawled.source)  # type: ignore[arg-type]
    assert opened_at[0] == 0 < opened_at[-1]
    assert data == path.read_bytes()


@contextmanager
def _breaking(
    opening: AbstractContextManager[RangeFile], server: Server, *, is_broken: bool
) -> Iterator[RangeFile]:
    with opening as opened:
        really_read, n_read = opened.read, 0

        def read(n_bytes: int) -> bytes:
            nonlocal n_read
            n_read += 1
            if is_broken and n_read == 10:
                server.kill()
            return really_read(n_bytes)

        opened.read = read  # type: ignore[method-assign]
        yield opened


@pytest.mark.parametrize("scheme", STARTS)
def test_a_server_that_falls_silent_is_hung_up_on(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for one in ("SFTP", "SMB"):
        monkeypatch.setenv(f"PHISCAN_{one}_USERNAME", "x")
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections and never says a word
        root = f"{scheme}://127.0.0.1:{mute.getsockname()[1]}/share".encode()
        share = open_remote(root, SharesTable(attempts=1, timeout_s=0.5))
        with pytest.raises(UnansweredError) as caught, share.open(SourceFile(root, b"a", 1, 0, 0, 0, 0)):
            pass
        share.close()
    assert caught.value.is_gone
