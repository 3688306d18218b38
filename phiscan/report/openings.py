"""Openings of files by access logs, in words: for pages, forms and the command line."""

from __future__ import annotations

from datetime import timedelta

from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.report.words import count, moment
from phiscan.review.records.openings import Covered, Openings, OpeningsTogether

LOG_KINDS = {
    "samba": lazy_gettext("Samba"),
    "windows": lazy_gettext("Windows security events"),
    "cloudtrail": lazy_gettext("CloudTrail"),
    "m365": lazy_gettext("Microsoft 365 audit records"),
    "s3": lazy_gettext("S3 server access logs"),
}


def opening_words(found: Openings) -> str:
    """Return what access logs say about a file: opened by how many, not opened, or that no log covers it."""
    if not found.covered and not found.n_openings:
        return _("No log covers it.")
    if not found.n_openings:
        return _("Not opened in the time that logs cover: {logs}.", logs=_logs(found))
    return " ".join([_opened(found), *([_("Logs: {logs}.", logs=_logs(found))] if found.covered else [])])


def together_words(found: OpeningsTogether) -> str:
    """Return what access logs say about several files: how many were opened, by how many accounts."""
    if not (found.n_opened or found.n_not_opened):
        return _("No log covers these files.")
    files = _(
        "Files opened: {opened}; not opened in the time that logs cover: {idle}; no log covers: {uncovered}.",
        opened=count(found.n_opened),
        idle=count(found.n_not_opened),
        uncovered=count(found.n_not_covered),
    )
    opened = [_opened(found.total)] if found.n_opened else []
    return " ".join([files, *opened, _("Logs: {logs}.", logs=_logs(found.total))])


def _opened(found: Openings) -> str:
    if found.first is None or found.last is None:
        return ""
    return _(
        "Openings: {n}. Different accounts: {accounts}, of them other than the owner: {others}. "
        "First {first}, last {last}.",
        n=count(found.n_openings),
        accounts=count(found.n_accounts),
        others=count(found.n_others),
        first=moment(found.first),
        last=moment(found.last),
    )


def _logs(found: Openings) -> str:
    return "; ".join(map(_period, found.covered))


def _period(one: Covered) -> str:
    kind, first, last = LOG_KINDS.get(one.kind, one.kind), moment(one.first), moment(one.last)
    if not one.n_gaps:
        return _("{kind}, {first} to {last}", kind=kind, first=first, last=last)
    return _(
        "{kind}, {first} to {last}, without {gaps} gaps of up to {hours} h",
        kind=kind,
        first=first,
        last=last,
        gaps=count(one.n_gaps),
        hours=count(-(-one.longest_gap // timedelta(hours=1))),
    )
