"""Mailboxes, against a real Dovecot server on loopback."""

import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import imapclient
import pytest

from phiscan.config import Config
from phiscan.crawl import Crawled, check_roots, imap, is_same_file
from phiscan.crawl.imap import ImapShare
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import UnansweredError
from phiscan.errors import InputError
from phiscan.model import FailReason, SkipReason, SourceFile
from tests.crawl.fetched import access_of, fetched, found_at, opened_share, reason_of, refusal_of
from tests.servers.dovecot import OTHER, PASSWORD, USER, Dovecot, new_token, running_dovecot

MAIL = b"Subject: results\r\nFrom: a@example.org\r\n\r\nhello\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Dovecot]:
    with running_dovecot() as running:
        yield running


@pytest.fixture
def dovecot(server: Dovecot, monkeypatch: pytest.MonkeyPatch) -> Dovecot:
    """Return the server with no mail, and the environment that signs in."""
    for entry in (server.server.folder / "index").iterdir():
        shutil.rmtree(entry)
    server.server.ready(monkeypatch)
    return server


def _break_off(share: ImapShare) -> None:
    for client in share._clients:
        client.shutdown()


def _paths(found: list[Crawled]) -> list[str]:
    return [crawled.source.path.decode() for crawled in found]


def test_yields_the_messages_of_all_folders_by_folder_and_name(dovecot: Dovecot) -> None:
    for number in range(12):
        dovecot.add("", f"{number:02d}.a", MAIL)
    path = dovecot.add(".Ward 5%.&AOk-t&AOk-", "1.a", MAIL)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    dovecot.add(".Ward 5%-old", "1.a", MAIL)
    dovecot.add(".Ward 5%-old", "2.a", b"")
    found = found_at(dovecot.server.url)
    inbox = sorted(f"INBOX/{number}.eml" for number in range(1, 13))
    assert _paths(found) == [*inbox, "Ward 5%25/été/1.eml", "Ward 5%25-old/1.eml", "Ward 5%25-old/2.eml"]
    assert [crawled.skip for crawled in found[-2:]] == [None, SkipReason.EMPTY]
    source = found[12].source
    assert (source.size, source.mtime_ns) == (len(MAIL), 1_700_000_000 * 10**9)
    below = found_at(f"{dovecot.server.url}/Ward 5%25")
    assert _paths(below) == ["été/1.eml"]


