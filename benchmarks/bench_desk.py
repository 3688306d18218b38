"""Latency of the desk with 200,000 queued items, with one and with five concurrent reviewers.

Prints p50 and p99 of the wall clock, and the mean CPU time where one process does the work: of a page of the
list in its orders and filters, of a decision, and of what a page needs besides; then of the same decisions by
five processes and through the server, without a pause and with a reviewer's, and that none was lost or
doubled. In the same run the count of the undecided is made from the other tables, as it was before there was
a list, and recording is timed with and without keeping the list.
"""

import multiprocessing
import os
import random
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
import uvicorn

from phiscan.config import Config
from phiscan.model import EntityType, FileResult, PiiBit, PiiVector, Verdict
from phiscan.review.accounts.users import Role
from phiscan.review.records.file_records import present
from phiscan.review.store import Store
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import FileRecord, WorkFilter, WorkOrder, WorkState
from phiscan.store.tables.desk import decision, decision_undo, second_verdict
from phiscan.store.tables.scans import examination, sighting
from phiscan.web.app import create_app
from tests.review.results import ROOT, finding, referred, url_of

N_ITEMS = int(os.environ.get("PHISCAN_BENCH_ITEMS", "200000"))
BUILT = os.environ.get("PHISCAN_BENCH_DATABASE", "")  # a database that an earlier run made
N_FINDINGS = 5
N_REVIEWERS = 5
N_DECISIONS = int(os.environ.get("PHISCAN_BENCH_DECISIONS", "100"))  # by each of them
N_RUNS = int(os.environ.get("PHISCAN_BENCH_RUNS", "100"))
N_RECORDED = 500
THOUGHT_S = 1.0  # quick reviewers: a decision every two seconds
PASSWORD = "correct horse battery"
NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
TYPES = ("application/pdf", "text/plain", "message/rfc822", "application/vnd.ms-excel")


def results(first: int, n: int) -> list[FileResult]:
    """Return referred files with risks, types, folders and scores as different as a share's."""
    made = []
    for number in range(first, first + n):
        lot = random.Random(number)
        bits = frozenset(lot.sample(list(PiiBit), lot.randint(2, 9)))
        file = referred(f"unit {number % 97:02}/{number % 7}/letter {number:06}.txt")
        made.append(
            replace(
                file,
                source=replace(
                    file.source, mode=0o100000 | lot.choice((0o600, 0o640, 0o644)), uid=number % 40
                ),
                media_type=lot.choice(TYPES),
                n_people=min(500, int(lot.paretovariate(1.1))),
                health_score=lot.betavariate(5, 2),
                vector=PiiVector(bits),
                findings=tuple(
                    finding(f"613-555-{lot.randrange(10_000):04}", start=20 * place, kind=kind)
                    for place, kind in enumerate(lot.sample(list(EntityType), N_FINDINGS))
                ),
            )
        )
    return made


def build(store: Store) -> float:
    """Record all items and return the seconds that it took."""
    state = store.begin_scan([ROOT], versions={}, options={}, now=NOW)
    seconds = 0.0
    for first in range(0, N_ITEMS, N_RECORDED):
        batch = results(first, min(N_RECORDED, N_ITEMS - first))
        started = time.perf_counter()
        store.record(state.id, "v1", batch)
        seconds += time.perf_counter() - started
    started = time.perf_counter()
    store.finish_scan(state.id, status="complete", seconds=1.0, now=NOW)
    print(f"end of the scan: {time.perf_counter() - started:.2f} s")
    return seconds


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if BUILT:
        return Path(BUILT)
    path = tmp_path_factory.mktemp("desk") / "desk.db"
    with Store.open(url_of(path), create=True) as store:
        seconds = build(store)
    size = path.stat().st_size / 1e6
    print(f"\n{N_ITEMS:,} items recorded in {seconds:.0f} s; {size:.0f} MB")
    return path


class Times(list[float]):
    """Wall-clock seconds of each run, and the CPU seconds of all of them together."""

    cpu = 0.0


