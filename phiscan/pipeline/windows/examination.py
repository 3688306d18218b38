"""Examine a long document in windows, as many as its budget allows; what each window says is joined.

The order: the beginning; then, unless that is referred, the passages and the windows that a cheap pass over
the whole text ranks highest; then a random order that the key decides. Reading ends when the file is referred
and enough windows of the random order were read to estimate its number of people, or when the budget in
characters is spent: both are the same on every machine. Processor time is a safety net far above them; even
without any left, the beginning, the passages and the highest ranked windows are examined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import process_time
from typing import TypeVar

from phiscan.config import Limits
from phiscan.health.file_evidence import DIRECT
from phiscan.model import (
    OWN_NAMES,
    Document,
    EntityType,
    Examination,
    FailReason,
    Finding,
    PatientCheck,
    Referral,
    Screening,
    Span,
    TermHit,
    UnreadPart,
)
from phiscan.patients.matching import merged
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.file_names import Named, members_of, place_in, with_names
from phiscan.pipeline.windows.people_estimate import (
    PeopleEstimate,
    WindowCount,
    estimate_from_rows,
    estimate_people,
    interval_of,
)
from phiscan.pipeline.windows.ranking import rank_windows
from phiscan.pipeline.windows.text_windows import TextWindow, cut_window, moved, window_ranges
from phiscan.screen.people_count import count_people, name_key, names_of_people
from phiscan.screen.prototypes import screening_of
from phiscan.store.identity import Key, keyed_hashes

LONG_CHARS = 200_000  # a longer text is examined in windows
N_RANKED = 16  # windows of the highest rank that are examined
N_SAMPLED = 12  # windows in random order that are enough once the file is referred
N_AT_LEAST = 3  # windows examined whatever processor time was used: the beginning and the highest ranked
MOST_FINDINGS = 5_000  # kept of one document
MOST_TERMS = 5_000
NOT_SCREENED = "#rest"
NOT_DRAWN = "#rows"
_N_PIECES = 32  # of a short text of rows drawn at random, which are compared
_LEAST_PIECE = 500  # characters
# What one person has one of, besides a name.
_OF_A_PERSON = frozenset(
    {
        EntityType.MRN,
        EntityType.HEALTH_CARD,
        EntityType.HEALTH_PLAN,
        EntityType.SIN,
        EntityType.SSN,
    }
)

Examine = Callable[[Document], tuple[Document, Examination]]
V = TypeVar("V", bool, float)


@dataclass(frozen=True, slots=True)
class _Examined:
    """One window, as it was examined."""

    window: TextWindow
    document: Document = field(repr=False)  # the window with the names that were put after it
    examination: Examination = field(repr=False)
    is_sampled: bool = False  # drawn at random
    is_passage: bool = False  # a few lines, which a window holds as well

    def place_in(self, whole: Document, span: Span) -> Span | None:
        """Return where a place in the window, or in a name after it, is in the whole document."""
        if span.start < len(self.window.document.text):
            return self.window.in_whole(span)
        return place_in(whole, self.document, span)


def strength(examination: Examination) -> tuple[float, ...]:
    """Return how strongly a window speaks for a referral; the document's rests on the strongest."""
    return (
        examination.referral is Referral.REFERRED,
        examination.decision.log_odds + examination.decision.patient_log_odds,
        examination.health.score,
        len(examination.screening.vector.bits),
    )


def is_long(document: Document) -> bool:
    """Tell whether a document is examined in windows."""
    return len(document.text) > LONG_CHARS


def examine_windows(
    document: Document, names: Sequence[Named], engine: Engine, examine: Examine, started: float
) -> tuple[Document, Examination, str]:
    """Examine a long document in windows until its budget is spent or the evidence is enough.

    ``names``: those of the file and its folders; ``examine`` examines one window, and may put names after its
    text; ``started``: processor time at which the file was begun. Returns the document with the names that
    were read after its text and with what was not screened; its examination, whose decision is that of the
    window on which its referral rests; and how it was examined.
    """
    ranges = window_ranges(document)
    examined: list[_Examined] = []

    def add(place: tuple[int, int], *, is_sampled: bool = False, is_passage: bool = False) -> None:
        window = cut_window(document, *place)
        one = _Examined(window, *examine(window.document), is_sampled, is_passage)
        if not is_passage or _has_own_identifier(one.examination.screening):
            examined.append(one)

    add(ranges[0])
    chosen = {0}
    if not _is_referred(examined):
        ranking = rank_windows(document.text, ranges, engine.classifier.lexicon, engine.screener)
        for passage in ranking.passages:
            add(passage, is_passage=True)
        for index in ranking.windows[:N_RANKED]:
            if index in chosen:
                continue
            if _is_spent(examined, engine.limits, started) or (_is_referred(examined) and len(chosen) > 1):
                break
            chosen.add(index)
            add(ranges[index])
    for index in _random_order(set(range(len(ranges))) - chosen, document.content_hash, engine.key):
        if _is_enough(examined) or _is_spent(examined, engine.limits, started):
            break
        add(ranges[index], is_sampled=True)
    return _joined(document, names, examined, len(ranges), engine)


