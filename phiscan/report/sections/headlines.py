"""The four figures at the head of the statistics, each with a sentence that says exactly what it claims."""

from __future__ import annotations

from phiscan.report.data.missed import Capture, Elusion
from phiscan.report.data.report import Characteristic, Coverage, Headline
from phiscan.report.words import count, number, share


def headlines(
    coverage: Coverage, overall: Characteristic, elusion: Elusion, capture: Capture
) -> tuple[Headline, ...]:
    """Return TDP, FRP, PPV and the missed files."""
    return (_tdp(overall), _frp(overall), _ppv(overall), _missed(coverage, overall, elusion, capture))


def _tdp(overall: Characteristic) -> Headline:
    figure = overall.tdp
    sentence = (
        f"{count(overall.phi)} of the {count(overall.n)} files that were read were referred and confirmed as"
        " PHI (true detection probability, TDP). It is not the share of PHI that was found: it cannot exceed"
        " the share of PHI on the disk."
        if figure.value is not None
        else "How much of the share is detected PHI is not known yet."
    )
    return Headline(
        name="Files referred and confirmed as PHI, of all files read",
        value=figure.value,
        ci95=figure.ci95,
        sentence=sentence,
        caution=_open(overall, overall.final_tdp.low, overall.final_tdp.high),
        reason=figure.reason,
    )


def _frp(overall: Characteristic) -> Headline:
    figure = overall.frp
    sentence = (
        f"{count(overall.not_phi)} of the {count(overall.n)} files that were read were referred and turned"
        " out not to be PHI (false referral probability, FRP)."
        if figure.value is not None
        else "How many files were referred for nothing is not known yet."
    )
    return Headline(
        name="Files referred that hold no PHI, of all files read",
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
        f"Of {count(reviewed)} referred files that people have decided, {count(overall.phi)} hold PHI"
        " (positive predictive value, PPV)."
        if figure.value is not None
        else "How often a referral is right is not known yet."
    )
    caution = (
        f"{count(overall.unverified)} referred files are undecided. The queue shows the riskiest first, so"
        " the share among those may well be lower."
        if overall.unverified and reviewed
        else ""
    )
    name = "Referred files that hold PHI, of those decided"
    return Headline(name, figure.value, figure.ci95, sentence, caution, figure.reason)


def _missed(coverage: Coverage, overall: Characteristic, elusion: Elusion, capture: Capture) -> Headline:
    """The design-based bound where there is one; without it the number is unknown, whatever a model says."""
    name = "Missed PHI files, at most"
    caution = ""
    if coverage.not_read == 1:
        caution = "The one file that could not be read is not in this number."
    elif coverage.not_read:
        caution = f"The {count(coverage.not_read)} files that could not be read are not in this number."
    if elusion.upper_sequential is not None and elusion.missed is not None:
        sentence = (
            f"With 95% confidence at most {count(elusion.upper_sequential)} of the"
            f" {count(elusion.population)} files that were not referred hold PHI: {_sampled(elusion)}."
        )
        return Headline(
            name, float(elusion.upper_sequential), None, sentence, caution, "the limit is one-sided"
        )
    if elusion.population == 0:
        sentence = "There is no file that was read and not referred." if overall.n else "No file was read."
        return Headline(name, None, None, sentence, caution, elusion.reason)
    sentence = (
        f"No random sample of the {count(elusion.population)} files that were not referred has been reviewed,"
        " so nothing bounds what they hold."
    )
    models = capture.models
    if models is not None and models.averaged is not None and models.averaged.missed > capture.outside:
        sentence += f" A model of how the detectors overlap suggests {number(models.averaged.missed)}, but it"
        sentence += " cannot see what all of them overlook."
    return Headline(name, None, None, sentence, caution, elusion.reason)


def _sampled(elusion: Elusion) -> str:
    """Say what the random sample held, and how its files without a verdict count."""
    reviewed = elusion.sample - elusion.open
    said = f"{count(elusion.found)} of a random sample of {count(reviewed)} did"
    if elusion.open:
        said = (
            f"{count(elusion.found)} of the {count(reviewed)} reviewed files of a random sample of"
            f" {count(elusion.sample)} did, and the {count(elusion.open)} without a verdict"
            f" {'counts' if elusion.open == 1 else 'count'} as PHI"
        )
    if elusion.known > elusion.found:
        said += f"; {count(elusion.known)} are known in all"
    return said


def _open(overall: Characteristic, low: float | None, high: float | None) -> str:
    if not overall.unverified or low is None or high is None:
        return ""
    return (
        f"{count(overall.unverified)} referred files are undecided. When all are decided this number will lie"
        f" between {share(low)} and {share(high)}."
    )
