"""The decision on texts as they lie on a share: sentences, tables, mails with what stands around them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.decision import build_decider, sentences
from phiscan.decision.decided_examples import (
    LOG_ODDS,
    NOTHING_LEARNED,
    SCALE,
    DecidedExamples,
    LearnedDecision,
    point_of,
)
from phiscan.decision.reasons import FORMER_VERSION, MESSAGES, N_AGAINST, N_FOR, WORDS
from phiscan.extract import extract
from phiscan.health.classifier import build_classifier
from phiscan.health.patient_classifier import probability_of
from phiscan.model import Document, Examination, Referral, Segment, SourceFile
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine
from phiscan.screen import build_screener

KEY = b"k" * 32
BUGS = Path(__file__).resolve().parents[3] / "shared" / "bugs"
FOOTER = (
    "--\nThis message and the files sent with it are confidential and meant for the person to whom it is"
    " addressed. If it reached you by mistake, tell the sender and delete it. Please think before you print."
    " Flu clinic dates are at www.example.org, or call 613-555-0100.\n"
)
BANNER = (
    "CAUTION: this message came from outside the organization. Do not open links that you do not expect.\n"
)
ORDINARY = (
    "The parking committee met on Tuesday. The east lot will be repainted in the first week of June, and the"
    " spaces nearest to the gate are kept for visitors.\n"
    "Budget figures for the second quarter are in the shared folder; please enter your forecast by Friday.\n"
    "The new copier on the third floor needs a badge. Toner is ordered by the front desk.\n\n"
)
PATIENTS = (
    "Lena Okafor, MRN 40718823, was admitted with congestive heart failure. Please update the board.",
    "Could you call Marc Delisle? His biopsy came back positive for melanoma and he does not know yet.",
    "Mrs. Anna Rossi (born 1951-03-14) takes methadone 40 mg daily and missed her last two visits.",
)


@cache
def engine() -> Engine:
    config = Config()
    return Engine(
        build_screener(config), build_classifier(config), build_decider(config), config.limits, key=b""
    )


def judged(text: str, media_type: str = "text/plain") -> Examination:
    return examine(Document(text, (Segment("", 0, len(text)),), media_type), engine())


@pytest.mark.parametrize(
    "text",
    [
        "Ines Morel has multiple sclerosis.",
        "Hi Ben, Ines Morel (MRN 55120934) tested positive for hepatitis C this morning. Thanks, Jo",
        "Paul Tremblay is on clozapine.",
        "Ines Morel, MRN 55120934, chronic kidney disease",
    ],
)
def test_one_sentence_with_a_person_and_an_illness_is_referred(text: str) -> None:
    assert judged(text).referral is Referral.REFERRED


@pytest.mark.parametrize(
    "text",
    [
        "Echo shows an Austin Flint murmur and a dilated left ventricle.",
        "Sister Mary Joseph nodule on examination; CT suggests ovarian cancer.",
        "Ines Morel will send the slides for the board meeting.",
        "Influenza vaccines are given on Thursday from nine to noon.",
    ],
)
def test_health_without_a_person_or_a_person_without_health_is_not_referred(text: str) -> None:
    assert judged(text).referral is not Referral.REFERRED


@pytest.mark.parametrize("patient", PATIENTS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("", f"\n\n{FOOTER}"),
        (f"{BANNER}\n", f"\n\n{FOOTER}"),
        (ORDINARY, ""),
        ("", f"\n\n{ORDINARY}"),
        (ORDINARY * 8, f"\n\n{ORDINARY * 8}{FOOTER}"),
    ],
    ids=["plain", "footer", "banner and footer", "before", "after", "between"],
)
def test_ordinary_text_around_it_withdraws_no_referral(patient: str, before: str, after: str) -> None:
    assert judged(f"{before}{patient}{after}").referral is Referral.REFERRED


@pytest.mark.slow
@pytest.mark.parametrize("patient", PATIENTS)
@pytest.mark.parametrize("times", [10, 100])
def test_a_hundred_times_its_length_around_it_withdraws_no_referral(patient: str, times: int) -> None:
    around = ORDINARY * (times * len(patient) // len(ORDINARY) // 2 + 1)
    assert judged(f"{around}{patient}\n\n{around}").referral is Referral.REFERRED


@pytest.mark.parametrize("head", ["Diagnosis", "Illness treated for", "Reason for visit", "Condition"])
def test_the_head_of_a_column_does_not_decide(head: str) -> None:
    rows = [
        ("Okafor", "Lena", "1951-03-14", "congestive heart failure"),
        ("Delisle", "Marc", "1960-07-02", "prostate cancer"),
        ("Rossi", "Anna", "1948-11-30", "breast cancer"),
    ]
    text = f"Last name | First name | Date of birth | {head}\n" + "".join(
        f"Last name: {last} | First name: {first} | Date of birth: {born} | {head}: {illness}\n"
        for last, first, born, illness in rows
    )
    assert judged(text).referral is Referral.REFERRED


def test_an_order_without_a_health_word_is_health_information() -> None:
    text = (
        "MSH|^~\\&|ORD|NURSERY|LAB|HOSP|202401010101||ORM^O01|1|P|2.3\rPID|1||7781||OKAFOR^BABY GIRL\r"
        "ORC|NW|1\rOBR|1|1||77^PANEL\r"
    )
    examination = judged(text, "application/hl7-v2")
    assert examination.referral is Referral.REFERRED
    assert MESSAGES["hl7"] in sentences(examination.decision.reasons)


def test_every_decision_has_a_probability_and_few_reasons_in_words() -> None:
    for text in (*PATIENTS, ORDINARY, "", "Ines Morel will send the slides."):
        decision = judged(text).decision
        assert 0.0 < decision.probability < 1.0
        is_referred = decision.referral is Referral.REFERRED
        assert is_referred == (decision.probability >= engine().decider.threshold)
        most_for, most_against = (N_FOR + 1, N_AGAINST) if is_referred else (N_AGAINST, N_FOR)
        assert len([weight for _, weight in decision.reasons if weight > 0]) <= most_for
        assert len([weight for _, weight in decision.reasons if weight < 0]) <= most_against
        assert all(name in WORDS or name in MESSAGES for name, _ in decision.reasons)
        assert len(sentences(decision.reasons)) == len(decision.reasons)


def test_what_a_detector_marks_and_the_model_does_not_refer_is_for_the_second_list() -> None:
    for text in (*PATIENTS, ORDINARY, *(text for _, text, _ in _case_texts())):
        examination = judged(text)
        marked = any(verdict for _, verdict in examination.detectors)
        decision = examination.decision
        assert not (decision.second_look and decision.referral is Referral.REFERRED)
        if marked and decision.referral is not Referral.REFERRED:
            assert decision.second_look


def _case_texts() -> Iterator[tuple[str, str, bool]]:
    for folder, is_phi in (("31", True), ("33", False)):
        path = BUGS / folder / "texts.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            yield f"{folder}{row['id']}", row["text"], is_phi


@pytest.mark.parametrize(("name", "text", "is_phi"), list(_case_texts()))
def test_reported_texts_are_decided_right(name: str, text: str, is_phi: bool) -> None:  # noqa: ARG001
    assert (judged(text).referral is Referral.REFERRED) is is_phi


@pytest.mark.parametrize(
    "path", sorted((*BUGS.glob("30/*.csv"), *BUGS.glob("41/*.eml"))), ids=lambda path: path.name
)
def test_reported_files_are_referred(path: Path) -> None:
    source = SourceFile.of(str(path.parent).encode(), path.name.encode(), path.lstat())
    document = extract(source, Config().limits, ())
    assert examine(document, engine()).referral is Referral.REFERRED


def test_a_version_runs_beside_the_former_one_on_the_audit_sample() -> None:
    text = "Ines Morel has multiple sclerosis."
    plain = judged(text)
    kept = dict(plain.decision.evidence)
    example = DecidedExamples.of([point_of(kept)] * 1, [False], [True])
    limit = plain.decision.log_odds - 0.1
    spares = LearnedDecision(limit, example)
    decider = replace(
        engine().decider, threshold=probability_of(limit), learned=spares, former=NOTHING_LEARNED
    )
    document = Document(text, (Segment("", 0, len(text)),), "text/plain", content_hash="0" * 64)
    audited = examine(document, replace(engine(), decider=decider, key=KEY))
    assert audited.referral is not Referral.REFERRED
    assert audited.decision.second_look
    assert audited.decision.reasons[0][0] == FORMER_VERSION
    assert "the learned version in use before would have referred it" in sentences(audited.decision.reasons)
    not_audited = examine(document, replace(engine(), decider=decider, audit_share=1e-12, key=KEY))
    assert FORMER_VERSION not in dict(not_audited.decision.reasons)
    swapped = replace(decider, learned=NOTHING_LEARNED, former=spares)
    added = examine(document, replace(engine(), decider=swapped, key=KEY))
    assert added.referral is Referral.REFERRED
    assert "the learned version in use before would not have referred it" in sentences(added.decision.reasons)


def test_what_is_stored_gives_the_same_decision_again() -> None:
    for text in (PATIENTS[0], ORDINARY, FOOTER):
        found = judged(text).decision
        stored = dict(found.evidence)
        assert stored[LOG_ODDS] == round(SCALE * found.log_odds)
        point = point_of(stored)
        learned = LearnedDecision(-4.0, DecidedExamples.of([point], [True], [found.log_odds >= -4.0]))
        assert learned.examples.distances(point)[0] == pytest.approx(0.0, abs=1e-9)
