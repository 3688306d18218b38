"""The index in the engine: a match raises P(PHI), a stranger lowers nothing, no index changes nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.config import Config, PatientsTable
from phiscan.decision.decide import Decider
from phiscan.model import Document, EntityType, Referral
from phiscan.patients.matching import RARE_NAME_LOG_ODDS, STRONG_LOG_ODDS, Matcher
from phiscan.pipeline.engine import Engine, build_engine
from phiscan.pipeline.examine import examine
from phiscan.pipeline.versions import versions
from phiscan.store.identity import create_key
from tests.patients.population import Person, population

STRANGER = next(iter(population(1, seed=99, first_number=50_000_000)))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    home = tmp_path_factory.mktemp("home")
    create_key(home / "key")
    return build_engine(Config(home=home))


def _letter(one: Person) -> Document:
    return Document(
        f"Please call {one.given} {one.family}, health card {one.card}, on Monday.\n", (), "text/plain"
    )


def test_a_match_raises_the_log_odds_by_its_step(
    engine: Engine, matcher: Matcher, people: list[Person]
) -> None:
    document = _letter(people[7])
    before, after = examine(document, engine), examine(document, replace(engine, patients=matcher))
    assert before.patients is None
    assert after.patients is not None
    assert [match.patient for match in after.patients.matches] == [8]
    assert after.decision.patient_log_odds == STRONG_LOG_ODDS > RARE_NAME_LOG_ODDS > 0
    assert after.decision.log_odds == before.decision.log_odds  # what is learned from does not know of it
    assert after.decision.probability > before.decision.probability
    assert after.referral is Referral.REFERRED
    assert after.decision.reasons[0] == ("own_patient", STRONG_LOG_ODDS)


def test_a_stranger_changes_nothing_but_the_count_of_lookups(engine: Engine, matcher: Matcher) -> None:
    document = _letter(STRANGER)
    before, after = examine(document, engine), examine(document, replace(engine, patients=matcher))
    assert after.patients is not None
    assert after.patients.matches == ()
    assert after.patients.n_lookups > 0
    assert replace(after, patients=None) == before


def test_the_cascade_does_not_cut_off_a_patient(
    engine: Engine, matcher: Matcher, people: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no name could bring about a referral, names are searched for a patient's number all the same."""
    monkeypatch.setattr(Decider, "might_refer", lambda *_, **__: False)
    cheap = replace(engine, audit_share=0.0, patients=matcher)

    def finds_names(mrn: str) -> bool:
        text = f"Minutes of the parking committee. MRN {mrn}. The gate is repaired by Mr. John Smith.\n"
        found = examine(Document(text, (), "text/plain", content_hash="a"), cheap)
        return any(one.entity_type is EntityType.PERSON for one in found.screening.findings)

    assert finds_names(people[7].mrn)
    assert not finds_names("98765432")


def test_only_an_index_changes_the_versions(matcher: Matcher, tmp_path: Path) -> None:
    assert matcher.index.manifest.n_patients
    create_key(tmp_path / "home" / "key")
    config = Config(home=tmp_path / "home")
    assert "patients" not in versions(config)
    with_index = versions(replace(config, patients=PatientsTable(index_dir=str(tmp_path / "index"))))
    assert with_index.pop("patients") == matcher.index.manifest.index_id
    assert with_index == versions(config)
