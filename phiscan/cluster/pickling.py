"""Messages between a scan and its cluster, pickled to bytes whose repr shows no content.

Dask prints arguments and results in logs, exceptions and its dashboard. Paths are sensitive too, since file
names hold patients' names. So every message is sent as bytes whose ``repr`` shows nothing.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from phiscan.config import LearnedVersion
from phiscan.model import FileResult, SourceFile
from phiscan.sandbox.answers import Fault


@dataclass(frozen=True, slots=True)
class Pickled:
    """Pickled bytes whose ``repr`` does not show them."""

    content_bytes: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Batch:
    """Files to examine, the required versions, and the roots' device numbers on the scan's machine."""

    versions_key: str
    learned: LearnedVersion | None
    devices: tuple[tuple[bytes, int], ...]
    sources: tuple[SourceFile, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """Each file of a batch as its worker saw it, and its result, in its order; or why a worker refused it."""

    answers: tuple[tuple[SourceFile, FileResult | Fault], ...] = field(default=(), repr=False)
    refusal: str = ""  # without text of documents and file names


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker's versions by name, and the indices of the roots that it cannot see."""

    versions: tuple[tuple[str, str], ...]
    unseen: tuple[int, ...] = ()
    problem: str = ""  # why it cannot work at all


def to_pickle(content: Batch | Reply | WorkerState) -> Pickled:
    """Return the pickled message."""
    return Pickled(pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL))


def from_pickle(pickled: Pickled) -> Any:
    """Return the message; only from a trusted scheduler, as Dask itself unpickles every message."""
    return pickle.loads(pickled.content_bytes)  # noqa: S301 (both ends are phiscan; the transport is what must be trusted)
