"""What is peculiar to Microsoft 365: sites, mailboxes, packages, certificates."""

import json
from pathlib import Path

import pytest

from phiscan.errors import ExtractError
from phiscan.model import FailReason
from tests.crawl.fetched import access_of, content_of, contents_of, crawled_from, paths_from
from tests.crawl.test_cloud_drives import drive, root, running, server, user
from tests.servers.api_server import json_answer
from tests.servers.cloud import Drive
from tests.servers.microsoft365 import HOST_NAME, Microsoft365
from tests.servers.microsoft_identity import TENANT

__all__ = ["drive", "root", "running", "server", "user"]
pytestmark = pytest.mark.parametrize("running", ["m365"], indirect=True)
TOP = f"m365://{TENANT}"


def test_a_file_without_readable_permissions_is_read_all_the_same(
    server: Microsoft365, drive: Drive, root: str, user: str
) -> None:
    item = drive.add("a.txt", b"text")
    server.refuse_path(f"{item.id}/permissions")
    source = crawled_from(root)[0].source
    assert content_of(source) == b"text"
    assert access_of(source) == (user, ())


def test_malware_and_an_empty_package_are_failures_with_a_reason(drive: Drive, root: str) -> None:
    drive.add("bad.exe", b"x", malware={"description": "Eicar"})
    drive.add("Empty", None, package={"type": "oneNote"}, size=100)
    drive.add("Notebook", None, package={"type": "oneNote"})
    drive.add("Notebook/section.one")
    details = []
    empty, notebook, bad = (crawled.source for crawled in crawled_from(root))
    assert notebook.path == b"Notebook/section.one"
    for source in (empty, bad):
        with pytest.raises(ExtractError) as caught:
            content_of(source)
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
    for path, found in {
        "sites/Ward": ["Documents/a.txt", "Scans/s/b.txt"],
        "sites/Ward/Scans/s": ["b.txt"],
        "sites/icu": ["Documents/c.txt"],
        "sites": ["Ward/Documents/a.txt", "Ward/Scans/s/b.txt", "teams%2Ficu/Documents/c.txt"],
        f"sites/{HOST_NAME}": [],
    }.items():
        assert contents_of(f"{TOP}/{path}") == dict.fromkeys(found, b"x")
    server.refuse_path(f"/drives/{ward.drives[0].id}/")
    failed = [crawled for crawled in crawled_from(f"{TOP}/sites") if crawled.fail]
    assert [(one.source.path, one.fail) for one in failed] == [(b"Ward/Documents", FailReason.NO_PERMISSION)]


def test_messages_of_a_mailbox_by_folder(server: Microsoft365, drive: Drive, user: str) -> None:
    assert drive.root
    server.add_user(f"without.{user}", is_licensed=False)
    mail, mailbox = f"{TOP}/mail/{user}", server.users[-2].mailbox
    folder = mailbox.add_folder("Lab/2026", mailbox.inbox)
    message, other = mailbox.add(b"Subject: a\r\n\r\n1"), mailbox.add(b"Subject: b\r\n\r\n2", folder)
    other.properties["receivedDateTime"] = message.properties["receivedDateTime"] = "2026-03-01T08:00:00Z"
    first = {crawled.source.path: crawled.source for crawled in crawled_from(mail)}
    assert list(first) == [b"Inbox/2026-03-01T08.00.00Z.eml", b"Inbox/Lab%2F2026/2026-03-01T08.00.00Z.eml"]
    source = first[b"Inbox/2026-03-01T08.00.00Z.eml"]
    assert content_of(source) == message.content
    assert access_of(source) == (user, (f"user {user}",))
    everywhere = [one.source for one in crawled_from(f"{TOP}/mail") if user.encode() in one.source.path]
    assert [one.path.removeprefix(f"{user}/".encode()) for one in everywhere] == list(first)
    assert content_of(everywhere[0]) == message.content
    assert access_of(everywhere[0])[0] == user
    before = len(server.asked("/v1.0"))
    crawled_from(mail)
    assert len(server.asked("/v1.0")) == before + 3  # of the folders, and of the messages in each
    mailbox.move(message, folder)
    later = max(message.immutable_id, other.immutable_id)
    names = [f"2026-03-01T08.00.00Z{ending}.eml" for ending in (f" [{later}]", "")]
    assert paths_from(mail) == [f"Inbox/Lab%2F2026/{name}" for name in names]
    mailbox.delete(other)
    mailbox.rename_folder(folder, "New")
    (left,) = crawled_from(mail)
    assert left.source.path == b"Inbox/New/2026-03-01T08.00.00Z.eml"
    mailbox.update(message, isRead=True)
    with pytest.raises(ExtractError, match=FailReason.CHANGED):
        content_of(left.source)


def test_signs_in_with_a_certificate(
    server: Microsoft365, drive: Drive, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = tmp_path / "application.pem", Path(server.ca_file).parent
    path.write_bytes(b"".join((folder / name).read_bytes() for name in ("key.pem", "certificate.pem")))
    path.chmod(0o600)
    monkeypatch.setenv("PHISCAN_M365_PASSWORD", "")
    monkeypatch.setenv("PHISCAN_M365_KEY_FILE", str(path))
    drive.add("a.txt")
    assert paths_from(root) == ["a.txt"]
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
    server: Microsoft365, root: str, page: object, expected: str
) -> None:
    text = json.dumps(page).replace("DOWNLOAD", server.download_url).replace("API", server.url)
    n_pages = 1 + text.count(server.url)
    server.fail_next(n_pages, lambda: json_answer(200, json.loads(text)), path="delta")
    (failed,) = crawled_from(root)
    assert failed.fail == FailReason.IO_ERROR
    assert expected in failed.detail
    assert not server.asked("/v1.0/delta", host="download")
