"""A server that answers as Microsoft Graph v1.0 and the Microsoft identity platform are documented to.

It is written from the published contracts alone, apart from phiscan's client. Pages are those of
https://learn.microsoft.com/graph (api/..., resources/..., and the concepts without a prefix) as of 2024-2025;
where they leave something open, the comment says so. Drives are in
``microsoft365_drives.py``, mailboxes in ``microsoft365_mail.py``, signing in is in ``microsoft_identity.py``.
"""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests.servers.api_server import Answer, ApiServer, Request, json_answer, ranged
from tests.servers.microsoft365_drives import Drive, Feed, Item, Site, guid, new_site
from tests.servers.microsoft365_mail import Mailbox
from tests.servers.microsoft_identity import sign_in

HOST_NAME = "contoso.sharepoint.com"
_PAGE_SIZE = 3  # of collections, whatever $top asks for: a page may have fewer (concepts/paging)


@dataclass(slots=True)
class _Round:
    """What a token of a delta query stands for: a page in a snapshot, or with no entries a state."""

    feed: Feed
    until: int
    entries: list[Any] | None
    offset: int
    options: dict[str, str]


@dataclass
class User:
    properties: dict[str, Any]
    drive: Drive | None
    mailbox: Mailbox | None


class Microsoft365(ApiServer):
    """Sign-in and Graph on one port, pre-authenticated downloads on the other.

    msal takes only https: with a folder for its certificate the server speaks it; ``ca_file`` verifies it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.page_size = 200  # of delta queries
        self.tokens: set[str] = set()
        self.users: list[User] = []
        self.sites: list[Site] = []
        self.drives: dict[str, Drive] = {}
        self._rounds: dict[str, _Round] = {}
        self._expired: dict[str, str] = {}
        self._pages: dict[str, tuple[list[Any], int]] = {}
        self._downloads: dict[str, Item] = {}
        self._refused: list[str] = []

    # What tests change.

    def add_user(
        self, name: str, principal: str, *, has_drive: bool = True, has_mailbox: bool = True
    ) -> User:
        identity = {"id": guid(principal), "displayName": name}
        owner = {"user": {**identity, "email": principal}}
        drive = self._new_drive("OneDrive", "business", owner) if has_drive else None
        properties = {**identity, "mail": principal, "userPrincipalName": principal}
        self.users.append(User(properties, drive, Mailbox() if has_mailbox else None))
        return self.users[-1]

    def add_site(self, name: str, path: str = "") -> Site:
        """Add a site at ``/sites/PATH`` with a library "Documents"."""
        site = new_site(HOST_NAME, name, path or f"sites/{name.replace(' ', '')}")
        self.sites.append(site)
        self.add_library(site, "Documents")
        return site

    def add_library(self, site: Site, name: str) -> Drive:
        owner = {"group": {"id": guid(site.id), "displayName": site.properties["displayName"]}}
        site.drives.append(self._new_drive(name, "documentLibrary", owner))
        return site.drives[-1]

    def _new_drive(self, name: str, kind: str, owner: dict[str, Any]) -> Drive:
        drive = Drive(name, kind, owner)
        self.drives[drive.id] = drive
        return drive

    def throttle(self, n: int, *, status: int = 429, retry_after: str = "0", path: str = "") -> None:
        """Refuse the next n requests to Graph (concepts: throttling; Retry-After in seconds)."""
        code = {429: "activityLimitReached", 503: "serviceNotAvailable"}[status]
        self.fail_next(n, lambda: error(status, code, Retry_After=retry_after), path=path or "/v1.0")

    def expire_tokens(self) -> None:
        """Make all access tokens invalid."""
        self.tokens.clear()

    def expire_delta_tokens(self, code: str) -> None:
        """Make all state tokens invalid, of pages too.

        api/driveitem-delta names resyncChangesApplyDifferences and resyncChangesUploadDifferences;
        concepts/delta-query-overview syncStateNotFound, for mail.
        """
        self._expired |= dict.fromkeys(self._rounds, code)
        self._rounds.clear()

    def refuse(self, path: str) -> None:
        """Answer 403 to every request whose path contains a text."""
        self._refused.append(path)

    # What is answered.

    def answer(self, request: Request) -> Answer:
        if request.host == "download":
            return self._download(request)
        if not request.path.startswith("/v1.0/"):
            answer, token = sign_in(request, self.url)
            self.tokens |= {token} - {""}
            return answer
        if request.token not in self.tokens:
            return error(401, "InvalidAuthenticationToken", WWW_Authenticate="Bearer")
        if any(path in request.path for path in self._refused):
            return error(403, "accessDenied")
        if unknown := {"$filter", "$orderby", "$expand", "$search", "$skip", "token"} & set(request.query):
            message = f"this server does not know {unknown}"
            raise NotImplementedError(message)
        path = self._normal_path(request)
        for pattern, method in _ROUTES:
            if request.method == "GET" and (match := re.fullmatch(pattern, path, re.IGNORECASE)):
                return method(self, request, *(group or "" for group in match.groups()))
        return error(400, "BadRequest")

    def _normal_path(self, request: Request) -> str:
        """Return a path without the version, with keys as segments and a user's drive by its id.

        OData writes a key as a segment or in brackets: users/ID, users('ID').
        """
        path = re.sub(r"\('([^']*)'\)", r"/\1", request.path.removeprefix("/v1.0"))
        match = re.fullmatch("/users/([^/]+)/drive/(.+)", path)  # api/driveitem-delta, -get
        if match is None:
            return path
        user = self._find_user(match[1])
        return f"/drives/{user.drive.id if user and user.drive else 'none'}/{match[2]}"

    def _download(self, request: Request) -> Answer:
        """Send content for a pre-authenticated URL, which needs no token (api/driveitem-get-content)."""
        content = self._downloads[request.query["tempauth"]].content
        assert content is not None
        return ranged(content, request.headers.get("Range"))

    def _list_sites(self, request: Request) -> Answer:
        """api/site-getallsites."""
        return self._page(request, [site.properties for site in self.sites])

    def _site(self, request: Request, key: str, part: str) -> Answer:
        """api/site-getbypath, api/site-get, api/drive-list."""
        path = key.partition(":/")[2]
        for site in self.sites:
            is_named = key.startswith((HOST_NAME, "root")) and "," not in key and site.path == path
            if key == site.id or is_named:
                if part:
                    return self._page(request, [drive.shown() for drive in site.drives])
                return json_answer(200, _selected(site.properties, request.query))
        return error(404, "itemNotFound")

    def _list_users(self, request: Request) -> Answer:
        return self._page(request, [user.properties for user in self.users])

    def _user_drive(self, request: Request, key: str) -> Answer:
        user = self._find_user(key)
        if user is None or user.drive is None:
            return error(404, "Request_ResourceNotFound" if user is None else "itemNotFound")
        return json_answer(200, _selected(user.drive.shown(), request.query))

    def _find_user(self, key: str) -> User | None:
        for user in self.users:
            if key.casefold() in {user.properties["id"], user.properties["userPrincipalName"].casefold()}:
                return user
        return None

    def _item(self, request: Request, drive_id: str, item_id: str, part: str) -> Answer:
        """api/driveitem-get, -list-permissions."""
        drive = self.drives.get(drive_id)
        item = drive.root if drive and item_id == "root" else drive and drive.items.get(item_id)
        if not drive or not item or item.is_deleted:
            return error(404, "itemNotFound")
        if part == "/permissions":
            return self._page(request, drive.permissions_of(item))
        shown = drive.shown_item(item)
        if item.content is not None:
            token = secrets.token_urlsafe(24)
            self._downloads[token] = item
            address = f"{self.download_url}/_layouts/15/download.aspx?tempauth={token}"
            shown["@microsoft.graph.downloadUrl"] = address
        return json_answer(200, _selected(shown, request.query))

    def _drive_delta(self, request: Request, drive_id: str, token: str) -> Answer:
        """api/driveitem-delta: the token is an argument of the function."""
        drive = self.drives.get(drive_id)
        if drive is None:
            return error(404, "itemNotFound")
        form = f"{self.url}/v1.0/drives/{quote(drive_id)}/root/delta(token='{{}}')"
        return self._delta(request, drive, token, (form, form))

    def _mail_folders(self, request: Request, key: str) -> Answer:
        """api/user-list-mailfolders: those directly below the root."""
        user = self._find_user(key)
        if user is None or user.mailbox is None:
            return error(404, "MailboxNotEnabledForRESTAPI")
        box = user.mailbox
        found = [one for one in box.folders.values() if one.parent == box.root_id]
        return self._page(request, [box.shown_change(one, set()) for one in found])

    def _mail_root(self, _request: Request, key: str) -> Answer:
        """resources/mailfolder, well-known names."""
        user = self._find_user(key)
        if user is None or user.mailbox is None:
            return error(404, "MailboxNotEnabledForRESTAPI")
        return json_answer(200, {"id": user.mailbox.root_id})

    def _folder_delta(self, request: Request, key: str) -> Answer:
        """api/mailfolder-delta: all folders of a mailbox, whatever their depth."""
        return self._mail_delta(request, key, "")

    def _mail_delta(self, request: Request, key: str, folder_id: str) -> Answer:
        """api/message-delta; the links have another form of the address than the request had (as there)."""
        user = self._find_user(key)
        if user is None or user.mailbox is None:
            return error(404, "MailboxNotEnabledForRESTAPI")
        feed: Feed | None = user.mailbox.folders.get(folder_id) if folder_id else user.mailbox
        if feed is None:
            return error(404, "ErrorItemNotFound")
        base = f"{self.url}/v1.0/users('{quote(user.properties['id'])}')/mailFolders"
        base += f"('{quote(folder_id)}')/messages/delta" if folder_id else "/delta"
        token = request.query.get("$skiptoken") or request.query.get("$deltatoken") or ""
        return self._delta(request, feed, token, (base + "?$skiptoken={}", base + "?$deltatoken={}"))

    def _message(self, request: Request, key: str, message_id: str, part: str) -> Answer:
        """api/message-get: $value is the message as MIME."""
        user = self._find_user(key)
        message = user.mailbox.find_message(message_id) if user and user.mailbox else None
        if message is None:
            return error(404, "ErrorItemNotFound")
        if part:
            return Answer(200, message.content, {"Content-Type": "text/plain"}, is_content=True)
        return json_answer(200, _selected(message.shown(_prefer(request)), request.query))

    def _page(self, request: Request, found: list[Any]) -> Answer:
        """Return one page of a collection (concepts/paging: an opaque link that has the whole query)."""
        token = request.query.get("$skiptoken", "")
        if token and token not in self._pages:
            return error(400, "invalidRequest")
        rows, offset = self._pages.get(token, (found, 0))
        end = offset + min(int(request.query.get("$top", _PAGE_SIZE)), _PAGE_SIZE)
        payload: dict[str, Any] = {"value": [_selected(one, request.query) for one in rows[offset:end]]}
        if end < len(rows):
            token = secrets.token_urlsafe(12)
            self._pages[token] = (rows, end)
            query = urlencode({**request.query, "$skiptoken": token})
            payload["@odata.nextLink"] = f"{self.url}{quote(request.path)}?{query}"
        return json_answer(200, payload)

    def _delta(self, request: Request, feed: Feed, token: str, forms: tuple[str, str]) -> Answer:
        """Return one page of a delta query (concepts/delta-query-overview).

        A state token stands for the options of the first request too. Changes during an enumeration are
        reported by its deltaLink.
        """
        if token in self._expired:
            # A nextLink "that starts a fresh delta enumeration from scratch".
            fresh = self._keep(_Round(feed, 0, None, 0, {}))
            return error(410, self._expired[token], Location=forms[0].format(fresh))
        known = self._rounds.get(token)
        if token and (known is None or known.feed is not feed):
            return error(400, "invalidRequest")
        if known is None or known.entries is None:
            since, options = (known.until, known.options) if known else (0, request.query)
            known = _Round(feed, feed.sequence, feed.changes(since), 0, options)
        assert known.entries is not None
        end = known.offset + self.page_size
        prefer = _prefer(request)
        shown = [feed.shown_change(one, prefer) for one in known.entries[known.offset : end]]
        payload: dict[str, Any] = {"value": [_selected(one, known.options, feed.always) for one in shown]}
        if end < len(known.entries):
            following = _Round(feed, known.until, known.entries, end, known.options)
            payload["@odata.nextLink"] = forms[0].format(self._keep(following))
        else:
            state = _Round(feed, known.until, None, 0, known.options)
            payload["@odata.deltaLink"] = forms[1].format(self._keep(state))
        return json_answer(200, payload)

    def _keep(self, state: _Round) -> str:
        token = secrets.token_urlsafe(24)
        self._rounds[token] = state
        return token


_KEY = "/([^/]+)"
_ROUTES: list[tuple[str, Callable[..., Answer]]] = [
    ("/sites/getAllSites", Microsoft365._list_sites),
    ("/sites/([^/:]+:/.+?|[^/:]+)(/drives)?", Microsoft365._site),
    ("/users", Microsoft365._list_users),
    (f"/users{_KEY}/drive", Microsoft365._user_drive),
    (rf"/drives{_KEY}/root/delta(?:\(token=\'([^)]*)\'\))?", Microsoft365._drive_delta),
    (f"/drives{_KEY}/(root)(/permissions)?", Microsoft365._item),
    (f"/drives{_KEY}/items{_KEY}(/permissions)?", Microsoft365._item),
    (f"/users{_KEY}/mailFolders/delta", Microsoft365._folder_delta),
    (f"/users{_KEY}/mailFolders", Microsoft365._mail_folders),
    (f"/users{_KEY}/mailFolders/msgFolderRoot", Microsoft365._mail_root),
    (f"/users{_KEY}/mailFolders{_KEY}/messages/delta", Microsoft365._mail_delta),
    (rf"/users{_KEY}/messages{_KEY}(/\$value)?", Microsoft365._message),
]


def error(status: int, code: str, **headers: str) -> Answer:
    """Return an error in the body that concepts/errors documents."""
    inner = {"request-id": guid("request"), "date": "2026-01-01T00:00:00"}
    return json_answer(status, {"error": {"code": code, "message": code, "innerError": inner}}, **headers)


def _prefer(request: Request) -> set[str]:
    return {one.strip() for line in request.headers.get_all("Prefer") or [] for one in line.split(",")}


def _selected(shown: dict[str, Any], query: dict[str, str], always: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the properties that $select names (concepts/query-parameters)."""
    if not query.get("$select"):
        return shown
    wanted = {name.strip() for name in query["$select"].split(",")}.union(always)
    return {name: value for name, value in shown.items() if name in wanted}
