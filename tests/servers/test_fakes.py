"""The servers that stand for Microsoft 365 and Google Drive refuse what clients must not do, as documented.

What they answer to a right request is what the tests of the clients read.
"""

import base64
import http.client
import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from tests.servers.api_server import ApiServer
from tests.servers.google_drive import ACCOUNT, GoogleDrive
from tests.servers.microsoft365 import Microsoft365
from tests.servers.microsoft_identity import APPLICATION, SECRET, TENANT

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Microsoft365]:
    with Microsoft365(tmp_path).running() as server:
        yield server


@pytest.fixture
def google() -> Iterator[GoogleDrive]:
    with GoogleDrive().running() as server:
        server.add_user("ann@x.org")
        yield server


def _get(
    server: ApiServer, url: str, *, token: str = "", form: dict[str, str] | None = None, **headers: str
) -> tuple[int, Any]:
    """Return status and body (JSON decoded) of an answer; ``form`` makes it a POST."""
    parts = urlsplit(url if "://" in url else server.url + url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=server.ca_file)
        connection = http.client.HTTPSConnection(parts.netloc, timeout=10, context=context)
    sent = {"Authorization": f"Bearer {token}", **headers}
    body = urlencode(form) if form is not None else None
    connection.request("GET" if form is None else "POST", f"{parts.path}?{parts.query}", body, sent)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, json.loads(data) if answer.headers["Content-Type"] == "application/json" else data


def _graph_token(graph: Microsoft365, **changed: str) -> tuple[int, Any]:
    form = {"grant_type": "client_credentials", "client_id": APPLICATION, "client_secret": SECRET}
    form |= {"scope": "https://graph.microsoft.com/.default", **changed}
    return _get(graph, f"/{TENANT}/oauth2/v2.0/token", form=form)


@pytest.mark.parametrize("wrong", ["grant_type", "client_id", "client_secret", "scope"])
def test_microsoft_gives_no_token_for_a_wrong_field(graph: Microsoft365, wrong: str) -> None:
    status, body = _graph_token(graph, **{wrong: "other"})
    assert status in {400, 401}
    assert body["error_description"].startswith("AADSTS")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1.0/users", 200),
        ("/v1.0/users?$skiptoken=other", 400),
        ("/v1.0/drives/{drive}/root/delta(token='other')", 400),
        ("/v1.0/drives/{drive}/items/none", 404),
        ("/v1.0/drives/none/root/delta", 404),
        ("/v1.0/users/nobody/drive", 404),
        ("/v1.0/elsewhere", 400),
    ],
)
def test_graph_answers_only_what_it_documents(graph: Microsoft365, path: str, status: int) -> None:
    drive = graph.add_site("Ward").drives[0]
    token = _graph_token(graph)[1]["access_token"]
    assert _get(graph, "/v1.0/users", token="other")[0] == 401
    assert _get(graph, path.format(drive=quote(drive.id)), token=token)[0] == status


def _google_token(server: GoogleDrive, **changed: Any) -> tuple[int, Any]:
    now = int(time.time())
    claims = {"iss": ACCOUNT, "scope": "https://www.googleapis.com/auth/drive.readonly", "iat": now}
    claims |= {"aud": "https://oauth2.googleapis.com/token", "exp": now + 3600, "sub": "ann@x.org", **changed}
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in ({"alg": "RS256"}, claims)
    )
    signature = server._key.sign(head + b"." + body, padding.PKCS1v15(), hashes.SHA256())
    token = b".".join((head, body, base64.urlsafe_b64encode(signature).rstrip(b"="))).decode()
    return _get(server, "/token", form={"grant_type": GRANT, "assertion": token})


@pytest.mark.parametrize("claim", [{"aud": "x"}, {"iss": "x"}, {"exp": 1}, {"sub": "x"}, {"scope": "x"}])
def test_google_gives_no_token_for_a_wrong_claim(google: GoogleDrive, claim: dict[str, Any]) -> None:
    status, body = _google_token(google, **claim)
    assert (status, body["error"].startswith("invalid_")) == (400, True)


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("files?fields=files(id,size),nextPageToken&pageSize=1000", 200, ""),
        ("files?fields=files(id,sizes)", 400, "invalidParameter"),
        ("files?pageSize=1001", 400, "invalid"),
        ("files?pageToken=other", 400, "invalid"),
        ("files?corpora=drive&driveId={drive}&supportsAllDrives=true", 400, "invalid"),
        ("changes?pageToken=other", 400, "invalid"),
        ("changes/startPageToken?driveId={drive}", 400, "invalid"),
        ("files/{shared}", 404, "notFound"),
        ("files/{shared}?supportsAllDrives=true", 200, ""),
        ("files/{page}?alt=media", 403, "fileNotDownloadable"),
        ("files/{page}/export?mimeType=image/png", 400, "badRequest"),
        ("files/{note}/export?mimeType=text/plain", 403, "fileNotExportable"),
        ("drives/{other}", 404, "notFound"),
        ("about", 404, "notFound"),
    ],
)
def test_google_answers_only_what_it_documents(
    google: GoogleDrive, path: str, status: int, reason: str
) -> None:
    mine = google.users["ann@x.org"]
    drive, other = google.add_drive("Ward", "ann@x.org"), google.add_drive("Other", "bob@x.org")
    page = mine.add("page", exports={"text/plain": b"text"})
    ids = {"shared": drive.add("note.txt").id, "page": page.id, "note": mine.add("note.txt").id}
    url = f"/drive/v3/{path.format(drive=drive.id, other=other.id, **ids)}"
    token = _google_token(google)[1]["access_token"]
    found, body = _get(google, url, token=token)
    assert (found, body.get("error", {}).get("errors", [{"reason": ""}])[0]["reason"]) == (status, reason)
    assert _get(google, url)[0] == 401
