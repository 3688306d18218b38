"""Copies: equal row by row on every kind of database, all or nothing, however they end."""

import resource
import signal
import stat
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa

from phiscan.errors import InputError, StoreError
from phiscan.model import Verdict
from phiscan.review import retention
from phiscan.review.maintenance import backup
from phiscan.review.retention import Retention
from phiscan.review.store import Store
from phiscan.store.database import connect, schema_of
from phiscan.store.portable_rows import TableSum, sums_of, table_with_rows
from phiscan.store.tables import SCHEMA_VERSION
from phiscan.store.tables.schema import metadata
from tests.review.conftest import empty_database
from tests.review.results import NOW, SHARE, later, referred, scan, url_of
from tests.review.test_purging import hold, scan_at, years

SCHEMA = SCHEMA_VERSION.encode()
ODD = "nul \x00, half \udcff, \U0001f600, e\u0301, \u202e, 'quoted' \"twice\" \\n %s :x {y}\n\ttab"


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with rows whose values are hard to copy."""
    scan(store)
    odd = replace(referred("odd.txt"), health_score=0.1 + 0.2, detectors=(("patterns", False), (ODD, True)))
    source = replace(
        odd.source, path=b"\xff\x00\n\xed", size=2**60, mtime_ns=2**70, inode=2**64 - 1, device=2**63
    )
    names = tuple(result.source.display for result in SHARE)
    scan(
        store,
        [replace(odd, source=source, media_type=ODD, health_distance=5e-324)],
        unchanged=names,
        minutes=5,
    )
    store.decide_all([(1, Verdict.PHI), (6, Verdict.UNSURE)], reviewer=ODD, note=ODD, now=NOW)
    store.assign_all([1], "bea", by="ada", now=later(1))
    hold(store, files=[1])
    scan_at(store, years(1), referred("gone.txt"))
    scan_at(store, years(2), unchanged=(*names, "7"))
    hold(store, "lifted", files=[1])
    # The newest file goes, so that the next number is not simply the highest plus one.
    retention.run(store.database, Retention(), by="ada", now=years(9), dry_run=False)
    return store


@pytest.fixture
def other_url(backend: str, request: pytest.FixtureRequest) -> str:
    """An empty database of the other kind."""
    return empty_database(request, "other.db", on_server=backend == "sqlite")


@pytest.fixture
def third_url(backend: str, request: pytest.FixtureRequest) -> str:
    """Another empty database of the first kind."""
    return empty_database(request, "third.db", on_server=backend == "postgresql")


def sums(url: str) -> dict[str, TableSum]:
    with Store.open(url) as store, store.database.read() as connection:
        return sums_of(connection)


def is_empty(url: str) -> bool:
    database = connect(url, create=True)
    try:
        if not schema_of(database):
            return True
        with database.read() as connection:
            return not table_with_rows(connection)
    finally:
        database.close()


def copied(source: str, target: str, path: Path) -> backup.Manifest:
    """Copy a database into an empty one by way of a backup."""
    path.unlink(missing_ok=True)
    made = backup.back_up(source, path, now=NOW)
    backup.restore(path, target)
    return made


@pytest.mark.slow
def test_a_backup_restores_into_the_other_kind_and_back_and_loses_nothing(
    filled: Store, url: str, other_url: str, third_url: str, tmp_path: Path
) -> None:
    path, before = tmp_path / "x.phiscan", sums(url)
    assert sum(entry.n_rows for entry in before.values()) > 40
    assert set(before) == set(metadata.tables)
    made = copied(url, other_url, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made.audit_head == filled.verify_audit().head
    assert backup.check(path) == backup.try_out(path) == made
    assert sums(other_url) == made.tables == before
    with pytest.raises(StoreError, match=r"expected an empty database: .* has rows"):
        backup.restore(path, other_url)
    copied(other_url, third_url, tmp_path / "y.phiscan")
    assert sums(third_url) == sums(url) == before
    with Store.open(third_url) as returned:
        assert returned.verify_audit() == filled.verify_audit()
        assert [returned.item(n) for n in (1, 6)] == [filled.item(n) for n in (1, 6)]
        assert list(returned.present_rows()) == list(filled.present_rows())
        # What comes next gets the same numbers in both.
        for store in (returned, filled):
            scan(store, [referred("next.txt")], minutes=9_999_999)
    assert sums(third_url) == sums(url)
    assert sorted(entry.name for entry in tmp_path.iterdir() if "x.phiscan" in entry.name) == ["x.phiscan"]


def test_a_backup_is_one_state_although_people_go_on_working(
    filled: Store, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, original = sums(url), backup.portable.lines_of

    def lines(connection: sa.Connection, table: sa.Table) -> object:
        with Store.open(url) as other:
            other.decide_all([(1, Verdict.NOT_PHI)], reviewer="meanwhile", now=NOW)
        return original(connection, table)

    monkeypatch.setattr(backup.portable, "lines_of", lines)
    made = backup.back_up(url, tmp_path / "x.phiscan", now=NOW)
    assert made.tables == before
    assert len(filled.item(1).decisions) > 10


def test_a_backup_is_never_overwritten(store: Store, url: str, tmp_path: Path) -> None:
    path = tmp_path / "x.phiscan"
    path.write_text("precious")
    with pytest.raises(InputError, match="is there already; a backup is never overwritten"):
        backup.back_up(url, path, now=NOW)
    assert path.read_text() == "precious"
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        backup.back_up(url, tmp_path / "nowhere" / "x", now=NOW)
    assert store.scans() == []


def _rewrite(path: Path, member: str, change: Callable[[bytes], bytes]) -> None:
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content[member] = change(content[member])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "not a whole backup"),
        (lambda path: path.write_bytes(b"Dear Dr. Who"), "not a whole backup"),
        (lambda path: path.write_bytes(b""), "not a whole backup"),
        (lambda path: path.unlink(), "cannot be read: No such file"),
        (lambda path: _rewrite(path, "manifest.json", lambda _: b"[]"), "not a whole backup"),
        (lambda path: _rewrite(path, "manifest.json", lambda m: m.replace(SCHEMA, b"9999")), "schema 9999"),
        (
            lambda path: _rewrite(path, "tables/decision.jsonl", lambda t: t.replace(b"phi", b"not_phi", 1)),
            "table decision is not what the manifest says|table decision is not equal",
        ),
        (
            lambda path: _rewrite(path, "tables/decision.jsonl", lambda t: t + t),
            "table decision is not what the manifest says|UNIQUE|append-only",
        ),
        (lambda path: _rewrite(path, "tables/file.jsonl", lambda _: b"{}\n"), "table file"),
        (lambda path: _rewrite(path, "tables/file.jsonl", lambda _: b"\xff\n"), "table file"),
    ],
)
def test_a_damaged_backup_is_refused_and_restores_nothing(
    filled: Store, database: Path, tmp_path: Path, change: Callable[[Path], object], words: str
) -> None:
    path = tmp_path / "x.phiscan"
    backup.back_up(url_of(database), path, now=NOW)
    change(path)
    for look in (lambda: backup.check(path), lambda: backup.restore(path, url_of(tmp_path / "new.db"))):
        with pytest.raises((InputError, StoreError)) as caught:
            look()
        assert any(word in str(caught.value) for word in words.split("|")), str(caught.value)
        assert "\n" not in str(caught.value)
    assert is_empty(url_of(tmp_path / "new.db"))
    assert filled.verify_audit().ok


def test_a_rewritten_manifest_does_not_hide_a_changed_decision(
    filled: Store, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "x.phiscan"
    made = backup.back_up(url_of(database), path, now=NOW)
    with zipfile.ZipFile(path) as archive:
        lines = archive.read("tables/decision.jsonl").replace(b'"unsure"', b'"not_phi"', 1)
    fresh = sha256(lines).hexdigest().encode()
    _rewrite(path, "tables/decision.jsonl", lambda _: lines)
    _rewrite(path, "manifest.json", lambda m: m.replace(made.tables["decision"].digest.encode(), fresh))
    backup.check(path)
    with pytest.raises(StoreError, match=r"the audit log of the copy is not whole: .*decision was changed"):
        backup.restore(path, url_of(tmp_path / "new.db"))
    assert is_empty(url_of(tmp_path / "new.db"))
    assert filled.verify_audit().ok


def test_restores_into_nothing_of_another_program(store: Store, url: str, tmp_path: Path) -> None:
    backup.back_up(url, tmp_path / "x", now=NOW)
    with sa.create_engine(url_of(tmp_path / "foreign.db")).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE patients (name TEXT)")
    with pytest.raises(StoreError, match="not a phiscan database"):
        backup.restore(tmp_path / "x", url_of(tmp_path / "foreign.db"))
    with pytest.raises(StoreError, match="no such database"):
        backup.back_up(url_of(tmp_path / "none.db"), tmp_path / "y", now=NOW)
    assert store.verify_audit().ok


# Killed in the middle

_CHILD = """
import os, signal, sys
import sqlalchemy as sa
from datetime import datetime, UTC
from pathlib import Path
from phiscan.review.maintenance import backup
from phiscan.review import retention
from phiscan.store.database import open_database
from phiscan.review.retention import Retention

