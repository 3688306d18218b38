"""``phiscan learn``: a version changes nothing until it is activated, and a tampered one is refused."""

import json
import random
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from phiscan.config import Config, LearnedVersion, load_config
from phiscan.decision.decided_examples import MESSAGE, NOTHING_LEARNED, SIZE, stored_point
from phiscan.decision.model import INPUTS, threshold_of
from phiscan.errors import ModelError
from phiscan.health.classifier import build_classifier
from phiscan.health.patient_classifier import log_odds_of, probability_of
from phiscan.model import FileResult, PiiVector, Referral, Verdict, WindowBag
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.versions import learned_version, versions
from phiscan.review.decisions import learning as models
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from phiscan.store.tables.desk import audit_log, sample_member
from tests.cli.program import answer, refused, run
from tests.empty_database import new_store
from tests.review.results import IDENTIFYING, NOW, VERSIONS, referred, source, url_of

LIMIT = log_odds_of(threshold_of(Config().missed_file_cost))
ACCEPT = ("--by", "ada", "--accept", "a trial")
N_FILES = 20  # decided, of each verdict


def result(name: str, counts: dict[str, int], *, log_odds: float, size: float) -> FileResult:
    """Return a file like others of its folder: notes are short, price lists long and just referred."""
    made = referred(name)
    is_referred = log_odds >= LIMIT
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
        probability=probability_of(log_odds),
        referral=Referral.REFERRED if is_referred else Referral.CLEAR,
        case="concept",
        detectors=made.detectors,
        window=WindowBag(900, tuple(sorted(counts.items()))),
        evidence=stored_point({"words": log_odds + 6.0, SIZE: size}, log_odds, 0.0),
    )


@pytest.fixture
def reviewed(home: Path, reviewed_once: Path) -> Path:
    """A home whose reviewers called notes PHI, and price lists not; a few of each are undecided."""
    shutil.copytree(reviewed_once, home)
    return home


