"""Translation of pages and reports: messages of gettext catalogues, in the language of the context.

The language belongs to a context (a request, the rendering of a report): ``with using("fr"): ...``. Outside
of one it is English, the language of the source, so that JSON, CSV, logs and commands never change.

``gettext`` and ``ngettext`` return text in the current language. ``lazy_gettext`` and ``lazy_ngettext``
return a :class:`Lazy`: English as data, translated where it is written into a page. They are for module
constants, and for a report, which is computed once and shown in any language.
"""

from __future__ import annotations

import gettext as catalogues
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources
from typing import Any, Final, Self

from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

SOURCE: Final = "en"
LANGUAGES: Final[dict[str, str]] = {"en": "English", "fr": "Français"}
"""The language names by code."""
DOMAIN: Final = "phiscan"
_current: ContextVar[str] = ContextVar("language", default=SOURCE)


def current() -> str:
    """Return the code of the language of this context."""
    return _current.get()


@contextmanager
def using(language: str) -> Iterator[None]:
    """Use a language within a block; an unknown one is English."""
    token = _current.set(language if language in LANGUAGES else SOURCE)
    try:
        yield
    finally:
        _current.reset(token)


def negotiate(header: str, default: str = SOURCE) -> str:
    """Return the available language that an Accept-Language header prefers (RFC 9110, 12.5.4).

    >>> negotiate("fr-CA, fr;q=0.9, en;q=0.5"), negotiate("de"), negotiate("de", "fr"), negotiate("en;q=0")
    ('fr', 'en', 'fr', 'en')
    """
    wanted: list[tuple[float, int, str]] = []
    for place, part in enumerate(header.split(",")[:20]):
        tag, _, options = part.partition(";")
        code = tag.strip().lower().partition("-")[0]
        weight = _weight(options)
        if code in LANGUAGES and weight > 0:
            wanted.append((-weight, place, code))
    return min(wanted)[2] if wanted else default


def _weight(options: str) -> float:
    name, _, value = options.strip().partition("=")
    if not name:
        return 1.0
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


@cache
def catalogue(language: str) -> catalogues.NullTranslations:
    """Return the compiled catalogue of a language; for English the source itself."""
    if language == SOURCE:
        return catalogues.NullTranslations()
    path = resources.files("phiscan").joinpath("locale", language, "LC_MESSAGES", f"{DOMAIN}.mo")
    with path.open("rb") as stream:
        return catalogues.GNUTranslations(stream)


def gettext(message: str, **values: object) -> str:
    """Return a message in the language of the context, with its ``{values}`` filled in.

    >>> gettext("{n} of {total}", n=1, total=2)
    '1 of 2'
    """
    found = catalogue(_current.get()).gettext(message)
    return found.format(**values) if values else found


def pgettext(context: str, message: str, **values: object) -> str:
    """Return a message whose meaning needs a context, as ``gettext`` does."""
    found = catalogue(_current.get()).pgettext(context, message)
    return found.format(**values) if values else found


def ngettext(one: str, many: str, n: float, **values: object) -> str:
    """Return a message in the plural form of a number; ``{n}`` is the number, as ``count`` writes it.

    >>> ngettext("{n} file", "{n} files", 1), ngettext("{n} file", "{n} files", 0)
    ('1 file', '0 files')
    """
    found = catalogue(_current.get()).ngettext(one, many, int(n))
    return found.format(**{"n": count(int(n)), **values})


