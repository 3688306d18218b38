"""Cost of owners and readers, speed-up by fetching several files at a time, listings beside other programs.

    pytest -m bench -s benchmarks/bench_shares.py

Times are of the machine it runs on; read the ratios, both sides of which are measured in the same run.
"""

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import IgnoreRules, check_roots, crawl
from phiscan.crawl.posix_access import with_access
from phiscan.crawl.settings import load_settings
from phiscan.crawl.smb import SmbShare
from phiscan.model import SourceFile
from phiscan.pipeline.workers.delivery import fetch
from tests.needs import needs
from tests.samba import running_samba
from tests.servers.apache import running_apache
from tests.servers.process import Server
from tests.servers.sshd import PASSWORD, USER, running_sshd

pytestmark = pytest.mark.bench
NOTHING = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
N_FILES = 20_000
N_REMOTE = 240
N_LISTED = 100_000
N_ROUNDS = 3
ONE_WAY_S = 0.005


def test_owner_and_readers_cost_little(tmp_path: Path) -> None:
    for number in range(N_FILES):
        path = tmp_path / f"{number % 100:02d}/{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    times: dict[str, list[float]] = {"crawl": [], "owner and readers": []}
    for _ in range(3):
        began = time.perf_counter()
        found = [crawled.source for crawled in crawl([os.fsencode(tmp_path)], NOTHING)]
        times["crawl"].append(time.perf_counter() - began)
        began = time.perf_counter()
        for source in found:
            with_access(source)
        times["owner and readers"].append(time.perf_counter() - began)
    print("\n| for each file | microseconds | of the crawl |\n| --- | --- | --- |")
    for name, taken in times.items():
        print(f"| {name} | {min(taken) / N_FILES * 1e6:.1f} | {min(taken) / min(times['crawl']):.2f} |")


@contextmanager
def _slow_line(port: int) -> Iterator[int]:
    """Pass connections on to a port, each piece later by ``ONE_WAY_S``."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    ports: list[int] = []

    async def later(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            loop.call_later(ONE_WAY_S, writer.write, data)
        loop.call_later(ONE_WAY_S, writer.close)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(later(reader, back), later(there, writer))

    async def serve() -> None:
        server = await asyncio.start_server(connect, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()

    def run() -> None:
        loop.create_task(serve())  # noqa: RUF006 (the loop runs until the end)
        loop.run_forever()

    threading.Thread(target=run, daemon=True).start()
    ready.wait(10)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)


def _fetch_all(port: int, sources: list[SourceFile], n_connections: int) -> float:
    share = SmbShare(b"smb://127.0.0.1:%d/share" % port, load_settings(Config()))

    def bring(source: SourceFile) -> None:
        _, held = fetch(replace(source, root=share.root), share, 2**30)
        held.close()

    with ThreadPoolExecutor(n_connections) as pool:
        list(pool.map(bring, sources[:n_connections]))  # signs in
        began = time.perf_counter()
        list(pool.map(bring, sources))
        taken = time.perf_counter() - began
    share.close()
    return taken


def test_fetching_several_at_a_time_hides_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_samba() as samba:
        for name, value in samba.environment.items():
            monkeypatch.setenv(name, value)
        for number in range(N_REMOTE):
            (samba.share / f"{number:04d}").write_bytes(os.urandom(20_000))
        sources = [crawled.source for crawled in crawl(check_roots([samba.url]), NOTHING)]
        print(f"\n{N_REMOTE} files of 20 kB; files per second\n")
        print("| line | 1 at a time | 4 | 8 | 16 |\n| --- | --- | --- | --- | --- |")
        for name, slow in (("loopback", False), (f"{2000 * ONE_WAY_S:.0f} ms there and back", True)):
            rates = []
            for n_connections in (1, 4, 8, 16):
                if slow:
                    with _slow_line(samba.port) as port:
                        taken = _fetch_all(port, sources, n_connections)
                else:
                    taken = _fetch_all(samba.port, sources, n_connections)
                rates.append(f"{N_REMOTE / taken:.0f}")
            print(f"| {name} | {' | '.join(rates)} |")


def write_tree(folder: Path) -> None:
    """Write small files, a hundred in each folder, a hundred folders in each of those above."""
    for number in range(N_LISTED):
        path = folder / f"{number // 10_000}/{number // 100 % 100:02d}/letter {number % 100:02d}.txt"
        if number % 100 == 0:
            path.parent.mkdir(parents=True)
        path.write_bytes(b"abc")


def compare_listings(url: str, *commands: list[str]) -> None:
    """Print how long phiscan lists a URL, twice in each round, beside commands that list the same in it."""
    roots = check_roots([url])
    times: dict[str, list[float]] = {}
    for _ in range(N_ROUNDS):
        for name in ("phiscan", "phiscan again"):
            began = time.perf_counter()
            n_listed = sum(crawled.fail is None for crawled in crawl(roots, NOTHING))
            times.setdefault(name, []).append(time.perf_counter() - began)
            assert n_listed == N_LISTED
        for command in commands:
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times.setdefault(" ".join(command[:2]), []).append(time.perf_counter() - began)
    scheme = url.partition(":")[0]
    print(f"\n| {scheme}, {N_LISTED:,} files | seconds, median of {N_ROUNDS} | range |")
    print("| --- | --- | --- |")
    for name, taken in times.items():
        print(f"| {name} | {sorted(taken)[N_ROUNDS // 2]:.2f} | {min(taken):.2f} to {max(taken):.2f} |")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("server", [running_sshd, running_apache, running_samba])
def test_lists_beside_rclone(
    server: Callable[[], AbstractContextManager[Server]], monkeypatch: pytest.MonkeyPatch
) -> None:
    rclone = needs("rclone")["rclone"]
    with server() as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("RCLONE_CONFIG", os.devnull)
        hidden = subprocess.run([rclone, "obscure", PASSWORD], check=True, capture_output=True, text=True)
        login = f"user={USER},pass={hidden.stdout.strip()}"
        names = running.environment
        remote = {
            "smb": f":smb,host=127.0.0.1,port={running.port},user={names.get('PHISCAN_SMB_USERNAME')},"
            f"pass={hidden.stdout.strip()}:share",
            "sftp": f":sftp,host=127.0.0.1,port={running.port},{login}:{running.share}",
            "dav": f":webdav,url='http://127.0.0.1:{running.port}/dav',{login}:",
        }[running.url.partition(":")[0]]
        write_tree(running.share)
        compare_listings(
            running.url, ["rclone", "lsf", "-R", "--format", "pst", remote], ["rclone", "size", remote]
        )
