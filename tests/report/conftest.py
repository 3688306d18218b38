from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from phiscan.model import FileResult
from tests.report.synthetic import Made, fill


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
