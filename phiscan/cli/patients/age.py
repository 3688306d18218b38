"""The warning about a patient index that is older than its limit."""

from __future__ import annotations

from phiscan.cli.output import print_message
from phiscan.patients.manifest import read_manifest
from phiscan.patients.settings import PatientSettings


def warn_of_age(settings: PatientSettings) -> None:
    """Warn on standard error that an index is older than its limit."""
    if settings.is_built and (age := read_manifest(settings.folder).age_days) > settings.max_age_days:
        print_message(
            f"the patient index is {age} days old (limit {settings.max_age_days}); `phiscan patients update`",
            level="warning",
        )
