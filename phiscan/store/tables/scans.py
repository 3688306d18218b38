"""Tables of scan results: scan, root, file, examination and the rows of one examination.

No column holds document text: findings have positions, types, masked shapes and keyed hashes.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from phiscan.model import EntityType, FailReason, Outcome, Referral
from phiscan.store.column_types import CanonicalJson, RowId, SafeText, Unsigned64, UtcTime
from phiscan.store.tables.schema import column, history, key, one_of, row_id, seal, table, when, who

scan = table(
    "scan",
    row_id("number of the scan"),
    column(
        "scan_key", sa.Text, "sha256 over roots, versions and options: a scan can be resumed if it is equal"
    ),
    column("status", sa.Text, "running (also: killed), stopped (resumable) or complete"),
    column("started", UtcTime, "when the scan was begun"),
    column("ended", UtcTime, "when it last stopped or completed", null=True),
    column("seconds", sa.Double, "total duration of all its runs that ended normally, in seconds"),
    column("versions", CanonicalJson, "versions and hashes of program, rules, dictionaries and models"),
    column("options", CanonicalJson, "options of the scan that change its result"),
    column("reading", SafeText, "path of the file that is read now; empty when the scan has ended"),
    one_of("status", ("running", "stopped", "complete")),
    sa.Index(None, "scan_key"),
    comment="One scan of one or more roots; a resumed scan stays one row.",
)

root = table(
    "root",
    row_id("number of the root"),
    column("path", sa.LargeBinary, "raw bytes of the folder's path"),
    column("display", SafeText, "the path as text, bytes that are not UTF-8 as \\xNN"),
    column("complete_scan_id", RowId, "newest complete scan of it", to="scan.id", null=True),
    sa.UniqueConstraint("path"),
    comment="A folder (share) that was scanned.",
)

scan_root = table(
    "scan_root",
    key("scan_id", "scan.id", "the scan"),
    key("position", "", "index of the root on the command line, from 0"),
    column("root_id", RowId, "the root", to="root.id"),
    sa.Index(None, "root_id"),
    comment="The roots of a scan, in the order given.",
)

early_result = table(
    "early_result",
    key("scan_id", "scan.id", "the scan, which has not ended"),
    key("root_id", "root.id", "the root of the file"),
    key("path", "", "raw bytes of the path relative to the root", sa.LargeBinary),
    column("result", sa.Text, "the result as a JSON list: positions, types, masked shapes and keyed hashes"),
    seal(),
    comment="Results of a running scan that cannot be recorded yet: an earlier file is still being read.",
)

file = table(
    "file",
    row_id("number of the file, in the order of the first crawl"),
    column("root_id", RowId, "its root", to="root.id"),
    column("path", sa.LargeBinary, "raw bytes of the path relative to the root"),
    column("display", SafeText, "the path as text, bytes that are not UTF-8 as \\xNN"),
    column("seen_scan_id", RowId, "the scan that saw it last", to="scan.id"),
    sa.UniqueConstraint("root_id", "path"),
    sa.Index(None, "display"),
    comment="A file that was crawled at least once; it keeps its number and its history.",
)

examination = table(
    "examination",
    row_id("number of the examination"),
    column("scan_id", RowId, "the scan that examined the file", to="scan.id"),
    column("file_id", RowId, "the file", to="file.id"),
    column("outcome", sa.Text, "outcome of the file: screened, skipped or failed"),
    column("reason", sa.Text, "why it was skipped or failed; empty when screened"),
    column("detail", SafeText, "technical detail of the reason, never content"),
    column("versions_key", sa.Text, "versions of everything that affects this result"),
    column("size", sa.BigInteger, "size in bytes when crawled"),
    column("bytes_read", sa.BigInteger, "bytes read of it; null = not known", null=True),
    column("mtime_ns", sa.BigInteger, "time of last change of the content, nanoseconds since 1970"),
    column("ctime_ns", sa.BigInteger, "time of last change of the inode, nanoseconds since 1970"),
    column("inode", Unsigned64, "inode, unsigned 64 bits folded onto signed"),
    column("device", Unsigned64, "device, unsigned 64 bits folded onto signed"),
    column("mode", sa.BigInteger, "file mode bits of the file system"),
    column("uid", sa.BigInteger, "numeric owner"),
    column("media_type", SafeText, "type by content; empty when never read"),
    column("content_hash", sa.Text, "blake3 of the bytes, hex; empty when never read"),
    column("n_chars", sa.BigInteger, "code points of text read"),
    column("vector", sa.BigInteger, "PII characteristics present, one bit each, FirstName the lowest"),
    column("hamming", sa.Integer, "number of missing bits to satisfy equation 4; 0 = satisfied", null=True),
    column("missing", sa.BigInteger, "one smallest set of missing bits, packed like vector"),
    column("nearest_prototype", SafeText, "name of the nearest PII prototype (equation 5)"),
    column("prototype_distance", sa.Integer, "Hamming distance to it", null=True),
    column("n_people", sa.Integer, "distinct people at risk in the file, an estimate"),
    column(
        "people_interval",
        CanonicalJson,
        "95% interval of n_people, [low, high]; null if the whole text was examined",
        default="null",
    ),
    column("n_findings", sa.Integer, "number of findings; of each type in finding_counts"),
    column(
        "health_score", sa.Double, "health information about a person, 0 to 1, 0.5 = threshold", null=True
    ),
    column("health_distance", sa.Double, "Euclidean distance to the k-th nearest prototype", null=True),
    column("health_prototype", SafeText, "name of the nearest health prototype"),
    column("referral", sa.Text, "decision of the pipeline; null unless screened", null=True),
    column("case", SafeText, "the case of the decision"),
    column("detectors", CanonicalJson, "verdict of each independent detector, [[name, is PHI], ...]"),
    column(
        "detector_probabilities",
        CanonicalJson,
        "P(PHI) by each detector alone, 0 to 1, [[name, probability], ...]",
        default="[]",
    ),
    column(
        "probability",
        sa.Double,
        "P(PHI) at the configured prevalence, 0 to 1; null unless screened",
        null=True,
    ),
    column(
        "reasons",
        CanonicalJson,
        "largest contributions to P(PHI), [[input, added log-odds], ...]",
        default="[]",
    ),
    column("second_look", sa.Boolean, "not referred, but marked by a detector", default=sa.false()),
    column(
        "search",
        sa.Text,
        "which recognizers ran on it: everything, needed, audit or left_out; empty if not known",
        default="",
    ),
    column(
        "by_name", sa.Boolean, "referred by the names of file, folder or member alone", default=sa.false()
    ),
    column("language", sa.Text, "language of its text, ISO 639; empty: none, or not read", default=""),
    column(
        "covered",
        sa.Boolean,
        "false: a part of its text is in a language or script that is not read, so it is not clean",
        default=sa.true(),
    ),
    column("labels", CanonicalJson, "sensitivity labels that it carries, [[id, name], ...]", default="[]"),
    column("finding_counts", CanonicalJson, "number of findings of each type, {type: number}", default="{}"),
    column("risk", sa.Double, "order in the queue: people x kinds of identifiers x exposure x score"),
    one_of("outcome", (o.value for o in Outcome if o is not Outcome.UNCHANGED)),
    one_of("referral", (r.value for r in Referral)),
    sa.CheckConstraint(
        "CASE WHEN outcome = 'screened' THEN referral IS NOT NULL ELSE (referral IS NOT NULL) = by_name END",
        name="referral_if_screened_or_by_name",
    ),
    sa.CheckConstraint("(outcome = 'screened') = (reason = '')", name="reason_unless_screened"),
    sa.CheckConstraint("hamming >= 0 AND prototype_distance >= 0", name="distances_not_negative"),
    sa.CheckConstraint("n_people >= 0 AND n_findings >= 0 AND n_chars >= 0", name="counts_not_negative"),
    sa.CheckConstraint("health_score BETWEEN 0 AND 1", name="health_score_range"),
    sa.UniqueConstraint("scan_id", "file_id"),
    sa.Index(None, "file_id"),
    sa.Index(None, "referral", "risk"),
    sa.Index(None, "content_hash"),
    sa.Index(None, "size"),
    comment="What one scan found out about one file; a file keeps all its examinations.",
)

sighting = table(
    "sighting",
    key("scan_id", "scan.id", "the scan"),
    key("file_id", "file.id", "the file that was there"),
    column("examination_id", RowId, "its current result", to="examination.id"),
    sa.Index(None, "examination_id"),
    comment="A file seen by a scan. If it was unchanged, the examination is of an earlier scan.",
)

finding = table(
    "finding",
    key("examination_id", "examination.id", "the examination"),
    key("position", "", "index in text order, from 0"),
    column("span_start", sa.BigInteger, "first code point in the extracted text"),
    column("span_end", sa.BigInteger, "code point after the last"),
    column("locator", SafeText, "path through containers to the position in the file"),
    column("entity_type", sa.Text, "type of the identifier"),
    column("source", SafeText, "id of the rule or recognizer"),
    column("score", sa.Double, "0 to 1"),
    column("reasons", CanonicalJson, "steps of the score, [[kind, detail, score after], ...]"),
    column("preview", SafeText, "shape of the value: letters as X and x, digits as 9"),
    column("identity", sa.Text, "HMAC-SHA256 of type and normalised value, hex"),
    column("words", sa.LargeBinary, "of a name: the first 8 bytes of the HMAC of each of its words"),
    one_of("entity_type", (e.value for e in EntityType)),
    sa.CheckConstraint("0 <= span_start AND span_start < span_end", name="span_order"),
    sa.CheckConstraint("score BETWEEN 0 AND 1", name="score_range"),
    sa.CheckConstraint("length(identity) = 64", name="identity_is_a_hash"),
    comment="One identifier found in a file: where, of what type and why; never its value. "
    "Only of files that are referred, on the second list or in the audit sample.",
)

health_term = table(
    "health_term",
    key("examination_id", "examination.id", "the examination"),
    key("position", "", "index in the given order, from 0"),
    column("concept", SafeText, "id of the health concept in the dictionaries"),
    column("n_hits", sa.Integer, "number of occurrences in the file"),
    column("first_start", sa.BigInteger, "first code point of its first occurrence"),
    column("first_end", sa.BigInteger, "code point after that occurrence"),
    column("locator", SafeText, "locator of the first occurrence"),
    sa.CheckConstraint("0 <= first_start AND first_start < first_end", name="span_order"),
    sa.CheckConstraint("n_hits >= 1", name="hits_positive"),
    comment="A health concept found in a file and how often; never the words themselves.",
)

unread_part = table(
    "unread_part",
    key("examination_id", "examination.id", "the examination"),
    key("position", "", "index in the given order, from 0"),
    column("locator", SafeText, "path through containers to the part"),
    column("reason", sa.Text, "why it could not be read"),
    column("detail", SafeText, "technical detail, never content"),
    one_of("reason", (r.value for r in FailReason)),
    comment="A part of a file (attachment, member of an archive) that could not be read.",
)

access = table(
    "access",
    key("examination_id", "examination.id", "the examination"),
    column("owner", SafeText, "name of the owner on the share; empty when it has none"),
    column("readers", CanonicalJson, "who may read the file, [name, ...]; everyone, group NAME, user NAME"),
    comment="Who owns a file and who may read it, on the share when the file was examined.",
)

_COUNTED = (
    ("readers_low", sa.BigInteger, "people who can read it, at least; null = not known"),
    ("readers_high", sa.BigInteger, "people who can read it, at most; null = not known"),
    ("readers_of", sa.BigInteger, "accounts that can sign in, in the directory; 0 = there was none"),
    ("readers_notes", CanonicalJson, "codes of what was not known, [code, ...]"),
)


def _counted() -> list[sa.Column[Any]]:
    kinds = [
        column(name, kind, text, null=name in {"readers_low", "readers_high"})
        for name, kind, text in _COUNTED
    ]
    return [*kinds, column("readers_counted", UtcTime, "when they were counted"), seal()]


reader_count = table(
    "reader_count",
    key("file_id", "file.id", "the file"),
    column("of_examination", RowId, "number of its result of which the rights were counted"),
    column("weight", sa.Double, "factor of the result's risk, by that number"),
    *_counted(),
    comment="How many people can read a file of the review list; never who. Counted anew by access update.",
)

folder_readers = table(
    "folder_readers",
    key("root_id", "root.id", "its root"),
    key("folder", "", "path of the folder relative to the root, display form", SafeText),
    column("n_files", sa.Integer, "files directly in it that are PHI or may be"),
    *_counted(),
    comment="How many people can read at least one of the files of a folder that are PHI or may be.",
)

reuse = table(
    "reuse",
    key("examination_id", "examination.id", "the examination"),
    comment="An examination copied from one of equal content: hashed, not screened again.",
)

departure = table(
    "departure",
    key("scan_id", "scan.id", "the complete scan that no longer found the file"),
    key("file_id", "file.id", "the file that was there at the complete scan before"),
    column("moved_to", RowId, "file of the same content that this scan saw first", to="file.id", null=True),
    seal(),
    sa.Index(None, "file_id"),
    sa.Index(None, "moved_to"),
    comment="A file that was deleted, or moved, between two complete scans of its root.",
)

opening = table(
    "opening",
    key("file_id", "file.id", "the file"),
    key("account", "", "HMAC-SHA256 of the account's name, 16 bytes", sa.LargeBinary),
    key("minute", "", "when it opened the file, minutes since 1970", sa.Integer),
    column("is_owner", sa.Boolean, "the account owned the file when the log was imported"),
    seal(),
    comment="When an account opened a file, by access logs; openings of one minute are one.",
)

log_coverage = table(
    "log_coverage",
    key("root_id", "root.id", "the root whose files the log names"),
    key("folder", "", "folder in it that the log is of, ending with a slash; empty = all", sa.LargeBinary),
    key("kind", "", "kind of the log", sa.Text),
    key("first", "", "the first minute that it covers, minutes since 1970", sa.Integer),
    column("last", sa.Integer, "the last one"),
    seal(),
    comment="The time that imported access logs cover, without the gaps between them.",
)

folder = table(
    "folder",
    key("root_id", "root.id", "its root"),
    key(
        "place",
        "",
        "raw bytes of its path relative to the root, each / as a NUL: sorts in crawl order",
        sa.LargeBinary,
    ),
    column("digest", sa.LargeBinary, "blake3 over the file system state of its entries, 16 bytes"),
    column("file_runs", CanonicalJson, "its files and other entries, [[first, last], ...] of file.id"),
    seal(),
    comment="A folder whose results are all current: they stay valid while its digest is the same.",
)

health_window = table(
    "health_window",
    key("examination_id", "examination.id", "the examination"),
    column("n_chars", sa.BigInteger, "length of the text window with the best health score; 0 = no window"),
    column("counts", CanonicalJson, "{concept, kind or cue of the dictionaries: count in that window}"),
    column("evidence", CanonicalJson, "{what the file holds, or input of P(PHI): number}"),
    sa.CheckConstraint("n_chars >= 0", name="length_not_negative"),
    comment="Evidence for `phiscan learn`: counts of dictionary ids, sizes of inputs; never the words.",
)

EVENTS = ("build", "update", "rotate", "destroy", "find", "affected")

patient_check = table(
    "patient_check",
    key("examination_id", "examination.id", "the examination"),
    column("index_id", sa.Text, "build of the patient index that the document was compared with"),
    column("n_patients", sa.Integer, "distinct patients matched by a strong key or a pair"),
    column("n_rare_names", sa.Integer, "further patients matched by a rare name alone"),
    column("n_lookups", sa.BigInteger, "match keys looked up"),
    column("expected_by_chance", sa.Double, "expected number of false matches"),
    sa.CheckConstraint("n_patients >= 0 AND n_rare_names >= 0", name="patients_not_negative"),
    sa.CheckConstraint("n_lookups >= 0 AND expected_by_chance >= 0", name="lookups_not_negative"),
    comment="How an examination was compared with the patient index; no row = there was no index.",
)

patient_match = table(
    "patient_match",
    key("examination_id", "examination.id", "the examination"),
    key("position", "", "number of the match in its document, from 0"),
    column("patient", sa.BigInteger, "opaque number of the patient, as in the organization's own list"),
    column("kind", sa.Text, "what matched: a strong key, a pair of values, or a rare name alone"),
    column("span_start", sa.BigInteger, "first code point of the values"),
    column("span_end", sa.BigInteger, "code point after the last of them"),
    column("locator", SafeText, "where the values are in the file"),
    column("is_planted", sa.Boolean, "the record is invented: a canary, planted to detect leaks"),
    sa.CheckConstraint("span_start >= 0 AND span_end > span_start", name="span_not_empty"),
    sa.CheckConstraint("patient > 0", name="patient_numbered"),
    sa.Index(None, "patient"),
    comment="Patients of the organization found in a document, by opaque number; never a value.",
)

patient_event = history(
    "patient_event",
    row_id("number of the event"),
    column("event", sa.Text, "change of the patient index, or kind of search"),
    column("purpose", SafeText, "purpose; empty where the event implies it"),
    column("details", CanonicalJson, "counts, kinds of fields and check values; never a value of a patient"),
    who("done_by", "who"),
    when("done"),
    one_of("event", EVENTS),
    comment="Changes of the patient index and searches for a person. Append-only.",
)
