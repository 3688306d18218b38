"""The e-mail to the owner of a confirmed file: shown first, sent on request, and without a value."""

import email
import email.policy
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from fastapi import FastAPI

from phiscan.config import Config
from phiscan.errors import ConfigError
from phiscan.model import FileResult, Verdict
from phiscan.monitoring.notices import read_owner_mail
from phiscan.review.store import Store
from tests.monitoring.test_notices import _MailServer
from tests.review.results import NOW, later, referred, scan
from tests.web.conftest import OWN, Browser

Visit = Callable[[str], Browser]
NAME = "Patients/Okafor, Chidi/Okafor chart 4471239.pdf"
SECRET = ("Okafor", "Chidi", "4471239", "jroe")
ROOT = b"/home/jroe"


def result() -> FileResult:
    made = referred(NAME, root=ROOT)
    return replace(made, media_type="application/pdf", source=replace(made.source, mode=0o100644))


@pytest.fixture
def task(store: Store) -> int:
    """Confirm a file that is called after its patient, and return its number."""
    scan(store, [result()], root=ROOT, minutes=2)
    number = store.find(NAME)
    store.desk.decide(number, Verdict.PHI, reviewer="reviewer", now=later(5))
    return number


@pytest.fixture
def mail_server(app: FastAPI) -> Iterator[list[str]]:
    """Run a mail server that the desk is set up to use; yield what it gets."""
    _MailServer.got.clear()
    before = app.state.desk
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _MailServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        app.state.desk = replace(app.state.desk, config=config(server.server_address[1]))
        yield _MailServer.got
        server.shutdown()
    app.state.desk = before


def config(port: int, **more: object) -> Config:
    notify = {
        "mail_from": "privacy@hospital.example",
        "smtp_host": "127.0.0.1",
        "smtp_port": port,
        "smtp_tls": "none",
        **more,
    }
    return Config(tables={"notify": notify})


def test_the_message_is_shown_sent_and_logged_and_holds_no_value(
    mail_server: list[str], task: int, browser: Visit, store: Store
) -> None:
    client = browser("reviewer").client
    assert f'href="/tasks/{task}/mail"' in client.get("/tasks").text
    page = client.get(f"/tasks/{task}/mail").text
    shown = page.partition("<pre")[2].partition("</pre>")[0]
    assert not [word for word in SECRET if word in shown]
    assert mail_server == []
    answer = client.post(f"/tasks/{task}/mail", data={"to": "ann@ward.hospital.example"}, headers=OWN)
    assert answer.headers["location"] == "/tasks?said=mailed"
    (raw,) = mail_server
    message = email.message_from_string(raw, policy=email.policy.default)
    assert message["To"] == "ann@ward.hospital.example"
    assert message["From"] == "privacy@hospital.example"
    body = message.get_content()
    assert not [word for word in SECRET if word in raw + body + message["Subject"]]
    for words in (f"Reference      {task}", "PDF", "everyone", "restrict now who can read it", "▒▒▒"):
        assert words in body
    entry = store.users.log(action="export").entries[0]
    assert entry.actor == "reviewer"
    assert entry.details["value"] == f"e-mail to the owner of file {task}: ann@ward.hospital.example"
    assert "is sent, and recorded" in client.get("/tasks?said=mailed").text
    assert "written <time" in client.get("/tasks").text
    assert "Written before" in client.get(f"/tasks/{task}/mail").text
    assert store.verify_audit().ok


@pytest.mark.parametrize(
    "case",
    [
        ("ann@elsewhere.example", "expected an address at hospital.example"),
        ("ann@nothospital.example", "expected an address at hospital.example"),
        ("", "expected an address at hospital.example"),
        ("ann@x@hospital.example", "expected one e-mail address"),
        ("ann@hospital.example\r\nBcc: eve@hospital.example", "expected one e-mail address"),
        ("ann@hospital.example, eve@hospital.example", "expected one e-mail address"),
    ],
)
def test_only_one_address_of_our_own_domain_is_written_to(
    case: tuple[str, str], mail_server: list[str], task: int, browser: Visit, store: Store
) -> None:
    to, why = case
    answer = browser("reviewer").client.post(f"/tasks/{task}/mail", data={"to": to}, headers=OWN)
    assert answer.status_code == 409
    assert why in answer.text
    assert mail_server == []
    assert store.desk.owner_mails() == {}


def test_without_a_mail_server_the_text_is_shown_to_be_copied(
    task: int, browser: Visit, app: FastAPI, store: Store
) -> None:
    client = browser("reviewer").client
    page = client.get(f"/tasks/{task}/mail").text
    assert "phiscan sends no mail here" in page
    assert 'type="email"' not in page
    answer = client.post(f"/tasks/{task}/mail", data={"to": "a@hospital.example"}, headers=OWN)
    assert "no mail server is set up" in answer.text
    app.state.desk = replace(app.state.desk, config=config(1))  # nobody listens there
    answer = client.post(f"/tasks/{task}/mail", data={"to": "a@hospital.example"}, headers=OWN)
    assert answer.status_code == 409
    assert "cannot be reached" in answer.text
    assert list(store.desk.owner_mails()) == [task]  # the attempt is logged


def test_a_file_without_an_open_task_has_no_message(browser: Visit, store: Store) -> None:
    assert browser("reviewer").client.get("/tasks/1/mail").status_code == 400
    store.desk.decide(1, Verdict.NOT_PHI, reviewer="reviewer", now=NOW)
    assert browser("reviewer").client.get("/tasks/1/mail").status_code == 400


def test_who_may_not_export_may_not_write(browser: Visit, task: int) -> None:
    for name in ("reader", "auditor", "admin"):
        assert browser(name).client.get(f"/tasks/{task}/mail").status_code == 403
        answer = browser(name).client.post(f"/tasks/{task}/mail", data={"to": "a@b.example"}, headers=OWN)
        assert answer.status_code == 403


def test_a_wrong_setting_names_its_field() -> None:
    with pytest.raises(ConfigError, match=r"notify\.smtp_port"):
        read_owner_mail(config(0))
    assert read_owner_mail(Config()) is None
