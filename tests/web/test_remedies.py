"""After the verdict: remedies, exceptions, owners and their digests, script, trend, the board's page."""

import email
import email.policy
import io
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pypdfium2
import pytest
from blake3 import blake3
from fastapi import FastAPI

from phiscan.config import OrganizationTable, config_of
from phiscan.errors import ConfigError, InputError
from phiscan.model import Verdict
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.incidents import TaskState
from phiscan.review.store import Store
from phiscan.web.routes import remedies
from phiscan.web.routes.trend import burn_down, departments, read_departments, seconds_per_item, trend_rows
from tests.cli.program import invoke
from tests.review.results import NOW, later, readable, referred, scan, url_of
from tests.servers.receivers import MailServer, mail_table, serving
from tests.web.clock import Clock
from tests.web.conftest import PASSWORD, Visit

NAMES = ("Ward/open.txt", "Ward/gone.txt", "Lab/x/closed.txt", "Lab/other.txt", "top.txt")


@pytest.fixture
def confirmed(store: Store) -> dict[str, int]:
    """Confirm files that everybody may read, of two owners, and return their numbers."""
    files = [readable(name, owner="ann" if name.startswith("Lab") else "jroe") for name in NAMES]
    scan(store, files, root=b"/wide", minutes=2)
    numbers = {name: store.find(name) for name in NAMES}
    for number in numbers.values():
        store.desk.decide(number, Verdict.PHI, reviewer="reviewer", now=later(5))
    return numbers


def state(store: Store, name: str, days: float = 0.0) -> TaskState:
    tasks = store.desk.tasks(now=later(6) + timedelta(days=days))
    return next(one.state for one in tasks if one.path == name)


def test_an_exception_ends_and_the_task_is_open_again(store: Store, confirmed: dict[str, int]) -> None:
    number = confirmed["top.txt"]
    until = (later(6) + timedelta(days=10)).date()
    grant = {"field": until.isoformat(), "text": "Needed for the audit", "by": "lead", "now": later(6)}
    store.desk.annotate("exception", [number], **grant)
    assert state(store, "top.txt") is TaskState.EXCEPTED
    assert state(store, "top.txt", 9.9) is TaskState.EXCEPTED
    assert state(store, "top.txt", 12) is TaskState.OVERDUE
    (task,) = [one for one in store.desk.tasks(now=later(6)) if one.until]
    assert (task.is_open, task.why, task.proof_scan) == (False, "Needed for the audit", None)
    store.desk.annotate("exception", [number], by="lead", now=later(7))  # taken back
    assert state(store, "top.txt") is TaskState.OPEN
    proof = scan(store, [], root=b"/wide", minutes=20)
    store.desk.annotate("exception", [number], **{**grant, "now": later(30)})
    (task,) = [one for one in store.desk.tasks(now=later(30)) if one.path == "top.txt"]
    assert (task.state, task.proof_scan) == (TaskState.GONE, proof)  # what is proved is proved
    assert store.verify_audit().ok


def test_entries_that_make_no_sense_are_refused(store: Store, confirmed: dict[str, int]) -> None:
    for kind, field, text in (
        ("exception", "2026-11-20", "a reason"),  # today
        ("exception", "2030-01-01", "a reason"),
        ("exception", "soon", "a reason"),
        ("exception", "2026-12-24", ""),
        ("answer", "perhaps", ""),
        ("answer", "needed", " "),
        ("note", "", "x" * 1_001),
    ):
        with pytest.raises(InputError):
            store.desk.annotate(kind, [confirmed["top.txt"]], field=field, text=text, by="lead", now=later(6))


def test_many_files_get_an_assignee_a_note_and_an_exception_at_once(
    browser: Visit, store: Store, confirmed: dict[str, int]
) -> None:
    client = browser("reviewer")
    files = [confirmed["Ward/open.txt"], confirmed["top.txt"]]
    given = {"file": [*files, 99_999], "assignee": "lead", "note": "Ask\r\nIT", "list": "order=owner"}
    for what in ("assignee", "note"):
        answer = client.post("/tasks", data={**given, "what": what})
        assert answer.headers["location"] == "/tasks?order=owner&said=recorded"
    form = {"what": "exception", "file": files, "until": "2026-12-24", "reason": "Audit"}
    assert client.post("/tasks", data=form).status_code == 303
    assert client.post("/tasks", data={"what": "note"}).headers["location"].endswith("none")
    assert client.post("/tasks", data={**form, "until": "x"}).status_code == 422
    page = client.get("/tasks").text
    assert page.count("Ask<br>IT") == page.count("for lead") == page.count("until 2026-12-24") == 2
    store.users.add(name="jroe", role=Role.OWNER, password=PASSWORD, by="admin", now=NOW)
    own = browser("jroe").get("/mine").text
    assert "open.txt" in own
    assert "Ask" not in own  # what officers write to each other
    for role, status in (("reader", 403), ("auditor", 403), ("owner", 403), ("lead", 303)):
        assert browser(role).post("/tasks", data=form).status_code == status


