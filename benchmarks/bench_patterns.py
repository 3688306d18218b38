"""Speed of the pattern part on one core, beside the same rules through `regex` one by one, and Presidio's patterns.

    .venv/bin/python -m benchmarks.bench_patterns

The texts are the development sets beside the checkout, if they are there, and two made tables: one of plain numbers, one
with the label MRN over one of its columns. "All" is everything up to the findings; "first" is the first run in a process, which also
builds the states of the automata. The others read the first 20,000 characters. Each but "first" is the best of the runs of one second. What all have built is
set aside from the collector of garbage first, as the workers of a scan do: it would look at all of Presidio again and again. Needs the extra ``compare``.
"""  # noqa: E501 (a table of what is measured)

from __future__ import annotations

import gc
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import regex

from benchmarks.bench_names_compare import presidio
from phiscan.model import Document
from phiscan.screen.rules.definitions import load_rules
from phiscan.screen.rules.recognizer import PatternRecognizer

PART_CHARS = 20_000
DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "text"


def texts() -> dict[str, str]:
    made = random.Random(1)
    rows = (",".join(str(made.randrange(10 ** made.randint(1, 7))) for _ in range(8)) for _ in range(20_000))
    numbers = "\n".join(rows)
    found = {
        "table of numbers": f"a,b,c,d,e,f,g,h\n{numbers}",
        "table with MRN": f"quantity,b,mrn,d,amount,f,g,h\n{numbers}",
    }
    for label, name in (("notes", "aci_bench_train_valid"), ("health prose", "medquad_dev"),
                        ("speeches", "state_union_inaugural"), ("records", "fhir_synthea_dev")):  # fmt: skip
        path = DATA / f"{name}.jsonl"
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()[:200]
            found[label] = "\n\n".join(json.loads(line)["text"] for line in lines)
    return found


def seconds(run: Callable[[], object], in_all: float = 0.0) -> float:
    """Return the least processor time of one run; there are more until ``in_all`` seconds are spent."""
    taken: list[float] = []
    while not taken or sum(taken) < in_all:
        start = time.process_time()
        run()
        taken.append(max(time.process_time() - start, 1e-9))
    return min(taken)


def main() -> None:
    ruleset = load_rules()
    recognizer = PatternRecognizer(ruleset)
    singly = [regex.compile(rule.pattern) for rule in ruleset.rules if not rule.needs_evidence]
    other = presidio()
    gc.collect()
    gc.freeze()
    print(
        f"{'text':18} {'MB':>6} {'first MB/s':>11} {'all MB/s':>9} {'one by one':>11} {'Presidio':>9} "
        f"{'times Presidio':>15} {'findings':>9}"
    )
    for label, text in texts().items():
        document = Document(text, (), "")
        megabytes = len(text.encode()) / 1e6
        first = seconds(lambda d=document: list(recognizer.recognize(d)))  # type: ignore[misc]
        n_findings = len(list(recognizer.recognize(document)))
        again = seconds(lambda d=document: list(recognizer.recognize(d)), in_all=1)  # type: ignore[misc]
        part = text[:PART_CHARS]
        size = len(part.encode()) / 1e6
        single = seconds(lambda p=part: [list(pattern.finditer(p)) for pattern in singly], in_all=1)  # type: ignore[misc]
        theirs = seconds(lambda p=part: other(p), in_all=1)  # type: ignore[misc]
        print(
            f"{label:18} {megabytes:6.2f} {megabytes / first:11.2f} {megabytes / again:9.1f} "
            f"{size / single:11.2f} {size / theirs:9.3f} {megabytes / again / (size / theirs):15.0f} "
            f"{n_findings:9d}"
        )


if __name__ == "__main__":
    main()
