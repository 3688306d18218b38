"""What the names of phiscan mean in plain words, and how text and numbers are shown to people."""

from __future__ import annotations

from datetime import UTC, datetime

from phiscan.model import EntityType, FailReason, PiiBit, SkipReason

# Label of each characteristic and its identifier in 45 CFR 164.514(b)(2)(i); "" = not one of the 18.
CHARACTERISTICS: dict[PiiBit, tuple[str, str]] = {
    PiiBit.FIRST_NAME: ("First name", "A"),
    PiiBit.LAST_NAME: ("Last name", "A"),
    PiiBit.SIN: ("Social insurance number", "R"),
    PiiBit.HEALTH_CARD: ("Health card number", "I"),
    PiiBit.PASSPORT: ("Passport number", "R"),
    PiiBit.DRIVER_LICENSE: ("Driver's licence number", "K"),
    PiiBit.ORGANIZATION: ("Organization name", ""),
    PiiBit.STREET_ADDRESS: ("Street address", "B"),
    PiiBit.HEALTH_PROFESSIONAL: ("Health professional", ""),
    PiiBit.PHONE: ("Phone number", "D"),
    PiiBit.EMAIL: ("E-mail address", "F"),
    PiiBit.LOCATION: ("Place or postal code", "B"),
    PiiBit.DATE: ("Date about a person", "C"),
    PiiBit.AGE_OVER_89: ("Age over 89", "C"),
    PiiBit.FAX: ("Fax number", "E"),
    PiiBit.SSN: ("US Social Security number", "G"),
    PiiBit.MRN: ("Medical record number", "H"),
    PiiBit.HEALTH_PLAN: ("Health plan number", "I"),
    PiiBit.ACCOUNT: ("Account number", "J"),
    PiiBit.LICENSE: ("Certificate or licence", "K"),
    PiiBit.VEHICLE: ("Vehicle identifier", "L"),
    PiiBit.DEVICE: ("Device identifier", "M"),
    PiiBit.URL: ("Web address", "N"),
    PiiBit.IP: ("IP address", "O"),
    PiiBit.BIOMETRIC: ("Biometric identifier", "P"),
    PiiBit.OTHER_ID: ("Other identifying number", "R"),
}

ENTITY_TYPES: dict[EntityType, str] = {
    EntityType.PERSON: "Person name",
    EntityType.HEALTH_PROFESSIONAL: "Health professional",
    EntityType.ORGANIZATION: "Organization",
    EntityType.STREET_ADDRESS: "Street address",
    EntityType.LOCATION: "Place",
    EntityType.POSTAL_CODE: "Postal code",
    EntityType.DATE: "Date",
    EntityType.DATE_OF_BIRTH: "Date of birth",
    EntityType.AGE_OVER_89: "Age over 89",
    EntityType.PHONE: "Phone number",
    EntityType.FAX: "Fax number",
    EntityType.EMAIL: "E-mail address",
    EntityType.SIN: "Social insurance number",
    EntityType.SSN: "US Social Security number",
    EntityType.HEALTH_CARD: "Health card number",
    EntityType.PASSPORT: "Passport number",
    EntityType.DRIVER_LICENSE: "Driver's licence number",
    EntityType.MRN: "Medical record number",
    EntityType.HEALTH_PLAN: "Health plan number",
    EntityType.ACCOUNT: "Account number",
    EntityType.CREDIT_CARD: "Payment card number",
    EntityType.LICENSE: "Certificate or licence",
    EntityType.VEHICLE: "Vehicle identifier",
    EntityType.DEVICE: "Device identifier",
    EntityType.URL: "Web address",
    EntityType.IP: "IP address",
    EntityType.BIOMETRIC: "Biometric identifier",
    EntityType.OTHER_ID: "Other identifier",
}

DETECTORS: dict[str, str] = {
    "patterns": "identifiers that rules find, and how many and how dense the health terms are",
    "names": "person names, and how near the health prototypes and cues of a record are",
    "text": "how the text is written, with all of that masked",
    "second_names": "person names by a second family, on a random sample, and the health score",
    "second_names_near": "the same, applied because a name alone would have referred the file",
}

# The rows of the decision table (docs/reference/decision-table.md) in words.
CASES: dict[str, str] = {
    "concept": "health information, and a person with an identifier or a venue (equation 4)",
    "patient_identifier": "health information, and an identifier that singles out one person",
    "birth_date": "health information, and a date of birth",
    "bare_name": "health information, and a person's name alone",
    "contact": "clear health information, and an address, telephone, fax or e-mail",
    "thin_record": "a hint of health information, a name, and a number that only patients have",
    "patient_list": "a hint of health information, and several people with dates of birth",
    "laid_out_as_a_record": "a hint of health information with two terms, a name, and the layout of a record",
    "people_list": "a hint of health information with several terms, and a list of people by name",
    "stored_example": "health information, and exactly the identifiers of a stored example (equation 5)",
    "person_and_health": "a person is identified where that person's health is spoken of",
    "message_of_care": "a message of health care about a patient",
    "health_without_person": "health information, but nobody whom it is about",
    "person_by_name": "a person's name, but no health information",
    "person_by_identifier": "an identifier of a person, but no health information",
    "neither": "neither a person nor health information",
    "names_not_searched": "no health information; the cascade therefore searched no names in it",
}

