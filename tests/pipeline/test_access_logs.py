"""Access logs: openings are matched with files and stored without names; a real Samba server's log."""

import gzip
import json
import os
import resource
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import smbclient
import sqlalchemy as sa

from phiscan.config import AccessLogTable, Config
from phiscan.errors import ConfigError
from phiscan.model import FileResult
from phiscan.pipeline import access_logs
from phiscan.pipeline.access_logs import Imported, import_logs
from phiscan.report.openings import opening_words, together_words
from phiscan.review.records import openings
from phiscan.review.records.openings import Openings
from phiscan.review.store import Store
from phiscan.store.column_types import stored_columns
from phiscan.store.identity import create_key
from phiscan.store.tables.desk import work_item
from phiscan.store.tables.integrity import seal_total
from phiscan.store.tables.scans import log_coverage, opening
from tests.crawl.test_access_logs import HEAD, audit, trail, windows
from tests.empty_database import new_store
from tests.review.results import clear, later, referred, scan
from tests.samba import PASSWORD, running_samba
from tests.servers.process import Server

CANARY = "Zanzibar-Qwertz"  # an account
LETTER, OTHER = "a/letter.txt", "c/referral.txt"
Import = Callable[..., Imported]


def line(path: str, account: str = CANARY, time: str = "08:30:01", day: str = "20") -> str:
    head = HEAD.replace("2026/11/20 08:30:01", f"2026/11/{day} {time}")
    return f"{head}\n  {account}|10.0.0.7|share|pread|ok|{path}\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    create_key(tmp_path / "key")
    new_store(tmp_path / "phiscan.db").close()
    config = Config(home=tmp_path)
    with Store.open(config.database_url, audit_key=config.audit_key_file) as opened:
        scan(opened)
        yield opened


@pytest.fixture
def take(store: Store, tmp_path: Path) -> Import:
    def imported(content: str | bytes, kind: str = "", **settings: Any) -> Imported:
        path = tmp_path / "access.log"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        table = AccessLogTable(**{"time_zone": "UTC", **settings})
        config = Config(home=tmp_path, accesslog=table)
        return next(import_logs(store.database, config, [path], kind=kind, now=later(60)))

    return imported


def known(store: Store, name: str = LETTER) -> Openings:
    return store.openings_together([store.find(name)])


def figures(found: Openings) -> tuple[int, int, int]:
    return found.n_openings, found.n_accounts, found.n_others


def test_counts_openings_and_accounts_and_says_when(store: Store, take: Import) -> None:
    assert opening_words(known(store)) == "No log covers it."
    times = [
        ("ann", "08:30:01"),
        ("ann", "08:30:59"),
        ("ann", "08:31:00"),
        ("bo", "08:45:00"),
        ("BO", "08:45:09"),
    ]
    found = take("".join(line(f"/share/{LETTER}", who, time) for who, time in times))
    assert (found.n_openings, found.n_matched, found.n_new) == (5, 5, 3)
    assert figures(known(store)) == (3, 2, 2)
    assert opening_words(known(store)) == (
        "Openings: 3. Different accounts: 2, of them other than the owner: at most 2. "
        "First 2026-11-20 08:30 UTC, last 2026-11-20 08:45 UTC. "
        "Logs: Samba, 2026-11-20 08:30 UTC to 2026-11-20 08:45 UTC."
    )
    assert opening_words(known(store, OTHER)) == (
        "Not opened in the time that logs cover: Samba, 2026-11-20 08:30 UTC to 2026-11-20 08:45 UTC."
    )
    together = store.openings_together([store.find(LETTER), store.find(OTHER)])
    assert together_words(together).startswith(
        "Files opened: 1; not opened in the time that logs cover: 1; no log covers: 0. Openings: 3."
    )


def test_the_same_log_again_or_in_parts_changes_nothing(store: Store, take: Import) -> None:
    lines = [line(f"/share/{LETTER}", f"user{n % 3}", f"08:{n:02}:00") for n in range(30)]
    take("".join(lines[:20]))
    part = dump(store)
    assert take("".join(lines[:20])).n_new == 0
    assert dump(store) == part
    take("".join(lines[10:]))
    take("".join(lines))
    assert figures(known(store)) == (30, 3, 3)
    assert [(one.gaps, one.last.minute) for one in known(store).covered] == [(0, 29)]
    assert store.verify_audit().ok


def dump(store: Store) -> list[Any]:
    with store.database.read() as connection:
        return [
            sorted(map(tuple, connection.execute(sa.select(*stored_columns(table)))))
            for table in (opening, log_coverage, work_item, seal_total)
        ]


