"""Second name recognizers and the tagger: dependence of their verdicts, and cost.

Run: ``PHISCAN_TAGGER_FOLDS=A/folds PHISCAN_SECOND_FOLDS=B/folds .venv/bin/python -m pytest -m bench -s
benchmarks/bench_second_names.py``, where A and B are the ``--out`` of ``phiscan train names`` and ``phiscan
train second-names``: every text is judged by models that never saw its family. The last table needs neither.
Needs the development texts beside the checkout; documents are those of the half that no health model has
learned from.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.bench_referral_share import DATA, texts
from phiscan import health as classify
from phiscan import screen
from phiscan.config import Config
from phiscan.decision import build_decider
from phiscan.health.detectors import DETECTORS, MIN_CONCEPTS, MIN_DENSITY
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.metrics.independence import verdict_dependence
from phiscan.model import Document, EntityType, Segment
from phiscan.screen.ner.second_tagger import SecondNames
from phiscan.screen.ner.tagger import TaggerRecognizer
from phiscan.screen.prototypes import load_prototypes
from phiscan.screen.recognizers.messages.hl7 import Hl7Recognizer
from phiscan.screen.recognizers.person.recognizer import RuleNameRecognizer
from phiscan.screen.rules.files import load_sound_rules
from phiscan.screen.rules.recognizer import PatternRecognizer
from training.names.measure import _TOKEN, _cells, foreign_set

TAGGER_FOLDS = Path(os.environ.get("PHISCAN_TAGGER_FOLDS", "no-such-folder"))
SECOND_FOLDS = Path(os.environ.get("PHISCAN_SECOND_FOLDS", "no-such-folder"))
WITH_FOLDS = pytest.mark.skipif(
    not (TAGGER_FOLDS.is_dir() and SECOND_FOLDS.is_dir() and DATA.is_dir()),
    reason="needs the folds of both trainings and the development texts in ../shared/data",
)
PEOPLE = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}
TOKEN_SETS = {
    "presidio_synth_v2": "sentences",
    "presidio_generated_large": "sentences",
    "wnut17_train": "others",
    "aci_bench_train_valid": "others",
    "fhir_synthea_dev": "others",
    "us_legislators_dev": "others",
}


def odds(pairs: Sequence[tuple[bool, bool]]) -> str:
    """Return the four counts, the agreement, the odds ratio with a half added to each count, nats and p."""
    counts = Counter(pairs)
    both, first, second, none = (
        counts[key] for key in ((True, True), (True, False), (False, True), (False,) * 2)
    )
    ratio = (both + 0.5) * (none + 0.5) / ((first + 0.5) * (second + 0.5))
    found = verdict_dependence(both, first, second, none)
    shown = (f"{(both + none) / len(pairs):.3f}", f"{ratio:.1f}", f"{found.nats:.3f}", f"{found.p_value:.2g}")
    return " | ".join([*map(str, (both, first, second, none)), *shown])


def names_person(recognizer: TaggerRecognizer | RuleNameRecognizer, document: Document) -> bool:
    return any(
        finding.entity_type in PEOPLE and not finding.is_doubtful
        for finding in recognizer.recognize(document)
    )


@pytest.mark.bench
@pytest.mark.timeout(1800)
@WITH_FOLDS
def test_print_tokens_found_by_both() -> None:
    print("\n| set | tokens | both | tagger only | second only | neither | agree | odds ratio | nats | p |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    n_tokens = 0
    for name, fold in TOKEN_SETS.items():
        tagger, second = TaggerRecognizer.load(TAGGER_FOLDS / fold), SecondNames.load(SECOND_FOLDS / fold)
        pairs: list[tuple[bool, bool]] = []
        for document in foreign_set(DATA / f"{name}.jsonl"):
            cells = [match.span() for match in _TOKEN.finditer(document.text)]
            gold = _cells(((a, b) for a, b, group in document.spans if group == "person"), cells)
            gold -= _cells(document.unscored, cells)
            if not gold:
                continue
            found = [
                _cells(
                    (
                        (finding.span.start, finding.span.end)
                        for finding in one.recognize(Document(document.text, (), "text/plain"))
                        if finding.entity_type in PEOPLE and not finding.is_doubtful
                    ),
                    cells,
                )
                for one in (tagger, second)
            ]
            pairs += [(token in found[0], token in found[1]) for token in gold]
        print(f"| {name} | {len(pairs)} | {odds(pairs)} |")
        n_tokens += len(pairs)
    assert n_tokens


@pytest.mark.bench
@pytest.mark.timeout(1800)
@WITH_FOLDS
def test_print_how_document_verdicts_depend() -> None:
    gazetteer, classifier = load_gazetteer(), classify.build_classifier(Config())
    decider = build_decider(Config())
    tagger = TaggerRecognizer.load(TAGGER_FOLDS / "others")
    second = SecondNames.load(SECOND_FOLDS / "others")
    patterns = PatternRecognizer(load_sound_rules(Config()))
    screener = screen.Screener(
        (patterns, Hl7Recognizer(), RuleNameRecognizer(gazetteer, tagger)), load_prototypes()
    )
    rows: list[tuple[str, str, dict[str, bool]]] = []
    for family, label, text in texts():
        document = Document(text, (Segment("", 0, len(text)),), "text/plain")
        screening = screen.screen(document, screener)
        health = classify.classify(document, classifier)
        verdicts = dict(classify.detect(document, screening, health, classifier))
        layout = classify.is_laid_out_as_a_record(verdicts.items())
        person = second.finds_full_name(text)
        enough = health.by_concepts >= classify.HEALTH
        verdicts |= {"tagger alone": names_person(tagger, document), "second alone": person}
        kinds = {hit.concept for hit in health.terms}
        dense = len(kinds) >= MIN_CONCEPTS and 1000 * len(health.terms) >= MIN_DENSITY * len(text)
        verdicts |= {"second and score": person and enough, "second and terms": person and dense}
        referral, _ = classify.decide(document, screening, health, layout=layout)
        gathered = decider.gather(document, screening, classifier)
        decided = decider.decide(document, screening, health, tuple(verdicts.items())[:3], gathered)
        near = decider.lacks_only_a_name(gathered, health, decided)
        rows.append(
            (family, label, verdicts | {"referred": referral == "referred", "near": near, "score": enough})
        )
    keys = list(rows[0][2])
    print("\n| family | label | texts | " + " | ".join(keys) + " | near misses with a name |")
    print("| --- | --- |" + " ---: |" * (len(keys) + 2))
    for family, label in sorted({row[:2] for row in rows}):
        group = [verdicts for one, kind, verdicts in rows if (one, kind) == (family, label)]
        counts = [sum(verdicts[key] for verdicts in group) for key in keys]
        near = sum(verdicts["near"] and verdicts["second alone"] for verdicts in group)
        print(f"| {family} | {label} | {len(group)} | " + " | ".join(map(str, [*counts, near])) + " |")
    phi = [verdicts for _, label, verdicts in rows if label == "PHI"]
    print(f"\n{len(phi)} PHI texts")
    print("| pair | both | first only | second only | neither | agree | odds ratio | nats | p |")
    print("| --- |" + " ---: |" * 8)
    for first, other in (
        ("tagger alone", "second alone"),
        *((name, "second and score") for name in DETECTORS),
        *((name, "second and terms") for name in DETECTORS),
        ("patterns", "names"),
        ("patterns", "text"),
        ("names", "text"),
    ):
        print(f"| {first}, {other} | {odds([(verdicts[first], verdicts[other]) for verdicts in phi])} |")
    assert phi


@pytest.mark.bench
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development texts in ../shared/data")
def test_print_what_a_file_of_the_sample_costs() -> None:
    screener, classifier = screen.build_screener(Config()), classify.build_classifier(Config())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    second = SecondNames.load()
    loaded = time.process_time()
    second.finds_full_name("Nobody is here.")
    first = time.process_time()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"\nfiles of the weights {loaded - start:.2f} s; spaCy and the network, once, {first - loaded:.2f} s"
    )
    print(f"memory of the process at most {before / 1024:.0f} MB before, {after / 1024:.0f} MB after")
    seconds: Counter[str] = Counter()
    n_texts = n_asked = n_chars = 0
    for _, _, text in texts():
        document = Document(text, (Segment("", 0, len(text)),), "text/plain")
        begin = time.process_time()
        screening = screen.screen(document, screener)
        health = classify.classify(document, classifier)
        verdicts = classify.detect(document, screening, health, classifier)
        layout = classify.is_laid_out_as_a_record(verdicts)
        classify.decide(document, screening, health, layout=layout)
        middle = time.process_time()
        n_texts += 1
        seconds["all"] += middle - begin
        if health.score >= classify.HEALTH:
            second.finds_full_name(text)
            n_asked, n_chars = n_asked + 1, n_chars + len(text)
            seconds["asked, screening"] += middle - begin
            seconds["asked, second"] += time.process_time() - middle
    print(json.dumps({"texts": n_texts, "asked": n_asked, "characters": n_chars, **seconds}))
    print(
        f"a text that is asked about: {1000 * seconds['asked, second'] / n_asked:.1f} ms beside"
        f" {1000 * seconds['asked, screening'] / n_asked:.1f} ms of screening and classifying;"
        f" if every text were drawn, {seconds['asked, second'] / seconds['all']:.2f} of all"
    )
    assert n_asked
