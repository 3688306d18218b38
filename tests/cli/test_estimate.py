"""The estimate commands answer the contract, and refuse nonsense with one line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phiscan.model import Verdict
from phiscan.review.store import Store
from tests.cli import program
from tests.empty_database import new_store
from tests.review.results import NOW, clear, failed, referred, scan, url_of

ONE_OF_THREE = (("patterns", False), ("names", False), ("text", True))
TWO = "a,b,count\n1,1,60\n1,0,20\n0,1,30\n"
THREE = "a,b,c,count\n1,0,0,40\n0,1,0,30\n0,0,1,20\n1,1,0,6\n1,0,1,9\n0,1,1,8\n1,1,1,5\n"


def answer(*arguments: object) -> dict[str, Any]:
    """Run `phiscan estimate ... --json`, and check the answer against the published schema."""
    words = [str(argument) for argument in arguments]
    parsed: dict[str, Any] = program.answer(f"estimate-{words[0]}", "estimate", *words)
    check_reasons(parsed)
    assert parsed["assumption"].endswith(".")
    assert parsed["source"]
    return parsed


def check_reasons(value: object) -> None:
    """Every null has a reason in the same object."""
    if isinstance(value, dict):
        if None in value.values():
            assert value.get("reason")
        for part in value.values():
            check_reasons(part)
    elif isinstance(value, list):
        for part in value:
            check_reasons(part)


def refusal(*arguments: object) -> str:
    return program.refused("estimate", *map(str, arguments))


def written(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def with_tables(folder: Path, arguments: tuple[object, ...]) -> list[object]:
    """Put the name of a file in the place of an argument that is the content of a table."""
    return [written(folder, str(one)) if "\n" in str(one) else one for one in arguments]


NO_MODELS = ("12,3", "[12]", "[14,23]", "[123]", "[1,2,]", "[11,2,3]", "[]", "[a,b,c]")
NO_COUNTS = ("1,2", "1,2,3,4", "-1,2,3", "1,2,x", "1,2,nan", "1.5,2,3")
STRATUM = "name,population,sample,found\npdf,500,50,0\n"
SCREENED = ("screening", "--phi", 71, "--not-phi", 4, "--not-screened", 48)
PAIRS = {"phi,phi": 20, "phi,not_phi": 5, "not_phi,phi": 10, "not_phi,not_phi": 15}
RATED = "".join(
    f"{n},{pair}\n" for n, pair in enumerate(p for p, times in PAIRS.items() for _ in range(times))
)
UNKNOWN_PAIR = {"two_list.lincoln_petersen.total": None, "two_list.chapman.total": None}
UNRATED = {"kappa": None, "krippendorff_alpha": None}
REVIEWED = ("prevalence", "--sensitivity", 0.96, "--specificity", 0.89, "--sample", 150)


def near(value: float) -> Any:
    return pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("arguments", "expected"),  # an argument with a line end is the content of a table
    [
        (SCREENED, {"n": 123, "tdp.value": near(0.577), "frp.value": near(0.033), "ppv.value": 71 / 75}),
        (
            ("screening", "--phi", 0, "--not-phi", 0, "--not-screened", 9, "--versus", "0,0"),
            {"tdp.value": 0, "ppv.value": None, "relative.rtdp": None},
        ),
        (
            ("missed", "a,b,count\n1,0,80\n0,1,80\n1,1,20\n"),
            {
                "n_observed": 180,
                "two_list.lincoln_petersen.total": 500,
                "two_list.chapman.total": 101**2 / 21 - 1,
            },
        ),
        (
            ("missed", "a,b,count\n1,0,8\n0,1,7\n"),
            {"two_list.lincoln_petersen.total": None, "two_list.chapman.total": 9 * 8 - 1},
        ),
        (("missed", "a,b,count\n"), UNKNOWN_PAIR),
        (("missed", "a,b,count\n1,0,0\n0,1,0\n1,1,0\n"), UNKNOWN_PAIR),
        (("missed", "a,b,count\n0,1,9\n"), UNKNOWN_PAIR),
        (("missed", "a,b,c,count\n"), {"models.0.outcome": "refused", "averaged": None, "range": None}),
        (
            ("elusion", "--population", 1000, "--sample", 100, "--found", 1),
            {"rate.value": 0.01, "missed.value": 10, "missed.upper_hypergeometric": 44, "recall_lower": None},
        ),
        (
            ("elusion", "--population", 1000, "--sample", 0, "--found", 0),
            {"rate.value": None, "missed.upper_hypergeometric": 1000},
        ),
        (("agreement", "item,r1,r2\n" + RATED), {"kappa": 0.4, "pabak": 0.4, "positive_agreement": 40 / 55}),
        (
            ("agreement", "item,x,y,z\n1,phi,phi,not_phi\n2,phi,,phi\n3,not_phi,not_phi,not_phi\n"),
            {"kappa": None, "pairs.0.reviewers": ["x", "y"], "pairs.2.reviewers": ["y", "z"]},
        ),
        (("agreement", "item,x,y\n"), UNRATED),
        (("agreement", "item,x,y\n1,phi,\n2,,phi\n"), UNRATED),
        (("agreement", "item,x,y\n1,phi,phi\n2,phi,phi\n"), UNRATED),
        (
            ("verified", "--positive", "231,32,166", "--negative", "27,54,140"),
            {
                "corrected.sensitivity": near(0.836),
                "corrected.specificity": near(0.738),
                "missed": 221 * 27 / 81,
                "prevalence": (429 * 231 / 263 + 221 * 27 / 81) / 650,
            },
        ),
        (
            ("verified", "--positive", "5,5,0", "--negative", "0,0,90"),
            {"corrected.sensitivity": None, "missed": None, "naive.sensitivity": 1},
        ),
        (
            (*REVIEWED, "--found", 23),
            {
                "apparent": 23 / 150,
                "prevalence": (23 / 150 - 0.11) / 0.85,
                "se": (23 / 150 * 127 / 150 / 150) ** 0.5 / 0.85,
            },
        ),
        (
            ("prevalence", "--found", 3, "--sample", 10, "--sensitivity", 0.9, "--specificity", 0.1),
            {"prevalence": None},
        ),
    ],
)
def test_estimates(tmp_path: Path, arguments: tuple[object, ...], expected: dict[str, Any]) -> None:
    found = answer(*with_tables(tmp_path, arguments))
    for name, value in expected.items():
        part: Any = found
        for key in name.split("."):
            part = part[int(key)] if key.isdecimal() else part[key]
        assert part == (pytest.approx(value) if isinstance(value, float) else value), name


def test_compares_two_characteristics() -> None:
    given = (*SCREENED, "--versus", "75,3")
    assert answer(*given)["relative"] == {"rtdp": 71 / 75, "rfrp": 4 / 3}
    paired = answer(*given, "--both", "54,0")["relative"]
    assert paired["rtdp_ci95"][0] < 71 / 75 < paired["rtdp_ci95"][1]


def test_estimates_three_lists(tmp_path: Path) -> None:
    found = answer("missed", written(tmp_path, THREE))
    assert [model["model"] for model in found["models"]][:2] == ["[1,2,3]", "[12,3]"]
    assert len(found["models"]) == 8
    totals = {model["model"]: model["total"] for model in found["models"]}
    assert found["range"][0] <= found["averaged"] <= found["range"][1]
    assert found["selected"]["bic"] in totals
    assert found["chao_lower_bound"] == pytest.approx(118 + 90**2 / (2 * 23))
    assert 0 < found["sample_coverage"]["coverage"] < 1


def test_takes_the_columns_in_any_place(tmp_path: Path) -> None:
    moved = "count,a,b,c\n" + "\n".join(
        ",".join([line.split(",")[3], *line.split(",")[:3]]) for line in THREE.splitlines()[1:]
    )
    assert answer("missed", written(tmp_path, moved)) == answer("missed", written(tmp_path, THREE))


def test_fits_one_model_with_its_terms_in_any_order(tmp_path: Path) -> None:
    path = written(tmp_path, THREE)
    found = answer("missed", path, "--model", "[3,21]")
    assert [model["model"] for model in found["models"]] == ["[12,3]"]
    alike = next(model for model in answer("missed", path)["models"] if model["model"] == "[12,3]")
    assert found["models"][0]["total"] == pytest.approx(alike["total"], rel=1e-12)


def test_adds_up_strata(tmp_path: Path) -> None:
    rows = "format,a,b,count\npdf,1,0,10\npdf,0,1,20\npdf,1,1,30\ntxt,1,0,5\ntxt,0,1,5\ntxt,1,1,5\n"
    found = answer("missed", written(tmp_path, rows), "--by", "format")
    parts = {part["name"]: part["missed"] for part in found["strata"]}
    assert found["combined"]["missed"] == pytest.approx(parts["pdf"] + parts["txt"])


def test_bounds_recall_at_any_time() -> None:
    given = ("--population", 1000, "--sample", 990, "--found", 0, "--true-positives", 50)
    found = answer("elusion", *given, "--sequential", "--target-recall", 0.95)
    assert found["recall_lower"] == 50 / (50 + found["missed"]["upper_hypergeometric"])
    assert found["missed"]["upper_sequential"] >= found["missed"]["upper_hypergeometric"]
    assert found["stop"] is True


def test_bounds_strata_together(tmp_path: Path) -> None:
    rows = "name,population,sample,found\npdf,500,50,0\ntxt,500,50,1\n"
    found = answer("elusion", "--strata", written(tmp_path, rows))
    assert found["missed"]["upper_hypergeometric"] == sum(
        part["upper_hypergeometric"] for part in found["strata"]
    )
    assert found["missed"]["value"] == 10


def test_plans_samples() -> None:
    assert answer("elusion", "--plan", "--target", 0.01)["sample_size"] == 299
    planned = answer("elusion", "--plan", "--target", 0.01, "--population", 1000)["sample_size"]
    shown = answer("elusion", "--population", 1000, "--sample", planned, "--found", 0)
    assert shown["missed"]["upper_hypergeometric"] <= 10


def test_stays_exact_for_a_thousand_million_files() -> None:
    found = answer("elusion", "--population", 10**9, "--sample", 10**6, "--found", 10, "--sequential")
    assert 10_000 < found["missed"]["upper_hypergeometric"] <= found["missed"]["upper_binomial"]


def test_warns_when_prevalence_was_cut() -> None:
    given = ("--found", "1", "--sample", "150", "--sensitivity", "0.96", "--specificity", "0.89")
    result = program.invoke("estimate", "prevalence", "--json", *given)
    assert json.loads(result.stdout)["prevalence"] == 0
    assert "cut" in json.loads(result.stdout)["warning"]
    assert "warning" in result.stderr


@pytest.mark.parametrize(
    ("given", "said"),  # an argument with a line end is the content of a table
    [
        (("missed", "a,b,count\n1,0,5\n0,0,4\n"), "line 3"),
        (("missed", "a,b,count\n1,0,5\n1,0,4\n"), "line 3"),
        (("missed", "a,b,count\n1,2,5\n"), "line 2, field b"),
        (("missed", "a,b,count\n1,0,-5\n"), "line 2, field count"),
        (("missed", "a,b,count\n1,0,nan\n"), "line 2, field count"),
        (("missed", "a,b,count\n1,0,2.5\n"), "line 2, field count"),
        (("missed", "a,count\n1,5\n"), "line 1"),
        (("missed", "a,b\n1,0\n"), "column 'count'"),
        (("missed", "a,b,count\n1,0\n"), "line 2"),
        (("missed", "\n"), "line 1"),
        *((("missed", THREE, "--model", model), "model: ") for model in NO_MODELS),
        (("missed", TWO, "--model", "[12]"), "all lists"),
        (("missed", TWO, "--false-positives", "c=1"), "expected one of a, b"),
        (("missed", TWO, "--false-positives", "a"), "DETECTOR=COUNT"),
        (("missed", TWO, "--files", "50"), "no more files marked than read"),
        (("elusion", "--strata", f"{STRATUM}txt,50,60,1\n"), "line 3, field sample"),
        (("elusion", "--strata", f"{STRATUM}pdf,500,50,0\n"), "line 3, field name"),
        (("agreement", "item,x\n1,phi\n"), "line"),
        (("agreement", "item,x,y\n1,phi,phi\n1,phi,phi\n"), "line"),
        (("agreement", "x,y\nphi,phi\n"), "line"),
        *((("verified", f"--positive={one}", "--negative", "1,1,1"), "--positive") for one in NO_COUNTS),
        (("elusion", "--population", 10, "--sample", 11, "--found", 0), ""),
        (("elusion", "--population", 10, "--sample", 5, "--found", 6), ""),
        (("elusion", "--population", -1, "--sample", 0, "--found", 0), ""),
        (("elusion", "--population", 10, "--sample", 5), ""),
        (("elusion", "--population", 10, "--sample", 5, "--found", 0, "--confidence", "nan"), ""),
        (("elusion", "--population", 10, "--sample", 5, "--found", 0, "--confidence", "1"), ""),
        (("elusion", "--plan"), ""),
        (("elusion", "--plan", "--target", "0"), ""),
        (("elusion", "--plan", "--target", "nan"), ""),
        (("screening", "--phi", -1, "--not-phi", 0, "--not-screened", 0), ""),
        (("screening", "--phi", 1, "--not-phi", 0, "--not-screened", 0, "--versus", "9,9"), ""),
        (
            (
                "screening",
                "--phi",
                5,
                "--not-phi",
                5,
                "--not-screened",
                0,
                "--versus",
                "4,4",
                "--both",
                "5,0",
            ),
            "",
        ),
        (("screening", "--phi", "nan", "--not-phi", 0, "--not-screened", 0), ""),
        (("prevalence", "--found", 5, "--sample", 4, "--sensitivity", 1, "--specificity", 1), ""),
        (("prevalence", "--found", 1, "--sample", 4, "--sensitivity", "nan", "--specificity", 1), ""),
        (("prevalence", "--found", 1, "--sample", 4, "--sensitivity", 1.5, "--specificity", 1), ""),
        (("missed", "no-such-file.csv"), ""),
    ],
)
def test_refuses_nonsense(tmp_path: Path, given: tuple[object, ...], said: str) -> None:
    assert said in refusal(*with_tables(tmp_path, given))


def test_writes_lines_for_people(tmp_path: Path) -> None:
    shown = program.run("estimate", "missed", str(written(tmp_path, THREE)))
    assert "models: model [12,13,23], df 0, outcome ok, total " in shown
    assert "assumption: " in shown


@pytest.mark.parametrize("command", ["screening", "missed", "elusion", "agreement", "verified", "prevalence"])
def test_helps_with_an_example(command: str) -> None:
    assert "Example: phiscan estimate" in program.run("estimate", command, "--help")


def test_says_whether_the_second_list_was_reviewed(tmp_path: Path) -> None:
    path = written(tmp_path, THREE)
    unknown = answer("missed", path)["second_list"]
    assert unknown["too_low"] is None
    assert "too low if it was not" in unknown["reason"]
    some = answer("missed", path, "--second-list", "3,12")["second_list"]
    assert (some["files"], some["reviewed"], some["too_low"]) == (12, 3, True)
    assert "3 of 12 reviewed" in some["sentence"]
    assert not answer("missed", path, "--second-list", "12,12")["second_list"]["too_low"]
    said = refusal("missed", path, "--second-list", "3,2")
    assert "--second-list: expected at most 2 reviewed, got 3" in said


def test_counts_the_confirmed_files_of_a_scan(home: Path) -> None:
    marked = replace(clear("listed.txt"), detectors=ONE_OF_THREE, second_look=True)
    with new_store(home / "phiscan.db") as store:
        scan(store, [*(referred(f"{number}.txt") for number in range(3)), marked, clear("clear.txt")])
        store.decide_all([(number, Verdict.PHI) for number in (1, 2, 3)], reviewer="A", now=NOW)
    before = answer("missed")
    assert before["n_observed"] == 3
    assert before["second_list"]["too_low"]
    assert "0 of 1 reviewed" in before["second_list"]["sentence"]
    with Store.open(url_of(home / "phiscan.db")) as store:
        store.decide_all([(store.find("listed.txt"), Verdict.PHI)], reviewer="A", now=NOW)
    after = answer("missed", "--scan", 1)
    assert after["n_observed"] == 4
    assert after["second_list"]["phi_share"]["value"] == 1.0
    assert not after["second_list"]["too_low"]


def test_refuses_options_that_do_not_go_together(home: Path, tmp_path: Path) -> None:
    with new_store(home / "phiscan.db") as store:
        scan(store, [failed("a.txt")])
    assert "two detectors or more" in refusal("missed")
    path = written(tmp_path, THREE)
    assert "expected without COUNTS" in refusal("missed", path, "--scan", 1)
    assert "expected with COUNTS" in refusal("missed", "--second-list", "1,2")


def test_missed_gives_each_detector_its_confusion_matrix(tmp_path: Path) -> None:
    table = written(tmp_path, TWO)
    found = answer("missed", table, "--files", 1000, "--false-positives", "a=12")
    assert found["actual_positives"] == {"value": 120.0, "by": "lincoln_petersen"}
    first, second = found["detectors"]
    counts = {"tp": 80, "fp": 12, "fn": 40.0, "tn": 868.0}
    assert first == {"detector": "a", **counts, "sensitivity": 80 / 120, "accuracy": 0.948}
    assert (second["fn"], second["tn"], second["accuracy"]) == (30.0, None, None)
    assert answer("missed", written(tmp_path, THREE))["detectors"][0]["fn"] > 0


def test_missed_takes_the_one_model_of_two_lists(tmp_path: Path) -> None:
    table = written(tmp_path, TWO)
    found = answer("missed", table, "--model", "[1,2]")
    assert "Lincoln-Petersen" in found["note"]
    assert found["two_list"]["lincoln_petersen"]["total"] == 120.0
