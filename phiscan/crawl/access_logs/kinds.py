"""The kinds of access logs: how each is known by its content, its parser, and how its names are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from phiscan.crawl.access_logs import cloud, samba, windows
from phiscan.crawl.access_logs.log import Log
from phiscan.errors import InputError
from phiscan.model.opened import Opened


@dataclass(frozen=True, slots=True)
class LogKind:
    """One kind of access log."""

    mark: re.Pattern[bytes]  # is in its first bytes
    parse: Callable[[Log], Iterator[Opened]]
    folds: bool = False  # its names are compared without regard to case


KINDS = {
    "samba": LogKind(samba.MARK, samba.parse),
    "windows": LogKind(windows.MARK, windows.parse, folds=True),
    "cloudtrail": LogKind(cloud.TRAIL_MARK, cloud.parse_trail),
    "m365": LogKind(cloud.AUDIT_MARK, cloud.parse_audit, folds=True),
    "s3": LogKind(cloud.SERVER_MARK, cloud.parse_server_log),
}
"""By the name of ``--kind``, in the order in which they are tried."""


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
