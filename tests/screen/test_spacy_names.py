import pytest

from phiscan.config import Config
from phiscan.errors import ConfigError
from phiscan.model import Document, EntityType
from phiscan.screen import Screener, build_screener, screen
from phiscan.screen.ner.spacy_pipeline import CHUNK_CHARS, SpacyRecognizer

spacy = pytest.importorskip("spacy")


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
