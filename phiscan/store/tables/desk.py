"""Tables of the desk: decisions, assignments, incidents, corrections, suppressions, reveals, models.

``work_item``, ``work_tally`` and ``near_group`` can be rebuilt from the other tables; the rest is
append-only.
"""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.model import EntityType, Verdict
from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, history, key, one_of, row_id, seal, table, when, who

decision = history(
    "decision",
    row_id("number of the decision; of several, the highest number applies"),
    column("file_id", RowId, "the file; it stands for identical ones", to="file.id"),
    column("examination_id", RowId, "the result the reviewer saw", to="examination.id"),
    column("content_hash", sa.Text, "blake3 of the content decided upon; other content needs a new decision"),
    column("verdict", sa.Text, "phi, not_phi or unsure"),
    who("reviewer", "who decided"),
    column("reason", SafeText, "reason from a short list; may be empty"),
    column("note", SafeText, "free text of the reviewer; may be empty"),
    column("by_name", sa.Boolean, "judged by the file's name, unopened: counts in no bound"),
    when("decided"),
    one_of("verdict", (v.value for v in Verdict)),
    sa.Index(None, "file_id"),
    sa.Index(None, "content_hash"),
    sa.Index(None, "decided"),
    comment="A reviewer's verdict. Append-only: undoing is a later decision.",
)

assignment = history(
    "assignment",
    row_id("number of the assignment; of several, the highest number applies"),
    column("file_id", RowId, "the file", to="file.id"),
    column("assignee", SafeText, "the assigned reviewer; empty = no longer assigned"),
    who("assigned_by", "who assigned"),
    when("assigned"),
    sa.Index(None, "file_id"),
    comment="The assignment of a file to a reviewer. Append-only.",
)

_GROUPED = ("text", "state", "add", "remove")
_OF_FILES = ("answer", "assignee", "note", "exception", "comment", "tag", "untag")
incident_entry = history(
    "incident_entry",
    row_id("number of the entry; of several about one field or file, the highest number applies"),
    column("incident", RowId, "number of the incident; null = of a file, folder or owner alone", null=True),
    column("kind", sa.Text, "what was done: a text, a state, a file added, a remedy, a comment, a tag"),
    column("field", SafeText, "field of a text, state, answer, last day, folder, owner, reader of a comment"),
    column("text", SafeText, "free text, without identifiers of the files; may be empty"),
    column("file_id", RowId, "the file that it is about", to="file.id", null=True),
    who("entered_by", "who"),
    when("entered"),
    one_of("kind", (*_GROUPED, *_OF_FILES, "owner", "address", "reminder")),
    sa.CheckConstraint(f"(incident IS NOT NULL) = (kind IN {_GROUPED})", name="incident_given"),
    sa.Index(None, "incident"),
    sa.Index(None, "file_id"),
    sa.Index(None, "kind", "field"),
    comment="The record of incidents, remedies and discussions. Append-only.",
)

audit_log = history(
    "audit_log",
    row_id("number of the entry, without gaps"),
    column("at", UtcTime, "when"),
    column("actor", SafeText, "who"),
    column("action", sa.Text, "what was done; `phiscan.review.audit.log` lists the actions"),
    column("subject_id", RowId, "number of the row in the table that the action writes to"),
    column("details", CanonicalJson, "what was done, with the digest of the row written"),
    column("prev_hash", sa.Text, "hash of the entry before; 64 zeros before the first"),
    column("hash", sa.Text, "sha256 over the canonical JSON of the other columns"),
    sa.CheckConstraint("action <> ''", name="action_named"),
    sa.UniqueConstraint("hash"),
    sa.UniqueConstraint("prev_hash"),
    comment="Every change of review state, each entry chained to the one before. Append-only.",
)

MARKS = ("right", "wrong_type", "wrong_extent", "spurious", "missed", "withdrawn")
"""The corrections that a reviewer may make of one span."""

