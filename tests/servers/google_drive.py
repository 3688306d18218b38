"""A server that answers as the Google Drive API v3 and Google's OAuth 2.0 are documented to.

It is written from the published contracts alone, apart from phiscan's client: the discovery document of Drive
v3 (parameters and schemas), https://developers.google.com/workspace/drive/api/guides (handle-errors,
fields-parameter, manage-downloads, about-changes, enable-shareddrives) and
https://developers.google.com/identity/protocols/oauth2/service-account. Where they leave something open, the
comment says so. Resources, errors and fields are in ``google_drive_resources.py``.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.servers.api_server import Answer, Request, json_answer, parts_of_jwt, ranged
from tests.servers.cloud import CloudServer, Drive, Item, Listing, refuse
from tests.servers.google_drive_resources import (
    drive_of,
    error,
    file_of,
    invalid,
    permission,
    permissions_of,
    shown,
)

ACCOUNT = "scanner@project.iam.gserviceaccount.com"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCE = "https://oauth2.googleapis.com/token"  # "this value is always" that
_SCOPE = "https://www.googleapis.com/auth/drive"
_USERS_SCOPE = "https://www.googleapis.com/auth/admin.directory.user.readonly"
EXPORT_BYTES = 10 * 1024**2  # files.export: "limited to 10 MB"
_TRUE = "true"
# The highest pageSize, and how many rows a page has here at most: it may have fewer than were asked for.
_SIZES = {"permissions": (100, 2), "drives": (100, 2)}
_LEFT_OUT = {"q", "orderBy", "spaces", "restrictToMyDrive"}  # documented parameters


class GoogleDrive(CloudServer):
    """The token endpoint and the API on one port."""

    api, changes_path, users_root = "/drive/v3", "changes", "gdrive://user"
    public, shortcut = permission("anyone"), {"kind": "shortcut", "target": "elsewhere"}

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.token_uri = f"{self.url}/token"
        self.delegates = True  # whether the account may act for users (domain-wide delegation)
        self.users: dict[str, Drive] = {}  # with their My Drive
        self.drives: dict[str, tuple[Drive, set[str]]] = {}  # shared drives with their members
        self._key = _account_key()
        form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        self._pem = self._key.private_bytes(serialization.Encoding.PEM, *form).decode()
        self.secret = self._pem.splitlines()[3]
        self.add_user(ACCOUNT)

    # What tests change.

    def environment(self, folder: Path) -> dict[str, str]:
        """The key of the service account is as the console gives it; its token_uri is this server."""
        account = {"type": "service_account", "project_id": "project", "private_key_id": "1"}
        account |= {"private_key": self._pem, "client_email": ACCOUNT, "client_id": "1"}
        path = folder / "account.json"
        path.write_text(json.dumps(account | {"token_uri": self.token_uri}))
        path.chmod(0o600)
        given = {"KEY_FILE": str(path), "ENDPOINT": self.url, "CA_FILE": self.ca_file}
        return {f"PHISCAN_GDRIVE_{name}": value for name, value in given.items()}

    def add_user(self, email: str) -> Drive:
        self.users[email] = Drive("My Drive", permission("user", email, "owner"))
        return self.users[email]

    def add_drive(self, name: str, *members: str) -> Drive:
        """Add a shared drive with members; the first is the organizer."""
        drive = Drive(name, permission("user", members[0], "organizer"))
        drive.id = drive.root.id  # "also the ID of the top level folder of this shared drive"
        self.drives[drive.id] = drive, set(members)
        for member in members:
            self.users.setdefault(member, Drive("My Drive")).record(drive.id, drive)
        return drive

    def throttle(self, n: int, *, status: int = 403, reason: str = "", path: str = "") -> None:
        """guides/handle-errors: 403, 429, 503."""
        reason = reason or {503: "backendError"}.get(status, "rateLimitExceeded")
        self.fail_next(n, lambda: error(status, reason, domain="usageLimits"), path=path or self.api)

    def expire_listings(self, code: str = "") -> None:  # noqa: ARG002 (there is one code)
        """Tokens of changes too: "If the token is rejected for any reason [...]"."""
        self.kept.clear()

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
        path = request.path.removeprefix(self.api)
        return self.routed(request, path, claims.get("sub", ACCOUNT)) or error(404, "notFound")

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
        return json_answer(200, self.grant(claims))

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
            found = [*self.users[email].items.values(), *self._shared_with(email)]
        elif corpora == "drive" and request.query.get("includeItemsFromAllDrives") == _TRUE:
            found = list(self._log(request, email).items.values())
        else:
            invalid("corpora")
        rows = [one for one in found if one.parent is not None and not one.is_deleted]
        return self._page(request, "files", Listing("files", rows), self._shown_file)

    def _shared_with(self, email: str) -> list[Item]:
        others = [one for owner, one in self.users.items() if owner != email]
        files = [file for one in others for file in one.items.values()]
        return [one for one in files if any(who.get("emailAddress") == email for who in one.permissions)]

    def _shown_file(self, item: Item) -> dict[str, Any]:
        return file_of(item, next((name for name, one in self.users.items() if one is item.drive), ""))

    def _file(self, request: Request, email: str, file_id: str) -> Answer:
        file = self._find(request, email, file_id)
        if request.query.get("alt") != "media":
            return shown(request, "file", self._shown_file(file))
        if not {_SCOPE, f"{_SCOPE}.readonly"} & set(self.tokens[request.token]["scope"].split()):
            return error(403, "insufficientPermissions", "Insufficient Permission")
        if file.content is None:
            return error(403, "fileNotDownloadable", "Only files with binary content can be downloaded.")
        return ranged(file.content, request.headers.get("Range"))

    def _export(self, request: Request, email: str, file_id: str) -> Answer:
        """files.export; ranges are not documented for it, and are ignored."""
        exports = self._find(request, email, file_id, is_export=True).more.get("exports")
        if not exports:
            return error(403, "fileNotExportable", "Export only supports Docs Editors files.")
        data = exports.get(request.query.get("mimeType", ""))
        if data is None:
            invalid("convertTo", "badRequest")
        if len(data) > EXPORT_BYTES:
            return error(403, "exportSizeLimitExceeded", "This file is too large to be exported.")
        return Answer(200, data, {"Content-Type": request.query["mimeType"]}, is_content=True)

    def _permissions(self, request: Request, email: str, file_id: str) -> Answer:
        rows = permissions_of(self._find(request, email, file_id))
        return self._page(request, "permissions", Listing(file_id, rows), lambda one: one)

    def _find(self, request: Request, email: str, file_id: str, *, is_export: bool = False) -> Item:
        """Return a file; one of a shared drive only with supportsAllDrives (enable-shareddrives)."""
        is_supported = is_export or request.query.get("supportsAllDrives") == _TRUE
        shared = [one for one, members in self.drives.values() if email in members and is_supported]
        found = [one.find(file_id) for one in (self.users[email], *shared)]
        found += [one for one in self._shared_with(email) if one.id == file_id]
        return next(filter(None, found), None) or refuse(error(404, "notFound"))

    def _list_drives(self, request: Request, email: str) -> Answer:
        rows = [one for one, members in self.drives.values() if email in members]
        return self._page(request, "drives", Listing("drives", rows), drive_of)

    def _drive(self, request: Request, email: str, drive_id: str) -> Answer:
        return shown(request, "drive", drive_of(self._find_drive(drive_id, email)))

    def _find_drive(self, drive_id: str, email: str) -> Drive:
        drive, members = self.drives.get(drive_id, (None, ()))
        return drive if drive and email in members else refuse(error(404, "notFound"))

    def _log(self, request: Request, email: str) -> Drive:
        drive_id = request.query.get("driveId")
        if drive_id is None:
            return self.users[email]
        if request.query.get("supportsAllDrives") != _TRUE:
            invalid("supportsAllDrives")
        return self._find_drive(drive_id, email)

    def _start(self, request: Request, email: str) -> Answer:
        drive = self._log(request, email)
        token = self.keep(Listing(drive, None, until=drive.position))
        return shown(request, "startPageToken", {"kind": "drive#startPageToken", "startPageToken": token})

    def _changes(self, request: Request, email: str) -> Answer:
        """changes.list: the current state of each item that changed, the oldest change first.

        The log of a user has changes of shared drives themselves, not of what is in them.
        """
        drive = self._log(request, email)
        known = self.listing(request.query.get("pageToken", ""), drive) or invalid("pageToken")
        if known.rows is None:
            known = replace(known, rows=drive.since(known.until), until=drive.position)
        return self._page(request, "changes", known, self._shown_change)

    def _shown_change(self, state: Item | Drive) -> dict[str, Any]:
        kind = "file" if isinstance(state, Item) else "drive"
        change = {"kind": "drive#change", "type": kind, "changeType": kind, f"{kind}Id": state.id}
        if isinstance(state, Item) and state.is_deleted:
            return change | {"removed": True}
        now = self._shown_file(state) if isinstance(state, Item) else drive_of(state)
        return change | {"removed": False, kind: now}

    def _page(
        self, request: Request, kind: str, page: Listing, show: Callable[[Any], dict[str, Any]]
    ) -> Answer:
        token = request.query.get("pageToken", "")
        if token and kind != "changes":
            page = self.listing(token, page.about) or invalid("pageToken")
        highest, most = _SIZES.get(kind, (1000, self.page_size))
        asked = request.query.get("pageSize", "100")
        if not asked.isdecimal() or not 0 < int(asked) <= highest:
            invalid("pageSize")
        rows, token = self.cut(page, min(int(asked), most))
        schema = f"{kind[:-1]}List"
        listed: dict[str, Any] = {"kind": f"drive#{schema}", kind: [show(one) for one in rows]}
        if token:
            listed["nextPageToken"] = token
        elif kind == "changes":
            listed["newStartPageToken"] = self.keep(replace(page, rows=None, offset=0))
        return shown(request, schema, listed)

    routes = (
        ("/files", _list_files),
        ("/files/([^/]+)", _file),
        ("/files/([^/]+)/export", _export),
        ("/files/([^/]+)/permissions", _permissions),
        ("/changes/startPageToken", _start),
        ("/changes", _changes),
        ("/drives", _list_drives),
        ("/admin/directory/v1/users", _list_users),
        ("/drives/([^/]+)", _drive),
    )


@cache  # making one takes time
def _account_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)
