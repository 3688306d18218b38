"""A server that answers as the Google Drive API v3 and Google's OAuth 2.0 are documented to.

It is written from the published contracts alone, apart from phiscan's client: the discovery document of Drive
v3 (parameters and schemas), https://developers.google.com/workspace/drive/api/guides (handle-errors,
fields-parameter, manage-downloads, about-changes, enable-shareddrives) and
https://developers.google.com/identity/protocols/oauth2/service-account. Where they leave something open, the
comment says so. Files are in ``google_drive_files.py``, errors and fields in ``google_drive_fields.py``.
"""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.servers.api_server import Answer, ApiServer, Request, json_answer, parts_of_jwt, ranged
from tests.servers.google_drive_fields import Refused, error, invalid, shown
from tests.servers.google_drive_files import Corpus, File, query, user

ACCOUNT = "scanner@project.iam.gserviceaccount.com"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCE = "https://oauth2.googleapis.com/token"  # "this value is always" that
_SCOPE = "https://www.googleapis.com/auth/drive"
_USERS_SCOPE = "https://www.googleapis.com/auth/admin.directory.user.readonly"
_SCOPES = (_SCOPE, _USERS_SCOPE)
EXPORT_BYTES = 10 * 1024**2  # files.export: "limited to 10 MB"
_TRUE = "true"


@dataclass(frozen=True, slots=True)
class _Page:
    kind: str
    rows: list[Any]
    offset: int
    corpus: Corpus | None = None
    until: int = 0


