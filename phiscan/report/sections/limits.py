"""The limitations of the report, in sentences, with the numbers of the scan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from phiscan.language import lazy_gettext as _
from phiscan.metrics.cascade import CascadeLoss, cascade_loss
from phiscan.report.data.estimates import Elusion
from phiscan.report.data.report import Characteristic, Coverage, Funnel
from phiscan.report.words import count, counted, share, waiting_for_ocr


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
    return (
        *_of_this_scan(coverage, funnel, overall, elusion),
        *_of_the_cascade(cascade_loss(**(searches or {}))),
        *(
            _("Documents were read with less isolation than intended. {line}.", line=line)
            for line in missing_isolation
        ),
        *_blind(held_back),
        *_of_the_method(),
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
            "Of {sampled_files} with a long text only samples were read: they refer the file, and the "
            "number of people in it is an estimate. The table lists the share that was left out.",
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
            "{value} of the files that were read were referred; the rest were opened by the "
            "program only, never by a person.",
            value=share(overall.coverage.value),
        )


def _blind(held_back: int) -> Iterator[str]:
    if held_back:
        yield _(
            "{held_back} files have a verdict that this report holds back, because a second "
            "person is still to judge them blind. They count as undecided in every number, "
            "and nothing that was said of them is in here. Make the report "
            "again when the second review is done.",
            held_back=count(held_back),
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


def _of_the_method() -> list[str]:
    return list(_METHOD)
