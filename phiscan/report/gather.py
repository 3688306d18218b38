"""From the review store to one frozen ``ReportData``; every estimate in it is computed by phiscan.metrics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from phiscan import __version__
from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import proportion
from phiscan.model import SECOND_LISTS, SECOND_NAMES, SECOND_NAMES_NEAR, Outcome, Referral, Verdict
from phiscan.report.data.missed import SampleFile
from phiscan.report.data.report import Coverage, FileEntry, Funnel, ReportData, Scope, TopFile, Unread
from phiscan.report.data.scan_rows import StoredScan, read_scan
from phiscan.report.second_list import second_list
from phiscan.report.sections import elusion, missed, screened
from phiscan.report.sections.change import change
from phiscan.report.sections.corrected_scores import span_scores, topic_scores
from phiscan.report.sections.counts import (
    by_folder,
    by_format,
    by_type,
    decisions_made,
    folder_of,
    people,
    reviewers,
    topics,
)
from phiscan.report.sections.headlines import headlines
from phiscan.report.sections.limits import limits
from phiscan.report.sections.oversight import oversight
from phiscan.report.sections.owners import owners, readers
from phiscan.report.sections.patients import affected_patients
from phiscan.report.sections.ranking import rankings
from phiscan.report.sections.reviewer_agreement import blind_review, double_review
from phiscan.report.sections.second_names import second_family
from phiscan.report.sections.time_limits import DUTIES
from phiscan.report.sections.type_levels import type_levels
from phiscan.report.sections.verification import corrected, stopping
from phiscan.report.sections.worksheets import worksheets
from phiscan.report.summary import summary
from phiscan.report.words import CHARACTERISTICS, plain
from phiscan.review.records.items import FileRow
from phiscan.sandbox.record import read_missing
from phiscan.store.database import Database
from phiscan.visible import visible

N_TOP = 100


@dataclass(frozen=True, slots=True)
class Report:
    """The report of one scan, and the list of all its files."""

    data: ReportData
    files: tuple[FileEntry, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """Names of files in the report: the path, or the number if paths must not be shown."""

    many_roots: bool
    hidden: bool = False

    def file(self, file_id: int, root: str, path: str) -> str:
        """Return the displayed name of a file."""
        if self.hidden:
            return f"file {file_id}"
        return visible(f"{root.rstrip('/')}/{path}" if self.many_roots else path)

    def folder(self, root: str, path: str) -> str:
        """Return the name of a file's folder; "" if paths must not be shown."""
        return "" if self.hidden else visible(folder_of(root, path, many_roots=self.many_roots))

    def part(self, locator: str) -> str:
        """Return the name of a part of a file."""
        return _("a part of it") if self.hidden and locator else visible(locator)

    def root(self, root: str) -> str:
        """Return the name of a root."""
        return _("not shown") if self.hidden else visible(root)


