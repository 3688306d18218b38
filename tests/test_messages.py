"""The catalogues: every marked message has a translation that fits; what is compiled is what is written."""

import html
import re
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from importlib import util
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.plurals import get_plural
from jinja2 import Environment
from markupsafe import Markup

from phiscan.language import (
    LANGUAGES,
    SOURCE,
    Lazy,
    catalogue,
    current,
    install,
    lazy_decimal,
    lazy_gettext,
    lazy_join,
    lazy_ngettext,
    negotiate,
    ngettext,
    source,
    using,
)
from phiscan.model import FailReason, SkipReason
from phiscan.report import words
from phiscan.report.words import CODES
from phiscan.review.accounts.users import Role, Scope
from phiscan.review.audit.log import TABLES
from phiscan.review.worklist.model import Exposure
from phiscan.web.access import Permission
from phiscan.web.pages import Static

ROOT = Path(__file__).parent.parent
_spec = util.spec_from_file_location("messages", ROOT / "scripts" / "messages.py")
assert _spec is not None
assert _spec.loader is not None
messages = util.module_from_spec(_spec)
_spec.loader.exec_module(messages)

OTHERS = sorted(set(LANGUAGES) - {SOURCE})


@cache
def template() -> Catalog:
    """Return every marked message of the code."""
    extracted: Catalog = messages.extracted()
    return extracted


