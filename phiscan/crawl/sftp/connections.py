"""The connections to one SFTP server, one per thread: host key, login, timeouts."""

from __future__ import annotations

import logging
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials
from phiscan.crawl.location import Location
from phiscan.crawl.sftp.requests import SftpRequests
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason

if TYPE_CHECKING:
    import paramiko

_PORT = 22
_KNOWN_HOSTS = ("~/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts")
_PRIVATE = stat.S_IRWXG | stat.S_IRWXO
# One pass over the data instead of two, which halves the cost of a transfer.
_FIRST_CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com")

# The library logs what it also raises, with names of users and files.
logging.getLogger("paramiko").setLevel(logging.CRITICAL + 1)


class Connections:
    """The connections to one server."""

    def __init__(self, settings: SharesTable, credentials: Credentials, location: Location) -> None:
        _require_library()
        self._timeout_s = settings.timeout_s
        self._credentials = credentials
        self._host, self._port = location.host, location.port or _PORT
        self._local = threading.local()
        self._open: set[paramiko.Transport] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    @contextmanager
    def requests(self) -> Iterator[SftpRequests]:
        """Yield the connection of this thread; one that fails is closed, and its error translated."""
        try:
            yield self._of_thread()
        except RefusedError:
            raise
        except UnansweredError:
            self._drop()
            raise
        except Exception as error:  # noqa: BLE001 (of sockets, paramiko and damaged answers)
            self._drop()
            raise _translated(error) from None

    def close(self) -> None:
        """Close the connections of all threads; no more are made."""
        with self._lock:
            self._is_closed = True
            transports, self._open = self._open, set()
        for transport in transports:
            transport.close()

    def _of_thread(self) -> SftpRequests:
        found: SftpRequests | None = getattr(self._local, "requests", None)
        if found is not None:
            return found
        transport = self._connected()
        with self._lock:
            is_closed = self._is_closed
            self._open.add(transport)
        self._local.transport = transport
        if is_closed:
            self._drop()
            message = "the connection was closed"
            raise UnansweredError(message, is_gone=True)
        _check_host_key(transport, self._host_name, self._credentials.host_key, self._known_hosts)
        _sign_in(transport, self._credentials)
        channel = transport.open_session(timeout=self._timeout_s)
        channel.settimeout(self._timeout_s)
        channel.invoke_subsystem("sftp")
        self._local.requests = SftpRequests(channel)
        return self._local.requests

    def _connected(self) -> paramiko.Transport:
        import paramiko  # noqa: PLC0415 (an optional part, and slow to load)

        connection = socket.create_connection((self._host, self._port), self._timeout_s)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport = paramiko.Transport(connection)
            transport.banner_timeout = transport.auth_timeout = self._timeout_s
            options = transport.get_security_options()
            options.ciphers = (
                *_FIRST_CIPHERS,
                *(one for one in options.ciphers if one not in _FIRST_CIPHERS),
            )
            # The server presents one key only: preferably one of a kind that is known.
            known = () if self._credentials.host_key else self._known_hosts.lookup(self._host_name) or ()
            kinds = [
                kind for kind in options.key_types if any(kind.startswith(_family(one)) for one in known)
            ]
            options.key_types = (*kinds, *(kind for kind in options.key_types if kind not in kinds))
            transport.start_client(timeout=self._timeout_s)
        except BaseException:
            connection.close()
            raise
        return transport

    def _drop(self) -> None:
        transport: paramiko.Transport | None = self._local.__dict__.pop("transport", None)
        self._local.__dict__.pop("requests", None)
        if transport is not None:
            with self._lock:
                self._open.discard(transport)
            with suppress(Exception):
                transport.close()

    @property
    def _host_name(self) -> str:
        """The server's name in ``known_hosts``."""
        return self._host if self._port == _PORT else f"[{self._host}]:{self._port}"

    @cached_property
    def _known_hosts(self) -> paramiko.HostKeys:
        import paramiko  # noqa: PLC0415 (an optional part)

        keys = paramiko.HostKeys()
        for name in _KNOWN_HOSTS:
            with suppress(OSError, UnicodeDecodeError):
                keys.load(str(Path(name).expanduser()))
        return keys


