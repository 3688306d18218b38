"""Access logs of file servers and stores: which file was opened by which account, and when.

A log is read as lines, text or JSON records of bounded length. Its kind is known by its content, and says how
names are compared; a path in it is below a root, or below what the configuration says is one.

Samba: lines of vfs_full_audit, by syslog (RFC 3164, RFC 5424, ISO times) or in Samba's own log file, where
only the first line after a head is a message: lines that a file name begins are indented. A line is
PREFIX|operation|result|arguments. The prefix begins with the account (%u); if it has three parts or more, the
last one is the share (%S), below which relative paths lie. Samba opens a file to list its folder too
(``openat``). An opening is a read, or ``create_file`` with the right to read; where a log has neither,
``openat`` counts. Source: vfs_full_audit(8), source3/modules/vfs_full_audit.c.
Windows: security events 4663 (a file was read) and 5145 (on a share), as .evtx or exported XML. Source:
learn.microsoft.com, audit events 4663 and 5145.
S3 server access logs, CloudTrail (S3 data events): docs.aws.amazon.com (server access log format, where the
key of a request is URL-encoded twice; CloudTrail record contents).
Audit records of Microsoft 365 (Purview, Graph): learn.microsoft.com (Office 365 Management Activity API
schema).
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import unquote
from zlib import error as ZlibError  # noqa: N812 (a class)
from zoneinfo import ZoneInfo

import numpy as np
from lxml import etree

from phiscan.crawl.share import optional
from phiscan.errors import InputError

HEAD_BYTES = 1024**2
MAX_RECORD = 1024**2  # bytes or characters of a line or record; a longer one is not understood
_CHUNK = 256 * 1024
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TABLE = re.compile(rb"[^{[\n]*\bAuditData\b")  # the heads of a CSV export
_LIST = re.compile(r'\s*(?:\{\s*(?:"@[^[{]*)?"(?:Records|value)"\s*:\s*)?\[')
_BETWEEN = re.compile(r"[\s,\]}]*")
_NEXT_RECORD = re.compile(r"\n|\}\s*,\s*(?=\{)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_DAY = timedelta(days=1)
Read = tuple[str, tuple[str, ...], list[str]]
"""Time, names of the account and opened paths of a record."""

_NOT_UNDERSTOOD = (ValueError, LookupError, TypeError, AttributeError, SyntaxError, ArithmeticError)
_SYSLOG = re.compile(
    rb"(?:<\d{1,3}>)?(?:1 )?"
    rb"(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d) "
    rb"(?:\S+ )?smbd_audit(?:\[\d+\])?(?::| \S+ \S+ \S+) ?(.*)"
)
_HEAD = re.compile(
    rb"\[(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)?),[^]]*\] .*\bvfs_full_audit\.c:\d+\(do_log\)"
)
_MESSAGE = re.compile(r"([^|]+)\|((?:[^|]*\|)*?)([a-z][a-z_0-9]+)\|(ok|fail[^|]*)(?:\|(.*))?", re.DOTALL)
_READS = frozenset({"pread", "pread_send", "pread_recv", "read", "sendfile", "offload_read_send"})
_OPENS = frozenset({"open", "openat"})
_READING = re.compile(rb"\|(?:pread(?:_send|_recv)?|sendfile|create_file)\|ok\|")
_READ_RIGHTS = 0x1 | 0x80000000 | 0x10000000  # read data, generic read, generic all
_SAMBA_MARK = re.compile(rb"\bsmbd_audit\b|vfs_full_audit\.c:\d+\(do_log\)")
_EVTX = b"ElfFile\0"
_WINDOWS_MARK = re.compile(rb"\AElfFile\0|<\0?E\0?v\0?e\0?n\0?t\0?[\s>s]")
_EVENT_BEGIN = re.compile(r"<Event(?=[\s>])")
_EVENT_END = "</Event>"
_READ_DATA = 0x1
_SUCCEEDED = 0x20000000000000  # keyword "audit success"
_XML_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)
_SERVER_LINE = re.compile(
    r"\S+ (\S+) \[(\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] \S+ (\S+) \S+ "
    r'([A-Z]+\.[A-Z.0-9_]+) (\S+) (?:"(?:[^"\\]|\\.)*"|-) (\d{3}|-) .*'
)
_SERVER_MARK = re.compile(
    rb"^\S+ \S+ \[\d\d/[A-Z][a-z][a-z]/\d{4}:[^]]*\] \S+ \S+ \S+ [A-Z]+\.[A-Z]", re.MULTILINE
)
_TRAIL_MARK = re.compile(rb'"eventSource"\s*:')
_AUDIT_MARK = re.compile(rb'"+(?:Operation|operation)"+\s*:|^[^\n]*\bAuditData\b')
_SERVER_READS = re.compile(r"(?:REST|WEBSITE)\.(?:GET|COPY)\.OBJECT(?:_GET)?")
_ANONYMOUS = "anonymous"
_PROGRAMS = ("appid", "applicationid", "clientappid")  # fields that name the program of an application
_FILE_OPERATIONS = frozenset(
    {"FileAccessed", "FileAccessedExtended", "FileDownloaded", "FilePreviewed", "FileSyncDownloadedFull"}
)
N_PATHS = 65_536  # kept in memory, of those that were found last
_SERVER = re.compile(r"\A//[^/]+/")


@dataclass(slots=True)
class Log:
    """A log that is being read, and the counts of its records."""

    stream: Any  # binary
    now: datetime
    near: datetime  # a time without a year is of the year in which it is nearest to this, the last such one
    zone: ZoneInfo | None = None  # of times that are written without one; None = this machine's
    head: bytes = b""  # its first bytes, which the stream has too
    n_understood: int = 0
    n_unknown: int = 0
    is_damaged: bool = False  # it ends in the middle, or a part of it cannot be read
    first: datetime = _LATEST
    last: datetime = _EARLIEST

    def saw(self, time: str) -> datetime:
        """Count a record of this time, and return it: ISO 8601, or month, day and time without year and zone.

        Raises:
            ValueError: it is none, or cannot be right.
        """
        if time[:1].isdigit():
            moment = datetime.fromisoformat(time.replace("/", "-"))
        else:
            month, day, clock = time.split()
            of = (_MONTHS.index(month) + 1, int(day), *(int(part) for part in clock.split(":")))
            found = (_in_year(self.near.year + years, of) for years in (-1, 0, 1))
            moment = self.near = min(found, key=lambda moment: abs(moment - self.near))
        if not moment.tzinfo:
            moment = moment.replace(tzinfo=self.zone) if self.zone else moment.astimezone()
        if not _EARLIEST <= moment <= self.now + _DAY:
            raise ValueError(time)
        self.n_understood += 1
        self.first, self.last = min(self.first, moment), max(self.last, moment)
        return moment

    def lines(self) -> Iterator[bytes]:
        """Yield the lines without their ends, no empty one; one that is too long is counted and left out."""
        with self.damage():
            while line := self.stream.readline(MAX_RECORD):
                if len(line) == MAX_RECORD and not line.endswith(b"\n"):
                    self.n_unknown += 1
                    while line and not line.endswith(b"\n"):
                        line = self.stream.readline(MAX_RECORD)
                elif text := line.rstrip(b"\r\n"):
                    yield text

    def texts(self) -> Iterator[str]:
        """Yield the text in pieces; UTF-16 where it begins with its mark."""
        with self.damage():
            text = self._text()
            while piece := text.read(_CHUNK):
                yield piece

    def _text(self) -> TextIOWrapper:
        encoding = "utf-16" if self.head.startswith(_UTF16) else "utf-8-sig"
        return TextIOWrapper(self.stream, encoding, "replace", newline="")

    def records(self) -> Iterator[Any]:
        """Yield JSON values: each by itself, in a list, in the list of one object, or of a CSV export.

        What is none is yielded as None.
        """
        return self._exported() if _TABLE.match(self.head) else self._objects()

    def _exported(self) -> Iterator[Any]:
        csv.field_size_limit(MAX_RECORD)
        with self.damage():
            for row in csv.DictReader(self._text()):
                try:
                    yield json.loads(row.get("AuditData") or "")
                except (ValueError, RecursionError):
                    yield None

    def _objects(self) -> Iterator[Any]:
        decode, text, has_begun = json.JSONDecoder().raw_decode, "", False
        for more in chain(self.texts(), [""]):
            text += more
            found = None if has_begun else _LIST.match(text)
            at, has_begun = found.end() if found else 0, True
            while (at := cast("re.Match[str]", _BETWEEN.match(text, at)).end()) < len(text):
                try:
                    record, at = decode(text, at)
                except (json.JSONDecodeError, RecursionError) as error:
                    if more and len(text) - at < MAX_RECORD:
                        break  # it may go on
                    found = _NEXT_RECORD.search(text, getattr(error, "pos", at))
                    at = found.end() if found else len(text)
                    self.is_damaged = True
                    yield None
                else:
                    yield record
            text = text[at:]

    @contextmanager
    def damage(self) -> Iterator[None]:
        """End at what cannot be unpacked or decoded, and note it."""
        try:
            yield
        except (EOFError, gzip.BadGzipFile, ZlibError, UnicodeError, csv.Error):
            self.is_damaged = True


@contextmanager
def opened_log(
    path: Path, *, now: datetime, zone: ZoneInfo | None = None, year: int | None = None
) -> Iterator[Log]:
    """Open a log, unpacked if it is gzip; ``year``: of the first time without a year, if it is known.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open("rb") as raw:
            stream: Any = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP else raw
            # Without a year given, the first time is not after the last change of the file.
            written = min(now, datetime.fromtimestamp(path.stat().st_mtime, UTC)).astimezone(zone)
            ends = datetime(year + 1, 1, 1, tzinfo=written.tzinfo) if year else written + _DAY
            begins = ends.replace(year=year) if year else ends - 366 * _DAY
            log = Log(stream, now, begins.replace(tzinfo=None) + (ends - begins) / 2, zone)
            with log.damage():
                while len(log.head) < HEAD_BYTES and (more := stream.read1(_CHUNK)):
                    log.head += more
            stream.seek(0)
            log.is_damaged = False
            yield log
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or type(error).__name__}") from None


