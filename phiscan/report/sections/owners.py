"""Owners of the files with findings, and who may read them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from phiscan.language import lazy_gettext as _
from phiscan.model import Referral, Verdict
from phiscan.report.data.desk import Owner, Readers
from phiscan.report.data.desk_rows import Place
from phiscan.review.records.items import FileRow
from phiscan.review.worklist.risk import Exposure, exposure_of
from phiscan.visible import visible

N_TOP_TYPES = 3

EXPOSURES: dict[Exposure, str] = {
    Exposure.EVERYONE: _("everyone who reaches the share"),
    Exposure.GROUP: _("a group, or several people by name"),
    Exposure.OWNER: _("its owner only"),
    Exposure.UNKNOWN: _("not known: the share does not report it"),
}


def owner_of(place: Place) -> str:
    """Return the owner's name from the share, else the user id."""
    return visible(place.owner) or _("no. {number}", number=place.uid)


def owners(
    rows: Sequence[FileRow],
    places: Mapping[int, Place],
    findings: Mapping[int, Counter[str]],
    same_people: Mapping[int, str],
) -> tuple[Owner, ...]:
    """Count files, findings and people by owner; most confirmed files first.

    Args:
        rows: the files of the scan.
        places: root, path and metadata of each.
        findings: of referred files, number by type.
        same_people: of referred files, equal if they put the same people at risk.
    """
    by_owner: dict[str, list[FileRow]] = defaultdict(list)
    for row in rows:
        by_owner[owner_of(places[row.file_id])].append(row)
    made = [_owner(name, theirs, places, findings, same_people) for name, theirs in by_owner.items()]
    return tuple(sorted(made, key=lambda one: (-one.phi, -one.referred, -one.crawled, one.owner)))


def _owner(
    name: str,
    rows: Sequence[FileRow],
    places: Mapping[int, Place],
    findings: Mapping[int, Counter[str]],
    same_people: Mapping[int, str],
) -> Owner:
    referred = [row for row in rows if row.referral is Referral.REFERRED]
    exposures = Counter(
        exposure_of(places[row.file_id].mode, places[row.file_id].readers) for row in referred
    )
    types: Counter[str] = Counter()
    people: dict[str, int] = {}
    for row in referred:
        types.update(findings.get(row.file_id, {}))
        content = same_people[row.file_id]
        people[content] = max(people.get(content, 0), row.n_people)
    top = sorted(types.items(), key=lambda item: (-item[1], item[0]))[:N_TOP_TYPES]
    return Owner(
        owner=name,
        crawled=len(rows),
        read=sum(row.referral is not None for row in rows),
        referred=len(referred),
        phi=sum(row.verdict is Verdict.PHI for row in rows),
        not_phi=sum(row.verdict is Verdict.NOT_PHI for row in rows),
        findings=types.total(),
        people=sum(people.values()),
        everyone=exposures[Exposure.EVERYONE],
        group=exposures[Exposure.GROUP],
        owner_only=exposures[Exposure.OWNER],
        unknown=exposures[Exposure.UNKNOWN],
        top_types=dict(top),
    )


def readers(rows: Sequence[FileRow], places: Mapping[int, Place]) -> tuple[Readers, ...]:
    """Count the referred files that each named reader may read, most first; mode bits contain no names."""
    referred: Counter[str] = Counter()
    phi: Counter[str] = Counter()
    for row in rows:
        if row.referral is not Referral.REFERRED:
            continue
        named = {visible(name) for name in places[row.file_id].readers}
        referred.update(named)
        if row.verdict is Verdict.PHI:
            phi.update(named)
    return tuple(
        Readers(name, n, phi[name])
        for name, n in sorted(referred.items(), key=lambda item: (-item[1], item[0]))
    )
