"""The kinds of access logs: how each is known by its content, read, and how its names are compared.

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

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree

from phiscan.crawl.access_logs.log import MAX_RECORD, Log, Read
from phiscan.crawl.share import optional
from phiscan.errors import InputError

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