class GoogleDrive(ApiServer):
    """The token endpoint and the API on one port.

    ``key_file`` writes the JSON of a service account whose token_uri is this server.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.token_uri = f"{self.url}/token"
        self.token_lifetime_s = 3599
        self.tokens: dict[str, dict[str, Any]] = {}  # token -> claims
        self.delegates = True  # whether the account may act for users (domain-wide delegation)
        self.users: dict[str, Corpus] = {ACCOUNT: Corpus(user(ACCOUNT))}
        self.drives: list[Corpus] = []
        self.members: dict[str, set[str]] = {}  # of shared drives
        self._key = _account_key()
        self._pages: dict[str, _Page] = {}
        self._refused: list[str] = []

    # What tests change.

    def key_file(self, folder: Path) -> Path:
        """Write the key of the service account, as the console gives it, and return its path."""
        form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        key = self._key.private_bytes(serialization.Encoding.PEM, *form).decode()
        account = {
            "type": "service_account",
            "project_id": "project",
            "private_key_id": "1",
            "private_key": key,
        }
        account |= {"client_email": ACCOUNT, "client_id": "1", "token_uri": self.token_uri}
        path = folder / "account.json"
        path.write_text(json.dumps(account))
        path.chmod(0o600)
        return path

    def add_user(self, email: str, name: str = "") -> Corpus:
        """Add a user and return the user's My Drive."""
        self.users[email] = Corpus(user(email, name))
        return self.users[email]

    def add_drive(self, name: str, *members: str) -> Corpus:
        """Add a shared drive with members; the first is the organizer."""
        drive = Corpus(user(members[0]), name, is_shared=True)
        self.drives.append(drive)
        self.members[drive.id] = set(members)
        for member in members:
            if member in self.users:
                self.users[member].record(drive.id, "drive", drive)
        return drive

    def throttle(
        self, n: int, *, status: int = 403, reason: str = "", path: str = "", retry_after: str = ""
    ) -> None:
        """Refuse the next n requests to the API (guides/handle-errors: 403, 429, 503)."""
        reason = reason or {503: "backendError"}.get(status, "rateLimitExceeded")
        headers = {"Retry_After": retry_after} if retry_after else {}
        answer = error(status, reason, "Rate Limit Exceeded", domain="usageLimits", **headers)
        self.fail_next(n, lambda: answer, path=path or "/drive/v3")

    def expire_tokens(self) -> None:
        """Make all access tokens invalid."""
        self.tokens.clear()

    def expire_page_tokens(self) -> None:
        """Make all page tokens invalid, also of changes ("If the token is rejected for any reason [...]")."""
        self._pages.clear()

    def refuse(self, path: str) -> None:
        """Answer 403 to every request whose path contains a text."""
        self._refused.append(path)

    # What is answered.

    def answer(self, request: Request) -> Answer:
        if request.path == "/token" and request.method == "POST":
            return self._grant(request)
        claims = self.tokens.get(request.token)
        if claims is None:
            more = {"location": "Authorization", "location_type": "header"}
            return error(401, "authError", "Invalid Credentials", **more)
        if any(path in request.path for path in self._refused):
            return error(403, "insufficientFilePermissions", "Insufficient permissions for this file.")
        path = request.path.removeprefix("/drive/v3")
        email = claims.get("sub", ACCOUNT)
        for pattern, method in _ROUTES:
            if request.method == "GET" and (match := re.fullmatch(pattern, path)):
                try:
                    return method(self, request, email, *match.groups())
                except Refused as refused:
                    return refused.answer
        return error(404, "notFound", "Not Found")

    def _grant(self, request: Request) -> Answer:
        """Answer a token request with a JSON web token (identity/protocols/oauth2/service-account)."""
        form = request.form
        if form.get("grant_type") != _GRANT:
            return _oauth_error(400, "unsupported_grant_type", "Invalid grant_type")
        try:
            header, claims, signed, signature = parts_of_jwt(form.get("assertion", ""))
            self._key.public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        except (ValueError, InvalidSignature):
            return _oauth_error(400, "invalid_grant", "Invalid JWT Signature.")
        now = time.time()
        checks = [
            (header.get("alg") == "RS256", "invalid_grant", "Invalid JWT: alg"),
            (claims.get("aud") in {_AUDIENCE, self.token_uri}, "invalid_grant", "Invalid JWT: aud"),
            (claims.get("iss") == ACCOUNT, "invalid_grant", "Invalid grant: account not found"),
            (_is_recent(claims, now), "invalid_grant", "Invalid JWT: Token must be a short-lived token"),
            (claims.get("scope", "").startswith(_SCOPES), "invalid_scope", "Invalid OAuth scope."),
            (claims.get("sub", ACCOUNT) in self.users, "invalid_grant", "Invalid email or User ID"),
        ]
        for is_met, kind, description in checks:
            if not is_met:
                return _oauth_error(400, kind, description)
        if "sub" in claims and not self.delegates:
            return _oauth_error(401, "unauthorized_client", "Client is unauthorized")
        token = secrets.token_urlsafe(24)
        self.tokens[token] = claims
        lifetime = {"expires_in": self.token_lifetime_s, "token_type": "Bearer"}
        return json_answer(200, {"access_token": token, **lifetime})

    def _about(self, request: Request, email: str) -> Answer:
        if "fields" not in request.query:
            invalid("fields", "The 'fields' parameter is required for this method.", "required")
        return shown(
            request, "about", {"kind": "drive#about", "user": self.users[email].owner | {"me": True}}
        )

    def _list_users(self, request: Request, email: str) -> Answer:
        """Directory API, users.list: for administrators, with a scope of its own."""
        scopes = self.tokens[request.token]["scope"].split()
        if _USERS_SCOPE not in scopes or email == ACCOUNT or "customer" not in request.query:
            return error(403, "forbidden", "Not Authorized to access this resource/api")
        users = [{"id": one.id, "primaryEmail": name} for name, one in self.users.items() if name != ACCOUNT]
        return json_answer(200, {"kind": "admin#directory#users", "users": users})

    def _list_files(self, request: Request, email: str) -> Answer:
        """files.list; neither the root of My Drive nor that of a shared drive is among the files."""
        asked = request.query
        corpora = asked.get("corpora", "user")
        is_shared = asked.get("supportsAllDrives") == asked.get("includeItemsFromAllDrives") == _TRUE
        if corpora == "drive":
            if "driveId" not in asked:
                invalid("driveId", "The driveId parameter must be specified if corpora is 'drive'.")
            if not is_shared:
                invalid("includeItemsFromAllDrives", "must be true with supportsAllDrives")
            found: Iterable[File] = self._find_drive(asked["driveId"], email).files.values()
        elif corpora in {"user", "allDrives"}:
            mine = [*self.users[email].files.values(), *self._shared_with(email)]
            member = [one for one in self.drives if email in self.members[one.id]]
            shared = [file for one in member for file in one.files.values()]
            found = mine + (shared if corpora == "allDrives" and is_shared else [])
        else:
            invalid("corpora", "Invalid Value")
        try:
            is_wanted = query(asked["q"]) if asked.get("q") else lambda _: True
        except ValueError:
            invalid("q", "Invalid Value")
        rows = [one for one in found if one.parent is not None and is_wanted(one)]
        for key in reversed([one.strip() for one in asked.get("orderBy", "").split(",") if one.strip()]):
            name, _, direction = key.partition(" ")
            if name not in _ORDERS:
                invalid("orderBy", "Invalid Value")
            rows.sort(key=_ORDERS[name], reverse=direction == "desc")
        return self._page(request, _Page("files", rows, 0), lambda one: one.shown(), 1000, 100)

    def _shared_with(self, email: str) -> list[File]:
        others = [one for owner, one in self.users.items() if owner != email]
        files = [file for one in others for file in one.files.values() if file.permissions]
        return [one for one in files if any(who.get("emailAddress") == email for who in one.permissions)]

    def _file(self, request: Request, email: str, file_id: str) -> Answer:
        file = self._find(request, email, file_id)
        if request.query.get("alt") != "media":
            return shown(request, "file", file.shown())
        if not {_SCOPE, f"{_SCOPE}.readonly"} & set(self.tokens[request.token]["scope"].split()):
            return error(403, "insufficientPermissions", "Insufficient Permission")
        if file.content is None:
            return error(403, "fileNotDownloadable", "Only files with binary content can be downloaded.")
        if not file.can_download:
            return error(403, "cannotDownloadFile", "This file cannot be downloaded by the user.")
        return ranged(file.content, request.headers.get("Range"))

    def _export(self, request: Request, email: str, file_id: str) -> Answer:
        """files.export; ranges are not documented for it, and are ignored."""
        file = self._find(request, email, file_id, is_export=True)
        if "mimeType" not in request.query:
            invalid("mimeType", "Required parameter: mimeType", "required")
        if not file.exports:
            return error(403, "fileNotExportable", "Export only supports Docs Editors files.")
        if not file.can_download:
            return error(403, "cannotDownloadFile", "This file cannot be downloaded by the user.")
        data = file.exports.get(request.query["mimeType"])
        if data is None:
            invalid("convertTo", "The requested conversion is not supported.", "badRequest")
        if len(data) > EXPORT_BYTES:
            return error(403, "exportSizeLimitExceeded", "This file is too large to be exported.")
        return Answer(200, data, {"Content-Type": request.query["mimeType"]}, is_content=True)

    def _permissions(self, request: Request, email: str, file_id: str) -> Answer:
        """permissions.list: without pageSize 100 in a shared drive, else all."""
        file = self._find(request, email, file_id)
        if not file.can_share:
            return error(403, "insufficientFilePermissions", "Insufficient permissions for this file.")
        rows = file.effective_permissions()
        size = 100 if file.corpus.is_shared else len(rows)
        return self._page(request, _Page("permissions", rows, 0), lambda one: one, 100, size)

    def _find(self, request: Request, email: str, file_id: str, *, is_export: bool = False) -> File:
        """Return a file; one of a shared drive only with supportsAllDrives (enable-shareddrives)."""
        corpora = [self.users[email], *(one for one in self.drives if email in self.members[one.id])]
        key = self.users[email].id if file_id == "root" else file_id
        found = next((one.files[key] for one in corpora if key in one.files), None)
        found = found or next((one for one in self._shared_with(email) if one.id == key), None)
        is_supported = request.query.get("supportsAllDrives") == _TRUE or is_export
        if found is None or (found.corpus.is_shared and not is_supported):
            message = f"File not found: {file_id}."
            raise Refused(error(404, "notFound", message, location="fileId", location_type="parameter"))
        return found

    def _find_drive(self, drive_id: str, email: str) -> Corpus:
        for one in self.drives:
            if one.id == drive_id and email in self.members[drive_id]:
                return one
        message = f"Shared drive not found: {drive_id}"
        raise Refused(error(404, "notFound", message, location="driveId", location_type="parameter"))

    def _list_drives(self, request: Request, email: str) -> Answer:
        rows = [one for one in self.drives if email in self.members[one.id]]
        return self._page(request, _Page("drives", rows, 0), lambda one: one.shown(), 100, 10)

    def _drive(self, request: Request, email: str, drive_id: str) -> Answer:
        return shown(request, "drive", self._find_drive(drive_id, email).shown())

    def _log(self, request: Request, email: str) -> Corpus:
        drive_id = request.query.get("driveId")
        if drive_id is None:
            return self.users[email]
        if request.query.get("supportsAllDrives") != _TRUE:
            invalid("supportsAllDrives", "must be true with driveId")
        return self._find_drive(drive_id, email)

    def _start(self, request: Request, email: str) -> Answer:
        token = self._keep(self._state(self._log(request, email)))
        return shown(request, "startPageToken", {"kind": "drive#startPageToken", "startPageToken": token})

    @staticmethod
    def _state(corpus: Corpus) -> _Page:
        return _Page("state", [], 0, corpus, corpus.sequence)

    def _changes(self, request: Request, email: str) -> Answer:
        """changes.list: the current state of each item that changed, the oldest change first.

        The log of a user has changes of shared drives themselves, not of what is in them.
        """
        corpus = self._log(request, email)
        if "pageToken" not in request.query:
            invalid("pageToken", "Required parameter: pageToken", "required")
        known = self._pages.get(request.query["pageToken"])
        if known is None or known.corpus is not corpus:
            invalid("pageToken", "Invalid Value")
        if known.kind == "state":
            rows = [(key, *entry) for key, entry in list(corpus.log.items()) if entry[0] > known.until]
            if request.query.get("includeRemoved", _TRUE) != _TRUE:
                rows = [one for one in rows if one[3] is not None]
            known = _Page("changes", rows, 0, corpus, corpus.sequence)
        return self._page(request, known, self._shown_change, 1000, 100)

    @staticmethod
    def _shown_change(row: tuple[str, int, str, File | Corpus | None]) -> dict[str, Any]:
        key, _, kind, state = row
        change = {"kind": "drive#change", "type": kind, "changeType": kind, "removed": state is None}
        change["time"] = "2026-01-02T00:00:00.000Z"
        change["fileId" if kind == "file" else "driveId"] = key
        if isinstance(state, File) and state.corpus.is_shared:
            change["driveId"] = state.corpus.id
        return change if state is None else change | {kind: state.shown()}

    def _page(
        self, request: Request, page: _Page, show: Callable[[Any], dict[str, Any]], most: int, usual: int
    ) -> Answer:
        token = request.query.get("pageToken", "")
        if token and page.corpus is None:
            known = self._pages.get(token)
            if known is None or known.kind != page.kind:
                invalid("pageToken", "Invalid Value")
            page = known
        asked = request.query.get("pageSize", str(usual))
        if not asked.isdecimal() or not (0 < int(asked) <= most or int(asked) == usual):
            invalid("pageSize", f"Invalid value '{asked}'. Values must be within the range: [1, {most}]")
        end = page.offset + int(asked)
        schema = f"{page.kind[:-1]}List"
        listed: dict[str, Any] = {"kind": f"drive#{schema}"}
        listed[page.kind] = [show(one) for one in page.rows[page.offset : end]]
        if page.kind == "files":
            listed["incompleteSearch"] = False
        if end < len(page.rows):
            following = _Page(page.kind, page.rows, end, page.corpus, page.until)
            listed["nextPageToken"] = self._keep(following)
        elif page.corpus is not None:
            listed["newStartPageToken"] = self._keep(_Page("state", [], 0, page.corpus, page.until))
        return shown(request, schema, listed)

    def _keep(self, page: _Page) -> str:
        token = secrets.token_urlsafe(24)
        self._pages[token] = page
        return token


