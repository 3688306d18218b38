"""Figures of a scan with differential privacy, and their pack; the exact ones do not leave this module."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phiscan import __version__
from phiscan.errors import InputError
from phiscan.language import SOURCE as ENGLISH
from phiscan.language import lazy_gettext as _
from phiscan.language import using
from phiscan.metrics.differential_privacy import Spent, compose, laplace_library, noise_scale, release
from phiscan.metrics.ranking import auc_roc, average_precision, rank
from phiscan.model import Referral, Verdict
from phiscan.report.pack import PDF, report_json, table_csv, write_files
from phiscan.report.rendering.html import rendered
from phiscan.report.rendering.tables import Column, columns, table_of
from phiscan.report.scan_rows import read_decided
from phiscan.review.worklist.model import FileRecord
from phiscan.store.database import Database


@dataclass(frozen=True, slots=True)
class PrivateFigure:
    """One released figure; it is not cut to [0, 1], because noise may carry it outside.

    ``noise95`` is the distance within which 95% of the noise lies, where it follows from public numbers;
    ``warning`` says that even the least noise drowns the figure. ``epsilon`` and ``delta`` are 0 for what is
    computed from other released figures. ``reason`` says why there is no value or no distance.
    """

    name: str
    label: str
    value: float | None
    noise95: float | None
    mechanism: str
    epsilon: float
    delta: float
    warning: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class PrivateData:
    """The whole of a report with differential privacy.

    ``read`` and ``decided`` are the public sizes: files that were read, and decided ones among them.
    ``spent`` is what all releases about these folders add up to, this one included.
    """

    scan: int
    made: datetime
    phiscan: str
    read: int
    decided: int
    figures: tuple[PrivateFigure, ...]
    epsilon: float
    delta: float
    spent_epsilon: float
    spent_delta: float
    protects: str
    limits: tuple[str, ...]
    source: str


DEFAULT_EPSILON = 10.0
DEFAULT_DELTA = 0.05
_ROUNDING = 1 + 1e-12  # tolerance, so that ten releases of 0.1 fit into a budget of 1


@dataclass(frozen=True, slots=True)
class Charge:
    """One release, before the figure is drawn."""

    metric: str
    noise: str
    epsilon: float
    delta: float


def data_set_id(home: Path, examples: Iterable[tuple[float, bool]]) -> str:
    """Identify a data set by its examples, in any order, by a hash with a key of the ledger.

    Raises:
        InputError: the home cannot be written.
    """
    content = "\n".join(sorted(f"{score!r},{label:d}" for score, label in examples))
    return _keyed_hash(home, content.encode())


def roots_id(home: Path, roots: Iterable[bytes]) -> str:
    """Identify the data set of a report by the scanned folders, independent of the verdicts.

    A hash of the verdicts would start a new budget with each new verdict.

    Raises:
        InputError: the home cannot be written.
    """
    return _keyed_hash(home, b"report\0" + b"\0".join(sorted(roots)))


def _keyed_hash(home: Path, content: bytes) -> str:
    path = _folder(home) / "key"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = path.read_bytes()
    else:
        key = secrets.token_bytes(32)
        with os.fdopen(handle, "wb") as stream:
            stream.write(key)
    return hmac.new(key, content, hashlib.sha256).hexdigest()[:32]


def _folder(home: Path) -> Path:
    folder = home / "privacy"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(
            folder, f"cannot be made: {error.strerror}; PHISCAN_HOME must be a folder to write in"
        ) from None
    return folder


def charge(home: Path, data_set: str, release: Charge, budget: Spent | None) -> Spent:
    """Record a release and return the spent budget; call it before the noise is drawn.

    ``budget`` None keeps the ledger's (initially the default); another one replaces it. A release beyond the
    budget is not recorded.

    Raises:
        InputError: the budget does not allow the release, or the ledger is damaged.
    """
    path = _folder(home) / f"{data_set}.json"
    try:
        stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    except OSError as error:
        raise InputError(path, f"cannot be written: {error.strerror}") from None
    with stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # concurrent releases must not both read the old sum
        ledger = _parse(path, stream.read())
        if budget is not None:
            ledger["budget"] = asdict(budget)
        limit = ledger["budget"]
        past = [(item["epsilon"], item["delta"]) for item in ledger["releases"]]
        spent = compose([*past, (release.epsilon, release.delta)])
        if spent.epsilon > limit["epsilon"] * _ROUNDING or spent.delta > limit["delta"] * _ROUNDING:
            before = compose(past)
            raise InputError(
                path,
                "the privacy budget of this data set does not allow the release: spent "
                f"epsilon {before.epsilon:g} of {limit['epsilon']:g} and "
                f"delta {before.delta:g} of {limit['delta']:g}",
            )
        when = datetime.now(UTC).isoformat(timespec="seconds")
        ledger["releases"].append({"when": when, **asdict(release)})
        stream.seek(0)
        stream.write(json.dumps(ledger, indent=1) + "\n")
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())
    return spent


def _parse(path: Path, content: str) -> dict[str, Any]:
    if not content:
        return {"budget": {"epsilon": DEFAULT_EPSILON, "delta": DEFAULT_DELTA}, "releases": []}
    try:
        ledger = json.loads(content)
        numbers = [ledger["budget"], *ledger["releases"]]
        usable = all(float(item["epsilon"]) >= 0 and float(item["delta"]) >= 0 for item in numbers)
    except (ValueError, TypeError, KeyError):
        usable = False
    if not usable:
        raise InputError(path, "expected a ledger of private releases; refusing to release without one")
    return dict(ledger)


SOURCE = _(
    "Dwork et al. (2006); Nissim, Raskhodnikova & Smith (2007); Boyd (2014), chapter 5; "
    "Boyd, Lantz & Page (2015)"
)
PROTECTS = _(
    "One file: its verdict, whether it was referred and its score. Whoever sees these "
    "figures can hardly tell whether any one file was other than it is. The two sizes "
    "are published as they are."
)
LIMITS = (
    _("A person who appears in many files is protected less, in proportion to the number of files."),
    _("The order of the queue is judged on decided files only, most of which the screen chose."),
    _("Every further release about the same folders adds to what is spent, up to the budget of the ledger."),
    _("A figure may lie outside 0 to 1: that is noise. It was not cut, so that averages stay right."),
    _("Nothing else of the scan is in this pack. The full report is for those who may see the files."),
)
DROWNED = 0.1  # half-width of 95 % of the noise
_RANKED = (
    ("auc_roc", _("AUCROC of the queue's order")),
    ("average_precision", _("Average precision of the order")),
)
_ON_DATA = _("the width of the noise depends on the data and must not be published")
_NONE_DECIDED = _("no file has been decided")
_NOTHING_READ = _("no file was read")
_DROWNS = _("the noise drowns the figure: too few files for this epsilon")
_N_RELEASES = 4


def private_report(
    database: Database, scan_id: int | None = None, *, home: Path, epsilon: float, delta: float, now: datetime
) -> PrivateData:
    """Release the figures of a scan, the latest by default; the budget is recorded before noise is drawn.

    True and false referral probability and the two figures of the order get a quarter of epsilon each; the
    predictive value follows from the first two and costs nothing. With a delta, the figures of the order get
    Laplace noise and half of delta each, otherwise Cauchy noise.

    Args:
        database: the review database.
        scan_id: number of the scan.
        home: where the ledger is.
        epsilon: privacy loss of the whole release.
        delta: probability with which it may be larger.
        now: date of the report.

    Raises:
        InputError: epsilon or delta is not usable, or the budget of these folders does not allow the release.
        StoreError: there is no (such) scan.
    """
    scan, roots, rows = read_decided(database, scan_id)
    read = [row for row in rows if row.referral is not None]
    decided = [row for row in read if row.verdict in {Verdict.PHI, Verdict.NOT_PHI}]
    part, part_delta = epsilon / _N_RELEASES, delta / 2
    noise = "laplace" if delta else "cauchy"
    try:
        noise_scale("accuracy", 1, 1, epsilon=part, delta=part_delta, noise="laplace")
        noise_scale("auc_roc", 1, 1, epsilon=part, delta=part_delta, noise=noise)
    except ValueError as error:
        message = f"--private-epsilon, --private-delta: {error}"
        raise InputError(message) from None
    laplace_library()
    spent = charge(home, roots_id(home, roots), Charge("report", f"laplace, {noise}", epsilon, delta), None)
    tdp = _share("tdp", _("True detection probability"), read, Verdict.PHI, part)
    frp = _share("frp", _("False referral probability"), read, Verdict.NOT_PHI, part)
    return PrivateData(
        scan=scan,
        made=now,
        phiscan=__version__,
        read=len(read),
        decided=len(decided),
        figures=(
            tdp,
            frp,
            _predictive_value(tdp, frp),
            *(_ranked(name, label, decided, part, part_delta, noise) for name, label in _RANKED),
        ),
        epsilon=epsilon,
        delta=delta,
        spent_epsilon=spent.epsilon,
        spent_delta=spent.delta,
        protects=PROTECTS,
        limits=LIMITS,
        source=SOURCE,
    )


def _share(
    name: str, label: str, read: Sequence[FileRecord], verdict: Verdict, epsilon: float
) -> PrivateFigure:
    """Release the share of the read files that were referred and have a verdict.

    One file changes it by 1/n, as it changes an accuracy.
    """
    cost = ("laplace", epsilon, 0.0)
    if not read:
        return PrivateFigure(name, label, None, None, *cost, "", _NOTHING_READ)
    n_such = sum(row.referral is Referral.REFERRED and row.verdict is verdict for row in read)
    needed = noise_scale("accuracy", n_such, len(read) - n_such, epsilon=epsilon, delta=0.0, noise="laplace")
    value = release(n_such / len(read), needed.scale, "laplace")
    return PrivateFigure(name, label, value, needed.half_width, *cost, _DROWNS if needed.drowns else "", None)


def _predictive_value(tdp: PrivateFigure, frp: PrivateFigure) -> PrivateFigure:
    """Compute PPV = TDP / (TDP + FRP) from released figures, which costs no budget."""
    value, reason = None, tdp.reason
    if tdp.value is not None and frp.value is not None:
        is_sound = tdp.value >= 0 and frp.value >= 0 and tdp.value + frp.value > 0
        value = tdp.value / (tdp.value + frp.value) if is_sound else None
        ratio = _("a ratio of two noisy figures: no distance is computed")
        reason = ratio if is_sound else _("noise drowns the two above")
    cost = (_("from the two above"), 0.0, 0.0)
    return PrivateFigure("ppv", _("Positive predictive value"), value, None, *cost, "", reason)


def _ranked(  # noqa: PLR0917 (one release is all of these)
    name: str, label: str, decided: Sequence[FileRecord], epsilon: float, delta: float, noise: str
) -> PrivateFigure:
    """Release the ranking figures; if all files are of one kind, a constant is released instead.

    A missing figure would reveal that all files are of one kind.
    """
    cost = (noise, epsilon, delta)
    if not decided:
        return PrivateFigure(name, label, None, None, *cost, "", _NONE_DECIDED)
    labels = [row.verdict is Verdict.PHI for row in decided]
    n, total = sum(labels), len(labels)
    true = 0.5 if name == "auc_roc" else float(n > 0)
    if 0 < n < total:
        ranked = rank([row.risk for row in decided], labels)
        true = auc_roc(ranked) if name == "auc_roc" else average_precision(ranked)
    # The least noise of any data set of this size is public, as the size is.
    needed, *others = (
        noise_scale(name, size, total - size, epsilon=epsilon, delta=delta, noise=noise)
        for size in (n, total // 2, total)
    )
    warning = _DROWNS if min(one.half_width for one in others) >= DROWNED else ""
    return PrivateFigure(name, label, release(true, needed.scale, noise), None, *cost, warning, _ON_DATA)


_TABLE = "tables/private.csv"
_NAMES = frozenset({"report.html", "report.json", PDF, "tables", _TABLE})


def private_pack(data: PrivateData, *, language: str = ENGLISH) -> Mapping[str, str]:
    """Return the text of every file of the pack except the PDF; the page is in the language."""
    with using(language):
        page = render_private(data)
    table = table_of("private", _("Figures released with differential privacy"), data.figures)(
        Column("name", _("Figure")),
        *columns("number", value=_("Released"), noise95=_("Noise, 95% within")),
        Column("mechanism", _("Noise")),
        *columns("number", epsilon=_("Epsilon"), delta=_("Delta")),
        *columns("text", warning=_("Warning"), reason=_("Remark")),
    )
    return {"report.html": page, "report.json": report_json(data), _TABLE: table_csv(table)}


def render_private(data: PrivateData) -> str:
    """Return the page; every number is in a ``data`` element with its unrounded value."""
    return rendered("private.html.j2", r=data)


def check_folder(folder: Path) -> None:
    """Refuse a folder with anything but an earlier private pack, whose files will all be replaced.

    Call it before the release: a full report next to the noisy figures would defeat them.

    Raises:
        InputError: the folder contains other files, or cannot be read.
    """
    try:
        found = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        earlier = folder / "report.json"
        if earlier.is_file() and '"spent_epsilon"' not in earlier.read_text("utf-8", "replace"):
            found.add("a full report")
    except OSError as error:
        raise InputError(folder, f"cannot be read: {error.strerror}") from None
    if found - _NAMES:
        raise InputError(folder, "expected a new or empty folder; what lies there would be published too")


def write_private_pack(data: PrivateData, folder: Path, *, language: str = ENGLISH) -> tuple[Path, ...]:
    """Write the pack.

    Raises:
        InputError: the folder cannot be written.
    """
    return write_files(private_pack(data, language=language), folder, language=language)
