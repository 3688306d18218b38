"""Notices go to real servers on loopback: signed, encrypted, tried again, and silent about every path."""

import json
import ssl
from pathlib import Path

import pytest

from phiscan.config import load_config
from phiscan.errors import ConfigError
from phiscan.monitoring.notices import read_notices
from phiscan.monitoring.senders import Webhook, retried
from tests.pipeline.harness import ToolHere, write_share
from tests.servers.certificate import make_certificate
from tests.servers.receivers import Http, MailServer, serving

COUNTS = '{"event": "scan.finished", "scan": 1}'


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404])
def test_webhook_is_not_sent_elsewhere_nor_again_when_it_is_refused(status: int) -> None:
    with serving(Http) as port:
        Http.statuses[:] = [status]
        with pytest.raises(OSError, match=str(status)):
            retried(Webhook(f"http://127.0.0.1:{port}/", "s").send, COUNTS, "17", sleep=lambda _s: None)
        assert len(Http.got) == 1


def test_webhook_trusts_only_a_known_authority(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with serving(Http, tls=context) as port:
        with pytest.raises(OSError, match=r"CERTIFICATE_VERIFY_FAILED|certificate verify failed"):
            retried(Webhook(f"https://localhost:{port}/", "s").send, COUNTS, "17", sleep=lambda _s: None)
        assert Http.got == []


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_scan_sends_counts_and_a_link_and_no_name(tmp_path: Path) -> None:
    share = write_share(tmp_path / "Karrowick-share", 11)
    (tmp_path / "hook.key").write_text("secret\n")
    tool = ToolHere(tmp_path / "home")
    with serving(Http) as port, serving(MailServer) as mail_port:
        (tmp_path / "phiscan.toml").write_text(
            'home = "home"\n[notify]\nlink = "https://phiscan.example/queue"\n'
            f'metrics_file = "{tmp_path}/phiscan.prom"\n'
            f'webhook_url = "http://127.0.0.1:{port}/"\nwebhook_secret_file = "{tmp_path}/hook.key"\n'
            f'mail_to = ["officer@hospital.example"]\nmail_from = "phiscan@hospital.example"\n'
            f'smtp_host = "127.0.0.1"\nsmtp_port = {mail_port}\nsmtp_tls = "none"\n'
        )
        done = tool.run("--log-format", "json", "scan", share, "--json")
        assert done.returncode == 1, done.stderr
        (_headers, body), (mail,) = Http.got[0], MailServer.got
    counts = json.loads(body)
    assert (counts["crawled"], counts["referred"], counts["link"]) == (11, 2, "https://phiscan.example/queue")
    assert "Subject: phiscan: scan 1 complete, 2 referred" in mail
    assert "The review queue: https://phiscan.example/queue" in mail
    logged = [json.loads(line) for line in done.stderr.splitlines()]
    assert logged[-1]["event"] == "scan.finished"
    assert logged[-1]["crawled"] == 11
    said = body + mail + (tmp_path / "phiscan.prom").read_text() + done.stderr
    for name in ("Karrowick", "file0", str(share), "Torvald"):
        assert name not in said


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_notice_that_cannot_be_sent_changes_nothing_about_the_scan(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 2)
    tool = ToolHere(tmp_path / "home")
    (tmp_path / "phiscan.toml").write_text(
        'home = "home"\n[notify]\nmail_to = ["a@b.example"]\nmail_from = "p@b.example"\n'
        'smtp_host = "127.0.0.1"\nsmtp_port = 1\nsmtp_tls = "none"\n'
        'metrics_file = "/nonexistent/phiscan.prom"\n'
    )
    done = tool.run("scan", share)
    assert done.returncode == 1
    assert "e-mail: could not be sent (ConnectionRefusedError" in done.stderr
    assert "/nonexistent/phiscan.prom: metrics: could not be sent (FileNotFoundError" in done.stderr


MAIL = 'mail_to = ["o@h"]\nmail_from = "a@b"\nsmtp_host = "m"\n'
HOOK = 'webhook_url = "https://x.example/"\nwebhook_secret_file = "SECRET"\n'
URLS = (
    "http://x.example/",
    "https://[::1/x",
    "https://x.example:99999/",
    "https://u:p@x.example/",
    "https:///x",
)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ('when = "never"', "notify.when"),
        (HOOK.partition("\n")[0], "notify.webhook_secret_file: expected"),
        (HOOK.replace("SECRET", "none"), "cannot be read"),
        (MAIL.replace("o@h", "officer"), "notify.mail_to: expected an address"),
        (MAIL.replace("o@h", "o@h\\nBcc: x@y"), "notify.mail_to: expected"),
        (MAIL.replace('smtp_host = "m"', ""), "notify.smtp_host"),
        (MAIL + 'smtp_tls = "none"', "notify.smtp_tls: expected"),
        (MAIL + 'smtp_user = "u"', "notify.smtp_password_file"),
        (MAIL + "smtp_port = 700000", "notify.smtp_port"),
        ("mail = 3", "notify.mail: unknown field"),
        *((HOOK.replace("https://x.example/", url), "notify.webhook_url: expected an https") for url in URLS),
        ('metrics_file = "/dev/null"', "notify.metrics_file: /dev/null: expected a file"),
    ],
)
def test_refuses_what_cannot_work_before_the_scan(tmp_path: Path, lines: str, complaint: str) -> None:
    path, secret = tmp_path / "phiscan.toml", tmp_path / "secret"
    secret.write_text("x")
    path.write_text(f"[notify]\n{lines.replace('SECRET', str(secret))}\n")
    with pytest.raises(ConfigError, match=complaint):
        read_notices(load_config(path, environ={}))