def test_the_list_is_filtered_ordered_and_grouped(browser: Visit, confirmed: dict[str, int]) -> None:
    client = browser("auditor")
    for query, shown in (
        ("", NAMES),
        ("owner=ann", ("Lab/x/closed.txt", "Lab/other.txt")),
        ("text=OPEN", ("Ward/open.txt",)),
        ("state=overdue", ()),
        ("exposure=everyone&folder=nowhere", ()),
        ("order=folder", NAMES),
        ("order=nothing&page=1", NAMES),
        ("page=7", ()),
    ):
        page = client.get(f"/tasks?{query}").text
        found = {
            name
            for name, number in confirmed.items()
            if f'href="/items/{number}"' in page or f">{name.rpartition('/')[2]}<" in page
        }
        assert found == set(shown), query
        assert 'name="what"' not in page  # an auditor changes nothing
        headings = re.findall(r'scope="rowgroup"><span class="path">([^<]*)', page)
        assert len(headings) == (4 if query == "order=folder" else 0)


@pytest.fixture
def on_disk(store: Store, tmp_path: Path) -> dict[str, int]:
    """Confirm files that are there."""
    share = tmp_path / "share"
    share.mkdir()
    results = []
    for name in ("a b.txt", "$(x).txt"):
        (share / name).write_text(name)
        result = referred(name, root=bytes(share), content=blake3(name.encode()).hexdigest())
        results.append(replace(result, source=replace(result.source, mode=0o100644)))
    scan(store, results, root=bytes(share), minutes=3)
    numbers = {name: store.find(name) for name in ("a b.txt", "$(x).txt")}
    for number in numbers.values():
        store.desk.decide(number, Verdict.PHI, reviewer="reviewer", now=later(5))
    return numbers


def test_a_script_of_the_chosen_files_is_sent_and_logged(
    browser: Visit, store: Store, on_disk: dict[str, int], tmp_path: Path
) -> None:
    client = browser("reviewer")
    form = {"action": "restrict", "kind": "sh", "file": list(on_disk.values())}
    answer = client.post("/tasks/script", data=form)
    assert answer.headers["content-disposition"] == 'attachment; filename="phiscan-restrict.sh"'
    assert answer.text.startswith("#!/bin/sh\n# phiscan: restrict 2 confirmed files")
    assert answer.text.count("\nact ") == 2
    (tmp_path / "share" / "a b.txt").write_text("other")
    moved = client.post("/tasks/script", data={**form, "action": "move", "kind": "ps1", "to": "D:\\Q"})
    assert moved.text.count("\r\nAct ") == 1
    assert "left out: changed since it was confirmed" in moved.text
    for bad in (
        {"file": [99_999]},
        {"action": "move"},
        {"action": "move", "to": "away"},
        {"action": "move", "to": "C:\\q"},
    ):
        assert client.post("/tasks/script", data={**form, **bad}).status_code == 400
    assert client.post("/tasks/script", data={**form, "action": "delete"}).status_code == 422
    logged = store.users.log(action="export").entries
    assert [one.details["value"] for one in logged] == ["phiscan-move.ps1", "phiscan-restrict.sh"]
    assert browser("auditor").post("/tasks/script", data=form).status_code == 403


def test_the_list_and_the_script_say_which_label_a_file_has_and_which_is_expected(
    browser: Visit, app: FastAPI, store: Store, on_disk: dict[str, int], tmp_path: Path
) -> None:
    label = ("2096f6a2-d2f7-48be-b329-b73aaa526e5d", "Secret <1>")
    share, name = tmp_path / "share", "a b.txt"
    same = referred(name, root=bytes(share), content=blake3(name.encode()).hexdigest())
    same = replace(same, source=replace(same.source, mode=0o100644), labels=(label,))
    scan(store, [same], root=bytes(share), minutes=10, unchanged=["$(x).txt"])
    client = browser("reviewer")
    assert "label now: Secret &lt;1&gt;" in client.get("/tasks").text
    assert "Secret &lt;1&gt;" in client.get(f"/items/{on_disk[name]}").text
    desk = app.state.desk
    config = replace(desk.config, organization=OrganizationTable(confirmed_label="X"))
    app.state.desk = replace(desk, config=config)
    page = client.get("/tasks").text
    assert page.count("expected: X") == 2
    assert "label now: none" in page
    form = {"action": "restrict", "kind": "sh", "file": list(on_disk.values())}
    script = client.post("/tasks/script", data=form).text
    assert f"# {on_disk[name]}: label now 'Secret <1>'; label expected 'X'" in script