work_item = table(
    "work_item",
    key("file_id", "file.id", "the file"),
    column("examination_id", RowId, "its current result", to="examination.id"),
    column("root_id", RowId, "its root", to="root.id"),
    column("path_folded", sa.Text, "path below the root, its case folded, to search in"),
    column("content_hash", sa.Text, "blake3 of the present content"),
    column("referred", sa.Boolean, "the scan referred it; otherwise it is of the random sample"),
    column("blind", sa.Boolean, "shown without the program's results"),
    column(
        "risk", sa.Double, "order of the list: people x kinds x exposure x score; random for a blind item"
    ),
    column(
        "doubt",
        sa.Double,
        "order by doubt: distance of the score from its threshold; random for a blind item",
    ),
    column("arrived", RowId, "the scan that first saw this content"),
    column("media_type", sa.Text, "type by content"),
    column("owner", sa.Text, "owner's name, else its number"),
    column("types", sa.BigInteger, "types of identifiers found, a bit each in the order of the contract"),
    column("score", sa.Double, "health score; null when blind", null=True),
    column("group_id", RowId, "near-duplicate group: number of its first file; null = alone", null=True),
    column("state", sa.Text, "undecided, phi, not_phi or unsure: the current verdict"),
    column("reviewer", sa.Text, "who gave that verdict; empty when undecided"),
    column("decided", UtcTime, "when that verdict was given", null=True),
    column("decision_id", RowId, "the decision that stands", to="decision.id", null=True),
    column("assignee", sa.Text, "the assigned reviewer; empty = none"),
    column(
        "awaits",
        sa.Text,
        "nobody, first (a first verdict), second (blind), lead (disagreed) or opening (judged by name)",
    ),
    column("waits", sa.Text, "which it awaits itself: a decided one is shown to await a second with others"),
    column("is_open", sa.Boolean, "a verdict of a reviewer (not a lead) is awaited"),
    column("hidden_until", sa.Text, "hidden by a suppression until then (UTC, ISO 8601); empty = not hidden"),
    sa.CheckConstraint("state IN ('undecided', 'phi', 'not_phi', 'unsure')", name="state_known"),
    sa.CheckConstraint("awaits IN ('nobody', 'first', 'second', 'lead', 'opening')", name="awaits_known"),
    sa.Index("ix_work_item_open_risk", "is_open", "risk", "file_id"),
    sa.Index("ix_work_item_open_doubt", "is_open", "doubt", "file_id"),
    sa.Index("ix_work_item_state_risk", "state", "risk", "file_id"),
    sa.Index("ix_work_item_open_oldest", "is_open", "file_id"),
    sa.Index(None, "content_hash"),
    sa.Index("ix_work_item_folder", "root_id", "path_folded"),
    sa.Index(None, "group_id", "waits"),
    comment="The review list, one row per file in it; derived from the other tables as they change.",
)

work_tally = table(
    "work_tally",
    key("kind", "", "what is counted", sa.Text),
    key("value", "", "a value of it, or several as JSON", SafeText),
    column("n", sa.BigInteger, "items of the list that have it"),
    comment="Counts of the review list, updated with it, so that pages need not count.",
)

push_delivery = table(
    "push_delivery",
    row_id("number of the delivery"),
    column("receiver", SafeText, "name of the receiver in phiscan.toml"),
    column("kind", sa.Text, "findings, decisions, scans, incidents or confirmed"),
    column("item", sa.Text, "what was sent: a file and its content, a scan and its status, ..."),
    column("sent", UtcTime, "when the receiver took it"),
    sa.UniqueConstraint("receiver", "kind", "item"),
    comment="What each receiver of ``[[push]]`` was sent, so that nothing is sent twice.",
)

near_signature = table(
    "near_signature",
    key("examination_id", "examination.id", "the examination"),
    column(
        "signature", sa.LargeBinary, "MinHash over word triples, keyed: 64 values of 32 bits, little-endian"
    ),
    comment="Signature for near-duplicates; without the key it reveals nothing about words.",
)

