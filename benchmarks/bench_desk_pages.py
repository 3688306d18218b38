"""Latency of the desk's list and items with 200,000 items, including masked prose.

A home with 200,000 recorded items and a scanned share of real files of less than 1 MB: the sample corpus,
form letters, long notes, tables of 4,000 rows. The application of `phiscan serve` runs in a process of its
own. Printed are p50 and p99 of what a browser waits for: the list, an item whose passages are read again for
the page, the same item once more, an item anywhere in the list, a folder, a revealed part of a table.
"""

import contextlib
import multiprocessing
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import httpx
import pytest
import uvicorn

from benchmarks.bench_desk import N_ITEMS, NOW, PASSWORD, Times, build, cpu_of, print_times
from phiscan.config import Config
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.store import Store
from phiscan.review.worklist.model import FileRecord, WorkFilter
from phiscan.web.app import create_app
from phiscan.web.request_context import Settings
from phiscan.web.routes.reveal import is_quick
from tests.browser.share import make_share
from tests.browser.test_keys_per_decision import LETTER
from tests.review.results import url_of

BUILT = os.environ.get("PHISCAN_BENCH_FOLDER", "")  # where home and share are kept for the next run
N_LETTERS, N_NOTES, N_TABLES = 100, 6, 3
N_ROWS = 4_000
N_LIST = int(os.environ.get("PHISCAN_BENCH_RUNS", "100"))
FIRST = ["Torvald", "Quenna", "Ommery", "Bristil", "Zanthe", "Maria", "John", "Ann", "Lucas", "Chidi"]
LAST = ["Karrowick", "Ostriba", "Vandelune", "Jellicorn", "Roy", "Okafor", "Chen", "Tremblay"]
DIAGNOSES = ("type 2 diabetes", "asthma", "hypertension", "chest pain", "breast cancer", "depression")
NOTE = "On {day} {name} was seen with {diagnosis}; the health card is {card}. The plan was discussed.\n"


def values(number: int) -> dict[str, str]:
    lot = random.Random(number)
    return {
        "first": (first := lot.choice(FIRST)),
        "last": (last := lot.choice(LAST)),
        "name": f"{first} {last}",
        "born": f"19{lot.randint(30, 99)}-{lot.randint(1, 12):02}-{lot.randint(1, 28):02}",
        "card": f"{lot.randint(1000, 9999)}-{lot.randint(100, 999)}-{lot.randint(100, 999)}",
        "day": f"2026-0{lot.randint(1, 9)}-{lot.randint(1, 28):02}",
        "diagnosis": lot.choice(DIAGNOSES),
        "clinic": f"Lakeside Clinic {number}",
    }


