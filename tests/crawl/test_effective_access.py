"""Who can read a file: nested groups of a real OpenLDAP server, parents, shares and what is not known."""

import os
import re
import socketserver
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.config import AccessTable, DirectoryTable, SharesTable
from phiscan.crawl import directory as directory_module
from phiscan.crawl.directory import Directory, directory_of, read_cached, read_ldap, read_local
from phiscan.crawl.effective_access import Accounts, EffectiveAccess
from phiscan.crawl.posix_access import with_access
from phiscan.errors import InputError
from phiscan.model import SourceFile
from tests.crawl.fetched import posix_acl
from tests.crawl.people import CANARY, GROUPS, entries
from tests.servers.ldap import BASE, PASSWORD, READER, running_ldap
from tests.servers.process import Server

NOW = datetime(2026, 11, 29, tzinfo=UTC)
KEY = b"k" * 32
N_MANY = 10_000
ALL = N_MANY + 4  # those that can sign in
DEE, WARD = 5004, 6001
SHARE = "smb://files/research"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_ldap(entries(N_MANY)) as ldap:
        yield ldap


@contextmanager
def signed_in(password: str = PASSWORD, **more: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"username": READER, "password": password, **more}.items():
            patch.setenv(f"PHISCAN_LDAP_{name.upper()}", value)
        yield


@pytest.fixture(scope="module")
def directory(server: Server) -> Directory:
    with signed_in():
        found, base = read_ldap(DirectoryTable(url=server.url), SharesTable(), NOW)
    return directory_of(found, KEY, NOW, base)


def _access(
    directory: Directory | None,
    shares: Mapping[str, tuple[str, ...]] | None = None,
    smb_traverse: str = "unknown",
    folders: Mapping[bytes, Sequence[str]] | None = None,
) -> EffectiveAccess:
    def who_may_enter(_root: bytes, folder: bytes) -> Sequence[str]:
        return (folders or {}).get(folder, ["everyone"])

    groups = {"group Users": ("group nurses", "user SYSTEM"), "group Round": ("group Round", "group office")}
    settings = AccessTable(shares or {}, groups, smb_traverse)
    return EffectiveAccess(directory, read_local(), KEY, settings, who_may_enter)


def _file(*readers: str, root: str = SHARE, owner: str = "") -> SourceFile:
    path = b"letters/2026/a.txt"
    return SourceFile(root.encode(), path, 1, 1, 1, 1, 1, owner=owner, readers=readers)


def _bounds(access: EffectiveAccess, source: SourceFile) -> tuple[int | None, int | None, list[str]]:
    reach = access.reach(source)
    return reach.low, reach.high, sorted(reach.notes)


@pytest.mark.parametrize(
    ("readers", "expected"),
    [
        (["group staff"], (2, 2, [])),  # ann, and bob of a group in it that contains it
        (["group office"], (3, 3, [])),  # the primary group of four, one of them expired
        (["group gid 6003"], (N_MANY, N_MANY, [])),
        (["everyone"], (ALL, ALL, [])),
        (["group ward"], (1, 2, ["account"])),  # ann, perhaps one who was removed; cyd has expired
        (["group visitors"], (1, ALL, ["group"])),  # of another directory
        (["group elsewhere", f"user {CANARY}-ann"], (1, ALL, ["group"])),
        (["account S-1-5-21-1-2-3-1104"], (1, 1, [])),
        (["group Domain Users"], (1, 1, [])),  # in German in the directory; two of three cannot sign in
        (["group Domain Users (S-1-5-21-1-2-3)"], (1, 1, [])),
        (["group Domain Users (S-1-5-21-9-9-9)"], (0, ALL, ["group"])),  # of another domain
        (["account S-1-5-21-1-2-3-1201"], (1, 1, [])),
        (["account S-1-5-21-9-9-9-1000"], (0, ALL, ["account"])),
        ([f"user {CANARY}-stranger"], (0, 1, ["account"])),
        ([f"user CLINIC\\{CANARY}-ann"], (1, 1, [])),
        ([f"not user {CANARY}-ann", "group staff"], (1, 1, [])),
        (["group staff", f"not user {CANARY}-ann"], (2, 2, [])),  # the first one applies
        (["not group visitors", "everyone"], (0, ALL - 1, ["group"])),  # any of them may be a visitor
        (["group Users"], (2, 2, [])),  # of the server, as the settings say
        (["group Round"], (3, ALL, ["group"])),  # a mistake in them
        (["group Administrators", "user SYSTEM"], (0, 0, [])),  # always can, and are not counted
        ([], (None, None, ["not_told"])),
    ],
)
def test_the_people_of_an_access_list(
    directory: Directory, readers: list[str], expected: tuple[int | None, int | None, list[str]]
) -> None:
    access = _access(directory, {SHARE: ("everyone",)})
    assert _bounds(access, _file(*readers)) == expected