class Lazy(str):
    """A string that is English as data, and is translated where it is formatted.

    ``str``, ``format``, f-strings and templates use the language of the context. Comparisons, keys, JSON and
    CSV use the English text. So does ``"".join``: use ``lazy_join`` or join ``str(part)``.
    """

    __slots__ = ("_given", "_make")

    _make: Callable[..., str]
    _given: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, make: Callable[..., str], *args: Any, **values: Any) -> Self:  # noqa: D102 (see the class)
        with using(SOURCE):
            self = super().__new__(cls, str(make(*args, **values)))
        self._make = make
        self._given = (args, values)
        return self

    def __str__(self) -> str:
        if _current.get() == SOURCE:
            return super().__str__()
        args, values = self._given
        return str(self._make(*args, **values))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __html__(self) -> Markup:
        """Return the text for a page, escaped; as ``Markup``, so that nothing escapes it again."""
        return escape(str(self))

    def __add__(self, other: str) -> str:
        return Lazy(_joined, "", self, other)

    def __radd__(self, other: str) -> str:
        return Lazy(_joined, "", other, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _lazy_again, (self._make, *self._given)

    def format(self, *args: object, **values: object) -> str:
        """Return the translated text with its placeholders filled in."""
        return str(self).format(*args, **values)

    def capitalize(self) -> str:
        """Return the capitalized text, lazily."""
        return Lazy(_changed, "capitalize", self)

    def lower(self) -> str:
        """Return the text in lower case, lazily."""
        return Lazy(_changed, "lower", self)

    def replace(self, old: str, new: str, count: Any = -1) -> str:
        """Return the text with a part replaced, lazily."""
        return Lazy(_changed, "replace", self, old, new, count)


def lazy_join(separator: str, parts: Iterable[str]) -> str:
    """Return texts joined by a separator, translated where the result is formatted."""
    return Lazy(_joined, separator, *parts)


def _joined(separator: str, *parts: str) -> str:
    return str(separator).join(str(part) for part in parts)


def _changed(method: str, text: str, *args: Any) -> str:
    return str(getattr(str(text), method)(*args))


def _lazy_again(make: Callable[..., str], args: tuple[Any, ...], values: dict[str, Any]) -> Lazy:
    return Lazy(make, *args, **values)


def lazy_gettext(message: str, **values: object) -> str:
    """Return a message that is translated where it is formatted; see :class:`Lazy`."""
    return Lazy(gettext, message, **values)


def lazy_pgettext(context: str, message: str, **values: object) -> str:
    """Return a message with a context that is translated where it is formatted."""
    return Lazy(pgettext, context, message, **values)


def lazy_ngettext(one: str, many: str, n: float, **values: object) -> str:
    """Return a message in the plural form of a number that is translated where it is formatted."""
    return Lazy(ngettext, one, many, n, **values)


def source(text: str) -> str:
    """Return the English text of a message, for forms and storage.

    >>> with using("fr"): source(lazy_gettext("Queue"))
    'Queue'
    """
    return str.__str__(text)


def mark_plural(one: str, many: str) -> tuple[str, str]:
    """Return both forms of a message unchanged, marked for extraction; translated where they are used."""
    return one, many


def count(value: int) -> str:
    """Return a count with thousands separated by a non-breaking space, for English and French.

    >>> count(12345).replace("\u202f", " ")
    '12 345'
    """
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def decimal(text: str) -> str:
    """Return a number in English form with the decimal and percent signs of the current language.

    >>> decimal("57.7%")
    '57.7%'
    >>> with using("fr"): decimal("57.7%").replace("\N{NO-BREAK SPACE}", " ")
    '57,7 %'
    """
    if _current.get() != "fr":
        return text
    return text.replace(".", ",").replace("%", "\N{NO-BREAK SPACE}%")


def lazy_decimal(text: str) -> str:
    """Return a number in English form that gets the signs of the language where it is formatted."""
    return Lazy(decimal, text)


def install(environment: Environment) -> None:
    """Install gettext in a template environment, for ``{% trans %}`` and ``_("...")``."""
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        gettext, _template_ngettext, newstyle=True, pgettext=pgettext
    )
    environment.filters["decimal"] = _template_decimal


@pass_context  # so that constants are not folded when a template is compiled
def _template_decimal(_context: Context, text: str) -> str:
    return decimal(text)


def _template_ngettext(one: str, many: str, n: int) -> str:
    return catalogue(_current.get()).ngettext(one, many, n)
