"""Row numbers in an address: limited to the range of the database's column."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

MAX_NUMBER = 2**63 - 1

RowNumber = Annotated[int, Path(ge=1, le=MAX_NUMBER)]
