"""The frozen types that flow from the crawler to the report; no input or output here.

crawl -> SourceFile -> extract -> Document -> screen -> Screening -> classify -> HealthScore
-> Examination -> FileResult -> review.

Nothing in this module ever shows document text in its ``repr``: a traceback or a log line that
prints one of these objects must not become a leak.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import os


class Outcome(StrEnum):
    """What became of one crawled file; exactly one of these."""

    SCREENED = "screened"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


class SkipReason(StrEnum):
    """The rule by which a file was passed over."""

    IGNORED = "ignored"  # a line of the operator's .phiscanignore
    HARD_LINK = "hard_link"  # same inode as a file that this scan already has
    SYMLINK = "symlink"  # never followed
    NOT_REGULAR = "not_regular"  # FIFO, socket, device
    EMPTY = "empty"  # nothing in it to read


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
    NEEDS_OCR = "needs_ocr"  # only pictures in it, and no OCR is installed
    IO_ERROR = "io_error"
    NESTED_TOO_DEEP = "nested_too_deep"


class EntityType(StrEnum):
    """The types of identifiers that the screener reports (CONTRACTS: span types of ``screen``)."""

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
_PII_BIT_INDEX = {bit: index for index, bit in enumerate(ALL_PII_BITS)}


class Referral(StrEnum):
    """What the pipeline decided about a screened file (``decision`` in the JSON of the contract)."""

    REFERRED = "referred"
    PII_ONLY = "pii_only"
    HEALTH_ONLY = "health_only"
    CLEAR = "clear"


class Verdict(StrEnum):
    """What a reviewer decided about a file."""

    PHI = "phi"
    NOT_PHI = "not_phi"
    UNSURE = "unsure"


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
        """Refuse an empty or backward range."""
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
        """Tell whether the two ranges share a code point."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Span) -> bool:
        """Tell whether ``other`` lies wholly inside this range."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Where a file lies and what the file system said of it when it was crawled.

    ``root`` and ``path`` are raw bytes, exactly as the file system gave them; ``path`` is relative
    to ``root``. Names that are not UTF-8 stay readable on the wire through ``display``.
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
    owner: str = ""  # name of the owner as the share gives it; "" when unknown
    readers: tuple[str, ...] = ()  # who may read it: "everyone", "group NAME", "user NAME"
    # Contents of this size that were screened, each "HASH MEDIA_TYPE": the result of an equal one is taken.
    duplicates: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, root: bytes, path: bytes, info: os.stat_result) -> Self:
        """Return a file of this machine by its place and what ``lstat`` said of it."""
        return cls(
            root=root,
            path=path,
            size=info.st_size,
            mtime_ns=info.st_mtime_ns,
            ctime_ns=info.st_ctime_ns,
            inode=info.st_ino,
            device=info.st_dev,
            mode=stat.S_IMODE(info.st_mode),
            uid=info.st_uid,
        )

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
    """A stretch of ``Document.text`` and where it came from.

    ``locator`` names the way through every container, outermost first, joined by ``!/``; a place
    inside a document follows ``#``: ``mail.eml!/scan.zip!/a.docx#p3``. The name of the crawled file
    itself is not repeated in it: the locator of a plain text file is the empty string.
    """

    locator: str
    start: int
    end: int


# Locators of what a crawled file itself is called, and of folders that say whom it is about. They are no
# content: files of equal content and other names have other results.
FILE_NAME, FOLDER_NAME = "#filename", "#folder"
OWN_NAMES = (FILE_NAME, FOLDER_NAME)


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of a file that could not be read (a member of an archive, an attachment, a page)."""

    locator: str
    reason: FailReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one file with the origin of each stretch of it; segments are in text order."""

    text: str = field(repr=False)
    segments: tuple[Segment, ...]
    media_type: str
    unread: tuple[UnreadPart, ...] = ()
    content_hash: str = ""  # blake3 of the file's bytes, hex
    declared_type: str = ""  # what the name promises, where the content is something else
    n_chars_unread: int = 0  # an estimate, of what was left out of the text because it has too much of it

    def locate(self, offset: int) -> str:
        """Return the locator of the segment that holds the code point at ``offset``."""
        low, high = 0, len(self.segments)
        while low < high:
            middle = (low + high) // 2
            if self.segments[middle].end <= offset:
                low = middle + 1
            else:
                high = middle
        return self.segments[low].locator if low < len(self.segments) else ""


@dataclass(frozen=True, slots=True)
class Reason:
    """One step in why a finding stands: the rule, a context word of ours, a check, a veto.

    ``detail`` never holds document text, only names from our own rules and dictionaries.
    """

    kind: str  # "rule", "context", "check", "gazetteer", "label", "title", "place", "role", "doubt", ...
    detail: str
    score: float  # the score after this step


@dataclass(frozen=True, slots=True)
class Finding:
    """One identifier in a document: where, of what type, and why we think so; never its value."""

    span: Span
    entity_type: EntityType
    source: str  # rule id or recognizer id
    score: float  # in [0, 1]
    bits: frozenset[PiiBit]  # the PII characteristics that it shows
    reasons: tuple[Reason, ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether it is too unsure to count: it identifies nobody, and no decision rests on it."""
        return not self.bits and any(reason.kind == "doubt" for reason in self.reasons)

    def set_aside(self, kind: str, detail: str) -> Finding:
        """Return it as one that stays, with this last reason, and sets no characteristic."""
        return replace(self, bits=frozenset(), reasons=(*self.reasons, Reason(kind, detail, self.score)))

    def was_set_aside(self, detail: str) -> bool:
        """Tell whether it was set aside for this reason."""
        return any(reason.detail == detail for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class PiiVector:
    """The PII characteristics present in a file, one bit each, in the order of ``PiiBit``."""

    bits: frozenset[PiiBit] = frozenset()

    def to_int(self) -> int:
        """Pack into an integer, the first characteristic in the lowest bit (for storage)."""
        return sum(1 << _PII_BIT_INDEX[bit] for bit in self.bits)

    @classmethod
    def from_int(cls, packed: int) -> Self:
        """Unpack what ``to_int`` made."""
        return cls(frozenset(b for b, i in _PII_BIT_INDEX.items() if packed >> i & 1))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bits that are set, in bit order."""
        return tuple(bit.value for bit in ALL_PII_BITS if bit in self.bits)

    def hamming(self, other: PiiVector) -> int:
        """Count the bits that differ. Source: Sokolova & El Emam (2008), eq. 5."""
        return len(self.bits ^ other.bits)


@dataclass(frozen=True, slots=True)
class Screening:
    """What the screener says of one document."""

    findings: tuple[Finding, ...]
    vector: PiiVector
    hamming: int  # bits still lacking to satisfy eq. 4; 0 = satisfies
    missing: tuple[PiiBit, ...]  # one cheapest set of bits that would satisfy eq. 4
    nearest_prototype: str  # name of the nearest stored prototype (eq. 5)
    prototype_distance: int  # plain Hamming distance to it
    n_people: int  # distinct people at risk, an estimate
    people_interval: tuple[int, int] | None = None  # 95 % of it; None where the whole text was examined

    @property
    def counted(self) -> tuple[Finding, ...]:
        """The findings that decisions rest on: all but the doubtful ones."""
        return tuple(finding for finding in self.findings if not finding.is_doubtful)


@dataclass(frozen=True, slots=True)
class TermHit:
    """A health term in the document: where, and its concept id (never the text)."""

    span: Span
    concept: str


@dataclass(frozen=True, slots=True)
class WindowBag:
    """What the stretch of a document that decided its health score says, in ids of our own dictionaries."""

    n_chars: int
    counts: tuple[tuple[str, int], ...]  # concept, kind or cue, and how often; never a word of the text
    told: float = 0.0  # how likely it tells of a patient, in [0, 1], before any correction by reviewers


@dataclass(frozen=True, slots=True)
class HealthScore:
    """How much a document looks like health information about a person, and by which terms."""

    score: float  # in [0, 1]; 0.5 is the threshold learned from the prototypes
    distance: float | None  # Euclidean distance to the k-th nearest prototype; None without terms
    nearest_prototype: str  # name of the nearest prototype, "" without terms
    terms: tuple[TermHit, ...]
    window: WindowBag | None = None  # None where no window says anything
    by_concepts: float = 0.0  # the score by concepts and cues alone, as detector B asks it
    correction: float = 0.0  # log-odds that reviewers' decisions added to the score


@dataclass(frozen=True, slots=True)
class PatientMatch:
    """One of the organization's own patients in a document: who, by what and where; never a value."""

    patient: int  # opaque number, as in the organization's own list
    kind: str  # what agreed: "record", "card", "name_birth", ..., "rare_name"
    span: Span
    locator: str = ""
    is_canary: bool = False  # a record that does not exist in reality


@dataclass(frozen=True, slots=True)
class PatientCheck:
    """How a document was compared with the patient index."""

    index_id: str  # build of the index
    matches: tuple[PatientMatch, ...] = ()
    n_patients: int = 0  # distinct, by a strong key or a pair
    n_rare_names: int = 0  # further ones, by a rare name alone
    n_lookups: int = 0
    expected_by_chance: float = 0.0  # matches to be expected if all people in it were strangers


# The verdict of the second family of name recognizers, stored behind those of the three detectors: under the
# first name where the file was drawn at random, under the other where a name alone would have referred it.
SECOND_NAMES, SECOND_NAMES_NEAR = "second_names", "second_names_near"
SECOND_LISTS = frozenset({SECOND_NAMES, SECOND_NAMES_NEAR})


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a file: the referral, how likely the file is PHI, and why."""

    referral: Referral
    case: str  # the row of the table of cases that says it in words
    probability: float  # P(PHI) on a share of the stated prevalence
    log_odds: float = 0.0  # the same before what reviewers taught
    # The strongest inputs, and what each adds to the log-odds; the kind of a message of care before them.
    reasons: tuple[tuple[str, float], ...] = ()
    passage: Span | None = None  # the strongest passage
    second_look: bool = False  # not referred, but marked by a detector or by the table of cases
    evidence: tuple[tuple[str, int], ...] = ()  # what the table of cases looks at besides the score
    patient_log_odds: float = 0.0  # what matches with the organization's own patients added to the log-odds


class Search(StrEnum):
    """Which recognizers read a file, and why: the expensive ones read only what they could have referred."""

    EVERYTHING = "everything"  # all of them, because all files are searched
    NEEDED = "needed"  # all of them, because the file could be referred by what they find
    AUDIT = "audit"  # all of them, because the file was drawn at random among those that could not
    LEFT_OUT = "left_out"  # the cheap ones alone


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that screening and classifying say of one document."""

    screening: Screening
    health: HealthScore
    decision: Decision
    detectors: tuple[tuple[str, bool], ...]  # verdict "is this PHI" of each independent detector
    search: Search = Search.EVERYTHING
    # P(PHI) by each detector alone, on a share of the stated prevalence
    detector_probabilities: tuple[tuple[str, float], ...] = ()
    patients: PatientCheck | None = None  # None = there is no index of the organization's own patients

    @property
    def referral(self) -> Referral:
        """What becomes of the file."""
        return self.decision.referral

    @property
    def case(self) -> str:
        """The row of the table of cases that says it in words."""
        return self.decision.case


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding as the review store keeps it: position, type, masked shape, keyed hash."""

    span: Span
    locator: str
    entity_type: EntityType
    source: str
    score: float
    reasons: tuple[Reason, ...]
    preview: str  # the shape of the value, letters and digits masked
    identity: str  # HMAC-SHA256(key, entity_type + normalised value), hex


@dataclass(frozen=True, slots=True)
class StoredTerm:
    """Occurrences of one health concept in a file, as the review store keeps them."""

    concept: str
    count: int
    first: Span
    locator: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """The one recorded outcome of a crawled file; what a worker sends back to the parent.

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
    is_copy: bool = False  # screened by taking over what is stored of an equal content
    unread: tuple[UnreadPart, ...] = ()
    bytes_read: int | None = field(default=None, compare=False)  # of the file; None = not known
    n_chars: int = 0
    vector: PiiVector = PiiVector()
    hamming: int | None = None
    missing: tuple[PiiBit, ...] = ()
    nearest_prototype: str = ""
    prototype_distance: int | None = None
    n_people: int = 0
    people_interval: tuple[int, int] | None = None  # 95 % of n_people; None where all was counted
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
    evidence: tuple[tuple[str, int], ...] = ()  # what decisions and learning look at besides the score
    search: Search | None = None  # None unless the outcome is screened
    finding_counts: tuple[
        tuple[str, int], ...
    ] = ()  # of all findings by type, also those not in ``findings``
    seconds: tuple[tuple[str, float], ...] = field(default=(), compare=False)  # of each stage, in its worker
    patients: PatientCheck | None = None  # None = there is no index of the organization's own patients

    @property
    def is_of_content(self) -> bool:
        """Whether a file of equal content has the same result: none of the findings is in this one's name."""
        return not any(finding.locator in OWN_NAMES for finding in self.findings)
