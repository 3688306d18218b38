"""What every cloud drive does alike: Microsoft 365 and Google Drive, against servers on loopback.

The servers answer as the services are documented to.
"""

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from phiscan.crawl import is_same_file
from phiscan.errors import ExtractError
from phiscan.model import FailReason, SkipReason
from tests.crawl.fetched import (
    NOTHING,
    access_of,
    content_of,
    contents_of,
    crawled_from,
    found_at,
    opened_share,
    paths_from,
    refusal_of,
)
from tests.servers.api_server import Answer
from tests.servers.cloud import CloudServer, Drive
from tests.servers.google_drive import ACCOUNT, GoogleDrive
from tests.servers.google_drive_resources import permission
from tests.servers.microsoft365 import Microsoft365
from tests.servers.microsoft365_resources import granted, identity_set, invited, link

SERVERS = {"m365": Microsoft365, "gdrive": GoogleDrive}
EXTERNAL = "jd_example.net#EXT#@contoso.onmicrosoft.com"
_numbers = count()


@pytest.fixture(scope="module", params=SERVERS)
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudServer]:
    with SERVERS[request.param](tmp_path_factory.mktemp("certificate")).running() as server:
        yield server


@pytest.fixture
def server(running: CloudServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CloudServer:
    """Return the server, and set the environment that signs in, with little patience."""
    limits = {"LISTINGS": str(tmp_path / "listings"), "ATTEMPTS": "3", "RETRY_S": "0.01"}
    given = {f"PHISCAN_SHARES_{name}": value for name, value in limits.items()}
    for name, value in (given | running.environment(tmp_path)).items():
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture
def user() -> str:
    return f"user{next(_numbers)}@example.org"


@pytest.fixture
def drive(server: CloudServer, user: str) -> Drive:
    return server.add_user(user)


@pytest.fixture
def root(server: CloudServer, drive: Drive, user: str) -> str:
    assert drive.root
    return f"{server.users_root}/{user}"


@pytest.fixture
def small_pages(server: CloudServer) -> Iterator[None]:
    before, server.page_size = server.page_size, 3
    yield
    server.page_size = before


@pytest.mark.usefixtures("small_pages")
def test_a_first_scan_lists_in_a_stable_order_and_an_unchanged_rescan_asks_once(
    server: CloudServer, drive: Drive, root: str
) -> None:
    contents = {name: name.encode() for name in ("a/b/c.txt", "a/z.txt", "b.txt", "日本語 🦓.txt")}
    for name in ("Résumé 100% #1 [x].docx", *reversed(contents)):
        drive.add(name, name.encode())
    drive.add("empty", b"")
    drive.add("shortcut", None, **server.shortcut)
    drive.delete(drive.add("deleted"))
    first = crawled_from(root)
    resume = {"Résumé 100%25 #1 [x].docx": "Résumé 100% #1 [x].docx".encode()}
    assert contents_of(root) == resume | contents
    assert [crawled.source.path for crawled in first] == sorted(crawled.source.path for crawled in first)
    skipped = {one.source.path: one.skip for one in first if one.skip}
    assert skipped == {b"empty": SkipReason.EMPTY, b"shortcut": SkipReason.SYMLINK}
    before = len(server.asked(server.api))
    again = crawled_from(root)
    assert [crawled.source for crawled in again] == [crawled.source for crawled in first]
    assert len(server.asked(server.api)) == before + 1


def test_a_renamed_folder_a_moved_file_and_a_deleted_one(drive: Drive, root: str) -> None:
    moved, gone = drive.add("a/b/moved.txt"), drive.add("a/gone.txt")
    drive.add("a/b/stays.txt")
    (before,) = (one.source for one in crawled_from(root) if one.source.path.endswith(b"stays.txt"))
    drive.rename(drive.folder("a"), "renamed")
    drive.move(moved, drive.root)
    drive.delete(gone)
    assert paths_from(root) == ["moved.txt", "renamed/b/stays.txt"]
    (after,) = (one.source for one in crawled_from(f"{root}/renamed/b"))
    assert after.path == b"stays.txt"
    assert is_same_file(after, before)


def test_a_root_below_the_drive_and_ignored_folders(drive: Drive, root: str) -> None:
    for name in ("100% in/keep.txt", "100% in/cache/1", "100% in/a.tmp", "out.txt"):
        drive.add(name)
    found = {one.source.path: one.skip for one in found_at(f"{root}/100% in", "*.tmp", "/cache/")}
    assert found == {b"a.tmp": SkipReason.IGNORED, b"cache": SkipReason.IGNORED, b"keep.txt": None}


def test_reads_on_after_a_broken_download(
    server: CloudServer, drive: Drive, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.crawl.http_client.RANGE_BYTES", 1000)
    data = os.urandom(5000)
    drive.add("a.bin", data)
    source = crawled_from(root)[0].source
    server.break_downloads(2, 300)
    if isinstance(server, Microsoft365):  # the address that needs no token expires
        server.fail_next(1, lambda: Answer(401), host="download")
    assert content_of(source) == data
    assert {request.token for request in server.asked(host="download")} <= {""}


@pytest.mark.parametrize("moment", ["before", "while it is read"])
@pytest.mark.parametrize("what", ["replaced", "deleted", "trashed"])
def test_a_file_that_changed_since_it_was_listed_is_not_taken(
    drive: Drive, root: str, moment: str, what: str
) -> None:
    item = drive.add("a.txt", b"first")
    source = crawled_from(root)[0].source

    def change() -> None:
        if what == "replaced":
            drive.replace(item, b"other")
        else:
            (drive.delete if what == "deleted" else drive.trash)(item)

    if moment == "before":
        change()
        with pytest.raises(ExtractError, match=FailReason.CHANGED):
            content_of(source)
        return
    with opened_share(root) as share, share.open(source) as opened:
        assert opened.read(100) == b"first"
        change()
        with pytest.raises(Exception, match="changed"):
            opened.verify()


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize(
    ("running", "how"),
    [
        ("m365", {"status": 429}),
        ("m365", {"status": 503}),
        ("gdrive", {"status": 403, "reason": "rateLimitExceeded"}),
        ("gdrive", {"status": 403, "reason": "userRateLimitExceeded"}),
        ("gdrive", {"status": 429}),
        ("gdrive", {"status": 503}),
    ],
    indirect=["running"],
)
def test_throttling_is_waited_for_as_often_as_is_set(
    server: CloudServer, drive: Drive, root: str, how: dict[str, Any]
) -> None:
    for number in range(10):
        drive.add(f"{number}.txt", b"text")
    server.throttle(2, **how)
    source = crawled_from(root)[0].source
    server.throttle(2, **how)
    assert content_of(source) == b"text"
    server.throttle(3, path=server.changes_path, **how)
    assert [one.fail for one in crawled_from(root)] == [FailReason.IO_ERROR]
    assert len(paths_from(root)) == 10


def test_expired_access_tokens_are_renewed(server: CloudServer, drive: Drive, root: str) -> None:
    drive.add("a.txt")
    with opened_share(root) as share:
        share.check()
        server.expire_tokens()
        assert [one.source.path for one in share.crawl(NOTHING, set())] == [b"a.txt"]


def test_a_refused_token_of_a_listing_begins_anew(server: CloudServer, drive: Drive, root: str) -> None:
    for code in ("resyncChangesApplyDifferences", "resyncChangesUploadDifferences", "syncStateNotFound"):
        gone = drive.add("gone.txt")
        drive.add(f"{code}.txt")
        assert "gone.txt" in paths_from(root)
        drive.delete(gone)
        server.expire_listings(code)
        assert "gone.txt" not in paths_from(root)


READERS = {
    "m365": [
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
    "gdrive": [
        (permission("anyone"), {"everyone"}),
        (permission("domain", "example.org"), {"group everyone in example.org"}),
        (permission("group", "nurses@example.org"), {"group nurses@example.org"}),
        (permission("user", "b@example.org", "writer"), {"user b@example.org"}),
        (permission("user", "jd@example.net"), {"user jd@example.net (guest)"}),
        (permission("user", "left@example.org", deleted=True), set()),
    ],
}


@pytest.mark.parametrize(
    ("running", "given", "readers"),
    [(name, *case) for name, cases in READERS.items() for case in cases],
    indirect=["running"],
)
@pytest.mark.parametrize("on", ["a/b.txt", "a"])
def test_links_guests_and_groups_are_readers_also_inherited(  # noqa: PLR0917 (the parameters)
    drive: Drive, root: str, user: str, given: dict[str, Any], readers: set[str], on: str
) -> None:
    items = {"a/b.txt": drive.add("a/b.txt"), "a": drive.folder("a")}
    drive.share(items[on], given)
    owner, found = access_of(crawled_from(root)[0].source)
    assert owner == user
    assert set(found) == {f"user {user}", *readers}


def test_the_drives_of_all_users(
    server: CloudServer, drive: Drive, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHISCAN_GDRIVE_USERNAME", user)  # an administrator
    if isinstance(server, Microsoft365):
        server.add_user(f"none{next(_numbers)}@example.org", is_licensed=False)
    drive.add("a.txt", b"text")
    found = crawled_from(server.users_root)
    assert not any(crawled.fail for crawled in found)
    (mine,) = (one.source for one in found if one.source.path.startswith(user.encode()))
    assert mine.path == f"{user}/a.txt".encode()
    assert content_of(mine) == b"text"
    assert access_of(mine)[0] == user


TRUSTED = "the server's certificate is not trusted"
WRONG = {
    "m365": "wrong tenant, application id, secret or certificate",
    "gdrive": "wrong service account or key, or it has no domain-wide delegation for the user",
}


@pytest.mark.parametrize(
    ("running", "path", "changes", "expected"),
    [
        ("m365", "drives/{user}", {"PASSWORD": "Zebra-wrong-9"}, WRONG["m365"]),
        ("m365", "drives/{user}", {"USERNAME": "other"}, WRONG["m365"]),
        ("m365", "drives/{user}", {"TENANT": "elsewhere"}, WRONG["m365"]),
        ("m365", "drives/{user}", {"PASSWORD": ""}, "no application id (username) or no secret is set"),
        ("m365", "drives/{user}", {"CA_FILE": ""}, TRUSTED),
        ("m365", "drives/nobody", {}, "no such site, user or drive"),
        ("m365", "drives/{user}/nowhere", {}, "no such folder"),
        ("m365", "mail/{user}/Inbox/nowhere", {}, "no such folder"),
        ("m365", "mail/nobody", {}, "no such site, user or drive"),
        ("m365", "sites/nowhere", {}, "no such site, user or drive"),
        ("m365", "elsewhere", {}, "expected m365://TENANT/sites"),
        ("gdrive", "user/{user}", {"delegates": ""}, WRONG["gdrive"]),
        ("gdrive", "user/nobody@example.org", {}, WRONG["gdrive"]),
        ("gdrive", "shared/nothing", {}, "no such site, user or drive"),
        ("gdrive", "user/{user}/nowhere", {}, "no such folder"),
        ("gdrive", "user/{user}", {"KEY_FILE": ""}, "no key_file"),
        ("gdrive", "user/{user}", {"damaged": ""}, "expected a service account's JSON"),
        ("gdrive", "user/{user}", {"another": ""}, WRONG["gdrive"]),
        ("gdrive", "user/{user}", {"CA_FILE": ""}, TRUSTED),
        ("gdrive", "elsewhere", {}, "expected gdrive://my"),
    ],
    indirect=["running"],
)
def test_a_refusal_is_one_line_without_the_secret(  # noqa: PLR0917 (the parameters)
    server: CloudServer,
    root: str,
    user: str,
    path: str,
    changes: dict[str, str],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(0)
    scheme, _, rest = root.partition("://")
    for name, value in changes.items():
        if name == "delegates":
            monkeypatch.setattr(server, name, False)
        elif name in {"damaged", "another"}:
            key_file = Path(os.environ["PHISCAN_GDRIVE_KEY_FILE"])
            key = key_file.read_text()
            key_file.write_text(key[:400] if name == "damaged" else key.replace(ACCOUNT, "other@x.org"))
        else:
            monkeypatch.setenv(f"PHISCAN_{scheme.upper()}_{name}", value)
    below = f"{rest.partition('/')[0]}/{path}" if scheme == "m365" else path
    root = f"{scheme}://{below.format(user=user)}"
    said = refusal_of(root)
    assert expected in said
    secrets = ("Zebra", "PRIVATE KEY", server.secret[:40])
    assert not [one for one in secrets if one in said + caplog.text]


@pytest.mark.usefixtures("small_pages")
def test_a_scan_killed_in_the_middle_of_its_pages_is_as_if_it_had_not_begun(
    server: CloudServer, drive: Drive, root: str
) -> None:
    for number in range(20):
        drive.add(f"{number % 4}/{number:02}.txt")
    paths = paths_from(root)
    drive.rename(drive.folder("0"), "renamed")
    for item in list(drive.items.values()):
        drive.touch(item)
    reached, done = threading.Event(), threading.Event()

    def wait() -> Answer:
        reached.set()
        done.wait(30)
        return Answer(503)

    server.fail_next(1, wait, path=server.changes_path, after=2)
    command = "import sys, tests.crawl.fetched as fetched; fetched.crawled_from(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", command, root]) as killed:
        assert reached.wait(30)
        killed.send_signal(signal.SIGKILL)
    done.set()
    renamed = [f"renamed{path[1:]}" if path.startswith("0/") else path for path in paths]
    assert paths_from(root) == sorted(renamed)


# What the servers do not answer, so that a client cannot rely on it unnoticed.
REFUSED = {
    "m365": {
        "users": (200, ""),
        "users?$skiptoken=other": (400, "invalidRequest"),
        "drives/{drive}/root/delta(token='other')": (400, "invalidRequest"),
        "drives/{drive}/items/none": (404, "itemNotFound"),
        "drives/none/root/delta": (404, "itemNotFound"),
        "users/nobody/drive/root": (404, "Request_ResourceNotFound"),
        "elsewhere": (400, "BadRequest"),
    },
    "gdrive": {
        "files?fields=files(id,size),nextPageToken&pageSize=1000": (200, ""),
        "files?fields=files(id,sizes)": (400, "invalidParameter"),
        "files?pageSize=1001": (400, "invalid"),
        "files?pageToken=other": (400, "invalid"),
        "files?corpora=drive&driveId={shared}&supportsAllDrives=true": (400, "invalid"),
        "changes?pageToken=other": (400, "invalid"),
        "changes/startPageToken?driveId={shared}": (400, "invalid"),
        "files/{shared_file}": (404, "notFound"),
        "files/{shared_file}?supportsAllDrives=true": (200, ""),
        "files/{page}?alt=media": (403, "fileNotDownloadable"),
        "files/{page}/export?mimeType=image/png": (400, "badRequest"),
        "files/{note}/export?mimeType=text/plain": (403, "fileNotExportable"),
        "drives/{other}": (404, "notFound"),
        "about": (404, "notFound"),
    },
}


@pytest.mark.parametrize(
    ("running", "path", "expected"),
    [(name, *case) for name, cases in REFUSED.items() for case in cases.items()],
    indirect=["running"],
)
def test_the_servers_answer_only_what_is_documented(  # noqa: PLR0917 (the parameters)
    server: CloudServer, drive: Drive, root: str, user: str, path: str, expected: tuple[int, str]
) -> None:
    ids = {"drive": drive.id, "note": drive.add("note.txt").id}
    ids["page"] = drive.add("page", None, kind="document", exports={"text/plain": b"text"}).id
    if isinstance(server, GoogleDrive):
        shared = server.add_drive("Ward", user)
        ids |= {"shared": shared.id, "shared_file": shared.add("note.txt").id}
        ids["other"] = server.add_drive("Other", "bob@example.org").id
    crawled_from(root)
    signed_in = {"Authorization": f"Bearer {server.asked(server.api)[-1].token}"}
    found = []
    for headers in (signed_in, {}):
        context = ssl.create_default_context(cafile=server.ca_file)
        connection = http.client.HTTPSConnection(server.url.partition("://")[2], timeout=10, context=context)
        connection.request("GET", f"{server.api}/{path.format(**ids)}", headers=headers)
        answer = connection.getresponse()
        body = json.loads(answer.read() or "{}")
        error = body.get("error", {})
        found.append((answer.status, error.get("errors", [{"reason": error.get("code", "")}])[0]["reason"]))
        connection.close()
    assert found[0] == expected
    assert found[1][0] == 401
