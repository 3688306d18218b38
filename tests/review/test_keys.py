"""Which key made the hashes: another one is noticed before a scan, rotation survives being cut off."""

import errno
import os
import stat
from pathlib import Path

import pytest

from phiscan.errors import ConfigError, InputError
from phiscan.review.maintenance import backup, key_rotation
from phiscan.review.store import Store
from phiscan.store.identity import create_key, load_key
from tests.review.results import NOW, ROOT

A, B = "a" * 16, "b" * 16


def begin(store: Store, key: str) -> None:
    store.begin_scan([ROOT], versions={"key": key}, options={}, now=NOW)


def in_use(store: Store) -> str:
    with store.database.read() as connection:
        return key_rotation.key_in_use(connection)


def test_the_first_scan_records_its_key_and_others_need_the_same(store: Store) -> None:
    assert in_use(store) == ""
    begin(store, A)
    begin(store, A)
    assert in_use(store) == A
    with pytest.raises(ConfigError, match=f"the key file holds key {B}, but .* made with key {A}"):
        begin(store, B)
    assert len(store.scans()) == 1
    check = store.verify_audit()
    assert (check.ok, check.n_rows) == (True, 1)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "key"
    create_key(path)
    return path


@pytest.mark.parametrize("sealed", [True, False])
def test_a_rotation_puts_a_new_key_in_place(
    store: Store, url: str, key_file: Path, tmp_path: Path, *, sealed: bool
) -> None:
    old = load_key(key_file)
    begin(store, key_rotation.key_id(old))
    seal = tmp_path / "sealed" if sealed else None
    done = key_rotation.rotate(url, key_file, seal=seal, by="ada", now=NOW)
    new = load_key(key_file)
    assert (done.old, done.new, done.finished) == (key_rotation.key_id(old), key_rotation.key_id(new), False)
    assert done.former == ("sealed" if sealed else "destroyed")
    assert new != old
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert {path.name for path in key_file.parent.iterdir()} == {"key", "audit.key"}
    if seal is not None:
        assert load_key(seal) == old
    begin(store, done.new)
    with pytest.raises(ConfigError):
        begin(store, done.old)
    assert {check.problem for check in backup.verify(url, key_file)} == {""}


def test_a_rotation_cut_off_before_it_counted_starts_again(store: Store, url: str, key_file: Path) -> None:
    begin(store, key_rotation.key_id(load_key(key_file)))
    create_key(key_rotation.draft_of(key_file))  # killed after the first step
    done = key_rotation.rotate(url, key_file, seal=None, by="ada", now=NOW)
    assert not done.finished
    assert in_use(store) == done.new == key_rotation.key_id(load_key(key_file))


def test_a_rotation_cut_off_after_it_counted_is_finished(
    store: Store, url: str, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(store, key_rotation.key_id(load_key(key_file)))
    with monkeypatch.context() as patch:
        patch.setattr(
            key_rotation, "replace_key", lambda _draft, _key: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            key_rotation.rotate(url, key_file, seal=None, by="ada", now=NOW)
    assert in_use(store) != key_rotation.key_id(load_key(key_file))
    done = key_rotation.rotate(url, key_file, seal=None, by="ada", now=NOW)
    assert done.finished
    assert in_use(store) == done.new == key_rotation.key_id(load_key(key_file))


def test_refuses_to_rotate_a_key_that_is_not_in_use(store: Store, url: str, key_file: Path) -> None:
    begin(store, A)
    with pytest.raises(ConfigError, match=f"but the database's hashes are made with key {A}"):
        key_rotation.rotate(url, key_file, seal=None, by="ada", now=NOW)
    (problem,) = [check.problem for check in backup.verify(url, key_file) if check.name == "key"]
    assert A in problem
    key_file.unlink()
    assert "no such key file" in backup.verify(url, key_file)[-1].problem


def test_a_sealed_key_is_never_overwritten(store: Store, url: str, key_file: Path, tmp_path: Path) -> None:
    old = key_file.read_bytes()
    (tmp_path / "sealed").write_text("ab" * 32)
    (tmp_path / "sealed").chmod(0o600)
    with pytest.raises(InputError, match="is there already; a key is never overwritten"):
        key_rotation.rotate(url, key_file, seal=tmp_path / "sealed", by="ada", now=NOW)
    assert key_file.read_bytes() == old
    assert in_use(store) == ""
    with pytest.raises(InputError, match="by: expected a name"):
        key_rotation.rotate(url, key_file, seal=None, by=" ", now=NOW)


@pytest.mark.usefixtures("store")
def test_a_full_disk_leaves_no_part_of_a_sealed_key(
    url: str, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal, old = tmp_path / "sealed", key_file.read_text()
    really_sync = os.fsync

    def sync(descriptor: int) -> None:
        if [*seal.parent.glob(f"{seal.name}.*.new")]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        really_sync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(ConfigError, match="key file cannot be written: No space left on device"):
        key_rotation.rotate(url, key_file, seal=seal, by="ada", now=NOW)
    monkeypatch.undo()
    assert not seal.exists()
    assert key_file.read_text() == old
    assert key_rotation.rotate(url, key_file, seal=seal, by="ada", now=NOW).former == "sealed"
