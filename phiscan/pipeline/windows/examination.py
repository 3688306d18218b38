"""Examine a long document in windows, as many as its budget allows; what each window says is joined.

The order: the beginning; then, unless that is referred, the passages and the windows that a cheap pass over
the whole text ranks highest; then a random order that the key decides. Reading ends when the file is referred
and enough windows of the random order were read to estimate its number of people, or when the budget in
characters is spent: both are the same on every machine. Processor time is a safety net far above them; even
without any left, the beginning, the passages and the highest ranked windows are examined.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from phiscan.config import Limits
from phiscan.health.file_evidence import DIRECT
from phiscan.health.term_lexicon import Lexicon
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
    Segment,
    Span,
    TermHit,
    UnreadPart,
)
from phiscan.patients.matching import merged
from phiscan.pipeline.file_names import Named, members_of, with_names
from phiscan.pipeline.windows.people_estimate import WindowCount, estimate_people, interval_of
from phiscan.pipeline.windows.ranking import rank_windows
from phiscan.pipeline.windows.text_windows import TextWindow, cut_window, window_ranges
from phiscan.screen import Screener
from phiscan.screen.prototypes import screening_of
from phiscan.store.identity import Key, keyed_hashes

LONG_CHARS = 200_000  # a longer text is examined in windows
N_RANKED = 16  # windows of the highest rank that are examined
N_SAMPLED = 12  # windows in random order that are enough once the file is referred
N_AT_LEAST = 3  # windows examined whatever processor time was used: the beginning and the highest ranked
MOST_FINDINGS = 5_000  # kept of one document
MOST_TERMS = 5_000
NOT_SCREENED = "#rest"
_PASSAGE = -1  # where a window has its number
# What one person has one of.
_OF_A_PERSON = frozenset(
    {
        EntityType.PERSON,
        EntityType.MRN,
        EntityType.HEALTH_CARD,
        EntityType.HEALTH_PLAN,
        EntityType.SIN,
        EntityType.SSN,
    }
)

Examine = Callable[[Document], tuple[Document, Examination]]


@dataclass(frozen=True, slots=True)
class WindowExamination:
    """The examination of a long document; its decision is that of the window on which its referral rests."""

    document: Document  # with the names that were read after its text, and what was not screened
    examination: Examination
    detail: str = ""  # how it was examined


@dataclass(frozen=True, slots=True)
class _Examined:
    """One window, as it was examined."""

    index: int
    window: TextWindow
    document: Document = field(repr=False)  # the window with the names that were put after it
    examination: Examination = field(repr=False)
    is_sampled: bool = False  # drawn at random
    is_passage: bool = False  # a few lines, which a window holds as well


@dataclass(frozen=True, slots=True)
class Budget:
    """What the examination of one document may cost."""

    n_chars: int
    processor_s: float
    clock: Callable[[], float] = time.process_time
    started: float = 0.0  # by the clock, when the file was begun

    @classmethod
    def of(cls, limits: Limits, started: float | None = None) -> Budget:
        """Return the budget of a file that was begun at ``started``, by the processor time here."""
        now = time.process_time() if started is None else started
        return cls(limits.screen_chars, limits.processor_s, started=now)

    def is_spent(self, n_chars: int, n_windows: int) -> bool:
        """Tell whether no further window is examined after so many."""
        if n_chars >= self.n_chars:
            return True
        return n_windows >= N_AT_LEAST and self.clock() - self.started >= self.processor_s


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
    document: Document,
    examine: Examine,
    *,
    names: Sequence[Named],
    lexicon: Lexicon,
    screener: Screener,
    key: Key,
    budget: Budget,
) -> WindowExamination:
    """Examine a long document in windows until its budget is spent or the evidence is enough.

    Args:
        document: its text is longer than ``LONG_CHARS``.
        examine: examines one window; may put names after its text.
        names: those that the file and its folders have.
        lexicon: the health terms and cues of the cheap pass.
        screener: its patterns are asked by the cheap pass, its prototypes by the joined vector.
        key: decides the random order and identifies equal values.
        budget: in characters and in processor time.
    """
    ranges = window_ranges(document)
    examined: list[_Examined] = []

    def add(index: int, start: int, end: int, *, is_sampled: bool = False) -> None:
        window = cut_window(document, start, end)
        one = _Examined(index, window, *examine(window.document), is_sampled, is_passage=index == _PASSAGE)
        if not one.is_passage or _has_own_identifier(one.examination.screening):
            examined.append(one)

    add(0, *ranges[0])
    chosen = {0}
    if not _is_referred(examined):
        ranking = rank_windows(document.text, ranges, lexicon, screener)
        for passage in ranking.passages:
            add(_PASSAGE, *passage)
        for index in ranking.windows[:N_RANKED]:
            if index in chosen:
                continue
            if budget.is_spent(*_spent(examined)) or (_is_referred(examined) and len(chosen) > 1):
                break
            chosen.add(index)
            add(index, *ranges[index])
    for index in _random_order(set(range(len(ranges))) - chosen, document.content_hash, key):
        if _is_enough(examined) or budget.is_spent(*_spent(examined)):
            break
        add(index, *ranges[index], is_sampled=True)
    return _joined(_Whole(document, len(ranges), names), examined, screener, key)


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


def _is_referred(examined: Iterable[_Examined]) -> bool:
    return any(one.examination.referral is Referral.REFERRED for one in examined)


def _is_enough(examined: Sequence[_Examined]) -> bool:
    return _is_referred(examined) and sum(one.is_sampled for one in examined) >= N_SAMPLED


@dataclass(frozen=True, slots=True)
class _Whole:
    """The document that was cut, and the names that its file and folders have."""

    document: Document
    n_windows: int
    names: Sequence[Named]


def _joined(source: _Whole, examined: Sequence[_Examined], screener: Screener, key: Key) -> WindowExamination:
    """Join what the windows say: all findings and bits, the strongest window's health score and referral."""
    document, windows = source.document, [one for one in examined if not one.is_passage]
    by_strength = sorted(examined, key=lambda one: strength(one.examination), reverse=True)
    best = by_strength[0]
    whole = _with_read_names(document, examined, source.names)
    findings, n_findings = _findings(whole, len(document.text), by_strength)
    bits = (bit for one in examined for finding in one.examination.screening.findings for bit in finding.bits)
    n_estimated = len(document.text) + document.n_chars_unread
    people = estimate_people([_count(one, key) for one in windows], n_estimated)
    # Passages that were read for their rank are no sample, but whoever is named in one is there.
    people = people.at_least(max(one.examination.screening.n_people for one in examined))
    screening = screening_of(
        findings, bits, screener.prototypes, n_people=people.n_people, people_interval=people.interval
    )
    n_read, n_windows = _spent(examined)
    detectors = _detectors(by_strength)
    passage = best.examination.decision.passage
    is_inside = passage is not None and passage.end <= len(best.window.document.text)
    # What was not referred and not read to its end is for the second list, so that it is never only a count.
    marked = n_read < len(document.text) or any(says for _, says in detectors)
    examination = replace(
        best.examination,
        screening=screening,
        health=replace(best.examination.health, terms=_terms(by_strength)),
        decision=replace(
            best.examination.decision,
            passage=best.window.in_whole(passage) if passage is not None and is_inside else None,
            second_look=marked and best.examination.referral is not Referral.REFERRED,
        ),
        detectors=detectors,
        detector_probabilities=_probabilities(by_strength),
        patients=_patients(examined),
    )
    if n_read < len(document.text):
        whole = replace(whole, unread=(*whole.unread, _not_screened(n_read, n_estimated)))
    said = [f"examined in {n_windows} of {source.n_windows} windows", interval_of(people)]
    if len(findings) < n_findings:
        said.append(f"{len(findings):,} of {n_findings:,} findings kept")
    detail = "; ".join(filter(None, said))
    return WindowExamination(whole, examination, detail)


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


