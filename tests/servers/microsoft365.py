"""A server that answers as Microsoft Graph v1.0 and the Microsoft identity platform are documented to.

It is written from the published contracts alone, apart from phiscan's client. Pages are those of
https://learn.microsoft.com/graph (api/..., resources/..., and the concepts without a prefix) as of 2024-2025;
where they leave something open, the comment says so. What drives and mailboxes show of themselves is in
``microsoft365_resources.py``, signing in is in ``microsoft_identity.py``.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests.servers.api_server import Answer, Request, json_answer, ranged
from tests.servers.cloud import CloudServer, Item, Listing, next_time, refuse
from tests.servers.microsoft365_resources import (
    GraphDrive,
    Mailbox,
    MailFolder,
    granted,
    guid,
    identity_set,
    link,
)
from tests.servers.microsoft_identity import APPLICATION, SECRET, TENANT, sign_in

HOST_NAME = "contoso.sharepoint.com"
_PAGE_SIZE = 3  # of collections, whatever $top asks for: a page may have fewer (concepts/paging)


Feed = GraphDrive | MailFolder | Mailbox  # what a delta query enumerates


@dataclass
class User:
    properties: dict[str, Any]
    drive: GraphDrive
    mailbox: Mailbox
    is_licensed: bool  # else there is neither drive nor mailbox


@dataclass
class Site:
    path: str
    properties: dict[str, Any]
    drives: list[GraphDrive]


class Microsoft365(CloudServer):
    """Sign-in and Graph on one port, pre-authenticated downloads on the other.

    msal takes only https: with a folder for its certificate the server speaks it; ``ca_file`` verifies it.
    """

    api, changes_path, users_root = "/v1.0", "delta", f"m365://{TENANT}/drives"
    secret, public, shortcut = SECRET, link("anonymous"), {"remoteItem": {"id": "elsewhere"}}

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.users: list[User] = []
        self.sites: list[Site] = []
        self.drives: dict[str, GraphDrive] = {}
        self._expired: dict[str, str] = {}
        self._refused: list[str] = []

    # What tests change.

    def environment(self, _folder: Path) -> dict[str, str]:
        given = {"USERNAME": APPLICATION, "PASSWORD": SECRET, "ENDPOINT": self.url, "CA_FILE": self.ca_file}
        return {f"PHISCAN_M365_{name}": value for name, value in given.items()}

    def add_user(self, principal: str, *, is_licensed: bool = True) -> GraphDrive:
        identity = {"id": guid(principal), "displayName": "A. User"}
        owner = granted(identity_set("A. User", principal), "owner")
        drive = GraphDrive("OneDrive", owner, {"user": {**identity, "email": principal}})
        properties = {**identity, "mail": principal, "userPrincipalName": principal}
        self.users.append(User(properties, drive, Mailbox(), is_licensed))
        self.drives[drive.id] = drive
        return drive

    def add_site(self, name: str, path: str = "") -> Site:
        """Add a site at ``/sites/PATH`` with a library "Documents"."""
        path = (path or f"sites/{name}").strip("/")
        properties = {
            "id": f"{HOST_NAME},{guid(path)},{guid(path + '/web')}",
            "name": path.rpartition("/")[2],
            "displayName": name,
            "createdDateTime": next_time(),
            "webUrl": f"https://{HOST_NAME}/{path}",
            "siteCollection": {"hostname": HOST_NAME},
        }
        self.sites.append(Site(path, properties, []))
        self.add_library(self.sites[-1], "Documents")
        return self.sites[-1]

    def add_library(self, site: Site, name: str) -> GraphDrive:
        drive = GraphDrive(name, None, {"group": {"id": guid(site.path), "displayName": name}})
        self.drives[drive.id] = drive
        site.drives.append(drive)
        return drive

    def throttle(self, n: int, *, status: int = 429, path: str = "") -> None:
        """concepts: throttling; Retry-After in seconds."""
        code = {429: "activityLimitReached", 503: "serviceNotAvailable"}[status]
        self.fail_next(n, lambda: error(status, code, Retry_After="0"), path=path or self.api)

    def expire_listings(self, code: str = "") -> None:
        """Make tokens of states and pages invalid.

        api/driveitem-delta names resyncChangesApplyDifferences and resyncChangesUploadDifferences;
        concepts/delta-query-overview syncStateNotFound, for mail.
        """
        self._expired |= dict.fromkeys(self.kept, code or "resyncChangesApplyDifferences")
        self.kept.clear()

    def refuse_path(self, path: str) -> None:
        """Answer 403 to every request whose path contains a text."""
        self._refused.append(path)

    # What is answered.

    def answer(self, request: Request) -> Answer:
        if request.host == "download":
            return self._download(request)
        if not request.path.startswith(f"{self.api}/"):
            return sign_in(request, self.url, self.grant)
        if request.token not in self.tokens:
            return error(401, "InvalidAuthenticationToken", WWW_Authenticate="Bearer")
        if any(path in request.path for path in self._refused):
            return error(403, "accessDenied")
        if unknown := set(request.query) - {"$select", "$top", "$skiptoken", "$deltatoken"}:
            message = f"this server does not know {unknown}"
            raise NotImplementedError(message)
        # OData writes a key as a segment or in brackets: users/ID, users('ID').
        path = re.sub(r"\('([^']*)'\)", r"/\1", request.path.removeprefix(self.api))
        return self.routed(request, path) or error(400, "BadRequest")

    def _download(self, request: Request) -> Answer:
        """Send content for a pre-authenticated URL, which needs no token (api/driveitem-get-content)."""
        return ranged(self.kept[request.query["tempauth"]].content, request.headers.get("Range"))

    def _list_sites(self, request: Request) -> Answer:
        """api/site-getallsites."""
        return self._page(request, [site.properties for site in self.sites])

    def _site(self, request: Request, key: str, part: str) -> Answer:
        """api/site-getbypath, api/site-get, api/drive-list."""
        path = key.partition(":/")[2]
        for site in self.sites:
            is_named = key.startswith((HOST_NAME, "root")) and "," not in key and site.path == path
            if key == site.properties["id"] or is_named:
                if part:
                    return self._page(request, [{"id": one.id, "name": one.name} for one in site.drives])
                return json_answer(200, _selected(site.properties, request.query))
        return error(404, "itemNotFound")

    def _list_users(self, request: Request) -> Answer:
        return self._page(request, [user.properties for user in self.users])

    def _find_user(self, key: str) -> User:
        for user in self.users:
            if key.casefold() in {user.properties["id"], user.properties["userPrincipalName"].casefold()}:
                return user if user.is_licensed else refuse(error(404, "itemNotFound"))
        return refuse(error(404, "Request_ResourceNotFound"))

    def _find_drive(self, user: str, key: str) -> GraphDrive:
        """Return a drive, of a user too (api/drive-get)."""
        if user:
            return self._find_user(user).drive
        return self.drives.get(key) or refuse(error(404, "itemNotFound"))

    def _item(self, request: Request, user: str, drive_id: str, item_id: str, part: str) -> Answer:
        """api/driveitem-get, -list-permissions."""
        drive = self._find_drive(user, drive_id)
        item: Item = drive.find(item_id) or refuse(error(404, "itemNotFound"))
        if part:
            above = [
                one | {"inheritedFrom": {"id": two.id}} for two in item.ancestors for one in two.permissions
            ]
            return self._page(request, [*item.permissions, *above])
        shown = drive.shown(item)
        if item.content is not None:
            address = f"{self.download_url}/_layouts/15/download.aspx?tempauth={self.keep(item)}"
            shown["@microsoft.graph.downloadUrl"] = address
        return json_answer(200, _selected(shown, request.query))

    def _drive_delta(self, request: Request, user: str, drive_id: str, token: str) -> Answer:
        """api/driveitem-delta: the token is an argument of the function."""
        drive = self._find_drive(user, drive_id)
        form = f"{self.url}/v1.0/drives/{quote(drive.id)}/root/delta(token='{{}}')"
        return self._delta(request, drive, token, (form, form))

    def _mail_root(self, _request: Request, user: str) -> Answer:
        """resources/mailfolder, well-known names."""
        return json_answer(200, {"id": self._find_user(user).mailbox.root_id})

    def _mail_delta(self, request: Request, key: str, folder_id: str = "") -> Answer:
        """api/mailfolder-delta: all folders, whatever their depth; api/message-delta: messages of one.

        The links have another form of the address than the request had (as there).
        """
        user = self._find_user(key)
        feed: Feed | None = user.mailbox.folders.get(folder_id) if folder_id else user.mailbox
        base = f"{self.url}/v1.0/users('{quote(user.properties['id'])}')/mailFolders"
        base += f"('{quote(folder_id)}')/messages/delta" if folder_id else "/delta"
        token = request.query.get("$skiptoken") or request.query.get("$deltatoken") or ""
        forms = (base + "?$skiptoken={}", base + "?$deltatoken={}")
        return self._delta(request, feed or refuse(error(404, "ErrorItemNotFound")), token, forms)

    def _message(self, request: Request, user: str, message_id: str, part: str) -> Answer:
        """api/message-get: $value is the message as MIME."""
        message = self._find_user(user).mailbox.find(message_id) or refuse(error(404, "ErrorItemNotFound"))
        if part:
            return Answer(200, message.content, {"Content-Type": "text/plain"}, is_content=True)
        return json_answer(200, _selected(message.shown(_prefer(request)), request.query))

    def _page(self, request: Request, found: list[Any]) -> Answer:
        """Return one page of a collection (concepts/paging: an opaque link that has the whole query)."""
        token = request.query.get("$skiptoken", "")
        listing = self.listing(token, request.path) if token else Listing(request.path, found)
        n_rows = min(int(request.query.get("$top", _PAGE_SIZE)), _PAGE_SIZE)
        rows, token = self.cut(listing or refuse(error(400, "invalidRequest")), n_rows)
        payload: dict[str, Any] = {"value": [_selected(one, request.query) for one in rows]}
        if token:
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
            fresh = forms[0].format(self.keep(Listing(feed, None)))
            return error(410, self._expired[token], Location=fresh)
        known = self.listing(token, feed)
        if token and known is None:
            return error(400, "invalidRequest")
        if known is None or known.rows is None:
            since, options = (known.until, known.options) if known else (0, request.query)
            known = Listing(feed, feed.changes(since), 0, feed.position, options)
        rows, token = self.cut(known, self.page_size)
        shown = [feed.shown_change(one, _prefer(request)) for one in rows]
        payload: dict[str, Any] = {"value": [_selected(one, known.options) for one in shown]}
        if token:
            payload["@odata.nextLink"] = forms[0].format(token)
        else:
            state = replace(known, rows=None, offset=0)
            payload["@odata.deltaLink"] = forms[1].format(self.keep(state))
        return json_answer(200, payload)

    _KEY = "/([^/]+)"
    _DRIVE = f"/(?:users{_KEY}/drive|drives{_KEY})"
    routes = (
        ("/sites/getAllSites", _list_sites),
        ("/sites/([^/:]+:/.+?|[^/:]+)(/drives)?", _site),
        ("/users", _list_users),
        (rf"{_DRIVE}/root/delta(?:\(token=\'([^)]*)\'\))?", _drive_delta),
        (f"{_DRIVE}/(root)(/permissions)?", _item),
        (f"{_DRIVE}/items{_KEY}(/permissions)?", _item),
        (f"/users{_KEY}/mailFolders/delta", _mail_delta),
        (f"/users{_KEY}/mailFolders/(?i:msgFolderRoot)", _mail_root),
        (f"/users{_KEY}/mailFolders{_KEY}/messages/delta", _mail_delta),
        (rf"/users{_KEY}/messages{_KEY}(/\$value)?", _message),
    )


def error(status: int, code: str, **headers: str) -> Answer:
    """Return an error in the body that concepts/errors documents."""
    inner = {"request-id": guid("request"), "date": "2026-01-01T00:00:00"}
    return json_answer(status, {"error": {"code": code, "message": code, "innerError": inner}}, **headers)


def _prefer(request: Request) -> set[str]:
    return {one.strip() for line in request.headers.get_all("Prefer") or [] for one in line.split(",")}


def _selected(shown: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
    """Return the properties that $select names (concepts/query-parameters), the id and annotations."""
    if not query.get("$select"):
        return shown
    wanted = {"id", "@odata.type", "@odata.etag", "@removed", *query["$select"].split(",")}
    return {name: value for name, value in shown.items() if name in wanted}
