"""Counts of the report: by type, format, folder, reviewer, topic; people, patients; changes since a scan."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from phiscan.errors import ConfigError
from phiscan.language import lazy_gettext as _
from phiscan.metrics.hierarchy import REPRESENTATION
from phiscan.metrics.intervals import Figure, proportion
from phiscan.model import NOT_COVERED, EntityType, Outcome, Referral, Verdict
from phiscan.patients.affected import NOTICE_AT, UNKNOWN, matched_patients
from phiscan.patients.index import open_index
from phiscan.report.scan_rows import PreviousScan, StoredScan
from phiscan.report.spans.files import read_type_map
from phiscan.report.words import ENTITY_TYPES, plain
from phiscan.review.worklist.model import Decision, FileRecord
from phiscan.store.database import Database
from phiscan.visible import visible


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, or a part of one, that could not be read."""

    path: str
    locator: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of every crawled file; crawled = screened + unchanged + skipped + failed.

    ``read`` are the files whose text was screened, in this scan or (if unchanged since) in an earlier one;
    ``read_share`` divides them by the files that had something to read (crawled less skipped).
    """

    crawled: int
    screened: int
    unchanged: int
    skipped: dict[str, int]
    failed: dict[str, int]
    read: int
    not_read: int
    read_share: Figure
    unread_parts: int
    files_with_unread_parts: int
    unread: tuple[Unread, ...]
    ocr_files: int = 0  # waiting for OCR: the next scan reads them
    ocr_parts: int = 0  # pages and pictures in them
    sampled_files: int = 0  # long files that are referred by samples of their text
    sampled: tuple[Unread, ...] = ()  # what was left out of them
    not_covered: dict[str, int] = field(default_factory=dict)  # files by a language that is not read


@dataclass(frozen=True, slots=True)
class Funnel:
    """The number of files after each step, and the verdicts on the last ones."""

    crawled: int
    read: int
    screened_positive: int
    referred: int
    reviewed: int
    phi: int
    not_phi: int
    unsure: int
    undecided: int
    pii_only: int
    health_only: int
    clear: int


@dataclass(frozen=True, slots=True)
class TypeCount:
    """Findings of one identifier type in the referred files."""

    entity_type: str
    label: str
    findings: int
    distinct: int
    files: int
    phi_files: int


@dataclass(frozen=True, slots=True)
class LevelCount:
    """Findings under one label of the hierarchy of identifier types, in the referred files.

    ``level`` 0 is a fine type, 1 the HIPAA identifier that it is, 2 all of them together.
    """

    level: int
    name: str
    label: str
    parent: str
    findings: int
    distinct: int
    files: int
    phi_files: int


@dataclass(frozen=True, slots=True)
class TypeLevels:
    """The findings at every level, each label before those below it; ``no_scores`` says what they are not."""

    counts: tuple[LevelCount, ...]
    representation: str
    no_scores: str
    source: str


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one format or folder."""

    name: str
    crawled: int
    read: int
    not_read: int
    screened_positive: int
    referred: int
    phi: int
    not_phi: int
    people: int


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision as it was appended; ``standing`` is the one that counts now, ``undone`` was taken back."""

    decision: int
    file: int
    path: str
    verdict: Verdict
    reviewer: str
    decided: datetime
    standing: bool
    undone: bool


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The standing decisions of one person, and how many of theirs were superseded."""

    reviewer: str
    phi: int
    not_phi: int
    unsure: int
    superseded: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class People:
    """Distinct people at risk, an estimate from linking identifiers; identical files counted once.

    Those of referred files, without the ones that are decided as not PHI.

    ``bands`` counts referred files by the number of people in each.
    """

    at_risk: int
    in_confirmed: int
    bands: dict[str, int]