def heading(what: str) -> None:
    print(f"\n| {what} | p50 ms | p99 ms | CPU ms |\n| --- | --- | --- | --- |")


def print_times(what: str, seconds: Sequence[float]) -> None:
    ordered = sorted(seconds)
    p50, p99 = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    cpu = f"{seconds.cpu / len(seconds) * 1000:.1f}" if isinstance(seconds, Times) else ""
    print(f"| {what} | {p50 * 1000:.1f} | {p99 * 1000:.1f} | {cpu} |", flush=True)


def timed(action: Callable[[], object], n: int = N_RUNS) -> Times:
    action()  # statements are compiled the first time they are executed
    seconds = Times()
    before = time.process_time()
    for _ in range(n):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    seconds.cpu = time.process_time() - before
    return seconds


@pytest.fixture(autouse=True)
def _load() -> Iterator[None]:
    """Print the load of the machine, on which every time below depends."""
    before = os.getloadavg()[0]
    yield
    print(f"load average {before:.1f} to {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)


FILTERS = {
    "riskiest": (WorkFilter(), WorkOrder.RISK),
    "most informative": (WorkFilter(), WorkOrder.INFORMATIVE),
    "oldest": (WorkFilter(), WorkOrder.OLDEST),
    "one format": (WorkFilter(media_type="application/pdf"), WorkOrder.RISK),
    "one folder of 97": (WorkFilter(root_id=1, folder="unit 42"), WorkOrder.RISK),
    "one type of identifier": (WorkFilter(entity_type=EntityType.SIN), WorkOrder.RISK),
    "a range of scores": (WorkFilter(min_score=0.9, max_score=0.95), WorkOrder.RISK),
    "one owner of 40": (WorkFilter(owner="7"), WorkOrder.RISK),
    "text in one path": (WorkFilter(text="letter 123456"), WorkOrder.RISK),
    "decided as PHI": (WorkFilter(state=WorkState.PHI), WorkOrder.RISK),
}


def whole_page(store: Store) -> None:
    desk = store.desk
    desk.items(viewer="ana", now=NOW)
    desk.counts(viewer="ana", now=NOW)
    desk.progress(since=NOW)
    desk.left()
    desk.choices()


@pytest.mark.bench
def test_bench_pages(database: Path) -> None:
    heading("page of 50")
    with Store.open(url_of(database)) as store:
        desk = store.desk
        for name, (wanted, order) in FILTERS.items():
            page = partial(desk.items, wanted, viewer="ana", now=NOW, order=order)
            print_times(name, timed(page))
        cursor = ""
        for _ in range(200):
            cursor = desk.items(viewer="ana", now=NOW, cursor=cursor).after
        print_times("riskiest, page 200", timed(lambda: desk.items(viewer="ana", now=NOW, cursor=cursor)))
        print_times("counts by state", timed(lambda: desk.counts(viewer="ana", now=NOW)))
        print_times("choices of the filters", timed(desk.choices, 20))
        print_times("progress today", timed(lambda: desk.progress(since=NOW)))
        print_times("everything that the queue page asks for", timed(lambda: whole_page(store)))
        print_times("what an estimate of the rest needs", timed(desk.left, 20))
        print_times("one item in full", timed(lambda: desk.detail(4711, viewer="ana", now=NOW)))


@pytest.mark.bench
def test_bench_count(database: Path) -> None:
    """The count of the undecided from the list, and as it was made before: from four other tables."""
    current = (
        sa.select(decision.c.verdict)
        .where(
            decision.c.file_id == sighting.c.file_id, decision.c.content_hash == examination.c.content_hash
        )
        .where(~sa.exists().where(decision_undo.c.decision_id == decision.c.id))
        .order_by(decision.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    before = present(sa.select(sa.func.count()).select_from(sighting), None).where(
        examination.c.referral == "referred", current.is_(None)
    )
    with Store.open(url_of(database)) as store:

        def from_tables() -> int:
            with store.database.read() as connection:
                return int(connection.execute(before).scalar_one())

        assert from_tables() == store.queue_size(verdicts=[None])
        old, new = timed(from_tables, 7), timed(lambda: store.queue_size(verdicts=[None]), 7)
        print_times("count of the undecided, from the other tables", old)
        print_times("count of the undecided, from the list", new)
        print(f"ratio {sorted(old)[3] / sorted(new)[3]:.1f}")


def review(database: Path, number: int, answers: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    seconds: list[float] = []
    pages: list[float] = []
    with Store.open(url_of(database)) as store:
        name = f"reviewer {os.getppid()} {number}"  # a database of an earlier run knows other people
        for place in range(N_DECISIONS):
            started = time.perf_counter()
            shown = store.desk.items(viewer=name, now=NOW, limit=50)
            pages.append(time.perf_counter() - started)
            # Everybody works at the top of the list, as people do, but not all on the very same item.
            item = shown.items[(number * 7 + place) % len(shown.items)]
            token = f"{name}, form {place}"
            started = time.perf_counter()
            for _ in range(2):  # the form is sent twice
                store.desk.decide(
                    item.file_id,
                    Verdict.PHI,
                    reviewer=name,
                    now=NOW,
                    token=token,
                    seen=item.examination_id,
                    override=True,
                )
                if len(seconds) == place:
                    seconds.append(time.perf_counter() - started)
    answers.put((seconds, pages))


@pytest.mark.bench
def test_bench_five_reviewers(database: Path) -> None:
    with Store.open(url_of(database)) as store:
        store.desk.set_policy(second_review=0.1, hide_limit=20, by="lead", now=NOW)
        n_before = store.verify_audit().n_rows
        heading("one reviewer")
        top = store.desk.items(viewer="ana", now=NOW, limit=N_RUNS + 1).items
        todo = iter(top)
        print_times(
            "decision",
            timed(lambda: store.desk.decide(next(todo).file_id, Verdict.PHI, reviewer="ana", now=NOW)),
        )
        print_times("undo", timed(lambda: store.desk.undo_last(by="ana", now=NOW)))
        n_ana = store.verify_audit().n_rows - n_before
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    people = [
        context.Process(target=review, args=(database, number, answers)) for number in range(N_REVIEWERS)
    ]
    for person in people:
        person.start()
    measured = [answers.get(timeout=600) for _ in people]
    for person in people:
        person.join()
    assert [person.exitcode for person in people] == [0] * N_REVIEWERS
    heading("five reviewers at once, a process each")
    print_times("decision", [one for seconds, _ in measured for one in seconds])
    print_times("page", [one for _, pages in measured for one in pages])
    with Store.open(url_of(database)) as store:
        with store.database.read() as connection:
            n = sum(
                connection.execute(
                    sa.select(sa.func.count()).where(table.c.reviewer.startswith(f"reviewer {os.getpid()} "))
                ).scalar_one()
                for table in (decision, second_verdict)
            )
        check = store.verify_audit()
    print(
        f"{n} verdicts by five people, {N_REVIEWERS * N_DECISIONS} sent, each twice; log: {check.ok}, {n_ana}"
    )
    assert n == N_REVIEWERS * N_DECISIONS
    assert check.ok


def serve(database: Path, home: Path, port: int) -> None:
    with Store.open(url_of(database)) as store:
        uvicorn.run(create_app(store, Config(home=home)), port=port, log_level="warning", access_log=False)


def cpu_of(process: int) -> float:
    """Return the CPU seconds that another process has used."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def browse(
    url: str, name: str, todo: Sequence[FileRecord], thought_s: float
) -> tuple[list[float], list[float]]:
    """Sign in, then look at the list and decide, as a browser does; return the seconds of each.

    ``thought_s``: seconds, on average, between a page and the decision, and before the next page.
    """
    pages, decisions = [], []
    lot = random.Random(name)
    own = {"sec-fetch-site": "same-origin"}
    with httpx.Client(base_url=url, headers=own, timeout=60) as browser:
        assert browser.post("/sign-in", data={"name": name, "password": PASSWORD}).status_code == 303
        for item in todo:
            started = time.perf_counter()
            assert browser.get("/queue").status_code == 200
            pages.append(time.perf_counter() - started)
            time.sleep(lot.uniform(0, 2 * thought_s))
            form = {
                "verdict": "phi",
                "token": f"{name} {item.file_id}",
                "seen": str(item.examination_id),
                "override": "1",
            }
            for sent in range(2):
                started = time.perf_counter()
                answer = browser.post(f"/items/{item.file_id}/decide", data=form)
                assert answer.status_code == 303
                assert "conflict" not in answer.headers["location"]
                if not sent:
                    decisions.append(time.perf_counter() - started)
            time.sleep(lot.uniform(0, 2 * thought_s))
    return pages, decisions


@pytest.mark.bench
def test_bench_server(database: Path, tmp_path: Path) -> None:
    """The same through `phiscan serve`'s application: one server process, one browser, then five at once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(database, tmp_path, port))
    server.start()
    try:
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/sign-in", timeout=60, trust_env=False)
                break
            except httpx.ConnectError:
                assert server.is_alive()
                time.sleep(0.1)
        with Store.open(url_of(database)) as store:
            names = [f"browser {os.getpid()} {number}" for number in range(N_REVIEWERS)]
            for name in names:
                store.users.add(name=name, role=Role.REVIEWER, password=PASSWORD, by="bench", now=NOW)
            top = store.desk.items(viewer="nobody yet", now=NOW, limit=500).items
            todo = (
                (1, N_DECISIONS // 2, 0.0),
                (N_REVIEWERS, N_DECISIONS // 4, 0.0),
                (N_REVIEWERS, N_DECISIONS // 4, THOUGHT_S),
            )
            for many, n_each, thought_s in todo:
                before = cpu_of(server.pid or 0)
                with ThreadPoolExecutor(many) as pool:
                    futures = [
                        pool.submit(browse, f"http://127.0.0.1:{port}", name, top[:n_each], thought_s)
                        for name in names[:many]
                    ]
                    made = [one.result() for one in futures]
                used = cpu_of(server.pid or 0) - before
                heading(f"through the server, {many} at once, {thought_s:.0f} s of thought")
                print_times("GET /queue", [one for pages, _ in made for one in pages])
                print_times("POST the decision", [one for _, decisions in made for one in decisions])
                print(f"server CPU per page and two posts {used / many / n_each * 1000:.1f} ms")
                top = top[n_each:]
            with store.database.read() as connection:
                n = sum(
                    connection.execute(
                        sa.select(sa.func.count()).where(table.c.reviewer.in_(names))
                    ).scalar_one()
                    for table in (decision, second_verdict)
                )
            sent = sum(many * n_each for many, n_each, _ in todo)
            print(f"{n} verdicts, {sent} sent, each twice; log: {store.verify_audit().ok}")
            assert n == sent
    finally:
        server.terminate()
        server.join()


@contextmanager
def without_list() -> Iterator[None]:
    kept = work_rows.take_in
    work_rows.take_in = lambda *_: None
    try:
        yield
    finally:
        work_rows.take_in = kept


@pytest.mark.bench
def test_bench_recording(database: Path) -> None:
    """Recording 500 referred files into the full database, with and without keeping the list, in turn."""
    with Store.open(url_of(database)) as store:
        state = store.begin_scan([ROOT], versions={}, options={"again": True}, now=NOW)
        kept: list[float] = []
        bare: list[float] = []
        first = N_ITEMS
        for _ in range(12):
            for seconds, keeping in ((kept, True), (bare, False)):
                batch = results(first, N_RECORDED)
                first += N_RECORDED
                started = time.perf_counter()
                if keeping:
                    store.record(state.id, "v1", batch)
                else:
                    with without_list():
                        store.record(state.id, "v1", batch)
                seconds.append(time.perf_counter() - started)
        heading("record 500 referred files")
        print_times("with the list", kept)
        print_times("without it", bare)
        print(f"ratio of the medians {sorted(kept)[6] / sorted(bare)[6]:.2f}")
