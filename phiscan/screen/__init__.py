"""Screening: a document to its identifiers, its PII vector, and what it lacks to satisfy equation 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from phiscan.config import Config
from phiscan.model import Document, PiiVector, Screening, Span
from phiscan.screen.about_file import is_marked, mark_about_file
from phiscan.screen.addresses import address_tails
from phiscan.screen.age_units import with_units
from phiscan.screen.as_meant import as_meant
from phiscan.screen.bare_days import bare_days
from phiscan.screen.cards import CardRecognizer
from phiscan.screen.checked_columns import CheckedColumnRecognizer
from phiscan.screen.day_lines import day_lines
from phiscan.screen.dicom_dump import ListingRecognizer
from phiscan.screen.dicom_json import ModelRecognizer
from phiscan.screen.edifact import EdifactRecognizer
from phiscan.screen.free_text import without_codes
from phiscan.screen.gazetteer import load_gazetteer
from phiscan.screen.hl7 import Hl7Recognizer
from phiscan.screen.learned_numbers import NumberModel, learned_numbers, load_numbers, with_types
from phiscan.screen.line_codes import LineCodeRecognizer
from phiscan.screen.misread import MisreadRecognizer, without_parts
from phiscan.screen.misread_names import MisreadNameRecognizer
from phiscan.screen.names import RuleNameRecognizer, build_name_recognizers
from phiscan.screen.numbers_beside import numbers_beside
from phiscan.screen.organizations import OrganizationRecognizer
from phiscan.screen.overlap import resolve
from phiscan.screen.patterns import PatternRecognizer
from phiscan.screen.people import count_people
from phiscan.screen.professionals import mark_professionals
from phiscan.screen.prototypes import Prototype, lacking, load_prototypes, nearest
from phiscan.screen.readings import Recognizer, found_as_written, with_usual_capitals
from phiscan.screen.resource_ids import ResourceRecognizer
from phiscan.screen.roles import has_role, mark_roles
from phiscan.screen.row_codes import row_codes
from phiscan.screen.rule_files import load_sound_rules
from phiscan.screen.series import series
from phiscan.screen.spoken import left_over
from phiscan.screen.x12 import X12Recognizer
from phiscan.screen.zpl import bar_codes


@dataclass(frozen=True, slots=True)
class Screener:
    """Everything that ``screen`` needs, built once per process."""

    recognizers: tuple[Recognizer, ...]
    prototypes: tuple[Prototype, ...]
    numbers: NumberModel | None = None  # None: numbers are found by rules alone

    def without_names(self) -> Screener:
        """Return a screener without the expensive recognizers.

        These find names in running text, numbers by their surroundings, and what OCR misread.
        """
        kinds = (
            PatternRecognizer
            | OrganizationRecognizer
            | Hl7Recognizer
            | X12Recognizer
            | EdifactRecognizer
            | ListingRecognizer
            | ModelRecognizer
            | ResourceRecognizer
            | CardRecognizer
            | CheckedColumnRecognizer
            | LineCodeRecognizer
        )
        cheap = tuple(one for one in self.recognizers if isinstance(one, kinds))
        return replace(self, recognizers=cheap, numbers=None)


def build_screener(config: Config) -> Screener:
    """Read the rules (ours and the site's), the name lists and the prototypes.

    Raises:
        RuleError, DictionaryError, ModelError, ConfigError: naming the file and what was expected in it.
    """
    is_shipped = not config.extra_patterns and not config.name_pipeline
    return Screener(_shipped() if is_shipped else _recognizers(config), load_prototypes(), load_numbers())


@cache
def _shipped() -> tuple[Recognizer, ...]:
    """Return the recognizers where a site added nothing of its own; forked processes share them."""
    return _recognizers(Config())


def _recognizers(config: Config) -> tuple[Recognizer, ...]:
    patterns = PatternRecognizer(load_sound_rules(config))
    organizations = OrganizationRecognizer(load_gazetteer())
    misread = MisreadRecognizer(patterns, organizations)
    columns = CheckedColumnRecognizer()
    lines = LineCodeRecognizer()
    names = build_name_recognizers(config)
    ours = next(one for one in names if isinstance(one, RuleNameRecognizer))
    scanned = MisreadNameRecognizer(ours, misread)
    return (patterns, organizations, misread, columns, lines, *names, scanned)


def screen(document: Document, screener: Screener) -> Screening:
    """Find the identifiers of a document and place it relative to the concept of equation 4.

    Findings are in text order and do not overlap; spans are half-open, in code points.
    """
    meant = as_meant(document)
    if meant is None:
        return _screen(document, screener)
    screening = _screen(meant.document, screener, meant.spoken)
    return replace(screening, findings=tuple(meant.back(screening.findings)))


def _screen(document: Document, screener: Screener, spoken: Sequence[Span] = ()) -> Screening:
    found = found_as_written(document, screener.recognizers)
    standing = resolve(without_parts(without_codes(document, chain(found, bar_codes(document)))))
    tails = address_tails(document.text, standing, load_gazetteer())
    beside = (
        *numbers_beside(document.text, standing),
        *row_codes(document.text, standing),
        *series(document.text, standing),
        *day_lines(document.text, standing),
        *left_over(spoken, standing),
    )
    whole = resolve([*standing, *tails, *beside])
    whole = resolve([*whole, *bare_days(document.text, whole)])
    if screener.numbers is not None:
        whole = resolve([*whole, *learned_numbers(document, whole, screener.numbers)])
        whole = tuple(with_types(document.text, whole, screener.numbers))
    whole = tuple(with_units(document.text, whole))
    aside = mark_roles(with_usual_capitals(document, whole), mark_about_file(document, whole))
    findings = tuple(mark_professionals(document.text, aside))
    vector = PiiVector(frozenset(bit for finding in findings for bit in finding.bits))
    missing = lacking(vector)
    name, distance = nearest(vector, screener.prototypes)
    return Screening(
        findings=findings,
        vector=vector,
        hamming=len(missing),
        missing=missing,
        nearest_prototype=name,
        prototype_distance=distance,
        n_people=count_people(
            document,
            [one for one in findings if not (is_marked(one) or has_role(one) or one.is_doubtful)],
        ),
    )
