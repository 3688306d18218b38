"""Screening: a document to its identifiers, its PII vector, and what it lacks to satisfy equation 4.

The phases run in the order of ``Phase``; what runs in each is the data of ``STEPS`` and of the recognizers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from itertools import chain

from phiscan.config import Config
from phiscan.formats.zpl_labels import bar_codes
from phiscan.model import Document, Finding, Screening
from phiscan.normalize.text_view import normalized
from phiscan.screen.attributes.named_roles import has_role, is_marked, mark_about_file, mark_roles
from phiscan.screen.attributes.professionals import mark_professionals
from phiscan.screen.case_variants import Known, findings_of_variants
from phiscan.screen.free_text import without_codes
from phiscan.screen.id_classifier.classifier import NumberModel, learned_numbers, load_numbers, with_types
from phiscan.screen.people_count import count_people
from phiscan.screen.prototypes import Prototype, load_prototypes, screening_of
from phiscan.screen.recognizer import Cost, FieldRecognizer, Recognizer
from phiscan.screen.recognizers.identifiers.table_numbers import checked_column_findings, row_codes
from phiscan.screen.recognizers.ocr import OcrNameRecognizer, OcrRecognizer, without_parts
from phiscan.screen.recognizers.person.recognizer import RuleNameRecognizer, build_name_recognizers
from phiscan.screen.resolution import resolve
from phiscan.screen.rules.definitions import load_sound_rules
from phiscan.screen.rules.recognizer import PatternRecognizer


class Phase(IntEnum):
    """When a step runs, after the recognizers: each phase sees the resolved findings of the one before."""

    RELATED = 1  # adds what lies near what was found: numbers of the same series
    NUMBERS = 2  # adds numbers that a learned model takes for identifiers
    REVISION = 3  # changes types and extents; adds nothing
    ATTRIBUTES = 4  # the role of a person: author, named for a role, health professional


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the steps read besides the findings: built once per document."""

    document: Document
    numbers: NumberModel | None

    @property
    def text(self) -> str:
        """The text of the document."""
        return self.document.text


