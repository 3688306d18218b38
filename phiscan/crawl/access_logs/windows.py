"""Windows security events 4663 (a file was read) and 5145 (on a share): a file .evtx, or exported XML.

Source: learn.microsoft.com, audit events 4663 and 5145.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

from lxml import etree

from phiscan.crawl.access_logs.log import MAX_RECORD, Log
from phiscan.errors import InputError
from phiscan.model.opened import Opened

EVTX = b"ElfFile\0"
MARK = re.compile(rb"\AElfFile\0|<\0?E\0?v\0?e\0?n\0?t\0?[\s>s]")
_EVENT = re.compile(r"<Event[\s>].*?</Event>", re.DOTALL)
_READ_DATA = 0x1
_SUCCEEDED = 0x20000000000000  # keyword "audit success"
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)


def parse(log: Log) -> Iterator[Opened]:
    """Yield the openings of files."""
    for text in _from_file(log) if log.head.startswith(EVTX) else _from_text(log):
        try:
            event = etree.fromstring(text.encode("utf-8", "replace"), _PARSER)
            one = _opened(event)
        except (etree.XMLSyntaxError, ValueError, KeyError):
            log.n_unknown += 1
            continue
        moment = _time(event)
        if moment is None:
            log.n_unknown += 1
        elif log.saw(moment) and one is not None:
            yield Opened(one[0], one[1], moment, one[2], one[3])


def _from_file(log: Log) -> Iterator[str]:
    try:
        from evtx import PyEvtxParser  # noqa: PLC0415 (an optional part)
    except ImportError:
        message = ".evtx: needs the package evtx; expected phiscan installed with [evtx]"
        raise InputError(message) from None
    try:
        records = iter(PyEvtxParser(log.stream).records())
    except (RuntimeError, OSError, EOFError):
        log.is_damaged = True
        return
    while True:
        try:
            yield str(cast("dict[str, Any]", next(records))["data"])
        except StopIteration:
            log.is_damaged |= log.n_understood + log.n_unknown == 0  # of a sound one a record is left
            return
        except (RuntimeError, OSError, EOFError):  # the next part may be sound
            log.is_damaged = True
            log.n_unknown += 1


def _from_text(log: Log) -> Iterator[str]:
    text = ""
    for more in log.texts():
        text += more
        end = 0
        for found in _EVENT.finditer(text):
            end = found.end()
            yield found[0]
        text = text[end:]
        if len(text) > MAX_RECORD:
            log.n_unknown += 1
            text = text[max(0, text.rfind("<Event", 1)) :][:MAX_RECORD]
    if "<Event " in text:
        log.n_unknown += 1
        log.is_damaged = True


def _opened(event: etree._Element) -> tuple[str, str, str, str] | None:
    """Return path, account, action and client of an event; None = it is no opening.

    Raises:
        ValueError, KeyError: it has not the fields of its kind.
    """
    system = {etree.QName(one).localname: one for one in event.iterfind("./{*}System/*")}
    number = system["EventID"].text or ""
    is_success = "Keywords" not in system or int(system["Keywords"].text or "0", 16) & _SUCCEEDED
    if number not in {"4663", "5145"} or not is_success:
        return None
    data = {one.get("Name"): one.text or "" for one in event.iterfind("./{*}EventData/{*}Data")}
    if not int(data["AccessMask"], 16) & _READ_DATA or data["ObjectType"] != "File":
        return None
    account = f"{data['SubjectDomainName']}\\{data['SubjectUserName']}".lstrip("\\")
    if number == "4663":
        return data["ObjectName"].replace("\\", "/"), account, number, ""
    server = (system["Computer"].text or "*").partition(".")[0]
    share = data["ShareName"].rpartition("\\")[2]
    path = data["RelativeTargetName"].replace("\\", "/")
    return f"//{server}/{share}/{path}", account, number, data.get("IpAddress", "")


def _time(event: etree._Element) -> datetime | None:
    text = next((one.get("SystemTime", "") for one in event.iterfind("./{*}System/{*}TimeCreated")), "")
    try:
        moment = datetime.fromisoformat(text.replace(" UTC", "Z"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