def _findings(
    whole: Document, n_text_chars: int, by_strength: Sequence[_Examined]
) -> tuple[tuple[Finding, ...], int]:
    """Return the findings in whole-document offsets, the strongest windows' first if they are too many."""
    tail = {segment.locator: segment for segment in whole.segments if segment.start >= n_text_chars}
    found: dict[tuple[Span, str], Finding] = {}
    for one in by_strength:
        for finding in one.examination.screening.findings:
            span = _place(finding.span, one, tail)
            if span is not None:
                found.setdefault((span, finding.entity_type), replace(finding, span=span))
    kept = sorted(list(found.values())[:MOST_FINDINGS], key=lambda finding: finding.span)
    return tuple(kept), len(found)


def _place(span: Span, one: _Examined, tail: dict[str, Segment]) -> Span | None:
    if span.start < len(one.window.document.text):
        return one.window.in_whole(span)
    inner = next(segment for segment in one.document.segments if segment.start <= span.start < segment.end)
    outer = tail.get(inner.locator)
    if outer is None:
        return None
    return Span(span.start - inner.start + outer.start, span.end - inner.start + outer.start)


def _terms(by_strength: Sequence[_Examined]) -> tuple[TermHit, ...]:
    hits: dict[tuple[Span, str], TermHit] = {}  # windows and passages overlap
    for one in by_strength:
        for hit in one.examination.health.terms:
            span = one.window.in_whole(hit.span)
            if span is not None:
                hits[span, hit.concept] = TermHit(span, hit.concept)
        if len(hits) >= MOST_TERMS:
            break
    return tuple(sorted(list(hits.values())[:MOST_TERMS], key=lambda hit: hit.span))