@pytest.fixture(scope="module")
def reviewed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scan and decide once; every test works on a copy."""
    home = tmp_path_factory.mktemp("reviewed")
    bags = build_classifier(Config()).bags
    draw = random.Random(1)

    def of(folder: str, n_files: int, log_odds: float, size: float) -> list[FileResult]:
        return [
            result(
                f"{folder}/{number:02}.txt",
                dict(bags[number]),
                log_odds=log_odds + draw.uniform(-0.4, 0.4),
                size=size + draw.uniform(-0.7, 0.7),
            )
            for number in range(n_files)
        ]

    files = [
        *of("notes", N_FILES + 2, -0.5, 6.0),
        *of("prices", N_FILES + 6, LIMIT + 0.5, 11.0),
        *of("others", 60, -7.0, 8.0),
    ]
    with new_store(home / "phiscan.db") as store:
        state = store.begin_scan([b"/share"], versions=VERSIONS, options={}, now=NOW)
        store.record(state.id, "key", files)
        store.finish_scan(state.id, status="complete", seconds=1.0, now=NOW)
        for number, row in enumerate(sorted(store.rows(), key=lambda row: row.path.rpartition("/")[2])):
            if row.referral is Referral.REFERRED and int(row.path[-6:-4]) < N_FILES:
                verdict = Verdict.PHI if row.path.startswith("notes") else Verdict.NOT_PHI
                at = NOW + timedelta(minutes=number)
                store.decide_all([(row.file_id, verdict)], reviewer=("ada", "bea")[number // 2 % 2], now=at)
    create_key(home / "key")
    return home


def learned() -> Any:
    return answer("learn", "learn", "--by", "ada")


def test_learning_spares_what_reviewers_called_not_phi_and_changes_nothing(reviewed: Path) -> None:
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        before = versions(load_config().with_learned(learned_version(load_config(), store)))
    told = learned()
    share = told["share"]["referred"]
    assert share["unreviewed"] == {"before": 8, "after": 2, "spared": 6, "added": 0}
    assert share["reviewed"]["spared"] == N_FILES
    assert [warning["kind"] for warning in told["warnings"]] == ["few", "one_side"]
    assert told["changes"][0]["referred_before"] is True
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        assert models.in_use(store.database) == (None, None)
        assert versions(load_config().with_learned(learned_version(load_config(), store))) == before
        assert store.verify_audit().ok
    shown = run("learn", "--by", "ada")
    assert "Random sample     none was drawn and reviewed" in shown
    assert (
        "Against it        missed PHI cannot be bounded: no file of a random sample was reviewed of: rest"
        in shown
    )


def test_a_version_that_cannot_be_bounded_is_activated_with_a_reason_alone(reviewed: Path) -> None:
    learned()
    complaint = refused("learn", "--activate", "1", "--by", "ada")
    assert '--activate 1: expected --accept "why", because missed PHI cannot be bounded' in complaint
    run("learn", "--activate", "1", "--by", "ada", "--accept", "a trial on one share")
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        with store.database.read() as connection:
            query = sa.select(audit_log.c.details).where(audit_log.c.action == "activate_model")
            details = connection.execute(query).scalars().all()
        assert [entry["accepted"] for entry in details] == ["a trial on one share"]
        assert store.verify_audit().ok


def test_a_reviewed_random_sample_bounds_what_is_missed(reviewed: Path) -> None:
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        at = NOW + timedelta(hours=1)
        store.desk.draw_sample(n_queued=0, n_unreferred=25, by="lea", now=at)
        with store.database.read() as connection:
            drawn = connection.execute(sa.select(sample_member.c.file_id)).scalars().all()
        for number, file_id in enumerate(drawn):
            store.decide_all(
                [(file_id, Verdict.NOT_PHI)], reviewer="ada", now=at + timedelta(minutes=number + 1)
            )
    told = learned()
    missed = told["estimates"]["missed_phi"]["after"]
    assert told["reviewed"]["random_sample"] == 25
    assert 0 < missed["upper"] < 20
    assert told["accept"] == []
    assert json.loads(run("learn", "--activate", "1", "--by", "ada", "--json"))["active"] == "1"


def test_activating_and_going_back_are_one_command_each(reviewed: Path) -> None:
    learned()
    learned()
    told = json.loads(run("learn", "--activate", "2", *ACCEPT, "--json"))
    assert told == {"active": "2", "before": "shipped"}
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        version = learned_version(load_config(), store)
        assert version is not None
        assert version.former is None
        config = load_config().with_learned(version)
        engine = build_engine(config)
        shipped = build_engine(load_config())
        assert versions(config)["learned"].startswith("2:")
        assert store.verify_audit().ok
    assert len(engine.classifier.bags) > len(shipped.classifier.bags)
    assert len(engine.screener.prototypes) > len(shipped.screener.prototypes)
    assert len(engine.decider.learned.examples.is_phi) == 2 * N_FILES
    assert engine.decider.former == NOTHING_LEARNED
    assert json.loads(run("learn", "--activate", "1", *ACCEPT, "--json"))["before"] == "2"
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        version = learned_version(load_config(), store)
    assert version is not None
    assert version.former is not None
    assert (version.number, version.former.number) == (1, 2)
    assert json.loads(run("learn", "--activate", "shipped", "--by", "ada", "--json"))["before"] == "1"
    listed = json.loads(run("learn", "--list", "--json"))
    assert listed["active"] == "shipped"
    assert [version["version"] for version in listed["versions"]] == [1, 2]
    assert "* shipped" in run("learn", "--list")


def test_a_version_that_was_tampered_with_is_refused_everywhere(reviewed: Path) -> None:
    learned()
    path = reviewed / "models" / "1" / "model.json"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(path.read_bytes().replace(b'"phi":true', b'"phi": true'))
    assert "model.json: was changed" in refused("learn", "--activate", "1", *ACCEPT)
    assert "was changed" in json.loads(run("learn", "--list", "--json"))["versions"][0]["problem"]
    with Store.open(url_of(reviewed / "phiscan.db")) as store:
        files = models.versions(store.database)[0].files
    with pytest.raises(ModelError, match="was changed"):
        build_engine(load_config().with_learned(LearnedVersion(1, tuple(files.items()))))


def test_a_version_holds_only_words_of_our_own_dictionaries(reviewed: Path) -> None:
    learned()
    model = json.loads((reviewed / "models" / "1" / "model.json").read_bytes())
    names = {name for item in model["prototypes"] for name in item["counts"]}
    assert names <= {name for bag in build_classifier(Config()).bags for name in bag}
    assert all(item["name"].startswith("reviewed/") for item in model["prototypes"])
    assert set(model["decision"]["names"]) <= {*INPUTS, MESSAGE, SIZE}


def test_a_wrong_argument_is_one_line_and_exit_2(reviewed: Path) -> None:
    for arguments, said in (
        (("learn",), "--by: expected your name"),
        (("learn", "--activate", "7", "--by", "ada"), "there is no such version; expected one of shipped"),
        (("learn", "--activate", "shipped", "--by", "ada"), "is active already"),
        (("learn", "--activate", "one", "--by", "ada"), "expected the number of a version, or shipped"),
        (("learn", "--activate", "1", "--list"), "--activate: expected alone"),
        (("learn", "--accept", "why", "--by", "ada"), "--accept: expected with --activate"),
    ):
        assert said in refused(*arguments)
    assert not (reviewed / "models").exists()


def test_nothing_to_learn_from_is_said(scanned: Path) -> None:
    create_key(scanned / "key")
    assert "nothing to learn from" in run("learn", "--by", "ada", status=2)


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
    assert "It is worded like a record of somebody's health; a person's name is with" in shown
    assert "many people" not in shown  # stored before; it speaks neither for nor against PHI
