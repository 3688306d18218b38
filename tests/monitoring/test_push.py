"""Events and tickets go to real servers on loopback: in order, once, without a name, again if one failed."""

import email
import email.policy
import hmac
import json
import os
import re
import signal
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest

from phiscan.config import config_of
from phiscan.errors import ConfigError
from phiscan.model import Verdict
from phiscan.monitoring import senders
from phiscan.monitoring.notices import read_notices
from phiscan.monitoring.push import Pushed, push
from phiscan.monitoring.senders import PATIENCE_S, Webhook
from phiscan.review.store import Store
from tests.review.results import KEY, SHARE, later, referred, scan, url_of
from tests.servers.certificate import make_certificate
from tests.servers.receivers import Http, MailServer, Syslog, mail_table, serving

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "schemas" / "push.json"
TOKEN = "4f7c-canary-token"
CANARIES = ("Okafor", "karrowick", "letter.txt", "referral.txt", "Revathi", TOKEN)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    make_certificate(folder)
    return folder / "certificate.pem"


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(url_of(tmp_path / "phiscan.db"), create=True) as opened:
        scan(opened, [*SHARE, referred("karrowick/Okafor, Amara.txt")])
        yield opened


@pytest.fixture
def token(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return str(path)


def pushed(store: Store, tmp_path: Path, *tables: dict[str, Any], **others: Any) -> list[Pushed]:
    config = config_of({"home": str(tmp_path), "push": list(tables), **others})
    receivers = read_notices(config).receivers
    return list(push(store, receivers, KEY, home=tmp_path, now=datetime.now(UTC), sleep=lambda _s: None))


def hec_events() -> list[dict[str, Any]]:
    decoder, found = json.JSONDecoder(), []
    for _headers, body in Http.got:
        at = 0
        while at < len(body):
            one, at = decoder.raw_decode(body, at)
            found.append(one["event"])
    return found


def file_ids(events: list[dict[str, Any]]) -> list[str]:
    return [one["finding_info"]["uid"].rpartition("-")[2] for one in events if one["class_uid"] == 2006]


@pytest.mark.parametrize("scheme", ["syslog+tls", "syslog+tcp", "syslog+udp"])
@pytest.mark.parametrize("form", ["ocsf", "cef"])
def test_syslog_gets_each_event_in_its_frame(
    scheme: str, form: str, store: Store, certificate: Path, tls: ssl.SSLContext
) -> None:
    tmp_path = certificate.parent
    context, udp = (tls if scheme.endswith("tls") else None), scheme.endswith("udp")
    with serving(Syslog, tls=context, udp=udp) as port:
        table = {"to": f"{scheme}://127.0.0.1:{port}", "form": form, "ca_file": str(certificate)}
        (done,) = pushed(store, tmp_path, table)
        (again,) = pushed(store, tmp_path, table)
        waited = [] if udp else list(Syslog.got)
    assert done == Pushed(f"{scheme}://127.0.0.1:{port}", {"findings": 3, "scans": 1}, {})
    assert again.sent == {"findings": 0, "scans": 0}
    for line in waited:
        head = re.fullmatch(r"<109>1 (\S+) \S+ phiscan - (findings|scans) - (.*)", line)
        assert head is not None
        assert datetime.fromisoformat(head[1]).tzinfo is not None
        assert head[3].startswith("CEF:0|phiscan|") if form == "cef" else json.loads(head[3])["class_uid"]
    assert udp or len(waited) == 4


def test_an_unknown_certificate_gets_nothing(store: Store, tmp_path: Path, tls: ssl.SSLContext) -> None:
    with serving(Syslog, tls=tls) as port:
        (done,) = pushed(store, tmp_path, {"to": f"syslog+tls://localhost:{port}"})
    assert (done.problem, done.waiting) == ("its certificate is not trusted", {"findings": 3, "scans": 1})
    assert Syslog.got == []


class Reset(socketserver.BaseRequestHandler):
    """Reads nothing, and resets the connection as a server that dies does."""

    got: ClassVar[list[str]] = []

    def handle(self) -> None:
        self.request.recv(1)
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.request.close()


@pytest.mark.parametrize("scheme", ["syslog+tls", "syslog+tcp"])
def test_what_a_server_did_not_read_is_not_sent(
    scheme: str, store: Store, tmp_path: Path, certificate: Path, tls: ssl.SSLContext
) -> None:
    with serving(Reset, tls=tls if scheme.endswith("tls") else None) as port:
        table = {"to": f"{scheme}://127.0.0.1:{port}", "ca_file": str(certificate)}
        (done,) = pushed(store, tmp_path, table)
    assert (done.sent["findings"], done.waiting) == (0, {"findings": 3, "scans": 1})
    assert "could not be sent" in done.problem


def test_hec_is_tried_again_and_what_it_refuses_waits(
    store: Store, tmp_path: Path, token: str, certificate: Path, tls: ssl.SSLContext
) -> None:
    with serving(Http, tls=tls) as port:
        table = {"to": f"hec+https://localhost:{port}", "token_file": token, "ca_file": str(certificate)}
        Http.statuses[:] = [403]
        (refused,) = pushed(store, tmp_path, table)
        assert len(Http.got) == 1  # an answer for good
        Http.statuses[:] = [503, 429, 200, 503]
        (done,) = pushed(store, tmp_path, table)
        events, headers = hec_events(), Http.got[-1][0]
    assert refused.problem == "refused with status 403"
    assert refused.waiting == {"findings": 3, "scans": 1}
    assert (done.sent, done.waiting, done.problem) == ({"findings": 3, "scans": 1}, {}, "")
    assert headers["Authorization"] == f"Splunk {TOKEN}"
    assert "X-Phiscan-Signature" not in headers
    numbers = file_ids(events)
    assert numbers == sorted(numbers, key=int)
    assert len(numbers) == 3
    assert events[-1]["class_uid"] == 6007
    assert len({one["metadata"]["uid"] for one in events}) == 4
    assert TOKEN not in repr(refused) + repr(read_notices(config_of({"push": [table]})).receivers)


def test_a_webhook_is_signed(store: Store, tmp_path: Path, token: str) -> None:
    with serving(Http) as port:
        table = {"to": f"http://127.0.0.1:{port}/hook", "form": "cef", "secret_file": token}
        Http.statuses[:] = [503]
        (done,) = pushed(store, tmp_path, table)
        (first, _), (headers, body), _scans = Http.got
    assert done.problem == ""
    assert headers["X-Phiscan-Delivery"] == first["X-Phiscan-Delivery"]
    stamp = headers["X-Phiscan-Timestamp"]
    expected = hmac.new(TOKEN.encode(), f"{stamp}.{body}".encode(), "sha256").hexdigest()
    assert headers["X-Phiscan-Signature"] == f"sha256={expected}"
    assert [one[:6] for one in json.loads(body)["events"]] == ["CEF:0|"] * 3


def test_a_receiver_that_is_down_costs_seconds_and_the_next_gets_its_events(
    store: Store, tmp_path: Path, token: str
) -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    with socket.socket() as closed, serving(Http) as port:
        closed.bind(("127.0.0.1", 0))  # nobody listens
        tables = [
            {"to": f"syslog+tcp://127.0.0.1:{closed.getsockname()[1]}"},
            {"to": f"http://127.0.0.1:{port}", "secret_file": token},
        ]
        receivers = read_notices(config_of({"push": tables})).receivers
        given: Any = {"home": tmp_path, "now": datetime.now(UTC), "clock": lambda: now[0], "sleep": sleep}
        down, up = push(store, receivers, KEY, **given)
    assert 0 < sum(slept) <= 2 * PATIENCE_S
    assert down.problem.startswith("could not be sent (ConnectionRefusedError")
    assert down.waiting == {"findings": 3, "scans": 1}
    assert up.sent == {"findings": 3, "scans": 1}


class Endless(socketserver.BaseRequestHandler):
    """Answers byte by byte."""

    got: ClassVar[list[bytes]] = []
    over: ClassVar[threading.Event] = threading.Event()

    def handle(self) -> None:
        while not self.over.wait(0.01):
            self.request.sendall(b"x")


def test_a_receiver_whose_answer_does_not_end_is_left(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(senders, "LIMIT_S", 0.1)
    with serving(Endless) as port:
        (done,) = pushed(store, tmp_path, {"to": f"syslog+tcp://127.0.0.1:{port}"})
        Endless.over.set()
    assert done.problem.startswith("could not be sent (TimeoutError")


def test_only_what_is_new_is_sent(store: Store, tmp_path: Path, token: str) -> None:
    what = ["findings", "decisions", "scans"]
    with serving(Http) as port:
        table = {"to": f"hec+http://127.0.0.1:{port}", "token_file": token, "what": what}

        def new() -> list[dict[str, Any]]:
            Http.got.clear()
            (done,) = pushed(store, tmp_path, table)
            assert not done.problem
            return hec_events()

        assert len(new()) == 4
        # The same contents, examined again, are no news; a changed one and a new one are.
        again = [replace(one, health_score=0.9) for one in SHARE]
        changed = referred("karrowick/Okafor, Amara.txt", content="other")
        scan(store, [*again, changed, referred("new.txt")], minutes=10)
        numbers = [str(store.find(name)) for name in ("karrowick/Okafor, Amara.txt", "new.txt")]
        events = new()
        assert file_ids(events) == numbers
        assert events[-1]["class_uid"] == 6007
        store.decide_all([(int(numbers[1]), Verdict.NOT_PHI)], reviewer="ada", now=later(20))
        (decided,) = new()
        assert (decided["activity_name"], decided["status"]) == ("Update", "Suppressed")
        assert file_ids([decided]) == numbers[1:]
        assert new() == []
        late = {**table, "name": "late"}
        Http.got.clear()
        pushed(store, tmp_path, late)
        assert sum(one["class_uid"] == 6007 for one in hec_events()) == 1  # not every scan that ever was


def test_a_first_verdict_that_awaits_a_blind_second_one_is_not_sent(
    store: Store, tmp_path: Path, token: str
) -> None:
    store.desk.set_policy(second_review=1.0, hide_limit=0, by="lead", now=later(1))
    number = store.find("a/letter.txt")
    store.desk.decide(number, Verdict.PHI, reviewer="ada", now=later(2))
    with serving(Http) as port:
        table = {"to": f"hec+http://127.0.0.1:{port}", "token_file": token, "what": ["decisions"]}
        assert pushed(store, tmp_path, table)[0].sent == {"decisions": 0}
        store.desk.decide(number, Verdict.PHI, reviewer="bob", now=later(3))
        assert pushed(store, tmp_path, table)[0].sent == {"decisions": 1}


def test_no_name_leaves_unless_paths_are_wanted(store: Store, tmp_path: Path, token: str) -> None:
    number = store.find("karrowick/Okafor, Amara.txt")
    store.decide_all([(number, Verdict.PHI)], reviewer="Revathi", now=later(5))
    store.desk.write_incident(None, {"title": "Okafor's letter"}, add=[number, 1], by="Revathi", now=later(6))
    ticket = tmp_path / "ticket.json"
    ticket.write_text('{"text": "$file_id $root $path $people $case $identifiers $label $link"}')
    incident = tmp_path / "incident.json"
    incident.write_text('{"text": "$incident $files $people $link", "n": $people}')
    what = ["findings", "decisions", "scans"]
    said: dict[bool, str] = {}
    for paths in (False, True):
        if not paths:
            ticket.write_text(ticket.read_text().replace("$root $path ", ""))
        with serving(Http) as port:
            to = {"to": f"http://127.0.0.1:{port}", "secret_file": token, "paths": paths}
            tables = [
                {**to, "name": f"{form} {paths}", "form": form, "what": what} for form in ("ocsf", "cef")
            ]
            tables.append({**to, "name": f"t {paths}", "what": ["confirmed"], "template": str(ticket)})
            tables.append({**to, "name": f"i {paths}", "template": str(incident)})
            done = pushed(store, tmp_path, *tables, desk={"public_url": "https://desk.example"})
            assert [sum(one.sent.values()) for one in done] == [5, 5, 1, 1]
            said[paths] = "".join(f"{headers}{body}" for headers, body in Http.got)
        ticket.write_text('{"text": "$file_id $root $path $people $case $identifiers $label $link"}')
    assert not [one for one in CANARIES if one.casefold() in said[False].casefold()]
    assert "Okafor, Amara.txt" in said[True]
    assert f"https://desk.example/items/{number}" in said[True]
    assert '{"text": "1 2 4 https://desk.example/incidents/1", "n": 4}' in said[False]
    shapes = {one.preview for result in SHARE for one in result.findings}
    assert shapes
    assert not [one for one in shapes if one in said[True]]


def test_a_ticket_by_e_mail_stays_in_its_line(store: Store, tmp_path: Path) -> None:
    name = "x\nBcc: eve@evil.example\r\n\r\nOkafor.txt"
    scan(store, [referred(name)], minutes=5)
    store.decide_all([(store.queue()[-1].file_id, Verdict.PHI)], reviewer="ada", now=later(7))
    template = tmp_path / "ticket.txt"
    template.write_text("Subject: PHI confirmed in $path ($$5)\n\nSee ${link}\n")
    with serving(MailServer) as port:
        notify = mail_table(port)
        table = {"to": "mailto:privacy@hospital.example", "template": str(template)}
        table |= {"what": ["confirmed"], "paths": True}
        others = {"notify": notify, "desk": {"public_url": "https://desk.example"}}
        (done,) = pushed(store, tmp_path, table, **others)
        (text,) = MailServer.got
    assert (done.sent, done.problem) == ({"confirmed": 1}, "")
    mail = email.message_from_string(text, policy=email.policy.default)
    assert mail["To"] == "privacy@hospital.example"
    assert "Bcc" not in mail
    subject = "PHI confirmed in x\\x0aBcc: eve@evil.example\\x0d\\x0a\\x0d\\x0aOkafor.txt ($5)"
    assert mail["Subject"].strip() == subject
    assert mail.get_content().startswith("See https://desk.example/items/")


def test_a_killed_push_sends_at_most_one_batch_again(tmp_path: Path, token: str) -> None:
    with Store.open(url_of(tmp_path / "phiscan.db"), create=True, audit_key=tmp_path / "audit.key") as store:
        scan(store, [referred(f"{number:03}.txt") for number in range(250)])
    (tmp_path / "key").write_text(KEY.hex())
    (tmp_path / "key").chmod(0o600)
    Http.held, release = threading.Event(), None
    try:
        with serving(Http) as port:
            (tmp_path / "phiscan.toml").write_text(
                f'home = "."\n[[push]]\nto = "hec+http://127.0.0.1:{port}"\ntoken_file = "{token}"\n'
            )
            command = [sys.executable, "-m", "phiscan", "--config", str(tmp_path / "phiscan.toml"), "push"]
            environment = {**os.environ, "PHISCAN_HOME": str(tmp_path)}
            Http.arrived.clear()
            with subprocess.Popen([*command, "--json"], env=environment) as running:
                assert Http.arrived.wait(60)  # the second batch is there, and not answered
                running.send_signal(signal.SIGKILL)
            release, Http.held = Http.held, None
            given: Any = {"env": environment, "capture_output": True, "text": True, "timeout": 60}
            dry = subprocess.run([*command, "--dry-run"], check=True, **given)
            assert dry.stdout == f"hec+http://127.0.0.1:{port}: 150 findings, 1 scans waiting\n"
            done = subprocess.run([*command, "--json"], check=True, **given)
            events = hec_events()
    finally:
        Http.held = None
        if release is not None:
            release.set()
    answer = json.loads(done.stdout)
    jsonschema.validate(answer, json.loads(SCHEMA.read_text()), cls=jsonschema.Draft202012Validator)
    assert answer["receivers"][0]["sent"] == {"findings": 150, "scans": 1}
    numbers = file_ids(events)
    assert [numbers.count(str(one)) for one in range(1, 251)] == [1] * 100 + [2] * 100 + [1] * 50
    assert len({one["metadata"]["uid"] for one in events}) == 251


def config_tests() -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield a table, a template, and what is said of them."""
    hec: dict[str, Any] = {"to": "hec+https://h.example:8088", "token_file": "PRIVATE"}
    for to in ("", "ftp://x", "syslog://x", "https://u:p@x.example", "syslog+tls://", "hec+http://x.example"):
        yield {"to": to, "secret_file": "PRIVATE"}, "", "push[1].to: expected syslog+tls://"
    yield {"to": "syslog+tcp://10.0.0.1"}, "", "push[1].to: expected syslog+tls; without encryption only"
    yield {"to": "syslog+udp://h.example"}, "", "push[1].to: expected syslog+tls; without encryption only"
    yield {"to": "hec+https://h.example"}, "", "push[1].token_file: expected a file, mode 0600"
    yield {"to": "https://h.example"}, "", "push[1].secret_file: expected a file, mode 0600"
    yield {**hec, "token_file": "OPEN"}, "", "token_file: others may read it; expected mode 0600"
    yield {**hec, "form": "leef"}, "", "push[1].form: expected one of cef, ocsf"
    yield {**hec, "what": ["values"]}, "", "push[1].what: values: expected one of findings"
    yield {**hec, "what": ["confirmed"]}, "", "push[1].what: confirmed: expected one of findings"
    yield {"to": "mailto:a@b.example"}, "", "push[1].template: expected the file of a ticket"
    ticket: dict[str, Any] = {"to": "https://h.example", "secret_file": "PRIVATE", "template": "TEMPLATE"}
    yield {**ticket, "what": ["incidents", "confirmed"]}, "{}", "push[1].what: expected one kind of ticket"
    yield ticket, '{"a":\n"$patient"}', "template:2: $patient: expected one of $incident, $files"
    yield ticket, '{"a": "$ 5"}', "template:1: $: expected one of"
    yield ticket, '{"a": "$link"}', "template:1: $link: expected desk.public_url"
    yield {**ticket, "what": ["confirmed"]}, '{"a": "$path"}', "template:1: $path: expected paths = true"
    yield {**ticket, "what": ["confirmed"]}, '{"a":\n $case}', "template:2: not valid JSON"
    yield {**ticket, "to": "syslog+tls://h.example"}, "{}", "push[1].template: expected mailto: or https://"
    mail = {"to": "mailto:a@b.example", "template": "TEMPLATE"}
    yield mail, "PHI", "template:1: first line: expected Subject:"
    yield (
        {**mail, "to": "mailto:a@b.example\nBcc: x@y"},
        "Subject: x",
        "push[1].name: expected a name on one line",
    )


@pytest.mark.parametrize(("table", "template", "complaint"), list(config_tests()))
def test_refuses_what_cannot_work_before_the_scan(
    table: dict[str, Any], template: str, complaint: str, tmp_path: Path
) -> None:
    for name, mode in (("PRIVATE", 0o600), ("OPEN", 0o644), ("template", 0o644)):
        (tmp_path / name).write_text(template or TOKEN)
        (tmp_path / name).chmod(mode)
    places = {name: str(tmp_path / name) for name in ("PRIVATE", "OPEN")} | {
        "TEMPLATE": str(tmp_path / "template")
    }
    given = {
        name: places.get(value, value) if isinstance(value, str) else value for name, value in table.items()
    }
    notify = {"mail_from": "p@b.example", "smtp_host": "h.example"}
    with pytest.raises(ConfigError, match=re.escape(complaint)) as found:
        read_notices(config_of({"push": [given], "notify": notify}))
    assert TOKEN not in str(found.value)


def test_two_receivers_have_two_names(token: str) -> None:
    table = {"to": "hec+https://h.example:8088/services/collector/event?x=secret", "token_file": token}
    with pytest.raises(ConfigError, match="push: name hec") as found:
        read_notices(config_of({"push": [table, table]}))
    assert "secret" not in str(found.value)
    named = read_notices(config_of({"push": [table, {**table, "name": "second"}]})).receivers
    assert [one.name for one in named] == ["hec+https://h.example:8088", "second"]


def test_the_token_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHISCAN_PUSH_SIEM_2_TOKEN", TOKEN)
    (one,) = read_notices(config_of({"push": [{"to": "hec+https://h.example", "name": "siem-2"}]})).receivers
    assert isinstance(one.sender, Webhook)
    assert one.sender.authorization == f"Splunk {TOKEN}"
