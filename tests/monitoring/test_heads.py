"""The head of the audit log goes to a file, by mail and to a program."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phiscan.config import config_of
from phiscan.errors import ConfigError
from phiscan.monitoring.notices import read_head, read_notices
from phiscan.review.integrity import verify_to
from phiscan.review.store import Store
from tests.review.results import scan, url_of
from tests.servers.receivers import MailServer, mail_table, serving


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(url_of(tmp_path / "a.db"), create=True, audit_key=tmp_path / "audit.key") as opened:
        scan(opened)
        opened.digest_scan(1, whole=True, now=opened.scans()[0].started)
        yield opened


def sent(store: Store, tmp_path: Path, **table: Any) -> list[str]:
    config = config_of({"home": str(tmp_path / "home"), "heads": table})
    return list(read_notices(config).send(store, store.summary(1)))


def test_a_head_in_a_file_is_one_line_and_verifies_later(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "heads.jsonl"
    assert sent(store, tmp_path, file=str(place)) == []
    assert sent(store, tmp_path, file=str(place)) == []
    first, second = (json.loads(line) for line in place.read_text().splitlines())
    assert first == second == {"event": "audit.head", "scan": 1, **(read_head(store) or {})}
    with store.database.read() as connection:
        assert verify_to(connection, head=first["hash"]).ok
        assert not verify_to(connection, head="0" * 63 + "1").ok


def test_a_program_gets_the_line_at_its_standard_input(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "got"
    code = f"import sys; open({str(place)!r}, 'w').write(sys.stdin.read())"
    assert sent(store, tmp_path, command=[sys.executable, "-c", code]) == []
    assert json.loads(place.read_text())["entry"] == (read_head(store) or {})["entry"]


def test_mail_goes_through_the_server_of_the_notices(store: Store, tmp_path: Path) -> None:
    with serving(MailServer) as port:
        heads = {"mail_to": ["audit@hospital.example"]}
        notices = read_notices(config_of({"home": str(tmp_path), "notify": mail_table(port), "heads": heads}))
        assert list(notices.send(store, store.summary(1))) == []
    (mail,) = MailServer.got
    assert "To: audit@hospital.example" in mail
    assert (read_head(store) or {})["signature"] in mail.replace("=\r\n", "")


def test_a_way_that_fails_is_one_line_and_the_others_go_on(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "heads.jsonl"
    failing = [sys.executable, "-c", "raise SystemExit(3)"]
    (line,) = sent(store, tmp_path, file=str(place), command=failing, mail_to=[])
    assert "could not be sent" in line
    assert "\n" not in line
    assert place.exists()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert len(sent(store, tmp_path, file=str(tmp_path / "link"))) == 1
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"file": "/"}, r"heads\.file: /: expected a file"),
        ({"paper": "x"}, r"heads\.paper: unknown field"),
    ],
)
def test_a_mistake_is_said_before_the_scan(table: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        read_notices(config_of({"home": str(tmp_path), "heads": table}))
