"""The first page of the report, its headlines, and the limits of the report in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_ngettext
from phiscan.metrics.cascade import CascadeLoss, cascade_loss
from phiscan.metrics.intervals import Figure
from phiscan.metrics.remaining import Bound
from phiscan.model import Referral, Verdict
from phiscan.report.sections.counts import Coverage, Funnel, Names, People
from phiscan.report.sections.missed import Capture
from phiscan.report.sections.reviewers import IncidentRow
from phiscan.report.sections.screened import Characteristic, Elusion, Final
from phiscan.report.words import EXPOSURES, count, counted, number, share, waiting_for_ocr
from phiscan.review.worklist.model import Exposure, FileRecord
from phiscan.visible import visible


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the first page: a number, and a sentence that says what it claims.

    ``caution`` says what the number leaves out; ``reason`` why there is no number.
    """

    id: str
    question: str
    n: int | None
    sentence: str
    caution: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A named count of a picture; ``kind`` is its colour."""

    name: str
    kind: str
    n: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The first page: the answers, what became of the files, who can read the PHI, and where it is."""

    answers: tuple[Answer, ...]
    outcomes: tuple[Bar, ...]
    exposures: tuple[Bar, ...]
    places: tuple[Bar, ...]
    places_are: str  # what ``places`` counts by: folder or format


@dataclass(frozen=True, slots=True)
class Headline:
    """One of the four figures at the head of the statistics: with its interval and a sentence on it."""

    name: str
    value: float | None
    ci95: tuple[float, float] | None
    sentence: str
    caution: str
    reason: str | None


def headlines(
    coverage: Coverage, overall: Characteristic, elusion: Elusion, rest: Bound, capture: Capture
) -> tuple[Headline, ...]:
    """Return TDP, FRP, PPV and the missed files."""
    phi, n, reviewed = count(overall.phi), count(overall.n), overall.phi + overall.not_phi
    return (
        _headline(
            _("Files referred and confirmed as PHI, of all files read"),
            overall.tdp,
            _(
                "{phi} of the {n} files that were read were referred and confirmed as PHI (true "
                "detection probability, TDP). It is not the share of PHI that was found: it cannot "
                "exceed the share of PHI on the disk.",
                phi=phi,
                n=n,
            ),
            _("How much of the share is detected PHI is not known yet."),
            _open(overall, overall.final_tdp),
        ),
        _headline(
            _("Files referred that hold no PHI, of all files read"),
            overall.frp,
            _(
                "{not_phi} of the {n} files that were read were referred and turned out not to be "
                "PHI (false referral probability, FRP).",
                not_phi=count(overall.not_phi),
                n=n,
            ),
            _("How many files were referred for nothing is not known yet."),
            _open(overall, overall.final_frp),
        ),
        _headline(
            _("Referred files that hold PHI, of those decided"),
            overall.ppv,
            _(
                "Of {reviewed} referred files that people have decided, {phi} hold PHI (positive "
                "predictive value, PPV).",
                reviewed=count(reviewed),
                phi=phi,
            ),
            _("How often a referral is right is not known yet."),
            _(
                "{unverified} referred files are undecided. The queue shows the riskiest first, so "
                "the share among those may well be lower.",
                unverified=count(overall.unverified),
            )
            if overall.unverified and reviewed
            else "",
        ),
        _headlines_missed(coverage, elusion, rest, capture),
    )


def _headline(name: str, figure: Figure, sentence: str, unknown: str, caution: str) -> Headline:
    sentence = unknown if figure.value is None else sentence
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
    reason = _("the limit is one-sided")
    return Headline(_("Missed PHI files, at most"), float(rest.upper), None, sentence, caution, reason)


