"""One document through screening, health classification and the decision, by the cascade of costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from phiscan import decision, screen
from phiscan.health.classifier import classify, read_terms
from phiscan.health.detectors import detector_margins, is_dense, text_margin
from phiscan.health.features import Reading
from phiscan.model import (
    OWN_NAMES,
    Document,
    Examination,
    HealthScore,
    PatientCheck,
    Referral,
    Screening,
    Search,
)
from phiscan.patients.matching import log_odds_of
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.file_names import Named, any_names_person, members_of, with_names
from phiscan.pipeline.windows.examination import examine_windows, is_long, with_all_rows
from phiscan.store.identity import keyed_hash

_PLACES = 2**64  # in the random order that the key decides


Lap = Callable[[str], None]
"""Called with the name of each stage when the stage is done."""


def examine(document: Document, engine: Engine) -> Examination:
    """Screen and classify one document, and decide whether it is referred to review."""
    return examine_text(document, engine)[1]


def examine_text(
    document: Document,
    engine: Engine,
    names: Sequence[Named] = (),
    lap: Lap = lambda _stage: None,
    started: float | None = None,
) -> tuple[Document, Examination, str]:
    """Examine a document that lies under these names, a long one in windows.

    ``started``: processor time at which its file was begun. Returns it with those of the names that say who
    somebody is and with what was not read of it, its examination, and how a long one was examined.
    """
    if not is_long(document):
        named, examination = examine_named(document, names, engine, lap)
        if document.sampled_rows is not None:
            return with_all_rows(named, document, examination, engine.key)
        return named, examination, ""
    began = time.process_time() if started is None else started
    return examine_windows(document, names, engine, lambda one: examine_named(one, names, engine, lap), began)


def examine_named(
    document: Document, names: Sequence[Named], engine: Engine, lap: Lap = lambda _stage: None
) -> tuple[Document, Examination]:
    """Examine a document that lies under these names; return it with them if they say who somebody is."""
    classifier, decider = engine.classifier, engine.decider
    reading = read_terms(document, classifier)
    health = classify(document, classifier, reading)
    lap("health")
    content = document
    known: screen.Known = {}  # what the cheap recognizers found, so that none reads the text twice
    search, cheap = _cascade(document, health, reading, engine, known)
    lap("screen_cheap")
    is_cut = cheap is not None
    if cheap is not None:
        screening, gathered, patients = cheap
    else:
        document, screening = _screened(document, names, engine.screener, known)
        lap("screen_expensive")
        gathered = decider.gather(document, screening, classifier, reading if document is content else None)
        patients = _patients(document, screening, engine)
    # In what is cut A alone has what it needs. C judges how the content is written, never what it is called.
    text = None
    if not is_cut and document is content:
        text = _text_margin(gathered, engine)
    elif not is_cut:
        text = text_margin(content, screening, health, classifier)
    margins = detector_margins(content, screening, health, text)[: 1 if is_cut else None]
    detectors = decider.detectors.verdicts(margins)
    decided = decider.decide(
        document,
        screening,
        health,
        detectors,
        gathered,
        patient_log_odds=log_odds_of(patients),
        is_audited=decider.former is not None and in_audit_sample(document, engine),
    )
    alone = decider.detectors.probabilities(margins)
    lap("decide")
    if is_cut and decided.referral is Referral.CLEAR:
        decided = replace(decided, case="names_not_searched")
    return document, Examination(screening, health, decided, detectors, search, alone, patients)


def _cascade(
    document: Document, health: HealthScore, reading: Reading, engine: Engine, known: screen.Known
) -> tuple[Search, _Found | None]:
    """Return which recognizers read a document, and what was found where the expensive ones do not.

    First strong identifiers alone are looked for, then all that the cheap recognizers find, then names: each
    only where it could bring P(PHI) to the threshold or the document to the second list. Everything is
    looked for in a document of the audit sample, and in one that holds one of the organization's patients,
    whose index is compared with what the cheap recognizers find.
    """
    if engine.audit_share >= 1.0 or not document.content_hash:
        return Search.EVERYTHING, None
    found = None
    is_strong_only = engine.patients is None and not is_dense(document, health)
    if is_strong_only:
        found = _found(document, engine.screener.strong_identifiers(), reading, engine, known)
        is_strong_only = not _might_refer(found, health, engine, is_strong_only=True)
    if not is_strong_only:
        found = _found(document, engine.cheap_screener, reading, engine, known)
        if _might_refer(found, health, engine, is_strong_only=False) or (
            found[2] is not None and found[2].matches
        ):
            return Search.NEEDED, None
    if in_audit_sample(document, engine):
        return Search.AUDIT, None
    return Search.LEFT_OUT, found


_Found = tuple[Screening, decision.Gathered, PatientCheck | None]


def _found(
    document: Document, screener: screen.Screener, reading: Reading, engine: Engine, known: screen.Known
) -> _Found:
    """Return what a screener finds in a document, the evidence in it, and which patients match."""
    screening = screen.screen(document, screener, known)
    gathered = engine.decider.gather(document, screening, engine.classifier, reading)
    return screening, gathered, _patients(document, screening, engine)


def _might_refer(found: _Found, health: HealthScore, engine: Engine, *, is_strong_only: bool) -> bool:
    """Tell whether what was not looked for could bring a document to review or to the second list."""
    screening, gathered, _ = found
    margin = _text_margin(gathered, engine)
    return engine.decider.might_refer(
        gathered, health, screening.findings, margin, is_strong_only=is_strong_only
    )


def _text_margin(gathered: decision.Gathered, engine: Engine) -> float:
    """Return how far the text detector is above its shipped cut for the content that was gathered."""
    return gathered.text.document - engine.classifier.text_model.threshold


def _patients(document: Document, screening: Screening, engine: Engine) -> PatientCheck | None:
    """Compare a document with the organization's own patients; None without an index of them."""
    return None if engine.patients is None else engine.patients.check(document, screening.findings)


def _screened(
    document: Document, names: Sequence[Named], screener: screen.Screener, known: screen.Known
) -> tuple[Document, Screening]:
    """Screen a document with those names after it that say who somebody is; return it as it was screened.

    ``known``: what recognizers found in the document without any name after it.
    """
    members = members_of(document)
    if any_names_person(members, screener):
        document, known = with_names(document, members), {}
    if any_names_person(names, screener):
        named = with_names(document, names)
        screening = screen.screen(named, screener)
        # Otherwise the text says that it is nobody; and a result without them stands for equal contents.
        if any(named.locate(finding.span.start) in OWN_NAMES for finding in screening.counted):
            return named, screening
    return document, screen.screen(document, screener, known)


def in_audit_sample(document: Document, engine: Engine) -> bool:
    """Tell whether everything is computed for this content: a random order that the key decides.

    All three detectors run on this sample, so that their capture histories stand for the whole share.
    """
    if engine.audit_share >= 1.0 or not document.content_hash:
        return True
    place = int(keyed_hash(engine.key, "audit sample", document.content_hash)[:16], 16) / _PLACES
    return place < engine.audit_share
