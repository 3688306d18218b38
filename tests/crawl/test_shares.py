"""What every kind of share has in common: roots, settings, credentials, retry_policy, and who may read."""

import os
import struct
import sys
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential
from keyring.errors import KeyringLocked

from phiscan.config import Config, SharesTable, load_config
from phiscan.crawl import check_roots
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.location import parse_url
from phiscan.crawl.posix_access import with_access
from phiscan.crawl.remote import RetryPolicy
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import UnansweredError
from phiscan.crawl.shares import open_remote
from phiscan.crawl.smb import access_of
from phiscan.errors import ConfigError, InputError
from phiscan.model import SourceFile
from tests.crawl.fetched import posix_acl

SECRET = "Zebra-canary-417"


@pytest.mark.parametrize(
    "url", [f"smb://ann:{SECRET}@files/research", f"smb://ann@{SECRET}/x", f"s3://{SECRET}@bucket"]
)
def test_refuses_a_url_with_user_or_password_without_repeating_it(url: str) -> None:
    with pytest.raises(InputError, match="without user and password") as caught:
        check_roots([url])
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "rest", ["", "/share", "files:0/x", "files:99999/x", "f/../x", "[::1/x", "[::1]x/y", "f?/x", "::1/x"]
)
def test_refuses_a_url_that_is_none(rest: str) -> None:
    with pytest.raises(InputError, match="expected"):
        parse_url(f"smb://{rest}")


def test_refuses_a_scheme_that_no_share_has() -> None:
    with pytest.raises(InputError, match=r"s3://, .*smb://"):
        check_roots(["ftp://files/research"])


@pytest.mark.parametrize(
    ("root", "package", "extra"),
    [
        *(("davs://x/y", "httpx2", "webdav"), ("imap://x", "imapclient", "imap"), ("s3://x", "s3fs", "s3")),
        *(("mariadb://x/y", "pymysql", "mariadb"), ("sftp://x/y", "asyncssh", "sftp")),
        ("smb://x/y", "smbclient", "smb"),
    ],
)
def test_says_what_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, root: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"phiscan.crawl.{extra}", raising=False)
    with pytest.raises(
        InputError, match=rf"needs the package .*; expected phiscan installed with \[{extra}\]"
    ):
        open_remote(root.encode(), SharesTable())


def test_a_url_has_one_normal_form() -> None:
    assert (
        parse_url("SMB://Files.Example:445//research//2026/ä b/").root
        == "smb://files.example:445/research/2026/ä b".encode()
    )


def test_settings_come_from_the_file_and_the_environment_wins(tmp_path: Path) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text('[shares]\nattempts = 3\nsmb_username = "scanner"\n')
    settings = load_settings(
        load_config(path, {}), {"PHISCAN_SMB_USERNAME": "other", "PHISCAN_SHARES_CONNECTIONS": "2"}
    )
    assert (settings.attempts, settings.smb_username, settings.connections) == (3, "other", 2)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PHISCAN_SHARES_ATTEMPTS": "0"}, "shares.attempts"),
        ({"PHISCAN_SHARES_TIMEOUT_S": "nan"}, "shares.timeout_s"),
        ({"PHISCAN_SHARES_CONNECTIONS": "many"}, "PHISCAN_SHARES_CONNECTIONS: expected a whole number"),
        ({"PHISCAN_SMB_AUTH": "telnet"}, "one of negotiate, kerberos, ntlm"),
    ],
)
def test_refuses_settings_that_are_none(environ: dict[str, str], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        load_settings(Config(), environ)


def test_refuses_a_password_in_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text(f'[shares]\nsmb_password = "{SECRET}"\n')
    with pytest.raises(ConfigError, match="unknown field") as caught:
        load_settings(load_config(path, {}), {})
    assert SECRET not in str(caught.value)


def test_the_longest_table_that_fits_a_root_signs_in(tmp_path: Path) -> None:
    path = tmp_path / "shares.toml"
    path.write_text(
        '["smb://files"]\nusername = "a"\n["smb://files/research"]\nusername = "b"\n'
        '["s3://bucket"]\nusername = "c"\n'
    )
    path.chmod(0o600)
    settings = SharesTable(credentials_file=str(path), smb_username="d")
    who = [
        credentials_of(root, settings, {}).username
        for root in (
            b"smb://files/x",
            b"smb://files/research/2026",
            b"smb://files/research2",
            b"s3://bucket",
            b"smb://other/x",
        )
    ]
    assert who == ["a", "b", "a", "c", "d"]


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        (f'["smb://x"]\npassword = "{SECRET}"\n', 0o640, "others may read it"),
        (f'["smb://x"]\npassword = "{SECRET}\n', 0o600, "not valid TOML"),
        (f'["smb://x"]\npasswort = "{SECRET}"\n', 0o600, "unknown field"),
        (f'password = "{SECRET}"\n', 0o600, "expected a table"),
    ],
)
def test_refuses_a_file_of_credentials_without_quoting_it(
    tmp_path: Path, text: str, mode: int, expected: str
) -> None:
    path = tmp_path / "shares.toml"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=expected) as caught:
        credentials_of(b"smb://x", SharesTable(credentials_file=str(path)), {})
    assert SECRET not in str(caught.value)