@dataclass(frozen=True, slots=True)
class Topic:
    """A health concept found in referred files."""

    concept: str
    hits: int
    files: int
    phi_files: int


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


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file whose referral, or presence, is not what it was at the scan before."""

    change: str
    file: int
    path: str
    now_at: str


@dataclass(frozen=True, slots=True)
class Change:
    """This scan against the previous complete scan of the same folders.

    Present now = ``new`` + ``moved`` + ``changed`` + ``same`` + ``now_read`` + ``no_longer_read`` +
    ``never_read``. ``moved`` were met at a new place with the content of a file that is gone; ``deleted`` are
    gone and were not met again. ``copies`` were taken over from an equal content by this scan. Newly referred
    files are split by why: new or moved, content changed, or the same content judged by other ``versions``.
    ``reason`` says why nothing is compared, or why the deleted files are not known; the counts are then None.
    """

    copies: int
    previous: int | None = None
    previous_ended: datetime | None = None
    present_before: int | None = None
    present: int | None = None
    new: int | None = None
    moved: int | None = None
    changed: int | None = None
    same: int | None = None
    now_read: int | None = None
    no_longer_read: int | None = None
    never_read: int | None = None
    deleted: int | None = None
    newly_referred: int | None = None
    newly_referred_new: int | None = None
    newly_referred_changed: int | None = None
    newly_referred_same: int | None = None
    no_longer_referred: int | None = None
    referred_gone: int | None = None
    still_referred: int | None = None
    versions: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] = ()
    reason: str | None = None


FOLDER_DEPTH = 2
# Name of a band, and its minimum number of people; the largest first.
PEOPLE_BANDS = ((_("100 or more"), 100), (_("10 to 99"), 10), (_("2 to 9"), 2), ("1", 1), (_("none"), 0))


def by_type(levels: TypeLevels) -> tuple[TypeCount, ...]:
    """Return the counts of the fine types, those with most findings first."""
    fine = sorted((c for c in levels.counts if not c.level), key=lambda c: (-c.findings, c.name))
    return tuple(TypeCount(c.name, c.label, c.findings, c.distinct, c.files, c.phi_files) for c in fine)


def _tally(
    found: Mapping[int, Counter[str]], confirmed: frozenset[int]
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Count by label: occurrences, files, and confirmed files."""
    total: Counter[str] = Counter()
    files: Counter[str] = Counter()
    phi_files: Counter[str] = Counter()
    for file_id, of_file in found.items():
        total.update(of_file)
        files.update(of_file.keys())
        if file_id in confirmed:
            phi_files.update(of_file.keys())
    return total, files, phi_files


def by_format(files: Sequence[FileRecord], same_people: Mapping[int, str]) -> tuple[Group, ...]:
    """Count files by media type of their content."""
    return _groups([(visible(entry.media_type) or _("not known"), entry) for entry in files], same_people)


def by_folder(files: Sequence[FileRecord], same_people: Mapping[int, str], names: Names) -> tuple[Group, ...]:
    """Count files by the first folders of their path; no rows if paths must not be shown."""
    named = [(names.folder(entry), entry) for entry in files]
    return _groups([one for one in named if one[0]], same_people)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of files in the report: the path, or the number if paths must not be shown."""

    many_roots: bool
    hidden: bool = False

    def file(self, record: FileRecord) -> str:
        """Return the displayed name of a file."""
        return self.at(record.file_id, record.root, record.path)

    def at(self, file_id: int, root: str, path: str) -> str:
        """Return the displayed name of the file with a number at a path."""
        if self.hidden:
            return f"file {file_id}"
        return visible(f"{root.rstrip('/')}/{path}" if self.many_roots else path)

    def folder(self, record: FileRecord) -> str:
        """Return the name of a file's folder; "" if paths must not be shown."""
        return "" if self.hidden else visible(folder_of(record.root, record.path, many_roots=self.many_roots))

    def part(self, locator: str) -> str:
        """Return the name of a part of a file."""
        return _("a part of it") if self.hidden and locator else visible(locator)

    def root(self, root: str) -> str:
        """Return the name of a root."""
        return _("not shown") if self.hidden else visible(root)


def folder_of(root: str, path: str, *, many_roots: bool) -> str:
    """Return the first folders of a path, to the depth at which they help to locate PHI.

    >>> folder_of("/srv", "wards/a/b/c.txt", many_roots=False), folder_of("/srv", "c.txt", many_roots=False)
    ('wards/a', './')
    """
    folders = path.split("/")[:-1][:FOLDER_DEPTH]
    name = "/".join(folders) or "./"
    return f"{root.rstrip('/')}/{name}" if many_roots else name


def _groups(named: Iterable[tuple[str, FileRecord]], same_people: Mapping[int, str]) -> tuple[Group, ...]:
    entries: dict[str, list[FileRecord]] = defaultdict(list)
    for name, entry in named:
        if entry.outcome != "skipped":
            entries[name].append(entry)
    groups = [_group(name, members, same_people) for name, members in entries.items()]
    return tuple(sorted(groups, key=lambda g: (-g.phi, -g.referred, -g.crawled, g.name)))


