"""What is peculiar to WebDAV: TLS, tokens, who may read, and servers that say less than Apache, or lie."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from phiscan.crawl import check_roots, walk
from phiscan.crawl.http_client import RANGE_BYTES
from phiscan.crawl.share import RefusedError
from phiscan.crawl.webdav import access_of, responses
from phiscan.errors import ExtractError, InputError
from phiscan.model import FailReason
from tests.crawl.fetched import content_of, found_at, refusal_of
from tests.servers.apache import running_apache
from tests.servers.api_server import Answer, ApiServer, Request, ranged
from tests.servers.certificate import make_certificate

TOKEN = "canary-token-7261"
MODIFIED = "Sun, 06 Nov 1994 08:49:37 GMT"
LARGE = bytes(range(256)) * 40_000  # more than one range


def test_reads_over_tls_from_a_server_whose_certificate_is_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with running_apache(tls=True) as server:
        server.ready(monkeypatch)
        (server.share / "a b.bin").write_bytes(LARGE)
        (crawled,) = found_at(server.url)
        assert content_of(crawled.source) == LARGE
        make_certificate(tmp_path)
        other = str(tmp_path / "certificate.pem")
        for ca_file, expected in (
            (other, "certificate is not trusted"),
            ("", "certificate is not trusted"),
            (str(tmp_path / "none"), "ca_file: expected a file of certificates"),
        ):
            monkeypatch.setenv("PHISCAN_WEBDAV_CA_FILE", ca_file)
            with pytest.raises(InputError, match=expected):
                check_roots([server.url])


def test_sends_nothing_without_encryption_to_another_machine() -> None:
    with pytest.raises(InputError, match="would not be encrypted; expected https"):
        check_roots(["dav://files.example.org/dav"])


class Dav(ApiServer):
    """A server that answers as it is told."""

    listing = ""  # the answer to PROPFIND, also for a file
    content = b"content"
    etag = ""  # of answers to GET
    ranges = with_length = True
    status = 207

    def answer(self, request: Request) -> Answer:
        if request.method == "PROPFIND":
            listing = self.listing
            if request.headers["Depth"] == "0":  # the one asked for
                listing = next((one for one in listing.split("\n") if f">{request.path}<" in one), "")
            return Answer(self.status, _multistatus(listing).encode(), has_length=self.with_length)
        headers = {"ETag": self.etag} if self.etag else {}
        if request.headers.get("If-Match", self.etag) != self.etag:
            return Answer(412, b"", headers)
        made = ranged(self.content, request.headers["Range"] if self.ranges else None)
        return Answer(made.status, made.body, made.headers | headers, has_length=self.with_length)


@pytest.fixture
def dav(monkeypatch: pytest.MonkeyPatch) -> Iterator[Dav]:
    monkeypatch.setenv("PHISCAN_WEBDAV_TOKEN", TOKEN)
    monkeypatch.setenv("PHISCAN_SHARES_ATTEMPTS", "1")
    with Dav().running() as server:
        server.url = server.url.replace("http", "dav")
        yield server


def _multistatus(inside: str) -> str:
    spaces = 'xmlns="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"'
    return f'<?xml version="1.0"?><multistatus {spaces}>{inside}</multistatus>'


def _response(href: str, properties: str = "<resourcetype/>") -> str:
    status = "<status>HTTP/1.1 200 OK</status>"
    return f"<response><href>{href}</href><propstat><prop>{properties}</prop>{status}</propstat></response>"


FOLDER = "<resourcetype><collection/></resourcetype>"
FILE = f"<resourcetype/><getlastmodified>{MODIFIED}</getlastmodified>"


def test_signs_in_by_a_token_which_is_not_repeated_when_refused(dav: Dav) -> None:
    dav.listing = _response("/", FOLDER)
    assert check_roots([dav.url]) == (dav.url.encode(),)
    assert {request.token for request in dav.requests} == {TOKEN}
    dav.status, dav.requests = 401, []
    assert "wrong user name, password or token" in refusal_of(dav.url)
    assert len(dav.requests) == 1


@pytest.mark.parametrize(
    ("status", "listing", "expected"),
    [
        (207, FILE, "not a folder"),
        (200, FOLDER, "does not answer as one of WebDAV"),
        (405, FOLDER, "answered 405"),
        (207, "<broken", "is not XML"),
    ],
)
def test_refuses_a_root_that_is_no_folder_of_webdav(
    dav: Dav, status: int, listing: str, expected: str
) -> None:
    dav.status, dav.listing = status, _response("/", listing)
    with pytest.raises(InputError, match=expected):
        check_roots([dav.url])


@pytest.mark.parametrize(
    "write",
    [
        str,
        lambda path: f"https://files.example.org:8443{path}",
        lambda path: path.replace("%20", " ").replace("&amp;", "%26"),
        lambda path: path.removeprefix("/dav/") if len(path) > len("/dav/") else path,
        lambda path: path.rstrip("/"),
    ],
)
def test_understands_every_form_of_address(dav: Dav, write: Callable[[str], str]) -> None:
    dav.listing = "\n".join(
        [
            _response("/dav/", FOLDER),
            _response(write("/dav/"), FOLDER),
            *(_response(write(f"/dav/{name}"), FILE) for name in ("a%20b", "c%26&amp;d", "%E9")),
        ]
    )
    found = [crawled.source for crawled in found_at(f"{dav.url}/dav")]
    assert [source.path for source in found] == [b"a b", b"c&&d", b"\xe9"]
    assert {source.mtime_ns for source in found} == {784111777 * 10**9}


@pytest.mark.parametrize("href", ["/other/a", "/dav/b/c", "/dav/a%2Fb", "/dav/%2E%2E", "/dav/a%00"])
def test_a_listing_with_other_names_than_of_its_folder_is_not_believed(dav: Dav, href: str) -> None:
    dav.listing = "\n".join([_response("/dav/", FOLDER), _response(href, FILE)])
    (crawled,) = found_at(f"{dav.url}/dav")
    assert (crawled.source.path, crawled.fail) == (b".", FailReason.IO_ERROR)


def test_a_name_listed_twice_is_one_entry(dav: Dav) -> None:
    again = [_response(f"/dav/{name}", FILE if name == "f" else FOLDER) for name in ("a", "a", "f", "f")]
    dav.listing = "\n".join([_response("/dav/", FOLDER), *again])
    listed = dav.answer
    dav.answer = lambda request: (  # type: ignore[method-assign]
        listed(request) if request.path == "/dav/" else Answer(403)
    )
    found = [(crawled.source.path, crawled.fail) for crawled in found_at(f"{dav.url}/dav")]
    assert found == [(b"a", FailReason.NO_PERMISSION), (b"f", None)]


@pytest.mark.parametrize("limit", ["LOOPS", "_LONGEST"])
def test_a_folder_that_contains_itself_is_recorded(
    dav: Dav, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(walk, limit, 5)
    monkeypatch.setattr(dav, "answer", lambda request: Answer(207, _multistatus(_within(request)).encode()))
    failed = [crawled for crawled in found_at(dav.url) if crawled.fail]
    assert [(one.source.path, one.detail) for one in failed] == [
        (b"/".join([b"a"] * (5 if limit == "LOOPS" else 4)), "it seems to contain itself")
    ]


def _within(request: Request) -> str:
    """Return a folder that has a file and a folder with the same entries."""
    own = request.path.rstrip("/")
    return "".join(
        (_response(f"{own}/", FOLDER), _response(f"{own}/a/", FOLDER), _response(f"{own}/f", FILE))
    )


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("with_length", [True, False])
@pytest.mark.parametrize("content", [b"x", LARGE[:RANGE_BYTES], LARGE])
def test_reads_files_of_which_the_listing_says_nothing(
    dav: Dav, content: bytes, *, ranges: bool, with_length: bool
) -> None:
    dav.content, dav.ranges, dav.with_length = content, ranges, with_length
    dav.listing = "\n".join([_response("/", FOLDER), _response("/a", "<resourcetype/>")])
    (crawled,) = found_at(dav.url)
    if not ranges and not with_length and len(content) >= RANGE_BYTES:
        with pytest.raises(ExtractError, match="neither"):
            content_of(crawled.source)
    else:
        assert content_of(crawled.source) == content


@pytest.mark.parametrize("of_get", ['"1"', '"1-gzip"', 'W/"1"'])
def test_reads_one_version_also_where_listings_have_other_etags(dav: Dav, of_get: str) -> None:
    dav.content, dav.etag = LARGE, of_get
    dav.listing = "\n".join([_response("/", FOLDER), _response("/a", FILE + '<getetag>"1"</getetag>')])
    (crawled,) = found_at(dav.url)
    assert content_of(crawled.source) == LARGE
    conditions = [one.headers["If-Match"] for one in dav.requests if "If-Match" in one.headers]
    assert conditions == [of_get for _ in range(len(LARGE) // RANGE_BYTES) if not of_get.startswith("W/")]
    dav.listing = dav.listing.replace('"1"', '"2"')
    with pytest.raises(ExtractError, match="not the file that was crawled"):
        content_of(crawled.source)


def test_entities_are_not_expanded() -> None:
    harmful = (
        '<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + _multistatus(_response("/&a;"))[21:]
    )
    with pytest.raises(RefusedError, match="defines entities"):
        list(responses(harmful.encode()))


ANN = "<oc:owner-id>ann</oc:owner-id>"
SHARE_TYPE = "<oc:share-type>{}</oc:share-type>"
SHAREES = (("bob", 0), ("ward", 1), ("", 3), ("c@d.example", 4), ("eve@far", 6), ("x", 99))
RULES = (
    ("<href>/users/bob</href>", "deny", "all"),
    ("<property><owner/></property>", "grant", "all"),
    ("<href>/groups/ward/</href>", "grant", "read"),
    ("<href>/users/dan</href>", "grant", "write"),
    ("<authenticated/>", "grant", "read"),
    ("<all/>", "grant", "read"),
)


def _all(form: str, rows: Sequence[tuple[object, ...]]) -> str:
    return "".join(form.format(*row) for row in rows)


@pytest.mark.parametrize(
    ("properties", "owner", "readers"),
    [
        ("", "", ()),
        ("<owner><href>/principals/users/ann%20b/</href></owner>", "ann b", ()),
        (ANN, "ann", ("user ann",)),
        (
            f"{ANN}<oc:share-types>{_all(SHARE_TYPE, ((0,), (3,)))}</oc:share-types>",
            "ann",
            ("user ann", "everyone"),
        ),
        (
            ANN
            + "<nc:sharees>"
            + _all("<nc:sharee><nc:id>{}</nc:id><nc:type>{}</nc:type></nc:sharee>", SHAREES)
            + "</nc:sharees>",
            "ann",
            (
                *("user ann", "user bob", "group ward", "everyone"),
                *("user c@d.example (guest)", "user eve@far (guest)"),
            ),
        ),
        (
            "<owner><href>/users/ann</href></owner><acl>"
            + _all("<ace><principal>{0}</principal><{1}><privilege><{2}/></privilege></{1}></ace>", RULES)
            + "</acl>",
            "ann",
            ("not user bob", "user ann", "group ward", "group Authenticated Users", "everyone"),
        ),
    ],
)
def test_names_owner_and_readers(properties: str, owner: str, readers: tuple[str, ...]) -> None:
    answer = _multistatus(_response("/a", properties)).encode()
    assert [access_of(found) for _, found in responses(answer)] == [(owner, readers)]
