"""Load phiscan.toml and ``PHISCAN_*`` variables into one frozen ``Config``; locate the shipped data.

Every field has its default here, and is described in docs/reference/configuration.md. An unknown key is an
error, because a misspelt limit would otherwise be ignored silently.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from phiscan.errors import ConfigError
from phiscan.language import LANGUAGES, SOURCE

T = TypeVar("T")

CONFIG_NAME = "phiscan.toml"
MAX_WORKERS = 1024
MAX_LIMIT = 2**60  # limit of the system calls
MAX_K = 100
# No top-level field of phiscan.toml has one of these names.
_NOT_FIELDS = frozenset({"limits", "health", "detectors", "tables", "source", "learned"})
# Tables of phiscan.toml that the packages which use them read and check with ``take_table``.
PACKAGE_TABLES = (
    *("cluster", "desk", "heads", "notify", "oidc", "organization", "pace"),
    *("patients", "retention", "schedule", "shares"),
)


# Kinds of messages of care, which are health information by their type; a site may switch each off.
MESSAGES_OF_CARE = ("hl7", "x12", "fhir", "cda", "dicom")
HEALTH_DETECTORS = ("model", "knn")


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits, each per file."""

    time_s: float = 60.0  # processor time after which the worker is killed
    processor_s: float = 15.0  # processor time after which no further part of a file is begun
    memory_bytes: int = 2 * 1024**3  # address space of one worker, a hard limit
    file_bytes: int = 512 * 1024**2  # a larger file is read in place, or in windows
    text_chars: int = 16_000_000  # text extracted from one file; the amount left out is recorded
    screen_chars: int = 600_000  # text examined of a long file, in windows; the amount left out is recorded
    member_count: int = 10_000  # members of all archives inside one file
    member_bytes: int = 1024**3  # bytes unpacked from all archives inside one file
    depth: int = 8  # containers within containers
    ratio: int = 1_000  # unpacked bytes per packed byte of one member
    ocr_s: float = 30.0  # OCR of one file


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """The health detector; the table ``[health]`` of phiscan.toml."""

    detector: str = "model"  # P(PHI); or "knn": equation 4 and the nearest prototypes alone


@dataclass(frozen=True, slots=True)
class DetectorThresholds:
    """P(PHI) from which each detector marks a file; 0 = its shipped threshold. Table ``[detectors]``."""

    patterns: float = 0.0
    names: float = 0.0
    text: float = 0.0


@dataclass(frozen=True, slots=True)
class LearnedVersion:
    """The version of prototypes and models that a scan uses, with the required hashes of its files."""

    number: int
    files: tuple[tuple[str, str], ...]  # name in home/models/NUMBER, sha256
    former: LearnedVersion | None = None  # used before; the audit sample of a scan compares with it