def _patients(examined: Sequence[_Examined]) -> PatientCheck | None:
    """Join what the windows say of the organization's own patients, in whole-document offsets."""
    checks = []
    for one in examined:
        if (check := one.examination.patients) is not None:
            matches = [
                replace(match, span=span)
                for match in check.matches
                if (span := one.window.in_whole(match.span)) is not None
            ]
            checks.append(replace(check, matches=tuple(matches)))
    return merged(checks)


def _detectors(by_strength: Sequence[_Examined]) -> tuple[tuple[str, bool], ...]:
    """Return each detector's verdict on the document: yes if it says so of any window."""
    verdicts: dict[str, bool] = {}
    for one in by_strength:
        for name, says in one.examination.detectors:
            verdicts[name] = verdicts.get(name, False) or says
    return tuple(verdicts.items())


def _probabilities(by_strength: Sequence[_Examined]) -> tuple[tuple[str, float], ...]:
    """Return each detector's probability of the document: the highest of any window."""
    highest: dict[str, float] = {}
    for one in by_strength:
        for name, alone in one.examination.detector_probabilities:
            highest[name] = max(alone, highest.get(name, 0.0))
    return tuple(highest.items())


def _count(one: _Examined, key: Key) -> WindowCount:
    """Return what a window says of the number of people; equal names and numbers by their keyed hashes."""
    identities: defaultdict[str, set[str]] = defaultdict(set)
    values = [
        (finding.entity_type, finding.span.of(one.document.text))
        for finding in one.examination.screening.counted
        if finding.entity_type in _OF_A_PERSON
    ]
    for (kind, _), identity in zip(values, keyed_hashes(key, values), strict=True):
        identities[kind].add(identity)
    return WindowCount(
        n_people=one.examination.screening.n_people,
        n_chars=one.window.n_chars,
        identities={kind: frozenset(values) for kind, values in identities.items()},
        is_sampled=one.is_sampled,
    )


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


def _not_screened(n_read: int, n_chars: int) -> UnreadPart:
    """Return the part of a long text that no examined window holds, with its share of the whole."""
    share = 100 * (n_chars - n_read) / n_chars
    detail = f"not screened: {share:.0f} % of its text ({n_chars - n_read:,} of {n_chars:,} characters)"
    return UnreadPart(NOT_SCREENED, FailReason.SAMPLED, detail)