near_group = table(
    "near_group",
    key("file_id", "file.id", "a file that has near-duplicates"),
    column("group_id", RowId, "number of the group's first file", to="file.id"),
    column("content_hash", sa.Text, "content for which it was computed"),
    column("similarity", sa.Double, "estimated share of word triples in common with the first; 1 = a copy"),
    sa.Index(None, "group_id"),
    comment="Groups of near-duplicate files; rebuilt at the end of each scan.",
)

desk_policy = history(
    "desk_policy",
    row_id("number of the policy; the highest applies"),
    column("second_review", sa.Double, "share of decisions that get a blind second review"),
    column("hide_limit", sa.Integer, "a suppression that hides more items needs a lead's approval"),
    column("seed", sa.Text, "secret of the random draws"),
    who("set_by", "who set it"),
    when("set_at"),
    sa.CheckConstraint("second_review BETWEEN 0 AND 1", name="second_review_share"),
    sa.CheckConstraint("hide_limit >= 0", name="hide_limit_not_negative"),
    comment="How the desk works: shares and limits. Append-only.",
)

decision_form = history(
    "decision_form",
    row_id("number of the form"),
    column("token", sa.Text, "sha256 of the token of the form that was sent"),
    column("file_id", RowId, "the file", to="file.id"),
    column("reviewer", SafeText, "who sent it"),
    column("decision_id", RowId, "the decision made of it", to="decision.id", null=True),
    column("second_verdict_id", RowId, "or the blind verdict", to="second_verdict.id", null=True),
    seal(),
    sa.UniqueConstraint("token"),
    comment="Forms already processed: a form sent twice is one decision. Append-only.",
)

decision_undo = history(
    "decision_undo",
    row_id("number of the undoing"),
    column("file_id", RowId, "the file", to="file.id"),
    column("decision_id", RowId, "the undone decision", to="decision.id", null=True),
    column("second_verdict_id", RowId, "or the blind verdict", to="second_verdict.id", null=True),
    who("undone_by", "who undid it"),
    when("undone"),
    sa.CheckConstraint("(decision_id IS NULL) <> (second_verdict_id IS NULL)", name="one_undone"),
    sa.UniqueConstraint("decision_id"),
    sa.UniqueConstraint("second_verdict_id"),
    comment="A decision that was undone; the one before it applies again. Append-only.",
)

skip = table(
    "skip",
    row_id("number of the skip"),
    column("file_id", RowId, "the file", to="file.id"),
    column("content_hash", sa.Text, "the skipped content"),
    column("reviewer", SafeText, "who skipped it"),
    column("until", UtcTime, "when it is shown again"),
    seal(),
    sa.Index(None, "reviewer", "file_id"),
    comment="An item that one reviewer skipped for now; of several, the highest number applies.",
)

second_review = history(
    "second_review",
    row_id("number of the second review"),
    column("decision_id", RowId, "the first verdict", to="decision.id"),
    column("file_id", RowId, "the file", to="file.id"),
    column("content_hash", sa.Text, "content to be judged"),
    column("share", sa.Double, "probability with which it was drawn"),
    when("drawn"),
    sa.UniqueConstraint("decision_id"),
    sa.Index(None, "content_hash"),
    comment="An item drawn at random for a blind second verdict. Append-only.",
)

second_verdict = history(
    "second_verdict",
    row_id("number of the verdict; of several not undone, the highest applies"),
    column("second_review_id", RowId, "the second review", to="second_review.id"),
    column("file_id", RowId, "the file", to="file.id"),
    column("verdict", sa.Text, "phi, not_phi or unsure"),
    who("reviewer", "who gave it, without seeing the first"),
    column("reason", SafeText, "reason from a short list; may be empty"),
    column("note", SafeText, "free text of the reviewer; may be empty"),
    column("by_name", sa.Boolean, "judged by the file's name, unopened"),
    when("decided"),
    one_of("verdict", (v.value for v in Verdict)),
    sa.Index(None, "second_review_id"),
    sa.Index(None, "decided"),
    comment="The verdict of a second person who did not see the first. Append-only.",
)

