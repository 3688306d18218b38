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
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.servers.api_server import Answer, ApiServer, Request, json_answer, parts_of_jwt, ranged
from tests.servers.google_drive_fields import Refused, error, invalid, shown
from tests.servers.google_drive_files import Corpus, File

ACCOUNT = "scanner@project.iam.gserviceaccount.com"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCE = "https://oauth2.googleapis.com/token"  # "this value is always" that
_SCOPE = "https://www.googleapis.com/auth/drive"
_USERS_SCOPE = "https://www.googleapis.com/auth/admin.directory.user.readonly"
EXPORT_BYTES = 10 * 1024**2  # files.export: "limited to 10 MB"
_TRUE = "true"
# The highest pageSize, and how many rows a page has here at most: it may have fewer than were asked for.
_SIZES = {"files": (1000, 1000), "changes": (1000, 1000), "permissions": (100, 2), "drives": (100, 2)}
_LEFT_OUT = {"q", "orderBy", "spaces", "restrictToMyDrive"}  # documented parameters


@dataclass(frozen=True, slots=True)
class _Page:
    kind: str
    rows: list[Any]
    offset: int = 0
    corpus: Corpus | None = None
    until: int = 0


class GoogleDrive(ApiServer):
    """The token endpoint and the API on one port.

    ``key_file`` writes the JSON of a service account whose token_uri is this server.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.token_uri = f"{self.url}/token"
        self.tokens: dict[str, dict[str, Any]] = {}  # token -> claims
        self.delegates = True  # whether the account may act for users (domain-wide delegation)
        self.users: dict[str, Corpus] = {ACCOUNT: Corpus(ACCOUNT)}
        self.drives: list[Corpus] = []
        self.members: dict[str, set[str]] = {}  # of shared drives
        self._key = _account_key()
        self._pages: dict[str, _Page] = {}

    # What tests change.

    def key_file(self, folder: Path) -> Path:
        """Write the key of the service account, as the console gives it, and return its path."""
        form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        key = self._key.private_bytes(serialization.Encoding.PEM, *form).decode()
        account = {"type": "service_account", "project_id": "project", "private_key_id": "1"}
        account |= {"private_key": key, "client_email": ACCOUNT, "client_id": "1"}
        path = folder / "account.json"
        path.write_text(json.dumps(account | {"token_uri": self.token_uri}))
        path.chmod(0o600)
        return path

    def add_user(self, email: str) -> Corpus:
        """Add a user and return the user's My Drive."""
        self.users[email] = Corpus(email)
        return self.users[email]

    def add_drive(self, name: str, *members: str) -> Corpus:
        """Add a shared drive with members; the first is the organizer."""
        drive = Corpus(members[0], name, is_shared=True)
        self.drives.append(drive)
        self.members[drive.id] = set(members)
        for member in members:
            if member in self.users:
                self.users[member].record(drive.id, "drive", drive)
        return drive

    def throttle(self, n: int, *, status: int = 403, reason: str = "", path: str = "") -> None:
        """Refuse the next n requests to the API (guides/handle-errors: 403, 429, 503)."""
        reason = reason or {503: "backendError"}.get(status, "rateLimitExceeded")
        answer = error(status, reason, "Rate Limit Exceeded", domain="usageLimits")
        self.fail_next(n, lambda: answer, path=path or "/drive/v3")

    def expire_tokens(self) -> None:
        """Make all access tokens invalid."""
        self.tokens.clear()

    def expire_page_tokens(self) -> None:
        """Make all page tokens invalid, also of changes ("If the token is rejected for any reason [...]")."""
        self._pages.clear()

    # What is answered.

    def answer(self, request: Request) -> Answer:
        if request.path == "/token" and request.method == "POST":
            return self._grant(request)
        claims = self.tokens.get(request.token)
        if claims is None:
            return error(401, "authError", "Invalid Credentials")
        if unknown := _LEFT_OUT & set(request.query):
            message = f"this server does not know {unknown}"
            raise NotImplementedError(message)
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
        try:
            header, claims, signed, signature = parts_of_jwt(request.form.get("assertion", ""))
            self._key.public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        except (ValueError, InvalidSignature):
            return json_answer(400, {"error": "invalid_grant"})
        now, issued, expires = time.time(), claims.get("iat", 0), claims.get("exp", 0)
        checks = [
            (request.form.get("grant_type") == _GRANT, 400, "unsupported_grant_type"),
            (header.get("alg") == "RS256", 400, "invalid_grant"),
            (claims.get("aud") in {_AUDIENCE, self.token_uri}, 400, "invalid_grant"),
            (claims.get("iss") == ACCOUNT, 400, "invalid_grant"),
            (issued - 300 <= now < expires <= issued + 3600, 400, "invalid_grant"),  # "must be short-lived"
            (claims.get("scope", "").startswith((_SCOPE, _USERS_SCOPE)), 400, "invalid_scope"),
            (claims.get("sub", ACCOUNT) in self.users, 400, "invalid_grant"),
            ("sub" not in claims or self.delegates, 401, "unauthorized_client"),
        ]
        for is_met, status, kind in checks:
            if not is_met:
                return json_answer(status, {"error": kind, "error_description": kind})
        token = secrets.token_urlsafe(24)
        self.tokens[token] = claims
        return json_answer(200, {"access_token": token, "expires_in": 3599, "token_type": "Bearer"})

    def _list_users(self, request: Request, email: str) -> Answer:
        """Directory API, users.list: for administrators, with a scope of its own."""
        scopes = self.tokens[request.token]["scope"].split()
        if _USERS_SCOPE not in scopes or email == ACCOUNT or "customer" not in request.query:
            return error(403, "forbidden", "Not Authorized to access this resource/api")
        users = [{"id": one.id, "primaryEmail": name} for name, one in self.users.items() if name != ACCOUNT]
        return json_answer(200, {"kind": "admin#directory#users", "users": users})

    def _list_files(self, request: Request, email: str) -> Answer:
        """files.list; neither the root of My Drive nor that of a shared drive is among the files."""
        corpora = request.query.get("corpora", "user")
        if corpora == "user":
            found = [*self.users[email].files.values(), *self._shared_with(email)]
        elif corpora == "drive" and request.query.get("includeItemsFromAllDrives") == _TRUE:
            found = list(self._log(request, email).files.values())
        else:
            invalid("corpora")
        rows = [one for one in found if one.parent is not None]
        return self._page(request, _Page("files", rows), lambda one: one.shown())

    def _shared_with(self, email: str) -> list[File]:
        others = [one for owner, one in self.users.items() if owner != email]
        files = [file for one in others for file in one.files.values()]
        return [one for one in files if any(who.get("emailAddress") == email for who in one.permissions)]

    def _file(self, request: Request, email: str, file_id: str) -> Answer:
        file = self._find(request, email, file_id)
        if request.query.get("alt") != "media":
            return shown(request, "file", file.shown())
        if not {_SCOPE, f"{_SCOPE}.readonly"} & set(self.tokens[request.token]["scope"].split()):
            return error(403, "insufficientPermissions", "Insufficient Permission")
        if file.content is None:
            return error(403, "fileNotDownloadable", "Only files with binary content can be downloaded.")
        return ranged(file.content, request.headers.get("Range"))

    def _export(self, request: Request, email: str, file_id: str) -> Answer:
        """files.export; ranges are not documented for it, and are ignored."""
        file = self._find(request, email, file_id, is_export=True)
        data = file.exports.get(request.query.get("mimeType", ""))
        if not file.exports:
            return error(403, "fileNotExportable", "Export only supports Docs Editors files.")
        if data is None:
            invalid("convertTo", "badRequest")
        if len(data) > EXPORT_BYTES:
            return error(403, "exportSizeLimitExceeded", "This file is too large to be exported.")
        return Answer(200, data, {"Content-Type": request.query["mimeType"]}, is_content=True)

    def _permissions(self, request: Request, email: str, file_id: str) -> Answer:
        rows = self._find(request, email, file_id).effective_permissions()
        return self._page(request, _Page("permissions", rows), lambda one: one)

    def _find(self, request: Request, email: str, file_id: str, *, is_export: bool = False) -> File:
        """Return a file; one of a shared drive only with supportsAllDrives (enable-shareddrives)."""
        corpora = [self.users[email], *(one for one in self.drives if email in self.members[one.id])]
        key = self.users[email].id if file_id == "root" else file_id
        found = next((one.files[key] for one in corpora if key in one.files), None)
        found = found or next((one for one in self._shared_with(email) if one.id == key), None)
        is_supported = request.query.get("supportsAllDrives") == _TRUE or is_export
        if found is None or (found.corpus.is_shared and not is_supported):
            raise Refused(error(404, "notFound", f"File not found: {file_id}."))
        return found

    def _find_drive(self, drive_id: str, email: str) -> Corpus:
        for one in self.drives:
            if one.id == drive_id and email in self.members[drive_id]:
                return one
        raise Refused(error(404, "notFound", f"Shared drive not found: {drive_id}"))

    def _list_drives(self, request: Request, email: str) -> Answer:
        rows = [one for one in self.drives if email in self.members[one.id]]
        return self._page(request, _Page("drives", rows), lambda one: one.shown())

    def _drive(self, request: Request, email: str, drive_id: str) -> Answer:
        return shown(request, "drive", self._find_drive(drive_id, email).shown())

    def _log(self, request: Request, email: str) -> Corpus:
        drive_id = request.query.get("driveId")
        if drive_id is None:
            return self.users[email]
        if request.query.get("supportsAllDrives") != _TRUE:
            invalid("supportsAllDrives")
        return self._find_drive(drive_id, email)

    def _start(self, request: Request, email: str) -> Answer:
        corpus = self._log(request, email)
        token = self._keep(_Page("state", [], 0, corpus, corpus.sequence))
        return shown(request, "startPageToken", {"kind": "drive#startPageToken", "startPageToken": token})

    def _changes(self, request: Request, email: str) -> Answer:
        """changes.list: the current state of each item that changed, the oldest change first.

        The log of a user has changes of shared drives themselves, not of what is in them.
        """
        corpus = self._log(request, email)
        known = self._pages.get(request.query.get("pageToken", ""))
        if known is None or known.corpus is not corpus:
            invalid("pageToken")
        if known.kind == "state":
            rows = [(key, *entry) for key, entry in list(corpus.log.items()) if entry[0] > known.until]
            known = _Page("changes", rows, 0, corpus, corpus.sequence)
        return self._page(request, known, self._shown_change)

    @staticmethod
    def _shown_change(row: tuple[str, int, str, File | Corpus | None]) -> dict[str, Any]:
        key, _, kind, state = row
        change = {"kind": "drive#change", "type": kind, "changeType": kind, "removed": state is None}
        change["fileId" if kind == "file" else "driveId"] = key
        return change if state is None else change | {kind: state.shown()}

    def _page(self, request: Request, page: _Page, show: Callable[[Any], dict[str, Any]]) -> Answer:
        token = request.query.get("pageToken", "")
        if token and page.corpus is None:
            known = self._pages.get(token)
            if known is None or known.kind != page.kind:
                invalid("pageToken")
            page = known
        highest, most = _SIZES[page.kind]
        asked = request.query.get("pageSize", "100")
        if not asked.isdecimal() or not 0 < int(asked) <= highest:
            invalid("pageSize")
        end = page.offset + min(int(asked), most)
        schema = f"{page.kind[:-1]}List"
        listed: dict[str, Any] = {"kind": f"drive#{schema}"}
        listed[page.kind] = [show(one) for one in page.rows[page.offset : end]]
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


_ROUTES: list[tuple[str, Callable[..., Answer]]] = [
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
