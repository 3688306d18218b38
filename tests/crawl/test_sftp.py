"""What is peculiar to SFTP: host keys, ways to sign in, owners and readers."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from threading import Thread

import pytest

from phiscan.config import SharesTable
from phiscan.crawl import check_roots
from phiscan.crawl.share import UnansweredError
from phiscan.crawl.shares import open_remote
from tests.crawl.fetched import access_of, found_at, opened_share, refusal_of
from tests.needs import needs
from tests.servers.process import Server
from tests.servers.sshd import GROUP, PASSWORD, UID, USER, new_key

VARIABLE = "PHISCAN_SFTP_"


@pytest.fixture
def server(sshd: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """Return the server with a file, and a home without known hosts or an agent."""
    sshd.write("a.txt", "a")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return sshd


def _fingerprint(server: Server) -> str:
    return server.environment[VARIABLE + "HOST_KEY"]


def _know(server: Server, key: Path, *, is_hashed: bool) -> Path:
    """Write the known hosts of the home, with a public key for the server."""
    path = Path.home() / ".ssh/known_hosts"
    path.parent.mkdir()
    path.write_text(f"[127.0.0.1]:{server.port} {key.with_name(key.name + '.pub').read_text()}")
    if is_hashed:
        subprocess.run(["ssh-keygen", "-q", "-H", "-f", path], check=True, capture_output=True)
    return path


def test_a_server_whose_key_is_not_known_is_refused_with_its_fingerprint(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE + "HOST_KEY")
    message = refusal_of(server.url)
    assert f"host key {_fingerprint(server)} (ssh-ed25519) is not known" in message
    assert "host_key" in message
    assert "known_hosts" in message
    assert not (Path.home() / ".ssh").exists()


def test_a_server_with_another_key_gets_no_password(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = new_key(tmp_path / "other")
    monkeypatch.setenv(VARIABLE + "HOST_KEY", other)
    assert f"{_fingerprint(server)} (ssh-ed25519) is another than host_key says" in refusal_of(server.url)
    monkeypatch.delenv(VARIABLE + "HOST_KEY")
    _know(server, tmp_path / "other", is_hashed=False)
    assert "is another than known_hosts has" in refusal_of(server.url)


@pytest.mark.parametrize("is_hashed", [False, True])
def test_a_server_is_known_by_known_hosts(
    server: Server, monkeypatch: pytest.MonkeyPatch, *, is_hashed: bool
) -> None:
    monkeypatch.delenv(VARIABLE + "HOST_KEY")
    _know(server, server.folder / "etc/host_key", is_hashed=is_hashed)
    assert check_roots([server.url]) == (server.url.encode(),)


@pytest.mark.parametrize("passphrase", ["", "a passphrase"])
def test_signs_in_by_a_private_key(server: Server, monkeypatch: pytest.MonkeyPatch, passphrase: str) -> None:
    key = Path.home() / "key"
    shutil.copy(server.folder / "etc/user_key", key)
    key.chmod(0o600)
    if passphrase:
        subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", passphrase, "-f", key], check=True)
    monkeypatch.setenv(VARIABLE + "KEY_FILE", str(key))
    monkeypatch.setenv(VARIABLE + "PASSWORD", passphrase)
    assert check_roots([server.url]) == (server.url.encode(),)
    key.chmod(0o644)
    assert "others may read key_file" in refusal_of(server.url)
    key.write_text("no key")
    key.chmod(0o600)
    assert "key_file or known_hosts cannot be read" in refusal_of(server.url)
    key.unlink()
    assert "key_file or known_hosts cannot be read" in refusal_of(server.url)


def test_the_passphrase_of_a_key_is_not_sent_as_a_password(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    new_key(tmp_path / "other")
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", PASSWORD, "-f", tmp_path / "other"], check=True)
    monkeypatch.setenv(VARIABLE + "KEY_FILE", str(tmp_path / "other"))
    assert "wrong user name, password or key, or none" in refusal_of(server.url)


def test_signs_in_by_an_agent(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    agent, add = needs("ssh-agent", "ssh-add").values()
    monkeypatch.delenv(VARIABLE + "PASSWORD")
    assert "wrong user name, password or key, or none" in refusal_of(server.url)
    socket = tmp_path / "agent"
    # In the foreground the agent says where it listens once it does.
    with subprocess.Popen([agent, "-D", "-a", socket], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        subprocess.run([add, "-q", server.folder / "etc/user_key"], check=True, capture_output=True)
        try:
            assert check_roots([server.url]) == (server.url.encode(),)
        finally:
            process.terminate()


def test_asks_for_a_user_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE + "USERNAME")
    assert "expected a user name (PHISCAN_SFTP_USERNAME" in refusal_of(server.url)


def test_names_owner_and_readers(sshd: Server) -> None:
    for name, mode in (("a", 0o644), ("b", 0o640), ("c", 0o400)):
        path = sshd.write(name)
        path.chmod(mode)
        os.chown(path, UID, 60418 if name != "c" else 60999)
    found = [crawled.source for crawled in found_at(sshd.url)]
    known = [access_of(source) for source in found]
    (sshd.share / "a").chmod(0o600)
    (changed, *_) = found_at(sshd.url)
    assert known == [
        (USER, ("everyone", f"group {GROUP}", f"user {USER}")),
        (USER, (f"group {GROUP}", f"user {USER}")),
        (USER, (f"user {USER}",)),
    ]
    assert changed.source.inode != found[0].inode  # read again, since others may read it now


@pytest.mark.parametrize("is_closed", [False, True])
def test_nobody_waits_for_a_server_that_stops_answering(server: Server, *, is_closed: bool) -> None:
    share = open_remote(server.url.encode(), SharesTable(timeout_s=60 if is_closed else 3))
    (crawled,) = found_at(server.url)
    with share.open(crawled.source) as opened:
        assert server.process is not None
        processes = _descendants(server.process.pid)
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            if is_closed:
                Thread(target=share.close).start()
            with pytest.raises(UnansweredError) as caught:
                opened.read(1)
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)
            share.close()
    assert caught.value.is_gone


def test_a_slow_line_is_heard_at_each_block(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    path, heard = server.share / "a.txt", list[int]()
    before = path.read_bytes()
    path.write_bytes(bytes(512 * 1024))
    (crawled,) = found_at(server.url)
    with opened_share(server.url) as share, share.open(crawled.source) as opened:
        monkeypatch.setattr(share, "_hear", lambda: heard.append(1))
        opened.read(1)
        assert len(heard) > 2
    path.write_bytes(before)


def _descendants(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [one for child in map(int, children) for one in (child, *_descendants(child))]