def test_a_folder_gets_an_owner_who_sees_its_files(
    browser: Visit, store: Store, confirmed: dict[str, int]
) -> None:
    (root,) = [number for number, path, _n in store.desk.choices().roots if path == "/wide"]
    lead = browser("lead")
    for folder, owner in (("Lab", "Dr. Chen"), ("Lab/x/", "mlee")):
        form = {"root": root, "folder": folder, "owner": owner}
        assert lead.post("/owners", data=form).status_code == 303
    assert browser("reviewer").post("/owners", data=form).status_code == 403
    assert lead.post("/owners", data={"root": 999, "owner": "x"}).status_code == 400
    owners = {one.path: one.owner for one in store.desk.tasks(now=later(6))}
    assert owners["Lab/other.txt"] == "Dr. Chen"
    assert owners["Lab/x/closed.txt"] == "mlee"
    assert owners["Ward/open.txt"] == "jroe"
    store.users.add(name="dr. chen", role=Role.OWNER, password=PASSWORD, by="admin", now=NOW)
    client = browser("dr. chen")
    given = {"answer": "not_mine", "file": [confirmed["Lab/other.txt"]]}
    assert client.post("/mine", data=given).headers["location"] == "/mine?said=answered"
    page = lead.get("/owners").text
    assert "not mine (1)" in page
    assert page.count("without an answer") == 2  # jroe and mlee
    lead.post("/owners", data={"root": root, "folder": "Lab", "owner": ""})
    assert {one.owner for one in store.desk.tasks(now=later(6)) if one.path == "Lab/other.txt"} == {"ann"}


@pytest.fixture
def mail_server() -> Iterator[dict[str, object]]:
    """Serve a mail server, and return the table [notify] that names it."""
    with serving(MailServer) as port:
        yield mail_table(port)


def test_an_owner_gets_a_number_and_a_link_and_is_reminded(
    app: FastAPI, browser: Visit, store: Store, mail_server: dict[str, object], tmp_path: Path
) -> None:
    scan(store, [readable(name) for name in NAMES[:3]], root=b"/wide", minutes=2)
    for name in NAMES[:3]:
        store.desk.decide(store.find(name), Verdict.PHI, reviewer="reviewer", now=later(5))
    client = browser("reviewer")
    to = {"owner": "jroe", "to": "joe@ward.hospital.example"}
    assert "no mail server" in client.post("/owners/mail", data=to).text
    app.state.desk = replace(app.state.desk, config=config_of({"notify": mail_server}))
    assert client.post("/owners/mail", data=to).headers["location"] == "/owners?said=mailed"
    for address in ("ann@elsewhere.example", "ann@x@hospital.example", "a@b.hospital.example\r\nBcc: e@x"):
        assert client.post("/owners/mail", data={**to, "to": address}).status_code == 400, address
    assert client.post("/owners/mail", data={**to, "owner": "nobody"}).status_code == 400
    soon = {"now": later(7) + timedelta(days=2), "every": timedelta(days=1)}
    desk = {"desk": {"public_url": "https://desk.example"}}
    with socket.socket() as free:  # nobody listens there
        free.bind(("127.0.0.1", 0))
        silent = config_of({**desk, "notify": {**mail_server, "smtp_port": free.getsockname()[1]}})
        assert remedies.remind(store, silent, **soon) == (0, 1)
    assert remedies.remind(store, config_of({**desk, "notify": mail_server}), **soon) == (1, 0)
    assert remedies.remind(store, config_of({**desk, "notify": mail_server}), **soon) == (0, 0)
    MailServer.got.pop()
    assert "joe@ward.hospital.example" in client.get("/owners").text
    config = tmp_path / "phiscan.toml"
    lines = [f"{name} = {value!r}" for name, value in mail_server.items()]
    text = f"database = '{url_of(tmp_path / 'phiscan.db')}'\n[notify]\n" + "\n".join(lines) + "\n"
    config.write_text(text)

    def remind() -> str:
        found = invoke("--config", str(config), "queue", "remind", "--every", "1")
        return found.stdout.strip() or found.stderr

    assert "desk.public_url" in remind()
    config.write_text(text + "[desk]\npublic_url = 'https://desk.example'\n")
    assert remind() == "1 sent, 0 not sent"  # the first was long ago, by the clock of the tests
    assert remind() == "0 sent, 0 not sent"  # and none again today
    for raw, link in zip(MailServer.got, ("/mine", "https://desk.example/mine"), strict=True):
        message = email.message_from_string(raw, policy=email.policy.default)
        assert message["To"] == "joe@ward.hospital.example"
        body = message.get_content()
        assert "3 files are to be seen to" in body
        assert link in body
        assert not [word for word in ("open.txt", "Ward", "wide", "jroe") if word in raw]
    assert "joe@" not in str(store.users.log(action="incident").entries)


