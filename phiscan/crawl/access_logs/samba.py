"""Lines of Samba's vfs_full_audit: by syslog (RFC 3164, RFC 5424, ISO times) or in Samba's own log file.

A line is PREFIX|operation|result|arguments. The prefix begins with the account (%u); if it has three parts or
more, the last one is the share (%S), below which relative paths lie. In a log file only the first line after
a head of Samba is a message: lines that a file name begins are indented there.

Samba opens a file to list its folder too (``openat``). An opening is a read, or ``create_file`` with the
right to read; where a log has neither, ``openat`` counts.
Source: vfs_full_audit(8), source3/modules/vfs_full_audit.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from phiscan.crawl.access_logs.log import Log, Read

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
MARK = re.compile(rb"\bsmbd_audit\b|vfs_full_audit\.c:\d+\(do_log\)")
Record = tuple[bytes, bytes, frozenset[str]]
"""Time, message, and the operations that count in its log."""


def by_opens(log: Log) -> bool:
    """Return whether a log has no reads, so that ``openat`` is all there is to count."""
    return _READING.search(log.head) is None


def records(log: Log) -> Iterator[Record]:
    """Yield the messages of the module; what else is in the log is counted."""
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


def read(record: Record) -> Read:
    """Return time, account and opened path of a message.

    >>> read((b"Nov 20 08:30:01", b"ana|10.0.0.7|records|openat|ok|r|a|b.txt", _OPENS))
    ('Nov 20 08:30:01', 'ana', ['records/a|b.txt'])
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
    return time.decode("ascii"), account, [path] if is_read else []
