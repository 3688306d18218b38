"""Scans of servers, mailboxes and database tables, from listing to the queue, also when they are killed."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.harness import (
    FIRST,
    LAST,
    LETTER,
    MINUTES,
    ToolHere,
    n_recorded,
    processes_of,
    write_share,
)
from tests.pipeline.rows import database_rows
from tests.samba import running_samba
from tests.servers.apache import running_apache
from tests.servers.databases import Database, running_mariadb, running_postgresql
from tests.servers.dovecot import PASSWORD, running_dovecot
from tests.servers.sshd import running_sshd
from tests.waiting import wait_until

N_ITEMS = 250
N_ROWS, N_PATIENTS = 6_000, 2_000
DISEASES = ("type 2 diabetes mellitus", "asthma", "epilepsy", "breast cancer", "HIV infection")


def _text(number: int) -> str:
    if number % 10:
        return MINUTES.format(n=number)
    born = f"{number % 28 + 1} May {1931 + number // 28}"
    return LETTER.format(first=FIRST[number % 5], last=LAST[number // 5 % 5], born=born)


@contextmanager
def _mailbox() -> Iterator[tuple[str, dict[str, str]]]:
    with running_dovecot() as dovecot:
        for number in range(N_ITEMS):
            head = f"From: a{number}@example.org\r\nSubject: note {number}\r\n\r\n"
            body = _text(number).replace("\n", "\r\n")
            dovecot.add(f".Ward{number % 3}", f"{number:04d}.a", f"{head}{body}".encode())
        yield dovecot.server.url, dovecot.server.environment


@contextmanager
def _tables() -> Iterator[tuple[str, dict[str, str]]]:
    with running_postgresql() as database:
        for number in range(N_ITEMS):
            database.run(f"CREATE TABLE notes{number:04d} (note text)")
            database.insert(f"INSERT INTO notes{number:04d} VALUES (%s)", [(_text(number),)])  # noqa: S608
        database.run("SELECT pg_stat_force_next_flush()")
        yield database.url, database.environment


@contextmanager
def _files(start: Any) -> Iterator[tuple[str, dict[str, str]]]:
    with start() as server:
        write_share(server.share, N_ITEMS, distinct=True)
        yield server.url, server.environment


_ssh, _webdav, _smb = (partial(_files, start) for start in (running_sshd, running_apache, running_samba))


@pytest.mark.slow
@pytest.mark.parametrize("source", [_ssh, _webdav, _smb, _mailbox, _tables])
def test_a_killed_scan_gives_the_same_rows_as_an_undisturbed_one(
    tool_here: ToolHere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Any
) -> None:
    undisturbed, disturbed = tool_here, ToolHere(tmp_path / "home2")
    moments = random.Random("kill")
    with source() as (url, environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        done = undisturbed.run("scan", url)
        assert done.returncode == 1, done.stderr
        disturbed.same_key(undisturbed)
        for _ in range(2):
            # While the workers load, files are fetched: at this pace they are few, and the end is far.
            n_rows = n_recorded(disturbed.database) + moments.randint(1, N_ITEMS // 10)
            disturbed.start_and_kill(
                *("scan", url, "--max-files-per-s", "8"),
                when=lambda n_rows=n_rows: n_recorded(disturbed.database) >= n_rows,
            )
            assert n_recorded(disturbed.database) < N_ITEMS, "the scan was over before it was killed"
            wait_until(lambda: processes_of(disturbed) == [], "no process is left")
            left = [path for path in disturbed.temp.rglob("*") if path.is_file()]
            assert not any(path.stat().st_size for path in left)  # fetched files were in memory only
        assert disturbed.run("scan", url).returncode == 1
    rows = database_rows(disturbed.database)
    assert len(rows["file"]) == N_ITEMS
    assert rows == database_rows(undisturbed.database)
    secrets = [value for name, value in environment.items() if name.endswith("PASSWORD")]
    assert not [one for one in secrets for tool in (undisturbed, disturbed) if tool.has_written(one)]


def _fill(database: Database) -> int:
    """Make a table of visits and one of stock; return the number of people of the first."""
    rng = random.Random("visits")
    rows = []
    for number in range(N_ROWS):
        person = rng.randrange(N_PATIENTS)
        of_person = random.Random(person)
        name = f"{of_person.choice(FIRST)} {of_person.choice(LAST)}"
        born = f"19{of_person.randrange(30, 99)}-0{of_person.randrange(1, 9)}-1{of_person.randrange(9)}"
        rows.append((number, name, f"{1_000_000 + person * 37}", born, rng.choice(DISEASES)))
    database.run(
        "CREATE TABLE visits (id int, patient_name varchar(50), mrn varchar(20), date_of_birth date, "
        "diagnosis varchar(80))",
        "CREATE TABLE stock (id int, item varchar(50))",
    )
    database.insert("INSERT INTO visits VALUES (%s, %s, %s, %s, %s)", rows)
    database.insert("INSERT INTO stock VALUES (%s, %s)", [(n, f"screw of length {n}") for n in range(N_ROWS)])
    return len({row[2] for row in rows})


@pytest.mark.slow
@pytest.mark.parametrize("running", [running_postgresql, running_mariadb])
@pytest.mark.parametrize("table_rows", [300, 3_000])  # a short text, and one in windows
def test_a_sample_of_a_table_stands_for_all_its_rows(
    tool_here: ToolHere, monkeypatch: pytest.MonkeyPatch, running: Any, table_rows: int
) -> None:
    with running() as database:
        n_people = _fill(database)
        for name, value in database.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PHISCAN_SHARES_TABLE_ROWS", str(table_rows))
        done = tool_here.run("scan", database.url, "--json")
        assert done.returncode == 3, done.stderr  # what was not read of the stock is not clean
        summary = json.loads(done.stdout)
        assert (summary["screened"], summary["referred"], summary["second_look"]) == (2, 1, 1)
        assert (summary["sampled_files"], summary["unread_parts"]) == (1, 1)
        assert PASSWORD not in done.stdout + done.stderr
        again = json.loads(tool_here.run("scan", database.url, "--json").stdout)
        counted = (again["screened"], again["unchanged"])
        assert counted in {(0, 2), (2, 0)}  # changed in this second
    visits = f"{database.url}{'' if running is running_mariadb else '/public'}/visits.sqlite"
    shown = json.loads(tool_here.run("queue", "show", visits, "--json").stdout)
    low, high = shown["people_interval"]
    assert low <= n_people <= high
    assert low <= shown["people"] <= high
    (part,) = (part for part in shown["unread"] if part["locator"] == "#rows")
    assert part["reason"] == "sampled"
    assert "of 6,000 rows was read" in part["detail"]
    assert not tool_here.has_written(PASSWORD)