def test_the_trend_counts_each_scan(browser: Visit, store: Store, confirmed: dict[str, int]) -> None:
    assert confirmed
    scan(
        store,
        [readable("Lab/x/closed.txt", 0o100600, owner="ann")],
        unchanged=[
            name for name in NAMES if "/" in name and name not in {"Ward/gone.txt", "Lab/x/closed.txt"}
        ],
        root=b"/wide",
        minutes=10,
    )
    tasks = store.desk.tasks(now=later(20))
    rows = trend_rows(tasks, sorted(store.scans(), key=lambda one: one.id), {3: 2})
    assert [(one.phi, one.new, one.remedied, one.open, one.unread) for one in rows] == [
        *((0, 0, 0, 0, 0), (5, 5, 0, 5, 0)),
        (5, 0, 3, 2, 2),
    ]
    burn = burn_down(tasks, later(20))
    assert (burn.days[-1][1], burn.closed) == (2, 3)
    assert burn.left == pytest.approx(2 * 28 / 3)
    assert burn.low is not None
    assert burn.high is not None
    assert burn.low < burn.left < burn.high
    assert burn_down(tasks[:0], later(20)).left is None
    page = browser("lead").get("/trend").text
    assert "shown to leads alone" in page
    assert "shown to leads alone" not in browser("auditor").get("/trend").text
    assert browser("owner").get("/trend").status_code == 403
    lines = browser("auditor").get("/trend/csv").text.splitlines()
    assert lines[0] == "scan,began,phi,new,remedied,open,unread"
    assert len(lines) == 4


def test_the_page_of_the_board_is_one_of_plain_words(browser: Visit, confirmed: dict[str, int]) -> None:
    assert confirmed
    client = browser("lead")
    for language, words in (("en", "are still to be seen to"), ("fr", "reste")):
        content = client.get("/trend/pdf", headers={"accept-language": language}).content
        (page,) = pypdfium2.PdfDocument(io.BytesIO(content))
        text = " ".join(page.get_textpage().get_text_range().split())
        assert re.search(words, text)
        assert "/wide" not in text
        assert not re.search(r"\bp ?[<=]|nats", text)


def test_folders_are_mapped_to_departments(store: Store, confirmed: dict[str, int], tmp_path: Path) -> None:
    assert confirmed
    path = tmp_path / "departments.csv"
    config = config_of({"organization": {"departments_file": path.name}}, str(tmp_path / "phiscan.toml"))
    path.write_text(
        "folder,department\n/wide/Lab,Laboratory\n/wide/Lab/x/,X-ray\n/wide/Ward,Ward 3\n", "utf-8"
    )
    found = departments(store.desk.tasks(now=later(6)), read_departments(config))
    assert {name: (by["everyone"], by["people"]) for name, by in found} == {
        "Laboratory": (1, 7),
        "X-ray": (1, 7),
        "Ward 3": (2, 14),
        "": (1, 7),
    }
    for content, where in (
        ("folder\n", "line 1: expected two columns"),
        ("a,b\nc,\n", "line 2"),
        (b"\xff", "UTF-8"),
    ):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ConfigError, match=where) as refused:
            read_departments(config)
        assert "\n" not in str(refused.value)
    path.unlink()
    with pytest.raises(ConfigError, match=r"departments\.csv"):
        read_departments(config)


def test_the_pace_leaves_pauses_out(clock: Clock) -> None:
    day = [clock() + timedelta(seconds=30 * at) for at in range(6)]
    later_on = [clock() + timedelta(hours=2, seconds=10 * at) for at in range(3)]
    assert seconds_per_item([[*day, *later_on]]) == pytest.approx((5 * 30 + 2 * 10) / 7)
    assert seconds_per_item([[one] for one in day]) is None
