"""What is peculiar to SMB, against a real Samba server on loopback."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from phiscan.crawl import is_same_file
from phiscan.errors import ExtractError
from phiscan.model import FailReason
from phiscan.pipeline.workers.delivery import fetch
from tests.crawl.fetched import described, fetched, found_at, opened_share
from tests.samba import PASSWORD, running_samba
from tests.servers.process import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_samba() as samba:
        yield samba


@pytest.fixture
def samba(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return the server, running, with an empty share, and the environment that signs in."""
    for entry in server.share.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if server.process is None:
        server.start()
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server


def _write(samba: Server, name: str, text: str = "x") -> Path:
    path = samba.share / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# Samba gives the last two a name that Windows allows.
@pytest.mark.parametrize("name", ["trailing dot and space . .txt", "new\nline.txt", 'colon: "quote".txt'])
def test_reads_a_file_whose_name_windows_does_not_allow(samba: Server, name: str) -> None:
    _write(samba, name, "the content")
    (crawled,) = found_at(samba.url)
    with opened_share(samba.url) as share:
        assert fetched(share, crawled.source) == b"the content"


def test_tells_another_file_of_the_same_size_and_time(samba: Server) -> None:
    path = _write(samba, "a.txt", "one")
    (first,) = found_at(samba.url)
    shutil.copy2(path, samba.share / "b.txt")
    (samba.share / "b.txt").rename(path)
    (replaced,) = found_at(samba.url)
    assert replaced.source.mtime_ns == first.source.mtime_ns
    assert not is_same_file(replaced.source, first.source)


@pytest.mark.slow
def test_reads_a_large_sparse_file_in_pieces(samba: Server) -> None:
    path = samba.share / "large.img"
    with path.open("wb") as stream:
        stream.truncate(300 * 1024**2)
        stream.seek(200 * 1024**2)
        stream.write(b"in the middle")
    (crawled,) = found_at(samba.url)
    with opened_share(samba.url) as share:
        assert fetched(share, crawled.source) == path.read_bytes()


def test_opens_no_file_that_is_too_large(samba: Server) -> None:
    path = samba.share / "large.img"
    with path.open("wb") as stream:
        stream.truncate(300 * 1024**2)
    (crawled,) = found_at(samba.url)
    path.unlink()  # so that opening it would say something else
    with opened_share(samba.url) as share, pytest.raises(ExtractError) as caught:
        fetch(crawled.source, share, 100 * 1024**2)
    assert caught.value.reason == FailReason.TOO_LARGE


def test_does_not_lock_users_out_and_changes_nothing(samba: Server) -> None:
    path = _write(samba, "a.txt", "one")
    before = path.stat()
    (crawled,) = found_at(samba.url)
    with (
        opened_share(samba.url) as share,
        opened_share(samba.url) as other,
        share.open(crawled.source) as opened,
        other.open(crawled.source) as second,
    ):
        assert opened.read(10) == second.read(10) == b"one"
        path.rename(samba.share / "b.txt")  # as a user would
        with (samba.share / "b.txt").open("a") as writer:
            writer.write("more")
    after = (samba.share / "b.txt").stat()
    assert (after.st_ino, after.st_mode, after.st_uid) == (before.st_ino, before.st_mode, before.st_uid)
    assert sorted(p.name for p in samba.share.iterdir()) == ["b.txt"]


def test_names_owner_and_readers(samba: Server) -> None:
    path = _write(samba, "a.txt")
    path.chmod(0o644)
    (crawled,) = found_at(samba.url)
    with opened_share(samba.url) as share:
        open_to_all = described(share, crawled.source)
    assert open_to_all.owner == f"uid {path.stat().st_uid}" or open_to_all.owner.startswith("S-1-5-21-")
    assert "everyone" in open_to_all.readers
    assert crawled.source.readers == ()  # asked for what is read, not for what is listed


def test_follows_a_link_of_a_dfs_namespace(samba: Server) -> None:
    _write(samba, "letters/a.txt", "behind the namespace")
    link = samba.folder / "namespace/research"
    link.unlink(missing_ok=True)
    link.symlink_to("msdfs:127.0.0.1\\share")
    root = f"smb://127.0.0.1:{samba.port}/namespace"
    found = found_at(root)
    assert [crawled.source.path for crawled in found] == [b"research/letters/a.txt"]
    with opened_share(root) as share:
        assert fetched(share, found[0].source) == b"behind the namespace"


def test_reads_the_password_from_a_private_file(
    samba: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PHISCAN_SMB_PASSWORD")
    monkeypatch.delenv("PHISCAN_SMB_USERNAME")
    user = samba.environment["PHISCAN_SMB_USERNAME"]
    path = tmp_path / "shares.toml"
    path.write_text(f'["smb://127.0.0.1:{samba.port}"]\nusername = "{user}"\npassword = "{PASSWORD}"\n')
    path.chmod(0o600)
    monkeypatch.setenv("PHISCAN_SHARES_CREDENTIALS_FILE", str(path))
    _write(samba, "a.txt")
    assert [crawled.source.path for crawled in found_at(samba.url)] == [b"a.txt"]
