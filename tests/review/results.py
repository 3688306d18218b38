"""Results as the pipeline would send them, and a scan of a few of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

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
)
from phiscan.review.store import Store
from phiscan.store.identity import N_WORD_BYTES, WORD, keyed_hash, shape, words_of_name

ROOT = b"/share"
KEY = b"k" * 32
NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
VERSIONS = {"phiscan": "0.1.0", "patterns": "abc"}
IDENTIFYING = frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.PHONE})


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def later(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


def source(name: str, *, root: bytes = ROOT, size: int = 100, mtime_ns: int = 1) -> SourceFile:
    return SourceFile(root, name.encode(), size, mtime_ns, 2, 3, 4, mode=0o100640, uid=1000)


def finding(value: str, *, start: int = 0, kind: EntityType = EntityType.PHONE) -> StoredFinding:
    return StoredFinding(
        span=Span(start, start + len(value)),
        locator="#p1",
        entity_type=kind,
        source="us.phone.1",
        score=0.9,
        reasons=(Reason("rule", "us.phone.1", 0.6), Reason("context", "phone_words", 0.9)),
        preview=shape(value),
        identity=keyed_hash(KEY, kind, value),
        words=b"".join(
            bytes.fromhex(keyed_hash(KEY, WORD, word))[:N_WORD_BYTES]
            for word in (words_of_name(value) if kind == EntityType.PERSON else ())
        ),
    )


def referred(name: str, *, root: bytes = ROOT, content: str = "", n_people: int = 1) -> FileResult:
    return FileResult(
        source(name, root=root),
        Outcome.SCREENED,
        media_type="text/plain",
        content_hash=content or f"hash of {name}",
        n_chars=500,
        vector=PiiVector(IDENTIFYING),
        hamming=0,
        nearest_prototype="letter",
        prototype_distance=1,
        n_people=n_people,
        health_score=0.8,
        health_distance=0.6,
        health_prototype="referral letter",
        referral=Referral.REFERRED,
        case="identifying and health",
        detectors=(("patterns", True), ("names", True), ("text", False)),
        findings=(finding("613-555-0199"), finding("Ann Ex", start=40, kind=EntityType.PERSON)),
        terms=(StoredTerm("asthma", 2, Span(60, 66), "#p1"),),
        unread=(UnreadPart("scan.zip!/a.pdf", FailReason.ENCRYPTED),),
    )


def readable(name: str, mode: int = 0o100644, *, content: str = "", owner: str = "jroe") -> FileResult:
    """Return a referred file of the share /wide, of seven people, with its permissions and its owner."""
    result = referred(name, root=b"/wide", content=content, n_people=7)
    of_owner = replace(result.source, mode=mode, ctime_ns=mode, owner=owner)
    return replace(result, source=of_owner, people_interval=(5, 9))


def pii_only(name: str) -> FileResult:
    return replace(
        referred(name), referral=Referral.PII_ONLY, health_score=0.1, terms=(), unread=(), case="no health"
    )


def clear(name: str) -> FileResult:
    return FileResult(
        source(name),
        Outcome.SCREENED,
        media_type="text/plain",
        content_hash=f"hash of {name}",
        n_chars=20,
        hamming=4,
        missing=(PiiBit.FIRST_NAME, PiiBit.SIN),
        health_score=0.0,
        referral=Referral.CLEAR,
        case="nothing",
        detectors=(("patterns", False), ("names", False), ("text", False)),
    )


def failed(name: str, reason: FailReason = FailReason.CORRUPT) -> FileResult:
    return FileResult(source(name), Outcome.FAILED, reason=reason, detail="zip: no end record")


def skipped(name: str) -> FileResult:
    return FileResult(source(name), Outcome.SKIPPED, reason=SkipReason.EMPTY)


SHARE = (
    referred("a/letter.txt", n_people=3),
    pii_only("a/staff.csv"),
    clear("b/minutes.txt"),
    failed("b/broken.docx"),
    skipped("b/empty.txt"),
    referred("c/referral.txt"),
)


def scan(
    store: Store,
    results: Sequence[FileResult] = SHARE,
    *,
    unchanged: Sequence[str] = (),
    root: bytes = ROOT,
    minutes: int = 0,
    complete: bool = True,
) -> int:
    """Record a whole scan and return its number."""
    state = store.begin_scan([root], versions=VERSIONS, options={}, now=later(minutes))
    seen = [store.find(name) for name in unchanged]
    store.record(state.id, "v1", results, unchanged=seen)
    if complete:
        store.finish_scan(state.id, status="complete", seconds=1.5, now=later(minutes + 1))
    return state.id
