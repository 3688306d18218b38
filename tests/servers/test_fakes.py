"""The servers that stand for Microsoft 365 and Google Drive answer as documented, by plain HTTP requests."""

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

from tests.servers.api_server import ApiServer, http_date
from tests.servers.google_drive import ACCOUNT, EXPORT_BYTES, GoogleDrive
from tests.servers.google_drive_files import permission
from tests.servers.microsoft365 import Microsoft365
from tests.servers.microsoft365_drives import granted, identity_set, invited, link
from tests.servers.microsoft365_mail import IMMUTABLE
from tests.servers.microsoft_identity import APPLICATION, SECRET, TENANT


class _Client:
    """Requests with a token; redirects are not followed."""

    def __init__(self, server: ApiServer, token: str = "") -> None:
        self.server, self.token = server, token

    def get(self, url: str, *, form: dict[str, str] | None = None, **headers: str) -> tuple[int, Any, Any]:
        """Return status, body (JSON decoded) and headers; ``form`` makes it a POST."""
        parts = urlsplit(url if "://" in url else self.server.url + url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=10)
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=self.server.ca_file)
            connection = http.client.HTTPSConnection(parts.netloc, timeout=10, context=context)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        body = urlencode(form) if form is not None else None
        connection.request("GET" if form is None else "POST", target, body, sent)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        kind = answer.headers.get("Content-Type", "")
        return answer.status, json.loads(data) if kind == "application/json" else data, answer.headers

    def json(self, url: str, **headers: Any) -> Any:
        status, body, _ = self.get(url, **headers)
        assert status == 200, body
        return body

    def round(self, url: str, **headers: Any) -> tuple[list[dict[str, Any]], str]:
        """Return all entries of a delta query and its deltaLink."""
        found: list[dict[str, Any]] = []
        body: dict[str, Any] = {"@odata.nextLink": url}
        while "@odata.nextLink" in body:
            body = self.json(body["@odata.nextLink"], **headers)
            found += body["value"]
        return found, body["@odata.deltaLink"]


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Microsoft365]:
    with Microsoft365(tmp_path).running() as server:
        yield server


def _signed_in(server: Microsoft365, secret: str = SECRET) -> _Client:
    form = {"grant_type": "client_credentials", "client_id": APPLICATION, "client_secret": secret}
    form["scope"] = "https://graph.microsoft.com/.default"
    client = _Client(server)
    endpoint = client.json(f"/{TENANT}/v2.0/.well-known/openid-configuration")["token_endpoint"]
    status, body, _ = client.get(endpoint, form=form)
    if status != 200:
        raise PermissionError(body["error"])
    return _Client(server, body["access_token"])


def test_signs_in_to_microsoft_over_tls_with_the_secret_only(graph: Microsoft365) -> None:
    assert graph.url.startswith("https://")
    with pytest.raises(PermissionError, match="invalid_client"):
        _signed_in(graph, "other")
    client = _signed_in(graph)
    assert client.json("/v1.0/users")["value"] == []
    graph.expire_tokens()
    status, body, _ = client.get("/v1.0/users")
    assert (status, body["error"]["code"]) == (401, "InvalidAuthenticationToken")
    assert _Client(graph).get("/nobody/v2.0/.well-known/openid-configuration")[0] == 400


def test_lists_sites_users_and_drives_in_pages(graph: Microsoft365) -> None:
    client = _signed_in(graph)
    site = graph.add_site("Ward Four")
    graph.add_library(site, "Scans")
    for number in range(3):
        graph.add_user(f"User {number}", f"u{number}@contoso.com", has_drive=number > 0)
    path = "/v1.0/sites/contoso.sharepoint.com:/sites/WardFour"
    assert client.json(path)["id"] == site.id == client.json("/v1.0/sites?search=*")["value"][0]["id"]
    names = [drive["name"] for drive in client.json(f"/v1.0/sites/{quote(site.id)}/drives")["value"]]
    assert names == ["Documents", "Scans"]
    assert client.json(path + ":/drives")["value"][1]["name"] == "Scans"
    first = client.json("/v1.0/users?$top=2&$select=id,userType")
    assert set(first["value"][0]) == {"id", "userType"}
    assert len(client.json(first["@odata.nextLink"])["value"]) == 1
    assert client.get("/v1.0/users/u0@contoso.com/drive")[0] == 404
    assert client.json("/v1.0/users/u1@contoso.com/drive")["driveType"] == "business"