def _in_year(year: int, of: tuple[int, ...]) -> datetime:
    month, day, hour, minute, second = of
    if (month, day) == (2, 29):
        year -= year % 4
    return datetime(year, month, day, hour, minute, min(second, 59))  # noqa: DTZ001


class Opened(NamedTuple):
    """One opening; names are as the log has them."""

    path: str  # with /, bytes that are not UTF-8 as surrogates: /srv/share/a.txt, //server/share/a, s3://bucket/key
    names: tuple[str, ...]  # of the account: as it is counted; others by which an owner or program is known
    moment: datetime


def by_opens(log: Log) -> bool:
    """Return whether a log has no reads, so that ``openat`` is all there is to count."""
    return _READING.search(log.head) is None


def _samba_messages(log: Log) -> Iterator[tuple[bytes, bytes, frozenset[str]]]:
    """Yield time, message, and the operations that count in this log; what else is in it is counted."""
    counted = _READS | (_OPENS if by_opens(log) else {"create_file"})
    time, message = b"", list[bytes]()
    for line in chain(log.lines(), [b""]):
        if time and line.startswith(b"  "):  # the message, or its file name goes on after a line break
            message.append(line[2:])
            continue
        if message:
            yield time, b"\n".join(message), counted
        found = _HEAD.match(line) or _SYSLOG.fullmatch(line)
        time, *message = found.groups() if found else (b"",)
        log.n_unknown += found is None and line != b""


