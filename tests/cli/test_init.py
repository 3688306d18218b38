"""A home of its own: what init writes, and that it never overwrites."""

import json
import re
import stat
import tomllib
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path

import pytest

from phiscan.cli.init import TEMPLATE
from phiscan.config import Config, DetectorThresholds, HealthSettings, Limits, config_of, load_config
from phiscan.review.retention import Retention
from phiscan.review.store import Store
from phiscan.store.identity import load_key
from tests.cli.program import refused, run


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PHISCAN_HOME", "PHISCAN_DATABASE", "PHISCAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_writes_configuration_key_and_database(tmp_path: Path) -> None:
    text = run("init", str(tmp_path / "new"))
    assert text.count("written: ") == 3
    config = load_config(tmp_path / "new" / "phiscan.toml")
    assert config.home == tmp_path / "new" / ".phiscan"
    assert len(load_key(config.key_file)) == 32
    with Store.open(config.database_url) as store:
        assert store.scans() == []
    for path in (tmp_path / "new/phiscan.toml", config.key_file, config.home / "phiscan.db"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.home.stat().st_mode) == 0o700


def test_never_overwrites(tmp_path: Path) -> None:
    run("init")
    (tmp_path / "phiscan.toml").write_text("k = 5\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    text = run("init")
    assert text.count("left as it is: ") == 3
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_makes_only_what_is_missing(tmp_path: Path) -> None:
    run("init")
    (tmp_path / ".phiscan" / "phiscan.db").unlink()
    made = json.loads(run("init", "--json"))
    assert {what: one["created"] for what, one in made.items()} == {
        "configuration": False,
        "key": False,
        "database": True,
    }


def test_uses_the_home_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHISCAN_HOME", str(tmp_path / "elsewhere"))
    run("init")
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} >= {"key", "phiscan.db"}
    assert not (tmp_path / ".phiscan").exists()


def test_takes_the_configuration_named_by_the_option(tmp_path: Path) -> None:
    run("--config", "my.toml", "init")
    assert (tmp_path / "my.toml").exists()
    assert "either --config FILE or DIR" in refused("--config", "my.toml", "init", ".")


def test_refuses_an_unusable_key_database_or_folder(tmp_path: Path) -> None:
    run("init")
    (tmp_path / ".phiscan" / "key").write_text("short")
    assert "expected 64 hexadecimal digits" in refused("init")
    (tmp_path / ".phiscan" / "key").unlink()
    (tmp_path / ".phiscan" / "phiscan.db").write_text("This is no database, but a text of some length. " * 99)
    assert "file is not a database" in refused("init")
    assert "phiscan.toml: cannot be written" in refused("init", "phiscan.toml/folder")


def test_the_template_names_every_field_with_its_default() -> None:
    written = tomllib.loads(re.sub(r"(?m)^# (?=[a-z_]+ = )", "", TEMPLATE))
    assert config_of(written, "") == config_of({}, "")
    tables = {"limits": Limits, "health": HealthSettings, "detectors": DetectorThresholds}
    for name, table in tables.items():
        assert list(written[name]) == [field.name for field in fields(table)]
    assert written["retention"] == asdict(Retention())
    simple = {one.name for one in fields(Config) if not is_dataclass(getattr(Config(), one.name))}
    assert {*written} == {*simple, *tables, "retention"} - {"source", "schedule", "learned", "push"}
    given = tomllib.loads(TEMPLATE)
    assert given == {"home": ".phiscan", **{name: {} for name in (*tables, "retention")}}
