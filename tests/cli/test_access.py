"""``phiscan access``: from a real directory to numbers in queue, folders and report; never a name."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.cli.output import config_of
from phiscan.language import count
from phiscan.model import FileResult, SourceFile
from phiscan.pipeline.reader_counts import count_again
from phiscan.report.gather import gather
from phiscan.report.rendering.tables import tables
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.cli.program import answer, run
from tests.crawl.people import CANARY, entries
from tests.empty_database import new_store
from tests.review.results import referred, scan, url_of
from tests.servers.ldap import PASSWORD, READER, running_ldap
from tests.servers.process import Server

N_MANY = 1_200
ALL = N_MANY + 4
REMOVED = "user removed-account"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_ldap(entries(N_MANY)) as ldap:
        yield ldap


@pytest.fixture(autouse=True)
def site(home: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a share that was scanned, of which nothing is counted yet; the directory is configured."""
    monkeypatch.setenv("PHISCAN_LDAP_USERNAME", READER)
    monkeypatch.setenv("PHISCAN_LDAP_PASSWORD", PASSWORD)
    Path("phiscan.toml").write_text(f'home = "home"\n[directory]\nurl = "{server.url}"\n')
    if server.process is None:
        server.start()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        results = [
            _file(folder, "wide/letter.txt", "everyone"),
            _file(folder, "staff/a.txt", "group nurses", REMOVED),
            _file(folder, "staff/b.txt", "group office"),
            _file(folder, "clinic/c.txt", "group Clinic", people=2000),
            _file(folder, "odd/d.txt", "group of-nobody"),
        ]
        with new_store(home / "phiscan.db") as store:
            create_key(home / "key")
            scan(store, results, root=os.fsencode(folder))
        yield home


