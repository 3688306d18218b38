"""Translate errors of the SMB library: permanent refusals, or temporary errors that may be retried.

Source of the codes: [MS-ERREF] 2.3.1 NTSTATUS values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import PhiscanError
from phiscan.model import FailReason

_FORBIDDEN = {
    0xC0000022: "access denied",
    0xC0000061: "privilege not held",
    0xC000006D: "wrong user name or password",
    0xC000006E: "account restriction",
    0xC000006F: "not at this hour",
    0xC0000071: "password expired",
    0xC0000072: "account disabled",
    0xC0000193: "account expired",
    0xC0000224: "password must be changed",
    0xC0000234: "account locked out",
}
_CHANGED = {
    **dict.fromkeys(
        (0xC000000F, 0xC0000034, 0xC000003A, 0xC0000056, 0xC0000123, 0xC0000225),
        "vanished before it was read",
    ),
    # It has become a folder, no folder, or a link.
    **dict.fromkeys((0xC00000BA, 0xC0000103, 0x8000002D), "not the file that was crawled"),
}
_REFUSED = {
    **dict.fromkeys((0xC0000043, 0xC0000054), "in use by a program that prevents reading"),
    **dict.fromkeys((0xC00000BE, 0xC00000CC), "no such share on this server"),
}
# The connection, the session or the share was lost; a new connection may help.
_CONNECTION_LOST = frozenset(
    {0xC00000B5, 0xC00000C4, 0xC00000C9, 0xC0000203, 0xC000020C, 0xC000020D, 0xC000023A, 0xC000035C}
)


@contextmanager
def translate(drop_connection: Callable[[], None]) -> Iterator[None]:
    """Translate every error of the library to phiscan's; a broken connection is dropped."""
    try:
        yield
    except PhiscanError:
        raise
    except UnicodeError:
        raise RefusedError(FailReason.IO_ERROR, "its name is not Unicode") from None
    except Exception as error:  # noqa: BLE001 (sockets, codecs and the library's own: all mean no answer)
        status = _status(error)
        if status is None or status in _CONNECTION_LOST:
            drop_connection()
        raise _translated(error, status) from None


def _status(error: Exception) -> int | None:
    found = (getattr(error, name, None) for name in ("ntstatus", "status"))
    return next((value for value in found if isinstance(value, int)), None)


def _cause(error: Exception) -> str:
    """Return the system's message for a failed connection, or only the kind of error."""
    original = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return getattr(original, "strerror", None) or type(error).__name__


def _translated(error: Exception, status: int | None) -> PhiscanError:
    """Return phiscan's error for the library's; without its message, which may quote its input."""
    if status is None:
        if type(error).__name__ == "SMBAuthenticationError":
            return RefusedError(FailReason.NO_PERMISSION, "wrong user name or password")
        return UnansweredError(f"no answer from the server ({_cause(error)})", is_gone=True)
    for reason, known in (
        (FailReason.NO_PERMISSION, _FORBIDDEN),
        (FailReason.CHANGED, _CHANGED),
        (FailReason.IO_ERROR, _REFUSED),
    ):
        if status in known:
            return RefusedError(reason, known[status])
    return UnansweredError(f"NTSTATUS {status:#010x}", is_gone=status in _CONNECTION_LOST)