def test_owner_rights_are_those_of_the_owner(directory: Directory) -> None:
    access = _access(directory, {SHARE: ("everyone",)})
    of_owner = _file("user OWNER RIGHTS", owner="S-1-5-21-1-2-3-1104")
    assert _bounds(access, of_owner) == (1, 1, [])


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (("group staff",), (2, 2, [])),
        (("not user zebracanary-ann", "everyone"), (2, 2, [])),
        (("group elsewhere",), (0, 3, ["group"])),
        (None, (0, 3, ["share"])),  # nobody is known to get in
    ],
)
def test_the_permission_of_the_share_and_of_the_file_bind_together(
    directory: Directory, share: tuple[str, ...] | None, expected: tuple[int, int, list[str]]
) -> None:
    access = _access(directory, {SHARE: share} if share else {"smb://files/other": ("everyone",)})
    assert _bounds(access, _file("group office")) == expected


@pytest.mark.parametrize(
    ("traverse", "expected"),
    [("checked", (2, 2, [])), ("unknown", (2, 3, ["parents"])), ("bypassed", (3, 3, []))],
)
def test_parents_on_a_server_bind_as_far_as_it_is_known_to_check_them(
    directory: Directory, traverse: str, expected: tuple[int, int, list[str]]
) -> None:
    shares = {SHARE: ("everyone",)}
    access = _access(directory, shares, traverse, {b"letters": ["group staff", "group everybody-else"]})
    assert _bounds(access, _file("group office")) == expected


@pytest.mark.parametrize(
    ("readers", "expected"),
    [
        (["everyone"], (None, None, ["open"])),  # with the link
        ([f"user {CANARY}-ann@example.org", "user pat@other.org (guest)"], (2, 2, [])),
    ],
)
def test_links_and_guests_of_a_service_are_not_of_the_directory(
    directory: Directory, readers: list[str], expected: tuple[int | None, int | None, list[str]]
) -> None:
    assert _bounds(_access(directory), _file(*readers, root="graph://tenant/drive")) == expected


def test_a_name_of_this_machine_and_of_the_directory_may_be_either(directory: Directory) -> None:
    local = {"group office": (f"user {CANARY}-ann",), "group ward": (), "user many00001": ()}
    here = [Accounts(directory, KEY, {}, local).people(name) for name in local]
    assert [(one.low, one.high) for one in here] == [(1, 4), (0, 3), (0, 1)]
    assert [one.notes for one in here] == [{"group"}, {"group", "account"}, {"account"}]


def test_without_a_directory_there_is_no_number_for_a_group() -> None:
    access = _access(None, {SHARE: ("everyone",)})
    assert _bounds(access, _file("group staff")) == (None, None, ["no_directory"])
    assert _bounds(access, _file("user ann")) == (1, 1, [])