def test_gaps_between_logs_are_stated(store: Store, take: Import) -> None:
    for day in ("01", "02", "09", "20"):
        take(
            line(f"/share/{OTHER}", time="00:00:00", day=day)
            + line(f"/share/{OTHER}", time="23:59:00", day=day)
        )
    assert opening_words(known(store)).endswith("without 2 gaps of up to 241 h.")


def test_no_name_of_an_account_is_stored(store: Store, take: Import, tmp_path: Path) -> None:
    take(line(f"/share/{LETTER}", CANARY) + line(f"/share/{CANARY}.txt", CANARY))
    assert figures(known(store)) == (1, 1, 1)
    for path in [tmp_path / "phiscan.db", *tmp_path.glob("phiscan.db-*")]:
        held = path.read_bytes().lower()
        assert CANARY.lower().encode() not in held
        assert b"10.0.0.7" not in held


def test_accounts_to_ignore_and_the_scanning_account_are_left_out(
    store: Store, take: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan(store, [referred("s.txt", root=b"smb://files/share")], root=b"smb://files/share", minutes=2)
    monkeypatch.setenv("PHISCAN_SMB_USERNAME", r"CLINIC\Scanner")
    accounts = ("backup", r"CLINIC\backup", "scanner", r"clinic\scanner", "ann")
    paths = (f"/share/{LETTER}", "/data/s.txt")
    found = take(
        "".join(line(path, who) for who in accounts for path in paths),
        ignore=("Backup",),
        paths={"/data": "smb://files/share"},
    )
    assert (found.n_ignored, figures(known(store)), figures(known(store, "s.txt"))) == (
        8,
        (1, 1, 1),
        (1, 1, 1),
    )


APPLICATION = "11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    "case",
    [
        ("S3_KEY", "AKIA1", trail(userIdentity={"arn": "a", "accessKeyId": "AKIA1"}), "s3://records"),
        (
            "M365_USERNAME",
            APPLICATION,
            audit(AppAccessContext={"ClientAppId": APPLICATION}),
            "m365://t/sites",
        ),
        ("IMAP_USERNAME", "ana@clinic.example", audit(), "imaps://mail"),  # a person
    ],
)
def test_the_scanning_program_is_known_by_its_key_and_only_in_logs_of_what_it_reads(
    store: Store, take: Import, monkeypatch: pytest.MonkeyPatch, case: tuple[str, str, object, str]
) -> None:
    variable, own, record, root = case
    monkeypatch.setenv(f"PHISCAN_{variable}", own)
    scan(store, [referred("x.txt", root=root.encode())], root=root.encode(), minutes=2)
    assert take(json.dumps(record)).n_ignored == (not root.startswith("imaps"))


def test_a_log_of_a_folder_covers_no_other_one(store: Store, take: Import) -> None:
    found = take(line("/data/letter.txt"), paths={"/data": "/share/a"})
    assert list(found.roots) == ["/share/a"]
    assert figures(known(store)) == (1, 1, 1)
    assert opening_words(known(store, OTHER)) == "No log covers it."


def test_an_owner_is_told_from_others_and_others_raise_the_file(store: Store, take: Import) -> None:
    names = ("own.txt", "one.txt", "three.txt")
    results = [owned(name) for name in names]
    by_sid = owned("sid.txt")
    by_sid = replace(by_sid, source=replace(by_sid.source, owner="S-1-5-21-7"))
    scan(store, [*results, by_sid], root=b"/wide", minutes=2)
    take(windows(4663, "/wide/sid.txt", SubjectUserSid="S-1-5-21-7"))
    assert figures(known(store, "sid.txt")) == (1, 1, 0)

    def risks() -> list[float]:
        return [store.desk.item(store.find(name), viewer="a", now=later(9)).risk for name in names]

    plain = risks()[0]
    opened = [("own.txt", r"CLINIC\JRoe"), ("one.txt", "ann"), *(("three.txt", who) for who in "abc")]
    take("".join(line(f"/wide/{name}", who) for name, who in opened))
    assert [figures(known(store, name))[2] for name in names] == [0, 1, 3]
    assert risks() == [plain, 2 * plain, 3 * plain]
    listed = [(one.path, one.risk) for one in store.queue() if one.path in names]
    assert listed == list(zip(names[::-1], risks()[::-1], strict=True))
    assert store.item(store.find("three.txt")).risk == 3 * plain
    before = dump(store)
    store.desk.rebuild()
    assert dump(store) == before


