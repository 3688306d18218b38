"""Sensitivity labels of Microsoft Purview that a file carries: which, by id and name.

A label is a set of properties ``MSIP_Label_<id>_<attribute>``: of an office document or a PDF one property
each, of a message one header field of all. Newer office documents list ids in ``docMetadata/LabelInfo.xml``,
without names. Source: Microsoft Information Protection SDK, Metadata; [MS-OFFCRYPTO] 2.6.4, label list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

from phiscan.model import Label

_ID = r"([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
_ATTRIBUTE = re.compile(rf"MSIP_Label_{_ID}_(Enabled|Name)(?:: *([^\n]*)|=([^;\n]*))")
_FIELDS = re.compile(r"^(?:MSIP_Label_|msip_labels:).*", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_](?!.*\d{4})[\w &()/+.,:;'\u2019\u2013\\-]{0,79}")
_ENABLED = ("Enabled", "true")
_YES = {"1", "true"}
MOST_LABELS = 8  # of a file; an organization gives one
LABEL_LIST = "docmetadata/labelinfo.xml"  # part of an office document, in lower case
_MOST_BYTES = 1024**2  # of a list or of XMP
OWN_PLACES = ("#properties", "#metadata", "#headers")
"""Locators of the properties of the file itself, not of a member or an attachment."""


def labels_in(texts: Iterable[str]) -> tuple[Label, ...]:
    """Return the enabled labels in the properties of a file, ``name: value`` lines, by id.

    >>> one = "MSIP_Label_2096f6a2-d2f7-48be-b329-b73aaa526e5d"
    >>> labels_in([f"{one}_Enabled: true", f"{one}_Name: Secret"])
    (('2096f6a2-d2f7-48be-b329-b73aaa526e5d', 'Secret'),)
    >>> labels_in([f"{one}_Enabled: false", f"Title: {one}_Enabled: true"])
    ()
    """
    found = {
        (number.lower(), attribute): (property_value or header_value).strip()
        for text in texts
        for line in _FIELDS.findall(text)
        for number, attribute, property_value, header_value in _ATTRIBUTE.findall(line)
    }
    enabled = sorted(number for (number, what), value in found.items() if (what, value.lower()) == _ENABLED)
    return tuple((number, label_name(found.get((number, "Name"), ""))) for number in enabled[:MOST_LABELS])


def label_name(name: str) -> str:
    """Return the name of a label; "" for what is none: too long, or with a longer number or an address.

    >>> label_name("Confidential - Patients"), label_name("MRN 4471102"), label_name("ann@hospital.example")
    ('Confidential - Patients', '', '')
    """
    return name if _NAME.fullmatch(name) and name.isprintable() else ""


def is_label(label: Label) -> bool:
    """Return whether a label is one that ``labels_in`` can return."""
    return re.fullmatch(_ID, label[0]) is not None and label[1] in {"", label_name(label[1])}


def label_properties(data: bytes) -> list[str]:
    """Return the properties of labels in the list of an office document or the XMP of a PDF, as lines."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    lines: list[str] = []
    try:
        root = etree.fromstring(data if len(data) <= _MOST_BYTES else b"", parser)
    except etree.XMLSyntaxError:  # no XML at all
        return lines
    for element in () if root is None else root.iter("{*}*"):
        if element.tag.endswith("}label"):
            stands = element.get("enabled") in _YES and element.get("removed") not in _YES
            lines.append(f"MSIP_Label_{element.get('id', '').strip('{}')}_Enabled: {stands}")
        named = [(element.tag, element.text or ""), *element.items()]
        fields = ((name.rpartition("}")[2], " ".join(value.split())) for name, value in named)
        lines += [f"{name}: {value}" for name, value in fields if name.startswith("MSIP_Label_")]
    return lines