def test_delta_reports_items_by_id_with_stale_repeats_and_without_names_of_the_deleted(
    graph: Microsoft365,
) -> None:
    client = _signed_in(graph)
    drive = graph.add_site("Ward").drives[0]
    note, other = drive.add("a/b/note.txt", b"0123456789"), drive.add("a/other.txt")
    url = f"/v1.0/drives/{quote(drive.id)}/root/delta"
    found, state = client.round(url + "?$top=2")
    assert {one["id"] for one in found} == set(drive.items)
    assert all("path" not in one["parentReference"] and "cTag" not in one for one in found)
    order = [one["id"] for one in found]
    assert order.index(note.id) < order.index(drive.folder("a").id), "children come first"
    assert next(one for one in found if "root" in one)["size"] == 11
    drive.rename(drive.folder("a"), "renamed")
    drive.delete(other)
    found, state = client.round(state)
    assert note.id not in {one["id"] for one in found}
    gone = next(one for one in found if "deleted" in one)
    assert gone["id"] == other.id
    assert "name" not in gone
    assert [one["name"] for one in found if one.get("name") in {"a", "renamed"}] == ["a", "renamed"]
    assert client.round(state)[0] == []
    assert client.json(url + "?token=latest")["value"] == []


def test_delta_shows_sharing_as_the_preferences_ask(graph: Microsoft365) -> None:
    client = _signed_in(graph)
    drive = graph.add_site("Ward").drives[0]
    folder, note = drive.folder("a"), drive.add("a/note.txt")
    url = f"/v1.0/drives/{quote(drive.id)}/root/delta?$select=id,shared,@microsoft.graph.sharedChanged"
    _, state = client.round(url)
    drive.share(folder, link("organization"))
    drive.rename(note, "other.txt")
    both = {folder.id: {"scope": "organization"}, note.id: {"scope": "organization"}}
    found = {one["id"]: one.get("shared") for one in client.round(state)[0]}
    assert found == {**both, drive.root.id: None}
    alone = client.round(state, deltaExcludeParent="true", Prefer="hierarchicalsharing")[0]
    assert {one["id"]: one.get("shared") for one in alone} == {**both, note.id: None}
    prefer = "deltashowremovedasdeleted, deltatraversepermissiongaps, deltashowsharingchanges"
    changed = client.round(state, Prefer=prefer)[0]
    assert [one["id"] for one in changed if "@microsoft.graph.sharedChanged" in one] == [folder.id]


@pytest.mark.parametrize("code", ["resyncChangesApplyDifferences", "resyncChangesUploadDifferences"])
def test_an_expired_delta_token_is_gone_with_the_address_of_a_new_enumeration(
    graph: Microsoft365, code: str
) -> None:
    client = _signed_in(graph)
    drive = graph.add_site("Ward").drives[0]
    drive.add("note.txt")
    state = client.round(f"/v1.0/drives/{quote(drive.id)}/root/delta")[1]
    graph.expire_delta_tokens(code)
    status, body, headers = client.get(state)
    assert (status, body["error"]["code"]) == (410, code)
    assert {one["id"] for one in client.round(headers["Location"])[0]} == set(drive.items)


