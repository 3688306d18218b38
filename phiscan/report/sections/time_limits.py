"""Duties and time limits after the discovery of a breach, each with its source.

They are computed from the day on which a reviewer first confirmed the file, which is stored. A law may count
from an earlier day, and whether it applies is the officer's decision.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta

from phiscan.language import lazy_gettext as _
from phiscan.report.data.desk import Duty

HIPAA_DAYS = 60
GDPR_HOURS = 72
PIPEDA_MONTHS = 24

_HIPAA_START = _(
    "discovery: the first day on which the breach is known, or would have been with "
    "reasonable diligence (164.404(a)(2))"
)


DUTIES: tuple[Duty, ...] = (
    Duty(
        id="hipaa_individuals",
        law="HIPAA",
        duty=_("notify each affected individual"),
        starts=_HIPAA_START,
        due_in_words=_("without unreasonable delay, at the latest 60 calendar days after discovery"),
        counted_in="days",
        applies=_("covered entities, unless the risk assessment shows a low probability of compromise"),
        source=_("45 CFR 164.404(b)"),
    ),
    Duty(
        id="hipaa_large",
        law="HIPAA",
        duty=_("notify the Secretary, and prominent media where more than 500 live in one State"),
        starts=_HIPAA_START,
        due_in_words=_("together with the notice to individuals, at the latest 60 calendar days"),
        counted_in="days",
        applies=_("500 or more individuals (Secretary); more than 500 residents of one State (media)"),
        source=_("45 CFR 164.406, 164.408(b)"),
    ),
    Duty(
        id="hipaa_associate",
        law="HIPAA",
        duty=_("business associate: notify the covered entity"),
        starts=_("discovery by the business associate (164.410(a)(2))"),
        due_in_words=_("without unreasonable delay, at the latest 60 calendar days after discovery"),
        counted_in="days",
        applies=_("where the share is held for a covered entity"),
        source=_("45 CFR 164.410(b)"),
    ),
    Duty(
        id="hipaa_annual",
        law="HIPAA",
        duty=_("enter in the annual submission to the Secretary"),
        starts=_("end of the calendar year of the discovery"),
        due_in_words=_("at the latest 60 days after the end of that calendar year"),
        counted_in="days",
        applies=_("fewer than 500 individuals"),
        source=_("45 CFR 164.408(c)"),
    ),
    Duty(
        id="phipa_individual",
        law=_("PHIPA (Ontario)"),
        duty=_("notify the individual, and say that a complaint to the Commissioner is possible"),
        starts=_("theft, loss, or use or disclosure without authority"),
        due_in_words=_("at the first reasonable opportunity; the Act names no number of days"),
        counted_in="days",
        applies=_("health information custodians"),
        source=_("PHIPA, 2004, s. 12(2)"),
    ),
    Duty(
        id="phipa_commissioner",
        law=_("PHIPA (Ontario)"),
        duty=_("notify the Information and Privacy Commissioner"),
        starts=_("the circumstances that the regulation lists"),
        due_in_words=_("the Act names no number of days; with the notice to the individual"),
        counted_in="days",
        applies=_("among others theft, use without authority, a pattern, or a significant breach"),
        source=_("PHIPA, 2004, s. 12(3); O. Reg. 329/04, s. 6.3"),
    ),
    Duty(
        id="phipa_annual",
        law=_("PHIPA (Ontario)"),
        duty=_("count it in the annual statistics to the Commissioner"),
        starts=_("the calendar year of the breach, here that of the discovery"),
        due_in_words=_("on or before 1 March of the following year"),
        counted_in="days",
        applies=_("health information custodians, every year"),
        source=_("O. Reg. 329/04, s. 6.4"),
    ),
    Duty(
        id="pipeda_report",
        law=_("PIPEDA (Canada)"),
        duty=_("report to the Privacy Commissioner and notify the individual"),
        starts=_("the organization determines that the breach has occurred"),
        due_in_words=_("as soon as feasible; the Act names no number of days"),
        counted_in="days",
        applies=_("a real risk of significant harm; where PHIPA is substantially similar, PHIPA applies"),
        source=_("PIPEDA, s. 10.1(1) to (6)"),
    ),
    Duty(
        id="pipeda_record",
        law=_("PIPEDA (Canada)"),
        duty=_("keep the record of the breach"),
        starts=_("the day on which the organization determines that it occurred"),
        due_in_words=_("for 24 months, that is, not destroyed before"),
        counted_in="days",
        applies=_("every breach of security safeguards, reported or not"),
        source=_("PIPEDA, s. 10.3; SOR/2018-64, s. 6(1)"),
    ),
    Duty(
        id="gdpr_authority",
        law="GDPR",
        duty=_("notify the supervisory authority"),
        starts=_("the controller becomes aware"),
        due_in_words=_("without undue delay, where feasible within 72 hours; later with reasons"),
        counted_in="hours",
        applies=_("unless a risk to the rights and freedoms of natural persons is unlikely"),
        source=_("Regulation (EU) 2016/679, art. 33(1)"),
    ),
    Duty(
        id="gdpr_subject",
        law="GDPR",
        duty=_("communicate the breach to the data subject"),
        starts=_("the controller becomes aware"),
        due_in_words=_("without undue delay; the Regulation names no number of days"),
        counted_in="days",
        applies=_("where a high risk to rights and freedoms is likely"),
        source=_("Regulation (EU) 2016/679, art. 34(1)"),
    ),
)


def deadlines(discovered: datetime) -> dict[str, datetime]:
    """Return the deadline of each duty with a number of days or hours, by its id.

    Source: 45 CFR 164.404(b), 164.406(b), 164.408, 164.410(b); O. Reg. 329/04, s. 6.4; SOR/2018-64, s. 6(1);
    Regulation (EU) 2016/679, art. 33(1).

    >>> from datetime import UTC
    >>> found = deadlines(datetime(2026, 1, 1, 9, 30, tzinfo=UTC))
    >>> found["hipaa_individuals"].date().isoformat(), found["gdpr_authority"].isoformat()
    ('2026-03-02', '2026-01-04T09:30:00+00:00')
    """
    discovered = discovered.astimezone(UTC)
    day = discovered.replace(hour=0, minute=0, second=0, microsecond=0)
    sixty = day + timedelta(days=HIPAA_DAYS)
    return {
        "hipaa_individuals": sixty,
        "hipaa_large": sixty,
        "hipaa_associate": sixty,
        "hipaa_annual": day.replace(month=12, day=31) + timedelta(days=HIPAA_DAYS),
        "phipa_annual": day.replace(year=day.year + 1, month=3, day=1),
        "pipeda_record": _months_after(day, PIPEDA_MONTHS),
        "gdpr_authority": discovered + timedelta(hours=GDPR_HOURS),
    }


def _months_after(moment: datetime, months: int) -> datetime:
    """Return the same day some months later, or the last day of that month."""
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)