_OWN_TABLES: Mapping[str, type[Any]] = {
    "limits": Limits,
    "health": HealthSettings,
    "detectors": DetectorThresholds,
}


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a run; immutable once loaded."""

    home: Path = Path(".phiscan")  # key, default database and state; relative to phiscan.toml
    database: str = field(default="", repr=False)  # SQLAlchemy URL; "" = SQLite in home; may hold a password
    database_file: str = ""  # a file that holds that URL, such as a container's secret
    workers: int = 0  # 0 = one per core
    ignore_file: str = ".phiscanignore"  # in the folder of phiscan.toml, else in the working folder
    extra_patterns: tuple[str, ...] = ()  # folders or files with the site's own rules
    name_pipeline: str = ""  # a spaCy pipeline to run in addition to the shipped name recognizers
    passwords_file: str = ""  # one password per line, tried on encrypted files
    k: int = 3  # neighbours in the health classifier
    prevalence: float = 0.01  # assumed share of files with PHI
    missed_file_cost: float = 30.0  # cost of a missed file, in reviews
    messages_of_care: tuple[str, ...] = MESSAGES_OF_CARE  # kinds that are health information
    audit_share: float = 0.05  # share of files in the audit sample, on which all recognizers run
    language: str = SOURCE  # of the report, and of the desk if the browser prefers no available language
    limits: Limits = field(default_factory=Limits)
    health: HealthSettings = field(default_factory=HealthSettings)
    detectors: DetectorThresholds = field(default_factory=DetectorThresholds)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # PACKAGE_TABLES, not yet checked
    source: str = "defaults"  # the file, for messages
    learned: LearnedVersion | None = None  # active version in the database when a scan begins; None = shipped

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL of the review store."""
        return self.database or f"sqlite:///{self.home / 'phiscan.db'}"

    @property
    def key_file(self) -> Path:
        """The file with the secret of the keyed hashes (mode 0600)."""
        return self.home / "key"

    @property
    def audit_key_file(self) -> Path:
        """The file with the signing key of the audit log (mode 0600), which is not the key of the hashes."""
        return self.home / "audit.key"

    @property
    def n_workers(self) -> int:
        """The number of worker processes."""
        return self.workers or len(os.sched_getaffinity(0))

    def with_workers(self, workers: int) -> Config:
        """Return the same configuration with another number of worker processes."""
        return replace(self, workers=workers)

    def searching_everything(self) -> Config:
        """Return the same configuration with the cascade off: every recognizer runs on every file."""
        return replace(self, audit_share=1.0)

    def with_learned(self, learned: LearnedVersion | None) -> Config:
        """Return the same configuration with a learned version of the models."""
        return replace(self, learned=learned)

    def for_workers(self) -> Config:
        """Return the part for processes that read documents: no database, shares, mail or desk.

        Of the patient index it has the path only. Such a process reads untrusted files, so it must not have
        any other secret.
        """
        tables = {name: table for name, table in self.tables.items() if name == "patients"}
        return replace(self, database="", database_file="", tables=tables)


def data_dir(name: str) -> Path:
    """Return the folder ``patterns`` or ``dictionaries``: inside the wheel, else in the checkout.

    Raises:
        ConfigError: neither exists, so the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "data" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise ConfigError(f"{name}/: not found with the package {package}; the installation is incomplete")


def load_config(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Read phiscan.toml (``path``, else the current folder's if there is one), then ``PHISCAN_*``.

    A relative ``home`` is relative to the folder of phiscan.toml. ``PHISCAN_HOME``, ``PHISCAN_DATABASE`` and
    ``PHISCAN_<FIELD>`` for every top-level field override the file; ``PHISCAN_CONFIG`` is its path if
    ``path`` is None.

    Raises:
        ConfigError: names the file and the field, and says what was expected.
    """
    environ = os.environ if environ is None else environ
    if path is None and environ.get("PHISCAN_CONFIG"):
        path = Path(environ["PHISCAN_CONFIG"])
    if path is None and Path(CONFIG_NAME).is_file():
        path = Path(CONFIG_NAME)
    config = Config() if path is None else _from_file(path)
    changes: dict[str, Any] = {}
    for item in fields(Config):
        value = environ.get(f"PHISCAN_{item.name.upper()}")
        if item.name in _NOT_FIELDS or value is None:
            continue
        changes[item.name] = _convert(f"PHISCAN_{item.name.upper()}", item.name, value, Config)
    if changes.get("database") or changes.get(
        "database_file"
    ):  # from the environment: overrides both fields of the file
        config = replace(config, database="", database_file="")
    config = _with_secret_url(replace(config, **changes))
    return _checked(config)


def _from_file(path: Path) -> Config:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; `phiscan init` writes one") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    own = {name: raw.pop(name) for name in _OWN_TABLES if name in raw}
    tables = {name: raw.pop(name) for name in PACKAGE_TABLES if name in raw}
    for name, table in (own | tables).items():
        if not isinstance(table, dict):
            _refuse(f"{path}: {name}", f"a table [{name}]")
    values = _take(str(path), raw, Config, _NOT_FIELDS, "")
    for name, table in own.items():
        kind = _OWN_TABLES[name]
        values[name] = kind(**_take(str(path), table, kind, frozenset(), f"{name}."))
    config = Config(**values, tables=tables, source=str(path))
    home = config.home if config.home.is_absolute() else path.resolve().parent / config.home
    return replace(config, home=home)