def write_files(share: Path) -> None:
    make_share(share)
    letters, notes, tables = (share / name for name in ("letters", "notes", "tables"))
    for folder in (letters, notes, tables):
        folder.mkdir()
    for number in range(N_LETTERS):
        (letters / f"letter {number:03}.txt").write_text(LETTER.format(**values(number)))
    for number in range(N_NOTES):
        lines = [NOTE.format(**values(1000 * number + line)) for line in range(9_000)]
        (notes / f"note {number}.txt").write_text("".join(lines)[:900_000])
    for number in range(N_TABLES):
        rows = ["First name,Last name,Date of birth,Health card,Diagnosis,Visit"]
        for row in range(N_ROWS):
            one = values(10_000 * number + row)
            rows.append(",".join(one[key] for key in ("first", "last", "born", "card", "diagnosis", "day")))
        (tables / f"table {number}.csv").write_text("\n".join(rows))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home whose database holds the recorded items and the scanned files."""
    folder = Path(BUILT) if BUILT else tmp_path_factory.mktemp("desk")
    made, share = folder / "home", folder / "share"
    if share.exists():
        return made
    environ = {**os.environ, "PHISCAN_HOME": str(made), "PYTHONPATH": str(Path.cwd())}
    phiscan = [sys.executable, "-m", "phiscan"]
    subprocess.run([*phiscan, "init", str(made)], env=environ, check=True)
    with Store.open(url_of(made / "phiscan.db"), create=True) as store:
        print(f"\n{N_ITEMS:,} items recorded in {build(store):.0f} s")
    write_files(share)
    subprocess.run([*phiscan, "scan", str(share), "--exit-zero"], env=environ, check=True)
    return made


def serve(home: Path, port: int) -> None:
    with Store.open(url_of(home / "phiscan.db")) as store:
        app = create_app(store, Config(home=home), Settings(prepares=True))
        uvicorn.run(app, port=port, log_level="warning", access_log=False)


@contextlib.contextmanager
def running(home: Path) -> Iterator[tuple[str, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(home, port))
    server.start()
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                httpx.get(f"{url}/sign-in", timeout=60, trust_env=False)
                break
            except httpx.ConnectError:
                assert server.is_alive()
                time.sleep(0.1)
        yield url, server.pid or 0
    finally:
        server.terminate()
        server.join()


def measured(what: str, requests: Sequence[Callable[[], httpx.Response]], server: int) -> None:
    """Print what a browser waited for, and the processor time of the server, whatever else is running."""
    seconds = Times()
    before = cpu_of(server)
    for ask in requests:
        started = time.perf_counter()
        answer = ask()
        seconds.append(time.perf_counter() - started)
        assert answer.status_code == 200, answer.text[:200]
    seconds.cpu = cpu_of(server) - before
    print_times(f"{what} ({len(seconds)})", seconds)


@pytest.mark.bench
def test_bench_pages_of_the_desk(home: Path) -> None:
    with Store.open(url_of(home / "phiscan.db")) as store, running(home) as (url, server):
        name = f"bench {os.getpid()}"
        store.users.add(name=name, role=Role.LEAD, password=PASSWORD, by="bench", now=NOW)
        share = str(home.parent / "share")
        root = next(number for number, path, _ in store.desk.choices().roots if path == share)
        real = items_of(store, WorkFilter(root_id=root), name)
        quick = [one for one in real if is_quick(store.desk.detail(one.file_id, viewer=name, now=NOW))]
        top = items_of(store, WorkFilter(), name)[:N_LIST]
        own = {"sec-fetch-site": "same-origin"}
        with httpx.Client(base_url=url, headers=own, timeout=60, trust_env=False) as browser:
            assert browser.post("/sign-in", data={"name": name, "password": PASSWORD}).status_code == 303
            wait_until_ready(browser, quick[0])
            print(
                f"\n{N_ITEMS + len(real):,} items, {len(quick)} of them real files read again for their page"
            )
            print("\n| page | p50 ms | p99 ms | server CPU ms |\n| --- | ---: | ---: | ---: |")

            measure = partial(measured, server=server)

            def pages(addresses: Sequence[str]) -> list[Callable[[], httpx.Response]]:
                return [lambda address=address: browser.get(address) for address in addresses]  # type: ignore[misc]

            measure("list", pages(["/queue"] * N_LIST))
            measure("list, one folder of 97", pages(["/queue?root=1&folder=unit+42"] * (N_LIST // 2)))
            shown = [f"/items/{one.file_id}?prose=1" for one in quick[1:]]
            measure("item, passages read again", pages(shown))
            measure("item, passages in memory", pages(shown))
            slow = [one for one in real if one not in quick and "notes/" in one.path]
            fetched = pages([f"/items/{one.file_id}/passages" for one in slow])
            measure("passages of a file of 5,000 findings, fetched after its page", fetched)
            measure("item at the top of the list", pages([f"/items/{one.file_id}" for one in top]))
            lot = random.Random(7)
            anywhere = [f"/items/{lot.randrange(1, N_ITEMS)}" for _ in range(N_LIST)]
            measure("item anywhere in the list", pages(anywhere))
            inside = [f"/items/{one.file_id}?root={root}&folder=letters" for one in quick[-20:]]
            measure("item in the list of a folder", pages(inside))
            measure("folders, the whole share", pages(["/folders?root=1"] * 5))
            measure("folders, one of 97", pages(["/folders?root=1&folder=unit+42"] * 10))
            tables = [one.file_id for one in real if "tables/" in one.path]
            form = {"purpose": PURPOSES[0]}
            measure(
                f"reveal of a table of {N_ROWS:,} rows",
                [lambda one=one: browser.post(f"/items/{one}/reveal", data=form) for one in tables * 4],  # type: ignore[misc]
            )
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def items_of(store: Store, wanted: WorkFilter, viewer: str) -> list[FileRecord]:
    page = store.desk.items(wanted, viewer=viewer, now=NOW, limit=500)
    return list(page.items)


def wait_until_ready(browser: httpx.Client, item: FileRecord) -> None:
    """Wait until the process that reads files again has loaded its lists, as soon after the start."""
    browser.get(f"/items/{item.file_id}?prose=1")
