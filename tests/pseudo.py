"""A pseudo-locale: every message is put between brackets, so that text outside of them is not marked.

Data of a share and of the store is no message: names of files, people, codes, numbers. What is data on the
pages of a test is given to ``unmarked`` as words.
"""

import gettext
import re
from collections.abc import Iterable
from html.parser import HTMLParser

import pytest

from phiscan import language

OPEN, SHUT = "\u27e6", "\u27e7"
ATTRIBUTES = ("title", "aria-label", "placeholder", "alt", "label", "data-label")
# Elements whose content is no language: code, keys, values, scripts, styles, marks of masked shapes.
NO_TEXT = {"script", "style", "kbd", "code", "time", "option-data"}
VOID = {"meta", "link", "input", "br", "hr", "rect", "line", "circle", "path", "img"}
LETTERS = re.compile(r"[A-Za-zÀ-ÿ]{2,}")
# Words that are the same in every language: the program, names of languages, formats, statistics and laws.
NAMES = (
    "phiscan English Français PDF JSON HIPAA GDPR PHIPA PIPEDA Ontario Canada TDP FRP PPV PABAK ICD AIC BIC",
    "UTC",
    "TP FP Chapman Lincoln Petersen Krippendorff Cohen Kappa SIN SSN Epsilon Delta laplace gaussian cauchy",
)


class Pseudo(gettext.NullTranslations):
    """Every message between brackets, its places kept."""

    def gettext(self, message: str) -> str:
        return f"{OPEN}{message}{SHUT}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:  # noqa: ARG002
        return self.gettext(message)


def use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let French be the pseudo-locale."""
    made = Pseudo()
    monkeypatch.setattr(
        language, "catalogue", lambda code: gettext.NullTranslations() if code == "en" else made
    )


class _Texts(HTMLParser):
    """The texts and spoken attributes of a page, without what is no language."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._off: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ATTRIBUTES and value:
                self.found.append(value)
        is_data = "path" in (dict(attrs).get("class") or "").split()
        is_data = is_data or "shape" in (dict(attrs).get("class") or "").split()
        if (self._off or tag in NO_TEXT or is_data) and tag not in VOID:
            self._off.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._off and tag not in VOID:
            self._off.pop()

    def handle_data(self, data: str) -> None:
        if not self._off:
            self.found.append(data)


def unmarked(page: str, data: Iterable[str] = ()) -> set[str]:
    """Return the pieces of text on a page that are outside of every message and are no data."""
    parser = _Texts()
    parser.feed(page)
    known = {word for name in NAMES for word in LETTERS.findall(name)} | {
        word for one in data for word in LETTERS.findall(one)
    }
    depth, outside = 0, []
    for text in parser.found:
        kept = ""
        for char in text:
            depth += (char == OPEN) - (char == SHUT)
            kept += char if depth == 0 and char != SHUT else " "
        outside.append(kept)
    assert depth == 0
    return {
        " ".join(text.split()) for text in outside if any(word not in known for word in LETTERS.findall(text))
    }
