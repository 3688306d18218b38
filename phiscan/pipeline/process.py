"""One file through all stages: extract, screen, classify, decide; and what is kept of it.

This is the only place where the stages meet, and the last place where document text exists: what
leaves ``process`` holds positions, types, masked shapes and keyed hashes.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from phiscan import extract
from phiscan.decision.decide import PATH_CASE
from phiscan.errors import ExtractError, kind_of, origin
from phiscan.health.file_evidence import CONTACT, DIRECT, NAMES
from phiscan.model import (
    NOT_COVERED,
    OWN_NAMES,
    Document,
    EntityType,
    Examination,
    FailReason,
    FileResult,
    HealthScore,
    Outcome,
    PiiBit,
    Referral,
    SourceFile,
    StoredFinding,
    StoredTerm,
)
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import Lap, examine_text, in_audit_sample
from phiscan.pipeline.file_names import Named, any_names_person, names_of, unread_document
from phiscan.pipeline.path_examination import examine_path, examine_titled, is_titled, joined
from phiscan.pipeline.signature import signature
from phiscan.pipeline.windows.examination import of_sample, reasons_by_referral
from phiscan.store.identity import MOST_WORDS, N_WORD_BYTES, WORD, keyed_hashes, shape, words_of_name
from phiscan.text.languages import detect_language

_IDENTIFYING = NAMES | DIRECT | CONTACT | {PiiBit.DATE}
_NAMED = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}
_LABELLED = re.compile(r"\w[ \t]?[:\uff1a](?!//)[ \t]*\w")
_NUMBER = re.compile(r"\d+")
_LABEL_CHARS = 20_000  # of a text that are looked at
_MIN_NUMBERS = 2


def process(source: SourceFile, engine: Engine) -> FileResult:
    """Take one file through all stages; every error becomes the file's recorded outcome.

    Never raises for what a file holds. The detail of an unexpected error is its type and the line of
    our code: its message could quote the document.
    """
    clock, started = _Clock(), time.process_time()
    try:
        names = names_of(source)
        if source.unopened:
            result = _by_name(FileResult.of_unopened(source), (), engine)
            clock.lap("names")
            return replace(result, seconds=clock.laps())
        # A sample stands for all rows of its table, an equal content for itself.
        is_whole = source.sampled_rows is None
        if is_whole and source.duplicates and (copy := _as_copy(source, names, engine)) is not None:
            clock.lap("extract")
            return replace(copy, seconds=clock.laps())
        limits = replace(engine.limits, ocr_s=0.0) if source.without_ocr else engine.limits
        document = of_sample(extract.extract(source, limits, engine.passwords), source.sampled_rows)
        clock.lap("extract")
        result = _examined(source, document, names, engine, clock.lap, started)
        clock.lap("keep")
    except ExtractError as error:
        clock.lap("extract")
        failed = FileResult(source, Outcome.FAILED, reason=error.reason, detail=error.detail)
        result = _by_name(failed, error.members, engine)
        clock.lap("names")
    except MemoryError:
        result = FileResult(source, Outcome.FAILED, reason=FailReason.OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 (the per-file fault boundary)
        said = origin(error, kind_of(error))
        result = FileResult(source, Outcome.FAILED, reason=FailReason.CRASHED, detail=said)
    return replace(result, seconds=clock.laps())


def _examined(  # noqa: PLR0917 (a file on its way through one process)
    source: SourceFile, document: Document, names: Sequence[Named], engine: Engine, lap: Lap, started: float
) -> FileResult:
    """Examine a document and return what is kept of it; a long one is examined in windows.

    What is not referred by its content may be by its names.
    """
    language = detect_language(document.text)
    lap("language")
    named, examination, detail = examine_text(document, engine, names, lap, started)
    by_name = None
    if examination.referral is not Referral.REFERRED:
        by_name = examine_path(document, source, engine) or examine_titled(document, source, engine)
        lap("names")
    if by_name is not None:
        named = replace(by_name[0], unread=named.unread)
        examination = joined(examination, by_name[1], document, named, engine)
    elif not language.covered and examination.referral is not Referral.REFERRED:
        marked = examination.decision.second_look or _looks_like_a_record(document.text, examination)
        decided = replace(examination.decision, second_look=marked, case=NOT_COVERED)
        examination = replace(examination, decision=decided)
    result = _keep(source, named, examination, engine, detail)
    is_by_name = examination.decision.case == PATH_CASE
    return replace(
        result,
        by_name=is_by_name,
        language=language.code,
        covered=language.covered,
        labels=document.labels,
    )


def _by_name(result: FileResult, members: tuple[str, ...], engine: Engine) -> FileResult:
    """Return the result of a file without content, referred if what it is called does so."""
    found = examine_path(Document("", (), "", members=members), result.source, engine)
    if found is None:
        return result
    return replace(
        _keep(result.source, *found, engine),
        outcome=result.outcome,
        reason=result.reason,
        detail=result.detail,
        content_hash=unread_document(result.source, members).content_hash,
        signature=b"",  # many a name is like another, and no form letter
        search=None,
        by_name=True,
    )


def _looks_like_a_record(text: str, examination: Examination) -> bool:
    """Tell whether a text in a language that is not read has identifiers, labels or numbers."""
    return (
        any(finding.bits & _IDENTIFYING for finding in examination.screening.findings)
        or _LABELLED.search(text, 0, _LABEL_CHARS) is not None
        or len(_NUMBER.findall(text, 0, _LABEL_CHARS)) >= _MIN_NUMBERS
    )


def _as_copy(source: SourceFile, names: Sequence[Named], engine: Engine) -> FileResult | None:
    """Return the result of a file that is one of its duplicates; None when it must be screened."""
    try:
        content_hash, media_type, declared_type = extract.identify(source, engine.limits)
    except ExtractError:
        return None  # reading it says why
    if f"{content_hash} {media_type}" not in source.duplicates:
        return None
    is_named = any_names_person(names, engine.screener) or is_titled(source, engine)
    if is_named or examine_path(Document("", (), ""), source, engine) is not None:
        return None
    return FileResult(
        source,
        Outcome.SCREENED,
        detail=_promised(declared_type),
        content_hash=content_hash,
        media_type=media_type,
        is_copy=True,
    )


class _Clock:
    """Adds up the seconds of each stage."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self._laps[stage] = self._laps.get(stage, 0.0) + now - self._last
        self._last = now

    def laps(self) -> tuple[tuple[str, float], ...]:
        return tuple(self._laps.items())


