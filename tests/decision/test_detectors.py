"""Each detector has its own probability and threshold, and none knows of another."""

import json
import math
from pathlib import Path

import pytest

from phiscan.config import Config, DetectorThresholds
from phiscan.errors import ModelError
from phiscan.health.detectors import DETECTORS, DETECTORS_FILE, DetectorPanel, detector_margins, load_panel
from phiscan.health.patient_classifier import log_odds_of
from phiscan.model import HealthScore, TermHit
from tests.decision.test_decide import engine, engine_of, judged
from tests.screen.whole import plain

NOTE = (
    "Discharge summary\nPatient: Lena Okafor   MRN: 40718823   Date of birth: 1951-03-14\n"
    "She was admitted with congestive heart failure and atrial fibrillation. History of asthma, gout and"
    " type 2 diabetes. She denies chest pain. Furosemide 40 mg and metformin 500 mg twice daily.\n"
)
MENU = "Monday: leek soup. Tuesday: fish with rice. The kitchen is closed on Sunday.\n"
MARGINS = (-2.5, -0.1, 0.0, 0.1, 2.5)


def at_threshold(panel: DetectorPanel, name: str) -> float:
    """Return P(PHI) at a detector's shipped threshold."""
    return dict(panel.probabilities([(name, 0.0)]))[name]


def panel(**thresholds: float) -> DetectorPanel:
    return load_panel(DetectorThresholds(**thresholds), Config().prevalence)


def test_the_shipped_verdicts_are_those_of_the_margins() -> None:
    given = [(name, margin) for name in DETECTORS for margin in (*MARGINS, None)]
    assert panel().verdicts(given) == tuple(
        (name, margin is not None and margin >= 0) for name, margin in given
    )


@pytest.mark.parametrize("name", DETECTORS)
def test_more_margin_is_more_probable(name: str) -> None:
    found = [alone for _, alone in panel().probabilities((name, margin) for margin in MARGINS)]
    assert found == sorted(set(found))
    extreme = [alone for _, alone in panel().probabilities([(name, -1e9), (name, 1e9)])]
    assert all(0 < alone < 1 for alone in (*found, *extreme))


@pytest.mark.parametrize("name", DETECTORS)
def test_a_threshold_moves_its_own_verdict_only(name: str) -> None:
    given = [(other, 0.5) for other in DETECTORS]
    alone = dict(panel().probabilities(given))[name]
    above = panel(**{name: alone * 1.01}).verdicts(given)
    below = panel(**{name: alone * 0.99}).verdicts(given)
    assert above == tuple((other, other != name) for other in DETECTORS)
    assert below == tuple((other, True) for other in DETECTORS)


def test_what_lacks_a_name_or_an_identifier_is_marked_at_no_threshold() -> None:
    marked = panel(patterns=1e-9, names=1e-9).verdicts([("patterns", None), ("names", None)])
    assert marked == (("patterns", False), ("names", False))


def test_the_probability_is_that_on_a_share_of_the_stated_prevalence() -> None:
    rare, half = (load_panel(DetectorThresholds(), prevalence) for prevalence in (0.01, 0.5))
    for name in DETECTORS:
        difference = log_odds_of(at_threshold(half, name)) - log_odds_of(at_threshold(rare, name))
        assert math.isclose(difference, math.log(99))


def test_an_examination_says_each_detectors_probability() -> None:
    for text in (NOTE, MENU):
        examination = judged(text)
        alone = dict(examination.detector_probabilities)
        assert list(alone) == [name for name, _ in examination.detectors] == list(DETECTORS)
        for name, verdict in examination.detectors:
            assert verdict == (alone[name] >= at_threshold(engine().decider.detectors, name))
    note, menu = (dict(judged(text).detector_probabilities) for text in (NOTE, MENU))
    assert all(note[name] > menu[name] for name in DETECTORS)


def test_a_threshold_of_the_configuration_changes_a_verdict_and_no_referral() -> None:
    before = judged(NOTE)
    strict = engine_of(Config(detectors=DetectorThresholds(names=0.999)))
    after = judged(NOTE, by=strict)
    assert (dict(before.detectors)["names"], dict(after.detectors)["names"]) == (True, False)
    assert dict(after.detectors)["patterns"] == dict(before.detectors)["patterns"]
    assert after.detector_probabilities == before.detector_probabilities
    assert after.decision.probability == before.decision.probability


def test_the_cut_of_a_is_its_number_and_density_of_terms() -> None:
    text = "x" * 2000
    document = plain(text)
    screening = judged(NOTE).screening
    span = screening.findings[0].span
    for n_terms, expected in ((4, True), (3, False)):
        terms = tuple(TermHit(span, f"dx:{number}") for number in range(n_terms))
        (_, margin), *_ = detector_margins(document, screening, HealthScore(0.0, None, "", terms), None)
        assert margin is not None
        assert (margin >= 0) is expected


def test_a_damaged_calibration_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "detectors.json"
    whole = json.loads(DETECTORS_FILE.read_text(encoding="utf-8"))
    del whole["detectors"]["names"]["slope"]
    for text, said in (
        ("{", "cannot be read as JSON"),
        ("[]", "format: expected 1"),
        (json.dumps(whole), "expected slope, intercept and without of patterns, names, text"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ModelError, match=said):
            load_panel(DetectorThresholds(), 0.01, path)
