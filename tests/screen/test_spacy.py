"""phiscan as a component of spaCy, and a pipeline of spaCy in phiscan."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from phiscan.config import Config
from phiscan.errors import ConfigError
from phiscan.model import Document, EntityType
from phiscan.screen import Screener, build_screener, screen
from phiscan.screen.ner.spacy_pipeline import CHUNK_CHARS, SpacyRecognizer

spacy = pytest.importorskip("spacy")

TEXT = "Dr. Anjali Rao examined Zorblatt Quux of Quuxcorp.\nPatient: Mary O'Neil😀\nPhone: 613-555-0199"


@pytest.fixture(scope="module")
def nlp() -> Any:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("phiscan_names", config={"identifiers": True})
    return pipeline


@pytest.mark.slow
def test_spacy_finds_the_component_without_an_import_of_phiscan() -> None:
    assert [e.name for e in entry_points(group="spacy_factories", name="phiscan_names")] == ["phiscan_names"]
    program = (
        "import spacy; nlp = spacy.blank('fr'); nlp.add_pipe('phiscan_names');"
        "print([(e.text, e.label_) for e in nlp('Patient : Jean Tremblay').ents])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[('Jean Tremblay', 'PERSON')]"


def test_importing_the_screener_does_not_import_spacy() -> None:
    program = "import sys, phiscan.screen; print('spacy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_entities_have_our_labels_scores_and_reasons(nlp: Any) -> None:
    doc = nlp(TEXT)
    entities = {e.text: e for e in doc.ents}
    assert entities["Anjali Rao"].label_ == "HEALTH_PROFESSIONAL"
    assert entities["613-555-0199"].label_ == "PHONE"
    assert 0 < entities["613-555-0199"]._.phiscan_score <= 1
    assert ("label", "phone") in entities["613-555-0199"]._.phiscan_reasons
    assert {s.text for s in doc.spans["phiscan"]} >= {"Anjali Rao", "613-555-0199"}


def test_displacy_draws_the_entities(nlp: Any) -> None:
    html = spacy.displacy.render(nlp(TEXT), style="ent", page=False, jupyter=False)
    assert "HEALTH_PROFESSIONAL" in html
    assert "Anjali Rao" in html


def test_entities_of_another_component_are_united_with_ours_or_kept() -> None:
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "Mary"}, {"label": "DRUG", "pattern": "aspirin"}])
    pipeline.add_pipe("phiscan_names")
    by_text = {e.text: e for e in pipeline("Patient: Mary Quuxley takes aspirin").ents}
    assert by_text["aspirin"].label_ == "DRUG"
    assert ("overlap", "spacy.doc") in by_text["Mary Quuxley"]._.phiscan_reasons


@pytest.mark.parametrize(
    ("alignment", "expected"), [("expand", ["xx613-555-0199"]), ("contract", []), ("strict", [])]
)
def test_a_finding_inside_a_token_follows_the_alignment(alignment: str, expected: list[str]) -> None:
    from phiscan.model import Document, EntityType, Finding, Span  # noqa: PLC0415 (only here)
    from phiscan.screen.spacy_component import NamesComponent  # noqa: PLC0415 (it registers at import)

    class Fixed:
        def recognize(self, document: Document) -> Any:
            start = document.text.index("613")
            yield Finding(Span(start, start + 12), EntityType.PHONE, "fixed", 0.9, frozenset(), ())

    words = ["call", "xx613-555-0199", "now"]
    doc = spacy.tokens.Doc(spacy.blank("en").vocab, words=words)
    assert [s.text for s in NamesComponent([Fixed()], alignment)(doc).ents] == expected


def test_the_pipeline_is_saved_and_loaded(nlp: Any, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "site")
    again = spacy.load(tmp_path / "site")
    assert [(e.text, e.label_) for e in again(TEXT).ents] == [(e.text, e.label_) for e in nlp(TEXT).ents]


def test_refuses_an_unknown_alignment() -> None:
    with pytest.raises(ConfigError, match="alignment: expected one of"):
        spacy.blank("en").add_pipe("phiscan_names", config={"alignment": "loose"})


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": "PERSON", "pattern": "Zorblatt Quux"}, {"label": "ORG", "pattern": "Quuxcorp"}]
    )
    path = tmp_path_factory.mktemp("spacy") / "site_pipeline"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(scope="module")
def screener(pipeline: str) -> Screener:
    return build_screener(Config(name_pipeline=pipeline))


def test_a_site_pipeline_joins_by_its_name(screener: Screener) -> None:
    text = "we met zorblatt? no, Zorblatt Quux of Quuxcorp"
    got = {(f.entity_type, f.span.of(text)) for f in screen(Document(text, (), ""), screener).findings}
    assert (EntityType.PERSON, "Zorblatt Quux") in got
    assert (EntityType.ORGANIZATION, "Quuxcorp") in got


def test_findings_of_both_recognizers_are_united_with_their_reasons(screener: Screener) -> None:
    text = "Patient: Zorblatt Quux"
    (finding,) = screen(Document(text, (), ""), screener).findings
    details = {reason.detail for reason in finding.reasons}
    assert finding.source == "names.label"
    assert any(detail.startswith("spacy.") for detail in details)


def test_spans_stay_right_in_a_long_text(pipeline: str) -> None:
    text = "é word\n" * (CHUNK_CHARS // 5) + "Zorblatt Quux"
    (finding,) = SpacyRecognizer.load(pipeline).recognize(Document(text, (), ""))
    assert finding.span.of(text) == "Zorblatt Quux"


def test_refuses_a_pipeline_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="name_pipeline"):
        build_screener(Config(name_pipeline="no_such_pipeline"))
