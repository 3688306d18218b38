"""The results of the review store: frozen values, made from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from phiscan.model import (
    Verdict,
)

Detectors = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class ScanState:
    """A scan that was begun or resumed."""

    id: int
    resumed: bool
    started: datetime
    n_refused: int = 0  # stored results that this program did not write: their files are read again


class KnownFile(NamedTuple):
    """The latest examination of a file; a tuple, because a rescan makes so many."""

    path: bytes
    file_id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    content_hash: str
    outcome: str  # an Outcome
    reason: str
    versions_key: str
    scan_id: int  # the scan that made the examination
    seen_scan_id: int  # the scan that saw the file last


@dataclass(frozen=True, slots=True)
class ScanHead:
    """One line about a scan."""

    id: int
    roots: tuple[str, ...]
    status: str  # "running", "stopped" or "complete"
    started: datetime
    ended: datetime | None
    n_crawled: int


@dataclass(frozen=True, slots=True)
class ScanSummary:
    """The numbers of one scan; crawled = screened + unchanged + skipped + failed.

    Unchanged is a file whose earlier screening is current; one that still cannot be read, or is still
    skipped, counts as failed or skipped again, so that no later scan looks cleaner than it is.
    ``screened_positive``, ``referred``, ``people_at_risk`` and ``by_detector`` count all files present,
    unchanged ones with their current result. ``bytes`` are those that this scan read, including failed files;
    where the system does not count them, the size of the screened files. They are summed from rows like all
    the rest, so that an interruption changes nothing.
    """

    scan: int
    roots: tuple[str, ...]
    status: str
    started: str  # UTC, ISO 8601
    ended: str | None
    crawled: int
    screened: int
    unchanged: int
    skipped: Mapping[str, int]
    failed: Mapping[str, int]
    bytes: int
    seconds: float
    screened_positive: int  # files with PII: referred or pii_only
    referred: int
    people_at_risk: int  # in referred files not decided as not PHI, identical ones counted once; an estimate
    histories: Mapping[Detectors, int]  # files by the results of the detectors
    versions: Mapping[str, str]
    n_unread_parts: int
    n_ocr_files: int = 0  # waiting for OCR
    n_ocr_parts: int = 0  # pages and pictures in them
    n_copies: int = 0  # of the screened: results reused from an equal content
    second_look: int = 0  # not referred, but marked by a detector
    n_deleted: int = 0  # present at the last complete scan, missing at this one
    n_moved: int = 0  # of the missing ones: found at a new path
    n_sampled_files: int = 0  # referred by samples of a long text; the rest of it was left out

    not_covered: Mapping[str, int] = field(default_factory=dict)  # by language: files with a part not read
    n_by_name: int = 0  # of the referred: by the names of file, folder or member alone

    # What the cascade skipped, and the results of its audit sample: the arguments of ``metrics.cascade``.
    searches: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_unread(self) -> bool:
        """Whether a file, or a part of one, was not read, or is in a language that is not covered."""
        return bool(self.failed or self.n_unread_parts or self.not_covered)

    @property
    def by_detector(self) -> dict[str, int]:
        """Count the files that each detector classifies as PHI."""
        found: dict[str, int] = {}
        for history, n_files in self.histories.items():
            for name, is_phi in history:
                found[name] = found.get(name, 0) + n_files * is_phi
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the object of the contract (``scan --json``), with status and unread parts added."""
        return {
            "scan": self.scan,
            "roots": list(self.roots),
            "status": self.status,
            "started": self.started,
            "ended": self.ended,
            "crawled": self.crawled,
            "screened": self.screened,
            "unchanged": self.unchanged,
            "skipped": dict(self.skipped),
            "failed": dict(self.failed),
            "bytes": self.bytes,
            "seconds": self.seconds,
            "screened_positive": self.screened_positive,
            "referred": self.referred,
            "second_look": self.second_look,
            "people_at_risk": self.people_at_risk,
            "by_detector": dict(self.by_detector),
            "versions": dict(self.versions),
            "unread_parts": self.n_unread_parts,
            "sampled_files": self.n_sampled_files,
            "not_covered": dict(self.not_covered),
            "by_name": self.n_by_name,
            "copies": self.n_copies,
            "deleted": self.n_deleted,
            "moved": self.n_moved,
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """A reviewer's verdict about one content of a file."""

    id: int
    file_id: int
    verdict: Verdict
    reviewer: str
    reason: str
    note: str
    decided: datetime
    content_hash: str
    examination_id: int  # the result that the reviewer saw
