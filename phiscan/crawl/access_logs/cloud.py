"""S3 server access logs, CloudTrail (S3 data events), and audit records of Microsoft 365 (Purview, Graph).

Source: docs.aws.amazon.com (server access log format, where the key of a request is URL-encoded twice;
CloudTrail record contents); learn.microsoft.com (Office 365 Management Activity API schema).
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from phiscan.crawl.access_logs.log import Read

_SERVER_LINE = re.compile(
    r"\S+ (\S+) \[(\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] \S+ (\S+) \S+ "
    r'([A-Z]+\.[A-Z.0-9_]+) (\S+) (?:"(?:[^"\\]|\\.)*"|-) (\d{3}|-) .*'
)
SERVER_MARK = re.compile(
    rb"^\S+ \S+ \[\d\d/[A-Z][a-z][a-z]/\d{4}:[^]]*\] \S+ \S+ \S+ [A-Z]+\.[A-Z]", re.MULTILINE
)
TRAIL_MARK = re.compile(rb'"eventSource"\s*:')
AUDIT_MARK = re.compile(rb'"+(?:Operation|operation)"+\s*:|^[^\n]*\bAuditData\b')
_SERVER_READS = re.compile(r"(?:REST|WEBSITE)\.(?:GET|COPY)\.OBJECT(?:_GET)?")
_ANONYMOUS = "anonymous"
_FILE_OPERATIONS = frozenset(
    {"FileAccessed", "FileAccessedExtended", "FileDownloaded", "FilePreviewed", "FileSyncDownloadedFull"}
)


def read_server_line(line: bytes) -> Read:
    """Return time, account and opened object of a line of an S3 server access log."""
    found = _SERVER_LINE.fullmatch(line.decode("utf-8", "surrogateescape"))
    if found is None:
        raise ValueError(line)
    bucket, time, account, operation, key, status = found.groups()
    moment = datetime.strptime(time, "%d/%b/%Y:%H:%M:%S %z")
    is_read = _SERVER_READS.fullmatch(operation) and status in {"200", "206"} and key != "-"
    path = f"s3://{bucket}/{_unquoted(_unquoted(key))}"
    return moment.isoformat(), _ANONYMOUS if account == "-" else account, [path] if is_read else []


def read_trail(record: dict[str, Any]) -> Read:
    """Return time, account and opened object of a record of CloudTrail."""
    time, name = record["eventTime"], record["eventName"]
    is_read = name in {"GetObject", "CopyObject"} and not record.get("errorCode")
    if record["eventSource"] != "s3.amazonaws.com" or not is_read:
        return time, "", []
    asked, identity = record["requestParameters"], record["userIdentity"]
    path = f"{asked['bucketName']}/{asked['key']}"
    if name == "CopyObject":
        path = _unquoted(asked["x-amz-copy-source"]).removeprefix("/").partition("?versionId=")[0]
    account = identity.get("arn") or identity.get("invokedBy") or identity["principalId"]
    if identity.get("accountId") == "ANONYMOUS_PRINCIPAL":
        account = _ANONYMOUS
    return time, str(account), [f"s3://{path}"]


def read_audit(outer: dict[str, Any]) -> Read:
    """Return time, account and opened files or mails of an audit record of Microsoft 365."""
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
    return record["creationtime"].removesuffix("Z") + "Z", str(record["userid"]), paths


def _unquoted(text: str) -> str:
    return unquote(text, errors="surrogateescape")
