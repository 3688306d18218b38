"""Single names in talk: who writes, nicknames, names that are words, names in rows before an age."""

from __future__ import annotations

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.person.age_and_sex import aged_names
from phiscan.screen.recognizers.person.conversation import conversation_names
from phiscan.screen.recognizers.person.kinship_cues import KinReader
from phiscan.screen.recognizers.person.lowercase_titles import lower_titled
from phiscan.screen.resolution import resolve


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hi its Blessing from Bayshore", "Blessing"),
        ("Hello, this is Precious calling", "Precious"),
        ("Bonjour, c'est Noëlla du CLSC", "Noëlla"),
        ("d'une amie madame bellefleur point", "bellefleur"),
        ("monsieur de repentigny veut", "de repentigny"),
        ("with Big Mike today", "Big Mike"),
        ("her boss (Curt) called", "Curt"),
        ("Son copain, « Jay », 22 ans", "Jay"),
        ('Ayodele Ogunbanjo ("Ayo")', "Ayo"),
        ("she does not want Curt copied", "Curt"),
        ("Please tell Curt that it", "Curt"),
        ("Notes: Blessing called back 1140", "Blessing"),
        ("Will phoned re refill", "Will"),
        ("LVM for Precious re appt", "Precious"),
        ("told rn gail by text", "gail"),
        ("Subject: RE: FW: Delacroix transfer", "Delacroix"),
        ("Objet : Gagnon suivi", "Gagnon"),
        ("jumelles (Rose et Blanche, 96 ans)", "Rose"),
    ],
)
def test_somebody_is_told_by_one_name(text: str, name: str) -> None:
    assert [finding.span.of(text) for finding in conversation_names(text, load_gazetteer())] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "madame est fatiguée, monsieur dit non",
        "Little Rock, Big Data, Old Faithful",
        "give Tylenol at noon",
        "with March, and April",
        "with hope and grace",
        "the manager (Monday)",
        "it is Window from here",
        "Monday called for a review",
        "Will call back, Mark site",
        "Doiron, inf. prat.",
        "rn to call, lpn on break",
        "Subject: Meditech update",
        "Subject: Boston transfer",
        "Objet : Demande suivi",
        "Patient called, Pharmacy wants a code",
    ],
)
def test_a_word_in_talk_is_nobody(text: str) -> None:
    assert not list(conversation_names(text, load_gazetteer()))


def test_a_row_names_somebody_before_an_age() -> None:
    text = "rm 18 rose 90f, aspiration\nrm 19 van buren 52f dka\nrm 20 empty 0\nrm 21 may 3 f/u\n"
    found = resolve(aged_names(text, load_gazetteer()))
    assert [finding.span.of(text) for finding in found] == ["rose", "van buren"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Do, Van 71M", "Do, Van"),
        ("12-1 An, So Young F 44", "An, So Young"),
        ("Running Wolf, Delbert 58M", "Running Wolf, Delbert"),
        ("Admit Garcia, Maria 44F", "Garcia, Maria"),
        ("Rose, Will DOB 3/4/51", "Rose, Will"),
        ("702-1  STASIUK 101M  CAP", "STASIUK"),
        ("12 LONG, HOPE 44F", "LONG, HOPE"),
    ],
)
def test_a_row_names_somebody_last_name_first(text: str, name: str) -> None:
    assert [finding.span.of(text) for finding in resolve(aged_names(text, load_gazetteer()))] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "Monday, June 3/4/24",
        "Cough, Fever 3/4/24",
        "Boston, Mass 3/4/24",
        "Lasix, Tylenol 40 mg",
        "Unit, Bed 12",
        "12 EMPTY 44F",
    ],
)
def test_a_row_of_words_is_nobody(text: str) -> None:
    assert not list(aged_names(text, load_gazetteer()))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("dr. park, then", ["park"]),
        ("dr office called", []),
        ("dr. xiuying zhuangg, and", ["xiuying zhuangg"]),
    ],
)
def test_a_title_in_small_letters(text: str, names: list[str]) -> None:
    assert [finding.span.of(text) for finding in lower_titled(load_gazetteer(), text, 0)] == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Daughter Raven to go", ["Raven"]),
        ("Mother Will Attend", []),
        ("girlfriend destiny can confirm", ["destiny"]),
        ("mother april picks up", ["april"]),
        ("mother april 3 seen", []),
        ("mother may call", []),
        ("wife hope restored", []),
        ("DTR JUNE TO DRIVE", ["JUNE"]),
        ("MOM JEWEL PRINCE 701-555-0106", ["JEWEL PRINCE"]),
        ("husb. Dawit 431.555.0120", ["Dawit"]),
        ("brother Will is POA", ["Will"]),
        ("daughter Morning Star and", ["Morning Star"]),
        ("named will in the next bed", ["will"]),
        ("named after the valley", []),
        ("grandson mark, key card", ["mark"]),
        ("granddaughter shaylene. appt", ["shaylene"]),
        ("wife faith and", ["faith"]),
        ("son poa, dtr away", []),
        ("daughter ify called at", ["ify"]),
        ("son poa is away", []),
    ],
)
def test_kin_and_who_is_named(text: str, names: list[str]) -> None:
    end = len(text.partition(" ")[0].rstrip("."))
    found = KinReader(load_gazetteer()).read(text, 0, end, text[:end].lower())
    assert [finding.span.of(text) for finding in found] == names
