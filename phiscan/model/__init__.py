"""The frozen types that flow from the crawler to the report; no input or output here.

crawl -> SourceFile -> extract -> Document -> screen -> Screening -> classify -> HealthScore
-> Examination -> FileResult -> review.

Nothing in this package ever shows document text in its ``repr``: a traceback or a log line that
prints one of these objects must not become a leak.
"""

from __future__ import annotations

import stat
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import os


class Outcome(StrEnum):
    """The outcome of a crawled file; exactly one of these."""

    SCREENED = "screened"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


class SkipReason(StrEnum):
    """The rule by which a file was skipped."""

    IGNORED = "ignored"  # a line of the operator's .phiscanignore
    HARD_LINK = "hard_link"  # same inode as a file already crawled in this scan
    SYMLINK = "symlink"  # never followed
    NOT_REGULAR = "not_regular"  # FIFO, socket, device
    EMPTY = "empty"  # size 0


class FailReason(StrEnum):
    """Why a file, or a part of one, could not be read."""

    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    NO_PERMISSION = "no_permission"
    CHANGED = "changed"  # changed or vanished while it was read
    UNSUPPORTED = "unsupported"
    NEEDS_OCR = "needs_ocr"  # it has only pictures, and no OCR is installed
    IO_ERROR = "io_error"
    NESTED_TOO_DEEP = "nested_too_deep"
    SAMPLED = "sampled"  # a part of a long text that was left out between samples; the file is referred


OCR_PENDING = "not yet read by OCR"  # detail of files that the first pass of a scan leaves to the second


class EntityType(StrEnum):
    """The types of identifiers that the screener reports (the span types of ``screen``; names are fixed)."""

    PERSON = "PERSON"
    HEALTH_PROFESSIONAL = "HEALTH_PROFESSIONAL"
    ORGANIZATION = "ORGANIZATION"
    STREET_ADDRESS = "STREET_ADDRESS"
    LOCATION = "LOCATION"
    POSTAL_CODE = "POSTAL_CODE"
    DATE = "DATE"
    DATE_OF_BIRTH = "DATE_OF_BIRTH"
    AGE_OVER_89 = "AGE_OVER_89"
    PHONE = "PHONE"
    FAX = "FAX"
    EMAIL = "EMAIL"
    SIN = "SIN"
    SSN = "SSN"
    HEALTH_CARD = "HEALTH_CARD"
    PASSPORT = "PASSPORT"
    DRIVER_LICENSE = "DRIVER_LICENSE"
    MRN = "MRN"
    HEALTH_PLAN = "HEALTH_PLAN"
    ACCOUNT = "ACCOUNT"
    CREDIT_CARD = "CREDIT_CARD"
    LICENSE = "LICENSE"
    VEHICLE = "VEHICLE"
    DEVICE = "DEVICE"
    URL = "URL"
    IP = "IP"
    BIOMETRIC = "BIOMETRIC"
    OTHER_ID = "OTHER_ID"


class PiiBit(StrEnum):
    """One PII characteristic of a file.

    The first eleven are those of Sokolova & El Emam (2008), eq. 4; the rest are the remaining HIPAA
    Safe Harbor identifiers, 45 CFR 164.514(b)(2). The order is the bit order and is never changed:
    it is stored in databases.
    """

    FIRST_NAME = "FirstName"
    LAST_NAME = "LastName"
    SIN = "SIN"
    HEALTH_CARD = "HealthCardN"
    PASSPORT = "PassportN"
    DRIVER_LICENSE = "DriverLicenseN"
    ORGANIZATION = "OrganizationName"
    STREET_ADDRESS = "StreetAddress"
    HEALTH_PROFESSIONAL = "HealthProfessionalName"
    PHONE = "PhoneNumber"
    EMAIL = "Email"
    LOCATION = "Location"
    DATE = "Date"
    AGE_OVER_89 = "AgeOver89"
    FAX = "FaxNumber"
    SSN = "SSN"
    MRN = "MedicalRecordN"
    HEALTH_PLAN = "HealthPlanN"
    ACCOUNT = "AccountN"
    LICENSE = "LicenseN"
    VEHICLE = "VehicleN"
    DEVICE = "DeviceN"
    URL = "URL"
    IP = "IPAddress"
    BIOMETRIC = "Biometric"
    OTHER_ID = "OtherID"


