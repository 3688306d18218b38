"""Numbers of patients affected, from stored matches: for each confirmed file and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from phiscan.errors import ConfigError
from phiscan.patients.affected import NOTICE_AT, UNKNOWN, matched_patients
from phiscan.patients.index import PatientIndex, open_index
from phiscan.report.data.patients import AffectedPatients
from phiscan.store.database import Database
from phiscan.visible import visible


def affected_patients(
    database: Database, examinations: Mapping[int, int], folder: Path | None
) -> tuple[dict[int, AffectedPatients], AffectedPatients | None]:
    """Return the patients of each confirmed file, and of all; files without comparison are excluded.

    Args:
        database: the review database.
        examinations: current examination by file.
        folder: folder of the patient index, which contains states and provinces.
    """
    with database.read() as connection:
        matched = matched_patients(connection, list(examinations.values()))
    if not matched:
        return {}, None
    index = None
    if folder is not None:
        with suppress(ConfigError):
            index = open_index(folder)
    of_file = {file: matched[result] for file, result in examinations.items() if result in matched}
    everybody = set().union(*of_file.values())
    without = sum(not some for some in of_file.values())
    return (
        {file: _counted(some, index, 1, int(not some)) for file, some in of_file.items()},
        _counted(everybody, index, len(of_file), without),
    )


def _counted(patients: set[int], index: PatientIndex | None, files: int, without: int) -> AffectedPatients:
    regions = None
    if index is not None:
        counts = Counter(visible(index.region_of(one)) or UNKNOWN for one in patients)
        regions = dict(sorted(counts.items()))
    notice = tuple(name for name, n in (regions or {}).items() if n >= NOTICE_AT and name != UNKNOWN)
    return AffectedPatients(len(patients), regions, notice, files, without)