_ORDERS: dict[str, Callable[[File], Any]] = {
    "name": lambda one: one.name,
    "createdTime": lambda one: one.created,
    "modifiedTime": lambda one: one.modified,
    "folder": lambda one: one.mime_type != "application/vnd.google-apps.folder",
}
_ROUTES: list[tuple[str, Callable[..., Answer]]] = [
    ("/about", GoogleDrive._about),
    ("/files", GoogleDrive._list_files),
    ("/files/([^/]+)", GoogleDrive._file),
    ("/files/([^/]+)/export", GoogleDrive._export),
    ("/files/([^/]+)/permissions", GoogleDrive._permissions),
    ("/changes/startPageToken", GoogleDrive._start),
    ("/changes", GoogleDrive._changes),
    ("/drives", GoogleDrive._list_drives),
    ("/admin/directory/v1/users", GoogleDrive._list_users),
    ("/drives/([^/]+)", GoogleDrive._drive),
]


@cache  # making one takes time
def _account_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _oauth_error(status: int, kind: str, description: str) -> Answer:
    return json_answer(status, {"error": kind, "error_description": description})


def _is_recent(claims: dict[str, Any], now: float) -> bool:
    """Whether exp is to come and at most an hour after iat."""
    issued, expires = claims.get("iat", 0), claims.get("exp", 0)
    return bool(issued - 300 <= now < expires <= issued + 3600)
