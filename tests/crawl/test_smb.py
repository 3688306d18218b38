"""An SMB share without mounting it, against a real Samba server on loopback."""

import hashlib
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pathspec
import pytest

from phiscan.config import Config, SharesTable
from phiscan.crawl import Crawled, IgnoreRules, check_roots, crawl, is_same_file
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import OpenFile
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.crawl.smb.share import SmbShare
from phiscan.crawl.walk import AHEAD
from phiscan.errors import ExtractError, InputError
from phiscan.model import FailReason, SkipReason, SourceFile
from phiscan.pipeline.workers.delivery import fetch
from tests.crawl.fetched import fetched
from tests.samba import PASSWORD, Samba, running_samba

NOTHING = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))


@pytest.fixture(scope="module")
def server() -> Iterator[Samba]:
    with running_samba() as samba:
        yield samba


@pytest.fixture
def samba(server: Samba, monkeypatch: pytest.MonkeyPatch) -> Samba:
    """Return the server, running, with an empty share, and the environment that signs in."""
    for entry in server.share.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if server.process is None:
        server.start()
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server


def _write(samba: Samba, name: str, text: str = "x") -> Path:
    path = samba.share / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _crawl(samba: Samba, *lines: str, below: str = "") -> list[Crawled]:
    rules = IgnoreRules(pathspec.GitIgnoreSpec.from_lines(lines))
    return list(crawl(check_roots([samba.url + below]), rules))


def _share(samba: Samba) -> SmbShare:
    return SmbShare(samba.url.encode(), load_settings(Config()))


def test_yields_files_depth_first_in_raw_name_order(samba: Samba) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "B.txt"):
        _write(samba, name)
    _write(samba, "empty", "")
    found = [(crawled.source.path, crawled.skip) for crawled in _crawl(samba)]
    assert found == [
        (b"B.txt", None),
        (b"a/b/c.txt", None),
        (b"a/z.txt", None),
        (b"a.txt", None),
        (b"b.txt", None),
        (b"empty", SkipReason.EMPTY),
    ]


def test_lists_a_folder_of_the_share_as_a_root(samba: Samba) -> None:
    _write(samba, "a b/c/d.txt")
    _write(samba, "e.txt")
    (crawled,) = _crawl(samba, below="/a b")
    assert crawled.source.path == b"c/d.txt"
    assert crawled.source.absolute.endswith(b"/share/a b/c/d.txt")


def test_lists_more_entries_than_one_answer_holds(samba: Samba) -> None:
    for number in range(1500):
        _write(samba, f"many/a long name so that the answers fill up {number:04d}.txt")
    assert len(_crawl(samba)) == 1500


@pytest.mark.parametrize(
    "name",
    [
        "résumé été.txt",
        "100% #1 [x] {y} & co.txt",
        "trailing dot and space . .txt",
        "日本語 🦓.txt",
        "'quoted' `back` $HOME;.txt",
        "new\nline.txt",  # Samba gives the last two a name that Windows allows
        'colon: "quote".txt',
    ],
)
def test_reads_a_file_of_any_name(samba: Samba, name: str) -> None:
    _write(samba, name, "the content")
    (crawled,) = _crawl(samba)
    share = _share(samba)
    assert fetched(share, crawled.source) == b"the content"
    share.close()


def test_records_ignored_paths_instead_of_hiding_them(samba: Samba) -> None:
    for name in ("cache/a.txt", "keep/a.tmp", "keep/a.txt"):
        _write(samba, name)
    found = {crawled.source.path: crawled.skip for crawled in _crawl(samba, "*.tmp", "cache/")}
    assert found == {b"cache": SkipReason.IGNORED, b"keep/a.tmp": SkipReason.IGNORED, b"keep/a.txt": None}


def test_tells_an_unchanged_file_from_a_changed_one(samba: Samba) -> None:
    path = _write(samba, "a.txt", "one")
    (first,) = _crawl(samba)
    (again,) = _crawl(samba)
    assert first.source == again.source
    path.write_text("two")  # as long as before; Samba says the time of modification for both times
    (changed,) = _crawl(samba)
    assert not is_same_file(changed.source, first.source)
    shutil.copy2(path, samba.share / "b.txt")
    (samba.share / "b.txt").rename(path)  # another file with the same size and time
    (replaced,) = _crawl(samba)
    assert replaced.source.mtime_ns == changed.source.mtime_ns
    assert not is_same_file(replaced.source, changed.source)