def test_content_is_sent_by_another_host_in_ranges(graph: Microsoft365) -> None:
    client = _signed_in(graph)
    drive = graph.add_site("Ward").drives[0]
    item = drive.add("note.txt", b"0123456789")
    url = f"/v1.0/drives/{quote(drive.id)}/items/{item.id}"
    status, _, headers = client.get(url + "/content")
    plain = _Client(graph)
    assert status == 302
    assert headers["Location"].startswith(graph.download_url)
    status, body, headers = plain.get(headers["Location"], Range="bytes=4-6")
    assert (status, body, headers["Content-Range"]) == (206, b"456", "bytes 4-6/10")
    address = client.json(url)["@microsoft.graph.downloadUrl"]
    assert plain.get(address, Range="bytes=10-")[0] == 416
    graph.break_downloads(1, 4)
    with pytest.raises(http.client.IncompleteRead, match="4 bytes read"):
        plain.get(address)
    assert plain.get(address)[1] == b"0123456789"
    graph.expire_downloads()
    assert plain.get(address)[0] == 401
    assert [one.token for one in graph.asked(host="download")] == [""] * 5


def test_permissions_are_inherited_and_come_in_pages(graph: Microsoft365) -> None:
    client = _signed_in(graph)
    drive = graph.add_site("Ward").drives[0]
    item = drive.add("a/note.txt")
    guest = identity_set("Guest", "g_gmail.com#EXT#@contoso.com")
    drive.share(drive.folder("a"), granted(identity_set("Nurses", kind="group")), link("anonymous"))
    drive.share(item, link("users", guest), invited("new@x.org"))
    graph.permissions_page_size = 3
    body = client.json(f"/v1.0/drives/{quote(drive.id)}/items/{item.id}/permissions")
    found = [*body["value"], *client.json(body["@odata.nextLink"])["value"]]
    assert [("inheritedFrom" in one, one.get("link", {}).get("scope")) for one in found] == [
        (False, "users"),
        (False, None),
        (True, None),
        (True, "anonymous"),
    ]
    assert found[0]["grantedToIdentitiesV2"][0]["siteUser"]["loginName"].endswith("#EXT#@contoso.com")


def test_throttling_names_the_pause_as_seconds_or_date(graph: Microsoft365) -> None:
    client = _signed_in(graph)
    graph.throttle(1, retry_after="7")
    graph.throttle(1, status=503, retry_after=http_date(60))
    answers = [client.get("/v1.0/users") for _ in range(3)]
    assert [status for status, _, _ in answers] == [429, 503, 200]
    assert answers[0][1]["error"]["code"] == "activityLimitReached"
    assert answers[0][2]["Retry-After"] == "7"
    assert answers[1][2]["Retry-After"].endswith(" GMT")
    graph.is_down = True
    with pytest.raises(http.client.RemoteDisconnected):
        client.get("/v1.0/users")


def test_mail_is_tracked_by_folder_and_keeps_its_immutable_id(graph: Microsoft365) -> None:
    client = _signed_in(graph)
    box = graph.add_user("Ann", "ann@contoso.com").mailbox
    assert box is not None
    archive = box.add_folder("Archive", box.inbox)
    first, second = box.add(b"Subject: a\r\n\r\nbody"), box.add(b"Subject: b\r\n\r\nbody")
    base = "/v1.0/users/ann@contoso.com"
    folders, _ = client.round(f"{base}/mailFolders/delta", Prefer="odata.maxpagesize=1")
    assert [one["displayName"] for one in folders] == ["Inbox", "Archive"]
    assert folders[1]["parentFolderId"] == box.inbox.id
    prefer = f"odata.maxpagesize=1, {IMMUTABLE}"
    url = f"{base}/mailFolders/{box.inbox.id}/messages/delta?$select=subject"
    found, state = client.round(url, Prefer=prefer)
    assert [one["id"] for one in found] == [first.immutable_id, second.immutable_id]
    assert "receivedDateTime" not in found[0]
    former = first.id
    box.move(first, archive)
    box.delete(second)
    assert first.id != former
    found, _ = client.round(state, Prefer=prefer)
    reasons = {one["id"]: one["@removed"]["reason"] for one in found}
    assert reasons == {first.immutable_id: "changed", second.immutable_id: "deleted"}
    moved, _ = client.round(f"{base}/mailFolders/{archive.id}/messages/delta", Prefer=prefer)
    assert [one["id"] for one in moved] == [first.immutable_id]
    status, body, _ = client.get(f"{base}/messages/{first.immutable_id}/$value")
    assert (status, body) == (200, b"Subject: a\r\n\r\nbody")


