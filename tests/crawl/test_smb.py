"""What is peculiar to SMB, against a real Samba server on loopback."""

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.config import AccessTable, Config
from phiscan.crawl import is_same_file
from phiscan.crawl.directory import Entry, directory_of
from phiscan.crawl.settings import load_settings
from phiscan.crawl.smb import SmbShare
from phiscan.errors import ExtractError
from phiscan.model import FailReason
from phiscan.pipeline.reader_counts import effective_access
from phiscan.pipeline.workers.delivery import fetch
from phiscan.store.identity import create_key, load_key
from tests.crawl.fetched import access_of, content_of, described, found_at, opened_share, posix_acl
from tests.samba import PASSWORD
from tests.servers.process import Server

NOW = datetime(2026, 11, 29, tzinfo=UTC)
WARD, NO_NUMBER = 6001, 2**32 - 1


# Samba gives the last two a name that Windows allows.
@pytest.mark.parametrize("name", ["trailing dot and space . .txt", "new\nline.txt", 'colon: "quote".txt'])
def test_reads_a_file_whose_name_windows_does_not_allow(samba: Server, name: str) -> None:
    samba.write(name, "the content")
    (crawled,) = found_at(samba.url)
    assert content_of(crawled.source) == b"the content"


def test_tells_another_file_of_the_same_size_and_time(samba: Server) -> None:
    path = samba.write("a.txt", "one")
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
    assert content_of(crawled.source) == path.read_bytes()


def test_opens_no_file_that_is_too_large(samba: Server) -> None:
    path = samba.share / "large.img"
    with path.open("wb") as stream:
        stream.truncate(300 * 1024**2)
    (crawled,) = found_at(samba.url)
    path.unlink()  # so that opening it would say something else
    with opened_share(samba.url) as share, pytest.raises(ExtractError, match=FailReason.TOO_LARGE):
        fetch(crawled.source, share, 100 * 1024**2)


def test_does_not_lock_users_out_and_changes_nothing(samba: Server) -> None:
    path = samba.write("a.txt", "one")
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
    path = samba.write("a.txt")
    path.chmod(0o644)
    (crawled,) = found_at(samba.url)
    owner, readers = access_of(crawled.source)
    assert owner == f"uid {path.stat().st_uid}" or owner.startswith("S-1-5-21-")
    assert "everyone" in readers
    assert crawled.source.readers == ()  # asked for what is read, not for what is listed


def test_follows_a_link_of_a_dfs_namespace(samba: Server) -> None:
    samba.write("letters/a.txt", "behind the namespace")
    link = samba.folder / "namespace/research"
    link.unlink(missing_ok=True)
    link.symlink_to("msdfs:127.0.0.1\\share")
    root = f"smb://127.0.0.1:{samba.port}/namespace"
    found = found_at(root)
    assert [crawled.source.path for crawled in found] == [b"research/letters/a.txt"]
    assert content_of(found[0].source) == b"behind the namespace"


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
    samba.write("a.txt")
    assert [crawled.source.path for crawled in found_at(samba.url)] == [b"a.txt"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_folders_and_permission_of_a_share_bind_together(samba: Server, tmp_path: Path) -> None:
    for name in ("ward/a.txt", "closed/b.txt"):
        samba.write(name)
    (samba.share / "closed").chmod(0o700)
    # The user who signs in, and a group, may enter the folder; everybody may read the file in it.
    rights = ((1, 7, NO_NUMBER), (2, 5, 1), (4, 0, NO_NUMBER), (8, 5, WARD), (16, 5, NO_NUMBER))
    packed = posix_acl(*rights, (32, 0, NO_NUMBER))
    os.setxattr(samba.share / "ward", "system.posix_acl_access", packed)

    crawled = next(one.source for one in found_at(samba.url) if one.source.path == b"ward/a.txt")
    share = SmbShare(samba.url.encode(), load_settings(Config()))
    source = described(share, crawled)
    assert "everyone" in source.readers
    assert "everyone" in share.who_may_enter(b"")
    entering = share.who_may_enter(b"ward")
    share.close()
    assert "everyone" not in entering
    assert f"group gid {WARD}" in entering

    people = [Entry((f"user person{number}",)) for number in range(10)]
    members = ("user person2", "user person3")
    ward = Entry(("group ward", f"group gid {WARD}"), is_group=True, members=members)
    signed_in = Entry(tuple(one for one in entering if one.startswith("account ")))
    config = Config(home=tmp_path)
    create_key(config.key_file)
    directory = directory_of([*people, signed_in, ward], load_key(config.key_file), NOW)
    closed = replace(source, path=b"closed/b.txt")
    for traverse, admitted, asked, expected in (
        ("checked", "everyone", source, (3, 3, set())),
        ("unknown", "everyone", source, (3, 11, {"parents"})),
        ("bypassed", "everyone", source, (11, 11, set())),
        ("unknown", "group ward", source, (2, 2, set())),
        ("checked", "everyone", closed, (0, 11, {"parents"})),  # nothing is said of that folder
    ):
        settings = AccessTable({samba.url: (admitted,)}, smb_traverse=traverse)
        with effective_access(replace(config, access=settings), directory) as access:
            reach = access.reach(asked)
        assert (reach.low, reach.high, reach.notes) == expected