ALL_PII_BITS: tuple[PiiBit, ...] = tuple(PiiBit)

# The types whose characteristic has another name; a person's characteristics depend on the parts of the name.
_OTHER_NAMES = {
    EntityType.POSTAL_CODE: "LOCATION",
    EntityType.DATE_OF_BIRTH: "DATE",
    EntityType.CREDIT_CARD: "ACCOUNT",
}


def bits_of(entity_type: EntityType) -> frozenset[PiiBit]:
    """Return the PII characteristics that a finding of this type shows (a person's depend on its parts)."""
    bit = PiiBit.__members__.get(_OTHER_NAMES.get(entity_type, entity_type.name))
    return frozenset() if bit is None else frozenset({bit})


_PII_BIT_INDEX = {bit: index for index, bit in enumerate(ALL_PII_BITS)}


class Referral(StrEnum):
    """The pipeline's decision on a screened file (``decision`` in the JSON of the contract)."""

    REFERRED = "referred"
    PII_ONLY = "pii_only"
    HEALTH_ONLY = "health_only"
    CLEAR = "clear"


class Verdict(StrEnum):
    """A reviewer's verdict on a file."""

    PHI = "phi"
    NOT_PHI = "not_phi"
    UNSURE = "unsure"


class Search(StrEnum):
    """Which recognizers ran on a file, and why: the expensive ones run only where they could refer it."""

    EVERYTHING = "everything"  # all of them, because the cascade is off
    NEEDED = "needed"  # all of them, because their findings could refer the file
    AUDIT = "audit"  # all of them, because the file is in the audit sample of the others
    LEFT_OUT = "left_out"  # the cheap ones only


@dataclass(frozen=True, slots=True)
class PiiVector:
    """The PII characteristics present in a file, one bit each, in the order of ``PiiBit``."""

    bits: frozenset[PiiBit] = frozenset()

    def to_int(self) -> int:
        """Pack into an integer, the first characteristic in the lowest bit (for storage)."""
        return sum(1 << _PII_BIT_INDEX[bit] for bit in self.bits)

    @classmethod
    def from_int(cls, packed: int) -> Self:
        """Unpack an integer of ``to_int``."""
        return cls(frozenset(b for b, i in _PII_BIT_INDEX.items() if packed >> i & 1))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bits that are set, in bit order."""
        return tuple(bit.value for bit in ALL_PII_BITS if bit in self.bits)

    def hamming(self, other: PiiVector) -> int:
        """Return the number of differing bits. Source: Sokolova & El Emam (2008), eq. 5."""
        return len(self.bits ^ other.bits)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points ``[start, end)`` of ``Document.text``.

    Every offset in phiscan is one of these: code points, not bytes and not UTF-16 units.

    >>> Span(2, 5).n_chars
    3
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        """Raise ValueError for an empty or reversed range."""
        if not 0 <= self.start < self.end:
            message = f"a span needs 0 <= start < end, got [{self.start}, {self.end})"
            raise ValueError(message)

    @property
    def n_chars(self) -> int:
        """The number of code points covered."""
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the text covered by this span."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Return whether the two ranges share a code point."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Span) -> bool:
        """Return whether ``other`` is entirely inside this range."""
        return self.start <= other.start and other.end <= self.end


def within_64_bits(number: int) -> int:
    """Return the nearest number that a signed 64-bit column holds, whatever its sign."""
    return max(1 - 2**63, min(2**63 - 1, number))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A crawled file: its path, and its metadata in the file system at that time.

    ``root`` and ``path`` are raw bytes, exactly as in the file system; ``path`` is relative to ``root``.
    ``display`` is readable text also for names that are not UTF-8.
    """

    root: bytes
    path: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    mode: int = 0
    uid: int = 0
    owner: str = ""  # name of the owner on the share; "" when unknown
    readers: tuple[str, ...] = ()  # who may read it: "everyone", "group NAME", "user NAME"
    # A random sample of a table was fetched: how many rows, of how many; None = nothing is left out.
    sampled_rows: tuple[int, int] | None = field(default=None, compare=False)
    # Screened contents of this size, each "HASH MEDIA_TYPE": the result of an equal one is reused.
    duplicates: tuple[str, ...] = field(default=(), compare=False, repr=False)
    without_ocr: bool = field(default=False, compare=False, repr=False)  # pictures are left to a second pass
    # Why it is not opened (a ``SkipReason`` or ``FailReason``): its name alone is judged. "" = it is read.
    unopened: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Clamp size and times to the 64 bits that are stored: servers and disks can say the year 9999."""
        numbers = (self.size, self.mtime_ns, self.ctime_ns)
        if max(numbers) >= 2**63 or min(numbers) <= -(2**63):
            for name, number in zip(("size", "mtime_ns", "ctime_ns"), numbers, strict=True):
                object.__setattr__(self, name, within_64_bits(number))

    @classmethod
    def of(cls, root: bytes, path: bytes, info: os.stat_result) -> Self:
        """Return a local file from its path and ``lstat`` result."""
        numbers = (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_dev)
        return cls(root, path, *numbers, mode=stat.S_IMODE(info.st_mode), uid=info.st_uid)

    @property
    def absolute(self) -> bytes:
        """The raw path to open."""
        return self.root.rstrip(b"/") + b"/" + self.path

    @property
    def display(self) -> str:
        r"""The relative path as text; bytes that are not UTF-8 appear as ``\xNN``."""
        return self.path.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of ``Document.text`` and its origin.

    ``locator`` is the path through every container, outermost first, joined by ``!/``; a position inside a
    document follows ``#``: ``mail.eml!/scan.zip!/a.docx#p3``. It does not include the name of the crawled
    file: the locator of a plain text file is the empty string.
    """

    locator: str
    start: int
    end: int


