"""``phiscan learn``: a version changes nothing until it is activated, and a tampered one is refused."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import jsonschema
import pytest

from phiscan.config import Config, LearnedVersion, load_config
from phiscan.errors import ModelError
from phiscan.health import build_classifier
from phiscan.health.learning import LOG_ODDS, LOG_ODDS_SCALE
from phiscan.model import FileResult, PiiVector, Verdict, WindowBag
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.versions import learned_version, versions
from phiscan.review.decisions import model_versions as models
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.cli.program import run
from tests.empty_database import new_store
from tests.review.results import IDENTIFYING, NOW, VERSIONS, referred, source, url_of

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schemas"
EVIDENCE = {
    "hamming": 0,
    "name": 1,
    "full_name": 1,
    "direct": 0,
    "record": 0,
    "birth_date": 0,
    "contact": 1,
    "n_people": 1,
    "n_terms": 4,
    "layout": 0,
    "told by health-4": 800_000,
    LOG_ODDS: -2 * LOG_ODDS_SCALE,
}
N_FILES = 24  # of each verdict


def result(name: str, counts: dict[str, int]) -> FileResult:
    made = referred(name)
    return FileResult(
        source(name),
        made.outcome,
        media_type="text/plain",
        content_hash=f"hash of {name}",
        n_chars=900,
        vector=PiiVector(IDENTIFYING),
        hamming=0,
        n_people=1,
        health_score=0.8,
        referral=made.referral,
        case="concept",
        detectors=made.detectors,
        window=WindowBag(900, tuple(sorted(counts.items()))),
        evidence=tuple(EVIDENCE.items()),
    )


@pytest.fixture
def reviewed(home: Path) -> Path:
    """A home whose reviewers called notes PHI, and notes full of prices not."""
    bags = build_classifier(Config()).bags[: 2 * N_FILES]
    notes = [result(f"notes{n % 4}/{n}.txt", dict(bag)) for n, bag in enumerate(bags[:N_FILES])]
    priced = [
        result(f"sales{n % 4}/{n}.txt", {**bag, "cue:price": 6 + n % 3, "rx:salesman": 3})
        for n, bag in enumerate(bags[N_FILES:])
    ]
    with new_store(home / "phiscan.db") as store:
        state = store.begin_scan([b"/share"], versions=VERSIONS, options={}, now=NOW)
        store.record(state.id, "key", [*notes, *priced])
        store.finish_scan(state.id, status="complete", seconds=1.0, now=NOW)
        for number, row in enumerate(sorted(store.rows(), key=lambda row: row.path.rpartition("/")[2])):
            verdict = Verdict.PHI if row.path.startswith("notes") else Verdict.NOT_PHI
            store.decide(
                row.file_id, verdict, reviewer=("ada", "bea")[number % 2], now=NOW + timedelta(minutes=number)
            )
    create_key(home / "key")
    return home


def learned(*more: str) -> dict[str, object]:
    return json.loads(run("learn", "--by", "ada", "--json", *more))


def test_learning_spares_what_reviewers_called_not_phi_and_changes_nothing(reviewed: Path) -> None:
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        before = versions(load_config().with_learned(learned_version(store)))
    told = learned()
    shape = json.loads((SCHEMAS / "learn.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(shape)
    jsonschema.validate(told, shape, cls=jsonschema.Draft202012Validator)
    change = told["change"]
    assert change["others_spared"] >= N_FILES // 3 * 2  # type: ignore[index]
    assert change["phi_lost"] == 0  # type: ignore[index]
    assert told["detector_text"]["not_read"] == {"gone": 2 * N_FILES}  # type: ignore[index]
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        assert models.active_version(store.database) is None
        assert versions(load_config().with_learned(learned_version(store))) == before
        assert store.verify_audit().ok


def test_activating_and_going_back_are_one_command_each(reviewed: Path) -> None:
    learned("--no-read")
    learned("--no-read")
    told = json.loads(run("learn", "--activate", "2", "--by", "ada", "--json"))
    assert told == {"active": "2", "before": "shipped"}
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        version = learned_version(store)
        assert version is not None
        config = load_config().with_learned(version)
        engine = build_engine(config)
        shipped = build_engine(load_config())
        assert versions(config)["learned"].startswith("2:")
        assert store.verify_audit().ok
    assert len(engine.classifier.bags) > len(shipped.classifier.bags)
    assert len(engine.screener.prototypes) > len(shipped.screener.prototypes)
    assert engine.classifier.adjustment is not None
    assert json.loads(run("learn", "--activate", "1", "--by", "ada", "--json"))["before"] == "2"
    assert json.loads(run("learn", "--activate", "shipped", "--by", "ada", "--json"))["before"] == "1"
    listed = json.loads(run("learn", "--list", "--json"))
    assert listed["active"] == "shipped"
    assert [version["version"] for version in listed["versions"]] == [1, 2]
    assert "* shipped" in run("learn", "--list")


def test_a_version_that_was_tampered_with_is_refused_everywhere(reviewed: Path) -> None:
    learned("--no-read")
    path = reviewed / "models" / "1" / "model.json"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(path.read_bytes().replace(b'"slope":', b'"slope": '))
    complaint = run("learn", "--activate", "1", "--by", "ada", status=2)
    assert "model.json: was changed" in complaint
    assert complaint.count("\n") == 1
    assert "was changed" in json.loads(run("learn", "--list", "--json"))["versions"][0]["problem"]
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        files = models.versions(store.database)[0].files
    with pytest.raises(ModelError, match="was changed"):
        build_engine(load_config().with_learned(LearnedVersion(1, tuple(files.items()))))


def test_a_version_holds_only_words_of_our_own_dictionaries(reviewed: Path) -> None:
    learned("--no-read")
    model = json.loads((reviewed / "models" / "1" / "model.json").read_bytes())
    names = {name for item in model["prototypes"] for name in item["counts"]}
    assert names <= {name for bag in build_classifier(Config()).bags for name in bag}
    assert all(item["name"].startswith("reviewed/") for item in model["prototypes"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("learn",), "--by: expected your name"),
        (("learn", "--activate", "7", "--by", "ada"), "there is no such version; expected one of shipped"),
        (("learn", "--activate", "shipped", "--by", "ada"), "is active already"),
        (("learn", "--activate", "one", "--by", "ada"), "expected the number of a version, or shipped"),
        (("learn", "--activate", "1", "--list"), "--activate: expected alone"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_2(
    reviewed: Path, arguments: tuple[str, ...], said: str
) -> None:
    complaint = run(*arguments, status=2)
    assert said in complaint
    assert complaint.count("\n") == 1
    assert not (reviewed / "models").exists()


def test_nothing_to_learn_from_is_said(scanned: Path) -> None:
    create_key(scanned / "key")
    assert "nothing to learn from" in run("learn", "--by", "ada", status=2)


def test_the_probability_is_calibrated_on_a_random_sample_for_the_next_scan(reviewed: Path) -> None:
    shown = json.loads(run("queue", "show", "1", "--json"))["probability"]
    assert shown["value"] is None
    assert "a version without a probability" in shown["reason"]
    told = learned("--no-read")
    calibration = told["calibration"]
    assert calibration["n"] == 2 * N_FILES  # type: ignore[index]  # everything referred was reviewed
    run("learn", "--activate", "1", "--by", "ada")
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        version = learned_version(store)
    decider = build_engine(load_config().with_learned(version)).decider
    assert decider.calibration == (calibration["slope"], calibration["intercept"])  # type: ignore[index]


def test_the_probability_of_a_scan_is_shown_with_its_reasons(home: Path) -> None:
    made = replace(
        referred("a.txt"),
        probability=0.875,
        reasons=(("words", 1.5), ("name_by_clinical", 0.9), ("people", -0.4)),
    )
    with new_store(home / "phiscan.db") as store:
        state = store.begin_scan([b"/share"], versions=VERSIONS, options={}, now=NOW)
        store.record(state.id, "key", [made])
        store.finish_scan(state.id, status="complete", seconds=1.0, now=NOW)
    assert json.loads(run("queue", "show", "1", "--json"))["probability"] == {"value": 0.875}
    shown = run("queue", "show", "1")
    assert "Probability of PHI: 0.875" in shown
    assert "Because it is worded like a record of somebody's health; a person's name is close to" in shown
    assert "but many people are named in the passage." in shown
