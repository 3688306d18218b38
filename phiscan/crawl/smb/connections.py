"""The connections to one SMB server: one per thread, closed on timeout."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials
from phiscan.errors import InputError

_PORT = 445
_WATCH_INTERVAL_S = 0.5
_Cache = dict[str, Any]  # the library's: server and port -> connection

# The libraries log to standard error what they also raise as exceptions, including paths.
for _name in ("smbprotocol", "smbclient", "spnego"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class Connections:
    """The connections of the library, with a watchdog for calls without response.

    The library waits for a response indefinitely. If a call takes longer than ``timeout_s``, the connections
    of its thread are closed, which ends it with an error.
    """

    def __init__(self, settings: SharesTable, credentials: Credentials, port: int) -> None:
        self._settings = settings
        self._credentials = credentials
        self._port = port or _PORT
        self._local = threading.local()
        self._lock = threading.Lock()
        self._caches: list[_Cache] = []
        self._deadlines: dict[int, tuple[float, _Cache]] = {}
        self._closed = threading.Event()
        self._knows_domain = False
        threading.Thread(target=self._watch_deadlines, name="smb-watch", daemon=True).start()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that the library needs for a connection of this thread."""
        self._load_namespaces()
        who = self._credentials
        return {
            "username": who.username or None,
            "password": who.password or None,
            "port": self._port,
            "encrypt": True if self._settings.smb_encrypt == "required" else None,
            "auth_protocol": self._settings.smb_auth,
            "connection_timeout": max(1, int(self._settings.timeout_s)),
            "connection_cache": self._cache(),
        }

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Close this thread's connections if its calls are not answered in time."""
        self.answered()
        try:
            yield
        finally:
            self._deadlines.pop(threading.get_ident(), None)

    def answered(self) -> None:
        """Restart the timeout after a response."""
        deadline = time.monotonic() + self._settings.timeout_s
        self._deadlines[threading.get_ident()] = (deadline, self._cache())

    def drop(self) -> None:
        """Discard this thread's connections; the next call opens new ones."""
        _close_sockets(self._cache())

    def close(self) -> None:
        """Close the connections of all threads."""
        self._closed.set()
        with self._lock:
            for cache in self._caches:
                _close_sockets(cache)

    def _cache(self) -> _Cache:
        cache: _Cache | None = getattr(self._local, "cache", None)
        if cache is None:
            cache = self._local.cache = {}
            with self._lock:
                self._caches.append(cache)
        return cache

    def _watch_deadlines(self) -> None:
        while not self._closed.wait(_WATCH_INTERVAL_S):
            now = time.monotonic()
            for deadline, cache in list(self._deadlines.values()):
                if now > deadline:
                    _close_sockets(cache)

    def _load_namespaces(self) -> None:
        """Query the domain controller for the namespaces of the domain, once."""
        with self._lock:
            if self._settings.smb_domain_controller and not self._knows_domain:
                from smbclient import ClientConfig  # noqa: PLC0415 (an optional part)

                ClientConfig(
                    username=self._credentials.username or None,
                    password=self._credentials.password or None,
                    domain_controller=self._settings.smb_domain_controller,
                )
                self._knows_domain = True


def require_library() -> None:
    """Check that the optional package is installed.

    Raises:
        InputError: it is missing.
    """
    try:
        import smbclient  # noqa: F401, PLC0415 (an optional part)
    except ImportError:
        message = "smb://: needs the package smbprotocol; expected phiscan installed with [smb]"
        raise InputError(message) from None


def _close_sockets(cache: _Cache) -> None:
    """Close the sockets without the protocol's sign-off, which would wait for a response too."""
    for name in list(cache):
        connection = cache.pop(name, None)
        with suppress(Exception):
            connection.transport.close()