# Locators of the crawled file's name, and of folder names with a person's name. They are not part of the
# content: files with equal content and different names have different results.
FILE_NAME, FOLDER_NAME = "#filename", "#folder"

OWN_NAMES = (FILE_NAME, FOLDER_NAME)


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of a file that could not be read (a member of an archive, an attachment, a page)."""

    locator: str
    reason: FailReason
    detail: str = ""

    @property
    def is_sampled(self) -> bool:
        """Whether the part lies between the samples of a long, referred text; it was left out by design."""
        return self.reason is FailReason.SAMPLED


Label = tuple[str, str]
"""A sensitivity label of the organization: its id, and its name or ""."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one file with the origin of each part; segments are in text order."""

    text: str = field(repr=False)
    segments: tuple[Segment, ...]
    media_type: str
    unread: tuple[UnreadPart, ...] = ()
    content_hash: str = ""  # blake3 of the file's bytes, hex
    declared_type: str = ""  # type by the file's name, if the content has another type
    n_chars_unread: int = 0  # estimated number of characters that were left out of a long text
    members: tuple[str, ...] = ()  # locators of the members of a container, also of those without text
    sampled_rows: tuple[int, int] | None = None  # that of the file: its text is of rows drawn at random
    labels: tuple[Label, ...] = ()  # sensitivity labels of the file itself

    def locate(self, offset: int) -> str:
        """Return the locator of the segment with the code point at ``offset``."""
        at = bisect_right(self.segments, offset, key=attrgetter("end"))
        return self.segments[at].locator if at < len(self.segments) else ""


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of a finding's score: the rule, a context word, a validator, a veto.

    ``detail`` never holds document text, only names from the rules and dictionaries.
    """

    kind: str  # "rule", "context", "check", "gazetteer", "label", "title", "place", "role", "doubt", ...
    detail: str
    score: float  # the score after this step


@dataclass(frozen=True, slots=True)
class Finding:
    """One identifier in a document: span, type and reasons; never its value."""

    span: Span
    entity_type: EntityType
    source: str  # rule id or recognizer id
    score: float  # in [0, 1]
    bits: frozenset[PiiBit]  # the PII characteristics that it shows
    reasons: tuple[Reason, ...] = ()
    priority: int | None = None  # among overlapping findings, in thousandths; None: by its confidence

    @property
    def rank(self) -> float:
        """The place among overlapping findings, in thousandths: the priority, else the confidence."""
        return 1000 * self.score if self.priority is None else self.priority

    @property
    def is_doubtful(self) -> bool:
        """Whether its confidence is too low: it identifies no person, and decisions ignore it."""
        return not self.bits and any(reason.kind == "doubt" for reason in self.reasons)

    def set_aside(self, kind: str, detail: str) -> Finding:
        """Return the finding without PII characteristics, with this additional reason."""
        return replace(self, bits=frozenset(), reasons=(*self.reasons, Reason(kind, detail, self.score)))

    def was_set_aside(self, detail: str) -> bool:
        """Return whether it was set aside for this reason."""
        return any(reason.detail == detail for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Screening:
    """The screening result of one document."""

    findings: tuple[Finding, ...]
    vector: PiiVector
    hamming: int  # number of missing bits to satisfy eq. 4; 0 = satisfied
    missing: tuple[PiiBit, ...]  # one smallest set of bits that would satisfy eq. 4
    nearest_prototype: str  # name of the nearest stored prototype (eq. 5)
    prototype_distance: int  # plain Hamming distance to it
    n_people: int  # distinct people at risk, an estimate
    people_interval: tuple[int, int] | None = None  # 95 % interval of it; None if the whole text was examined

    @property
    def counted(self) -> tuple[Finding, ...]:
        """The findings used by decisions: all but the doubtful ones."""
        return tuple(finding for finding in self.findings if not finding.is_doubtful)


@dataclass(frozen=True, slots=True)
class TermHit:
    """A health term in the document: its span and concept id, never the text."""

    span: Span
    concept: str


@dataclass(frozen=True, slots=True)
class WindowBag:
    """The bag of dictionary ids of the window that decided a document's health score."""

    n_chars: int
    counts: tuple[tuple[str, int], ...]  # concept, kind or cue, and its count; never a word of the text


