"""An incident with its evidence, the forms of regulators filled from it, and the register of incidents."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from textwrap import indent
from typing import Any

import sqlalchemy as sa
from jinja2 import Environment, PackageLoader, StrictUndefined

from phiscan.errors import InputError
from phiscan.health.topics import topic_of
from phiscan.language import current, install, lazy_gettext, lazy_join
from phiscan.language import gettext as _
from phiscan.model import EntityType
from phiscan.report.data.estimates import AffectedPatients
from phiscan.report.regulators import Clock, Form, Organization, jurisdictions, running
from phiscan.report.rendering.pdf import render_pdf
from phiscan.report.sections.owners import EXPOSURES, owner_of
from phiscan.report.sections.patients import affected_patients
from phiscan.report.words import ENTITY_TYPES, count, moment
from phiscan.review.decisions.incidents import TITLE, Incident, IncidentState
from phiscan.review.decisions.remedies import Task, tasks
from phiscan.review.records.file_records import last_seen, sighted_record
from phiscan.review.worklist.model import Exposure, FileRecord, blinded
from phiscan.store.database import Database
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import health_term, reveal, work_item
from phiscan.visible import safe_cell, visible

LARGE = 500  # people, from which HIPAA asks for more
DISCOVERED = "discovered"
FIELDS: Mapping[str, str] = {
    TITLE: lazy_gettext("Title"),
    "happened": lazy_gettext("What happened, and how"),
    "occurred": lazy_gettext("When it occurred: the day, or from when to when"),
    DISCOVERED: lazy_gettext("Day of the discovery, if it was known earlier (year-month-day)"),
    "found": lazy_gettext("How it was discovered, and by whom"),
    "recipients": lazy_gettext("Who used it, or to whom it was disclosed"),
    "viewed": lazy_gettext("Whether it was acquired or viewed: which log, from when to when"),
    "counted": lazy_gettext("People affected, if they were counted"),
    "containment": lazy_gettext("Containment: access removed, copies destroyed or returned, with dates"),
    "prevention": lazy_gettext("What prevents another one"),
    "notified": lazy_gettext("Notice to the people affected: when and how"),
}
STATES: Mapping[IncidentState, str] = {
    IncidentState.OPEN: lazy_gettext("open"),
    IncidentState.ASSESSED: lazy_gettext("assessed"),
    IncidentState.REPORTED: lazy_gettext("reported"),
    IncidentState.CLOSED: lazy_gettext("closed"),
}
# Identifying by themselves, or with one look into a register.
_DIRECT = frozenset(
    {
        *(EntityType.PERSON, EntityType.SIN, EntityType.SSN, EntityType.HEALTH_CARD, EntityType.HEALTH_PLAN),
        *(EntityType.MRN, EntityType.PASSPORT, EntityType.DRIVER_LICENSE, EntityType.EMAIL),
        *(EntityType.PHONE, EntityType.BIOMETRIC),
    }
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the store can say for the assessment of one incident."""

    files: tuple[FileRecord, ...]
    remedies: Mapping[int, Task]  # of the confirmed files
    exposures: Counter[Exposure]
    readers: Counter[str]
    owners: Counter[str]
    identifiers: Counter[EntityType]
    topics: Counter[str]
    revealed_by: Counter[str]
    people: int
    people_range: tuple[int, int]
    patients: AffectedPatients | None  # None: compared with no patient index
    discovered: datetime
    clocks: tuple[tuple[Clock, datetime | None], ...]

    @property
    def next_limit(self) -> datetime | None:
        """The earliest end of a time limit."""
        return min((due for clock, due in self.clocks if due is not None and not clock.keep), default=None)

    @property
    def reidentification(self) -> str:
        """How identifiable the people are, by the types of identifiers."""
        direct = [
            ENTITY_TYPES[kind].lower() for kind in EntityType if kind in self.identifiers.keys() & _DIRECT
        ]
        if direct:
            return _(
                "High: it holds what tells who somebody is by itself or with one look into a "
                "register ({direct}).",
                direct=lazy_join(", ", direct),
            )
        return _(
            "No direct identifier was found. Dates, places and numbers together can still single "
            "out a person; judge it with the text."
        )


def evidence(
    database: Database,
    found: Sequence[Incident],
    organization: Organization,
    *,
    now: datetime,
    patient_index: Path | None = None,
) -> list[Evidence]:
    """Gather the evidence about the files of incidents, without what a blind reviewer must not see."""
    with database.read() as connection:
        known = {one.file_id: one for one in tasks(connection, now=now)}
    return [_evidence(database, one, organization, known, patient_index) for one in found]


