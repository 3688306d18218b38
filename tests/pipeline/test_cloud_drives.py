"""Scans of cloud drives, from the listing to the queue, against servers on loopback."""

import sqlite3
from pathlib import Path

import pytest

from tests.pipeline.harness import ToolHere, write_share
from tests.servers.cloud import CloudServer
from tests.servers.google_drive import GoogleDrive
from tests.servers.microsoft365 import Microsoft365

pytestmark = pytest.mark.slow
USER = "ann@contoso.com"


@pytest.mark.parametrize("service", [Microsoft365, GoogleDrive])
def test_a_cloud_drive_is_scanned_as_a_folder_is(
    tool_here: ToolHere, tmp_path: Path, service: type[CloudServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "share"
    folder.mkdir()
    write_share(folder, 30)
    (tmp_path / "server").mkdir()
    with service(tmp_path / "server").running() as server:
        drive, root = server.add_user(USER), f"{server.users_root}/{USER}"
        items = {
            path: drive.add(str(path.relative_to(folder)), path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        drive.share(next(iter(items.values())), server.public)
        for name, value in server.environment(tmp_path / "server").items():
            monkeypatch.setenv(name, value)
        there = tool_here.scan_like_a_folder(root, folder, server.secret)
        assert there["screened"] == 30
        path, item = next(iter(items.items()))
        drive.replace(item, path.read_bytes().replace(b"diabetes", b"diabetez"))
        requests = len(server.requests)
        second = tool_here.scan(root, hidden=server.secret)
        assert (second["screened"], second["unchanged"]) == (1, 29)
        assert len(server.requests) - requests < 15
        with sqlite3.connect(tool_here.database) as connection:
            owners = connection.execute("SELECT count(*) FROM access WHERE owner = ?", (USER,)).fetchone()
            readers = connection.execute("SELECT * FROM access").fetchall()
        assert owners == (31,)
        assert "everyone" in str(readers)
        assert not tool_here.has_written(server.secret)
