r"""A pattern of `regex` as a linear automaton can have it: all that the pattern takes, and a little more.

re2 looks neither ahead nor back, keeps nothing that it once took, and knows words and digits of ASCII only.
So what a pattern asks of its surroundings is left out, and all that is beyond ASCII passes for a letter, a
digit and a space.
"""

from __future__ import annotations

import re
from typing import Final

# Of signs beyond ASCII a class has all or none: to tell letters from others makes them forty times as big.
_BEYOND: Final = r"\x{80}-\x{10FFFF}"
_WIDER: Final = {
    r"\w": rf"0-9A-Za-z_{_BEYOND}",
    r"\d": rf"0-9{_BEYOND}",
    r"\s": rf"\s{_BEYOND}",
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
_COMPLEMENTS: Final = frozenset({r"\W", r"\D", r"\S"})
_TOKEN: Final = re.compile(
    r"(?P<escape>\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|u.{4}|.))"
    r"|(?P<class>\[\^?\]?(?:[^\]\\]|\\.)*\])"
    r"|(?P<around>\(\?<?[=!])|(?P<unknown>\(\?(?:P[=>]|\(|[R&|]))|(?P<group>\(\?(?:>|P?<\w+>)|\()|(?P<close>\))"
    r"|(?P<repeat>[*+?]|\{\d*,?\d*\})(?P<kept>\+)?"
    r"|(?P<anchor>[\^$])|.",
    re.DOTALL,
)
_IN_CLASS: Final = re.compile(r"\\[pP](?:\{[^}]*\}|.)|\\x(?:\{[^}]*\}|..)|\\u.{4}|\\.|.", re.DOTALL)
_UTF_16: Final = re.compile(r"\\u(.{4})")


def linear_form(pattern: str) -> str | None:
    r"""Return a form of a pattern that re2 compiles; ``None``: it refers back, or asks what is unknown here.

    >>> linear_form(r"(?<!-)\b(?P<day>\d{1,2}+)(?= May)[a-z]"), linear_form(r"(a)\1")
    ('(?:[0-9\\x{80}-\\x{10FFFF}]{1,2})[a-z]', None)
    """
    written: list[str] = []
    around: list[int] = []  # how many groups were open where each look around began
    depth = 0
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if kind in {"group", "around"}:
            depth += 1
        if kind == "around":
            around.append(depth)
        elif kind == "close":
            depth -= 1
            if around and around[-1] > depth:
                around.pop()
                continue
        elif kind == "unknown" or (kind == "escape" and text[1] in "123456789kgGKXRLNmM"):
            return None
        if around or kind == "anchor" or text in _ANCHORS:
            continue
        form = _loosened(token)
        if form is None:
            return None
        written.append(form)
    return _UTF_16.sub(r"\\x{\1}", "".join(written))


def _loosened(token: re.Match[str]) -> str | None:
    kind, text = token.lastgroup, token[0]
    if kind == "class":
        return _class(text)
    if kind == "escape":
        return f"[{_WIDER[text]}]" if text in _WIDER else text
    if kind == "group" and text != "(":
        return "(?:"
    return token["repeat"] if kind == "kept" else text


def _class(text: str) -> str | None:
    parts = _IN_CLASS.findall(text[1:-1])
    if parts[0] != "^":
        return "[" + "".join(_WIDER.get(part, part) for part in parts) + "]"
    inner = frozenset(parts[1:])
    return text if inner.isdisjoint(_COMPLEMENTS) else _LETTERS.get(inner)
