"""What an attacker learns from the index: nothing without the key; with it, one guess per keyed hash."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from scipy import stats

from phiscan.model import EntityType
from phiscan.patients.events import Actor
from phiscan.patients.find import FoundFile, find
from phiscan.patients.find import Person as Sought
from phiscan.patients.lifecycle import build, update
from phiscan.patients.matching import Matcher, load_matcher
from phiscan.patients.records import Hasher, Kind, PatientRecord
from phiscan.patients.settings import PatientSettings
from tests.empty_database import new_store
from tests.patients.conftest import made
from tests.patients.population import Person
from tests.review.results import NOW, scan


def _hits(matcher: Matcher, hasher: Hasher, people: list[Person]) -> int:
    """Return for how many people a guess of their card, hashed so, is in the index."""
    keys = np.array([hasher.match_key(Kind.CARD, one.card.lstrip("0")) for one in people], np.uint64)
    low, high = matcher.index.holders(keys)
    return int((high > low).sum())


def test_right_guesses_miss_without_the_key_and_hit_with_it(matcher: Matcher, people: list[Person]) -> None:
    for wrong in (b"", b"\0" * 32, b"k" * 32, bytes.fromhex(matcher.hasher.key_id)):
        assert _hits(matcher, Hasher(wrong, matcher.hasher.hard_cost), people) == 0
    assert _hits(matcher, Hasher(matcher.hasher.key, 32), people) == 0  # another cost is another hash
    assert _hits(matcher, matcher.hasher, people) == len(people)


def test_the_hashes_are_as_random_as_their_key(matcher: Matcher) -> None:
    """No byte of the hashes favours a value, and neighbours in the list are no neighbours in the index."""
    octets = np.ascontiguousarray(matcher.index.arrays["hashes"]).view(np.uint8).reshape(-1, 8)
    for place in range(8):
        counts = np.bincount(octets[:, place], minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-6
    order = stats.spearmanr(np.arange(len(octets)), matcher.index.arrays["numbers"])
    assert order.pvalue > 1e-6


def test_two_patients_with_one_birth_date_share_no_hash_that_shows_it(settings: PatientSettings) -> None:
    """A pair is hashed as one: nobody can count how many patients share a part of it."""
    duplicates = [
        PatientRecord(n, names=(("Ann", f"Family{'abdfghkm'[n]}xx"),), births=("19560312",)) for n in range(8)
    ]
    build(settings, duplicates, n_workers=1)
    matcher = load_matcher(settings)
    assert matcher is not None
    assert len(np.unique(matcher.index.arrays["hashes"])) == len(matcher.index.arrays["hashes"])


def test_the_key_is_in_no_repr(matcher: Matcher) -> None:
    secret = matcher.hasher.key
    for one in (matcher, matcher.hasher, matcher.index):
        assert secret.hex() not in repr(one)
        assert repr(secret) not in repr(one)


def test_a_planted_record_is_marked_wherever_it_is_seen(settings: PatientSettings) -> None:
    planted = PatientRecord(1, names=(("Quenna", "Vandelune"),), cards=("1234567897",), is_canary=True)
    real = PatientRecord(2, cards=("9876543217",))
    build(settings, [planted, real], n_workers=1)
    update(settings, [PatientRecord(3, cards=("5555555551",))], n_workers=1)
    matcher = load_matcher(settings)
    assert matcher is not None
    text = "1234567897 and 9876543217"
    values = ((EntityType.HEALTH_CARD, "1234567897"), (EntityType.HEALTH_CARD, "9876543217"))
    found = matcher.check(*made(text, *values)).matches
    assert [(match.patient, match.is_canary) for match in found] == [(1, True), (2, False)]


def test_work_and_answer_are_the_same_for_a_patient_in_no_file_and_for_a_stranger(
    matcher: Matcher, people: list[Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed: hashes computed and statements sent depend on the form of a question alone."""
    hashed: list[Kind] = []
    match_key = Hasher.match_key

    def counted(self: Hasher, kind: Kind, value: str) -> int:
        hashed.append(kind)
        return match_key(self, kind, value)

    monkeypatch.setattr(Hasher, "match_key", counted)
    one = people[0]
    patient = [Sought(number=one.card), Sought(number=one.mrn)]
    patient += [Sought(f"{one.given} {one.family}", f"{one.born:%Y-%m-%d}")]
    stranger = [Sought(number="1" * len(one.card)), Sought(number="7" * len(one.mrn))]
    stranger += [Sought("Zzyzx Qwertz", f"{one.born:%Y-%m-%d}")]
    with new_store(tmp_path / "a.db") as store:
        scan(store)
        statements: list[str] = []
        sa.event.listen(
            store.database._engine, "before_cursor_execute", lambda *given: statements.append(given[2])
        )

        def asked(person: Sought) -> tuple[list[FoundFile], list[Kind], list[str]]:
            hashed.clear()
            statements.clear()
            found = find(
                store.database, person, key=b"k" * 32, matcher=matcher, purpose="p", actor=Actor("a", NOW)
            )
            # How many writings a value has is of its form: a number may begin with a zero.
            return found, list(hashed), [re.sub(r"\?(, \?)*", "?", text) for text in statements]

        asked(stranger[0])  # the first question of a connection sets it up
        for known, unknown in zip(patient, stranger, strict=True):
            assert asked(known) == asked(unknown)
            assert asked(known)[0] == []
            assert hashed


@pytest.mark.bench
def test_guesses_per_second_with_the_key() -> None:
    """Print what a thief of index and key can try on one core; asserts nothing about time."""
    hasher = Hasher(b"k" * 32, 16)
    for kind, n, space in (
        (Kind.NAME_BIRTH, 50_000, 1e9),
        (Kind.RECORD, 5_000, 1e7),
        (Kind.CARD, 5_000, 1e9),
    ):
        started = time.process_time()
        for guess in range(n):
            hasher.match_key(kind, f"{guess:010d}")
        rate = n / (time.process_time() - started)
        hours = space / rate / 3600
        print(
            f"{kind.value}: {rate:,.0f} guesses a second and core; {space:.0e} values in {hours:,.1f} hours"
        )
        assert rate > 0
