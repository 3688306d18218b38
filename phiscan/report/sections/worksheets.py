"""A breach worksheet for each confirmed file: the stored data for the four factors.

What is not stored (who else had the file, whether it was taken, what was done since) is left to the
officer.
"""

from __future__ import annotations

import stat
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from phiscan.health.topics import topic_of
from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join
from phiscan.model import EntityType, Referral, Verdict
from phiscan.report.data.desk import IdentifierKind, Worksheet
from phiscan.report.data.desk_rows import Contents, Place, StoredDesk
from phiscan.report.data.patients import AffectedPatients
from phiscan.report.sections.owners import EXPOSURES, owner_of
from phiscan.report.sections.time_limits import deadlines
from phiscan.report.spans.files import read_type_map
from phiscan.report.words import ENTITY_TYPES
from phiscan.review.records.items import Decision, FileRow
from phiscan.review.worklist.risk import exposure_of
from phiscan.visible import visible

# Identifying by themselves, or with one look into a register.
_DIRECT = frozenset(
    {
        EntityType.PERSON,
        EntityType.SIN,
        EntityType.SSN,
        EntityType.HEALTH_CARD,
        EntityType.HEALTH_PLAN,
        EntityType.MRN,
        EntityType.PASSPORT,
        EntityType.DRIVER_LICENSE,
        EntityType.EMAIL,
        EntityType.PHONE,
        EntityType.BIOMETRIC,
    }
)
_TOPIC_NONE = _("no chapter (drugs, body parts, tests)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def worksheets(
    rows: Sequence[FileRow],
    decisions: Sequence[Decision],
    desk: StoredDesk,
    *,
    paths: Mapping[int, str],
    affected: Mapping[int, AffectedPatients],
) -> tuple[Worksheet, ...]:
    """Fill in the worksheet of each confirmed file, in the order of discovery.

    Args:
        rows: the files of the scan.
        decisions: about them, oldest first.
        desk: the records of the desk.
        paths: names of the files.
        affected: the organization's own patients in them, by file.

    Raises:
        InputError: the table of types cannot be read.
    """
    by_content: dict[str, list[int]] = defaultdict(list)
    for number, place in desk.places.items():
        if place.content_hash:
            by_content[place.content_hash].append(number)
    phi: dict[tuple[int, str], list[Decision]] = defaultdict(list)
    for made in decisions:
        if made.verdict == Verdict.PHI and made.id not in desk.undone:
            phi[made.file_id, made.content_hash].append(made)
    revealed: dict[int, Counter[str]] = defaultdict(Counter)
    for one in desk.reveals:
        revealed[one.file_id][visible(one.revealed_by)] += 1
    hipaa = read_type_map("hipaa")
    made_sheets = []
    for row in rows:
        if row.verdict is not Verdict.PHI:
            continue
        place = desk.places[row.file_id]
        verdicts = phi[row.file_id, place.content_hash]
        made_sheets.append(
            _worksheet(
                row,
                place,
                verdicts,
                contents=desk.confirmed.get(row.file_id, Contents({}, {})),
                path=paths[row.file_id],
                copies=tuple(n for n in sorted(by_content[place.content_hash]) if n != row.file_id),
                revealed=revealed[row.file_id],
                hipaa=hipaa,
                affected=affected.get(row.file_id),
            )
        )
    return tuple(sorted(made_sheets, key=lambda sheet: (sheet.discovered, sheet.file)))


def _worksheet(
    row: FileRow,
    place: Place,
    verdicts: Sequence[Decision],
    *,
    contents: Contents,
    path: str,
    copies: tuple[int, ...],
    revealed: Counter[str],
    hipaa: Mapping[str, str],
    affected: AffectedPatients | None,
) -> Worksheet:
    discovered = min(made.decided for made in verdicts)
    return Worksheet(
        file=row.file_id,
        page=f"worksheets/file-{row.file_id}.html",
        path=path,
        media_type=visible(row.media_type),
        size=place.size,
        modified=_moment(place.mtime_ns),
        discovered=discovered,
        decided=verdicts[-1].decided,
        reviewer=visible(verdicts[-1].reviewer),
        referred=row.referral is Referral.REFERRED,
        people=row.n_people,
        identifiers=tuple(
            IdentifierKind(ENTITY_TYPES[EntityType(name)], hipaa[name], n, distinct)
            for name, (n, distinct) in sorted(contents.types.items(), key=lambda item: (-item[1][0], item[0]))
        ),
        topics=_topics(contents.concepts),
        reidentification=reidentification([EntityType(name) for name in contents.types]),
        owner=owner_of(place),
        readers=tuple(visible(name) for name in place.readers),
        mode=stat.filemode(place.mode) if stat.S_IFMT(place.mode) else "",
        exposure=EXPOSURES[exposure_of(place.mode, place.readers)],
        copies=copies,
        reveals=revealed.total(),
        revealed_by=tuple(sorted(revealed)),
        unread_parts=sum(not part.is_sampled for part in row.unread),
        due=deadlines(discovered),
        affected=affected,
    )


def reidentification(types: Sequence[EntityType]) -> str:
    """Return how identifiable the people in a file are, by the types of identifiers.

    >>> reidentification([EntityType.DATE])[:18]
    'No direct identifi'
    """
    direct = [ENTITY_TYPES[kind].lower() for kind in EntityType if kind in set(types) & _DIRECT]
    if direct:
        return _(
            "High: it holds what tells who somebody is by itself or with one look into a "
            "register ({direct}).",
            direct=lazy_join(", ", direct),
        )
    if types:
        return _(
            "No direct identifier was found. Dates, places and numbers together can still single "
            "out a person; judge it with the text."
        )
    return _("The program found no identifier; who confirmed the file knows why. Judge it with the text.")


def _topics(concepts: Mapping[str, int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for concept, n in concepts.items():
        counts[topic_of(concept) or _TOPIC_NONE] += n
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _moment(ns: int) -> datetime:
    """Convert a time of the file system; one beyond the calendar is clamped."""
    try:
        return _EPOCH + timedelta(microseconds=ns // 1000)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if ns > 0 else datetime.min.replace(tzinfo=UTC)
