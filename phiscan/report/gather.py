"""From the review store to one frozen ``ReportData``; every estimate in it is computed by phiscan.metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from phiscan import __version__
from phiscan.decision.reasons import versions_differ
from phiscan.metrics import elusion as bounds
from phiscan.metrics.remaining import Remaining, remaining
from phiscan.model import Outcome, ReaderCount, Referral, Verdict
from phiscan.report.scan_rows import StoredScan, read_scan
from phiscan.report.sections import counts, missed, reviewers, screened
from phiscan.report.sections.reviewers import IncidentRow, Oversight
from phiscan.report.summary import Headline, Summary, headlines, limits, summary
from phiscan.report.words import CHARACTERISTICS, plain
from phiscan.review.decisions.incidents import incidents
from phiscan.review.records.reader_counts import FolderReaders, widest_folders
from phiscan.review.worklist.model import FileRecord
from phiscan.sandbox.isolation import read_missing
from phiscan.store.database import Database
from phiscan.visible import visible


@dataclass(frozen=True, slots=True)
class Scope:
    """Which scan of which folders, when, and with which versions of everything that decides."""

    scan: int
    roots: tuple[str, ...]
    status: str
    started: datetime
    ended: datetime | None
    seconds: float
    n_bytes: int
    made: datetime
    phiscan: str
    versions: dict[str, str]
    audit_ok: bool
    audit_rows: int
    audit_head: str
    audit_problem: str


@dataclass(frozen=True, slots=True)
class WideFolder(ReaderCount):
    """A folder, its files that are PHI or may be, and how many people can read at least one; never who."""

    folder: str
    files: int
    reason: str | None  # why a number is not known


@dataclass(frozen=True, slots=True)
class TopFile:
    """A referred file with the reasons for it, masked: kinds and counts, never a value."""

    file: int
    path: str
    media_type: str
    risk: float
    bits: tuple[str, ...]
    findings: dict[str, int]
    people: int
    hamming: int | None
    health_score: float | None
    case: str
    detectors: tuple[str, ...]
    verdict: Verdict | None
    reviewer: str


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything that the report of one scan says."""

    scope: Scope
    summary: Summary
    headlines: tuple[Headline, ...]
    coverage: counts.Coverage
    funnel: counts.Funnel
    overall: screened.Characteristic
    characteristics: tuple[screened.Characteristic, ...]
    detectors: tuple[screened.Characteristic, ...]
    histories: tuple[missed.History, ...]
    rankings: tuple[screened.ScoreRanking, ...]
    double_review: reviewers.DoubleReview
    blind_review: reviewers.BlindReview
    span_scores: reviewers.SpanScores
    topic_scores: reviewers.TopicScores
    elusion: screened.Elusion
    remaining: Remaining
    verification: screened.Verification
    capture: missed.Capture
    second_list: screened.SecondList
    findings_by_type: tuple[counts.TypeCount, ...]
    type_levels: counts.TypeLevels
    formats: tuple[counts.Group, ...]
    folders: tuple[counts.Group, ...]
    widest_folders: tuple[WideFolder, ...]
    top_files: tuple[TopFile, ...]
    reviewers: tuple[counts.Reviewer, ...]
    decisions: tuple[counts.DecisionRow, ...]
    people: counts.People
    topics: tuple[counts.Topic, ...]
    change: counts.Change
    oversight: Oversight
    incidents: tuple[IncidentRow, ...]
    in_no_incident: int  # files confirmed as PHI
    affected: counts.AffectedPatients | None
    limits: tuple[str, ...]


N_TOP = 100
N_WIDEST = 10


@dataclass(frozen=True, slots=True)
class Report:
    """The report of one scan, and the list of all its files."""

    data: ReportData
    files: tuple[FileRecord, ...]
    names: counts.Names