@pytest.fixture(params=OTHERS)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _forms(message: Message) -> list[tuple[str, str]]:
    """Return each translation with the source that it must fit."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))]
    return [(message.id[-1], form) for form in message.string]


def _places(text: str) -> set[str]:
    """Return the named places of a text, of templates (%(name)s) and of code ({name})."""
    found = set(re.findall(r"%\((\w+)\)s", text))
    if not found and "%%" not in text and "<" not in text:
        found = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    return found


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(f"{tag} {sorted(attrs)}")

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"/{tag}")


def test_every_marked_message_is_translated(language: str) -> None:
    missing = messages.untranslated(messages.updated(language, template()))
    assert [message.id for message in missing] == []
    assert len(template()) > 2000


def test_the_stored_catalogue_has_the_marked_messages_and_no_others(language: str) -> None:
    stored = {(str(message.id), message.context) for message in messages.read(language) if message.id}
    assert stored == {(str(message.id), message.context) for message in template() if message.id}


def test_the_compiled_catalogue_is_that_of_the_text(language: str) -> None:
    compiled = messages.path_of(language).with_suffix(".mo").read_bytes()
    assert compiled == messages.compiled(messages.read(language))


def test_a_catalogue_has_as_many_plural_forms_as_its_language(language: str) -> None:
    for message in messages.read(language):
        if message.pluralizable:
            assert len(message.string) == get_plural(language).num_plurals, message.id


def test_every_translation_has_the_places_and_the_markup_of_its_message(language: str) -> None:
    for message in messages.read(language):
        if not message.id:
            continue
        for english, translated in _forms(message):
            assert _places(translated) == _places(english), english
            assert sorted(_Tags(translated).found) == sorted(_Tags(english).found), english
            assert translated.count("%%") == english.count("%%"), english
            # A space at an end joins the message to what is before or after it.
            assert (translated[:1] == " ", translated[-1:] == " ") == (
                english[:1] == " ",
                english[-1:] == " ",
            )


def test_french_has_its_signs_of_print() -> None:
    for message in messages.read("fr"):
        for _, translated in _forms(message) if message.id else ():
            text = re.sub(r"<[^>]*>", "", translated)
            assert " :" not in text, translated
            assert "« " not in text, translated
            assert " »" not in text, translated
            assert not re.search(r"\d %", text), translated


def test_a_number_chooses_the_plural_form_of_the_language() -> None:
    forms = "{n} file", "{n} files"
    assert [ngettext(*forms, n) for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    with using("fr"):
        assert [ngettext(*forms, n) for n in (0, 1, 2, 12345)] == [
            "0 fichier",
            "1 fichier",
            "2 fichiers",
            "12\N{NARROW NO-BREAK SPACE}345 fichiers",
        ]


def test_a_lazy_text_is_english_as_data_and_of_the_context_where_it_is_written() -> None:
    text = lazy_gettext("Queue")
    both = lazy_join(", ", [text, lazy_ngettext("{n} file", "{n} files", 2)]) + "!"
    with using("fr"):
        assert (str(text), f"{text}", text.lower(), f"{both}") == (
            *("File d\u2019attente", "File d\u2019attente", "Queue".lower()),
            "File d\u2019attente, 2 fichiers!",
        )
        assert text == "Queue"
        assert {text: 1}["Queue"] == 1
        assert source(text) == "Queue"
        assert str(text.lower()) == "file d\u2019attente"
    assert str(both) == "Queue, 2 files!"
    assert current() == SOURCE


def test_numbers_and_moments_have_the_form_of_the_language() -> None:
    values = (
        words.share(0.5772),
        words.number(3.14159),
        words.ratio(0.5),
        words.size(12_345_678),
        words.duration(4.26),
        words.moment(datetime(2026, 3, 1, 9, 5, tzinfo=UTC)),
    )
    assert [str(value) for value in values] == [
        *("57.7%", "3.14", "0.500", "12.3 MB", "4.3 s", "2026-03-01 09:05 UTC"),
    ]
    with using("fr"):
        assert [str(value).replace("\N{NO-BREAK SPACE}", " ") for value in values] == [
            *("57,7 %", "3,14", "0,500", "12,3 Mo", "4,3 s", "2026-03-01 à 9 h 05 UTC"),
        ]


def test_every_code_that_a_page_shows_has_words() -> None:
    codes = {
        *(
            member.value
            for kind in (Role, Scope, Exposure, Permission, SkipReason, FailReason)
            for member in kind
        ),
        *TABLES,
        *words.CASES,
        *words.DETECTORS,
    }
    shown = {source(words.plain(code)) for code in codes}
    assert shown - CODES == set()


def test_the_scripts_say_what_is_marked_in_them() -> None:
    found = set(Static.load().script_messages)
    marked = {
        message.id
        for message in template()
        if message.id and any(name.endswith(".js") for name, _ in message.locations)
    }
    assert found == marked
    assert found
    with using("fr"):
        assert set(Static.load().messages()) == found


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("fr", "fr"),
        ("fr-CA,fr;q=0.8", "fr"),
        ("en-CA,fr;q=0.8", "en"),
        ("fr;q=0.2,en;q=0.9", "en"),
        ("de-CH,fr;q=0.1", "fr"),
        ("fr;q=0", "en"),
        ("fr;q=x", "en"),
        ("", "en"),
        ("*", "en"),
        ("," * 1000 + "fr", "en"),
    ],
)
def test_a_browser_gets_the_language_that_it_prefers(header: str, expected: str) -> None:
    assert negotiate(header) == expected


def test_a_language_that_is_not_known_is_english() -> None:
    with using("xx"):
        assert current() == SOURCE
    assert isinstance(lazy_gettext("Queue"), Lazy)
    assert catalogue("fr").gettext("Queue") == "File d\u2019attente"


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_lazy_text_is_escaped_once_however_it_comes_into_a_page(language: str) -> None:
    text = lazy_gettext('{share} of <all> & "more", the driver\'s', share=lazy_decimal("<0.1%"))
    environment = Environment(autoescape=True)
    install(environment)
    with using(language):
        plain = str(text)
        pages = (
            Markup("<p>{}</p>").format(text),
            Markup("<p>%s</p>") % text,
            Markup("<p>") + text + Markup("</p>"),
            environment.from_string("<p>{{ text }}</p>").render(text=text),
            environment.from_string("<p>{{ '' ~ text }}</p>").render(text=text),
            environment.from_string("<p>{% trans text=text %}{{ text }}{% endtrans %}</p>").render(text=text),
        )
        assert {html.unescape(str(page)) for page in pages} == {f"<p>{plain}</p>"}
