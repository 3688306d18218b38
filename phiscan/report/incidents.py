"""An incident with its evidence, the forms of regulators filled from it, and the register of incidents."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from pathlib import Path
from textwrap import indent
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.health.topics import topic_of
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext, lazy_join
from phiscan.model import EntityType, ReaderCount, Verdict
from phiscan.report.openings import together_words
from phiscan.report.regulators import Clock, Form, Jurisdiction, Organization, jurisdictions, running
from phiscan.report.rendering.html import rendered
from phiscan.report.rendering.pdf import render_pdf
from phiscan.report.sections.counts import AffectedPatients, affected_patients
from phiscan.report.words import ENTITY_TYPES, EXPOSURES, count, moment, reader_words
from phiscan.review.decisions import incidents as breaches
from phiscan.review.decisions.incidents import COUNTED, DISCOVERED, Incident, IncidentState, Task
from phiscan.review.records.file_records import COLUMNS, COUNT, present, record_of
from phiscan.review.records.openings import Openings, openings_together
from phiscan.review.worklist.model import Exposure, FileRecord
from phiscan.store.database import Database
from phiscan.store.sql_batches import chunks
from phiscan.store.tables.desk import decision, decision_undo, reveal, work_item
from phiscan.store.tables.scans import access, examination, file, health_term, root, sighting
from phiscan.visible import safe_cell, visible

VIEWED = "viewed"
LARGE = 500  # people, from which HIPAA asks for more
FIELDS: Mapping[str, str] = {
    "title": lazy_gettext("Title"),
    "happened": lazy_gettext("What happened, and how"),
    "occurred": lazy_gettext("When it occurred: the day, or from when to when"),
    DISCOVERED: lazy_gettext("Day of the discovery, if it was known earlier (year-month-day)"),
    "found": lazy_gettext("How it was discovered, and by whom"),
    "recipients": lazy_gettext("Who used it, or to whom it was disclosed"),
    VIEWED: lazy_gettext("Whether it was acquired or viewed: which log, from when to when"),
    COUNTED: lazy_gettext("People affected, if they were counted"),
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
class Facts:
    """What some results of an incident's files say."""

    exposures: Counter[Exposure]
    readers: Counter[str]
    widest: ReaderCount | None  # of the file that most people can read, where they were counted
    identifiers: Counter[EntityType]
    topics: Counter[str]
    people: int
    people_range: tuple[int, int]
    patients: AffectedPatients | None  # None: compared with no patient index

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


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the store can say for the assessment of one incident: of the breach, and of its files now."""

    files: tuple[FileRecord, ...]  # as they were confirmed as PHI; one that was not, as it is
    remedies: Mapping[int, Task]  # of the confirmed files
    breach: Facts  # of ``files``; the people as an officer counted them, if one did
    now: Facts  # of those that are present
    revealed_by: Counter[str]
    opened: Openings  # by access logs, at all places of the files
    discovered: datetime
    is_written: bool  # the day of the discovery, by an officer
    clocks: tuple[tuple[Clock, datetime | None], ...]

    @property
    def next_limit(self) -> datetime | None:
        """The earliest end of a time limit."""
        return min((due for clock, due in self.clocks if due is not None and not clock.keep), default=None)


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
        known = {one.file_id: one for one in breaches.tasks(connection, now=now, cleaned=True)}
        hidden = sa.select(work_item.c.file_id).where(work_item.c.blind | (work_item.c.awaits == "second"))
        blind = frozenset(connection.execute(hidden).scalars())
    given: Any = {"known": known, "blind": blind, "now": now, "patient_index": patient_index}
    return [_evidence(database, one, organization, **given) for one in found]


def _evidence(
    database: Database,
    incident: Incident,
    organization: Organization,
    *,
    known: Mapping[int, Task],
    blind: frozenset[int],
    now: datetime,
    patient_index: Path | None,
) -> Evidence:
    remedies = {number: known[number] for number in incident.files if number in known}
    with database.read() as connection:
        others = [number for number in incident.files if number not in remedies]
        newest = sa.select(sa.func.max(examination.c.id)).group_by(examination.c.file_id)
        results = [row[0] for row in _each(connection, newest, examination.c.file_id, others)]
        results += [one.examination_id for one in remedies.values()]
        files = _records(connection, results)
        standing = present(sa.select(sighting.c.examination_id), None)
        at_present = {row[0] for row in _each(connection, standing, file.c.id, incident.files)}
        shown = [one for one in files if one.file_id not in blind]
        opened = _each(connection, sa.select(reveal.c.revealed_by), reveal.c.file_id, incident.places)
        contents = {one.content_hash for one in shown}
        by_logs = openings_together(connection, {*incident.places} - blind)
        made = _each(connection, _VERDICTS, decision.c.file_id, {*incident.places} - blind)
        confirmed = [row.decided for row in made if row.content_hash in contents]
        confirmed += [one.confirmed for one in remedies.values()]
        left = [one for one in _records(connection, at_present) if one.file_id not in blind]
    breach = _facts(database, shown, patient_index)
    today = None if at_present == set(results) else _facts(database, left, patient_index)
    with suppress(InputError):
        n = breaches.count_of(incident.texts.get(COUNTED, ""))
        breach = replace(breach, people=n, people_range=(n, n))
    discovered, is_written = min([incident.entries[0].entered, *confirmed]), False
    with suppress(InputError):
        day = breaches.day_of(incident.texts.get(DISCOVERED, ""), now)
        discovered, is_written = datetime.combine(day, time(), UTC), True
    last = incident.entries[-1].entered
    return Evidence(
        files=tuple(files),
        remedies=remedies,
        breach=breach,
        now=today or breach,
        revealed_by=Counter(visible(row[0]) for row in opened),
        opened=by_logs,
        discovered=discovered,
        is_written=is_written,
        clocks=tuple(running(organization.laws, discovered, breach.people_range, last)),
    )


_RESULTS = (
    sa.select(*COLUMNS)
    .select_from(examination)
    .join(file, file.c.id == examination.c.file_id)
    .join(root, root.c.id == file.c.root_id)
    .outerjoin(access, access.c.examination_id == examination.c.id)
    .outerjoin(*COUNT)
    .order_by(examination.c.id)
)
_VERDICTS = sa.select(decision.c.decided, decision.c.content_hash).where(
    decision.c.verdict == Verdict.PHI.value, ~sa.exists().where(decision_undo.c.decision_id == decision.c.id)
)


def _each(
    connection: sa.Connection, query: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[int]
) -> list[Any]:
    """Return the rows of a query with these values of a column, read in batches."""
    batches = (query.where(column.in_(batch)) for batch in chunks(values))
    return [row for one in batches for row in connection.execute(one)]


def _records(connection: sa.Connection, results: Iterable[int]) -> list[FileRecord]:
    return [record_of(row) for row in _each(connection, _RESULTS, examination.c.id, results)]


def _facts(database: Database, results: Sequence[FileRecord], patient_index: Path | None) -> Facts:
    identifiers, topics = Counter[EntityType](), Counter[str]()
    for one in results:
        identifiers.update({EntityType(kind): n for kind, n in one.finding_counts})
    examined = {one.file_id: one.examination_id for one in results}
    concepts = sa.select(health_term.c.concept, sa.func.count()).group_by(health_term.c.concept)
    with database.read() as connection:
        for concept, n in _each(connection, concepts, health_term.c.examination_id, examined.values()):
            topics[topic_of(concept) or _("no chapter (drugs, body parts, tests)")] += n
    of_content = {one.content_hash or str(one.file_id): one for one in results}.values()
    ranges = [one.people_interval or (one.n_people, one.n_people) for one in of_content]
    patients = affected_patients(database, examined, patient_index)
    certain = patients.patients if patients else 0
    # One person may be in every file: the estimates of different contents need not add up.
    least = max([certain, *(low for low, _high in ranges)])
    most = max(certain, sum(high for _low, high in ranges))
    return Facts(
        exposures=Counter(one.exposure for one in results),
        readers=Counter(visible(name) for one in results for name in one.source.readers),
        widest=max(
            (one.reader_count for one in results if one.reader_count),
            key=lambda found: (found.high or found.low or 0, found.low or 0),
            default=None,
        ),
        identifiers=identifiers,
        topics=topics,
        people=min(max(certain, sum(one.n_people for one in of_content)), most),
        people_range=(least, most),
        patients=patients,
    )


def suggested(found: Evidence, laws: Iterable[Jurisdiction]) -> dict[str, str]:
    """Return the texts of fields that the logs can fill until an officer writes another one."""
    asked = [test.id for law in laws for test in law.tests if test.evidence == (VIEWED,)]
    return dict.fromkeys([VIEWED, *asked], together_words(found.opened))


Filled = tuple[tuple[str, str], ...]
"""The fields of a form with their values; "" = the officer must fill it."""


def filled(form: Form, incident: Incident, found: Evidence, organization: Organization) -> Filled:
    """Return the fields of a form, filled from an incident."""
    values = _values(form, incident, found, organization)
    return tuple(
        (field.label, "\n".join(text for name in field.fill if (text := values[name])))
        for field in form.fields
    )


def _values(form: Form, incident: Incident, found: Evidence, organization: Organization) -> dict[str, str]:
    known = found.breach
    least, most = known.people_range
    law = form.id.partition(".")[0]
    texts = {**suggested(found, [jurisdictions()[law]]), **incident.texts}
    answers = [(test.question, texts.get(test.id, "")) for test in jurisdictions()[law].tests]
    regions = (known.patients.by_region if known.patients else None) or {}
    about = (
        count(most)
        if least == most
        else _("{n}, from {least} to {most}", n=count(known.people), least=count(least), most=count(most))
    )
    return {
        **dict.fromkeys(FIELDS, ""),
        **texts,
        "organization": organization.name,
        "contact": organization.contact,
        # Without a day that an officer wrote it is the day in UTC, which ends the year too.
        DISCOVERED: f"{found.discovered:%Y-%m-%d}{'' if found.is_written else ' (UTC)'}",
        "kinds": ", ".join(
            [*(str(ENTITY_TYPES[kind]) for kind, _n in known.identifiers.most_common()), *known.topics]
        ),
        "files": _("{n} files", n=count(len(found.files))),
        "people": about,
        "size": _("500 or more") if least >= LARGE else _("fewer than 500") if most < LARGE else "",
        "regions": ", ".join(f"{name} {count(n)}" for name, n in regions.items()),
        "readers": _could_read(known),
        "places": ", ".join(sorted({visible(one.root) for one in found.files})),
        "tests": "\n".join(f"{question}: {answer}" for question, answer in answers if answer),
    }


def _could_read(known: Facts) -> str:
    named = ", ".join(f"{EXPOSURES[one]} ({count(n)})" for one, n in known.exposures.most_common())
    if known.widest is None:
        return named
    most = _("the file that most people can read: {readers}", readers=reader_words(known.widest))
    return f"{named}\n{most}"


def form_text(form: Form, fields: Filled, now: datetime) -> str:
    """Return a filled form as plain text; empty fields are marked."""
    head = [str(form.title), form_source(form, now), str(form.note), ""]
    body = [f"{label}\n{indent(value or str(EMPTY), '    ')}\n" for label, value in fields]
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


def form_pdf(form: Form, fields: Filled, now: datetime) -> bytes:
    """Return a filled form as PDF.

    Raises:
        ConfigError: the fonts are not installed.
    """
    parts = [(label, value or str(EMPTY)) for label, value in fields]
    return record_pdf(form.title, [form_source(form, now), form.note], now, parts=parts)


REGISTER = (
    *("number", "title", "state", "opened", "discovered", "files", "people", "people_low", "people_high"),
    *("next_limit", "decided", "reason", "happened", "containment", "notified"),
)
_HEADS = {
    "number": lazy_gettext("No."),
    "title": lazy_gettext("Title"),
    "state": lazy_gettext("State"),
    "discovered": lazy_gettext("Discovered"),
    "files": lazy_gettext("Files"),
    "people": lazy_gettext("People"),
    "reason": lazy_gettext("Decision"),
}


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
                "people": str(known.breach.people),
                "people_low": str(known.breach.people_range[0]),
                "people_high": str(known.breach.people_range[1]),
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
    named = ({**row, "state": STATES[IncidentState(row["state"])]} for row in rows)
    lines = [tuple(row[name] for name in _HEADS) for row in named]
    facts = [organization.name, moment(now)]
    return record_pdf(_("Register of incidents"), facts, now, heads=tuple(_HEADS.values()), rows=lines)


def record_pdf(title: str, facts: Sequence[str], now: datetime, **content: Any) -> bytes:
    """Return a page as PDF: its title, facts, ``parts`` (heading, text), and ``rows`` under ``heads``.

    Raises:
        ConfigError: the fonts are not installed.
    """
    given = {"parts": (), "heads": (), "rows": (), **content}
    return render_pdf(rendered("record.html.j2", title=title, facts=facts, now=now, **given))