def _group(name: str, members: Sequence[FileRecord], same_people: Mapping[int, str]) -> Group:
    read = [entry for entry in members if entry.referral is not None]
    referred = [entry for entry in read if entry.referral is Referral.REFERRED]
    return Group(
        name=name,
        crawled=len(members),
        read=len(read),
        not_read=len(members) - len(read),
        screened_positive=sum(entry.referral in {Referral.REFERRED, Referral.PII_ONLY} for entry in read),
        referred=len(referred),
        phi=sum(entry.verdict is Verdict.PHI for entry in read),
        not_phi=sum(entry.verdict is Verdict.NOT_PHI for entry in read),
        people=total_people(
            [(entry.file_id, entry.n_people) for entry in referred if entry.verdict is not Verdict.NOT_PHI],
            same_people,
        ),
    )


def total_people(files: Iterable[tuple[int, int]], same_people: Mapping[int, str]) -> int:
    """Sum the people of referred files, given by number with their people; identical files count once."""
    per_content: dict[str, int] = {}
    for number, n_people in files:
        content = same_people[number]
        per_content[content] = max(per_content.get(content, 0), n_people)
    return sum(per_content.values())


def topics(terms: Mapping[int, Counter[str]], confirmed: frozenset[int]) -> tuple[Topic, ...]:
    """Count health concepts over the referred files, those in most files first."""
    hits, files, phi_files = _tally(terms, confirmed)
    return tuple(
        Topic(visible(concept), hits[concept], n_files, phi_files[concept])
        for concept, n_files in sorted(files.items(), key=lambda item: (-item[1], -hits[item[0]], item[0]))
    )


def people(stored: StoredScan) -> People:
    """Estimate the people at risk, in referred files that are not decided as not PHI.

    The people of different contents are added up: one person in two files counts twice, so both sums are
    upper estimates of the number of distinct people.
    """
    rows = [row for row in stored.rows if row.referral is Referral.REFERRED]
    at_risk = [(row.file_id, row.n_people) for row in rows if row.verdict is not Verdict.NOT_PHI]
    confirmed = [(row.file_id, row.n_people) for row in rows if row.verdict is Verdict.PHI]
    bands = dict.fromkeys((name for name, _ in reversed(PEOPLE_BANDS)), 0)
    for row in rows:
        bands[next(name for name, least in PEOPLE_BANDS if row.n_people >= least)] += 1
    same = stored.same_people
    return People(total_people(at_risk, same), total_people(confirmed, same), bands)


def decisions_made(stored: StoredScan, paths: Mapping[int, str]) -> tuple[DecisionRow, ...]:
    """List every decision about the scan's files, newest first; one per file is current."""
    return tuple(
        DecisionRow(
            decision=made.id,
            file=made.file_id,
            path=paths[made.file_id],
            verdict=Verdict(made.verdict),
            reviewer=visible(made.reviewer),
            decided=made.decided,
            standing=made.id in stored.standing,
            undone=made.id in stored.undone,
        )
        for made in reversed(stored.decisions)
    )


def reviewers(stored: StoredScan) -> tuple[Reviewer, ...]:
    """Count the decisions of each reviewer, by name."""
    by_name: dict[str, list[Decision]] = defaultdict(list)
    for made in stored.decisions:
        by_name[made.reviewer].append(made)
    found = []
    for name, theirs in sorted(by_name.items()):
        counts = Counter(made.verdict for made in theirs if made.id in stored.standing)
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


ANY_KIND = _("any identifier")
LEVELS_SOURCE = _("45 CFR 164.514(b)(2)(i); counts in the hierarchy: Falis et al. (2021), CoPHE")
NO_SCORES = _(
    "These are counts, not scores. Precision and recall need files whose identifiers and "
    "health topics people have checked one by one; a verdict says only whether a "
    "file is PHI. Where reviewers have done so, the scores stand under “How well spans "
    "and topics are found”."
)


