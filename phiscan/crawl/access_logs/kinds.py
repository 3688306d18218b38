"""The kinds of access logs: how each is known by its content, read, and how its names are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from phiscan.crawl.access_logs import cloud, samba, windows
from phiscan.crawl.access_logs.log import Log, Read
from phiscan.errors import InputError

_NOT_UNDERSTOOD = (ValueError, LookupError, TypeError, AttributeError, SyntaxError, ArithmeticError)


class LogKind(NamedTuple):
    """One kind of access log."""

    mark: re.Pattern[bytes]  # is in its first bytes
    records: Callable[[Log], Iterator[Any]]
    read: Callable[[Any], Read]  # raises where it does not understand a record
    folds: bool = False  # its names are compared without regard to case


KINDS = {
    "samba": LogKind(samba.MARK, samba.records, samba.read),
    "windows": LogKind(windows.MARK, windows.records, windows.read, folds=True),
    "cloudtrail": LogKind(cloud.TRAIL_MARK, Log.records, cloud.read_trail),
    "m365": LogKind(cloud.AUDIT_MARK, Log.records, cloud.read_audit, folds=True),
    "s3": LogKind(cloud.SERVER_MARK, Log.lines, cloud.read_server_line),
}
"""By the name of ``--kind``, in the order in which they are tried."""


class Opened(NamedTuple):
    """One opening; names are as the log has them."""

    path: str  # with /, bytes that are not UTF-8 as surrogates: /srv/share/a.txt, //server/share/a, s3://bucket/key
    account: str
    moment: datetime


def kind_of(log: Log, where: str) -> str:
    """Return the kind of a log by its content.

    Raises:
        InputError: it is of none.
    """
    found = next((name for name, kind in KINDS.items() if kind.mark.search(log.head)), None)
    if found is None:
        message = f"{where}: no access log that phiscan knows; --kind names one of {', '.join(KINDS)}"
        raise InputError(message)
    return found


def openings_in(log: Log, kind: str) -> Iterator[Opened]:
    """Yield the openings in a log of this kind; what is not understood is counted."""
    for record in KINDS[kind].records(log):
        try:
            time, account, paths = KINDS[kind].read(record)
            moment = log.saw(time)
        except _NOT_UNDERSTOOD:
            log.n_unknown += 1
        else:
            yield from (Opened(path, account, moment) for path in paths)
