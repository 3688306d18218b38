"""Who can read a file of a real Samba share: the rights of its folders are asked of the server."""

import os
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.config import AccessTable, Config
from phiscan.crawl.directory import Entry, directory_of
from phiscan.crawl.settings import load_settings
from phiscan.crawl.smb.share import SmbShare
from phiscan.pipeline.reader_counts import effective_access
from phiscan.store.identity import create_key, load_key
from tests.crawl.fetched import described, found_at
from tests.samba import running_samba
from tests.servers.process import Server

NOW = datetime(2026, 11, 29, tzinfo=UTC)
WARD = 6001
NO_NUMBER = 2**32 - 1


@pytest.fixture
def samba(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with running_samba() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_folders_and_permission_of_a_share_bind_together(samba: Server, tmp_path: Path) -> None:
    for name in ("ward/a.txt", "closed/b.txt"):
        path = samba.share / name
        path.parent.mkdir()
        path.write_text("x")
    (samba.share / "closed").chmod(0o700)
    # The user who signs in, and a group, may enter the folder; everybody may read the file in it.
    rights = (
        (1, 7, NO_NUMBER),
        (2, 5, 1),
        (4, 0, NO_NUMBER),
        (8, 5, WARD),
        (16, 5, NO_NUMBER),
        (32, 0, NO_NUMBER),
    )
    packed = b"".join(struct.pack("<HHI", *one) for one in rights)
    os.setxattr(samba.share / "ward", "system.posix_acl_access", struct.pack("<I", 2) + packed)

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
