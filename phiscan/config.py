"""Load phiscan.toml and ``PHISCAN_*`` variables into one frozen ``Config``; locate the shipped data.

Every field of every table has its type and its default here, and is described in
docs/reference/configuration.md. An unknown key is an error, because a misspelt limit would otherwise be
ignored silently. What a value may be beyond its type is checked by the package that uses it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from phiscan.errors import ConfigError
from phiscan.language import LANGUAGES, SOURCE, lazy_gettext

CONFIG_NAME = "phiscan.toml"
MAX_WORKERS = 1024
MAX_LIMIT = 2**60  # limit of the system calls
MAX_EXAMPLES = 5_000  # verdicts with which each file is compared
MAX_K = 100
# Kinds of messages of care, which are health information by their type; a site may switch each off.
MESSAGES_OF_CARE = ("hl7", "x12", "fhir", "cda", "dicom")
HEALTH_DETECTORS = ("model", "knn")
SMB_TRAVERSE = ("unknown", "checked", "bypassed")
_ADMITTED = re.compile(r"(not )?(everyone|(user|group|account) \S.*)")
_ADMITTED_WORDS = "everyone, group NAME, user NAME or account SID, each with or without not"


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

    number: int  # 0 = the shipped one
    files: tuple[tuple[str, str], ...]  # name in home/models/NUMBER, sha256
    former: LearnedVersion | None = None  # used before; the audit sample of a scan compares with it
    # The newest verdicts: hash of a decided content, its code (``decided_examples.bits_of``), is it PHI.
    decided: tuple[tuple[str, tuple[int, ...], bool], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ClusterTable:
    """``[cluster]``: PEM files of the cluster's own certificate authority."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""


@dataclass(frozen=True, slots=True)
class DeskTable:
    """``[desk]``: the server of the review desk."""

    public_url: str = ""  # address of this server in browsers, if a TLS proxy is in front of it
    proxies: tuple[str, ...] = ()  # addresses or networks of that proxy; all others are refused
    idle_minutes: int = 15  # a session without requests ends after this time
    session_hours: int = 10  # every session ends after this time
    max_body_kb: int = 1024  # larger requests are refused
    second_factor: tuple[str, ...] = ()  # roles that require a second factor


@dataclass(frozen=True, slots=True)
class HeadsTable:
    """``[heads]``: where the head of the audit log is sent; every destination is off by default."""

    file: str = ""  # lines are appended; preferably on write-once media
    mail_to: tuple[str, ...] = ()  # through the server of [notify]
    command: tuple[str, ...] = ()  # program and arguments; it gets the line on standard input


@dataclass(frozen=True, slots=True)
class NotifyTable:
    """``[notify]``: what is sent after a scan."""

    when: str = "always"  # "attention" = only if files were referred or failed, or the scan was stopped
    link: str = ""  # address of the review queue, for mail and webhook
    metrics_file: str = ""  # for the node exporter's textfile collector
    webhook_url: str = ""
    webhook_secret_file: str = ""
    webhook_ca_file: str = ""
    mail_to: tuple[str, ...] = ()
    mail_from: str = ""
    smtp_host: str = ""
    smtp_port: int = 587
    smtp_tls: str = "starttls"  # or "tls"; "none" only on this machine
    smtp_user: str = ""
    smtp_password_file: str = ""
    smtp_ca_file: str = ""


@dataclass(frozen=True, slots=True)
class OidcTable:
    """``[oidc]``: the identity provider; ``roles``: value of the claim -> role."""

    issuer: str = ""
    client_id: str = ""
    client_secret_file: str = ""
    label: str = lazy_gettext("Sign in with your organisation's account")  # text of the link
    name_claim: str = "preferred_username"
    role_claim: str = "groups"
    scope: str = "openid profile"
    roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OrganizationTable:
    """``[organization]``: who reports incidents, and by which rules."""

    name: str = ""
    contact: str = ""  # who answers the regulator: name, telephone, address
    jurisdictions: tuple[str, ...] = ()
    departments_file: str = ""  # CSV: folder, department
    confirmed_label: str = ""  # name or id of the sensitivity label that a confirmed file should carry
    definition_file: str = ""  # text shown beside the verdict: what counts as PHI, with examples


