"""The opening of a file, as an access log has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Opened:
    """One opening; names are as the log has them."""

    path: str  # with /, bytes that are not UTF-8 as surrogates: /srv/share/a.txt, //server/share/a, s3://bucket/key
    account: str
    moment: datetime
    action: str
    client: str = ""  # address; never stored
