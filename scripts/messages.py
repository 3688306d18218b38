"""Catalogues of messages: extract what is marked, bring each catalogue up to date, compile it.

``python scripts/messages.py`` writes phiscan/locale/LANGUAGE/LC_MESSAGES/phiscan.po and .mo; with ``--check``
it writes nothing and says what is missing. A message that is new or changed has no translation until somebody
writes one: nothing is guessed.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from phiscan.report import words

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "phiscan" / "locale"
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "gettext": None,
    "lazy_gettext": None,
    "ngettext": (1, 2),
    "lazy_ngettext": (1, 2),
    "mark_plural": (1, 2),
    "pgettext": ((1, "c"), 2),
    "lazy_pgettext": ((1, "c"), 2),
}
WIDTH = 110


def extracted() -> Catalog:
    """Return a catalogue of every message that is marked in the code, the templates and the scripts."""
    catalogue = Catalog(project="phiscan", charset="utf-8")
    with (ROOT / "babel.cfg").open(encoding="utf-8") as stream:
        methods, options = parse_mapping_cfg(stream)
    found = extract_from_dir(ROOT, methods, options, keywords=KEYWORDS, directory_filter=_is_ours)
    for name, _line, message, comments, context in found:
        catalogue.add(message, None, [(name, None)], auto_comments=comments, context=context)
    for code in sorted(words.CODES):
        catalogue.add(code, None, [("phiscan/report/words.py", None)], context=words.CODE)
    return catalogue


def _is_ours(folder: str) -> bool:
    path = Path(folder).resolve()
    ours = ROOT / "phiscan"
    return path in {ROOT, ours} or ours in path.parents


def read(language: str) -> Catalog:
    """Return the catalogue of a language as it is stored."""
    with path_of(language).open("rb") as stream:
        return read_po(stream, locale=language)


def path_of(language: str) -> Path:
    """Return where the catalogue of a language is."""
    return LOCALE / language / "LC_MESSAGES" / "phiscan.po"


def updated(language: str, template: Catalog) -> Catalog:
    """Return the stored catalogue with exactly the messages of the template, those translated before kept."""
    catalogue = read(language)
    made = catalogue.creation_date  # kept, so that a run without new messages changes nothing
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    catalogue.creation_date = catalogue.revision_date = made
    catalogue.msgid_bugs_address = catalogue.last_translator = catalogue.language_team = "phiscan"
    return catalogue


def compiled(catalogue: Catalog) -> bytes:
    """Return a catalogue in the form that is read at run time."""
    stream = io.BytesIO()
    write_mo(stream, catalogue)
    return stream.getvalue()


def written(catalogue: Catalog) -> bytes:
    """Return a catalogue as its file: sorted, without line numbers, which every change of code would move."""
    stream = io.BytesIO()
    write_po(stream, catalogue, sort_output=True, width=WIDTH, omit_header=False, include_lineno=False)
    return stream.getvalue()


def untranslated(catalogue: Catalog) -> list[Message]:
    """Return the messages without a translation that counts."""
    return [one for one in catalogue if one.id and (one.fuzzy or not _is_whole(one))]


def _is_whole(message: Message) -> bool:
    forms = message.string if isinstance(message.string, tuple | list) else (message.string,)
    return bool(forms) and all(forms)


def main() -> int:
    """Write the catalogues, or check them."""
    check = "--check" in sys.argv[1:]
    template, bad = extracted(), 0
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/phiscan.po")):
        language = path.parent.parent.name
        catalogue = updated(language, template)
        missing = untranslated(catalogue)
        for message in missing:
            print(f"{path.relative_to(ROOT)}: no translation: {message.id!r}")
        bad += len(missing)
        if not check:
            path.write_bytes(written(catalogue))
            path.with_suffix(".mo").write_bytes(compiled(catalogue))
        print(f"{language}: {len(catalogue)} messages, {len(missing)} without translation")
    return 1 if bad and check else 0


if __name__ == "__main__":
    sys.exit(main())
