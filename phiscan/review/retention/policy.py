"""The table ``[retention]`` of phiscan.toml, and the dates that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from phiscan.config import Config, take_table
from phiscan.errors import ConfigError
from phiscan.store.column_types import iso

DAYS_PER_YEAR = 365.25
MAX_YEARS = 200


@dataclass(frozen=True, slots=True)
class Retention:
    """Retention times in years; HIPAA requires six for documentation (45 CFR 164.316(b)(2)(i))."""

    findings_years: float = 6.0  # findings in a file, after the file was last present
    decisions_years: float = 6.0  # decisions on a content, after they were made and it was replaced
    logs_years: float = 6.0  # the audit log, sign-ins, reveals
    superseded_years: float = 1.0  # results of older scans, once a later one has examined the file again

    def to_json(self, now: datetime) -> dict[str, float | str]:
        """Return the years and the dates before which rows are purged."""
        years = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            **years,
            **{name.replace("_years", "_before"): iso(before(now, n)) for name, n in years.items()},
        }


def policy_of(config: Config) -> Retention:
    """Return the policy of a configuration.

    Raises:
        ConfigError: names the field.
    """
    policy = take_table(config, "retention", Retention)
    for item in fields(Retention):
        if not 0 < getattr(policy, item.name) <= MAX_YEARS:
            message = f"{config.source}: retention.{item.name}: expected years above 0, up to {MAX_YEARS}"
            raise ConfigError(message)
    return policy


def before(now: datetime, years: float) -> datetime:
    """Return the moment this many years ago."""
    return now - timedelta(days=DAYS_PER_YEAR * years)
