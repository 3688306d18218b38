"""What a scan reports at its end: the loss of its cluster, and files that were read in samples."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from phiscan.cli.scan import command
from phiscan.errors import ClusterError
from phiscan.model import FailReason, FileResult, UnreadPart
from phiscan.pipeline.scan import ScanRun
from phiscan.review.store import Store
from tests.cli.program import invoke
from tests.review.results import NOW, clear, referred, scan


@pytest.mark.usefixtures("home")
def test_a_scan_that_loses_its_cluster_is_notified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(_config: Any, folders: tuple[bytes, ...], store: Store, **given: Any) -> NoReturn:
        state = store.begin_scan(folders, versions={}, options={}, now=NOW)
        given["on_begin"](state.id)
        store.finish_scan(state.id, status="stopped", seconds=1.0, now=NOW)
        message = "the cluster cannot be reached any more"
        raise ClusterError(message)

    monkeypatch.setattr(command, "run_scan", lose)
    metrics = tmp_path / "phiscan.prom"
    (tmp_path / "phiscan.toml").write_text(f"[notify]\nmetrics_file = {json.dumps(str(metrics))}\n")
    (tmp_path / "share").mkdir()
    done = invoke("--config", str(tmp_path / "phiscan.toml"), "scan", str(tmp_path / "share"))
    assert done.exit_code == 4, done.output
    assert "phiscan_scan_complete 0.0" in metrics.read_text()


SHARE_LEFT_OUT = "not screened: 97 % of its text (97 of 100 characters)"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("result", "reason", "status"),
    [(referred("long.csv"), FailReason.SAMPLED, 1), (clear("long.csv"), FailReason.TOO_LARGE, 3)],
    ids=["referred", "clear"],
)
def test_a_long_file_that_its_samples_refer_counts_as_read(
    result: FileResult, reason: FailReason, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scanned(_config: Any, _folders: tuple[bytes, ...], store: Store, **_given: Any) -> ScanRun:
        part = UnreadPart("#rest", reason, SHARE_LEFT_OUT)
        number = scan(store, [replace(result, unread=(part,))])
        return ScanRun(store.summary(number), resumed=False, n_refused=0, stage_seconds={})

    monkeypatch.setattr(command, "run_scan", scanned)
    (tmp_path / "share").mkdir()
    done = invoke("scan", str(tmp_path / "share"))
    assert done.exit_code == status, done.output
    assert ("read in samples              1" in done.output) == (status == 1)
    assert (SHARE_LEFT_OUT in done.output) == (status == 1)