def take_table(config: Config, name: str, kind: type[T], raw: Mapping[str, Any] | None = None) -> T:
    """Return one of ``PACKAGE_TABLES`` (or ``raw``, a part of it) as a dataclass, with defaults.

    Raises:
        ConfigError: an unknown field, or a value of the wrong type.
    """
    table = config.tables.get(name, {}) if raw is None else raw
    return kind(**_take(config.source, table, kind, frozenset(), f"{name}."))


def _with_secret_url(config: Config) -> Config:
    """Return the configuration with the database URL read from its file; messages do not quote it."""
    if not config.database_file:
        return config
    where = "PHISCAN_DATABASE_FILE" if config.source == "defaults" else f"{config.source}: database_file"
    if config.database:
        _refuse(where, "either database or database_file, not both")
    path = Path(config.database_file)
    try:
        url = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        message = f"{path}: the file with the database's URL cannot be read: {error.strerror}"
        raise ConfigError(message) from None
    except UnicodeDecodeError:
        url = ""
    if not url or "\n" in url:
        _refuse(str(path), "one line, the URL of the database")
    return replace(config, database=url)


def _take(
    source: str, raw: Mapping[str, Any], kind: type, hidden: frozenset[str], prefix: str
) -> dict[str, Any]:
    known = {item.name for item in fields(kind)} - hidden
    values: dict[str, Any] = {}
    for name, value in raw.items():
        if name not in known:
            message = f"{source}: {prefix}{name}: unknown field; expected one of {', '.join(sorted(known))}"
            raise ConfigError(message)
        values[name] = _convert(f"{source}: {prefix}{name}", name, value, kind)
    return values


def _convert(where: str, name: str, value: Any, kind: type) -> Any:
    wanted = get_type_hints(kind)[name]
    try:
        return _CONVERTERS[wanted](value)
    except (TypeError, ValueError):
        return _refuse(where, _EXPECTED[wanted])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool | float):
        raise TypeError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part for part in value.split(os.pathsep) if part)
    return tuple(_text(part) for part in value)


_CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    Path: lambda value: Path(_text(value)),
    str: _text,
    bool: _boolean,
    int: _integer,
    float: _number,
    tuple[str, ...]: _texts,
}
_EXPECTED: dict[Any, str] = {
    Path: "a path",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple[str, ...]: "a list of texts",
}


def _refuse(where: str, expected: str) -> Any:
    raise ConfigError(f"{where}: expected {expected}")


def _checked(config: Config) -> Config:
    for item in fields(Limits):
        value = getattr(config.limits, item.name)
        if not 0 < value < MAX_LIMIT:  # refuses NaN too
            _refuse(f"{config.source}: limits.{item.name}", "a number above 0 and below 2^60")
    if not 0 <= config.workers <= MAX_WORKERS:
        _refuse(f"{config.source}: workers", f"0 (one per core) to {MAX_WORKERS}")
    if not 0 <= config.audit_share <= 1:  # refuses NaN too
        _refuse(f"{config.source}: audit_share", "a number from 0 to 1")
    if not 0 < config.prevalence < 1:
        _refuse(f"{config.source}: prevalence", "a number between 0 and 1")
    if not 0 < config.missed_file_cost < MAX_LIMIT:
        _refuse(f"{config.source}: missed_file_cost", "a number above 0")
    _check_choices(config)
    if not 1 <= config.k <= MAX_K:
        _refuse(f"{config.source}: k", f"a positive number up to {MAX_K}")
    return config


def _check_choices(config: Config) -> None:
    if unknown := sorted(set(config.messages_of_care) - set(MESSAGES_OF_CARE)):
        _refuse(f"{config.source}: messages_of_care: {unknown[0]}", f"one of {', '.join(MESSAGES_OF_CARE)}")
    if config.language not in LANGUAGES:
        _refuse(f"{config.source}: language", f"one of {', '.join(LANGUAGES)}")
    _check_detectors(config)


def _check_detectors(config: Config) -> None:
    if config.health.detector not in HEALTH_DETECTORS:
        _refuse(f"{config.source}: health.detector", f"one of {', '.join(HEALTH_DETECTORS)}")
    for item in fields(DetectorThresholds):
        if not 0 <= getattr(config.detectors, item.name) < 1:  # refuses NaN too
            _refuse(
                f"{config.source}: detectors.{item.name}", "0 (the shipped threshold) or a number below 1"
            )
