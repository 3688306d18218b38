"""The tables of the review store; every table and column has a comment (see docs/make_database.py)."""

from phiscan.store import append_only
from phiscan.store.tables import schema
from phiscan.store.tables.desk import adjudication as adjudication
from phiscan.store.tables.desk import assignment as assignment
from phiscan.store.tables.desk import audit_log as audit_log
from phiscan.store.tables.desk import decision as decision
from phiscan.store.tables.desk import decision_form as decision_form
from phiscan.store.tables.desk import decision_undo as decision_undo
from phiscan.store.tables.desk import desk_policy as desk_policy
from phiscan.store.tables.desk import incident_entry as incident_entry
from phiscan.store.tables.desk import model_activation as model_activation
from phiscan.store.tables.desk import model_version as model_version
from phiscan.store.tables.desk import near_group as near_group
from phiscan.store.tables.desk import near_signature as near_signature
from phiscan.store.tables.desk import push_delivery as push_delivery
from phiscan.store.tables.desk import reveal as reveal
from phiscan.store.tables.desk import sample_draw as sample_draw
from phiscan.store.tables.desk import sample_frame as sample_frame
from phiscan.store.tables.desk import sample_member as sample_member
from phiscan.store.tables.desk import second_review as second_review
from phiscan.store.tables.desk import second_verdict as second_verdict
from phiscan.store.tables.desk import skip as skip
from phiscan.store.tables.desk import span_correction as span_correction
from phiscan.store.tables.desk import span_review as span_review
from phiscan.store.tables.desk import suppression as suppression
from phiscan.store.tables.desk import suppression_approval as suppression_approval
from phiscan.store.tables.desk import suppression_lift as suppression_lift
from phiscan.store.tables.desk import topic_correction as topic_correction
from phiscan.store.tables.desk import work_item as work_item
from phiscan.store.tables.desk import work_tally as work_tally
from phiscan.store.tables.integrity import audit_head as audit_head
from phiscan.store.tables.integrity import examination_digest as examination_digest
from phiscan.store.tables.integrity import key_use as key_use
from phiscan.store.tables.integrity import legal_hold as legal_hold
from phiscan.store.tables.integrity import purge as purge
from phiscan.store.tables.integrity import scan_digest as scan_digest
from phiscan.store.tables.integrity import scan_totals as scan_totals
from phiscan.store.tables.integrity import seal_total as seal_total
from phiscan.store.tables.scans import access as access
from phiscan.store.tables.scans import departure as departure
from phiscan.store.tables.scans import early_result as early_result
from phiscan.store.tables.scans import examination as examination
from phiscan.store.tables.scans import file as file
from phiscan.store.tables.scans import finding as finding
from phiscan.store.tables.scans import folder as folder
from phiscan.store.tables.scans import folder_readers as folder_readers
from phiscan.store.tables.scans import health_term as health_term
from phiscan.store.tables.scans import health_window as health_window
from phiscan.store.tables.scans import log_coverage as log_coverage
from phiscan.store.tables.scans import opening as opening
from phiscan.store.tables.scans import patient_check as patient_check
from phiscan.store.tables.scans import patient_event as patient_event
from phiscan.store.tables.scans import patient_match as patient_match
from phiscan.store.tables.scans import reader_count as reader_count
from phiscan.store.tables.scans import reuse as reuse
from phiscan.store.tables.scans import root as root
from phiscan.store.tables.scans import scan as scan
from phiscan.store.tables.scans import scan_root as scan_root
from phiscan.store.tables.scans import sighting as sighting
from phiscan.store.tables.scans import unread_part as unread_part
from phiscan.store.tables.schema import APPEND_ONLY as APPEND_ONLY
from phiscan.store.tables.schema import metadata as metadata
from phiscan.store.tables.users import user_account as user_account

append_only.guard(metadata, APPEND_ONLY)

SCHEMA_VERSION = f"0001.{schema.digest(metadata, APPEND_ONLY)}"
"""Revision of a database that holds these tables; until the first release it changes with them."""
