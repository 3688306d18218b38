"""Displayed names of phiscan's codes, and formatting of text and numbers for display."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from phiscan.language import (
    Lazy,
    count,
    current,
    lazy_decimal,
    lazy_join,
    lazy_ngettext,
    mark_plural,
    pgettext,
)
from phiscan.language import lazy_gettext as _
from phiscan.model import NOT_COVERED, TITLED, EntityType, FailReason, PiiBit, ReaderCount, SkipReason
from phiscan.review.worklist.model import Exposure

CODE: Final = "code"
"""The context of these words in the catalogues."""

_CODES = """
states of a scan and outcomes of a file: complete, running, stopped, interrupted, screened, unchanged
more: skipped, failed
rules of skipping: ignored, hard link, symlink, not regular, empty
reasons of failures: encrypted, corrupt, too large, timed out, out of memory, crashed, no permission
reasons of failures: changed, unsupported, needs ocr, I/O error, nested too deep, sampled
exposures: everyone, group, owner, unknown
roles: reader, reviewer, lead, auditor, admin
permissions and scopes: public, signed in, see queue, see scans, decide, correct, propose suppression
more: reveal, find person, assign, adjudicate, approve suppression, export, read report, read incident
more: edit incident, decide incident, own files, read log, sign log, unlock, manage users, read
actions of the audit log: activate model, carry, complete spans, correct span, correct topics, digest scan
more: draw sample, hold, incident, learn, lift suppression, log review, patients, policy, purge
more: second review, second verdict, suppress, undo, use key, user add, user role, user password
more: user disable, user enable, user lock, user unlock, sign in, sign in failed, sign out, sessions revoke
more: token make, token revoke, second factor
details of the audit log: file, verdict, scan, value, kind, mark, rows, entries, examinations, cause, head
more: hide limit, log through, n hidden, n queued, n sampled, n unreferred, needs approval
more: second verdict id, reason, field, role, address, what, count, place, label, scopes, by, event
detectors: patterns, names, text
cases of a decision: concept, stored example, person and health, message of care, file name
cases of a decision: title and content, language not covered, health without person, person by name
cases of a decision: person by identifier, neither, names not searched
states of a suppression, a task and a mark: active, waiting, lifted, ended, expired, open, assessed
more: reported, closed, overdue, gone, restricted, right, wrong type, wrong extent, spurious, missed
more: withdrawn, phi, not phi, unsure, undecided, yes
ways of counting spans: strict, exact, partial, type
identifiers of 45 CFR 164.514(b)(2)(i): (A) Names, (B) Geographic subdivisions, (C) Dates and ages over 89
more: (D) Telephone numbers, (E) Fax numbers, (F) Email addresses, (G) Social security numbers
more: (H) Medical record numbers, (I) Health plan beneficiary numbers, (J) Account numbers
more: (K) Certificate and license numbers, (L) Vehicle identifiers, (M) Device identifiers, (N) URLs
more: (O) IP addresses, (P) Biometric identifiers, (R) Other unique identifiers
errors in fields of a form, and the fields: missing, greater than equal, less than equal, int parsing
more: float parsing, bool parsing, string too long, string too short, too long, enum, literal error
more: value error, name, language, position, start, end, entity type, seen, token, purpose, list, days
more: scope, until, where, number, body, action, day
ways of signing in: password, provider, code, no
"""  # what they are, and the codes
CODES: Final = frozenset(
    code for line in _CODES.strip().split("\n") for code in line.partition(": ")[2].split(", ")
)
"""Identifiers as words, which scripts/messages.py puts into the catalogues."""


__all__ = ["count"]

# Label of each type, and a short one for a masked value.
_TYPES: Final[dict[EntityType, tuple[str, str]]] = {
    EntityType.PERSON: (_("Person name"), _("name")),
    EntityType.HEALTH_PROFESSIONAL: (_("Health professional"), _("professional")),
    EntityType.ORGANIZATION: (_("Organization"), _("organization")),
    EntityType.STREET_ADDRESS: (_("Street address"), _("address")),
    EntityType.LOCATION: (_("Place"), _("place")),
    EntityType.POSTAL_CODE: (_("Postal code"), _("postal code")),
    EntityType.DATE: (_("Date"), _("date")),
    EntityType.DATE_OF_BIRTH: (_("Date of birth"), _("birth date")),
    EntityType.AGE_OVER_89: (_("Age over 89"), _("age")),
    EntityType.PHONE: (_("Phone number"), _("phone")),
    EntityType.FAX: (_("Fax number"), _("fax")),
    EntityType.EMAIL: (_("E-mail address"), _("e-mail")),
    EntityType.SIN: (_("Social insurance number"), _("SIN")),
    EntityType.SSN: (_("US Social Security number"), _("SSN")),
    EntityType.HEALTH_CARD: (_("Health card number"), _("health card")),
    EntityType.PASSPORT: (_("Passport number"), _("passport")),
    EntityType.DRIVER_LICENSE: (_("Driver's licence number"), _("driver's licence")),
    EntityType.MRN: (_("Medical record number"), _("record number")),
    EntityType.HEALTH_PLAN: (_("Health plan number"), _("health plan")),
    EntityType.ACCOUNT: (_("Account number"), _("account")),
    EntityType.CREDIT_CARD: (_("Payment card number"), _("payment card")),
    EntityType.LICENSE: (_("Certificate or licence"), _("licence")),
    EntityType.VEHICLE: (_("Vehicle identifier"), _("vehicle")),
    EntityType.DEVICE: (_("Device identifier"), _("device")),
    EntityType.URL: (_("Web address"), _("web address")),
    EntityType.IP: (_("IP address"), _("IP address")),
    EntityType.BIOMETRIC: (_("Biometric identifier"), _("biometric")),
    EntityType.OTHER_ID: (_("Other identifier"), _("other number")),
}
ENTITY_TYPES: Final[dict[EntityType, str]] = {kind: label for kind, (label, _short) in _TYPES.items()}
SHORT_TYPES: Final[dict[EntityType, str]] = {kind: short for kind, (_label, short) in _TYPES.items()}

# Characteristics with another label than the type of their name, and the letters of 45 CFR 164.514(b)(2)(i).
_BITS: Final[dict[PiiBit, str]] = {
    PiiBit.FIRST_NAME: _("First name"),
    PiiBit.LAST_NAME: _("Last name"),
    PiiBit.ORGANIZATION: _("Organization name"),
    PiiBit.LOCATION: _("Place or postal code"),
    PiiBit.DATE: _("Date about a person"),
    PiiBit.OTHER_ID: _("Other identifying number"),
}
_LETTERS: Final = dict(zip(PiiBit, "AARIRK-B-DFBCCEGHIJKLMNOPR", strict=True))  # "-" = not one of the 18
# Label of each characteristic and its identifier in 45 CFR 164.514(b)(2)(i); "" = not one of the 18.
CHARACTERISTICS: Final[dict[PiiBit, tuple[str, str]]] = {
    bit: (_BITS.get(bit) or ENTITY_TYPES[EntityType[bit.name]], _LETTERS[bit].strip("-")) for bit in PiiBit
}

DETECTORS: dict[str, str] = {
    "patterns": _("identifiers that rules find, and how many and how dense the health terms are"),
    "names": _("person names, and how near the health prototypes and cues of a record are"),
    "text": _("how the text is written, with all of that masked"),
}

# The cases of a decision (docs/reference/decision-table.md) in words.
CASES: dict[str, str] = {
    "concept": _("health information, and a person with an identifier or a venue (equation 4)"),
    "stored_example": _("health information, and exactly the identifiers of a stored example (equation 5)"),
    "person_and_health": _("the probability of PHI of its strongest passage reaches the threshold"),
    TITLED: _("health information by its words below the names of its file and folders"),
    "file_name": _("the names of file, folder or member name a person beside an illness or care"),
    NOT_COVERED: _("a part of it is in a language or script that is not read"),
    "message_of_care": _("a message of health care about a patient"),
    "health_without_person": _("health information, but nobody whom it is about"),
    "person_by_name": _("a person's name, but no health information"),
    "person_by_identifier": _("an identifier of a person, but no health information"),
    "neither": _("neither a person nor health information"),
    "names_not_searched": _("no health information; the cascade therefore searched no names in it"),
}

# Each failure reason with its consequence for the reader, and the remedy.
REASONS: dict[str, str] = {
    SkipReason.IGNORED: _("named in the operator's ignore file"),
    SkipReason.HARD_LINK: _("a second name of a file that was read"),
    SkipReason.SYMLINK: _("a link; links are never followed"),
    SkipReason.NOT_REGULAR: _("not a file: a pipe, socket or device"),
    SkipReason.EMPTY: _("nothing in it to read"),
    FailReason.ENCRYPTED: _("needs a password that phiscan was not given"),
    FailReason.CORRUPT: _("damaged, or not of the type of its name"),
    FailReason.TOO_LARGE: _("larger than the limits allow"),
    FailReason.TIMED_OUT: _("took longer than the limits allow"),
    FailReason.OUT_OF_MEMORY: _("needed more memory than the limits allow"),
    FailReason.CRASHED: _("the reader broke down on it"),
    FailReason.NO_PERMISSION: _("phiscan may not open it"),
    FailReason.CHANGED: _("changed or vanished while it was read"),
    FailReason.UNSUPPORTED: _("no reader for this format"),
    FailReason.NEEDS_OCR: _("only pictures in it: OCR has yet to read them, or is not installed"),
    FailReason.IO_ERROR: _("the storage reported an error"),
    FailReason.NESTED_TOO_DEEP: _("containers within containers beyond the limit"),
    NOT_COVERED: _("a part of it is in a language or script that is not read"),
    FailReason.SAMPLED: _("a long text or a large table, referred by samples of it; the rest was left out"),
}

FORMATS: dict[str, str] = {
    "application/pdf": "PDF",
    "application/msword": _("Word 97 (doc)"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": _("Word (docx)"),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": _("Excel (xlsx)"),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": _("PowerPoint (pptx)"),
    "application/vnd.ms-excel": _("Excel 97 (xls)"),
    "application/vnd.ms-powerpoint": _("PowerPoint 97 (ppt)"),
    "application/vnd.ms-outlook": _("Outlook mail (msg)"),
    "application/rtf": _("Rich text (rtf)"),
    "message/rfc822": _("E-mail (eml)"),
    "text/plain": _("Plain text"),
    "text/csv": _("Table (csv)"),
    "application/x-ndjson": _("JSON lines"),
    "text/html": _("Web page (html)"),
    "application/zip": _("Archive (zip)"),
    "application/json": "JSON",
    "application/hl7-v2": _("HL7 message"),
    "image/png": _("Picture (png)"),
    "image/jpeg": _("Picture (jpeg)"),
    "image/tiff": _("Picture (tiff)"),
}


def plain(name: str) -> str:
    """Return an identifier as words.

    >>> plain("no_permission"), plain("io_error")
    ('no permission', 'I/O error')
    """
    return Lazy(_plain, name)


def _plain(name: str) -> str:
    text = "I/O error" if name == "io_error" else str(name).replace("_", " ")
    return pgettext(CODE, text) if text in CODES else text


_THINGS = {
    "file": mark_plural("{n} file", "{n} files"),
    "such file": mark_plural("{n} such file", "{n} such files"),
    "other file": mark_plural("{n} other file", "{n} other files"),
    "part": mark_plural("{n} part", "{n} parts"),
}


def counted(value: int, thing: str) -> str:
    """Format a count with its noun, in the plural unless it is one.

    >>> counted(1, "file"), counted(2, "file")
    ('1 file', '2 files')
    """
    return lazy_ngettext(*_THINGS[thing], value)


def waiting_for_ocr(n_files: int, n_parts: int) -> str:
    """Format the number of files that wait for OCR, and of their pages.

    >>> waiting_for_ocr(2, 30), waiting_for_ocr(1, 1)
    ('2 files with 30 pages and pictures wait for OCR', '1 file with 1 page or picture waits for OCR')
    """
    parts = lazy_ngettext("{n} page or picture", "{n} pages and pictures", n_parts)
    return lazy_ngettext(
        "{n} file with {parts} waits for OCR", "{n} files with {parts} wait for OCR", n_files, parts=parts
    )


_NOT_SCREENED = re.compile(
    r"not screened: (\d{1,3}) % of its text \(([\d,]{1,30}) of ([\d,]{1,30}) characters\)"
)


def part_detail(detail: str) -> str:
    """Translate the technical detail of an unread part if it is the share of a text that was left out.

    >>> part_detail("not screened: 97 % of its text (97 of 100 characters)"), part_detail("at byte 7")
    ('not screened: 97 % of its text (97 of 100 characters)', 'at byte 7')
    """
    if not (found := _NOT_SCREENED.fullmatch(detail)):
        return detail
    n_left_out, n_chars = (int(digits.replace(",", "")) for digits in found.groups()[1:])
    return _(
        "not screened: {share} % of its text ({n_left_out} of {n_chars} characters)",
        share=found[1],
        n_left_out=count(n_left_out),
        n_chars=count(n_chars),
    )


def share(value: float) -> str:
    """Format a share in [0, 1] as a percentage, never rounded to a false 0% or 100%.

    >>> share(0.5772), share(0.0), share(0.00002), share(0.99999)
    ('57.7%', '0%', '<0.1%', '>99.9%')
    """
    if value in {0.0, 1.0}:
        return lazy_decimal(f"{value:.0%}")
    if value < 0.0005:  # noqa: PLR2004 (rounds to 0.0%)
        return lazy_decimal("<0.1%")
    if value > 0.9995:  # noqa: PLR2004 (rounds to 100.0%)
        return lazy_decimal(">99.9%")
    return lazy_decimal(f"{value:.1%}")


def number(value: float) -> str:
    """Format an estimated number with its significant digits.

    >>> number(3.14159), number(484.7619).replace("\u202f", " "), number(12345.6).replace("\u202f", " ")
    ('3.14', '484.8', '12 346')
    >>> number(0.0021)
    '0.0021'
    """
    if value == round(value) or not -1000 < value < 1000:  # noqa: PLR2004
        return count(round(value))
    if 0 < abs(value) < 0.1:  # noqa: PLR2004
        return lazy_decimal(f"{value:.2g}")
    return lazy_decimal(f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}")  # noqa: PLR2004


def ratio(value: float) -> str:
    """Format a ratio or an area with three decimals, the resolution of small samples.

    >>> ratio(0.98765), ratio(-0.0321)
    ('0.988', '-0.032')
    """
    return lazy_decimal(f"{value:.3f}")


_SIGNS = {" - ": " \N{MINUS SIGN} ", "(-": "(\N{MINUS SIGN}", " / ": " \N{DIVISION SLASH} "}


def formula(text: str) -> str:
    """Format a formula with typographic signs.

    >>> formula("1 - a / b").isascii()
    False
    """
    for typed, printed in _SIGNS.items():
        text = text.replace(typed, printed)
    return text


def moment(value: datetime) -> str:
    """Format a time in UTC, to the minute.

    >>> moment(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '2026-03-01 09:05 UTC'
    """
    return Lazy(_moment, value)


def _moment(value: datetime) -> str:
    utc = value.astimezone(UTC)
    if current() == "fr":
        return f"{utc:%Y-%m-%d} \N{LATIN SMALL LETTER A WITH GRAVE} {utc.hour} h {utc:%M} UTC"
    return f"{utc:%Y-%m-%d %H:%M} UTC"


_UNITS = ((10**12, _("TB")), (10**9, _("GB")), (10**6, _("MB")), (10**3, _("kB")))


def size(n_bytes: int) -> str:
    """Format a number of bytes with a suitable unit.

    >>> size(999), size(12_345_678)
    ('999 bytes', '12.3 MB')
    """
    for limit, unit in _UNITS:
        if n_bytes >= limit:
            return lazy_join(" ", [lazy_decimal(f"{n_bytes / limit:.1f}"), unit])
    return lazy_ngettext("{n} byte", "{n} bytes", n_bytes)


def duration(seconds: float) -> str:
    """Format a duration with suitable units.

    >>> duration(4.26), duration(61), duration(7322)
    ('4.3 s', '1 min 1 s', '2 h 2 min')
    """
    if seconds < 60:  # noqa: PLR2004
        return lazy_decimal(f"{seconds:.1f} s")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


EXPOSURES: dict[Exposure, str] = {
    Exposure.EVERYONE: _("everyone who reaches the share"),
    Exposure.GROUP: _("a group, or several people by name"),
    Exposure.OWNER: _("its owner only"),
    Exposure.UNKNOWN: _("not known: the share does not report it"),
}

READER_NOTES: dict[str, str] = {
    "open": _("open to anyone with the link, or with an account of the service"),
    "no_directory": _("no directory of accounts has been read"),
    "not_told": _("the share does not report who can read it"),
    "group": _("members of a group are not known"),
    "account": _("an account is not in the directory"),
    "share": _("the permission of the share itself is not known"),
    "parents": _("who may enter its folders is not certain"),
}
"""Why the number of people who can read a file is not known, or only between two numbers."""


def reader_words(found: ReaderCount) -> str:
    """Return the number of people who can read a file, and what is not known of it.

    >>> known = ReaderCount(low=95, high=230, n_accounts=230, notes=("group",), counted=datetime.now(UTC))
    >>> reader_words(known)
    '95 to 230 people; members of a group are not known'
    """
    why = "; ".join(f"{text}" for code, text in READER_NOTES.items() if code in found.notes)
    low, high = found.low, found.high
    if high is None:
        words = lazy_ngettext("at least {n} person", "at least {n} people", low) if low else _("not known")
    elif low == high:
        words = lazy_ngettext("{n} person", "{n} people", high)
        words = _("everyone in the directory, {n}", n=words) if high == found.n_accounts > 1 else words
    elif not low:
        words = lazy_ngettext("at most {n} person", "at most {n} people", high)
    else:
        words = _("{low} to {high} people", low=count(low), high=count(high))
    return f"{words}; {why}" if why else f"{words}"
