"""One file through all stages: extract, screen, classify, decide; and what is kept of it.

This is the only place where the stages meet, and the last place where document text exists: what
leaves ``process`` holds positions, types, masked shapes and keyed hashes.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from phiscan import decision, extract, screen
from phiscan import health as classify
from phiscan.config import Config, Limits
from phiscan.errors import ConfigError, ExtractError, origin
from phiscan.health.features import Reading
from phiscan.health.learned_versions import with_learned
from phiscan.health.learning import LOG_ODDS, LOG_ODDS_SCALE, stored_patient_score
from phiscan.model import (
    OWN_NAMES,
    Document,
    Examination,
    FailReason,
    FileResult,
    HealthScore,
    Outcome,
    PiiVector,
    Referral,
    Screening,
    Search,
    SourceFile,
    StoredFinding,
    StoredTerm,
)
from phiscan.patients.matching import Matcher, load_matcher, log_odds_of
from phiscan.patients.settings import load_settings
from phiscan.pipeline.file_names import Named, any_names_person, members_of, names_of, with_names
from phiscan.pipeline.second_names import place_in_order, second_verdict
from phiscan.pipeline.signature import signature
from phiscan.pipeline.windows.examination import Budget, WindowExamination, examine_windows, is_long
from phiscan.screen.ner.second_tagger import SecondNames
from phiscan.screen.prototypes import Prototype
from phiscan.store.identity import Key, keyed_hashes, load_key, shape


@dataclass(frozen=True, slots=True)
class Engine:
    """What one worker process holds: the stages, ready to run, and the key of the hashes."""

    screener: screen.Screener
    classifier: classify.Classifier
    decider: decision.Decider
    limits: Limits
    key: Key = field(repr=False)  # or the process that has it, for one that reads documents
    passwords: tuple[str, ...] = field(default=(), repr=False)
    audit_share: float = 1.0  # of the files; on the others the cascade leaves out what decides nothing
    second: SecondNames | None = None  # the second family of name recognizers; None = it is not asked
    patients: Matcher | None = None  # the organization's own patients; None = there is no index
    second_share: float = 0.0  # of the files, drawn at random; near misses are asked about besides

    @property
    def cheap_screener(self) -> screen.Screener:
        """The screener for what is not referred, whatever names it holds."""
        return self.screener.without_names()


@dataclass(frozen=True, slots=True)
class Processed:
    """One file's result and the seconds that each stage took (extract, screen, classify, store)."""

    result: FileResult
    seconds: tuple[tuple[str, float], ...]


def build_engine(config: Config, key: Key | None = None) -> Engine:
    """Load rules, dictionaries and models, and the key unless it is given; once per process.

    Raises:
        ConfigError, RuleError, DictionaryError, ModelError: the installation or configuration is unusable.
    """
    screener, classifier = screen.build_screener(config), classify.build_classifier(config)
    decider = decision.build_decider(config)
    if config.learned is not None:
        classifier, learned, line = with_learned(classifier, config.home, config.learned)
        found = (Prototype(item.name, PiiVector.from_int(item.vector)) for item in learned)
        screener = replace(screener, prototypes=(*screener.prototypes, *found))
        decider = replace(decider, calibration=line)
    return Engine(
        screener=screener,
        classifier=classifier,
        decider=decider,
        limits=config.limits,
        key=load_key(config.key_file) if key is None else key,
        passwords=read_passwords(config),
        audit_share=config.audit_share,
        patients=load_matcher(load_settings(config)),
        second=SecondNames.load() if config.second_names_share else None,
        second_share=config.second_names_share,
    )