# Google Drive.


@pytest.fixture
def google() -> Iterator[GoogleDrive]:
    with GoogleDrive().running() as server:
        yield server


def _granted(server: GoogleDrive, **other: Any) -> _Client:
    now = int(time.time())
    claims = {"iss": ACCOUNT, "scope": "https://www.googleapis.com/auth/drive.readonly", "iat": now}
    claims |= {"aud": "https://oauth2.googleapis.com/token", "exp": now + 3600, "sub": "ann@x.org", **other}
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in ({"alg": "RS256", "typ": "JWT"}, claims)
    )
    signature = server._key.sign(head + b"." + body, padding.PKCS1v15(), hashes.SHA256())
    token = b".".join((head, body, base64.urlsafe_b64encode(signature).rstrip(b"="))).decode()
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": token}
    status, answer, _ = _Client(server).get("/token", form=form)
    if status != 200:
        raise PermissionError(answer["error"])
    return _Client(server, answer["access_token"])


def _reason(answer: tuple[int, Any, Any]) -> tuple[int, str]:
    return answer[0], answer[1]["error"]["errors"][0]["reason"]


@pytest.mark.parametrize("claim", [{"aud": "x"}, {"iss": "x"}, {"exp": 1}, {"sub": "x"}, {"scope": "x"}])
def test_a_wrong_claim_gets_no_token(google: GoogleDrive, claim: dict[str, Any]) -> None:
    google.add_user("ann@x.org")
    with pytest.raises(PermissionError, match="invalid_"):
        _granted(google, **claim)
    assert google.asked("/drive") == []


def test_lists_files_by_query_fields_and_pages(google: GoogleDrive) -> None:
    mine = google.add_user("ann@x.org")
    client = _granted(google)
    note = mine.add("a/it's.txt", b"0123")
    mine.trash(mine.add("old.txt"))
    for text, names in {
        "'root' in parents and trashed = false": ["a"],
        f"'{note.parent.id if note.parent else ''}' in parents": ["it's.txt"],
        r"name = 'it\'s.txt' or not trashed = false": ["it's.txt", "old.txt"],
        "mimeType != 'application/vnd.google-apps.folder' and (trashed = true)": ["old.txt"],
    }.items():
        query = urlencode({"q": text, "fields": "files(name)"})
        assert [one["name"] for one in client.json(f"/drive/v3/files?{query}")["files"]] == names
    body = client.json("/drive/v3/files?pageSize=2")
    assert set(body["files"][0]) == {"kind", "id", "name", "mimeType"}
    assert len(client.json(f"/drive/v3/files?pageToken={body['nextPageToken']}")["files"]) == 1
    for query in ("fields=files(id,sizes)", "q=nonsense", "pageSize=1001", "pageToken=x"):
        assert client.get(f"/drive/v3/files?{query}")[0] == 400
    size = client.json(f"/drive/v3/files/{note.id}?fields=size,owners/emailAddress")
    assert size == {"size": "4", "owners": [{"emailAddress": "ann@x.org"}]}