def gather(
    database: Database,
    scan_id: int | None = None,
    *,
    now: datetime,
    hide_paths: bool = False,
    conceal: bool = True,
    home: Path | None = None,
    patient_index: Path | None = None,
) -> Report:
    """Read one scan (the latest by default) and compute the whole report.

    Args:
        database: the review database.
        scan_id: number of the scan.
        now: date of the report.
        hide_paths: name files by number, because a path may name a person.
        conceal: show files that await a blind second verdict as undecided, because a reader of the report
            may be the second reviewer.
        home: folder where scans store the isolation layers that their workers lacked; None = not reported.
        patient_index: folder of the index of the organization's patients, with states and provinces.

    Raises:
        StoreError: there is no (such) scan, or the database cannot be read.
    """
    stored = read_scan(database, scan_id, n_top=N_TOP, now=now, conceal=conceal)
    names = counts.Names(many_roots=len(stored.summary.roots) > 1, hidden=hide_paths)
    read = tuple(row for row in stored.rows if row.referral is not None)
    n_read = sum(entry.outcome in {Outcome.SCREENED, Outcome.UNCHANGED} for entry in read)
    referred = frozenset(entry.file_id for entry in read if entry.referral is Referral.REFERRED)
    paths = {row.file_id: names.file(row) for row in stored.rows}
    overall = screened.overall(read, referred)
    known = remaining(stored.frame)
    rest = stored.frame.rest
    recall = bounds.recall_lower(overall.phi, rest.found + known.missed_in_rest.upper)
    sample = screened.Elusion(rest.population, rest.drawn, rest.reviewed, rest.phi, recall)
    coverage = counts.coverage(stored, names, n_read)
    funnel = counts.funnel(stored, read)
    capture = missed.capture_recapture(read)
    heads = headlines(coverage, overall, sample, known.missed_in_rest, capture)
    confirmed = {row.file_id: row.examination_id for row in stored.rows if row.verdict is Verdict.PHI}
    with database.read() as connection:
        known_incidents = incidents(connection)
        widest = [] if hide_paths else widest_folders(connection)
        listed = reviewers.incident_rows(connection, known_incidents, paths)
    loose = len(confirmed.keys() - set().union(*(one.places for one in known_incidents)))
    levels = counts.type_levels(stored.findings, stored.distinct, _confirmed(read))
    data = ReportData(
        scope=_scope(stored, names, now),
        summary=summary(
            stored.rows,
            names,
            coverage=coverage,
            funnel=funnel,
            people=counts.people(stored),
            missed=heads[-1],
            incidents=listed,
            in_no_incident=loose,
        ),
        headlines=heads,
        coverage=coverage,
        funnel=funnel,
        overall=overall,
        characteristics=screened.characteristics(list(_bit_screens(read)), read),
        detectors=screened.characteristics(list(_detector_screens(read)), read),
        histories=missed.histories(read),
        rankings=screened.rankings(read),
        double_review=reviewers.double_review(
            [made for made in stored.decisions if made.id not in stored.undone]
        ),
        blind_review=reviewers.blind_review(stored.drawn, stored.ratings, held_back=stored.n_concealed),
        span_scores=reviewers.span_scores(stored.gold),
        topic_scores=reviewers.topic_scores(stored.topic_gold),
        elusion=sample,
        remaining=known,
        verification=screened.corrected(overall, sample, n_rest=len(read) - len(referred)),
        capture=capture,
        second_list=screened.second_list(read, versions_differ(row.reasons for row in stored.rows)),
        findings_by_type=counts.by_type(levels),
        type_levels=levels,
        formats=counts.by_format(stored.rows, stored.same_people),
        folders=counts.by_folder(stored.rows, stored.same_people, names),
        widest_folders=tuple(_widest(widest, names, stored.summary.roots))[:N_WIDEST],
        top_files=tuple(_top_files(stored, names)),
        reviewers=counts.reviewers(stored),
        decisions=counts.decisions_made(stored, paths),
        people=counts.people(stored),
        topics=counts.topics(stored.terms, _confirmed(read)),
        change=counts.change(stored, paths, names),
        oversight=reviewers.oversight(stored, paths, hidden=hide_paths),
        incidents=listed,
        in_no_incident=loose,
        affected=counts.affected_patients(database, confirmed, patient_index),
        limits=limits(
            coverage,
            funnel,
            overall,
            sample,
            held_back=stored.n_concealed,
            searches=stored.summary.searches,
            missing_isolation=(read_missing(home, stored.summary.scan) if home else None) or (),
        ),
    )
    return Report(data, stored.rows, names)


def _confirmed(files: tuple[FileRecord, ...]) -> frozenset[int]:
    return frozenset(entry.file_id for entry in files if entry.verdict is Verdict.PHI)


def _scope(stored: StoredScan, names: counts.Names, now: datetime) -> Scope:
    summary, audit = stored.summary, stored.audit
    return Scope(
        scan=summary.scan,
        roots=tuple(names.root(root) for root in summary.roots),
        status=summary.status,
        started=datetime.fromisoformat(summary.started),
        ended=datetime.fromisoformat(summary.ended) if summary.ended else None,
        seconds=summary.seconds,
        n_bytes=summary.bytes,
        made=now,
        phiscan=__version__,
        versions=dict(summary.versions),
        audit_ok=audit.ok,
        audit_rows=audit.n_rows,
        audit_head=audit.head,
        audit_problem=audit.problem,
    )


def _bit_screens(read: tuple[FileRecord, ...]) -> Iterator[screened.Screen]:
    for bit, (label, hipaa) in CHARACTERISTICS.items():
        marked = frozenset(one.file_id for one in read if bit in one.vector.bits)
        yield screened.Screen(bit.value, label, hipaa, marked)


def _detector_screens(read: tuple[FileRecord, ...]) -> Iterator[screened.Screen]:
    for name in missed.detector_names(read):
        marked = frozenset(one.file_id for one in read if dict(one.detectors).get(name))
        yield screened.Screen(name, plain(name).capitalize(), "", marked)


def _widest(
    found: Iterable[FolderReaders], names: counts.Names, roots: Collection[str]
) -> Iterator[WideFolder]:
    for one in found:
        if one.root in roots:
            reason = ", ".join(one.count.notes) if None in {one.count.low, one.count.high} else None
            shown = names.at(0, one.root, f"{one.folder or '.'}/")
            yield WideFolder(folder=shown, files=one.n_files, reason=reason, **asdict(one.count))


def _top_files(stored: StoredScan, names: counts.Names) -> list[TopFile]:
    return [
        TopFile(
            file=item.file_id,
            path=names.file(item),
            media_type=visible(item.media_type),
            risk=item.risk,
            bits=item.vector.names,
            findings=dict(stored.findings.get(item.file_id, {})),
            people=item.n_people,
            hamming=item.hamming,
            health_score=item.health_score,
            case=item.case,
            detectors=tuple(name for name, is_phi in item.detectors if is_phi),
            verdict=item.verdict,
            reviewer=visible(item.reviewer),
        )
        for item in stored.top
    ]
