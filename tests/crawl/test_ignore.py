"""Where the ignore file may come from."""

from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.crawl import load_ignore
from phiscan.errors import ConfigError


def test_reads_the_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "phiscan.toml").write_text("")
    (tmp_path / ".phiscanignore").write_text("*.iso\n")
    rules = load_ignore(Config(source=str(tmp_path / "phiscan.toml")), [b"/srv/share"])
    assert rules.matches(b"a/b.iso", b"/srv/share/a/b.iso", is_folder=False)
    assert not rules.matches(b"a/b.txt", b"/srv/share/a/b.txt", is_folder=False)


def test_does_not_use_a_file_that_lies_on_the_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".phiscanignore").write_text("*\n")
    monkeypatch.chdir(tmp_path)
    rules = load_ignore(Config(), [bytes(tmp_path)])
    assert rules.refused == str(tmp_path / ".phiscanignore")
    assert not rules.matches(b"a.txt", bytes(tmp_path / "a.txt"), is_folder=False)


def test_passes_over_what_phiscan_itself_writes(tmp_path: Path) -> None:
    config = Config(home=tmp_path / "home", database=f"sqlite:///{tmp_path}/share/own.db")
    rules = load_ignore(config, [b"/srv/share"])
    assert rules.matches(b"home", bytes(tmp_path / "home"), is_folder=True)
    for ending in ("", "-wal", "-shm"):
        path = tmp_path / f"share/own.db{ending}"
        assert rules.matches(path.name.encode(), bytes(path), is_folder=False)


def test_matches_nothing_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rules = load_ignore(Config(), [b"/srv/share"])
    assert rules.source == ""
    assert not rules.matches(b"a.txt", b"/srv/share/a.txt", is_folder=False)


def test_names_an_ignore_file_that_is_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".phiscanignore").write_bytes(b"\xff\xfe\x00")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"\.phiscanignore: byte 0: expected UTF-8"):
        load_ignore(Config(), [b"/srv/share"])
