"""One document through screening, health classification and the decision, by the cascade of costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from phiscan import decision, screen
from phiscan import health as classify
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
from phiscan.pipeline.second_names import place_in_order, second_verdict
from phiscan.pipeline.windows.examination import Budget, WindowExamination, examine_windows, is_long


def examine(
    document: Document, engine: Engine, *, lap: Callable[[str], None] = lambda _stage: None
) -> Examination:
    """Screen and classify one document, and decide whether it is referred to review.

    ``lap`` is called with the name of each stage when the stage is done.
    """
    return examine_text(document, engine, lap=lap)[1]


def examine_text(
    document: Document, engine: Engine, *, lap: Callable[[str], None] = lambda _stage: None
) -> tuple[Document, Examination]:
    """Examine a document as a scan does, a long one in windows; return it with what was not read of it."""
    if not is_long(document):
        return examine_named(document, (), engine, lap)
    found = examine_in_windows(document, (), engine, lap, time.process_time())
    return found.document, found.examination


def examine_named(
    document: Document, names: Sequence[Named], engine: Engine, lap: Callable[[str], None]
) -> tuple[Document, Examination]:
    """Examine a document that lies under these names; return it with them if they say who somebody is."""
    classifier, decider = engine.classifier, engine.decider
    reading = classify.read_terms(document, classifier)
    health = classify.classify(document, classifier, reading)
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
    # In what is cut A and B see all that they need: A no names, B no health, so its verdict is no.
    # C judges how the content is written, never what it is called.
    text = None
    if not is_cut:
        text = (
            _text_margin(gathered, engine)
            if document is content
            else classify.text_margin(content, screening, health, classifier)
        )
    margins = classify.margins(content, screening, health, text)
    detectors = decider.detectors.verdicts(margins)
    decided = decider.decide(
        document, screening, health, detectors, gathered, patient_log_odds=log_odds_of(patients)
    )
    alone = decider.detectors.probabilities(margins)
    lap("decide")
    if is_cut:
        if decided.referral is Referral.CLEAR:
            decided = replace(decided, case="names_not_searched")
    else:
        detectors += second_verdict(
            document,
            health,
            is_near_miss=lambda: decider.lacks_only_a_name(gathered, health, decided),
            second=engine.second,
            # Within the audit sample, so that all lists are known of what is drawn.
            share=min(engine.second_share, engine.audit_share),
            key=engine.key,
        )
        lap("second_names")
    return document, Examination(screening, health, decided, detectors, search, alone, patients)


def _cascade(
    document: Document, health: HealthScore, reading: Reading, engine: Engine, known: screen.Known
) -> tuple[Search, tuple[Screening, decision.Gathered, PatientCheck | None] | None]:
    """Return which recognizers read a document, and what the cheap ones found where they alone do.

    The expensive ones are left out where they could neither bring P(PHI) to the threshold nor detector B to
    a verdict, unless the document was drawn for the audit sample or holds one of the organization's patients.
    """
    if engine.audit_share >= 1.0 or not document.content_hash:
        return Search.EVERYTHING, None
    if health.by_concepts >= classify.HEALTH:
        return Search.NEEDED, None
    screening = screen.screen(document, engine.cheap_screener, known)
    gathered = engine.decider.gather(document, screening, engine.classifier, reading)
    margin = _text_margin(gathered, engine)
    if engine.decider.might_refer(gathered, health, screening.findings, margin):
        return Search.NEEDED, None
    patients = _patients(document, screening, engine)
    if patients is not None and patients.matches:
        return Search.NEEDED, None
    if in_audit_sample(document, engine):
        return Search.AUDIT, None
    return Search.LEFT_OUT, (screening, gathered, patients)


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
    return place_in_order(document, engine.key) < engine.audit_share


def examine_in_windows(
    document: Document,
    names: Sequence[Named],
    engine: Engine,
    lap: Callable[[str], None],
    started: float,
) -> WindowExamination:
    """Examine a long document in windows; ``started``: processor time at which its file was begun."""
    return examine_windows(
        document,
        lambda window: examine_named(window, names, engine, lap),
        names=names,
        lexicon=engine.classifier.lexicon,
        screener=engine.screener,
        key=engine.key,
        budget=Budget.of(engine.limits, started),
    )