def test_a_file_that_may_not_be_read_has_no_permission(samba: Samba) -> None:
    if os.geteuid() != 0:
        _write(samba, "closed.txt").chmod(0o000)
    else:
        _write(samba, "closed.txt").chmod(0o600)  # root's; the user that signs in is another
    (crawled,) = _crawl(samba)
    share = _share(samba)
    with pytest.raises(ExtractError) as caught:
        fetched(share, crawled.source)
    share.close()
    assert caught.value.reason == FailReason.NO_PERMISSION


def test_a_folder_that_may_not_be_listed_is_named(samba: Samba) -> None:
    _write(samba, "closed/a.txt")
    _write(samba, "open/b.txt")
    (samba.share / "closed").chmod(0o000 if os.geteuid() else 0o700)
    found = {crawled.source.path: crawled.fail for crawled in _crawl(samba)}
    (samba.share / "closed").chmod(0o755)
    assert found == {b"closed": FailReason.NO_PERMISSION, b"open/b.txt": None}


@pytest.mark.parametrize("what", ["replaced", "grown", "gone", "a folder"])
def test_a_file_that_changed_since_it_was_listed_is_not_read(samba: Samba, what: str) -> None:
    path = _write(samba, "a.txt", "one")
    (crawled,) = _crawl(samba)
    if what == "replaced":
        path.write_text("two")
    elif what == "grown":
        path.write_text("one and more")
    else:
        path.unlink()
        if what == "a folder":
            path.mkdir()
    share = _share(samba)
    with pytest.raises(ExtractError) as caught:
        fetched(share, crawled.source)
    share.close()
    assert caught.value.reason == FailReason.CHANGED


def test_a_file_that_changes_while_it_is_read_is_noticed(samba: Samba) -> None:
    path = _write(samba, "a.txt", "one" * 1000)
    (crawled,) = _crawl(samba)
    share = _share(samba)
    with ExitStack() as stack:
        opened = stack.enter_context(share.open(crawled.source))
        opened.read(100)
        path.write_text("two" * 1000)
        with pytest.raises(RefusedError) as caught:
            opened.verify()
    share.close()
    assert caught.value.reason == FailReason.CHANGED


@pytest.mark.slow
def test_reads_a_large_sparse_file_in_pieces(samba: Samba) -> None:
    path = samba.share / "large.img"
    with path.open("wb") as stream:
        stream.truncate(300 * 1024**2)
        stream.seek(200 * 1024**2)
        stream.write(b"in the middle")
    (crawled,) = _crawl(samba)
    share = _share(samba)
    _, held = fetch(crawled.source, share, 512 * 1024**2)
    share.close()
    with os.fdopen(held.descriptor, "rb") as fetched, path.open("rb") as original:
        fetched.seek(0)
        assert (
            hashlib.file_digest(fetched, "sha256").digest()
            == hashlib.file_digest(original, "sha256").digest()
        )


def test_opens_no_file_that_is_too_large(samba: Samba) -> None:
    path = samba.share / "large.img"
    with path.open("wb") as stream:
        stream.truncate(300 * 1024**2)
    (crawled,) = _crawl(samba)
    path.unlink()  # so that opening it would say something else
    share = _share(samba)
    with pytest.raises(ExtractError) as caught:
        fetch(crawled.source, share, 100 * 1024**2)
    share.close()
    assert caught.value.reason == FailReason.TOO_LARGE


def test_does_not_lock_users_out_and_changes_nothing(samba: Samba) -> None:
    path = _write(samba, "a.txt", "one")
    before = path.stat()
    (crawled,) = _crawl(samba)
    share, other = _share(samba), _share(samba)
    with share.open(crawled.source) as opened, other.open(crawled.source) as second:
        assert opened.read(10) == second.read(10) == b"one"
        path.rename(samba.share / "b.txt")  # as a user would
        with (samba.share / "b.txt").open("a") as writer:
            writer.write("more")
    share.close()
    other.close()
    after = (samba.share / "b.txt").stat()
    assert (after.st_ino, after.st_mode, after.st_uid) == (before.st_ino, before.st_mode, before.st_uid)
    assert sorted(p.name for p in samba.share.iterdir()) == ["b.txt"]


def test_names_owner_and_readers(samba: Samba) -> None:
    path = _write(samba, "a.txt")
    path.chmod(0o644)
    (crawled,) = _crawl(samba)
    share = _share(samba)
    with share.open(crawled.source) as opened:
        open_to_all = opened.source
    share.close()
    assert open_to_all.owner == f"uid {path.stat().st_uid}" or open_to_all.owner.startswith("S-1-5-21-")
    assert "everyone" in open_to_all.readers
    assert crawled.source.readers == ()  # asked for what is read, not for what is listed