@dataclass(frozen=True, slots=True)
class PushTable:
    """One table ``[[push]]``: a receiver of events, or of tickets if it has a template."""

    to: str = ""  # syslog+tls://, syslog+tcp://, syslog+udp://, hec+https://, https:// or mailto:
    name: str = ""  # in messages, and for what was sent; "" = scheme and server of ``to``
    what: tuple[str, ...] = ()  # "" = findings and scans; with a template: incidents
    form: str = "ocsf"  # or "cef"
    template: str = ""  # file with the text of a ticket
    paths: bool = False  # whether names of files and folders are sent
    token_file: str = ""  # mode 0600; "" = PHISCAN_PUSH_<NAME>_TOKEN
    secret_file: str = ""  # of a webhook's signature; mode 0600
    ca_file: str = ""  # instead of the system's certificate authorities
    allow_unencrypted: bool = False


@dataclass(frozen=True, slots=True)
class RateLimitTable:
    """``[pace]``: the rate limit of reading, 0 = none, and the priority of the process."""

    max_files_per_s: float = 0.0
    max_mb_per_s: float = 0.0
    nice: int = 0
    ionice: str = ""


@dataclass(frozen=True, slots=True)
class PatientColumns:
    """``[patients.map]``: the columns of a patient list that hold each field of a patient."""

    number: tuple[str, ...] = ()  # the opaque number to use; default: the number of the row
    given: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    name: tuple[str, ...] = ()  # given and family name in one column
    former: tuple[str, ...] = ()  # former family name
    preferred: tuple[str, ...] = ()  # preferred given name
    birth_date: tuple[str, ...] = ()
    record: tuple[str, ...] = ()  # record numbers of the organization
    card: tuple[str, ...] = ()  # health card or health plan numbers
    phone: tuple[str, ...] = ()
    email: tuple[str, ...] = ()
    street: tuple[str, ...] = ()
    postal: tuple[str, ...] = ()
    account: tuple[str, ...] = ()
    region: tuple[str, ...] = ()  # state or province
    canary: tuple[str, ...] = ()  # 1, true, yes: an invented record, planted to detect leaks


@dataclass(frozen=True, slots=True)
class PatientsTable:
    """``[patients]``: the index of the organization's own patients."""

    index_dir: str = ""  # "" = the folder patients in home
    key_file: str = ""  # "" = patients.key in home; better on another disk
    max_age_days: int = 30  # an older index gets a warning at each scan
    hard_cost: int = 16  # scrypt cost n of record and card numbers: a power of 2
    day_first: bool = True  # 03/04/1956 in the list is 3 April
    map: PatientColumns = field(default_factory=PatientColumns)


@dataclass(frozen=True, slots=True)
class RetentionTable:
    """``[retention]``: years; HIPAA requires six for documentation (45 CFR 164.316(b)(2)(i))."""

    findings_years: float = 6.0  # findings in a file, after the file was last present
    decisions_years: float = 6.0  # decisions on a content, after they were made and it was replaced
    logs_years: float = 6.0  # the audit log, sign-ins, reveals
    superseded_years: float = 1.0  # results of older scans, once a later one has examined the file again


@dataclass(frozen=True, slots=True)
class ScheduleTable:
    """One table ``[schedule.NAME]``: a scheduled scan."""

    roots: tuple[str, ...] = ()
    cron: str = ""
    time_zone: str = "UTC"
    windows: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # further options of `phiscan scan`


