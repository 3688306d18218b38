"""Requests to Google: signing in as a service account, JSON, refusals by their reason.

Source: Google Drive API, "Resolve errors"; Google Identity, "Using OAuth 2.0 for server to server
applications".
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, read_private
from phiscan.crawl.http_client import HttpClient, Unsigned
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason

if TYPE_CHECKING:
    from httpx2 import Response

EXTRA = "google"
DRIVES_SCOPE = "https://www.googleapis.com/auth/drive.readonly"
USERS_SCOPE = "https://www.googleapis.com/auth/admin.directory.user.readonly"
_TEMPORARY = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "sharingRateLimitExceeded"})
_REFUSALS = {
    "exportSizeLimitExceeded": (FailReason.TOO_LARGE, "its export is over the 10 MB that Google exports"),
    "cannotDownloadAbusiveFile": (FailReason.IO_ERROR, "Google holds it for malware or abuse"),
    "cannotDownloadFile": (FailReason.NO_PERMISSION, "its owner does not allow downloads"),
}

for _name in ("google.auth", "google.oauth2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)  # they log requests for tokens


def get_json(client: HttpClient, url: str) -> dict[str, Any]:
    """Return the JSON of an address, with one attempt.

    Raises:
        RefusedError, UnansweredError: see there.
    """
    try:
        body: dict[str, Any] = client.request("GET", url).json()
    except ValueError:
        message = "the server's answer is not JSON"
        raise UnansweredError(message, is_gone=False) from None
    return body


def refusal_of(answer: Response) -> PhiscanError | None:
    """Return the error for a reason that Google gives; its text is never shown."""
    try:
        reason = str(answer.json()["error"]["errors"][0]["reason"])
    except (ValueError, LookupError, TypeError):
        return None
    if reason in _TEMPORARY:
        detail = "Google asks for fewer requests"
        return UnansweredError(detail, is_gone=False)
    return RefusedError(*_REFUSALS[reason]) if reason in _REFUSALS else None


class SignIn:
    """Signs in as a service account, for a user where one is named."""

    def __init__(self, settings: SharesTable, credentials: Credentials, subject: str, scope: str) -> None:
        try:
            from google.oauth2 import service_account  # noqa: PLC0415 (an optional part)

            account: Any = service_account.Credentials
        except ImportError:
            message = f"{EXTRA}: needs the package google-auth; expected phiscan installed with [{EXTRA}]"
            raise InputError(message) from None
        if not credentials.key_file:
            raise RefusedError(FailReason.NO_PERMISSION, "no key_file of a service account is set")
        self._client = HttpClient(settings, Unsigned(), ca_file=credentials.ca_file, extra=EXTRA)
        self._lock = threading.Lock()
        try:
            self._account = account.from_service_account_info(
                json.loads(read_private(credentials.key_file, "key_file")),
                scopes=[scope],
                subject=subject or None,
            )
        except (ValueError, TypeError, AttributeError):  # their messages may quote the key
            raise RefusedError(
                FailReason.NO_PERMISSION, "key_file: expected a service account's JSON"
            ) from None

    def headers(self, *, renew: bool) -> Mapping[str, str]:
        """Return the header with a token; see ``Authorization``."""
        from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415 (an optional part)

        with self._lock:
            try:
                if renew or not self._account.valid:
                    self._account.refresh(self._request)
            except GoogleAuthError:
                message = "wrong service account or key, or it has no domain-wide delegation for the user"
                raise RefusedError(FailReason.NO_PERMISSION, message) from None
            return {"Authorization": f"Bearer {self._account.token}"}

    def _request(
        self, url: str, method: str = "GET", body: bytes | None = None, headers: Any = None, **_: Any
    ) -> SimpleNamespace:
        """Return the answer to a request of the library, in its form."""
        answer = self._client.send(method, url, content=body, headers=headers)
        return SimpleNamespace(status=answer.status_code, headers=answer.headers, data=answer.content)
