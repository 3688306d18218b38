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
from contextlib import suppress

from phiscan.crawl.access_logs.log import Log
from phiscan.model.opened import Opened

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


def by_opens(log: Log) -> bool:
    """Return whether a log has no reads, so that ``openat`` is all there is to count."""
    return _READING.search(log.head) is None


def parse(log: Log) -> Iterator[Opened]:
    """Yield the openings of files."""
    counted = _READS | _OPENS if by_opens(log) else _READS | {"create_file"}
    for time, message in _messages(log):
        try:
            moment = log.time_of(time.decode("ascii"))
            account, share, operation, result, arguments = _parts(message.decode("utf-8", "surrogateescape"))
        except ValueError:
            log.n_unknown += 1
            continue
        if not log.saw(moment) or result != "ok" or operation not in counted:
            continue
        if operation in _OPENS:
            arguments = arguments.partition("|")[2]
        elif operation == "create_file":
            rights, kind, _disposition, arguments = (arguments.split("|", 3) + [""] * 3)[:4]
            with suppress(ValueError):
                kind = kind if int(rights, 16) & _READ_RIGHTS else ""
            if kind != "file":
                continue
        path = arguments if arguments.startswith("/") else f"{share}/{arguments}"
        yield Opened(path, account, moment, operation)


def _messages(log: Log) -> Iterator[tuple[bytes, bytes]]:
    """Yield the time and the message of each line of the module; what else is in the log is counted."""
    time, message = b"", b""
    for line in log.lines():
        if time and line.startswith(b"  "):  # a file name goes on after a line break
            message = message + b"\n" + line[2:] if message else line[2:]
            continue
        if time and message:
            yield time, message
        time, message = b"", b""
        if found := _HEAD.match(line):
            time = found[1]
        elif found := _SYSLOG.fullmatch(line):
            yield found[1], found[2]
        elif line:
            log.n_unknown += 1
    if time and message:
        yield time, message


def _parts(message: str) -> tuple[str, str, str, str, str]:
    """Return account, share, operation, result and arguments of a message.

    Raises:
        ValueError: it is none of the module.

    >>> _parts("ana|10.0.0.7|records|openat|ok|r|a|b.txt")
    ('ana', 'records', 'openat', 'ok', 'r|a|b.txt')
    """
    found = _MESSAGE.fullmatch(message)
    if found is None:
        raise ValueError(message)
    account, further, operation, result, arguments = found.groups()
    prefix = further.split("|")
    # After the account: the client alone, or others with the share last.
    share = prefix[-2] if len(prefix) > 2 else ""  # noqa: PLR2004 (the last part is empty)
    return account, share, operation, result, arguments or ""