def type_levels(
    findings: Mapping[int, Counter[str]], distinct: Mapping[str, int], confirmed: frozenset[int]
) -> TypeLevels:
    """Count findings at every level, a file once per label however many of its types are below it.

    Args:
        findings: number by type, by referred file.
        distinct: distinct values by type; values of different types are never the same.
        confirmed: files confirmed as PHI.

    Raises:
        InputError: the table of types cannot be read.

    Source: Falis et al. (2021): counts are preserved from the leaves upwards.
    """
    identifiers = read_type_map("hipaa")
    types = [str(kind) for kind in EntityType]
    above = {name: [name, identifiers[name], ANY_KIND] for name in types}

    def with_levels(counts: Mapping[str, int]) -> Counter[str]:
        every: Counter[str] = Counter()
        for name, count in counts.items():
            every.update(dict.fromkeys(above[name], count))
        return every

    all_levels = {file_id: with_levels(of_file) for file_id, of_file in findings.items()}
    n_findings, n_files, n_confirmed = _tally(all_levels, confirmed)
    n_distinct = with_levels(distinct)
    paths = sorted({tuple(reversed(above[name][place:])) for name in types for place in range(3)})
    return TypeLevels(
        counts=tuple(
            LevelCount(
                level=3 - len(path),
                name=path[-1],
                label=ENTITY_TYPES[EntityType(path[-1])] if path[-1] in types else plain(path[-1]),
                parent=plain(path[-2]) if len(path) > 1 else "",
                findings=n_findings[path[-1]],
                distinct=n_distinct[path[-1]],
                files=n_files[path[-1]],
                phi_files=n_confirmed[path[-1]],
            )
            for path in paths
            if n_findings[path[-1]]
        ),
        representation=REPRESENTATION,
        no_scores=NO_SCORES,
        source=LEVELS_SOURCE,
    )


def affected_patients(
    database: Database, examinations: Mapping[int, int], folder: Path | None
) -> AffectedPatients | None:
    """Return the patients of all files, each once; files without comparison are excluded.

    Args:
        database: the review database.
        examinations: current examination by file.
        folder: folder of the patient index, which contains states and provinces.
    """
    with database.read() as connection:
        matched = matched_patients(connection, list(examinations.values()))
    if not matched:
        return None
    index = None
    if folder is not None:
        with suppress(ConfigError):
            index = open_index(folder)
    everybody = set().union(*matched.values())
    regions = None
    if index is not None:
        counts = Counter(visible(index.region_of(one)) or UNKNOWN for one in everybody)
        regions = dict(sorted(counts.items()))
    notice = tuple(name for name, n in (regions or {}).items() if n >= NOTICE_AT and name != UNKNOWN)
    of_file = [matched[result] for result in examinations.values() if result in matched]
    return AffectedPatients(len(everybody), regions, notice, len(of_file), sum(not one for one in of_file))


NO_PREVIOUS = _("there is no earlier complete scan of the same folders")
NOT_COMPLETE = _("the scan has not reached its end, so a file that it has not met may still be there")

NEW, MOVED, CHANGED, SAME = "new", "moved", "changed", "same"
NOW_READ, NO_LONGER_READ, NEVER_READ = "now_read", "no_longer_read", "never_read"

_READ = {Outcome.SCREENED, Outcome.UNCHANGED}


def change(stored: StoredScan, paths: Mapping[int, str], names: Names) -> Change:
    """Compare the files of a scan with those of the previous complete scan of the same folders.

    Args:
        stored: the scan; of one that was completed, files that it did not find are missing.
        paths: names of the files of this scan.
        names: of files that this scan did not find.
    """
    previous, n_copies = stored.previous, stored.summary.n_copies
    if previous is None:
        return Change(copies=n_copies, reason=NO_PREVIOUS)
    complete = stored.summary.status == "complete"
    places = {row.file_id: row for row in stored.rows}
    before = previous.files
    missing = sorted(before.keys() - places.keys())
    moved_to = _moves(previous, places, missing)
    arrived = set(moved_to.values())
    kinds = {number: _kind(number, places, previous, arrived) for number in places}
    counts = Counter(kinds.values())
    is_now = {number for number, place in places.items() if place.referral == Referral.REFERRED}
    was = {number for number, old in before.items() if old.referral == Referral.REFERRED}
    # A moved file is the same file at another path: it was referred before if it was at its old path.
    origin = {new: old for old, new in moved_to.items()}
    newly = {number for number in is_now if origin.get(number, number) not in was}
    why = Counter(kinds[number] for number in newly)
    dropped = sorted(number for number in was & places.keys() if number not in is_now)
    deleted = [number for number in missing if number not in moved_to]
    versions, now = previous.versions, stored.summary.versions
    listed = [(_("newly referred, {why}", why=_WHY[kinds[n]]), n, paths[n], "") for n in sorted(newly)]
    listed += [(_("no longer referred"), n, paths[n], "") for n in dropped]
    listed += [(_("moved"), n, names.file(before[n]), paths[moved_to[n]]) for n in sorted(moved_to)]
    listed += [(_("deleted"), n, names.file(before[n]), "") for n in deleted if complete]
    return Change(
        previous=previous.id,
        previous_ended=previous.ended,
        present_before=len(before),
        present=len(places),
        **{kind: counts[kind] for kind in _WHY},
        deleted=len(deleted) if complete else None,
        copies=n_copies,
        newly_referred=len(newly),
        newly_referred_new=why[NEW] + why[MOVED] + why[NOW_READ],
        newly_referred_changed=why[CHANGED],
        newly_referred_same=why[SAME],
        no_longer_referred=len(dropped),
        referred_gone=sum(number in was for number in deleted) if complete else None,
        still_referred=len(is_now) - len(newly),
        versions=tuple(
            plain(name) for name in sorted({*versions, *now}) if versions.get(name) != now.get(name)
        ),
        files=tuple(ChangedFile(*row) for row in listed),
        reason=None if complete else NOT_COMPLETE,
    )


