from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.model import FileResult
from phiscan.report.gather import ReportData, gather
from phiscan.store.database import open_database
from tests.report.synthetic import NOW, Made, decide_referred, fill, share


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Fill a database with 400 files, of which most that were referred are decided: to be read only."""
    made = fill(tmp_path_factory.mktemp("large"), share(400))
    decide_referred(made, share_decided=0.9, share_phi=0.8)
    made.database.close()  # everything is in its one file, which can be copied
    database = open_database(made.database.url.render_as_string(), create=False)
    yield replace(made, database=database)
    database.close()


@pytest.fixture(scope="session")
def data(large: Made) -> ReportData:
    return gather(large.database, now=NOW).data


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Callable[[Sequence[FileResult]], Made]]:
    """Fill a new database with results; it is closed in the end."""
    made: list[Made] = []

    def fill_one(results: Sequence[FileResult], **options: Sequence[bytes]) -> Made:
        folder = tmp_path / f"database-{len(made)}"
        folder.mkdir()
        made.append(fill(folder, results, **options))
        return made[-1]

    yield fill_one
    for one in made:
        one.database.close()
