"""Rules of the regulators: their time limits, tests and forms, one TOML file for each jurisdiction.

``[organization]`` of phiscan.toml chooses the jurisdictions. The texts of a file are in English and French;
which of the two is shown follows the language of the page.
"""

from __future__ import annotations

import tomllib
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from phiscan.config import Config, OrganizationTable
from phiscan.errors import ConfigError
from phiscan.language import SOURCE, Lazy, current


@dataclass(frozen=True, slots=True)
class Organization(OrganizationTable):
    """The table ``[organization]`` of phiscan.toml, with the rules that it chooses."""

    definition: str = ""  # the content of its ``definition_file``

    @property
    def laws(self) -> tuple[Jurisdiction, ...]:
        """The rules of its jurisdictions."""
        return tuple(jurisdictions()[name] for name in self.jurisdictions)


@dataclass(frozen=True, slots=True)
class Clock:
    """What a rule requires after a breach, and by when."""

    id: str
    law: str
    what: str
    starts: str
    by: str
    applies: str
    source: str
    after: Mapping[str, Any]  # the length of the time limit; empty = the rule names none
    at_least: int = 0  # people of the incident from which the rule applies
    below: int | None = None  # number of people from which it does not apply any more
    keep: bool = False  # a time during which records are kept, not a time limit
    from_last: bool = False  # it begins with the last entry of the incident, not with the discovery

    def ends(self, discovered: datetime, last: datetime | None = None) -> datetime | None:
        """Return the end of the time; None = the rule names no number, or the calendar ends before.

        It begins with the discovery, or with the ``last`` entry of the incident. Years and days are of UTC.

        >>> clock = Clock("a.b", "", "", "", "", "", "", {"hours": 72})
        >>> clock.ends(datetime(2026, 1, 1, 9, 30, tzinfo=UTC)).isoformat()
        '2026-01-04T09:30:00+00:00'
        """
        with suppress(OverflowError, ValueError):
            return self._end((last if last and self.from_last else discovered).astimezone(UTC))
        return None

    def _end(self, start: datetime) -> datetime | None:
        day = start.replace(hour=0, minute=0, second=0, microsecond=0)
        match self.after:
            case {"hours": hours}:
                return start + timedelta(hours=hours)
            case {"days": days}:
                return day + timedelta(days=days)
            case {"months": months}:
                return _months_after(day, months)
            case {"days_after_year": days}:
                return day.replace(month=12, day=31) + timedelta(days=days)
            case {"next_year": month_and_day}:
                month, day_of_month = map(int, month_and_day.split("-"))
                return day.replace(year=day.year + 1, month=month, day=day_of_month)
        return None


@dataclass(frozen=True, slots=True)
class Test:
    """A question of a rule that people answer, and the evidence that is shown beside it."""

    id: str
    law: str
    question: str
    source: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form, and the values of an incident that fill it."""

    label: str
    fill: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a regulator."""

    id: str
    title: str
    note: str
    source: str
    in_force: date
    fields: tuple[FormField, ...]


@dataclass(frozen=True, slots=True)
class Jurisdiction:
    """The rules of one jurisdiction."""

    id: str
    name: str
    source: str
    in_force: date
    clocks: tuple[Clock, ...]
    tests: tuple[Test, ...]
    forms: tuple[Form, ...]


@cache
def jurisdictions() -> Mapping[str, Jurisdiction]:
    """Return all jurisdictions that there are rules for, by their id."""
    folder = resources.files("phiscan.report").joinpath("jurisdictions")
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    return {name: _read(name, one.read_text("utf-8")) for one in files if (name := one.name[:-5])}


def _definition(config: Config) -> str:
    name = config.organization.definition_file
    if not name:
        return ""
    try:
        return (Path(config.source).parent / name).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigError(
            config.source, "organization.definition_file: expected the name of a text file in UTF-8"
        ) from None


def read_organization(config: Config) -> Organization:
    """Read ``[organization]``.

    Raises:
        ConfigError: names the field and what was expected.
    """
    found = replace(Organization(*astuple(config.organization)), definition=_definition(config))
    for name in found.jurisdictions:
        if name not in jurisdictions():
            known = ", ".join(jurisdictions())
            raise ConfigError(config.source, f"organization.jurisdictions: {name}: expected some of {known}")
    return found


def running(
    chosen: Iterable[Jurisdiction],
    discovered: datetime,
    people: tuple[int, int],
    last: datetime | None = None,
) -> Iterator[tuple[Clock, datetime | None]]:
    """Yield the clocks of an incident with their ends, the shortest first.

    What a rule wants promptly, without a number, follows, and how long records are kept comes last.
    ``people``: the least and the highest number of people; a clock that may apply is included.
    ``last``: when the last entry of the incident was made.
    """
    least, most = people
    clocks = [
        (clock, clock.ends(discovered, last))
        for one in chosen
        for clock in one.clocks
        if most >= clock.at_least and (clock.below is None or least < clock.below)
    ]
    promptly = datetime.max.replace(tzinfo=UTC)
    yield from sorted(clocks, key=lambda one: (one[0].keep, one[1] or promptly))


def _read(name: str, text: str) -> Jurisdiction:
    raw = tomllib.loads(text)
    law = _text(raw["name"])

    def rule(table: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        return {**_texts(table), "id": f"{name}.{table['id']}", **more}

    def fields(form: Mapping[str, Any]) -> tuple[FormField, ...]:
        return tuple(FormField(_text(one["label"]), tuple(one["fill"])) for one in form["fields"])

    return Jurisdiction(
        id=name,
        name=law,
        source=_text(raw["source"]),
        in_force=raw["in_force"],
        clocks=tuple(Clock(**{"after": {}, **rule(one, law=law)}) for one in raw["clock"]),
        tests=tuple(Test(**rule(one, law=law, evidence=tuple(one["evidence"]))) for one in raw["test"]),
        forms=tuple(Form(**rule(one, in_force=raw["in_force"], fields=fields(one))) for one in raw["form"]),
    )


def _texts(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _text(value) if isinstance(value, dict) and SOURCE in value else value
        for name, value in table.items()
    }


def _text(texts: Mapping[str, str]) -> str:
    return Lazy(_in_language, texts)


def _in_language(texts: Mapping[str, str]) -> str:
    return texts.get(current(), texts[SOURCE])


def _months_after(moment: datetime, months: int) -> datetime:
    """Return the same day some months later, or the last day of that month."""
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)
