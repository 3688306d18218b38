"""Only rules whose values can begin behind a label are tried, and none that would find one is left out."""

from collections.abc import Sequence
from copy import copy
from functools import cache

import pytest

from phiscan.model import Document
from phiscan.screen.rules.definitions import Rule
from phiscan.screen.rules.files import load_rules
from phiscan.screen.rules.recognizer import PatternRecognizer
from phiscan.screen.rules.scanner import Evidence, Scanner
from phiscan.screen.rules.value_starts import ValueStarts

RULES = load_rules()


class _All(ValueStarts):
    """Every rule of a label is worth a try."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__(rules, ())

    def worth(self, text: str, end: int, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:  # noqa: ARG002 (the form of the other)
        return evidence


@cache
def _scanner() -> Scanner:
    return Scanner(RULES)


def labels(text: str) -> list[tuple[int, tuple[Evidence, ...]]]:
    places = _scanner().places(text, in_json=False)
    return [(place.end, place.evidence) for place in places if place.evidence]


@pytest.fixture(scope="module")
def few() -> PatternRecognizer:
    """Return our recognizer, for all tests: it takes a second to build."""
    return PatternRecognizer(RULES)


def test_the_findings_are_those_of_all_rules(few: PatternRecognizer) -> None:
    every = copy(few)
    every.starts = _All(RULES.rules)
    n_found = 0
    for rule in RULES.rules:
        for number, text in enumerate(map(str, (*rule.examples, *rule.counterexamples))):
            written = (text, text.upper(), f"le {text}, n° ({text})")[number % 3]
            document = Document(written, (), "text/plain")
            found = list(few.weigh(document))
            assert found == list(every.weigh(document)), rule.id
            n_found += len(found)
    assert n_found > len(RULES.rules)


@pytest.mark.parametrize(
    "text",
    [
        "Seen on 04/24/2021.",
        "DOB (yyyy-mm-dd): 2021-04-24",
        "DOB is the 3 March 1980",
        "Phone number : (416) 555-0199",
        "Téléphone n° 514 555-0199",
        "Employer: Élan Santé",
        "MRN # of the patient: A-12-4471",
    ],
)
def test_what_would_find_a_value_is_tried(few: PatternRecognizer, text: str) -> None:
    n_found = 0
    for end, evidence in labels(text):
        chosen = few.starts.possible(text, end, evidence)
        for item in evidence:
            if few.rules[item.rule].after_label.match(text, end):
                n_found += 1
                assert item in chosen
    assert n_found


def test_few_are_tried_where_no_value_stands(few: PatternRecognizer) -> None:
    text = "We went over it on 2 occasions, and the next 3 weeks will tell. Last 5 visits."
    starts = few.starts
    found = [(len(evidence), len(starts.possible(text, end, evidence))) for end, evidence in labels(text)]
    assert found
    assert sum(n for _, n in found) < sum(n for n, _ in found) / 4


def test_all_are_tried_behind_a_line_to_write_on(few: PatternRecognizer) -> None:
    text = f"DOB {'_' * 30} 1980-03-04"
    ((end, evidence),) = labels(text)
    assert few.starts.possible(text, end, evidence) == evidence