def test_follows_a_link_of_a_dfs_namespace(samba: Samba) -> None:
    _write(samba, "letters/a.txt", "behind the namespace")
    link = samba.folder / "namespace/research"
    link.unlink(missing_ok=True)
    link.symlink_to("msdfs:127.0.0.1\\share")
    root = f"smb://127.0.0.1:{samba.port}/namespace"
    found = list(crawl(check_roots([root]), NOTHING))
    assert [crawled.source.path for crawled in found] == [b"research/letters/a.txt"]
    share = SmbShare(root.encode(), load_settings(Config()))
    assert fetched(share, found[0].source) == b"behind the namespace"
    share.close()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"PHISCAN_SMB_PASSWORD": "wrong"}, "wrong user name or password"),
        ({"PHISCAN_SMB_USERNAME": "nobody-here", "PHISCAN_SMB_AUTH": "ntlm"}, "wrong user name or password"),
        ({}, "no such folder"),
    ],
)
def test_says_before_it_begins_why_a_root_cannot_be_opened(
    samba: Samba, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], expected: str
) -> None:
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=expected) as caught:
        check_roots([samba.url + "/nowhere"])
    assert PASSWORD not in str(caught.value)
    assert "wrong" in str(caught.value) or PASSWORD not in repr(caught.value)


def test_reads_the_password_from_a_private_file(
    samba: Samba, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PHISCAN_SMB_PASSWORD")
    monkeypatch.delenv("PHISCAN_SMB_USERNAME")
    path = tmp_path / "shares.toml"
    path.write_text(f'["smb://127.0.0.1:{samba.port}"]\nusername = "{samba.user}"\npassword = "{PASSWORD}"\n')
    path.chmod(0o600)
    monkeypatch.setenv("PHISCAN_SHARES_CREDENTIALS_FILE", str(path))
    _write(samba, "a.txt")
    assert [crawled.source.path for crawled in _crawl(samba)] == [b"a.txt"]


def test_a_server_that_goes_away_costs_the_folders_not_yet_listed(samba: Samba) -> None:
    for number in range(12):
        _write(samba, f"{number:02d}/a.txt")
    listing = crawl(check_roots([samba.url]), NOTHING)
    first = next(listing)
    samba.kill()
    rest = list(listing)
    assert first.source.path == b"00/a.txt"
    assert first.fail is None
    # The first folders were asked for ahead, by threads of their own: any of them may have been answered or
    # not, in any order. What was not asked for by then can have no answer.
    assert [crawled.source.path.partition(b"/")[0] for crawled in rest] == [b"%02d" % n for n in range(1, 12)]
    assert {crawled.source.path for crawled in rest if crawled.fail} >= {
        b"%02d" % n for n in range(AHEAD, 12)
    }
    assert {crawled.fail for crawled in rest} <= {None, FailReason.IO_ERROR}
    assert all(crawled.source.path.endswith(b"/a.txt") for crawled in rest if not crawled.fail)


def test_a_server_that_comes_back_is_read_from_where_it_broke_off(samba: Samba) -> None:
    _write(samba, "a.txt", "".join(f"{number:07d}\n" for number in range(500_000)))  # 4 MB
    (crawled,) = _crawl(samba)
    share = _share(samba)
    opened_at = []
    really_open = share.open

    class Breaking:
        """Restarts the server after the first piece."""

        retry_policy = share.retry_policy

        @staticmethod
        @contextmanager
        def open(source: SourceFile, offset: int = 0) -> Iterator[object]:
            opened_at.append(offset)
            with really_open(source, offset) as opened:
                yield opened if offset else _BrokenAfterOne(opened, samba)

    data = fetched(Breaking, crawled.source)  # type: ignore[arg-type]
    share.close()
    assert opened_at[0] == 0
    assert opened_at[-1] > 0
    assert data == (samba.share / "a.txt").read_bytes()


class _BrokenAfterOne:
    """An open file whose server is restarted after the first piece was read."""

    def __init__(self, opened: OpenFile, samba: Samba) -> None:
        self._opened = opened
        self._samba = samba
        self.n_bytes = opened.n_bytes

    def read(self, n_bytes: int) -> bytes:
        data = self._opened.read(n_bytes)
        self._samba.kill()
        self._samba.start()
        return data


def test_a_server_that_falls_silent_is_hung_up_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections and never says a word
        settings = SharesTable(attempts=1, timeout_s=1.0, smb_username="x")
        share = SmbShare(b"smb://127.0.0.1:%d/share" % mute.getsockname()[1], settings)
        with (
            pytest.raises(UnansweredError) as caught,
            share.open(SourceFile(share.root, b"a", 1, 0, 0, 0, 0)),
        ):
            pass
        share.close()
    assert caught.value.is_gone
