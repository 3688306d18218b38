"""SIEM events, metrics and notices: counts, and names that cannot break out of their field."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.model import Verdict
from phiscan.monitoring.events import cef, ocsf
from phiscan.monitoring.metrics import metrics_text, write_textfile
from phiscan.review.store import FileRecord, Store
from tests.cli.program import invoke, run
from tests.review.results import url_of

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
HOSTILE = 'a|b=c\\d\ne\x1b[31m\u202ef" CEF:0|x|.txt'


@pytest.fixture
def row(scanned: Path) -> FileRecord:
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        return next(row for row in store.present_rows() if row.referral == "referred")


def _parse_cef(line: str) -> tuple[list[str], dict[str, str]]:
    """Read a CEF line as a SIEM does."""
    assert "\n" not in line
    parts = re.split(r"(?<!\\)\|", line, maxsplit=7)
    fields = re.findall(r"(\w+)=((?:\\.|[^\\=])*)(?=\s\w+=|$)", parts[7])
    return parts[:7], {key: re.sub(r"\\(.)", r"\1", value) for key, value in fields}


def test_cef_line_is_read_back_as_it_was_meant(row: FileRecord) -> None:
    header, fields = _parse_cef(cef(row, NOW))
    assert header[:3] == ["CEF:0", "phiscan", "phiscan"]
    assert header[4] == "phi.referred"
    assert fields["filePath"] == f"{row.root}/{row.path}"
    assert int(fields["cn1"]) == row.n_people
    assert fields["cs1"].split() == list(row.vector.names)
    assert fields["rt"] == "1795255200000"


@pytest.mark.parametrize(
    ("verdict", "kind", "severity"),
    [(None, "phi.referred", 4), (Verdict.PHI, "phi.confirmed", 4), (Verdict.NOT_PHI, "phi.rejected", 1)],
)
def test_an_event_says_what_was_decided(
    row: FileRecord, verdict: Verdict | None, kind: str, severity: int
) -> None:
    decided = replace(row, verdict=verdict, probability=0.93)
    header, event = _parse_cef(cef(decided, NOW))[0], ocsf(decided, NOW)
    assert (header[4], event["message"]) == (kind, f"{header[5]}; people: {row.n_people}")
    assert (event["severity_id"], event["confidence_score"]) == (severity, 93)


def test_hostile_name_stays_in_its_field(row: FileRecord) -> None:
    line = cef(replace(row, path=HOSTILE), NOW)
    _header, fields = _parse_cef(line)
    assert fields["fname"] == r'a|b=c\d\x0ae\x1b[31m\u202ef" CEF:0|x|.txt'
    assert list(fields) == list(_parse_cef(cef(row, NOW))[1])
    event = ocsf(replace(row, path=HOSTILE), NOW)
    assert event["file"]["name"] == r'a|b=c\d\x0ae\x1b[31m\u202ef" CEF:0|x|.txt'


def test_ocsf_finding_has_what_its_class_requires(row: FileRecord) -> None:
    event = ocsf(row, NOW)
    assert event["class_uid"] == 2006
    assert event["type_uid"] == event["class_uid"] * 100 + event["activity_id"]
    assert {"category_uid", "time", "severity_id", "metadata", "finding_info"} <= set(event)
    assert event["metadata"]["product"]["name"] == "phiscan"
    assert event["status"] == "New"
    assert ocsf(replace(row, verdict=Verdict.NOT_PHI), NOW)["status"] == "Suppressed"
    assert json.loads(json.dumps(event, allow_nan=False)) == event


def test_exports_an_event_for_each_referred_file(scanned: Path) -> None:
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        n_referred, summary = store.queue_size(), store.summary()
    events = [json.loads(line) for line in run("queue", "export", "--format", "ocsf").splitlines()]
    assert len(events) == n_referred > 0
    lines = run("queue", "export", "--format", "cef").splitlines()
    assert len(lines) == n_referred
    assert "only a referred file" in run("queue", "export", "--format", "cef", "--all", status=2)
    scan = ocsf(summary, NOW)
    assert scan["type_uid"] == 600702
    assert scan["num_files"] == summary.crawled
    assert _parse_cef(cef(summary, NOW))[1]["cn1"] == str(summary.crawled)
    assert all(root not in json.dumps(scan) for root in summary.roots)


def test_metrics_are_counts_only(scanned: Path, tmp_path: Path) -> None:
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        summary, rows = store.summary(), list(store.present_rows())
        text = metrics_text(store).decode()
        write_textfile(tmp_path / "phiscan.prom", store, summary)
        (tmp_path / "folder").mkdir()
        with pytest.raises(OSError, match="folder"):
            write_textfile(tmp_path / "folder", store, summary)
    assert not list(tmp_path.glob("*.part"))
    assert (tmp_path / "phiscan.prom").read_text() == text
    assert (tmp_path / "phiscan.prom").stat().st_mode & 0o777 == 0o644
    values = dict(re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE))
    assert float(values["phiscan_scan_crawled_files"]) == summary.crawled
    by_outcome = [float(value) for name, value in values.items() if name.startswith("phiscan_scan_files{")]
    assert sum(by_outcome) == summary.crawled
    assert float(values['phiscan_queue_files{verdict="undecided"}']) > 0
    assert float(values['phiscan_scan_failed_files{reason="timed_out"}']) == 0
    for name in [*summary.roots, *(row.path for row in rows)]:
        assert name not in text


def test_completion_knows_the_commands() -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_PHISCAN_COMPLETE" in run("completion", shell)


@pytest.mark.usefixtures("home")
def test_log_is_json_when_wanted() -> None:
    result = invoke("--log-format", "json", "queue", "list")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    entry = json.loads(line)
    assert entry["level"] == "error"
    assert "phiscan" in entry["event"]
    assert entry["timestamp"].endswith("Z")
    assert invoke("queue", "list").stderr.startswith("phiscan: ")
