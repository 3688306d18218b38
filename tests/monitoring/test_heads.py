"""The head of the audit log goes to a file, syslog, mail, a program and a time-stamping authority."""

import http.server
import json
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from phiscan.config import config_of
from phiscan.errors import ConfigError
from phiscan.monitoring.heads import Authority, read_head, read_heads
from phiscan.monitoring.notices import read_notices
from phiscan.review.integrity import verify_to
from phiscan.review.store import Store
from tests.monitoring.test_notices import _MailServer
from tests.review.results import scan, url_of


def nobody(_to: tuple[str, ...]) -> Callable[[str, str], None]:
    raise AssertionError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(url_of(tmp_path / "a.db"), create=True, audit_key=tmp_path / "audit.key") as opened:
        scan(opened)
        opened.digest_scan(1, whole=True, now=opened.scans()[0].started)
        yield opened


def sent(store: Store, tmp_path: Path, **table: Any) -> list[str]:
    config = config_of({"home": str(tmp_path / "home"), "heads": table})
    return list(read_heads(config, mail_of=nobody).send(store, 1))


def test_a_head_in_a_file_is_one_line_and_verifies_later(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "heads.jsonl"
    assert sent(store, tmp_path, file=str(place)) == []
    assert sent(store, tmp_path, file=str(place)) == []
    first, second = (json.loads(line) for line in place.read_text().splitlines())
    assert first == second == {"event": "audit.head", "scan": 1, **(read_head(store) or {})}
    with store.database.read() as connection:
        assert verify_to(connection, head=first["hash"]).ok
        assert not verify_to(connection, head="0" * 63 + "1").ok


def test_syslog_by_socket_datagram_and_stream(store: Store, tmp_path: Path) -> None:
    local = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stream = socket.create_server(("127.0.0.1", 0))
    with local, datagram, stream:
        local.bind(str(tmp_path / "log"))
        datagram.bind(("127.0.0.1", 0))
        assert sent(store, tmp_path, syslog=str(tmp_path / "log")) == []
        assert sent(store, tmp_path, syslog=f"udp://127.0.0.1:{datagram.getsockname()[1]}") == []
        assert sent(store, tmp_path, syslog=f"tcp://127.0.0.1:{stream.getsockname()[1]}") == []
        connection, _ = stream.accept()
        with connection:
            framed = connection.recv(10_000)
        length, _, third = framed.partition(b" ")
        assert int(length) == len(third)
        for message in (local.recv(10_000), datagram.recv(10_000), third):
            head, _, line = message.decode().partition(" - audit.head - ")
            assert head.startswith("<109>1 20")
            assert json.loads(line)["hash"] == (read_head(store) or {})["hash"]


def test_a_program_gets_the_line_at_its_standard_input(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "got"
    code = f"import sys; open({str(place)!r}, 'w').write(sys.stdin.read())"
    assert sent(store, tmp_path, command=[sys.executable, "-c", code]) == []
    assert json.loads(place.read_text())["entry"] == (read_head(store) or {})["entry"]


def test_mail_goes_through_the_server_of_the_notices(store: Store, tmp_path: Path) -> None:
    _MailServer.got.clear()
    with socketserver.TCPServer(("127.0.0.1", 0), _MailServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        notify = {
            "mail_from": "phiscan@hospital.example",
            "smtp_host": "127.0.0.1",
            "smtp_port": server.server_address[1],
            "smtp_tls": "none",
        }
        heads = {"mail_to": ["audit@hospital.example"]}
        notices = read_notices(config_of({"home": str(tmp_path), "notify": notify, "heads": heads}))
        assert list(notices.send(store, store.summary(1))) == []
        server.shutdown()
    (mail,) = _MailServer.got
    assert "To: audit@hospital.example" in mail
    assert (read_head(store) or {})["signature"] in mail.replace("=\r\n", "")


def test_a_way_that_fails_is_one_line_and_the_others_go_on(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "heads.jsonl"
    failing = [sys.executable, "-c", "raise SystemExit(3)"]
    lines = sent(store, tmp_path, file=str(place), syslog=str(tmp_path / "no"), command=failing, mail_to=[])
    assert len(lines) == 2
    assert all("could not be sent" in line and "\n" not in line for line in lines)
    assert place.exists()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert len(sent(store, tmp_path, file=str(tmp_path / "link"))) == 1
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"syslog": "siem.example"}, r"heads\.syslog: expected a socket"),
        ({"syslog": "tcp://siem.example"}, r"heads\.syslog: expected a socket"),
        ({"timestamp_url": "ftp://tsa.example"}, r"heads\.timestamp_url: expected an http or https"),
        ({"timestamp_url": "http://t.example", "timestamp_ca_file": "/no"}, r"heads\.timestamp_ca_file: /no"),
        ({"file": "/"}, r"heads\.file: /: expected a file"),
        ({"paper": "x"}, r"heads\.paper: unknown field"),
    ],
)
def test_a_mistake_is_said_before_the_scan(table: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        read_heads(config_of({"home": str(tmp_path), "heads": table}), mail_of=nobody)


class Tsa:
    """A time-stamping authority of openssl behind a small HTTP server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answer: bytes | None = None  # instead of a fresh one
        self.last = b""
        (folder / "serial").write_text("01\n")
        (folder / "tsa.cnf").write_text(
            "[tsa]\ndefault_tsa = one\n[one]\nserial = serial\nsigner_digest = sha256\n"
            "default_policy = 1.2.3.4\ndigests = sha256\naccuracy = secs:1\n"
            "ess_cert_id_chain = no\ness_cert_id_alg = sha256\n"
        )
        command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca"
        self.run(command)
        self.run("openssl req -new -newkey rsa:2048 -nodes -keyout k.key -out k.csr -subj /CN=tsa")
        (folder / "ext").write_text("extendedKeyUsage=critical,timeStamping\n")
        self.run("openssl x509 -req -in k.csr -CA ca.pem -CAkey ca.key -out k.pem -days 2 -extfile ext")

    def run(self, command: str) -> None:
        subprocess.run(command.split(), cwd=self.folder, check=True, capture_output=True)

    def reply(self, query: bytes) -> bytes:
        if self.answer is not None:
            return self.answer
        (self.folder / "q").write_bytes(query)
        command = "openssl ts -reply -config tsa.cnf -queryfile q -inkey k.key -signer k.pem -out r"
        self.run(command)
        self.last = (self.folder / "r").read_bytes()
        return self.last


@pytest.fixture
def tsa(tmp_path: Path) -> Iterator[tuple[Tsa, str]]:
    folder = tmp_path / "tsa"
    folder.mkdir()
    made = Tsa(folder)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            answer = made.reply(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made, f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def test_a_time_stamp_is_verified_and_kept_for_openssl(
    store: Store, tmp_path: Path, tsa: tuple[Tsa, str]
) -> None:
    made, url = tsa
    ca = str(made.folder / "ca.pem")
    assert sent(store, tmp_path, timestamp_url=url, timestamp_ca_file=ca) == []
    kept = tmp_path / "home" / "heads"
    (name,) = (path.stem for path in kept.glob("*.tsr"))
    assert name == f"head-{(read_head(store) or {})['entry']}"
    check = ["openssl", "ts", "-verify", "-data", f"{name}.json", "-in", f"{name}.tsr", "-CAfile", ca]
    subprocess.run(
        [*check, "-untrusted", str(made.folder / "k.pem")], cwd=kept, check=True, capture_output=True
    )


def test_a_time_stamp_of_another_line_or_of_nobody_known_is_not_kept(
    tmp_path: Path, tsa: tuple[Tsa, str]
) -> None:
    made, url = tsa
    folder = tmp_path / "kept"
    authority = Authority(url, folder, str(made.folder / "ca.pem"))
    authority.stamp("one", "one line")
    made.answer = made.last
    with pytest.raises(ValueError, match="for other data"):
        authority.stamp("two", "another line")
    with pytest.raises(ValueError, match="for other data"):  # replayed: another nonce
        authority.stamp("two", "one line")
    made.answer = None
    made.run("openssl req -x509 -newkey rsa:2048 -nodes -keyout o.key -out o.pem -days 2 -subj /CN=o")
    with pytest.raises(ValueError, match="does not chain to the certificates"):
        Authority(url, folder, str(made.folder / "o.pem")).stamp("two", "another line")
    assert sorted(path.name for path in folder.iterdir()) == ["one.json", "one.tsr"]