def _read_samba(record: tuple[bytes, bytes, frozenset[str]]) -> Read:
    """Return time, names of the account and opened path of a message.

    >>> _read_samba((b"Nov 20 08:30:01", b"ana|10.0.0.7|records|openat|ok|r|a|b.txt", _OPENS))
    ('Nov 20 08:30:01', ('ana',), ['records/a|b.txt'])
    """
    time, message, counted = record
    found = _MESSAGE.fullmatch(message.decode("utf-8", "surrogateescape"))
    if found is None:
        raise ValueError(message)
    account, further, operation, result, path = found.groups("")
    is_read = result == "ok" and operation in counted
    if is_read and operation in _OPENS:
        path = path.partition("|")[2]
    elif is_read and operation == "create_file":
        rights, kind, _disposition, path = path.split("|", 3)
        is_read = kind == "file" and int(rights, 16) & _READ_RIGHTS != 0
    prefix = further.split("|")  # after the account: the client alone, or others with the share last
    share = prefix[-2] if len(prefix) > 2 else ""  # noqa: PLR2004 (the last part is empty)
    path = path if path.startswith("/") else f"{share}/{path}"
    return time.decode("ascii"), (account,), [path] if is_read else []


def _windows_events(log: Log) -> Iterator[str]:
    """Yield the events as XML."""
    return _from_evtx(log) if log.head.startswith(_EVTX) else _from_xml(log)


