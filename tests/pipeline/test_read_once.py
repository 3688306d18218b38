"""Each document is read once: its health terms, its passages, its text detector, its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from phiscan import health as classify
from phiscan.decision import decide as decide_module
from phiscan.decision import evidence as evidence_module
from phiscan.health import classifier as classifier_module
from phiscan.health import text_detector as ngrams
from phiscan.model import Document, FileResult, Segment, SourceFile
from phiscan.pipeline import engine as engine_module
from phiscan.pipeline.examine import examine, examine_named, examine_text
from phiscan.pipeline.file_names import names_of
from phiscan.pipeline.process import _keep
from tests.pipeline.harness import LETTER, MINUTES
from tests.pipeline.test_cascade import STAFF, cut, document, full

NOTE = LETTER.format(first="Zantho", last="Prathewin", born="3 May 1961", card="1234 567 897", year=2009)
TEXTS = (NOTE, STAFF, MINUTES.format(n=1), "", f"{STAFF}{NOTE}")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often a document is read, by what reads it."""
    counts: Counter[str] = Counter()

    def count(owner: Any, attribute: str, name: str) -> None:
        whole: Callable[..., Any] = getattr(owner, attribute)

        def counted(*arguments: Any, **named: Any) -> Any:
            counts[name] += 1
            return whole(*arguments, **named)

        monkeypatch.setattr(owner, attribute, counted)

    count(classifier_module, "read", "terms")
    count(evidence_module, "read", "terms")
    count(ngrams.TextModel, "decide", "text")
    count(decide_module, "gather", "passages")
    count(decide_module, "evidence_of", "evidence")
    return counts


@pytest.mark.parametrize("build", [full, cut], ids=["all", "cascade"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_document_is_read_once(
    text: str, build: Callable[[], engine_module.Engine], reads: Counter[str]
) -> None:
    engine = build()
    reads.clear()
    whole, examination = examine_text(document(text), engine)
    source = SourceFile(b"/share", b"a.txt", len(text), 1, 1, 1, 1)
    _keep(source, whole, examination, engine)
    searched = examination.case != "names_not_searched"
    # Where a cheap look was not enough, the passages are read again with the names in them.
    n_looks = 2 if build is cut and searched and examination.health.by_concepts < classify.HINT else 1
    assert reads == {"terms": 1, "text": n_looks, "passages": n_looks, "evidence": 1}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_handed_on_decides_as_what_is_read_anew(text: str) -> None:
    one = document(text)
    examination = examine(one, full())
    health = classify.classify(one, full().classifier)
    assert health == examination.health
    gathered = full().decider.gather(one, examination.screening, full().classifier)
    decided = full().decider.decide(one, examination.screening, health, examination.detectors, gathered)
    assert decided == examination.decision
    assert classify.detect(one, examination.screening, health, full().classifier) == examination.detectors


def test_the_text_detector_never_reads_what_a_file_is_called() -> None:
    """A name behind the text is read for the decision; the verdict of C is that of the content."""
    source = SourceFile(b"/share", b"Tremblay_Marie_MRN_4431298.txt", len(STAFF), 1, 1, 1, 1)
    text = "Seen for type 2 diabetes. Metformin 500 mg. See again in May.\n"
    one = Document(text, (Segment("", 0, len(text)),), "text/plain", content_hash="0" * 64)
    named, examination = examine_named(one, names_of(source), full(), lambda _stage: None)
    assert len(named.text) > len(text)
    margin = classify.text_margin(one, examination.screening, examination.health, full().classifier)
    assert dict(examination.detectors)["text"] == (margin >= 0)
    alone = full().decider.detectors.probabilities([("text", margin)])
    assert examination.detector_probabilities[2:] == alone


def test_the_evidence_that_is_stored_is_that_of_the_decision() -> None:
    one = document(NOTE)
    examination = examine(one, full())
    source = SourceFile(b"/share", b"a.txt", len(NOTE), 1, 1, 1, 1)
    result: FileResult = _keep(source, one, examination, full())
    layout = classify.is_laid_out_as_a_record(examination.detectors)
    evidence = classify.evidence_of(one, examination.screening, examination.health, layout=layout)
    stored = evidence.stored_values()
    assert result.evidence[: len(stored)] == stored
    changed = replace(examination, detectors=())
    assert _keep(source, one, changed, full()).evidence == result.evidence
