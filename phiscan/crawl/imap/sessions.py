"""The connections to one IMAP server: one per thread, protected and signed in, errors translated.

Source: RFC 3501 (IMAP4rev1), RFC 5530 (response codes).
"""

from __future__ import annotations

import logging
import re
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from phiscan.crawl.credentials import Credentials
from phiscan.crawl.http_client import tls_context
from phiscan.crawl.location import LOOPBACK, Location
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason

_CODE = re.compile(r"\[([A-Z]+)")
_SIGNED_OUT = (FailReason.NO_PERMISSION, "wrong user name or password")
_REFUSED = {
    **dict.fromkeys(("AUTHENTICATIONFAILED", "AUTHORIZATIONFAILED", "EXPIRED"), _SIGNED_OUT),
    "NOPERM": (FailReason.NO_PERMISSION, "access denied"),
    "NONEXISTENT": (FailReason.CHANGED, "vanished before it was read"),
}
_TEMPORARY = frozenset({"INUSE", "LIMIT", "OVERQUOTA", "SERVERBUG", "THROTTLED", "UNAVAILABLE"})

# The library logs what it sends, which is passwords as well.
logging.getLogger("imapclient").setLevel(logging.CRITICAL + 1)


@dataclass(slots=True)
class Session:
    """The connection of one thread, with the folder that is open in it."""

    client: Any
    folder: bytes | None = None
    validity: int = 0
    n_messages: int = 0

    def examine(self, folder: bytes, *, anew: bool = False) -> None:
        """Open a folder read-only, unless it is open; ``anew``: also then, to see what came since."""
        if anew or self.folder != folder:
            self.folder = None
            answer = self.client.select_folder(folder, readonly=True)
            self.validity = int(answer.get(b"UIDVALIDITY", 0))
            self.n_messages = int(answer.get(b"EXISTS", 0))
            self.folder = folder

    def facts(self, first: int, last: int) -> Iterable[Mapping[bytes, Any]]:
        """Return UID, size and time of the messages of a range of numbers; its own call knows no ranges."""
        from imapclient.response_parser import parse_fetch_response  # noqa: PLC0415 (an optional part)

        wanted = "(UID RFC822.SIZE INTERNALDATE)"
        status, lines = self.client._imap.fetch(f"{first}:{last}", wanted)  # noqa: SLF001 (of imaplib)
        if status != "OK":
            message = "the server did not list its messages"
            raise UnansweredError(message, is_gone=False)
        found: Mapping[int, Mapping[bytes, Any]] = parse_fetch_response(lines, False, False)
        return found.values()


class Sessions:
    """The connections of all threads."""

    def __init__(self, where: Location, who: Credentials, timeout_s: float) -> None:
        self._where = where
        self._who = who
        self._timeout_s = timeout_s
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: list[Session] = []

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Give the connection of this thread; every error becomes phiscan's, and a broken one is dropped.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        try:
            found: Session | None = getattr(self._local, "session", None)
            if found is None:
                found = self._local.session = Session(self._sign_in())
                with self._lock:
                    self._all.append(found)
            yield found
        except PhiscanError:
            raise
        except Exception as error:  # noqa: BLE001 (sockets and the library's own: all mean no answer)
            translated = _translated(error)
            if isinstance(translated, UnansweredError):
                self._drop()
            raise translated from None

    def close(self) -> None:
        """Close all connections, also those that threads wait on."""
        with self._lock:
            for session in self._all:
                _shut(session.client)

    def _drop(self) -> None:
        session: Session | None = getattr(self._local, "session", None)
        if session is not None:
            self._local.session = None
            with self._lock:
                self._all.remove(session)
            _shut(session.client)

    def _sign_in(self) -> Any:
        from imapclient import IMAPClient  # noqa: PLC0415 (an optional part)

        where, who = self._where, self._who
        is_tls = where.scheme == "imaps"
        context = tls_context(who.ca_file, "imap")
        client = IMAPClient(
            where.host,
            where.port or None,
            ssl=is_tls,
            ssl_context=context if is_tls else None,
            timeout=self._timeout_s,
        )
        try:
            client.folder_encode = client.normalise_times = False
            if not is_tls:
                _protect(client, context)
            if who.token:
                client.oauth2_login(who.username, who.token)
            else:
                client.login(who.username, who.password)
        except BaseException:
            _shut(client)
            raise
        return client


def require_library() -> None:
    """Check that the optional package is installed.

    Raises:
        InputError: it is missing.
    """
    try:
        import imapclient  # noqa: F401, PLC0415 (an optional part)
    except ImportError:
        message = "imap://: needs the package imapclient; expected phiscan installed with [imap]"
        raise InputError(message) from None


def _protect(client: Any, context: ssl.SSLContext) -> None:
    """Encrypt a plain connection; one within this machine may stay as it is.

    Raises:
        RefusedError: the server does not offer that.
    """
    if client.has_capability("STARTTLS"):
        client.starttls(context)
    elif client.host not in LOOPBACK:
        detail = "the connection would not be encrypted; expected imaps, or a server with STARTTLS"
        raise RefusedError(FailReason.IO_ERROR, detail)


def _translated(error: Exception) -> PhiscanError:
    """Return phiscan's error for the library's; without its message, which may quote what was sent."""
    from imapclient.exceptions import (  # noqa: PLC0415 (an optional part)
        IMAPClientAbortError,
        IMAPClientError,
        LoginError,
    )

    if isinstance(error, ssl.SSLCertVerificationError):
        return RefusedError(FailReason.IO_ERROR, f"its certificate is not valid: {error.verify_message}")
    if isinstance(error, UnicodeError):
        return RefusedError(FailReason.IO_ERROR, "its name is not ASCII")
    if isinstance(error, IMAPClientError) and not isinstance(error, IMAPClientAbortError):
        code = found[1] if (found := _CODE.search(str(error))) else ""
        if code in _TEMPORARY:
            return UnansweredError(f"the server said {code}", is_gone=False)
        otherwise = (FailReason.IO_ERROR, "refused by the server")
        return RefusedError(*_REFUSED.get(code, _SIGNED_OUT if isinstance(error, LoginError) else otherwise))
    cause = getattr(error, "strerror", None) or type(error).__name__
    return UnansweredError(f"no answer from the server ({cause})", is_gone=True)


def _shut(client: Any) -> None:
    """Close a connection without the protocol's sign-off, which would wait for a response too."""
    with suppress(Exception):
        client.shutdown()
