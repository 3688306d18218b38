"""A small patient list, its index, and documents whose findings are given."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.model import Document, EntityType, Finding, Span
from phiscan.patients.lifecycle import build
from phiscan.patients.matching import Matcher, load_matcher
from phiscan.patients.settings import PatientSettings
from phiscan.patients.sources import read_records
from tests.patients.population import Person, population, write_list

N_PEOPLE = 400


@pytest.fixture(scope="session")
def people() -> list[Person]:
    return list(population(N_PEOPLE))


@pytest.fixture(scope="session")
def patient_list(tmp_path_factory: pytest.TempPathFactory, people: list[Person]) -> Path:
    return write_list(tmp_path_factory.mktemp("patients") / "list.csv", people)


@pytest.fixture(scope="session")
def built(patient_list: Path) -> PatientSettings:
    """Build the index of the list once; every test works on a copy."""
    settings = PatientSettings(patient_list.parent / "index", patient_list.parent / "patients.key")
    build(settings, read_records(str(patient_list), mapped={}, day_first=True), n_workers=1)
    return settings


@pytest.fixture
def settings(tmp_path: Path) -> PatientSettings:
    return PatientSettings(tmp_path / "index", tmp_path / "elsewhere" / "patients.key")


@pytest.fixture
def matcher(settings: PatientSettings, built: PatientSettings) -> Matcher:
    settings.key_file.parent.mkdir()
    shutil.copy(built.key_file, settings.key_file)
    shutil.copytree(built.folder, settings.folder)
    found = load_matcher(settings)
    assert found is not None
    return found


def made(text: str, *values: tuple[EntityType, str]) -> tuple[Document, list[Finding]]:
    """Return a document with a finding for each value, each behind the one before."""
    findings, at = [], 0
    for kind, value in values:
        at = text.index(value, at)
        findings.append(Finding(Span(at, at + len(value)), kind, "test", 0.9, frozenset()))
        at += len(value)
    return Document(text, (), "text/plain"), findings


Check = Callable[..., list[tuple[int, str]]]


@pytest.fixture
def check(matcher: Matcher) -> Check:
    def found(text: str, *values: tuple[EntityType, str]) -> list[tuple[int, str]]:
        return [(match.patient, match.kind) for match in matcher.check(*made(text, *values)).matches]

    return found
