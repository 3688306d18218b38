"""A review database filled with made-up results, as a scan and reviewers would have left it."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from phiscan.model import (
    EntityType,
    FailReason,
    FileResult,
    Outcome,
    PiiBit,
    PiiVector,
    Reason,
    Referral,
    SkipReason,
    SourceFile,
    Span,
    StoredFinding,
    StoredTerm,
    UnreadPart,
    Verdict,
)
from phiscan.report.gather import ReportData, gather
from phiscan.report.sections.missed import Capture
from phiscan.review.store import Store
from phiscan.store.database import Database
from tests.empty_database import new_database

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
CANARY = "Zyxwvut Canary-Person 046-454-286"
VERSIONS = {"phiscan": "0.1.0", "rules": "5f0c1d2e3b4a5968", "dictionaries": "a1b2c3d4e5f60718"}

_FOLDERS = (
    "wards/icu",
    "wards/er",
    "clinic/referrals",
    "admin/hr",
    "admin/policies",
    "research",
    "old backups",
)
_FORMATS = ("application/pdf", "text/plain", "message/rfc822", "application/vnd.ms-excel", "text/html")
_BITS = (
    PiiBit.FIRST_NAME,
    PiiBit.LAST_NAME,
    PiiBit.ORGANIZATION,
    PiiBit.STREET_ADDRESS,
    PiiBit.PHONE,
    PiiBit.EMAIL,
    PiiBit.DATE,
    PiiBit.HEALTH_CARD,
    PiiBit.MRN,
)
_KINDS = (EntityType.PERSON, EntityType.PHONE, EntityType.HEALTH_CARD, EntityType.DATE_OF_BIRTH)
_CONCEPTS = ("diabetes mellitus", "myocardial infarction", "depression", "asthma")
_LIMBO = (Outcome.SKIPPED, Outcome.FAILED)


@dataclass(frozen=True)
class Made:
    """A filled database, its scan, and the results in it."""

    database: Database
    scan: int
    results: tuple[FileResult, ...]


Fill = Callable[..., Made]


def source(path: str | bytes, root: bytes = b"/srv/share", number: int = 1) -> SourceFile:
    raw = path.encode() if isinstance(path, str) else path
    return SourceFile(root, raw, 1000 + number, 1, 1, number, 1)


def finding(kind: EntityType, position: int, who: int) -> StoredFinding:
    identity = sha256(f"{kind}{who}{CANARY}".encode()).hexdigest()
    reasons = (Reason("rule", "ca.phone.1", 0.8),)
    return StoredFinding(
        Span(position * 20, position * 20 + 10), "", kind, "ca.phone.1", 0.8, reasons, "999-9999", identity
    )


def screened(path: str, referral: Referral, bits: Sequence[PiiBit] = (), number: int = 1) -> FileResult:
    referred = referral is Referral.REFERRED
    return FileResult(
        source(path, number=number),
        Outcome.SCREENED,
        media_type="text/plain",
        content_hash=sha256(path.encode()).hexdigest(),
        vector=PiiVector(frozenset(bits)),
        hamming=0 if referred else 2,
        n_people=1 if referred else 0,
        health_score=0.8 if referred else 0.1,
        referral=referral,
        case="identifying and health information" if referred else "neither",
        detectors=(("patterns", referred), ("names", referred), ("text", referred)),
        findings=(finding(EntityType.PERSON, 0, number),) if referred else (),
        terms=(StoredTerm("asthma", 2, Span(5, 11), ""),) if referred else (),
    )


_FAILURES = [reason for reason in FailReason if reason is not FailReason.SAMPLED]  # of whole files


def failed(path: str, reason: FailReason = FailReason.ENCRYPTED, number: int = 1) -> FileResult:
    return FileResult(source(path, number=number), Outcome.FAILED, reason=reason, detail="no password fits")


def skipped(path: str, number: int = 1) -> FileResult:
    return FileResult(source(path, number=number), Outcome.SKIPPED, reason=SkipReason.EMPTY)


def share(n: int, seed: int = 1) -> list[FileResult]:
    """Make results as a hospital share would give: mostly clear, some referred, a few unreadable."""
    chance = random.Random(seed)
    results = []
    for number in range(n):
        path = f"{chance.choice(_FOLDERS)}/file-{number:05d}.txt"
        draw = chance.random()
        if draw < 0.03:
            results.append(failed(path, chance.choice(_FAILURES), number))
        elif draw < 0.06:
            results.append(skipped(path, number))
        else:
            results.append(_result(path, number, chance))
    return results


def _result(path: str, number: int, chance: random.Random) -> FileResult:
    draw = chance.random()
    referral = (
        Referral.REFERRED
        if draw < 0.2
        else Referral.PII_ONLY
        if draw < 0.45
        else Referral.HEALTH_ONLY
        if draw < 0.55
        else Referral.CLEAR
    )
    likely = {Referral.REFERRED: 0.6, Referral.PII_ONLY: 0.35}.get(referral, 0.0)
    bits = [bit for bit in _BITS if chance.random() < likely]
    base = screened(path, referral, bits, number)
    if referral is not Referral.REFERRED:
        return replace(base, media_type=chance.choice(_FORMATS))
    said = (chance.random() < 0.8, chance.random() < 0.7, chance.random() < 0.6)
    parts = (UnreadPart("mail.eml!/scan.zip", FailReason.ENCRYPTED, "no password fits"),)
    return replace(
        base,
        media_type=chance.choice(_FORMATS),
        n_people=chance.choice((1, 1, 1, 2, 3, 12, 140)),
        detectors=tuple(zip(("patterns", "names", "text"), said, strict=True)),
        findings=tuple(
            finding(chance.choice(_KINDS), place, chance.randrange(500))
            for place in range(chance.randrange(1, 9))
        ),
        terms=tuple(
            StoredTerm(concept, chance.randrange(1, 9), Span(1, 5), "")
            for concept in chance.sample(_CONCEPTS, chance.randrange(1, 4))
        ),
        unread=parts if chance.random() < 0.05 else (),
    )


def marked(said: Iterable[Sequence[bool]]) -> list[FileResult]:
    """Return a referred file for each of the answers of the three detectors."""
    return [
        replace(
            screened(f"{number}.txt", Referral.REFERRED, number=number),
            detectors=tuple(zip(("patterns", "names", "text"), map(bool, one), strict=True)),
        )
        for number, one in enumerate(said)
    ]


def data_of(made: Made, **options: Any) -> ReportData:
    return gather(made.database, now=NOW, **options).data


def decide(made: Made, verdicts: dict[str, Verdict], who: str = "A. Officer") -> ReportData:
    """Decide files by their paths, and return the report."""
    store = Store(made.database)
    chosen = [(store.find(path), verdict) for path, verdict in verdicts.items()]
    store.decide_all(chosen, reviewer=who, now=NOW)
    return data_of(made)


def captured(
    filled: Fill, results: Sequence[FileResult], verdicts: Sequence[Verdict | None] | None = None
) -> Capture:
    """Decide files, all as PHI unless verdicts are given, and return what the report estimates of them."""
    made = filled(results)
    given = enumerate([Verdict.PHI] * len(results) if verdicts is None else verdicts, start=1)
    decided = [(number, verdict) for number, verdict in given if verdict]
    Store(made.database).decide_all(decided, reviewer="A", now=NOW)
    return data_of(made).capture


def fill(folder: Path, results: Sequence[FileResult], *, roots: Sequence[bytes] = (b"/srv/share",)) -> Made:
    database = new_database(folder / "phiscan.db")
    store = Store(database)
    state = store.begin_scan(roots, versions=VERSIONS, options={}, now=NOW)
    for start in range(0, len(results), 2000):
        store.record(state.id, "key", results[start : start + 2000])
    store.finish_scan(state.id, status="complete", seconds=61.5, now=NOW + timedelta(minutes=1))
    return Made(database, state.id, tuple(results))


def decide_referred(made: Made, *, share_decided: float = 1.0, share_phi: float = 0.9, seed: int = 2) -> None:
    """Let two reviewers decide the referred files of the highest risk; each decision is a made-up verdict."""
    chance = random.Random(seed)
    store = Store(made.database)
    items = store.queue(made.scan, verdicts=None, limit=None, offset=0)
    chosen = items[: round(len(items) * share_decided)]
    verdicts = [
        (item.file_id, Verdict.PHI if chance.random() < share_phi else Verdict.NOT_PHI) for item in chosen
    ]
    half = len(verdicts) // 2
    for part, who in ((verdicts[:half], "A. Officer"), (verdicts[half:], "B. Lead")):
        if part:
            store.decide_all(part, reviewer=who, reason=CANARY, note=CANARY, now=NOW)
