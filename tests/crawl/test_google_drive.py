"""What is peculiar to Google Drive: names, the trash, documents of editors and shared drives."""

import pytest

from phiscan.errors import ExtractError
from phiscan.model import FailReason
from tests.crawl.fetched import access_of, content_of, contents_of, crawled_from, paths_from
from tests.crawl.test_cloud_drives import drive, root, running, server, user
from tests.servers.cloud import Drive
from tests.servers.google_drive import EXPORT_BYTES, GoogleDrive

__all__ = ["drive", "root", "running", "server", "user"]
pytestmark = pytest.mark.parametrize("running", ["gdrive"], indirect=True)
OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = f"{OFFICE}wordprocessingml.document"


def test_a_trashed_folder_goes_and_comes_back_with_what_is_in_it(drive: Drive, root: str) -> None:
    drive.add("trash/a/back.txt")
    drive.add("stays.txt")
    assert paths_from(root) == ["stays.txt", "trash/a/back.txt"]
    drive.trash(drive.folder("trash"))
    assert paths_from(root) == ["stays.txt"]
    drive.folder("trash").is_trashed = False
    drive.touch(drive.folder("trash"))  # the folder alone is reported
    assert paths_from(root) == ["stays.txt", "trash/a/back.txt"]


def test_equal_names_in_one_folder_stay_apart_when_others_come_and_go(drive: Drive, root: str) -> None:
    first, second = drive.add("same.txt", b"1"), drive.add("other", b"2", name="same.txt")
    drive.add("slash", b"3", name="bloods 3/4.txt")
    found = {"same.txt": b"1", f"same [{second.id}].txt": b"2", "bloods 3%2F4.txt": b"3"}
    assert contents_of(root) == found
    third = drive.add("third", b"4", name="same.txt")
    assert contents_of(root) == {**found, f"same [{third.id}].txt": b"4"}
    drive.delete(first)
    assert len(paths_from(root)) == 3


def test_documents_of_google_are_exported_as_office_files(drive: Drive, root: str) -> None:
    exports = {DOCX: b"PK docx", f"{OFFICE}spreadsheetml.sheet": b"PK xlsx"}
    drive.add("Letter", None, kind="document", exports=exports)
    drive.add("Sheet", None, kind="spreadsheet", exports=exports)
    drive.add("Form", None, kind="form", exports={"x/y": b""})
    drive.add("Large", None, kind="document", exports={DOCX: bytes(EXPORT_BYTES + 1)})
    form, large, letter, sheet = (crawled.source for crawled in crawled_from(root))
    assert (content_of(letter), content_of(sheet)) == (b"PK docx", b"PK xlsx")
    for source, reason, detail in (
        (large, FailReason.TOO_LARGE, "10 MB"),
        (form, FailReason.UNSUPPORTED, "exports no form"),
    ):
        with pytest.raises(ExtractError, match=detail) as caught:
            content_of(source)
        assert caught.value.reason == reason


def test_shared_drives_one_and_all(
    server: GoogleDrive, drive: Drive, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHISCAN_GDRIVE_USERNAME", user)
    drive.add("mine.txt")
    assert paths_from("gdrive://my") == ["mine.txt"]
    shared = [server.add_drive(f"Ward {number}/{user}", user) for number in range(2)]
    for one in shared:
        one.add("a/b.txt", one.name.encode())
    (source,) = (crawled.source for crawled in crawled_from(f"gdrive://shared/{shared[0].id}"))
    assert source.path == b"a/b.txt"
    assert content_of(source) == shared[0].name.encode()
    assert access_of(source) == ("", (f"user {user}",))
    expected = {f"Ward {number}%2F{user}/a/b.txt": shared[number].name.encode() for number in range(2)}
    assert contents_of("gdrive://shared") == expected
    assert paths_from(f"gdrive://shared/{shared[1].id}/a") == ["b.txt"]
    assert paths_from("gdrive://my") == ["mine.txt"]  # its changes name the drives
