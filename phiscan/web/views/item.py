"""The view of one item: location, reasons of the referral, masked context, history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from phiscan.decision.reasons import AGAINST, sentences
from phiscan.health.topics import CHAPTERS, label_of, topics
from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.model import EntityType, Reason, StoredFinding, StoredTerm
from phiscan.report.words import CASES, CHARACTERISTICS, DETECTORS, ENTITY_TYPES, FORMATS, part_detail
from phiscan.report.words import REASONS as OUTCOME_REASONS
from phiscan.review.decisions.corrections import ItemCorrections
from phiscan.review.worklist.model import (
    REASONS,
    FileRecord,
    GroupMember,
    HistoryEntry,
    WorkState,
)
from phiscan.visible import visible
from phiscan.web.routes.queue import place_words, verdict_words
from phiscan.web.views.plain_words import (
    SHORT,
    colour,
    locator_words,
    mode_letters,
    readers_by_mode,
)
from phiscan.web.work_query import ListQuery

MIN_GAP = 3  # code points: a shorter gap is a space or a comma


@dataclass(frozen=True, slots=True)
class Piece:
    """One element of a line: a finding's shape, a health concept, or a gap of masked text."""

    start: int
    kind: str  # a colour of plain_words, "term" or "gap"
    label: str
    shape: str = ""
    position: int | None = None  # of the finding among the file's findings


@dataclass(frozen=True, slots=True)
class MaskedLine:
    """The elements of one location, in text order."""

    where: str
    pieces: tuple[Piece, ...]


def count_places(findings: Sequence[StoredFinding], terms: Sequence[StoredTerm]) -> int:
    """Count the locations of a file with a finding or a health concept."""
    return len({found.locator for found in findings} | {term.locator for term in terms})


def masked_lines(
    findings: Sequence[StoredFinding],
    terms: Sequence[StoredTerm],
    *,
    most: int | None = None,
    most_findings: int | None = None,
) -> tuple[MaskedLine, ...]:
    """Return the lines of a file in text order: the first ``most`` of them, of its first ``most_findings``.

    Only the first occurrence of a health concept is stored, so it is shown once.
    """
    findings = findings[:most_findings]  # stored in text order
    placed = sorted(
        [(one.span.start, one.locator) for one in findings]
        + [(term.first.start, term.locator) for term in terms]
    )
    shown = frozenset(islice(dict.fromkeys(locator for _, locator in placed), most))
    marks: list[tuple[int, int, str, Piece]] = [
        (
            found.span.start,
            found.span.end,
            found.locator,
            Piece(
                found.span.start, colour(found.entity_type), SHORT[found.entity_type], found.preview, index
            ),
        )
        for index, found in enumerate(findings)
        if found.locator in shown
    ]
    marks += [
        (
            term.first.start,
            term.first.end,
            term.locator,
            Piece(term.first.start, "term", label_of(term.concept)),
        )
        for term in terms
        if term.locator in shown
    ]
    marks.sort(key=lambda mark: (mark[0], mark[1]))
    places: dict[str, list[tuple[int, int, Piece]]] = {}
    for start, end, locator, piece in marks:
        places.setdefault(locator, []).append((start, end, piece))
    return tuple(MaskedLine(locator_words(place), tuple(_spaced(found))) for place, found in places.items())


def _spaced(found: Sequence[tuple[int, int, Piece]]) -> Iterator[Piece]:
    reached: int | None = None
    for start, end, piece in found:
        if reached is not None and start - reached >= MIN_GAP:
            yield Piece(reached, "gap", f"{start - reached:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"))
        reached = max(end, reached or 0)
        yield piece


N_TERMS = 14  # health terms named; a long document has a hundred
MAX_MASKED_FINDINGS = 500  # findings shown at first; a page with 5,000 of them takes a second
MAX_MASKED_LINES = 40  # places shown at first; a list of patients has thousands
N_READERS = 4
MAX_SHOWN = 0.99  # above, a probability is shown as "over 99%"
MAX_NS = 2**62  # larger values are no valid file time

