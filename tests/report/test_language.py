"""The report in French: every sentence marked, the same numbers, and data files that never change."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest

from phiscan.report.gather import Report, gather
from phiscan.report.pack import pack
from tests import pseudo
from tests.report.desk_day import DAY, day_at_the_desk, two_scans
from tests.report.synthetic import Made, decide_referred, fill, share

NOW = DAY + timedelta(hours=3)
VALUE = re.compile(r'<data value="([^"]*)">')
# What these databases hold, and what the programs write: names of files, people, versions, codes.
DATA = (
    "/srv/share wards icu er clinic referrals admin hr policies research old backups",
    "A. Officer, B. Lead; group nurses, user ana, ben, lena, maria, olga",
    "diabetes mellitus, myocardial infarction, depression, asthma; identifying and health information",
    "StreetAddress, people; no password fits; mail eml scan zip",
    "rules dictionaries",
)


@pytest.fixture(scope="module")
def desk_day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    made = two_scans(tmp_path_factory.mktemp("desk"))
    day_at_the_desk(made)
    yield made
    made.database.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    made = fill(tmp_path_factory.mktemp("large"), share(300))
    decide_referred(made, share_decided=0.8)
    yield made
    made.database.close()


@pytest.fixture(params=["desk_day", "large"])
def report(request: pytest.FixtureRequest) -> Report:
    made: Made = request.getfixturevalue(request.param)
    return gather(made.database, now=NOW, conceal=False)


def test_no_page_of_the_pack_has_text_that_is_not_marked(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    pseudo.use(monkeypatch)
    files = pack(report, language="fr")
    for name, text in files.items():
        if name.endswith(".html"):
            assert pseudo.unmarked(text, DATA) == set(), name
