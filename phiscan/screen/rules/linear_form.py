r"""A pattern of `regex` as a linear automaton can have it: what the pattern takes, and a little more.

re2 looks neither ahead nor back, keeps nothing that it once took, and knows words and digits of ASCII only.
So look-around is left out, and all that is beyond ASCII passes for a letter, a
digit and a space.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# Of signs beyond ASCII a class has all or none: to tell letters from others makes them forty times as big.
_BEYOND: Final = r"\x{80}-\x{10FFFF}"
_WIDER: Final = {
    r"\w": rf"0-9A-Za-z_{_BEYOND}",
    r"\d": rf"0-9{_BEYOND}",
    r"\s": rf"\s\x0b\x1c-\x1f{_BEYOND}",
    r"\p{L}": rf"A-Za-z{_BEYOND}",
    r"\p{Lu}": rf"A-Z{_BEYOND}",
    r"\p{Ll}": rf"a-z{_BEYOND}",
}
_ANCHORS: Final = frozenset({r"\b", r"\B", r"\A", r"\Z"})
# Classes of what is no sign: the complement that re2 has would leave out what is beyond ASCII.
_LETTERS: Final = {
    frozenset({r"\W", "_"}): rf"[0-9A-Za-z{_BEYOND}]",
    frozenset({r"\W", r"\d", "_"}): rf"[A-Za-z{_BEYOND}]",
    frozenset({r"\W", r"\d"}): rf"[A-Za-z_{_BEYOND}]",
}
_OPERATIONS: Final = ("--", "&&", "||", "~~", "[:")  # on sets of `regex`, and classes of POSIX
_COMPLEMENTS: Final = frozenset({r"\W", r"\D", r"\S"})
_TOKEN: Final = re.compile(
    r"(?P<escape>\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|u.{4}|.))"
    r"|(?P<class>\[\^?\]?(?:[^\]\\]|\\.)*\])"
    r"|(?P<around>\(\?<?[=!])|(?P<unknown>\(\?(?:P[=>]|\(|[R&|]|[A-Za-z0-9-]+\)))|(?P<group>\(\?(?:>|P?<\w+>)|\()|(?P<close>\))"
    r"|(?P<repeat>[*+?]|\{\d*,?\d*\})(?P<kept>\+)?"
    r"|(?P<anchor>[\^$])|(?P<fuzzy>\{)|.",
    re.DOTALL,
)
_IN_CLASS: Final = re.compile(r"\\[pP](?:\{[^}]*\}|.)|\\x(?:\{[^}]*\}|..)|\\u.{4}|\\.|.", re.DOTALL)
_FROM_NONE: Final = "{,"


def linear_form(pattern: str, *, with_lookbehind: bool = False) -> str | None:  # noqa: C901 (a token after the other)
    r"""Return a form of a pattern for re2; ``None``: it has a back-reference or an unknown element.

    ``with_lookbehind``: what must precede a match, by a look-behind at the beginning of the pattern or of one
    of its alternatives, is a part of the form, so that only a text that has both matches.

    Syntax of a site's rule that re2 does not know is passed on as it is: compiling the form raises the error.

    >>> linear_form(r"(?<!-)\b(?P<day>\d{1,2}+)(?= May)[a-z]"), linear_form(r"(a)\1")
    ('(?:[0-9\\x{80}-\\x{10FFFF}]{1,2})[a-z]', None)
    >>> linear_form(r"(?<=room )[1-9]|(?<!no )(?<=bed )[a-z]", with_lookbehind=True)
    '(?:room )[1-9]|[a-z]'
    """
    written: list[str] = []
    around: list[int] = []  # how many groups were open where each look around began
    depth = 0
    is_left_out = False  # the token before, so that what repeats it would repeat another
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if with_lookbehind and not is_left_out and text == "(?<=" and _begins_alternative(written, depth):
            kind = "group"
        if kind in {"group", "around"}:
            depth += 1
        if kind == "around":
            around.append(depth)
        elif kind == "close":
            depth -= 1
            if around and around[-1] > depth:
                around.pop()
                is_left_out = True
                continue
        if around:
            continue
        if _is_unknown(token) or (is_left_out and kind in {"repeat", "kept"}):
            return None
        is_left_out = kind == "anchor" or text in _ANCHORS
        if is_left_out:
            continue
        form = _loosened(token)
        if form is None:
            return None
        written.append(form)
    return "".join(written)


def _begins_alternative(written: Sequence[str], depth: int) -> bool:
    return not depth and (not written or written[-1] == "|")


def _is_unknown(token: re.Match[str]) -> bool:
    kind, text = token.lastgroup, token[0]
    return kind in {"unknown", "fuzzy"} or (kind == "escape" and text[1] in "123456789kgGKXRLNmM")


def _loosened(token: re.Match[str]) -> str | None:
    kind, text = token.lastgroup, token[0]
    if kind == "class":
        return _class(text)
    if kind == "escape":
        return f"[{_WIDER[text]}]" if text in _WIDER else _sign(text)
    if kind in {"group", "around"} and text != "(":
        return "(?:"
    return token["repeat"].replace(_FROM_NONE, "{0,") if token["repeat"] else text


def _sign(text: str) -> str:
    """Return an escape as re2 writes it."""
    return f"\\x{{{text[2:]}}}" if text.startswith("\\u") else text


def _class(text: str) -> str | None:
    if any(sign in text[1:] for sign in _OPERATIONS):
        return None
    parts = _IN_CLASS.findall(text[1:-1])
    if parts[0] != "^":
        return "[" + "".join(_WIDER.get(part) or _sign(part) for part in parts) + "]"
    inner = frozenset(parts[1:])
    written = "[" + "".join(map(_sign, parts)) + "]"
    return written if inner.isdisjoint(_COMPLEMENTS) else _LETTERS.get(inner)
