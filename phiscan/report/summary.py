"""The first page of the report: amount of PHI, people concerned, access, and what is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_ngettext
from phiscan.metrics.remaining import Bound
from phiscan.model import Referral, Verdict
from phiscan.report.data.desk import IncidentRow
from phiscan.report.data.estimates import Answer, Bar, Capture, Elusion, Summary
from phiscan.report.data.report import Characteristic, Coverage, Funnel, Group, Headline, People
from phiscan.report.sections.counts import Names, by_folder, by_format
from phiscan.report.words import EXPOSURES, count, counted, number, share
from phiscan.review.worklist.model import Exposure, FileRecord


def headlines(
    coverage: Coverage, overall: Characteristic, elusion: Elusion, rest: Bound, capture: Capture
) -> tuple[Headline, ...]:
    """Return TDP, FRP, PPV and the missed files."""
    return (_tdp(overall), _frp(overall), _ppv(overall), _headlines_missed(coverage, elusion, rest, capture))


def _tdp(overall: Characteristic) -> Headline:
    figure = overall.tdp
    sentence = (
        _(
            "{phi} of the {n} files that were read were referred and confirmed as PHI (true "
            "detection probability, TDP). It is not the share of PHI that was found: it cannot "
            "exceed the share of PHI on the disk.",
            phi=count(overall.phi),
            n=count(overall.n),
        )
        if figure.value is not None
        else _("How much of the share is detected PHI is not known yet.")
    )
    return Headline(
        name=_("Files referred and confirmed as PHI, of all files read"),
        value=figure.value,
        ci95=figure.ci95,
        sentence=sentence,
        caution=_open(overall, overall.final_tdp.low, overall.final_tdp.high),
        reason=figure.reason,
    )


def _frp(overall: Characteristic) -> Headline:
    figure = overall.frp
    sentence = (
        _(
            "{not_phi} of the {n} files that were read were referred and turned out not to be "
            "PHI (false referral probability, FRP).",
            not_phi=count(overall.not_phi),
            n=count(overall.n),
        )
        if figure.value is not None
        else _("How many files were referred for nothing is not known yet.")
    )
    return Headline(
        name=_("Files referred that hold no PHI, of all files read"),
        value=figure.value,
        ci95=figure.ci95,
        sentence=sentence,
        caution=_open(overall, overall.final_frp.low, overall.final_frp.high),
        reason=figure.reason,
    )


def _ppv(overall: Characteristic) -> Headline:
    figure = overall.ppv
    reviewed = overall.phi + overall.not_phi
    sentence = (
        _(
            "Of {reviewed} referred files that people have decided, {phi} hold PHI (positive "
            "predictive value, PPV).",
            reviewed=count(reviewed),
            phi=count(overall.phi),
        )
        if figure.value is not None
        else _("How often a referral is right is not known yet.")
    )
    caution = (
        _(
            "{unverified} referred files are undecided. The queue shows the riskiest first, so "
            "the share among those may well be lower.",
            unverified=count(overall.unverified),
        )
        if overall.unverified and reviewed
        else ""
    )
    name = _("Referred files that hold PHI, of those decided")
    return Headline(name, figure.value, figure.ci95, sentence, caution, figure.reason)


def _headlines_missed(coverage: Coverage, elusion: Elusion, rest: Bound, capture: Capture) -> Headline:
    """Return the design-based bound, whatever a model estimates."""
    caution = ""
    if coverage.not_read == 1:
        caution = _("The one file that could not be read is not in this number.")
    elif coverage.not_read:
        caution = _(
            "The {not_read} files that could not be read are not in this number.",
            not_read=count(coverage.not_read),
        )
    sentence = rest.words
    if elusion.reviewed:
        sentence += _(
            " Of the random sample, {reviewed} were reviewed and {found} are PHI.",
            found=count(elusion.found),
            reviewed=count(elusion.reviewed),
        )
    elif rest.files:
        sentence += _(" No random sample of them was reviewed: each counts as PHI.")
    models = capture.models
    if models is not None and models.averaged is not None and models.averaged.missed > capture.outside:
        sentence += _(
            " A model of how the detectors overlap suggests {missed}, but it cannot see what all of them"
            " overlook.",
            missed=number(models.averaged.missed),
        )
    return Headline(
        _("Missed PHI files, at most"),
        float(rest.upper),
        None,
        sentence,
        caution,
        _("the limit is one-sided"),
    )


def _open(overall: Characteristic, low: float | None, high: float | None) -> str:
    if not overall.unverified or low is None or high is None:
        return ""
    return _(
        "{unverified} referred files are undecided. When all are decided this number will "
        "lie between {low} and {high}.",
        unverified=count(overall.unverified),
        low=share(low),
        high=share(high),
    )


N_PLACES = 5
_NO_VERDICT = _("no file has been decided yet")


def summary(
    rows: Sequence[FileRecord],
    names: Names,
    *,
    coverage: Coverage,
    funnel: Funnel,
    people: People,
    missed: Headline,
    incidents: Sequence[IncidentRow],
    in_no_incident: int,
    same_people: Mapping[int, str],
) -> Summary:
    """Build the first page from the other sections.

    Access and location are counted over the files that are PHI or may be: confirmed, or referred and not
    decided as not PHI. If folders are hidden, formats are counted instead.
    """
    suspects = [
        row
        for row in rows
        if row.verdict is Verdict.PHI
        or (row.referral is Referral.REFERRED and row.verdict is not Verdict.NOT_PHI)
    ]
    exposures = Counter(row.exposure for row in suspects)
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
        _incidents(incidents, in_no_incident),
    )
    folders = by_folder(suspects, same_people, names)
    return Summary(
        answers=answers,
        outcomes=_outcomes(coverage, funnel, confirmed),
        exposures=tuple(
            Bar(EXPOSURES[one], "failed" if one is Exposure.EVERYONE else "screened", exposures[one])
            for one in EXPOSURES
            if exposures[one]
        ),
        places=_places(folders or by_format(suspects, same_people)),
        places_are="folder" if folders or not suspects else "format",
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
    return Answer("files", _("How many files hold PHI?"), confirmed, sentence, caution)


def _files_unknown(unsettled: int) -> Answer:
    """Return the first answer as long as no file has a verdict: none is confirmed, but many may be PHI."""
    sentence = lazy_ngettext(
        "{n} referred file waits for a verdict.", "{n} referred files wait for a verdict.", unsettled
    )
    return Answer("files", _("How many files hold PHI?"), None, sentence, "", _NO_VERDICT)


def _people(people: People, unsettled: int, *, is_reviewed: bool) -> Answer:
    sentence = _("An estimate over the referred files confirmed as PHI; nobody is named here.")
    caution = ""
    if unsettled:
        caution = _("{at_risk} if every referred file is PHI.", at_risk=count(people.at_risk))
    n, reason = (people.in_confirmed, None) if is_reviewed else (None, _NO_VERDICT)
    return Answer("people", _("About how many people?"), n, sentence, caution, reason)


def _readers(n: int, exposures: Counter[Exposure]) -> Answer:
    question = _("How many can everyone read?")
    if not n:
        return Answer("readers", question, 0, _("No file is PHI or waits for a verdict."))
    n_open, group, unknown = (exposures[one] for one in (Exposure.EVERYONE, Exposure.GROUP, Exposure.UNKNOWN))
    if unknown == n:
        why = _("the share does not report who can read them")
        return Answer(
            "readers",
            question,
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
    return Answer("readers", question, n_open, sentence, caution)


def _missed(missed: Headline) -> Answer:
    value = None if missed.value is None else int(missed.value)
    reason = missed.reason if value is None else None
    return Answer(
        "missed", _("How many were missed, at most?"), value, missed.sentence, missed.caution, reason
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
    return Answer("unread", _("How many are unread?"), n, sentence, caution)


def _incidents(incidents: Sequence[IncidentRow], loose: int) -> Answer:
    """Return how many incidents are not closed, and how many confirmed files are in none."""
    n = sum(one.state != "closed" for one in incidents)
    sentence = lazy_ngettext(
        "{n} confirmed file is in no incident.", "{n} confirmed files are in no incident.", loose
    )
    return Answer("incidents", _("How many incidents are open?"), n, sentence)


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
