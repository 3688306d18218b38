"""Microsoft 365, against a server on loopback that answers as Microsoft Graph is documented to."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import Crawled, IgnoreRules, check_roots, is_same_file
from phiscan.crawl.settings import load_settings
from phiscan.crawl.shares import open_remote
from phiscan.errors import ExtractError, InputError
from phiscan.model import FailReason, SkipReason
from tests.crawl.fetched import NOTHING, access_of, content_of, crawled_from, paths_from
from tests.servers.api_server import Answer, json_answer
from tests.servers.microsoft365 import HOST_NAME, Microsoft365, error
from tests.servers.microsoft365_drives import Drive, granted, identity_set, invited, link
from tests.servers.microsoft365_mail import Mailbox
from tests.servers.microsoft_identity import APPLICATION, SECRET, TENANT

_numbers = count()
PEM = ("loopback.key", "loopback.pem")
EXTERNAL = "jd_example.net#EXT#@contoso.onmicrosoft.com"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Microsoft365]:
    with Microsoft365(tmp_path_factory.mktemp("certificate")).running() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(server: Microsoft365, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.page_size = 200
    values = {
        "M365_USERNAME": APPLICATION,
        "M365_PASSWORD": SECRET,
        "M365_ENDPOINT": server.url,
        "M365_CA_FILE": server.ca_file,
        "SHARES_LISTINGS": str(tmp_path / "listings"),
        "SHARES_ATTEMPTS": "3",
        "SHARES_RETRY_S": "0.01",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"PHISCAN_{name}", value)


@pytest.fixture
def user(server: Microsoft365) -> str:
    name = f"user{next(_numbers)}@contoso.com"
    server.add_user("A. User", name)
    return name


@pytest.fixture
def drive(server: Microsoft365, user: str) -> Drive:
    found = server._find_user(user)
    assert found is not None
    assert found.drive is not None
    return found.drive


@pytest.fixture
def mailbox(server: Microsoft365, user: str) -> Mailbox:
    found = server._find_user(user)
    assert found is not None
    assert found.mailbox is not None
    return found.mailbox


def _crawl(path: str) -> list[Crawled]:
    return crawled_from(f"m365://{TENANT}/{path}")


def _paths(path: str) -> list[str]:
    return paths_from(f"m365://{TENANT}/{path}")


def test_a_first_scan_lists_in_a_stable_order_and_an_unchanged_rescan_asks_once(
    server: Microsoft365, drive: Drive, user: str
) -> None:
    server.page_size = 2
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "Résumé 100% #1 [x].docx", "日本語 🦓.txt"):
        drive.add(name, name.encode())
    drive.add("empty", b"")
    drive.add("shortcut", None, remoteItem={"id": "elsewhere"})
    drive.add("Notebook", None, package={"type": "oneNote"})
    drive.add("Notebook/section.one")
    first = _crawl(f"drives/{user}")
    assert [(crawled.source.path.decode(), crawled.skip) for crawled in first] == [
        ("Notebook/section.one", None),
        ("Résumé 100%25 #1 [x].docx", None),
        ("a/b/c.txt", None),
        ("a/z.txt", None),
        ("b.txt", None),
        ("empty", SkipReason.EMPTY),
        ("shortcut", SkipReason.SYMLINK),
        ("日本語 🦓.txt", None),
    ]
    assert content_of(first[1].source).decode() == "Résumé 100% #1 [x].docx"
    before = len(server.asked("/v1.0"))
    again = _crawl(f"drives/{user}")
    assert [crawled.source for crawled in again] == [crawled.source for crawled in first]
    assert len(server.asked("/v1.0")) == before + 1


def test_a_renamed_folder_a_moved_file_and_a_deleted_one(drive: Drive, user: str) -> None:
    moved, gone = drive.add("a/b/moved.txt"), drive.add("a/gone.txt")
    drive.add("a/b/stays.txt")
    (before,) = (one.source for one in _crawl(f"drives/{user}") if one.source.path.endswith(b"stays.txt"))
    drive.rename(drive.folder("a"), "renamed")
    drive.move(moved, drive.root)
    drive.delete(gone)
    assert _paths(f"drives/{user}") == ["moved.txt", "renamed/b/stays.txt"]
    after = _crawl(f"drives/{user}/renamed/b")[0].source
    assert after.path == b"stays.txt"
    assert is_same_file(after, before)


def test_a_root_below_the_drive_and_ignored_folders(drive: Drive, user: str) -> None:
    for name in ("100% in/keep.txt", "100% in/cache/1", "100% in/a.tmp", "out.txt"):
        drive.add(name)
    share = open_remote(f"m365://{TENANT}/drives/{user}/100% in".encode(), load_settings(Config()))
    rules = IgnoreRules(pathspec.GitIgnoreSpec.from_lines(["*.tmp", "/cache/"]))
    found = {crawled.source.path: crawled.skip for crawled in share.crawl(rules, set())}
    assert found == {b"a.tmp": SkipReason.IGNORED, b"cache": SkipReason.IGNORED, b"keep.txt": None}


def test_reads_on_after_a_broken_download_and_an_expired_address(
    server: Microsoft365, drive: Drive, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.crawl.http_client.RANGE_BYTES", 1000)
    data = os.urandom(5000)
    drive.add("a.bin", data)
    source = _crawl(f"drives/{user}")[0].source
    server.break_downloads(2, 300)
    server.fail_next(1, lambda: error(401, "expired"), host="download")
    assert content_of(source) == data
    assert {request.token for request in server.asked(host="download")} == {""}


@pytest.mark.parametrize("moment", ["before", "while it is read"])
@pytest.mark.parametrize("what", ["replaced", "deleted"])
def test_a_file_that_changed_since_it_was_listed_is_not_taken(
    drive: Drive, user: str, moment: str, what: str
) -> None:
    item = drive.add("a.txt", b"first")
    source = _crawl(f"drives/{user}")[0].source

    def change() -> None:
        if what == "deleted":
            drive.delete(item)
        else:
            drive.replace(item, b"other")

    if moment == "before":
        change()
        with pytest.raises(ExtractError) as caught:
            content_of(source)
        assert caught.value.reason == FailReason.CHANGED
        return
    share = open_remote(source.root, load_settings(Config()))
    with share.open(source) as opened:
        assert opened.read(100) == b"first"
        change()
        with pytest.raises(Exception, match="changed"):
            opened.verify()
    share.close()


def test_throttling_is_waited_for_and_an_expired_token_is_renewed(
    server: Microsoft365, drive: Drive, user: str
) -> None:
    server.page_size = 3
    drive.fill(10)
    drive_path = f"drives/{user}"
    server.throttle(2, retry_after="0", path="delta")
    server.fail_next(1, lambda: (server.expire_tokens(), error(503, "serviceNotAvailable"))[1], path="delta")
    signed_in = len(server.asked("oauth2"))
    found = _crawl(drive_path)
    assert [one.fail for one in found] == [FailReason.IO_ERROR]  # three attempts were not enough
    assert len(_paths(drive_path)) == 10
    server.throttle(2, status=503, path="delta")
    assert len(_paths(drive_path)) == 10
    assert len(server.asked("oauth2")) == signed_in + 3
    server.expire_tokens()
    share = open_remote(f"m365://{TENANT}/{drive_path}".encode(), load_settings(Config()))
    share.check()
    server.expire_tokens()
    assert len(list(share.crawl(NOTHING, set()))) == 10


@pytest.mark.parametrize(
    "code", ["resyncChangesApplyDifferences", "resyncChangesUploadDifferences", "syncStateNotFound"]
)
def test_an_expired_delta_token_begins_anew(server: Microsoft365, drive: Drive, user: str, code: str) -> None:
    gone = drive.add("gone.txt")
    drive.add("stays.txt")
    assert _paths(f"drives/{user}") == ["gone.txt", "stays.txt"]
    drive.delete(gone)
    server.expire_delta_tokens(code)
    assert _paths(f"drives/{user}") == ["stays.txt"]


@pytest.mark.parametrize(
    ("permission", "readers"),
    [
        (link("anonymous"), {"everyone"}),
        (link("organization"), {"group everyone in the organization"}),
        (link("users", identity_set("B", "b@contoso.com")), {"user b@contoso.com"}),
        (link("users", identity_set("J", EXTERNAL)), {f"user {EXTERNAL} (guest)"}),
        (link("existingAccess"), set()),
        (granted(identity_set("Nurses", kind="group")), {"group Nurses"}),
        (granted(identity_set("Ward Visitors", kind="siteGroup")), {"group Ward Visitors"}),
        (invited("new@example.net"), {"user new@example.net (guest)"}),
        (link("anonymous") | {"expirationDateTime": "2020-01-01T00:00:00Z"}, set()),
    ],
)
@pytest.mark.parametrize("on", ["the file", "a folder above"])
def test_links_guests_and_groups_are_readers_also_inherited(
    drive: Drive, user: str, permission: dict[str, object], readers: set[str], on: str
) -> None:
    item = drive.add("a/b.txt")
    owner = granted(identity_set("A. User", user), "owner")
    drive.share(item if on == "the file" else drive.folder("a"), owner, permission)
    found_owner, found = access_of(_crawl(f"drives/{user}")[0].source)
    assert found_owner == user
    assert set(found) == {f"user {user}", *readers}


def test_a_file_without_readable_permissions_is_read_all_the_same(
    server: Microsoft365, drive: Drive, user: str
) -> None:
    item = drive.add("a.txt", b"text")
    server.refuse(f"{item.id}/permissions")
    source = _crawl(f"drives/{user}")[0].source
    assert content_of(source) == b"text"
    assert access_of(source) == (user, ())


def test_malware_and_an_empty_package_are_failures_with_a_reason(drive: Drive, user: str) -> None:
    drive.add("bad.exe", b"x", malware={"description": "Eicar"})
    notebook = drive.add("Notebook", None, package={"type": "oneNote"})
    notebook.size = 100
    details = []
    for crawled in _crawl(f"drives/{user}"):
        with pytest.raises(ExtractError) as caught:
            content_of(crawled.source)
        details.append((caught.value.reason, caught.value.detail.split(",")[0]))
    assert details == [
        (FailReason.UNSUPPORTED, "a package"),
        (FailReason.IO_ERROR, "the service found malware in it and gives it to nobody"),
    ]


def test_sites_with_their_libraries_one_and_all(server: Microsoft365) -> None:
    server.add_site("Root", "/")
    ward = server.add_site("Ward")
    teams = server.add_site("Team", "teams/icu")
    server.add_site("Personal", "personal/ann").properties["isPersonalSite"] = True
    ward.drives[0].add("a.txt")
    server.add_library(ward, "Scans").add("s/b.txt")
    teams.drives[0].add("c.txt")
    assert _paths("sites/Ward") == ["Documents/a.txt", "Scans/s/b.txt"]
    assert _paths("sites/Ward/Scans/s") == ["b.txt"]
    assert _paths("sites/icu") == ["Documents/c.txt"]
    everywhere = _crawl("sites")
    assert [crawled.source.path for crawled in everywhere] == [
        b"Ward/Documents/a.txt",
        b"Ward/Scans/s/b.txt",
        b"teams%2Ficu/Documents/c.txt",
    ]
    assert content_of(everywhere[1].source) == b"x"
    server.refuse(f"/drives/{ward.drives[0].id}/")
    failed = [crawled for crawled in _crawl("sites") if crawled.fail]
    assert [(one.source.path, one.fail) for one in failed] == [(b"Ward/Documents", FailReason.NO_PERMISSION)]
    assert HOST_NAME in server.sites[0].id


def test_all_drives_and_mailboxes_leave_out_users_without_one(
    server: Microsoft365, drive: Drive, mailbox: Mailbox, user: str
) -> None:
    server.add_user("No", f"none{next(_numbers)}@contoso.com", has_drive=False, has_mailbox=False)
    drive.add("a.txt")
    mailbox.add(b"Subject: x\r\n\r\ny")
    found = [crawled for kind in ("drives", "mail") for crawled in _crawl(kind)]
    assert not any(crawled.fail for crawled in found)
    mine = [one.source for one in found if one.source.path.startswith(user.encode())]
    assert [source.path.split(b"/")[1] for source in mine] == [b"a.txt", b"Inbox"]
    assert [content_of(source) for source in mine] == [b"x", b"Subject: x\r\n\r\ny"]
    assert access_of(mine[1])[0] == user


def test_messages_of_a_mailbox_by_folder(server: Microsoft365, mailbox: Mailbox, user: str) -> None:
    folder = mailbox.add_folder("Lab/2026", mailbox.inbox)
    message, other = mailbox.add(b"Subject: a\r\n\r\n1"), mailbox.add(b"Subject: b\r\n\r\n2", folder)
    other.properties["receivedDateTime"] = message.properties["receivedDateTime"] = "2026-03-01T08:00:00Z"
    first = {crawled.source.path: crawled.source for crawled in _crawl(f"mail/{user}")}
    assert list(first) == [b"Inbox/2026-03-01T08.00.00Z.eml", b"Inbox/Lab%2F2026/2026-03-01T08.00.00Z.eml"]
    source = first[b"Inbox/2026-03-01T08.00.00Z.eml"]
    assert content_of(source) == message.content
    assert access_of(source) == (user, (f"user {user}",))
    before = len(server.asked("/v1.0"))
    _crawl(f"mail/{user}")
    assert len(server.asked("/v1.0")) == before + 3  # of the folders, and of the messages in each
    mailbox.move(message, folder)
    later = max(message.immutable_id, other.immutable_id)
    names = [f"2026-03-01T08.00.00Z{ending}.eml" for ending in (f" [{later}]", "")]
    assert _paths(f"mail/{user}") == [f"Inbox/Lab%2F2026/{name}" for name in names]
    mailbox.delete(other)
    mailbox.rename_folder(folder, "New")
    (left,) = _crawl(f"mail/{user}")
    assert left.source.path == b"Inbox/New/2026-03-01T08.00.00Z.eml"
    mailbox.update(message, isRead=True)
    with pytest.raises(ExtractError) as caught:
        content_of(left.source)
    assert caught.value.reason == FailReason.CHANGED


@pytest.mark.parametrize(
    ("path", "changes", "expected"),
    [
        (
            "drives/{user}",
            {"PASSWORD": "Zebra-wrong-9"},
            "wrong tenant, application id, secret or certificate",
        ),
        ("drives/{user}", {"USERNAME": "other"}, "wrong tenant, application id"),
        ("drives/{user}", {"TENANT": "elsewhere"}, "wrong tenant, application id"),
        ("drives/{user}", {"PASSWORD": ""}, "no application id (username) or no secret is set"),
        ("drives/{user}", {"CA_FILE": ""}, "the server's certificate is not trusted"),
        ("drives/nobody", {}, "no such site, user or drive"),
        ("drives/{user}/nowhere", {}, "no such folder"),
        ("mail/{user}/Inbox/nowhere", {}, "no such folder"),
        ("mail/nobody", {}, "no such site, user or drive"),
        ("sites/nowhere", {}, "no such site, user or drive"),
        ("elsewhere", {}, "expected m365://TENANT/sites"),
    ],
)
def test_a_refusal_is_one_line_without_the_secret(
    *,
    user: str,
    path: str,
    changes: dict[str, str],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(0)
    for name, value in changes.items():
        monkeypatch.setenv(f"PHISCAN_M365_{name}", value)
    root = f"m365://{TENANT}/{path.format(user=user)}"
    with pytest.raises(InputError) as caught:
        check_roots([root])
    message = str(caught.value)
    assert message.startswith(root)
    assert expected in message
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert "Zebra" not in message + caplog.text


def test_signs_in_with_a_certificate(
    server: Microsoft365, drive: Drive, user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "application.pem"
    path.write_bytes(b"".join((Path(server.ca_file).parent / name).read_bytes() for name in PEM))
    path.chmod(0o600)
    monkeypatch.setenv("PHISCAN_M365_PASSWORD", "")
    monkeypatch.setenv("PHISCAN_M365_KEY_FILE", str(path))
    drive.add("a.txt")
    assert _paths(f"drives/{user}") == ["a.txt"]
    assert "client_assertion" in server.asked("oauth2")[-1].form


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ({"value": [], "@odata.nextLink": "DOWNLOAD/v1.0/delta"}, "another server"),
        ({"value": [], "@odata.nextLink": "API/v1.0/delta"}, "the same page again"),
        ({"value": [{"id": "x", "size": 10**30}]}, "OverflowError at"),
        ([], "TypeError at"),
    ],
)
def test_a_page_that_misleads_costs_its_listing_and_no_token(
    server: Microsoft365, user: str, page: object, expected: str
) -> None:
    text = json.dumps(page).replace("DOWNLOAD", server.download_url).replace("API", server.url)
    n_pages = 1 + text.count(server.url)
    server.fail_next(n_pages, lambda: json_answer(200, json.loads(text)), path="delta")
    (failed,) = _crawl(f"drives/{user}")
    assert failed.fail == FailReason.IO_ERROR
    assert expected in failed.detail
    assert not server.asked("/v1.0/delta", host="download")


def test_a_scan_killed_in_the_middle_of_a_delta_is_as_if_it_had_not_begun(
    server: Microsoft365, drive: Drive, user: str
) -> None:
    drive.fill(30, per_folder=10)
    first = _paths(f"drives/{user}")
    drive.rename(drive.folder("folder 00000"), "renamed")
    for number in range(40):
        drive.add(f"new {number % 4}/{number:02}.txt")
    server.page_size = 7
    reached, done = threading.Event(), threading.Event()

    def wait() -> Answer:
        reached.set()
        done.wait(30)
        return error(503, "serviceNotAvailable")

    server.fail_next(1, wait, path="delta", after=4)
    command = "import sys, tests.crawl.test_microsoft365 as t; t._crawl(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", command, f"drives/{user}"]) as killed:
        assert reached.wait(30)
        killed.send_signal(signal.SIGKILL)
    done.set()
    assert len(first) == 30
    kept = [name.replace("folder 00000", "renamed") for name in first]
    added = [f"new {number % 4}/{number:02}.txt" for number in range(40)]
    assert _paths(f"drives/{user}") == sorted([*kept, *added])