def _open(overall: Characteristic, final: Final) -> str:
    if not overall.unverified or final.low is None or final.high is None:
        return ""
    return _(
        "{unverified} referred files are undecided. When all are decided this number will "
        "lie between {low} and {high}.",
        unverified=count(overall.unverified),
        low=share(final.low),
        high=share(final.high),
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
    places = [row for row in suspects if row.outcome != "skipped"]
    folders = Counter(filter(None, map(names.folder, places)))
    formats = Counter(visible(row.media_type) or _("not known") for row in places)
    most = sorted((folders or formats).items(), key=lambda place: (-place[1], place[0]))
    return Summary(
        answers=(
            _files(confirmed, unsettled, is_reviewed=is_reviewed),
            _people(people, unsettled, is_reviewed=is_reviewed),
            _readers(len(suspects), exposures),
            _missed(missed),
            _unread(coverage),
            _incidents(incidents, in_no_incident),
        ),
        outcomes=_outcomes(coverage, funnel, confirmed),
        exposures=tuple(
            Bar(EXPOSURES[one], "failed" if one is Exposure.EVERYONE else "screened", exposures[one])
            for one in EXPOSURES
            if exposures[one]
        ),
        places=tuple(Bar(name, "phi", n) for name, n in most[:N_PLACES]),
        places_are="folder" if folders or not suspects else "format",
    )


def _files(confirmed: int, unsettled: int, *, is_reviewed: bool) -> Answer:
    """Return the first answer; as long as no file has a verdict none is confirmed, but many may be PHI."""
    question = _("How many files hold PHI?")
    if not is_reviewed:
        sentence = lazy_ngettext(
            "{n} referred file waits for a verdict.", "{n} referred files wait for a verdict.", unsettled
        )
        return Answer("files", question, None, sentence, "", _NO_VERDICT)
    sentence = lazy_ngettext(
        "{n} file is confirmed as PHI by a person.", "{n} files are confirmed as PHI by a person.", confirmed
    )
    caution = lazy_ngettext(
        "{n} more referred file has no final verdict.",
        "{n} more referred files have no final verdict.",
        unsettled,
    )
    return Answer("files", question, confirmed, sentence, caution if unsettled else "")


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
        sentence = lazy_ngettext("{n} file is PHI or undecided.", "{n} files are PHI or undecided.", n)
        reason = _("the share does not report who can read them")
        return Answer("readers", question, None, sentence, "", reason)
    sentence = lazy_ngettext(
        "Everyone who reaches the share can read {n_open} of the {n} file that is PHI or undecided; a group"
        " can read {group} more.",
        "Everyone who reaches the share can read {n_open} of the {n} files that are PHI or undecided; a group"
        " can read {group} more.",
        n,
        n_open=count(n_open),
        group=count(group),
    )
    caution = lazy_ngettext(
        "Of {n} file the share does not report who can read.",
        "Of {n} files the share does not report who can read.",
        unknown,
    )
    return Answer("readers", question, n_open, sentence, caution if unknown else "")


def _missed(missed: Headline) -> Answer:
    value = None if missed.value is None else int(missed.value)
    given = (missed.sentence, missed.caution, missed.reason if value is None else None)
    return Answer("missed", _("How many were missed, at most?"), value, *given)


def _unread(coverage: Coverage) -> Answer:
    n = coverage.not_read
    sentence = lazy_ngettext(
        "{n} file could not be read and may hold anything.",
        "{n} files could not be read and may hold anything.",
        n,
    )
    if not n:
        sentence = _("Every file that had something to read was read.")
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


def limits(
    coverage: Coverage,
    funnel: Funnel,
    overall: Characteristic,
    elusion: Elusion,
    *,
    held_back: int,
    searches: Mapping[str, int] | None = None,
    missing_isolation: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the limitations of this report, those of this scan first.

    ``held_back``: files that are shown as undecided until a second person has judged them blind.
    ``searches``: files that the cascade skipped, and the results of its audit sample. ``missing_isolation``:
    isolation layers that the workers of the scan lacked, one line each.
    """
    blind = _(
        "{held_back} files have a verdict that this report holds back, because a second "
        "person is still to judge them blind. They count as undecided in every number, "
        "and nothing that was said of them is in here. Make the report "
        "again when the second review is done.",
        held_back=count(held_back),
    )
    return (
        *_of_this_scan(coverage, funnel, overall, elusion),
        *_of_the_cascade(cascade_loss(**(searches or {}))),
        *(
            _("Documents were read with less isolation than intended. {line}.", line=line)
            for line in missing_isolation
        ),
        *([blind] if held_back else []),
        *_METHOD,
    )


def _of_the_cascade(loss: CascadeLoss) -> Iterator[str]:
    """Return how many files were not searched for names, and the estimate from the audit sample."""
    if not loss.n_left_out:
        return
    sentence = _(
        "The names in {n_left_out} were not searched, because none could bring the "
        "probability of PHI to the threshold. Identifiers that rules find were counted "
        "there, names not.",
        n_left_out=counted(loss.n_left_out, "file"),
    )
    if loss.referrals.high is None:
        yield _("{sentence} No file was drawn at random to estimate what that missed.", sentence=sentence)
        return
    missed, identified = loss.referrals, loss.identified
    yield _(
        "{sentence} Of {n_audit} drawn at random and searched all the same, {n_audit_referred} "
        "were referred; {n_audit_identified} held identifiers. Missed were between {value} "
        "and {value2} referrals, and between {value3} and {value4} files with identifiers "
        "(95% intervals).",
        sentence=sentence,
        n_audit=counted(loss.n_audit, "such file"),
        n_audit_referred=count(loss.n_audit_referred),
        n_audit_identified=count(loss.n_audit_identified),
        value=count(missed.low or 0),
        value2=count(missed.high or 0),
        value3=count(identified.low or 0),
        value4=count(identified.high or 0),
    )


def _not_read(coverage: Coverage) -> Iterator[str]:
    if coverage.not_read:
        yield _(
            "{not_read} could not be read. They may hold anything; no number on this page covers them.",
            not_read=counted(coverage.not_read, "file"),
        )
    if coverage.unread_parts:
        yield _(
            "{unread_parts} of {files_with_unread_parts} could not be read. Those files were "
            "judged by what was left of them.",
            unread_parts=counted(coverage.unread_parts, "part"),
            files_with_unread_parts=counted(coverage.files_with_unread_parts, "other file"),
        )
    if coverage.not_covered:
        yield _(
            "In {files}, text is in a language or script that is not read ({languages}). What it says is "
            "not known: it is not clean, and no number on this page covers it.",
            files=counted(sum(coverage.not_covered.values()), "file"),
            languages=", ".join(f"{name} {n}" for name, n in coverage.not_covered.items()),
        )


def _of_this_scan(
    coverage: Coverage, funnel: Funnel, overall: Characteristic, elusion: Elusion
) -> Iterator[str]:
    yield from _not_read(coverage)
    n_rest = funnel.read - funnel.referred
    if coverage.sampled_files:
        yield _(
            "Of {sampled_files} with a long text or many rows only samples were read: they refer the "
            "file, and the number of people in it is an estimate. The table lists the share that was "
            "left out.",
            sampled_files=counted(coverage.sampled_files, "file"),
        )
    if coverage.ocr_files:
        yield _(
            "{ocr_files}. What they show is not known yet; the next scan reads them, and may "
            "refer more files.",
            ocr_files=waiting_for_ocr(coverage.ocr_files, coverage.ocr_parts),
        )
    if coverage.unchanged:
        yield _(
            "{unchanged} unchanged files were not opened again: earlier results are kept.",
            unchanged=count(coverage.unchanged),
        )
    if funnel.undecided or funnel.unsure:
        yield _(
            "{undecided} referred files have no verdict and {unsure} are marked unsure. They "
            "count as neither PHI nor not PHI. Riskier files are shown to reviewers first: the "
            "decided ones are not a random sample of the referred ones, and no number takes them "
            "for one.",
            undecided=count(funnel.undecided),
            unsure=count(funnel.unsure),
        )
    if overall.n and elusion.reviewed == 0 and n_rest:
        yield _(
            "Nobody has looked at a random sample of the {population} files that were not "
            "referred. Sensitivity (recall) is therefore unknown, not good.",
            population=count(n_rest),
        )
    if coverage.crawled and overall.n == 0:
        yield _("No file was read. This report makes no statement about what the share holds.")
    elif overall.coverage.value is not None and overall.n:
        yield _(
            "{value} of the files that were read were referred; the program alone judged the rest, but for "
            "samples that were reviewed.",
            value=share(overall.coverage.value),
        )


# One paragraph each, separated by empty lines.
_METHOD = (
    _(
        "TDP and FRP are joint probabilities over all files that were read. They rise and fall with "
        "how much PHI the share holds, so they compare screens on the same files, not shares with "
        "each other."
    ),
    _(
        "The intervals treat the files as a random sample of a larger store of such files. For the "
        "share that was scanned, once all verdicts are in, the counts are exact."
    ),
    _(
        "Every estimate takes the verdicts as right. Two people who decide the same file may "
        "disagree. Where the reviewers' own sensitivity and specificity are known, `phiscan estimate "
        "prevalence` corrects the share of PHI in the random sample for them (Rogan and Gladen 1978); "
        "the report does not guess them."
    ),
    _(
        "A characteristic is counted where the screener saw it. Where it was overlooked, the file "
        "is counted in the column without it."
    ),
    _(
        "Capture-recapture takes the detectors' overlap as evidence for what none of them saw. "
        "Detectors that fail on the same kind of file (pictures of text, handwriting, a language "
        "without dictionary) make it too low, and the data cannot show that."
    ),
    _(
        "People at risk is an estimate from identifiers that are near each other. Copies of one "
        "content count once; one person in two different files counts twice."
    ),
    _(
        "How well single identifiers are found inside a text is scored on the files whose spans a "
        "reviewer has gone through, where there are any. Nobody drew these at random. With a gold "
        "standard made elsewhere (i2b2 XML, brat or JSON lines), `phiscan score spans --gold GOLD "
        "--system OURS` gives the scores of tokens and instances."
    ),
    _(
        "Evidence is not an assessment: whether anybody read or took a file is not in any file system, "
        "and which law applies and from which day its clock runs is for the officer to say."
    ),
    _(
        "Text inside pictures is seen only where text recognition was installed. Audio and video are "
        "not examined."
    ),
    _(
        "File names are shown as they are, because somebody has to find the files. A file name can "
        "itself name a person: handle this page accordingly, or make it with --hide-paths."
    ),
)
