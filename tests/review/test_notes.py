"""A reviewer's note: what was found in the file is replaced by its type; the rest stays as typed."""

from dataclasses import replace

import pytest

from phiscan.model import EntityType, Verdict
from phiscan.review.store import Store
from phiscan.store import identity
from tests.review.results import KEY, NOW, finding, later, referred, scan

pytestmark = pytest.mark.usefixtures("database")

FOUND = {
    EntityType.PERSON: "Chidi Okafor-Lind",
    EntityType.PHONE: "613-555-0199",
    EntityType.STREET_ADDRESS: "12 Harbour Road, Kingston ON",
    EntityType.EMAIL: "c.okafor@mail.example",
    EntityType.DATE: "3 May 1961",
}
OTHER = "Dr. Zoé van der Lévesque"


@pytest.fixture
def written(store: Store) -> Store:
    findings = tuple(
        finding(value, start=50 * at, kind=kind) for at, (kind, value) in enumerate(FOUND.items())
    )
    findings += (finding(OTHER, start=400, kind=EntityType.PERSON),)
    scan(store, [replace(referred("a.txt"), findings=findings), referred("b.txt")])
    store.database.give_key(identity.OPTION, KEY)
    return store


TYPED = {
    "Called chidi OKAFOR-LIND, no answer": "Called [PERSON], no answer",
    "(613) 555 0199 is the ward": "([PHONE] is the ward",
    "lives at 12 Harbour Road Kingston, ON.": "lives at [STREET_ADDRESS].",
    "mail c.okafor@mail.example; born 3 May 1961": "mail [EMAIL]; born [DATE]",
    "the letter is of 4 May 1961, call 613-555-0198": "the letter is of 4 May 1961, call 613-555-0198",
    "613-555-0199, then 613-555-0199 and 6135550199": "[PHONE], then [PHONE] and [PHONE]",
    "asked Okafor about it": "asked [PERSON] about it",
    "chidi says OKAFOR's letter": "[PERSON] says [PERSON]'s letter",
    "Lind, Chidi (again)": "[PERSON], [PERSON] (again)",
    "Okafors and Chi are others": "Okafors and Chi are others",
    "the ward of Lévesque; of LEVESQUE too": "the ward of [PERSON]; of [PERSON] too",
    "see the template of the clinic": "see the template of the clinic",
    "": "",
}


def test_what_was_found_in_the_file_is_masked(written: Store) -> None:
    for number, (typed, kept) in enumerate(TYPED.items()):
        written.decide_all([(1, Verdict.PHI)], reviewer="ada", note=typed, now=NOW)
        assert written.item(1).decisions[-1].note == kept
        written.desk.decide(1, Verdict.NOT_PHI, reviewer="ada", note=typed, now=later(1), token=f"t{number}")
        assert written.item(1).decisions[-1].note == kept


def test_a_long_note_is_masked_everywhere(written: Store) -> None:
    filler = " ".join(f"word{number}" for number in range(1_000))
    typed = f"613-555-0199 {filler} Okafor {filler[:500]} c.okafor@mail.example 613-555-0199"
    (made,) = written.decide_all([(1, Verdict.PHI)], reviewer="ada", note=typed[-9_000:], now=NOW)
    assert made.note.endswith("[EMAIL] [PHONE]")
    assert " [PERSON] " in made.note
    (made,) = written.decide_all([(1, Verdict.PHI)], reviewer="ada", note=typed[:9_000], now=NOW)
    assert made.note.startswith("[PHONE] word0 word1 ")


def test_identifiers_of_another_file_stay(written: Store) -> None:
    note = "as for Chidi Okafor-Lind"
    made = written.decide_all([(1, Verdict.PHI), (2, Verdict.PHI)], reviewer="ada", note=note, now=NOW)
    assert [one.note for one in made] == ["as for [PERSON]", note]
