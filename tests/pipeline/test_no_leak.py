"""No identifier of the sample share is in anything that a scan, a review and a report leave behind."""

import json
from pathlib import Path

import pytest

from tests.pipeline.harness import Tool, ToolHere

CHECKOUT = Path(__file__).parents[2]


def _planted() -> set[str]:
    lines = (CHECKOUT / "sample_truth/truth.jsonl").read_text(encoding="utf-8").splitlines()
    return {span["text"] for line in lines for span in json.loads(line)["spans"]}


def _found_in(data: bytes, values: set[str]) -> set[str]:
    folded = data.decode("utf-8", "ignore").casefold()
    wide = data.decode("utf-16-le", "ignore").casefold()
    return {value for value in values if value.casefold() in folded or value.casefold() in wide}


@pytest.mark.slow
def test_no_identifier_outlives_the_scan(tool: Tool, tool_here: ToolHere) -> None:
    values = _planted()
    assert len(values) > 200
    assert min(map(len, values)) >= 6
    printed = []
    report = tool.home.parent / "report"
    truth = CHECKOUT / "sample_truth/truth.jsonl"
    for arguments in (
        ["scan", CHECKOUT / "sample_corpus", "--everything", "--format", "csv"],
        ["scan", CHECKOUT / "sample_corpus", "--everything"],
        ["scan", CHECKOUT / "sample_corpus", "--everything", "--format", "sarif"],
        ["queue", "list"],
        ["queue", "show", "1", "--json"],
        ["queue", "export", "--json", "--all"],
        ["queue", "decide", "--from", truth, "--reviewer", "truth"],
        ["report", "--out", report],
    ):
        # What workers say themselves is seen where the scan is a process of its own.
        done = (tool if arguments[0] == "scan" else tool_here).run(*arguments)
        assert done.returncode in {0, 1, 3}, (arguments, done.stderr)
        assert "internal error" not in done.stderr, (arguments, done.stderr)
        printed += [done.stdout, done.stderr]
    left = [p for folder in (tool.home, report, tool.temp) for p in folder.rglob("*") if p.is_file()]
    assert {"phiscan.db", "report.html"} <= {p.name for p in left}
    for path in left:
        assert _found_in(path.read_bytes(), values) == set(), path.name
        assert _found_in(path.name.encode(), values) == set()
    assert _found_in("\n".join(printed).encode(), values) == set()
