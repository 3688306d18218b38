"""Requests to Microsoft Graph, signed in as an application, and the readers that permissions name.

The application signs in with a secret or a certificate (OAuth client credentials, through msal). Source:
Microsoft Graph documentation, "Get access without a user", "Paging", resource types permission, sharingLink
and sharePointIdentitySet; the claims of "Everyone" and "Everyone except external users" in SharePoint.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode, urlsplit

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, read_private
from phiscan.crawl.http_client import HttpClient
from phiscan.crawl.share import RefusedError, UnansweredError, optional
from phiscan.errors import PhiscanError
from phiscan.model import FailReason

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


class Graph:
    """The Graph of one tenant; thread-safe. Each method makes one attempt.

    Raises:
        RefusedError, UnansweredError: see there.
    """

    def __init__(self, tenant: str, settings: SharesTable, credentials: Credentials) -> None:
        endpoint = (credentials.endpoint or _GRAPH).rstrip("/")
        self._base = f"{endpoint}/v1.0"
        ca_file = credentials.ca_file
        self._unsigned = HttpClient(settings, None, ca_file=ca_file, extra=_EXTRA)
        sign_in = _SignIn(self._unsigned, credentials.tenant or tenant, endpoint, credentials)
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
        """Return the header with a token; see ``Authorization``."""
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