@dataclass(frozen=True, slots=True)
class SharesTable:
    """``[shares]``: remote shares, without secrets, which are in the environment or in a file."""

    connections: int = 8  # files fetched, and folders listed, at a time
    timeout_s: float = 30.0  # for one response of a server
    attempts: int = 6  # before a file or a folder fails
    retry_s: float = 1.0  # longest pause before the second attempt; doubled before each further one
    ahead_bytes: int = 256 * 1024**2  # fetched and not yet examined
    credentials_file: str = ""  # TOML, a table for each root; mode 0600
    keyring: str = "off"  # "on" = ask the keyring of the system for credentials
    listings: str = ""  # folder of the listings of sources that report only changes; "" = listings in home
    table_rows: int = 20_000  # most rows of a database table that are read, a random sample of it
    smb_username: str = ""  # name, DOMAIN\name or name@domain; "" = the Kerberos ticket's
    smb_password_file: str = ""  # mode 0600
    smb_auth: str = "negotiate"
    smb_encrypt: str = "offered"
    smb_domain_controller: str = ""  # resolves the namespaces (DFS) of a domain
    s3_endpoint: str = ""  # "" = Amazon's
    s3_access: str = "signed"


@dataclass(frozen=True, slots=True)
class AccessTable:
    """``[access]``: who gets into shares, where the rights of files and folders do not say it."""

    # URL or path of a share -> whom its own permission admits: "everyone", "group NAME", "not user NAME"
    shares: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # group of a server itself -> who is in it: "group Users" = ["group Domain Users"]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # SMB: "checked" = rights of parent folders bind; "bypassed" = they do not; "unknown" = either may be so
    smb_traverse: str = "unknown"


@dataclass(frozen=True, slots=True)
class DirectoryTable:
    """``[directory]``: the LDAP directory with the accounts and groups of the organization."""

    url: str = ""  # ldaps://SERVER/BASE, or ldap:// with StartTLS
    account_filter: str = ""  # "" = people with an account
    group_filter: str = ""  # "" = groups of POSIX, LDAP and Active Directory
    name_attribute: str = ""  # "" = uid, sAMAccountName; of groups cn, sAMAccountName
    member_attribute: str = ""  # "" = member, uniqueMember, memberUid


@dataclass(frozen=True, slots=True)
class AccessLogTable:
    """``[accesslog]``: how access logs are read."""

    time_zone: str = ""  # of times without one; "" = this machine's
    ignore: tuple[str, ...] = ()  # accounts that are left out: of a backup, a virus scanner
    paths: Mapping[str, str] = field(
        default_factory=dict
    )  # beginning of a path in a log -> root, or below it


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
    # The newest verdicts, with which files about the same are compared; 0 = none acts before it is learned.
    decided_examples: int = 500
    prevalence: float = 0.01  # assumed share of files with PHI
    missed_file_cost: float = 30.0  # cost of a missed file, in reviews
    messages_of_care: tuple[str, ...] = MESSAGES_OF_CARE  # kinds that are health information
    audit_share: float = 0.05  # share of files in the audit sample, on which all recognizers run
    language: str = SOURCE  # of the report, and of the desk if the browser prefers no available language
    limits: Limits = field(default_factory=Limits)
    health: HealthSettings = field(default_factory=HealthSettings)
    detectors: DetectorThresholds = field(default_factory=DetectorThresholds)
    access: AccessTable = field(default_factory=AccessTable)
    cluster: ClusterTable = field(default_factory=ClusterTable)
    desk: DeskTable = field(default_factory=DeskTable)
    directory: DirectoryTable = field(default_factory=DirectoryTable)
    heads: HeadsTable = field(default_factory=HeadsTable)
    notify: NotifyTable = field(default_factory=NotifyTable)
    oidc: OidcTable = field(default_factory=OidcTable)
    organization: OrganizationTable = field(default_factory=OrganizationTable)
    pace: RateLimitTable = field(default_factory=RateLimitTable)
    patients: PatientsTable = field(default_factory=PatientsTable)
    push: tuple[PushTable, ...] = ()
    retention: RetentionTable = field(default_factory=RetentionTable)
    schedule: Mapping[str, ScheduleTable] = field(default_factory=dict)
    shares: SharesTable = field(default_factory=SharesTable)
    accesslog: AccessLogTable = field(default_factory=AccessLogTable)
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

    def with_learned(self, learned: LearnedVersion | None) -> Config:
        """Return the same configuration with a learned version of the models."""
        return replace(self, learned=learned)

    def for_workers(self) -> Config:
        """Return the part for processes that read documents: no database, shares, mail or desk.

        Of the patient index it has the path only. Such a process reads untrusted files, so it must not have
        any other secret.
        """
        kept = {"limits", "health", "detectors", "patients"}
        tables = {name: getattr(Config(), name) for name in _tables(Config) if name not in kept}
        return replace(self, database="", database_file="", **tables)


