"""The organization's own patients in confirmed files, in counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AffectedPatients:
    """Distinct patients of the patient index matched in files that a person confirmed as PHI.

    ``by_region``: by state or province of the patient list; None: there is no index now to know them from.
    ``notice_in``: those with so many that notification laws ask for more than letters.
    """

    patients: int
    by_region: dict[str, int] | None
    notice_in: tuple[str, ...]
    files: int  # confirmed and compared with an index
    files_without_match: int  # of these; the count is not complete for them