DONE: Mapping[str, str] = {
    "decide": lazy_gettext("decided"),
    "undo": lazy_gettext("undid a decision"),
    "assign": lazy_gettext("assigned it"),
    "second_verdict": lazy_gettext("decided blind"),
    "adjudicate": lazy_gettext("adjudicated it"),
    "reveal": lazy_gettext("revealed the text"),
    "correct": lazy_gettext("corrected a span"),
    "topic": lazy_gettext("corrected the topics"),
}


@dataclass(frozen=True, slots=True)
class DoneView:
    """One line of the history."""

    entry: HistoryEntry
    what: str
    verdict: str  # selects the colour
    reason: str


def item_view(
    item: FileRecord,
    *,
    query: ListQuery,
    corrections: ItemCorrections,
    history: Sequence[HistoryEntry],
    group: Sequence[GroupMember],
    token: str,
    position: int | None,
    all_places: bool,
) -> dict[str, Any]:
    """Return what the page of an item shows; nothing is read from the database.

    Args:
        item: the item, as far as the viewer may see it.
        query: the list that it was opened from.
        corrections: corrections of its spans and topics.
        history: its history.
        group: its near-duplicates, including itself.
        token: random text for the form, so that it is recorded once.
        position: the selected finding.
        all_places: show every location of the file, not only the first ones.
    """
    folder, _slash, name = item.path.rpartition("/")
    by_position = {one.position: one for one in corrections.spans if one.position is not None}
    terms = sorted(item.terms, key=lambda term: (-term.count, term.concept))
    found = item.findings
    close = position is not None and 0 <= position < len(found)
    verdict = "" if item.state is WorkState.UNDECIDED else item.state.value
    entries = tuple(_done(history))
    given = [one for one in entries if one.entry.verdict and not one.entry.is_undone]
    chapters = tuple(name for _first, _last, name in CHAPTERS)
    found_topics = topics(concept for term in item.terms for concept in [term.concept] * term.count)
    corrected = corrections.topics
    return {
        "item": item,
        "query": query,
        "name": visible(name),
        "folder": place_words(item.root, folder),
        "type": FORMATS.get(item.media_type, visible(item.media_type)) or _("type unknown"),
        "changed": moment_of(item.source.mtime_ns),
        "owner": visible(item.owner) or _("no. {number}", number=item.source.uid),
        "readers": _readers(item),
        "mode": mode_letters(item.source.mode),
        "decided": verdict,
        # The verdict that stands, if it was given for an identical file.
        "carried": next((one.entry for one in entries if one.entry.is_current and one.entry.path), None)
        if verdict
        else None,
        # The last verdict that does not stand for this item: on an earlier content, or an identical file.
        "earlier": None
        if verdict or item.blind
        else next((one for one in given if one.entry.path or not one.entry.same_content), None),
        "case": _sentence(str(CASES.get(item.case, item.case))),
        "why": why_words(item),
        "bits": tuple(label for bit, (label, _hipaa) in CHARACTERISTICS.items() if bit in item.vector.bits),
        "missing": tuple(CHARACTERISTICS[bit][0].lower() for bit in item.missing),
        "terms": tuple((label_of(term.concept), term.count) for term in terms[:N_TERMS]),
        "n_terms": len(terms),
        "detectors": tuple((name, is_phi, DETECTORS.get(name, "")) for name, is_phi in item.detectors),
        "outweighed": _outweighed(found),
        "masked": masked_lines(
            item.findings,
            item.terms,
            most=None if all_places else MAX_MASKED_LINES,
            most_findings=None if all_places else MAX_MASKED_FINDINGS,
        ),
        "n_masked": count_places(item.findings, item.terms),
        "is_cut": len(found) > MAX_MASKED_FINDINGS and not all_places,
        "finding": (position, found[position], by_position.get(position))
        if close and position is not None
        else None,
        "corrections": corrections,
        "judged": judged_positions(corrections),
        "missed": tuple(one for one in corrections.spans if one.position is None),
        "unread": tuple(
            (locator_words(part.locator), part.reason.value, OUTCOME_REASONS.get(part.reason, ""))
            for part in item.unread
            if not part.is_sampled
        ),
        "left_out": tuple(
            (locator_words(part.locator), part_detail(visible(part.detail)))
            for part in item.unread
            if part.is_sampled
        ),
        "topics": found_topics,
        "chapters": chapters,
        # The valid topics: those of a reviewer, of whom some are no chapters, else the machine's.
        "chosen_topics": {name for name, _n in found_topics} if corrected is None else set(corrected),
        "other_topics": [name for name in corrected or () if name not in chapters],
        "history": entries,
        "others": [one for one in group if one.file_id != item.file_id],
        "reasons": [(verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()],
        "kinds": [(kind.value, ENTITY_TYPES[kind]) for kind in EntityType],
        "token": token,
    }


def judged_positions(corrections: ItemCorrections) -> frozenset[int]:
    """Return the positions of the findings that were judged."""
    return frozenset(one.position for one in corrections.spans if one.position is not None)


def moment_of(mtime_ns: int) -> datetime | None:
    """Return a file's modification time, None if it is out of range."""
    return datetime.fromtimestamp(mtime_ns / 1e9, UTC) if abs(mtime_ns) < MAX_NS else None


def why_words(record: FileRecord) -> str:
    """Return one sentence with the probability of PHI and the strongest reasons of the referral."""
    given = sentences(record.reasons)
    if not given:
        return _sentence(str(CASES.get(record.case, record.case))) + "."
    probability = record.probability
    n_for = next((n for n, reason in enumerate(given) if reason.startswith(AGAINST)), len(given))
    in_favour, against = list(map(str, given[:n_for])), given[n_for:]
    begin = (
        _("Referred")
        if probability is None
        else _("PHI with {probability} probability", probability=probability_words(probability))
    )
    if in_favour:
        *first, last = in_favour
        begin += _(": {reasons}", reasons=_(" and ").join([", ".join(first), last] if first else [last]))
    return ", ".join([begin, *map(str, against)]) + "."


def probability_words(probability: float) -> str:
    """Return a probability in percent; never 0% or 100%.

    >>> probability_words(0.931), probability_words(0.9999), probability_words(0.0001)
    ('93%', 'over 99%', 'under 1%')
    """
    if probability > MAX_SHOWN:
        return _("over {share}", share=decimal(f"{MAX_SHOWN:.0%}"))
    return (
        _("under {share}", share=decimal("1%"))
        if probability < 1 - MAX_SHOWN
        else decimal(f"{probability:.0%}")
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _readers(item: FileRecord) -> str:
    """Return who may read a file: from the share's access list, else from its permission bits."""
    if not item.source.readers:
        return readers_by_mode(item.source.mode) or _("not known")
    if "everyone" in item.source.readers:
        return _("everyone with access to the share")
    named = [visible(reader) for reader in item.source.readers]
    more = len(named) - N_READERS
    return ", ".join(named[:N_READERS]) + (
        ngettext(" and {n} more", " and {n} more", more) if more > 0 else ""
    )


def _outweighed(found: Sequence[StoredFinding]) -> tuple[tuple[str, int], ...]:
    """Count the rejected candidates: by overlap with a better one, and by negative cues."""
    counted = Counter(
        against for finding in found for reason in finding.reasons if (against := _against(reason))
    )
    return tuple(counted.most_common(6))


def _against(reason: Reason) -> str:
    if reason.kind == "overlap":
        return visible(reason.detail)
    if reason.kind == "context" and reason.detail.startswith("not "):
        return _("words that say {detail}", detail=visible(reason.detail))
    return ""


def _done(history: Sequence[HistoryEntry]) -> Iterator[DoneView]:
    labels = {name: label for chosen in REASONS.values() for name, label in chosen}
    for entry in reversed(history):
        verdict = entry.verdict
        what = str(DONE.get(entry.what, entry.what))
        if verdict is not None:
            what += f": {verdict_words(verdict)}"
        yield DoneView(
            entry=entry,
            what=what,
            verdict=verdict.value if verdict and entry.is_current else "",
            reason=labels.get(entry.reason, visible(entry.reason)),
        )
