"""What travels between the scan and its cluster: sealed, so that nothing on the way can show it.

Dask prints arguments and results in logs, exceptions and its dashboard. A path is a value too: file
names hold patients' names. So everything travels as bytes with a silent ``repr``.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from phiscan.config import LearnedVersion
from phiscan.model import SourceFile
from phiscan.pipeline.processed import Processed
from phiscan.sandbox.answers import Fault


@dataclass(frozen=True, slots=True)
class Pickled:
    """Bytes that do not show what they hold."""

    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Batch:
    """Files to examine together; the versions that must do it, and the roots' devices where the scan runs."""

    versions_key: str
    learned: LearnedVersion | None
    devices: tuple[tuple[bytes, int], ...]
    sources: tuple[SourceFile, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer for each file of a batch, in its order, and its owner and readers as the worker saw them."""

    answers: tuple[Processed | Fault, ...] = field(repr=False)
    access: tuple[tuple[str, tuple[str, ...]], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a worker did not take a batch; never a word of a document, never a file's name."""

    message: str


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What a worker says of itself: its versions by name, and the roots that it cannot see, by position."""

    versions: tuple[tuple[str, str], ...]
    unseen: tuple[int, ...] = ()
    problem: str = ""  # why it cannot work at all


def to_pickle(content: Batch | Reply | Refusal | WorkerState) -> Pickled:
    """Close a parcel."""
    return Pickled(pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL))


def from_pickle(parcel: Pickled) -> Any:
    """Open a parcel; only of a scheduler that is trusted, as Dask itself does with every message."""
    return pickle.loads(parcel.sealed)  # noqa: S301 (both ends are phiscan; the transport is what must be trusted)