def _evidence(
    database: Database,
    incident: Incident,
    organization: Organization,
    known: Mapping[int, Task],
    patient_index: Path | None,
) -> Evidence:
    with database.read() as connection:
        seen = [sighted_record(last_seen(connection, number)) for number in _known(connection, incident)]
        hidden = sa.select(work_item.c.file_id).where(work_item.c.blind | (work_item.c.awaits == "second"))
        blind = set(connection.execute(hidden).scalars())
        files = tuple(blinded(one) if one.file_id in blind else one for one in seen)
        shown = [one for one in files if not one.blind]
        identifiers, topics = Counter[EntityType](), Counter[str]()
        for one in shown:
            identifiers.update({EntityType(kind): n for kind, n in one.finding_counts})
        concepts = sa.select(health_term.c.concept, sa.func.count()).group_by(health_term.c.concept)
        for batch in chunks([one.examination_id for one in shown]):
            for concept, n in connection.execute(concepts.where(health_term.c.examination_id.in_(batch))):
                topics[topic_of(concept) or _("no chapter (drugs, body parts, tests)")] += n
        opened = sa.select(reveal.c.revealed_by).where(reveal.c.file_id.in_(incident.files))
        revealed_by = Counter(map(visible, connection.execute(opened).scalars()))
    of_content = {one.content_hash or str(one.file_id): one for one in shown}.values()
    ranges = [one.people_interval or (one.n_people, one.n_people) for one in of_content]
    examined = {one.file_id: one.examination_id for one in shown}
    patients = affected_patients(database, examined, patient_index)
    certain = patients.patients if patients else 0
    # One person may be in every file: the estimates of different contents need not add up.
    people_range = (
        max([certain, *(least for least, _most in ranges)]),
        max(certain, sum(most for _least, most in ranges)),
    )
    people = min(max(certain, sum(one.n_people for one in of_content)), people_range[1])
    counted = incident.texts.get("counted", "").replace(",", "").replace(" ", "")
    if counted.isascii() and counted.isdecimal() and len(counted) < 10:  # noqa: PLR2004 (people on earth)
        people, people_range = int(counted), (int(counted), int(counted))
    remedies = {number: known[number] for number in incident.files if number in known}
    discovered = _discovered(incident, remedies.values())
    return Evidence(
        files=files,
        remedies=remedies,
        exposures=Counter(one.exposure for one in shown),
        readers=Counter(visible(name) for one in shown for name in one.source.readers),
        owners=Counter(str(owner_of(one.source)) for one in shown),
        identifiers=identifiers,
        topics=topics,
        revealed_by=revealed_by,
        people=people,
        people_range=people_range,
        patients=patients,
        discovered=discovered,
        clocks=tuple(running(organization.laws, discovered, people_range)),
    )


def _known(connection: sa.Connection, incident: Incident) -> Iterable[int]:
    """Yield the files of an incident that are still in the database."""
    for number in incident.files:
        with suppress(InputError):
            last_seen(connection, number)
            yield number


def _discovered(incident: Incident, confirmed: Iterable[Task]) -> datetime:
    """Return the discovery: as written, else the first verdict of PHI, else when the incident was opened."""
    with suppress(ValueError):
        return datetime.fromisoformat(incident.texts.get(DISCOVERED, "")).replace(tzinfo=UTC)
    return min([incident.entries[0].entered, *(one.confirmed for one in confirmed)])


@dataclass(frozen=True, slots=True)
class FilledField:
    """A field of a form with its value; "" = the officer must fill it."""

    label: str
    value: str


def filled(
    form: Form, incident: Incident, found: Evidence, organization: Organization
) -> tuple[FilledField, ...]:
    """Return the fields of a form, filled from an incident."""
    values = _values(form, incident, found, organization)
    return tuple(
        FilledField(field.label, "\n".join(text for name in field.fill if (text := values[name])))
        for field in form.fields
    )


