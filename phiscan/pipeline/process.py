"""One file through all stages: extract, screen, classify, decide; and what is kept of it.

This is the only place where the stages meet, and the last place where document text exists: what
leaves ``process`` holds positions, types, masked shapes and keyed hashes.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from phiscan import extract
from phiscan.errors import ExtractError, origin
from phiscan.health.learning import LOG_ODDS, LOG_ODDS_SCALE, stored_patient_score
from phiscan.model import (
    OWN_NAMES,
    Document,
    Examination,
    FailReason,
    FileResult,
    HealthScore,
    Outcome,
    Referral,
    SourceFile,
    StoredFinding,
    StoredTerm,
)
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine_in_windows, examine_named, in_audit_sample
from phiscan.pipeline.file_names import Named, any_names_person, names_of
from phiscan.pipeline.processed import Processed
from phiscan.pipeline.signature import signature
from phiscan.pipeline.windows.examination import is_long, reasons_by_referral
from phiscan.store.identity import keyed_hashes, shape


def process(source: SourceFile, engine: Engine) -> Processed:
    """Take one file through all stages; every error becomes the file's recorded outcome.

    Never raises for what a file holds. The detail of an unexpected error is its type and the line of
    our code: its message could quote the document.
    """
    clock, started = _Clock(), time.process_time()
    try:
        names = names_of(source)
        if source.duplicates and (copy := _as_copy(source, names, engine)) is not None:
            clock.lap("extract")
            return Processed(replace(copy, seconds=clock.laps()), clock.laps())
        limits = replace(engine.limits, ocr_s=0.0) if source.without_ocr else engine.limits
        document = extract.extract(source, limits, engine.passwords)
        clock.lap("extract")
        result = _examined(source, document, names, engine, clock.lap, started)
        clock.lap("keep")
    except ExtractError as error:
        result = FileResult(source, Outcome.FAILED, reason=error.reason, detail=error.detail)
        clock.lap("extract")
    except MemoryError:
        result = FileResult(source, Outcome.FAILED, reason=FailReason.OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 (the per-file fault boundary)
        result = FileResult(source, Outcome.FAILED, reason=FailReason.CRASHED, detail=origin(error))
    laps = clock.laps()
    return Processed(replace(result, seconds=laps), laps)


def _examined(  # noqa: PLR0917 (a file on its way through one process)
    source: SourceFile,
    document: Document,
    names: Sequence[Named],
    engine: Engine,
    lap: Callable[[str], None],
    started: float,
) -> FileResult:
    """Examine a document and return what is kept of it; a long one is examined in windows."""
    if not is_long(document):
        document, examination = examine_named(document, names, engine, lap)
        return _keep(source, document, examination, engine)
    found = examine_in_windows(document, names, engine, lap, started)
    return _keep(source, found.document, found.examination, engine, found.detail)


def _as_copy(source: SourceFile, names: Sequence[Named], engine: Engine) -> FileResult | None:
    """Return the result of a file that is one of its duplicates; None when it must be screened."""
    try:
        content_hash, media_type, declared_type = extract.identify(source, engine.limits)
    except ExtractError:
        return None  # reading it says why
    if f"{content_hash} {media_type}" not in source.duplicates:
        return None
    if any_names_person(names, engine.screener):
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
    source: SourceFile,
    document: Document,
    examination: Examination,
    engine: Engine,
    detail: str = "",
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
        )
        for finding, (_, value), identity in zip(
            counted, values, keyed_hashes(engine.key, values), strict=True
        )
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
        evidence=(
            *examination.decision.evidence,
            *stored_patient_score(health.window, engine.classifier),
            (LOG_ODDS, round(LOG_ODDS_SCALE * examination.decision.log_odds)),
        ),
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
    counts: dict[str, int] = defaultdict(int)
    first: dict[str, StoredTerm] = {}
    for hit in health.terms:
        counts[hit.concept] += 1
        if hit.concept not in first:
            first[hit.concept] = StoredTerm(hit.concept, 0, hit.span, document.locate(hit.span.start))
    return tuple(
        StoredTerm(term.concept, counts[concept], term.first, term.locator) for concept, term in first.items()
    )