def _from_evtx(log: Log) -> Iterator[str]:
    with optional(".evtx", "evtx", "evtx"):
        from evtx import PyEvtxParser  # noqa: PLC0415 (an optional part)
    found: Any = None
    while True:
        try:
            found = found or iter(PyEvtxParser(log.stream).records())
            yield str(next(found)["data"])
        except StopIteration:
            log.is_damaged |= log.n_understood + log.n_unknown == 0  # of a sound one a record is left
            return
        except (RuntimeError, OSError, EOFError):
            log.is_damaged = True
            log.n_unknown += 1
            if found is None:
                return
            # The next part may be sound.


def _from_xml(log: Log) -> Iterator[str]:
    text = ""
    for more in log.texts():
        *events, text = (text + more).split(_EVENT_END)
        for event in events:
            yield f"<Event{_EVENT_BEGIN.split(event)[-1]}{_EVENT_END}"
        if len(text) > MAX_RECORD:  # what is left of it is counted when it ends
            text = ""
    if _EVENT_BEGIN.search(text):
        log.n_unknown += 1
        log.is_damaged = True


def _read_windows(text: str) -> Read:
    """Return time, names of the account and opened path of an event."""
    event = etree.fromstring(text.encode("utf-8", "replace"), _XML_PARSER)
    system = {etree.QName(one).localname: one for one in event.iterfind("./{*}System/*")}
    data = {one.get("Name"): one.text or "" for one in event.iterfind("./{*}EventData/{*}Data")}
    time = _utc(system["TimeCreated"].get("SystemTime", "").removesuffix(" UTC"))
    number = system["EventID"].text
    is_success = "Keywords" not in system or int(system["Keywords"].text or "0", 16) & _SUCCEEDED
    if number not in {"4663", "5145"} or not is_success:
        return time, (), []
    if not int(data["AccessMask"], 16) & _READ_DATA or data["ObjectType"] != "File":
        return time, (), []
    if number == "4663":
        path = data["ObjectName"]
    else:
        server = (system["Computer"].text or "*").partition(".")[0]
        share = data["ShareName"].rpartition("\\")[2]
        path = f"//{server}/{share}/{data['RelativeTargetName']}"
    account = f"{data['SubjectDomainName']}\\{data['SubjectUserName']}".lstrip("\\")
    return time, (account, data.get("SubjectUserSid", "")), [path.replace("\\", "/")]


