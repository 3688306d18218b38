"""Crawl Microsoft 365: ``m365://TENANT/sites/NAME``, ``.../drives/USER`` and ``.../mail/USER``.

Without a name, all sites, drives or mailboxes of the tenant. A feed of the stored listing is named by its
path in Graph: a list of sites, libraries or users, or the delta of a drive, of mail folders or of messages.
An application signs in with a secret or a certificate (OAuth client credentials, through msal).
Source: Microsoft Graph documentation, resource types driveItem, mailFolder, message, permission, sharingLink
and sharePointIdentitySet; "Download a file"; "Get MIME content of a message"; "Get access without a user";
"Paging"; the claims of "Everyone" and "Everyone except external users" in SharePoint.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, read_private
from phiscan.crawl.http_client import HttpClient
from phiscan.crawl.listing_cache import Item, Kind, ListedShare, Page, pages_of, path_name
from phiscan.crawl.location import unescaped
from phiscan.crawl.remote import RangeFile
from phiscan.crawl.share import RefusedError, UnansweredError, identity_number, nanoseconds_of, optional
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason, SourceFile

_KINDS = ("sites", "drives", "mail")
DRIVE_ITEM = (
    "id,name,parentReference,size,eTag,lastModifiedDateTime,file,folder,package,remoteItem,root,deleted"
)
_MAIL_FOLDER = "id,displayName,parentFolderId"
_MESSAGE = "id,receivedDateTime,lastModifiedDateTime,changeKey"
_MESSAGE_BYTES = 65_536  # estimated: Graph gives no sizes of messages
_FACETS = {"remoteItem": Kind.LINK, "file": Kind.FILE, "folder": Kind.FOLDER, "package": Kind.PACKAGE}
_ADDRESS, _NEXT = "@microsoft.graph.downloadUrl", "@odata.nextLink"
_EXTRA = "microsoft365"
_GRAPH = "https://graph.microsoft.com"
# Graph -> where applications sign in; another endpoint is for both. Source: "National cloud deployments".
_LOGINS = {
    _GRAPH: "https://login.microsoftonline.com",
    "https://graph.microsoft.us": "https://login.microsoftonline.us",
    "https://dod-graph.microsoft.us": "https://login.microsoftonline.us",
    "https://microsoftgraph.chinacloudapi.cn": "https://login.chinacloudapi.cn",
}
# Errors of the sign-in (RFC 6749, 5.2, and Microsoft's own) that mean a wrong name or secret.
_WRONG = frozenset({"invalid_client", "unauthorized_client", "invalid_request", "invalid_grant"})
_IDS = {"Prefer": 'IdType="ImmutableId"'}  # that messages keep in another folder; files have no others
_ORGANIZATION = "group everyone in the organization"
_LINKS = {"anonymous": ("everyone",), "organization": (_ORGANIZATION,)}
_GUEST_MARKS = ("#ext#", "urn:spo:guest")  # in login names
_EVERYONE_CLAIM, _ORGANIZATION_CLAIM = "c:0(.s|true", "spo-grid-all-users"
_UNSET_YEAR = 1  # of the time when a permission ends, if it does not

logging.getLogger("msal").setLevel(logging.CRITICAL + 1)  # it logs requests with their parameters


class Microsoft365Share(ListedShare):
    """One root in a tenant."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._kind, *self._names = self.location.path or ("",)
        if self._kind not in _KINDS:
            known = ", ".join(f"m365://TENANT/{kind}" for kind in _KINDS)
            raise InputError(self.shown, f"expected {known}, each with or without /NAME")
        self._graph = _Graph(self.location.host, settings, self.credentials)

    def close(self) -> None:
        """Send no more requests; see ``ServerShare``."""
        super().close()
        self._graph.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled file or message at a position; see ``ServerShare``."""
        feed, item = self.find(source)
        if item.kind == Kind.PACKAGE:
            detail = "a package, such as a notebook, of which no files are listed"
            raise RefusedError(FailReason.UNSUPPORTED, detail)
        yield (self._message if feed.endswith("/messages") else self._file)(source, feed, item, offset)

    def start(self) -> tuple[str, Sequence[str]]:
        """Return the feed of the root; see ``ListedShare``."""
        if not self._names:
            return ("sites/getAllSites" if self._kind == "sites" else "users"), ()
        feed = f"sites/{self._site}/drives" if self._kind == "sites" else self._of_user(self._names[0])
        return feed, self._names[1:]

    def pages(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a feed; see ``ListedShare``."""
        if feed in {"users", "sites/getAllSites"} or feed.endswith("/drives"):
            yield from self._mounts(feed)
            return
        root, delta = "root", f"root/delta?$select={DRIVE_ITEM}"
        item_of: Callable[[dict[str, Any]], Item | None] = _drive_item_of
        if feed.endswith("/messages"):
            root, delta, item_of = "", f"delta?$select={_MESSAGE}", _message_of
        elif feed.endswith("/mailFolders"):
            root, delta = "msgfolderroot", f"delta?$select={_MAIL_FOLDER}"
            item_of = partial(_mail_folder_of, feed)
        if root and not token:
            try:
                top = self._get(f"{feed}/{root}?$select=id")["id"]
            except RefusedError as error:
                if self._names or error.reason is not FailReason.CHANGED:
                    raise
                return  # one of all users, without a drive or mailbox
            yield Page({}, top=top)
        for page in pages_of(self._get, token or f"{feed}/{delta}", _NEXT):
            last = {entry["id"]: entry for entry in page["value"]}  # an item may come twice
            items = {one: None if "@removed" in entry else item_of(entry) for one, entry in last.items()}
            yield Page(items, page.get("@odata.deltaLink", ""))

    @cached_property
    def _site(self) -> str:
        """The id of the site that the root names: by its path below "sites" or "teams", or its host."""
        name = unescaped(self._names[0])
        try:
            answer = self._get("sites/root?$select=id,webUrl")
            host = urlsplit(answer["webUrl"]).netloc
            if name == host:
                return _quoted(answer["id"])
        except RefusedError as error:
            if error.reason is not FailReason.NO_PERMISSION:
                raise
            host = f"{self.location.host.partition('.')[0]}.sharepoint.com"  # it may read its site only
        try:
            answer = self._get(f"sites/{host}:/sites/{quote(name)}")
        except RefusedError as error:
            if error.reason is not FailReason.CHANGED:
                raise
            answer = self._get(f"sites/{host}:/teams/{quote(name.removeprefix('teams/'))}")
        return _quoted(answer["id"])

    def _get(self, path: str) -> dict[str, Any]:
        return self.retry_policy.run(lambda: self._graph.get(path))

    def _of_user(self, user: str) -> str:
        """Return the feed of a user's mail folders or drive."""
        return f"users/{_quoted(user)}/{'mailFolders' if self._kind == 'mail' else 'drive'}"

    def _mounts(self, feed: str) -> Iterator[Page]:
        """Yield the sites of a tenant, the libraries of a site, or the users, as folders."""
        query = {"users": "?$select=id,userPrincipalName&$top=999", "sites/getAllSites": ""}
        for page in pages_of(self._get, feed + query.get(feed, "?$select=id,name"), _NEXT):
            items: dict[str, Item | None] = {}
            for entry in page["value"]:
                one: str = entry["id"]
                if feed == "users":
                    name, inner = entry["userPrincipalName"], self._of_user(one)
                elif feed.endswith("/drives"):
                    name, inner = entry["name"], f"drives/{_quoted(one)}"
                else:
                    name, inner = _site_name(entry), f"sites/{_quoted(one)}/drives"
                if name:
                    items[one] = Item(one, "", path_name(name), Kind.FOLDER, feed=inner)
            yield Page(items)

    def _file(self, source: SourceFile, feed: str, item: Item, offset: int) -> RangeFile:
        """Return a file of a drive, read range by range from the address that Graph gives for it."""
        place = f"{feed}/items/{_quoted(item.id)}"

        def checked() -> dict[str, Any]:
            """Return the state of the file on the server, which must be the crawled one."""
            state = self._graph.get(place)
            if "malware" in state:
                detail = "the service found malware in it and gives it to nobody"
                raise RefusedError(FailReason.IO_ERROR, detail)
            now = _drive_item_of(state)
            if now is None or (now.size, now.identity) != (source.size, source.inode):
                raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
            return state

        state = checked()

        def fetch(start: int) -> bytes:
            nonlocal state
            try:
                return self._graph.part(state[_ADDRESS], start)
            except RefusedError:  # the address is valid for some minutes
                state = checked()
                return self._graph.part(state[_ADDRESS], start)

        try:
            pages = list(pages_of(self._graph.get, f"{place}/permissions", _NEXT))
        except RefusedError:  # the application may read the file and not its permissions
            pages = []
        owner, readers = access_of(permission for page in pages for permission in page["value"])
        owner = owner or name_of((state.get("createdBy") or {}).get("user") or {})
        return RangeFile(replace(source, owner=owner, readers=readers), fetch, offset, verify=checked)

    def _message(self, source: SourceFile, feed: str, item: Item, offset: int) -> RangeFile:
        """Return a message of a user's mailbox as MIME; its delegates are not known to Graph."""
        place = f"{feed.partition('/mailFolders/')[0]}/messages/{_quoted(item.id)}"
        user = self._names[0] if self._names else source.path.split(b"/")[0].decode("utf-8", "replace")

        def verify() -> None:
            if _message_of(self._graph.get(f"{place}?$select={_MESSAGE}")).identity != source.inode:
                raise RefusedError(FailReason.CHANGED, "not the message that was crawled")

        data = self._graph.content(f"{place}/$value")
        described = replace(source, owner=user, readers=(f"user {user}",))
        return RangeFile(described, lambda start: data[start:], offset, n_bytes=len(data), verify=verify)