def _keep(
    source: SourceFile, document: Document, examination: Examination, engine: Engine, detail: str = ""
) -> FileResult:
    """Reduce a document and its examination to what the review store may hold."""
    screening, health, patients = examination.screening, examination.health, examination.patients
    # Of what nobody will look at, the counts by type are enough; but a name of the file says that its result
    # stands for no other file of the same content.
    is_used = (
        examination.referral is Referral.REFERRED
        or examination.decision.second_look
        or in_audit_sample(document, engine)
    )
    counted = [  # prose would fill the store with doubtful names
        finding
        for finding in screening.counted
        if is_used or document.locate(finding.span.start) in OWN_NAMES
    ]
    values = [(finding.entity_type, finding.span.of(document.text)) for finding in counted]
    names = [words_of_name(value) if kind in _NAMED else [] for kind, value in values]
    # One request to the process with the key; of each word, however often it comes.
    words = sorted({word for name in names for word in name})
    hashed = keyed_hashes(engine.key, [*values, *((WORD, word) for word in words)])
    short = (bytes.fromhex(one)[:N_WORD_BYTES] for one in hashed[len(values) :])
    word_hash = dict(zip(words, short, strict=True))
    findings = [
        StoredFinding(
            span=finding.span,
            locator=document.locate(finding.span.start),
            entity_type=finding.entity_type,
            source=finding.source,
            score=finding.score,
            reasons=finding.reasons,
            preview=shape(value),
            identity=identity,
            words=b"".join(word_hash[word] for word in name[:MOST_WORDS]),
        )
        for finding, (_, value), name, identity in zip(counted, values, names, hashed, strict=False)
    ]
    return FileResult(
        source=source,
        outcome=Outcome.SCREENED,
        detail="; ".join(filter(None, (_promised(document.declared_type), detail))),
        media_type=document.media_type,
        content_hash=document.content_hash,
        unread=reasons_by_referral(document.unread, examination.referral),
        n_chars=len(document.text),
        vector=screening.vector,
        hamming=screening.hamming,
        missing=screening.missing,
        nearest_prototype=screening.nearest_prototype,
        prototype_distance=screening.prototype_distance,
        n_people=max(screening.n_people, patients.n_patients if patients else 0),
        people_interval=screening.people_interval,
        patients=patients,
        health_score=health.score,
        health_distance=health.distance,
        health_prototype=health.nearest_prototype,
        referral=examination.referral,
        case=examination.case,
        probability=examination.decision.probability,
        reasons=examination.decision.reasons,
        second_look=examination.decision.second_look,
        detectors=examination.detectors,
        detector_probabilities=examination.detector_probabilities,
        findings=tuple(findings),
        terms=_count_terms(document, health),
        window=health.window,
        # That of files that nobody looks at and that hold no health term is not needed to learn or to judge.
        evidence=examination.decision.evidence if is_used or health.window is not None else (),
        signature=signature(document.text, engine.key, [found.span for found in findings])
        if examination.referral is Referral.REFERRED
        else b"",
        search=examination.search,
        finding_counts=tuple(sorted(Counter(one.entity_type.value for one in screening.counted).items())),
    )


def _promised(declared_type: str) -> str:
    """Say what a name promises that its content is not: a .jpg that is a ZIP is worth an officer's look."""
    return f"the name promises {declared_type}" if declared_type else ""


def _count_terms(document: Document, health: HealthScore) -> tuple[StoredTerm, ...]:
    """Gather the occurrences of each concept, in order of first appearance."""
    counts = Counter(hit.concept for hit in health.terms)
    first = {hit.concept: hit.span for hit in reversed(health.terms)}
    return tuple(
        StoredTerm(concept, n, first[concept], document.locate(first[concept].start))
        for concept, n in counts.items()
    )
