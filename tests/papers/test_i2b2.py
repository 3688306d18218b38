"""The challenge of Uzuner et al. (2007): corpus, families, scores, ranking, and its printed hard cases."""

import json
import re
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from papers.commands.benchmark import benchmark
from papers.i2b2 import published
from papers.i2b2.corpus import HOSPITAL, NAMED_TYPES, TYPES, make_corpus, make_record
from papers.i2b2.crf import WELLNER_3, CrfRecognizer, majority_labels
from papers.i2b2.hmm import HmmRecognizer
from papers.i2b2.own import OwnRecognizer
from papers.i2b2.rules import RuleRecognizer
from papers.i2b2.statistics import corpus_statistics
from papers.i2b2.surrogates import date_form, scramble, syllables
from papers.i2b2.tokens import spans_of, tokenize
from phiscan.config import load_config
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    instance_counts,
)


def test_the_corpus_is_the_same_each_time_and_split_as_there() -> None:
    first, again = make_corpus(n_train=8, n_test=4), make_corpus(n_train=8, n_test=4)
    assert first == again
    assert (len(first.train), len(first.test)) == (8, 4)
    assert make_corpus(seed=1, n_train=8, n_test=4) != first
    assert not {r.name for r in first.train} & {r.name for r in first.test}


def test_tokens_and_labels_give_the_spans_back() -> None:
    for record in make_corpus(n_train=30, n_test=1).train:
        tokens = tokenize(record)
        assert spans_of(tokens, tokens.labels) == tuple(sorted(record.spans))


def test_surrogates_follow_section_3() -> None:
    record = make_record("1", 5)
    text = record.text or ""
    by_type = {kind: [text[s.start : s.end] for s in record.spans if s.type == kind] for kind in TYPES}
    # A year is no PHI: no date holds one.
    assert not any(re.search(r"\d{4}", date_) and "/" in date_ for date_ in by_type["DATE"])
    # All dates of a record are shifted alike: the stay in the header is 2 to 14 days.
    assert text.index("ADMISSION DATE") < text.index("DISCHARGE DATE")
    # Co-reference: one surname of the patient in every mention.
    mentions = {word.lower() for name in by_type["PATIENT"] for word in name.split() if len(word) > 2}
    assert len(mentions) <= 3
    assert re.fullmatch(r"[A-Z]{3}\d\d [A-Z]{2}", scramble("FMT51 DS", Random(2)))
    assert "".join(syllables("Knottippsfyfe")) == "Knottippsfyfe"
    assert date_form(date(1997, 8, 5), "words") == ("August 5", "")


def test_the_statistics_are_near_the_papers() -> None:
    found = corpus_statistics(make_corpus(n_train=120, n_test=60).train)
    records = 120 / 889
    for kind, (instances, tokens) in published.TABLE_1.items():
        if instances > 1_000:
            assert found.by_type[kind].instances == pytest.approx(instances * records, rel=0.2)
            assert found.by_type[kind].tokens == pytest.approx(tokens * records, rel=0.25)
    for kind in NAMED_TYPES:
        unknown = found.by_type[kind].unknown
        assert unknown is not None
        assert unknown[0] == pytest.approx(published.TABLE_2[kind][0], abs=20)
    assert found.by_type["DATE"].unknown is None
    assert found.by_type[HOSPITAL].in_corpus[1] == pytest.approx(published.TABLE_3[HOSPITAL][3], abs=12)
    assert found.between["DOCTOR"]["PATIENT"] > 0


def test_ambiguity_is_counted_by_record_and_by_corpus() -> None:
    one = AnnotatedText("1", "Dr. Right saw", (LabelledSpan(4, 9, "DOCTOR"),))
    two = AnnotatedText("2", "right leg , Dr. Neck neck", (LabelledSpan(16, 20, "DOCTOR"),))
    found = corpus_statistics([one, two], {"right", "neck"}).by_type["DOCTOR"]
    assert found.in_record == (50.0, 50.0)
    assert found.in_corpus == (100.0, 100.0)
    assert found.unknown == (0.0, 0.0)


SMALL = make_corpus(n_train=40, n_test=10)


def trained(recognizer: Any) -> Any:
    return recognizer.fit([tokenize(record) for record in SMALL.train])


