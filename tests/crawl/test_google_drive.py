"""Google Drive, against a server on loopback that answers as the Drive API is documented to."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.crawl import Crawled, check_roots, is_same_file
from phiscan.crawl.settings import load_settings
from phiscan.crawl.shares import open_remote
from phiscan.errors import ExtractError, InputError
from phiscan.model import FailReason, SkipReason
from tests.crawl.fetched import NOTHING, access_of, content_of, crawled_from, paths_from
from tests.servers.api_server import Answer
from tests.servers.google_drive import ACCOUNT, EXPORT_BYTES, GoogleDrive
from tests.servers.google_drive_fields import error
from tests.servers.google_drive_files import Corpus, permission

OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = f"{OFFICE}wordprocessingml.document"
_numbers = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoogleDrive]:
    with GoogleDrive(tmp_path_factory.mktemp("certificate")).running() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(server: GoogleDrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.delegates = True
    values = {
        "GDRIVE_KEY_FILE": str(server.key_file(tmp_path)),
        "GDRIVE_ENDPOINT": server.url,
        "GDRIVE_CA_FILE": server.ca_file,
        "SHARES_LISTINGS": str(tmp_path / "listings"),
        "SHARES_ATTEMPTS": "3",
        "SHARES_RETRY_S": "0.01",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"PHISCAN_{name}", value)


@pytest.fixture
def user() -> str:
    return f"user{next(_numbers)}@example.org"


@pytest.fixture
def drive(server: GoogleDrive, user: str) -> Corpus:
    return server.add_user(user)


def _crawl(path: str) -> list[Crawled]:
    return crawled_from(f"gdrive://{path}")


def _paths(path: str) -> list[str]:
    return paths_from(f"gdrive://{path}")


def test_a_first_scan_lists_in_a_stable_order_and_an_unchanged_rescan_asks_once(
    server: GoogleDrive, drive: Corpus, user: str
) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "Résumé 100% #1 [x].docx"):
        drive.add(name, name.encode())
    drive.add("slash", b"text", name="bloods 3/4.txt")
    drive.add("empty", b"")
    drive.add("shortcut", target=drive.add("target"))
    drive.trash(drive.add("trashed"))
    first = _crawl(f"user/{user}")
    assert [(crawled.source.path.decode(), crawled.skip) for crawled in first] == [
        ("Résumé 100%25 #1 [x].docx", None),
        ("a/b/c.txt", None),
        ("a/z.txt", None),
        ("b.txt", None),
        ("bloods 3%2F4.txt", None),
        ("empty", SkipReason.EMPTY),
        ("shortcut", SkipReason.SYMLINK),
        ("target", None),
    ]
    assert content_of(first[0].source).decode() == "Résumé 100% #1 [x].docx"
    assert content_of(first[4].source) == b"text"
    before = len(server.asked("/drive/v3"))
    again = _crawl(f"user/{user}")
    assert [crawled.source for crawled in again] == [crawled.source for crawled in first]
    assert len(server.asked("/drive/v3")) == before + 1


def test_renamed_moved_deleted_trashed_and_restored(drive: Corpus, user: str) -> None:
    moved, gone, trashed = drive.add("a/moved.txt"), drive.add("gone.txt"), drive.folder("t")
    drive.add("t/u/back.txt")
    drive.add("a/b/stays.txt")
    before = _crawl(f"user/{user}")[0].source
    assert before.path == b"a/b/stays.txt"
    drive.rename(drive.folder("a"), "renamed")
    drive.move(moved, drive.root)
    drive.delete(gone)
    drive.trash(trashed)
    after = [crawled.source for crawled in _crawl(f"user/{user}")]
    assert [source.path for source in after] == [b"moved.txt", b"renamed/b/stays.txt"]
    assert is_same_file(after[1], before)
    trashed.trashed = False
    drive.touch(trashed)  # the folder alone is reported
    assert _paths(f"user/{user}") == ["moved.txt", "renamed/b/stays.txt", "t/u/back.txt"]


def test_equal_names_in_one_folder_stay_apart_when_others_come_and_go(drive: Corpus, user: str) -> None:
    first, second = drive.add("same.txt", b"1"), drive.add("other", b"2", name="same.txt")
    drive.rename(second, "same.txt")
    found = {crawled.source.path.decode(): crawled.source for crawled in _crawl(f"user/{user}")}
    assert {name: content_of(source) for name, source in found.items()} == {
        "same.txt": b"1",
        f"same [{second.id}].txt": b"2",
    }
    third = drive.add("third", b"3", name="same.txt")
    assert set(_paths(f"user/{user}")) == {*found, f"same [{third.id}].txt"}
    assert first.id != second.id


def test_documents_of_google_are_exported_as_office_files(drive: Corpus, user: str) -> None:
    exports = {DOCX: b"PK docx", f"{OFFICE}spreadsheetml.sheet": b"PK xlsx"}
    drive.add("1", name="Letter", exports=exports)
    drive.add("2", name="Sheet", exports=exports, mime_type="application/vnd.google-apps.spreadsheet")
    drive.add("3", name="Form", exports={"x/y": b""}, mime_type="application/vnd.google-apps.form")
    drive.add("4", name="Large", exports={DOCX: bytes(EXPORT_BYTES + 1)})
    form, large, letter, sheet = (crawled.source for crawled in _crawl(f"user/{user}"))
    assert (content_of(letter), content_of(sheet)) == (b"PK docx", b"PK xlsx")
    for source, reason, detail in (
        (large, FailReason.TOO_LARGE, "10 MB"),
        (form, FailReason.UNSUPPORTED, "exports no form"),
    ):
        with pytest.raises(ExtractError) as caught:
            content_of(source)
        assert caught.value.reason == reason
        assert detail in caught.value.detail


def test_reads_on_after_a_broken_download(
    server: GoogleDrive, drive: Corpus, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.crawl.http_client.RANGE_BYTES", 1000)
    data = os.urandom(5000)
    drive.add("a.bin", data)
    source = _crawl(f"user/{user}")[0].source
    server.break_downloads(2, 300)
    assert content_of(source) == data


@pytest.mark.parametrize("moment", ["before", "while it is read"])
@pytest.mark.parametrize("what", ["replaced", "deleted", "trashed"])
def test_a_file_that_changed_since_it_was_listed_is_not_taken(
    drive: Corpus, user: str, moment: str, what: str
) -> None:
    file = drive.add("a.txt", b"first")
    source = _crawl(f"user/{user}")[0].source
    change = {
        "replaced": lambda: drive.replace(file, b"other"),
        "deleted": lambda: drive.delete(file),
        "trashed": lambda: drive.trash(file),
    }[what]
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


@pytest.mark.parametrize(
    ("status", "reason"),
    [(403, "rateLimitExceeded"), (403, "userRateLimitExceeded"), (429, "rateLimitExceeded"), (503, "")],
)
def test_throttling_is_waited_for(
    server: GoogleDrive, drive: Corpus, user: str, status: int, reason: str
) -> None:
    file = drive.add("a.txt", b"text")
    server.throttle(2, status=status, reason=reason)
    source = _crawl(f"user/{user}")[0].source
    server.throttle(2, status=status, reason=reason, path=file.id)
    assert content_of(source) == b"text"


def test_expired_tokens_are_renewed_and_a_refused_page_token_begins_anew(
    server: GoogleDrive, drive: Corpus, user: str
) -> None:
    gone = drive.add("gone.txt")
    drive.add("stays.txt", b"text")
    share = open_remote(f"gdrive://user/{user}".encode(), load_settings(Config()))
    share.check()
    server.expire_tokens()
    found = [crawled.source for crawled in share.crawl(NOTHING, set())]
    assert [source.path for source in found] == [b"gone.txt", b"stays.txt"]
    drive.delete(gone)
    server.expire_page_tokens()
    assert _paths(f"user/{user}") == ["stays.txt"]
    assert content_of(found[1]) == b"text"


@pytest.mark.parametrize(
    ("granted", "readers"),
    [
        (permission("anyone"), {"everyone"}),
        (permission("domain", "example.org"), {"group everyone in example.org"}),
        (permission("group", "nurses@example.org"), {"group nurses@example.org"}),
        (permission("user", "b@example.org", "writer"), {"user b@example.org"}),
        (permission("user", "jd@example.net"), {"user jd@example.net (guest)"}),
        (permission("user", "left@example.org", deleted=True), set()),
    ],
)
@pytest.mark.parametrize("on", ["the file", "a folder above"])
def test_links_guests_and_groups_are_readers_also_inherited(
    drive: Corpus, user: str, granted: dict[str, object], readers: set[str], on: str
) -> None:
    file = drive.add("a/b.txt")
    drive.share(file if on == "the file" else drive.folder("a"), granted)
    owner, found = access_of(_crawl(f"user/{user}")[0].source)
    assert owner == user
    assert set(found) == {f"user {user}", *readers}


def test_shared_drives_one_and_all(
    server: GoogleDrive, user: str, drive: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHISCAN_GDRIVE_USERNAME", user)
    shared = [server.add_drive(f"Ward {number}/{user}", user) for number in range(2)]
    for one in shared:
        one.add("a/b.txt", one.name.encode())
    drive.add("mine.txt")
    (source,) = (crawled.source for crawled in _crawl(f"shared/{shared[0].id}"))
    assert source.path == b"a/b.txt"
    assert content_of(source) == shared[0].name.encode()
    assert access_of(source) == ("", (f"user {user}",))
    everywhere = _crawl("shared")
    assert [one.source.path.decode() for one in everywhere] == [
        f"Ward {number}%2F{user}/a/b.txt" for number in range(2)
    ]
    assert content_of(everywhere[1].source) == shared[1].name.encode()
    assert _paths(f"shared/{shared[1].id}/a") == ["b.txt"]
    assert _paths("my") == ["mine.txt"]


def test_the_drives_of_all_users(user: str, drive: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHISCAN_GDRIVE_USERNAME", user)
    drive.add("a.txt", b"text")
    (mine,) = (one.source for one in _crawl("user") if one.source.path.startswith(user.encode()))
    assert mine.path == f"{user}/a.txt".encode()
    assert content_of(mine) == b"text"
    assert access_of(mine)[0] == user


@pytest.mark.parametrize(
    ("path", "case", "expected"),
    [
        ("user/{user}", "no delegation", "no domain-wide delegation"),
        ("user/nobody@example.org", "", "wrong service account or key"),
        ("shared/nothing", "", "no such site, user or drive"),
        ("user/{user}/nowhere", "", "no such folder"),
        ("user/{user}", "no key", "no key_file"),
        ("user/{user}", "damaged key", "expected a service account's JSON"),
        ("user/{user}", "another key", "wrong service account or key"),
        ("user/{user}", "no authority", "the server's certificate is not trusted"),
        ("elsewhere", "", "expected gdrive://my"),
    ],
)
def test_a_refusal_is_one_line_without_the_secret(
    *,
    server: GoogleDrive,
    drive: Corpus,
    user: str,
    path: str,
    case: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(0)
    assert drive.root
    key_file = Path(os.environ["PHISCAN_GDRIVE_KEY_FILE"])
    secret = key_file.read_text()
    if case == "no delegation":
        server.delegates = False
    elif case == "no key":
        monkeypatch.setenv("PHISCAN_GDRIVE_KEY_FILE", "")
    elif case == "damaged key":
        key_file.write_text(secret[:400])
    elif case == "another key":
        key_file.write_text(secret.replace(ACCOUNT, "other@example.org"))
    elif case == "no authority":
        monkeypatch.setenv("PHISCAN_GDRIVE_CA_FILE", "")
    root = f"gdrive://{path.format(user=user)}"
    with pytest.raises(InputError) as caught:
        check_roots([root])
    message = str(caught.value)
    assert message.startswith(root)
    assert expected in message
    assert "\n" not in message
    assert caught.value.__cause__ is None
    parts = {secret[start : start + 40] for start in range(200, 1000, 40)}
    assert not [part for part in parts if part in message + caplog.text]


def test_a_scan_killed_in_the_middle_of_its_pages_is_as_if_it_had_not_begun(
    server: GoogleDrive, drive: Corpus, user: str
) -> None:
    drive.fill(1100, per_folder=100)
    first = _paths(f"user/{user}")
    drive.rename(drive.folder("folder 00000"), "renamed")
    for file in list(drive.files.values()):
        drive.touch(file)
    reached, done = threading.Event(), threading.Event()

    def wait() -> Answer:
        reached.set()
        done.wait(30)
        return error(503, "backendError", "")

    server.fail_next(1, wait, path="changes", after=1)
    command = "import sys, tests.crawl.test_google_drive as t; t._crawl(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", command, f"user/{user}"]) as killed:
        assert reached.wait(30)
        killed.send_signal(signal.SIGKILL)
    done.set()
    assert _paths(f"user/{user}") == sorted(name.replace("folder 00000", "renamed") for name in first)