def gather(
    database: Database,
    scan_id: int | None = None,
    *,
    now: datetime,
    seed: str = elusion.SEED,
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
        seed: seed of the random order of the files that were not referred.
        hide_paths: name files by number, because a path may name a person.
        conceal: show files that await a blind second verdict as undecided, because a reader of the report
            may be the second reviewer.
        home: folder where scans store the isolation layers that their workers lacked; None = not reported.
        patient_index: folder of the index of the organization's patients, with states and provinces.

    Raises:
        StoreError: there is no (such) scan, or the database cannot be read.
    """
    stored = read_scan(database, scan_id, n_top=N_TOP, now=now, conceal=conceal)
    names = Names(many_roots=len(stored.summary.roots) > 1, hidden=hide_paths)
    files = tuple(file_entry(row, names) for row in stored.rows)
    read = tuple(entry for entry in files if entry.decision is not None)
    referred = frozenset(entry.file for entry in read if entry.decision is Referral.REFERRED)
    desk = stored.desk
    paths = {entry.file: entry.path for entry in files}
    overall = screened.overall(read, referred)
    unreferred = elusion.unreferred(stored.rows)
    sample = elusion.estimate(unreferred, overall.phi, seed, n_read=len(read))
    coverage = _coverage(stored, names, len(read))
    funnel = _funnel(stored, read)
    listed = second_list(read)
    capture = missed.capture_recapture(read)
    heads = headlines(coverage, overall, sample, capture)
    confirmed = {
        row.file_id: desk.places[row.file_id].examination_id
        for row in stored.rows
        if row.verdict is Verdict.PHI
    }
    by_file, affected = affected_patients(database, confirmed, patient_index)
    sheets = worksheets(stored.rows, stored.decisions, desk, paths=paths, affected=by_file)
    data = ReportData(
        scope=_scope(stored, names, now),
        summary=summary(
            stored.rows,
            desk.places,
            coverage=coverage,
            funnel=funnel,
            people=people(stored),
            missed=heads[-1],
            worksheets=sheets,
            files=files,
            now=now,
        ),
        headlines=heads,
        coverage=coverage,
        funnel=funnel,
        overall=overall,
        characteristics=screened.characteristics(_bit_screens(read), read),
        detectors=screened.characteristics(_detector_screens(read), read),
        histories=missed.histories(read),
        rankings=rankings([row for row in stored.rows if row.referral is not None]),
        double_review=double_review([made for made in stored.decisions if made.id not in desk.undone]),
        blind_review=blind_review(desk.drawn, desk.ratings, held_back=desk.n_concealed),
        span_scores=span_scores(desk.gold),
        topic_scores=topic_scores(desk.topic_gold),
        elusion=sample,
        elusion_sample=_sample_files(unreferred, sample.planned, sample.sample, seed, names),
        verification=corrected(overall, sample),
        stopping=stopping(overall, sample),
        capture=capture,
        second_list=listed,
        second_family=second_family(read),
        findings_by_type=by_type(stored.findings, stored.distinct, _confirmed(read)),
        type_levels=type_levels(stored.findings, stored.distinct, _confirmed(read)),
        formats=by_format(files),
        folders=by_folder(files),
        owners=owners(stored.rows, desk.places, stored.findings, stored.same_people),
        readers=readers(stored.rows, desk.places),
        top_files=tuple(_top_files(stored, names)),
        reviewers=reviewers(stored),
        decisions=decisions_made(stored, paths),
        people=people(stored),
        topics=topics(stored.terms, _confirmed(read)),
        change=change(
            desk.previous,
            desk.places,
            complete=stored.summary.status == "complete",
            versions=stored.summary.versions,
            n_copies=stored.summary.n_copies,
            paths=paths,
            name_of=names.file,
        ),
        oversight=oversight(desk, paths, hidden=hide_paths),
        worksheets=sheets,
        affected=affected,
        duties=DUTIES,
        limits=limits(
            coverage,
            funnel,
            overall,
            sample,
            held_back=desk.n_concealed,
            searches=stored.summary.searches,
            missing_isolation=(read_missing(home, stored.summary.scan) if home else None) or (),
        ),
    )
    return Report(data, files)


def _confirmed(files: tuple[FileEntry, ...]) -> frozenset[int]:
    return frozenset(entry.file for entry in files if entry.verdict is Verdict.PHI)


def _scope(stored: StoredScan, names: Names, now: datetime) -> Scope:
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


def file_entry(row: FileRow, names: Names) -> FileEntry:
    """Convert a stored file to its row of the report."""
    return FileEntry(
        file=row.file_id,
        root=names.root(row.root),
        path=names.file(row.file_id, row.root, row.path),
        folder=names.folder(row.root, row.path),
        media_type=visible(row.media_type),
        outcome=row.outcome,
        reason=row.reason,
        decision=row.referral,
        second_look=row.second_look,
        bits=row.vector.names,
        hamming=row.hamming,
        health_score=row.health_score,
        people=row.n_people,
        findings=row.n_findings,
        detectors={name: is_phi for name, is_phi in row.detectors if name not in SECOND_LISTS},
        second_drawn=dict(row.detectors).get(SECOND_NAMES),
        second_near=dict(row.detectors).get(SECOND_NAMES_NEAR),
        unread_parts=sum(not part.is_sampled for part in row.unread),
        verdict=row.verdict,
        reviewer=visible(row.reviewer),
    )


def _coverage(stored: StoredScan, names: Names, n_read: int) -> Coverage:
    summary = stored.summary
    skipped = sum(summary.skipped.values())
    unread: list[Unread] = []
    sampled: list[Unread] = []
    for row in stored.rows:
        name = names.file(row.file_id, row.root, row.path)
        if row.outcome is Outcome.FAILED:
            unread.append(Unread(name, "", row.reason, visible(row.detail)))
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
    )


def _funnel(stored: StoredScan, read: tuple[FileEntry, ...]) -> Funnel:
    summary = stored.summary
    referred = [entry.verdict for entry in read if entry.decision is Referral.REFERRED]
    counts = {verdict: referred.count(verdict) for verdict in Verdict}
    decisions = [entry.decision for entry in read]
    return Funnel(
        crawled=summary.crawled,
        read=len(read),
        screened_positive=summary.screened_positive,
        referred=summary.referred,
        reviewed=counts[Verdict.PHI] + counts[Verdict.NOT_PHI],
        phi=counts[Verdict.PHI],
        not_phi=counts[Verdict.NOT_PHI],
        unsure=counts[Verdict.UNSURE],
        undecided=referred.count(None),
        pii_only=decisions.count(Referral.PII_ONLY),
        health_only=decisions.count(Referral.HEALTH_ONLY),
        clear=decisions.count(Referral.CLEAR),
    )


def _bit_screens(read: tuple[FileEntry, ...]) -> list[screened.Screen]:
    return [
        screened.Screen(bit.value, label, hipaa, frozenset(e.file for e in read if bit.value in e.bits))
        for bit, (label, hipaa) in CHARACTERISTICS.items()
    ]


def _detector_screens(read: tuple[FileEntry, ...]) -> list[screened.Screen]:
    return [
        screened.Screen(
            name,
            plain(name).capitalize(),
            "",
            frozenset(e.file for e in read if e.detectors.get(name)),
        )
        for name in missed.detector_names(read)
    ]


def _sample_files(
    unreferred: list[FileRow], planned: int, reviewed: int, seed: str, names: Names
) -> tuple[SampleFile, ...]:
    order = elusion.sample_order(unreferred, seed)[: max(planned, reviewed)]
    return tuple(
        SampleFile(position, row.file_id, names.file(row.file_id, row.root, row.path), row.verdict)
        for position, row in enumerate(order, start=1)
    )


def _top_files(stored: StoredScan, names: Names) -> list[TopFile]:
    return [
        TopFile(
            file=item.file_id,
            path=names.file(item.file_id, item.root, item.path),
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