@pytest.fixture(scope="module")
def chain() -> Any:
    return trained(CrfRecognizer("Wellner 3", WELLNER_3, 15))


def f1(recognizer: Any) -> float:
    spans = recognizer.predict([tokenize(record) for record in SMALL.test])
    pairs = [(gold, AnnotatedText(gold.name, None, s)) for gold, s in zip(SMALL.test, spans, strict=True)]
    return sum(instance_counts(pairs), InstanceCounts()).rates.f1 or 0.0


def test_a_chain_with_templates_beats_counts_and_rules(chain: Any) -> None:
    found = f1(chain)
    assert found > f1(trained(HmmRecognizer()))
    assert found > f1(trained(RuleRecognizer()))
    assert found > 0.85


def test_the_majority_label_of_a_word_is_over_its_record() -> None:
    record = tokenize(AnnotatedText("1", "RIGHT leg right arm RIGHT", ()))
    assert majority_labels(record, ["B-DOCTOR", "O", "O", "O", "O"])[0] == "O"


@pytest.mark.slow
def test_ranks_every_family_and_writes_figures_and_tables(tmp_path: Path) -> None:
    out = tmp_path / "i2b2"
    arguments = ["i2b2", "--short", "--shuffles", "99", "--out", str(out)]
    result = CliRunner().invoke(benchmark, arguments, obj=None)
    assert result.exit_code == 0, result.output
    names = {f"figure-{n}.svg" for n in (2, 4, 5, 6, 7, 8)} | {"figure-3.txt", "results.json", "results.md"}
    assert {path.name for path in out.iterdir()} == names
    found = json.loads((out / "results.json").read_text())
    systems = [system["system"] for system in found["systems"]]
    assert {
        "Wellner 3",
        "Aramaki 1",
        "Szarvas 3",
        "Hara 1",
        "Guo 1",
        "Wellner 2",
        "Guillen 1",
        "phiscan",
    } <= set(systems)
    n = len(systems)
    assert len(found["comparisons"]) == len(found["table_8"]) == len(found["table_16"]) == n * (n - 1) // 2
    scores = {system["system"]: system["token"]["f1"] for system in found["systems"]}
    assert scores["Wellner 3"] > scores["Guillen 1"]
    assert scores["Wellner 3"] > scores["Guo 1"]
    assert "over 89" in found["notes"][0]


# The hard cases that the paper prints, as phiscan reads them.
@pytest.fixture(scope="module")
def own() -> OwnRecognizer:
    return OwnRecognizer(config=load_config(None))


def marked(own: OwnRecognizer, text: str) -> set[tuple[str, str]]:
    record = tokenize(AnnotatedText("1", text, ()))
    (spans,) = own.predict([record])
    return {(text[span.start : span.end], span.type) for span in spans}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The patient was transferred to Gates 4 and remained stable .",
            {("Gates 4", "HOSPITAL")},
        ),
        (
            "Seen by Dr. Fa Knottippsfyfe Fairm of Ijordcompmac Hospital on 9/10 .",
            {
                ("Fa Knottippsfyfe Fairm", "DOCTOR"),
                ("Ijordcompmac Hospital", "HOSPITAL"),
                ("9/10", "DATE"),
            },
        ),
        ("Please call the pager number 917070-7689 .", {("917070-7689", "PHONE")}),
    ],
)
def test_reads_the_hard_cases(own: OwnRecognizer, text: str, expected: set[tuple[str, str]]) -> None:
    assert expected <= marked(own, text)


def test_the_surname_can_is_no_state(own: OwnRecognizer) -> None:
    found = marked(own, "He was followed by Ettrent Can , M.D. in clinic .")
    assert any(text.startswith("Ettrent") and kind == "DOCTOR" for text, kind in found)
    assert all(kind != "LOCATION" for _, kind in found)


def test_a_trained_chain_marks_the_doctor_right_a_signs_and_the_transcriber(chain: Any) -> None:
    foot = "Stable .\nDictated By : RIGHT A. SIGNS , M.D. HU29\nD : 03/05/97 T : 03/06/97\nTR : zv / bmot"
    (spans,) = chain.predict([tokenize(AnnotatedText("1", foot, ()))])
    found = {(foot[span.start : span.end], span.type) for span in spans}
    assert ("RIGHT A. SIGNS", "DOCTOR") in found
    assert ("zv / bmot", "DOCTOR") in found
