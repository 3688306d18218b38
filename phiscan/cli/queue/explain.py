"""The explanation of a referral, in words and as JSON; never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from phiscan.cli.queue.table import item_json
from phiscan.model import Referral, StoredFinding
from phiscan.report.words import CASES
from phiscan.review.store import ItemDetail, QueueItem
from phiscan.visible import visible
from phiscan.web.views.plain_words import SHORT, kinds_of

N_READERS = 12  # readers listed; a domain's list has hundreds
N_TERMS = 12  # health terms listed; a long document has a hundred
_DETECTOR_WORDS = {True: "PHI", False: "not PHI"}


def explain(detail: ItemDetail, *, limit: int, probability: str = "") -> Iterator[str]:
    """Yield the lines of the explanation; at most ``limit`` findings, 0 = all."""
    item, source = detail.item, detail.source
    yield f"{visible(item.path)}   (no. {item.file_id})"
    yield f"  under {visible(item.root)}"
    changed = datetime.fromtimestamp(source.mtime_ns / 1e9, UTC) if abs(source.mtime_ns) < 2**62 else None
    when = f", changed {changed:%Y-%m-%d %H:%M} UTC" if changed else ""
    kind = visible(item.media_type) or "type unknown"
    yield f"  {kind}, {item.size:,} bytes{when}"
    yield from _access(detail)
    if detail.blind:
        yield "\nIt is to be judged blind: decide from the file itself, without what phiscan found in it."
        yield from _decisions(detail)
        return
    if item.referral is None:
        yield f"\nIt was not screened: {source.outcome}, {source.reason}. {visible(source.detail)}".rstrip()
        return
    from phiscan.decision.reasons import sentences  # noqa: PLC0415 (imports the recognizers: half a second)

    if source.detail:
        yield f"  Note: {visible(source.detail)}."
    yield f"\nDecision: {item.referral}. {CASES.get(item.case, item.case).capitalize()}."
    if reasons := sentences(item.reasons):
        yield f"  Because {'; '.join(reasons)}."
    yield from _identifying(detail)
    yield from _health(detail)
    if probability:
        yield probability
    yield "  Detectors: " + ", ".join(f"{name} says {_DETECTOR_WORDS[phi]}" for name, phi in item.detectors)
    people = f"{item.n_people:,}{_interval(item)}" if item.n_people else "none named"
    yield f"  People at risk, an estimate: {people}. {_rank(item)}".rstrip()
    yield from _findings(detail.findings, limit)
    if samples := [part for part in detail.unread if part.is_sampled]:
        yield "\nRead in samples; what lies between them was left out:"
        yield from (f"  {visible(part.locator)}: {visible(part.detail)}" for part in samples)
    if unread := [part for part in detail.unread if not part.is_sampled]:
        yield "\nParts that could not be read, and so may hide more:"
        yield from (
            f"  {visible(part.locator)}: {part.reason}{f' ({visible(part.detail)})' if part.detail else ''}"
            for part in unread
        )
    yield from _decisions(detail)


def _access(detail: ItemDetail) -> Iterator[str]:
    """Yield owner and readers of the file; a share that is not mounted has no mode."""
    source = detail.source
    is_remote = "://" in detail.item.root
    owner = visible(source.owner) or ("unknown" if is_remote else str(source.uid))
    yield f"  owner {owner}" + ("" if is_remote else f", mode {source.mode & 0o7777:04o}")
    if source.readers:
        named = ", ".join(visible(reader) for reader in source.readers[:N_READERS])
        rest = len(source.readers) - N_READERS
        yield f"  may be read by {named}{f' and {rest} more' if rest > 0 else ''}"


def _interval(item: QueueItem) -> str:
    if item.people_interval is None:
        return ""
    low, high = item.people_interval
    return f" (95% interval {low:,} to {high:,})"


def _rank(item: QueueItem) -> str:
    return f"Risk in the queue: {item.risk:,.1f}." if item.referral is Referral.REFERRED else ""


def _identifying(detail: ItemDetail) -> Iterator[str]:
    item = detail.item
    yield f"  Identifiers: {', '.join(kinds_of(item.vector)) or 'none'}"
    if item.hamming == 0:
        yield "  Concept of PHI: satisfied; a person's name with an identifier or a venue"
    elif item.hamming is not None:
        details = "detail" if item.hamming == 1 else "details"
        lacking = ", ".join(bit.value for bit in item.missing)
        yield f"  Concept of PHI: lacks {item.hamming} identifying {details}, for example {lacking}"
    if item.nearest_prototype:
        distance = item.prototype_distance
        details = "detail" if distance == 1 else "details"
        name = visible(item.nearest_prototype)
        yield f"  Nearest stored example: {name}, {distance} {details} away"


def _health(detail: ItemDetail) -> Iterator[str]:
    item = detail.item
    if item.health_score is None:
        return
    side = "above" if item.health_score >= 0.5 else "below"  # noqa: PLR2004 (HealthScore: 0.5 = threshold)
    distance = detail.source.health_distance
    away = "" if distance is None else f", distance {distance:.3f}"
    near = f"; nearest example: {visible(item.health_prototype)}{away}" if item.health_prototype else ""
    yield f"  Health score: {item.health_score:.2f}, {side} its own threshold of 0.50{near}"
    if detail.terms:
        from phiscan.health.topics import label_of  # noqa: PLC0415 (imports the classifier)

        ordered = sorted(detail.terms, key=lambda term: (-term.count, term.concept))
        named = ", ".join(f"{visible(label_of(term.concept))} ({term.count})" for term in ordered[:N_TERMS])
        rest = len(ordered) - N_TERMS
        yield f"  Health terms: {named}{f' and {rest} more' if rest > 0 else ''}"


def _findings(findings: tuple[StoredFinding, ...], limit: int) -> Iterator[str]:
    if not findings:
        yield "\nNo findings: none were found, or none are kept of a file that nobody reviews."
        return
    kinds = Counter(SHORT[finding.entity_type] for finding in findings)
    word = "finding" if len(findings) == 1 else "findings"
    yield f"\n{len(findings):,} {word}: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
    shown = findings[: limit or None]
    for finding in shown:
        where = visible(finding.locator) or "text"
        yield (
            f"  {SHORT[finding.entity_type]:<20} {finding.preview}\n"
            f"    {where}, characters {finding.span.start:,} to {finding.span.end:,}; "
            f"score {finding.score:.2f}: {_steps(finding)}"
        )
    if len(shown) < len(findings):
        yield f"  and {len(findings) - len(shown):,} more; --limit 0 shows all"


def _steps(finding: StoredFinding) -> str:
    steps = [f"{step.kind} {visible(step.detail)} ({step.score:.2f})" for step in finding.reasons]
    return ", ".join(steps) or visible(finding.source)


def _decisions(detail: ItemDetail) -> Iterator[str]:
    if not detail.decisions:
        yield "\nNot decided yet."
        return
    yield "\nDecisions, oldest first:"
    for decision in detail.decisions:
        old = "" if decision.content_hash == detail.source.content_hash else "  (about an earlier content)"
        more = "; ".join(visible(text) for text in (decision.reason, decision.note) if text)
        yield (
            f"  {decision.decided:%Y-%m-%d %H:%M} UTC  {decision.verdict}  {visible(decision.reviewer)}"
            f"{'  ' + more if more else ''}{old}"
        )


def detail_json(detail: ItemDetail) -> dict[str, Any]:
    """Return everything about one file for programs; the machine's results of a blind item are null."""
    source = detail.source
    return {
        **item_json(detail.item),
        **(dict.fromkeys(("risk", "people", "findings")) if detail.blind else {}),
        "blind": detail.blind,
        "outcome": source.outcome,
        "reason": source.reason,
        "explanation": CASES.get(detail.item.case, detail.item.case),
        "mode": source.mode,
        "uid": source.uid,
        "owner": source.owner or None,
        "readers": list(source.readers),
        "mtime_ns": source.mtime_ns,
        "content_hash": source.content_hash,
        "characters": source.n_chars,
        "health_distance": source.health_distance,
        "found": [
            {
                "type": finding.entity_type,
                "shape": finding.preview,
                "locator": finding.locator,
                "start": finding.span.start,
                "end": finding.span.end,
                "score": finding.score,
                "source": finding.source,
                "reasons": [
                    {"kind": step.kind, "detail": step.detail, "score": step.score}
                    for step in finding.reasons
                ],
                "identity": finding.identity,
            }
            for finding in detail.findings
        ],
        "terms": [
            {"concept": term.concept, "count": term.count, "locator": term.locator} for term in detail.terms
        ],
        "unread": [
            {"locator": part.locator, "reason": part.reason, "detail": part.detail} for part in detail.unread
        ],
        "decisions": [
            {
                "verdict": decision.verdict,
                "reviewer": decision.reviewer,
                "reason": decision.reason,
                "note": decision.note,
                "decided": decision.decided.isoformat(),
                "standing": decision.content_hash == source.content_hash,
            }
            for decision in detail.decisions
        ],
    }