_WHY = {
    NEW: _("a new file"),
    MOVED: _("a moved file"),
    CHANGED: _("its content changed"),
    SAME: _("the same content judged again"),
    NOW_READ: _("it could not be read before"),
    NO_LONGER_READ: _("its content changed"),
    NEVER_READ: _("its content changed"),
}


def _moves(previous: PreviousScan, places: Mapping[int, FileRecord], missing: list[int]) -> dict[int, int]:
    """Pair each missing file with a new one of the same content, each new one once."""
    arrived: dict[str, list[int]] = defaultdict(list)
    for number in sorted(places.keys() - previous.files.keys(), reverse=True):
        if places[number].content_hash:
            arrived[places[number].content_hash].append(number)
    moves = {}
    for number in missing:
        waiting = arrived.get(previous.files[number].content_hash)
        if waiting:
            moves[number] = waiting.pop()
    return moves


def _kind(number: int, places: Mapping[int, FileRecord], previous: PreviousScan, arrived: set[int]) -> str:
    place, old = places[number], previous.files.get(number)
    if old is None:
        return MOVED if number in arrived else NEW
    is_read, was_read = place.outcome in _READ, old.outcome in _READ
    if is_read and was_read:
        return SAME if place.content_hash == old.content_hash else CHANGED
    if is_read:
        return NOW_READ
    return NO_LONGER_READ if was_read else NEVER_READ


def coverage(stored: StoredScan, names: Names, n_read: int) -> Coverage:
    """Return what became of every file of a scan; ``n_read``: files whose text was screened."""
    summary = stored.summary
    skipped = sum(summary.skipped.values())
    unread: list[Unread] = []
    sampled: list[Unread] = []
    for row in stored.rows:
        name = names.file(row)
        if row.outcome is Outcome.FAILED:
            unread.append(Unread(name, "", row.reason, visible(row.detail)))
        if not row.covered:
            unread.append(Unread(name, "", NOT_COVERED, row.language))
        for part in row.unread:
            entry = Unread(name, names.part(part.locator), part.reason, visible(part.detail))
            (sampled if part.is_sampled else unread).append(entry)
    due = summary.crawled - skipped
    return Coverage(
        crawled=summary.crawled,
        screened=summary.screened,
        unchanged=summary.unchanged,
        skipped=dict(summary.skipped),
        failed=dict(summary.failed),
        read=n_read,
        not_read=due - n_read,
        read_share=proportion(n_read, due, _("there was no file to read")),
        unread_parts=summary.n_unread_parts,
        files_with_unread_parts=sum(any(not part.is_sampled for part in row.unread) for row in stored.rows),
        unread=tuple(unread),
        ocr_files=summary.n_ocr_files,
        ocr_parts=summary.n_ocr_parts,
        sampled_files=summary.n_sampled_files,
        sampled=tuple(sampled),
        not_covered=dict(summary.not_covered),
    )


def funnel(stored: StoredScan, read: tuple[FileRecord, ...]) -> Funnel:
    """Count the files after each step; ``read``: those that were read."""
    summary = stored.summary
    referred = [entry.verdict for entry in read if entry.referral is Referral.REFERRED]
    n = {verdict: referred.count(verdict) for verdict in Verdict}
    decisions = [entry.referral for entry in read]
    return Funnel(
        crawled=summary.crawled,
        read=len(read),
        screened_positive=summary.screened_positive,
        referred=summary.referred,
        reviewed=n[Verdict.PHI] + n[Verdict.NOT_PHI],
        phi=n[Verdict.PHI],
        not_phi=n[Verdict.NOT_PHI],
        unsure=n[Verdict.UNSURE],
        undecided=referred.count(None),
        pii_only=decisions.count(Referral.PII_ONLY),
        health_only=decisions.count(Referral.HEALTH_ONLY),
        clear=decisions.count(Referral.CLEAR),
    )