def owned(name: str, content: str = "") -> FileResult:
    result = referred(name, root=b"/wide", content=content)
    return replace(result, source=replace(result.source, owner="jroe", readers=("everyone",)))


def test_openings_follow_a_file_that_moves_and_stay_with_one_that_is_gone(store: Store, take: Import) -> None:
    scan(store, [owned("a.txt", "same"), owned("gone.txt")], root=b"/wide", minutes=2)
    take(line("/wide/a.txt", "ann") + line("/wide/gone.txt", "bo"))
    risk = store.desk.item(store.find("a.txt"), viewer="a", now=later(9)).risk
    scan(store, [owned("new/b.txt", "same")], root=b"/wide", minutes=3)
    take(line("/wide/new/b.txt", "cy", "09:00:00") + line("/wide/a.txt", "ann", "09:01:00"))
    assert figures(known(store, "new/b.txt")) == (3, 2, 2)
    assert figures(known(store, "gone.txt")) == (1, 1, 1)
    assert store.desk.item(store.find("new/b.txt"), viewer="a", now=later(9)).risk > risk


PATHS = {r"D:\Shares": "smb://files.clinic.example:4450/data", r"\\*\Scans": "/share"}


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (windows(4663, r"d:\shares\Letters\A.DOCX"), "letters/a.docx"),
        (windows(5145, ShareName=r"\\*\DATA", RelativeTargetName=r"Letters\a.docx", IpAddress="::1"), None),
        (windows(5145, ShareName=r"\\*\scans", RelativeTargetName=r"A\Letter.txt", IpAddress="::1"), LETTER),
        (windows(4663, r"D:\Shares2\Letters\a.docx"), None),
        (windows(4663, r"E:\Letters\a.docx"), None),
    ],
)
def test_windows_names_are_matched_by_the_table_without_regard_to_case(
    store: Store, take: Import, event: str, name: str | None
) -> None:
    root = b"smb://files.clinic.example:4450/data"
    scan(store, [referred("letters/a.docx", root=root), clear("E/Letters/a.docx")], root=root, minutes=2)
    found = take(event, paths=PATHS)
    assert (found.n_openings, found.n_matched) == (1, int(name is not None))
    if name:
        assert figures(known(store, name)) == (1, 1, 1)


def test_a_share_is_matched_by_the_name_of_its_server(store: Store, take: Import) -> None:
    for root in (b"smb://files1.clinic.example/Data", b"smb://files2/Data"):
        scan(store, [referred("x.txt", root=root)], root=root, minutes=2)
    event = windows(5145, ShareName=r"\\*\Data", RelativeTargetName="X.txt", IpAddress="::1")
    assert list(take(event).roots) == ["smb://files1.clinic.example/Data"]


def test_objects_are_matched_below_the_prefix_of_a_bucket(store: Store, take: Import) -> None:
    root = b"s3://records/2026"
    scan(store, [referred("a b.txt", root=root)], root=root, minutes=2)
    other = trail(requestParameters={"bucketName": "records", "key": "2026/A b.txt"})
    found = take(gzip.compress(json.dumps({"Records": [trail(), other]}).encode()))
    assert (found.kind, found.n_openings, found.n_matched) == ("cloudtrail", 2, 1)
    assert figures(known(store, "a b.txt")) == (1, 1, 1)


def test_a_table_that_names_no_root_is_refused(take: Import) -> None:
    with pytest.raises(ConfigError, match=r"accesslog\.paths: /elsewhere: expected a root that was scanned"):
        take(line("/x"), paths={"/srv": "/elsewhere"})


def test_a_forged_row_is_named_and_not_repaired(store: Store, take: Import) -> None:
    take(line(f"/share/{LETTER}"))
    store.database.write(lambda c: c.exec_driver_sql("UPDATE opening SET minute = 7"))
    take(line(f"/share/{LETTER}", time="08:40:00"))
    check = store.verify_audit()
    assert not check.ok