def _values(form: Form, incident: Incident, found: Evidence, organization: Organization) -> dict[str, str]:
    least, most = found.people_range
    law = form.id.partition(".")[0]
    answers = [(test.question, incident.texts.get(test.id, "")) for test in jurisdictions()[law].tests]
    regions = (found.patients.by_region if found.patients else None) or {}
    about = (
        count(most)
        if least == most
        else _("{n}, from {least} to {most}", n=count(found.people), least=count(least), most=count(most))
    )
    return {
        **dict.fromkeys(FIELDS, ""),
        **incident.texts,
        "organization": organization.name,
        "contact": organization.contact,
        DISCOVERED: found.discovered.date().isoformat(),
        "kinds": ", ".join(
            [*(str(ENTITY_TYPES[kind]) for kind, _n in found.identifiers.most_common()), *found.topics]
        ),
        "files": _("{n} files", n=count(len(found.files))),
        "people": about,
        "size": _("500 or more") if least >= LARGE else _("fewer than 500") if most < LARGE else "",
        "regions": ", ".join(f"{name} {count(n)}" for name, n in regions.items()),
        "readers": ", ".join(f"{EXPOSURES[one]} ({count(n)})" for one, n in found.exposures.most_common()),
        "places": ", ".join(sorted({visible(one.root) for one in found.files})),
        "tests": "\n".join(f"{question}: {answer}" for question, answer in answers if answer),
    }


def form_text(form: Form, fields: Sequence[FilledField], now: datetime) -> str:
    """Return a filled form as plain text; empty fields are marked."""
    head = [str(form.title), form_source(form, now), str(form.note), ""]
    body = [f"{one.label}\n{indent(one.value or str(EMPTY), '    ')}\n" for one in fields]
    return "\n".join([*head, *body])


EMPTY = lazy_gettext("[to be filled in]")


def form_source(form: Form, now: datetime) -> str:
    """Return where the rules of a form are from, and when it was filled."""
    return _(
        "Source: {source}; rules in force since {since}. Filled {now}.",
        source=form.source,
        since=form.in_force.isoformat(),
        now=moment(now),
    )


def form_pdf(form: Form, fields: Sequence[FilledField], now: datetime) -> bytes:
    """Return a filled form as PDF.

    Raises:
        ConfigError: the fonts are not installed.
    """
    parts = [(field.label, field.value or str(EMPTY)) for field in fields]
    return _pdf(form.title, [form_source(form, now), form.note], now, parts=parts)


REGISTER = (
    "number",
    "title",
    "state",
    "opened",
    "discovered",
    "files",
    "people",
    "people_low",
    "people_high",
    "next_limit",
    "decided",
    "reason",
    "happened",
    "containment",
    "notified",
)
_HEADS = (
    lazy_gettext("No."),
    lazy_gettext("Title"),
    lazy_gettext("State"),
    lazy_gettext("Discovered"),
    lazy_gettext("Files"),
    lazy_gettext("People"),
    lazy_gettext("Decision"),
)


def register_rows(found: Iterable[tuple[Incident, Evidence]]) -> list[dict[str, str]]:
    """Return the register: a row for each incident."""
    rows = []
    for incident, known in found:
        last = next(one for one in reversed(incident.entries) if one.kind == "state")
        rows.append(
            {
                **{name: incident.texts.get(name, "") for name in REGISTER},
                "number": str(incident.number),
                "state": incident.state.value,
                "opened": incident.entries[0].entered.date().isoformat(),
                "discovered": known.discovered.date().isoformat(),
                "files": str(len(incident.files)),
                "people": str(known.people),
                "people_low": str(known.people_range[0]),
                "people_high": str(known.people_range[1]),
                "next_limit": known.next_limit.isoformat() if known.next_limit else "",
                "decided": last.entered.date().isoformat() if last.text else "",
                "reason": last.text,
            }
        )
    return rows


def register_csv(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the register as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, REGISTER, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(cell) for name, cell in row.items()} for row in rows)
    return text.getvalue()


def register_pdf(rows: Sequence[Mapping[str, str]], organization: Organization, now: datetime) -> bytes:
    """Return the register as PDF.

    Raises:
        ConfigError: the fonts are not installed.
    """
    lines = [
        (
            row["number"],
            row["title"],
            STATES[IncidentState(row["state"])],
            row["discovered"],
            row["files"],
            row["people"],
            row["reason"],
        )
        for row in rows
    ]
    facts = [organization.name, moment(now)]
    return _pdf(_("Register of incidents"), facts, now, heads=_HEADS, rows=lines)


def _pdf(title: str, facts: Sequence[str], now: datetime, **content: Any) -> bytes:
    environment = Environment(
        loader=PackageLoader("phiscan.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    install(environment)
    given = {"parts": (), "heads": (), "rows": (), **content}
    template = environment.get_template("record.html.j2")
    return render_pdf(template.render(title=title, facts=facts, now=now, language=current(), **given))
