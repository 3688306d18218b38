"""Openings of files by access logs, in words: for pages, forms and the command line."""

from __future__ import annotations

from math import ceil

from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.report.words import count, moment
from phiscan.review.records.openings import Covered, Openings

LOG_KINDS = {
    "samba": lazy_gettext("Samba"),
    "windows": lazy_gettext("Windows security events"),
    "cloudtrail": lazy_gettext("CloudTrail"),
    "m365": lazy_gettext("Microsoft 365 audit records"),
    "s3": lazy_gettext("S3 server access logs"),
}


def opening_words(found: Openings) -> str:
    """Return what access logs say about a file: opened by how many, not opened, or that no log covers it."""
    if found.n_openings:
        return " ".join(_sentences(found))
    if not found.covered:
        return _("No log covers it.")
    return _("Not opened in the time that logs cover: {logs}.", logs=_logs(found))


def together_words(found: Openings) -> str:
    """Return what access logs say about several files: how many were opened, by how many accounts."""
    if not (found.n_opened or found.n_not_opened):
        return _("No log covers these files.")
    files = _(
        "Files opened: {opened}; not opened in the time that logs cover: {idle}; no log covers: {uncovered}.",
        opened=count(found.n_opened),
        idle=count(found.n_not_opened),
        uncovered=count(found.n_not_covered),
    )
    return " ".join([files, *_sentences(found)])


def _sentences(found: Openings) -> list[str]:
    opened = _(
        "Openings: {n}. Different accounts: {accounts}, of them other than the owner: at most {others}. "
        "First {first}, last {last}.",
        n=count(found.n_openings),
        accounts=count(found.n_accounts),
        others=count(found.n_others),
        first=moment(found.first) if found.first else "",
        last=moment(found.last) if found.last else "",
    )
    logs = _("Logs: {logs}.", logs=_logs(found))
    return [*([opened] if found.n_openings else []), *([logs] if found.covered else [])]


def _logs(found: Openings) -> str:
    return "; ".join(map(_period, found.covered))


def _period(one: Covered) -> str:
    about = {"kind": LOG_KINDS.get(one.kind, one.kind), "first": moment(one.first), "last": moment(one.last)}
    if not one.gaps:
        return _("{kind}, {first} to {last}", **about)
    gaps = {"gaps": count(one.gaps), "hours": count(ceil(one.longest_gap_hours))}
    return _("{kind}, {first} to {last}, without {gaps} gaps of up to {hours} h", **about, **gaps)
