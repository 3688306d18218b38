"""The number of patients affected, from stored matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from phiscan.errors import ConfigError
from phiscan.patients.affected import NOTICE_AT, UNKNOWN, matched_patients
from phiscan.patients.index import open_index
from phiscan.report.data.estimates import AffectedPatients
from phiscan.store.database import Database
from phiscan.visible import visible


def affected_patients(
    database: Database, examinations: Mapping[int, int], folder: Path | None
) -> AffectedPatients | None:
    """Return the patients of all files, each once; files without comparison are excluded.

    Args:
        database: the review database.
        examinations: current examination by file.
        folder: folder of the patient index, which contains states and provinces.
    """
    with database.read() as connection:
        matched = matched_patients(connection, list(examinations.values()))
    if not matched:
        return None
    index = None
    if folder is not None:
        with suppress(ConfigError):
            index = open_index(folder)
    everybody = set().union(*matched.values())
    regions = None
    if index is not None:
        counts = Counter(visible(index.region_of(one)) or UNKNOWN for one in everybody)
        regions = dict(sorted(counts.items()))
    notice = tuple(name for name, n in (regions or {}).items() if n >= NOTICE_AT and name != UNKNOWN)
    of_file = [matched[result] for result in examinations.values() if result in matched]
    return AffectedPatients(len(everybody), regions, notice, len(of_file), sum(not one for one in of_file))
