"""What a scan says at its end: a lost cluster, files read in samples, dependence of its detectors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from phiscan.cli.scan import command
from phiscan.cli.scan.output import independence, independence_lines
from phiscan.errors import ClusterError
from phiscan.metrics.independence import mutual_information, verdict_dependence
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


NAMES = ("patterns", "names", "text")


def history(code: str) -> tuple[tuple[str, bool], ...]:
    return tuple((name, bit == "1") for name, bit in zip(NAMES, code, strict=False))


def test_the_exact_p_value_is_what_shuffling_finds() -> None:
    first, second = np.arange(50) < 30, np.array([True] * 22 + [False] * 8 + [True] * 9 + [False] * 11)
    exact = verdict_dependence(22, 8, 9, 11)
    assert exact.nats == pytest.approx(mutual_information(first.tolist(), second.tolist()))
    generator = np.random.default_rng(0)
    shuffled = [
        mutual_information(first.tolist(), generator.permutation(second).tolist()) for _ in range(4000)
    ]
    reached = sum(nats >= exact.nats - 1e-12 for nats in shuffled)
    assert exact.p_value == pytest.approx((reached + 1) / 4001, abs=0.03)
    assert verdict_dependence(5, 5, 5, 5).p_value == pytest.approx(1.0)
    assert verdict_dependence(7, 0, 0, 0).nats == 0.0


def test_millions_of_files_are_counted_at_once() -> None:
    assert verdict_dependence(400_000, 100_000, 100_000, 400_000).p_value < 1e-300


def test_a_scan_compares_a_pair_where_the_third_found_something() -> None:
    counts = {"111": 40, "101": 5, "011": 4, "001": 11, "110": 9, "100": 3, "000": 900}
    pairs = independence({history(code): count for code, count in counts.items()})
    first = pairs[0]
    assert (first["first"], first["second"], first["files"]) == ("patterns", "names", 60)
    assert first["nats"] == pytest.approx(verdict_dependence(40, 5, 4, 11).nats)
    assert len(independence_lines(pairs)) == 4
    assert np.isfinite([pair["p_value"] for pair in pairs]).all()


def test_what_cannot_be_compared_is_null_with_a_reason() -> None:
    pairs = independence({history("000"): 10, history("10"): 5})
    assert all(pair["nats"] is None and pair["reason"] for pair in pairs)
    assert independence({}) == []
    assert independence_lines([]) == []
