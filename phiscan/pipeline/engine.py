"""One file through all stages: extract, screen, classify, decide; and what is kept of it.

This is the only place where the stages meet, and the last place where document text exists: what
leaves ``process`` holds positions, types, masked shapes and keyed hashes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from phiscan import decision, extract, screen
from phiscan import health as classify
from phiscan.config import Config, Limits
from phiscan.errors import ConfigError, ExtractError, origin
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
    SourceFile,
    StoredFinding,
    StoredTerm,
)
from phiscan.pipeline.file_names import Named, any_names_person, members_of, names_of, with_names
from phiscan.pipeline.second_names import place_in_order, second_verdict
from phiscan.pipeline.signature import signature
from phiscan.pipeline.windows.examination import Budget, examine_windows, is_long
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
    return _examine(document, (), engine, lap)[1]


def _examine(
    document: Document, names: Sequence[Named], engine: Engine, lap: Callable[[str], None]
) -> tuple[Document, Examination]:
    """Examine a document that lies under these names; return it with them if they say who somebody is."""
    health = classify.classify(document, engine.classifier)
    lap("classify")
    read = document
    cut = False
    # The cascade: names are not searched where none could bring P(PHI) to the threshold, nor B to a verdict.
    if health.by_concepts < classify.HINT and not in_audit_sample(document, engine):
        screening = screen.screen(document, engine.cheap_screener)
        cut = not engine.decider.might_refer(document, screening, engine.classifier)
    if not cut:
        document, screening = _screened(document, names, engine.screener)
    lap("screen")
    # In what is cut A and B see all that they need: A no names, B no health, so its verdict is no.
    # C judges how the content is written, never what it is called.
    detectors = classify.detect(read, screening, health, None if cut else engine.classifier)
    layout = classify.is_laid_out_as_a_record(detectors)
    decided = engine.decider.decide(document, screening, health, detectors, engine.classifier)
    if cut:
        if decided.referral is Referral.CLEAR:
            decided = replace(decided, case="names_not_searched")
    else:
        detectors += second_verdict(
            document,
            screening,
            health,
            layout=layout,
            second=engine.second,
            # Within the audit sample, so that all lists are known of what is drawn.
            share=min(engine.second_share, engine.audit_share),
            key=engine.key,
        )
    lap("classify")
    return document, Examination(screening, health, decided, detectors)


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
            return Processed(copy, clock.laps())
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
    return Processed(result, clock.laps())


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
    found = examine_windows(
        document,
        lambda window: _examine(window, names, engine, lap),
        names=names,
        lexicon=engine.classifier.lexicon,
        screener=engine.screener,
        key=engine.key,
        budget=Budget.of(engine.limits, started),
    )
    return _keep(source, found.document, found.examination, engine, found.strongest, found.detail)


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


def _keep(  # noqa: PLR0917 (see _examined)
    source: SourceFile,
    document: Document,
    examination: Examination,
    engine: Engine,
    strongest: tuple[Document, Examination] | None = None,
    detail: str = "",
) -> FileResult:
    """Reduce a document and its examination to what the review store may hold.

    ``strongest``: the part of the document on which its referral rests; None = all of it.
    """
    screening, health = examination.screening, examination.health
    part, of_part = strongest or (document, examination)
    counted = screening.counted  # prose would fill the store with doubtful names
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
        n_people=screening.n_people,
        health_score=health.score,
        health_distance=health.distance,
        health_prototype=health.nearest_prototype,
        referral=examination.referral,
        case=examination.case,
        probability=examination.decision.probability,
        reasons=examination.decision.reasons,
        second_look=examination.decision.second_look,
        detectors=examination.detectors,
        findings=tuple(findings),
        terms=_count_terms(document, health),
        window=health.window,
        evidence=(
            *classify.weigh(
                part,
                of_part.screening,
                of_part.health,
                layout=classify.is_laid_out_as_a_record(of_part.detectors),
            ).kept(),
            *stored_patient_score(health.window, engine.classifier),
            (LOG_ODDS, round(LOG_ODDS_SCALE * examination.decision.log_odds)),
        ),
        signature=signature(document.text, engine.key) if examination.referral is Referral.REFERRED else b"",
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