class _Graph:
    """The Graph of one tenant; thread-safe. Each method makes one attempt.

    Raises:
        RefusedError, UnansweredError: see there.
    """

    def __init__(self, tenant: str, settings: SharesTable, credentials: Credentials) -> None:
        endpoint = (credentials.endpoint or _GRAPH).rstrip("/")
        self._base = f"{endpoint}/v1.0"
        ca_file = credentials.ca_file
        self._unsigned = HttpClient(settings, ca_file=ca_file, extra=_EXTRA)
        sign_in = _SignIn(self._unsigned, credentials.tenant or tenant, endpoint, credentials).headers
        self._client = HttpClient(settings, sign_in, ca_file=ca_file, extra=_EXTRA)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()
        self._unsigned.close()

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON of a path or of a link that Graph gave."""
        url = f"{self._base}/{path}"
        if path.startswith(("https://", "http://")):
            url = path
            if urlsplit(url)[:2] != urlsplit(self._base)[:2]:  # it would get the token
                raise RefusedError(FailReason.IO_ERROR, "the server names another server for the next page")
        return self._client.get_json(url, headers=_IDS)

    def content(self, path: str) -> bytes:
        """Return the whole content of a path."""
        return self._client.request("GET", f"{self._base}/{path}", headers=_IDS).content

    def part(self, url: str, start: int) -> bytes:
        """Return a range of the content at an address that needs no token."""
        return self._unsigned.get_range(url, start).content


class _SignIn:
    """Signs in as an application; msal keeps the token and renews it before it expires."""

    def __init__(self, client: HttpClient, tenant: str, endpoint: str, credentials: Credentials) -> None:
        self._client = client
        self._login = f"{_LOGINS.get(endpoint, endpoint)}/{tenant}"
        self._authority = f"https://{self._login.partition('://')[2]}"  # msal knows https only
        self._scope = f"{endpoint}/.default"
        self._credentials = credentials
        self._lock = threading.Lock()
        self._application: Any = None

    def headers(self, *, renew: bool) -> Mapping[str, str]:
        """Return the header with a token; see ``HttpClient``."""
        with self._lock:
            try:
                self._application = self._application or self._made()
                if renew:
                    self._application.remove_tokens_for_client()
                answer = self._application.acquire_token_for_client([self._scope])
            except PhiscanError:
                raise
            except Exception as error:  # noqa: BLE001 (of the library, of keys and of answers it cannot read)
                message = f"sign-in failed ({type(error).__name__})"
                raise UnansweredError(message, is_gone=False) from None
        if "access_token" in answer:
            return {"Authorization": f"Bearer {answer['access_token']}"}
        if answer.get("error") in _WRONG:
            message = "wrong tenant, application id, secret or certificate"
            raise RefusedError(FailReason.NO_PERMISSION, message)
        message = "the sign-in was refused"
        raise UnansweredError(message, is_gone=False)

    def _made(self) -> Any:
        with optional(_EXTRA, "msal", _EXTRA):
            import msal  # noqa: PLC0415 (an optional part, and slow to load)
        mine = self._credentials
        secret: str | dict[str, Any] = mine.password
        if mine.key_file:
            text = read_private(mine.key_file, "key_file")
            secret = {"private_key": text, "public_certificate": text}
            if mine.password:
                secret["passphrase"] = mine.password
        if not (mine.username and secret):
            raise RefusedError(FailReason.NO_PERMISSION, "no application id (username) or no secret is set")
        try:
            return msal.ConfidentialClientApplication(
                mine.username,
                client_credential=secret,
                authority=self._authority,
                http_client=self,
                instance_discovery=False,
            )
        except ValueError:
            message = "key_file: expected a private key and its certificate in PEM"
            raise RefusedError(FailReason.NO_PERMISSION, message) from None

    # What msal calls, with its names.

    def get(self, url: str, **_: Any) -> SimpleNamespace:  # noqa: ARG002 (it is always the same question)
        """Return where tokens are given, as the server would: the address is part of its contract."""
        place = f"{self._authority}/oauth2/v2.0"
        text = f'{{"authorization_endpoint": "{place}/authorize", "token_endpoint": "{place}/token"}}'
        return SimpleNamespace(status_code=200, text=text, headers={})

    def post(self, url: str, data: Any = None, headers: Any = None, **_: Any) -> Any:  # noqa: ARG002
        """Return the answer to a request for a token; the values in it may be bytes."""
        form = {**(headers or {}), "Content-Type": "application/x-www-form-urlencoded"}
        content = urlencode(data or {}).encode()
        return self._client.send("POST", f"{self._login}/oauth2/v2.0/token", content=content, headers=form)


def access_of(permissions: Iterable[dict[str, Any]]) -> tuple[str, tuple[str, ...]]:
    """Return owner and readers ("everyone", "group NAME", "user NAME") of a file from its permissions.

    >>> access_of([{"link": {"scope": "anonymous"}}, {"grantedToV2": {"group": {"displayName": "Nurses"}}}])
    ('', ('everyone', 'group Nurses'))
    """
    owner, readers = "", dict[str, None]()
    for permission in permissions:
        if _has_ended(permission.get("expirationDateTime") or ""):
            continue
        found = dict.fromkeys(_readers(permission))
        readers |= found
        if not owner and "owner" in permission.get("roles", ()):
            owner = next((one[len("user ") :] for one in found if one.startswith("user ")), "")
    return owner, tuple(readers)


def name_of(identity: dict[str, Any]) -> str:
    """Return how an identity is called: by its address, else by its name."""
    named = identity.get("email") or identity.get("userPrincipalName") or identity.get("displayName")
    return str(named or identity.get("loginName") or identity.get("id") or "")


def _readers(permission: dict[str, Any]) -> Iterator[str]:
    granted = [permission.get("grantedToV2") or permission.get("grantedTo")]
    granted += permission.get("grantedToIdentitiesV2") or permission.get("grantedToIdentities") or ()
    people = [reader for one in granted if one for reader in _of_identities(one)]
    invited = (permission.get("invitation") or {}).get("email")
    if invited and not people:  # not yet accepted: whoever has the address will read as a guest
        people = [f"user {invited} (guest)"]
    link = permission.get("link")
    if link is not None:
        # A link without a scope and without people is open to all who have it.
        yield from _LINKS.get(link.get("scope") or ("" if people else "anonymous"), ())
    yield from people


def _of_identities(one: dict[str, Any]) -> Iterator[str]:
    """Yield the readers that a set of identities stands for: one account, in several views."""
    user, site_user = one.get("user"), one.get("siteUser") or {}
    login = str(site_user.get("loginName") or (user or {}).get("loginName") or "").lower()
    group = one.get("group") or one.get("sharePointGroup") or one.get("siteGroup")
    if login.startswith(_EVERYONE_CLAIM):
        yield "everyone"
    elif _ORGANIZATION_CLAIM in login:
        yield _ORGANIZATION
    elif user or (site_user and not group):
        account = {**site_user, **(user or {})}
        names = f"{login} {account.get('userPrincipalName', '')} {account.get('email', '')}".lower()
        is_guest = any(mark in names for mark in _GUEST_MARKS) or (user is not None and not user.get("id"))
        yield f"user {name_of(account)}" + (" (guest)" if is_guest else "")
    elif group:
        yield f"group {group.get('displayName') or group.get('title') or group.get('id', '')}"
    elif application := one.get("application"):
        yield f"user {name_of(application)}"


def _has_ended(moment: str) -> bool:
    try:
        ends = datetime.fromisoformat(moment)
    except ValueError:
        return False
    return ends.year > _UNSET_YEAR and ends.astimezone(UTC) < datetime.now(UTC)


def _drive_item_of(entry: dict[str, Any]) -> Item | None:
    """Return an item of a drive; None if it was deleted."""
    if entry.get("deleted") is not None:
        return None
    parent = (entry.get("parentReference") or {}).get("id")
    kind = next((kind for facet, kind in _FACETS.items() if entry.get(facet) is not None), None)
    moment = nanoseconds_of(entry.get("lastModifiedDateTime")) or None
    identity = _identity(entry, entry.get("eTag"))
    return Item(entry["id"], parent, _name(entry.get("name")), kind, entry.get("size"), moment, identity)


def _mail_folder_of(feed: str, entry: dict[str, Any]) -> Item:
    """Return a folder of a mailbox; its messages are in a feed of their own."""
    one, parent, name = entry["id"], entry.get("parentFolderId"), _name(entry.get("displayName"))
    return Item(one, parent, name, Kind.FOLDER, feed=f"{feed}/{_quoted(one)}/messages")


def _message_of(entry: dict[str, Any]) -> Item:
    """Return a message, named by the time at which it came; its subject is in its content."""
    received = entry.get("receivedDateTime")
    name = _name(received and f"{received}.eml".replace(":", "."))
    mark = entry.get("changeKey") or str(entry.get("@odata.etag") or "").removeprefix("W/").strip('"')
    moment = nanoseconds_of(entry.get("lastModifiedDateTime")) or None
    return Item(entry["id"], "", name, Kind.FILE, _MESSAGE_BYTES, moment, _identity(entry, mark))


def _identity(entry: dict[str, Any], mark: str | None) -> int | None:
    return identity_number(entry["id"], mark) if mark else None


def _name(name: str | None) -> bytes | None:
    return None if name is None else path_name(name)


def _site_name(site: dict[str, Any]) -> str:
    """Return the name of a site by its address; "" for the site of a user's own drive.

    >>> _site_name({"webUrl": "https://example.sharepoint.com/sites/wards/icu"})
    'wards/icu'
    """
    parts = urlsplit(site["webUrl"])
    if site.get("isPersonalSite") or parts.netloc.partition(".")[0].endswith("-my"):
        return ""
    return unquote(parts.path).strip("/").removeprefix("sites/") or parts.netloc


def _quoted(part: str) -> str:
    return quote(part, safe="!@,")
