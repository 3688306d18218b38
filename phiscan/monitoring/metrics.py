"""Prometheus metrics: counts of the latest scan and of the queue; never a path, a name or a value.

For a page that a server scrapes (``metrics_text``), and for the textfile collector of the node exporter
(``write_textfile``), because a scan ends before a server could scrape it.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from phiscan import __version__
from phiscan.errors import StoreError
from phiscan.model import FailReason, SkipReason, Verdict
from phiscan.review.store import ScanSummary, Store

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


def metrics_text(store: Store) -> bytes:
    """Return the metrics of a store in Prometheus's text format; before the first scan only the queue's."""
    try:
        summary = store.summary()
    except StoreError:
        summary = None
    return generate_latest(_registry(store, summary))


def write_textfile(path: Path, store: Store, summary: ScanSummary) -> None:
    """Write the metrics for the node exporter atomically, readable by all users.

    Raises:
        OSError: it cannot be written.
    """
    partial = path.with_name(path.name + ".part")
    try:
        partial.write_bytes(generate_latest(_registry(store, summary)))
        partial.chmod(0o644)  # counts only; the exporter runs as another user
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise


def _registry(store: Store, summary: ScanSummary | None) -> CollectorRegistry:
    registry = CollectorRegistry()
    _labelled(registry, "phiscan_build_info", "The version that wrote this.", "version", {__version__: 1})
    queue = {
        "undecided": store.queue_size(verdicts=[None], conceal=True),
        **{verdict.value: store.queue_size(verdicts=[verdict], conceal=True) for verdict in Verdict},
    }
    _labelled(registry, "phiscan_queue_files", "Files in the review queue by verdict.", "verdict", queue)
    if summary is None:
        return registry
    outcomes = {
        "screened": summary.screened,
        "unchanged": summary.unchanged,
        "skipped": sum(summary.skipped.values()),
        "failed": sum(summary.failed.values()),
    }
    _labelled(registry, "phiscan_scan_files", "Files of the latest scan by outcome.", "outcome", outcomes)
    # Every reason is present, also with 0, since alerts fail on series that appear and disappear.
    reasons = [reason.value for reason in FailReason if reason is not FailReason.SAMPLED]  # never of a file
    failed = {reason: summary.failed.get(reason, 0) for reason in reasons}
    skipped = {reason.value: summary.skipped.get(reason.value, 0) for reason in SkipReason}
    _labelled(registry, "phiscan_scan_failed_files", "Files that could not be read.", "reason", failed)
    _labelled(registry, "phiscan_scan_skipped_files", "Files skipped by a rule.", "reason", skipped)
    single = {
        "phiscan_scan_crawled_files": ("Files that the latest scan found.", summary.crawled),
        "phiscan_scan_unread_parts": ("Parts of read files that could not be read.", summary.n_unread_parts),
        "phiscan_scan_sampled_files": ("Long files that samples refer.", summary.n_sampled_files),
        "phiscan_scan_bytes": ("Bytes that it read.", summary.bytes),
        "phiscan_scan_duration_seconds": ("Its wall-clock time.", summary.seconds),
        "phiscan_scan_screened_positive_files": ("Files with identifiers.", summary.screened_positive),
        "phiscan_scan_referred_files": ("Files referred to review.", summary.referred),
        "phiscan_scan_people_at_risk": ("People in referred files that may be PHI.", summary.people_at_risk),
        "phiscan_scan_complete": ("1 if it reached its end.", int(summary.status == "complete")),
        "phiscan_scan_start_timestamp_seconds": ("When it began.", _seconds(summary.started)),
        "phiscan_scan_end_timestamp_seconds": ("When it ended or was stopped.", _seconds(summary.ended)),
    }
    for name, (text, value) in single.items():
        if value is not None:
            Gauge(name, text, registry=registry).set(value)
    return registry


def _labelled(registry: CollectorRegistry, name: str, text: str, label: str, values: dict[str, int]) -> None:
    gauge = Gauge(name, text, [label], registry=registry)
    for key, value in values.items():
        gauge.labels(key).set(value)


def _seconds(moment: str | None) -> float | None:
    return None if moment is None else datetime.fromisoformat(moment).timestamp()
