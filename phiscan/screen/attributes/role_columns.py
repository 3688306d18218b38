"""Columns of tables that hold who treats: "MRP", "Prescriber", "Day RN", "Seen by", "Soignant"."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice
from typing import Final

from phiscan.lexicon.role_words import ROLE
from phiscan.screen.table_columns import Tables

_WHO = (
    rf"(?:{ROLE}|(?:rn|lpn|rpn|np|md|do|gp|fp|pcp|mrp|rph|rrt|msw|sw|slp|ot|psw|cna|hca|ips|ipspl|pab|rmt"
    rf"|crna|ta"
    r"|inf|erg|pht|inh|doc|dr|dre|mds|m\.d|r\.n|cm|case[ ]mgr|prov|tech|ts|t\.s)\.?|providers?"
    r"|practitioners?|clinicien(?:ne)?"
    r"|technicians?|technicien(?:ne)?s?|therapists?|th[ée]rapeutes?|soignante?s?|intervenante?s?"
    r"|professionnel(?:le)?s?"
    r"|prescript(?:eur|rice)|vaccinat(?:or|eur|rice)|injector|assessor|evaluator|[ée]valuat(?:eur|rice)"
    r"|operator"
    r"|op[ée]rat(?:eur|rice)|fellow|preceptor|signataire|counsell?or|crew|hyg|staff"
    r"|care[ ]?giver[ ]on[ ]shift"
    r"|(?:referring|ordering|rendering|requesting|attending|admitting|treating|performing|reading|signing"
    r"|r[ée]f[ée]rent"
    r"|traitante?|requ[ée]rante?))"
)
_BEFORE = (
    r"(?:(?:primary|day|night|days|nights|am|pm|charge|circ|scrub|circulating|assigned|ref|resp|second"
    r"|first|1st|2nd|lead"
    r"|main|unit|on[ -]?call|home|family|fam|nom[ ]du|nom[ ]de[ ]la|name[ ]of|care|med|assistant|asst"
    r"|co)[ ./_-]{1,2}){0,2}"
)
_BEHIND = (
    r"(?:[ ./_-]{1,2}(?:name|nom|last[ ]?name|first[ ]?name|signature|initials?|initiales|on[ -]?call"
    r"|traitant|de[ ]garde|chef"
    r"|responsable|r[ée]f[ée]rante?|assigned|attitr[ée]e?|resp\.?|pivot|traitante|aux\.?|days?|nights?|am"
    r"|pm|jour|soir|nuit|1|2|3)"
    r"|[ ]?/[ ]?[a-z.]{2,12}){0,2}"
)
_HEAD: Final = re.compile(
    rf"(?:(?<=[|\t,;\n\"])|(?<=[ ][ ])|\A)[ ]?(?=\w)(?P<head>{_BEFORE}{_WHO}{_BEHIND}"
    r"|(?:collected|drawn|assessed|given|prescribed|ordered|referred|reviewed|seen|done|checked|verified"
    r"|vaccinated|injected"
    r"|performed|triaged|screened|dispensed|reported|rx|dx|tx|charted|dictated|interpreted)[ _]by"
    r"|(?:pr[ée]lev[ée]e?|prescrite?|vue?|fait|[ée]valu[ée]e?|administr[ée]e?|v[ée]rifi[ée]e?"
    r"|r[ée]f[ée]r[ée]e?|donn[ée]e?|vaccin[ée]e?)[ _]par)"
    r"(?=[ ]?[|\t,;\n\"\r]|[ ]{2}|\Z)",
    re.IGNORECASE,
)
# A line that may head a table: several cells, and no value among them.
_LINE = re.compile(r"^(?=[^\n]{0,400}?(?:[|\t,;]|[ ]{2}))[^\n\d]*(?:\d[^\n\d]*){0,2}$", re.MULTILINE)
_MAX_HEADS = 400


class StaffColumns:
    """Which places of a text lie in the columns of those who treat."""

    def __init__(self, text: str) -> None:
        tables = Tables(text)
        cells: set[tuple[int, int]] = set()
        heads = (head for line in _LINE.finditer(text) for head in _HEAD.finditer(text, *line.span()))
        for match in islice(heads, _MAX_HEADS):
            cells.update(tables.column(*match.span("head")) or ())
        self._cells = sorted(cells)

    def hold(self, start: int, end: int) -> bool:
        """Tell whether ``[start, end)`` lies in one of their cells."""
        index = bisect_right(self._cells, (start, end + (1 << 40))) - 1
        return index >= 0 and end <= self._cells[index][1]