def data_dir(name: str) -> Path:
    """Return the folder ``patterns`` or ``dictionaries``: inside the wheel, else in the checkout.

    Raises:
        ConfigError: neither exists, so the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "data" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    message = f"{name}/: not found with the package {package}; the installation is incomplete"
    raise ConfigError(message)


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
    for name, wanted in _known(Config).items():
        value = environ.get(f"PHISCAN_{name.upper()}")
        if wanted not in _CONVERTERS or value is None:
            continue
        given = list(filter(None, value.split(os.pathsep))) if wanted == tuple[str, ...] else value
        changes[name] = convert(f"PHISCAN_{name.upper()}", given, wanted)
    if changes.get("database") or changes.get("database_file"):  # they override both fields of the file
        config = replace(config, database="", database_file="")
    config = _with_secret_url(replace(config, **changes))
    return _checked(config)


def _from_file(path: Path) -> Config:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(path, "no such file; `phiscan init` writes one") from None
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(path, f"not valid TOML: {error}") from None
    config = config_of(raw, str(path))
    home = config.home if config.home.is_absolute() else path.resolve().parent / config.home
    return replace(config, home=home)


def config_of(raw: Mapping[str, Any], source: str = "defaults") -> Config:
    """Return the configuration of parsed TOML: each key and the type of each value is checked.

    Raises:
        ConfigError: names the source and the field, what was expected, and the nearest key.
    """
    return Config(**_take(f"{source}: ", raw, Config), source=source)


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
        raise ConfigError(
            path, f"the file with the database's URL cannot be read: {error.strerror}"
        ) from None
    except UnicodeDecodeError:
        url = ""
    if not url or "\n" in url:
        _refuse(str(path), "one line, the URL of the database")
    return replace(config, database=url)


@cache
def _known(kind: Any) -> dict[str, Any]:
    """Return the fields of a table with their types; what a program sets is no field of the file."""
    types = get_type_hints(kind)
    wanted = {name: types[name] for name in (item.name for item in fields(kind)) if name != "source"}
    return {name: one for name, one in wanted.items() if one in _CONVERTERS or _is_table(one)}


def _is_table(wanted: Any) -> bool:
    return is_dataclass(wanted) or get_origin(wanted) is Mapping or _of_list(wanted) not in {None, str}


def _of_list(wanted: Any) -> Any:
    """Return the type of the tables in an array of tables; None = it is none."""
    return get_args(wanted)[0] if get_origin(wanted) is tuple else None


def _tables(kind: Any) -> dict[str, Any]:
    return {name: wanted for name, wanted in _known(kind).items() if _is_table(wanted)}


def _take(where: str, raw: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Return the fields of a table, each of its type; an unknown one is refused with the nearest one."""
    known = _known(kind)
    for name, value in raw.items():
        if name not in known:
            what, of_kind = ("table", _tables(kind)) if isinstance(value, Mapping) else ("field", known)
            message = f"{where}{name}: unknown {what}; expected one of {', '.join(sorted(of_kind or known))}"
            if nearest := _nearest(name, known):
                message += f"; the nearest is {nearest}"
            raise ConfigError(message)
    return {name: convert(f"{where}{name}", value, known[name]) for name, value in raw.items()}


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    """Return the known name that is most like a name, else the same name of another table; "" = none."""
    tables = (
        (table, _of_list(one) or one)
        for table, one in _tables(Config).items()
        if get_origin(one) is not Mapping
    )
    elsewhere = [f"{table}.{name}" for table, one in tables if name in _known(one)]
    return next(iter([*get_close_matches(name.lower(), known, n=1), *elsewhere]), "")