adjudication = history(
    "adjudication",
    row_id("number of the adjudication"),
    column("second_review_id", RowId, "the second review", to="second_review.id"),
    column("second_verdict_id", RowId, "the verdict that disagreed", to="second_verdict.id"),
    column("decision_id", RowId, "the lead's decision, which is final", to="decision.id"),
    sa.UniqueConstraint("decision_id"),
    sa.Index(None, "second_review_id"),
    comment="Two people disagreed and a third decided. Append-only.",
)

span_correction = history(
    "span_correction",
    row_id("number of the correction; of several about one span, the highest applies"),
    column("file_id", RowId, "the file", to="file.id"),
    column("examination_id", RowId, "the reviewed result", to="examination.id"),
    column("content_hash", sa.Text, "content that the positions belong to"),
    column("position", RowId, "index of the finding in its result; null if missed", null=True),
    column("mark", sa.Text, "the correction"),
    column("span_start", sa.BigInteger, "first code point of the right span"),
    column("span_end", sa.BigInteger, "code point after its last"),
    column("entity_type", sa.Text, "right type"),
    who("reviewer", "who made it"),
    when("corrected"),
    one_of("mark", MARKS),
    one_of("entity_type", (e.value for e in EntityType)),
    sa.CheckConstraint("0 <= span_start AND span_start < span_end", name="span_order"),
    sa.CheckConstraint("position IS NOT NULL OR mark IN ('missed', 'withdrawn')", name="position_if_found"),
    sa.Index(None, "file_id", "content_hash"),
    comment="A reviewer's correction of one span: positions and types, never text. Append-only.",
)

span_review = history(
    "span_review",
    row_id("number of the entry; of several about one content, the highest applies"),
    column("file_id", RowId, "the file", to="file.id"),
    column("examination_id", RowId, "the reviewed result", to="examination.id"),
    column("content_hash", sa.Text, "the reviewed content"),
    column("complete", sa.Boolean, "every span was checked, and the missed ones were marked"),
    who("reviewer", "who made it"),
    when("reviewed"),
    sa.Index(None, "file_id", "content_hash"),
    comment="A file whose spans were all checked: spans without a mark are right. Append-only.",
)

topic_correction = history(
    "topic_correction",
    row_id("number of the correction; of several about one content, the highest applies"),
    column("file_id", RowId, "the file", to="file.id"),
    column("examination_id", RowId, "the reviewed result", to="examination.id"),
    column("content_hash", sa.Text, "content that the labels belong to"),
    column("labels", CanonicalJson, "labels of ICD chapters and blocks that fit the file, [label, ...]"),
    who("reviewer", "who made it"),
    when("corrected"),
    sa.Index(None, "file_id", "content_hash"),
    comment="A reviewer's correction of a file's topics. Append-only.",
)

suppression = history(
    "suppression",
    row_id("number of the suppression"),
    column("kind", sa.Text, "value (a keyed hash), rule or template (the wording of a file)"),
    column("target", sa.Text, "the keyed hash, the id of the rule, or the keyed signature"),
    column("preview", SafeText, "masked shape of the value; else empty"),
    column("root_id", RowId, "only below this root; null = everywhere", to="root.id", null=True),
    column("folder", SafeText, "only below this folder of the root, as shown; empty = all of it"),
    column("n_hidden", sa.Integer, "queued items that it hid when it was made"),
    column("needs_approval", sa.Boolean, "too broad to apply before a lead approves"),
    column("reason", SafeText, "why"),
    column("until", UtcTime, "when it ends"),
    who("made_by", "who made it"),
    when("made"),
    one_of("kind", ("value", "rule", "template")),
    sa.CheckConstraint("reason <> ''", name="reason_given"),
    comment="A temporary suppression of a value, rule or wording; it only hides items. Append-only.",
)