def _read_server_line(line: bytes) -> Read:
    """Return time, names of the account and opened object of a line of an S3 server access log."""
    found = _SERVER_LINE.fullmatch(line.decode("utf-8", "surrogateescape"))
    if found is None:
        raise ValueError(line)
    bucket, time, account, operation, key, status = found.groups()
    moment = datetime.strptime(time, "%d/%b/%Y:%H:%M:%S %z")
    is_read = _SERVER_READS.fullmatch(operation) and status in {"200", "206"} and key != "-"
    path = f"s3://{bucket}/{_unquoted(_unquoted(key))}"
    return moment.isoformat(), (_ANONYMOUS if account == "-" else account,), [path] if is_read else []


def _read_trail(record: dict[str, Any]) -> Read:
    """Return time, names of the account and opened object of a record of CloudTrail."""
    time, name = record["eventTime"], record["eventName"]
    is_read = name in {"GetObject", "CopyObject"} and not record.get("errorCode")
    if record["eventSource"] != "s3.amazonaws.com" or not is_read:
        return time, (), []
    asked, identity = record["requestParameters"], record["userIdentity"]
    path = f"{asked['bucketName']}/{asked['key']}"
    if name == "CopyObject":
        path = _unquoted(asked["x-amz-copy-source"]).removeprefix("/").partition("?versionId=")[0]
    account = identity.get("arn") or identity.get("invokedBy") or identity["principalId"]
    if identity.get("accountId") == "ANONYMOUS_PRINCIPAL":
        account = _ANONYMOUS
    return time, (str(account), str(identity.get("accessKeyId") or "")), [f"s3://{path}"]


def _read_audit(outer: dict[str, Any]) -> Read:
    """Return time, names of the account and opened files or mails of an audit record of Microsoft 365."""
    inner = outer.get("auditData") or outer.get("AuditData") or outer
    record = {name.lower(): value for name, value in inner.items()}
    paths = []
    if record["operation"] in _FILE_OPERATIONS:
        url = str(record["objectid"])
        paths = [url if " " in url else _unquoted(url)]
    elif record["operation"] == "MailItemsAccessed":
        for folder in record.get("folders", ()):
            place = str(folder["Path"]).replace("\\", "/").strip("/")
            mails = [str(item["InternetMessageId"]) for item in folder.get("FolderItems", ())]
            paths += [f"mailbox://{record['mailboxownerupn']}/{place}/{mail}" for mail in mails]
    program = record | {name.lower(): value for name, value in (record.get("appaccesscontext") or {}).items()}
    names = (record["userid"], *(program.get(name) for name in _PROGRAMS))
    return _utc(record["creationtime"]), tuple(str(name) for name in names if name), paths


def _utc(time: str) -> str:
    moment = datetime.fromisoformat(time)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _unquoted(text: str) -> str:
    return unquote(text, errors="surrogateescape")


class LogKind(NamedTuple):
    """One kind of access log."""

    mark: re.Pattern[bytes]  # is in its first bytes
    records: Callable[[Log], Iterator[Any]]
    read: Callable[[Any], Read]  # raises where it does not understand a record
    scheme: str  # of the roots that phiscan reads through the same server, with an account that is in the log
    folds: bool = False  # its names are compared without regard to case


KINDS = {
    "samba": LogKind(_SAMBA_MARK, _samba_messages, _read_samba, "smb"),
    "windows": LogKind(_WINDOWS_MARK, _windows_events, _read_windows, "smb", folds=True),
    "cloudtrail": LogKind(_TRAIL_MARK, Log.records, _read_trail, "s3"),
    "m365": LogKind(_AUDIT_MARK, Log.records, _read_audit, "m365", folds=True),
    "s3": LogKind(_SERVER_MARK, Log.lines, _read_server_line, "s3"),
}
"""By the name of ``--kind``, in the order in which they are tried."""


def kind_of(log: Log, where: str) -> str:
    """Return the kind of a log by its content.

    Raises:
        InputError: it is of none.
    """
    found = next((name for name, kind in KINDS.items() if kind.mark.search(log.head)), None)
    if found is None:
        raise InputError(where, f"no access log that phiscan knows; --kind names one of {', '.join(KINDS)}")
    return found


