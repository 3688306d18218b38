"""The four figures at the head of the statistics, each with one exact sentence about it."""

from __future__ import annotations

from phiscan.language import lazy_gettext as _
from phiscan.language import lazy_ngettext
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


def _missed(coverage: Coverage, overall: Characteristic, elusion: Elusion, capture: Capture) -> Headline:
    """Return the design-based bound; without it the number is unknown, whatever a model estimates."""
    name = _("Missed PHI files, at most")
    caution = ""
    if coverage.not_read == 1:
        caution = _("The one file that could not be read is not in this number.")
    elif coverage.not_read:
        caution = _(
            "The {not_read} files that could not be read are not in this number.",
            not_read=count(coverage.not_read),
        )
    if elusion.upper_sequential is not None and elusion.missed is not None:
        sentence = _(
            "With 95% confidence at most {upper_sequential} of the {population} files that were "
            "not referred hold PHI: {elusion}.",
            upper_sequential=count(elusion.upper_sequential),
            population=count(elusion.population),
            elusion=_sampled(elusion),
        )
        return Headline(
            name, float(elusion.upper_sequential), None, sentence, caution, _("the limit is one-sided")
        )
    if elusion.population == 0:
        sentence = (
            _("There is no file that was read and not referred.") if overall.n else _("No file was read.")
        )
        return Headline(name, None, None, sentence, caution, elusion.reason)
    sentence = _(
        "No random sample of the {population} files that were not referred has been "
        "reviewed, so nothing bounds what they hold.",
        population=count(elusion.population),
    )
    models = capture.models
    if models is not None and models.averaged is not None and models.averaged.missed > capture.outside:
        sentence += _(
            " A model of how the detectors overlap suggests {missed}, but it cannot see what all of them"
            " overlook.",
            missed=number(models.averaged.missed),
        )
    return Headline(name, None, None, sentence, caution, elusion.reason)


def _sampled(elusion: Elusion) -> str:
    """Return a sentence on the result of the random sample, and on its files without a verdict."""
    reviewed = elusion.sample - elusion.open
    sentence = _(
        "{found} of a random sample of {reviewed} did", found=count(elusion.found), reviewed=count(reviewed)
    )
    if elusion.open:
        sentence = lazy_ngettext(
            "{found} of the {reviewed} reviewed files of a random sample of {sample} did, and "
            "the {n} without a verdict counts as PHI",
            "{found} of the {reviewed} reviewed files of a random sample of {sample} did, and "
            "the {n} without a verdict count as PHI",
            elusion.open,
            found=count(elusion.found),
            reviewed=count(reviewed),
            sample=count(elusion.sample),
        )
    if elusion.known > elusion.found:
        sentence += _("; {known} are known in all", known=count(elusion.known))
    return sentence


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
