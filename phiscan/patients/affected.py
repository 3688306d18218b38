"""Stored matches to the number of affected patients: distinct opaque numbers over decided files, by region.

A patient counts once, however many files or copies hold them. Files decided as PHI without a match are
counted separately, because the list of patients is not complete for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from phiscan.model import Verdict
from phiscan.patients.records import Kind
from phiscan.review.records.file_records import current_results
from phiscan.store.sql_batches import chunks
from phiscan.store.tables.scans import patient_check, patient_match, sighting

if TYPE_CHECKING:  # a scan without an index does not import numpy
    from phiscan.patients.index import PatientIndex

NOTICE_AT: Final = 500  # patients of one state from which HIPAA (45 CFR 164.406, 164.408) requires more
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Affected:
    """The patients affected by a set of files."""

    patients: tuple[int, ...]  # opaque numbers, rising
    by_region: Mapping[str, int] | None  # None: without an index the regions are unknown
    by_folder: Mapping[str, int]  # patients by root and first folder
    n_files: int  # files with this verdict
    n_files_without_match: int  # of these: not compared with an index, or without a match


def affected(
    connection: sa.Connection, index: PatientIndex | None, *, verdict: Verdict | None, scan_id: int | None
) -> Affected:
    """Return the distinct patients in the files with a verdict, among those present or in one scan.

    ``verdict`` None: all files. Rare names alone do not count.
    """
    query = current_results(scan_id=scan_id).subquery()
    chosen = sa.select(query.c.id, query.c.root, query.c.path)
    if verdict is not None:
        chosen = chosen.where(query.c.verdict == verdict.value)
    folders = {  # root and first folder
        row.id: f"{row.root}/{row.path.partition('/')[0]}" if "/" in row.path else row.root
        for row in connection.execute(chosen)
    }
    matched = {
        number: found for number, found in matched_patients(connection, list(folders)).items() if found
    }
    by_folder: dict[str, set[int]] = {}
    for number, found in matched.items():
        by_folder.setdefault(folders[number], set()).update(found)
    patients = sorted(set().union(*by_folder.values()))
    regions = None
    if index is not None:
        regions = dict(sorted(Counter(index.region_of(one) or UNKNOWN for one in patients).items()))
    return Affected(
        patients=tuple(patients),
        by_region=regions,
        by_folder={folder: len(patients) for folder, patients in sorted(by_folder.items())},
        n_files=len(folders),
        n_files_without_match=len(folders) - len(matched),
    )


def matched_patients(connection: sa.Connection, examinations: Sequence[int]) -> dict[int, set[int]]:
    """Return the opaque numbers matched in each result; a result compared with no index is left out.

    Rare names alone do not count.
    """
    found: dict[int, set[int]] = {}
    for batch in chunks(examinations):
        checked = sa.select(patient_check.c.examination_id).where(patient_check.c.examination_id.in_(batch))
        found.update((number, set()) for number in connection.execute(checked).scalars())
        matches = sa.select(patient_match.c.examination_id, patient_match.c.patient).where(
            patient_match.c.examination_id.in_(batch), patient_match.c.kind != Kind.RARE_NAME.value
        )
        for number, patient in connection.execute(matches):
            found.setdefault(number, set()).add(patient)
    return found


@dataclass(frozen=True, slots=True)
class ScanMatches:
    """The matches of one scan with the organization's own patients."""

    n_files: int  # with a match by a strong key or a pair
    n_patients: int
    n_rare_name_files: int  # with a rare name alone
    expected_by_chance: float
    n_canary_files: int

    def to_json(self) -> dict[str, float]:
        """Return the object of ``scan --json``."""
        return {
            "files": self.n_files,
            "patients": self.n_patients,
            "rare_name_files": self.n_rare_name_files,
            "expected_by_chance": self.expected_by_chance,
            "canary_files": self.n_canary_files,
        }


def scan_matches(connection: sa.Connection, scan_id: int) -> ScanMatches | None:
    """Return the matches in the files of a scan; None = nothing was compared with an index."""
    seen = sa.select(sighting.c.examination_id).where(sighting.c.scan_id == scan_id)
    checked = connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.count(sa.case((patient_check.c.n_patients > 0, 1))),
            sa.func.count(
                sa.case(((patient_check.c.n_patients == 0) & (patient_check.c.n_rare_names > 0), 1))
            ),
            sa.func.coalesce(sa.func.sum(patient_check.c.expected_by_chance), 0.0),
        ).where(patient_check.c.examination_id.in_(seen))
    ).one()
    if not checked[0]:
        return None
    here = patient_match.c.examination_id.in_(seen)
    is_strong = patient_match.c.kind != Kind.RARE_NAME.value
    matched = sa.select(sa.func.count(sa.distinct(patient_match.c.patient))).where(here, is_strong)
    planted = sa.select(sa.func.count(sa.distinct(patient_match.c.examination_id))).where(
        here, patient_match.c.is_planted
    )
    return ScanMatches(
        n_files=int(checked[1]),
        n_patients=int(connection.execute(matched).scalar_one()),
        n_rare_name_files=int(checked[2]),
        expected_by_chance=float(checked[3]),
        n_canary_files=int(connection.execute(planted).scalar_one()),
    )


def canary_files(connection: sa.Connection, scan_id: int | None) -> list[tuple[str, str]]:
    """Return root and path of each file, present or in a scan, in which a canary record was found."""
    query = current_results(scan_id=scan_id).subquery()
    planted = (
        sa.select(query.c.root, query.c.path)
        .join(patient_match, patient_match.c.examination_id == query.c.id)
        .where(patient_match.c.is_planted)
        .distinct()
        .order_by(query.c.root, query.c.path)
    )
    return [(row.root, row.path) for row in connection.execute(planted)]