# Each reason with what it means for the reader, and what can be done about it.
REASONS: dict[str, str] = {
    SkipReason.IGNORED: "named in the operator's ignore file",
    SkipReason.HARD_LINK: "a second name of a file that was read",
    SkipReason.SYMLINK: "a link; links are never followed",
    SkipReason.NOT_REGULAR: "not a file: a pipe, socket or device",
    SkipReason.EMPTY: "nothing in it to read",
    FailReason.ENCRYPTED: "needs a password that phiscan was not given",
    FailReason.CORRUPT: "damaged, or not of the type of its name",
    FailReason.TOO_LARGE: "larger than the limits allow",
    FailReason.TIMED_OUT: "took longer than the limits allow",
    FailReason.OUT_OF_MEMORY: "needed more memory than the limits allow",
    FailReason.CRASHED: "the reader broke down on it",
    FailReason.NO_PERMISSION: "phiscan may not open it",
    FailReason.CHANGED: "changed or vanished while it was read",
    FailReason.UNSUPPORTED: "no reader for this format",
    FailReason.NEEDS_OCR: "only pictures in it: OCR has yet to read them, or is not installed",
    FailReason.IO_ERROR: "the storage reported an error",
    FailReason.NESTED_TOO_DEEP: "containers within containers beyond the limit",
}

FORMATS: dict[str, str] = {
    "application/pdf": "PDF",
    "application/msword": "Word 97 (doc)",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word (docx)",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel (xlsx)",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint (pptx)",
    "application/vnd.ms-excel": "Excel 97 (xls)",
    "application/vnd.ms-powerpoint": "PowerPoint 97 (ppt)",
    "application/vnd.ms-outlook": "Outlook mail (msg)",
    "application/rtf": "Rich text (rtf)",
    "message/rfc822": "E-mail (eml)",
    "text/plain": "Plain text",
    "text/csv": "Table (csv)",
    "text/html": "Web page (html)",
    "application/zip": "Archive (zip)",
    "application/json": "JSON",
    "application/hl7-v2": "HL7 message",
    "image/png": "Picture (png)",
    "image/jpeg": "Picture (jpeg)",
    "image/tiff": "Picture (tiff)",
}


def plain(name: str) -> str:
    """Return an identifier of ours as words.

    >>> plain("no_permission"), plain("io_error")
    ('no permission', 'I/O error')
    """
    return "I/O error" if name == "io_error" else name.replace("_", " ")


def count(value: int) -> str:
    """Write a count with its thousands apart by a space that does not break.

    >>> count(12345).replace("\u202f", " ")
    '12 345'
    """
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def counted(value: int, thing: str) -> str:
    """Write a count and what is counted, in the plural unless it is one.

    >>> counted(1, "file"), counted(2, "file")
    ('1 file', '2 files')
    """
    return f"{count(value)} {thing}{'' if value == 1 else 's'}"


def waiting_for_ocr(n_files: int, n_parts: int) -> str:
    """Write how many files wait for the second pass of a scan, and how much there is to read in them.

    >>> waiting_for_ocr(2, 30), waiting_for_ocr(1, 1)
    ('2 files with 30 pages and pictures wait for OCR', '1 file with 1 page or picture waits for OCR')
    """
    parts = "1 page or picture" if n_parts == 1 else f"{count(n_parts)} pages and pictures"
    return f"{counted(n_files, 'file')} with {parts} {'waits' if n_files == 1 else 'wait'} for OCR"


def share(value: float) -> str:
    """Write a share in [0, 1] as a percentage that never rounds to a false 0% or 100%.

    >>> share(0.5772), share(0.0), share(0.00002), share(0.99999)
    ('57.7%', '0%', '<0.1%', '>99.9%')
    """
    if value in {0.0, 1.0}:
        return f"{value:.0%}"
    if value < 0.0005:  # noqa: PLR2004 (rounds to 0.0%)
        return "<0.1%"
    if value > 0.9995:  # noqa: PLR2004 (rounds to 100.0%)
        return ">99.9%"
    return f"{value:.1%}"


def number(value: float) -> str:
    """Write an estimated number with the digits that mean something.

    >>> number(3.14159), number(484.7619).replace("\u202f", " "), number(12345.6).replace("\u202f", " ")
    ('3.14', '484.8', '12 346')
    >>> number(0.0021)
    '0.0021'
    """
    if value == round(value) or not -1000 < value < 1000:  # noqa: PLR2004
        return count(round(value))
    if 0 < abs(value) < 0.1:  # noqa: PLR2004
        return f"{value:.2g}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"  # noqa: PLR2004


def ratio(value: float) -> str:
    """Write a ratio or an area with three decimals, which is what small samples can tell apart.

    >>> ratio(0.98765), ratio(-0.0321)
    ('0.988', '-0.032')
    """
    return f"{value:.3f}"


_SIGNS = {" - ": " \N{MINUS SIGN} ", "(-": "(\N{MINUS SIGN}", " / ": " \N{DIVISION SLASH} "}


def formula(text: str) -> str:
    """Write a formula with the signs of print.

    >>> formula("1 - a / b").isascii()
    False
    """
    for typed, printed in _SIGNS.items():
        text = text.replace(typed, printed)
    return text


def moment(value: datetime) -> str:
    """Write a time in UTC, to the minute.

    >>> moment(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '2026-03-01 09:05 UTC'
    """
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def size(n_bytes: int) -> str:
    """Write a number of bytes in the unit that fits.

    >>> size(999), size(12_345_678)
    ('999 bytes', '12.3 MB')
    """
    for limit, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= limit:
            return f"{n_bytes / limit:.1f} {unit}"
    return f"{n_bytes} bytes"


def duration(seconds: float) -> str:
    """Write a duration in the units that fit.

    >>> duration(4.26), duration(61), duration(7322)
    ('4.3 s', '1 min 1 s', '2 h 2 min')
    """
    if seconds < 60:  # noqa: PLR2004
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