count = 0
def step(*_):
    global count
    count += 1
    if count == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)

sa.event.listen(sa.Engine, "before_cursor_execute", step)
sa.event.listen(sa.Engine, "commit", step)
what, first, second = sys.argv[2:5]
if what == "restore":
    backup.restore(Path(first), second)
elif what == "backup":
    backup.back_up(first, Path(second), now=datetime.now(UTC))
elif what == "purge":
    database = open_database(first, create=False)
    retention.run(database, Retention(), by="ada", now=datetime(2080, 1, 1, tzinfo=UTC), dry_run=False)
else:
    open_database(second, create=True).close()
print(count)
"""


def child(kill_at: int, what: str, first: str, second: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _CHILD, str(kill_at), what, first, second],
        check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip


def places(n_steps: int, n_places: int = 4) -> list[int]:
    """Return some of the steps: the first, the last, and between."""
    return sorted({1, n_steps, *(n_steps * n // n_places for n in range(1, n_places))} - {0})


@pytest.mark.slow
def test_a_killed_restore_leaves_the_target_empty_and_can_be_done_again(
    filled: Store, url: str, empty_url: str, third_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    backup.back_up(url, path, now=NOW)
    n_steps = int(child(0, "restore", str(path), empty_url).stdout)
    for kill_at in places(n_steps - 1, 4):
        assert child(kill_at, "restore", str(path), third_url).returncode == -signal.SIGKILL
        assert is_empty(third_url), kill_at
    backup.restore(path, third_url)
    assert sums(third_url) == sums(url)
    assert filled.verify_audit().ok


@pytest.mark.slow
def test_a_killed_backup_leaves_no_file_of_its_name(filled: Store, url: str, tmp_path: Path) -> None:
    n_steps = int(child(0, "backup", url, str(tmp_path / "whole")).stdout)
    for kill_at in places(n_steps, 4):
        assert child(kill_at, "backup", url, str(tmp_path / "cut")).returncode == -signal.SIGKILL
        assert not (tmp_path / "cut").exists()
    backup.back_up(url, tmp_path / "cut", now=NOW)
    assert backup.check(tmp_path / "cut").tables == sums(url)
    assert filled.verify_audit().ok


@pytest.mark.slow
def test_a_killed_purge_removes_nothing_and_leaves_the_tables_guarded(
    filled: Store, url: str, third_url: str, tmp_path: Path
) -> None:
    before = sums(url)
    copied(url, third_url, tmp_path / "x")
    n_steps = int(child(0, "purge", third_url, "").stdout)
    assert sums(third_url) != before
    for kill_at in places(n_steps, 4):
        assert child(kill_at, "purge", url, "").returncode == -signal.SIGKILL
        assert sums(url) == before
        with pytest.raises(sa.exc.DBAPIError, match="is append-only"), filled.database._engine.begin() as c:
            c.exec_driver_sql("DELETE FROM decision")
        assert filled.verify_audit().ok


@pytest.mark.slow
def test_a_killed_migration_leaves_an_empty_database(empty_url: str, third_url: str) -> None:
    n_steps = int(child(0, "migrate", "", third_url).stdout)
    for kill_at in places(n_steps, 4):
        assert child(kill_at, "migrate", "", empty_url).returncode == -signal.SIGKILL
        assert is_empty(empty_url)
    Store.open(empty_url, create=True).close()
    assert set(sums(empty_url)) == set(metadata.tables)


# The disk is full

_FULL = textwrap.dedent("""
import sys
from datetime import UTC, datetime
from pathlib import Path
from phiscan.errors import PhiscanError
from phiscan.review.maintenance import backup
from phiscan.store.tables import SCHEMA_VERSION
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    if sys.argv[1] == "backup":
        backup.back_up(sys.argv[2], Path(sys.argv[3]), now=datetime.now(UTC))
    else:
        backup.restore(Path(sys.argv[2]), sys.argv[3])
except PhiscanError as error:
    print(error)
""")


def test_a_full_disk_is_one_line_and_leaves_nothing_behind(
    filled: Store, url: str, backend: str, tmp_path: Path
) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    backup.back_up(url, tmp_path / "whole", now=NOW)
    tasks = {"backup": (url, str(tmp_path / "x"))}
    if backend != "sqlite":  # its own log would be full too
        tasks["restore"] = (str(tmp_path / "whole"), url_of(tmp_path / "full.db"))
    for what, places_of in tasks.items():
        done = subprocess.run(
            [sys.executable, "-c", _FULL, what, *places_of],
            check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") == 1
        assert "too large" in done.stdout or "disk" in done.stdout, done.stdout
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith((".x", "x"))]
    assert filled.verify_audit().ok
