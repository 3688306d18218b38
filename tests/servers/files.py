"""The servers of files, each started once for all tests that ask for it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from tests.samba import running_samba
from tests.servers.apache import running_apache
from tests.servers.process import Server
from tests.servers.sshd import running_sshd

STARTS = {"sftp": running_sshd, "dav": running_apache, "smb": running_samba}
FileServers = Callable[[str], Server]


@pytest.fixture(scope="session")
def file_servers() -> Iterator[FileServers]:
    with ExitStack() as stack:
        yield cache(lambda scheme: stack.enter_context(STARTS[scheme]()))


@pytest.fixture
def samba(file_servers: FileServers, monkeypatch: pytest.MonkeyPatch) -> Server:
    return file_servers("smb").ready(monkeypatch)


@pytest.fixture
def sshd(file_servers: FileServers, monkeypatch: pytest.MonkeyPatch) -> Server:
    return file_servers("sftp").ready(monkeypatch)
