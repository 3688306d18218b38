"""Reasons: each sentence that is shown is true of the passage, and its sign is that of its contribution."""

import contextlib
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.config import Config
from phiscan.decision.evidence import gather
from phiscan.decision.reasons import AGAINST, WORDS, sentences
from phiscan.errors import ExtractError
from phiscan.extract import extract
from phiscan.health.file_evidence import NAMES, RECORD
from phiscan.model import OWN_NAMES, Document, EntityType, Examination, Finding, SourceFile
from phiscan.pipeline.examine import examine
from phiscan.web.routes.item import why_words
from tests.decision.test_decide import engine, judged
from tests.screen.whole import plain

SAMPLE = Path(__file__).resolve().parents[2] / "sample_corpus"
NEAR_CHARS = 80
NAMED = (("Lena", "Okafor"), ("Marc", "Delisle"), ("Anna", "Rossi"), ("Ines", "Morel"), ("Paul", "Tremblay"))

PIECES = (
    "Lena Okafor",
    "Marc Delisle, MRN 40718823",
    "Dr. Priya Raman",
    "born 1951-03-14",
    "has congestive heart failure and type 2 diabetes",
    "takes methadone 40 mg daily",
    "biopsy positive for melanoma",
    "was discharged on 2024-03-02",
    "call 613-555-0142",
    "health card 3085-222-580-TU",
    "Riverside General Hospital",
    "The parking committee met on Tuesday",
    "Budget figures are in the shared folder",
    "name\tdate of birth\tdiagnosis\tward",
    "Ines Morel;asthma;4 West",
    "Anna Rossi,1948-03-07,J45,penicillin",
    "flu clinic dates are on the web site",
    "vaccination is recommended for everybody over 65",
)
texts = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", ", ", ". ", "\n", "\n\n", "\t"])),
    min_size=1,
    max_size=14,
).map(lambda parts: "".join(itertools.chain.from_iterable(parts)))


def facts(document: Document, examined: Examination) -> dict[tuple[str, bool], bool]:
    """Return which sentence, by input and whether it speaks against PHI, is true of the judged passage."""
    passage = examined.decision.passage
    assert passage is not None
    of_file = [one for one in examined.screening.findings if _is_own(document, one)]
    here = [one for one in examined.screening.findings if passage.start <= one.span.start < passage.end]
    here += [one for one in of_file if one not in here]
    evidence = gather(document, examined.screening, engine().classifier.lexicon)
    health = evidence.reading.health
    terms = [
        (start, end)
        for start, end in zip(health.starts.tolist(), health.ends.tolist(), strict=True)
        if passage.start <= start < passage.end
    ]
    names = [(low, high) for low, high in evidence.names if passage.start <= low < passage.end]  # no senders
    gaps = [max(start - high, low - end, 0) for low, high in names for start, end in terms]
    titled = any(one.bits & NAMES for one in of_file)
    born = any(one.entity_type is EntityType.DATE_OF_BIRTH for one in here)
    record = any(one.bits & RECORD for one in here)
    is_near = (titled and bool(terms)) or (bool(gaps) and min(gaps) <= NEAR_CHARS)
    return {
        ("name", False): bool(names) or titled,
        ("name", True): not names and not titled,
        ("full_name", False): bool(names) or titled,
        ("people", False): len(names) >= 2,
        ("name_by_health", False): is_near,
        ("name_by_clinical", False): is_near,
        ("short_text", False): bool(gaps) or titled,
        ("record_number", False): record,
        ("birth_date", False): born,
        ("date", False): any(one.entity_type is EntityType.DATE for one in here),
        ("professional", False): any(one.entity_type is EntityType.HEALTH_PROFESSIONAL for one in here),
        ("concepts", False): len(terms) >= 3,
        ("clinical", False): bool(terms),
        ("no_concept", True): len(terms) == 0 or not any(evidence.marks),
        ("person", False): bool(names) or titled or born or record,
        ("person", True): not (names or titled or born or record),
        ("person_and_words", False): bool(names) or titled or born or record,
        ("person_and_words", True): bool(names) or titled or born or record,
    }


def _is_own(document: Document, found: Finding) -> bool:
    return document.locate(found.span.start).endswith(OWN_NAMES)


def check(document: Document, examined: Examination) -> None:
    """Refuse a sentence that is not true of the judged passage, or does not say what its sign says."""
    reasons = [one for one in examined.decision.reasons if one[0] in WORDS]
    said = sentences(reasons)
    assert len(said) == len(reasons)
    true = facts(document, examined) if examined.decision.passage is not None else {}
    n_for = sum(weight > 0 for _, weight in reasons)
    assert [words.startswith(AGAINST) for words in said] == [number == n_for for number in range(len(said))]
    for name, weight in reasons:
        assert true.get((name, weight < 0), True), (name, weight, document.text[:2000])


@settings(max_examples=40, deadline=None)
@given(texts)
def test_a_shown_reason_is_true_of_generated_passages(text: str) -> None:
    check(plain(text), judged(text))


@pytest.mark.slow
def test_a_shown_reason_is_true_of_every_file_of_the_sample() -> None:
    n_checked = 0
    for path in sorted(SAMPLE.rglob("*")):
        if path.is_file() and path.suffix != ".png":
            source = SourceFile.of(str(SAMPLE).encode(), str(path.relative_to(SAMPLE)).encode(), path.lstat())
            with contextlib.suppress(ExtractError):
                document = extract(source, Config().limits, ())
                check(document, examine(document, engine()))
                n_checked += 1
    assert n_checked > 100


def test_a_list_of_patients_is_not_argued_against_by_its_length_or_layout() -> None:
    rows = "".join(f"{first} {last}\t1951-03-1{n}\tasthma\n" for n, (first, last) in enumerate(NAMED))
    reasons = judged(f"name\tborn\tdiagnosis\n{rows}").decision.reasons
    against = {name for name, weight in reasons if weight < 0}
    assert not against & {"people", "cells", "length", "organization"}


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        ([("words", 2.0), ("name", 1.0), ("no_concept", -0.5)], ": it is worded like a record of somebody's"),
        ([("no_concept", -0.5)], "PHI with 30% probability, but no health concept was recognized in it."),
    ],
)
def test_only_reasons_against_make_a_sentence_too(reasons: list[tuple[str, float]], expected: str) -> None:
    item = SimpleNamespace(reasons=tuple(reasons), probability=0.3)
    words = why_words(item)  # type: ignore[arg-type]
    assert expected in words
    assert "because but" not in words.lower()
    assert ": but" not in words
