"""``phiscan screen``: texts in, identifiers, health terms and decision out, one JSON line each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

import click

from phiscan.cli.output import config_of, print_json, read_lines
from phiscan.config import Config
from phiscan.decision import build_decider
from phiscan.errors import InputError
from phiscan.health.classifier import build_classifier
from phiscan.model import Document, Examination, Segment
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine_text
from phiscan.pipeline.windows.examination import reasons_by_referral
from phiscan.screen import build_screener


@click.command("screen", short_help="Screen texts given as JSON lines.")
@click.argument("file", default="-")
@click.option("--json", "as_json", is_flag=True, help="Write JSON lines (else one short line per text).")
@click.pass_obj
def screen(config_path: str | None, file: str, *, as_json: bool) -> None:
    """Screen texts given as JSON lines {"id","text"} in FILE, or on standard input.

    For each text: the identifiers found, their PII characteristics, how many of them lack to satisfy the
    concept of identifying information, the health score and terms, and the decision. A long text is read in
    windows, as by a scan: "unread" is the number of characters that were not read.

    Example: echo '{"id": "1", "text": "Patient: Ann Roy"}' | phiscan screen - --json
    """
    config = config_of(config_path)
    engine = _engine(config)
    for name, text in _texts(file):
        segments = (Segment("", 0, len(text)),) if text else ()
        document, examination, _ = examine_text(Document(text, segments, "text/plain"), engine)
        if as_json:
            print_json(_shape(name, document, examination))
        else:
            screening = examination.screening
            click.echo(
                f"{name}: {examination.referral.value}, {len(screening.findings)} findings, "
                f"{screening.hamming} bits lacking, health {examination.health.score:.2f}"
            )


def _engine(config: Config) -> Engine:
    """Return the stages without a key: nothing is stored, so nothing is hashed."""
    return Engine(
        build_screener(config), build_classifier(config), build_decider(config), config.limits, key=b""
    )


def _texts(file: str) -> Iterator[tuple[Any, str]]:
    """Yield id and text of every line.

    Raises:
        InputError: names the file and the line, and says what was expected; never quotes the line.
    """
    for where, line in read_lines(file):
        try:
            record = json.loads(line, parse_constant=_refuse_constant)
            # The id is written exactly as it was read.
            name = record.get("id") if isinstance(record, dict) else None
            json.dumps(name, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not isinstance(record.get("text"), str) or "id" not in record:
            raise InputError(where, 'expected a JSON object with "id" and a text in "text"')
        yield record["id"], record["text"]


def _refuse_constant(_name: str) -> NoReturn:
    """Refuse NaN and Infinity, which are not JSON."""
    raise ValueError


def _shape(name: Any, document: Document, examination: Examination) -> dict[str, Any]:
    """Return the JSON shape of the contract."""
    screening, health = examination.screening, examination.health
    return {
        "id": name,
        "spans": [
            {"start": finding.span.start, "end": finding.span.end, "type": finding.entity_type.value}
            | {"score": finding.score, "source": finding.source}
            for finding in screening.findings
        ],
        "pii": list(screening.vector.names),
        "hamming": screening.hamming,
        "health": {
            "score": health.score,
            "terms": [
                {"start": hit.span.start, "end": hit.span.end, "concept": hit.concept} for hit in health.terms
            ],
        },
        "decision": examination.referral.value,
        "probability": examination.decision.probability,
        "second_look": examination.decision.second_look,
        "detectors": dict(examination.detectors),
        "detector_probability": dict(examination.detector_probabilities),
        "people": screening.n_people,
        "people_interval": screening.people_interval,
        "unread": [
            {"locator": part.locator, "reason": part.reason, "detail": part.detail}
            for part in reasons_by_referral(document.unread, examination.referral)
        ],
    }
