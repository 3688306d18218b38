"""A scan that loses its cluster says so to whoever watches, like one that is stopped by hand."""

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from phiscan.cli.scan import command
from phiscan.errors import ClusterError
from phiscan.review.store import Store
from tests.cli.program import invoke
from tests.review.results import NOW


@pytest.mark.usefixtures("home")
def test_a_scan_that_loses_its_cluster_is_notified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(_config: Any, folders: tuple[bytes, ...], store: Store, *others: Any) -> NoReturn:
        state = store.begin_scan(folders, versions={}, options={}, now=NOW)
        *_, on_begin = others
        on_begin(state.id)
        store.finish_scan(state.id, status="stopped", seconds=1.0, now=NOW)
        message = "the cluster cannot be reached any more"
        raise ClusterError(message)

    monkeypatch.setattr(command, "_run", lose)
    metrics = tmp_path / "phiscan.prom"
    (tmp_path / "phiscan.toml").write_text(f"[notify]\nmetrics_file = {json.dumps(str(metrics))}\n")
    (tmp_path / "share").mkdir()
    done = invoke("--config", str(tmp_path / "phiscan.toml"), "scan", str(tmp_path / "share"))
    assert done.exit_code == 4, done.output
    assert "phiscan_scan_complete 0.0" in metrics.read_text()