def _file(root: str, name: str, *readers: str, people: int = 1) -> FileResult:
    path = Path(root, name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    result = referred(name, root=os.fsencode(root), n_people=people)
    source = SourceFile.of(os.fsencode(root), name.encode(), path.stat())
    return replace(result, source=replace(source, owner="root", readers=readers))


def _order() -> list[str]:
    return [item["path"] for item in json.loads(run("queue", "list", "--json"))["items"]]


def test_the_numbers_order_the_queue_and_are_shown() -> None:
    assert "not counted; `phiscan access update`" in run("queue", "show", "wide/letter.txt")
    assert answer("queue-show", "queue", "show", "wide/letter.txt")["reader_count"] is None
    before = _order()
    assert before == ["clinic/c.txt", "wide/letter.txt", "odd/d.txt", "staff/a.txt", "staff/b.txt"]
    done = answer("access-update", "access", "update")
    assert done["accounts"] == ALL
    assert done["cannot_sign_in"] == 3
    assert (done["files"], done["known"]) == (5, 5)
    shown = run("queue", "show", "wide/letter.txt")
    assert f"people who can read it: everyone in the directory, {count(ALL)} people (counted 20" in shown
    assert "3 people (counted" in run("queue", "show", "staff/b.txt")
    assert f"at most {count(ALL)} people; members of a group are not known" in run(
        "queue", "show", "odd/d.txt"
    )
    # Of two groups, the one that more people are in comes first; 2,000 patients outweigh that.
    assert _order() == ["clinic/c.txt", "wide/letter.txt", "odd/d.txt", "staff/b.txt", "staff/a.txt"]
    with Store.open(_database()) as store:
        assert store.verify_audit().ok
        listed = store.desk.items(viewer="", now=datetime.now(UTC)).items
    assert [one.path for one in listed] == _order()


def _database() -> str:
    return url_of(Path(os.environ["PHISCAN_HOME"]) / "phiscan.db")


def test_the_widest_folders_and_the_report() -> None:
    assert run("access", "folders").strip() == "Nothing is counted yet: `phiscan access update` does."
    answer("access-update", "access", "update")
    found = answer("access-folders", "access", "folders")["folders"]
    numbers = [(one["folder"], one["files"], one["readers"]["low"], one["readers"]["high"]) for one in found]
    # The staff, ann and bob, and the office, ann, bob and dee; and perhaps the account that was removed.
    expected = [("wide", 1, ALL, ALL), ("odd", 1, 0, ALL), ("staff", 2, 3, 4), ("clinic", 1, 1, 1)]
    assert numbers == expected
    with Store.open(_database()) as store:
        report = gather(store.database, now=datetime.now(UTC))
        hidden = gather(store.database, now=datetime.now(UTC), hide_paths=True)
    assert [row[:4] for row in tables(report.data)["widest_folders"].rows] == [
        (f"{folder}/", *rest) for folder, *rest in expected
    ]
    assert hidden.data.widest_folders == ()


def test_who_can_read_a_file_is_shown_by_name_only_when_asked_and_logged() -> None:
    answer("access-update", "access", "update")
    asked = answer("access-people", "access", "people", "staff/a.txt")
    assert "names" not in asked
    named = answer("access-people", "access", "people", "staff/a.txt", "--names", "--by", "lea")
    assert named["names"] == {"surely": [f"{CANARY}-ann", f"{CANARY}-bob"], "perhaps": ["removed-account"]}
    assert f"    {CANARY}-bob\n" in run("access", "people", "staff/a.txt", "--names")
    with Store.open(_database()) as store, store.database.read() as connection:
        asked_by = connection.exec_driver_sql("SELECT actor, action, details FROM audit_log").all()
        what = connection.exec_driver_sql("SELECT value FROM user_event").scalars().all()
    assert next(actor for actor, action, _ in asked_by if action == "export") == "lea"
    assert what == ["readers of file 2, by name"] * 2
    assert not any(CANARY in details for _, _, details in asked_by)


def test_accounts_that_left() -> None:
    assert "no directory has been read" in run("access", "left", status=2)
    answer("access-update", "access", "update")
    found = answer("access-left", "access", "left")
    assert {name: found[name] for name in ("accounts", "disabled", "expired", "missing", "files")} == {
        "accounts": 4,  # fay; gus and cyd; one that the directory does not have
        "disabled": 1,
        "expired": 2,
        "missing": 1,
        "files": 3,
    }
    named = answer("access-left", "access", "left", "--names")["names"]
    assert {"name": f"{CANARY}-fay", "state": "disabled", "files": 1} in named
    assert {"name": REMOVED, "state": "missing", "files": 1} in named


def test_a_directory_that_is_down_changes_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHISCAN_SHARES_TIMEOUT_S", "2")
    server.kill()
    assert "the directory cannot be read: no connection" in run("access", "update", status=2)
    assert "not counted" in run("queue", "show", "staff/b.txt")
    server.start()
    answer("access-update", "access", "update")
    server.kill()
    assert len(run("access", "update", status=2).splitlines()) == 1
    assert "3 people (counted" in run("queue", "show", "staff/b.txt")
    assert answer("access-left", "access", "left")["accounts"] == 4


def test_without_a_directory_everyone_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    # A share has users of other machines: the accounts of this one are not everyone.
    monkeypatch.setattr("phiscan.pipeline.reader_counts.read_local", lambda: {"user ann": ("user ann",)})
    Path("phiscan.toml").write_text('home = "home"\n')
    done = answer("access-update", "access", "update")
    assert done["accounts"] is None
    found = answer("access-people", "access", "people", "odd/d.txt")["readers"]
    assert (found["low"], found["high"], found["reason"]) == (None, None, "no_directory")
    assert "not known; no directory of accounts has been read" in run("access", "people", "odd/d.txt")


def test_no_name_is_stored_or_printed_unasked(tmp_path: Path) -> None:
    printed = [run("access", "update"), run("access", "folders"), run("access", "left")]
    printed += [run("queue", "show", str(number)) for number in range(1, 6)]
    run("access", "people", "staff/a.txt", "--names")
    run("report", "--out", str(tmp_path / "report"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "directory.json" for path in files)
    written = b"".join(path.read_bytes() for path in files)
    for secret in (CANARY, PASSWORD, "many00001", "S-1-5-21-1-2-3"):
        assert secret.encode() not in written
        assert secret not in "".join(printed)


def test_a_scan_counts_again_what_was_ever_counted(site: Path) -> None:
    root = json.loads(run("access", "people", "staff/b.txt", "--json"))["root"]
    new = _file(root, "staff/new.txt", "group nurses")
    config = config_of(None)
    with Store.open(_database()) as store:
        scan(store, [new], unchanged=["staff/b.txt"], root=os.fsencode(root), minutes=5)
        number = store.find("staff/new.txt")
        count_again(store, config, datetime.now(UTC))
        assert store.item(number).reader_count is None
        run("access", "update")
        scan(store, [replace(new, content_hash="another")], root=os.fsencode(root), minutes=9)
        assert store.item(number).reader_count is None  # that count was of another result
        assert ": 2 people (" in run("access", "people", str(number))
        count_again(store, config, datetime.now(UTC))
        found = store.item(number).reader_count
    assert found is not None
    assert (found.low, found.high) == (2, 2)
    assert site.is_dir()
