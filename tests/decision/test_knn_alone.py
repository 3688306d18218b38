"""``health.detector = "knn"``: equations 4 and 5 and the nearest health prototypes decide, nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.config import Config, HealthSettings, load_config
from phiscan.decision import build_decider
from phiscan.health.classifier import build_classifier, distances_of
from phiscan.health.features import read, windows
from phiscan.health.file_evidence import HEALTH
from phiscan.model import PiiVector, Referral
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine
from phiscan.screen.prototypes import Prototype
from tests.decision.test_decide import engine_of, judged
from tests.screen.whole import plain

# A record in the manner of the i2b2 challenge: a name, a number, three illnesses, hardly a word besides.
RECORD = "Record 0471\nName: Jonathan Pembroke   Record number: 88204417   Telephone: 613-555-0142\n"
ILLNESSES = "Colon cancer. Cirrhosis. Hepatitis C.\n"
NOBODY = (
    "The patient complains of shortness of breath. Hypertension, type 2 diabetes. Metformin 500 mg twice"
    " daily. Blood pressure 150/95. Assessment and plan: continue metformin, see again in May.\n"
)
NUMBER_ONLY = "MRN: 88204417\nColon cancer. Cirrhosis. Hepatitis C.\n"
STAFF = "Jonathan Pembroke, General Hospital, telephone 613-555-0142. The parking lot is closed on Monday.\n"


@pytest.fixture(scope="module")
def knn() -> Engine:
    return engine_of(Config(health=HealthSettings("knn")))


def test_equation_4_and_near_prototypes_refer(knn: Engine) -> None:
    examination = judged(RECORD + ILLNESSES, by=knn)
    assert examination.screening.hamming == 0
    assert examination.health.score >= HEALTH
    assert (examination.referral, examination.case) == (Referral.REFERRED, "concept")


def test_health_alone_and_a_person_alone_do_not(knn: Engine) -> None:
    health = judged(NOBODY, by=knn)
    assert health.health.score >= HEALTH
    assert health.referral is Referral.HEALTH_ONLY
    person = judged(STAFF, by=knn)
    assert person.screening.hamming == 0
    assert person.health.score == 0.0
    assert person.referral is Referral.PII_ONLY


def test_the_score_is_that_of_the_distance_to_the_prototypes(knn: Engine) -> None:
    classifier = knn.classifier
    found = windows(read(RECORD + ILLNESSES, classifier.lexicon), classifier.lexicon)
    distances, nearest = distances_of(found, classifier)
    health = judged(RECORD + ILLNESSES, by=knn).health
    assert health.distance == float(distances.min())
    assert health.nearest_prototype == classifier.prototype_names[int(nearest[int(distances.argmin())])]
    assert (health.score >= HEALTH) == (health.distance <= classifier.knn.threshold_)


def test_p_of_phi_is_said_and_decides_nothing(knn: Engine) -> None:
    sure = replace(knn, decider=replace(knn.decider, threshold=1e-12))
    never = replace(knn, decider=replace(knn.decider, threshold=1 - 1e-12))
    for text in (RECORD + ILLNESSES, NOBODY, STAFF):
        found = [judged(text, by=one) for one in (knn, sure, never)]
        assert len({(one.referral, one.case, one.decision.probability) for one in found}) == 1
        assert all(0 < one.decision.probability < 1 for one in found)
    # What P(PHI) would refer is never lost: it is on the second list.
    assert judged(NOBODY, by=sure).decision.second_look


def test_exactly_the_identifiers_of_a_stored_example_refer_too(knn: Engine) -> None:
    plain = judged(NUMBER_ONLY, by=knn)
    assert plain.screening.hamming > 0
    assert plain.referral is not Referral.REFERRED
    learned = Prototype("learned", PiiVector(plain.screening.vector.bits))
    screener = replace(knn.screener, prototypes=(*knn.screener.prototypes, learned))
    examination = judged(NUMBER_ONLY, by=replace(knn, screener=screener))
    assert (examination.referral, examination.case) == (Referral.REFERRED, "stored_example")


def test_the_cascade_loses_no_referral(knn: Engine) -> None:
    cut = replace(knn, audit_share=0.0)
    for number, text in enumerate((RECORD + ILLNESSES, NUMBER_ONLY, NOBODY)):
        one = replace(plain(text), content_hash=f"{number:064x}")
        assert examine(one, cut).referral is examine(one, knn).referral


def test_the_configuration_names_it(tmp_path: Path) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text('health.detector = "knn"\n', encoding="utf-8")
    config = load_config(path, {})
    assert build_decider(config).is_knn_alone
    assert build_classifier(config).is_knn_alone
    path.write_text("[detectors]\nnames = 0.25\n", encoding="utf-8")
    assert load_config(path, {}).detectors.names == 0.25