def _check_host_key(
    transport: paramiko.Transport, host: str, fingerprints: str, known: paramiko.HostKeys
) -> None:
    """Check the server's key against the fingerprints of the credentials, else against ``known_hosts``.

    Raises:
        RefusedError: it is another one, or none is known; the key is named, so that it can be compared.
    """
    key = transport.get_remote_server_key()
    if fingerprints:
        if key.fingerprint in (one.rstrip("=") for one in fingerprints.split()):
            return
        what, where = "another than host_key says", ""
    else:
        if known.check(host, key):
            return
        what = "another than known_hosts has" if known.lookup(host) else "not known"
        where = ". If that is its key, put it into the credentials as host_key, or into ~/.ssh/known_hosts"
    detail = f"the server's host key {key.fingerprint} ({key.get_name()}) is {what}{where}"
    raise RefusedError(FailReason.IO_ERROR, detail)


def _sign_in(transport: paramiko.Transport, who: Credentials) -> None:
    """Sign in by private key, then by password, or by the keys of an agent.

    Raises:
        RefusedError: the server takes none of them, or there is none.
    """
    import paramiko  # noqa: PLC0415 (an optional part)

    if not who.username:
        raise RefusedError(FailReason.NO_PERMISSION, "no user name; expected username in the credentials")
    if who.key_file:
        keys = [_private_key(who.key_file, who.password)]
    else:
        keys = [] if who.password else list(paramiko.Agent().get_keys())
    for key in keys:
        with suppress(paramiko.AuthenticationException):
            transport.auth_publickey(who.username, key)
        if transport.is_authenticated():
            return
    if who.password:
        with suppress(paramiko.AuthenticationException):
            transport.auth_password(who.username, who.password)
    if not transport.is_authenticated():
        detail = "wrong user name, password or key" if keys or who.password else "no password, key or agent"
        raise RefusedError(FailReason.NO_PERMISSION, detail)


def _private_key(name: str, passphrase: str) -> paramiko.PKey:
    import paramiko  # noqa: PLC0415 (an optional part)

    path = Path(name).expanduser()
    try:
        is_private = not path.stat().st_mode & _PRIVATE
        try:
            key = paramiko.PKey.from_path(path)
        except (TypeError, paramiko.PasswordRequiredException):  # encrypted
            key = paramiko.PKey.from_path(path, passphrase)
    except Exception as error:  # noqa: BLE001 (of several libraries; their messages may quote the file)
        detail = (
            f"key_file cannot be read ({type(error).__name__}); expected a private key of OpenSSH or in PEM"
        )
        raise RefusedError(FailReason.IO_ERROR, detail) from None
    if not is_private:
        raise RefusedError(FailReason.IO_ERROR, "others may read key_file; expected mode 0600")
    return key


def _family(kind: str) -> str:
    """Return how the names of a key's signatures begin.

    >>> _family("ssh-rsa"), _family("ssh-ed25519")
    ('rsa-', 'ssh-ed25519')
    """
    return "rsa-" if kind == "ssh-rsa" else kind


def _translated(error: Exception) -> PhiscanError:
    import paramiko  # noqa: PLC0415 (an optional part)

    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        return RefusedError(FailReason.IO_ERROR, "the server offers no method of encryption that is safe")
    return UnansweredError(f"no answer from the server ({type(error).__name__})", is_gone=True)


def _require_library() -> None:
    """Check that the optional package is installed.

    Raises:
        InputError: it is missing.
    """
    try:
        import paramiko  # noqa: F401, PLC0415 (an optional part)
    except ImportError:
        message = "sftp://: needs the package paramiko; expected phiscan installed with [sftp]"
        raise InputError(message) from None