@dataclass(frozen=True, slots=True)
class HealthScore:
    """The score of a document as health information about a person, and its health terms."""

    score: float  # in [0, 1]; 0.5 is the threshold learned from the prototypes
    distance: float | None  # Euclidean distance to the k-th nearest prototype; None without terms
    nearest_prototype: str  # name of the nearest prototype, "" without terms
    terms: tuple[TermHit, ...]
    window: WindowBag | None = None  # None if no window was scored
    by_concepts: float = 0.0  # the score by concepts and cues alone, for detector B


@dataclass(frozen=True, slots=True)
class PatientMatch:
    """One of the organization's own patients in a document: opaque number, kind and span; never a value."""

    patient: int  # opaque number, as in the organization's own list
    kind: str  # matched values: "record", "card", "name_birth", ..., "rare_name"
    span: Span
    locator: str = ""
    is_canary: bool = False  # an invented record, planted to detect leaks


@dataclass(frozen=True, slots=True)
class PatientCheck:
    """The result of comparing a document with the patient index."""

    index_id: str  # build of the index
    matches: tuple[PatientMatch, ...] = ()
    n_patients: int = 0  # distinct, by a strong key or a pair
    n_rare_names: int = 0  # further ones, by a rare name alone
    n_lookups: int = 0
    expected_by_chance: float = 0.0  # expected number of false matches


