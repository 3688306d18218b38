"""Requests to Microsoft Graph: signing in as an application, pages of a listing, contents.

The application signs in with a secret or a certificate (OAuth client credentials, through msal). Source:
Microsoft Graph documentation, "Get access without a user", "Paging", "Microsoft Graph throttling guidance".
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode, urlsplit

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, read_private
from phiscan.crawl.http_client import HttpClient, Unsigned
from phiscan.crawl.retries import RetryPolicy
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason

EXTRA = "microsoft365"
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

_EARLY_S = 120.0  # a token is renewed before it expires

logging.getLogger("msal").setLevel(logging.CRITICAL + 1)  # it logs requests with their parameters


class Graph:
    """The Graph of one tenant; thread-safe."""

    def __init__(
        self, tenant: str, settings: SharesTable, credentials: Credentials, policy: RetryPolicy
    ) -> None:
        endpoint = (credentials.endpoint or _GRAPH).rstrip("/")
        self._base = f"{endpoint}/v1.0"
        self._policy = policy
        ca_file = credentials.ca_file
        self._unsigned = HttpClient(settings, Unsigned(), ca_file=ca_file, extra=EXTRA)
        sign_in = _SignIn(self._unsigned, credentials.tenant or tenant, endpoint, credentials)
        self._client = HttpClient(settings, sign_in, ca_file=ca_file, extra=EXTRA)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()
        self._unsigned.close()

    def get(self, path: str, *, prefer: str = "") -> dict[str, Any]:
        """Return the JSON of a path or of a link that Graph gave, with one attempt.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        url = f"{self._base}/{path}"
        if path.startswith(("https://", "http://")):
            url = path
            if urlsplit(url)[:2] != urlsplit(self._base)[:2]:  # it would get the token
                raise RefusedError(FailReason.IO_ERROR, "the server names another server for the next page")
        answer = self._client.request("GET", url, headers={"Prefer": prefer} if prefer else {})
        try:
            body: dict[str, Any] = answer.json()
        except ValueError:
            message = "the server's answer is not JSON"
            raise UnansweredError(message, is_gone=False) from None
        return body

    def pages(self, path: str, *, prefer: str = "") -> Iterator[dict[str, Any]]:
        """Yield the pages of a listing, each with as many attempts as the settings allow.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        link = path
        while link:
            page = self._policy.run(lambda link=link: self.get(link, prefer=prefer))  # type: ignore[misc]
            yield page
            link = page.get("@odata.nextLink", "")

    def whole(self, path: str, *, prefer: str = "") -> bytes:
        """Return the whole content of a path.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        headers = {"Prefer": prefer} if prefer else {}
        return self._client.request("GET", f"{self._base}/{path}", headers=headers).content

    def part(self, url: str, start: int) -> bytes:
        """Return a range of the content at an address that needs no token.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        answer = self._unsigned.get_range(url, start)
        return answer.content[start:] if answer.status_code == 200 else answer.content  # noqa: PLR2004 (not a range)


class _SignIn:
    """Signs in as an application, again shortly before a token expires."""

    def __init__(self, client: HttpClient, tenant: str, endpoint: str, credentials: Credentials) -> None:
        try:
            import msal  # noqa: F401, PLC0415 (an optional part)
        except ImportError:
            message = f"{EXTRA}: needs the package msal; expected phiscan installed with [{EXTRA}]"
            raise InputError(message) from None
        self._client = client
        self._login = f"{_LOGINS.get(endpoint, endpoint)}/{tenant}"
        self._scope = f"{endpoint}/.default"
        self._credentials = credentials
        self._lock = threading.Lock()
        self._application: Any = None
        self._header: dict[str, str] = {}
        self._valid_until = float("-inf")

    def headers(self, *, renew: bool) -> Mapping[str, str]:
        """Return the header with a token; see ``Authorization``."""
        with self._lock:
            if not renew and time.monotonic() < self._valid_until:
                return self._header
            try:
                if self._application is None:
                    self._application = self._made()
                else:
                    self._application.remove_tokens_for_client()
                answer = self._application.acquire_token_for_client([self._scope])
            except PhiscanError:
                raise
            except Exception as error:  # noqa: BLE001 (of the library, of keys and of answers it cannot read)
                message = f"sign-in failed ({type(error).__name__})"
                raise UnansweredError(message, is_gone=False) from None
            if "access_token" in answer:
                self._header = {"Authorization": f"Bearer {answer['access_token']}"}
                self._valid_until = time.monotonic() + float(answer.get("expires_in", 0)) - _EARLY_S
                return self._header
            if answer.get("error") in _WRONG:
                raise RefusedError(
                    FailReason.NO_PERMISSION, "wrong tenant, application id, secret or certificate"
                )
            message = "the sign-in was refused"
            raise UnansweredError(message, is_gone=False)

    def _made(self) -> Any:
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
                authority=f"https://{self._login.partition('://')[2]}",
                http_client=self,
                instance_discovery=False,
            )
        except ValueError:
            message = "key_file: expected a private key and its certificate in PEM"
            raise RefusedError(FailReason.NO_PERMISSION, message) from None

    # What msal calls, with its names.

    def get(self, url: str, **_: Any) -> SimpleNamespace:  # noqa: ARG002 (it is always the same question)
        """Return where tokens are given, as the server would: the address is part of its contract."""
        place = f"https://{self._login.partition('://')[2]}/oauth2/v2.0"
        text = f'{{"authorization_endpoint": "{place}/authorize", "token_endpoint": "{place}/token"}}'
        return SimpleNamespace(status_code=200, text=text, headers={})

    def post(self, url: str, data: Any = None, headers: Any = None, **_: Any) -> Any:  # noqa: ARG002
        """Return the answer to a request for a token; msal knows https only, and gives bytes as values."""
        form = {**(headers or {}), "Content-Type": "application/x-www-form-urlencoded"}
        place = f"{self._login}/oauth2/v2.0/token"
        return self._client.send("POST", place, content=urlencode(data or {}).encode(), headers=form)
