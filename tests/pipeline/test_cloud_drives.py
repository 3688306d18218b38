"""Scans of cloud drives, from the listing to the queue, against servers on loopback."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.harness import Tool, write_share
from tests.servers.google_drive import GoogleDrive
from tests.servers.google_drive_files import permission
from tests.servers.microsoft365 import Microsoft365
from tests.servers.microsoft365_drives import link
from tests.servers.microsoft_identity import APPLICATION, SECRET, TENANT

pytestmark = pytest.mark.slow
USER = "ann@contoso.com"


@contextmanager
def _microsoft365(folder: Path) -> Iterator[tuple[Any, Any, Any, str, dict[str, str], str]]:
    with Microsoft365(folder).running() as server:
        drive = server.add_user("Ann", USER).drive
        values = {
            "USERNAME": APPLICATION,
            "PASSWORD": SECRET,
            "ENDPOINT": server.url,
            "CA_FILE": server.ca_file,
        }
        variables = {f"PHISCAN_M365_{name}": value for name, value in values.items()}
        yield server, drive, link("anonymous"), f"m365://{TENANT}/drives/{USER}", variables, SECRET


@contextmanager
def _google_drive(folder: Path) -> Iterator[tuple[Any, Any, Any, str, dict[str, str], str]]:
    with GoogleDrive(folder).running() as server:
        drive = server.add_user(USER)
        key_file = server.key_file(folder)
        secret = json.loads(key_file.read_text())["private_key"].splitlines()[3]
        values = {"KEY_FILE": str(key_file), "ENDPOINT": server.url, "CA_FILE": server.ca_file}
        variables = {f"PHISCAN_GDRIVE_{name}": value for name, value in values.items()}
        yield server, drive, permission("anyone"), f"gdrive://user/{USER}", variables, secret


@pytest.mark.parametrize("running", [_microsoft365, _google_drive])
def test_a_cloud_drive_is_scanned_as_a_folder_is(
    tool: Tool, tmp_path: Path, running: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "share"
    folder.mkdir()
    write_share(folder, 30)
    (tmp_path / "server").mkdir()
    with running(tmp_path / "server") as (server, drive, public, root, variables, secret):
        items = {
            path: drive.add(str(path.relative_to(folder)), path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        drive.share(next(iter(items.values())), public)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

        def scan(of: Tool, what: str) -> dict[str, Any]:
            done = of.run("scan", what, "--json", "--exit-zero")
            assert done.returncode == 0, done.stderr
            assert secret not in done.stdout + done.stderr
            summary: dict[str, Any] = json.loads(done.stdout)
            return summary

        there, here = scan(tool, root), scan(Tool(tool.home.parent / "local"), str(folder))
        same = ("crawled", "screened", "referred", "screened_positive", "bytes", "people_at_risk", "failed")
        assert {name: there[name] for name in same} == {name: here[name] for name in same}
        assert there["screened"] == 30
        path, item = next(iter(items.items()))
        drive.replace(item, path.read_bytes().replace(b"diabetes", b"diabetez"))
        requests = len(server.requests)
        second = scan(tool, root)
        assert (second["screened"], second["unchanged"]) == (1, 29)
        assert len(server.requests) - requests < 15
        with sqlite3.connect(tool.database) as connection:
            owners = connection.execute("SELECT count(*) FROM access WHERE owner = ?", (USER,)).fetchone()
            readers = connection.execute("SELECT * FROM access").fetchall()
        assert owners == (31,)
        assert "everyone" in str(readers)
        for written in [*tool.home.rglob("*"), *tool.temp.rglob("*")]:
            if written.is_file():
                assert secret.encode() not in written.read_bytes()