def read_passwords(config: Config) -> tuple[str, ...]:
    """Return the operator's passwords for encrypted files, one per line of ``passwords_file``.

    Raises:
        ConfigError: the file cannot be read.
    """
    if not config.passwords_file:
        return ()
    try:
        lines = Path(config.passwords_file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{config.passwords_file}: passwords_file: cannot be read ({type(error).__name__})"
        raise ConfigError(message) from None
    return tuple(line for line in lines if line)


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
        return _examine(document, (), engine, lap)
    found = _in_windows(document, (), engine, lap, time.process_time())
    return found.document, found.examination


def _examine(
    document: Document, names: Sequence[Named], engine: Engine, lap: Callable[[str], None]
) -> tuple[Document, Examination]:
    """Examine a document that lies under these names; return it with them if they say who somebody is."""
    classifier, decider = engine.classifier, engine.decider
    reading = classify.read_terms(document, classifier)
    health = classify.classify(document, classifier, reading)
    lap("health")
    content = document
    search, cheap = _cascade(document, health, reading, engine)
    lap("screen_cheap")
    is_cut = cheap is not None
    if cheap is not None:
        screening, gathered = cheap
    else:
        document, screening = _screened(document, names, engine.screener)
        lap("screen_expensive")
        gathered = decider.gather(document, screening, classifier, reading if document is content else None)
    # In what is cut A and B see all that they need: A no names, B no health, so its verdict is no.
    # C judges how the content is written, never what it is called.
    text = None
    if not is_cut:
        text = (
            gathered.text_log_odds - classifier.text_model.threshold
            if document is content
            else classify.text_margin(content, screening, health, classifier)
        )
    margins = classify.margins(content, screening, health, text)
    detectors = decider.detectors.verdicts(margins)
    patients = None if engine.patients is None else engine.patients.check(document, screening.findings)
    decided = decider.decide(
        document, screening, health, detectors, gathered, patient_log_odds=log_odds_of(patients)
    )
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
    lap("decide")
    alone = decider.detectors.probabilities(margins)
    return document, Examination(screening, health, decided, detectors, search, alone, patients)


def _cascade(
    document: Document, health: HealthScore, reading: Reading, engine: Engine
) -> tuple[Search, tuple[Screening, decision.Gathered] | None]:
    """Return which recognizers read a document, and what the cheap ones found where they alone do.

    The expensive ones are left out where they could neither bring P(PHI) to the threshold nor detector B to
    a verdict, unless the document was drawn for the audit sample or holds one of the organization's patients.
    """
    if engine.audit_share >= 1.0 or not document.content_hash:
        return Search.EVERYTHING, None
    if health.by_concepts >= classify.HEALTH:
        return Search.NEEDED, None
    screening = screen.screen(document, engine.cheap_screener)
    gathered = engine.decider.gather(document, screening, engine.classifier, reading)
    margin = gathered.text_log_odds - engine.classifier.text_model.threshold
    if engine.decider.might_refer(gathered, health, screening.findings, margin):
        return Search.NEEDED, None
    if engine.patients is not None and engine.patients.check(document, screening.findings).matches:
        return Search.NEEDED, None
    if in_audit_sample(document, engine):
        return Search.AUDIT, None
    return Search.LEFT_OUT, (screening, gathered)


def _screened(
    document: Document, names: Sequence[Named], screener: screen.Screener
) -> tuple[Document, Screening]:
    """Screen a document with those names behind it that say who somebody is; return it as it was screened."""
    members = members_of(document)
    if any_names_person(members, screener):
        document = with_names(document, members)
    if any_names_person(names, screener):
        named = with_names(document, names)
        screening = screen.screen(named, screener)
        # Otherwise the text says that it is nobody; and a result without them stands for equal contents.
        if any(named.locate(finding.span.start) in OWN_NAMES for finding in screening.counted):
            return named, screening
    return document, screen.screen(document, screener)


def in_audit_sample(document: Document, engine: Engine) -> bool:
    """Tell whether everything is computed for this content: a random order that the key decides.

    All three detectors run on this sample, so that their capture histories stand for the whole share.
    """
    if engine.audit_share >= 1.0 or not document.content_hash:
        return True
    return place_in_order(document, engine.key) < engine.audit_share


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
        document = extract.extract(source, engine.limits, engine.passwords)
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
        document, examination = _examine(document, names, engine, lap)
        return _keep(source, document, examination, engine)
    found = _in_windows(document, names, engine, lap, started)
    return _keep(source, found.document, found.examination, engine, found.detail)


def _in_windows(
    document: Document,
    names: Sequence[Named],
    engine: Engine,
    lap: Callable[[str], None],
    started: float,
) -> WindowExamination:
    """Examine a long document in windows; ``started``: processor time at which its file was begun."""
    return examine_windows(
        document,
        lambda window: _examine(window, names, engine, lap),
        names=names,
        lexicon=engine.classifier.lexicon,
        screener=engine.screener,
        key=engine.key,
        budget=Budget.of(engine.limits, started),
    )


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
        unread=document.unread,
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