@pytest.fixture
def share() -> Iterator[Path]:
    """Return a folder that everybody may enter, all its parents too."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def _local(share: Path, mode: int, parent: int, acl: bytes = b"") -> SourceFile:
    path = share / "ward/a.txt"
    path.parent.mkdir()
    path.touch()
    for one, bits in ((path, mode), (path.parent, parent)):
        os.chown(one, DEE, WARD)
        one.chmod(bits)
    if acl:
        os.setxattr(path, "system.posix_acl_access", acl)
    source = SourceFile.of(os.fsencode(share), b"ward/a.txt", path.stat())
    return with_access(source)


NO_NUMBER = 2**32 - 1
_BOB, _OFFICE = (2, 0, 5002), (8, 4, 6002)  # nothing, and reading
_REST = ((1, 6, NO_NUMBER), (4, 4, NO_NUMBER), (16, 4, NO_NUMBER), (32, 0, NO_NUMBER))
_ACL = posix_acl(*sorted((_BOB, _OFFICE, *_REST)))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        ((0o644, 0o755, b""), (ALL, ALL, [])),
        ((0o640, 0o755, b""), (2, 3, ["account"])),  # dee and the ward
        ((0o644, 0o750, b""), (2, 3, ["account"])),  # only they get into the folder
        ((0o644, 0o640, b""), (0, 0, [])),  # listing it is not entering it
        ((0o604, 0o755, b""), (ALL - 1, ALL - 1, [])),  # all but the ward
        ((0o600, 0o755, b""), (1, 1, [])),
        ((0o000, 0o755, b""), (0, 0, [])),
        ((0o640, 0o755, _ACL), (2, 3, ["account"])),  # ann and dee: of the office, bob is excluded
    ],
)
def test_a_folder_of_this_machine(
    directory: Directory, share: Path, rights: tuple[int, int, bytes], expected: tuple[int, int, list[str]]
) -> None:
    assert _bounds(_access(directory), _local(share, *rights)) == expected


def test_who_has_left_and_still_has_a_right(directory: Directory) -> None:
    access = _access(directory)
    barred = f"not user {CANARY}-fay"
    granted = _file(
        barred, "group Clinic", "group ward", "everyone", f"user {CANARY}-bob", "user old-account"
    )
    assert sorted(access.left(granted)) == [
        ("expired", f"{CANARY}-cyd"),
        ("expired", f"{CANARY}-gus"),
        ("missing", "user old-account"),
    ]


def test_the_kept_directory_counts_the_same_and_has_no_name(directory: Directory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none/directory\.json: cannot be written: No such file"):
        directory.write(tmp_path / "none/directory.json")
    directory.write(tmp_path / "directory.json")
    kept = read_cached(tmp_path / "directory.json")
    assert kept is not None
    assert kept.made == NOW
    source = _file("group visitors", "group office")
    shares = {SHARE: ("everyone",)}
    assert _bounds(_access(kept, shares), source) == _bounds(_access(directory, shares), source)
    text = (tmp_path / "directory.json").read_text()
    assert (tmp_path / "directory.json").stat().st_mode & 0o777 == 0o600
    assert not any(word in text.casefold() for word in (CANARY, "ward", "example", "s-1-5"))
    access, ann = _access(directory, shares), _file(f"user {CANARY}-ann")
    assert access.accounts_for(ann.root).shown(access.reach(ann).sure) == [f"{CANARY}-ann"]
    (tmp_path / "directory.json").write_text("{")
    assert read_cached(tmp_path / "directory.json") is None


@pytest.mark.parametrize(
    ("change", "password", "message"),
    [
        ("", "wrong-canary", "it refuses the user or the password"),
        ("", "", "a user without a password"),
        ("dc=org", "", "a user without a password"),
        (",dc=net", PASSWORD, "it has no such base"),
    ],
)
def test_a_refusal_is_one_line_that_names_the_directory(
    server: Server, change: str, password: str, message: str
) -> None:
    with signed_in(password), pytest.raises(InputError) as refused:
        read_ldap(DirectoryTable(url=server.url + change), SharesTable(), NOW)
    assert str(refused.value) == f"{server.url}{change}: the directory cannot be read: {message}"


def test_a_directory_that_is_down_is_one_line() -> None:
    with signed_in(), pytest.raises(InputError, match=r"^ldap://127.0.0.1:1/dc=a: [^\n]*: no connection$"):
        read_ldap(DirectoryTable(url="ldap://127.0.0.1:1/dc=a"), SharesTable(timeout_s=2), NOW)


def test_over_a_network_a_password_is_sent_under_tls_with_a_trusted_certificate(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_module, "LOOPBACK", ())
    place = server.url.replace("127.0.0.1", "localhost").replace(BASE, GROUPS)
    settings = DirectoryTable(url=place)
    with signed_in(), pytest.raises(InputError, match="it offers no trusted TLS"):
        read_ldap(settings, SharesTable(), NOW)
    with signed_in(ca_file=str(server.folder / "certificate.pem")):
        found, _base = read_ldap(settings, SharesTable(), NOW)
    assert all(one.is_group for one in found)
    assert len(found) > 5


def _ber(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return bytes((tag, 0x82)) + len(body).to_bytes(2) + body


class _InRanges(socketserver.BaseRequestHandler):
    """Answers as a directory with one group of six members, of which it sends two at a time."""

    def handle(self) -> None:
        while asked := self.request.recv(65_536):
            at = asked.index(b"\x02\x01")  # the number of the message, then the operation
            if asked[at + 3] == 0x42:  # the end
                return
            ranged = re.search(rb"member;range=(\d+)-\*", asked)
            if ranged or b"groupOfNames" in asked:
                first = int(ranged[1]) if ranged else 0
                name = f"member;range={first}-{first + 1 if first < 4 else '*'}".encode()
                values = (_ber(4, b"cn=%d" % number) for number in (first, first + 1))
                attributes = [_ber(0x30, _ber(4, name), _ber(0x31, *values))]
                attributes += [] if ranged else [_ber(0x30, _ber(4, b"member"), _ber(0x31))]
                found = _ber(0x64, _ber(4, b"cn=large"), _ber(0x30, *attributes))
                self.request.sendall(_ber(0x30, asked[at : at + 3], found))
            done = _ber(asked[at + 3] + (1 if asked[at + 3] == 0x60 else 2), b"\x0a\x01\0", _ber(4), _ber(4))
            self.request.sendall(_ber(0x30, asked[at : at + 3], done))


def test_the_values_of_a_large_group_are_read_range_by_range() -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _InRanges) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever).start()
        try:
            url = f"ldap://127.0.0.1:{server.server_address[1]}/dc=a"
            found, _base = read_ldap(DirectoryTable(url=url), SharesTable(timeout_s=10), NOW)
        finally:
            server.shutdown()
    assert [one.members for one in found] == [tuple(f"dn cn={number}" for number in range(6))]
