"""Each document is read once: its health terms, its passages, its text detector, its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from phiscan.decision import decide as decide_module
from phiscan.decision import evidence as evidence_module
from phiscan.health import classifier as classifier_module
from phiscan.health import text_detector as ngrams
from phiscan.health.classifier import classify
from phiscan.health.detectors import is_dense, text_margin
from phiscan.model import Document, Segment, SourceFile
from phiscan.pipeline import engine as engine_module
from phiscan.pipeline.examine import examine, examine_named, examine_text
from phiscan.pipeline.file_names import names_of
from phiscan.pipeline.process import _keep
from tests.pipeline.harness import LETTER, MINUTES
from tests.pipeline.test_cascade import STAFF, cut, document, full
from training.decision.features import detect

NOTE = LETTER.format(first="Zantho", last="Prathewin", born="3 May 1961")
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
    return counts


@pytest.mark.parametrize("build", [full, cut], ids=["all", "cascade"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_document_is_read_once(
    text: str, build: Callable[[], engine_module.Engine], reads: Counter[str]
) -> None:
    engine = build()
    reads.clear()
    whole, examination, _ = examine_text(document(text), engine)
    source = SourceFile(b"/share", b"a.txt", len(text), 1, 1, 1, 1)
    _keep(source, whole, examination, engine)
    searched = examination.case != "names_not_searched"
    # Where a step was not enough, the passages are read again with what the next one finds in them.
    n_steps = 2 if is_dense(whole, examination.health) else 3
    n_looks = n_steps if build is cut and searched else 1
    assert reads == {"terms": 1, "text": n_looks, "passages": n_looks}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_handed_on_decides_as_what_is_read_anew(text: str) -> None:
    one = document(text)
    examination = examine(one, full())
    health = classify(one, full().classifier)
    assert health == examination.health
    gathered = full().decider.gather(one, examination.screening, full().classifier)
    decided = full().decider.decide(one, examination.screening, health, examination.detectors, gathered)
    assert decided == examination.decision
    assert detect(one, examination.screening, health, full().classifier) == examination.detectors


def test_the_text_detector_never_reads_what_a_file_is_called() -> None:
    """A name behind the text is read for the decision; the verdict of C is that of the content."""
    source = SourceFile(b"/share", b"Tremblay_Marie_MRN_4431298.txt", len(STAFF), 1, 1, 1, 1)
    text = "Seen for type 2 diabetes. Metformin 500 mg. See again in May.\n"
    one = Document(text, (Segment("", 0, len(text)),), "text/plain", content_hash="0" * 64)
    named, examination = examine_named(one, names_of(source), full(), lambda _stage: None)
    assert len(named.text) > len(text)
    margin = text_margin(one, examination.screening, examination.health, full().classifier)
    assert dict(examination.detectors)["text"] == (margin >= 0)
    alone = full().decider.detectors.probabilities([("text", margin)])
    assert examination.detector_probabilities[2:] == alone