def convert(where: str, value: Any, wanted: Any) -> Any:
    """Return a value as a text, number or table; what is none is a ConfigError that does not quote it."""
    if _is_table(of_list := _of_list(wanted)):
        if not isinstance(value, list):
            _refuse(where, f"tables [[{where.rpartition(' ')[2]}]]")
        return tuple(convert(f"{where}[{number}]", one, of_list) for number, one in enumerate(value, 1))
    if _is_table(wanted):
        if not isinstance(value, Mapping):
            _refuse(where, f"a table [{where.rpartition(' ')[2]}]")
        if get_origin(wanted) is not Mapping:
            return wanted(**_take(f"{where}.", value, wanted))
        return {name: convert(f"{where}.{name}", one, get_args(wanted)[1]) for name, one in value.items()}
    made, not_of, expected = _CONVERTERS[wanted]
    try:
        return _refuse(where, expected) if isinstance(value, not_of) else made(value)
    except (TypeError, ValueError):
        return _refuse(where, expected)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(_text, value))


# How a value is converted to each type, of which types it must not be, and what is expected; a variable of
# the environment is a text.
_CONVERTERS: dict[Any, tuple[Callable[[Any], Any], tuple[type, ...], str]] = {
    Path: (lambda value: Path(_text(value)), (), "a path"),
    str: (_text, (), "a text"),
    bool: (_boolean, (), "true or false"),
    int: (int, (bool, float), "a whole number"),
    float: (float, (bool,), "a number"),
    tuple[str, ...]: (_texts, (), "a list of texts"),
}


def _refuse(where: str, expected: str) -> Any:
    raise ConfigError(where, f"expected {expected}")


def require(where: str, checks: Iterable[tuple[str, bool, str]]) -> None:
    """Check fields, each given as its name, whether it is valid, and what is expected.

    Raises:
        ConfigError: names the place and the first field that is not valid, and what was expected.
    """
    for name, is_valid, expected in checks:
        if not is_valid:
            _refuse(f"{where}{name}", expected)


def _checked(config: Config) -> Config:
    """Return a configuration whose values are in their ranges; NaN is in none."""
    above, shipped = "a number above 0 and below 2^60", "0 (the shipped threshold) or a number below 1"
    chosen = [
        *((f"messages_of_care: {one}", one, MESSAGES_OF_CARE) for one in sorted(config.messages_of_care)),
        ("language", config.language, tuple(LANGUAGES)),
        ("health.detector", config.health.detector, HEALTH_DETECTORS),
        ("access.smb_traverse", config.access.smb_traverse, SMB_TRAVERSE),
    ]
    checks = [
        *(
            (f"access.{table}: {name}", all(map(_ADMITTED.fullmatch, who)), _ADMITTED_WORDS)
            for table in ("shares", "groups")
            for name, who in getattr(config.access, table).items()
        ),
        *((f"limits.{name}", 0 < value < MAX_LIMIT, above) for name, value in asdict(config.limits).items()),
        ("workers", 0 <= config.workers <= MAX_WORKERS, f"0 (one per core) to {MAX_WORKERS}"),
        ("audit_share", 0 <= config.audit_share <= 1, "a number from 0 to 1"),
        ("decided_examples", 0 <= config.decided_examples <= MAX_EXAMPLES, f"0 (none) to {MAX_EXAMPLES}"),
        ("prevalence", 0 < config.prevalence < 1, "a number between 0 and 1"),
        ("missed_file_cost", 0 < config.missed_file_cost < MAX_LIMIT, "a number above 0"),
        *((name, value in known, f"one of {', '.join(known)}") for name, value, known in chosen),
        *((f"detectors.{name}", 0 <= value < 1, shipped) for name, value in asdict(config.detectors).items()),
        ("k", 1 <= config.k <= MAX_K, f"a positive number up to {MAX_K}"),
    ]
    require(f"{config.source}: ", checks)
    return config
