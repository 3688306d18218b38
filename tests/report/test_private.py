"""A report with differential privacy: noisy figures and public sizes, nothing else, and a ledger."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phiscan.cli.report import report
from phiscan.errors import InputError
from phiscan.report.gather import gather
from phiscan.report.private.release import private_pack, private_report
from phiscan.store.database import open_database
from tests.report.page import json_numbers, parsed, shown_numbers
from tests.report.synthetic import NOW, Fill, Made, decide_referred, failed, share


@pytest.fixture
def made(large: Made, tmp_path: Path) -> Iterator[Made]:
    (tmp_path / "database").mkdir()
    path = tmp_path / "database" / "phiscan.db"
    shutil.copy(str(large.database.url.database), path)
    database = open_database(f"sqlite:///{path}", create=False)
    yield replace(large, database=database)
    database.close()


def run(made: Made, home: Path, *arguments: str) -> Result:
    environment = {
        "PHISCAN_DATABASE": made.database.url.render_as_string(hide_password=False),
        "PHISCAN_HOME": str(home),
    }
    return CliRunner().invoke(report, arguments, env=environment)


def release(made: Made, home: Path, epsilon: float = 4.0, delta: float = 0.0):  # noqa: ANN201 (plain)
    return private_report(made.database, home=home, epsilon=epsilon, delta=delta, now=NOW)


def test_holds_sizes_and_noisy_figures_and_nothing_else(made: Made, tmp_path: Path) -> None:
    out = tmp_path / "public"
    result = run(made, tmp_path, "--out", str(out), "--private-epsilon", "4")
    assert result.exit_code == 0, result.output
    written = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert written == {"report.html", "report.json", "report.pdf", "tables/private.csv"}
    data = gather(made.database, now=NOW).data
    said = json.loads((out / "report.json").read_text())
    assert said["read"] == data.overall.n
    assert said["decided"] == data.overall.phi + data.overall.not_phi
    assert [figure["name"] for figure in said["figures"]] == [
        "tdp",
        "frp",
        "ppv",
        "auc_roc",
        "average_precision",
    ]
    counts = {data.overall.phi, data.overall.not_phi, data.funnel.referred, data.people.at_risk}
    true = {data.overall.tdp.value, data.overall.frp.value, data.overall.ppv.value}
    true |= {e.value for ranked in data.rankings for e in ranked.estimates}
    texts = [path.read_text() for path in out.rglob("*") if path.suffix in {".html", ".json", ".csv"}]
    assert not any(word in text for text in texts for word in ("wards", "/srv/share", "Officer"))
    numbers = json_numbers((out / "report.json").read_text())
    assert numbers & {float(n) for n in counts | (true - {None, 0.0, 1.0})} == set()
    assert not any(f"{count} of" in result.stderr for count in counts)


def test_page_shows_only_numbers_of_the_json(made: Made, tmp_path: Path) -> None:
    files = private_pack(release(made, tmp_path))
    assert parsed(files["report.html"]).get("lang") == "en"
    assert shown_numbers(files["report.html"]) - json_numbers(files["report.json"]) == set()


def test_noise_is_drawn_anew_and_figures_are_near_the_true_ones(made: Made, tmp_path: Path) -> None:
    true = gather(made.database, now=NOW).data.overall.tdp.value
    drawn = [release(made, tmp_path / str(n), epsilon=8.0).figures[0] for n in range(10)]
    assert len({figure.value for figure in drawn}) == 10
    # 95% lie within noise95; that more than 5 of 10 do not has a probability below 1e-5.
    assert sum(abs(figure.value - true) <= figure.noise95 for figure in drawn) >= 5
    assert drawn[0].noise95 is not None


def test_all_releases_about_the_same_folders_share_one_budget(made: Made, tmp_path: Path) -> None:
    first = release(made, tmp_path, 4.0, 1e-6)
    decide_referred(made, share_decided=1.0, seed=3)  # other verdicts, the same folders
    second = release(made, tmp_path, 5.0)
    assert (first.spent_epsilon, second.spent_epsilon) == (4.0, 9.0)
    assert second.spent_delta == 1e-6
    with pytest.raises(InputError, match="does not allow the release"):
        release(made, tmp_path, 1.5)
    ledger = (tmp_path / "privacy").glob("*.json")
    assert sum(len(json.loads(path.read_text())["releases"]) for path in ledger) == 2


def test_a_budget_that_is_spent_leaves_no_pack(made: Made, tmp_path: Path) -> None:
    result = run(made, tmp_path, "--out", str(tmp_path / "out"), "--private-epsilon", "11")
    assert isinstance(result.exception, InputError)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("more", [("--private-epsilon", "0"), ("--private-epsilon", "nan")])
def test_refuses_an_epsilon_that_means_nothing(made: Made, tmp_path: Path, more: tuple[str, ...]) -> None:
    result = run(made, tmp_path, "--json", *more)
    assert isinstance(result.exception, InputError)
    assert "epsilon" in str(result.exception)
    assert not list((tmp_path / "privacy").glob("*.json"))


def test_refuses_delta_without_epsilon(made: Made, tmp_path: Path) -> None:
    result = run(made, tmp_path, "--json", "--private-delta", "1e-6")
    assert result.exit_code == 2
    assert "--private-epsilon" in result.stderr


def test_refuses_a_folder_with_a_full_report_before_anything_is_spent(made: Made, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(made, tmp_path, "--out", str(out)).exit_code == 0
    result = run(made, tmp_path, "--out", str(out), "--private-epsilon", "1")
    assert isinstance(result.exception, InputError)
    assert "new or empty folder" in str(result.exception)
    assert not (tmp_path / "privacy").exists()


def test_replaces_an_earlier_private_pack(made: Made, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert run(made, tmp_path, "--out", str(out), "--private-epsilon", "1").exit_code == 0
    assert json.loads((out / "report.json").read_text())["spent_epsilon"] == 2.0


@pytest.mark.parametrize("share_phi", [0.0, 1.0])
def test_does_not_tell_that_all_verdicts_are_the_same(filled: Fill, tmp_path: Path, share_phi: float) -> None:
    made = filled(share(200))
    decide_referred(made, share_phi=share_phi)
    figures = {figure.name: figure for figure in release(made, tmp_path, 4.0, 1e-6).figures}
    assert figures["auc_roc"].value is not None
    assert figures["average_precision"].value is not None


def test_a_scan_that_read_nothing_has_reasons(filled: Fill, tmp_path: Path) -> None:
    data = release(filled([failed("a.pdf")]), tmp_path)
    assert (data.read, data.decided) == (0, 0)
    assert all(figure.value is None and figure.reason for figure in data.figures)