class Keyring(KeyringBackend):
    """A keyring with the entries that it is given."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self, *entries: tuple[str, str, str], is_locked: bool = False) -> None:
        super().__init__()
        self._entries = entries
        self._is_locked = is_locked

    def get_password(self, service: str, username: str) -> str | None:
        raise NotImplementedError

    set_password = delete_password = get_password  # type: ignore[assignment]

    def get_credential(self, service: str, username: str | None) -> SimpleCredential | None:  # noqa: ARG002 (the interface of a keyring)
        if self._is_locked:
            raise KeyringLocked(SECRET)
        return next((SimpleCredential(*who) for name, *who in self._entries if name == service), None)


def test_a_keyring_signs_in_by_the_longest_url_that_contains_the_root() -> None:
    before = keyring.get_keyring()
    settings = SharesTable(keyring="on")
    try:
        keyring.set_keyring(
            Keyring(("phiscan sftp://files", "ann", "a"), ("phiscan sftp://files/ward", "ben", SECRET))
        )
        who = credentials_of(b"sftp://files/ward/2026", settings, {})
        assert (who.username, who.password) == ("ben", SECRET)
        assert credentials_of(b"sftp://files/other", settings, {}).username == "ann"
        other = credentials_of(b"sftp://other/ward", settings, {"PHISCAN_SFTP_USERNAME": "eve"})
        assert other.username == "eve"
        keyring.set_keyring(Keyring(is_locked=True))
        with pytest.raises(ConfigError, match="cannot be read") as caught:
            credentials_of(b"sftp://files", settings, {})
        assert SECRET not in str(caught.value)
    finally:
        keyring.set_keyring(before)


def test_no_secret_is_shown_by_repr() -> None:
    who = credentials_of(b"smb://x/y", SharesTable(), {"PHISCAN_SMB_PASSWORD": SECRET})
    assert who.password == SECRET
    assert SECRET not in repr(who)


class _Failing:
    """Fails so often, then answers; counts the tries."""

    def __init__(self, n_failures: int, *, is_gone: bool = True) -> None:
        self.n_tries = 0
        self._n_failures = n_failures
        self._is_gone = is_gone

    def __call__(self) -> str:
        self.n_tries += 1
        if self.n_tries <= self._n_failures:
            message = "no answer"
            raise UnansweredError(message, is_gone=self._is_gone)
        return "answer"


IMPATIENT = SharesTable(attempts=4, retry_s=0.001)


def test_tries_again_until_there_is_an_answer_or_no_attempt_is_left() -> None:
    action = _Failing(3)
    assert RetryPolicy(IMPATIENT).run(action) == "answer"
    assert action.n_tries == 4
    action = _Failing(99)
    with pytest.raises(UnansweredError):
        RetryPolicy(IMPATIENT).run(action)
    assert action.n_tries == 4


def test_a_server_known_to_be_gone_is_not_waited_for_again() -> None:
    retry_policy = RetryPolicy(IMPATIENT)
    for _ in range(3):
        with pytest.raises(UnansweredError):
            retry_policy.run(_Failing(99))
    later = _Failing(99)
    with pytest.raises(UnansweredError):
        retry_policy.run(later)
    assert later.n_tries == 0


def test_a_server_that_is_back_is_asked_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.crawl.remote.PROBE_S", 0.0)
    retry_policy = RetryPolicy(IMPATIENT)
    with pytest.raises(UnansweredError):
        retry_policy.run(_Failing(99))
    assert retry_policy.run(_Failing(0)) == "answer"
    assert retry_policy.run(_Failing(3)) == "answer"  # with all attempts again


def test_one_bad_answer_does_not_make_the_server_gone() -> None:
    retry_policy = RetryPolicy(IMPATIENT)
    with pytest.raises(UnansweredError):
        retry_policy.run(_Failing(99, is_gone=False))
    assert retry_policy.run(_Failing(3)) == "answer"


def test_pauses_double_and_differ() -> None:
    retry_policy = RetryPolicy(SharesTable(retry_s=1.0))
    for attempt in range(1, 5):
        pauses = [retry_policy._pause(attempt) for _ in range(200)]
        longest = 2.0 ** (attempt - 1)
        assert longest / 2 <= min(pauses) < max(pauses) <= longest
        assert len(set(pauses)) > 100


def test_stopping_ends_a_pause() -> None:
    retry_policy = RetryPolicy(SharesTable(attempts=20, retry_s=1e6))
    action = _Failing(99)

    def fail_and_stop() -> str:
        retry_policy.stop()
        return action()

    with pytest.raises(UnansweredError):
        retry_policy.run(fail_and_stop)
    assert action.n_tries == 1


def _source(path: Path) -> SourceFile:
    return SourceFile.of(bytes(path.parent), path.name.encode(), path.stat())


def test_names_owner_and_readers_by_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    path.chmod(0o604)
    found = with_access(_source(path))
    assert found.owner == path.owner()
    assert found.readers == ("everyone", f"user {path.owner()}", f"not group {path.group()}")
    path.chmod(0o040)
    assert with_access(_source(path)).readers == (f"group {path.group()}", f"not user {path.owner()}")
    source = _source(path)
    path.unlink()
    gone = with_access(source)
    assert (gone.owner, gone.readers) == (found.owner, ())


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        # rw for the owner; user 4242 r, user 4243 w, group 4244 r; mask r; nothing for others.
        (
            ((1, 6, 0), (2, 4, 4242), (2, 2, 4243), (4, 0, 0), (8, 4, 4244), (16, 4, 0), (32, 0, 0)),
            ("group gid 4244", "user OWNER", "user uid 4242", "not user uid 4243"),
        ),
        # The mask limits all but owner and others.
        (
            ((1, 6, 0), (2, 4, 4242), (4, 4, 0), (16, 2, 0), (32, 4, 0)),
            ("everyone", "user OWNER", "not group GROUP", "not user uid 4242"),
        ),
    ],
)
def test_names_the_readers_of_an_access_control_list(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    entries: tuple[tuple[int, int, int], ...],
    expected: tuple[str, ...],
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    monkeypatch.setattr(os, "getxattr", lambda *_args, **_kwargs: posix_acl(*entries))
    named = (one.replace("OWNER", path.owner()).replace("GROUP", path.group()) for one in expected)
    assert with_access(_source(path)).readers == tuple(named)


def _sid(*parts: int, authority: int = 5) -> bytes:
    return (
        struct.pack("<BB", 1, len(parts))
        + authority.to_bytes(6, "big")
        + struct.pack(f"<{len(parts)}I", *parts)
    )


def _ace(kind: int, flags: int, mask: int, sid: bytes) -> bytes:
    return struct.pack("<BBHI", kind, flags, 8 + len(sid), mask) + sid


def _descriptor(owner: bytes, *aces: bytes, has_list: bool = True) -> bytes:
    acl = struct.pack("<BBHHH", 2, 0, 8 + sum(map(len, aces)), len(aces), 0) + b"".join(aces)
    control = 0x8004 if has_list else 0x8000
    return struct.pack("<BBHIIII", 1, 0, control, 20, 0, 0, 20 + len(owner) if has_list else 0) + owner + acl


EVERYONE = _sid(0, authority=1)
ANN = _sid(21, 1, 2, 3, 1104)
ANN_NAME = "account S-1-5-21-1-2-3-1104"


@pytest.mark.parametrize(
    ("descriptor", "expected"),
    [
        (_descriptor(ANN, _ace(0, 0, 0x1, EVERYONE)), ("S-1-5-21-1-2-3-1104", ("everyone",))),
        (
            _descriptor(ANN, _ace(0, 0, 0x1F01FF, ANN), _ace(0, 0, 0x2, EVERYONE)),
            ("S-1-5-21-1-2-3-1104", (ANN_NAME,)),
        ),
        (
            _descriptor(ANN, _ace(1, 0, 0x1, ANN), _ace(0, 0, 0x80000000, EVERYONE)),
            ("S-1-5-21-1-2-3-1104", (f"not {ANN_NAME}", "everyone")),
        ),
        (_descriptor(ANN, _ace(0, 0x08, 0x1, EVERYONE)), ("S-1-5-21-1-2-3-1104", ())),  # for new files only
        (
            _descriptor(_sid(32, 544), _ace(0, 0, 0x1, _sid(21, 9, 9, 9, 513))),
            ("Administrators", ("group Domain Users (S-1-5-21-9-9-9)",)),
        ),
        (
            _descriptor(_sid(1, 1000, authority=22), _ace(0, 0, 0x1, _sid(2, 100, authority=22))),
            ("uid 1000", ("group gid 100",)),
        ),
        (_descriptor(ANN, has_list=False), ("S-1-5-21-1-2-3-1104", ("everyone",))),
        (b"", ("", ())),
        (_descriptor(ANN, _ace(0, 0, 0x1, EVERYONE))[:-6], ("", ())),
    ],
)
def test_names_owner_and_readers_of_a_security_descriptor(
    descriptor: bytes, expected: tuple[str, tuple[str, ...]]
) -> None:
    assert access_of(descriptor) == expected
