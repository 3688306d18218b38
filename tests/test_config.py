"""phiscan.toml, PHISCAN_* and where the data files are."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import pytest

from phiscan import config as config_module
from phiscan.config import Config, LearnedVersion, data_dir, load_config
from phiscan.errors import ConfigError


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "phiscan.toml"
    path.write_text(text)
    return path


def test_uses_defaults_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(environ={}) == Config()


def test_reads_every_kind_of_field(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        'home = "state"\nworkers = 3\nextra_patterns = ["a.toml"]\n[limits]\ntime_s = 5\nfile_bytes = 10\n',
    )
    config = load_config(path, environ={})
    assert config.home == tmp_path / "state"
    assert config.n_workers == 3
    assert config.extra_patterns == ("a.toml",)
    assert config.limits.time_s == 5.0
    assert config.limits.file_bytes == 10


def test_lets_the_environment_win(tmp_path: Path) -> None:
    path = _write(tmp_path, 'home = "state"\ndatabase = "sqlite:///a.db"\n')
    environ = {
        "PHISCAN_HOME": "/var/lib/phiscan",
        "PHISCAN_DATABASE": "sqlite:///b.db",
        "PHISCAN_WORKERS": "2",
    }
    config = load_config(path, environ=environ)
    assert config.home == Path("/var/lib/phiscan")
    assert config.database_url == "sqlite:///b.db"
    assert config.n_workers == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("homes = 'x'", "homes: unknown field"),
        ("workers = 'two'", "workers: expected a whole number"),
        ("workers = true", "workers: expected a whole number"),
        ("workers = -1", "workers: expected 0"),
        ("workers = 99999999999999999999", "workers: expected 0"),
        ("home = 3", "home: expected a path"),
        ("extra_patterns = [1]", "extra_patterns: expected a list of texts"),
        ("limits = 3", r"limits: expected a table \[limits\]"),
        ("[limits]\ntime_s = 0", "limits.time_s: expected a number above 0"),
        ("[limits]\ntime_s = nan", "limits.time_s: expected a number above 0"),
        ("[limits]\nratio = -1", "limits.ratio: expected a number above 0"),
        ("[limits]\nmemory_bytes = 99999999999999999999999", "limits.memory_bytes: expected a number"),
        ("[limits]\nspeed = 1", "limits.speed: unknown field"),
        ("k = 0", "k: expected a positive number"),
        ("[access.shares]\n'smb://a/b' = ['Users']", "access.shares: smb://a/b: expected everyone, group"),
        ("health.detector = 'svm'", r"health\.detector: expected one of model, knn"),
        ("detectors.text = 1.0", r"detectors\.text: expected 0 \(the shipped threshold\) or a number"),
        ("detectors.words = 0.5", r"detectors\.words: unknown field"),
        ("= broken", "not valid TOML"),
    ],
)
def test_names_file_and_field_of_a_mistake(tmp_path: Path, text: str, message: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path, environ={})
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def _keys(kind: type, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each table of phiscan.toml with each of its keys, from the types alone."""
    for item in fields(kind):
        wanted = get_type_hints(kind)[item.name]
        if is_dataclass(wanted):
            yield from _keys(wanted, f"{prefix}{item.name}.")  # type: ignore[arg-type]
        elif get_origin(wanted) is Mapping and is_dataclass(get_args(wanted)[1]):
            yield from _keys(get_args(wanted)[1], f"{prefix}{item.name}.one.")
        elif wanted != LearnedVersion | None and item.name != "source" and get_origin(wanted) is not Mapping:
            yield prefix[:-1], item.name


@pytest.mark.parametrize(("table", "key"), list(_keys(Config)))
def test_a_misspelt_key_of_any_table_names_the_nearest(tmp_path: Path, table: str, key: str) -> None:
    for wrong in (f"{key}x", key.upper() if len(key) > 1 else f"{key}k"):
        path = _write(tmp_path, (f"[{table}]\n" if table else "") + f"{wrong} = 1\n")
        with pytest.raises(ConfigError) as caught:
            load_config(path, environ={})
        told, where = str(caught.value), f"{table}.{wrong}" if table else wrong
        assert told.startswith(f"{path}: {where}: unknown field; expected one of ")
        assert told.endswith(f"; the nearest is {key}")
        assert "\n" not in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[notfy]\nsmtp_host = 'x'",
            "notfy: unknown table; expected one of access, .*; the nearest is notify",
        ),
        ("[desk]\nsmtp_host = 'x'", "desk.smtp_host: unknown field; .*; the nearest is notify.smtp_host"),
        ("[desk.more]\na = 1", "desk.more: unknown table; expected one of idle_minutes"),
        ("[desk]\nidle_minutes = 'soon'", "desk.idle_minutes: expected a whole number"),
        ("[organization]\njurisdictions = 3", "organization.jurisdictions: expected a list of texts"),
        ("[schedule]\nnightly = 3", r"schedule.nightly: expected a table \[schedule.nightly\]"),
        ("[oidc.roles]\nstaff = 3", "oidc.roles.staff: expected a text"),
        ("[patients.map]\nmrn = 'MRN'", "patients.map.mrn: unknown field; expected one of account"),
        ("desk = 3", r"desk: expected a table \[desk\]"),
    ],
)
def test_every_table_is_checked_when_the_file_is_read(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(_write(tmp_path, text), environ={})
    assert "\n" not in str(caught.value)


def test_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "no.toml", environ={})


def test_finds_the_data_in_the_checkout() -> None:
    assert any(data_dir("patterns").glob("*.toml"))
    assert any(data_dir("dictionaries").glob("*.txt"))


def test_prefers_the_data_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "phiscan/data/patterns"
    inside.mkdir(parents=True)
    monkeypatch.setattr(config_module, "__file__", str(tmp_path / "phiscan/config.py"))
    assert data_dir("patterns") == inside
    with pytest.raises(ConfigError, match="dictionaries/: not found"):
        data_dir("dictionaries")


def test_the_database_url_may_lie_in_a_secret_file(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("postgresql://phiscan:hunter2@db/phiscan\n")
    config = load_config(None, {"PHISCAN_DATABASE_FILE": str(secret)})
    assert config.database_url == "postgresql://phiscan:hunter2@db/phiscan"
    assert "hunter2" not in repr(config)


def test_the_environment_wins_over_both_ways_of_the_file(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("sqlite:///secret.db")
    path = tmp_path / "phiscan.toml"
    path.write_text('database = "sqlite:///file.db"')
    assert load_config(path, {"PHISCAN_DATABASE_FILE": str(secret)}).database == "sqlite:///secret.db"
    path.write_text(f'database_file = "{secret}"')
    assert load_config(path, {}).database == "sqlite:///secret.db"
    assert load_config(path, {"PHISCAN_DATABASE": "sqlite:///env.db"}).database == "sqlite:///env.db"


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"postgresql://a:hunter2@b/c\nmore"])
def test_refuses_a_secret_file_that_holds_no_url_without_quoting_it(tmp_path: Path, content: bytes) -> None:
    secret = tmp_path / "url"
    secret.write_bytes(content)
    with pytest.raises(ConfigError, match="expected one line, the URL of the database") as caught:
        load_config(None, {"PHISCAN_DATABASE_FILE": str(secret)})
    assert "hunter2" not in str(caught.value)


def test_refuses_two_ways_to_name_the_database(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="either database or database_file"):
        load_config(None, {"PHISCAN_DATABASE_FILE": "x", "PHISCAN_DATABASE": "sqlite:///x.db"})
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(None, {"PHISCAN_DATABASE_FILE": str(tmp_path / "missing")})
