"""``phiscan estimate missed``: FN, TN and accuracy of each detector, and the single model of two lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from phiscan.cli.estimate.tables import LARGEST, read_captures
from phiscan.cli.tables import read_table
from phiscan.errors import InputError
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.detector_accuracy import detector_accuracy

TWO_LIST_NOTE = (
    "for two detectors [1,2] is Lincoln-Petersen, n1 n2 / m; [12] would leave nothing to tell it by"
)


class _NamedCount(click.ParamType[tuple[str, int]]):
    """DETECTOR=COUNT."""

    name = "detector=count"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Split the name from the count, or fail with the expected format."""
        if isinstance(value, tuple):
            return value
        name, _, count = str(value).rpartition("=")
        if not name or not count.isascii() or not count.isdecimal() or int(count) > LARGEST:
            self.fail(f"expected DETECTOR=COUNT, got '{value}'", param, ctx)
        return name, int(count)


def with_detector_options(command: click.Command) -> click.Command:
    """Add --files and --false-positives to a command; their values are read by :func:`detectors_shape`."""
    command.params.append(
        click.Option(
            ["--files", "n_files"],
            type=click.IntRange(0, LARGEST),
            expose_value=False,
            callback=_remember,
            help="All files that the detectors read: gives TN and accuracy of each.",
        )
    )
    command.params.append(
        click.Option(
            ["--false-positives", "false_positives"],
            type=_NamedCount(),
            multiple=True,
            expose_value=False,
            callback=_remember,
            help="Files that a detector marked and review refuted: DETECTOR=COUNT, repeatable.",
        )
    )
    return command


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    ctx.meta[f"phiscan.{param.name}"] = value
    return value


def with_detectors(shape: dict[str, Any]) -> dict[str, Any]:
    """Add ``actual_positives`` and ``detectors`` to the object of ``estimate missed`` from a table of counts.

    Raises:
        InputError: counts that contradict each other or name no detector.
    """
    ctx = click.get_current_context(silent=True)
    if ctx is None or ctx.command.name != "missed" or "strata" in shape:
        return shape
    counts = ctx.params.get("counts")
    n_files, wrong = ctx.meta.get("phiscan.n_files"), dict(ctx.meta.get("phiscan.false_positives") or ())
    if counts is None or ctx.params.get("by"):
        if n_files is not None or wrong:
            message = "--files and --false-positives: expected with COUNTS, without --by"
            raise InputError(message)
        return shape
    table = read_table(counts, ("count",))
    names = [name for name in table.header if name != "count"]
    for name in wrong:
        if name not in names:
            message = f"--false-positives: expected one of {', '.join(names)}, got '{name}'"
            raise InputError(message)
    found = detectors_shape(read_captures(table, names), names, shape, n_files=n_files, wrong=wrong)
    more = {"note": TWO_LIST_NOTE} if ctx.params.get("model_text") and "two_list" in shape else {}
    return shape | more | found


def detectors_shape(
    captures: CaptureTable,
    names: Sequence[str],
    shape: dict[str, Any],
    *,
    n_files: int | None,
    wrong: dict[str, int],
) -> dict[str, Any]:
    """Return the confusion matrix of each detector under the estimated number of actual positives.

    Two lists: Lincoln-Petersen, as in the source. More: the model-averaged total, or that of the one model.

    Source: Mane et al. (2004), section 2, last step.
    """
    total, by = _total(shape)
    rows = []
    for index, name in enumerate(names):
        try:
            found = detector_accuracy(captures.margin(1 << index), total, fp=wrong.get(name), files=n_files)
        except ValueError as error:
            message = f"--files, --false-positives: detector '{name}': {error}"
            raise InputError(message) from None
        row = {"detector": name, **asdict(found)}
        if row["reason"] is None:
            del row["reason"]
        rows.append(row)
    positives: dict[str, Any] = {"value": total, "by": by}
    if total is None:
        positives["reason"] = f"{by} gives no total"
    return {"actual_positives": positives, "detectors": rows}


def _total(shape: dict[str, Any]) -> tuple[float | None, str]:
    if "two_list" in shape:
        return shape["two_list"]["lincoln_petersen"]["total"], "lincoln_petersen"
    if "averaged" in shape:
        return shape["averaged"], "averaged"
    return shape["models"][0]["total"], str(shape["models"][0]["model"])