@pytest.mark.parametrize("n", [0, 1, 3])
def test_an_import_that_is_stopped_is_made_up_for_by_the_next(
    store: Store, take: Import, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    monkeypatch.setattr(access_logs, "N_PER_TRANSACTION", 50)
    text = "".join(line(f"/share/{LETTER}", f"u{k % 7}", f"{k // 60:02}:{k % 60:02}:00") for k in range(240))
    added, done = openings.add_openings, []

    def add(*given: Any) -> int:
        done.append(added(*given))
        if len(done) > n:
            raise KeyboardInterrupt
        return done[-1]

    with monkeypatch.context() as patch:
        patch.setattr(access_logs, "add_openings", add)
        with pytest.raises(KeyboardInterrupt):
            take(text)
    assert known(store).n_openings == 50 * n
    take(text)
    assert figures(known(store)) == (240, 7, 7)
    assert store.verify_audit().ok


@pytest.mark.slow
def test_a_large_log_is_read_in_bounded_memory(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    with path.open("w") as stream:
        while stream.tell() < 200 * 1024**2:
            stream.write(
                "".join(line(f"/share/{n}/x.txt", f"u{n}", f"09:{n % 60:02}:00") for n in range(10_000))
            )
        stream.write(line(f"/share/{LETTER}"))
    config = Config(home=tmp_path, accesslog=AccessLogTable(time_zone="UTC"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = next(import_logs(store.database, config, [path], now=later(60)))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (found.n_matched, found.n_unknown) == (1, 0)
    assert grown < 100 * 1024  # KiB; the log has 200 MiB


@pytest.fixture(scope="module")
def samba() -> Iterator[Server]:
    if os.geteuid() != 0:
        pytest.skip("Samba's second user needs root")
    with running_samba(audits=True) as server:
        yield server


SAMBA_NAMES = ("read.txt", "a b|c.txt", "Listed.txt", "line\nbreak.txt")


def use(samba: Server, share: str) -> None:
    """List the folder as one user, and read two files, one of them as a second user too."""
    below = rf"\\127.0.0.1\{share}"
    for user, names in (("daemon", SAMBA_NAMES[:1]), ("bin", SAMBA_NAMES[:2])):
        cache: dict[str, Any] = {}
        given = {"port": samba.port, "username": user, "password": PASSWORD, "connection_cache": cache}
        by_name = {entry.name: entry for entry in smbclient.scandir(below, **given)}
        assert len(by_name) == len(SAMBA_NAMES)
        for name in names:
            shown = name if name in by_name else next(one for one in by_name if one.startswith("A"))
            with smbclient.open_file(rf"{below}\{shown}", mode="rb", **given) as stream:
                stream.read()
        smbclient.reset_connection_cache(connection_cache=cache)


@pytest.fixture
def share(samba: Server, store: Store) -> str:
    smbclient.ClientConfig(skip_dfs=True)
    for entry in samba.share.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for name in SAMBA_NAMES:
        (samba.share / name).write_text("x")
        (samba.share / name).chmod(0o644)
    root = os.fsencode(samba.share)
    scan(store, [referred(name, root=root) for name in SAMBA_NAMES], root=root, minutes=2)
    return str(samba.share)


def check_openings(store: Store, found: Imported) -> None:
    assert (found.kind, found.by_opens) == ("samba", False)
    assert [figures(known(store, name))[1] for name in SAMBA_NAMES] == [2, 1, 0, 0]
    assert opening_words(known(store, "Listed.txt")).startswith(
        "Not opened in the time that logs cover: Samba,"
    )


def test_a_log_of_samba_tells_who_read_from_who_listed(
    samba: Server, share: str, store: Store, tmp_path: Path
) -> None:
    use(samba, "audited")
    config = Config(home=tmp_path)
    found = next(import_logs(store.database, config, [samba.folder / "samba/log"], now=datetime.now(UTC)))
    assert list(found.roots) == [share]
    check_openings(store, found)


def test_what_samba_sends_to_syslog_is_read_too(
    samba: Server, share: str, store: Store, tmp_path: Path
) -> None:
    device = Path("/dev/log")
    if device.exists():
        pytest.skip("a syslog daemon listens")
    received: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(device))
        try:
            device.chmod(0o666)
            thread = threading.Thread(target=receive, args=(server, received))
            thread.start()
            use(samba, "logged")
            thread.join()
        finally:
            device.unlink()
    log = tmp_path / "syslog"
    log.write_bytes(b"".join(one.replace(b"\n", b" ").strip() + b"\n" for one in received))
    found = next(import_logs(store.database, Config(home=tmp_path), [log], now=datetime.now(UTC)))
    assert list(found.roots) == [share]
    check_openings(store, found)


def receive(server: socket.socket, received: list[bytes]) -> None:
    """Collect messages until both users have left the share."""
    server.settimeout(30)
    while sum(b"|disconnect|ok|" in one for one in received) < 2:
        received.append(server.recv(65_536))