def _has_own_identifier(screening: Screening) -> bool:
    """Tell whether a passage holds what one person alone has.

    Many passages are looked at and each is short: among the entries of a bibliography some name and some
    illness always stand together.
    """
    is_born = any(finding.entity_type is EntityType.DATE_OF_BIRTH for finding in screening.counted)
    return is_born or bool(screening.vector.bits & DIRECT)


def _random_order(indices: Iterable[int], content_hash: str, key: Key) -> list[int]:
    found = list(indices)
    places = keyed_hashes(key, [("window", f"{content_hash} {index}") for index in found])
    return [index for _, index in sorted(zip(places, found, strict=True))]


def _spent(examined: Iterable[_Examined]) -> tuple[int, int]:
    """Return how many characters and windows were examined."""
    lengths = [one.window.n_chars for one in examined if not one.is_passage]
    return sum(lengths), len(lengths)


def _is_spent(examined: Iterable[_Examined], limits: Limits, started: float) -> bool:
    n_chars, n_windows = _spent(examined)
    is_late = n_windows >= N_AT_LEAST and process_time() - started >= limits.processor_s
    return n_chars >= limits.screen_chars or is_late


def _is_referred(examined: Iterable[_Examined]) -> bool:
    return any(one.examination.referral is Referral.REFERRED for one in examined)


def _is_enough(examined: Sequence[_Examined]) -> bool:
    return _is_referred(examined) and sum(one.is_sampled for one in examined) >= N_SAMPLED


def _joined(
    document: Document, names: Sequence[Named], examined: Sequence[_Examined], n_windows: int, engine: Engine
) -> tuple[Document, Examination, str]:
    """Join what the windows say: all findings and bits, the strongest window's health score and referral."""
    by_strength = sorted(examined, key=lambda one: strength(one.examination), reverse=True)
    found = [one.examination for one in by_strength]
    best, window = found[0], by_strength[0].window
    whole = _with_read_names(document, examined, names)
    findings, n_findings = _findings(whole, by_strength)
    bits = (bit for one in found for finding in one.screening.findings for bit in finding.bits)
    n_read, n_examined = _spent(examined)
    n_estimated = len(document.text) + document.n_chars_unread
    rows = document.sampled_rows
    counts = [
        _count(
            one.document,
            one.examination.screening.counted,
            n_people=one.examination.screening.n_people,
            n_chars=one.window.n_chars,
            is_sampled=one.is_sampled or (rows is not None and not one.window.start),
            key=engine.key,
        )
        for one in examined
        if not one.is_passage
    ]
    # Passages that were read for their rank are no sample, but whoever is named in one is there.
    people = _people(counts, n_estimated, rows).at_least(max(one.screening.n_people for one in found))
    detectors = _highest(pair for one in found for pair in one.detectors)
    passage = best.decision.passage
    if passage is not None:
        passage = window.in_whole(passage) if passage.end <= len(window.document.text) else None
    # What was not referred and not read to its end is for the second list, so that it is never only a count.
    marked = n_read < len(document.text) or rows is not None or any(says for _, says in detectors)
    is_referred = best.referral is Referral.REFERRED
    examination = replace(
        best,
        screening=screening_of(
            findings,
            bits,
            engine.screener.prototypes,
            n_people=people.n_people,
            people_interval=people.interval,
        ),
        health=replace(best.health, terms=_terms(by_strength)),
        decision=replace(best.decision, passage=passage, second_look=marked and not is_referred),
        detectors=detectors,
        detector_probabilities=_highest(pair for one in found for pair in one.detector_probabilities),
        patients=_patients(examined),
    )
    if n_read < len(document.text):
        whole = replace(whole, unread=(*whole.unread, _not_screened(n_read, n_estimated)))
    said = [f"examined in {n_examined} of {n_windows} windows", interval_of(people)]
    if len(findings) < n_findings:
        said.append(f"{len(findings):,} of {n_findings:,} findings kept")
    return whole, examination, "; ".join(filter(None, said))


def _with_read_names(document: Document, examined: Iterable[_Examined], names: Sequence[Named]) -> Document:
    """Return the document after whose text stand the names that were read with some window."""
    locators = {
        segment.locator
        for one in examined
        for segment in one.document.segments[len(one.window.document.segments) :]
    }
    own = bool(locators & set(OWN_NAMES))
    read = members_of(document) if locators - set(OWN_NAMES) else ()
    return with_names(document, (*read, *names) if own else read)


def _findings(whole: Document, by_strength: Sequence[_Examined]) -> tuple[tuple[Finding, ...], int]:
    """Return the findings in whole-document offsets, the strongest windows' first if they are too many."""
    found: dict[tuple[Span, str], Finding] = {}
    for one in by_strength:
        for finding in moved(one.examination.screening.findings, partial(one.place_in, whole)):
            found.setdefault((finding.span, finding.entity_type), finding)
    kept = sorted(list(found.values())[:MOST_FINDINGS], key=lambda finding: finding.span)
    return tuple(kept), len(found)


