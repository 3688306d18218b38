"""The report in French: every sentence marked, the same numbers, and data files that never change."""

import io
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner

from phiscan.cli import app
from phiscan.language import using
from phiscan.report.gather import Report, gather
from phiscan.report.pack import pack, report_json, write_pack
from phiscan.report.private.release import private_report, render_private
from tests import pseudo
from tests.report.desk_day import DAY, day_at_the_desk, two_scans
from tests.report.synthetic import Made

NOW = DAY + timedelta(hours=3)
VALUE = re.compile(r'<data value="([^"]*)">')
# What these databases hold, and what the programs write: names of files, people, versions, codes.
DATA = (
    "/srv/share wards icu er clinic referrals admin hr policies research old backups",
    "A. Officer, B. Lead; everyone, group nurses, user ana, ben, lena, maria, olga",
    "diabetes mellitus, myocardial infarction, depression, asthma; identifying and health information",
    "StreetAddress, Email, people; no password fits; mail eml scan zip",
    "rules dictionaries",
)


@pytest.fixture(scope="module")
def desk_day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    made = two_scans(tmp_path_factory.mktemp("desk"))
    day_at_the_desk(made)
    yield made
    made.database.close()


@pytest.fixture(scope="module", params=["desk_day", "large"])
def report(request: pytest.FixtureRequest) -> Report:
    made: Made = request.getfixturevalue(request.param)
    return gather(made.database, now=NOW, conceal=False)


@pytest.fixture(scope="module")
def english(report: Report) -> dict[str, str]:
    return dict(pack(report))


@pytest.fixture(scope="module")
def french(report: Report) -> dict[str, str]:
    return dict(pack(report, language="fr"))


def test_no_page_of_the_pack_has_text_that_is_not_marked(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    pseudo.use(monkeypatch)
    files = pack(report, language="fr")
    for name, text in files.items():
        if name.endswith(".html"):
            assert pseudo.unmarked(text, DATA) == set(), name


def test_the_french_pages_show_the_same_values(english: dict[str, str], french: dict[str, str]) -> None:
    assert french.keys() == english.keys()
    assert VALUE.findall(french["report.html"]) == VALUE.findall(english["report.html"]) != []
    assert '<html lang="fr">' in french["report.html"]
    assert "<h2>En bref</h2>" in french["report.html"]
    assert "Combien de fichiers contiennent des RPS?" in french["report.html"]
    assert "Combien d’incidents sont ouverts?" in french["report.html"]  # noqa: RUF001 (French)


def test_json_and_csv_never_change_with_the_language(english: dict[str, str], french: dict[str, str]) -> None:
    same = [name for name in english if name.endswith((".json", ".csv"))]
    assert len(same) > 20
    for name in same:
        assert french[name] == english[name], name
    assert "renvoy" not in english["report.json"]


def test_percentages_and_moments_have_the_french_form(french: dict[str, str]) -> None:
    page = french["report.html"]
    shown = re.findall(r'<data value="0\.\d+">([^<]*)</data>', page)
    assert shown
    assert not any("." in text for text in shown)
    assert any(text.endswith("\N{NO-BREAK SPACE}%") for text in shown)
    assert re.search(r"<time [^>]*>\d{4}-\d\d-\d\d à \d{1,2} h \d\d UTC</time>", page)


def test_the_pdf_is_french_too(desk_day: Made, tmp_path: Path) -> None:
    write_pack(gather(desk_day.database, now=NOW, conceal=False), tmp_path, language="fr")
    pages = pypdfium2.PdfDocument(io.BytesIO((tmp_path / "report.pdf").read_bytes()))
    text = " ".join(" ".join(page.get_textpage().get_text_range() for page in pages).split())
    assert "En bref" in text
    assert "ne contient la valeur d\u2019aucun identifiant" in text
    assert pages.get_metadata_dict()["CreationDate"].startswith(f"D:{NOW:%Y%m%d}")


@pytest.mark.slow
def test_the_command_and_the_configuration_choose_the_language(
    desk_day: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PHISCAN_HOME", "PHISCAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PHISCAN_DATABASE", str(desk_day.database.url))
    runs = (("", (), "en"), ("", ("--language", "fr"), "fr"), ('language = "fr"\n', (), "fr"))
    for written, options, expected in (*runs, ('language = "fr"\n', ("--language", "en"), "en")):
        (tmp_path / "phiscan.toml").write_text(written)
        result = CliRunner().invoke(app, ["report", "--out", "pack", *options], catch_exceptions=False)
        assert result.exit_code == 0
        assert f'<html lang="{expected}">' in (tmp_path / "pack" / "report.html").read_text()
        printed = {
            "en": ("How many files", "report of scan 2"),
            "fr": ("Combien", "rapport de l\u2019analyse 2"),
        }
        assert all(words in result.output for words in printed[expected])
        assert not any(words in result.output for words in printed["fr" if expected == "en" else "en"])
        assert "\\" not in result.output  # a special space that is printed as an escape


def test_another_language_is_refused_with_those_that_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "phiscan.toml").write_text('language = "de"\n')
    result = CliRunner().invoke(app, ["report", "--out", "pack"])
    assert result.exit_code != 0
    assert "language: expected one of en, fr" in str(result.exception) + result.output


def test_a_private_report_is_marked_and_its_json_english(
    large: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = private_report(large.database, None, home=tmp_path, epsilon=1.0, delta=0.0, now=NOW)
    english = report_json(data)
    with using("fr"):
        assert "Chiffres bruités" in render_private(data)
    assert report_json(data) == english
    pseudo.use(monkeypatch)
    with using("fr"):
        assert pseudo.unmarked(render_private(data), DATA) == set()
