"""The frozen types that flow from the crawler to the report; no input or output here.

crawl -> SourceFile -> extract -> Document -> screen -> Screening -> classify -> HealthScore
-> Examination -> FileResult -> review.

Nothing in this package ever shows document text in its ``repr``: a traceback or a log line that
prints one of these objects must not become a leak.
"""

from phiscan.model.documents import (
    FILE_NAME,
    FOLDER_NAME,
    OWN_NAMES,
    Document,
    Segment,
    SourceFile,
    Span,
    UnreadPart,
)
from phiscan.model.entities import (
    ALL_PII_BITS,
    OCR_PENDING,
    EntityType,
    FailReason,
    Outcome,
    PiiBit,
    PiiVector,
    Referral,
    Search,
    SkipReason,
    Verdict,
    bits_of,
)
from phiscan.model.findings import (
    Finding,
    HealthScore,
    PatientCheck,
    PatientMatch,
    Reason,
    Screening,
    TermHit,
    WindowBag,
)
from phiscan.model.results import (
    NOT_COVERED,
    TITLED,
    Decision,
    Examination,
    FileResult,
    ScannedFile,
    StoredFinding,
    StoredTerm,
)

__all__ = [
    "ALL_PII_BITS",
    "FILE_NAME",
    "FOLDER_NAME",
    "NOT_COVERED",
    "OCR_PENDING",
    "OWN_NAMES",
    "TITLED",
    "Decision",
    "Document",
    "EntityType",
    "Examination",
    "FailReason",
    "FileResult",
    "Finding",
    "HealthScore",
    "Outcome",
    "PatientCheck",
    "PatientMatch",
    "PiiBit",
    "PiiVector",
    "Reason",
    "Referral",
    "ScannedFile",
    "Screening",
    "Search",
    "Segment",
    "SkipReason",
    "SourceFile",
    "Span",
    "StoredFinding",
    "StoredTerm",
    "TermHit",
    "UnreadPart",
    "Verdict",
    "WindowBag",
    "bits_of",
]
