"""The language of a text by its windows: what is in neither English nor French is never covered."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from phiscan.text.languages import Language, detect_language

NOTES = tomllib.loads((Path(__file__).parent / "notes.toml").read_text(encoding="utf-8"))
HEADER = (
    "DISCHARGE SUMMARY\nPatient Name:    DOB:    MRN: 12345\nGeneral Hospital, Internal Medicine, Ward 5\n"
    "This document is confidential and only for the use of the treating team and the patient.\n\n"
)
ENGLISH = (
    "She was seen in the clinic today with her daughter. The pain has been worse since the fall in March, "
    "and she asked whether the tablets could be changed. We agreed to see her again in six weeks.\n"
)
FRENCH = (
    "La patiente a été vue hier à la clinique avec sa fille. La douleur est plus forte depuis la chute "
    "du mois de mars, et elle demande si les comprimés peuvent être changés. Prochain rendez-vous en mai.\n"
)


@pytest.mark.parametrize("language", NOTES)
def test_notes_in_other_languages_are_not_covered(language: str) -> None:
    for note in NOTES[language]:
        for text in (note, note[:200], note[-200:], HEADER + note, ENGLISH * 3 + note, note + FRENCH * 3):
            assert not detect_language(text).covered, text
        assert detect_language(note).code == language


@pytest.mark.parametrize(("text", "code"), [(ENGLISH, "en"), (FRENCH, "fr"), (ENGLISH + FRENCH, "en")])
def test_english_and_french_are_covered(text: str, code: str) -> None:
    found = detect_language(text)
    assert found.covered
    assert found.code in {code, "fr"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "approved",
        "def f(x):\n    return [y ** 2 for y in x if y > 0]\n" * 20,
        "2026-11-28 12:00:01 INFO worker-3 GET /api/v1/items/42 200 13ms\n" * 20,
        "12.5\t13.1\t9.8\t4.4\n" * 50,
        "\n".join(f"{last}, {first}" for last in ("Kowalski", "Müller") for first in ("Anna", "Wei")) * 4,
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt. " * 5,
        "Choose a language: English, Français, Deutsch, Español, 中文, العربية, Русский",
        "The angle \u03b1 of the \u03bb/4 plate and the constants \u03b2 and \u03b3 are in radians. " * 4,
    ],
)  # fmt: skip
def test_what_has_no_language_is_not_said_to_be_in_one(text: str) -> None:
    assert detect_language(text).covered


def test_a_long_text_is_looked_at_in_windows_all_over_it() -> None:
    long = ENGLISH * 200
    assert detect_language(long) == Language("en")
    assert not detect_language(long + NOTES["ru"][0] * 20).covered
    assert not detect_language(NOTES["zh"][0] * 20 + long).covered
