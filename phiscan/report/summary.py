"""The first page of the report: amount of PHI, people concerned, access, and what is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_join, lazy_ngettext
from phiscan.model import Referral, Verdict
from phiscan.report.data.desk import Worksheet
from phiscan.report.data.desk_rows import Place
from phiscan.report.data.report import Coverage, FileEntry, Funnel, Group, Headline, People
from phiscan.report.data.summary import Answer, Bar, Summary
from phiscan.report.sections.counts import by_folder, by_format
from phiscan.report.sections.owners import EXPOSURES
from phiscan.report.words import count, counted, moment
from phiscan.review.records.items import FileRow
from phiscan.review.worklist.risk import Exposure, exposure_of

N_PLACES = 5
_NO_VERDICT = _("no file has been decided yet")
_NO_CLOCK = _("no file is confirmed as PHI, so no clock runs")
# Time limits of fixed length from the discovery; the others end on a calendar day.
_CLOCKS = {"gdpr_authority": _("GDPR, 72 hours"), "hipaa_individuals": _("HIPAA, 60 days")}


def summary(
    rows: Sequence[FileRow],
    places: Mapping[int, Place],
    *,
    coverage: Coverage,
    funnel: Funnel,
    people: People,
    missed: Headline,
    worksheets: Sequence[Worksheet],
    files: Sequence[FileEntry],
    now: datetime,
) -> Summary:
    """Build the first page from the other sections; ``files`` are the rows as displayed.

    Access and location are counted over the files that are PHI or may be: confirmed, or referred and not
    decided as not PHI. If folders are hidden, formats are counted instead.
    """
    suspects = [
        row
        for row in rows
        if row.verdict is Verdict.PHI
        or (row.referral is Referral.REFERRED and row.verdict is not Verdict.NOT_PHI)
    ]
    exposures = Counter(
        exposure_of(places[row.file_id].mode, places[row.file_id].readers) for row in suspects
    )
    confirmed = sum(row.verdict is Verdict.PHI for row in rows)
    unsettled = funnel.undecided + funnel.unsure
    # A verdict of "unsure" settles no file.
    is_reviewed = not unsettled or any(row.verdict in {Verdict.PHI, Verdict.NOT_PHI} for row in rows)
    answers = (
        _files(confirmed, unsettled) if is_reviewed else _files_unknown(unsettled),
        _people(people, unsettled, is_reviewed=is_reviewed),
        _readers(len(suspects), exposures),
        _missed(missed),
        _unread(coverage),
        _clock(worksheets, now),
    )
    numbers = {row.file_id for row in suspects}
    shown = [entry for entry in files if entry.file in numbers]
    folders = by_folder(shown)
    return Summary(
        answers=answers,
        outcomes=_outcomes(coverage, funnel, confirmed),
        exposures=tuple(
            Bar(EXPOSURES[one], "failed" if one is Exposure.EVERYONE else "screened", exposures[one])
            for one in EXPOSURES
            if exposures[one]
        ),
        places=_places(folders or by_format(shown)),
        places_are="folder" if folders or not shown else "format",
    )


def _files(confirmed: int, unsettled: int) -> Answer:
    sentence = lazy_ngettext(
        "{n} file is confirmed as PHI by a person.",
        "{n} files are confirmed as PHI by a person.",
        confirmed,
    )
    caution = ""
    if unsettled:
        caution = lazy_ngettext(
            "{n} more referred file has no final verdict.",
            "{n} more referred files have no final verdict.",
            unsettled,
        )
    return Answer("files", _("How many files hold PHI?"), confirmed, None, sentence, caution)


def _files_unknown(unsettled: int) -> Answer:
    """Return the first answer as long as no file has a verdict: none is confirmed, but many may be PHI."""
    sentence = lazy_ngettext(
        "{n} referred file waits for a verdict.", "{n} referred files wait for a verdict.", unsettled
    )
    return Answer("files", _("How many files hold PHI?"), None, None, sentence, "", _NO_VERDICT)


def _people(people: People, unsettled: int, *, is_reviewed: bool) -> Answer:
    sentence = _("An estimate over the referred files confirmed as PHI; nobody is named here.")
    caution = ""
    if unsettled:
        caution = _("{at_risk} if every referred file is PHI.", at_risk=count(people.at_risk))
    n, reason = (people.in_confirmed, None) if is_reviewed else (None, _NO_VERDICT)
    return Answer("people", _("About how many people?"), n, None, sentence, caution, reason)


def _readers(n: int, exposures: Counter[Exposure]) -> Answer:
    question = _("How many can everyone read?")
    if not n:
        return Answer("readers", question, 0, None, _("No file is PHI or waits for a verdict."))
    n_open, group, unknown = (exposures[one] for one in (Exposure.EVERYONE, Exposure.GROUP, Exposure.UNKNOWN))
    if unknown == n:
        why = _("the share does not report who can read them")
        return Answer(
            "readers",
            question,
            None,
            None,
            lazy_ngettext("{n} file is PHI or undecided.", "{n} files are PHI or undecided.", n),
            "",
            why,
        )
    sentence = lazy_ngettext(
        "Everyone who reaches the share can read {n_open} of the {n} file that is PHI or undecided; a group"
        " can read {group} more.",
        "Everyone who reaches the share can read {n_open} of the {n} files that are PHI or undecided; a group"
        " can read {group} more.",
        n,
        n_open=count(n_open),
        group=count(group),
    )
    caution = (
        lazy_ngettext(
            "Of {n} file the share does not report who can read.",
            "Of {n} files the share does not report who can read.",
            unknown,
        )
        if unknown
        else ""
    )
    return Answer("readers", question, n_open, None, sentence, caution)


def _missed(missed: Headline) -> Answer:
    value = None if missed.value is None else int(missed.value)
    reason = missed.reason if value is None else None
    return Answer(
        "missed", _("How many were missed, at most?"), value, None, missed.sentence, missed.caution, reason
    )


def _unread(coverage: Coverage) -> Answer:
    n = coverage.not_read
    sentence = (
        lazy_ngettext(
            "{n} file could not be read and may hold anything.",
            "{n} files could not be read and may hold anything.",
            n,
        )
        if n
        else _("Every file that had something to read was read.")
    )
    caution = ""
    if coverage.unread_parts:
        caution = _(
            "In {files_with_unread_parts} {unread_parts} could not be read.",
            files_with_unread_parts=counted(coverage.files_with_unread_parts, "other file"),
            unread_parts=counted(coverage.unread_parts, "part"),
        )
    return Answer("unread", _("How many are unread?"), n, None, sentence, caution)


def _clock(worksheets: Sequence[Worksheet], now: datetime) -> Answer:
    """Return the time limit that ends next, and how many files have one that has ended."""
    question = _("Which clock ends when?")
    if not worksheets:
        return Answer(
            "clock", question, None, None, _("It starts with the first verdict of PHI."), "", _NO_CLOCK
        )
    ends = sorted((sheet.due[duty], duty, sheet.file) for sheet in worksheets for duty in _CLOCKS)
    ahead = [one for one in ends if one[0] >= now]
    due, duty, file = ahead[0] if ahead else ends[-1]
    clock = _CLOCKS[duty]
    sentence = (
        _("{clock}: file {file} is the next to end.", clock=clock, file=file)
        if ahead
        else _("{clock}: file {file} is the last to end.", clock=clock, file=file)
    )
    other = next((one for one in ahead if one[1] != duty), None)
    if other is not None:
        sentence += _(" {clock}: {moment}.", clock=_CLOCKS[other[1]], moment=moment(other[0]))
    late = Counter(duty for due, duty, _ in ends if due < now)
    caution = lazy_join(
        "; ",
        [
            lazy_ngettext(
                "{clock}: ended for {n} file", "{clock}: ended for {n} files", late[name], clock=_CLOCKS[name]
            )
            for name in _CLOCKS
            if late[name]
        ],
    )
    return Answer("clock", question, None, due, sentence, f"{caution}." if caution else "")


def _outcomes(coverage: Coverage, funnel: Funnel, confirmed: int) -> tuple[Bar, ...]:
    """Count every crawled file once."""
    unsettled = funnel.undecided + funnel.unsure
    not_referred = funnel.read - funnel.phi - funnel.not_phi - unsettled
    by_sample = confirmed - funnel.phi  # confirmed among the files that were not referred
    bars = (
        Bar(_("confirmed as PHI"), "phi", confirmed),
        Bar(_("referred, no final verdict"), "failed", unsettled),
        Bar(_("referred, not PHI"), "unchanged", funnel.not_phi),
        Bar(_("read, not referred"), "screened", not_referred - by_sample),
        Bar(_("could not be read"), "unread", coverage.not_read),
        Bar(_("skipped by a rule"), "skipped", sum(coverage.skipped.values())),
    )
    return tuple(bar for bar in bars if bar.n)


def _places(groups: Sequence[Group]) -> tuple[Bar, ...]:
    """Return the groups with the most files."""
    most = sorted(groups, key=lambda group: (-group.crawled, group.name))
    return tuple(Bar(group.name, "phi", group.crawled) for group in most[:N_PLACES])
