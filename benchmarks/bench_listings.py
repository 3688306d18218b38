"""Listing 100,000 items of Microsoft 365 and Google Drive beside a plain loop over the same pages.

    pytest -m bench -s benchmarks/bench_listings.py

The servers are those of the tests, on loopback in a process of their own; each answer comes later,
as over a line to the services. Read the ratios, both sides of which are measured in the same run.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import IgnoreRules
from phiscan.crawl.google_drive import FIELDS
from phiscan.crawl.microsoft365 import DRIVE_ITEM
from phiscan.crawl.settings import load_settings
from phiscan.crawl.shares import open_remote

pytestmark = pytest.mark.bench
N_ITEMS = 100_000
DELAY_S = 0.05
NOTHING = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
USER = "ann@contoso.com"
SERVER = """
import json, sys, time
from pathlib import Path
from tests.servers.google_drive import GoogleDrive
from tests.servers.microsoft365 import Microsoft365

kind, n_items, delay_s, folder = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
server = (Microsoft365 if kind == "m365" else GoogleDrive)()
if kind == "m365":
    server.add_user("Ann", "ann@contoso.com").drive.fill(n_items)
    key_file = ""
else:
    server.add_user("ann@contoso.com").fill(n_items)
    key_file = str(server.key_file(folder))
handle = server.handle

def slower(request):
    time.sleep(delay_s)
    return handle(request)

server.handle = slower
with server.running():
    print(json.dumps({"url": server.url, "key_file": key_file}), flush=True)
    sys.stdin.read()
"""


@contextmanager
def _running(kind: str, delay_s: float, folder: Path) -> Iterator[dict[str, str]]:
    command = [sys.executable, "-c", SERVER, kind, str(N_ITEMS), str(delay_s), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())
        assert server.stdin is not None
        server.stdin.close()


def _plain(share: Any) -> tuple[float, int]:
    """Return the seconds that a loop over all pages takes, and the number of items in them."""
    began, n_items = time.perf_counter(), 0
    if share.root.startswith(b"m365"):
        headers = share._graph._client._authorization.headers(renew=False)
        url = f"{share._graph._base}/users/{USER}/drive/root/delta?$select={DRIVE_ITEM}"
        top, following = "value", "@odata.nextLink"
    else:
        headers = share._client(USER)._authorization.headers(renew=False)
        url = f"{share._base}/files?pageSize=1000&corpora=user&fields=nextPageToken,files({FIELDS})"
        top, following = "files", "nextPageToken"
    with httpx2.Client(headers=headers, timeout=60) as client:
        link = url
        while link:
            page = client.get(link).json()
            n_items += len(page[top])
            link = page.get(following, "")
            if link and top == "files":
                link = f"{url}&pageToken={link}"
    return time.perf_counter() - began, n_items


def _listed(root: str) -> tuple[float, int]:
    share = open_remote(root.encode(), load_settings(Config()))
    began = time.perf_counter()
    n_files = sum(crawled.fail is None for crawled in share.crawl(NOTHING, set()))
    return time.perf_counter() - began, n_files


@pytest.mark.parametrize("kind", ["m365", "gdrive"])
def test_listing_beside_a_plain_loop(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.servers.microsoft_identity import APPLICATION, SECRET, TENANT  # noqa: PLC0415

    root = f"m365://{TENANT}/drives/{USER}" if kind == "m365" else f"gdrive://user/{USER}"
    print(f"\n{N_ITEMS} files of {kind}, seconds\n")
    print("| each answer later by | plain loop | first listing | ratio | rescan | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    with _running(kind, DELAY_S, tmp_path) as server:
        values = {"USERNAME": APPLICATION, "PASSWORD": SECRET} if kind == "m365" else {}
        values |= {"ENDPOINT": server["url"], "KEY_FILE": server["key_file"]}
        for name, value in values.items():
            monkeypatch.setenv(f"PHISCAN_{kind.upper()}_{name}", value)
        monkeypatch.setenv("PHISCAN_SHARES_LISTINGS", str(tmp_path / "listings"))
        plain, _ = _plain(open_remote(root.encode(), load_settings(Config())))
        first, n_first = _listed(root)
        again, n_again = _listed(root)
        assert n_first == n_again == N_ITEMS
    print(
        f"| {DELAY_S * 1000:.0f} ms | {plain:.1f} | {first:.1f} | {first / plain:.2f} | {again:.1f} "
        f"| {again / plain:.2f} |"
    )