_Run = Callable[[Evidence, Sequence[Finding]], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Step:
    """One step after the recognizers: its name, its phase, its cost, and what it does to the findings."""

    name: str
    phase: Phase
    cost: Cost
    run: _Run


def _classified(evidence: Evidence, found: Sequence[Finding]) -> Iterable[Finding]:
    return () if evidence.numbers is None else learned_numbers(evidence.document, found, evidence.numbers)


def _typed(evidence: Evidence, found: Sequence[Finding]) -> Iterable[Finding]:
    return found if evidence.numbers is None else with_types(evidence.text, found, evidence.numbers)


def _attributed(evidence: Evidence, found: Sequence[Finding]) -> Iterable[Finding]:
    authors = mark_about_file(evidence.document, found)
    return mark_roles(evidence.text, authors)


STEPS: tuple[Step, ...] = (
    Step(
        "identifiers.row_numbers",
        Phase.RELATED,
        Cost.CHEAP,
        lambda evidence, found: row_codes(evidence.text, found),
    ),
    Step("id_classifier", Phase.NUMBERS, Cost.EXPENSIVE, _classified),
    Step("id_classifier.types", Phase.REVISION, Cost.EXPENSIVE, _typed),
    Step("attributes.named_roles", Phase.ATTRIBUTES, Cost.CHEAP, _attributed),
    Step(
        "attributes.professionals",
        Phase.ATTRIBUTES,
        Cost.CHEAP,
        lambda evidence, found: mark_professionals(evidence.text, found),
    ),
)


@dataclass(frozen=True, slots=True)
class Screener:
    """Everything that ``screen`` needs, built once per process."""

    recognizers: tuple[Recognizer, ...]
    prototypes: tuple[Prototype, ...]
    numbers: NumberModel | None = None  # None: numbers are found by rules alone
    steps: tuple[Step, ...] = STEPS

    def without_names(self) -> Screener:
        """Return a screener without the expensive recognizers and steps (NER, id classifier)."""
        cheap = tuple(one for one in self.recognizers if one.cost is Cost.CHEAP)
        steps = tuple(one for one in self.steps if one.cost is Cost.CHEAP)
        return replace(self, recognizers=cheap, numbers=None, steps=steps)

    def strong_identifiers(self) -> Screener:
        """Return a screener for numbers with a check digit or a label, birth dates and fields of messages."""
        cheap = self.without_names().recognizers
        strong = tuple(one.strong if isinstance(one, PatternRecognizer) else one for one in cheap)
        return replace(self, recognizers=strong, numbers=None, steps=())


def build_screener(config: Config) -> Screener:
    """Read the rules (ours and the site's), the name lists and the prototypes.

    Raises:
        RuleError, DictionaryError, ModelError, ConfigError: naming the file and what was expected in it.
    """
    is_shipped = not config.extra_patterns and not config.name_pipeline
    recognizers = _shipped() if is_shipped else build_recognizers(config)
    return Screener(recognizers, load_prototypes(), load_numbers())


@cache
def _shipped() -> tuple[Recognizer, ...]:
    """Return the recognizers where a site added nothing of its own; forked processes share them."""
    return build_recognizers(Config())


def build_recognizers(config: Config) -> tuple[Recognizer, ...]:
    """Return all recognizers for a configuration; raises as ``build_screener`` does."""
    patterns = PatternRecognizer(load_sound_rules(config))
    misread = OcrRecognizer(patterns)
    columns = FieldRecognizer("identifiers.checked_columns", checked_column_findings)
    names = build_name_recognizers(config)
    ours = next(one for one in names if isinstance(one, RuleNameRecognizer))
    scanned = OcrNameRecognizer(ours, misread)
    return (patterns, misread, columns, *names, scanned)


def screen(document: Document, screener: Screener, known: Known | None = None) -> Screening:
    """Find the identifiers of a document and place it relative to the concept of equation 4.

    Findings are in text order and do not overlap; spans are half-open, in code points. ``known`` keeps what
    each recognizer finds from a first call for this document, by the cheap ones, to one by all.
    """
    meant = normalized(document)
    if meant is None:
        return _screen(document, screener, known)
    screening = _screen(meant.document, screener, known)
    return replace(screening, findings=tuple(meant.to_document(screening.findings)))


def _screen(document: Document, screener: Screener, known: Known | None = None) -> Screening:
    found = findings_of_variants(document, screener.recognizers, known)
    detected = resolve(without_parts(without_codes(document, chain(found, bar_codes(document)))))
    evidence = Evidence(document, screener.numbers)
    findings = run_steps(screener.steps, evidence, detected)
    people = [one for one in findings if not (is_marked(one) or has_role(one) or one.is_doubtful)]
    bits = (bit for finding in findings for bit in finding.bits)
    return screening_of(findings, bits, screener.prototypes, n_people=count_people(document, people))


def run_steps(
    steps: Iterable[Step], evidence: Evidence, findings: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Run steps phase by phase over resolved findings; return findings in text order, without overlaps.

    Within a phase that adds findings every step sees the same findings; one that changes them sees what the
    step before it left.
    """
    for phase, group in _by_phase(steps):
        if phase < Phase.REVISION:
            added = [finding for step in group for finding in step.run(evidence, findings)]
            findings = resolve([*findings, *added])
        else:
            for step in group:
                findings = tuple(step.run(evidence, findings))
    return findings


def _by_phase(steps: Iterable[Step]) -> Iterator[tuple[Phase, list[Step]]]:
    ordered = sorted(steps, key=lambda step: step.phase)  # stable: the order within a phase stays
    for phase in Phase:
        if group := [step for step in ordered if step.phase is phase]:
            yield phase, group
