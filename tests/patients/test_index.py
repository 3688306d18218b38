"""The index: what it is made of, how it changes, and that it says nothing without its key."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phiscan.errors import ConfigError, InputError
from phiscan.patients import lifecycle
from phiscan.patients.build import gather
from phiscan.patients.index import open_index
from phiscan.patients.lifecycle import build, destroy, load_hasher, rotate, update
from phiscan.patients.manifest import read_manifest
from phiscan.patients.matching import Matcher, load_matcher
from phiscan.patients.records import Hasher, Kind, PatientRecord
from phiscan.patients.settings import PatientSettings
from phiscan.patients.sources import read_records
from phiscan.store.identity import create_key
from tests.patients.population import Person, write_list


def _read(path: Path) -> list[PatientRecord]:
    return list(read_records(str(path), mapped={}, day_first=True))


def _number_of(settings: PatientSettings, person: Person) -> list[int]:
    matcher = load_matcher(settings)
    assert matcher is not None
    key = np.array([matcher.hasher.match_key(Kind.CARD, person.card.lstrip("0"))], np.uint64)
    low, high = matcher.index.holders(key)
    return matcher.index.numbers(int(low[0]), int(high[0]))


def test_numbers_are_those_of_the_rows(
    matcher: Matcher, settings: PatientSettings, people: list[Person]
) -> None:
    assert [_number_of(settings, people[n]) for n in (0, 17, 399)] == [[1], [18], [400]]
    assert matcher.index.region_of(18) == people[17].province
    assert matcher.index.region_of(401) == ""
    manifest = matcher.index.manifest
    assert (manifest.n_patients, manifest.last_number) == (400, 400)
    assert manifest.n_keys == sum(manifest.kinds.values()) == len(matcher.index.arrays["hashes"])


def test_processes_make_the_same_index_as_one(people: list[Person], patient_list: Path) -> None:
    records = _read(patient_list) * 12
    hasher = Hasher(b"k" * 32, 2)
    one, two = gather(records, hasher), gather(records, hasher, n_workers=2)
    assert len(one.identities) == 12 * len(people)
    for name in ("keys", "rows", "parts", "counts", "identities", "given", "regions"):
        assert (getattr(one, name) == getattr(two, name)).all()
    assert one.collisions == two.collisions


def test_rows_with_one_record_number_are_one_patient(settings: PatientSettings) -> None:
    rows = [
        PatientRecord(1, names=(("Ann", "Roy"),), records=("1234567",), births=("19560312",)),
        PatientRecord(2, names=(("Bo", "Li"),), records=("7654321",)),
        PatientRecord(3, names=(("Ann", "Marlowe"),), records=("123-4567",), births=("19560312",)),
    ]
    manifest, numbers = build(settings, rows, n_workers=1)
    assert numbers.tolist() == [1, 2, 1]
    assert manifest.n_patients == 2


def test_numbers_of_the_list_are_taken(settings: PatientSettings) -> None:
    rows = [PatientRecord(1, cards=("1234567897",), number=9001), PatientRecord(2, cards=("9876543217",))]
    _, numbers = build(settings, rows, n_workers=1)
    assert numbers.tolist() == [9001, 2]


def test_nothing_of_the_list_is_in_the_index(
    matcher: Matcher, settings: PatientSettings, people: list[Person], tmp_path: Path
) -> None:
    """The folders hold no value of anybody, and no file besides index and key was written."""
    assert matcher.index.manifest.n_patients == len(people)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "list.csv"]
    assert {path.parent for path in written} == {
        settings.folder, settings.folder / matcher.index.manifest.arrays, settings.key_file.parent,
    }  # fmt: skip
    held = b"".join(path.read_bytes() for path in written)
    for person in people:
        for value in person.row[:-1]:  # provinces are counted by name
            assert value.encode() not in held
    assert all(path.stat().st_mode & 0o077 == 0 for path in written)


def test_the_same_list_with_another_key_has_no_hash_in_common(tmp_path: Path, patient_list: Path) -> None:
    records = _read(patient_list)
    found = []
    for name in ("one", "two"):
        settings = PatientSettings(tmp_path / name, tmp_path / f"{name}.key")
        build(settings, records, n_workers=1)
        index = open_index(settings.folder)
        found.append(set(index.arrays["hashes"].tolist()) | set(index.arrays["part_hashes"].tolist()))
    assert not found[0] & found[1]


def test_a_second_build_is_refused_and_replacing_keeps_the_numbers(
    matcher: Matcher, settings: PatientSettings, people: list[Person], tmp_path: Path
) -> None:
    turned = _read(write_list(tmp_path / "turned.csv", people[::-1]))
    with pytest.raises(InputError, match="holds a patient index already"):
        build(settings, turned, n_workers=1)
    manifest, numbers = build(settings, turned, n_workers=1, replace_old=True)
    assert manifest.index_id != matcher.index.manifest.index_id
    assert numbers.tolist() == list(range(400, 0, -1))
    assert len(list(settings.folder.glob("arrays-*"))) == 1


def test_update_adds_changes_and_removes(
    matcher: Matcher, settings: PatientSettings, people: list[Person], tmp_path: Path
) -> None:
    married = replace(people[3], family="Marlowe")
    new = replace(people[5], mrn="99999999", card="1234567897")
    changes = _read(write_list(tmp_path / "changes.csv", [married, new]))
    gone = _read(write_list(tmp_path / "gone.csv", [people[9]]))
    manifest, counts = update(settings, changes, gone, n_workers=1)
    assert counts == {"added": 1, "changed": 1, "removed": 1}
    assert manifest.index_id == matcher.index.manifest.index_id
    assert manifest.n_patients == 400
    assert _number_of(settings, people[9]) == []
    assert _number_of(settings, new) == [401]
    assert _number_of(settings, married) == [4]
    after = load_matcher(settings)
    assert after is not None
    keys = [
        after.hasher.match_key(kind, value)
        for kind, value in [
            (Kind.RECORD, people[3].mrn.lstrip("0")),
            (Kind.RECORD, people[100].mrn.lstrip("0")),
        ]
    ]
    low, high = after.index.holders(np.array(keys, np.uint64))
    assert (high - low).tolist() == [1, 1]
    assert after.index.region_of(401) == people[5].province
    assert after.index.region_of(10) == ""
    with pytest.raises(InputError, match="holds no patient"):
        update(settings, [], [], n_workers=1)


def test_rotation_keeps_numbers_and_leaves_nothing_of_the_old_key(
    matcher: Matcher, settings: PatientSettings, people: list[Person], patient_list: Path
) -> None:
    old_key = settings.key_file.read_text()
    old = set(matcher.index.arrays["hashes"].tolist())
    manifest, numbers = rotate(settings, _read(patient_list), n_workers=1)
    assert numbers.tolist() == list(range(1, 401))
    assert manifest.key_id != matcher.index.manifest.key_id
    assert settings.key_file.read_text() != old_key
    assert not old & set(open_index(settings.folder).arrays["hashes"].tolist())
    assert _number_of(settings, people[17]) == [18]
    assert not settings.key_file.with_name("patients.key.next").exists()


def test_a_rotation_that_was_cut_off_leaves_a_usable_index(
    matcher: Matcher,
    settings: PatientSettings,
    people: list[Person],
    patient_list: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert matcher.index.manifest.n_patients == 400

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lifecycle, "replace_key", cut_off)
        with pytest.raises(KeyboardInterrupt):
            rotate(settings, _read(patient_list), n_workers=1)
    assert _number_of(settings, people[17]) == [18]  # with the new key, still under its draft's name
    rotate(settings, _read(patient_list), n_workers=1)
    assert _number_of(settings, people[17]) == [18]


def test_without_its_key_the_index_is_of_no_use(matcher: Matcher, settings: PatientSettings) -> None:
    key_id = matcher.index.manifest.key_id
    settings.key_file.rename(settings.key_file.with_name("away"))
    with pytest.raises(ConfigError, match=f"is missing; restore key {key_id}"):
        load_matcher(settings)
    create_key(settings.key_file)
    with pytest.raises(ConfigError, match="holds another key"):
        load_hasher(settings, matcher.index.manifest)


def test_destroying_leaves_nothing_and_certifies_it(
    matcher: Matcher, settings: PatientSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    overwritten = []
    monkeypatch.setattr(lifecycle.shutil if hasattr(lifecycle, "shutil") else __import__("shutil"), "rmtree",
                        lambda folder, **_: overwritten.extend(folder.glob("*.npy")))  # fmt: skip
    done = destroy(settings)
    assert overwritten
    assert all(not any(path.read_bytes()) for path in overwritten)  # zeros, before the folder goes
    assert done["patients"] == 400
    assert done["key"] == matcher.index.manifest.key_id
    assert len(done["sha256"]) == 64
    assert not settings.key_file.exists()
    assert load_matcher(settings) is None
    with pytest.raises(ConfigError, match="there is no patient index"):
        read_manifest(settings.folder)


@pytest.mark.parametrize("damage", ["cut", "removed", "foreign", "manifest", "version"])
def test_a_damaged_index_is_refused(matcher: Matcher, settings: PatientSettings, damage: str) -> None:
    hashes = settings.folder / matcher.index.manifest.arrays / "hashes.npy"
    manifest = settings.folder / "index.json"
    if damage == "cut":
        hashes.write_bytes(hashes.read_bytes()[:-9])
    elif damage == "removed":
        hashes.unlink()
    elif damage == "foreign":
        np.save(hashes, np.zeros(3, np.float32))
    elif damage == "manifest":
        manifest.write_text("{}")
    else:
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 99}))
    with pytest.raises(ConfigError, match=r"hashes\.npy|index\.json"):
        open_index(settings.folder)