def openings_in(log: Log, kind: str) -> Iterator[Opened]:
    """Yield the openings in a log of this kind; what is not understood is counted."""
    for record in KINDS[kind].records(log):
        try:
            time, names, paths = KINDS[kind].read(record)
            moment = log.saw(time)
        except _NOT_UNDERSTOOD:
            log.n_unknown += 1
        else:
            yield from (Opened(path, names, moment) for path in paths)


class LoggedPaths:
    """Files, each a number, by the path that a log has: 16 bytes of memory for each.

    ``roots``: the roots by number; ``table``: further beginnings of paths, and the root or folder below one
    that each is; ``files``: root, path below it, and number; ``folds``: letter case does not matter.

    Raises:
        InputError: the table names a root that is none.
    """

    def __init__(
        self,
        roots: Mapping[int, bytes],
        table: Mapping[str, str],
        files: Iterable[Sequence[Any]],
        *,
        folds: bool,
    ) -> None:
        self._folds = folds
        self._places = {self._name(path) + "/": place for path, place in _places(roots, table)}
        self._depth = max((path.count("/") for path in self._places), default=0)
        hashed = ((self._hash(root_id, os.fsdecode(path)), number) for root_id, path, number in files)
        found = np.fromiter(hashed, [("hash", np.uint64), ("number", np.int64)])
        order = np.argsort(found["hash"])
        self._hashes, self._numbers = found["hash"][order], found["number"][order]
        self.find = lru_cache(N_PATHS)(self._find)

    def _name(self, path: str) -> str:
        return unicodedata.normalize("NFC", path.casefold()) if self._folds else path

    def _hash(self, root_id: int, path: str) -> int:
        named = f"{root_id}\0{self._name(path)}".encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(named, digest_size=8).digest())

    def _find(self, written: str) -> tuple[int, str, int]:
        """Return the root, the folder that the log is of, and the file; 0 = none, or several of this name."""
        parts = self._name(written).split("/", self._depth)
        for length in range(len(parts) - 1, 0, -1):
            begin, rest = "/".join(parts[:length]) + "/", "/".join(parts[length:])
            # //server/share, where the table says \\*\share
            place = self._places.get(begin) or self._places.get(_SERVER.sub("//*/", begin))
            if place is not None:
                root_id, below = place
                wanted = np.uint64(self._hash(root_id, below + rest))
                at, end = (np.searchsorted(self._hashes, wanted, side) for side in ("left", "right"))
                return root_id, below, int(self._numbers[at]) if end - at == 1 else 0
        return 0, "", 0


def _places(roots: Mapping[int, bytes], table: Mapping[str, str]) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield beginnings of paths, with the root and the folder in it; those of the table last: they hold."""
    for number, raw in roots.items():
        name = os.fsdecode(raw).rstrip("/")
        if found := re.fullmatch(r"smb://([^/:]*)[^/]*(.*)", name):
            host, rest = found.groups()
            is_address = host.replace(".", "").isdecimal()
            server = host if is_address else host.partition(".")[0]  # as its own log has it
            yield f"//{server}{rest}", (number, "")
        yield name, (number, "")
    for prefix, wanted in table.items():
        inside = [(os.fsdecode(raw).rstrip("/"), number) for number, raw in roots.items()]
        inside = [one for one in inside if f"{wanted.rstrip('/')}/".startswith(f"{one[0]}/")]
        if not inside:
            message = f"accesslog.paths: {wanted}: expected a root that was scanned, or a folder in one"
            raise InputError(message)
        name, number = max(inside, key=lambda one: len(one[0]))
        below = wanted.rstrip("/")[len(name) :].lstrip("/")
        yield prefix.replace("\\", "/").rstrip("/"), (number, f"{below}/" if below else "")
