"""Counts of the report: by identifier type, format, folder, reviewer, health topic; people at risk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from phiscan.language import lazy_gettext as _
from phiscan.model import EntityType, Referral, Verdict
from phiscan.report.data.report import DecisionRow, FileEntry, Group, People, Reviewer, Topic, TypeCount
from phiscan.report.data.scan_rows import StoredScan
from phiscan.report.words import ENTITY_TYPES
from phiscan.review.records.items import Decision
from phiscan.visible import visible

FOLDER_DEPTH = 2
# Name of a band, and its minimum number of people; the largest first.
PEOPLE_BANDS = ((_("100 or more"), 100), (_("10 to 99"), 10), (_("2 to 9"), 2), ("1", 1), (_("none"), 0))


def by_type(
    findings: Mapping[int, Counter[str]], distinct: Mapping[str, int], confirmed: frozenset[int]
) -> tuple[TypeCount, ...]:
    """Count the findings of the referred files by identifier type, most first."""
    totals: Counter[str] = Counter()
    files: Counter[str] = Counter()
    phi_files: Counter[str] = Counter()
    for file_id, of_file in findings.items():
        totals.update(of_file)
        files.update(of_file.keys())
        if file_id in confirmed:
            phi_files.update(of_file.keys())
    return tuple(
        TypeCount(
            entity_type=name,
            label=ENTITY_TYPES[EntityType(name)],
            findings=total,
            distinct=distinct[name],
            files=files[name],
            phi_files=phi_files[name],
        )
        for name, total in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    )


def by_format(files: Sequence[FileEntry]) -> tuple[Group, ...]:
    """Count files by media type of their content."""
    rows = ((entry.media_type or _("not known"), entry) for entry in files)
    return _groups((name, entry) for name, entry in rows if entry.outcome != "skipped")


def by_folder(files: Sequence[FileEntry]) -> tuple[Group, ...]:
    """Count files by the first folders of their path; no rows if paths must not be shown."""
    return _groups((entry.folder, entry) for entry in files if entry.folder and entry.outcome != "skipped")


def folder_of(root: str, path: str, *, many_roots: bool) -> str:
    """Return the first folders of a path, to the depth at which they help to locate PHI.

    >>> folder_of("/srv", "wards/a/b/c.txt", many_roots=False), folder_of("/srv", "c.txt", many_roots=False)
    ('wards/a', './')
    """
    folders = path.split("/")[:-1][:FOLDER_DEPTH]
    name = "/".join(folders) or "./"
    return f"{root.rstrip('/')}/{name}" if many_roots else name


def _groups(named: Iterable[tuple[str, FileEntry]]) -> tuple[Group, ...]:
    entries: dict[str, list[FileEntry]] = defaultdict(list)
    for name, entry in named:
        entries[name].append(entry)
    groups = [_group(name, members) for name, members in entries.items()]
    return tuple(sorted(groups, key=lambda g: (-g.phi, -g.referred, -g.crawled, g.name)))


def _group(name: str, members: Sequence[FileEntry]) -> Group:
    read = [entry for entry in members if entry.decision is not None]
    referred = [entry for entry in read if entry.decision is Referral.REFERRED]
    return Group(
        name=name,
        crawled=len(members),
        read=len(read),
        not_read=len(members) - len(read),
        screened_positive=sum(entry.decision in {Referral.REFERRED, Referral.PII_ONLY} for entry in read),
        referred=len(referred),
        phi=sum(entry.verdict is Verdict.PHI for entry in read),
        not_phi=sum(entry.verdict is Verdict.NOT_PHI for entry in read),
        people=sum(entry.people for entry in referred),
    )


def topics(terms: Mapping[int, Counter[str]], confirmed: frozenset[int]) -> tuple[Topic, ...]:
    """Count health concepts over the referred files, those in most files first."""
    hits: Counter[str] = Counter()
    files: Counter[str] = Counter()
    phi_files: Counter[str] = Counter()
    for file_id, of_file in terms.items():
        hits.update(of_file)
        files.update(of_file.keys())
        if file_id in confirmed:
            phi_files.update(of_file.keys())
    return tuple(
        Topic(visible(concept), hits[concept], n_files, phi_files[concept])
        for concept, n_files in sorted(files.items(), key=lambda item: (-item[1], -hits[item[0]], item[0]))
    )


def people(stored: StoredScan) -> People:
    """Estimate the people at risk; copies of one content count once, unless their names differ in people.

    The people of different contents are added up: one person in two files counts twice, so both sums are
    upper estimates of the number of distinct people.
    """
    per_content: dict[str, int] = {}
    confirmed: dict[str, int] = {}
    bands = dict.fromkeys((name for name, _ in reversed(PEOPLE_BANDS)), 0)
    for row in stored.rows:
        if row.referral is not Referral.REFERRED:
            continue
        content = stored.same_people[row.file_id]
        per_content[content] = max(per_content.get(content, 0), row.n_people)
        if row.verdict is Verdict.PHI:
            confirmed[content] = max(confirmed.get(content, 0), row.n_people)
        bands[_band(row.n_people)] += 1
    return People(sum(per_content.values()), sum(confirmed.values()), bands)


def _band(n_people: int) -> str:
    return next(name for name, least in PEOPLE_BANDS if n_people >= least)


def decisions_made(stored: StoredScan, paths: Mapping[int, str]) -> tuple[DecisionRow, ...]:
    """List every decision about the scan's files, newest first; one per file is current."""
    standing = _standing(stored)
    return tuple(
        DecisionRow(
            decision=made.id,
            file=made.file_id,
            path=paths[made.file_id],
            verdict=Verdict(made.verdict),
            reviewer=visible(made.reviewer),
            decided=made.decided,
            standing=made.id in standing,
            undone=made.id in stored.desk.undone,
        )
        for made in reversed(stored.decisions)
    )


def reviewers(stored: StoredScan) -> tuple[Reviewer, ...]:
    """Count the decisions of each reviewer, by name."""
    standing = _standing(stored)
    by_name: dict[str, list[Decision]] = defaultdict(list)
    for made in stored.decisions:
        by_name[made.reviewer].append(made)
    found = []
    for name, theirs in sorted(by_name.items()):
        counts = Counter(made.verdict for made in theirs if made.id in standing)
        found.append(
            Reviewer(
                reviewer=visible(name),
                phi=counts[Verdict.PHI],
                not_phi=counts[Verdict.NOT_PHI],
                unsure=counts[Verdict.UNSURE],
                superseded=len(theirs) - counts.total(),
                first=min(made.decided for made in theirs),
                last=max(made.decided for made in theirs),
            )
        )
    return tuple(found)


def _standing(stored: StoredScan) -> frozenset[int]:
    """Return the current decisions: the last one about each present content that was not undone."""
    last = {
        made.file_id: made.id
        for made in stored.decisions
        if made.content_hash == stored.content_hashes[made.file_id] and made.id not in stored.desk.undone
    }
    return frozenset(last.values())
