"""Windows security events 4663 (a file was read) and 5145 (on a share): a file .evtx, or exported XML.

Source: learn.microsoft.com, audit events 4663 and 5145.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from phiscan.crawl.access_logs.log import MAX_RECORD, Log, Read
from phiscan.errors import InputError

EVTX = b"ElfFile\0"
MARK = re.compile(rb"\AElfFile\0|<\0?E\0?v\0?e\0?n\0?t\0?[\s>s]")
_BEGIN = re.compile(r"<Event(?=[\s>])")
_END = "</Event>"
_READ_DATA = 0x1
_SUCCEEDED = 0x20000000000000  # keyword "audit success"
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)


def records(log: Log) -> Iterator[str]:
    """Yield the events as XML."""
    return _from_file(log) if log.head.startswith(EVTX) else _from_text(log)


def _from_file(log: Log) -> Iterator[str]:
    try:
        from evtx import PyEvtxParser  # noqa: PLC0415 (an optional part)
    except ImportError:
        message = ".evtx: needs the package evtx; expected phiscan installed with [evtx]"
        raise InputError(message) from None
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


def _from_text(log: Log) -> Iterator[str]:
    text = ""
    for more in log.texts():
        *events, text = (text + more).split(_END)
        for event in events:
            yield f"<Event{_BEGIN.split(event)[-1]}{_END}"
        if len(text) > MAX_RECORD:  # what is left of it is counted when it ends
            text = ""
    if _BEGIN.search(text):
        log.n_unknown += 1
        log.is_damaged = True


def read(text: str) -> Read:
    """Return time, account and opened path of an event."""
    event = etree.fromstring(text.encode("utf-8", "replace"), _PARSER)
    system = {etree.QName(one).localname: one for one in event.iterfind("./{*}System/*")}
    data = {one.get("Name"): one.text or "" for one in event.iterfind("./{*}EventData/{*}Data")}
    time = system["TimeCreated"].get("SystemTime", "").replace(" UTC", "").removesuffix("Z") + "Z"
    number = system["EventID"].text
    is_success = "Keywords" not in system or int(system["Keywords"].text or "0", 16) & _SUCCEEDED
    if number not in {"4663", "5145"} or not is_success:
        return time, "", []
    if not int(data["AccessMask"], 16) & _READ_DATA or data["ObjectType"] != "File":
        return time, "", []
    if number == "4663":
        path = data["ObjectName"]
    else:
        server = (system["Computer"].text or "*").partition(".")[0]
        share = data["ShareName"].rpartition("\\")[2]
        path = f"//{server}/{share}/{data['RelativeTargetName']}"
    account = f"{data['SubjectDomainName']}\\{data['SubjectUserName']}".lstrip("\\")
    return time, account, [path.replace("\\", "/")]
