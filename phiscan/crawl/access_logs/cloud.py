"""S3 server access logs, CloudTrail (S3 data events), and audit records of Microsoft 365 (Purview, Graph).

Source: docs.aws.amazon.com (server access log format, where the key of a request is URL-encoded twice;
CloudTrail record contents); learn.microsoft.com (Office 365 Management Activity API schema).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from phiscan.crawl.access_logs.log import Log
from phiscan.model.opened import Opened

SERVER_LINE = re.compile(
    r"\S+ (\S+) \[(\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] (\S+) (\S+) \S+ "
    r'([A-Z]+\.[A-Z.0-9_]+) (\S+) (?:"(?:[^"\\]|\\.)*"|-) (\d{3}|-) .*'
)
SERVER_MARK = re.compile(
    rb"^\S+ \S+ \[\d\d/[A-Z][a-z][a-z]/\d{4}:[^]]*\] \S+ \S+ \S+ [A-Z]+\.[A-Z]", re.MULTILINE
)
TRAIL_MARK = re.compile(rb'"eventSource"\s*:')
AUDIT_MARK = re.compile(rb'"+(?:Operation|operation)"+\s*:|^[^\n]*\bAuditData\b')
_SERVER_READS = re.compile(r"(?:REST|WEBSITE)\.(?:GET|COPY)\.OBJECT(?:_GET)?")
_SENT = frozenset({"200", "206"})
_ANONYMOUS = "anonymous"
_FILE_OPERATIONS = frozenset(
    {"FileAccessed", "FileAccessedExtended", "FileDownloaded", "FilePreviewed", "FileSyncDownloadedFull"}
)


def parse_server_log(log: Log) -> Iterator[Opened]:
    """Yield the openings of objects from S3 server access logs."""
    for line in log.lines():
        found = SERVER_LINE.fullmatch(line.decode("utf-8", "surrogateescape"))
        if found is None:
            log.n_unknown += bool(line)
            continue
        bucket, time, client, account, operation, key, status = found.groups()
        try:
            moment = datetime.strptime(time, "%d/%b/%Y:%H:%M:%S %z")
        except ValueError:
            log.n_unknown += 1
            continue
        if log.saw(moment) and _SERVER_READS.fullmatch(operation) and status in _SENT and key != "-":
            path = f"s3://{bucket}/{_unquoted(_unquoted(key))}"
            yield Opened(path, _ANONYMOUS if account == "-" else account, moment, operation, client)


def parse_trail(log: Log) -> Iterator[Opened]:
    """Yield the openings of objects from CloudTrail's records."""
    for record in log.records():
        try:
            moment = _utc(record["eventTime"])
            is_read = record["eventName"] in {"GetObject", "CopyObject"} and not record.get("errorCode")
            if not log.saw(moment) or record["eventSource"] != "s3.amazonaws.com" or not is_read:
                continue
            asked, client = record["requestParameters"], str(record.get("sourceIPAddress", ""))
            path = f"{asked['bucketName']}/{asked['key']}"
            if record["eventName"] == "CopyObject":
                path = _unquoted(asked["x-amz-copy-source"]).removeprefix("/").partition("?versionId=")[0]
            account = _caller(record["userIdentity"])
        except (KeyError, TypeError, ValueError, AttributeError):
            log.n_unknown += 1
            continue
        yield Opened(f"s3://{path}", account, moment, record["eventName"], client)


def parse_audit(log: Log) -> Iterator[Opened]:
    """Yield the openings of files and mails from audit records of Microsoft 365."""
    for outer in log.records():
        try:
            record = outer.get("auditData") or outer.get("AuditData") or outer
            name = {key.lower(): key for key in record}
            moment = _utc(record[name["creationtime"]])
            operation, account = record[name["operation"]], str(record[name["userid"]])
            client = str(record.get(name.get("clientip", ""), ""))
            paths = list(_paths(operation, record, name)) if log.saw(moment) else []
        except (KeyError, TypeError, ValueError, AttributeError):
            log.n_unknown += 1
            continue
        for path in paths:
            yield Opened(path, account, moment, operation, client)


def _paths(operation: str, record: Mapping[str, Any], name: Mapping[str, str]) -> Iterator[str]:
    if operation in _FILE_OPERATIONS:
        url = str(record[name["objectid"]])
        yield url if " " in url else _unquoted(url)
    elif operation == "MailItemsAccessed":
        mailbox = str(record[name["mailboxownerupn"]])
        for folder in record.get(name.get("folders", ""), ()):
            place = str(folder["Path"]).replace("\\", "/").strip("/")
            for item in folder.get("FolderItems", ()):
                yield f"mailbox://{mailbox}/{place}/{item['InternetMessageId']}"


def _caller(identity: Mapping[str, Any]) -> str:
    if identity.get("accountId") == "ANONYMOUS_PRINCIPAL":
        return _ANONYMOUS
    return str(identity.get("arn") or identity.get("invokedBy") or identity["principalId"])


def _unquoted(text: str) -> str:
    return unquote(text, errors="surrogateescape")


def _utc(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
