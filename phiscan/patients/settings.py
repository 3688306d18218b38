"""``[patients]`` of phiscan.toml to frozen settings: paths of index and key, and the column mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from phiscan.config import MAX_LIMIT, Config, PatientColumns
from phiscan.errors import ConfigError, InputError

FIELDS = tuple(item.name for item in fields(PatientColumns))
"""The fields of a patient that columns are mapped to."""

Mapped = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PatientSettings:
    """Paths of the index and its key, and how a patient list is read."""

    folder: Path
    key_file: Path
    max_age_days: int = 30
    hard_cost: int = 16
    day_first: bool = True
    mapped: Mapped = field(default_factory=dict)

    @property
    def is_built(self) -> bool:
        """Whether the index exists."""
        return (self.folder / "index.json").is_file()


def load_settings(config: Config) -> PatientSettings:
    """Read ``[patients]`` and ``[patients.map]``.

    Raises:
        ConfigError: names the field and says what was expected.
    """
    table, where = config.patients, f"{config.source}: patients."
    if not 1 <= table.max_age_days <= MAX_LIMIT:
        message = f"{where}max_age_days: expected a number of days above 0"
        raise ConfigError(message)
    cost = table.hard_cost
    if not 2 <= cost <= 2**20 or cost & (cost - 1):  # noqa: PLR2004 (what scrypt takes)
        message = f"{where}hard_cost: expected a power of 2 from 2 to 1048576"
        raise ConfigError(message)
    return PatientSettings(
        folder=Path(table.index_dir) if table.index_dir else config.home / "patients",
        key_file=Path(table.key_file) if table.key_file else config.home / "patients.key",
        max_age_days=table.max_age_days,
        hard_cost=cost,
        day_first=table.day_first,
        mapped={name: columns for name in FIELDS if (columns := getattr(table.map, name))},
    )


def merge_map(mapped: Mapped, options: tuple[str, ...]) -> Mapped:
    """Return the mapping of the file, overridden by the ``FIELD=COLUMN`` options of a command.

    >>> dict(merge_map({"card": ("hcn",)}, ("phone=home", "phone=cell")))
    {'card': ('hcn',), 'phone': ('home', 'cell')}

    Raises:
        InputError: an option has another form, or names an unknown field.
    """
    given: dict[str, tuple[str, ...]] = {}
    for option in options:
        name, sign, column = option.partition("=")
        if not sign or not column or name not in FIELDS:
            message = f"--map: expected FIELD=COLUMN with FIELD one of {', '.join(FIELDS)}"
            raise InputError(message)
        given[name] = (*given.get(name, ()), column)
    return {**mapped, **given}