def test_reads_messages_whole_without_marking_them(dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imap, "RANGE_BYTES", 1000)
    sizes = (2000, 2500, 100)
    bodies = [MAIL + b"%d line of text\r\n" % number * (size // 17) for number, size in enumerate(sizes)]
    bodies[0] = bodies[0][:1998] + b"\r\n"  # of two whole ranges
    for number, body in enumerate(bodies):
        dovecot.add("", f"{number}.a", body)
    (dovecot.server.share / USER / "new" / "9.a,S=5,W=5").write_bytes(b"a: b\n")
    before = sorted((dovecot.server.share / USER).glob("*/*,*"))
    found = found_at(dovecot.server.url)
    with opened_share(dovecot.server.url) as share:
        assert [fetched(share, crawled.source) for crawled in found[:3]] == bodies
    assert sorted((dovecot.server.share / USER).glob("*/*,*")) == before


def test_continues_where_a_connection_broke_off(dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imap, "RANGE_BYTES", 1000)
    monkeypatch.setattr(imap, "PAGE", 2)
    body = MAIL + b"a line of text\r\n" * 300
    for number in range(5):
        dovecot.add("", f"{number}.a", body)
    share = ImapShare(dovecot.server.url.encode(), load_settings(Config()))
    share.list_folder(b"")
    _break_off(share)
    found = [entry.source for entry in share.retry_policy.run(lambda: share.list_folder(b"INBOX"))]
    assert [source.path for source in found] == [b"INBOX/%d.eml" % number for number in range(1, 6)]
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(UnansweredError))
        opened = stack.enter_context(share.open(found[0]))
        first = opened.read(1000)
        _break_off(share)
        opened.read(1000)
    assert first == body[:1000]
    with share.open(found[0], len(first)) as opened:
        rest = b"".join(iter(lambda: opened.read(700), b""))
        assert opened.n_bytes == len(body)
    assert first + rest == body
    share.close()


def test_tells_an_unchanged_message_from_another(dovecot: Dovecot) -> None:
    path = dovecot.add("", "1.a", MAIL)
    (first,) = found_at(dovecot.server.url)
    (again,) = found_at(dovecot.server.url)
    assert is_same_file(again.source, first.source)
    path.rename(path.with_name(path.name.replace("1.a", "2.b")))
    (moved,) = found_at(dovecot.server.url)
    assert moved.source.path == b"INBOX/2.eml"
    assert reason_of(first.source) is FailReason.CHANGED
    listed = dovecot.server.share / USER / "dovecot-uidlist"  # as after a restored backup
    listed.write_text(re.sub(r"V\d+ N\d+", "V5 N1", listed.read_text().partition("\n")[0]) + "\n")
    shutil.rmtree(dovecot.server.folder / "index" / USER)
    (renumbered,) = found_at(dovecot.server.url)
    assert renumbered.source.path == first.source.path
    assert not is_same_file(renumbered.source, first.source)
    assert reason_of(first.source) is FailReason.CHANGED


def test_says_whose_mail_it_is_and_who_may_read_it(dovecot: Dovecot) -> None:
    for user in (USER, OTHER):
        dovecot.add("", "1.a", MAIL, user=user)
        dovecot.add(".Ward", "1.a", MAIL, user=user)
    rights = "owner lrwstipekxa\nanyone lr\nuser=eve lrs\ngroup=staff lr\n-user=dan r\nuser=kim l\n"
    (dovecot.server.share / USER / ".Ward" / "dovecot-acl").write_text(rights)
    port = int(dovecot.plain_url.rpartition(":")[2])
    with imapclient.IMAPClient("127.0.0.1", port, ssl=False) as client:
        client.login(OTHER, PASSWORD)
        client.setacl("Ward", USER, "lr")  # whereby its list of rights is hidden from her
    found = found_at(dovecot.server.url)
    assert _paths(found) == ["INBOX/1.eml", "Others/bo/Ward/1.eml", "Ward/1.eml"]
    seen = {crawled.source.path: access_of(crawled.source) for crawled in found}
    expected = {"user ann", "everyone", "user eve", "group staff", "not user dan"}
    assert seen[b"INBOX/1.eml"] == (USER, ("user ann",))
    assert seen[b"Others/bo/Ward/1.eml"] == (OTHER, ())
    assert (seen[b"Ward/1.eml"][0], set(seen[b"Ward/1.eml"][1])) == (USER, expected)


def test_signs_in_with_a_token_and_encrypts_a_plain_connection(
    dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dovecot.add("", "1.a", MAIL)
    monkeypatch.delenv("PHISCAN_IMAP_PASSWORD")
    monkeypatch.setenv("PHISCAN_IMAP_TOKEN", new_token())
    assert _paths(found_at(dovecot.plain_url)) == ["INBOX/1.eml"]
    monkeypatch.delenv("PHISCAN_IMAP_CA_FILE")
    with pytest.raises(InputError, match=r"imap://.*: cannot be opened: its certificate is not valid"):
        check_roots([dovecot.plain_url])


@pytest.mark.parametrize(
    ("below", "name", "value", "said"),
    [
        ("", "PASSWORD", "Wrong-canary-418", "wrong user name or password"),
        ("", "TOKEN", "Wrong-canary-418", "wrong user name or password"),
        ("", "USERNAME", "", "expected a user name"),
        ("", "CA_FILE", "", "its certificate is not valid: self-signed certificate"),
        ("/Nowhere", "PASSWORD", PASSWORD, "no such folder"),
    ],
)
def test_refuses_in_one_line_that_names_the_source(  # noqa: PLR0917 (the parameters)
    dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch, below: str, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(f"PHISCAN_IMAP_{name}", value)
    assert refusal_of(dovecot.server.url + below).startswith(said)


def test_does_not_send_a_password_over_a_plain_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server beyond this machine says in its greeting that it offers no STARTTLS."""
    sent = []

    class Plain:
        host = "mail.example.org"

        def has_capability(self, name: str) -> bool:
            return name != "STARTTLS"

        def login(self, *words: str) -> None:
            sent.append(words)

    monkeypatch.setenv("PHISCAN_IMAP_USERNAME", USER)
    monkeypatch.setattr(imap, "Client", lambda *_, **__: Plain())
    with pytest.raises(InputError, match="would not be encrypted"):
        check_roots(["imap://mail.example.org"])
    assert sent == []


def test_a_server_that_does_not_answer_is_given_up(
    dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PHISCAN_SHARES_TIMEOUT_S", "0.2")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"imap://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match="no answer from the server"):
            check_roots([url])
    with pytest.raises(InputError, match="no answer from the server"):
        check_roots([url])
    monkeypatch.setenv("PHISCAN_IMAP_CA_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(InputError, match="ca_file"):
        check_roots([dovecot.server.url])


def test_a_message_of_no_folder_has_changed(dovecot: Dovecot) -> None:
    gone = SourceFile(dovecot.server.url.encode(), b"Gone/1.eml", 5, 0, 0, 1, 0)
    assert reason_of(gone) is FailReason.CHANGED


def test_reads_no_more_than_an_honest_answer_may_have(
    dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a server that returns whole messages; it costs the message, and the server is not gone."""
    really_fetch = imapclient.IMAPClient.fetch

    def fetch_whole(self: Any, numbers: Any, data: list[str]) -> Any:
        return really_fetch(self, numbers, [one.partition("<")[0] for one in data])

    monkeypatch.setattr(imapclient.IMAPClient, "fetch", fetch_whole)
    body = MAIL * 1000
    dovecot.add("", "1.a", body)
    (crawled,) = found_at(dovecot.server.url)
    monkeypatch.setattr(imap, "RANGE_BYTES", len(body) - 10)
    with opened_share(dovecot.server.url) as share:
        assert fetched(share, crawled.source) == body
        monkeypatch.setattr(imap, "MOST_BYTES", len(body) - 10)
        with pytest.raises(UnansweredError) as caught, share.open(crawled.source) as opened:
            opened.read(1)
    assert not caught.value.is_gone


@pytest.mark.parametrize(
    ("greeting", "piece", "pause_s", "error"),
    [
        (b"* OK ready\r\n", b"* 1 EXISTS\r\n" * 99, 0, "ValueError"),
        (b"* OK ready\r\n", b"x" * 999, 0, "ValueError"),
        (b"", b"x" * 999, 0, "ValueError"),
        (b"", b"x", 0.05, "TimeoutError"),
    ],
)
def test_an_answer_without_end_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, greeting: bytes, piece: bytes, pause_s: float, error: str
) -> None:
    monkeypatch.setattr(imap, "MOST_BYTES", 100_000)
    monkeypatch.setenv("PHISCAN_IMAP_USERNAME", USER)
    monkeypatch.setenv("PHISCAN_SHARES_TIMEOUT_S", "0.3")

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.sendall(greeting)
            while not closed.wait(pause_s):
                connection.sendall(piece)

    closed = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(InputError, match=error):
            check_roots([f"imap://127.0.0.1:{listening.getsockname()[1]}"])
        closed.set()
        thread.join()
