"""Parsers of access logs: published formats, variants, damage, and names that try to forge a line."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from phiscan.crawl import access_logs as logs
from phiscan.crawl.access_logs import Log, Opened, kind_of, opened_log, openings_in
from phiscan.errors import InputError

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
HEAD = "[2026/11/20 08:30:01.123456,  1] ../../source3/modules/vfs_full_audit.c:643(do_log)"
OWNER = "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"


def parsed(folder: Path, content: bytes | str, **given: Any) -> tuple[list[Opened], Log]:
    path = folder / "log"
    path.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
    with opened_log(path, now=NOW, zone=given.pop("zone", logs.ZoneInfo("UTC")), **given) as log:
        return list(openings_in(log, kind_of(log, "log"))), log


def facts(found: list[Opened]) -> list[tuple[str, str, str]]:
    return [(one.path, one.names[0], f"{one.moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}") for one in found]


SAMBA_READ = "ana|10.0.0.7|records|pread_send|ok|/srv/records/a b|c.txt"


@pytest.mark.parametrize(
    "line",
    [
        f"Nov 20 08:30:01 files1 smbd_audit[311]: {SAMBA_READ}",
        f"Nov 20 08:30:01 smbd_audit: {SAMBA_READ}",
        f"<134>Nov 20 08:30:01 files1 smbd_audit: {SAMBA_READ}",
        f"2026-11-20T08:30:01.500000+00:00 files1 smbd_audit[311]: {SAMBA_READ}",
        f"2026-11-20T09:30:01+01:00 files1 smbd_audit: {SAMBA_READ}",
        f"<134>1 2026-11-20T08:30:01Z files1 smbd_audit 311 - - {SAMBA_READ}",
        f"{HEAD}\n  {SAMBA_READ}",
        f"{HEAD}\n  {SAMBA_READ.replace('10.0.0.7|records', 'pc7|10.0.0.7|records')}",
        f"{HEAD}\n  {SAMBA_READ.replace('|10.0.0.7|records', '')}",
        f"{HEAD}\n  ana|10.0.0.7|/srv|sendfile|ok|records/a b|c.txt",
    ],
)
def test_samba_lines_of_syslog_and_of_its_own_log(tmp_path: Path, line: str) -> None:
    found, log = parsed(tmp_path, f"{line}\n")
    assert facts(found) == [("/srv/records/a b|c.txt", "ana", "2026-11-20 08:30:01")]
    assert (log.n_understood, log.n_unknown, log.is_damaged) == (1, 0, False)


@pytest.mark.parametrize(
    ("call", "n"),
    [
        ("create_file|ok|0x120089|file|open|/srv/a.txt", 1),
        ("create_file|ok|0x80|file|open|/srv/a.txt", 0),  # its attributes alone
        ("create_file|ok|0x120089|dir|open|/srv/a.txt", 0),
        ("create_file|fail (Access denied)|0x120089|file|open|/srv/a.txt", 0),
        ("pread_recv|fail (I/O error)|/srv/a.txt", 0),
        ("openat|ok|r|/srv/a.txt", 0),  # of a listing: the log has reads
        ("unlinkat|ok|/srv/a.txt", 0),
    ],
)
def test_samba_counts_reads_and_rights_to_read(tmp_path: Path, call: str, n: int) -> None:
    lines = [f"{HEAD}\n  ana|1.2.3.4|s|{one}" for one in ("pread|ok|/srv/other.txt", call)]
    found, _log = parsed(tmp_path, "\n".join(lines))
    assert sum(one.path == "/srv/a.txt" for one in found) == n


def test_samba_counts_openings_where_a_log_has_no_reads(tmp_path: Path) -> None:
    calls = ("openat|ok|r|/srv/a.txt", "open|ok|w|b.txt", "openat|fail (No such file)|r|/srv/c.txt")
    found, log = parsed(tmp_path, "".join(f"{HEAD}\n  ana|1.2.3.4|s|{one}\n" for one in calls))
    assert [one.path for one in found] == ["/srv/a.txt", "s/b.txt"]
    assert log.n_understood == 3


@pytest.mark.parametrize("forged", [HEAD, "Nov 20 08:30:01 files1 smbd_audit[9]: x"])
def test_a_line_break_in_a_file_name_makes_no_event(tmp_path: Path, forged: str) -> None:
    """Samba indents what follows a line break of its message."""
    name = f"/srv/a\n  {forged}\n  eve|1.2.3.4|s|pread|ok|/srv/secret.txt"
    found, _log = parsed(
        tmp_path, f"{HEAD}\n  ana|1.2.3.4|s|pread|ok|{name}\n{HEAD}\n  bo|1.2.3.4|s|pread|ok|/srv/b\n"
    )
    assert [one.names[0] for one in found] == ["ana", "bo"]
    assert found[0].path.startswith("/srv/a\n")
    assert found[1].path == "/srv/b"


@pytest.mark.parametrize(
    ("times", "year", "expected"),
    [
        (["Nov 20 08:00:00"], None, ["2026-11-20"]),
        (["Dec 30 08:00:00"], None, ["2025-12-30"]),  # not after the file was written
        (["Dec 31 23:59:59", "Jan  1 00:00:01"], None, ["2025-12-31", "2026-01-01"]),
        (
            ["Dec 31 23:59:59", "Jan  1 00:00:01", "Dec 31 23:59:59"],
            2023,
            ["2023-12-31", "2024-01-01", "2023-12-31"],
        ),
        (["Feb 29 08:00:00"], None, ["2024-02-29"]),
    ],
)
def test_times_without_a_year(
    tmp_path: Path, times: list[str], year: int | None, expected: list[str]
) -> None:
    text = "".join(f"{time} h smbd_audit: ana|1|s|pread|ok|/a\n" for time in times)
    found, _log = parsed(tmp_path, text, year=year)
    assert [one.moment.date().isoformat() for one in found] == expected


def windows(number: int, name: str = r"C:\Shares\Letters\A.docx", mask: str = "0x1", **more: str) -> str:
    data = {
        "SubjectUserName": "ana",
        "SubjectDomainName": "CLINIC",
        "ObjectType": "File",
        "AccessMask": mask,
        **({"ObjectName": name} if number == 4663 else {}),
        **more,
    }
    fields = "".join(f"<Data Name='{key}'>{value}</Data>" for key, value in data.items())
    keyword = more.get("Keywords", "0x8020000000000000")
    return (
        "<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System>"
        f"<Provider Name='Microsoft-Windows-Security-Auditing'/><EventID>{number}</EventID>"
        f"<Keywords>{keyword}</Keywords><TimeCreated SystemTime='2026-11-20T08:30:01.1234567Z'/>"
        f"<Computer>FILES1.clinic.example</Computer></System><EventData>{fields}</EventData></Event>"
    )


SHARE = {"ShareName": r"\\*\Data", "RelativeTargetName": r"Letters\A.docx", "IpAddress": "10.0.0.7"}


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (windows(4663), "C:/Shares/Letters/A.docx"),
        (windows(5145, mask="0x120089", **SHARE), "//FILES1/Data/Letters/A.docx"),
        (windows(4663, mask="0x80"), None),
        (windows(4663, ObjectType="Key"), None),
        (windows(4663, Keywords="0x8010000000000000"), None),  # audit failure
        (windows(4656), None),
    ],
)
@pytest.mark.parametrize("form", ["{}", "\ufeff<?xml version='1.0'?><Events>{}</Events>", "{}\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_windows_events_exported_as_xml(
    tmp_path: Path, event: str, path: str | None, form: str, encoding: str
) -> None:
    text = form.format(event + windows(4663, r"\Device\HarddiskVolume2\b.txt"))
    found, log = parsed(tmp_path, text.removeprefix("\ufeff").encode(encoding))
    others = [("/Device/HarddiskVolume2/b.txt", r"CLINIC\ana", "2026-11-20 08:30:01")]
    expected = [(path, r"CLINIC\ana", "2026-11-20 08:30:01")] if path else []
    assert (facts(found), log.n_understood, log.n_unknown) == (expected + others, 2, 0)


def test_windows_events_with_entities_are_not_expanded(tmp_path: Path) -> None:
    event = windows(4663).replace("A.docx", "&e;")
    found, log = parsed(tmp_path, f"<!DOCTYPE x [<!ENTITY e 'x'>]>{event}{windows(4663)}{windows(4663)[:-9]}")
    assert (len(found), log.n_unknown, log.is_damaged) == (1, 2, True)


@pytest.mark.parametrize("rest", [b"", b"\xff" * 70_000, bytes(4_088) + b"ElfChnk\0" + b"\x01" * 65_528])
def test_a_damaged_event_log_file_is_reported(tmp_path: Path, rest: bytes) -> None:
    found, log = parsed(tmp_path, b"ElfFile\0" + rest)
    assert (found, log.is_damaged) == ([], True)


def server_line(
    operation: str = "REST.GET.OBJECT",
    status: str = "200",
    *,
    who: str = "arn:aws:iam::1:user/ana",
    key: str = "2026/a%2520b%252Bc.txt",
) -> str:
    return (
        f"{OWNER} records [20/Nov/2026:08:30:01 +0000] 192.0.2.3 {who} 3E57427F {operation} {key} "
        f'"GET /x?a=\\"b HTTP/1.1" {status} - 113 113 7 5 "-" "S3Console/0.4" - '
        "s9lz= SigV4 TLS-AES AuthHeader records.s3.amazonaws.com TLSv1.2 - -"
    )


@pytest.mark.parametrize(
    ("line", "path", "account"),
    [
        (server_line(), "s3://records/2026/a b+c.txt", "arn:aws:iam::1:user/ana"),
        (server_line("WEBSITE.GET.OBJECT", "206", who="-"), "s3://records/2026/a b+c.txt", "anonymous"),
        (server_line(status="403"), None, ""),
        (server_line(status="304"), None, ""),
        (server_line("REST.HEAD.OBJECT"), None, ""),
        (server_line("REST.GET.BUCKET", key="-"), None, ""),
    ],
)
def test_server_access_logs_of_s3(tmp_path: Path, line: str, path: str | None, account: str) -> None:
    found, log = parsed(tmp_path, f"{line}\nnoise\n{server_line()[:90]}\n")
    assert facts(found) == ([(path, account, "2026-11-20 08:30:01")] if path else [])
    assert (log.n_understood, log.n_unknown) == (1, 2)


def trail(name: str = "GetObject", **more: Any) -> dict[str, Any]:
    return {
        "eventVersion": "1.08",
        "userIdentity": {"type": "IAMUser", "arn": "arn:aws:iam::1:user/ana", "accountId": "1"},
        "eventTime": "2026-11-20T08:30:01Z",
        "eventSource": "s3.amazonaws.com",
        "eventName": name,
        "sourceIPAddress": "192.0.2.3",
        "requestParameters": {"bucketName": "records", "key": "2026/a b.txt"},
        **more,
    }


ANONYMOUS = {"type": "AWSAccount", "principalId": "", "accountId": "ANONYMOUS_PRINCIPAL"}
COPIED = {"bucketName": "x", "key": "y", "x-amz-copy-source": "/records/2026/a%20b.txt?versionId=1"}


@pytest.mark.parametrize(
    ("record", "account"),
    [
        (trail(), "arn:aws:iam::1:user/ana"),
        (trail(userIdentity=ANONYMOUS), "anonymous"),
        (trail("CopyObject", requestParameters=COPIED), "arn:aws:iam::1:user/ana"),
        (trail(errorCode="AccessDenied"), ""),
        (trail("PutObject"), ""),
        (trail(eventSource="sts.amazonaws.com"), ""),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_records_of_cloud_trail(
    tmp_path: Path, record: dict[str, Any], account: str, is_packed: bool
) -> None:
    text = json.dumps({"Records": [record, {"eventTime": 7}]}).encode()
    found, log = parsed(tmp_path, gzip.compress(text) if is_packed else text)
    assert facts(found) == (
        [("s3://records/2026/a b.txt", account, "2026-11-20 08:30:01")] if account else []
    )
    assert (log.n_understood, log.n_unknown, log.is_damaged) == (1, 1, False)


def audit(operation: str = "FileAccessed", **more: Any) -> dict[str, Any]:
    return {
        "CreationTime": "2026-11-20T08:30:01",
        "Operation": operation,
        "UserId": "ana@clinic.example",
        "ObjectId": "https://clinic.sharepoint.com/sites/ward/Shared%20Documents/a.docx",
        **more,
    }


MAILS = {
    "MailboxOwnerUPN": "ward@clinic.example",
    "Folders": [
        {"Path": "\\Inbox", "FolderItems": [{"InternetMessageId": "<1@x>"}, {"InternetMessageId": "<2@x>"}]}
    ],
}
FILE_PATH = "https://clinic.sharepoint.com/sites/ward/Shared Documents/a.docx"
MAIL_PATHS = [f"mailbox://ward@clinic.example/Inbox/<{n}@x>" for n in (1, 2)]


@pytest.mark.parametrize(
    ("record", "paths"),
    [
        (audit(), [FILE_PATH]),
        (audit("FileDownloaded"), [FILE_PATH]),
        (audit("FilePreviewed", ObjectId=FILE_PATH), [FILE_PATH]),
        (audit("MailItemsAccessed", **MAILS), MAIL_PATHS),
        (audit("FileModified"), []),
        (
            {"id": "1", "auditData": {name[0].lower() + name[1:]: value for name, value in audit().items()}},
            [FILE_PATH],
        ),
    ],
)
@pytest.mark.parametrize("form", ["lines", "list", "graph", "csv"])
def test_audit_records_of_microsoft_365(
    tmp_path: Path, record: dict[str, Any], paths: list[str], form: str
) -> None:
    line = json.dumps(record)
    quoted = line.replace('"', '""')
    text = {
        "lines": f"{line}\n",
        "list": json.dumps([record], indent=1),
        "graph": json.dumps({"value": [record]}),
        "csv": f'RecordId,CreationDate,AuditData\r\n1,2026,"{quoted}"\r\n',
    }[form]
    found, log = parsed(tmp_path, text)
    assert [(one.path, one.names[0]) for one in found] == [(path, "ana@clinic.example") for path in paths]
    assert (log.n_understood, log.n_unknown) == (1, 0)


def test_damaged_records_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    sound = json.dumps(audit())
    found, log = parsed(tmp_path, "\n".join((sound, sound[:60], sound, "[" * 100_000, sound)))
    assert len(found) == 3
    assert log.n_unknown >= 2
    assert log.is_damaged


@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_a_log_that_is_cut_off_is_read_up_to_there(tmp_path: Path, keep: float) -> None:
    lines = [f"{HEAD}\n  user{n}|1|s|pread|ok|/srv/{n * n * 7919}.txt\n" for n in range(20_000)]
    packed = gzip.compress("".join(lines).encode())
    found, log = parsed(tmp_path, packed[: int(len(packed) * keep)])
    assert log.is_damaged
    assert 0.2 * keep * len(lines) < len(found) < len(lines)
    assert [one.names[0] for one in found] == [f"user{n}" for n in range(len(found))]


@pytest.mark.parametrize("time", ["1970/01/01 00:00:00", "2031/01/01 00:00:00", "2026/13/01 00:00:00"])
def test_times_that_cannot_be_are_not_believed(tmp_path: Path, time: str) -> None:
    forged = f"{HEAD.replace('2026/11/20 08:30:01.123456', time)}\n  eve|1|s|pread|ok|/a\n"
    found, log = parsed(tmp_path, f"{HEAD}\n  ana|1|s|pread|ok|/a\n{forged}")
    assert ([one.names[0] for one in found], log.n_unknown) == (["ana"], 1)
    assert log.first == log.last


def test_long_lines_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_RECORD", 500)
    line = "2026-11-20T08:30:01Z h smbd_audit: ana|1|s|pread|ok|/"
    found, log = parsed(tmp_path, f"{line}a\n{line}{'b' * 2000}\n{line}c\n")
    assert ([one.path for one in found], log.n_unknown) == (["/a", "/c"], 1)


@pytest.mark.parametrize(
    "content", [b"", b"Nov 20 08:30:01 host sshd[1]: Accepted\n", b'{"a": 1}', b"\x00" * 5000]
)
def test_what_is_no_access_log_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="log: no access log that phiscan knows"):
        parsed(tmp_path, content)