suppression_approval = history(
    "suppression_approval",
    row_id("number of the approval"),
    column("suppression_id", RowId, "the suppression", to="suppression.id"),
    who("approved_by", "the lead; not who made it"),
    when("approved"),
    sa.UniqueConstraint("suppression_id"),
    comment="A lead's approval of a broad suppression. Append-only.",
)

suppression_lift = history(
    "suppression_lift",
    row_id("number of the lifting"),
    column("suppression_id", RowId, "the suppression", to="suppression.id"),
    column("reason", SafeText, "why; may be empty"),
    who("lifted_by", "who"),
    when("lifted"),
    sa.UniqueConstraint("suppression_id"),
    comment="A suppression that was lifted. Append-only.",
)

reveal = history(
    "reveal",
    row_id("number of the reveal"),
    column("file_id", RowId, "the file", to="file.id"),
    column("examination_id", RowId, "the result it was opened from", to="examination.id"),
    column("content_hash", sa.Text, "content that was to be shown"),
    column("purpose", SafeText, "purpose, as the person wrote it"),
    who("revealed_by", "who"),
    when("revealed", "when it was asked for, before anything was shown"),
    sa.CheckConstraint("purpose <> ''", name="purpose_given"),
    sa.Index(None, "file_id"),
    comment="A person asked to see the text of a file. Append-only.",
)

sample_draw = history(
    "sample_draw",
    row_id("number of the draw; the highest applies"),
    column("seed", sa.Text, "seed of the random order"),
    column("n_queued", sa.Integer, "referred files without a final verdict that it was drawn from"),
    column("n_unreferred", sa.Integer, "files read and not referred, without a final verdict, likewise"),
    who("drawn_by", "who"),
    when("drawn"),
    comment="A random sample of referred and of unreferred files, to be judged blind. Append-only.",
)

sample_member = history(
    "sample_member",
    row_id("number of the row"),
    column("draw_id", RowId, "the draw", to="sample_draw.id"),
    column("place", sa.Integer, "index in the random order of its kind, from 0"),
    column("file_id", RowId, "the file", to="file.id"),
    column("content_hash", sa.Text, "content when it was drawn"),
    column("referred", sa.Boolean, "drawn from the queue, else from the files not referred"),
    column("risk", sa.Double, "order in the list, drawn from the risks in the queue"),
    column("doubt", sa.Double, "order by doubt"),
    seal(),
    sa.Index(None, "file_id"),
    comment="The files of a draw. Append-only.",
)

sample_frame = table(
    "sample_frame",
    key("file_id", "file.id", "the file"),
    column("content_hash", sa.Text, "content when the sample was drawn"),
    column("referred", sa.Boolean, "of the queue, else of the files not referred"),
    seal(),
    comment="The files that the last sample was drawn from; all others arrived since. Replaced by a draw.",
)

model_version = history(
    "model_version",
    row_id("number of the version"),
    when("made", "when it was learned"),
    who("made_by", "who requested it"),
    column("files", CanonicalJson, "{file in PHISCAN_HOME/models/NUMBER: sha256 of its bytes}"),
    column("summary", CanonicalJson, "training data, effect on the last scan, and warnings"),
    comment="A version of models learned from decisions. Append-only; making one does not use it.",
)

model_activation = history(
    "model_activation",
    row_id("number of the activation; the highest number applies"),
    column("version_id", RowId, "the version; null = what is shipped", to="model_version.id", null=True),
    when("activated"),
    who("activated_by", "who"),
    column("accepted", SafeText, "why, if something spoke against the version; empty otherwise", default=""),
    comment="Which version scans use from now on. Append-only: going back is a later activation.",
)