def _terms(by_strength: Sequence[_Examined]) -> tuple[TermHit, ...]:
    hits: dict[TermHit, None] = {}  # windows and passages overlap
    for one in by_strength:
        hits.update(dict.fromkeys(moved(one.examination.health.terms, one.window.in_whole)))
        if len(hits) >= MOST_TERMS:
            break
    return tuple(sorted(list(hits)[:MOST_TERMS], key=lambda hit: hit.span))


def _patients(examined: Sequence[_Examined]) -> PatientCheck | None:
    """Join what the windows say of the organization's own patients, in whole-document offsets."""
    checks = [
        replace(check, matches=tuple(moved(check.matches, one.window.in_whole)))
        for one in examined
        if (check := one.examination.patients) is not None
    ]
    return merged(checks)


def _highest(pairs: Iterable[tuple[str, V]]) -> tuple[tuple[str, V], ...]:
    """Return the highest value of each name: a detector's verdict or probability on its strongest window."""
    highest: dict[str, V] = {}
    for name, value in pairs:
        highest[name] = max(value, highest.get(name, value))
    return tuple(highest.items())


def with_all_rows(
    document: Document, content: Document, examination: Examination, key: Key
) -> tuple[Document, Examination, str]:
    """Return the examination of a short text of rows drawn at random, with the people of all rows.

    ``document``: the text as it was examined, with names after it; ``content``: without. Returns what
    ``examine_windows`` does.
    """
    counts = []
    counted = examination.screening.counted
    for start, end in window_ranges(content, max(len(content.text) // _N_PIECES, _LEAST_PIECE)):
        findings = [finding for finding in counted if start <= finding.span.start < end]
        n_people = count_people(document, findings)
        piece = _count(document, findings, n_people=n_people, n_chars=end - start, is_sampled=True, key=key)
        counts.append(piece)
    n_chars = len(content.text) + content.n_chars_unread
    people = _people(counts, n_chars, content.sampled_rows).at_least(examination.screening.n_people)
    screening = replace(examination.screening, n_people=people.n_people, people_interval=people.interval)
    is_referred = examination.referral is Referral.REFERRED
    decision = replace(examination.decision, second_look=not is_referred)
    return document, replace(examination, screening=screening, decision=decision), interval_of(people)


def _people(counts: Sequence[WindowCount], n_chars: int, rows: tuple[int, int] | None) -> PeopleEstimate:
    """Estimate the number of people in so many characters, or in the table of which they are a sample."""
    if rows is None:
        return estimate_people(counts, n_chars)
    n_rows, n_all = rows
    return estimate_from_rows(counts, round(n_chars * n_all / max(n_rows, 1)))


def _count(
    document: Document,
    findings: Sequence[Finding],
    *,
    n_people: int,
    n_chars: int,
    is_sampled: bool,
    key: Key,
) -> WindowCount:
    """Return what a window says of the number of people; equal names and numbers by their keyed hashes."""
    identities: defaultdict[str, set[str]] = defaultdict(set)
    names = map(name_key, names_of_people(document.text, findings))
    values = [(EntityType.PERSON, " ".join(name)) for name in names if name]
    values += [
        (finding.entity_type, finding.span.of(document.text))
        for finding in findings
        if finding.entity_type in _OF_A_PERSON
    ]
    for (kind, _), identity in zip(values, keyed_hashes(key, values), strict=True):
        identities[kind].add(identity)
    found = {kind: frozenset(values) for kind, values in identities.items()}
    return WindowCount(n_people, n_chars, found, is_sampled)


def reasons_by_referral(unread: Iterable[UnreadPart], referral: Referral) -> tuple[UnreadPart, ...]:
    """Return the unread parts of a file with the reasons that hold for its referral.

    A long text that is referred by its samples is read as far as it is meant to be. In one that is not
    referred, what was left out may still hold PHI: the limits were too small for it.
    """
    if referral is Referral.REFERRED:
        return tuple(unread)
    return tuple(
        replace(part, reason=FailReason.TOO_LARGE) if part.reason is FailReason.SAMPLED else part
        for part in unread
    )


def of_sample(document: Document, rows: tuple[int, int] | None) -> Document:
    """Return the text of a file of which some rows were fetched, with that named; None: it is whole."""
    if rows is None:
        return document
    n_rows, n_all = rows
    detail = f"a sample of {n_rows:,} of {n_all:,} rows was read"
    part = UnreadPart(NOT_DRAWN, FailReason.SAMPLED, detail)
    return replace(document, sampled_rows=rows, unread=(*document.unread, part))


def _not_screened(n_read: int, n_chars: int) -> UnreadPart:
    """Return the part of a long text that no examined window holds, with its share of the whole."""
    share = 100 * (n_chars - n_read) / n_chars
    detail = f"not screened: {share:.0f} % of its text ({n_chars - n_read:,} of {n_chars:,} characters)"
    return UnreadPart(NOT_SCREENED, FailReason.SAMPLED, detail)
