"""Where a whole text is one of staff, or a part of it: a roster of who is on call, a chat, a column."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from phiscan.model import Finding
from phiscan.screen.attributes.role_columns import StaffColumns

_LINE_CHARS = 110  # of a line that are read before a name
# A roster of who is on call, and a row of it.
_ON_CALL: Final = re.compile(
    r"\bon[- ]?call\b|\bcall (?:schedule|roster|rota)\b|\b(?:liste|horaire|tour|m[ée]decins?) de garde\b",
    re.IGNORECASE,
)
_DAY: Final = re.compile(
    r"[ \t>*•-]{0,4}(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun|lun|mar|mer|jeu|ven|sam"
    r"|dim)(?:day|di|\.)?\b"
    r"[^\n]{0,80}?(?:\d{3}|\t| \| )",
    re.IGNORECASE,
)
_TITLE_CHARS = 300
# A chat of those who work together, by its title; and what precedes the name of who writes.
_STAFF_CHAT: Final = re.compile(
    r"\b(?:ward|unit|huddle|nursing|nurses|team|coordinators|staff|handoff|handover|rounds|gang|shift"
    r"|quart|soir|nuit|desk|étage|unité|équipe"
    r"|infirmières|coordonnatrices|caucus)\b",
    re.IGNORECASE,
)
_WRITES: Final = re.compile(
    r"^(?:(?=[^\W\d_]{2,15}(?:[ ]\([^()\n]{1,12}\))?,?[ ]\d{1,2}:\d\d(?:[ ]?[ap]m)?[ ]?[—–-])"  # noqa: RUF001 (texts are written with it)
    r"|\d{1,2}[:h]\d\d[ ](?=[^\W\d_]{2,15}(?:[ -][^\W\d_]{1,15}\.?)?[ ]?:[ ])"
    r"|\[(?:\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?,?[ ])?\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[ap]m)?\][ ])",
    re.IGNORECASE | re.MULTILINE,
)
_MIN_LINES = 3


class StaffPlaces:
    """Where a whole text is one of staff: a roster of who is on call, a chat of a ward."""

    def __init__(self, text: str, is_lay: Callable[[str, Finding], bool]) -> None:
        self._text, self._is_lay = text, is_lay
        self._columns = StaffColumns(text)
        self._is_roster = _ON_CALL.search(text, 0, _TITLE_CHARS) is not None
        lines = list(_WRITES.finditer(text))
        title = min(lines[0].start(), _TITLE_CHARS) if len(lines) >= _MIN_LINES else 0
        of_staff = title > 0 and _STAFF_CHAT.search(text, 0, title) is not None
        self._writers = {match.end() for match in lines} if of_staff else set()

    def hold(self, finding: Finding) -> bool:
        """Tell whether a name is in a row that begins with a day, or writes in the chat."""
        start = finding.span.start
        if start in self._writers:
            return True
        if self._columns.hold(start, finding.span.end):
            return not self._is_lay(self._text, finding)
        if not self._is_roster:
            return False
        line = self._text.rfind("\n", max(0, start - _LINE_CHARS), start) + 1
        return bool(_DAY.match(self._text, line)) and not self._is_lay(self._text, finding)