def test_content_and_exports_have_documented_refusals(google: GoogleDrive) -> None:
    mine = google.add_user("ann@x.org")
    client = _granted(google)
    note = mine.add("note.txt", b"0123456789")
    page = mine.add("page", exports={"text/plain": b"text", "application/pdf": b"x" * (EXPORT_BYTES + 1)})
    status, body, _ = client.get(f"/drive/v3/files/{note.id}?alt=media", Range="bytes=8-20")
    assert (status, body) == (206, b"89")
    export = f"/drive/v3/files/{page.id}/export?mimeType="
    assert client.get(export + "text/plain")[1] == b"text"
    assert _reason(client.get(export + "application/pdf")) == (403, "exportSizeLimitExceeded")
    assert _reason(client.get(export + "image/png")) == (400, "badRequest")
    assert _reason(client.get(f"/drive/v3/files/{page.id}?alt=media")) == (403, "fileNotDownloadable")
    assert _reason(client.get("/drive/v3/files/none")) == (404, "notFound")
    google.throttle(1)
    google.throttle(1, status=503)
    assert _reason(client.get("/drive/v3/files")) == (403, "rateLimitExceeded")
    assert _reason(client.get("/drive/v3/files")) == (503, "backendError")
    google.expire_tokens()
    assert _reason(client.get("/drive/v3/files")) == (401, "authError")


def test_changes_are_the_latest_state_of_each_item(google: GoogleDrive) -> None:
    mine = google.add_user("ann@x.org")
    client = _granted(google)
    note, gone = mine.add("a/note.txt"), mine.add("a/gone.txt")
    token = client.json("/drive/v3/changes/startPageToken")["startPageToken"]
    mine.rename(note, "first.txt")
    mine.delete(gone)
    mine.rename(note, "second.txt")
    google.add_drive("Ward", "ann@x.org").add("inside.txt")
    body = client.json(f"/drive/v3/changes?pageToken={token}&pageSize=2")
    assert "newStartPageToken" not in body
    removed, renamed = body["changes"]
    assert (removed["fileId"], removed["removed"], "file" in removed) == (gone.id, True, False)
    assert renamed["file"]["name"] == "second.txt"
    body = client.json(f"/drive/v3/changes?pageToken={body['nextPageToken']}")
    assert [one["changeType"] for one in body["changes"]] == ["drive"]
    assert client.json(f"/drive/v3/changes?pageToken={body['newStartPageToken']}")["changes"] == []
    google.expire_page_tokens()
    assert _reason(client.get(f"/drive/v3/changes?pageToken={token}")) == (400, "invalid")


def test_shared_drives_are_shown_to_members_that_support_them(google: GoogleDrive) -> None:
    google.add_user("ann@x.org")
    client = _granted(google)
    drive = google.add_drive("Ward", "ann@x.org")
    google.add_drive("Other", "bob@x.org")
    note = drive.add("note.txt")
    drive.share(note, permission("anyone"), permission("group", "nurses@x.org"))
    assert [one["name"] for one in client.json("/drive/v3/drives")["drives"]] == ["Ward"]
    assert client.json("/drive/v3/files")["files"] == []
    assert client.get(f"/drive/v3/files/{note.id}")[0] == 404
    both = "supportsAllDrives=true&includeItemsFromAllDrives=true"
    files = client.json(f"/drive/v3/files?corpora=drive&driveId={drive.id}&{both}&fields=*")["files"]
    assert [("owners" in one, "permissions" in one, one["driveId"]) for one in files] == [
        (False, False, drive.id)
    ]
    url = f"/drive/v3/files/{note.id}/permissions?supportsAllDrives=true&fields=*"
    found = client.json(url)["permissions"]
    assert [(one["type"], one["permissionDetails"][0]["inherited"]) for one in found] == [
        ("anyone", False),
        ("group", False),
        ("user", True),
    ]


@pytest.mark.parametrize("kind", ["microsoft", "google"])
def test_many_small_items_are_made(graph: Microsoft365, google: GoogleDrive, kind: str) -> None:
    made: Any = graph.add_site("Ward").drives[0] if kind == "microsoft" else google.add_user("ann@x.org")
    made.fill(2_500)
    items = made.items if kind == "microsoft" else made.files
    assert len(items) == 2_500 + 3 + 1