TITLED = "title_and_content"  # referred by its content below what its file and folders are called
NOT_COVERED = "language_not_covered"  # why a file that was read is not clean: its language is not


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a file: the referral, P(PHI), and the reasons."""

    referral: Referral
    case: str  # its name; docs/reference/decision-table.md
    probability: float  # P(PHI) at the configured prevalence
    log_odds: float = 0.0  # the same before the reviewers' correction
    # The largest contributions to the log-odds; before them the kind of a message of care.
    reasons: tuple[tuple[str, float], ...] = ()
    passage: Span | None = None  # the strongest passage
    second_look: bool = False  # not referred, but marked by a detector
    evidence: tuple[tuple[str, int], ...] = ()  # what the file holds besides the health score
    patient_log_odds: float = 0.0  # log-odds added by matches with the organization's own patients


@dataclass(frozen=True, slots=True)
class Examination:
    """The results of screening and classification of one document."""

    screening: Screening
    health: HealthScore
    decision: Decision
    detectors: tuple[tuple[str, bool], ...]  # verdict "is this PHI" of each independent detector
    search: Search = Search.EVERYTHING
    # P(PHI) by each detector alone, at the configured prevalence
    detector_probabilities: tuple[tuple[str, float], ...] = ()
    patients: PatientCheck | None = None  # None = there is no index of the organization's own patients

    @property
    def referral(self) -> Referral:
        """The referral of the file."""
        return self.decision.referral

    @property
    def case(self) -> str:
        """The name of the decision's case."""
        return self.decision.case


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding as stored: position, type, masked shape, keyed hash."""

    span: Span
    locator: str
    entity_type: EntityType
    source: str
    score: float
    reasons: tuple[Reason, ...]
    preview: str  # the shape of the value, letters and digits masked
    identity: str  # HMAC-SHA256(key, entity_type + normalised value), hex
    words: bytes = b""  # of a name: the first bytes of the keyed hash of each of its words


@dataclass(frozen=True, slots=True)
class StoredTerm:
    """Occurrences of one health concept in a file, as stored."""

    concept: str
    count: int
    first: Span
    locator: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """The recorded outcome of a crawled file, as sent from a worker to the parent process.

    ``reason`` is "" for a screened file, else a ``SkipReason`` or ``FailReason`` value.
    The examination's numbers are None unless the outcome is screened.
    """

    source: SourceFile
    outcome: Outcome
    reason: str = ""
    detail: str = ""
    media_type: str = ""
    content_hash: str = ""  # blake3, hex
    signature: bytes = field(default=b"", repr=False)  # of a referred file: keyed MinHash of its words
    is_copy: bool = False  # the stored result of an equal content was reused
    unread: tuple[UnreadPart, ...] = ()
    bytes_read: int | None = field(default=None, compare=False)  # of the file; None = not known
    n_chars: int = 0
    vector: PiiVector = field(default_factory=PiiVector)
    hamming: int | None = None
    missing: tuple[PiiBit, ...] = ()
    nearest_prototype: str = ""
    prototype_distance: int | None = None
    n_people: int = 0
    people_interval: tuple[int, int] | None = (
        None  # 95 % interval of n_people; None if the whole text was examined
    )
    health_score: float | None = None
    health_distance: float | None = None
    health_prototype: str = ""
    referral: Referral | None = None
    case: str = ""
    probability: float | None = None
    reasons: tuple[tuple[str, float], ...] = ()
    second_look: bool = False
    detectors: tuple[tuple[str, bool], ...] = ()
    detector_probabilities: tuple[tuple[str, float], ...] = ()
    findings: tuple[StoredFinding, ...] = ()
    terms: tuple[StoredTerm, ...] = ()
    window: WindowBag | None = None
    evidence: tuple[tuple[str, int], ...] = ()  # inputs of decisions and learning besides the score
    search: Search | None = None  # None unless the outcome is screened
    finding_counts: tuple[
        tuple[str, int], ...
    ] = ()  # of all findings by type, also those not in ``findings``
    seconds: tuple[tuple[str, float], ...] = field(default=(), compare=False)  # of each stage, in its worker
    patients: PatientCheck | None = None  # None = there is no index of the organization's own patients
    by_name: bool = False  # referred by the names of file, folder or member alone, whatever the outcome
    language: str = ""  # of its text, ISO 639; "" = none, or not read
    covered: bool = True  # whether the language or script of all its text is read
    labels: tuple[Label, ...] = ()  # sensitivity labels that it carries; no input of the decision

    @classmethod
    def of_unopened(cls, source: SourceFile) -> Self:
        """Return the result of a file that is not opened, for the reason that it carries."""
        is_skipped = source.unopened in set(SkipReason)
        return cls(source, Outcome.SKIPPED if is_skipped else Outcome.FAILED, source.unopened)

    @property
    def is_of_content(self) -> bool:
        """Whether files of equal content have the same result: nothing in the file's name counts."""
        return self.case != TITLED and not any(found.locator in OWN_NAMES for found in self.findings)


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """One present file as the last scan decided it, with its verdict and what was stored of its evidence."""

    file_id: int
    root: str
    path: str
    is_referred: bool
    second_look: bool
    probability: float
    verdict: Verdict | None
    since: datetime  # when the first scan that saw it began
    evidence: Mapping[str, int]  # empty if none was stored


CODE = "code "  # begins the keys, in a file's evidence, of what its strongest passage is about
LIKE = "like_decided"  # the key of what verdicts on files about the same added to the log-odds
_N_WORDS = 12  # of 32 bits, in a code


def code_of(stored: Mapping[str, int]) -> tuple[int, ...]:
    """Return the code in the stored evidence of a file; () = it has none."""
    code = tuple(stored.get(f"{CODE}{at}", 0) for at in range(_N_WORDS))
    return code if any(code) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCount:
    """How many people can read a file, or a file of a folder: between two numbers; None = not known."""

    low: int | None
    high: int | None
    n_accounts: int  # that can sign in, in the directory; 0 = there is none
    notes: tuple[str, ...]  # what is not known, by the codes of ``report.words.READER_NOTES``
    counted: datetime
